r"""Where the likelihood has its supremum, when classes are separated but for touching rows.

With A the rows t_i x̄_i, the log-likelihood grows along v for ever where A v ≥ 0: these v are the recession cone. If the
classes are quasi-separable, the touching rows have A v = 0 for all of the cone, and some v has A v > 0 on all
others. So the supremum is that of the touching rows alone, the others having probability one in the limit, and

    a coefficient is finite       where it is the same along the whole cone: where the touching rows identify it
    it is +∞ (or −∞)              where it grows (falls) along every direction inside the cone
    it has no value               where directions disagree

The sign is two linear programs: maximise and minimise the coefficient over the cone, in a box. The rows that the
programs need are found by a working set: rows that the last answer violates come in.

Albert and Anderson, On the existence of maximum likelihood estimates in logistic regression models, Biometrika 71
(1984); Geyer, Likelihood inference in exponential families and directions of recession, Electronic Journal of
Statistics 3 (2009).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from separatrix.arrays import Array, Integers
from separatrix.inference.asked import Asked
from separatrix.inference.estimate import Estimate, pose, raw_weights, total_weight
from separatrix.inference.expansion import expansion
from separatrix.labels import signed
from separatrix.objective import Objective
from separatrix.proofs.linear_programs import furthest
from separatrix.proofs.separability import verdict_on
from separatrix.proofs.verdicts import Inseparable, QuasiSeparable, Separable
from separatrix.solvers.driver import default_rules, delivered, run
from separatrix.solvers.newton import Newton

# Of the box's size: a coefficient that moves by less does not move. The programs' own tolerance is 1e-7.
MOVES = 1e-6
# Rows that a program begins with, and that come in at most in one round.
FEW = 500
# How near the supremum on the touching rows the fit to them must be, of the null model's loss.
TOLERANCE = 1e-14


@dataclass(frozen=True)
class Recession:
    """The finite part, estimated on the ``touching`` rows; ``signs`` (m,) of the coefficients: 0 where finite, ±1 where
    infinite, NaN where directions disagree.
    """

    estimate: Estimate
    asked: Asked
    touching: Integers
    signs: Array


def recession(asked: Asked, estimate: Estimate) -> Recession | str | None:
    """The supremum of a two-class likelihood without a maximum; a sentence where it cannot be had, None where no row
    touches, so that nothing is finite.

    ``estimate``: where the fit stopped on its way, for its coordinates and what it holds.
    """
    if len(asked.claim.scorer.classes) > 2:
        return "which coefficients are infinite is worked out for two classes only"
    counted = np.flatnonzero(asked.weight > 0)
    among = asked.only(counted)
    inside = touching_all(among)
    if inside is None or isinstance(inside, str):
        return inside
    finite = _at_the_supremum(among.only(inside), estimate)
    A = _signed_rows(estimate.problem, signed(asked.codes))[counted]
    off = np.setdiff1d(np.arange(len(counted)), inside)
    signs = np.zeros(len(estimate.Phi))
    moving = np.flatnonzero(~finite.identified & estimate.identified)
    signs[moving] = estimate.A[0, 0] * _signs(A, inside, off, estimate.Phi[moving])
    return Recession(finite, among.only(inside), counted[inside], signs)


def _at_the_supremum(part: Asked, estimate: Estimate) -> Estimate:
    """Maximum likelihood on the touching rows, where their classes overlap, so that there is one."""
    problem = pose(part)
    constant = np.zeros(problem.shape[1], dtype=bool)
    constant[1 : part.X.shape[1] + 1] = estimate.held[int(part.claim.fit_intercept) :]
    problem = problem.holding(constant)
    start = np.zeros(problem.shape) if problem.offsets is None else problem.offsets
    outcome = run(Newton(), problem, start, default_rules(TOLERANCE, 200), TOLERANCE)
    raw, outcome = delivered(outcome, problem, TOLERANCE)
    W = outcome.state.W
    at, hessian = expansion(problem, W)
    total = total_weight(part)
    return Estimate(problem, W, raw, estimate.A, raw_weights(problem), total, at, hessian, estimate.held)


def touching_all(asked: Asked) -> Integers | str | None:
    """The rows with a·v = 0 along the whole cone; a sentence where a proof is missing, None where there are none.

    Rows on one direction's hyperplane may yet move along another: v + εu, u a direction of the rows on that of v, moves
    what either moves. So the question is asked again of the rows left, until their classes overlap.
    """
    left = np.arange(len(asked.codes))
    while True:
        part = asked.only(left)
        verdict = verdict_on(part.X, signed(part.codes), part.claim.fit_intercept)
        if isinstance(verdict, Inseparable) and len(left) < len(asked.codes):
            return left
        if isinstance(verdict, Separable):
            return None
        if not isinstance(verdict, QuasiSeparable):
            return f"which coefficients are infinite could not be proven: {verdict.explain()}"
        left = left[np.unique(verdict.touching)]


def _signed_rows(problem: Objective, t: Array) -> Array:
    """A in the frame's coordinates, dense, columns that are pinned at zero."""
    block = problem.rows.resident()
    assert block is not None, "rows are in memory"
    A = block.homogeneous() * t[:, None]
    A[:, problem.pinned] = 0.0
    return A


def _signs(A: Array, touching: Integers, off: Integers, Phi: Array) -> Array:
    """The sign of each function Phi (m, width) inside the cone {v: A v ≥ 0}; NaN where directions disagree."""
    _, values, V = np.linalg.svd(np.linalg.qr(A[touching], mode="r"), full_matrices=True)
    rank = int(np.sum(values > 1e-10 * values.max(initial=0.0)))
    N = V[rank:]
    across = A[off] @ N.T
    across /= np.maximum(np.linalg.norm(across, axis=1, keepdims=True), np.finfo(np.float64).tiny)
    found = np.zeros(len(Phi))
    for j, along in enumerate(Phi @ N.T):
        along = along / np.linalg.norm(along)
        most, least = reach(across, along), -reach(across, -along)
        # It does move, the touching rows leaving it open: where neither way shows, the cone is too narrow to tell.
        up, down = most > MOVES, least < -MOVES
        found[j] = np.nan if up == down else 1.0 if up else -1.0
    return found


def reach(B: Array, along: Array) -> float:
    """The largest ``along``·u with B u ≥ 0 and |u| ≤ 1, by a working set of B's rows; NaN where HiGHS fails.

    >>> reach(np.array([[1.0, 0.0], [-1.0, -1.0]]), np.array([0.0, 1.0]))
    0.0
    """
    working = np.unique(np.linspace(0, len(B) - 1, min(len(B), FEW)).astype(np.int64))
    while True:
        u = furthest(B[working], along)
        if u is None:
            return float("nan")
        margins = B @ u
        margins[working] = 0.0
        broken = np.flatnonzero(margins < -MOVES / 10)
        if not len(broken):
            return float(along @ u)
        working = np.union1d(working, broken[np.argsort(margins[broken])[:FEW]])
