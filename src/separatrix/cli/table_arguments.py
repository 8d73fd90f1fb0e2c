"""Tables on the command line: the options that say how to read them, and the reading."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
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

# click does not check whether files can be read. Opening them does, and gives the exit code for bad data.
FILE = click.Path(readable=False)
# Standard input for what is read, standard output for what is written.
STANDARD = "-"
POLICIES = ("error", "impute", "indicator", "drop")
json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
threads_option = click.option(
    "--threads",
    type=click.IntRange(1),
    metavar="N",
    help="The number of threads; all cores by default. The result does not depend on it.",
)


_SPELLING = (
    click.option("--encoding", default="utf-8", metavar="NAME", help="Encoding of text files; utf-8 by default."),
    click.option("--delimiter", metavar="MARK", help="Separator in text files: , or ; or tab. Detected by default."),
    click.option("--decimal", default=".", metavar="MARK", help="Decimal mark in text files: . (the default) or ,"),
    click.option(
        "--max-columns",
        type=click.IntRange(1),
        metavar="N",
        help="Maximum number of columns of a libsvm file; by default a million or ten per index:value pair, "
        "whichever is more.",
    ),
    click.option(
        "--max-unpacked",
        type=float,
        metavar="GB",
        help="Maximum size of an uncompressed file; by default 1 GB or 100 times the compressed size, whichever is "
        "more.",
    ),
)


def spelling_options(command: F) -> F:
    """Add the options for the format of text files and for size limits. Models do not store them: files differ."""
    for option in reversed(_SPELLING):
        command = option(command)
    return command


@dataclass(frozen=True)
class Wanted:
    """The options for reading a training table."""

    target: str | None = None
    drop: tuple[str, ...] = ()
    schema: str | None = None
    missing: str = "error"
    strict: bool = False
    reference: tuple[str, ...] = ()
    encoding: str = "utf-8"
    delimiter: str | None = None
    decimal: str = "."
    max_columns: int | None = None
    max_unpacked: float | None = None

    @property
    def spelling(self) -> dict[str, Any]:
        """The format of text files and the size limits, as arguments of ``read_table``."""
        return {name: getattr(self, name) for name in SPELLED}


def table_options(command: F) -> F:
    """Add the options that make a ``Wanted``."""
    options = (
        click.option("--target", metavar="COL", help="The column to predict. Demo tables have a default."),
        click.option("--drop", metavar="COL", multiple=True, help="Ignore this column. May be repeated."),
        click.option(
            "--schema", type=FILE, metavar="FILE", help="Column types (JSON), as printed by fit --print-schema."
        ),
        click.option(
            "--missing",
            type=click.Choice(POLICIES),
            default="error",
            metavar="HOW",
            help="What to do with missing values: error (the default) reports an error; impute fills in the mean of a "
            "number and the most frequent level of a category; indicator adds a 0/1 column for them, so that in a "
            "category missing is a level of its own; drop removes rows that have them.",
        ),
        click.option(
            "--strict",
            is_flag=True,
            help="Make categories that do not occur in the training rows an error in prediction. By default they are "
            "encoded as the mean of the training rows.",
        ),
        click.option(
            "--reference",
            metavar="COL=LEVEL",
            multiple=True,
            help="The reference level of a category, with which its other levels are compared; by default the first in "
            "alphabetical order. May be repeated.",
        ),
        *_SPELLING,
    )
    for option in reversed(options):
        command = option(command)
    return command


def read(data: str, wanted: Wanted) -> RawTable:
    """The table with its labels, before the encoding is learned."""
    from separatrix.table import read_raw

    unseen = "error" if wanted.strict else "average"
    with terminal.working(f"reading {data}"):
        asked = (wanted.target, wanted.drop, _schema(wanted.schema), wanted.missing, unseen)
        table = read_raw(data, *asked, **wanted.spelling, reference=_references(wanted.reference))
        return replace(table, notes=tuple(map(in_shell, table.notes)))


def inferred(data: str, wanted: Wanted) -> Schema:
    """What the columns seem to hold, whether or not a model can be fitted to them."""
    from separatrix.table import Column, Schema, infer, open_source
    from separatrix.table.formats import SparseSource, Spelling
    from separatrix.table.references import refuse_other_columns
    from separatrix.table.select import literal, refuse_unknown

    source = open_source(data, Spelling(**wanted.spelling))
    if isinstance(source, SparseSource):
        raise TableError(source.name, "a libsvm file has no schema", "fit it as it is: all its columns are numbers")
    given = _schema(wanted.schema) or Schema(())
    targets = [name for name in (wanted.target, given.target, source.target) if name is not None][:1]
    references = _references(wanted.reference)
    for name in (*wanted.drop, *given.names, *targets, *references):
        refuse_unknown(source, name)
    target = targets[0] if targets else None
    refuse_other_columns(references, target, wanted.drop)
    left_out = tuple(Column(name, "ignored", note="left out as asked") for name in wanted.drop)
    kept = tuple(column for column in given.columns if column.name not in wanted.drop)
    with terminal.working(f"reading {data}"):
        columns = source.read(source.names, literal(given.columns, target, given.classes))
        schema = infer(columns, target, Schema((*kept, *left_out), target, given.classes), references)
    return replace(schema, columns=tuple(replace(column, note=in_shell(column.note)) for column in schema.columns))


def read_for(
    known: ModelFile,
    data: str,
    spelling: dict[str, Any],
    strict: bool = False,
    target: str | None = None,
    labelled: bool = False,
) -> Table:
    """The model's columns, found by name, or by their order if the model was fitted without names."""
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
                came = f"it has {len(columns)} columns, and the model, which has no column names, has {known.columns}"
                raise TableError(source.name, came, "give only the columns of the fit, in the same order")
            rows = source.read(source.names) if data == STANDARD else data  # Standard input can be read only once.
        classes = [label for label in known.scorer.classes.tolist() if isinstance(label, str)]
        typed = len(classes) < len(known.scorer.classes)
        table = read_rows(rows, columns, strict, target, labelled, typed=typed, classes=classes, **spelling)
    return replace(table, X=known.scaled(table.X))


