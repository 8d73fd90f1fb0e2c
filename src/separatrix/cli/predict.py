"""``separatrix predict``: predict the class of every row. Linear models do not need scikit-learn."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from separatrix.cli import exits, file_arguments, model_options, table_options, terminal
from separatrix.cli.file_arguments import READ, WRITTEN
from separatrix.cli.model_options import decision_for, decision_options, refuse_both, refuse_improbable
from separatrix.cli.table_options import json_option, spelling_options
from separatrix.core.base.errors import NoRowsError, ParameterError
from separatrix.core.base.watching import Amount, watched

if TYPE_CHECKING:
    from separatrix.classifiers.model_file import ModelFile
    from separatrix.statistics.model_decisions import DecisionRule
    from separatrix.tables.encoded_rows import NewRows
    from separatrix.tables.formats.batched import BatchedSource
    from separatrix.tables.on_cluster import ClusterPasses
    from separatrix.tables.read_table import Table

# Text that spreadsheets take for a formula. A sign alone or before a number is not a formula.
_FORMULA = re.compile(r"[=@\t\r]|[+-](?!\d*\.?\d*(e[+-]?\d+)?$)", re.IGNORECASE)
# Output is written in batches of this many rows.
WRITTEN_BATCH_ROWS = 8192
_EXAMPLES = """\b
Examples:
  separatrix predict model.json new.csv
  separatrix predict model.json new.parquet --proba --out answers.csv
  separatrix predict model.json new.csv --cost FP=1,FN=5
  cat new.csv | separatrix predict model.json - | head
