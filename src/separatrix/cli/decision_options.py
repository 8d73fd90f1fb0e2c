"""The options --threshold, --cost and --prior, by which ``predict``, ``evaluate`` and ``export`` decide."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click

from separatrix.base.errors import ParameterError
from separatrix.classifiers import describe, lacks_probabilities

if TYPE_CHECKING:
    from separatrix.base.arrays import AnyArray
    from separatrix.evaluation.decision_rule import DecisionRule
    from separatrix.evaluation.mistake_costs import Costs
    from separatrix.model_file import ModelFile

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
    from separatrix.evaluation.decision_rule import decision_rule

    refuse_improbable(known, asked[0], "leave it out")
    classes = known.scorer.classes
    try:
        costs = None if cost is None else costs_of(cost)
        shares = None if prior is None else _shares(prior, classes)
        fitted, claim = (None, None) if shares is None else _fitted_shares(known)
        rule = decision_rule(classes, threshold, costs, shares, fitted, claim)
    except ParameterError as error:
        raise ParameterError(f"--{error.argument.removeprefix('--')}", error.problem, error.remedy) from error
    return Decision(rule, costs, shares)


def refuse_improbable(known: ModelFile, option: str, instead: str) -> None:
    """Refuse an option for a model without probabilities; ``instead`` says what to do with such a model."""
    link = getattr(known.scorer, "link", None)
    if not describe(known.classifier).probabilities or not (link is None or link.probabilistic):
        problem = lacks_probabilities(known.classifier)
        raise ParameterError(option, problem, f"{instead}, or fit a model of P(class | x), such as logistic")


def costs_of(text: str) -> Costs:
    """The costs in "FP=1,FN=5"."""
    from separatrix.evaluation.mistake_costs import Costs

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
    from separatrix.evaluation.model_rule import deciding_model

    model = deciding_model(known)
    if model.fitted_prior is None:
        problem = "the model file does not hold the class counts of its fit"
        raise ParameterError(
            "--prior", problem, "fit the model with separatrix fit, or use decision.reweighed in Python"
        )
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
