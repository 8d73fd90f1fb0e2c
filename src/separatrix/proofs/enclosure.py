r"""A positive dependency proven in floating point: its weights lie between bounds that are above zero.

w + 1 rows of length w, or more. The first w of them, as columns of M, are independent if ‖I − C M‖ < 1 for some C, here
M's inverse as computed; then M λ = −a_last (of more rows, minus their sum with the weights given) has one solution,
within |C| |residual| / (1 − ‖I − C M‖) of any λ' in its stead. All roundings are counted in. Rump, Verification
methods, Acta Numerica 19 (2010), section 10.
"""

from __future__ import annotations

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.proofs.rational import LEAST

EPS, TINY = float(np.finfo(np.float64).eps), float(np.finfo(np.float64).tiny)


def surely_positive(A: Array, near: Array | None = None) -> bool:
    """Whether the w + 1 rows of A have rank w and a dependency with weights above zero; False also where in doubt.

    ``near``: weights > 0, for more rows than w + 1: of those past w they are taken as they are.

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
    with np.errstate(all="ignore"):  # what leaves the range of float64 is not a number, and then nothing is sure
        scaled, unit = _near_one(A)
        weights = np.ones(len(A) - w) if near is None else np.ldexp(near, unit)[w:]
        return bool(np.all(weights > 0)) and _surely_positive(scaled, weights)


def _near_one(A: Array) -> tuple[Array, Integers]:
    """A with the largest entry of each column, then of each row, in [½, 1), and the rows' exponents: one product with
    one power of two each, so that only what is below 2⁻¹⁰²² beside both is rounded, by less than 2⁻¹⁰⁷⁴.
    """
    size = np.where(A == 0, LEAST, np.frexp(A)[1])
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
    share = 2 * (w + 4) * EPS  # twice what a product of w terms is off by, of the product of sizes
    size = np.abs(C)
    off = np.abs(np.eye(w) - C @ M) + share * (size @ np.abs(M) + 1.0)
    norm = float(off.sum(axis=1).max()) * (1 + share)
    total = np.abs(others) @ weights
    residual = np.abs(b - M @ x) + share * (np.abs(M) @ np.abs(x) + len(scaled) * total)
    residual += TINY * (len(scaled) + np.abs(x).sum() + weights.sum())
    if not norm < 0.5:
        return False
    # ‖x − λ‖ ≤ ‖C residual‖/(1 − norm) in the largest entry, and 1 − norm > ½
    error = 2.0 * float((size @ residual).max()) * (1 + share)
    return bool(np.all(x > error))
