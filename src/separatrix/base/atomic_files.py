"""Files that are written whole or not at all.

The content goes to a temporary file in the same folder, is flushed to the disk, and is then renamed over the target.
The file that is replaced passes on its mode, and its owner and group where the system permits that. A read-only file is
not replaced: a rename needs only a folder that can be written to, so nothing but this check protects such a file.

A writer that is killed leaves its temporary file behind. Its name holds the target's name, the process and the machine,

    .model.json.4711-1f0c9a3e.9b2d60c4e1f7a835.tmp

so the next write to the same target removes it once that process is gone. A temporary file of a process that runs, or
of another machine that shares the folder, is removed only when it is older than ``ABANDONED``.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import secrets
import stat
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from separatrix.base.errors import ParameterError

# Seconds after which no writer is still at work: the largest model file is written in less than a minute.
ABANDONED = 24 * 3600
# Bytes of the target's name in that of a temporary file: file systems allow 255 for the whole of it.
_LONGEST_NAME = 180


def replace_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Put ``data`` at ``path``, whole or not at all; links are followed.

    Parameters
    ----------
    path : str or path-like
        The file to write or to replace. Its folder must exist.
    data : bytes
        The whole content.

    Raises
    ------
    ParameterError
        The path is no regular file, is read-only, or cannot be written; the old file is then as it was.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     replace_file(f"{folder}/a.txt", b"content")
    ...     [(found.name, found.read_bytes()) for found in Path(folder).iterdir()]
    [('a.txt', b'content')]
    """
    try:
        final = Path(os.path.realpath(path))
        old = _replaceable(path)
        temporary = final.with_name(f"{_beginning(final.name)}{os.getpid()}-{_machine()}.{secrets.token_hex(8)}.tmp")
        try:
            _write(temporary, data, old)
            os.replace(temporary, final)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        _remove_strays(final)
    except ParameterError:
        raise
    except (OSError, ValueError) as error:  # a ValueError: a path with a NUL in it
        came = f"{os.fspath(path)!r} cannot be written ({getattr(error, 'strerror', None) or error})"
        raise ParameterError("path", came, "give a path in a folder that exists and can be written to") from error


def refuse_irreplaceable(path: str | os.PathLike[str]) -> None:
    """Refuse a path at which no file may be put, before any work is done for it."""
    try:
        _replaceable(path)
    except ParameterError:
        raise
    except (OSError, ValueError):  # what else is wrong with the path is said when it is written to
        return


def _replaceable(path: str | os.PathLike[str]) -> os.stat_result | None:
    """The state of the file that is to be replaced; None where there is none yet."""
    try:
        old = os.stat(path)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(old.st_mode):
        raise ParameterError("path", f"{os.fspath(path)!r} is not a regular file", "give the path of a file")
    # The superuser may write to any file, so the mode is asked, too.
    if not old.st_mode & 0o222 or not os.access(path, os.W_OK):
        do = "make it writable, as chmod u+w does, or give another path"
        raise ParameterError("path", f"{os.fspath(path)!r} is read-only", do)
    return old


def _write(temporary: Path, data: bytes, old: os.stat_result | None) -> None:
    """A new file with this content; with the mode and owner of ``old``, whose readers alone may see it meanwhile."""
    mode = 0o666 if old is None else 0o600

    def opener(name: str, flags: int) -> int:
        return os.open(name, flags, mode)

    with open(temporary, "xb", opener=opener) as out:
        if old is not None:
            _keep_owner(temporary, old)
            os.chmod(temporary, old.st_mode & 0o777)
        out.write(data)
        out.flush()
        os.fsync(out.fileno())


def _keep_owner(temporary: Path, old: os.stat_result) -> None:
    """Owner and group, or the group alone: who is not the superuser may give a file to a group of theirs only."""
    chown: Any = getattr(os, "chown", None)  # none on Windows
    if chown is None:
        return
    try:
        chown(temporary, old.st_uid, old.st_gid)
    except OSError:
        with suppress(OSError):
            chown(temporary, -1, old.st_gid)


def _beginning(name: str) -> str:
    """How temporary files for the target of this name begin; a long name is replaced by its digest.

    >>> _beginning("model.json")
    '.model.json.'
    """
    own = os.fsencode(name)
    return f".{name}." if len(own) <= _LONGEST_NAME else f".{hashlib.sha256(own).hexdigest()}."


@cache
def _machine() -> str:
    """Stands for all processes whose numbers are told apart: those of one machine, and in it of one container."""
    numbers = ""
    with suppress(OSError):
        numbers = os.readlink("/proc/self/ns/pid")
    with suppress(OSError):
        numbers += Path("/proc/sys/kernel/random/boot_id").read_text()
    return hashlib.sha256(f"{platform.node()} {numbers}".encode()).hexdigest()[:8]


def _remove_strays(final: Path) -> None:
    """Remove temporary files that dead writers of this target left; what cannot be removed stays."""
    stray = re.compile(re.escape(_beginning(final.name)) + r"(\d+)-([0-9a-f]{8})\.[0-9a-f]{16}\.tmp")
    with suppress(OSError), os.scandir(final.parent) as entries:
        for entry in entries:
            found = stray.fullmatch(entry.name)
            if found is None:
                continue
            with suppress(OSError):
                here = found[2] == _machine()
                age = time.time() - entry.stat(follow_symlinks=False).st_mtime
                if age > ABANDONED or (here and not _runs(int(found[1]))):
                    os.unlink(entry.path)


def _runs(pid: int) -> bool:
    """Whether a process of this number runs on this machine."""
    if os.name == "nt":  # where os.kill would end it
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # it runs as another user; or it is no number of a process
        return True
    return True
