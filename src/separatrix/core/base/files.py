"""Files: replaced as a whole, read at an offset, matched by patterns, and known by their state.

A file is written completely or not at all. The content goes to a temporary file in the same folder, is flushed to the
disk, and is then renamed over the target. A writer that is killed leaves its temporary file behind. Its name holds the
target's name, the process and the machine,

    .model.json.4711-1f0c9a3e.9b2d60c4e1f7a835.tmp

so the next write to the same target removes it if that process no longer runs. A temporary file of a running process,
or of another machine that shares the folder, is removed only when it is older than ``ABANDONED_SECONDS``.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import secrets
import shutil
import stat
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import cache
from glob import glob
from pathlib import Path
from typing import Any

from separatrix.core.base.errors import ParameterError

# --- Files that are written completely or not at all

# A temporary file older than this many seconds has no active writer: writing the largest model takes less than a
# minute.
ABANDONED_SECONDS = 24 * 3600


def replace_file(path: str | os.PathLike[str], data: bytes | Iterable[bytes]) -> None:
    """Write ``data`` to ``path`` completely or not at all; links are followed.

    The new file keeps the mode of the file that it replaces, and its owner and group where the system permits that.

    Parameters
    ----------
    path : str or path-like
        The file to write or to replace. Its folder must exist.
    data : bytes or iterable of bytes
        The whole content, or its pieces in their order.

    Raises
    ------
    ParameterError
        The path is not a regular file, is read-only, or cannot be written. The old file is then unchanged.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     replace_file(f"{folder}/a.txt", b"content")
    ...     [(file.name, file.read_bytes()) for file in Path(folder).iterdir()]
    [('a.txt', b'content')]
    """
    try:
        final = Path(os.path.realpath(path))
        old = _replaceable(path)
        temporary = temporary_beside(final)
        try:
            _write(temporary, data, old)
            os.replace(temporary, final)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        remove_strays(final)
    except ParameterError:
        raise
    except (OSError, ValueError) as error:  # a ValueError: a path with a NUL in it
        problem = f"{os.fspath(path)!r} cannot be written ({getattr(error, 'strerror', None) or error})"
        raise ParameterError("path", problem, "give a path in a folder that exists and can be written to") from error


def refuse_irreplaceable(path: str | os.PathLike[str]) -> None:
    """Raise an error if the file cannot be replaced. Call this before a long computation whose result goes there."""
    try:
        _replaceable(path)
    except ParameterError:
        raise
    except (OSError, ValueError):  # other problems of the path are reported when it is written
        return


def temporary_beside(final: Path) -> Path:
    """A new name for the temporary file of a target, in the same folder. It names this process and this machine."""
    return final.with_name(f"{_beginning(final.name)}{os.getpid()}-{_machine()}.{secrets.token_hex(8)}.tmp")


def _replaceable(path: str | os.PathLike[str]) -> os.stat_result | None:
    """The status of the file to replace; None if there is none yet."""
    try:
        old = os.stat(path)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(old.st_mode):
        raise ParameterError("path", f"{os.fspath(path)!r} is not a regular file", "give the path of a file")
    # A rename only needs write permission for the folder, and the superuser may write to any file. So the mode of the
    # file is checked as well.
    if not old.st_mode & 0o222 or not os.access(path, os.W_OK):
        remedy = "make it writable, as chmod u+w does, or give another path"
        raise ParameterError("path", f"{os.fspath(path)!r} is read-only", remedy)
    return old


def _write(temporary: Path, data: bytes | Iterable[bytes], old: os.stat_result | None) -> None:
    """Write a new file with the mode and owner of ``old``; until these are set, only the owner can read it."""
    mode = 0o666 if old is None else 0o600

    def opener(name: str, flags: int) -> int:
        return os.open(name, flags, mode)

    with open(temporary, "xb", opener=opener) as out:
        if old is not None:
            _keep_owner(temporary, old)
            os.chmod(temporary, old.st_mode & 0o777)
        out.writelines([data] if isinstance(data, bytes) else data)
        out.flush()
        os.fsync(out.fileno())


def _keep_owner(temporary: Path, old: os.stat_result) -> None:
    """Keep owner and group, or the group alone: ordinary users may only change to one of their own groups."""
    chown: Any = getattr(os, "chown", None)  # Windows has no os.chown
    if chown is None:
        return
    try:
        chown(temporary, old.st_uid, old.st_gid)
    except OSError:
        with suppress(OSError):
            chown(temporary, -1, old.st_gid)


def _beginning(name: str) -> str:
    """The prefix of temporary files for this target; a long name is replaced by its digest.

    File systems allow 255 bytes for the whole name of a temporary file.

    >>> _beginning("model.json")
    '.model.json.'
    """
    encoded = os.fsencode(name)
    return f".{name}." if len(encoded) <= 180 else f".{hashlib.sha256(encoded).hexdigest()}."


@cache
def _machine() -> str:
    """An identifier of this machine, since its last boot, and of this container: process IDs are unique within it."""
    numbers = ""
    with suppress(OSError):
        numbers = os.readlink("/proc/self/ns/pid")
    with suppress(OSError):
        numbers += Path("/proc/sys/kernel/random/boot_id").read_text()
    return hashlib.sha256(f"{platform.node()} {numbers}".encode()).hexdigest()[:8]


def remove_strays(final: Path) -> None:
    """Remove the temporary files that terminated writers of this target left behind, where that is permitted."""
    stray = re.compile(re.escape(_beginning(final.name)) + r"(\d+)-([0-9a-f]{8})\.[0-9a-f]{16}\.tmp")
    with suppress(OSError), os.scandir(final.parent) as entries:
        for entry in entries:
            match = stray.fullmatch(entry.name)
            if match is None:
                continue
            with suppress(OSError):
                here = match[2] == _machine()
                age = time.time() - entry.stat(follow_symlinks=False).st_mtime
                if age > ABANDONED_SECONDS or (here and not _runs(int(match[1]))):
                    os.unlink(entry.path)


def _runs(pid: int) -> bool:
    """Whether a process with this ID runs on this machine."""
    if os.name == "nt":  # on Windows, os.kill would terminate the process
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # the process belongs to another user, or pid is not a valid ID
        return True
    return True


# --- Temporary files that the user did not ask for

_SEEKING = threading.Lock()


def room_for_temporary(folder: str | os.PathLike[str]) -> float:
    """The bytes that a temporary file in this folder may take: half of the free space of the disk."""
    return 0.5 * shutil.disk_usage(folder).free


def read_whole(file: Any, array: Any, place: int) -> bool:
    """Fill an array with the bytes of a file from ``place`` on. False if the file ends before.

    Threads share the position of the file, so it is not moved, or it is moved by one thread at a time.
    """
    view, done = memoryview(array.reshape(-1).view("u1")), 0
    while done < array.nbytes:
        if hasattr(os, "preadv"):
            got = os.preadv(file.fileno(), [view[done:]], place + done)
        else:  # Windows
            with _SEEKING:
                file.seek(place + done)
                got = int(file.readinto(view[done:]))
        if got == 0:
            return False
        done += got
    return True


# --- Patterns of paths, and the state of the files that match them

# The marks that make a path a pattern.
_MARKS = "*?["


def is_pattern(text: str) -> bool:
    """Whether a path has marks such as * in it."""
    return any(mark in text for mark in _MARKS)


def folder_of(pattern: str) -> str:
    """The part of a pattern before the first name that has a mark such as * in it.

    >>> folder_of("data/2024/*/a.csv")
    'data/2024'
    """
    first = min(pattern.index(mark) for mark in _MARKS if mark in pattern)
    return pattern[:first].rpartition("/")[0]


def files_matching(pattern: str) -> list[Path]:
    """The files of the disk that match a pattern, in the order of their paths."""
    return [path for path in map(Path, sorted(set(glob(pattern, recursive=True)))) if path.is_file()]


def matches(path: str, pattern: str) -> bool:
    """Whether a path matches a pattern in which * stands for part of a name, and ** for any number of folders.

    As on the disk, neither stands for names that begin with a dot.

    >>> [matches(path, "data/**/*.csv") for path in ("data/a.csv", "data/1/2/a.csv", "data/.a.csv", "a.csv")]
    [True, True, False, False]
    """
    return _match(path.strip("/").split("/"), pattern.strip("/").split("/"))


def _match(names: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether the names of a path match those of a pattern."""
    if not names:
        return set(wanted) <= {"**"}
    if not wanted:
        return False
    if wanted[0] == "**":
        return _match(names, wanted[1:]) or (_fits(names[0], "*") and _match(names[1:], wanted))
    return _fits(names[0], wanted[0]) and _match(names[1:], wanted[1:])


def _fits(name: str, wanted: str) -> bool:
    return fnmatchcase(name, wanted) and (wanted.startswith(".") or not name.startswith("."))


def files_fingerprint(name: str, paths: Iterable[Path]) -> str:
    """The name of a table, and the size and the time of the last change of each of its files.

    >>> files_fingerprint("a query", [])
    'a query'
    """
    states = [f"{path.name}: {path.stat().st_size} bytes of {path.stat().st_mtime_ns}" for path in paths]
    return "; ".join([name, *states])
