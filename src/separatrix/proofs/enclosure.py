r"""A positive dependency proven in floating point: its weights lie between positive bounds.

Given w + 1 or more rows of length w, let M have the first w of them as columns. M is invertible if ‖I − C M‖ < 1 for
some C; here C is the computed inverse. Then M λ = −a_last (with more rows, minus their weighted sum) has one solution,
within |C| |residual| / (1 − ‖I − C M‖) of any approximation λ'. All rounding errors are included. Rump, Verification
methods, Acta Numerica 19 (2010), section 10.
"""

from __future__ import annotations

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.proofs.rational import EXPONENT_OF_ZERO

EPS, TINY = float(np.finfo(np.float64).eps), float(np.finfo(np.float64).tiny)


def surely_positive(A: Array, near: Array | None = None) -> bool:
    """Whether the rows of A are proven to have rank w and a dependency with positive weights; False if in doubt.

    A has w + 1 rows, or more if ``near`` gives approximate weights > 0. The weights of the rows after the first w are
    then used without change.

    >>> surely_positive(np.array([[1.0, 1.0], [1.0, -1.0], [-4.0, 0.0]]))
    True
    >>> surely_positive(np.array([[1.0, 1.0], [1.0, -1.0], [4.0, 0.0]]))
    False
    >>> surely_positive(np.array([[1.0], [-1.0], [-2.0]]), np.array([3.0, 1.0, 1.0]))
    True
    """
    w = A.shape[1]
    if len(A) <= w or w == 0 or (near is None and len(A) != w + 1):
        return False
    with np.errstate(all="ignore"):  # overflow gives NaN, and every comparison with NaN is False
        scaled, unit = _near_one(A)
        weights = np.ones(len(A) - w) if near is None else np.ldexp(near, unit)[w:]
        return bool(np.all(weights > 0)) and _surely_positive(scaled, weights)


def _near_one(A: Array) -> tuple[Array, Integers]:
    """A scaled so that the largest entry of each column, then of each row, is in [½, 1), and the rows' exponents.

    Each entry is multiplied once by a power of two, so only entries below 2⁻¹⁰²² after scaling are rounded, by less
    than 2⁻¹⁰⁷⁴.
    """
    size = np.where(A == 0, EXPONENT_OF_ZERO, np.frexp(A)[1])
    size = size - size.max(axis=0)
    unit = size.max(axis=1)
    return np.ldexp(A, size - np.frexp(A)[1] - unit[:, None]), unit


def _surely_positive(scaled: Array, weights: Array) -> bool:
    w = scaled.shape[1]
    M, others = scaled[:w].T, scaled[w:].T
    b = -(others @ weights)
    try:
        C = np.linalg.inv(M)
    except np.linalg.LinAlgError:
        return False
    x = C @ b
    share = 2 * (w + 4) * EPS  # twice the relative rounding error of a sum of w products
    size = np.abs(C)
    off = np.abs(np.eye(w) - C @ M) + share * (size @ np.abs(M) + 1.0)
    norm = float(off.sum(axis=1).max()) * (1 + share)
    total = np.abs(others) @ weights
    residual = np.abs(b - M @ x) + share * (np.abs(M) @ np.abs(x) + len(scaled) * total)
    residual += TINY * (len(scaled) + np.abs(x).sum() + weights.sum())
    if not norm < 0.5:
        return False
    # ‖x − λ‖ ≤ ‖C residual‖/(1 − norm) in the maximum norm, and 1 − norm > ½.
    error = 2.0 * float((size @ residual).max()) * (1 + share)
    return bool(np.all(x > error))
