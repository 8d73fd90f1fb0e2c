"""``separatrix fit``: read a table, hold a part out, fit, show the certificate, write the model."""

from __future__ import annotations

import re
import warnings
from contextlib import nullcontext
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from separatrix.base.errors import ParameterError
from separatrix.cli import exits, table_arguments, terminal
from separatrix.cli.models import SPELLED, model_options, models_listed, settings, unfitted
from separatrix.cli.table_arguments import FILE, Wanted, json_option, table_options, threads_option
from separatrix.cli.verbs import Sectioned
from separatrix.cli.wording import checks_in_shell

if TYPE_CHECKING:
    from separatrix.certificates.certificate import Certificate
    from separatrix.cli.fit_output import FitOutput
    from separatrix.table import RawTable, Table

# Of each class, unless all rows are asked for.
TEST_SIZE = 0.25

_EXAMPLES = """\b
Examples:
  separatrix fit demo:iris
  separatrix fit people.csv --target smoker --drop id --out model.json --report report.html
  separatrix fit people.csv --target smoker --C inf --test-size 0
  separatrix fit people.csv --target smoker --C auto --missing impute --cv 10
  separatrix fit people.csv --target smoker --model perceptron --pocket
  separatrix fit people.csv --print-schema > schema.json
  cat people.csv | separatrix fit - --target smoker --schema schema.json --json
"""


@dataclass(frozen=True)
class Split:
    """How the rows are divided: a share held out of every class, or ``cv`` folds, drawn by a seed."""

    test_size: float
    cv: int | None
    seed: int


_SECTIONS = {
    "The table": ("target", "drop", "schema", "print_schema", "missing", "strict", *SPELLED),
    "The model": ("model", "base", "standardise", *(setting.parameter for setting in settings())),
    "How it is measured": ("test_size", "cv", "seed"),
    "What is written": ("out", "report", "as_json"),
}


@click.command(
    cls=Sectioned,
    sections=_SECTIONS,
    epilog=models_listed() + _EXAMPLES,
    short_help="Fit a model to a table, with a certificate.",
)
@click.argument("data", type=FILE)
@table_options
@click.option("--print-schema", is_flag=True, help="Print what the columns seem to hold (JSON), and stop.")
@model_options
@click.option(
    "--standardise",
    is_flag=True,
    help="Bring columns to mean 0 and deviation 1 first. A penalty treats columns alike only in like units, and "
    "perceptrons need them; fits without a penalty, lda and qda answer the same without.",
)
@click.option("--out", type=FILE, metavar="FILE", help="Write the model to this file (JSON).")
@click.option("--report", type=FILE, metavar="FILE", help="Write a report with pictures to this file (HTML).")
@click.option(
    "--test-size",
    type=click.FloatRange(0, 1, max_open=True),
    metavar="SHARE",
    help=f"Share of each class to hold out ({TEST_SIZE}; with --cv none); 0 for none.",
)
@click.option("--cv", type=click.IntRange(2), metavar="K", help="Cross-validate over K folds, then fit all rows.")
@click.option("--seed", type=click.IntRange(0), default=0, metavar="N", help="Of all that is drawn by chance (0).")
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
    test_size: float | None,
    cv: int | None,
    seed: int,
    threads: int | None,
    as_json: bool,
    **given: Any,
) -> int:
    """Fit a linear classifier to DATA and say how good the fit is.

    Columns hold numbers, categories, dates or truth values: which, is inferred (see --print-schema), and said.
    They need no scaling for a fit to end well; --standardise says when it matters. A part of the rows is held out to
    measure the model on: how columns are coded, filled and scaled is learned from the others alone. Exit code 1 says
    that the fit did not end as asked (see its status); the model is written all the same.
    """
    wanted = Wanted(**{field.name: given.pop(field.name) for field in fields(Wanted)})
    if print_schema:
        terminal.document(terminal.escaped(str(table_arguments.inferred(data, wanted))) + "\n")
        return exits.FINE
    for option, path in (("--out", out), ("--report", report)):
        table_arguments.refuse_unwritable(option, path)
    if cv is not None and test_size:
        raise ParameterError("--test-size", f"got {test_size} beside --cv", "leave one of the two out")
    if test_size is not None and test_size != test_size:
        raise ParameterError("--test-size", "got nan", "give a share from 0 to less than 1")
    split = Split((0.0 if cv else TEST_SIZE) if test_size is None else test_size, cv, seed)
    from separatrix.base import concurrency

    unfitted(model, base, seed, given)  # what it has not is refused before a large table is read
    table = table_arguments.read(data, wanted)
    with concurrency.threads(threads) if threads else nullcontext():
        account, caught = _fitted(table, standardise, split, model, base, given)
        if out is not None:
            _write(account, out)
        if report is not None:
            _report(account, report, table.holes)
    if as_json:
        terminal.document(terminal.json_text({**account.as_dict(), "model": out, "report": report}))
    else:
        account.show()
        if out is not None:
            account.show_written(out, data)
        if report is not None:
            terminal.line("report", f"{report}: open it in a browser")
    return _end(account, caught, out)


