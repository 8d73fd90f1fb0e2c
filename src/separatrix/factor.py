"""Solving with a symmetric positive definite matrix whose diagonal may span many orders of magnitude."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from separatrix.arrays import Array


@dataclass(frozen=True)
class Factor:
    """H = D L Lᵀ D with D = diag(H)^½: the scaling costs nothing and takes the columns' units out."""

    lower: Array
    d: Array

    @classmethod
    def of(cls, H: Array) -> Factor | None:
        """The factor of H, or None where H is not positive definite to working precision.

        >>> Factor.of(np.array([[1.0, 1.0], [1.0, 1.0]])) is None
        True
        """
        from scipy.linalg import LinAlgError, cholesky

        diagonal = np.diag(H)
        if len(H) == 0:
            return cls(H, diagonal)
        if not (np.all(np.isfinite(H)) and np.all(diagonal > 0)):
            return None
        d = np.sqrt(diagonal)
        try:
            lower = cholesky(H / d / d[:, None], lower=True, check_finite=False)
        except LinAlgError:
            return None
        if np.min(np.diag(lower)) ** 2 < 8 * len(H) * np.finfo(np.float64).eps:
            return None
        return cls(lower, d)

    @classmethod
    def of_root(cls, R: Array) -> Factor | None:
        """The factor of H = RᵀR, for R upper triangular: for matrices whose condition H itself cannot hold.

        >>> R = np.array([[1.0, 1.0], [0.0, 1e-10]])
        >>> Factor.of(R.T @ R) is None, Factor.of_root(R) is None
        (True, False)
        """
        d = np.linalg.norm(R, axis=0)
        if R.shape[0] < R.shape[1] or not (np.all(np.isfinite(R)) and np.all(d > 0)):
            return None
        lower = (R / d).T
        if np.min(np.abs(np.diag(lower)), initial=np.inf) < 8 * len(d) * np.finfo(np.float64).eps:
            return None
        return cls(np.ascontiguousarray(lower), d)

    def half(self, B: Array) -> Array:
        """L⁻¹ D⁻¹ B, whose squared column lengths are bᵀ H⁻¹ b."""
        from scipy.linalg import solve_triangular

        scaled = B / (self.d if B.ndim == 1 else self.d[:, None])
        return np.asarray(solve_triangular(self.lower, scaled, lower=True, check_finite=False))

    def solve(self, g: Array) -> Array:
        """H⁻¹ g."""
        from scipy.linalg.lapack import dpotrs

        d = self.d if g.ndim == 1 else self.d[:, None]
        if len(d) == 0:
            return g.copy()
        # LAPACK counts by columns: to it the lower triangle's transpose is the upper one, without a copy.
        return np.asarray(dpotrs(self.lower.T, g / d, lower=0, overwrite_b=1)[0] / d)
