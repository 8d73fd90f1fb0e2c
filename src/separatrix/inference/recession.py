r"""The supremum of the likelihood if the classes are quasi-separable: separated except for touching rows.

With A the rows t_i x̄_i (of K classes the differences (e_{y_i} − e_k) ⊗ x̄_i, a row for each pair of a row and another
class), the log-likelihood never falls along v if A v ≥ 0: these v are the recession cone. If the classes are
quasi-separable, the touching rows have A v = 0 for the whole cone, and some v has A v > 0 on all others. So the
supremum is that of the touching rows alone, since the others have probability one in the limit, and

    a coefficient is finite       if it is constant along the whole cone, that is, if the touching rows identify it
    it is +∞ (or −∞)              if it grows (falls) along every direction inside the cone
    it has no value               if directions disagree

Two linear programs determine the sign: they maximise and minimise the coefficient over the cone within a box. A working
set holds the rows that the programs need; rows that the last solution violates are added to it.

Albert and Anderson, On the existence of maximum likelihood estimates in logistic regression models, Biometrika 71
(1984), which also treats K classes; Geyer, Likelihood inference in exponential families and directions of recession,
Electronic Journal of Statistics 3 (2009).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.inference import remaining_classes
from separatrix.inference.estimate import Estimate, build_objective_of, raw_weights, unmoved
from separatrix.inference.expansion import expansion
from separatrix.inference.request import SummaryRequest
from separatrix.proofs.asked_rows import as_rows
from separatrix.proofs.class_differences import Differences, chunks
from separatrix.proofs.deciding import touching
from separatrix.proofs.linear_programs import furthest
from separatrix.proofs.verdicts import Doubtful, Inseparable, Separable
from separatrix.solvers.driver import default_rules, delivered, run
from separatrix.solvers.newton import Newton

# A coefficient that changes by less than this, relative to the size of the box, is taken to be constant. The tolerance
# of the linear programs is 1e-7.
SMALLEST_MOVE = 1e-6
# The number of rows in the first working set, and the most rows that one round adds.
ROWS_PER_ROUND = 500
# The tolerance of the fit to the touching rows, relative to the null model's loss.
SUPREMUM_TOLERANCE = 1e-14


@dataclass(frozen=True)
class Recession:
    """The finite part, estimated on the ``touching`` rows, and the ``signs`` (q, m) of the coefficients.

    A sign is 0 for a finite coefficient, ±1 for an infinite one, and NaN if directions disagree.
    """

    estimate: Estimate
    asked: SummaryRequest
    touching: Integers
    signs: Array


def recession(asked: SummaryRequest, estimate: Estimate) -> Recession | Separable | Inseparable | Doubtful:
    """The supremum of a likelihood without a maximum, or the verdict on the rows if they are not quasi-separable.

    ``estimate`` is the point at which the fit stopped; it supplies the coordinates and the fixed coefficients.
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
    """The maximum likelihood estimate on the touching rows of two classes. It exists, because these rows overlap."""
    part = among.only(rows)
    problem = build_objective_of(part)
    problem = problem.with_(pinned=problem.pinned | remaining_classes.constant(problem, part, estimate.held))
    start = np.zeros(problem.shape) if problem.offsets is None else problem.offsets
    outcome = run(Newton(), problem, start, default_rules(SUPREMUM_TOLERANCE, 200), SUPREMUM_TOLERANCE)
    raw, outcome = delivered(outcome, problem, SUPREMUM_TOLERANCE)
    W = outcome.state.W
    at, hessian = expansion(problem, W)
    total = part.total_weight
    found = Estimate(problem, W, raw, estimate.A, raw_weights(problem), total, at, hessian, estimate.held)
    return found, part, rows


# The function that computes the supremum, by whether there are more than two classes.
SUPREMA = {False: _of_rows, True: remaining_classes.at_the_supremum}


def _signs(D: Differences, on: Integers, estimate: Estimate) -> Array:
    """The sign of each coefficient inside the cone {v: A v ≥ 0}, (q, m).

    Zero for a coefficient that does not change, NaN if directions disagree.
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
        # The touching rows do not identify the coefficient, so it changes along the cone. If neither program finds a
        # change, the cone is too narrow for their tolerance.
        up, down = most > SMALLEST_MOVE, least < -SMALLEST_MOVE
        found[j] = np.nan if up == down else 1.0 if up else -1.0
    return found.reshape(len(A), -1)


def reach(B: Array, along: Array) -> float:
    """The largest ``along``·u with B u ≥ 0 and |u| ≤ 1, by a working set of B's rows; NaN if HiGHS fails.

    >>> reach(np.array([[1.0, 0.0], [-1.0, -1.0]]), np.array([0.0, 1.0]))
    0.0
    """
    working = np.unique(np.linspace(0, len(B) - 1, min(len(B), ROWS_PER_ROUND)).astype(np.int64))
    while True:
        u = furthest(B[working], along)
        if u is None:
            return float("nan")
        margins = B @ u
        margins[working] = 0.0
        broken = np.flatnonzero(margins < -SMALLEST_MOVE / 10)
        if not len(broken):
            return float(along @ u)
        working = np.union1d(working, broken[np.argsort(margins[broken])[:ROWS_PER_ROUND]])
