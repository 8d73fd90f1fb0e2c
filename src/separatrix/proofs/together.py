r"""All rows that touch at once: λ > 0 on every row that no v with A v ≥ 0 moves, and then on few that span the same.

    given      rows a_c by number, a basis N of the directions that are still open, and rows to begin with
    each round one program on the rows at hand (``complementary``) has s_i = 1 on those that some v moves, and
               marginals λ_i ≥ 1 on the others, by strict complementarity; then look at all rows: those that v violates
               come in, and those that it leaves where they are, unless rows with a λ span them
    returns    rows with λ > 0 that span all that touch, at most twice their rank (Steinitz): independent ones, and
               those that a vertex needs to write minus their sum with
    stops      where no rows come in

All in floating point, to be proven once at the end. Minimal dependencies would come a few rows at a time: 300 columns
of rare categories have 70 of those. Goldman and Tucker, Theory of linear programming (1956), corollary 2A.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.base.modular import pivots
from separatrix.proofs.class_differences import Differences
from separatrix.proofs.linear_programs import balancing, complementary
from separatrix.proofs.row_working_set import in_directions

# Marginals are 0 or at least 1, but for the program's tolerance.
HALFWAY = 0.5
# Of rows near 1: what a marginal must exceed to be more than rounding; what a row moves by at least that moves, the
# programs' tolerance being 1e-7; and what it has at least across a span that it is not in.
ROUNDED, MOVES, ACROSS = 1e-9, 1e-6, 1e-9
# Rows that come in a round at most, in multiples of the directions.
COMING = 2
MOST_ROUNDS = 50


class Spanned(NamedTuple):
    """What is known before: directions N across the span of some rows, these rows, and which rows are left outside."""

    N: AnyArray | None
    rows: Integers
    left: AnyArray | None


class Together(NamedTuple):
    """Rows by number, the first ``rank`` of them independent, and λ > 0 that sums them to zero, to rounding."""

    rows: Integers
    weights: Array
    rank: int


def together(D: Differences, chosen: Integers, known: Spanned | None = None) -> Together | None:
    """Rows that touch, as few as span all that do; None where there are none, and where a program fails.

    >>> D = Differences(np.array([[0.0], [1.0], [1.0], [2.0], [1.0]]), np.array([0, 0, 1, 1, 1]), 2)
    >>> together(D, np.arange(5)).rows.tolist()
    [1, 2]
    """
    N, before, left = known or Spanned(None, np.zeros(0, dtype=np.int64), None)
    for _ in range(MOST_ROUNDS):
        found = complementary(in_directions(D, chosen, N))
        if found is None or not np.any(found.weights > HALFWAY):
            return None
        group = chosen[found.weights > HALFWAY]
        fresh = _coming(D, group, found.v if N is None else N @ found.v, left)
        fresh = fresh[~np.isin(fresh, chosen)]
        if len(fresh) == 0:
            return _reduced(D, group, before)
        most = COMING * (D.width if N is None else N.shape[1])
        spread = np.unique(np.linspace(0, len(fresh) - 1, min(len(fresh), most)).astype(np.int64))
        chosen = np.concatenate([chosen, fresh[spread]])
    return None


def _coming(D: Differences, group: Integers, v: Array, left: AnyArray | None) -> Integers:
    """The rows that v violates, and those that it does not move though they are not in the group's span."""
    size = float(np.max(np.abs(v) * D.unit, initial=0.0)) or 1.0
    m = D.margins(v / size)
    A = D.dense(group) / D.unit
    drawn = np.random.default_rng(0).standard_normal(D.width)
    across = np.abs(D.margins((drawn - _projected(A, drawn)) / D.unit)) > ACROSS * float(np.abs(drawn).max())
    open_still = (m < -MOVES) | ((m < MOVES) & across)
    return np.flatnonzero(open_still if left is None else open_still & left)


def _projected(A: Array, u: Array) -> Array:
    """u on the span of A's rows."""
    from scipy.linalg import lstsq

    coefficients: Array = lstsq(A.T, u, cond=ACROSS, lapack_driver="gelsy")[0]
    return np.asarray(A.T @ coefficients)


def _reduced(D: Differences, group: Integers, before: Integers) -> Together | None:
    """The group's rows that are needed for the span, those known before having weights of either sign."""
    both = D.dense(np.concatenate([before, group])) / D.unit
    found = pivots(both.T)
    own = np.array([j for j in found.columns if j >= len(before)], dtype=np.int64)
    if len(own) == 0:  # nothing new; or rows of zeros, of which one is a proof
        return None if len(before) else Together(group[:1], np.ones(1), 0)
    more = balancing(both[:, found.rows], own, len(before))
    if more is None:
        return None
    more[more < ROUNDED * more.max(initial=1.0)] = 0.0
    more[: len(before)] = 0.0
    order = np.concatenate([own, np.setdiff1d(np.flatnonzero(more), own)])
    more[own] += 1.0
    return Together(group[order - len(before)], more[order], len(own))
