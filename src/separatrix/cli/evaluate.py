"""``separatrix evaluate``: a model's answers beside the labels of other rows."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from separatrix.cli import exits, reading, terminal
from separatrix.cli.reading import FILE, json_option, spelling_options
from separatrix.errors import ParameterError

if TYPE_CHECKING:
    from separatrix.cli.measures import Measures
    from separatrix.model_file import ModelFile
    from separatrix.table import Table

_EXAMPLES = """\b
Examples:
  separatrix evaluate model.json test.csv
  separatrix evaluate model.json test.csv --target smoker --json
  separatrix evaluate model.json test.csv --report report.html --fitted-on train.csv
"""


@click.command(epilog=_EXAMPLES, short_help="Measure a model on a table with labels.")
@click.argument("model", type=FILE)
@click.argument("data", type=FILE)
@click.option("--target", metavar="COL", help="The column of labels; by default the one of the fit.")
@click.option("--strict", is_flag=True, help="Refuse other columns than the model's, and categories never seen.")
@click.option("--report", type=FILE, metavar="FILE", help="Write a report with pictures (HTML); needs --fitted-on.")
@click.option("--fitted-on", type=FILE, metavar="DATA", help="The table of the fit, whose certificate a report checks.")
@spelling_options
@json_option
def evaluate(
    model: str,
    data: str,
    target: str | None,
    strict: bool,
    report: str | None,
    fitted_on: str | None,
    as_json: bool,
    **spelling: Any,
) -> None:
    """Measure MODEL, a file that fit has written, on DATA, rows with labels that it has not seen.

    Accuracy with an interval (Wilson), beside always guessing the majority; log loss, Brier score and calibration
    where the model has probabilities; the area under ROC; and the mistakes, class by class.
    """
    from separatrix import model_file

    reading.refuse_unwritable("--report", report)
    if (report is None) != (fitted_on is None):
        do = "give both, or neither: a report is on a fit and its rows as well"
        raise ParameterError("--report, --fitted-on", "one is given without the other", do)
    known = model_file.read(model)
    table = _labelled(known, data, spelling, target, strict)
    measures = _measured(known, table)
    if report is not None and fitted_on is not None:
        _report(known, measures, _labelled(known, fitted_on, spelling, target, strict), table, report)
    if as_json:
        found = {"model": model, "data": table.source, "target": table.target, "classes": measures.labels}
        confusion = {"confusion": measures.answers.confusion, "report": report}
        click.echo(terminal.json_text({**found, **measures.as_dict(), **confusion}))
    else:
        _show(known, model, table, measures)
        if report is not None:
            terminal.line("report", f"{report}: open it in a browser")
    if known.training.get("source") in (table.source, Path(table.source).name):
        exits.note("The model was fitted on a table of this name: on rows that it has seen, it does better.")
    for note in table.notes:
        exits.note(note)


def _labelled(known: ModelFile, data: str, spelling: dict[str, Any], target: str | None, strict: bool) -> Table:
    from separatrix.cli.measures import refuse_unknown_labels
    from separatrix.errors import TableError

    table = reading.read_for(known, data, spelling, strict, target, labelled=True)
    assert table.y is not None
    assert table.rows is not None
    if not len(table.y):
        raise TableError(table.source, "no row is left: each lacks a value", "fill them in")
    where = f"{table.source}, target column {table.target!r}"
    refuse_unknown_labels(where, table.y, table.rows, known.scorer.classes)
    return table


def _measured(known: ModelFile, table: Table) -> Measures:
    """By the class frequencies of the fit, as the file has them; of these rows, where it has not."""
    import numpy as np

    from separatrix.cli.measures import Measures
    from separatrix.labels import known_codes

    classes = known.scorer.classes
    here = np.bincount(known_codes(table.y, classes), minlength=len(classes)).tolist()
    kept = known.training.get("class_counts_fitted", known.training.get("class_counts"))
    counts = kept if isinstance(kept, list | tuple) and len(kept) == len(classes) else here
    return Measures(known.estimator(), table.X, table.y, counts)


def _show(known: ModelFile, path: str, table: Table, measures: Measures) -> None:
    source = known.training.get("source")
    where = "" if source is None else f", fitted on {source} ({known.training.get('rows_fitted')} rows)"
    terminal.line("model", f"{path}: {known.classifier}{where}")
    terminal.line("data", f"{table.source}: {terminal.count(measures.n_rows, 'row')}; labels in {table.target!r}")
    click.echo()
    measures.show()
    measures.show_more()


def _report(known: ModelFile, measures: Measures, whole: Table, table: Table, path: str) -> None:
    """The fitted rows are found again in the table they were drawn from, by the share held out and the seed."""
    import numpy as np

    from separatrix.cli.holdout import held_out
    from separatrix.labels import known_codes
    from separatrix.reports import report

    codes = known_codes(whole.y, known.scorer.classes)
    share, seed = known.training.get("test_size", 0.0), known.training.get("seed", 0)
    held: Any = held_out(codes, float(share), int(seed)) if share else np.zeros(len(codes), dtype=bool)
    assert whole.y is not None
    rows = (whole.X[~held], whole.y[~held])
    names, notes = known.features or table.names, table.notes
    title = f"{known.classifier} on {table.source}"
    with terminal.working("drawing the report"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pictures
        page = report(
            measures.model,
            *rows,
            names=names,
            test=(table.X, table.y),
            notes=notes,
            title=title,
            rows=None if whole.rows is None else whole.rows[~held],
            test_rows=table.rows,
        )
    reading.write("--report", path, page.encode())
