"""Exact positive dependencies among rows, and integer bases of the orthogonal complement of their span.

The rows are proposed by a linear program in floating point. There are at most twice as many of them as their rank.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.base.modular import pivots
from separatrix.proofs.rational import integers, smallest
from separatrix.proofs.residues import solve, vanishing

# Numbers of bits to which approximate weights are rounded before the other weights are computed from them exactly. They
# are tried in turn until all weights are positive, since a weight may be small beside the rounding error of another.
WEIGHT_BITS = (12, 53)


def positive_dependency(A: Array, before: Array, near: Array | None = None) -> tuple[list[int], list[int]] | None:
    """Integers λ > 0 and μ with Σ λ_i a_i + Σ μ_j c_j = 0, for rows a_i of A and c_j of ``before``.

    None if there are no such integers, or if λ is not unique up to a factor and ``near`` is not given. ``near`` is an
    approximate λ > 0. It supplies the weights of rows that are linear combinations of earlier rows.

    >>> positive_dependency(np.array([[1.0, 1.0], [1.0, -1.0], [-4.0, 0.0]]), np.zeros((0, 2)))
    ([2, 2, 1], [])
    >>> positive_dependency(np.array([[1.0], [-1.0], [-2.0]]), np.zeros((0, 1)), np.array([3.0, 1.0, 1.0]))
    ([3, 1, 1], [])
    """
    first, n = len(before), len(before) + len(A)
    both = np.vstack([before, A])
    pivot = pivots(both.T)
    fixed = sorted(set(range(first, n)) - set(pivot.columns))
    if n == first or not fixed or (near is None and fixed != [n - 1]):
        return None
    for bits in WEIGHT_BITS if near is not None else (0,):
        shares = np.ones((1, 1), dtype=object) if near is None else _rounded(near[np.array(fixed) - first], bits)
        x = solve(both[pivot.columns][:, pivot.rows].T, -both[fixed][:, pivot.rows].T, pivot.p, shares)
        weights = [0] * n
        for j, number in zip([*pivot.columns, *fixed], [*x.above[:, 0], *(shares[:, 0] * x.below)], strict=True):
            weights[j] = int(number)
        weights = smallest(weights)
        if min(weights[first:]) > 0:
            return weights[first:], weights[:first]
    return None


def _rounded(near: Array, bits: int) -> AnyArray:
    """Nonzero integers (n, 1) that are proportional to ``near`` rounded to this many bits."""
    mantissa, exponent = np.frexp(near)
    return integers(np.ldexp(np.round(np.ldexp(mantissa, bits)), exponent - bits)[:, None])


class Dependency(NamedTuple):
    """Rows and integers λ > 0 with Σ λ_i a_i = 0."""

    rows: Integers
    multipliers: tuple[int, ...]


def joined(known: Dependency | None, group: Integers, own: list[int], through: list[int]) -> Dependency:
    """A dependency among the known rows and a group of rows, which depend on each other modulo the known rows.

    ``own`` are the multipliers of the group and ``through`` those of the known rows, which may have either sign. Adding
    a multiple of the known dependency, which sums to zero, makes them positive.

    >>> joined(Dependency(np.array([0, 1]), (1, 2)), np.array([5]), [3], [0, -4]).multipliers
    (3, 2, 3)
    """
    if known is None:
        return Dependency(group, tuple(own))
    more = 1 + max(0, *(-(mu // m) for mu, m in zip(through, known.multipliers, strict=True)))
    total = [more * m + mu for mu, m in zip(through, known.multipliers, strict=True)]
    return Dependency(np.concatenate([known.rows, group]), tuple(smallest([*total, *own])))


class Across(NamedTuple):
    """An integer basis (w, q) of the orthogonal complement of some rows.

    Row ``free[k]`` of ``basis`` is ``below`` in column k and zero in the other columns.
    """

    basis: AnyArray
    free: list[int]
    below: int


def across(A: Array) -> Across | None:
    """An exact integer basis of {v : A v = 0}; None if the rank of A modulo the chosen prime is too low.

    >>> across(np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 0.0]])).basis.T.tolist()
    [[-2, 0, 1]]
    """
    w = A.shape[1]
    pivot = pivots(A)
    free = [j for j in range(w) if j not in set(pivot.columns)]
    basis = np.zeros((w, len(free)), dtype=object)
    if not free:
        return Across(basis, free, 1)
    rows = A[pivot.rows]
    x = solve(rows[:, pivot.columns], -rows[:, free], pivot.p)
    basis[pivot.columns] = x.above
    basis[free, np.arange(len(free))] = x.below
    # The rank modulo a prime may be lower than the rank; then some row is not orthogonal to the basis.
    return Across(basis, free, x.below) if bool(vanishing(A, basis).all()) else None
