"""Factors of a covariance (or scatter) matrix, singular or not: coordinates in which it is the identity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.objectives.factor import Factor

# A part of a vector outside the range of S below this share of the vector is a rounding error.
LARGEST_ROUNDED_PART_OUTSIDE_RANGE = 1e-8
# A variance below this share of the one it is compared with is a rounding error, as deviations of 1e-12 are.
LARGEST_ROUNDED_VARIANCE_SHARE = 1e-24


@dataclass(frozen=True)
class Whitening:
    r"""A (d, r) with Aᵀ S A = I and C = S A with C Cᵀ = S; A Aᵀ is a generalised inverse of S (docs/tour.md, F3).

    Where S is singular, A Aᵀ b is the solution of S w = b of minimum norm in standardised columns, each divided by
    its √S_jj, so the result does not depend on the units of the columns. Then ``log_det`` is that of S with unit
    variance, in those standardised columns, along the missing directions.

    >>> white = Whitening.of(np.array([[4.0, 2.0], [2.0, 1.0]]))
    >>> white.rank, white.solve(np.array([4.0, 2.0])).round(12).tolist()
    (1, [0.5, 1.0])
    """

    A: Array
    colour: Array
    log_det: float

    @classmethod
    def of(cls, S: Array) -> Whitening:
        factor = Factor.of(S)
        if factor is not None:
            log_det = 2 * float(np.sum(np.log(np.diag(factor.lower)) + np.log(factor.d)))
            return cls(factor.half(np.eye(len(S))).T, factor.lower * factor.d[:, None], log_det)
        unit = np.sqrt(np.maximum(np.diag(S), 0.0))
        seen = np.flatnonzero(unit > 0)
        u = unit[seen, None]
        values, vectors = np.linalg.eigh(S[np.ix_(seen, seen)] / u / u.T)
        kept = _positive(values)
        A, colour = np.zeros((len(S), int(kept.sum()))), np.zeros((len(S), int(kept.sum())))
        A[seen] = vectors[:, kept] / u / np.sqrt(values[kept])
        colour[seen] = vectors[:, kept] * u * np.sqrt(values[kept])
        return cls(A, colour, 2 * float(np.log(u).sum()) + float(np.log(values[kept]).sum()))

    @classmethod
    def of_root(cls, root: Array, noise: float) -> Whitening:
        """The whitening of S = rootᵀ root from the singular values of the root, which keep digits that S has lost.

        ``noise`` is the relative error of the root's columns; smaller singular values count as zero.
        """
        unit = np.linalg.norm(root, axis=0)
        seen = np.flatnonzero(unit > 0)
        u = unit[seen, None]
        _, values, vectors = np.linalg.svd(root[:, seen] / u.T, full_matrices=False)
        kept = values > noise * (values[0] if len(values) else 1.0)
        A, colour = np.zeros((len(unit), int(kept.sum()))), np.zeros((len(unit), int(kept.sum())))
        A[seen] = vectors[kept].T / u / values[kept]
        colour[seen] = vectors[kept].T * u * values[kept]
        return cls(A, colour, 2 * float(np.log(u).sum()) + 2 * float(np.log(values[kept]).sum()))

    def completed(self, S: Array) -> tuple[Whitening, int]:
        """The whitening of S, with this matrix in its place along directions in which S has no scatter; S's rank."""
        own = Whitening.of(S)
        if not own.singular and np.all(np.diag(S) > LARGEST_ROUNDED_VARIANCE_SHARE * np.sum(self.colour**2, axis=1)):
            return own, own.rank
        values, vectors = np.linalg.eigh(self.A.T @ S @ self.A)
        kept = _positive(values) & (values > LARGEST_ROUNDED_VARIANCE_SHARE)
        root = np.sqrt(np.where(kept, values, 1.0))
        log_det = self.log_det + 2 * float(np.log(root).sum())
        return Whitening(self.A @ vectors / root, self.colour @ vectors * root, log_det), int(kept.sum())

    @property
    def rank(self) -> int:
        return int(self.A.shape[1])

    @property
    def singular(self) -> bool:
        return self.rank < len(self.A)

    @property
    def deficient(self) -> bool:
        """Whether S is singular for another reason than zero columns."""
        return self.rank < int(np.count_nonzero(np.any(self.A, axis=1)))

    @property
    def constant(self) -> Integers:
        """The columns without scatter, by number."""
        return np.flatnonzero(~np.any(self.A, axis=1))

    def null_directions(self) -> Array:
        """The projection (d, d) onto the directions in which standardised columns have no scatter; 0 if constant."""
        size = np.linalg.norm(self.colour, axis=1)
        seen = np.flatnonzero(size > 0)
        N = np.zeros((len(size), len(size)))
        if self.rank == len(seen):  # The difference below would be rounding errors, which look like directions.
            return N
        Q = np.linalg.qr(self.colour[seen] / size[seen, None])[0]
        N[np.ix_(seen, seen)] = np.eye(len(seen)) - Q @ Q.T
        return N

    def solve(self, b: Array) -> Array:
        """A Aᵀ b: S⁻¹ b, or the solution of minimum norm if S is singular."""
        return np.asarray(self.A @ (self.A.T @ b))

    def misses(self, B: Array, unit: Array) -> bool:
        """Whether some row of B has a part outside the range of S, above rounding; ``unit`` is (d,) > 0."""
        if not self.singular or not np.any(B):
            return False
        outside = (B - (B @ self.A) @ self.colour.T) / unit
        return bool(np.max(np.abs(outside)) > LARGEST_ROUNDED_PART_OUTSIDE_RANGE * np.max(np.abs(B / unit)))


def _positive(values: Array) -> Any:
    """Which eigenvalues, ascending, are positive to working precision."""
    top = max(float(values[-1]), 0.0) if len(values) else 0.0
    return values > 8 * len(values) * np.finfo(np.float64).eps * top
