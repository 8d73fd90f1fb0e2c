"""Options and arguments that are files: read or written (``READ``, ``WRITTEN``), never both, and written whole.

An output that is a file which the same command reads, or that is another output of it, would destroy that file. click
converts all files of a command before its verb runs. Each is then compared with those before it, so every option of one
of these types is checked. Files are told apart by device and inode, and new files by their folder and their name, so a
path, a link to it and a hard link are one file.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from separatrix.cli.terminal import as_options
from separatrix.core.base.errors import ParameterError

# Standard input for what is read, standard output for what is written.
STANDARD = "-"


def destination(option: str, out: str | None) -> str | None:
    """Where the output goes: a writable file, or None for standard output. ``-`` means standard output too.

    >>> destination("--out", "-") is None
    True
    """
    if out == STANDARD:
        return None
    refuse_unwritable(option, out)
    return out


def refuse_unwritable(option: str, out: str | None) -> None:
    """Refuse a file that cannot be written before any work is done, since the result would be lost."""
    if out is None:
        return
    if out == STANDARD:
        raise ParameterError(option, "got '-'", "give the path of a file")
    path = Path(out)
    if path.is_dir():
        raise ParameterError(option, f"{out!r} is a folder", "give the path of a file")
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise ParameterError(option, f"{out!r} is not in a writable folder", "create the folder, or give another path")
    from separatrix.core.base.files import refuse_irreplaceable

    with as_options({"path": option}):
        refuse_irreplaceable(path)


def write(option: str, out: str, content: bytes | Iterable[bytes]) -> None:
    """Write the whole file, or nothing if that fails."""
    from separatrix.core.base.files import replace_file

    with as_options({"path": option}):
        replace_file(out, content)


# Where a context keeps the files that have been converted.
_FILES = "separatrix.files"


class FileType(click.Path):
    """A file that a verb reads or writes; ``keeps`` matches the files in a folder that a verb writes."""

    def __init__(self, written: bool, keeps: str | None = None) -> None:
        # click does not check whether files can be read. Opening them does, and gives the exit code for bad data.
        super().__init__(file_okay=keeps is None, readable=False)
        self.written, self.keeps = written, keeps

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path. An error if it is an output that is another file of the command."""
        if param is not None and ctx is not None:
            name = param.opts[-1] if isinstance(param, click.Option) else param.human_readable_name
            file = _File(name, os.fspath(value), self)
            for other in ctx.meta.setdefault(_FILES, []):
                _refuse_same(file, other)
            ctx.meta[_FILES].append(file)
        return super().convert(value, param, ctx)


READ, WRITTEN = FileType(written=False), FileType(written=True)
# The folder of --cache, with the caches of rows in it (``tables/cache.py``).
CACHES = FileType(written=True, keeps="*.rows")


@dataclass(frozen=True)
class _File:
    """A file, a folder or a pattern that was given for an option or an argument of this name."""

    name: str
    path: str
    type: FileType

    @property
    def identities(self) -> set[tuple[int, int, str]]:
        """The regular files that the path stands for, and a new file."""
        return {found for one in self._paths() if (found := _identity(one)) is not None}

    def _paths(self) -> Sequence[str | Path]:
        if self.type.keeps is not None:
            return [self.path, *Path(self.path).glob(self.type.keeps)]
        if self.type.written:
            return [] if self.path == STANDARD else [self.path]
        if self.path == STANDARD or os.path.isfile(self.path):
            return [self.path]
        from separatrix.tables.formats.opening import files_read

        with suppress(OSError):  # opening the table reports it
            return files_read(self.path)
        return []


def _identity(path: str | Path) -> tuple[int, int, str] | None:
    """The device and the inode of a file; of a new file, those of its folder, and its name. None for other kinds."""
    with suppress(OSError, ValueError):  # it cannot be a file: opening it reports that
        try:
            found = os.fstat(0) if path == STANDARD else os.stat(path)
            return (found.st_dev, found.st_ino, "") if stat.S_ISREG(found.st_mode) else None
        except FileNotFoundError:
            new = Path(os.path.realpath(path))
            folder = os.stat(new.parent)
            return folder.st_dev, folder.st_ino, new.name
    return None


def _refuse_same(one: _File, two: _File) -> None:
    """Refuse two files that are one and of which one is written. The error names the output; a file, not a folder."""
    out, other = sorted((one, two), key=lambda file: (not file.type.written, file.type.keeps is not None))
    if out.type.written and not out.identities.isdisjoint(other.identities):
        uses = "writes" if other.type.written else "reads"
        problem = f"{out.path!r} is a file that {other.name} {uses} ({other.path!r})"
        raise ParameterError(out.name, problem, "choose another name")
