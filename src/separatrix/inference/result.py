"""The result of ``summary``: a frozen record of numbers, and its renderings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.cached import cached_property
from separatrix.base.concurrency import one_blas_thread
from separatrix.base.errors import ParameterError
from separatrix.base.normal import chi_squared_tail, two_sided
from separatrix.inference import render
from separatrix.inference.effects import average_effects
from separatrix.inference.findings import HELD, OPEN, Findings, States
from separatrix.inference.marginal import MarginalEffects
from separatrix.inference.request import SummaryRequest


@dataclass(frozen=True, repr=False, eq=False)
class Summary:
    """A fitted model's coefficients with their uncertainty, and measures of its fit.

    Arrays are (m,) for two classes and (K − 1, m) for more, with a row for each class but the reference; m counts the
    intercept, if there is one, and the columns. A value that does not exist is NaN; ``withheld`` or ``notes`` give the
    reason, and ``states`` the state of each coefficient.

    Attributes
    ----------
    coef, std_err, z, p_value : array
        The coefficients, their standard errors, z statistics and p-values.
    low, high : array
        The ends of the confidence intervals.
    ratio, ratio_low, ratio_high : array
        Odds or hazard ratios with their intervals; NaN for the intercept, whose exponential is not a ratio of odds.
    log_likelihood, null_log_likelihood : float
        The log-likelihoods of the model and of the null model.
    lr_statistic, lr_df, lr_p_value
        The likelihood-ratio test against the null model.
    aic, bic, mcfadden : float
        The information criteria and McFadden's R².

    Examples
    --------
    >>> from separatrix import LogisticRegression, summary
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
    >>> found = summary(LogisticRegression(C=1.0).fit(X, y), X, y)
    >>> found.withheld[:26], found.std_err.tolist()
    ('the fit is penalised (C=1)', [nan, nan])
    """

    names: tuple[str, ...]
    classes: tuple[Any, ...]
    reference: Any
    coef: Array
    std_err: Array
    low: Array
    high: Array
    states: tuple[str, ...] | States
    level: float
    intervals: str
    covariance_kind: str
    weights: str
    n: int
    n_coefficients: int
    log_likelihood: float
    null_log_likelihood: float
    lr_df: int
    is_likelihood: bool
    ratio_name: str | None
    withheld: str | None
    notes: tuple[str, ...]
    prior_corrected_intercept: Array | None
    tests: Array | None  # p-values by penalised likelihood ratios, if those replace the z tests
    findings: Findings = field(compare=False)
    asked: SummaryRequest = field(compare=False)

    @property
    def z(self) -> Array:
        return self.coef / self.std_err

    @property
    def p_value(self) -> Array:
        return two_sided(self.z) if self.tests is None else self.tests

    @property
    def ratio(self) -> Array:
        return self._ratio(self.coef)

    @property
    def ratio_low(self) -> Array:
        return self._ratio(self.low)

    @property
    def ratio_high(self) -> Array:
        return self._ratio(self.high)

    def _ratio(self, of: Array) -> Array:
        """The exponentials of ``of``; NaN if the coefficient is not unique, or if its exponential is not a ratio."""
        said = ~np.isin(self.states, (HELD, OPEN)) & bool(self.ratio_name)
        said[..., : int(self.asked.claim.fit_intercept)] = False
        with np.errstate(over="ignore"):
            return np.where(said, np.exp(of), np.nan)

    @property
    def lr_statistic(self) -> float:
        """2 (ℓ − ℓ₀); NaN if ℓ is not the maximum of a log-likelihood."""
        return 2.0 * (self.log_likelihood - self.null_log_likelihood) if self.is_likelihood else float("nan")

    @property
    def lr_p_value(self) -> float:
        return chi_squared_tail(self.lr_statistic, self.lr_df)

    @property
    def aic(self) -> float:
        return 2.0 * self.n_coefficients - 2.0 * self.log_likelihood if self.is_likelihood else float("nan")

    @property
    def bic(self) -> float:
        fit = self.n_coefficients * float(np.log(self.n)) - 2.0 * self.log_likelihood
        return fit if self.is_likelihood else float("nan")

    @property
    def mcfadden(self) -> float:
        null = self.null_log_likelihood
        return 1.0 - self.log_likelihood / null if null < 0 else float("nan")

    @cached_property
    def covariance(self) -> Array:
        """The covariance of all coefficients, class by class, (p, p); NaN for those without a standard error."""
        found, size = self.findings, self.coef.size
        V = np.full((size, size), np.nan)
        kept = np.flatnonzero(found.estimated)
        if found.covariance is not None:
            V[np.ix_(kept, kept)] = found.covariance.of(found.estimate.F[kept])
        return V

    def marginal_effects(self) -> MarginalEffects:
        """Average marginal effects of each column on the probabilities, with delta-method standard errors.

        These are derivatives of P(second class), or of every class's probability if there are more than two; for
        columns of zeros and ones also the discrete change from 0 to 1.

        The effect of a level of a factor is its contrast with the reference level: the mean probability with all rows
        set to the level, less that with all rows set to the reference level. The encoder of a table knows its factors.
        These are categories, truth values, which are compared with false, and missing values that an indicator marks:
        of a category they are compared with its reference level, of a number with the mean that replaces them. If
        further steps follow the encoder in a pipeline, such as scalers or products of columns, rows are set to a level
        before these steps.

        In a plain array, each column of zeros and ones changes alone. This includes indicator columns by other tools,
        such as scikit-learn's ``OneHotEncoder``, which leads to rows with two levels at once; encode categories by
        ``TableEncoder`` or ``read_table`` instead. Derivatives are always those by a single column of the classifier.
        """
        asked, found = self.asked, self.findings
        if found.covariance is None or found.asked is not asked:
            reason = self.withheld or "some coefficients are infinite"
            raise ParameterError("marginal_effects", f"there are none: {reason}", "fit a model that has estimates")
        with one_blas_thread:
            effects = average_effects(asked, found.estimate, found.covariance)
        classes = asked.claim.scorer.classes.tolist()
        return MarginalEffects.of(effects, asked.names, classes[1:] if len(classes) == 2 else classes, self.level)

    def to_dict(self) -> dict[str, Any]:
        """The summary as plain values; NaN as None, infinity as a string."""
        return render.as_dict(self)

    def to_json(self) -> str:
        """The summary as JSON, with the values of ``to_dict``."""
        return render.as_json(self)

    def to_frame(self) -> Any:
        """The coefficients as a pandas DataFrame with a row for each."""
        return render.as_frame(render.records(self))

    def __str__(self) -> str:
        return render.as_text(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return render.as_html(self)
