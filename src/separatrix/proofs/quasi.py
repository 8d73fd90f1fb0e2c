r"""The direction v of quasi-complete separation, A v ≥ 0 and A v ≠ 0, in integers and with few columns.

The rows that lie on every such hyperplane span a subspace, and v is exactly orthogonal to it. v is a combination of an
integer basis of the orthogonal complement; its coefficients come from a linear program and are rounded to few bits.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.proofs.class_differences import Differences, chunks
from separatrix.proofs.dependencies import Across
from separatrix.proofs.linear_programs import fewest
from separatrix.proofs.rational import integers, smallest
from separatrix.proofs.residues import vanishing

# Numbers of bits to which coefficients are rounded. They are tried in turn until v is proven to separate.
COEFFICIENT_BITS = (8, 24, 52)
# Coefficients below this share of the largest are rounding errors and are set to zero.
SMALLEST_COEFFICIENT_SHARE = 1e-11
# Largest number of columns in use for which the omission of each column is tried. Every trial solves the problem again.
MOST_COLUMNS_TRIED = 64
# Scores above this multiple of the largest observed rounding error are accepted as nonzero without an exact check.
FACTOR_ABOVE_ROUNDING = 1000.0


def rounded(whole: AnyArray) -> Array:
    """Integers divided by the largest, each rounded once to a float.

    >>> rounded(np.array([10**400, -(10**399)], dtype=object)).tolist()
    [1.0, -0.1]
    """
    largest = max((abs(x) for x in whole.ravel()), default=0) or 1
    return np.array([x / largest for x in whole.ravel()], dtype=np.float64).reshape(whole.shape)


def directions(D: Differences, basis: Across) -> Array:
    """The basis in floating point, orthonormal in the units of the columns, (width, q).

    >>> from separatrix.proofs.dependencies import across
    >>> D = Differences(np.array([[2.0], [2.0]]), np.array([0, 1]), 2)
    >>> np.abs(directions(D, across(D.dense(np.arange(2))))).round(3).tolist()  # (1, 2)·v = 0, in units of 1 and 2
    [[0.707], [0.354]]
    """
    scaled = np.column_stack([rounded_in(column, D.unit) for column in basis.basis.T])
    Q, _ = np.linalg.qr(scaled)
    return np.asarray(Q / D.unit[:, None])


def rounded_in(whole: AnyArray, unit: Array) -> Array:
    """Integers times units that are powers of two, divided by the largest, so that no entry overflows float64.

    >>> rounded_in(np.array([2, 1], dtype=object), np.array([1.0, 4.0])).tolist()
    [0.5, 1.0]
    """
    exponent = np.frexp(unit)[1]
    least = int(exponent.min())
    shifted = np.array([x << int(e - least) for x, e in zip(whole, exponent, strict=True)], dtype=object)
    return rounded(shifted)


def on(D: Differences, v: AnyArray) -> Integers:
    """The rows with a·v = 0 exactly, for an integer vector v.

    >>> on(Differences(np.array([[3.0], [0.5]]), np.array([0, 1]), 2), np.array([-3, 1], dtype=object)).tolist()
    [0]
    """
    approximate = rounded(v)
    near = np.flatnonzero(np.abs(D.margins(approximate)) <= 2 * D.rounding(approximate))
    kept = [part[vanishing(D.dense(part), v[:, None])] for part in chunks(near)]
    return np.concatenate([np.zeros(0, dtype=np.int64), *kept])


def outside(D: Differences, basis: Across, N: Array, within: Integers, near: float = 1e-9) -> AnyArray:
    """A mask (count,) of the rows that are not in the span of the rows ``within``.

    A row whose score in a random direction orthogonal to the span is clearly nonzero is outside; rows with scores near
    zero are checked exactly. Without rounding, the rows ``within`` would have score zero, so their scores show how
    large rounding errors are.

    >>> from separatrix.proofs.dependencies import across
    >>> D = Differences(np.array([[2.0], [2.0], [3.0]]), np.array([0, 1, 1]), 2)
    >>> basis = across(D.dense(np.arange(2)))
    >>> outside(D, basis, directions(D, basis), np.arange(2)).tolist()
    [False, False, True]
    """
    v = N @ np.random.default_rng(0).standard_normal(N.shape[1])
    scores = np.abs(D.margins(v))
    rounding = max(
        near * float(np.max(np.abs(v) * D.unit)), FACTOR_ABOVE_ROUNDING * float(np.max(scores[within], initial=0.0))
    )
    away = ~(scores <= rounding)
    close = np.flatnonzero(~away)
    for part in chunks(close):
        away[part] = ~vanishing(D.dense(part), basis.basis)
    return away


def direction_in(D: Differences, basis: Across, v: Array, left: AnyArray) -> AnyArray | None:
    """An integer direction near v, exactly orthogonal to the span and proven positive on the rows ``left``, or None.

    >>> from separatrix.proofs.dependencies import across
    >>> D = Differences(np.array([[2.0], [2.0], [3.0]]), np.array([0, 1, 1]), 2)
    >>> basis = across(D.dense(np.arange(2)))
    >>> direction_in(D, basis, np.array([-2.0000001, 1.0]), np.array([False, False, True])).tolist()
    [-2, 1]
    """
    size = np.abs(v) * D.unit
    coefficients = np.where(size > SMALLEST_COEFFICIENT_SHARE * size.max(), v, 0.0)[basis.free]
    mantissa, exponent = np.frexp(coefficients)
    for digits in COEFFICIENT_BITS:
        kept = np.ldexp(np.round(np.ldexp(mantissa, digits)), exponent - digits)
        whole = basis.basis @ integers(kept[:, None])[:, 0]
        whole = np.array(smallest([int(x) for x in whole]), dtype=object)
        if np.any(whole != 0) and len(D.not_positive(rounded(whole), whole.tolist(), left)) == 0:
            return whole
    return None


def used(W: AnyArray) -> Integers:
    """The columns with a nonzero weight, for weights (K, d + 1).

    >>> used(np.array([[0, 0, 0], [5, 0, 1]])).tolist()
    [1]
    """
    return np.flatnonzero(np.any(W[:, 1:] != 0, axis=0))


def fewest_columns(
    D: Differences, v: AnyArray, rows: Integers, spanning: Integers, again: Callable[[Integers], AnyArray | None]
) -> AnyArray:
    """Weights (K, d + 1) that use a minimal set of columns: none of them can be omitted.

    The columns of the v with minimal Σ |v_j| are tried first, then each column is tried for omission. ``again`` returns
    weights that use only the given columns, or None if there are none.

    >>> D = Differences(np.array([[0.0, 1.0], [1.0, 1.0], [1.0, 1.0]]), np.array([0, 0, 1]), 2)
    >>> touching = np.array([1, 2])
    >>> v = np.array([2, -1, -1], dtype=object)
    >>> fewest_columns(D, v, np.array([0]), touching, lambda columns: None)[1].tolist()  # no other will do
    [2, -1, -1]
    """
    W = D.weights(v)

    def within(columns: Integers) -> bool:
        nonlocal W
        if len(columns) + D.fit_intercept == 0:
            return False
        found = again(columns)
        if found is not None:
            W = np.zeros_like(W)
            W[:, np.concatenate([[0], columns + 1])] = found
        return found is not None

    proposed = fewest(D.take(rows), D.take(spanning), D.unit)
    if proposed is not None:
        few = used(D.weights(proposed))
        if len(few) < len(used(W)):
            within(few)
    if len(used(W)) <= MOST_COLUMNS_TRIED:
        for j in used(W)[::-1]:
            if j in used(W):
                within(np.setdiff1d(used(W), [j]))
    return W
