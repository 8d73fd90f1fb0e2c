"""Functions shared by linear and quadratic discriminant analysis (docs/tour.md, D2, D6, F6)."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.base.arrays import EPS, Array
from separatrix.base.messages import Message
from separatrix.certificates.certificate import Certificate
from separatrix.certificates.claim import Recomputed
from separatrix.certificates.moments_claims import GaussianClaim, likelihood, likelihood_bound
from separatrix.classifiers.fit_input import FitInput
from separatrix.moments.accumulated import SummedTable
from separatrix.moments.gather import Moments
from separatrix.moments.gaussians import Gaussians, null_objective
from separatrix.moments.whitening import Whitening
from separatrix.objectives.bound import Bound
from separatrix.objectives.limiting_columns import far_from_zero
from separatrix.rows.coding import CLASS_NUMBERS
from separatrix.scorers.scorer import Scores

# If the rounding error of the scores is at most this, the certificate is computed from the moments alone. Otherwise the
# objective is recomputed from the rows, which takes another pass.
LARGEST_SCORE_ROUNDING = 1e-11


def log_constant(white: Whitening, moments: Moments) -> float:
    """Return −½ (r ln 2π + ln |Σ|) in the units of the columns, where r is the rank of Σ."""
    log_det = white.log_det + 2 * float(np.sum(np.log(moments.frame.scale)))
    return -0.5 * (white.rank * float(np.log(2 * np.pi)) + log_det)


def in_raw_units(sigma: Array, moments: Moments) -> Array:
    """Convert a covariance matrix of the scaled columns to the original units."""
    with np.errstate(over="ignore"):
        return np.asarray(sigma * moments.frame.scale * moments.frame.scale[:, None])


def _evidence(model: Any, task: FitInput, moments: Moments, rounding: float) -> Recomputed:
    """Compute the objective and its bound from the moments, or from the rows if ``rounding`` is too large."""
    gaussians: Gaussians = model.gaussians_
    rounding += EPS * max(float(np.max(np.sum(np.abs(A), axis=0), initial=0.0)) for A in gaussians.whiten)
    exact = rounding <= LARGEST_SCORE_ROUNDING
    if not exact and not isinstance(task.table, SummedTable):
        return likelihood(model.scorer_, gaussians, moments, task.table.rows(CLASS_NUMBERS))
    at = gaussians.on(moments)
    bound = likelihood_bound(at)
    if not exact and bound.value is not None:
        why = "the scores have lost digits, and the rows from which the loss could be computed are not kept"
        bound = Bound(None, bound.kind, why)
    return Recomputed(at.objective, null_objective(moments), bound, at.slope)


def _cause(moments: Moments, names: list[str] | None) -> Message:
    """Why the scores, with weights in raw units, are not those of the Gaussians, as the end of a sentence."""
    cause = far_from_zero(moments.frame, names, least=0.0)
    return Message(", since ", cause) if cause else Message()


def gaussian_certificate(
    model: Any,
    task: FitInput,
    moments: Moments,
    status: str,
    rank: int,
    shared: bool,
    discriminative: int,
    rounding: float,
    passes: list[int],
) -> Certificate:
    """Return the certificate of a fitted linear or quadratic discriminant analysis.

    ``shared``: whether all classes have the same covariance. ``discriminative``: the number of parameters of a
    discriminative model with the same boundaries. ``rounding``: the rounding error of the scorer's weights.
    """
    scorer: Scores = model.scorer_
    at = _evidence(model, task, moments, rounding)
    if at.bound.value is None and model.gaussians_.on(moments).gap is not None:
        status = Message(status, "; its scores have lost digits", _cause(moments, task.names))
    return Certificate(
        status=status,
        code="closed-form" if rank == task.n_features else "singular",
        met=True,
        **at.fields(),
        iterations=1,
        passes=passes[0],
        solver="closed-form",
        why="closed form: sums of (1, x, xxᵀ) by class",
        rank=rank,
        full_rank=task.n_features,
        n_parameters=model.n_parameters_,
        n_rows=task.n_rows,
        claim=GaussianClaim(scorer, model.gaussians_, shared),
        facts={"size": f"{model.n_parameters_} parameters; {discriminative} in a discriminative model"},
    )