"""


@click.command(epilog=_EXAMPLES, short_help="Predict the class of every row of a table.")
@click.argument("model", type=READ)
@click.argument("data", type=READ)
@click.option("--proba", is_flag=True, help="Also give the probability of each class.")
@click.option(
    "--scores", is_flag=True, help="Also give the scores; with two classes, a positive score means the second class."
)
@decision_options
@click.option("--strict", is_flag=True, help="Refuse columns and category levels that the model does not know.")
@click.option("--out", type=WRITTEN, metavar="FILE", help="Write to this file instead of standard output (-).")
@table_options.memory_option
@table_options.cluster_option
@spelling_options
@json_option
def predict(
    model: str,
    data: str,
    proba: bool,
    scores: bool,
    threshold: float | None,
    cost: str | None,
    prior: str | None,
    strict: bool,
    out: str | None,
    as_json: bool,
    memory: str | None,
    cluster: str | None,
    **spelling: Any,
) -> None:
    """Predict the class of every row of DATA with MODEL, a file written by fit. One of the two may be -.

    Columns are found by name, in any order, and read as in training. DATA may or may not have the target column.
    Prints CSV with a header and one line for each row of DATA. If the model was fitted with --missing drop, a row
    with a missing value gets an empty prediction.
    """
    refuse_both(threshold, cost)
    out = file_arguments.destination("--out", out)
    known = model_options.read_model(model, data)
    if proba:
        refuse_improbable(known, "--proba", "ask for --scores")
    rule = decision_for(known, threshold, cost, prior).rule
    table_options.refuse_with_cluster(cluster, {"--memory": memory, "--json": as_json or None})
    with ExitStack() as stack:
        lines = _outside_memory(known, data, spelling, memory, strict, Answer(proba, scores, rule), cluster, stack)
        if lines is not None:
            if as_json:
                problem = "one JSON object of all predictions needs them in memory, and the table does not fit"
                remedy = "leave it out, since CSV is written batch by batch, or raise --memory"
                raise ParameterError("--json", problem, remedy)
            _write_lines(known, lines, out)
            return
    try:
        table = model_options.read_for(known, data, spelling, strict)
    except NoRowsError:
        table = None
    with terminal.working("predicting"):
        if table is None:
            labels = known.scorer.classes.tolist()
            answered = Answered(labels, [], [] if scores else None, [] if proba else None)
        else:
            answered = _answered(known, table, proba, scores, rule)
    texts = iter([answered.json()]) if as_json else answered.csv()
    try:
        _write(texts, out, "writing the answers")
    finally:  # The notes are printed even if the reader of a pipe, such as head, closes it early.
        for note in ("It has a header and no rows.",) if table is None else table.notes:
            exits.note(note)
        if not as_json:
            _note_formulas(answered.classes)


@dataclass(frozen=True)
class Answer:
    """What is answered for each row."""

    proba: bool
    scores: bool
    rule: DecisionRule | None

    def lines(self, known: ModelFile, rows: NewRows, header: bool) -> Iterator[str]:
        """The answers for rows that are read in batches, as pieces of CSV text."""
        from separatrix.cli.streamed_tables import tables

        for k, table in enumerate(tables(rows)):
            found = _answered(known, table, self.proba, self.scores, self.rule)
            yield from found.csv(header=header and k == 0)


@dataclass(frozen=True)
class AnswerLines:
    """The answers as pieces of text, the rows that are read for them, and a note on how they are read."""

    pieces: Iterator[str]
    rows: NewRows
    note: str


def _outside_memory(
    known: ModelFile,
    data: str,
    spelling: dict[str, Any],
    memory: str | None,
    strict: bool,
    answer: Answer,
    cluster: str | None,
    stack: ExitStack,
) -> AnswerLines | None:
    """The answers for a table that does not fit into memory, or that workers of a cluster read; otherwise None."""
    if cluster is None and not table_options.may_be_batched(data, memory):
        return None
    from separatrix.cli.streamed_tables import SourceRequest

    asked = SourceRequest(known, spelling, strict)
    if cluster is not None:
        rows, passes, note = asked.opened_on(cluster, data, stack)
        return AnswerLines(_of_workers(known, rows, passes, answer), rows, note)
    found = asked.opened(data, memory)
    return None if found is None else AnswerLines(answer.lines(known, found[0], header=True), found[0], found[1].note)


def _of_workers(known: ModelFile, rows: NewRows, passes: ClusterPasses, answer: Answer) -> Iterator[str]:
    """The answers of workers, in the order of the rows."""
    for text, seen in passes.over(rows.batched, partial(_on_worker, known, rows, answer)):
        rows.seen.merge(seen)
        yield text


def _on_worker(known: ModelFile, rows: NewRows, answer: Answer, part: BatchedSource) -> tuple[str, Any]:
    some = rows.part(part)
    return "".join(answer.lines(known, some, header=part.start == 0)), some.seen


def _write_lines(known: ModelFile, lines: AnswerLines, out: str | None) -> None:
    """Write answers as they come, then the notes on the rows."""
    exits.note(lines.note)
    try:
        _write(lines.pieces, out, "predicting")
    finally:
        for note in lines.rows.notes:
            exits.note(note)
        _note_formulas(known.scorer.classes.tolist())


def _write(texts: Iterator[str], out: str | None, doing: str) -> None:
    with terminal.working(doing, prints=out is None):
        if out is None:
            for text in texts:
                terminal.document(text)
        else:
            file_arguments.write("--out", out, (text.encode() for text in texts))


def _note_formulas(classes: list[Any]) -> None:
    formulas = [label for label in classes if isinstance(label, str) and _FORMULA.match(label)]
    if formulas:
        exits.note(f"A spreadsheet takes labels such as {formulas[0]!r} for formulas: import the column as text.")


@dataclass(frozen=True)
class Answered:
    """The predicted labels, scores and probabilities of all rows; None for a row without a prediction."""

    classes: list[Any]
    labels: list[Any]
    scores: list[Any] | None
    probabilities: list[Any] | None

    def json(self) -> str:
        """The predictions as one line of JSON."""
        content: dict[str, Any] = {"classes": self.classes, "predictions": self.labels}
        for name in ("scores", "probabilities"):
            if getattr(self, name) is not None:
                content[name] = getattr(self, name)
        return terminal.json_text(content, indent=None)

    def csv(self, header: bool = True) -> Iterator[str]:
        """The predictions as pieces of CSV text. Floats read back to the same bits."""
        from separatrix.core.base.arrays import pieces  # it needs NumPy, and the help does not

        heads, blocks = self._columns()
        tell = watched()
        for part in pieces(max(len(self.labels), 1), WRITTEN_BATCH_ROWS):
            text = io.StringIO()
            writer = csv.writer(text, lineterminator="\n")
            if part.start == 0 and header:
                writer.writerow(heads)
            some = range(part.start, min(part.stop, len(self.labels)))
            writer.writerows(self._line(i, blocks, len(heads)) for i in some)
            if tell is not None:
                tell(Amount("rows", some.stop, len(self.labels)))
            yield text.getvalue()

    def _columns(self) -> tuple[list[str], list[list[Any]]]:
        """The header, and after the labels the numbers of each row: scores, then probabilities."""
        heads, blocks = ["prediction"], []
        if self.scores is not None:
            binary = len(self.classes) == 2
            heads += ["score"] if binary else [f"score({label})" for label in self.classes]
            blocks.append([[z] for z in self.scores] if binary else self.scores)
        if self.probabilities is not None:
            heads += [f"P({label})" for label in self.classes]
            blocks.append(self.probabilities)
        return heads, blocks

    def _line(self, i: int, blocks: list[list[Any]], width: int) -> list[Any]:
        if self.labels[i] is None:
            return [""] * width
        return [self.labels[i], *(value for block in blocks for value in block[i])]


def _answered(known: ModelFile, table: Table, proba: bool, scores: bool, rule: DecisionRule | None) -> Answered:
    """The predictions of every row of the source, in its order; by the ``rule`` if there is one."""
    scorer = known.scorer
    Z = scorer.scores(table.X).tolist() if scores else None
    if rule is None:
        P = scorer.probabilities(table.X).tolist() if proba else None
        labels = scorer.predict(table.X)
    else:
        probabilities = rule.probabilities(scorer, table.X)
        P = probabilities.tolist() if proba else None
        labels = scorer.classes[rule.chosen(probabilities)]
    parts = [labels.tolist(), Z, P]
    if table.rows is not None and len(table.rows) < table.n_rows:
        places = (table.rows - 1).tolist()
        parts = [None if part is None else _spread(part, places, table.n_rows) for part in parts]
    return Answered(scorer.classes.tolist(), *parts)


def _spread(part: list[Any], places: list[int], n: int) -> list[Any]:
    whole: list[Any] = [None] * n
    for place, value in zip(places, part, strict=True):
        whole[place] = value
    return whole
