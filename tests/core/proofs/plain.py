"""The slow way: verdicts by linear programs on all rows, written out, in floating point and in exact arithmetic."""

from fractions import Fraction
from math import lcm

import numpy as np
from scipy.optimize import linprog

from separatrix.core.proofs.verdicts import Inseparable, QuasiSeparable, Separable


def differences(X, codes, fit_intercept):
    """(e_y − e_k) ⊗ x̄ for all rows and all k ≠ y, of length K (d + 1); for two classes t x̄."""
    rows = np.column_stack([np.ones(len(X)), X]) if fit_intercept else np.asarray(X, dtype=float)
    K = int(codes.max()) + 1
    if K == 2:
        return rows * (2.0 * codes - 1)[:, None]
    parts = []
    for x, y in zip(rows, codes, strict=True):
        for k in range(K):
            if k != y:
                a = np.zeros((K, rows.shape[1]))
                a[y], a[k] = x, -x
                parts.append(a.ravel())
    return np.array(parts)


def by_two_programs(X, codes, fit_intercept=True):
    """Is A v ≥ 1 feasible; if not, can Σ A v be positive under A v ≥ 0, |v| ≤ 1?"""
    A = differences(X, codes, fit_intercept)
    A = A / np.maximum(np.abs(A).max(axis=0), 1e-300)
    if linprog(np.zeros(A.shape[1]), A_ub=-A, b_ub=-np.ones(len(A)), bounds=(None, None)).status == 0:
        return Separable
    gain = -linprog(-A.sum(axis=0), A_ub=-A, b_ub=np.zeros(len(A)), bounds=(-1, 1)).fun
    return QuasiSeparable if gain > 1e-7 else Inseparable


def exactly(X, codes, fit_intercept=True):
    """The kind of verdict in rational arithmetic, for a few rows: by the theorems of Gordan and of Stiemke."""
    one = [1] if fit_intercept else []
    A = _integral([[*one, *(Fraction(x) for x in row)] for row in np.asarray(X, dtype=float).tolist()])
    K, width = int(codes.max()) + 1, len(A[0])
    rows = []
    for a, y in zip(A, codes.tolist(), strict=True):
        for k in set(range(K)) - {y}:
            # The scores of class 0 are zero.
            blocks = [[0] * width for _ in range(K)]
            blocks[y], blocks[k] = a, [-x for x in a]
            rows.append([x for block in blocks[1:] for x in block])
    if not _has_nonnegative_solution([[*row, 1] for row in rows], [0] * len(rows[0]) + [1]):
        return Separable
    overlap = _has_nonnegative_solution(rows, [-sum(column) for column in zip(*rows, strict=True)])
    return Inseparable if overlap else QuasiSeparable


def _integral(A):
    """The columns of A, each multiplied by the least common denominator of its entries."""
    below = [lcm(*(Fraction(x).denominator for x in column)) for column in zip(*A, strict=True)]
    return [[int(x * by) for x, by in zip(row, below, strict=True)] for row in A]


def _has_nonnegative_solution(rows, target):
    """Whether some λ ≥ 0 has Σ λ_i rows_i = target: the first phase of the simplex method, by Bland's rule."""
    table = []
    for column, b in zip(zip(*rows, strict=True), target, strict=True):
        sign = -1 if b < 0 else 1
        table.append([Fraction(sign * x) for x in (*column, b)])
    basis = [None] * len(table)
    cost = [-sum(column) for column in zip(*table, strict=True)]
    while True:
        j = next((j for j in range(len(rows)) if cost[j] < 0), None)
        if j is None:
            return cost[-1] == 0
        # An artificial variable of the basis (None) leaves before the others.
        ratios = [
            (row[-1] / row[j], -1 if basis[i] is None else basis[i], i) for i, row in enumerate(table) if row[j] > 0
        ]
        _, _, i = min(ratios)
        pivot = [x / table[i][j] for x in table[i]]
        table = [pivot if r == i else _less(row, row[j], pivot) for r, row in enumerate(table)]
        cost, basis[i] = _less(cost, cost[j], pivot), j


def _less(row, factor, pivot):
    return [x - factor * y for x, y in zip(row, pivot, strict=True)] if factor else row
