"""The slow way: verdicts by linear programs on all rows, written out, in floating point."""

import numpy as np
from scipy.optimize import linprog

from separatrix.proofs.verdicts import Inseparable, QuasiSeparable, Separable


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
