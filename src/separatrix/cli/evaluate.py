"""``separatrix evaluate``: compare a model's predictions with the labels of other rows."""

from __future__ import annotations

import warnings
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from separatrix.cli import exits, file_arguments, model_options, table_options, terminal
from separatrix.cli.file_arguments import READ, WRITTEN
from separatrix.cli.model_options import Decision, decision_for, decision_options
from separatrix.cli.table_options import json_option, spelling_options
from separatrix.cli.terminal import checks_in_shell
from separatrix.core.base.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from separatrix.classifiers.model_file import ModelFile
    from separatrix.cli.measures_output import Measures
    from separatrix.tables.encoded_rows import NewBatch
    from separatrix.tables.read_table import Table

_EXAMPLES = """\b
Examples:
  separatrix evaluate model.json test.csv
  separatrix evaluate model.json test.csv --target smoker --json
  separatrix evaluate model.json test.csv --cost FP=1,FN=5
  separatrix evaluate model.json test.csv --report r.html --fitted-on fit.csv
  separatrix evaluate model.json people.csv --held-out
"""


@click.command(epilog=_EXAMPLES, short_help="Measure a model on a table with labels.")
@click.argument("model", type=READ)
@click.argument("data", type=READ)
@click.option("--target", metavar="COL", help="The column of labels; by default the target of the fit.")
@decision_options
@click.option("--strict", is_flag=True, help="Refuse columns and category levels that the model does not know.")
@click.option("--held-out", is_flag=True, help="Measure on the rows of DATA, the table of the fit, that it held out.")
@click.option("--report", type=WRITTEN, metavar="FILE", help="Write a report with figures (HTML); needs --fitted-on.")
@click.option(
    "--fitted-on",
    type=READ,
    metavar="DATA",
    help="The table the model was fitted on, to verify its certificate for the report.",
)
@table_options.memory_option
@table_options.cluster_option
@spelling_options
@json_option
def evaluate(
    model: str,
    data: str,
    target: str | None,
    threshold: float | None,
    cost: str | None,
    prior: str | None,
    strict: bool,
    held_out: bool,
    report: str | None,
    fitted_on: str | None,
    as_json: bool,
    memory: str | None,
    cluster: str | None,
    **spelling: Any,
) -> int:
    """Measure MODEL, a file written by fit, on DATA, labelled rows that the model has not seen.

    Prints the accuracy with a Wilson interval, beside that of always guessing the majority class; the log loss, the
    Brier score and the calibration, if the model has probabilities; the area under the ROC curve; the confusion matrix;
    precision, recall, F1 and lift of each class; and with --cost, the cost per row and the threshold with the lowest
    cost. Rows without a label are left out. Exit code 1 means that the model's certificate does not hold on the rows
    given with --fitted-on; the report is still written. A report shows the model's own answers; with --cost it also has
    what mistakes cost at each threshold.
    """
    file_arguments.refuse_unwritable("--report", report)
    _refuse_report_options(report, fitted_on, any(one is not None for one in (threshold, prior)))
    known = model_options.read_model(model, data, fitted_on)
    decision = decision_for(known, threshold, cost, prior)
    in_memory = {"--report": report, "--held-out": held_out or None}
    table_options.refuse_with_cluster(cluster, {"--memory": memory, **in_memory})
    with ExitStack() as stack:
        read = partial(_labelled, known, spelling=spelling, target=target, strict=strict)
        table = _outside_memory(known, data, spelling, target, strict, memory, in_memory, cluster, stack)
        table = read(data) if table is None else table
        table = _rows_of_fit(known, table, "--held-out", held=True) if held_out else table
        measures = _measured(known, table, decision)
        fault = None
        if report is not None and fitted_on is not None:
            fitted = _rows_of_fit(known, read(fitted_on), "--fitted-on", held=False)
            _report(known, measures, fitted, table, report)
            fault = _fault(measures.model, fitted)
        if as_json:
            about = {"model": model, "data": table.source, "target": table.target, "classes": measures.labels}
            confusion = {"confusion": measures.performance.confusion, "report": report}
            terminal.document(terminal.json_text({**about, **measures.as_dict(), **confusion, **measures.decisions()}))
        else:
            _show(known, model, table, measures)
            if report is not None:
                terminal.line("report", f"{report}: open it in a browser")
    if not held_out and known.training.get("source") in (table.source, Path(table.source).name):
        exits.note(
            "The model was fitted on a table of this name. On rows that it was fitted on, it looks better than it is."
        )
    for note in table.notes:
        exits.note(note)
    if fault is None:
        return exits.FINE
    exits.complain(f"the check failed ({report} was still written): {fault}")
    return exits.CHECK_FAILED


