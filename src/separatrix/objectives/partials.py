"""The sums over rows that an objective needs. Each is a ``Partial`` that holds weights but never rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.base.labels import one_hot, unsigned
from separatrix.base.pieces import pieces, rows_per_piece
from separatrix.losses import Loss
from separatrix.losses.activations import softmax
from separatrix.rows import ArraySum, Block, Frame

# Entries of rows that are converted to a dense array at a time, since a block may hold many CSR rows.
ENTRIES_PER_PIECE = 1 << 21
# Scores that are computed at a time where only the largest is needed.
SCORES_PER_PIECE = 1 << 18


@dataclass(frozen=True)
class ValueGradient(ArraySum):
    """Σ s ℓ in entry 0, Σ s ∂ℓ ⊗ x̄ in the rest."""

    loss: Loss
    W: Array

    @property
    def shape(self) -> tuple[int, ...]:
        return (1 + self.W.size,)

    def add(self, total: Array, block: Block) -> Array:
        z = block.scores(self.W)
        z = z if self.loss.traits.multiclass else z[:, 0]
        value, residual = self.loss.value_derivative(block.t, z)
        total[0] += block.weight @ value
        total[1:] += block.adjoint(block.weight[:, None] * residual.reshape(block.n_rows, -1)).ravel()
        return total


@dataclass(frozen=True)
class Hessian(ArraySum):
    """Σ s ℓ″ ⊗ x̄ x̄ᵀ, (K (d + 1), K (d + 1)), the class outermost."""

    loss: Loss
    W: Array

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.W.size, self.W.size)

    def add(self, total: Array, block: Block) -> Array:
        z = block.scores(self.W)
        if self.loss.traits.multiclass:
            return add_softmax_hessian(total, block, block.weight, softmax(z).T)
        h = self.loss.curvature_product(block.t, z[:, 0], np.ones(block.n_rows))
        total += block.sandwich(block.weight * h)
        return total


def add_softmax_hessian(total: Array, block: Block, s: Array, p: Array) -> Array:
    """Add Σ_i s_i (diag(p_i) − p_i p_iᵀ) ⊗ x̄_i x̄_iᵀ to ``total``, for the probabilities p (K, m) of a block's rows."""
    K, width = len(p), block.X.shape[1] + 1
    blocks = total.reshape(K, width, K, width)
    for k in range(K):
        curvature = p[: k + 1] * -p[k]
        curvature[k] = p[k] * (1.0 - p[k])
        for j, part in enumerate(block.sandwiches(s * curvature)):
            blocks[k, :, j, :] += part
            if j < k:
                blocks[j, :, k, :] += part
    return total


@dataclass(frozen=True)
class ClassHessians(ArraySum):
    """Σ s ∂²ℓ/∂z_k² x̄ x̄ᵀ for each score k: the diagonal blocks of ``Hessian``, (K, d + 1, d + 1)."""

    loss: Loss
    W: Array

    @property
    def shape(self) -> tuple[int, ...]:
        K, width = self.W.shape
        return (K, width, width)

    def add(self, total: Array, block: Block) -> Array:
        z = block.scores(self.W)
        if not self.loss.traits.multiclass:
            total[0] += block.sandwich(block.weight * self.loss.curvature_product(block.t, z[:, 0], np.ones(len(z))))
            return total
        p = softmax(z)
        for k in range(len(self.W)):
            total[k] += block.sandwich(block.weight * p[:, k] * (1.0 - p[:, k]))
        return total


