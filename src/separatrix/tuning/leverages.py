r"""The leverage of each row and its score by the fit without it, from the inverse of ∇²E (docs/tour.md, E2).

With E = (1/S) Σ s_i ℓ(t_i, z_i) + penalty at its minimum, A = (∇²E)⁻¹, G_i = x̄_iᵀ A x̄_i (K × K: one for each pair of
scores), ℓ′ and ℓ″ at z_i, and σ_i = s_i/S, one Newton step on E without row i gives

    z₋ᵢ ≈ z_i + (I − σ_i G_i ℓ″)⁻¹ G_i σ_i ℓ′ ,     for one score  z_i + ℓ′ h/(1 − ℓ″ h)  with h = σ_i G_i

(Beirami, Razaviyayn, Shahrampour and Tarokh 2017; Rad and Maleki 2020). For a squared loss it is exact (Allen 1974).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from separatrix.base.arrays import AnyArray, Array
from separatrix.objectives.factor import Factor
from separatrix.objectives.subspace import Subspace
from separatrix.rows import Block
from separatrix.tuning.reduced_rows import ReducedRows

# If curvature × leverage of a row exceeds this, one Newton step is inaccurate: on small data sets the error of the mean
# loss was up to 15 %.
LARGEST_ACCURATE_LEVERAGE = 0.4
# In the Newton step, values of curvature × leverage larger than this are replaced by it, so that 1 − ℓ″ h is not small.
MOST_LEVERAGE = 0.9


@dataclass(frozen=True)
class Inverse:
    """A = (∇²E)⁻¹ in the coordinates W = Q Θ Zᵀ of a subspace, (c r, c r) with c scores and r columns."""

    space: Subspace
    A: Array

    @classmethod
    def of(cls, factor: Factor, space: Subspace) -> Inverse:
        """The inverse from a factor of ∇²E.

        >>> factor = Factor.of(np.array([[2.0, 0.0], [0.0, 4.0]]))
        >>> Inverse.of(factor, Subspace(None, None, 2)).A.round(12).tolist()
        [[0.5, 0.0], [0.0, 0.25]]
        """
        from scipy.linalg.lapack import dpotri

        if len(factor.d) == 0:
            return cls(space, np.zeros((0, 0)))
        upper = np.triu(dpotri(factor.lower.T, lower=0)[0])  # LAPACK stores matrices by columns
        A = upper + np.triu(upper, 1).T
        return cls(space, A / factor.d / factor.d[:, None])

    @classmethod
    def on_active(cls, H: Array, active: AnyArray) -> Inverse | None:
        """The inverse of H = ∇²E on the active weights, and zero elsewhere; None if H is singular on them.

        ``active`` (K, d + 1): which weights are in use.

        >>> Inverse.on_active(np.diag([2.0, 4.0]), np.array([[True, False]])).A.round(12).tolist()
        [[0.5, 0.0], [0.0, 0.0]]
        """
        used = np.flatnonzero(active)
        factor = Factor.of(H[np.ix_(used, used)])
        if factor is None:
            return None
        space = Subspace(None, None, active.shape[1])
        A = np.zeros_like(H)
        A[np.ix_(used, used)] = cls.of(factor, space).A
        return cls(space, A)

    def rows(self, block: Block) -> Array:
        """The rows x̄ in the coordinates of Θ, (m, r)."""
        X = block.homogeneous()
        return X if self.space.Z is None else X @ self.space.Z

    def from_scores(self, R: Array) -> Array:
        """Transform derivatives in the scores, (m, K), to the coordinates of Θ, (m, c)."""
        return R if self.space.Q is None else R @ self.space.Q

    def leverages(self, X: Array, c: int) -> Array:
        """G, (m, c, c), of rows X (m, r). Each pair of scores is computed once, since G is symmetric."""
        m, r = X.shape
        A, G = self.A.reshape(c, r, c * r), np.empty((m, c, c))
        for a in range(c):
            V = (X @ A[a, :, : (a + 1) * r]).reshape(m, a + 1, r)
            G[:, a, : a + 1] = G[:, : a + 1, a] = np.einsum("mbr,mr->mb", V, X)
        return G


class RowTerms(NamedTuple):
    """The terms of some rows: σℓ′ (m, c), σℓ″ and G (m, c, c), and the scores z (K, m)."""

    slope: Array
    curvature: Array
    G: Array
    z: Array


def row_terms(rows: ReducedRows, theta: Array, inverse: Inverse) -> RowTerms:
    """The terms of these rows at Θ."""
    z = rows.scores(theta)
    slope = rows.losses(z)[1]
    bends = rows.bends(z, slope)
    return RowTerms(
        rows.from_scores(slope * rows.sigma).T, bends.transpose(2, 0, 1), inverse.leverages(rows.X, rows.c), z
    )


def one_step(of: RowTerms, rows: ReducedRows) -> tuple[Array, Array, Array]:
    """z₋ᵢ, (K, m); the trace of σ ℓ″ G; and its largest eigenvalue, or a bound if below LARGEST_ACCURATE_LEVERAGE.

    The trace bounds the largest eigenvalue of a product of positive semidefinite matrices. If a row is the only one
    with a component along some direction, the exact step would be infinite; therefore leverages are limited to
    MOST_LEVERAGE.
    """
    if of.G.shape[1] == 1:
        G, slope = of.G[:, 0, 0], of.slope[:, 0]
        lever = of.curvature[:, 0, 0] * G
        return of.z + G * slope / (1.0 - np.minimum(lever, MOST_LEVERAGE)), lever, lever
    CG = of.curvature @ of.G
    trace = np.trace(CG, axis1=1, axis2=2)
    lever = trace.copy()
    doubtful = np.flatnonzero(trace > LARGEST_ACCURATE_LEVERAGE)
    if len(doubtful):
        lever[doubtful] = np.max(np.linalg.eigvals(CG[doubtful]).real, axis=1)
    less = np.minimum(1.0, MOST_LEVERAGE / np.maximum(lever, MOST_LEVERAGE))
    M = np.eye(CG.shape[1]) - less[:, None, None] * CG.transpose(0, 2, 1)
    step = np.linalg.solve(M, of.G @ of.slope[:, :, None])[:, :, 0]
    return of.z + rows.to_scores(step.T), trace, lever
