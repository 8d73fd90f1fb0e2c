"""``separatrix predict``: the class of every row, by a model file. Needs no scikit-learn."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from separatrix.cli import terminal
from separatrix.errors import ParameterError, TableError

if TYPE_CHECKING:
    from separatrix.model_file import ModelFile
    from separatrix.table import Table

# Rows of output that are put together before they are written.
CHUNK = 8192


_EXAMPLES = """\b
Examples:
  separatrix predict model.json new.csv
  separatrix predict model.json new.parquet --proba --out answers.csv
  cat new.csv | separatrix predict model.json - | head
"""


@click.command(epilog=_EXAMPLES, short_help="Predict the class of every row of DATA.")
@click.argument("model")
@click.argument("data")
@click.option("--proba", is_flag=True, help="Give the probability of each class, too.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object in place of CSV.")
@click.option("--out", metavar="FILE", help="Write to this file in place of standard output.")
def predict(model: str, data: str, proba: bool, as_json: bool, out: str | None) -> None:
    """Predict the class of every row of DATA by MODEL, a file that fit has written.

    Columns are found by name, in any order; others are not read, so the target may be there or not. Prints CSV
    with a header and one row for each row of DATA.
    """
    from separatrix import model_file, sealed

    known = model_file.read(model)
    with terminal.working(f"reading {data}"):
        try:
            table = _columns(known, data)
        except TableError as error:
            if "--drop" not in error.do:
                raise
            do = "fill such cells in, or fit a model without that column"  # a fitted model needs all its columns
            raise TableError(error.argument, error.came, do) from error
    labels = known.scorer.predict(table.X)
    P = known.scorer.probabilities(table.X) if proba else None
    if as_json:
        found = {"classes": known.scorer.classes, "predictions": labels}
        whole = found if P is None else {**found, "probabilities": P}
        pieces = iter([terminal.json_text(whole, indent=None) + "\n"])
    else:
        pieces = _csv(known.scorer.classes.tolist(), labels, P)
    if out is None:
        for piece in pieces:
            click.echo(piece.encode(), nl=False)
        return
    try:
        sealed.replace_file(out, "".join(pieces).encode())
    except ParameterError as error:
        raise ParameterError("--out", error.came, error.do) from error


def _columns(known: ModelFile, data: str) -> Table:
    """The model's columns: by name, or in their order where the model was fitted without names."""
    from separatrix.table import open_source, read_columns

    source = open_source(data)
    if known.features is not None:
        return read_columns(source, known.features)
    names = [name for name in source.names if name not in (known.target, source.target)]
    if len(names) != known.scorer.n_features:
        came = f"it has {len(names)} columns, and the model, which knows no names, has {known.scorer.n_features}"
        raise TableError(source.name, came, "give just the columns that were fitted, in their order")
    return read_columns(source, names)


def _csv(classes: list[Any], labels: Any, P: Any) -> Iterator[str]:
    """Pieces of CSV text; floats are spelled so that they read back to the same bits."""
    header = ["prediction"] if P is None else ["prediction", *(f"P({label})" for label in classes)]
    for start in range(0, max(len(labels), 1), CHUNK):
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        if start == 0:
            writer.writerow(header)
        some = labels[start : start + CHUNK].tolist()
        rows = [[]] * len(some) if P is None else P[start : start + CHUNK].tolist()
        writer.writerows([label, *row] for label, row in zip(some, rows, strict=True))
        yield text.getvalue()
