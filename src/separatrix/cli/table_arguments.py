"""The table on the command line: the options that say how it is read, and the reading."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from separatrix.base.errors import ParameterError, TableError
from separatrix.cli import terminal
from separatrix.cli.models import SPELLED
from separatrix.cli.wording import in_shell

if TYPE_CHECKING:
    from separatrix.model_file import ModelFile
    from separatrix.table import RawTable, Schema, Table

F = TypeVar("F", bound=Callable[..., Any])

# Whether a file can be read is found out by opening it, so that it ends with the exit code of bad data.
FILE = click.Path(readable=False)
# Standard input where something is read, standard output where answers are written.
STANDARD = "-"
POLICIES = ("error", "impute", "indicator", "drop")
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object, for programs.")
threads_option = click.option(
    "--threads", type=click.IntRange(1), metavar="N", help="How many (all cores). The answer does not depend on it."
)


_SPELLING = (
    click.option("--encoding", default="utf-8", metavar="NAME", help="Of text files (utf-8); latin-1, cp1250, ..."),
    click.option("--delimiter", metavar="MARK", help="Between the cells of text files: , or ; or tab (by the header)."),
    click.option(
        "--decimal", default=".", metavar="MARK", help="Of numbers in text files: . (the default) or a comma."
    ),
    click.option(
        "--max-columns",
        type=click.IntRange(1),
        metavar="N",
        help="The most columns of a libsvm file (a million, or ten for each of its pairs).",
    ),
    click.option(
        "--max-unpacked",
        type=float,
        metavar="GB",
        help="The most that a compressed file may unpack to (1 GB, or 100 times its size).",
    ),
)


def spelling_options(command: F) -> F:
    """How text files are spelled, and how large a table may become. No model keeps it: another file may differ."""
    for option in reversed(_SPELLING):
        command = option(command)
    return command


@dataclass(frozen=True)
class Wanted:
    """What is asked of a table to be learned from."""

    target: str | None = None
    drop: tuple[str, ...] = ()
    schema: str | None = None
    missing: str = "error"
    strict: bool = False
    encoding: str = "utf-8"
    delimiter: str | None = None
    decimal: str = "."
    max_columns: int | None = None
    max_unpacked: float | None = None

    @property
    def spelling(self) -> dict[str, Any]:
        """By the names of ``read_table``'s arguments."""
        return {name: getattr(self, name) for name in SPELLED}


def table_options(command: F) -> F:
    """Options that make a ``Wanted``."""
    options = (
        click.option("--target", metavar="COL", help="The column to predict. Demo sets have one of their own."),
        click.option("--drop", metavar="COL", multiple=True, help="Leave a column out; may be given again."),
        click.option(
            "--schema", type=FILE, metavar="FILE", help="What columns hold (JSON): see --print-schema of fit."
        ),
        click.option(
            "--missing",
            type=click.Choice(POLICIES),
            default="error",
            metavar="HOW",
            help="Missing values: error (the default) refuses them, impute fills in means, indicator does that and "
            "marks them by columns of their own, drop leaves such rows out.",
        ),
        click.option(
            "--strict", is_flag=True, help="Refuse categories never seen when predicting; else they count as average."
        ),
        *_SPELLING,
    )
    for option in reversed(options):
        command = option(command)
    return command


def read(data: str, wanted: Wanted) -> RawTable:
    """The table, with labels; nothing is learned from its values yet."""
    from separatrix.table import read_raw

    unseen = "error" if wanted.strict else "average"
    with terminal.working(f"reading {data}"):
        asked = (wanted.target, wanted.drop, _schema(wanted.schema), wanted.missing, unseen)
        table = read_raw(data, *asked, **wanted.spelling)
        return replace(table, notes=tuple(map(in_shell, table.notes)))


