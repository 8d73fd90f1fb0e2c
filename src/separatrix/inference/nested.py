r"""The likelihood-ratio test of two nested models.

The statistic 2 (ℓ_large − ℓ_small) is compared with a χ² distribution. Its degrees of freedom are the difference in
the number of coefficients.

Wilks, The large-sample distribution of the likelihood ratio for testing composite hypotheses, Annals of Mathematical
Statistics 9 (1938). The test takes two summaries, because each has been checked against its rows. So it can verify that
both have the same rows, and that the columns of the smaller model are linear combinations of those of the larger one,
instead of trusting the user.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.errors import InputError, ParameterError
from separatrix.base.normal import chi_squared_tail
from separatrix.inference.request import SummaryRequest
from separatrix.inference.result import Summary
from separatrix.objectives.build import build_objective
from separatrix.objectives.penalty import Penalty
from separatrix.rows import labelled_rows
from separatrix.rows.csr import is_sparse


@dataclass(frozen=True)
class LikelihoodRatio:
    """2 (ℓ_large − ℓ_small), its degrees of freedom and P(χ² ≥ statistic).

    >>> print(LikelihoodRatio(3.84146, 1, 0.05))
    likelihood ratio 3.84146 on 1 df, p = 0.05
    """

    statistic: float
    df: int
    p_value: float

    def __str__(self) -> str:
        p = "p < 1e-16" if self.p_value < 1e-16 else f"p = {self.p_value:.4g}"
        return f"likelihood ratio {self.statistic:.6g} on {self.df} df, {p}"


def likelihood_ratio_test(small: Summary, large: Summary) -> LikelihoodRatio:
    """The likelihood-ratio test of whether the larger of two nested models fits better.

    Parameters
    ----------
    small, large : Summary
        The summaries of the two models over the same rows.

    Returns
    -------
    LikelihoodRatio

    Raises
    ------
    ParameterError, InputError
        The summaries are of different rows, labels, weights, offsets or links, the models are not nested, or a
        likelihood is penalised or weighted.

    Examples
    --------
    >>> from separatrix import LogisticRegression, summary
    >>> X, y = np.array([[0.0, 1], [1, 0], [2, 0], [3, 1], [4, 1], [5, 0]]), [0, 1, 0, 0, 1, 1]
    >>> small, large = (summary(LogisticRegression(np.inf).fit(X[:, :d], y), X[:, :d], y) for d in (1, 2))
    >>> print(likelihood_ratio_test(small, large))
    likelihood ratio 0.867563 on 1 df, p = 0.3516
    """
    for name, given in (("small", small), ("large", large)):
        if not isinstance(given, Summary):
            raise ParameterError(name, f"got {type(given).__name__}", "give what summary(model, X, y) returns")
        if not given.is_likelihood:
            reason = given.withheld or "its likelihood is weighed or penalised"
            raise InputError(name, f"it has no maximum-likelihood value: {reason}", "compare fits with C=np.inf")
    _refuse_other_rows(small.asked, large.asked)
    df = large.n_coefficients - small.n_coefficients
    if df < 1:
        problem = f"it has {large.n_coefficients} coefficients and small has {small.n_coefficients}"
        raise InputError("large", problem, "give the smaller model first, and one with more coefficients second")
    _refuse_not_nested(small.asked, large.asked)
    statistic = max(2.0 * (large.log_likelihood - small.log_likelihood), 0.0)
    return LikelihoodRatio(statistic, df, chi_squared_tail(statistic, df))


def _refuse_other_rows(small: SummaryRequest, large: SummaryRequest) -> None:
    nothing = np.zeros((len(small.codes), len(small.claim.scorer.W)))
    offsets = tuple(nothing if given.offset is None else given.offset for given in (small, large))
    pairs: dict[str, Any] = {
        "link differs from that": (small.claim.loss, large.claim.loss),
        "classes differ from those": (small.claim.scorer.classes, large.claim.scorer.classes),
        "labels differ from those": (small.codes, large.codes),
        "weights differ from those": (small.weight, large.weight),
        "offset differs from that": offsets,
    }
    for difference, (a, b) in pairs.items():
        if not np.array_equal(a, b):
            raise InputError("large", f"its {difference} of small", "compare models of the same rows")


def _refuse_not_nested(small: SummaryRequest, large: SummaryRequest) -> None:
    """Raise an error if the rank of both models' columns together exceeds that of the larger model's columns."""
    ones = small.claim.fit_intercept or large.claim.fit_intercept
    if is_sparse(small.X) or is_sparse(large.X):
        from scipy.sparse import csr_array, hstack

        both: Any = hstack([csr_array(large.X), csr_array(small.X)], format="csr")
    else:
        both = np.hstack([large.X, small.X])
    K = len(large.claim.scorer.classes)

    def rank(X: Any, intercept: bool, width: int) -> int:
        return build_objective(labelled_rows(X, large.codes, K), K, Penalty.none(width), intercept).subspace.rank

    if rank(both, ones, both.shape[1]) != rank(large.X, large.claim.fit_intercept, large.X.shape[1]):
        problem = "its columns cannot make up those of small, so the models are not nested"
        raise InputError("large", problem, "let large have all columns of small, and more")
