"""Open a source: a path, a folder, a pattern, ``-``, ``demo:NAME``, or a frame.

Files are opened by their extension, standard input by its first bytes. A frame is one of pandas, or of a library with
an Arrow interface, such as polars and PyArrow.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import pyarrow as pa

from separatrix.core.base.errors import NoRowsError, TableError
from separatrix.core.base.files import files_matching, is_pattern
from separatrix.core.base.lazy import is_dask
from separatrix.core.base.messages import ByAudience, Message
from separatrix.core.rows.labelled_table import OutsideMemory
from separatrix.tables.cells import shortened
from separatrix.tables.formats.batched import join
from separatrix.tables.formats.csv_files import open_delimited, read_header
from separatrix.tables.formats.demos import DEMO, DEMOS, open_demo
from separatrix.tables.formats.libsvm import SparseSource, join_sparse, open_svmlight, seems_svmlight
from separatrix.tables.formats.parquet import open_arrow, open_parquet
from separatrix.tables.formats.rewriting import rewritten
from separatrix.tables.formats.source import (
    PACKED,
    SOME_ROWS,
    Content,
    MemorySource,
    Source,
    Spelling,
    distinct,
    extension,
)

# --- Data frames

FRAME = "the frame"


def open_frame(frame: Any) -> MemorySource:
    """A source of the frame's columns; the index of a pandas frame is not a column.

    >>> open_frame(pa.table({"a": [1, 2], "y": ["u", "v"]})).names
    ('a', 'y')
    """
    pandas = _is_pandas(frame)
    if not is_frame(frame):
        outside = is_dask(frame) or isinstance(frame, OutsideMemory)
        problem = "got a Dask collection" if is_dask(frame) else f"got {type(frame).__name__}"
        remedy = "give a path, or a frame of pandas, polars or PyArrow (collect a lazy one)"
        elsewhere = "; fit, evaluate and summary take rows outside memory" if outside else ""
        raise TableError("data", problem, f"{remedy}{elsewhere}")
    try:
        if pandas:
            names = distinct(FRAME, [str(name) for name in frame.columns])
            columns = pa.Table.from_pandas(frame, preserve_index=False).rename_columns(list(names))
        else:
            columns = pa.table(frame)
            columns.validate(full=True)  # A frame read from a damaged file may point outside its memory.
            distinct(FRAME, columns.column_names)
    except TableError:
        raise
    except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
        reason = "; ".join(" ".join(str(part).split()) for part in error.args)[:200]
        problem = f"its columns cannot be read ({reason})"
        raise TableError(FRAME, problem, "give each column values of one type") from error
    if columns.num_rows == 0:
        raise NoRowsError(FRAME, "it has no rows", SOME_ROWS)
    return MemorySource(FRAME, columns)


def is_frame(X: Any) -> bool:
    """Whether X is a data frame of pandas or of a library with an Arrow interface.

    >>> is_frame(pa.table({"a": [1, 2]})), is_frame([[1, 2]])
    (True, False)
    """
    return _is_pandas(X) or hasattr(X, "__arrow_c_stream__")


def holds_numbers(frame: Any) -> bool:
    """Whether all columns of a frame have a type of numbers or truth values.

    >>> holds_numbers(pa.table({"a": [1, 2]})), holds_numbers(pa.table({"a": ["u", "v"]}))
    (True, False)
    """
    if _is_pandas(frame):
        return all(getattr(dtype, "kind", "O") in "biuf" for dtype in frame.dtypes)
    types = open_frame(frame).columns.schema.types
    return all(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind) for kind in types)


def _is_pandas(frame: Any) -> bool:
    return type(frame).__module__.split(".")[0] == "pandas" and hasattr(frame, "columns")


# --- Files, folders, patterns and standard input

STDIN, _PIPED = "-", "standard input"
_OR_PIPE_IT = ByAudience(", or pipe it in as '-'", shell=", or pipe it in as '-'", page="")
_Opener = Callable[[str, Path, Spelling], Source]


def _tabbed(name: str, path: Path, spelling: Spelling) -> Source:
    return _delimited(name, path, replace(spelling, delimiter=spelling.delimiter or "\t"))


def _delimited(name: str, path: Path, spelling: Spelling) -> Source:
    with Content(name, path, spelling.limits) as content:
        if seems_svmlight(content):
            problem = "its first line is not a header but a label and index:value pairs, as in a libsvm file"
            raise TableError(name, problem, Message("give it a name that ends in .libsvm", _OR_PIPE_IT))
        return read_header(content, spelling)


def _parquet(name: str, path: Path, spelling: Spelling) -> Source:
    return open_parquet(name, _content(path), spelling.limits)


def _arrow(name: str, path: Path, spelling: Spelling) -> Source:
    return open_arrow(name, _content(path), spelling.limits)


def _svmlight(name: str, path: Path, spelling: Spelling) -> Source:
    return open_svmlight(name, path, spelling.limits)


def _content(path: Path) -> Path | bytes:
    """The path, or the file's bytes if its name is not UTF-8, since PyArrow cannot open such a path."""
    try:
        str(path).encode()
        return path
    except UnicodeEncodeError:
        return path.read_bytes()


