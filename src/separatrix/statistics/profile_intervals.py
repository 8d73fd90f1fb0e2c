r"""Profile-likelihood intervals: all values c of a coefficient that a likelihood-ratio test does not reject.

    {c : 2 (max ℓ − max over f·Θ = c of ℓ) ≤ χ²₁(level)}

Given     an estimate, a function f of its identified directions, the level
Returns   the ends of the interval, each checked before it is returned; NaN and the reason if one was not found
Method    the square root r(c) of the left side is nearly linear in c, so Newton's method solves r(c) = z
          (``find_end``). For each c, Newton's method on the plane f·Θ = c maximises ℓ over the other directions. At
          that maximum the gradient of the mean loss is μ f, so dr/dc = S μ/r, with S the total weight, costs no work.

Venzon and Moolgavkar, A method for computing profile-likelihood-based confidence intervals, Applied Statistics 37
(1988), state the problem. They change c and the rest at once, which needs a start closer to the solution.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from separatrix.core.base.arrays import EPS, Array
from separatrix.core.firth.profiles import End, Look, find_end, penalised_test, posed_again, profile_ends
from separatrix.core.linear_algebra import Factor
from separatrix.core.newton_step import damped_step
from separatrix.core.objective_sums import Evaluation
from separatrix.core.rows.frame import power_of_two
from separatrix.core.solvers.newton import Newton
from separatrix.statistics.covariance import Estimate
from separatrix.statistics.intervals import quantile
from separatrix.statistics.summary_request import SummaryRequest

# Largest number of Newton steps on one plane; fewer than ten are usually needed.
MOST_STEPS_ON_PLANE = 50
# Limits on the expected gain of a step in log-likelihood, relative to 1 + |log-likelihood|. Below the first limit a
# step changes no digit of r, and the steps end. If rounding ends them earlier, the result is accepted if the gain is
# below the second limit, which leaves six correct digits.
SMALLEST_GAIN, LARGEST_ROUNDED_GAIN = 1e-13, 1e-7
# The relative rounding error of a mean loss.
MEAN_LOSS_ROUNDING = 64 * EPS
# For an infinite coefficient, Newton's method towards the supremum ends when the deviance is this share of χ²₁(level);
# the profile starts at that point.
START_DEVIANCE_SHARE = 1e-3


@dataclass(frozen=True)
class _ProfilePoint:
    """A minimum of the mean loss on a plane f·Θ = c: W, E, the Hessian's factor there, and μ = dE/dc."""

    W: Array
    at: Evaluation
    factor: Factor
    slope: float


def likelihood_profile(asked: SummaryRequest, estimate: Estimate, k: int, j: int, level: float) -> tuple[End, End]:
    """The interval by the profile of the likelihood."""
    f, z = estimate.F[k * len(estimate.Phi) + j], quantile(level)
    top, at = _ProfilePoint(estimate.W, estimate.at, estimate.factor, 0.0), float(estimate.coefficients[k, j])
    return _end(estimate, top, f, z, -1, at), _end(estimate, top, f, z, +1, at)


def profile_of_infinite(way: Estimate, supremum: float, k: int, j: int, upwards: bool, level: float) -> tuple[End, End]:
    """The interval of an infinite coefficient, whose finite end is where the likelihood has fallen far enough.

    ``way`` is an estimate from all rows, whose likelihood has no maximum; ``supremum`` is that of the log-likelihood.
    """
    reference = -supremum / way.total
    state = Newton().init(way.problem, np.zeros_like(way.W) if way.problem.offsets is None else way.problem.offsets)
    deviance = START_DEVIANCE_SHARE * quantile(level) ** 2
    while state.halt is None and 2.0 * way.total * (state.at.value - reference) > deviance:
        state = Newton().step(way.problem, state)
    factor = way.problem.factor(state.W) if state.halt is None else None
    if factor is None:
        missing = End(float("nan"), "Newton's method does not come near the supremum of the likelihood")
        return missing, missing
    there = replace(way, W=state.W, raw=way.problem.rows.frame.to_original(state.W)[:, : way.raw.shape[1]])
    top = _ProfilePoint(state.W, Evaluation(reference, state.at.gradient), factor, 0.0)
    f, side = way.F[k * len(way.Phi) + j], -1 if upwards else 1
    end = _end(there, top, f, quantile(level), side, float(there.coefficients[k, j]))
    return (end, End(float("inf"))) if upwards else (End(float("-inf")), end)


