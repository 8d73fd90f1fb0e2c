"""Atomic file replacement: a file is written completely or not at all.

The content goes to a temporary file in the same folder, is flushed to the disk, and is then renamed over the target.
The new file keeps the mode of the file that it replaces, and its owner and group where the system permits that. A
read-only file is not replaced. A rename only needs write permission for the folder, so the read-only mode of the file
has to be checked here.

A writer that is killed leaves its temporary file behind. Its name holds the target's name, the process and the machine,

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
import stat
import time
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from separatrix.base.errors import ParameterError

# A temporary file older than this many seconds has no active writer: writing the largest model takes less than a
# minute.
ABANDONED_SECONDS = 24 * 3600
# Largest length, in bytes, of a target's name that is copied into the name of the temporary file; longer names are
# replaced by a digest. File systems allow 255 bytes for the whole name.
_MOST_NAME_BYTES = 180


def replace_file(path: str | os.PathLike[str], data: bytes | Iterable[bytes]) -> None:
    """Write ``data`` to ``path`` completely or not at all; links are followed.

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
    # The superuser may write to any file, so the mode is checked as well.
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

    >>> _beginning("model.json")
    '.model.json.'
    """
    encoded = os.fsencode(name)
    return f".{name}." if len(encoded) <= _MOST_NAME_BYTES else f".{hashlib.sha256(encoded).hexdigest()}."


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
