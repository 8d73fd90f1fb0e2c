"""Files that commands write."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from separatrix.base.errors import ParameterError

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
    from separatrix.base.atomic_files import refuse_irreplaceable

    try:
        refuse_irreplaceable(path)
    except ParameterError as error:
        raise ParameterError(option, error.problem, error.remedy) from error


def write(option: str, out: str, content: bytes | Iterable[bytes]) -> None:
    """Write the whole file, or nothing if that fails."""
    from separatrix.base.atomic_files import replace_file

    try:
        replace_file(out, content)
    except ParameterError as error:
        raise ParameterError(option, error.problem, error.remedy) from error
