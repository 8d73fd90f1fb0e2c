r"""The squared cost's gap from the residuals of every row, with what rounding may hide in it.

For any A (d + 1, r) the gap of E(W) = (1/S) [½ Σ s ‖r‖² + ½ λ ‖w‖²] along the directions W + Θ Aᵀ is exactly

    ½ tr (G A) M⁻¹ (G A)ᵀ,    G A = (1/S) Σ s r zᵀ + penalty,    M = (1/S) Σ s z zᵀ + penalty,    z = Aᵀ x̄

so it is enough to sum r and z over the rows. With A from a whitening of H, M is near the identity, and no error of
these sums is multiplied by a condition number. In coordinates in which M is the identity, with root mean squares over
the rows and a row of its own for each penalised weight, Cauchy and Schwarz charge for

* the residuals' rounding ε: ‖(1/S) Σ s ε zᵀ‖ is at most the root mean square of ε, for the rows z/√S contract,
* the rounding of z: its root mean square times that of r in G A, and its share of M's smallest eigenvalue,
* the sums over rows: their length times the unit of rounding, as if all errors had one sign.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from separatrix.base.arrays import EPS, Array
from separatrix.rows import ArraySum, Block, Rows, number_of_rows
from separatrix.rows.block import is_sparse
from separatrix.rows.protocol import BLOCK_BYTES, STRANDS

# Of M's smallest singular value at least this much must be left after rounding, in coordinates in which it is 1.
LEFT = 0.5
# Units of rounding of a pairwise sum over the rows of a block, as NumPy sums arrays.
PAIRWISE = 32


@dataclass(frozen=True)
class ResidualSums(ArraySum):
    """½ Σ s ‖r_k‖² (outputs), Σ s r x̄ᵀ (outputs, d + 1), Σ s r zᵀ (outputs, r) and Σ s z zᵀ (r, r), as one vector.

    r = W x̄ − t and z = Aᵀ x̄. ``targets`` (K, outputs) has a row for each class.
    """

    W: Array
    targets: Array
    A: Array

    @property
    def shape(self) -> tuple[int, ...]:
        (outputs, width), rank = self.W.shape, self.A.shape[1]
        return (outputs * (1 + width + rank) + rank * rank,)

    def add(self, total: Array, block: Block) -> Array:
        R, Z = self._products(block)
        R -= self.targets[block.t]
        weighted = block.weight[:, None] * R
        half = np.sqrt(block.weight)[:, None] * Z
        squares, gradient, whitened, gram = self.parts(total)
        squares += [0.5 * float(np.sum(a)) for a in np.ascontiguousarray((weighted * R).T)]
        gradient += block.adjoint(weighted)
        whitened += weighted.T @ Z
        gram += half.T @ half
        return total

    def _products(self, block: Block) -> tuple[Array, Array]:
        """W x̄ and Aᵀ x̄ for each row; dense rows are centred first, which rounds least."""
        if is_sparse(block.X):
            return block.scores(self.W), block.scores(self.A.T)
        X = block.homogeneous()
        return (self.W @ X.T).T, X @ self.A

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
    """E and what its rounding may be; ∇E, (outputs, d + 1); the gap as summed, and with all that rounding may hide.

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
        What the products of each column are rounded as: its root mean square, and its offset where that is not taken
        off first.
    shift : array (outputs,)
        What the intercepts in W may be off by.
    """
    partial = ResidualSums(W, targets, A)
    squares, gradient, whitened, gram = (part / total_weight for part in partial.parts(rows.fold(partial)))
    shrunk, held = root_penalty * W, root_penalty[:, None] * A
    gradient, whitened, M = gradient + root_penalty * shrunk, whitened + shrunk @ held, gram + held.T @ held
    squares = squares + 0.5 * np.sum(shrunk**2, axis=1)

    product, chain = _product_units(len(sizes)), _chain_units(rows)
    residual = np.sqrt(2 * squares)  # the root mean square of r and of what is penalised, by output
    moved = shift + product * (np.abs(W) @ (sizes + root_penalty) + float(np.max(np.abs(targets))))
    value = float(squares.sum())
    rounding = float(residual @ moved + 0.5 * moved @ moved) + EPS * (PAIRWISE + _merge_units(rows)) * value
    if not A.shape[1]:
        return ResidualJudgement(value, rounding, gradient, 0.0, 0.0)

    eigenvalues, vectors = np.linalg.eigh(M)
    least, trace = float(eigenvalues[0]), float(np.trace(M))
    # The rounding of z, of the sum M and of its eigenvalues, where M is the identity.
    blurred = product * float(np.linalg.norm(np.abs(A).T @ (sizes + root_penalty)))
    share = (chain + 4 * EPS * len(M)) * trace
    if not least > 2 * share:
        return ResidualJudgement(value, rounding, gradient, np.inf, None)
    blurred, share = blurred / np.sqrt(least), share / least
    length = np.linalg.norm(whitened @ (vectors / np.sqrt(eigenvalues)), axis=1)
    hidden = moved * (np.sqrt(1 + share) + blurred) + (residual + moved) * (blurred + chain * np.sqrt(trace / least))
    left = np.sqrt(1 - share) - blurred
    gap = 0.5 * float(np.sum(((length + hidden) / left) ** 2)) if left > LEFT else None
    return ResidualJudgement(value, rounding, gradient, 0.5 * float(length @ length), gap)


def _product_units(width: int) -> float:
    """The rounding of a sum of ``width`` products and a target, of centred columns, as a share of its terms' sizes."""
    return 0.5 * EPS * (width + 3)


def _merge_units(rows: Rows) -> float:
    """The roundings of a sum over blocks, strand by strand, and of what is done with it."""
    n, width = number_of_rows(rows), max(rows.n_features, 2)
    return 12 * n * width / (BLOCK_BYTES * STRANDS) + STRANDS + 4


def _chain_units(rows: Rows) -> float:
    """The rounding of a sum over rows as a share of the sum of its terms' sizes, whatever the order inside a block."""
    block = BLOCK_BYTES // 8
    return EPS * (min(number_of_rows(rows), block) + _merge_units(rows))
