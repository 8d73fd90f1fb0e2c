r"""A positive dependency proven in floating point: its weights lie between bounds that are above zero.

w + 1 rows of length w. The first w of them, as columns of M, are independent if ‖I − C M‖ < 1 for some C, here M's
inverse as computed; then M λ = −a_last has one solution, within |C| |residual| / (1 − ‖I − C M‖) of any λ' in its
stead. All roundings are counted in. Rump, Verification methods, Acta Numerica 19 (2010), section 10.
"""

from __future__ import annotations

import numpy as np

from separatrix.arrays import Array
from separatrix.proofs.rational import units

EPS = float(np.finfo(np.float64).eps)


def surely_positive(A: Array) -> bool:
    """Whether the w + 1 rows of A have rank w and a dependency with weights above zero; False also where in doubt.

    >>> surely_positive(np.array([[1.0, 1.0], [1.0, -1.0], [-4.0, 0.0]]))
    True
    >>> surely_positive(np.array([[1.0, 1.0], [1.0, -1.0], [4.0, 0.0]]))
    False
    """
    w = A.shape[1]
    if len(A) != w + 1 or w == 0:
        return False
    scaled = np.ldexp(A, -units(A))
    scaled = np.ldexp(scaled, -units(scaled.T)[:, None])
    M, b = scaled[:-1].T, -scaled[-1]
    try:
        C = np.linalg.inv(M)
    except np.linalg.LinAlgError:
        return False
    x = C @ b
    share = 2 * (w + 4) * EPS  # twice what a product of w terms is off by, of the product of sizes
    size = np.abs(C)
    off = np.abs(np.eye(w) - C @ M) + share * (size @ np.abs(M) + 1.0)
    norm = float(off.sum(axis=1).max()) * (1 + share)
    residual = np.abs(b - M @ x) + share * (np.abs(M) @ np.abs(x) + np.abs(b)) + 1e-300
    if not norm < 0.5:
        return False
    # ‖x − λ‖ ≤ ‖C residual‖/(1 − norm) in the largest entry, and 1 − norm > ½
    error = 2.0 * float((size @ residual).max()) * (1 + share)
    return bool(np.all(x > error))
