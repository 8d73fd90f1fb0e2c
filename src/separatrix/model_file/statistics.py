"""The statistical table of a fit, as a model file holds it: plain numbers, in the units of the table."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from separatrix.base.arrays import Array


@dataclass(frozen=True, eq=False)
class Statistics:
    """Standard errors, tests and intervals of q sets of m coefficients, or the reason why there are none.

    Attributes
    ----------
    withheld : str or None
        Why there are no standard errors; then the arrays are empty.
    terms : tuple of str
        The m coefficients: the intercept, if there is one, and the columns of X.
    labels, reference
        The q classes, and the class that they are compared with.
    coef, std_err, p_value, low, high : arrays (q, m)
        NaN if a value does not exist. ``states`` says why.
    states : tuple of str
        The state of each of the q m coefficients, such as "estimated".
    level, intervals, covariance, ratio
        The confidence level, the kinds of the intervals and of the covariance, and the name of exp(coef), if any.
    notes : tuple of str
    rows, lr_df, log_likelihood, null_log_likelihood
        The number of rows, the degrees of freedom of the likelihood-ratio test against the null model, and the
        log-likelihoods; NaN if the fit does not maximise one.

    Examples
    --------
    >>> Statistics.none("the fit is penalised").withheld
    'the fit is penalised'
    """

    withheld: str | None
    terms: tuple[str, ...]
    labels: tuple[str, ...]
    reference: str
    coef: Array
    std_err: Array
    p_value: Array
    low: Array
    high: Array
    states: tuple[str, ...]
    level: float
    intervals: str
    covariance: str
    ratio: str | None
    notes: tuple[str, ...]
    rows: int
    lr_df: int
    log_likelihood: float
    null_log_likelihood: float

    @classmethod
    def none(cls, reason: str, level: float = 0.95) -> Statistics:
        """No statistics, for this reason."""
        return cls(
            withheld=reason,
            terms=(),
            labels=(),
            reference="",
            coef=np.empty((0, 0)),
            std_err=np.empty((0, 0)),
            p_value=np.empty((0, 0)),
            low=np.empty((0, 0)),
            high=np.empty((0, 0)),
            states=(),
            level=level,
            intervals="",
            covariance="",
            ratio=None,
            notes=(),
            rows=0,
            lr_df=0,
            log_likelihood=math.nan,
            null_log_likelihood=math.nan,
        )

    @property
    def z(self) -> Array:
        """The z statistics (q, m), coef / std_err."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.coef / self.std_err)

    @property
    def lr_statistic(self) -> float:
        """2 (ℓ − ℓ₀), the likelihood-ratio statistic against the null model."""
        return 2.0 * (self.log_likelihood - self.null_log_likelihood)

    def misfit(self, sizes: Mapping[str, int]) -> str:
        """What is wrong with the lengths; empty if nothing is."""
        shape = (len(self.labels), len(self.terms))
        arrays = (self.coef, self.std_err, self.p_value, self.low, self.high)
        if self.withheld is not None:
            shape = (0, 0)
        fits = all(array.shape == shape for array in arrays) and len(self.states) == shape[0] * shape[1]
        return "" if fits and (self.withheld is None) == bool(self.terms) else "has parts of different lengths"
