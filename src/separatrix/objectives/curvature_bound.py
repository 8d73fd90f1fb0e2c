r"""A bound on E(W) − inf E and on the error of the weights by second derivatives, with or without a penalty.

It does not change under linear maps of the columns. With H the Hessian in which only the rows of a subset count,
λ² = gᵀ H⁻¹ g, R² the maximum over the subset of the squared H⁻¹-length of a row (for softmax, of a difference of two
classes' rows), and u = λR: if u < 1 the optimum exists, the gap is at most [u + (1 − u) ln(1 − u)]/R², and the weights
are within −ln(1 − u)/R of the optimum's (``curvature`` has both proofs). Absolute values are replaced by lines below
them.

The bound holds for all directions: either those outside H are exactly null (``resolution``), or there is no bound.
"""

from __future__ import annotations

from dataclasses import replace
from math import sqrt
from typing import NamedTuple

import numpy as np

from separatrix.base.arrays import Array, length
from separatrix.base.messages import Message
from separatrix.objectives.bound import Bound, WeightError
from separatrix.objectives.curvature import LARGEST_PROVEN_U, Curvature, curvature_at, rounded_distance
from separatrix.objectives.limiting_columns import listed
from separatrix.objectives.pass_costs import counts_all_rows
from separatrix.objectives.problem import Evaluation, Objective
from separatrix.objectives.rounding import Rounding
from separatrix.rows import Block

# The largest relative error of H⁻¹, rounding of the scores included, with which a bound is computed.
LARGEST_CURVATURE_ERROR = 0.5
# The slope of lines below absolute values along null directions, relative to the penalty: below the first it counts as
# rounding, and above the second there is no bound.
SMALLEST_TILT, LARGEST_TILT = 1e-10, 1e-3
# Rounding that moves λ by less than this share of √E, and weights by fewer standard errors than this, is not refined.
NEGLIGIBLE_ROUNDING = 1e-7
# With at most this many parameters the rounding of scores is charged by the diagonal of the Hessian itself.
MOST_PARAMETERS_BY_DIAGONAL = 300


class Evidence(NamedTuple):
    """A bound, and the second derivatives that prove it, if they do."""

    bound: Bound
    curvature: Curvature | None = None


def affine(objective: Objective, W: Array, at: Evaluation, subset: Block | None = None) -> Bound:
    """The bound by self-concordance, with the second derivatives of ``subset``.

    By default these are all rows, or a sample if there are many. A sample takes less work and gives a larger bound.
    """
    return by_curvature(objective, W, at, subset).bound


def by_curvature(objective: Objective, W: Array, at: Evaluation, subset: Block | None = None) -> Evidence:
    """``affine`` with the second derivatives that prove it."""
    kind = "self-concordance"
    if not objective.loss.traits.convex:
        return Evidence(Bound.unknown(kind, "this cost is not convex: other minima may be lower"))
    if objective.loss.traits.self_concordance is None:
        reason = "no bound is known for this loss, because its third derivative is not bounded by its second"
        return Evidence(Bound.unknown(kind, reason))
    if not objective.has_hessian:
        reason = f"{objective.size} parameters are too many for a matrix of second derivatives"
        return Evidence(Bound.unknown(kind, reason))
    if subset is None and not counts_all_rows(objective):
        subset = objective.sampled.block
    curvature = curvature_at(objective, W, subset)
    if curvature is None:
        reason = "the Hessian is singular to working precision: weights may grow without end"
        return Evidence(Bound.unknown(kind, reason))
    return Evidence(proven(objective, W, at, curvature), curvature)


def proven(objective: Objective, W: Array, at: Evaluation, curvature: Curvature) -> Bound:
    """The bound at W that a curvature there, or nearby, proves."""
    kind, rounding = "self-concordance", Rounding.of(objective, W, at)
    gradient, slack = _below(objective, W, at.gradient)
    aside = _aside(objective, gradient)
    if aside is None:
        return Bound.unknown(kind, "the gradient has a part outside the identified directions")
    if not curvature.least > 0:
        return Bound.unknown(
            kind, "the last step was too long for the second derivatives before it to prove a bound after it"
        )
    error = curvature.error + rounding.curvature(objective, W, curvature.R)
    if not error < LARGEST_CURVATURE_ERROR:
        return Bound.unknown(kind, "the Hessian is so close to singular that rounding hides its inverse")
    weaker = curvature.weaker(error)
    ways = _decrements(objective, W, at, gradient, aside, weaker, rounding)
    gap, u = min((weaker.gap(decrement) + more, weaker.u(decrement)) for decrement, more in ways)
    if not u < LARGEST_PROVEN_U:
        return Bound.unknown(kind, f"no bound yet: λR = {u:.3g}, and a bound needs λR < {LARGEST_PROVEN_U}")
    if unresolved := unresolved_reason(objective):
        bound = Bound.of_gap(gap + slack, at.value, rounding.value, kind)
        return replace(Bound.unknown(kind, unresolved), resolved=bound.value)
    # Charges that are added to the gap alone do not bound the error of the weights.
    decrement = min(decrement for decrement, more in ways if more == 0.0)
    weights = _weight_error(objective, W, weaker, decrement)
    return Bound.of_gap(gap + slack, at.value, rounding.value, kind, weights)