def firth_profile(asked: SummaryRequest, estimate: Estimate, k: int, j: int, level: float) -> tuple[End, End]:
    """The interval by the profile of Firth's likelihood."""
    problem, W = posed_again(asked.model, asked.X, asked.y, asked.weight, asked.offset)
    column, of_classes = j + 1 - asked.claim.fit_intercept, estimate.A[k]
    if len(of_classes) > 1:
        return profile_ends(problem, W, column, level, of_classes)
    low, high = profile_ends(problem, W, column, level)
    return (low, high) if of_classes[0] > 0 else (high._replace(v=-high.v), low._replace(v=-low.v))


def firth_tests(asked: SummaryRequest, std_err: Array) -> Array:
    """Each coefficient's p-value by penalised likelihood ratios for two classes, (m,); NaN without a standard error."""
    problem, W = posed_again(asked.model, asked.X, asked.y, asked.weight, asked.offset)
    found = np.full(len(std_err), np.nan)
    for j in np.flatnonzero(np.isfinite(std_err)).tolist():
        found[j] = penalised_test(problem, W, [j + 1 - asked.claim.fit_intercept])[1]
    return found


# What computes the interval, in raw units, of the coefficient with the given contrast and column number.
PROFILES = {"likelihood": likelihood_profile, "firth": firth_profile}


def _end(estimate: Estimate, top: _ProfilePoint, f: Array, z: float, side: int, at: float) -> End:
    """The end on one side, where r = z, of the interval of the coefficient f·Θ, which is ``at`` at the maximum.

    f is divided by a power of two near its size, so that its products neither overflow nor underflow.
    """
    unit = side * float(power_of_two(np.max(np.abs(f), keepdims=True))[0])
    walk = _DistanceWalk(estimate, top, f / unit, z)
    error = float(np.linalg.norm(top.factor.half(walk.f)) / np.sqrt(estimate.total))
    rounding = 2.0 * estimate.total * MEAN_LOSS_ROUNDING * abs(top.at.value)
    found = find_end(walk, z * error, z, rounding)
    return found._replace(v=at + unit * found.v)


class _DistanceWalk:
    """Evaluates the profile at one distance along f after another.

    Each search for a minimum starts from the furthest minimum inside the interval.
    """

    def __init__(self, estimate: Estimate, top: _ProfilePoint, f: Array, z: float) -> None:
        self.estimate, self.top, self.f, self.z = estimate, top, f, z
        self.point, self.at = top, 0.0

    def __call__(self, c: float) -> Look | None:
        """The profile at distance c; None if the minimum on the plane was not found."""
        found = _moved(self.estimate, self.point, self.f, c - self.at)
        if found is None:
            return None
        fall = self.estimate.total * (found.at.value - self.top.at.value)
        r = float(np.sqrt(max(0.0, 2.0 * fall)))
        if r < self.z:
            self.point, self.at = found, c
        return Look(c, r, self.estimate.total * found.slope)


def _moved(estimate: Estimate, point: _ProfilePoint, f: Array, distance: float) -> _ProfilePoint | None:
    """The minimum on the plane at a distance along f, starting from the minimum of the quadratic model there."""
    toward = point.factor.solve(f)
    W = point.W + estimate.problem.subspace.expand(toward * (distance / float(f @ toward)))
    at = estimate.problem.value_gradient(W)
    return _on_plane(estimate, W, at, f) if np.isfinite(at.value) else None


def _on_plane(estimate: Estimate, W: Array, at: Evaluation, f: Array) -> _ProfilePoint | None:
    """Newton's method on the plane f·Θ = c through W; None if it meets a singular Hessian.

    It does not use the solver, because its steps must stay on the plane and it ends by the gain in likelihood.
    """
    problem = estimate.problem
    space = problem.subspace
    for _ in range(MOST_STEPS_ON_PLANE):
        factor = problem.factor(W)
        if factor is None:
            return None
        g = space.reduce(at.gradient)
        toward = factor.solve(f)
        slope = float(g @ toward) / float(f @ toward)
        step = slope * toward - factor.solve(g)
        gain = -float(g @ step)
        size = estimate.total * gain / (1.0 + estimate.total * abs(at.value))
        if size <= SMALLEST_GAIN:
            return _ProfilePoint(W, at, factor, slope)
        reached = damped_step(problem, W, at, space.expand(step))
        if reached is None or reached[1].value >= at.value:
            return _ProfilePoint(W, at, factor, slope) if size <= LARGEST_ROUNDED_GAIN else None
        W, at = reached
    return None
