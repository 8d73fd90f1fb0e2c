"""What the two Gaussian classifiers share: constants, units, and the certificate. TEXTBOOK D2, D6, F6."""

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

# Scores that rounding moves by no more than this are those of the Gaussians, so the rows need not be asked.
ROUNDED = 1e-11
REMEDY = "drop constant and collinear columns, or give more rows"


def log_constant(white: Whitening, found: Moments) -> float:
    """−½ (d ln 2π + ln |Σ|), in raw units."""
    log_det = white.log_det + 2 * float(np.sum(np.log(found.frame.scale)))
    return -0.5 * (white.rank * float(np.log(2 * np.pi)) + log_det)


def in_raw_units(sigma: Array, found: Moments) -> Array:
    with np.errstate(over="ignore"):
        return np.asarray(sigma * found.frame.scale * found.frame.scale[:, None])


def _evidence(model: Any, task: FitInput, found: Moments, lost: float) -> Recomputed:
    """What the moments say of the fit; where rounding by ``lost`` could show in the scores, what the rows say."""
    gaussians: Gaussians = model.gaussians_
    lost += EPS * max(float(np.max(np.sum(np.abs(A), axis=0), initial=0.0)) for A in gaussians.whiten)
    if not lost <= ROUNDED:
        return likelihood(model.scorer_, gaussians, found, memory_rows(task.X, task.codes, task.weight))
    at = gaussians.on(found)
    return Recomputed(at.objective, null_objective(found), likelihood_bound(at), at.slope)


def gaussian_certificate(
    model: Any,
    task: FitInput,
    found: Moments,
    status: str,
    rank: int,
    shared: bool,
    discriminative: int,
    lost: float,
    passes: list[int],
) -> Certificate:
    scorer: Scores = model.scorer_
    at = _evidence(model, task, found, lost)
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
