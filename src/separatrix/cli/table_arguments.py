"""Tables on the command line: the options that say how to read them, and the reading."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from separatrix.base.errors import ParameterError, TableError
from separatrix.cli import terminal
from separatrix.cli.file_arguments import READ
from separatrix.cli.models import SPELLED, given_words
from separatrix.cli.text_options import TEXT_PARAMETERS, asked_text, text_options
from separatrix.cli.wording import in_shell

if TYPE_CHECKING:
    from separatrix.table import RawTable, Schema, TextSettings

F = TypeVar("F", bound=Callable[..., Any])

POLICIES = ("error", "impute", "indicator", "drop")
json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
threads_option = click.option(
    "--threads",
    type=click.IntRange(1),
    metavar="N",
    help="The number of threads; all cores by default. The result does not depend on it.",
)


def _texts(context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    """The texts of repeated options and of lists with commas."""
    context.meta[given_words(option.name)] = given
    return tuple(text for one in given for text in (next(csv.reader([one]), [""]) if one != "," else [","]))


def _forms(context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    """The forms of dates by column, "" for all columns."""
    context.meta[given_words(option.name)] = given
    return dict(map(_form, given))


def _form(given: str) -> tuple[str, str]:
    """The column and the form of ``COL=FORMAT``; without a column, "" and the form.

    >>> _form("born=%d.%m.%Y"), _form("%d.%m.%Y")
    (('born', '%d.%m.%Y'), ('', '%d.%m.%Y'))
    """
    before, percent, after = given.partition("%")
    column, _, start = before.rpartition("=")
    return column, start + percent + after


_SPELLING = (
    click.option(
        "--no-header",
        "header",
        is_flag=True,
        flag_value=False,
        default=True,
        help="The first line of a text file is a row, not a header. Columns are then called x1, x2, …, and --target, "
        "--drop and the like also take their numbers: 1 for the first column, -1 for the last.",
    ),
    click.option(
        "--delimiter", metavar="MARK", help="Separator in text files, such as , or ; or tab. Detected by default."
    ),
    click.option(
        "--quote",
        default='"',
        metavar="MARK",
        help='Quotation mark of cells that contain the separator, in text files: " (the default), another, or none.',
    ),
    click.option("--decimal", default=".", metavar="MARK", help="Decimal mark in text files: . (the default) or ,"),
    click.option("--encoding", default="utf-8", metavar="NAME", help="Encoding of text files; utf-8 by default."),
    click.option(
        "--na",
        multiple=True,
        callback=_texts,
        metavar="TEXT",
        help="A text that means a missing value, such as -. An empty cell and NA always do; ?, N/A, null and the like "
        "do in columns of numbers and dates and in the target, but are levels of a category. May be repeated or be a "
        "list separated by commas. The model file stores it.",
    ),
    click.option(
        "--date-format",
        multiple=True,
        callback=_forms,
        metavar="[COL=]FORMAT",
        help="The format of dates, such as %d.%m.%Y for 31.12.2024, in one column or in all that hold such dates. May "
        "be repeated. Dates such as 2024-12-31 need none. The model file stores it.",
    ),
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
_SELECTION = (
    click.option("--target", metavar="COL", help="The column to predict. Demo tables have a default."),
    click.option(
        "--drop",
        metavar="COL",
        multiple=True,
        help="Ignore this column. May be repeated or be a list separated by commas.",
    ),
    click.option(
        "--category",
        metavar="COL",
        multiple=True,
        help="This column holds categories, even if they look like numbers. May be repeated or be a list separated by "
        "commas.",
    ),
    click.option(
        "--number",
        metavar="COL",
        multiple=True,
        help="This column holds numbers; any other cell is an error. May be repeated or be a list separated by commas.",
    ),
    click.option("--schema", type=READ, metavar="FILE", help="Column types (JSON), as printed by fit --print-schema."),
)


_MISSING = click.option(
    "--missing",
    type=click.Choice(POLICIES),
    default="error",
    metavar="HOW",
    help="What to do with missing values: error (the default) reports an error; impute fills in the mean of a "
    "number and the most frequent level of a category; indicator adds a 0/1 column for them (in a category, "
    "missing becomes a level of its own); drop removes rows that have them.",
)
_REFERENCE = click.option(
    "--reference",
    metavar="COL=LEVEL",
    multiple=True,
    help="The reference level of a category, with which its other levels are compared; by default the first in "
    "alphabetical order. May be repeated.",
)


def spelling_options(command: F) -> F:
    """Add the options that say how a table is written, and limits on its size.

    The marks of a text file belong to the file, so models do not store them. They store ``na`` and ``date_format``.
    """
    for option in reversed(_SPELLING):
        command = option(command)
    return command


@dataclass(frozen=True)
class Wanted:
    """The options for reading a training table."""

    target: str | None = None
    drop: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    number: tuple[str, ...] = ()
    schema: str | None = None
    missing: str = "error"
    strict: bool = False
    reference: tuple[str, ...] = ()
    encoding: str = "utf-8"
    delimiter: str | None = None
    decimal: str = "."
    header: bool = True
    quote: str = '"'
    na: tuple[str, ...] = ()
    date_format: Mapping[str, str] = field(default_factory=dict)
    max_columns: int | None = None
    max_unpacked: float | None = None
    text: tuple[str, ...] = ()
    text_ngrams: int | None = None
    text_min_df: int | None = None
    text_features: int | None = None
    text_hashed: bool = False

    @property
    def words(self) -> dict[str, TextSettings]:
        """The columns of free text with their settings."""
        return asked_text({name: getattr(self, name) for name in TEXT_PARAMETERS})

    @property
    def kinds(self) -> dict[str, Any]:
        """What the user says the columns hold, as arguments of ``read_table``."""
        reference = _references(self.reference)
        return {"category": self.category, "number": self.number, "text": self.words, "reference": reference}

    def read_schema(self) -> Schema | None:
        """What the file of --schema says about the columns; None without one."""
        from separatrix.table import read_schema

        return None if self.schema is None else read_schema(self.schema)

    @property
    def spelling(self) -> dict[str, Any]:
        """How the table is written and the size limits, as arguments of ``read_table``."""
        return {name: getattr(self, name) for name in SPELLED}


def table_options(command: F) -> F:
    """Add the options that make a ``Wanted``."""
    options = (
        *_SELECTION,
        _MISSING,
        click.option(
            "--strict",
            is_flag=True,
            help="Make categories that do not occur in the training rows an error in prediction. By default they are "
            "encoded as the mean of the training rows.",
        ),
        _REFERENCE,
        *_SPELLING,
    )
    command = text_options(command)
    for option in reversed(options):
        command = option(command)
    return command


def read(data: str, wanted: Wanted) -> RawTable:
    """The table with its labels, before the encoding is learned."""
    from separatrix.table import read_raw

    unseen = "error" if wanted.strict else "average"
    with terminal.working(f"reading {data}"):
        asked = (wanted.target, wanted.drop, wanted.read_schema(), wanted.missing, unseen)
        how: dict[str, Any] = {**wanted.kinds, **wanted.spelling}
        table = read_raw(data, *asked, **how)
        return replace(table, notes=tuple(map(in_shell, table.notes)))


def inferred(data: str, wanted: Wanted) -> Schema:
    """What the columns seem to hold, whether or not a model can be fitted to them."""
    from separatrix.table import Column, Schema, infer
    from separatrix.table.formats import SparseSource, Spelling
    from separatrix.table.formats.source import row_names
    from separatrix.table.selection import selected

    with terminal.working(f"reading {data}"):
        how = (wanted.target, wanted.drop, wanted.read_schema(), Spelling(**wanted.spelling))
        asked = selected(data, *how, needs_target=False, **wanted.kinds)
        if isinstance(asked.source, SparseSource):
            problem = "a libsvm file has no schema"
            raise TableError(asked.source.name, problem, "fit it as it is: all its columns are numbers")
        left_out = tuple(Column(name, "ignored", note="left out as asked") for name in asked.drop)
        kept = tuple(column for column in asked.given.columns if column.name not in asked.drop)
        given = Schema((*kept, *left_out), asked.target, asked.given.classes)
        columns = asked.read(asked.source.names)
        schema, names = infer(columns, asked.target, given, asked.reference), row_names(columns)
    noted = (replace(column, note=in_shell(names.named(column.note))) for column in schema.columns)
    return replace(schema, columns=tuple(noted))


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
