r"""Can a hyperplane separate two classes? A verdict with its proof. TEXTBOOK P7, B3.

With A the rows t_i x̄_i, exactly one of these is true (Gordan, Stiemke):

    separable          some v has A v > 0
    quasi-separable    no v has A v > 0, but some v has A v ≥ 0 and A v ≠ 0: rows touch every such hyperplane
    inseparable        A v ≥ 0 only where A v = 0: the classes overlap

The proofs are small. For the first, v. Against it, a few rows (at most the rank plus one) and λ > 0 with
Σ λ_i a_i = 0: whatever v, some of them has a_i·v ≤ 0. If those rows span all rows, that is overlap. If not, A v ≥ 0
forces a_i·v = 0 on what they span, so the question is asked again of the other rows, in the directions left.

Programs in floating point only propose: v is checked row by row against its own rounding, λ is found again in exact
arithmetic. What passes neither check is ``Doubtful``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.arrays import Array, Integers
from separatrix.errors import ParameterError
from separatrix.labels import encode, signed
from separatrix.proofs import rational
from separatrix.proofs.linear_programs import widest
from separatrix.proofs.verdicts import (
    MOST_EXACT_COLUMNS,
    Doubtful,
    Inseparable,
    QuasiSeparable,
    Separable,
    Verdict,
    margins_are_positive,
    rows_of,
    signed_rows,
)
from separatrix.rows import memory_rows
from separatrix.rows.block import as_csr, is_sparse
from separatrix.rows.columns import refuse_not_finite

# A marginal below this share of the largest may be rounding; tried in turn until the exact check passes.
SMALLEST_SHARES = (1e-9, 1e-6, 1e-12)
# Of a row's size: what is below the first may be zero, and is then decided exactly; below the second it is rounding.
NEAR_ZERO, ROUNDED = 1e-9, 1e-13
TOO_WIDE = f"an exact proof is looked for only up to {MOST_EXACT_COLUMNS} columns"


def separability(X: Any, y: Any, fit_intercept: bool = True) -> Verdict:
    """Whether a hyperplane has all rows of the second class on one side and all of the first on the other.

    Answers ``Separable``, ``QuasiSeparable``, ``Inseparable`` or ``Doubtful``; only the first is true as a bool.
    Each has ``verify(X, y)`` and ``explain()``. Without an intercept the hyperplane passes through the origin.

    >>> verdict = separability([[0.0], [1.0], [3.0]], ["no", "no", "yes"])
    >>> bool(verdict), verdict.margin, verdict.verify([[0.0], [1.0], [3.0]], ["no", "no", "yes"])
    (True, 1.0, True)
    >>> xor = [[-1, -1], [1, 1], [-1, 1], [1, -1]]
    >>> verdict = separability(xor, [0, 0, 1, 1])
    >>> type(verdict).__name__, verdict.rows.tolist(), verdict.weights.tolist()
    ('Inseparable', [0, 1, 2, 3], [0.25, 0.25, 0.25, 0.25])
    """
    rows = as_csr(X) if is_sparse(X) else np.asarray(X, dtype=np.float64)
    classes, codes = encode(y)
    if len(classes) != 2:
        do = "give two; ask of each pair of classes, or of one against the rest"
        raise ParameterError("y", f"it has {len(classes)} classes", do)
    if rows.ndim != 2 or rows.shape[0] != len(codes):
        raise ParameterError("X", f"its shape is {rows.shape} for {len(codes)} labels", "give one row a label")
    refuse_not_finite(memory_rows(rows, codes))
    return verdict_on(rows, signed(codes), fit_intercept)


def verdict_on(X: Any, t: Array, fit_intercept: bool = True) -> Verdict:
    """The same for rows in memory with targets ±1.

    >>> bool(verdict_on(np.array([[1.0], [2.0]]), np.array([-1.0, 1.0])))
    True
    """
    A = signed_rows(X, t, fit_intercept)
    groups: list[Integers] = []
    left, N, B = np.arange(A.shape[0]), np.eye(A.shape[1]), A
    while True:
        found = widest(B)
        if found is None:
            return Doubtful("the linear program could not be solved", fit_intercept)
        v = _separator(B, found.v, found.weights)
        if v is not None and not groups:
            return Separable.of(X, t, v, fit_intercept)
        if v is not None:
            touching = np.setdiff1d(np.arange(A.shape[0]), left)
            return QuasiSeparable.of(A, N @ v, groups, touching, fit_intercept)
        if A.shape[1] > MOST_EXACT_COLUMNS:
            return Doubtful(f"{_hardly(found.most)}; {TOO_WIDE}", fit_intercept, found.most)
        group = _group(A, left, found.weights, groups)
        if group is None:
            return Doubtful(
                f"{_hardly(found.most)}, and rounding decides whether one has any", fit_intercept, found.most
            )
        groups.append(group)
        left, N, B = _rest(A, left, np.concatenate(groups))
        if len(left) == 0:
            return Inseparable.of(A, groups, fit_intercept)


def _hardly(most: float) -> str:
    return f"no hyperplane has a margin above {most:.1e} of the rows' size"


def _separator(B: Any, v: Array, weights: Array) -> Array | None:
    """v if B v > 0 for sure; else v sharpened on its active rows, for margins below the program's tolerance."""
    if margins_are_positive(B, v):
        return v
    active = np.flatnonzero(weights > SMALLEST_SHARES[0] * weights.max(initial=0.0))
    if not 0 < len(active) <= B.shape[1]:
        return None
    rows = rows_of(B, active)
    unit = np.abs(rows).max(axis=0)
    unit[unit == 0] = 1.0
    sharper = np.linalg.lstsq(rows / unit, np.ones(len(active)), rcond=None)[0] / unit
    return sharper if margins_are_positive(B, sharper) else None


def _group(A: Any, left: Integers, weights: Array, groups: list[Integers]) -> Integers | None:
    """The rows with positive marginals, if they depend on each other exactly, up to the groups before."""
    before = rows_of(A, np.concatenate(groups)) if groups else np.zeros((0, A.shape[1]))
    for share in SMALLEST_SHARES:
        group = left[weights > share * weights.max()]
        if len(group) <= A.shape[1] + 1 and rational.positive_dependency(rows_of(A, group), before) is not None:
            return np.asarray(group, dtype=np.int64)
    return None


def _rest(A: Any, left: Integers, proof: Integers) -> tuple[Integers, Array, Array]:
    """The rows outside the span of the proof's rows, a basis N of the directions across it, and those rows times N."""
    spanning = rows_of(A, proof)
    unit = np.abs(spanning).max(axis=0)
    unit[unit == 0] = 1.0
    _, _, V = np.linalg.svd(spanning / unit)
    dimension = rational.rank(spanning)
    N = V[dimension:].T / unit[:, None]
    across = np.asarray(A[left] @ N)
    if N.shape[1] == 0:
        return left[:0], N, across[:0]
    size = np.asarray(abs(A[left]) @ (1.0 / unit))[:, None]
    across[np.abs(across) <= ROUNDED * size] = 0.0
    kept = np.any(np.abs(across) > NEAR_ZERO * size, axis=1)
    kept[~kept] = ~rational.in_span(spanning, rows_of(A, left[~kept]))
    return left[kept], N, across[kept]