def _decrements(
    objective: Objective,
    W: Array,
    at: Evaluation,
    gradient: Array,
    aside: Array,
    curvature: Curvature,
    rounding: Rounding,
) -> list[tuple[float, float]]:
    """Upper bounds on λ that include rounding, each with an amount to add to the gap. Any of them may be used."""
    space = objective.subspace
    size, first = length(curvature.factor.half(space.reduce(gradient))), rounding.by_column(space, aside)
    off = float(first.error.dot(curvature.lengths))
    ways = [(curvature.decrement(size + off + first.far), first.more)]
    noticed = max(NEGLIGIBLE_ROUNDING * sqrt(abs(at.value)), 0.01 * curvature.decrement(size))
    if off > min(noticed, NEGLIGIBLE_ROUNDING / in_standard_errors(objective, 1.0)):
        few = objective.size <= MOST_PARAMETERS_BY_DIAGONAL and not objective.n_offsets and curvature.complete
        roots = curvature.factor.lengths(space.reduce_rows(np.eye(objective.size))) if few else None
        for error, far, more in rounding.otherwise(objective, W, aside, roots):
            ways.append((curvature.decrement(size + float(error @ curvature.lengths) + far), more))
    return ways


def _weight_error(objective: Objective, W: Array, curvature: Curvature, decrement: float) -> WeightError:
    if objective.has_absolute and objective.shape[0] > 1:
        reason = "absolute values of several classes' weights leave a shift common to all classes undetermined"
        return WeightError(None, "", reason)
    if objective.weak_columns is not None:
        return WeightError(None, "", "a penalty is weaker than rounding")
    if not curvature.u(decrement) < LARGEST_PROVEN_U:
        return WeightError(None, "", "rounding hides the distance of the weights from the optimum")
    distance = curvature.distance(decrement) + rounded_distance(objective, W)
    if len(W) > 1:  # the shift common to all classes, which is zero at the optimum
        distance += sqrt(len(W)) * length(objective.root_penalty * W.mean(axis=0))
    unit = "standard errors of its optimal value"
    if objective.has_ridge:
        unit = "standard errors (from the penalised Hessian) of its optimal value"
    if not curvature.complete:
        unit += f", with standard errors estimated from {curvature.n_rows} of the rows alone"
    return WeightError(in_standard_errors(objective, distance), unit)


def unresolved_reason(objective: Objective) -> str:
    """The reason why a bound over the resolved directions does not hold for all directions; empty if it does."""
    if not objective.unresolved:
        return ""
    columns = [j - 1 for j in objective.unresolved if j > 0]
    return Message(
        listed(columns, objective.names),
        " are collinear but for differences that float64 cannot resolve, and without a penalty the objective depends "
        "on them",
    )


def _aside(objective: Objective, gradient: Array) -> Array | None:
    """How far the lines below absolute values must be moved, (d + 1,), to be level along null directions.

    Loss and penalty are constant along a null direction v, but the lines s·W may rise along it by rounding. With
    |s·v| up to the share ε of a, the lines (1 − ε) s minus a part within ±ε a are level and still below a |W|. None if
    the slope is too large to be rounding.
    """
    a, space = objective.absolute_penalty, objective.subspace
    if not objective.has_absolute:
        return a
    if space.Z is None and space.Q is None:
        return np.zeros_like(a)
    rest = np.max(np.abs(space.remainder(gradient)), axis=0)
    share = float(np.max(rest[a > 0] / a[a > 0], initial=0.0)) + SMALLEST_TILT
    return 2 * share * a if share < LARGEST_TILT and np.all(rest[a == 0] <= SMALLEST_TILT * np.max(a)) else None


def _below(objective: Objective, W: Array, gradient: Array) -> tuple[Array, float]:
    """The gradient at W of a smooth function below E, and E(W) minus that function. A bound for it is a bound for E.

    Absolute values are replaced by lines, and a penalty weaker than rounding is left out. For K scores the shift common
    to all is removed: only the penalty depends on it and is smallest without it.
    """
    gradient, slack = _linearised(objective, W, gradient)
    r = objective.root_penalty
    weak = objective.weak_columns
    if weak is not None:
        gradient = gradient - np.where(weak, objective.penalty_gradient(W), 0.0)
        slack += 0.5 * float(np.sum((r * W)[:, weak] ** 2))
    if len(W) > 1:
        slack += 0.5 * len(W) * length(r * W.mean(axis=0)) ** 2
    return gradient, slack


def _linearised(objective: Objective, W: Array, gradient: Array) -> tuple[Array, float]:
    """∇f + s and Σ a |W| − s·W, for an s with |s| ≤ a: E ≥ f + s·W everywhere.

    For one score s belongs to the shortest subgradient, for which the second value is zero. For more scores s is
    proportional to −∇f in each column, so that it sums to zero over the classes as ∇f does, and f + s·W is bounded
    along a common shift.
    """
    if not objective.has_absolute:
        return gradient, 0.0
    if objective.shape[0] == 1:
        return objective.subgradient(W, gradient), 0.0
    a, largest = objective.absolute_penalty, np.max(np.abs(gradient), axis=0)
    s = -gradient * np.divide(a, largest, out=np.ones_like(a), where=largest > a)
    s[:, a == 0] = 0.0
    return gradient + s, float(np.sum(a * np.abs(W) - s * W))


def in_standard_errors(objective: Objective, distance: float) -> float:
    """A length by the Hessian of the mean, times S^½: the length by the Hessian of the sum, in standard errors."""
    return sqrt(objective.total_weight * objective.weight_unit) * distance
