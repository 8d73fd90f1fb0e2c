"""Standard errors, tests and intervals of a fit in the units of the table, or the reason why there are none.

They mean something for maximum likelihood without a penalty (Wald intervals) and for Firth's likelihood (profile
intervals and likelihood-ratio tests). A fit of standardised columns has them too: neither method depends on units, so
the same model is fitted to the columns as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from separatrix.classifiers.model_file import Statistics
from separatrix.core.base.errors import InputError
from separatrix.core.base.messages import Message, Setting, number_text
from separatrix.core.likelihood_claims import FirthClaim, LikelihoodClaim, LikelihoodOfRows
from separatrix.statistics.summary import Summary, summary

if TYPE_CHECKING:
    from separatrix.tables.encoder import Scaling


def fit_statistics(
    model: Any, X: Any, y: Any, names: Sequence[str], scaling: Scaling | None = None, level: float = 0.95
) -> Statistics:
    """The statistics of a fitted model over its own rows X (n, d), which were scaled by ``scaling``.

    >>> from separatrix import LogisticRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
    >>> found = fit_statistics(LogisticRegression(C=np.inf).fit(X, y), X, y, ["age"])
    >>> found.terms, found.std_err.round(3).tolist()
    (('intercept', 'age'), [[2.546, 0.913]])
    """
    why = why_none(getattr(getattr(model, "certificate_", None), "claim", None))
    if why:
        return Statistics(withheld=why, level=level)
    robust = "HC1" if np.any(model.certificate_.claim.class_weights != 1.0) else None
    profiled = "profile" if isinstance(model.certificate_.claim, FirthClaim) and robust is None else "wald"
    try:
        if scaling is not None:
            X = unscaled(X, scaling)
            model = type(model)(**model.get_params(deep=False)).fit(X, y)
        found = summary(model, X, y, covariance=robust, intervals=profiled, level=level, names=names)
    except InputError as error:
        return Statistics(withheld=error.message, level=level)
    return _stored(found)


def why_none(claim: Any) -> str:
    """Why a fit with this claim has no standard errors, without looking at its rows; empty if it may have them."""
    if not isinstance(claim, LikelihoodOfRows):
        return "the fit does not maximise one likelihood of all rows, so its weights have no standard errors here"
    claim = cast(LikelihoodClaim, claim)  # a Firth claim has the same attributes
    if np.isfinite(claim.C) and np.any(claim.penalty_factors > 0):
        C = number_text(claim.C)
        shrunk = f"the fit is penalised (C={C}), so its weights are biased towards zero by an unknown amount"
        return Message(shrunk, "; for standard errors, fit by maximum likelihood, with ", Setting("C", np.inf))
    return ""


def unscaled(X: Any, scaling: Scaling) -> Any:
    """Rows in their own units, x s + c.

    >>> from separatrix.tables.encoder import Scaling
    >>> unscaled(np.array([[0.5]]), Scaling(np.array([3.0]), np.array([2.0]))).tolist()
    [[4.0]]
    """
    if not hasattr(X, "nnz"):
        return np.asarray(X) * scaling.scale + scaling.center
    rows = X.tocsr().astype(np.float64)
    rows.data *= scaling.scale[rows.indices]
    return rows


def _stored(found: Summary) -> Statistics:
    if found.withheld:
        return Statistics(withheld=found.withheld, level=found.level)
    states = np.atleast_2d(np.array(found.states, dtype=object))
    return Statistics(
        withheld=None,
        terms=found.names,
        labels=tuple(map(str, found.classes)),
        reference=str(found.reference),
        coef=np.atleast_2d(found.coef),
        std_err=np.atleast_2d(found.std_err),
        p_value=np.atleast_2d(found.p_value),
        low=np.atleast_2d(found.low),
        high=np.atleast_2d(found.high),
        states=tuple(map(str, states.ravel())),
        level=found.level,
        intervals=found.intervals,
        covariance=found.covariance_kind,
        ratio=found.ratio_name,
        notes=found.notes,
        rows=found.n,
        lr_df=found.lr_df,
        log_likelihood=found.log_likelihood if found.is_likelihood else np.nan,
        null_log_likelihood=found.null_log_likelihood,
    )
