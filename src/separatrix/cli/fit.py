"""``separatrix fit``: read a table, hold out some rows, fit, show the certificate, write the model and a report."""

from __future__ import annotations

import warnings
from contextlib import ExitStack
from copy import copy
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from separatrix.cli import exits, file_arguments, table_options, terminal
from separatrix.cli.classifier_options import (
    REMEMBERED,
    SELECTED,
    SPELLED,
    model_options,
    models_listed,
    repeated,
    settings,
    unfitted,
)
from separatrix.cli.exits import Sectioned
from separatrix.cli.file_arguments import READ, WRITTEN
from separatrix.cli.model_options import costs_of, remembered
from separatrix.cli.table_options import TEXT_PARAMETERS, Wanted, json_option, threads_option, wanted_options
from separatrix.cli.terminal import checks_in_shell, in_shell
from separatrix.core.base.errors import ParameterError
from separatrix.core.base.messages import Message
from separatrix.statistics.split_defaults import TEST_SIZE

if TYPE_CHECKING:
    from separatrix.cli.fit_output import FitOutput
    from separatrix.cli.streamed_tables import LargeTable
    from separatrix.statistics.comparison import Comparison
    from separatrix.tables.read_table import RawTable

# Why a fit did not meet its stopping rule, by its code.
_ENDS = {
    "separated": "no optimum exists, since the classes are separated",
    "quasi-separated": "no optimum exists, since the classes are quasi-completely separated",
    "inseparable": "no hyperplane separates the classes",
    "max_iter": "the fit reached its limit of iterations",
    "patience": "the fit stopped because it no longer improved",
    "rounding": "the fit reached the precision of float64",
    "diverged": "the fit diverged",
    "unmet": "the fit did not meet its stopping rule",
}
_EXAMPLES = """\b
Examples:
  separatrix fit demo:iris
  separatrix fit people.csv --target smoker --drop id --out model.json
  separatrix fit people.csv --target smoker --report r.html --cost FP=1,FN=5
  separatrix fit people.csv --target smoker --C inf --test-size 0 --stats
  separatrix fit people.csv --target smoker --C auto --missing impute --cv 10
  separatrix fit people.csv --target smoker --model perceptron --pocket
  separatrix fit reviews.csv --target stars --text review --out model.json
  separatrix fit people.csv --print-schema > schema.json
  cat people.csv | separatrix fit - --target smoker --schema schema.json
  separatrix fit large.csv --target y --memory 2GB --cache kept
"""


@dataclass(frozen=True)
class Split:
    """How the rows are divided: a share of every class held out, or ``cv`` folds, with a random seed."""

    test_size: float
    cv: int | None
    seed: int


_SECTIONS = {
    "The table": (*SELECTED, "print_schema", "missing", "strict", "reference", *SPELLED),
    "Columns of text": TEXT_PARAMETERS,
    "The model": ("model", "base", "standardise", *settings()),
    "Evaluation": ("test_size", "cv", "seed"),
    "Tables larger than memory": ("memory", "cache", "cluster"),
    "Output": ("out", "report", "cost", "stats", "as_json"),
}


