r"""Where the likelihood has its supremum, when classes are separated but for touching rows.

With A the rows t_i x̄_i (of K classes the differences (e_{y_i} − e_k) ⊗ x̄_i, a row for each pair of a row and another
class), the log-likelihood grows along v for ever where A v ≥ 0: these v are the recession cone. If the classes are
quasi-separable, the touching rows have A v = 0 for all of the cone, and some v has A v > 0 on all others. So the
supremum is that of the touching rows alone, the others having probability one in the limit, and

    a coefficient is finite       where it is the same along the whole cone: where the touching rows identify it
    it is +∞ (or −∞)              where it grows (falls) along every direction inside the cone
    it has no value               where directions disagree

The sign is two linear programs: maximise and minimise the coefficient over the cone, in a box. The rows that the
programs need are found by a working set: rows that the last answer violates come in.

Albert and Anderson, On the existence of maximum likelihood estimates in logistic regression models, Biometrika 71
(1984), have K classes, too; Geyer, Likelihood inference in exponential families and directions of recession, Electronic
Journal of Statistics 3 (2009).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.inference import remaining_classes
from separatrix.inference.estimate import Estimate, build_objective_of, raw_weights, total_weight, unmoved
from separatrix.inference.expansion import expansion
from separatrix.inference.request import SummaryRequest
from separatrix.proofs.class_differences import Differences, chunks
from separatrix.proofs.linear_programs import furthest
from separatrix.proofs.separability import touching
from separatrix.proofs.verdicts import Doubtful, Inseparable, Separable, as_rows
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
    """The finite part, estimated on the ``touching`` rows; ``signs`` (q, m) of the coefficients: 0 where finite, ±1
    where infinite, NaN where directions disagree.
    """

    estimate: Estimate
    asked: SummaryRequest
    touching: Integers
    signs: Array


def recession(asked: SummaryRequest, estimate: Estimate) -> Recession | Separable | Inseparable | Doubtful:
    """The supremum of a likelihood without a maximum; the verdict on the rows where they are not quasi-separable.

    ``estimate``: where the fit stopped on its way, for its coordinates and what it holds.
    """
    K = len(asked.claim.scorer.classes)
    counted = np.flatnonzero(asked.weight * asked.claim.class_weights[asked.codes] > 0)
    among = asked.only(counted)
    D = Differences(as_rows(among.X), among.codes, K, among.claim.fit_intercept)
    on = touching(D)
    if not isinstance(on, np.ndarray):
        return on
    finite, part, inside = SUPREMA[K > 2](among, *D.named(on), estimate)
    signs = _signs(remaining_classes.framed(estimate.problem, among.codes, K, counted), on, estimate)
    return Recession(finite, part, counted[inside], signs)


def _of_rows(
    among: SummaryRequest, rows: Integers, against: Integers, estimate: Estimate
) -> tuple[Estimate, SummaryRequest, Integers]:
    """Maximum likelihood on the touching rows of two classes, which overlap, so that there is one."""
    part = among.only(rows)
    problem = build_objective_of(part)
    problem = problem.with_(pinned=problem.pinned | remaining_classes.constant(problem, part, estimate.held))
    start = np.zeros(problem.shape) if problem.offsets is None else problem.offsets
    outcome = run(Newton(), problem, start, default_rules(TOLERANCE, 200), TOLERANCE)
    raw, outcome = delivered(outcome, problem, TOLERANCE)
    W = outcome.state.W
    at, hessian = expansion(problem, W)
    total = total_weight(part)
    found = Estimate(problem, W, raw, estimate.A, raw_weights(problem), total, at, hessian, estimate.held)
    return found, part, rows


# By whether there are more than two classes.
SUPREMA = {False: _of_rows, True: remaining_classes.at_the_supremum}


def _signs(D: Differences, on: Integers, estimate: Estimate) -> Array:
    """The sign of each coefficient inside the cone {v: A v ≥ 0}, (q, m): zero where it does not move, NaN where
    directions disagree.
    """
    A, problem = estimate.A, estimate.problem
    F: Array = np.asarray(np.kron(A if D.K == 2 else A[:, 1:], estimate.Phi[:, ~problem.pinned]), dtype=np.float64)
    N = remaining_classes.spans(D, on).across
    off = np.setdiff1d(np.arange(D.count), on, assume_unique=True)
    across = np.vstack([D.dense(part) @ N for part in chunks(off)])
    across /= np.maximum(np.linalg.norm(across, axis=1, keepdims=True), np.finfo(np.float64).tiny)
    found = np.zeros(len(F))
    moving = ~unmoved(F, N, problem.rows.frame) & np.tile(estimate.identified, len(A))
    for j in np.flatnonzero(moving):
        along = F[j] @ N
        along /= np.linalg.norm(along)
        most, least = reach(across, along), -reach(across, -along)
        # It does move, the touching rows leaving it open: where neither way shows, the cone is too narrow to tell.
        up, down = most > MOVES, least < -MOVES
        found[j] = np.nan if up == down else 1.0 if up else -1.0
    return found.reshape(len(A), -1)


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
