"""Tables on the command line: options that say how to read them, in memory, in batches or on a cluster.

``Wanted`` holds the options of a training table. A table that does not fit into memory is read in batches, and with
``--cluster`` the workers of a Dask cluster read the table and keep its rows.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from separatrix.cli import terminal
from separatrix.cli.classifier_options import SPELLED, given_words
from separatrix.cli.file_arguments import CACHES, READ, STANDARD
from separatrix.cli.terminal import in_shell
from separatrix.core.base.errors import ParameterError, TableError
from separatrix.core.base.files import files_matching
from separatrix.core.base.messages import size_text

if TYPE_CHECKING:
    from separatrix.tables.formats.batched import BatchedSource
    from separatrix.tables.formats.source import Source
    from separatrix.tables.on_cluster import ClusterPasses
    from separatrix.tables.read_table import RawTable
    from separatrix.tables.schema import Schema
    from separatrix.tables.text import TextSettings

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
_TEXT = (
    click.option(
        "--text",
        metavar="COL",
        multiple=True,
        help="Use this column of free text: each word and each pair of neighbouring words becomes a column, weighted "
        "by TF-IDF as in scikit-learn (lower case, words of two letters or more, 1 + ln count, rows of length 1). "
        "A missing text counts as empty if --missing fills it. May be repeated.",
    ),
    click.option(
        "--text-ngrams",
        type=click.IntRange(1, 10),
        metavar="N",
        help="Maximum number of words in an n-gram of --text; 2 by default, 1 for single words.",
    ),
    click.option(
        "--text-min-df",
        type=click.IntRange(1),
        metavar="N",
        help="Leave out n-grams that occur in fewer than N training rows; 2 by default.",
    ),
    click.option(
        "--text-features",
        type=click.IntRange(1),
        metavar="N",
        help="Keep the N most frequent n-grams of a column; 100000 by default. With --text-hashed, the number of "
        "columns.",
    ),
    click.option(
        "--text-hashed",
        is_flag=True,
        help="Hash n-grams to columns instead of keeping a vocabulary: signed counts without idf, as in "
        "scikit-learn's HashingVectorizer.",
    ),
)
# The settings of a column of free text, by the parameters of their options.
_TEXT_SETTINGS = {
    "text_ngrams": "ngrams",
    "text_min_df": "min_df",
    "text_features": "max_features",
    "text_hashed": "hashed",
}
TEXT_PARAMETERS = ("text", *_TEXT_SETTINGS)


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
    def kinds(self) -> dict[str, Any]:
        """What the user says the columns hold, as arguments of ``read_table``."""
        reference, text = _references(self.reference), self._text_columns()
        return {"category": self.category, "number": self.number, "text": text, "reference": reference}

    def _text_columns(self) -> dict[str, TextSettings]:
        """The columns of free text with their settings."""
        from separatrix.tables.text import TextSettings

        options = {setting: f"--{name.replace('_', '-')}" for name, setting in _TEXT_SETTINGS.items()}
        asked = {setting: getattr(self, name) for name, setting in _TEXT_SETTINGS.items() if getattr(self, name)}
        if asked and not self.text:
            raise ParameterError(options[next(iter(asked))], "no column of text is named", "name one with --text COL")
        if "min_df" in asked and "hashed" in asked:
            remedy = "leave one of the two out"
            raise ParameterError("--text-min-df", "hashed n-grams are not counted by row", remedy)
        with terminal.as_options(options):
            return dict.fromkeys(self.text, TextSettings(**asked))

    def read_schema(self) -> Schema | None:
        """What the file of --schema says about the columns; None without one."""
        from separatrix.tables.schema import read_schema

        return None if self.schema is None else read_schema(self.schema)

    @property
    def spelling(self) -> dict[str, Any]:
        """How the table is written and the size limits, as arguments of ``read_table``."""
        return {name: getattr(self, name) for name in SPELLED}


def wanted_options(command: F) -> F:
    """Add the options that make a ``Wanted``."""
    options = (
        *_SELECTION,
        click.option(
            "--missing",
            type=click.Choice(POLICIES),
            default="error",
            metavar="HOW",
            help="What to do with missing values: error (the default) reports an error; impute fills in the mean of a "
            "number and the most frequent level of a category; indicator adds a 0/1 column for them (in a category, "
            "missing becomes a level of its own); drop removes rows that have them.",
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
        *_TEXT,
    )
    for option in reversed(options):
        command = option(command)
    return command


def read(data: str, wanted: Wanted) -> RawTable:
    """The table with its labels, before the encoding is learned."""
    from separatrix.tables.read_table import read_raw

    unseen = "error" if wanted.strict else "average"
    with terminal.working(f"reading {data}"):
        asked = (wanted.target, wanted.drop, wanted.read_schema(), wanted.missing, unseen)
        how: dict[str, Any] = {**wanted.kinds, **wanted.spelling}
        table = read_raw(data, *asked, **how)
        return replace(table, notes=tuple(map(in_shell, table.notes)))


def inferred(data: str, wanted: Wanted) -> Schema:
    """What the columns seem to hold, whether or not a model can be fitted to them."""
    from separatrix.tables.formats.libsvm import SparseSource
    from separatrix.tables.formats.source import Spelling, row_names
    from separatrix.tables.infer import infer
    from separatrix.tables.schema import Column, Schema
    from separatrix.tables.selection import selected

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


# --- Tables that do not fit into memory

# The bytes of a cell that is read into memory: as it was read, as a number, encoded, once more in the rows fitted, and
# in copies for a time. A fit to 3 000 000 rows of 9 columns took 57.
BYTES_PER_CELL = 56
# The ratio of a text file's size in memory to its size on disk, and that of a compressed file to its unpacked size.
TEXT_RATIO, UNPACKED_RATIO = 1.2, 5.0
# gzip never packs more bytes than this into one.
LARGEST_GZIP_RATIO = 1032
_LIBSVM = (".libsvm", ".svm", ".svmlight")

_MEMORY = (
    "A limit on the peak memory of the process, such as 500MB or 4GB, which includes about 300MB for Python and its "
    "packages; by default a part of the available memory. A table that would need more "
)
memory_option = click.option(
    "--memory", metavar="SIZE", help=f"{_MEMORY}is read in batches, with the same result up to rounding."
)
memory_of_fit_option = click.option(
    "--memory",
    metavar="SIZE",
    help=f"{_MEMORY}is read in batches, again in every pass over its rows. The result is the same, except that other "
    "rows are held out.",
)
memory_of_check_option = click.option(
    "--memory", metavar="SIZE", help=f"{_MEMORY}is refused, since a check compares its rows with each other."
)
memory_of_comparison_option = click.option(
    "--memory", metavar="SIZE", help=f"{_MEMORY}is refused, since a comparison selects the rows of folds."
)
cache_option = click.option(
    "--cache",
    type=CACHES,
    metavar="DIR",
    help="For a table that is read in batches: keep its rows as numbers in this folder, for later passes and later "
    "fits. By default they are kept in a temporary file, if the disk has room.",
)


def memory_limit(memory: str | None) -> float:
    """The memory that a table may take, in bytes."""
    from separatrix.core.base.machine import available_bytes
    from separatrix.tables.batches import memory_bytes

    if memory is None:
        # Without --memory, a table may take this share of the memory that is available.
        return 0.6 * available_bytes()
    with terminal.as_options():
        return memory_bytes(memory)


@dataclass(frozen=True)
class TooLarge:
    """A source that is read in batches, since in memory it would take more than the limit."""

    batched: BatchedSource
    needed: float
    limit: float

    @property
    def note(self) -> str:
        """The sentence that says so."""
        name, needed, limit = Path(self.batched.name).name, size_text(self.needed), size_text(self.limit)
        return f"{name} would take about {needed} of memory, more than {limit}, so it is read in batches (--memory)."


def may_be_batched(data: str, memory: str | None) -> bool:
    """Whether a table is a file, a folder or a pattern of files that can be read in batches, and that may be too large.

    Only the sizes of the files are read, so that small tables are not opened twice.
    """
    from separatrix.tables.formats.demos import DEMO

    if data == STANDARD or data.startswith(DEMO):
        return False
    path = Path(data)
    try:
        files = [*path.iterdir()] if path.is_dir() else [path] if path.exists() else files_matching(data)
        if any(suffix in _LIBSVM for file in files for suffix in file.suffixes):
            return False
        return sum(file.stat().st_size * _most_ratio(file) for file in files if file.is_file()) > memory_limit(memory)
    except OSError:  # Opening the table reports it.
        return False


def _most_ratio(path: Path) -> float:
    """How much larger than its file a table may be in memory."""
    packed = LARGEST_GZIP_RATIO if path.suffix.lower() == ".gz" else 1
    text = path.with_suffix("") if packed > 1 else path
    if text.suffix.lower() in (".csv", ".tsv"):
        return packed * (TEXT_RATIO + BYTES_PER_CELL / 2)  # a cell takes at least a digit and a delimiter
    return math.inf


def too_large(source: Source, memory: str | None) -> TooLarge | None:
    """The source, to be read in batches, if it would not fit into memory; otherwise None."""
    from separatrix.tables.formats.batched import batched

    found = batched(source)
    if found is None:
        return None
    needed, limit = needed_bytes(found), memory_limit(memory)
    if needed <= limit:
        return None
    from separatrix.tables.batches import refuse_too_little, rows_of_cells_per_batch

    if memory is not None:
        refuse_too_little("--memory", memory, len(found.names), needed)
    return TooLarge(replace(found, most_rows=rows_of_cells_per_batch(limit, len(found.names))), needed, limit)


def needed_bytes(batched: BatchedSource) -> float:
    """About how much memory a table takes that is read at once."""
    total, n_columns = 0.0, len(batched.names)
    for path in batched.paths:
        if path.suffix.lower() in (".parquet", ".pq"):
            from pyarrow.parquet import read_metadata

            total += read_metadata(path).num_rows * n_columns * BYTES_PER_CELL
            continue
        size = path.stat().st_size * (UNPACKED_RATIO if path.suffix.lower() in (".gz", ".zst") else 1.0)
        text = path.suffix.lower() not in (".arrow", ".feather", ".ipc")
        cells = size / (_bytes_per_row(path) / n_columns) if text else size / 8
        total += TEXT_RATIO * size + cells * BYTES_PER_CELL
    return total


def _bytes_per_row(path: Path) -> float:
    """The mean length of the first lines of a text file; of a compressed file, a guess."""
    with open(path, "rb") as file:
        start = file.read(1 << 16)
    compressed = start[:2] == b"\x1f\x8b" or start[:4] == b"\x28\xb5\x2f\xfd"
    return 100.0 if compressed else len(start) / max(start.count(b"\n"), 1)


def refuse_too_large(data: str, spelling: dict[str, Any], memory: str | None, what: str, instead: str = "") -> None:
    """Refuse a table that does not fit into memory, if ``what`` needs it there. ``instead``: what else can be done."""
    limit = memory_limit(memory)
    if not may_be_batched(data, memory):
        return
    from separatrix.tables.formats.batched import batched
    from separatrix.tables.formats.opening import open_source
    from separatrix.tables.formats.source import Spelling

    found = batched(open_source(data, Spelling(**spelling)))
    needed = 0.0 if found is None else needed_bytes(found)
    if found is not None and needed > limit:
        problem = f"{what} needs it in memory, where it would take about {size_text(needed)}"
        remedy = f"raise --memory from {size_text(limit)}, or give a part of its rows{', or ' * bool(instead)}{instead}"
        raise TableError(found.name, problem, remedy)


def unused_cache(cache: str | None) -> list[str]:
    """A note about ``--cache``, which is for tables that are read in batches, for a table that is not."""
    return [] if cache is None else ["The table was read at once and not in batches, so --cache has no effect."]


# --- The workers of a cluster

cluster_option = click.option(
    "--cluster",
    metavar="ADDRESS",
    help="Let the workers of a Dask cluster read the Parquet or CSV files of DATA: the address of a scheduler, such as "
    "tcp://host:8786 or tls://host:8786, or local for processes of this machine. TLS settings are those of Dask's "
    "configuration. The command waits up to 60 seconds for a scheduler and workers (DASK_SEPARATRIX__WORKER_TIMEOUT).",
)


def refuse_with_cluster(cluster: str | None, given: dict[str, Any]) -> None:
    """Refuse options that have no meaning when the workers of a cluster keep the rows."""
    for option, value in given.items():
        if cluster is not None and value is not None:
            problem = "the workers of a cluster keep all rows in their memory"
            raise ParameterError(option, problem, f"leave out {option} or --cluster")


@contextmanager
def passes_on(cluster: str, source: Source) -> Iterator[tuple[ClusterPasses, str]]:
    """The passes of workers over a table, and the sentence that says so. The connection ends with the block."""
    from separatrix.core.cluster.connection import workers
    from separatrix.tables.formats.batched import batched
    from separatrix.tables.on_cluster import cluster_passes

    with terminal.working(f"connecting to {cluster}"), terminal.as_options({"cluster": "--cluster"}):
        passes = cluster_passes(batched(source), source, cluster)
    try:
        n = len(workers(passes.client))
        yield passes, f"The table is read by the {terminal.count(n, 'worker')} of the cluster (--cluster)."
    finally:
        passes.client.close()
