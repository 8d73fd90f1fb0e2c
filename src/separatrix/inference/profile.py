r"""Profile-likelihood intervals: all values c of a coefficient that a likelihood-ratio test does not reject.

    {c : 2 (max ℓ − max over f·Θ = c of ℓ) ≤ χ²₁(level)}

Given     an estimate, a function f of its identified directions, the level
Returns   the ends of the interval
Method    the signed root r(c) of the left side is nearly linear in c, so Newton's method on r(c) = ±z, held inside a
          bracket; for each c the other directions by Newton's method on the plane f·Θ = c. There the gradient of
          the mean loss is μ f, so dr/dc = S μ/r costs nothing.

Venzon and Moolgavkar, A method for computing profile-likelihood-based confidence intervals, Applied Statistics 37
(1988), have the problem; they move c and the rest at once, which needs a start nearer by.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from separatrix.arrays import Array
from separatrix.factor import Factor
from separatrix.inference.asked import Asked
from separatrix.inference.estimate import Estimate
from separatrix.inference.normal import quantile
from separatrix.objective import Evaluation
from separatrix.rows.block import power_of_two
from separatrix.solvers.line_search import search
from separatrix.solvers.newton import Newton

# Steps on one plane, and planes for one end; Newton's method needs fewer than ten of either.
MOST_STEPS, MOST_PLANES = 50, 60
# Where the root is within this of its goal, the end is known to as many digits as a table can use.
CLOSE = 1e-9
# A step whose expected gain in log-likelihood is below this changes no digit of the root.
GAIN = 1e-13
# On the way to a supremum, a deviance this share of the interval's is near enough to begin at.
NEAR = 1e-3
# Without a bracket the distance grows by this factor at most.
GROWTH = 3.0

# The interval of the coefficient with these numbers among contrasts and columns, in raw units.
Profile = Callable[[Asked, Estimate, int, int, float], tuple[float, float]]


@dataclass(frozen=True)
class _Point:
    """A minimum of the mean loss on a plane f·Θ = c: W, E, the Hessian's factor there, and μ = dE/dc."""

    W: Array
    at: Evaluation
    factor: Factor
    slope: float


def likelihood_profile(asked: Asked, estimate: Estimate, k: int, j: int, level: float) -> tuple[float, float]:
    """By the likelihood itself; ±∞ where it never falls far enough."""
    f, z = estimate.F[k * len(estimate.Phi) + j], quantile(level)
    top, at = _Point(estimate.W, estimate.at, estimate.factor, 0.0), float(estimate.coefficients[k, j])
    return at + _end(estimate, top, f, -z), at + _end(estimate, top, f, z)


def profile_of_infinite(
    way: Estimate, supremum: float, k: int, j: int, upwards: bool, level: float
) -> tuple[float, float]:
    """The interval of a coefficient that is infinite: it ends on one side, where the likelihood has fallen far enough.

    ``way``: an estimate over all rows, which has no maximum; ``supremum``: of its log-likelihood. NaN where Newton's
    method does not come near that.
    """
    reference = -supremum / way.total
    state = Newton().init(way.problem, np.zeros_like(way.W) if way.problem.offsets is None else way.problem.offsets)
    while state.halt is None and 2.0 * way.total * (state.at.value - reference) > NEAR * quantile(level) ** 2:
        state = Newton().step(way.problem, state)
    factor = way.problem.factor(state.W) if state.halt is None else None
    if factor is None:
        return float("nan"), float("nan")
    there = replace(way, W=state.W, raw=way.problem.rows.frame.to_original(state.W)[:, : way.raw.shape[1]])
    top = _Point(state.W, Evaluation(reference, state.at.gradient), factor, 0.0)
    f, goal = way.F[k * len(way.Phi) + j], quantile(level) * (-1.0 if upwards else 1.0)
    end = float(there.coefficients[k, j]) + _end(there, top, f, goal)
    return (end, float("inf")) if upwards else (float("-inf"), end)