@dataclass(frozen=True)
class SpanHessian(ArraySum):
    """Σ s (Tᵀ ℓ″ T) ⊗ b bᵀ with b = B x̄, (c q, c q), for T (K, c) and B (q, d + 1): ``Hessian`` along T ⊗ B.

    For softmax ℓ″ = diag(p) − p pᵀ: the first part is a sum by class, the second a product of an m × c q matrix.
    """

    loss: Loss
    W: Array
    T: Array
    B: Array

    @property
    def shape(self) -> tuple[int, ...]:
        size = self.T.shape[1] * len(self.B)
        return (size, size)

    def add(self, total: Array, block: Block) -> Array:
        z, b = block.scores(self.W), block.scores(self.B)
        m, q, c = len(z), len(self.B), self.T.shape[1]
        products = (b[:, :, None] * b[:, None, :]).reshape(m, q * q)
        blocks = total.reshape(c, q, c, q)
        if not self.loss.traits.multiclass:
            h = block.weight * self.loss.curvature_product(block.t, z[:, 0], np.full(m, self.T[0, 0] ** 2))
            blocks[0, :, 0, :] += (h @ products).reshape(q, q)
            return total
        p = softmax(z)
        by_class = ((block.weight[:, None] * p).T @ products).reshape(len(self.T), q, q)
        blocks += np.einsum("ka,kij,kb->aibj", self.T, by_class, self.T, optimize=True)
        mixed = ((p @ self.T)[:, :, None] * b[:, None, :]).reshape(m, c * q)
        mixed *= np.sqrt(block.weight)[:, None]
        total -= mixed.T @ mixed
        return total


@dataclass(frozen=True)
class HessianProduct(ArraySum):
    """Σ s ℓ″[V x̄] ⊗ x̄, (K, d + 1)."""

    loss: Loss
    W: Array
    V: Array

    @property
    def shape(self) -> tuple[int, ...]:
        return self.W.shape

    def add(self, total: Array, block: Block) -> Array:
        z, dz = block.scores(self.W), block.scores(self.V)
        if not self.loss.traits.multiclass:
            z, dz = z[:, 0], dz[:, 0]
        product = self.loss.curvature_product(block.t, z, dz).reshape(block.n_rows, -1)
        total += block.adjoint(block.weight[:, None] * product)
        return total


@dataclass(frozen=True)
class ClassSums(ArraySum):
    """Σ s x̄ by class, (K, d + 1): column 0 holds the classes' weights. ``signed``: targets are ±1."""

    n_classes: int
    width: int
    signed: bool

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.n_classes, self.width)

    def add(self, total: Array, block: Block) -> Array:
        codes = unsigned(block.t) if self.signed else block.t
        total += block.adjoint(block.weight[:, None] * one_hot(codes, self.n_classes))
        return total


@dataclass(frozen=True)
class ClassSumsOfColumns(ArraySum):
    """Σ s x̄ by class for some of the columns, (K, 1 + number of columns), with the blocks of all columns.

    ``frame``: the coordinates of these columns.
    """

    sums: ClassSums
    columns: Integers
    frame: Frame

    @property
    def shape(self) -> tuple[int, ...]:
        return self.sums.shape

    def add(self, total: Array, block: Block) -> Array:
        X: Any = block.X
        return self.sums.add(total, Block(X[:, self.columns], block.t, block.weight, block.start, self.frame))


@dataclass(frozen=True)
class Gram(ArraySum):
    """Σ s x̄ x̄ᵀ, (d + 1, d + 1)."""

    width: int

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.width, self.width)

    def add(self, total: Array, block: Block) -> Array:
        total += block.sandwich(block.weight)
        return total


@dataclass(frozen=True)
class SecondMoments(ArraySum):
    """Σ s x̄_j² by column, (d + 1)."""

    width: int

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.width,)

    def add(self, total: Array, block: Block) -> Array:
        total += block.squares(block.weight)
        return total


@dataclass(frozen=True)
class LargestEntries(ArraySum):
    """max |x̄_j| by column, (d + 1), over rows of positive weight."""

    width: int

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.width,)

    def add(self, total: Array, block: Block) -> Array:
        for some in pieces(block.n_rows, rows_per_piece(ENTRIES_PER_PIECE, self.width)):
            part = block.take(some)
            rows = part.homogeneous()[part.weight > 0]
            total = self.merge(total, np.max(np.abs(rows), axis=0, initial=0.0))
        return total

    def merge(self, a: Array, b: Array) -> Array:
        return np.maximum(a, b)


@dataclass(frozen=True)
class ScoreSquares(ArraySum):
    """Σ s z_k² by score, (K,)."""

    W: Array

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.W),)

    def add(self, total: Array, block: Block) -> Array:
        total += block.weight @ block.scores(self.W) ** 2
        return total