def _fitted(
    raw: RawTable, standardise: bool, split: Split, name: str, base: str | None, given: dict[str, Any]
) -> tuple[FitOutput, list[str]]:
    """The fit and what it says on rows it has not seen, and the warnings on the way.

    How the table is coded is learned from the rows of each fit alone.
    """
    from separatrix.base.labels import encode
    from separatrix.classifiers.separated import APART
    from separatrix.cli.fit_output import FitOutput
    from separatrix.cli.holdout import held_out
    from separatrix.cli.validation import cross_validate
    from separatrix.diagnostics import certificate_on

    classes, codes = encode(raw.y)
    coded = partial(raw.learned, standardise=standardise)
    held = held_out(codes, split.test_size, split.seed)
    made, validation = partial(unfitted, name, base, split.seed, given), None
    with terminal.working(f"fitting {name}") as say, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if split.cv is not None:
            validation = cross_validate(made, coded, codes, classes, split.cv, split.seed)
            say(f"fitting {name} to all rows")
        table = coded(~held)
        model = made().fit(table.X[~held], classes[codes[~held]])
        if not model.certificate_.met and model.certificate_.code in APART:  # said again, with the columns' names
            caught.clear()
            model = made().fit(_named(table, ~held), classes[codes[~held]])
            vars(model).pop("feature_names_in_", None)  # the rows to be scored have none
        told = model.certificate_.status
        model.certificate_ = _in_table(certificate_on(model, table.X[~held]), model, table, ~held)
    account = FitOutput(table, name, model, codes, held, split.test_size, split.seed, validation)
    return account, [message for message in map(_message, caught) if message != told]


def _message(warning: warnings.WarningMessage) -> str:
    return str(warning.message)


def _in_table(certificate: Certificate, model: Any, table: Table, kept: Any) -> Certificate:
    """The certificate, its status with rows numbered as ``check`` and the table do: from 1, and all rows counted."""
    import numpy as np

    from separatrix.classifiers.separated import status_over
    from separatrix.cli.fit_output import IN_TABLE

    rows = (np.arange(1, len(kept) + 1) if table.rows is None else table.rows)[kept]
    if hasattr(model, "status_over"):
        status = model.status_over(rows)
    else:
        status = status_over(certificate.status, getattr(model, "separation_", None), rows)
    if status == certificate.status:
        return certificate
    return replace(certificate, status=f"{status} {IN_TABLE}")


def _named(table: Table, kept: Any) -> Any:
    """Rows with the names of their columns, where they are dense."""
    import pyarrow as pa

    X: Any = table.X[kept]
    return X if hasattr(X, "nnz") else pa.table(list(X.T), list(table.names))


def _write(account: FitOutput, out: str) -> None:
    from separatrix.model_file import ModelFile, write

    table = account.table
    try:
        told = account.training()
        found = ModelFile.of(account.model, table.names, table.target, told, table.encoder, table.scaling)
        write(found, out)
    except ParameterError as error:
        named = "--out" if error.argument == "path" else error.argument
        raise ParameterError(named, error.came, error.do) from error


def _report(account: FitOutput, path: str, missing: dict[str, int]) -> None:
    from separatrix.reports import data_checks, report

    table = account.table
    test = account.rows(account.held) if account.held.any() else None
    title = f"{table.target}, predicted from {table.source}"
    with terminal.working("drawing the report"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pictures
        page = report(
            account.model,
            *account.rows(~account.held),
            names=table.names,
            test=test,
            notes=table.notes,
            checks=checks_in_shell(data_checks(table, missing)).for_report(),
            validated=None if account.validation is None else account.validation.sentence,
            title=title,
            rows=None if table.rows is None else table.rows[~account.held],
            test_rows=None if table.rows is None else table.rows[account.held],
        )
    table_arguments.write("--report", path, page.encode())


def _end(account: FitOutput, caught: list[str], out: str | None) -> int:
    """Warnings, and the exit code. What the status says is there already: its first words will do."""
    certificate = account.model.certificate_
    for message in dict.fromkeys(caught):
        if message != certificate.status:
            exits.complain(f"warning: {message}")
    if certificate.met:
        return exits.FINE
    written = "" if out is None else f" ({out} was written all the same)"
    first = re.split("[:;] ", certificate.status)[0]
    exits.complain(f"the check failed{written}: {first}; see its status")
    return exits.CHECK_FAILED