@click.command(
    cls=Sectioned,
    sections=_SECTIONS,
    epilog=models_listed() + _EXAMPLES,
    short_help="Fit a model to a table and certify the fit.",
)
@click.argument("data", type=READ)
@wanted_options
@click.option("--print-schema", is_flag=True, help="Print the inferred column types as JSON, and exit.")
@model_options
@click.option(
    "--standardise",
    is_flag=True,
    help="Standardise numbers and dates to mean 0 and standard deviation 1 before fitting. Scales matter for models "
    "with a penalty and for perceptrons. They do not affect lda, qda and maximum-likelihood fits without a penalty. "
    "The 0/1 columns of categories stay as they are.",
)
@click.option("--out", type=WRITTEN, metavar="FILE", help="Write the model to this file (JSON).")
@click.option("--report", type=WRITTEN, metavar="FILE", help="Write a report with figures to this file (HTML).")
@click.option(
    "--cost",
    metavar="FP=C,FN=C",
    help="For the report, the costs of a false positive and a false negative, such as FP=1,FN=5; the second of the two "
    "classes is the positive one. The report then shows the cost of mistakes and the threshold with the lowest cost.",
)
@click.option(
    "--stats",
    is_flag=True,
    help="Print standard errors, tests and confidence intervals of the weights, and store them in the model file. They "
    "exist for maximum likelihood (--C inf) and for Firth's likelihood (--bias-reduction firth).",
)
@click.option(
    "--test-size",
    type=click.FloatRange(0, 1, max_open=True),
    metavar="SHARE",
    help=f"The fraction of each class to hold out; {TEST_SIZE} by default, 0 with --cv.",
)
@click.option("--cv", type=click.IntRange(2), metavar="K", help="Cross-validate with K folds, then fit to all rows.")
@click.option("--seed", type=click.IntRange(0), default=0, metavar="N", help="The random seed; 0 by default.")
@table_options.memory_of_fit_option
@table_options.cache_option
@table_options.cluster_option
@threads_option
@json_option
def fit(
    data: str,
    print_schema: bool,
    model: str,
    base: str | None,
    standardise: bool,
    out: str | None,
    report: str | None,
    cost: str | None,
    stats: bool,
    test_size: float | None,
    cv: int | None,
    seed: int,
    threads: int | None,
    as_json: bool,
    memory: str | None,
    cache: str | None,
    cluster: str | None,
    **given: Any,
) -> int:
    """Fit a linear classifier to DATA. Report the certificate, and the accuracy on held-out rows.

    Columns may hold numbers, categories, dates or booleans, and free text with --text. Their types are inferred and
    reported; --print-schema prints them. The fit converges without scaling of the columns; --standardise explains when
    scaling matters. Some rows are held out to evaluate the model; encoding, imputation and scaling are learned from the
    training rows only. Rows are named by their number in DATA, the first row being row 1; in a folder, by their number
    in each file. Exit code 1 means that the fit did not converge, as its status explains; the model is still written.
    """
    wanted = Wanted(**{field.name: given.pop(field.name) for field in fields(Wanted)})
    if print_schema:
        table_options.refuse_too_large(data, wanted.spelling, memory, "--print-schema")
        terminal.document(terminal.escaped(str(table_options.inferred(data, wanted))) + "\n")
        return exits.FINE
    for option, path in (("--out", out), ("--report", report)):
        file_arguments.refuse_unwritable(option, path)
    split = _split(test_size, cv, seed)
    costs = _costs(cost, report)
    from separatrix.core.base import machine

    # Settings that the model does not have are refused before the table is read.
    asked_model = unfitted(model, base, seed, given)
    table_options.refuse_with_cluster(cluster, {"--memory": memory, "--cache": cache})
    with ExitStack() as stack:
        if threads:
            stack.enter_context(machine.threads(threads))
        large = _outside_memory(data, wanted, memory, cluster, stack)
        if large is not None:
            from separatrix.cli import streamed_tables

            needing = {"--cv": cv is not None, "--report": report is not None, "--stats": stats}
            streamed_tables.refuse_in_memory(asked_model, model, needing)
            new_model = partial(unfitted, model, base, seed, given)
            output, warned, found = streamed_tables.fitted(large, wanted, standardise, split, model, new_model, cache)
            caught = [message for message in map(_message, warned) if message != output.model.certificate_.status]
            if out is not None:
                _write(output, out, remembered(wanted, found))
        else:
            table = table_options.read(data, wanted)
            output, caught = fitted(table, standardise, split, model, base, given)
            notes = (*output.table.notes, *table_options.unused_cache(cache))
            output = replace(output, table=replace(output.table, notes=notes))
            output = _with_statistics(output) if stats else output
            if out is not None:
                _write(output, out, remembered(wanted, table))
            if report is not None:
                write_report(output, report, table.holes, costs)
        if as_json:
            terminal.document(terminal.json_text({**output.as_dict(), "model": out, "report": report}))
        else:
            output.show()
            if out is not None:
                marks = repeated(click.get_current_context(), set(SPELLED) - set(REMEMBERED))
                output.show_written(out, data, marks)
            if report is not None:
                terminal.line("report", f"{report}: open it in a browser")
    return _end(output, caught, out)


def _outside_memory(
    data: str, wanted: Wanted, memory: str | None, cluster: str | None, stack: ExitStack
) -> LargeTable | None:
    """The table and how it is read, if it does not fit into memory, or if the workers of a cluster read it."""
    if cluster is None and not table_options.may_be_batched(data, memory):
        return None
    from separatrix.cli import streamed_tables

    if cluster is not None:
        return streamed_tables.opened_on(cluster, data, wanted, stack)
    return streamed_tables.opened(data, wanted, memory)


def _split(test_size: float | None, cv: int | None, seed: int) -> Split:
    if cv is not None and test_size:
        raise ParameterError("--test-size", f"got {test_size} together with --cv", "leave one of the two out")
    if test_size is not None and test_size != test_size:
        raise ParameterError("--test-size", "got nan", "give a share from 0 to less than 1")
    return Split((0.0 if cv else TEST_SIZE) if test_size is None else test_size, cv, seed)


