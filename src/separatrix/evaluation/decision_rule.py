r"""Predictions from a model's probabilities, with class shares and a threshold that may differ from those of the fit.

    P'(k | x) ∝ P(k | x) new_k/old_k,    for two classes: the second one where P'(2 | x) ≥ threshold

See docs/tour.md, D4. The module ``decisions`` has the steps; this module has the settings of ``evaluate``,
``separatrix predict`` and the exports.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.base.errors import ParameterError
from separatrix.base.messages import ByAudience, Message
from separatrix.evaluation.priors import class_shares, prior_ratio
from separatrix.losses.links import Link

if TYPE_CHECKING:  # Imported for types only: both modules import much that a rule does not need.
    from separatrix.evaluation.answers import Answers
    from separatrix.evaluation.mistake_costs import Costs

# The largest double, and the largest signed 64-bit integer, which has all bits set except the sign.
LARGEST_SCORE, LARGEST_INTEGER = float(np.finfo(np.float64).max), (1 << 63) - 1


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

        >>> from separatrix.losses.links import LINKS
        >>> round(DecisionRule(threshold=0.2).least_score(LINKS["logit"]), 6)  # ln(0.2/0.8)
        -1.386294
        """

        def chooses(position: int) -> bool:
            log_P = self.log_probabilities(link.log_probabilities(np.array([_double(position)])))
            return bool(self.chosen(np.exp(log_P))[0])

        below, above = _position(-LARGEST_SCORE), _position(LARGEST_SCORE)
        if chooses(below):
            return -math.inf
        if not chooses(above):
            return math.inf
        while above - below > 1:
            middle = (below + above) // 2
            below, above = (below, middle) if chooses(middle) else (middle, above)
        return _double(above)

    def applied(self, answers: Answers) -> Answers:
        """The answers of a model, with the classes that this rule chooses. The model must have probabilities."""
        from separatrix.evaluation.answers import log_odds

        assert answers.log_P is not None
        log_P = self.log_probabilities(answers.log_P)
        return replace(answers, chosen=self.chosen(np.exp(log_P)), Z=log_odds(log_P), log_P=log_P)


def _position(z: float) -> int:
    """The position of a double in the order of all doubles, with 0 at position 0."""
    bits = int(np.float64(z).view(np.int64))
    return bits if bits >= 0 else -(bits & LARGEST_INTEGER)


def _double(position: int) -> float:
    """The double at this position."""
    size = float(np.int64(abs(position)).view(np.float64))
    return size if position >= 0 else -size


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

    >>> from separatrix.evaluation.mistake_costs import Costs
    >>> decision_rule(np.array(["no", "yes"]), cost=Costs(1.0, 4.0)).threshold
    0.2
    """
    _refuse_several_classes(len(classes), threshold, cost)
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


def _refuse_several_classes(n_classes: int, threshold: float | None, cost: Costs | None) -> None:
    for name, given in (("threshold", threshold), ("cost", cost)):
        if given is not None and n_classes != 2:
            remedy = Message("leave it out", ByAudience("; decision.bayes_decision takes a table of costs", shell=""))
            raise ParameterError(name, f"it is for two classes, and the model has {n_classes}", remedy)


def _is_share(value: Any) -> bool:
    number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    return number and 0.0 <= value <= 1.0
