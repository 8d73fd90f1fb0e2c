r"""Is there a v with a·v > 0 for all rows? By linear programs on few of them.

    given      rows a_c by number, a basis N of the directions that are still open
    each round maximise s subject to a_c·v ≥ s on the working set, v = N u, |u| ≤ 1; then look at all rows, one pass
    returns    v, sure to be positive on all rows, or rows of the working set that no v is positive on
    stops      since s never rises: rows that carry the optimum stay, and others too as long as it does not fall

Of many rows Newton's method (``newton``) is asked first, which often finds v, and else the rows to begin with. Rows
that the last v violates come in: the worst, and others spread over the rest; rows with slack go out. Dantzig and
Wolfe's column generation on the dual side; a random subset alone does not find the few rows of a light overlap.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.base.watching import Part, watched
from separatrix.proofs.class_differences import CHUNK, Differences
from separatrix.proofs.linear_programs import Widest, widest
from separatrix.proofs.newton_separator import nearly
from separatrix.rows.block import is_sparse

# The first working set, and what comes in and may stay a round, in multiples of the directions.
FIRST, COMING, STAYING = 3, 1, 2
# Rows by which Newton's method proposes a first v, in multiples of the directions, where these are not too many.
SAMPLE, MOST_SQUARES = 40, 500
# Fewer rows than this are one program.
FEW = 150
MOST_ROUNDS = 500
ATTEMPTS = 12
# A marginal below this share of the largest may be rounding.
SMALLEST_SHARE = 1e-9
# A score across the proof's rows below this share of a row's size is rounding.
ROUNDED = 1e-13
NONE = np.zeros(0)


class Found(NamedTuple):
    """``v`` positive on all rows; or None, and then ``rows`` whose ``weights`` ≥ 0 say that no v is.

    ``most``: what no s exceeds, in units in which entries are near 1. ``m``: the margins of v.
    """

    v: Array | None
    rows: Integers
    weights: Array
    most: float
    m: Array


def search(D: Differences, N: AnyArray | None = None, left: AnyArray | None = None) -> Found | None:
    """V = N u with a·v > 0 on all rows that are ``left``, or rows against it; None where a program fails.

    >>> D = Differences(np.array([[0.0], [1.0], [3.0]]), np.array([0, 0, 1]), 2)
    >>> bool(np.all(D.margins(search(D).v) > 0))
    True
    """
    chosen = _first(D, N, left)
    if isinstance(chosen, Found):
        return chosen
    least, tell = np.inf, watched()
    for k in range(1, MOST_ROUNDS + 1):
        if tell is not None:
            tell(Part("separability: round", k, note=f"{len(chosen)} of {D.count} rows at hand"))
        B = in_directions(D, chosen, N)
        found = widest(B)
        if found is None:
            return None
        u = _sharpened(B, found)
        if u is None:
            return Found(None, chosen, found.weights, found.most, NONE)
        v = u if N is None else N @ u
        m = D.margins(v)
        wrong = D.not_positive(v, left=left, m=m)
        if len(wrong) == 0 and left is not None:
            wrong = np.setdiff1d(_hardly(D, v, m, left), chosen, assume_unique=True)
        if len(wrong) == 0:
            return Found(v, chosen, found.weights, found.most, m)
        fresh = np.setdiff1d(wrong, chosen, assume_unique=True)
        if len(fresh) == 0:  # positive in the directions, but not as rounded
            return Found(None, chosen, found.weights, found.most, NONE)
        # rows go out only where s falls: at the same s those that went would come back, round after round
        kept, least = (_staying(chosen, B, u, found), found.s) if found.s < least else (chosen, least)
        chosen = np.concatenate([kept, _coming(wrong, chosen, B.shape[1])])
    return None


def attempts(D: Differences, found: Found, N: AnyArray | None = None) -> Iterator[Found]:
    """The rows found, then others of the working set that no v is positive on either: each time less the row with the
    largest weight, since rows that depend on each other but for rounding prove nothing exactly.

    >>> D = Differences(np.array([[0.0], [0.0], [0.0]]), np.array([0, 1, 1]), 2)
    >>> [sorted(found.rows.tolist()) for found in attempts(D, search(D))][0]
    [0, 1, 2]
    """
    for _ in range(ATTEMPTS):
        yield found
        rows = found.rows[np.arange(len(found.rows)) != np.argmax(found.weights)]
        if len(rows) == 0:
            return
        B = in_directions(D, rows, N)
        other = widest(B)
        if other is None or _sharpened(B, other) is not None:
            return
        found = Found(None, rows, other.weights, other.most, NONE)


def _first(D: Differences, N: AnyArray | None, left: AnyArray | None) -> Integers | Found:
    """All rows where they are few; else v by Newton's method, or the rows with the least margins by it and others by
    a fixed draw.
    """
    directions = D.width if N is None else N.shape[1]
    size = max(FEW, FIRST * directions)
    rng = np.random.default_rng(0)
    if left is not None or D.count <= 4 * size:
        numbers = np.arange(D.count) if left is None else np.flatnonzero(left)
        return numbers if len(numbers) <= size else np.sort(rng.choice(numbers, size, replace=False))
    drawn = np.unique(rng.integers(0, D.count, max(2 * size, SAMPLE * directions)))
    if directions > MOST_SQUARES:
        return np.sort(rng.choice(drawn, size, replace=False))
    near = nearly(D, drawn)
    if near.separates:
        return Found(near.v, drawn, np.zeros(len(drawn)), np.inf, near.m)
    worst = np.argpartition(near.m, size // 2)[: size // 2]
    return np.union1d(worst, rng.choice(drawn, size - size // 2, replace=False))


def in_directions(D: Differences, which: Integers, N: AnyArray | None) -> Any:
    """Some rows times N, whose columns are of unit length in the units; what is left of sums that cancel is zero.

    >>> D = Differences(np.array([[2.0]]), np.array([1]), 2)
    >>> in_directions(D, np.array([0]), np.array([[1.0], [-0.5]])).tolist()
    [[0.0]]
    """
    rows = D.take(which)
    if N is None:
        return rows
    across = np.asarray(rows @ N)
    size = np.asarray(abs(rows) @ (1.0 / D.unit))[:, None]
    across[np.abs(across) <= ROUNDED * size] = 0.0
    return across


def _hardly(D: Differences, v: Array, m: Array, left: AnyArray) -> Integers:
    """The rows whose positive margins may be what is left of sums that cancel, since N is rounded."""
    near = np.flatnonzero(left & (m <= 2 * D.rounding(v)))
    parts = [near[start : start + CHUNK] for start in range(0, len(near), CHUNK)]
    kept = [part[m[part] <= ROUNDED * np.asarray(abs(D.take(part)) @ np.abs(v))] for part in parts]
    return np.concatenate([np.zeros(0, dtype=np.int64), *kept])


def _sharpened(B: Any, found: Widest) -> Array | None:
    """u with B u > 0 to rounding: the program's, or where its s is below its tolerance, s = 1 on the active rows."""
    if _exceeds(B, found.v):
        return found.v
    active = np.flatnonzero(found.weights > SMALLEST_SHARE * found.weights.max(initial=0.0))
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
    """The rows that carry the optimum, and those with the least slack."""
    slack = np.asarray(B @ u) / np.maximum(np.asarray(abs(B) @ np.abs(u)), 1e-300)
    slack[found.weights > 0] = -1.0
    most = max(FEW, STAYING * B.shape[1])
    return chosen[np.argsort(slack, kind="stable")[:most]]


def _coming(wrong: Integers, chosen: Integers, directions: int) -> Integers:
    """Of the violated rows the worst, and as many spread over the others."""
    fresh = wrong[~np.isin(wrong, chosen)]
    most = COMING * directions
    if len(fresh) <= 2 * most:
        return fresh
    rest = fresh[most:]
    return np.concatenate([fresh[:most], rest[np.linspace(0, len(rest) - 1, most).astype(np.int64)]])
