r"""What the inverse of ∇²E says of each row: its leverages, and its score had it not been there. TEXTBOOK E2.

With E = (1/S) Σ s_i ℓ(t_i, z_i) + penalty at its minimum, A = (∇²E)⁻¹, G_i = x̄_iᵀ A x̄_i (K × K: one for each pair of
scores), ℓ′ and ℓ″ at z_i, and σ_i = s_i/S, one Newton step on E without row i gives

    z₋ᵢ ≈ z_i + (I − σ_i G_i ℓ″)⁻¹ G_i σ_i ℓ′ ,     for one score  z_i + ℓ′ h/(1 − ℓ″ h)  with h = σ_i G_i

(Beirami, Razaviyayn, Shahrampour and Tarokh 2017; Rad and Maleki 2020). For a squared loss it is exact (Allen 1974).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from separatrix.arrays import AnyArray, Array
from separatrix.factor import Factor
from separatrix.objective import Objective
from separatrix.rows import Block
from separatrix.subspace import Subspace

# Past so much curvature × leverage one step is far off: tried on small sets, means of it by up to 15 %.
HIGH = 0.4
# And past so much it counts as this in that step.
MOST_LEVERAGE = 0.9


@dataclass(frozen=True)
class Inverse:
    """A = (∇²E)⁻¹ in the coordinates W = Q Θ Zᵀ of a subspace, (c r, c r) with c scores and r columns."""

    space: Subspace
    A: Array

    @classmethod
    def of(cls, factor: Factor, space: Subspace) -> Inverse:
        """From a factor of ∇²E.

        >>> factor = Factor.of(np.array([[2.0, 0.0], [0.0, 4.0]]))
        >>> Inverse.of(factor, Subspace(None, None, 2)).A.round(12).tolist()
        [[0.5, 0.0], [0.0, 0.25]]
        """
        from scipy.linalg.lapack import dpotri

        if len(factor.d) == 0:
            return cls(space, np.zeros((0, 0)))
        upper = np.triu(dpotri(factor.lower.T, lower=0)[0])  # LAPACK counts by columns
        A = upper + np.triu(upper, 1).T
        return cls(space, A / factor.d / factor.d[:, None])

    @classmethod
    def on_active(cls, H: Array, active: AnyArray) -> Inverse | None:
        """Of ∇²E on the weights in use, (K, d + 1) of truth values; None where it is singular there.

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
        """x̄ as Θ meets it, (m, r)."""
        X = block.homogeneous()
        return X if self.space.Z is None else X @ self.space.Z

    def to_scores(self, Z: Array) -> Array:
        """From the coordinates of Θ, (m, c), to scores, (m, K)."""
        return Z if self.space.Q is None else Z @ self.space.Q.T

    def from_scores(self, R: Array) -> Array:
        """The transposed way, (m, K) to (m, c)."""
        return R if self.space.Q is None else R @ self.space.Q

    def leverages(self, X: Array, c: int) -> Array:
        """G, (m, c, c), of rows X (m, r): one product for each score, with the scores up to it."""
        m, r = X.shape
        A, G = self.A.reshape(c, r, c * r), np.empty((m, c, c))
        for a in range(c):
            V = (X @ A[a, :, : (a + 1) * r]).reshape(m, a + 1, r)
            G[:, a, : a + 1] = G[:, : a + 1, a] = np.matmul(V, X[:, :, None])[:, :, 0]
        return G


class Pieces(NamedTuple):
    """Of some rows: x̄ (m, r), σℓ′ (m, c), σℓ″ and G (m, c, c), and the scores z (m, K)."""

    X: Array
    slope: Array
    curvature: Array
    G: Array
    z: Array


def losses(problem: Objective, block: Block, z: Array) -> Array:
    """Of each row with scores z, (m,)."""
    return problem.loss.value(block.t, z if problem.loss.traits.multiclass else z[:, 0])


def pieces(problem: Objective, W: Array, inverse: Inverse, block: Block) -> Pieces:
    """Of the rows of a block, at W."""
    z, X = block.scores(W), inverse.rows(block)
    c = z.shape[1] if inverse.space.Q is None else inverse.space.Q.shape[1]
    sigma, loss = (block.weight / problem.total_weight)[:, None], problem.loss
    flat = z if loss.traits.multiclass else z[:, 0]
    slope = sigma * loss.derivative(block.t, flat).reshape(z.shape)
    curvature = np.empty((len(z), c, c))
    for a, along in enumerate(np.eye(c) if inverse.space.Q is None else inverse.space.Q.T):
        dz = np.tile(along, (len(z), 1)) if loss.traits.multiclass else np.full(len(z), along[0])
        bent = loss.curvature_product(block.t, flat, dz).reshape(z.shape)
        curvature[:, a] = inverse.from_scores(sigma * bent)
    return Pieces(X, inverse.from_scores(slope), curvature, inverse.leverages(X, c), z)


def one_step(of: Pieces, inverse: Inverse) -> tuple[Array, Array, Array]:
    """z₋ᵢ; the trace of σ ℓ″ G; and its largest eigenvalue, or a bound on that where it is not past HIGH."""
    CG = of.curvature @ of.G
    trace = np.trace(CG, axis1=1, axis2=2)
    lever = trace.copy()  # no eigenvalue of a product of positive matrices is larger
    doubtful = np.flatnonzero(trace > HIGH)
    if CG.shape[1] > 1 and len(doubtful):
        lever[doubtful] = np.max(np.linalg.eigvals(CG[doubtful]).real, axis=1)
    # A row alone along a direction would be taken to infinity.
    less = np.minimum(1.0, MOST_LEVERAGE / np.maximum(lever, MOST_LEVERAGE))
    M = np.eye(CG.shape[1]) - less[:, None, None] * CG.transpose(0, 2, 1)
    pull = (of.G @ of.slope[:, :, None])[:, :, 0]
    step = pull / M[:, :, 0] if CG.shape[1] == 1 else np.linalg.solve(M, pull[:, :, None])[:, :, 0]
    return of.z + inverse.to_scores(step), trace, lever
