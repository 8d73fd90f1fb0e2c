"""``separatrix fit``: read a table, hold a part out, fit, show the certificate, write the model."""

from __future__ import annotations

import os
import warnings
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from separatrix.cli import exits, terminal
from separatrix.errors import LabelError, ParameterError

if TYPE_CHECKING:
    from separatrix.table import Table

# The estimator's settings, and the options that they come from.
_OPTIONS = {
    "C": "--C",
    "bias_reduction": "--bias-reduction",
    "class_weight": "--class-weight",
    "l1_ratio": "--l1-ratio",
    "max_iter": "--max-iter",
    "path": "--out",
    "solver": "--solver",
    "tol": "--tol",
}


@dataclass(frozen=True)
class Split:
    """How the rows are divided: a share held out of every class, drawn by a seed."""

    test_size: float
    seed: int


class Strength(click.ParamType[float | str]):
    """A number, or ``auto``."""

    name = "number|auto"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float | str:
        if isinstance(value, float) or value == "auto":
            return value  # type: ignore[no-any-return]
        try:
            return float(value)
        except ValueError:
            self.fail(f"{value!r} is neither a number nor 'auto'.", param, ctx)


_EXAMPLES = """\b
Examples:
  separatrix fit demo:iris
  separatrix fit people.csv --target smoker --drop id --out model.json
  separatrix fit people.csv --target smoker --C inf --test-size 0
  separatrix fit people.csv --target smoker --C 0.1 --l1-ratio 1
  separatrix fit people.csv --target smoker --C auto
  cat people.csv | separatrix fit - --target smoker --json
"""


@click.command(epilog=_EXAMPLES, short_help="Fit a model to DATA, with a certificate.")
@click.argument("data")
@click.option("--target", metavar="COL", help="The column to predict. Bundled sets have one of their own.")
@click.option("--drop", metavar="COL", multiple=True, help="Leave a column out; may be given again.")
@click.option("--out", metavar="FILE", help="Write the model to this file (JSON).")
@click.option(
    "--C",
    "C",
    type=Strength(),
    default=1.0,
    show_default=True,
    help="Inverse strength of the penalty; inf for none, auto for the one that predicts rows left out best.",
)
@click.option(
    "--bias-reduction",
    type=click.Choice(["firth"]),
    help="Firth's penalised likelihood in place of a penalty: finite weights where classes are separated.",
)
@click.option(
    "--l1-ratio",
    type=float,
    default=0.0,
    show_default=True,
    help="Share of absolute values in the penalty: 0 ridge, 1 lasso, with weights of exactly zero.",
)
@click.option(
    "--solver",
    default="auto",
    show_default=True,
    metavar="NAME",
    help="auto, newton, sampled-newton, proximal-newton, working-set, gradient-descent, diagonal, dual, span, "
    "kronecker, lbfgs, sgd or minibatch.",
)
@click.option("--no-intercept", is_flag=True, help="Put the boundary through the origin.")
@click.option("--class-weight", type=click.Choice(["balanced"]), help="Give every class the same total weight.")
@click.option(
    "--tol",
    type=float,
    default=1e-8,
    show_default=True,
    help="Stop when proven this near to the optimum, relative to the null model.",
)
@click.option("--max-iter", type=int, default=1000, show_default=True, help="Stop after so many iterations.")
@click.option(
    "--test-size",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.25,
    show_default=True,
    help="Share of each class to hold out; 0 for none.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the rows held out.")
@click.option("--threads", type=click.IntRange(1), help="Default: all cores. The answer does not depend on it.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def fit(
    data: str,
    target: str | None,
    drop: tuple[str, ...],
    out: str | None,
    test_size: float,
    seed: int,
    threads: int | None,
    as_json: bool,
    no_intercept: bool,
    **settings: Any,
) -> int:
    """Fit a logistic regression to DATA and say how good the fit is.

    Every column but the target must hold numbers; columns need no scaling. A part of the rows is held out to
    measure the model on. Exit code 1 says that the fit did not reach --tol; the model is written all the same.
    """
    _refuse_unwritable(out)
    from separatrix import concurrency
    from separatrix.table import open_source, read_labelled

    with terminal.working(f"reading {data}"):
        table = read_labelled(open_source(data), target, drop)
    with terminal.working("fitting"), concurrency.threads(threads) if threads else nullcontext():
        result, caught = _fitted(table, Split(test_size, seed), {**settings, "fit_intercept": not no_intercept})
    met = result.model.certificate_.met
    if out is not None:
        _write(result, out)
    if as_json:
        click.echo(terminal.json_text({**result.as_dict(), "model": out}))
    else:
        result.show(out, data)
    for warning in caught:
        exits.complain(f"warning: {warning.message}")
    if not met:
        written = "" if out is None else f"; {out} was written all the same"
        exits.complain(f"the check failed: the fit did not reach --tol{written}")
    return exits.FINE if met else exits.CHECK_FAILED


def _fitted(table: Table, split: Split, settings: dict[str, Any]) -> tuple[Any, list[warnings.WarningMessage]]:
    """The fit and what it says on rows it has not seen, and the warnings on the way."""
    from separatrix.classifiers import LogisticRegression
    from separatrix.cli.account import Account
    from separatrix.cli.holdout import held_out
    from separatrix.labels import encode

    classes, codes = encode(table.y)
    _refuse_unfit_labels(table, classes, codes)
    held = held_out(codes, split.test_size, split.seed)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = LogisticRegression(**settings, random_state=split.seed)
            model.fit(table.X[~held], classes[codes[~held]])
    except ParameterError as error:
        raise _by_option(error) from error
    return Account(table, model, codes, held, split.test_size, split.seed), caught


def _refuse_unfit_labels(table: Table, classes: Any, codes: Any) -> None:
    """One class, or measurements: said here, where the row and the column still have their names."""
    where = f"{table.source}, target column {table.target!r}"
    if len(classes) < 2:
        came = f"every row has the one label {classes.tolist()[0]!r}"
        raise LabelError(where, came, "give rows of at least two classes")
    if classes.dtype.kind == "f" and (classes != classes.round()).any():
        row = int((classes != classes.round())[codes].argmax())
        came = f"row {row + 1} is {classes[codes[row]]}, a measurement rather than a class"
        raise LabelError(where, came, "cut the numbers into classes first, or predict another column")


def _write(result: Any, out: str) -> None:
    from separatrix import model_file

    names, target = result.table.names, result.table.target
    try:
        model_file.write(model_file.ModelFile.of(result.model, names, target, result.training()), out)
    except ParameterError as error:
        raise _by_option(error) from error


def _by_option(error: ParameterError) -> ParameterError:
    """The same, with the argument's name on the command line."""
    return ParameterError(_OPTIONS.get(error.argument, error.argument), error.came, error.do)


def _refuse_unwritable(out: str | None) -> None:
    """Before any work: a fit whose model has nowhere to go is lost."""
    if out is None:
        return
    if out == "-":
        raise ParameterError("--out", "got '-'", "give the path of a file: a model is written whole or not at all")
    path = Path(out)
    if path.is_dir():
        raise ParameterError("--out", f"{out!r} is a folder", "give the path of a file")
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise ParameterError("--out", f"{out!r} is in no folder that can be written to", "make that folder first")
