"""Code that linear and quadratic discriminant analysis share: constants, units, certificate. TEXTBOOK D2, D6, F6."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.base.arrays import EPS, Array
from separatrix.certificates.certificate import Certificate, Recomputed
from separatrix.certificates.moments_claims import GaussianClaim, likelihood, likelihood_bound
from separatrix.classifiers.fit_input import FitInput
from separatrix.moments.gather import Moments
from separatrix.moments.gaussians import Gaussians, null_objective
from separatrix.moments.whitening import Whitening
from separatrix.rows import memory_rows
from separatrix.scorers.scorer import Scores

# Rounding error of the scores up to which the certificate is computed from the moments alone. Above it, the objective
# is recomputed from the rows, which takes another pass.
LARGEST_SCORE_ROUNDING = 1e-11
SINGULAR_COVARIANCE_REMEDY = "drop constant and collinear columns, or give more rows"


def log_constant(white: Whitening, moments: Moments) -> float:
    """−½ (d ln 2π + ln |Σ|), in raw units."""
    log_det = white.log_det + 2 * float(np.sum(np.log(moments.frame.scale)))
    return -0.5 * (white.rank * float(np.log(2 * np.pi)) + log_det)


def in_raw_units(sigma: Array, moments: Moments) -> Array:
    """A covariance of the scaled columns, converted to the units of the columns."""
    with np.errstate(over="ignore"):
        return np.asarray(sigma * moments.frame.scale * moments.frame.scale[:, None])


def _evidence(model: Any, task: FitInput, moments: Moments, rounding: float) -> Recomputed:
    """The objective and its bound, from the moments, or from the rows if ``rounding`` of the scores may matter."""
    gaussians: Gaussians = model.gaussians_
    rounding += EPS * max(float(np.max(np.sum(np.abs(A), axis=0), initial=0.0)) for A in gaussians.whiten)
    if not rounding <= LARGEST_SCORE_ROUNDING:
        return likelihood(model.scorer_, gaussians, moments, memory_rows(task.X, task.codes, task.weight))
    at = gaussians.on(moments)
    return Recomputed(at.objective, null_objective(moments), likelihood_bound(at), at.slope)


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
    """The certificate of a fitted model.

    ``shared``: all classes have one covariance. ``discriminative``: how many parameters a model of P(class | x) alone
    would have. ``rounding``: the rounding error of the scorer's weights.
    """
    scorer: Scores = model.scorer_
    at = _evidence(model, task, moments, rounding)
    return Certificate(
        status=status,
        code="closed-form" if rank == task.X.shape[1] else "singular",
        met=True,
        **at.fields(),
        iterations=1,
        passes=passes[0],
        solver="closed-form",
        why="closed form: sums of (1, x, xxᵀ) by class",
        rank=rank,
        full_rank=task.X.shape[1],
        n_parameters=model.n_parameters_,
        n_rows=task.X.shape[0],
        claim=GaussianClaim(scorer, model.gaussians_, shared),
        facts={"size": f"{model.n_parameters_} parameters, generative; {discriminative} for P(class | x) alone"},
    )