def firth_profile(asked: Asked, estimate: Estimate, k: int, j: int, level: float) -> tuple[float, float]:
    """By the likelihood that Firth's fit maximises."""
    from separatrix.firth import posed_again, profile_interval

    problem, W = posed_again(asked.model, asked.X, asked.y, asked.weight, asked.offset)
    column, of_classes = j + 1 - asked.claim.fit_intercept, estimate.A[k]
    if len(of_classes) > 1:
        return profile_interval(problem, W, column, level, of_classes)
    low, high = profile_interval(problem, W, column, level)
    return (low, high) if of_classes[0] > 0 else (-high, -low)


def firth_tests(asked: Asked, std_err: Array) -> Array:
    """Of two classes, each coefficient's p-value by penalised likelihood ratios, (m,); NaN where there is no error."""
    from separatrix.firth import penalised_test, posed_again

    problem, W = posed_again(asked.model, asked.X, asked.y, asked.weight, asked.offset)
    found = np.full(len(std_err), np.nan)
    for j in np.flatnonzero(np.isfinite(std_err)).tolist():
        found[j] = penalised_test(problem, W, [j + 1 - asked.claim.fit_intercept])[1]
    return found


PROFILES: dict[str, Profile] = {"likelihood": likelihood_profile, "firth": firth_profile}


def _end(estimate: Estimate, top: _Point, f: Array, goal: float) -> float:
    """How far from the top along f the signed root is ``goal``; f is taken in a power of two near its size."""
    unit = float(power_of_two(np.max(np.abs(f), keepdims=True))[0])
    return unit * _end_of_unit(estimate, top, f / unit, goal)


def _end_of_unit(estimate: Estimate, top: _Point, f: Array, goal: float) -> float:
    error = float(np.linalg.norm(top.factor.half(f)) / np.sqrt(estimate.total))
    near, far = 0.0, float(np.copysign(np.inf, goal))
    point, c = top, float(goal * error)
    at_point = 0.0
    for _ in range(MOST_PLANES):
        found = _moved(estimate, point, f, c - at_point)
        if found is None:  # too far for this start: halfway
            far, c = c, 0.5 * (near + c)
            continue
        gained = max(2.0 * estimate.total * (found.at.value - top.at.value), 0.0)
        root = float(np.copysign(np.sqrt(gained), goal))
        if abs(root - goal) <= CLOSE * abs(goal):
            return c
        if abs(root) < abs(goal):
            near, point, at_point = c, found, c
        else:
            far = c
        steepness = estimate.total * found.slope / root if root else 0.0
        step = (goal - root) / steepness if steepness > 0 else float(np.copysign(np.inf, goal))
        furthest = GROWTH * c if np.isinf(far) else far
        c = c + step if min(near, furthest) < c + step < max(near, furthest) else _between(near, far, c)
    return far if np.isinf(far) else c


def _between(near: float, far: float, c: float) -> float:
    return GROWTH * c if np.isinf(far) else 0.5 * (near + far)


def _moved(estimate: Estimate, point: _Point, f: Array, distance: float) -> _Point | None:
    """The minimum on the plane that is so far along f, beginning where the quadratic model has it."""
    toward = point.factor.solve(f)
    W = point.W + estimate.problem.subspace.expand(toward * (distance / float(f @ toward)))
    at = estimate.problem.value_gradient(W)
    return _on_plane(estimate, W, at, f) if np.isfinite(at.value) else None


def _on_plane(estimate: Estimate, W: Array, at: Evaluation, f: Array) -> _Point | None:
    """Newton's method across f. None where the Hessian is singular on the way."""
    problem = estimate.problem
    space = problem.subspace
    for _ in range(MOST_STEPS):
        factor = problem.factor(W)
        if factor is None:
            return None
        g = space.reduce(at.gradient)
        toward = factor.solve(f)
        slope = float(g @ toward) / float(f @ toward)
        step = slope * toward - factor.solve(g)
        gain = -float(g @ step)
        if estimate.total * gain <= GAIN * (1.0 + estimate.total * abs(at.value)):
            return _Point(W, at, factor, slope)
        found = search(problem, W, at, space.expand(step))
        if found is None or found[1].value >= at.value:
            return _Point(W, at, factor, slope)
        W, at = found
    return None
