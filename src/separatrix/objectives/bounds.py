r"""An upper bound on E(W) − inf E: the better of two, each true whatever W is and however it was found.

``duality_bound`` needs a penalty on every column and no pass; ``curvature_bound`` needs second derivatives. Both
include the effect of rounding (``rounding``). Both bound the error of the weights, too: a gap ε implies
½ Σ_j r_j² (W_j − W*_j)² ≤ ε with the penalty's r_j.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from separatrix.base.arrays import Array
from separatrix.objectives.bound import Bound, WeightError
from separatrix.objectives.curvature_bound import Evidence, by_curvature, in_standard_errors
from separatrix.objectives.duality_bound import duality
from separatrix.objectives.pass_costs import MOST_PASSES_FOR_CURVATURE, hessian_passes, share_of_rows
from separatrix.objectives.problem import Evaluation, Objective

NOT_LOOKED_FOR = Evidence(Bound.unknown("none", "not computed yet"))


def bound(objective: Objective, W: Array, at: Evaluation, thorough: bool, last: bool = False) -> Bound:
    """The better of the two bounds.

    The affine bound needs second derivatives and is computed only if ``thorough``. ``last``: this is the last request,
    so they are computed whatever they cost. For an objective in raw coordinates the bound is that of ``standard``,
    which takes a pass and is computed only if ``thorough``.
    """
    return with_weights(objective, evidence(objective, W, at, thorough, last).bound)


def evidence(objective: Objective, W: Array, at: Evaluation, thorough: bool, last: bool = False) -> Evidence:
    """``bound`` with the second derivatives that were computed for it."""
    twin = objective.standard
    if twin is not None:
        if not thorough:
            return NOT_LOOKED_FOR
        framed = twin.rows.frame.from_original(objective.rows.frame.to_original(W))
        return Evidence(bound(twin, framed, twin.value_gradient(framed), thorough=True, last=last))
    cheap = duality(objective, W, at)
    if not thorough or (cheap.value is not None and not last and _is_costly(objective)):
        return Evidence(cheap)
    sharp = by_curvature(objective, W, at)
    return Evidence(better(cheap, sharp.bound), sharp.curvature)


def _is_costly(objective: Objective) -> bool:
    """Whether second derivatives cost more than the passes that would make the duality bound as small."""
    return share_of_rows(objective) * hessian_passes(objective) > MOST_PASSES_FOR_CURVATURE


def better(cheap: Bound, sharp: Bound) -> Bound:
    """The smaller of two bounds, with the bound on the weights of ``sharp``, the one by second derivatives."""
    if cheap.value is None and sharp.value is None:
        return sharp
    smaller = min((cheap, sharp), key=lambda b: b.known)
    return replace(smaller, weights=sharp.weights) if sharp.weights.value is not None else smaller


def largest_curvature(objective: Objective) -> float:
    """An upper bound on the curvature of E anywhere: ∇E is L-Lipschitz with this L."""
    lipschitz = objective.loss.traits.lipschitz
    if lipschitz is None:
        return np.inf
    if objective.has_gram:
        top = float(np.linalg.eigvalsh(objective.gram)[-1])
    else:
        top = float(np.sum(objective.root_second_moments**2))
    return lipschitz * top + float(np.max(objective.root_penalty) ** 2)


def with_weights(objective: Objective, bound: Bound) -> Bound:
    """The bound with a bound on the weights: if it has none yet, the one that follows from the penalty's curvature.

    That is |w_j − w*_j| ≤ (2 S gap)^½ (C/f_j)^½, by strong convexity.
    """
    if bound.value is None or bound.weights.value is not None:
        return bound
    held = _held_error(objective, bound.value)
    return bound if held.value is None and bound.weights.is_told else replace(bound, weights=held)


def _held_error(objective: Objective, gap: float) -> WeightError:
    quadratic = objective.penalty.quadratic[~objective.pinned[1:]]
    if not np.all(quadratic > 0):
        reason = "a column has no quadratic penalty, and no second derivatives were computed"
        return WeightError(None, "", reason)
    scale = "√C" if np.all(quadratic == objective.penalty.strength) else "√(C/f), f its quadratic penalty's factor,"
    unit = f"{scale} of its optimal value, except intercepts"
    return WeightError(in_standard_errors(objective, np.sqrt(2 * gap)), unit)
