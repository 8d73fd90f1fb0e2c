r"""The gap of the squared cost, from the residuals of every row, with a bound on rounding errors.

For any A (d + 1, r) the gap of E(W) = (1/S) [½ Σ s ‖r‖² + ½ λ ‖w‖²] along the directions W + Θ Aᵀ is exactly

    ½ tr (G A) M⁻¹ (G A)ᵀ,    G A = (1/S) Σ s r zᵀ + penalty,    M = (1/S) Σ s z zᵀ + penalty,    z = Aᵀ x̄

so it suffices to sum products of r and z over the rows. With A from a whitening of H, M is near the identity, and no
error of these sums is multiplied by a condition number. In coordinates in which M is the identity, with root mean
squares over the rows and an extra row for each penalised weight, the Cauchy–Schwarz inequality bounds

* the residuals' rounding ε: ‖(1/S) Σ s ε zᵀ‖ is at most the root mean square of ε, since the rows z/√S contract,
* the rounding of z: its root mean square times that of r in G A, and its share of the smallest eigenvalue of M,
* the sums over rows: their length times the unit roundoff, as if all errors had the same sign.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from separatrix.base.arrays import EPS, Array
from separatrix.rows import ArraySum, Block, Rows, number_of_rows
from separatrix.rows.protocol import BLOCK_BYTES, additions_in_order

# M is scaled so that its smallest singular value is 1. The gap is reported only if rounding leaves at least this much
# of that value certain.
SMALLEST_SINGULAR_VALUE_LEFT = 0.5
# Rounding error, in units of EPS, of NumPy's pairwise sum over the rows of a block.
PAIRWISE_SUM_UNITS = 32


@dataclass(frozen=True)
class ResidualSums(ArraySum):
    """½ Σ s ‖r_k‖² (outputs), Σ s r x̄ᵀ (outputs, d + 1), Σ s r zᵀ (outputs, r) and Σ s z zᵀ (r, r), as one vector.

    r = W x̄ − t and z = Aᵀ x̄. ``targets`` (K, outputs) has one row per class.
    """

    W: Array
    targets: Array
    A: Array

    @property
    def shape(self) -> tuple[int, ...]:
        (outputs, width), rank = self.W.shape, self.A.shape[1]
        return (outputs * (1 + width + rank) + rank * rank,)

    def add(self, total: Array, block: Block) -> Array:
        squares, gradient, whitened, gram = self.parts(total)
        for part in block.dense_pieces():  # rows that are centred before they are multiplied lose the fewest digits
            X = part.homogeneous()
            R, Z = (self.W @ X.T).T, X @ self.A
            R -= self.targets[part.t]
            weighted = part.weight[:, None] * R
            half = np.sqrt(part.weight)[:, None] * Z
            squares += [0.5 * float(np.sum(a)) for a in np.ascontiguousarray((weighted * R).T)]
            gradient += part.adjoint(weighted)
            whitened += weighted.T @ Z
            gram += half.T @ half
        return total

    def parts(self, total: Array) -> tuple[Array, Array, Array, Array]:
        """The four sums, as views of the vector."""
        (outputs, width), rank = self.W.shape, self.A.shape[1]
        ends = np.cumsum([outputs, outputs * width, outputs * rank])
        squares, gradient, whitened, gram = np.split(total, ends)
        return (
            squares,
            gradient.reshape(outputs, width),
            whitened.reshape(outputs, rank),
            gram.reshape(rank, rank),
        )


class ResidualJudgement(NamedTuple):
    """E and a bound on its rounding; ∇E, (outputs, d + 1); the computed gap, and an upper bound that includes rounding.

    ``gap`` is None where rounding leaves the curvature along some direction unknown.
    """

    value: float
    rounding: float
    gradient: Array
    summed_gap: float
    gap: float | None


def judge_by_residuals(
    rows: Rows, W: Array, targets: Array, A: Array, root_penalty: Array, total_weight: float, sizes: Array, shift: Array
) -> ResidualJudgement:
    """The squared cost at W and its gap along the directions of A, by one pass over the rows.

    Parameters
    ----------
    rows : Rows
        The rows, whose targets are class numbers.
    W : array (outputs, d + 1)
        Weights in the frame's coordinates.
    targets : array (K, outputs)
        The target of each class.
    A : array (d + 1, r)
        Directions that nearly whiten the Hessian.
    root_penalty : array (d + 1,)
        (λ/S)^½ by column.
    total_weight : float
        S.
    sizes : array (d + 1,)
        The size of each column, to which the rounding of its products is relative: its root mean square, plus its
        offset if that is not removed first.
    shift : array (outputs,)
        Bounds on the errors of the intercepts in W.
    """
    partial = ResidualSums(W, targets, A)
    squares, gradient, whitened, gram = (part / total_weight for part in partial.parts(rows.fold(partial)))
    shrunk, held = root_penalty * W, root_penalty[:, None] * A
    gradient, whitened, M = gradient + root_penalty * shrunk, whitened + shrunk @ held, gram + held.T @ held
    squares = squares + 0.5 * np.sum(shrunk**2, axis=1)

    product, chain = _product_units(len(sizes)), _chain_units(rows)
    residual = np.sqrt(2 * squares)  # the root mean square of r and of the penalised weights, by output
    moved = shift + product * (np.abs(W) @ (sizes + root_penalty) + float(np.max(np.abs(targets))))
    value = float(squares.sum())
    rounding = float(residual @ moved + 0.5 * moved @ moved) + EPS * (PAIRWISE_SUM_UNITS + _merge_units(rows)) * value
    if not A.shape[1]:
        return ResidualJudgement(value, rounding, gradient, 0.0, 0.0)

    eigenvalues, vectors = np.linalg.eigh(M)
    least, trace = float(eigenvalues[0]), float(np.trace(M))
    # Bounds on the rounding of z, of the sum M and of its eigenvalues, in coordinates in which M is the identity.
    blurred = product * float(np.linalg.norm(np.abs(A).T @ (sizes + root_penalty)))
    share = (chain + 4 * EPS * len(M)) * trace
    if not least > 2 * share:
        return ResidualJudgement(value, rounding, gradient, np.inf, None)
    blurred, share = blurred / np.sqrt(least), share / least
    length = np.linalg.norm(whitened @ (vectors / np.sqrt(eigenvalues)), axis=1)
    hidden = moved * (np.sqrt(1 + share) + blurred) + (residual + moved) * (blurred + chain * np.sqrt(trace / least))
    left = np.sqrt(1 - share) - blurred
    gap = 0.5 * float(np.sum(((length + hidden) / left) ** 2)) if left > SMALLEST_SINGULAR_VALUE_LEFT else None
    return ResidualJudgement(value, rounding, gradient, 0.5 * float(length @ length), gap)


def _product_units(width: int) -> float:
    """The rounding of a sum of ``width`` products and a target, for centred columns, relative to the terms' sizes."""
    return 0.5 * EPS * (width + 3)


def _merge_units(rows: Rows) -> float:
    """The number of roundings in a sum over blocks, strand by strand, and in its later use."""
    n, width = number_of_rows(rows), max(rows.n_features, 2)
    return additions_in_order(1 + 12 * n * width // BLOCK_BYTES) + 4


def _chain_units(rows: Rows) -> float:
    """The rounding of a sum over rows relative to the sum of the terms' sizes, in any order inside a block."""
    block = BLOCK_BYTES // 8
    return EPS * (min(number_of_rows(rows), block) + _merge_units(rows))