def _refuse_report_options(report: str | None, fitted_on: str | None, decides: bool) -> None:
    """Refuse a report without its rows, and a report if options ``decide`` otherwise than the model does."""
    if (report is None) != (fitted_on is None):
        remedy = "give both or neither: a report also describes the fit and its rows"
        raise ParameterError("--report, --fitted-on", "one is given without the other", remedy)
    if report is not None and decides:
        problem = "a report shows the model's own answers, not those of --threshold or --prior"
        raise ParameterError("--report", problem, "leave out one or the other")


def _labelled(known: ModelFile, data: str, spelling: dict[str, Any], target: str | None, strict: bool) -> Table:
    from separatrix.cli.measures_output import refuse_unknown_labels
    from separatrix.core.base.errors import TableError

    table = model_options.read_for(known, data, spelling, strict, target, labelled=True)
    assert table.y is not None
    assert table.rows is not None
    if not len(table.y):
        raise TableError(table.source, "no row is left: each lacks a value", "fill them in")
    where = f"{table.source}, target column {table.target!r}"
    refuse_unknown_labels(where, table.y, table.row_names, known.scorer.classes)
    return table


def _outside_memory(
    known: ModelFile,
    data: str,
    spelling: dict[str, Any],
    target: str | None,
    strict: bool,
    memory: str | None,
    in_memory: dict[str, Any],
    cluster: str | None,
    stack: ExitStack,
) -> Table | None:
    """The table with its rows outside memory, if it does not fit there, or on the workers of a cluster.

    ``in_memory``: the options that need the rows in memory, and what was given.
    """
    if cluster is None and not table_options.may_be_batched(data, memory):
        return None
    from separatrix.cli.measures_output import refuse_unknown_labels
    from separatrix.cli.streamed_tables import SourceRequest, labelled
    from separatrix.tables.read_table import Table

    asked, passes = SourceRequest(known, spelling, strict, target, labelled=True), None
    if cluster is not None:
        rows, passes, note = asked.opened_on(cluster, data, stack)
    else:
        found = asked.opened(data, memory)
        if found is None:
            return None
        for option in (option for option, given in in_memory.items() if given is not None):
            problem = "it needs the table in memory, and it does not fit"
            raise ParameterError(option, problem, "raise --memory, or leave it out")
        rows, note = found[0], found[1].note
    where = f"{rows.batched.name}, target column {rows.asked.of_labels!r}"
    refuse = partial(_refuse_unknown, refuse_unknown_labels, where, known.scorer.classes)
    with terminal.working(f"reading {data}"):
        X = labelled(rows, known, refuse, passes)
    return Table(rows.batched.name, X.columns, X, rows.asked.of_labels, None, notes=(note, *rows.notes))


def _refuse_unknown(refuse: Any, where: str, classes: Any, batch: NewBatch) -> None:
    refuse(where, batch.y, batch.names, classes)


