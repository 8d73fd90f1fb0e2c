"""Models on the command line, and what they remember of how their training tables were written."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from separatrix.base.errors import ParameterError, TableError
from separatrix.cli import terminal
from separatrix.cli.output_files import STANDARD

if TYPE_CHECKING:
    from separatrix.cli.table_arguments import Wanted
    from separatrix.model_file import ModelFile
    from separatrix.table import RawTable, Table
    from separatrix.table.streaming.streamed_table import StreamedTable


def remembered(wanted: Wanted, table: RawTable | StreamedTable) -> dict[str, Any]:
    """What a model file stores about how the training table was written, so that it reads others in the same way."""
    kept: dict[str, Any] = {}
    if wanted.na:
        kept["na"] = list(wanted.na)
    bare = not wanted.header and table.schema is not None
    n = len(table.schema.columns) + 1 if bare and table.schema is not None else 0
    if wanted.date_format:
        kept["date_format"] = {_made_up(name, n) if bare else name: form for name, form in wanted.date_format.items()}
    return kept | ({"columns_without_header": n} if bare else {})


def _made_up(column: str, n: int) -> str:
    """The name of one of n columns without a header that may be given by its number.

    >>> _made_up("2", 5), _made_up("-1", 5), _made_up("x3", 5), _made_up("", 5)
    ('x2', 'x5', 'x3', '')
    """
    number = int(column) if column.removeprefix("-").isdecimal() else 0
    return column if number == 0 else f"x{number if number > 0 else n + 1 + number}"


def as_fitted(known: ModelFile, spelling: dict[str, Any]) -> dict[str, Any]:
    """How to read a table for a model: as the options say, with what the model remembers of its training table."""
    texts, forms = known.training.get("na", []), known.training.get("date_format", {})
    na = [text for text in texts if isinstance(text, str)] if isinstance(texts, list) else []
    known_forms = (
        {name: form for name, form in forms.items() if isinstance(form, str)} if isinstance(forms, dict) else {}
    )
    given = spelling.get("date_format") or {}
    reading = {"na": (*na, *spelling.get("na", ())), "date_format": {**known_forms, **given}}
    return spelling | reading | {"target_place": _target_place(known)}


def _target_place(known: ModelFile) -> tuple[int, int] | None:
    """The number of columns of a training file without a header, and the number of the target among them."""
    n, target = known.training.get("columns_without_header"), (known.target or "").removeprefix("x")
    return (n, int(target)) if isinstance(n, int) and target.isascii() and target.isdigit() else None


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
    spelling = as_fitted(known, spelling)
    rows: Any = data
    with terminal.working(f"reading {data}"):
        if columns is None:
            source = open_source(data, Spelling(**spelling))
            columns = tuple(name for name in source.names if name not in (target, source.target))
            if len(columns) != known.columns:
                problem = (
                    f"it has {len(columns)} columns, and the model, which has no column names, has {known.columns}"
                )
                raise TableError(source.name, problem, "give only the columns of the fit, in the same order")
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
