"""Model files on the command line, and the options --threshold, --cost and --prior by which their models decide.

A model file remembers how its training table was written, so that other tables are read in the same way.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from separatrix.classifiers import describe, lacks_probabilities
from separatrix.cli import terminal
from separatrix.cli.file_arguments import STANDARD
from separatrix.core.base.errors import ParameterError, TableError

if TYPE_CHECKING:
    from separatrix.classifiers.model_file import ModelFile
    from separatrix.cli.table_options import Wanted
    from separatrix.core.base.arrays import AnyArray
    from separatrix.statistics.model_decisions import Costs, DecisionRule
    from separatrix.tables.read_table import RawTable, Table
    from separatrix.tables.streamed_table import StreamedTable


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
    pairs = forms.items() if isinstance(forms, dict) else ()
    date_format = {name: form for name, form in pairs if isinstance(form, str)} | (spelling.get("date_format") or {})
    reading = {"na": (*na, *spelling.get("na", ())), "date_format": date_format}
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
    from separatrix.tables.formats.opening import open_source
    from separatrix.tables.formats.source import Spelling
    from separatrix.tables.read_table import read_rows

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
    from separatrix.classifiers import model_file
    from separatrix.core.base import checksummed_json

    if path != STANDARD:
        return model_file.read(path)
    if STANDARD in others:
        remedy = "give a file for one of them: standard input can be read only once"
        raise ParameterError(STANDARD, "it is given for two arguments", remedy)
    with model_file.naming("standard input"):
        return model_file.from_bytes(b"" if sys.stdin is None else checksummed_json.read_stream(sys.stdin.buffer))


# --- The options by which predict, evaluate and export decide

F = TypeVar("F", bound=Callable[..., Any])
_OPTIONS = (
    click.option(
        "--threshold",
        type=click.FloatRange(0.0, 1.0),
        metavar="P",
        help="With two classes, predict the second one if its probability is at least P.",
    ),
    click.option(
        "--cost",
        metavar="FP=C,FN=C",
        help="With two classes, the costs of both mistakes, such as FP=1,FN=5; the second class is the positive one. "
        "Sets the threshold FP/(FP+FN).",
    ),
    click.option(
        "--prior",
        metavar="CLASS=P,...",
        help="Correct the probabilities for these class shares, such as no=0.9,yes=0.1, if they differ from those of "
        "the training rows.",
    ),
)


def decision_options(command: F) -> F:
    """Add the options."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True)
class Decision:
    """The rule that makes the answers, None if the model's own do; the costs and the class shares, if given."""

    rule: DecisionRule | None = None
    costs: Costs | None = None
    prior: dict[Any, float] | None = None


def refuse_both(threshold: float | None, cost: str | None) -> None:
    """Refuse a threshold together with costs, of which only one can decide."""
    if threshold is not None and cost is not None:
        raise ParameterError("--threshold, --cost", "both are given", "give one of them: the costs set a threshold")


# The model's own answers.
OWN_ANSWERS = Decision()


def decision_for(known: ModelFile, threshold: float | None, cost: str | None, prior: str | None) -> Decision:
    """What the options ask for; an error if the model has no probabilities, or the options do not fit its classes."""
    given = {"--threshold": threshold, "--cost": cost, "--prior": prior}
    asked = [option for option, value in given.items() if value is not None]
    if not asked:
        return OWN_ANSWERS
    from separatrix.statistics.model_decisions import decision_rule

    refuse_improbable(known, asked[0], "leave it out")
    classes = known.scorer.classes
    with terminal.as_options():
        costs = None if cost is None else costs_of(cost)
        shares = None if prior is None else _shares(prior, classes)
        fitted, claim = (None, None) if shares is None else _fitted_shares(known)
        rule = decision_rule(classes, threshold, costs, shares, fitted, claim)
    return Decision(rule, costs, shares)


def refuse_improbable(known: ModelFile, option: str, instead: str) -> None:
    """Refuse an option for a model without probabilities; ``instead`` says what to do with such a model."""
    link = getattr(known.scorer, "link", None)
    if not describe(known.classifier).probabilities or not (link is None or link.probabilistic):
        problem = lacks_probabilities(known.classifier)
        raise ParameterError(option, problem, f"{instead}, or fit a model of P(class | x), such as logistic")


def costs_of(text: str) -> Costs:
    """The costs in "FP=1,FN=5"."""
    from separatrix.statistics.model_decisions import Costs

    found = _numbers(text)
    if found is None or set(found) != {"FP", "FN"}:
        raise ParameterError("--cost", f"got {text!r}", "give the costs of both mistakes, such as FP=1,FN=5")
    return Costs.of(found)


def _shares(text: str, classes: AnyArray) -> dict[Any, float]:
    """The share of each class by its label; labels are recognised by how they print."""
    found = _numbers(text)
    if found is None:
        raise ParameterError("--prior", f"got {text!r}", "give a share for each class, such as no=0.9,yes=0.1")
    by_text = {str(label): label for label in classes.tolist()}
    return {by_text.get(name, name): share for name, share in found.items()}


def _fitted_shares(known: ModelFile) -> tuple[Any, Any]:
    """The class shares of the fitted rows, and the claim of the fit, which has the weights of the classes."""
    from separatrix.statistics.model_decisions import deciding_model

    model = deciding_model(known)
    if model.fitted_prior is None:
        problem = "the model file does not hold the class counts of its fit"
        remedy = "fit the model with separatrix fit, or use decision.reweighed in Python"
        raise ParameterError("--prior", problem, remedy)
    return model.fitted_prior, model.claim


def _numbers(text: str) -> dict[str, float] | None:
    """The numbers by name in "a=1,b=2"; None if the text is not of this form or names something twice.

    >>> _numbers("FP=1, FN=5"), _numbers("half"), _numbers("a=1,a=2")
    ({'FP': 1.0, 'FN': 5.0}, None, None)
    """
    found: dict[str, float] = {}
    for part in text.split(","):
        name, equals, number = part.rpartition("=")
        try:
            value = float(number)
        except ValueError:
            return None
        if not equals or name.strip() in found:
            return None
        found[name.strip()] = value
    return found