@dataclass(frozen=True)
class LongestScores:
    """The largest Σ_k z_k² over rows of positive weight."""

    W: Array

    def zero(self) -> float:
        return 0.0

    def add(self, total: float, block: Block) -> float:
        size = rows_per_piece(SCORES_PER_PIECE, len(self.W))
        parts = [block] if block.n_rows <= size else (block.take(some) for some in pieces(block.n_rows, size))
        for part in parts:
            z = part.scores(self.W)
            squares = np.einsum("ij,ij->i", z, z)[part.weight > 0]
            total = self.merge(total, float(squares.max(initial=0.0)))
        return total

    def merge(self, a: float, b: float) -> float:
        return max(a, b)


@dataclass(frozen=True)
class RootGram:
    """Upper triangular R with RᵀR = Σ s x̄ x̄ᵀ, by Householder QR, which keeps the digits that squaring loses."""

    width: int

    def zero(self) -> Array:
        return np.zeros((0, self.width))

    def add(self, total: Array, block: Block) -> Array:
        size = rows_per_piece(ENTRIES_PER_PIECE, self.width, self.width)  # a block may hold many CSR rows
        for some in pieces(block.n_rows, size):
            part = block.take(some)
            total = self.merge(total, np.sqrt(part.weight)[:, None] * part.homogeneous())
        return total

    def merge(self, a: Array, b: Array) -> Array:
        return np.asarray(np.linalg.qr(np.vstack([a, b]), mode="r"))


@dataclass(frozen=True)
class RootHessian:
    """Upper triangular R with RᵀR = Σ s ℓ″ ⊗ x̄ x̄ᵀ, for a convex loss; columns as those of ``Hessian``."""

    loss: Loss
    W: Array

    def zero(self) -> Array:
        return np.zeros((0, self.W.size))

    def add(self, total: Array, block: Block) -> Array:
        z, rows = block.scores(self.W), block.homogeneous()
        if not self.loss.traits.multiclass:
            h = self.loss.curvature_product(block.t, z[:, 0], np.ones(block.n_rows))
            return self.merge(total, np.sqrt(block.weight * np.maximum(h, 0.0))[:, None] * rows)
        K = z.shape[1]
        unit = np.eye(K)
        curvature = np.stack([self.loss.curvature_product(block.t, z, np.tile(e, (len(z), 1))) for e in unit], axis=2)
        values, vectors = np.linalg.eigh(curvature)
        root = np.sqrt(np.maximum(values, 0.0))[:, :, None] * vectors.transpose(0, 2, 1)
        root *= np.sqrt(block.weight)[:, None, None]
        for k in range(K):
            total = self.merge(total, (root[:, k, :, None] * rows[:, None, :]).reshape(len(z), -1))
        return total

    def merge(self, a: Array, b: Array) -> Array:
        return np.asarray(np.linalg.qr(np.vstack([a, b]), mode="r"))


class RelativeMargins(NamedTuple):
    """The smallest and largest margin relative to the sizes of its terms, and the smallest margin.

    Only rows of positive weight count.
    """

    least: float
    most: float
    smallest: float


@dataclass(frozen=True)
class RelativeMarginRange:
    """The range of margins relative to the size of their own rows, so that one long row does not hide the others."""

    loss: Loss
    W: Array

    def zero(self) -> RelativeMargins:
        return RelativeMargins(np.inf, -np.inf, np.inf)

    def add(self, total: RelativeMargins, block: Block) -> RelativeMargins:
        counted = block.weight > 0
        m = _margins(self.loss, block, self.W)[counted]
        if len(m) == 0:
            return total
        size = block.score_sizes(self.W).max(axis=1)[counted] * (2.0 if self.loss.traits.multiclass else 1.0)
        share = np.divide(m, size, out=np.zeros_like(m), where=size > 0)
        return self.merge(total, RelativeMargins(float(share.min()), float(share.max()), float(m.min())))

    def merge(self, a: RelativeMargins, b: RelativeMargins) -> RelativeMargins:
        return RelativeMargins(min(a.least, b.least), max(a.most, b.most), min(a.smallest, b.smallest))


def _margins(loss: Loss, block: Block, W: Array) -> Array:
    z = block.scores(W)
    if not loss.traits.multiclass:
        return np.asarray(block.t * z[:, 0])
    z_own = np.take_along_axis(z, block.t[:, None], axis=1)[:, 0]
    np.put_along_axis(z, block.t[:, None], -np.inf, axis=1)
    return np.asarray(z_own - z.max(axis=1))
