"""``separatrix predict``: the class of every row, by a model file. Needs no scikit-learn for linear models."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from separatrix.base.errors import ParameterError
from separatrix.base.pieces import pieces
from separatrix.base.watching import Amount, watched
from separatrix.classifiers import describe
from separatrix.cli import exits, table_arguments, terminal
from separatrix.cli.table_arguments import FILE, json_option, spelling_options

if TYPE_CHECKING:
    from separatrix.model_file import ModelFile
    from separatrix.table import Table

# What spreadsheets take for a formula; a sign by itself or before a number is none.
_FORMULA = re.compile(r"[=@\t\r]|[+-](?!\d*\.?\d*(e[+-]?\d+)?$)", re.IGNORECASE)
# Rows of output that are put together before they are written.
CHUNK = 8192


_EXAMPLES = """\b
Examples:
  separatrix predict model.json new.csv
  separatrix predict model.json new.parquet --proba --out answers.csv
  cat new.csv | separatrix predict model.json - | head
"""


@click.command(epilog=_EXAMPLES, short_help="Answer for every row of a table by a model.")
@click.argument("model", type=FILE)
@click.argument("data", type=FILE)
@click.option("--proba", is_flag=True, help="Give the probability of each class, too.")
@click.option("--scores", is_flag=True, help="Give the score, too: with two classes positive for the second.")
@click.option("--strict", is_flag=True, help="Refuse other columns than the model's, and categories never seen.")
@click.option("--out", type=FILE, metavar="FILE", help="Write to this file in place of standard output (-).")
@spelling_options
@json_option
def predict(
    model: str, data: str, proba: bool, scores: bool, strict: bool, out: str | None, as_json: bool, **spelling: Any
) -> None:
    """Predict the class of every row of DATA by MODEL, a file that fit has written. One of the two may be -.

    Columns are found by name, in any order, and read as in training; the target may be there or not. Prints CSV
    with a header and one line for each row of DATA. A row that lacks a value gets an empty answer where the model
    was fitted with --missing drop.
    """
    out = table_arguments.destination("--out", out)
    known = table_arguments.read_model(model, data)
    if proba:
        _refuse_improbable(known)
    table = table_arguments.read_for(known, data, spelling, strict)
    found = _answered(known, table, proba, scores)
    pieces = iter([found.json()]) if as_json else found.csv()
    try:
        with terminal.working("writing the answers", prints=out is None):
            if out is None:
                for piece in pieces:
                    terminal.document(piece)
            else:
                table_arguments.write("--out", out, "".join(pieces).encode())
    finally:  # whoever wants the first answers only closes the pipe, and is told all the same
        for note in table.notes:
            exits.note(note)
        run = [] if as_json else [label for label in found.classes if isinstance(label, str) and _FORMULA.match(label)]
        if run:
            exits.note(f"A spreadsheet takes labels such as {run[0]!r} for formulas: import the column as text.")


@dataclass(frozen=True)
class Answered:
    """The answers: labels, and by the heads of their columns lists of numbers; None for a row without an answer."""

    classes: list[Any]
    labels: list[Any]
    scores: list[Any] | None
    probabilities: list[Any] | None

    def json(self) -> str:
        """One object on one line."""
        found: dict[str, Any] = {"classes": self.classes, "predictions": self.labels}
        for name in ("scores", "probabilities"):
            if getattr(self, name) is not None:
                found[name] = getattr(self, name)
        return terminal.json_text(found, indent=None)

    def csv(self) -> Iterator[str]:
        """Pieces of text; floats are spelled so that they read back to the same bits."""
        heads, blocks, tell = ["prediction"], [], watched()
        if self.scores is not None:
            binary = len(self.classes) == 2
            heads += ["score"] if binary else [f"score({label})" for label in self.classes]
            blocks.append([[z] for z in self.scores] if binary else self.scores)
        if self.probabilities is not None:
            heads += [f"P({label})" for label in self.classes]
            blocks.append(self.probabilities)
        for part in pieces(max(len(self.labels), 1), CHUNK):
            text = io.StringIO()
            writer = csv.writer(text, lineterminator="\n")
            if part.start == 0:
                writer.writerow(heads)
            some = range(part.start, min(part.stop, len(self.labels)))
            writer.writerows(self._line(i, blocks, len(heads)) for i in some)
            if tell is not None:
                tell(Amount("rows", some.stop, len(self.labels)))
            yield text.getvalue()

    def _line(self, i: int, blocks: list[list[Any]], width: int) -> list[Any]:
        if self.labels[i] is None:
            return [""] * width
        return [self.labels[i], *(value for block in blocks for value in block[i])]


def _answered(known: ModelFile, table: Table, proba: bool, scores: bool) -> Answered:
    """Of every row of the source, in its order."""
    scorer = known.scorer
    with terminal.working("predicting"):
        Z = scorer.scores(table.X).tolist() if scores else None
        P = scorer.probabilities(table.X).tolist() if proba else None
        found = [scorer.predict(table.X).tolist(), Z, P]
    if table.rows is not None and len(table.rows) < table.n_rows:
        places = (table.rows - 1).tolist()
        found = [None if part is None else _spread(part, places, table.n_rows) for part in found]
        exits.note(f"{terminal.count(table.n_rows - len(places), 'row')} of {table.n_rows} got an empty answer.")
    return Answered(scorer.classes.tolist(), *found)


def _spread(part: list[Any], places: list[int], n: int) -> list[Any]:
    whole: list[Any] = [None] * n
    for place, value in zip(places, part, strict=True):
        whole[place] = value
    return whole


def _refuse_improbable(known: ModelFile) -> None:
    link = getattr(known.scorer, "link", None)
    if not describe(known.classifier).probabilities or not (link is None or link.probabilistic):
        came = f"{known.classifier} has scores, and no probabilities"
        raise ParameterError("--proba", came, "ask for --scores, or fit a model of P(class | x), such as logistic")