def inferred(data: str, wanted: Wanted) -> Schema:
    """What the columns seem to hold, whether or not a model could be fitted to them."""
    from separatrix.table import Column, Schema, infer, open_source
    from separatrix.table.formats import SparseSource, Spelling
    from separatrix.table.select import literal, refuse_unknown

    source = open_source(data, Spelling(**wanted.spelling))
    if isinstance(source, SparseSource):
        raise TableError(source.name, "a libsvm file has no schema", "all its columns are numbers: fit as it is")
    given = _schema(wanted.schema) or Schema(())
    target = next((name for name in (wanted.target, given.target, source.target) if name is not None), None)
    for name in (*wanted.drop, *given.names, *([] if target is None else [target])):
        refuse_unknown(source, name)
    left_out = tuple(Column(name, "ignored", note="left out as asked") for name in wanted.drop)
    kept = tuple(column for column in given.columns if column.name not in wanted.drop)
    with terminal.working(f"reading {data}"):
        columns = source.read(source.names, literal(given.columns, target, given.classes))
        found = infer(columns, target, Schema((*kept, *left_out), target, given.classes))
    return replace(found, columns=tuple(replace(column, note=in_shell(column.note)) for column in found.columns))


def read_for(
    known: ModelFile,
    data: str,
    spelling: dict[str, Any],
    strict: bool = False,
    target: str | None = None,
    labelled: bool = False,
) -> Table:
    """The model's columns: by name, or in their order where the model was fitted without names."""
    from separatrix.table import open_source, read_rows
    from separatrix.table.formats import Spelling

    columns = known.features if known.encoder is None else known.encoder
    target = known.target if target is None else target
    rows: Any = data
    with terminal.working(f"reading {data}"):
        if columns is None:
            source = open_source(data, Spelling(**spelling))
            columns = tuple(name for name in source.names if name not in (target, source.target))
            if len(columns) != known.columns:
                came = f"it has {len(columns)} columns, and the model, which knows no names, has {known.columns}"
                raise TableError(source.name, came, "give just the columns that were fitted, in their order")
            rows = source.read(source.names) if data == STANDARD else data  # which is read once only
        classes = [label for label in known.scorer.classes.tolist() if isinstance(label, str)]
        typed = len(classes) < len(known.scorer.classes)
        table = read_rows(rows, columns, strict, target, labelled, typed=typed, classes=classes, **spelling)
    return replace(table, X=known.scaled(table.X))


def read_model(path: str, *others: str | None) -> ModelFile:
    """The model in a file, or on standard input, which none of the ``others`` then may be."""
    from separatrix import model_file
    from separatrix.base import checksummed_json

    if path != STANDARD:
        return model_file.read(path)
    if STANDARD in others:
        raise ParameterError(
            STANDARD, "it stands for two arguments", "standard input is read once: give a file for one"
        )
    with model_file.naming("standard input"):
        return model_file.from_bytes(b"" if sys.stdin is None else checksummed_json.read_stream(sys.stdin.buffer))


def destination(option: str, out: str | None) -> str | None:
    """Where answers go: a file that can be written, or None for standard output, which ``-`` is, too.

    >>> destination("--out", "-") is None
    True
    """
    if out == STANDARD:
        return None
    refuse_unwritable(option, out)
    return out


def refuse_unwritable(option: str, out: str | None) -> None:
    """Before any work: a fit whose model has nowhere to go is lost."""
    if out is None:
        return
    if out == STANDARD:
        raise ParameterError(option, "got '-'", "give the path of a file: it is written whole or not at all")
    path = Path(out)
    if path.is_dir():
        raise ParameterError(option, f"{out!r} is a folder", "give the path of a file")
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise ParameterError(option, f"{out!r} is in no folder that can be written to", "make that folder first")
    from separatrix.base.atomic_files import refuse_irreplaceable

    try:
        refuse_irreplaceable(path)
    except ParameterError as error:
        raise ParameterError(option, error.came, error.do) from error


def write(option: str, out: str, content: bytes) -> None:
    """The file, whole or not at all."""
    from separatrix.base.atomic_files import replace_file

    try:
        replace_file(out, content)
    except ParameterError as error:
        raise ParameterError(option, error.came, error.do) from error


def _schema(path: str | None) -> Any:
    from separatrix.table import read_schema

    return None if path is None else read_schema(path)
