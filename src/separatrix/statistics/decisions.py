"""Decisions from scores and probabilities: thresholds, costs, class shares (docs/tour.md, D4, M4).

A model estimates how probable each class is. The decision is a second step, with costs that need not be equal, and with
class shares (priors) that may differ from those of the fitted rows. No function here fits a model.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from separatrix.core.base.arrays import AnyArray, Array
from separatrix.core.base.errors import ParameterError
from separatrix.core.likelihood_claims import LikelihoodClaim
from separatrix.core.links import Logit, SoftmaxLink, logit
from separatrix.core.scorer import Scorer, scores_of

__all__ = [
    "bayes_decision",
    "cost_threshold",
    "decide",
    "expected_costs",
    "prior_corrected",
    "reweighed",
    "score_threshold",
    "with_priors",
]

# --- Thresholds and costs


def decide(values: Any, threshold: float = 0.0, classes: Any = (0, 1)) -> AnyArray:
    """The second class where a value is at least the threshold, else the first.

    Parameters
    ----------
    values : (n,) sequence of float
        Scores or probabilities of the second class.
    threshold : float, default 0
        0 for scores of ±1 targets, ½ for 0/1 targets and for probabilities, or ``cost_threshold``. At the threshold
        itself the second class is chosen, as at z = 0 (D1); both then have the same expected cost.
    classes : sequence of two labels, default (0, 1)
        The labels.

    Returns
    -------
    (n,) array
        The label of each row.

    Examples
    --------
    >>> decide([0.2, 0.5, 0.7], threshold=0.5, classes=["no", "yes"]).tolist()
    ['no', 'yes', 'yes']
    """
    z = np.asarray(values, dtype=np.float64)
    if z.ndim != 1:
        raise ParameterError("values", f"its shape is {z.shape}", "give one score or probability for each row")
    if len(classes) != 2:
        raise ParameterError("classes", f"got {len(classes)}", "name two; for more use bayes_decision")
    if np.isnan(threshold) or np.any(np.isnan(z)):
        raise ParameterError("values", "NaN among values or threshold", "give numbers")
    return np.asarray(np.asarray(classes)[(z >= threshold).astype(np.int64)])


def cost_threshold(false_positive: float, false_negative: float) -> float:
    """The threshold c_fp/(c_fp + c_fn) on p, from which (1 − p) c_fp ≤ p c_fn.

    Parameters
    ----------
    false_positive, false_negative : float
        The costs c_fp and c_fn of the two mistakes, finite and not negative, and not both zero.

    Returns
    -------
    float
        The probability from which the second class has the lower expected cost.

    Examples
    --------
    >>> cost_threshold(1.0, 1.0), cost_threshold(1.0, 9.0)  # a miss nine times as bad as a false alarm
    (0.5, 0.1)
    """
    for name, cost in (("false_positive", false_positive), ("false_negative", false_negative)):
        if not (np.isfinite(cost) and cost >= 0):
            raise ParameterError(name, f"got {cost}", "give a finite cost >= 0")
    if false_positive + false_negative == 0:
        raise ParameterError("false_positive", "both costs are zero", "give at least one cost > 0")
    unit = 0.5 if max(false_positive, false_negative) > 1 else 1.0  # the sum of two large costs may overflow
    return unit * false_positive / (unit * false_positive + unit * false_negative)


def score_threshold(false_positive: float, false_negative: float) -> float:
    """The threshold ln c_fp − ln c_fn on the score z = logit p.

    Parameters
    ----------
    false_positive, false_negative : float
        The costs, as for ``cost_threshold``.

    Returns
    -------
    float
        The score from which the second class has the lower expected cost.

    Examples
    --------
    >>> score_threshold(2.0, 2.0)
    0.0
    """
    return float(logit(cost_threshold(false_positive, false_negative)))


def expected_costs(P: Any, cost: Any) -> Array:
    """The expected cost Σ_k P(k | x) cost[k, j] of each decision j, (n, J).

    Parameters
    ----------
    P : (n, K) array
        The probabilities of the classes.
    cost : (K, J) array
        ``cost[k, j]`` is the cost of decision j if the true class is k.

    Returns
    -------
    (n, J) array
        The expected costs.

    Examples
    --------
    >>> expected_costs([[0.75, 0.25]], [[0.0, 1.0], [4.0, 0.0]]).tolist()
    [[1.0, 0.75]]
    """
    probabilities = _probabilities("P", P)
    table = np.asarray(cost, dtype=np.float64)
    K = probabilities.shape[1]
    if table.ndim != 2 or len(table) != K or table.shape[1] < 1 or not np.all(np.isfinite(table)):
        remedy = f"give finite costs, {K} rows (true classes), and a column for each decision"
        raise ParameterError("cost", f"its shape is {table.shape}", remedy)
    return np.asarray(probabilities @ table)


def bayes_decision(P: Any, cost: Any = None, classes: Any = None) -> AnyArray:
    """The decision with the lowest expected cost for each row; of equal ones the first.

    Parameters
    ----------
    P : (n, K) array
        The probabilities of the classes.
    cost : (K, J) array, optional
        ``cost[k, j]`` is the cost of decision j if the true class is k. By default every mistake costs 1, and the most
        probable class is chosen.
    classes : sequence of J labels, optional
        The labels of the decisions, by default their numbers.

    Returns
    -------
    (n,) array
        The label of each row's decision.

    Examples
    --------
    >>> P = [[0.75, 0.25]]
    >>> bayes_decision(P).tolist(), bayes_decision(P, [[0, 1], [4, 0]], ["well", "ill"]).tolist()
    ([0], ['ill'])
    """
    K = _probabilities("P", P).shape[1]
    expected = expected_costs(P, 1.0 - np.eye(K) if cost is None else cost)
    labels = np.arange(expected.shape[1]) if classes is None else np.asarray(classes)
    if len(labels) != expected.shape[1]:
        raise ParameterError("classes", f"got {len(labels)}", f"name {expected.shape[1]}, one for each decision")
    return np.asarray(labels[np.argmin(expected, axis=1)])


# The largest difference from 1 of the sum of a row of probabilities, which allows for rounding.
LARGEST_SUM_ERROR = 1e-6


def _probabilities(argument: str, P: Any) -> Array:
    """P as an array of probabilities (n, K), whose rows sum to 1; other arrays are refused."""
    found = np.asarray(P, dtype=np.float64)
    if found.ndim != 2 or found.shape[1] < 2:
        raise ParameterError(argument, f"its shape is {found.shape}", "give K probabilities for each row")
    wrong = np.flatnonzero(~((found >= 0).all(axis=1) & (np.abs(found.sum(axis=1) - 1) <= LARGEST_SUM_ERROR)))
    if len(wrong):
        problem = f"row {wrong[0]} is {found[wrong[0]].tolist()}"
        raise ParameterError(argument, problem, "give probabilities >= 0 that sum to 1")
    return found


# --- Class shares, and the correction of probabilities from those of the fitted rows to others


def class_shares(argument: str, priors: Any, classes: AnyArray) -> Array:
    """The shares in the order of the classes, (K,), from a sequence or a dict by label. They need not sum to 1.

    >>> class_shares("prior", {"yes": 1, "no": 3}, np.array(["no", "yes"])).tolist()
    [3.0, 1.0]
    """
    labels = classes.tolist()
    if isinstance(priors, dict):
        missing = [label for label in labels if label not in priors]
        if missing or len(priors) != len(labels):
            raise ParameterError(argument, f"it names {list(priors)}", f"give a prior for each of {labels}")
        priors = [priors[label] for label in labels]
    found = np.asarray(priors, dtype=np.float64)
    if found.shape != (len(labels),) or not np.all(np.isfinite(found) & (found > 0)):
        raise ParameterError(argument, f"got {priors!r}", f"give {len(labels)} positive numbers, one for each class")
    return found


def prior_ratio(classes: AnyArray, prior: Any, fitted_prior: Any, claim: Any = None) -> Array:
    """ln(new_k/old_k), (K,), from the class shares to decide for and those of the fitted rows.

    If the classes had weights in the fit, which its ``claim`` holds, the old shares are those of weighted rows.

    >>> prior_ratio(np.array(["no", "yes"]), {"no": 0.75, "yes": 0.25}, [0.5, 0.5]).round(3).tolist()
    [0.405, -0.693]
    """
    new, old = class_shares("prior", prior, classes), class_shares("fitted_prior", fitted_prior, classes)
    weights = getattr(claim, "class_weights", None)
    old = old if weights is None else old * np.asarray(weights)
    return np.asarray(np.log(new / new.sum()) - np.log(old / old.sum()))


def reweighed(P: Any, old: Any, new: Any) -> Array:
    """Probabilities P(k | x) under other priors, which are proportional to P(k | x) new_k/old_k.

    Parameters
    ----------
    P : (n, K) array
        The probabilities of any model.
    old, new : (K,) sequence, or dict by class number
        The priors of the model and the new ones. Only their ratios matter.

    Returns
    -------
    (n, K) array
        The probabilities.

    Examples
    --------
    >>> reweighed([[0.5, 0.5]], old=[0.5, 0.5], new=[0.9, 0.1]).round(3).tolist()
    [[0.9, 0.1]]
    """
    probabilities = _probabilities("P", P)
    labels = np.arange(probabilities.shape[1])
    moved = probabilities * (class_shares("new", new, labels) / class_shares("old", old, labels))
    return np.asarray(moved / moved.sum(axis=1, keepdims=True))


def with_priors(model: Any, old: Any, new: Any) -> Scorer:
    """The model under other priors: ln(new_k/old_k) is added to the intercept of each class (docs/tour.md, D4).

    If there is one score for two classes, its intercept changes by the difference of the two.

    Parameters
    ----------
    model : classifier or Scorer
        A logistic or softmax model, whose scores are log odds. For other models use ``reweighed`` on their
        probabilities.
    old, new : (K,) sequence in the order of the classes, or dict by label
        The priors of the model and the new ones. Only their ratios matter.

    Returns
    -------
    Scorer
        The scorer with the new intercepts.

    Examples
    --------
    >>> scorer = Scorer(np.array([[0.0, 1.0]]), np.array(["well", "ill"]), "logit")
    >>> moved = with_priors(scorer, [0.5, 0.5], {"well": 0.9, "ill": 0.1})
    >>> moved.probabilities(np.zeros((1, 1))).round(3).tolist()
    [[0.9, 0.1]]
    """
    scorer = scores_of(model)
    if not isinstance(scorer, Scorer):
        raise ParameterError("model", f"got {type(model).__name__}", "give a logistic or softmax model")
    if not isinstance(scorer.link, Logit | SoftmaxLink):
        remedy = "give a logistic or softmax model; for others use reweighed on the probabilities"
        raise ParameterError("model", f"its link is {scorer.link_name!r}, whose scores are not log odds", remedy)
    shift = np.log(class_shares("new", new, scorer.classes)) - np.log(class_shares("old", old, scorer.classes))
    W = scorer.W.copy()
    W[:, 0] += shift if len(W) > 1 else shift[1] - shift[0]
    return replace(scorer, W=W)


def prior_corrected(model: Any) -> Scorer:
    """A logistic regression that was fitted with class weights, with the probabilities for the unweighted classes.

    If a class counts c_k times, the fitted probabilities are P_c(k | x) ∝ c_k P(k | x), so −ln c_k is added to its
    intercept. This is exact if the model is true. Otherwise class weights also change the direction of the boundary,
    which is not undone (docs/tour.md, M4).

    Parameters
    ----------
    model : LogisticRegression
        The fitted classifier, with the logistic loss.

    Returns
    -------
    Scorer
        The scorer with the new intercepts.

    Examples
    --------
    >>> from separatrix import LogisticRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [1.5]], [0, 0, 0, 1, 1]
    >>> model = LogisticRegression(class_weight={1: 3.0}).fit(X, y)
    >>> float((model.intercept_ - prior_corrected(model).W[:, 0]).round(4)[0])  # ln 3
    1.0986
    """
    claim = getattr(getattr(model, "certificate_", None), "claim", None)
    if not isinstance(claim, LikelihoodClaim):
        raise ParameterError("model", f"got {type(model).__name__}", "give a fitted LogisticRegression")
    return with_priors(claim.scorer, old=claim.class_weights, new=np.ones(len(claim.class_weights)))
