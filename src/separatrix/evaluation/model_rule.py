"""The decision rule for a fitted model, which may be a classifier, a pipeline, a model file or a scorer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from separatrix.base.errors import ParameterError
from separatrix.base.messages import Classifier, Message
from separatrix.classifiers import describe, lacks_probabilities
from separatrix.evaluation.decision_rule import DecisionRule, decision_rule
from separatrix.model_file import ModelFile
from separatrix.scorers.scorer import scores_of


@dataclass(frozen=True)
class DecidingModel:
    """What a decision rule needs to know about a fitted model.

    Attributes
    ----------
    name : str
        The name of the classifier, for messages.
    scorer : scorers.scorer.Scores
        What computes scores and probabilities.
    has_probabilities : bool
        Whether the model estimates P(class | x).
    fitted_prior : sequence or None
        The class shares or counts of the fitted rows, in the order of the classes; None if the model does not know.
    claim : Claim or None
        The claim of the fit's certificate, which holds the weights of the classes.
    """

    name: str
    scorer: Any
    has_probabilities: bool
    fitted_prior: Any = None
    claim: Any = None


def deciding_model(model: Any) -> DecidingModel:
    """The facts about a fitted model.

    >>> from separatrix import Perceptron
    >>> deciding_model(Perceptron().fit([[0.0], [1.0]], [0, 1])).has_probabilities
    False
    """
    if isinstance(model, ModelFile):
        name, scorer, described = model.classifier, model.scorer, describe(model.classifier).probabilities
        counts = model.training.get("class_counts_fitted", model.training.get("class_counts"))
        fitted, certificate = model.fitted.get("priors_", counts), model.certificate
    else:
        classifier = model.steps[-1][1] if getattr(model, "steps", None) else model
        name, scorer = type(classifier).__name__, scores_of(classifier)
        described = getattr(classifier, "has_probabilities", True)
        fitted, certificate = getattr(classifier, "priors_", None), getattr(classifier, "certificate_", None)
    link = getattr(scorer, "link", None)
    probable = bool(described) and link is not None and link.probabilistic
    return DecidingModel(name, scorer, probable, fitted, getattr(certificate, "claim", None))


def rule_for(
    model: Any,
    threshold: float | None = None,
    cost: Mapping[str, float] | None = None,
    prior: Any = None,
    fitted_prior: Any = None,
) -> DecisionRule | None:
    """The rule by which a model decides with these settings; None if none is given.

    >>> from separatrix import LogisticRegression
    >>> model = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], ["no", "yes", "no", "yes"])
    >>> rule_for(model, cost={"FP": 1, "FN": 4}).threshold
    0.2
    """
    given = {"threshold": threshold, "cost": cost, "prior": prior}
    asked = [name for name, value in given.items() if value is not None]
    if not asked:
        return None
    known = deciding_model(model)
    if not known.has_probabilities:
        remedy = Message("leave it out, or fit a model of P(class | x), such as ", Classifier("LogisticRegression"))
        raise ParameterError(asked[0], lacks_probabilities(known.name), remedy)
    fitted_prior = known.fitted_prior if fitted_prior is None else fitted_prior
    if prior is not None and fitted_prior is None:
        shares = "give the class shares or counts of the fitted rows, in the order of the classes or by label"
        raise ParameterError("fitted_prior", "it is not given, and prior needs it", shares)
    return decision_rule(known.scorer.classes, threshold, _costs(cost), prior, fitted_prior, known.claim)


def _costs(cost: Mapping[str, float] | None) -> Any:
    if cost is None:
        return None
    from separatrix.evaluation.mistake_costs import Costs  # It imports more than a threshold or a prior needs.

    return Costs.of(cost)
