"""Positive dependencies among rows, and what lies across their span: whole numbers, found exactly.

The rows are those that a linear program in floating point proposes; there are at most twice their rank of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.base.modular import pivots
from separatrix.proofs.rational import integers, smallest
from separatrix.proofs.residues import solve, vanishing

# Digits kept of a weight that others follow from.
DIGITS = 12


def positive_dependency(A: Array, before: Array, near: Array | None = None) -> tuple[list[int], list[int]] | None:
    """Whole λ > 0 and μ with Σ λ_i a_i + Σ μ_j c_j = 0, for rows a_i of A and c_j of ``before``.

    None where there is none, and where λ is not unique up to a factor: then fewer rows would do, or ``near`` is needed,
    λ > 0 to rounding, from which the λ of rows that depend on those before them are taken.

    >>> positive_dependency(np.array([[1.0, 1.0], [1.0, -1.0], [-4.0, 0.0]]), np.zeros((0, 2)))
    ([2, 2, 1], [])
    >>> positive_dependency(np.array([[1.0], [-1.0], [-2.0]]), np.zeros((0, 1)), np.array([3.0, 1.0, 1.0]))
    ([3, 1, 1], [])
    """
    first, n = len(before), len(before) + len(A)
    both = np.vstack([before, A])
    found = pivots(both.T)
    fixed = sorted(set(range(first, n)) - set(found.columns))
    if n == first or not fixed or (near is None and fixed != [n - 1]):
        return None
    shares = np.ones((1, 1), dtype=object) if near is None else _few_digits(near[np.array(fixed) - first])
    x = solve(both[found.columns][:, found.rows].T, -both[fixed][:, found.rows].T, found.p, shares)
    weights = [0] * n
    for j, number in zip([*found.columns, *fixed], [*x.above[:, 0], *(shares[:, 0] * x.below)], strict=True):
        weights[j] = int(number)
    weights = smallest(weights)
    return (weights[first:], weights[:first]) if min(weights[first:]) > 0 else None


def _few_digits(near: Array) -> AnyArray:
    """Whole numbers in about these proportions, (n, 1), none of them zero."""
    mantissa, exponent = np.frexp(near)
    return integers(np.ldexp(np.round(np.ldexp(mantissa, DIGITS)), exponent - DIGITS)[:, None])


class Dependency(NamedTuple):
    """Rows and whole λ > 0 on them, of which Σ λ_i a_i = 0."""

    rows: Integers
    multipliers: tuple[int, ...]


def joined(known: Dependency | None, group: Integers, own: list[int], through: list[int]) -> Dependency:
    """A dependency on the rows of a known one and of a group whose rows depend on each other up to the known rows.

    What goes through the known rows may have either sign; enough of their own λ, which sums to zero already, makes
    it positive.

    >>> joined(Dependency(np.array([0, 1]), (1, 2)), np.array([5]), [3], [0, -4]).multipliers
    (3, 2, 3)
    """
    if known is None:
        return Dependency(group, tuple(own))
    more = 1 + max(0, *(-(mu // m) for mu, m in zip(through, known.multipliers, strict=True)))
    total = [more * m + mu for mu, m in zip(through, known.multipliers, strict=True)]
    return Dependency(np.concatenate([known.rows, group]), tuple(smallest([*total, *own])))


class Across(NamedTuple):
    """A basis (w, q) in whole numbers of what is orthogonal to some rows: ``basis[free[k]]`` is ``below`` in column k
    and zero in the others.
    """

    basis: AnyArray
    free: list[int]
    below: int


def across(A: Array) -> Across | None:
    """A basis of {v : A v = 0}, exactly; None where that is not found.

    >>> across(np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 0.0]])).basis.T.tolist()
    [[-2, 0, 1]]
    """
    w = A.shape[1]
    found = pivots(A)
    free = [j for j in range(w) if j not in set(found.columns)]
    basis = np.zeros((w, len(free)), dtype=object)
    if not free:
        return Across(basis, free, 1)
    rows = A[found.rows]
    x = solve(rows[:, found.columns], -rows[:, free], found.p)
    basis[found.columns] = x.above
    basis[free, np.arange(len(free))] = x.below
    # modulo a prime a rank may come out lower than it is: then some row is not orthogonal
    return Across(basis, free, x.below) if bool(vanishing(A, basis).all()) else None