def read_model(path: str, *others: str | None) -> ModelFile:
    """The model in a file or on standard input. In the second case, none of the ``others`` may be standard input."""
    from separatrix import model_file
    from separatrix.base import checksummed_json

    if path != STANDARD:
        return model_file.read(path)
    if STANDARD in others:
        raise ParameterError(
            STANDARD,
            "it is given for two arguments",
            "give a file for one of them: standard input can be read only once",
        )
    with model_file.naming("standard input"):
        return model_file.from_bytes(b"" if sys.stdin is None else checksummed_json.read_stream(sys.stdin.buffer))


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
        raise ParameterError(option, error.came, error.do) from error


def write(option: str, out: str, content: bytes) -> None:
    """Write the whole file, or nothing if that fails."""
    from separatrix.base.atomic_files import replace_file

    try:
        replace_file(out, content)
    except ParameterError as error:
        raise ParameterError(option, error.came, error.do) from error


def _references(given: Sequence[str]) -> dict[str, str]:
    """The reference levels by column.

    >>> _references(["city=Brno", "size==3"])
    {'city': 'Brno', 'size': '=3'}
    """
    references: dict[str, str] = {}
    for text in given:
        name, equals, level = text.partition("=")
        if not equals:
            raise ParameterError("reference", f"got {text!r}", "write COLUMN=LEVEL, such as city=Brno")
        if name in references:
            raise ParameterError("reference", f"column {name!r} is given twice", "give one level for each column")
        references[name] = level
    return references


def _schema(path: str | None) -> Any:
    from separatrix.table import read_schema

    return None if path is None else read_schema(path)
