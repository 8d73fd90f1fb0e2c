"""``summary``: each coefficient of a logistic regression with its standard error, test and interval; nested models.

    z = β̂/se,   p = 2 Φ(−|z|),   β̂ ± z_{(1 + level)/2} se,   exp β̂ an odds ratio (cloglog: hazard ratio)

With the log-likelihoods ℓ of the model and ℓ₀ of the null model, 2 (ℓ − ℓ₀) is χ² with one degree of freedom per
slope; AIC = 2 k − 2 ℓ, BIC = k ln n − 2 ℓ, McFadden's R² = 1 − ℓ/ℓ₀. Hosmer, Lemeshow and Sturdivant, Applied Logistic
Regression (2013); McFadden, Conditional logit analysis of qualitative choice behavior (1974).

A coefficient may be infinite or not identified: ``coefficient_states.py`` finds its state before anything is computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix.core.base.arrays import Array, check_choice
from separatrix.core.base.errors import InputError, ParameterError
from separatrix.core.base.lazy import cached_property
from separatrix.core.base.machine import one_blas_thread
from separatrix.core.links import Logit, SoftmaxLink
from separatrix.core.penalty import Penalty
from separatrix.core.problem import build_objective
from separatrix.core.rows.block import is_sparse
from separatrix.core.rows.labelled_table import labelled_rows
from separatrix.statistics import summary_table as render
from separatrix.statistics.coefficient_states import DOWN, HELD, OPEN, UP, Findings, States, estimate_names, find
from separatrix.statistics.covariance import COVARIANCES, chosen, estimate_of, group_codes, standard_errors
from separatrix.statistics.decisions import prior_corrected
from separatrix.statistics.intervals import chi_squared_tail, quantile, two_sided
from separatrix.statistics.marginal_effects import MarginalEffects, average_effects
from separatrix.statistics.profile_intervals import PROFILES, firth_tests, profile_of_infinite
from separatrix.statistics.summary_request import SummaryRequest, TableRequest, refuse_other_rows, summary_request
from separatrix.statistics.weights_and_odds_ratios import RATIOS

if TYPE_CHECKING:
    from separatrix.tables.encoder import Encoder, Scaling


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


# With fewer groups, a summary by groups says that they are few. By Cameron and Miller (A practitioner's guide to
# cluster-robust inference, J. Human Resources 50, 2015), the limit is somewhere between 20 and 50.
FEWEST_GROUPS = 40


def summary(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    sample_weight: Any = None,
    weights: str | None = None,
    offset: Any = None,
    reference: Any = None,
    covariance: str | None = None,
    groups: Any = None,
    intervals: str = "wald",
    level: float = 0.95,
    names: Sequence[str] | None = None,
    encoder: Encoder | None = None,
    scaling: Scaling | None = None,
) -> Summary:
    """The statistical table of a fitted ``LogisticRegression``, or a pipeline that ends in one, over its own rows.

    Parameters
    ----------
    model : LogisticRegression or pipeline
        The fitted model.
    X, y, sample_weight, offset
        The data of the fit, or as X alone the table outside memory that was fitted, whose columns are found by name.
        The certificate is checked on them.
    weights : {"frequency", "probability"}, optional
        What sample weights mean; required if there are any.
    reference : label, optional
        The class that the others are compared with, by default the first.
    covariance : {"classical", "HC0", "HC1", "cluster"}, optional
        By default "cluster" with ``groups``, "HC1" for probability weights, and otherwise "classical".
    groups : array (n,), optional
        The cluster of each row.
    intervals : {"wald", "profile"}, default "wald"
        The kind of confidence intervals.
    level : float, default 0.95
        The confidence level of the intervals.
    names : sequence of str, optional
        The columns' names, if neither X nor a pipeline has them.
    encoder : Encoder, optional
        How a table became X, for the marginal effects of its factors. By default that of a pipeline, or of the X of
        ``read_table``; a part of that X, such as ``X[rows]``, is a plain array, which needs ``encoder=table.encoder``.
    scaling : Scaling, optional
        How the columns were scaled after that.

    Returns
    -------
    Summary

    Raises
    ------
    ParameterError, InputError
        The model is not a fitted logistic regression, an option is unknown, or the data are not those of the fit.

    Examples
    --------
    >>> import numpy as np
    >>> from separatrix import LogisticRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
    >>> found = summary(LogisticRegression(C=np.inf).fit(X, y), X, y)
    >>> found.names, found.coef.round(3).tolist(), found.std_err.round(3).tolist()
    (('intercept', 'x0'), [-3.035, 1.214], [2.546, 0.913])
    >>> round(found.lr_p_value, 3)
    0.067
    """
    with one_blas_thread:
        asked = summary_request(model, X, y, sample_weight, weights, offset, names, encoder, scaling)
        kind = chosen(asked, covariance, groups)
        _check(asked, kind, intervals, level)
        estimate = estimate_of(asked, reference)
        refuse_other_rows(asked, estimate.at)
        found = find(asked, estimate, kind, groups)
        std_err = _errors(found)
        low, high, missing = INTERVALS[intervals](found, std_err, float(level))
        classes = asked.claim.scorer.classes.tolist()
        # For two classes, p-values come from penalised likelihood ratios if the intervals do.
        is_tested = asked.firth and intervals == "profile" and len(classes) == 2
        tests = firth_tests(asked, std_err[0]) if is_tested else None
    at = 0 if reference is None else classes.index(reference)
    exact = asked.is_likelihood and not asked.penalised and not asked.firth
    reached = found.estimate.log_likelihood if found.has_likelihood else float("nan")
    return Summary(
        names=estimate_names(asked),
        classes=tuple(label for k, label in enumerate(classes) if k != at),
        reference=classes[at],
        coef=_shaped(found.coef),
        std_err=_shaped(std_err),
        low=_shaped(low),
        high=_shaped(high),
        states=found.states[0] if len(found.states) == 1 else found.states,
        level=float(level),
        intervals=intervals,
        covariance_kind=kind,
        weights=asked.declared.name,
        n=asked.n,
        n_coefficients=estimate.n_coefficients,
        log_likelihood=reached,
        null_log_likelihood=estimate.null_log_likelihood,
        lr_df=estimate.n_coefficients - len(estimate.A) * asked.claim.fit_intercept,
        is_likelihood=exact and found.has_likelihood,
        ratio_name=RATIOS.get(asked.claim.scorer.link_name),
        withheld=found.withheld,
        notes=(
            *found.notes,
            *missing,
            *_remarks(asked, tests is not None),
            *_on_groups(asked, groups),
            *_references(model),
        ),
        prior_corrected_intercept=_corrected(asked, found),
        tests=tests,
        findings=found,
        asked=asked,
    )


def _check(asked: SummaryRequest, kind: str, intervals: str, level: float) -> None:
    check_choice("intervals", intervals, INTERVALS)
    if not (isinstance(level, int | float) and 0 < level < 1):
        raise ParameterError("level", f"got {level!r}", "give a number between 0 and 1, such as 0.95")
    if isinstance(asked, TableRequest):
        asked.refuse(kind, intervals)
    if intervals == "profile" and (COVARIANCES[kind].robust or not asked.is_likelihood):
        why = "it rests on the likelihood alone"
        problem = f"got 'profile' where rows are weighed or the covariance is a sandwich: {why}"
        raise ParameterError("intervals", problem, "use 'wald'")
    if intervals == "profile" and _profile_name(asked) not in PROFILES:
        problem = f"got 'profile' for a fit with bias_reduction={asked.model.bias_reduction!r}, which has none here"
        raise ParameterError("intervals", problem, "use 'wald'")


def _profile_name(asked: SummaryRequest) -> str:
    return str(asked.model.bias_reduction) if asked.firth else "likelihood"


# --- Standard errors and intervals


def _errors(found: Findings) -> Array:
    """The standard errors (q, m); NaN for coefficients without one."""
    errors = np.full(found.coef.shape, np.nan)
    if found.covariance is not None:
        root = standard_errors(found.covariance, found.estimate.F).reshape(found.coef.shape)
        errors[found.estimated] = root[found.estimated]
    return errors


def _wald(found: Findings, std_err: Array, level: float) -> tuple[Array, Array, list[str]]:
    z = quantile(level)
    return found.coef - z * std_err, found.coef + z * std_err, []


def _profiled(found: Findings, std_err: Array, level: float) -> tuple[Array, Array, list[str]]:
    """The lower and upper ends (q, m), NaN if there is none, and a sentence for each end that was not found."""
    profile = PROFILES[_profile_name(found.asked)]
    ends = {
        (k, j): profile(found.asked, found.estimate, k, j, level) for k, j in np.argwhere(np.isfinite(std_err)).tolist()
    }
    way, infinite = found.on_the_way, np.argwhere(np.isin(found.states, (UP, DOWN))).tolist()
    # If the likelihood has a single direction of recession, it has a maximum once a coefficient is fixed. With several
    # directions it may have none.
    if way is not None and len(infinite) and way.n_coefficients == found.estimate.n_coefficients + 1:
        for k, j in infinite:
            upwards = found.states[k][j] == UP
            ends[k, j] = profile_of_infinite(way, found.estimate.log_likelihood, k, j, upwards, level)
    low, high = np.full(found.coef.shape, np.nan), np.full(found.coef.shape, np.nan)
    for at, (lower, upper) in ends.items():
        low[at], high[at] = lower.v, upper.v
    names = estimate_names(found.asked)
    missing = [
        f"{names[j]}: no {side} end of the profile interval was found: {end.reason}"
        for (_, j), pair in ends.items()
        for side, end in zip(("lower", "upper"), pair, strict=True)
        if end.reason
    ]
    return low, high, missing


INTERVALS = {"wald": _wald, "profile": _profiled}


def _shaped(values: Array) -> Array:
    return values[0] if len(values) == 1 else values


def _remarks(asked: SummaryRequest, tested: bool) -> list[str]:
    """What weights and bias reduction mean for the likelihood and the intercept, in words."""
    notes = []
    if not asked.declared.repeats:
        notes.append(
            "probability weights: the log-likelihood is a pseudo-likelihood, in weights of mean one, so AIC, BIC and "
            "likelihood-ratio tests are left out"
        )
    if asked.firth:
        by = "p-values are by penalised likelihood ratios" if tested else "p-values are by z"
        notes.append(
            "bias-reduced by Firth's penalty: standard errors are of the inverse information at these coefficients; "
            f"{by}; AIC, BIC and the likelihood-ratio test are left out, separatrix.core.firth has its own"
        )
    if asked.class_weighted:
        has_log_odds = isinstance(asked.claim.scorer.link, Logit | SoftmaxLink)
        back = "prior_corrected puts both back" if has_log_odds else "reweighed puts the probabilities back"
        notes.append(
            "class weights: the intercept and predict_proba are raw, as the weighted classes have them "
            f"(decision.{back}); the log-likelihood is weighted, so AIC, BIC and likelihood-ratio tests are left out"
        )
    return notes


def _on_groups(asked: SummaryRequest, groups: Any) -> list[str]:
    """What groups of dependent rows mean for the numbers, in words."""
    if groups is None:
        return []
    _, n_groups = group_codes(groups, asked)
    notes = ["groups: the log-likelihood, AIC, BIC and the likelihood-ratio test take all rows as independent"]
    if n_groups < FEWEST_GROUPS:
        notes.append(f"groups: there are only {n_groups}, and with few groups these standard errors are too small")
    return notes


def _references(model: Any) -> list[str]:
    """A note on the reference levels of categories, if a step of a pipeline has encoded them."""
    encoders = [step.encoder_ for _, step in getattr(model, "steps", ()) if hasattr(step, "encoder_")]
    levels = [f"{name}={known[0]}" for encoder in encoders for name, known in encoder.levels_of.items()]
    said = f"reference levels, with which the other levels of a category are compared: {', '.join(levels)}"
    return [said] if levels else []


def _corrected(asked: SummaryRequest, found: Findings) -> Array | None:
    """The intercepts corrected to the rows' own class shares, for a logistic fit with class weights."""
    if not (asked.class_weighted and asked.claim.fit_intercept and asked.claim.loss == "logistic") or asked.firth:
        return None
    shift = prior_corrected(asked.model).W[:, 0] - asked.claim.scorer.W[:, 0]
    return np.asarray(found.coef[:, 0] + found.estimate.A @ shift)


# --- The likelihood-ratio test of two nested models


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

    The statistic 2 (ℓ_large − ℓ_small) is compared with a χ² distribution, whose degrees of freedom are the difference
    in the number of coefficients (Wilks, The large-sample distribution of the likelihood ratio for testing composite
    hypotheses, Annals of Mathematical Statistics 9, 1938). Each of the two summaries has been checked against its rows.
    So the test can verify that both have the same rows, and that the columns of the smaller model are linear
    combinations of those of the larger one.

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
    """Raise an error if the two models have different rows, labels, weights, offsets or links."""
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