_TEXT: dict[str, _Opener] = {
    ".csv": _delimited,
    ".tsv": _tabbed,
    **dict.fromkeys((".libsvm", ".svm", ".svmlight"), _svmlight),
}
_TYPED: dict[str, _Opener] = {
    **dict.fromkeys((".parquet", ".pq"), _parquet),
    **dict.fromkeys((".arrow", ".feather", ".ipc"), _arrow),
}
_OPENERS = {f"{end}{packed}": opener for end, opener in _TEXT.items() for packed in ("", *PACKED)} | _TYPED
# Files of spreadsheet programs, which are not read.
_SPREADSHEETS = (".xlsx", ".xls", ".xlsm", ".ods")
_ENDINGS = f"{', '.join([*_TEXT, *_TYPED])}, text also with {' or '.join(PACKED)}"
# The first bytes of Parquet files, Arrow files and Arrow streams.
_MAGIC = {b"PAR1": open_parquet, b"ARROW1": open_arrow, b"\xff\xff\xff\xff": open_arrow}


@dataclass(frozen=True)
class CalledFile:
    """A file that messages call by another name than its path: that of an upload, for example."""

    path: str
    name: str


def open_source(data: Any, spelling: Spelling | None = None) -> Source:
    """The source for ``data``: a path, a folder, a pattern, ``-`` for standard input, ``demo:NAME``, or a frame.

    >>> source = open_source("demo:iris")
    >>> source.names[0], source.target
    ('sepal length (cm)', 'species')
    """
    spelling = spelling or Spelling()
    source: Source
    if isinstance(data, CalledFile):
        source = _open_file(data.name, Path(data.path), spelling)
    elif not isinstance(data, str | os.PathLike):
        source = open_frame(data)
    elif os.fspath(data).startswith(DEMO):
        source = open_demo(os.fspath(data))
    else:
        source = _open_stdin(spelling) if os.fspath(data) == STDIN else _open_path(os.fspath(data), spelling)
    return rewritten(source, spelling)


def _open_path(data: str, spelling: Spelling) -> Source:
    """A file, a folder or a pattern."""
    path, shown = Path(data), readable(data)
    try:
        if path.is_dir():
            return _open_folder(shown, path, spelling)
        if path.exists():
            return _open_file(shown, path, spelling)
    except OSError as error:  # The name is too long, or the folder may not be entered.
        raise TableError(shortened(shown, 80), f"it cannot be opened ({error.strerror})", "check the path") from error
    if is_pattern(data):
        return _open_pattern(data, spelling)
    near = get_close_matches(data, DEMOS, 1)
    hint = f"for the demo table write {DEMO}{near[0]}" if near else "check the path, or try demo:iris"
    raise TableError(shown, "there is no such file", hint)


def readable(path: str) -> str:
    r"""A path as text that can be printed and saved: bytes that are not UTF-8 are escaped.

    >>> readable("caf\udce9.csv")
    'caf\\xe9.csv'
    """
    return os.fsencode(path).decode("utf-8", "backslashreplace") if not path.isascii() else path


