"""Files whose paths match a pattern, on the disk or in a list of paths."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from glob import glob
from pathlib import Path

# The marks that make a path a pattern.
_MARKS = "*?["
_ANY_FOLDERS = "**"


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
        return set(wanted) <= {_ANY_FOLDERS}
    if not wanted:
        return False
    if wanted[0] == _ANY_FOLDERS:
        return _match(names, wanted[1:]) or (_fits(names[0], "*") and _match(names[1:], wanted))
    return _fits(names[0], wanted[0]) and _match(names[1:], wanted[1:])


def _fits(name: str, wanted: str) -> bool:
    return fnmatchcase(name, wanted) and (wanted.startswith(".") or not name.startswith("."))
