"""Factors of symmetric positive definite matrices whose diagonal may span many orders of magnitude."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import isfinite, sqrt
from typing import Any

import numpy as np

from separatrix.base.arrays import EPS, Array, length

# The rounding error of a matrix and its factor, in units in the last place per row of the matrix.
ROUNDING_ULPS_PER_ROW = 16
# Options of LAPACK's functions, given by position: given by name they take as long as the work on a small matrix.
_UPPER, _TRANSPOSED, _CLEAN, _AS_IT_IS, _OVERWRITE = 0, 1, 1, 0, 1


@cache
def _lapack() -> Any:
    """LAPACK's functions, imported on first use. Repeating the import statement takes as long as a small solve."""
    import scipy.linalg.lapack

    return scipy.linalg.lapack


def is_positive_definite(A: Array) -> bool:
    """Whether a symmetric matrix with finite entries has a Cholesky factor in float64. A is overwritten.

    >>> is_positive_definite(np.eye(2)), is_positive_definite(np.ones((2, 2)) - np.eye(2))
    (True, False)
    """
    return len(A) == 0 or _lapack().dpotrf(A.T, _UPPER, _AS_IT_IS, _OVERWRITE)[1] == 0


@dataclass(frozen=True)
class Factor:
    """H = D L Lᵀ D with D = diag(H)^½. The scaling removes the columns' units."""

    lower: Array
    d: Array
    squared: bool = True  # computed from H itself, which has half the digits of its root

    @classmethod
    def of(cls, H: Array) -> Factor | None:
        """The factor of H, or None if H is not positive definite to working precision.

        >>> Factor.of(np.array([[1.0, 1.0], [1.0, 1.0]])) is None
        True
        """
        diagonal = H.diagonal()
        if len(H) == 0:
            return cls(H, diagonal)
        # An entry that is not finite makes the sum not finite. The sum of finite entries may overflow, too. For small
        # matrices the minimum of a list takes a fifth of the time of NumPy's.
        if not (min(diagonal.tolist()) > 0 and (isfinite(H.sum()) or np.isfinite(H).all())):
            return None
        d = np.sqrt(diagonal)
        scaled = H / d
        scaled /= d[:, None]
        # LAPACK stores columns, so the upper triangle of the transpose is the lower triangle here, without a copy.
        upper, failed = _lapack().dpotrf(scaled.T, _UPPER, _CLEAN, _OVERWRITE)
        if failed or min(upper.diagonal().tolist()) ** 2 < 8 * len(H) * EPS:
            return None
        return cls(upper.T, d)

    @classmethod
    def of_root(cls, R: Array) -> Factor | None:
        """The factor of H = RᵀR, for R upper triangular. It works for condition numbers too large for H itself.

        >>> R = np.array([[1.0, 1.0], [0.0, 1e-10]])
        >>> Factor.of(R.T @ R) is None, Factor.of_root(R) is None
        (True, False)
        """
        d = np.linalg.norm(R, axis=0)
        if R.shape[0] < R.shape[1] or not (np.all(np.isfinite(R)) and np.all(d > 0)):
            return None
        lower = (R / d).T
        if np.min(np.abs(np.diag(lower)), initial=np.inf) < 8 * len(d) * EPS:
            return None
        return cls(np.ascontiguousarray(lower), d, squared=False)

    def half(self, B: Array) -> Array:
        """L⁻¹ D⁻¹ B, whose squared column lengths are bᵀ H⁻¹ b."""
        scaled = B / (self.d if B.ndim == 1 else self.d[:, None])
        return (
            scaled if len(self.d) == 0 else np.asarray(_lapack().dtrtrs(self.lower.T, scaled, _UPPER, _TRANSPOSED)[0])
        )

    def inverse(self) -> Array:
        """L⁻¹ D⁻¹, a root of H⁻¹: ``half`` of the identity."""
        return self.lower if len(self.d) == 0 else np.asarray(_lapack().dtrtri(self.lower.T, _UPPER)[0]).T / self.d

    def rounding(self, root: Array, cancelled: float = 1.0) -> float:
        """A bound on the relative error of gᵀ H⁻¹ g for any g; ``root``: L⁻¹ D⁻¹, as ``inverse`` computes it.

        ``cancelled``: the ratio of the terms that H was summed from to its diagonal.

        The scaled matrix A = L Lᵀ has a diagonal of ones and a rounding error of order p units in the last place. The
        relative error is twice that over its smallest eigenvalue, which is at least 1/trace(A⁻¹). If the factor comes
        from a root of H, the rounding error is in the root, and only the square root of that trace counts.

        >>> A = Factor.of(np.array([[1.0, 0.9], [0.9, 1.0]]))
        >>> A.rounding(A.inverse()) < 1e-12
        True
        """
        scaled = root * self.d
        trace = float(np.vdot(scaled, scaled)) * cancelled
        return 2 * ROUNDING_ULPS_PER_ROW * max(1, len(self.d)) * EPS * (trace if self.squared else sqrt(trace))

    def lengths(self, V: Array) -> Array:
        """(vᵀ H v)^½ for each row v.

        >>> Factor.of(np.diag([4.0, 9.0])).lengths(np.eye(2)).tolist()
        [2.0, 3.0]
        """
        return np.asarray(np.linalg.norm((V * self.d) @ self.lower, axis=1))

    def length(self, v: Array) -> float:
        """(vᵀ H v)^½.

        >>> Factor.of(np.diag([4.0, 9.0])).length(np.array([0.0, 1.0]))
        3.0
        """
        return length((v * self.d).dot(self.lower))

    def solve(self, g: Array) -> Array:
        """H⁻¹ g."""
        d = self.d if g.ndim == 1 else self.d[:, None]
        if len(d) == 0:
            return g.copy()
        return np.asarray(_lapack().dpotrs(self.lower.T, g / d, _UPPER, _OVERWRITE)[0] / d)
