"""Exact arithmetic on rows of floats: every float64 is a fraction, so signs and dependencies can be decided.

Elimination is Bareiss's (1968): over whole numbers, every division leaves no remainder, and no gcd is needed.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from separatrix.arrays import AnyArray, Array, Integers


def integers(A: Array) -> AnyArray:
    """A with each column multiplied by a power of two that makes it whole: Python integers, without rounding.

    >>> integers(np.array([[0.5, 3.0], [0.25, 1.0]])).tolist()
    [[2, 3], [1, 1]]
    """
    whole = np.empty(A.shape, dtype=object)
    for j in range(A.shape[1]):
        ratios = [float(x).as_integer_ratio() for x in A[:, j]]
        unit = max((below for _, below in ratios), default=1)
        whole[:, j] = [above * (unit // below) for above, below in ratios]
    return whole


def sign_of_dot(x: Array, v: Array) -> int:
    """The sign of x·v, exactly.

    >>> sign_of_dot(np.array([1.0, 1e-30, -1.0]), np.ones(3))
    1
    """
    total = sum((Fraction(a) * Fraction(c) for a, c in zip(x.tolist(), v.tolist(), strict=True)), Fraction(0))
    return (total > 0) - (total < 0)


class Echelon(NamedTuple):
    """A matrix after Gauss–Jordan elimination: ``M[k, pivots[k]]`` = ``scale``, zero elsewhere in those columns."""

    M: AnyArray
    pivots: list[int]
    scale: int

    @property
    def free(self) -> list[int]:
        return sorted(set(range(self.M.shape[1])) - set(self.pivots))


def eliminate(M: AnyArray) -> Echelon:
    """Gauss–Jordan elimination of whole numbers, pivots in the leftmost columns that allow one.

    >>> eliminate(np.array([[2, 4, 2], [1, 3, 5]], dtype=object))
    Echelon(M=array([[2, 0, -14], [0, 2, 8]], dtype=object), pivots=[0, 1], scale=2)
    """
    M = M.copy()
    pivots: list[int] = []
    scale = 1
    for j in range(M.shape[1]):
        k = len(pivots)
        if k == len(M):
            break
        candidates = [i for i in range(k, len(M)) if M[i, j] != 0]
        if not candidates:
            continue
        M[[k, candidates[0]]] = M[[candidates[0], k]]
        pivot = M[k, j]
        others = np.arange(len(M)) != k
        M[others] = (pivot * M[others] - np.multiply.outer(M[others, j], M[k])) // scale
        pivots.append(j)
        scale = int(pivot)
    return Echelon(M, pivots, scale)


def rank(A: Array) -> int:
    """The rank of a matrix of floats, exactly.

    >>> rank(np.array([[1.0, 3.0], [0.1, 0.3]])), rank(np.array([[1.0, 3.0], [0.25, 0.75]]))  # 3 * 0.1 is not 0.3
    (2, 1)
    """
    return len(eliminate(integers(A)).pivots)


def in_span(A: Array, others: Array) -> AnyArray:
    """Which rows of ``others`` are combinations of the rows of A, exactly.

    >>> in_span(np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 0.0]]), np.array([[3.0, 4.0, 6.0], [0.0, 0.0, 1.0]])).tolist()
    [True, False]
    """
    whole = integers(np.vstack([A, others]))
    found = eliminate(whole[: len(A)])
    inside = np.ones(len(others), dtype=bool)
    for j in found.free:  # across the span: one direction for each column without a pivot
        across = [0] * A.shape[1]
        across[j] = found.scale
        for k, pivot in enumerate(found.pivots):
            across[pivot] = -found.M[k, j]
        inside &= np.array([r == 0 for r in whole[len(A) :] @ np.array(across, dtype=object)], dtype=bool)
    return inside


def positive_dependency(A: Array, before: Array) -> tuple[list[Fraction], list[Fraction]] | None:
    """λ > 0 and μ with Σ λ_i a_i + Σ μ_j c_j = 0, for rows a_i of A and c_j of ``before``.

    None where there is none, and where λ is not unique up to a factor: then fewer rows would do.

    >>> found = positive_dependency(np.array([[1.0, 1.0], [1.0, -1.0], [-4.0, 0.0]]), np.zeros((0, 2)))
    >>> [str(x) for x in found[0]]
    ['2', '2', '1']
    """
    first, last = len(before), len(before) + len(A) - 1
    found = eliminate(integers(np.vstack([before, A])).T)
    if last < first or [j for j in found.free if j >= first] != [last]:
        return None
    solution = [Fraction(0)] * last
    for k, j in enumerate(found.pivots):
        solution[j] = Fraction(-int(found.M[k, last]), found.scale)
    weights = [*solution[first:], Fraction(1)]
    return (weights, solution[:first]) if min(weights) > 0 else None


def combined(groups: list[Integers], A: Array) -> dict[int, Fraction] | None:
    """λ > 0 on all rows of all groups with Aᵀλ = 0, λ summing to 1; None where a group has no dependency.

    Each group's rows depend on each other up to combinations of the groups before. Those combinations may have
    either sign; enough of the groups' own λ, which sums to zero already, makes them positive.
    """
    total: dict[int, Fraction] = {}
    seen: list[int] = []
    for group in groups:
        found = positive_dependency(A[group], A[seen])
        if found is None:
            return None
        own, through = found
        needed = [-mu / total[row] for row, mu in zip(seen, through, strict=True)]
        more = max(needed, default=Fraction(0)) + 1
        total = {row: more * total[row] + mu for row, mu in zip(seen, through, strict=True)}
        total |= dict(zip(group.tolist(), own, strict=True))
        seen += group.tolist()
    whole = sum(total.values(), Fraction(0))
    return {row: weight / whole for row, weight in total.items()}