def _converted(path: Path) -> str:
    """A line for the shell that writes the first sheet of a spreadsheet as CSV."""
    sheet, text = json.dumps(str(path)), json.dumps(str(path.with_suffix(".csv")))
    code = f"import pandas; pandas.read_excel({sheet}).to_csv({text}, index=False)"
    return f"python -c {shlex.quote(code)}"


def _open_file(name: str, path: Path, spelling: Spelling) -> Source:
    opener = _OPENERS[known_extension(name, path)]
    if not path.is_file():
        raise TableError(name, "it is not a regular file", "pipe it in as '-'")
    return opener(name, path, spelling)


def known_extension(name: str, path: Path) -> str:
    """The extension by which a file is read; an error that calls the file ``name`` if it is not known.

    >>> known_extension("a table", Path("people.CSV.gz"))
    '.csv.gz'
    """
    found = extension(path.name)
    if found in _OPENERS:
        return found
    if path.suffix.lower() in _SPREADSHEETS:
        convert = f"convert it first: {_converted(path)}"
        by_hand = ByAudience(convert, shell=convert, page="save its first sheet as CSV, and give that file")
        raise TableError(name, "it is a spreadsheet", Message(by_hand))
    problem = f"its extension {found!r} is unknown" if path.suffix else "it has no extension"
    raise TableError(name, problem, Message(f"give a file that ends in {_ENDINGS}", _OR_PIPE_IT))


def _open_stdin(spelling: Spelling) -> Source:
    content = b"" if sys.stdin is None else sys.stdin.buffer.read()
    for magic, opener in _MAGIC.items():
        if content.startswith(magic):
            return opener(_PIPED, content, spelling.limits)
    if seems_svmlight(Content(_PIPED, content, spelling.limits)):
        source = open_svmlight(_PIPED, content, spelling.limits)
        return replace(source, notes=("It is read as libsvm: labels and index:value pairs.",))
    return open_delimited(_PIPED, content, spelling)


def files_read(data: str) -> list[Path]:
    """The files of the disk that ``open_source`` reads for a path, a folder or a pattern."""
    path = Path(data)
    if data == STDIN or data.startswith(DEMO):
        return []
    if path.is_dir():
        return _tables(_visible(path))
    return [path] if path.exists() else files_matching(data)


def _visible(folder: Path) -> list[Path]:
    """The files in a folder without hidden files, markers such as _SUCCESS and subfolders."""
    return [path for path in sorted(folder.iterdir()) if path.is_file() and not path.name.startswith((".", "_"))]


def _tables(files: list[Path]) -> list[Path]:
    return [path for path in files if extension(path.name) in _OPENERS]


def _open_folder(name: str, folder: Path, spelling: Spelling) -> Source:
    """All tables in a folder."""
    files = _visible(folder)
    tables = _tables(files)
    if not tables:
        raise TableError(name, "the folder has no table in it", f"put in files that end in {_ENDINGS}")
    others = [readable(path.name) for path in files if path not in tables]
    return _open_all(name, tables, spelling, (f"Not read: {', '.join(others)}.",) if others else ())


def _open_pattern(pattern: str, spelling: Spelling) -> Source:
    paths = files_matching(pattern)
    if not paths:
        remedy = "check the pattern, and put it in quotes so that the shell does not expand it"
        raise TableError(pattern, "no file matches the pattern", remedy)
    return _open_all(readable(pattern), paths, spelling)


def _open_all(name: str, paths: list[Path], spelling: Spelling, notes: tuple[str, ...] = ()) -> Source:
    """Several files as one source. They must have one format: text has no types, and libsvm has no names."""
    first = _kind(paths[0])
    other = next((path for path in paths if _kind(path) != first), None)
    if other is not None:
        problem = f"some files hold {first} ({paths[0].name}), others {_kind(other)} ({other.name})"
        raise TableError(name, problem, "give files of one format")
    files = [_open_file(readable(str(path)), path, spelling) for path in paths]
    if len(files) == 1 and not notes:
        return files[0]
    sparse = [file for file in files if isinstance(file, SparseSource)]
    return join_sparse(name, sparse, notes) if sparse else join(name, files, notes)


def _kind(path: Path) -> str:
    opener = _OPENERS.get(extension(path.name))
    return "libsvm" if opener is _svmlight else "text" if opener in _TEXT.values() else "typed columns"
