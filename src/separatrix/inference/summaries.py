r"""The statistical table of a logistic regression: each coefficient with its standard error, test and interval.

    z = β̂/se,   p = 2 Φ(−|z|),   β̂ ± z_{(1 + level)/2} se,   exp β̂ an odds ratio (cloglog: hazard ratio)

With the log-likelihoods ℓ of the model and ℓ₀ of the null model, 2 (ℓ − ℓ₀) is χ² with one degree of freedom per slope;
AIC = 2 k − 2 ℓ, BIC = k ln n − 2 ℓ, McFadden's R² = 1 − ℓ/ℓ₀. Hosmer, Lemeshow and Sturdivant, Applied Logistic
Regression (2013); McFadden, Conditional logit analysis of qualitative choice behavior (1974).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.concurrency import one_blas_thread
from separatrix.base.errors import ParameterError
from separatrix.base.normal import quantile
from separatrix.evaluation.decisions import prior_corrected
from separatrix.firth.profile_root import End
from separatrix.inference.estimate import estimate_of
from separatrix.inference.findings import DOWN, UP, Findings, estimate_names, find
from separatrix.inference.information_matrix import COVARIANCES, chosen, group_codes, standard_errors
from separatrix.inference.profile import PROFILES, firth_tests, profile_of_infinite
from separatrix.inference.request import SummaryRequest, refuse_other_rows, summary_request
from separatrix.inference.result import Summary
from separatrix.inference.table_request import TableRequest
from separatrix.losses.links import Logit, SoftmaxLink

if TYPE_CHECKING:
    from separatrix.table.encoder import Encoder
    from separatrix.table.scaling import Scaling

# The name of exp(coefficient) for each loss; for probit it has no meaning.
RATIOS = {"logistic": "odds ratio", "cloglog": "hazard ratio"}
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
        tests = firth_tests(asked, std_err[0]) if _is_tested(asked, intervals) else None
    classes = asked.claim.scorer.classes.tolist()
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
        ratio_name=RATIOS.get(asked.claim.loss),
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
    if intervals not in INTERVALS:
        raise ParameterError("intervals", f"got {intervals!r}", f"choose one of {', '.join(map(repr, INTERVALS))}")
    if not (isinstance(level, int | float) and 0 < level < 1):
        raise ParameterError("level", f"got {level!r}", "give a number between 0 and 1, such as 0.95")
    if isinstance(asked, TableRequest):
        asked.refuse(kind, intervals)
    if intervals == "profile" and (COVARIANCES[kind].robust or not asked.is_likelihood):
        problem = (
            "got 'profile' where rows are weighed or the covariance is a sandwich: it rests on the likelihood alone"
        )
        raise ParameterError("intervals", problem, "use 'wald'")
    if intervals == "profile" and _profile_name(asked) not in PROFILES:
        problem = f"got 'profile' for a fit with bias_reduction={asked.model.bias_reduction!r}, which has none here"
        raise ParameterError("intervals", problem, "use 'wald'")


def _profile_name(asked: SummaryRequest) -> str:
    return str(asked.model.bias_reduction) if asked.firth else "likelihood"


# --------------------------------------------------------------------------------------------- intervals


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
    return low, high, _missing(estimate_names(found.asked), ends)


def _missing(names: tuple[str, ...], ends: dict[tuple[int, int], tuple[End, End]]) -> list[str]:
    """A sentence for each end of a profile interval that was not found, with the reason."""
    return [
        f"{names[j]}: no {side} end of the profile interval was found: {end.reason}"
        for (_, j), pair in ends.items()
        for side, end in zip(("lower", "upper"), pair, strict=True)
        if end.reason
    ]


INTERVALS = {"wald": _wald, "profile": _profiled}


def _shaped(values: Array) -> Array:
    return values[0] if len(values) == 1 else values


def _is_tested(asked: SummaryRequest, intervals: str) -> bool:
    """Whether p-values come from penalised likelihood ratios, as the intervals do: for two classes only."""
    return asked.firth and intervals == "profile" and len(asked.claim.scorer.classes) == 2


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
            f"{by}; AIC, BIC and the likelihood-ratio test are left out, separatrix.firth has its own"
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
