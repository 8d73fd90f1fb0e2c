r"""Finds all touching rows at once: the rows with a·v = 0 for every v with A v ≥ 0. No such v "moves" these rows.

It first computes λ > 0 on all touching rows, and then on a few touching rows with the same span.

    given      rows a_c by number, a basis N of the open directions (``row_working_set``), and an initial working set
    each round one program on the working set (``complementary``) has s_i = 1 on rows that some v moves, and marginals
               λ_i ≥ 1 on the others, by strict complementarity; then all rows are checked: those that v violates enter,
               and so do those that v does not move, unless rows with λ > 0 span them
    returns    rows with λ > 0 that span all touching rows, at most twice their rank (Steinitz): independent rows, and
               the rows of a vertex that expresses minus their sum
    stops      when no rows enter

All of this is computed in floating point; only the result is proven. Adding one minimal dependency at a time would add
only a few rows each: 300 columns of rare categories have 70 minimal dependencies. Goldman and Tucker, Theory of linear
programming (1956), corollary 2A.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.base.modular import pivots
from separatrix.proofs.class_differences import Differences
from separatrix.proofs.linear_programs import balancing, complementary
from separatrix.proofs.row_working_set import in_directions

# Marginals are 0 or at least 1, up to the tolerance of the program, so this value tells them apart.
MARGINAL_THRESHOLD = 0.5
# A balancing weight below this is a rounding error. The rows are scaled to about 1.
SMALLEST_BALANCING_WEIGHT = 1e-9
# A row with a score above this is moved by v. The tolerance of the programs is 1e-7.
SMALLEST_MOVE = 1e-6
# A row with a score above this in a direction orthogonal to a span is not in that span.
SMALLEST_SCORE_OUTSIDE_SPAN = 1e-9
# Largest number of rows added per round, in multiples of the number of directions.
MOST_ROWS_ADDED_PER_DIRECTION = 2
# Limit on rounds, each of which solves one linear program.
MOST_TOUCHING_ROUNDS = 50


class Spanned(NamedTuple):
    """Rows that are known to touch, the directions N orthogonal to their span, and a mask of the rows outside it."""

    N: AnyArray | None
    rows: Integers
    left: AnyArray | None


class Together(NamedTuple):
    """Rows by number, the first ``rank`` of them independent, and λ > 0 that sums them to zero, up to rounding."""

    rows: Integers
    weights: Array
    rank: int


def together(D: Differences, chosen: Integers, known: Spanned | None = None) -> Together | None:
    """A few touching rows that span all touching rows; None if there are none or a linear program fails.

    >>> D = Differences(np.array([[0.0], [1.0], [1.0], [2.0], [1.0]]), np.array([0, 0, 1, 1, 1]), 2)
    >>> together(D, np.arange(5)).rows.tolist()
    [1, 2]
    """
    N, before, left = known or Spanned(None, np.zeros(0, dtype=np.int64), None)
    for _ in range(MOST_TOUCHING_ROUNDS):
        found = complementary(in_directions(D, chosen, N))
        if found is None or not np.any(found.weights > MARGINAL_THRESHOLD):
            return None
        group = chosen[found.weights > MARGINAL_THRESHOLD]
        fresh = _coming(D, group, found.v if N is None else N @ found.v, left)
        fresh = fresh[~np.isin(fresh, chosen)]
        if len(fresh) == 0:
            return _reduced(D, group, before)
        most = MOST_ROWS_ADDED_PER_DIRECTION * (D.width if N is None else N.shape[1])
        spread = np.unique(np.linspace(0, len(fresh) - 1, min(len(fresh), most)).astype(np.int64))
        chosen = np.concatenate([chosen, fresh[spread]])
    return None


def _coming(D: Differences, group: Integers, v: Array, left: AnyArray | None) -> Integers:
    """The rows that v violates, and those that it does not move although they are not in the span of the group."""
    size = float(np.max(np.abs(v) * D.unit, initial=0.0)) or 1.0
    m = D.margins(v / size)
    A = D.dense(group) / D.unit
    drawn = np.random.default_rng(0).standard_normal(D.width)
    across = np.abs(D.margins((drawn - _projected(A, drawn)) / D.unit)) > SMALLEST_SCORE_OUTSIDE_SPAN * float(
        np.abs(drawn).max()
    )
    open_still = (m < -SMALLEST_MOVE) | ((m < SMALLEST_MOVE) & across)
    return np.flatnonzero(open_still if left is None else open_still & left)


def _projected(A: Array, u: Array) -> Array:
    """The projection of u onto the span of the rows of A."""
    from scipy.linalg import lstsq

    coefficients: Array = lstsq(A.T, u, cond=SMALLEST_SCORE_OUTSIDE_SPAN, lapack_driver="gelsy")[0]
    return np.asarray(A.T @ coefficients)


def _reduced(D: Differences, group: Integers, before: Integers) -> Together | None:
    """The rows of the group that are needed for the span. The rows known before may have weights of either sign."""
    both = D.dense(np.concatenate([before, group])) / D.unit
    pivot = pivots(both.T)
    own = np.array([j for j in pivot.columns if j >= len(before)], dtype=np.int64)
    if len(own) == 0:  # the span has not grown; or all rows are zero, and a single zero row is a proof
        return None if len(before) else Together(group[:1], np.ones(1), 0)
    more = balancing(both[:, pivot.rows], own, len(before))
    if more is None:
        return None
    more[more < SMALLEST_BALANCING_WEIGHT * more.max(initial=1.0)] = 0.0
    more[: len(before)] = 0.0
    order = np.concatenate([own, np.setdiff1d(np.flatnonzero(more), own)])
    more[own] += 1.0
    return Together(group[order - len(before)], more[order], len(own))