def _measured(known: ModelFile, table: Table, decision: Decision) -> Measures:
    """The measures, with the class counts of the fit if the file has them, otherwise those of these rows."""
    import numpy as np

    from separatrix.cli.measures_output import Measures
    from separatrix.core.base.labels import known_codes

    classes = known.scorer.classes
    codes = None if table.y is None else known_codes(table.y, classes)
    here = (table.X.totals.rows if codes is None else np.bincount(codes, minlength=len(classes))).tolist()
    kept = known.training.get("class_counts_fitted", known.training.get("class_counts"))
    counts = kept if isinstance(kept, list | tuple) and len(kept) == len(classes) else here
    model = known.estimator()
    vars(model).pop("feature_names_in_", None)  # Columns were matched by name when they were read; X has no names.
    return Measures(model, table.X, table.y, counts, decision)


def _show(known: ModelFile, path: str, table: Table, measures: Measures) -> None:
    source = known.training.get("source")
    where = "" if source is None else f", fitted on {source} ({known.training.get('rows_fitted')} rows)"
    terminal.line("model", f"{path}: {known.classifier}{where}")
    terminal.line("data", f"{table.source}: {terminal.count(measures.n_rows, 'row')}; labels in {table.target!r}")
    terminal.say()
    measures.show()
    measures.show_more()


def _rows_of_fit(known: ModelFile, whole: Table, option: str, held: bool) -> Table:
    """The rows that were fitted, or ``held`` out, found again in the table of the fit by the rule that divided them."""
    from dataclasses import replace

    import numpy as np

    from separatrix.core.base.labels import known_codes
    from separatrix.statistics.held_out_fit import stored_rule

    assert whole.y is not None
    if not held and not known.training.get("test_size"):
        return whole
    rule = stored_rule(known.training, len(known.scorer.classes))
    if rule is None:
        problem = "the model file does not say which rows were held out of the fit"
        raise ParameterError(option, problem, "fit the model again with this version of separatrix")
    rows, codes = whole.row_names.numbers, known_codes(whole.y, known.scorer.classes)
    if held and np.bincount(codes, minlength=len(rule.thresholds)).tolist() != known.training.get("class_counts"):
        problem = f"{whole.source} has other numbers of rows than the table of the fit"
        raise ParameterError(option, problem, "give the table to which the model was fitted")
    chosen = rule.held(codes, rows - 1) == held
    if not chosen.any():
        raise ParameterError(option, "the fit held no rows out", "fit the model with --test-size")
    return replace(whole, X=whole.X[chosen], y=whole.y[chosen], rows=rows[chosen])


def _fault(model: Any, fitted: Table) -> str | None:
    """Why these are not the rows of the fit; None if its certificate holds on them."""
    if model.certificate_.verify(fitted.X, fitted.y):
        return None
    n = f"{fitted.X.shape[0]} rows of {fitted.source}"
    return f"the certificate does not hold on the {n}: they are not the {model.certificate_.n_rows} rows of the fit"


def _filled(table: Table) -> Mapping[str, int]:
    """The number of missing values by column that were filled; empty if rows that have some were left out."""
    fills = table.encoder is not None and table.encoder.missing in ("impute", "indicator")
    return table.missing if fills else {}


def _report(known: ModelFile, measures: Measures, fitted: Table, table: Table, path: str) -> None:
    from separatrix.output.report.assemble import data_checks, report

    costs = measures.decision.costs
    with terminal.working("drawing the report"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Warnings about figures.
        page = report(
            measures.model,
            fitted.X,
            fitted.y,
            names=table.names,
            test=(table.X, table.y),
            notes=table.notes,
            checks=checks_in_shell(data_checks(table, _filled(table))).for_report(),
            checks_of=f"{table.source}, the rows on which it is measured",
            title=f"{type(measures.model).__name__} on {table.source}",
            rows=fitted.row_names,
            test_rows=table.row_names,
            scaling=known.scaling,
            encoder=known.encoder,
            cost=None if costs is None else {"FP": costs.false_positive, "FN": costs.false_negative},
        )
    file_arguments.write("--report", path, page.encode())
