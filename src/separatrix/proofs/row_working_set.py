r"""Is there a v with a·v > 0 for all rows? Decided by linear programs on a working set of rows.

    given      rows a_c by number, and a basis N of the open directions: those not yet excluded by a proof
    each round maximise s subject to a_c·v ≥ s on the working set, v = N u, |u| ≤ 1; then check all rows in one pass
    returns    v, proven positive on all rows, or rows of the working set on which no v is positive
    ends       because s never increases: rows with positive marginals stay, and all rows stay unless s decreases

With many rows, Newton's method (``newton_separator``) runs first. It often finds v, and otherwise supplies the first
working set. Rows that violate a·v > 0 for the last v enter: the worst, and others spread evenly over the rest. Rows
with slack leave. This is Dantzig and Wolfe's column generation applied to the dual. A random subset alone
does not find the few rows of a slight overlap.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.base.watching import Part, watched
from separatrix.proofs.class_differences import Differences, chunks
from separatrix.proofs.enclosing_rows import enclosing_rows
from separatrix.proofs.linear_programs import Widest, widest
from separatrix.proofs.newton_separator import nearly
from separatrix.rows.csr import is_sparse

# Numbers of rows, in multiples of the number of open directions: in the first working set, the most that enter in a
# round (twice: the worst and others), and the most that stay.
FIRST_ROWS_PER_DIRECTION, ENTERING_ROWS_PER_DIRECTION, STAYING_ROWS_PER_DIRECTION = 3, 1, 2
# Size of the sample on which Newton's method proposes a first v, in multiples of the number of directions.
NEWTON_ROWS_PER_DIRECTION = 40
# Largest number of directions for which Newton's method runs: it forms a matrix of that order.
MOST_NEWTON_DIRECTIONS = 500
# Number of rows that a working set may keep even if the number of directions is small.
SMALLEST_WORKING_SET = 150
# Limit on rounds, each of which is one linear program and one pass over the rows.
MOST_WORKING_SET_ROUNDS = 500
# Largest number of alternative sets of rows that are tried for an exact proof.
MOST_ATTEMPTS = 12
# A marginal below this share of the largest may be a rounding error.
SMALLEST_MARGINAL_SHARE = 1e-9
# A score in the open directions below this share of the row's size is a rounding error and is set to zero.
SMALLEST_SCORE_SHARE = 1e-13
NO_MARGINS = np.zeros(0)


class Found(NamedTuple):
    """The result of a search: a ``v`` that is positive on all rows, or ``rows`` that indicate that there is none.

    If ``v`` is None, ``rows`` have ``weights`` ≥ 0 that sum them to zero up to rounding. ``most`` is an upper bound on
    s, in units in which entries are near 1. ``m`` are the margins of v. ``is_proof``: that the rows prevent any v is
    proven (``enclosing_rows``), and they span all directions.
    """

    v: Array | None
    rows: Integers
    weights: Array
    most: float
    m: Array
    is_proof: bool = False


def search(D: Differences, N: AnyArray | None = None, left: AnyArray | None = None) -> Found | None:
    """Find v = N u with a·v > 0 on all rows ``left``, or rows that prevent it; None if a linear program fails.

    >>> D = Differences(np.array([[0.0], [1.0], [3.0]]), np.array([0, 0, 1]), 2)
    >>> bool(np.all(D.margins(search(D).v) > 0))
    True
    """
    chosen = _first(D, N, left)
    if isinstance(chosen, Found):
        return chosen
    least, tell = np.inf, watched()
    for k in range(1, MOST_WORKING_SET_ROUNDS + 1):
        if tell is not None:
            tell(Part("separability: round", k, note=f"{len(chosen)} of {D.count} rows at hand"))
        B = in_directions(D, chosen, N)
        enclosing = enclosing_rows(B) if k == 1 and N is None and not is_sparse(B) else None
        if enclosing is not None:
            return Found(None, chosen[enclosing[0]], enclosing[1], 0.0, NO_MARGINS, is_proof=True)
        found = widest(B)
        if found is None:
            return None
        u = _sharpened(B, found)
        if u is None:
            return Found(None, chosen, found.weights, found.most, NO_MARGINS)
        v = u if N is None else N @ u
        m = D.margins(v)
        wrong = _wrong(D, v, m, left, chosen)
        if len(wrong) == 0:
            return Found(v, chosen, found.weights, found.most, m)
        fresh = np.setdiff1d(wrong, chosen, assume_unique=True)
        if len(fresh) == 0:  # v is positive on the projected rows but not after rounding
            return Found(None, chosen, found.weights, found.most, NO_MARGINS)
        # Rows leave only when s falls. At an unchanged s, rows that left would return in later rounds.
        kept, least = (_staying(chosen, B, u, found), found.s) if found.s < least else (chosen, least)
        chosen = np.concatenate([kept, _coming(wrong, chosen, B.shape[1])])
    return None


def _wrong(D: Differences, v: Array, m: Array, left: AnyArray | None, chosen: Integers) -> Integers:
    """The rows for which a·v > 0 is not proven; if only some rows are ``left``, also those that v hardly moves."""
    wrong = D.not_positive(v, left=left, m=m)
    if len(wrong) or left is None:
        return wrong
    return np.setdiff1d(_hardly(D, v, m, left), chosen, assume_unique=True)


def attempts(D: Differences, found: Found, N: AnyArray | None = None) -> Iterator[Found]:
    """The given rows, then other subsets of the working set on which no v is positive.

    Each attempt drops the row with the largest weight, since rows that are dependent only up to rounding give no exact
    proof.

    >>> D = Differences(np.array([[0.0], [0.0], [0.0]]), np.array([0, 1, 1]), 2)
    >>> [sorted(found.rows.tolist()) for found in attempts(D, search(D))][0]
    [0, 1, 2]
    """
    for _ in range(MOST_ATTEMPTS):
        yield found
        rows = found.rows[np.arange(len(found.rows)) != np.argmax(found.weights)]
        if len(rows) == 0:
            return
        B = in_directions(D, rows, N)
        other = widest(B)
        if other is None or _sharpened(B, other) is not None:
            return
        found = Found(None, rows, other.weights, other.most, NO_MARGINS)


def _first(D: Differences, N: AnyArray | None, left: AnyArray | None) -> Integers | Found:
    """The first working set, or the search result if Newton's method finds v.

    The working set has all rows if they are few; otherwise half are the rows with the smallest margins in Newton's
    method and half are a fixed random draw.
    """
    directions = D.width if N is None else N.shape[1]
    size = max(SMALLEST_WORKING_SET, FIRST_ROWS_PER_DIRECTION * directions)
    if left is not None or D.count <= 4 * size:
        numbers = np.arange(D.count) if left is None else np.flatnonzero(left)
        if len(numbers) <= size:
            return numbers
        return np.sort(np.random.default_rng(0).choice(numbers, size, replace=False))
    rng = np.random.default_rng(0)
    drawn = np.unique(rng.integers(0, D.count, max(2 * size, NEWTON_ROWS_PER_DIRECTION * directions)))
    if directions > MOST_NEWTON_DIRECTIONS:
        return np.sort(rng.choice(drawn, size, replace=False))
    near = nearly(D, drawn)
    if near.separates:
        return Found(near.v, drawn, np.zeros(len(drawn)), np.inf, near.m)
    worst = np.argpartition(near.m, size // 2)[: size // 2]
    return np.union1d(worst, rng.choice(drawn, size - size // 2, replace=False))


def in_directions(D: Differences, which: Integers, N: AnyArray | None) -> Any:
    """The given rows times N, whose columns have unit length in scaled units; scores at rounding level become zero.

    >>> D = Differences(np.array([[2.0]]), np.array([1]), 2)
    >>> in_directions(D, np.array([0]), np.array([[1.0], [-0.5]])).tolist()
    [[0.0]]
    """
    rows = D.take(which)
    if N is None:
        return rows
    across = np.asarray(rows @ N)
    size = np.asarray(abs(rows) @ (1.0 / D.unit))[:, None]
    across[np.abs(across) <= SMALLEST_SCORE_SHARE * size] = 0.0
    return across


def _hardly(D: Differences, v: Array, m: Array, left: AnyArray) -> Integers:
    """The rows whose positive margins may be rounding errors, since N itself is rounded."""
    near = np.flatnonzero(left & (m <= 2 * D.rounding(v)))
    kept = [part[m[part] <= SMALLEST_SCORE_SHARE * np.asarray(abs(D.take(part)) @ np.abs(v))] for part in chunks(near)]
    return np.concatenate([np.zeros(0, dtype=np.int64), *kept])


def _sharpened(B: Any, found: Widest) -> Array | None:
    """u with B u > 0 up to rounding, or None.

    It is the solution of the linear program or, where s is below the solver's tolerance, the least squares solution
    with margins of 1 on the active rows.
    """
    if _exceeds(B, found.v):
        return found.v
    active = np.flatnonzero(found.weights > SMALLEST_MARGINAL_SHARE * found.weights.max(initial=0.0))
    if not 0 < len(active) <= B.shape[1]:
        return None
    rows = B[active].toarray() if is_sparse(B) else B[active]
    unit = np.abs(rows).max(axis=0)
    unit[unit == 0] = 1.0
    with np.errstate(over="ignore"):
        sharper = np.asarray(np.linalg.lstsq(rows / unit, np.ones(len(active)), rcond=None)[0] / unit)
    return sharper if _exceeds(B, sharper) else None


def _exceeds(B: Any, u: Array) -> bool:
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        m, size = np.asarray(B @ u), np.asarray(abs(B) @ np.abs(u))
    return bool(np.all(m > 4e-16 * size))


def _staying(chosen: Integers, B: Any, u: Array, found: Widest) -> Integers:
    """The rows with positive marginals, and then those with the least slack."""
    slack = np.asarray(B @ u) / np.maximum(np.asarray(abs(B) @ np.abs(u)), 1e-300)
    slack[found.weights > 0] = -1.0
    most = max(SMALLEST_WORKING_SET, STAYING_ROWS_PER_DIRECTION * B.shape[1])
    return chosen[np.argsort(slack, kind="stable")[:most]]


def _coming(wrong: Integers, chosen: Integers, directions: int) -> Integers:
    """The worst violated rows, and as many others spread evenly over the rest."""
    fresh = wrong[~np.isin(wrong, chosen)]
    most = ENTERING_ROWS_PER_DIRECTION * directions
    if len(fresh) <= 2 * most:
        return fresh
    rest = fresh[most:]
    return np.concatenate([fresh[:most], rest[np.linspace(0, len(rest) - 1, most).astype(np.int64)]])