def _costs(cost: str | None, report: str | None) -> dict[str, float] | None:
    """The costs of both mistakes for the report."""
    if cost is None:
        return None
    if report is None:
        raise ParameterError("--cost", "there is no report to show it", "give --report FILE, too, or leave it out")
    with terminal.as_options():
        found = costs_of(cost)
    return {"FP": found.false_positive, "FN": found.false_negative}


def fitted(
    raw: RawTable, standardise: bool, split: Split, name: str, base: str | None, given: dict[str, Any]
) -> tuple[FitOutput, list[str]]:
    """Fit the model, cross-validate it if asked, and collect the warnings.

    In each fit, the encoding of the table is learned from the training rows only.
    """
    from separatrix.cli.fit_output import FitOutput, MemorySplit, cross_validate
    from separatrix.core.base.labels import encode
    from separatrix.statistics.held_out_fit import fit_held_out

    new_model, validation = partial(unfitted, name, base, split.seed, given), None
    with terminal.working(f"fitting {name}") as say, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if split.cv is not None:
            classes, codes = encode(raw.y)
            encoded = partial(raw.learned, standardise=standardise)
            rows = raw.row_names.numbers - 1
            validation = cross_validate(new_model, encoded, codes, rows, classes, split.cv, split.seed)
            say(f"fitting {name} to all rows")
        how: dict[str, Any] = {"standardise": standardise, "test_size": split.test_size, "seed": split.seed}
        found = fit_held_out(raw, new_model(), **how)
    parts = MemorySplit(found.table.X, found.classes, found.codes, found.held)
    output = FitOutput(found.table, name, found.model, parts, found.rule, validation)
    return output, [message for message in map(_message, caught) if message != found.status]


def write_report(
    output: FitOutput,
    path: str,
    missing: dict[str, int],
    cost: dict[str, float] | None = None,
    comparison: Comparison | None = None,
) -> None:
    """Write the report on a fit, of ``fit`` or of ``compare``, to the file of --report.

    ``missing``: the number of missing values by column. ``comparison``: of the classifiers, if one chose this fit.
    """
    from separatrix.output.report.assemble import data_checks, held_out_report
    from separatrix.statistics.held_out_fit import HeldOutFit

    table, rows = output.table, output.memory
    with terminal.working("drawing the report"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Warnings about figures.
        held_out = HeldOutFit(table, output.model, rows.codes, rows.held, output.rule)
        checks = checks_in_shell(data_checks(table, missing))
        validated = None if output.validation is None else output.validation.sentence
        more: dict[str, Any] = {"validated": validated, "cost": cost, "comparison": comparison}
        with terminal.as_options({"cost": "--cost"}):
            page = held_out_report(held_out, checks, missing, output.notes, **more)
    file_arguments.write("--report", path, page.encode())


def _with_statistics(output: FitOutput) -> FitOutput:
    """The output with the statistics of the fitted rows, worded for the shell."""
    from separatrix.statistics.fit_statistics import fit_statistics

    table = output.table
    with terminal.working("computing standard errors"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Those of the fit have been collected.
        found = fit_statistics(output.model, *output.memory.rows(~output.memory.held), table.names, table.scaling)
    withheld = None if found.withheld is None else in_shell(found.withheld)
    return replace(output, statistics=replace(found, withheld=withheld, notes=tuple(map(in_shell, found.notes))))


def _message(warning: warnings.WarningMessage) -> str:
    """The text of a warning, with its typed parts if it has any."""
    text = warning.message.args[0] if isinstance(warning.message, Warning) and warning.message.args else ""
    return text if isinstance(text, Message) else str(warning.message)


def _write(output: FitOutput, out: str, reading: dict[str, Any]) -> None:
    from separatrix.classifiers.model_file import ModelFile, write

    table = output.table
    with terminal.as_options({"path": "--out"}):
        training = output.training() | reading
        parts = (training, table.encoder, table.scaling, output.statistics)
        known = ModelFile.of(_in_shell(output.model), table.names, table.target, *parts)
        write(known, out)


def _in_shell(model: Any) -> Any:
    """The model with the sentences of its certificate worded for the shell, where ``show`` prints them."""
    from separatrix.statistics.held_out_fit import retold

    worded = copy(model)
    worded.certificate_ = retold(model.certificate_, in_shell)
    return worded


def _end(output: FitOutput, caught: list[str], out: str | None) -> int:
    """Print the warnings and return the exit code. The full status was already shown, so only a summary is printed."""
    certificate = output.model.certificate_
    for message in dict.fromkeys(caught):
        if message != certificate.status:
            exits.complain(Message("warning: ", message))
    if certificate.met:
        return exits.FINE
    written = "" if out is None else f" ({out} was still written)"
    exits.complain(f"the check failed{written}: {_ENDS.get(certificate.code, _ENDS['unmet'])}; see the status")
    return exits.CHECK_FAILED
