"""How a fitted model decides: by a threshold, other class shares, or the costs of mistakes (docs/tour.md, D4).

    P'(k | x) ∝ P(k | x) new_k/old_k,    for two classes: the second one where P'(2 | x) ≥ threshold

A ``DecisionRule`` makes the steps of ``decisions.py`` from the settings of ``evaluate``, ``separatrix predict`` and the
exports. ``CostFigures`` tells what the mistakes of a rule cost, and which threshold has the lowest cost.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from separatrix.classifiers import describe, lacks_probabilities
from separatrix.classifiers.model_file import ModelFile
from separatrix.core.base.arrays import AnyArray, Array, Integers
from separatrix.core.base.errors import ParameterError
from separatrix.core.base.messages import ByAudience, Classifier, Message
from separatrix.core.links import Link
from separatrix.core.scorer import scores_of
from separatrix.statistics.decisions import class_shares, cost_threshold, prior_ratio
from separatrix.statistics.intervals import Interval, wilson_interval
from separatrix.statistics.measures import Answers, log_odds
from separatrix.statistics.ranking import doubles, positions

LARGEST_SCORE = float(np.finfo(np.float64).max)


@dataclass(frozen=True)
class DecisionRule:
    """How classes are chosen from probabilities.

    Parameters
    ----------
    threshold : float or None
        For two classes, the second one is chosen if its probability is at least this; ½ if None. For more classes it is
        None: the most probable class is chosen.
    log_ratio : (K,) array or None
        ln(new_k/old_k) of the class shares; None if they do not change.
    shares : tuple of float or None
        The new class shares, which sum to 1; None if they do not change.

    Examples
    --------
    >>> rule = DecisionRule(threshold=0.2)
    >>> rule.chosen(np.array([[0.9, 0.1], [0.7, 0.3]])).tolist()
    [0, 1]
    """

    threshold: float | None = None
    log_ratio: Array | None = None
    shares: tuple[float, ...] | None = None

    def log_probabilities(self, log_P: Array) -> Array:
        """ln P(class | x), (n, K), with the new class shares."""
        if self.log_ratio is None:
            return log_P
        moved = log_P + self.log_ratio
        return np.asarray(moved - np.logaddexp.reduce(moved, axis=1, keepdims=True))

    def probabilities(self, scorer: Any, X: Any) -> Array:
        """P(class | x), (n, K), of a scorer with the new class shares."""
        return np.asarray(np.exp(self.log_probabilities(scorer.log_probabilities(X))))

    def chosen(self, P: Array) -> Integers:
        """The numbers of the chosen classes, (n,), from probabilities with the new class shares."""
        if P.shape[1] == 2:
            return (P[:, 1] >= (0.5 if self.threshold is None else self.threshold)).astype(np.int64)
        return np.asarray(np.argmax(P, axis=1), dtype=np.int64)

    def least_score(self, link: Link) -> float:
        """The smallest score for which the second of two classes is chosen; −∞ if it always is, ∞ if it never is.

        The probability of the second class never falls as the score grows, so bisection over the doubles finds it. A
        comparison with it gives the same answers as ``chosen``, down to the last bit of the score.

        >>> from separatrix.core.links import LINKS
        >>> round(DecisionRule(threshold=0.2).least_score(LINKS["logit"]), 6)  # ln(0.2/0.8)
        -1.386294
        """

        def chooses(position: int) -> bool:
            log_P = self.log_probabilities(link.log_probabilities(doubles(np.array([position]))))
            return bool(self.chosen(np.exp(log_P))[0])

        below, above = positions(np.array([-LARGEST_SCORE, LARGEST_SCORE])).tolist()
        if chooses(below):
            return -math.inf
        if not chooses(above):
            return math.inf
        while above - below > 1:
            middle = (below + above) // 2
            below, above = (below, middle) if chooses(middle) else (middle, above)
        return float(doubles(np.array([above]))[0])

    def applied(self, answers: Answers) -> Answers:
        """The answers of a model, with the classes that this rule chooses. The model must have probabilities."""
        assert answers.log_P is not None
        log_P = self.log_probabilities(answers.log_P)
        return replace(answers, chosen=self.chosen(np.exp(log_P)), Z=log_odds(log_P), log_P=log_P)


def decision_rule(
    classes: AnyArray,
    threshold: float | None = None,
    cost: Costs | None = None,
    prior: Any = None,
    fitted_prior: Any = None,
    claim: Any = None,
) -> DecisionRule | None:
    """The rule for these settings; None if there are none. A given threshold has priority over that of the costs.

    ``prior`` needs ``fitted_prior``, the class shares of the fitted rows, and the ``claim`` of the fit's certificate if
    the classes had weights.

    >>> from separatrix.statistics.model_decisions import Costs
    >>> decision_rule(np.array(["no", "yes"]), cost=Costs(1.0, 4.0)).threshold
    0.2
    """
    for name, given in (("threshold", threshold), ("cost", cost)):
        if given is not None and len(classes) != 2:
            remedy = Message("leave it out", ByAudience("; decision.bayes_decision takes a table of costs", shell=""))
            raise ParameterError(name, f"it is for two classes, and the model has {len(classes)}", remedy)
    if threshold is not None and not _is_share(threshold):
        raise ParameterError("threshold", f"got {threshold!r}", "give a probability from 0 to 1")
    if threshold is None and cost is not None:
        threshold = cost.threshold
    if threshold is None and prior is None:
        return None
    chosen = None if threshold is None else float(threshold)
    if prior is None:
        return DecisionRule(chosen)
    shares = class_shares("prior", prior, classes)
    log_ratio = prior_ratio(classes, prior, fitted_prior, claim)
    return DecisionRule(chosen, log_ratio, tuple((shares / shares.sum()).tolist()))


def _is_share(value: Any) -> bool:
    number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    return number and 0.0 <= value <= 1.0


# --- The cost of the mistakes of a two-class model, and the threshold with the lowest cost


@dataclass(frozen=True)
class Costs:
    """The costs of both mistakes: ``false_positive`` predicts the second class wrongly, ``false_negative`` misses it.

    >>> Costs.of({"FP": 1, "FN": 4}).threshold
    0.2
    """

    false_positive: float
    false_negative: float

    @classmethod
    def of(cls, cost: Any) -> Costs:
        """From a dict with the keys FP and FN."""
        if not isinstance(cost, Mapping) or set(cost) != {"FP", "FN"}:
            raise ParameterError("cost", f"got {cost!r}", 'give the costs of both mistakes, as in {"FP": 1, "FN": 5}')
        for name in ("FP", "FN"):
            value = cost[name]
            if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
                raise ParameterError("cost", f"{name} is {value!r}", "give a number")
            if not (math.isfinite(value) and value >= 0):
                raise ParameterError("cost", f"{name} is {value!r}", "give a finite cost >= 0")
        if cost["FP"] == cost["FN"] == 0:
            raise ParameterError("cost", "both costs are zero", "give at least one cost > 0")
        return cls(float(cost["FP"]), float(cost["FN"]))

    @property
    def threshold(self) -> float:
        """The probability of the second class from which predicting it has the lower expected cost."""
        return cost_threshold(self.false_positive, self.false_negative)

    @property
    def unit(self) -> float:
        """The power of two next to the larger cost. In this unit, sums and squares of costs do not overflow."""
        return math.ldexp(1.0, math.frexp(max(self.false_positive, self.false_negative))[1] - 1)

    def mean(self, n_false_positive: Any, n_false_negative: Any, n_rows: int) -> Any:
        """The cost per row, c_fp FP/n + c_fn FN/n."""
        false_positive, false_negative = self.false_positive / self.unit, self.false_negative / self.unit
        return (false_positive * n_false_positive + false_negative * n_false_negative) / n_rows * self.unit

    def interval(self, n_false_positive: int, n_false_negative: int, n_rows: int, level: float = 0.95) -> Interval:
        """The interval of the cost per row.

        It combines Wilson's intervals of both shares by the method of variance estimates recovery (Zou and Donner,
        Construction of confidence limits about effect measures: a general approach, Stat. Med. 27, 2008). The negative
        correlation of the two shares is left out, which makes the interval slightly longer.

        >>> low, high = Costs(1.0, 5.0).interval(0, 0, 100)
        >>> low, 0.0 < high < 0.2
        (0.0, True)
        """
        middle, below, above = 0.0, 0.0, 0.0
        for cost, count in ((self.false_positive, n_false_positive), (self.false_negative, n_false_negative)):
            low, high = wilson_interval(count, n_rows, level)
            middle += cost / self.unit * count / n_rows
            below += (cost / self.unit * (count / n_rows - low)) ** 2
            above += (cost / self.unit * (high - count / n_rows)) ** 2
        largest = max(self.false_positive, self.false_negative) / self.unit
        low, high = max(middle - math.sqrt(below), 0.0), min(middle + math.sqrt(above), largest)
        return Interval(low * self.unit, high * self.unit)


@dataclass(frozen=True)
class CostFigures:
    """What the mistakes on n rows cost.

    Parameters
    ----------
    costs : Costs
        The costs of both mistakes.
    threshold : float
        The probability of the second class from which it is predicted.
    n_rows, n_false_positive, n_false_negative : int
        All rows, and both mistakes at this threshold.
    best_threshold : float
        The threshold with the lowest cost on these rows; of equal ones, the nearest to ``costs.threshold``.
    best_false_positive, best_false_negative : int
        Both mistakes at that threshold.
    null : float
        The cost per row of always predicting one class, the cheaper of the two.
    level : float, default 0.95
        The confidence level of the intervals.

    Examples
    --------
    >>> p, positive = np.array([0.1, 0.3, 0.4, 0.8]), np.array([False, True, False, True])
    >>> found = cost_figures(Costs(1.0, 5.0), p, positive)
    >>> round(found.threshold, 3), found.mean, found.null
    (0.167, 0.25, 0.5)
    >>> round(found.best_threshold, 3), found.best_mean
    (0.167, 0.25)
    """

    costs: Costs
    threshold: float
    n_rows: int
    n_false_positive: int
    n_false_negative: int
    best_threshold: float
    best_false_positive: int
    best_false_negative: int
    null: float
    level: float = 0.95

    @property
    def mean(self) -> float:
        """The cost per row, an estimate of the expected cost."""
        return float(self.costs.mean(self.n_false_positive, self.n_false_negative, self.n_rows))

    @property
    def interval(self) -> Interval:
        return self.costs.interval(self.n_false_positive, self.n_false_negative, self.n_rows, self.level)

    @property
    def best_mean(self) -> float:
        """The cost per row at ``best_threshold``. Other rows will cost more, since these rows chose the threshold."""
        return float(self.costs.mean(self.best_false_positive, self.best_false_negative, self.n_rows))

    @property
    def best_interval(self) -> Interval:
        """The interval of ``best_mean``, which does not allow for the choice of the threshold."""
        return self.costs.interval(self.best_false_positive, self.best_false_negative, self.n_rows, self.level)

    def plain(self) -> dict[str, Any]:
        """All figures, in the types of JSON."""
        return {
            "false_positive": self.costs.false_positive,
            "false_negative": self.costs.false_negative,
            "threshold": self.threshold,
            "mean": self.mean,
            "interval": list(self.interval),
            "best_threshold": self.best_threshold,
            "best_mean": self.best_mean,
            "best_interval": list(self.best_interval),
            "null": self.null,
        }

    def __str__(self) -> str:
        low, high = self.interval
        here = f"cost {self.mean:.4g} per row ({low:.4g} to {high:.4g}) if P ≥ {self.threshold:.4g}"
        best = f"the lowest on these rows is {self.best_mean:.4g} if P ≥ {self.best_threshold:.4g}"
        return f"{here}; {best}; always the same class: {self.null:.4g}"


def cost_figures(
    costs: Costs, p: Array, positive: AnyArray, threshold: float | None = None, level: float = 0.95
) -> CostFigures:
    """The cost of deciding by a threshold, by default that of the costs.

    ``p`` (n,) holds the probabilities of the second class, ``positive`` (n,) is true for its rows.
    """
    n, own, other = len(p), np.sort(p[positive]), np.sort(p[~positive])

    def mistakes(thresholds: Array) -> tuple[AnyArray, AnyArray]:
        """The false positives and the false negatives at each threshold."""
        return len(other) - np.searchsorted(other, thresholds), np.searchsorted(own, thresholds)

    at = costs.threshold if threshold is None else float(threshold)
    fp, fn = (int(count[0]) for count in mistakes(np.array([at])))
    # Between two neighbouring probabilities all thresholds are the same, so one of each interval is enough.
    distinct = np.unique(np.concatenate([[0.0], p, [1.0]]))
    candidates = np.concatenate([[costs.threshold, at, 0.0], 0.5 * (distinct[:-1] + distinct[1:])])
    false_positives, false_negatives = mistakes(candidates)
    means = costs.mean(false_positives, false_negatives, n)
    best = int(np.lexsort((np.abs(candidates - costs.threshold), means))[0])
    null = min(costs.mean(len(other), 0, n), costs.mean(0, len(own), n))
    lowest = (float(candidates[best]), int(false_positives[best]), int(false_negatives[best]))
    return CostFigures(costs, at, n, fp, fn, *lowest, float(null), level)


# --- The decision rule for a fitted model: a classifier, a pipeline, a model file or a scorer


@dataclass(frozen=True)
class DecidingModel:
    """What a decision rule needs to know about a fitted model.

    Attributes
    ----------
    name : str
        The name of the classifier, for messages.
    scorer : Scorer, or another object with its methods
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
    costs = None if cost is None else Costs.of(cost)
    return decision_rule(known.scorer.classes, threshold, costs, prior, fitted_prior, known.claim)
