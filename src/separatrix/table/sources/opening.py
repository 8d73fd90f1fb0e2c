"""From what a user gives to a source: a path, a folder, a pattern, ``-``, ``demo:NAME``, or a frame."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from difflib import get_close_matches
from glob import glob
from pathlib import Path
from typing import Any

from separatrix.errors import TableError
from separatrix.table.sources.columnar import open_arrow, open_parquet
from separatrix.table.sources.delimited import open_delimited
from separatrix.table.sources.demos import DEMO, DEMOS, open_demo
from separatrix.table.sources.folder import join
from separatrix.table.sources.frames import open_frame
from separatrix.table.sources.source import Source
from separatrix.table.sources.svmlight import SparseSource, open_svmlight

STDIN = "-"
_Opener = Callable[[str, Path, str], Source]


def _delimited(delimiter: str | None) -> _Opener:
    return lambda name, path, encoding: open_delimited(name, path, delimiter, encoding)


def _parquet(name: str, path: Path, encoding: str) -> Source:
    return open_parquet(name, path)


def _arrow(name: str, path: Path, encoding: str) -> Source:
    return open_arrow(name, path)


def _svmlight(name: str, path: Path, encoding: str) -> Source:
    return open_svmlight(name, path)


_OPENERS: dict[str, _Opener] = {
    **{f".csv{end}": _delimited(None) for end in ("", ".gz", ".zst")},
    **{f".tsv{end}": _delimited("\t") for end in ("", ".gz", ".zst")},
    **dict.fromkeys((".parquet", ".pq"), _parquet),
    **dict.fromkeys((".arrow", ".feather", ".ipc"), _arrow),
    **dict.fromkeys((".libsvm", ".svm", ".svmlight"), _svmlight),
}
# How Parquet files, Arrow files and Arrow streams begin.
_MAGIC = {b"PAR1": open_parquet, b"ARROW1": open_arrow, b"\xff\xff\xff\xff": open_arrow}


def open_source(data: Any, encoding: str = "utf-8") -> Source:
    """The source that ``data`` names: a path, a folder, a pattern, ``-`` for standard input, ``demo:NAME``; or a frame.

    >>> source = open_source("demo:iris")
    >>> source.names[0], source.target
    ('sepal length (cm)', 'species')
    """
    if not isinstance(data, str | os.PathLike):
        return open_frame(data)
    data = os.fspath(data)
    if data.startswith(DEMO):
        return open_demo(data)
    if data == STDIN:
        return _open_stdin(encoding)
    path = Path(data)
    if path.is_dir():
        return _open_folder(data, path, encoding)
    if path.exists():
        return _open_file(data, path, encoding)
    if any(mark in data for mark in "*?["):
        return _open_pattern(data, encoding)
    near = get_close_matches(data, DEMOS, 1)
    hint = f"for the bundled set write {DEMO}{near[0]}" if near else "check the path, or try demo:iris"
    raise TableError(data, "there is no such file", hint)


def _open_file(name: str, path: Path, encoding: str) -> Source:
    opener = _OPENERS.get(_extension(path))
    if opener is None:
        came = f"its extension {path.suffix!r} is unknown" if path.suffix else "it has no extension"
        raise TableError(name, came, f"give a file that ends in {', '.join(_OPENERS)}, or pipe CSV in as '-'")
    if not path.is_file():
        raise TableError(name, "it is not a regular file", "pipe it in as '-'")
    return opener(name, path, encoding)


def _open_stdin(encoding: str) -> Source:
    content = b"" if sys.stdin is None else sys.stdin.buffer.read()
    for magic, opener in _MAGIC.items():
        if content.startswith(magic):
            return opener("standard input", content)
    return open_delimited("standard input", content, None, encoding)


def _open_folder(name: str, folder: Path, encoding: str) -> Source:
    """The folder's files that are tables; hidden ones, marks such as _SUCCESS and folders are not looked at."""
    files = [path for path in sorted(folder.iterdir()) if path.is_file() and not path.name.startswith((".", "_"))]
    tables = [path for path in files if _extension(path) in _OPENERS]
    if not tables:
        raise TableError(name, "the folder has no table in it", f"put in files that end in {', '.join(_OPENERS)}")
    others = [path.name for path in files if path not in tables]
    return _open_all(name, tables, encoding, (f"Not read: {', '.join(others)}.",) if others else ())


def _open_pattern(pattern: str, encoding: str) -> Source:
    paths = [Path(path) for path in sorted(glob(pattern)) if os.path.isfile(path)]
    if not paths:
        raise TableError(pattern, "no file fits the pattern", "check it; quote it, so that the shell leaves it alone")
    return _open_all(pattern, paths, encoding)


def _open_all(name: str, paths: list[Path], encoding: str, notes: tuple[str, ...] = ()) -> Source:
    typed = [path for path in paths if not _extension(path).startswith((".csv", ".tsv"))]
    if typed and len(typed) < len(paths):
        text = next(path for path in paths if path not in typed)
        came = f"some files hold text ({text.name}), others typed columns ({typed[0].name})"
        raise TableError(name, came, "give files of one format")
    files = [_open_file(str(path), path, encoding) for path in paths]
    if len(files) == 1 and not notes:
        return files[0]
    if any(isinstance(file, SparseSource) for file in files):
        raise TableError(name, "it holds several libsvm files", "give one: put their lines together")
    return join(name, files, notes)


def _extension(path: Path) -> str:
    """The last ending, or the last two where the last is a compression's."""
    ends = path.suffixes[-2:] if path.suffix.lower() in (".gz", ".zst") else path.suffixes[-1:]
    return "".join(ends).lower()
