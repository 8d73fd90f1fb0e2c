"""The sums over rows that an objective needs: as partials of a fold, and of a small dense table without one.

A ``Partial`` holds weights but never rows, so it serves rows in memory and outside alike. A pass over a small table
takes less time than the interpreter takes to divide it into blocks and to add up their sums, so ``DenseTable`` holds
such a table as one array of standardised rows and evaluates E, ∇E and ∇²E by a few matrix products.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from separatrix.core.base.arrays import AnyArray, Array, Integers, pieces, rows_per_piece
from separatrix.core.base.labels import one_hot, unsigned
from separatrix.core.links import softmax
from separatrix.core.losses import Logistic, Loss, Softmax
from separatrix.core.rows.block import MOST_BATCHED_ENTRIES, Block, is_sparse
from separatrix.core.rows.frame import Frame
from separatrix.core.rows.protocol import ArraySum, PassCounter, Rows

if TYPE_CHECKING:
    from separatrix.core.problem import Objective


class Evaluation(NamedTuple):
    """E at some W, and the gradient of its smooth part, which excludes the absolute values of the penalty.

    ``second``: what a ``DenseTable`` computed for each row on the way, from which its Hessian at W follows.
    """

    value: float
    gradient: Array
    second: Array | None = None


# --- Partials of a fold

# Entries of rows that are converted to a dense array at a time, since a block may hold many CSR rows.
ENTRIES_PER_PIECE = 1 << 21


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

    def framed(self, total: Array) -> Array:
        """The same: these sums are in the coordinates of the frame."""
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


# Fewer entries of dense rows, and fewer CSR rows, are summed by NumPy: importing the compiler's package takes longer.
FEWEST_DENSE_ENTRIES_TO_COMPILE, FEWEST_SPARSE_ROWS_TO_COMPILE = 1 << 22, 1 << 12


@dataclass(frozen=True)
class CompiledSums(ArraySum):
    """Σ s ℓ, Σ s ∂ℓ and Σ s ∂ℓ x, (2 + d,), for the logistic loss of the score w·x + b of rows in raw units.

    A compiled pass reads every entry once and copies none, whereas two matrix products read it twice. It releases the
    interpreter lock (GIL), for which NumPy calls in several threads would compete. ``far`` (d,), if given, is
    subtracted from x while dense rows are read, and ``near`` afterwards; ``scale`` is that of the frame.
    """

    w: Array
    b: float
    scale: Array
    near: Array
    far: Array | None = None

    @classmethod
    def at(cls, W: Array, frame: Frame) -> CompiledSums:
        """The sums for weights in the coordinates of a frame; columns with a large offset are centred while read."""
        far = np.where(frame.is_far, frame.center, 0.0) if frame.has_large_offset else None
        near, w = frame.center if far is None else frame.center - far, W[0, 1:] / frame.scale
        return cls(w, float(W[0, 0] - w @ near), frame.scale, near, far)

    @staticmethod
    def suit(problem: Objective) -> bool:
        """Whether compiled loops support a problem and are worth loading.

        A sparse column with a large offset has few zeros, so it is not centred while it is read.
        """
        rows = problem.rows
        if not isinstance(problem.loss, Logistic):
            return False
        if not rows.is_sparse:
            return rows.is_row_major and problem.n_rows * rows.n_features >= FEWEST_DENSE_ENTRIES_TO_COMPILE
        return problem.n_rows >= FEWEST_SPARSE_ROWS_TO_COMPILE and not rows.frame.has_large_offset

    @property
    def shape(self) -> tuple[int, ...]:
        return (2 + len(self.w),)

    def add(self, total: Array, block: Block) -> Array:
        from separatrix.core.kernels import dense_rows as dense
        from separatrix.core.kernels import sparse_rows as csr

        X: Any = block.X
        given = (0, block.n_rows, block.t, block.weight, self.w, self.b, total[2:])
        if is_sparse(X):
            total[:2] += csr.logistic_pass(X.data, X.indices, X.indptr, *given)
        else:
            total[:2] += dense.logistic_pass(X, *given, self.far)
        return total

    def framed(self, total: Array) -> Array:
        """The sums as ``ValueGradient`` has them, in the coordinates of the frame."""
        return np.concatenate([total[:2], (total[2:] - total[1] * self.near) / self.scale])


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
class SumsByClass(ArraySum):
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

    sums: SumsByClass
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
        # Only the largest score is needed, so the scores are computed in pieces of this many.
        size = rows_per_piece(1 << 18, len(self.W))
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


# --- A small dense table, without a fold

# The most entries of X̄ for which the work of the interpreter exceeds the arithmetic: half a megabyte.
MOST_ENTRIES = 1 << 16


class RowSums(NamedTuple):
    """Sums over rows at scores z: Σ s ℓ, the rows' s ∂ℓ/∂z (K, n), and ``second``, from which s ∂²ℓ/∂z² follow."""

    value: float
    residual: Array
    second: Array


class Arithmetic(NamedTuple):
    """How a loss is evaluated on a table.

    ``targets``: t in the form that ``sums`` takes, given the rows' targets and the number of classes. ``sums``: a
    function of (t, s, z). ``residual``: ``RowSums.residual`` alone, with NaN where scores are too large for it.
    ``hessian``: that of the mean loss, from the rows, s and ``RowSums.second``.
    """

    targets: Callable[[AnyArray, int], Array]
    sums: Callable[[Array, Array, Array], RowSums]
    residual: Callable[[Array, Array, Array], Array]
    hessian: Callable[[Block, Array, Array], Array]


def _logistic_sums(minus_t: Array, s: Array, z: Array) -> RowSums:
    """With the odds o = e^{−m} of the other class: ℓ = ln(1 + o), ℓ′ = −o/(1 + o), ℓ″ = o/(1 + o)²; m = t z.

    ``minus_t``: −t. ``second``: s ℓ″, (n,). Odds may underflow to zero, and overflow where `_steep_logistic_sums`
    replaces them.
    """
    odds = minus_t * z[0]
    np.exp(odds, out=odds)
    total = 1.0 + odds
    value = float(s.dot(np.log1p(odds)))
    if not isfinite(value):
        return _steep_logistic_sums(-minus_t, s, -minus_t * z[0])
    odds /= total
    odds *= s
    second = odds / total
    odds *= minus_t
    return RowSums(value, odds[None, :], second)


def _logistic_residual(minus_t: Array, s: Array, z: Array) -> Array:
    odds = minus_t * z[0]
    np.exp(odds, out=odds)
    odds /= 1.0 + odds
    odds *= s
    odds *= minus_t
    residual: Array = odds[None, :]
    return residual


def _steep_logistic_sums(t: Array, s: Array, m: Array) -> RowSums:
    """The same where e^{−m} overflows, from e^{−|m|}."""
    tail = np.exp(-np.abs(m))
    share = s / (1.0 + tail)
    residual = np.where(m >= 0, tail, 1.0) * share * -t
    return RowSums(float(s @ (np.log1p(tail) - np.minimum(m, 0.0))), residual[None, :], tail * share / (1.0 + tail))


def _softmax_sums(t: Array, s: Array, z: Array) -> RowSums:
    """ℓ = ln Σ_k e^{z_k} − z_t, with t as indicators of the classes. ``second``: the probabilities, (K, n)."""
    shifted = z - np.maximum.reduce(z, axis=0)
    p = np.exp(shifted)
    total = np.add.reduce(p, axis=0)
    p /= total
    residual = p - t
    residual *= s
    shifted *= t
    return RowSums(float(s @ (np.log(total) - np.add.reduce(shifted, axis=0))), residual, p)


def _softmax_residual(t: Array, s: Array, z: Array) -> Array:
    p: Array = np.exp(z - np.maximum.reduce(z, axis=0))
    p /= np.add.reduce(p, axis=0)
    p -= t
    p *= s
    return p


def _softmax_hessian(block: Block, s: Array, p: Array) -> Array:
    """Σ_i s_i (diag(p_i) − p_i p_iᵀ) ⊗ x̄_i x̄_iᵀ; few rows are multiplied for all pairs of classes in one call."""
    X = block.framed_array
    K, (n, width) = len(p), X.shape
    total = np.zeros((K * width, K * width))
    if K * (K + 1) // 2 * n * width > MOST_BATCHED_ENTRIES:
        return add_softmax_hessian(total, block, s, p)
    k, l = np.tril_indices(K)
    by = p[k] * ((k == l)[:, None] - p[l])
    by *= s
    parts = (X.T * by[:, None, :]) @ X
    parts += parts.transpose(0, 2, 1).copy()  # they are symmetric but for rounding
    parts *= 0.5
    blocks = total.reshape(K, width, K, width)
    blocks[k, :, l, :] = blocks[l, :, k, :] = parts
    return total


ARITHMETIC: dict[type[Loss], Arithmetic] = {
    Logistic: Arithmetic(
        lambda t, K: -t, _logistic_sums, _logistic_residual, lambda block, s, second: block.kept_sandwich(second)
    ),
    Softmax: Arithmetic(
        lambda t, K: np.ascontiguousarray(one_hot(t, K).T), _softmax_sums, _softmax_residual, _softmax_hessian
    ),
}


def small_block(rows: Rows) -> Block | None:
    """The rows as one block if they are few dense ones in memory, which ``DenseTable`` may hold; None otherwise."""
    block = rows.resident()
    if block is None or not block.keeps_framed_array or block.n_rows * (rows.n_features + 1) > MOST_ENTRIES:
        return None
    return block


class DenseTable:
    """The rows of a small dense problem, ready for evaluation of its mean loss Σ_i s_i ℓ(t_i, z_i), z = W X̄ᵀ.

    The results agree with those of the partials up to rounding.

    ``block``: all rows, cached in the frame's coordinates. ``s``: their weights, divided by the sum of the weights.
    ``t``: their targets, as ``arithmetic`` takes them.

    >>> from separatrix.core.problem import build_objective
    >>> from separatrix.core.penalty import Penalty
    >>> from separatrix.core.rows.labelled_table import labelled_rows
    >>> rows = labelled_rows(np.arange(4.0)[:, None], np.array([0, 1, 0, 1]), 2)
    >>> table = DenseTable.of(build_objective(rows, 2, Penalty(1.0, np.ones(1))))
    >>> round(table.sums(np.zeros((1, 2)))[0], 6)
    0.693147
    """

    def __init__(self, block: Block, arithmetic: Arithmetic, n_classes: int, total_weight: float, counter: PassCounter):
        self.block, self.arithmetic, self.counter = block, arithmetic, counter
        self.s = block.weight / total_weight
        self.t = arithmetic.targets(block.t, n_classes)
        self._X: Any = block.framed_array
        self._transposed: Any = self._X.T

    @classmethod
    def of(cls, problem: Objective) -> DenseTable | None:
        """The table of a problem, or None if it is not small, not dense, or its loss is not in ``ARITHMETIC``."""
        arithmetic, block = ARITHMETIC.get(type(problem.loss)), small_block(problem.rows)
        if arithmetic is None or block is None:
            return None
        return cls(block, arithmetic, problem.n_classes, problem.total_weight, problem.rows.counter)

    @np.errstate(over="ignore", under="ignore", invalid="ignore")
    def sums(self, W: Array) -> tuple[float, Array, Array]:
        """The mean loss at W, its gradient (K, d + 1), and ``Evaluation.second``, in one pass."""
        self.counter.add()
        sums = self.arithmetic.sums(self.t, self.s, W.dot(self._transposed))
        gradient: Array = sums.residual.dot(self._X)
        np.add.reduce(sums.residual, axis=1, out=gradient[:, 0])  # exact: rows that balance each other sum to zero
        return sums.value, gradient, sums.second

    def slope_along(self, V: Array) -> Callable[[float], float]:
        """φ′ for φ(α) the mean loss at αV, as a function of α, in one pass."""
        self.counter.add()
        return partial(self._slope, V.dot(self._transposed))

    def _slope(self, z: Array, alpha: float) -> float:
        slope = float(np.vdot(self.arithmetic.residual(self.t, self.s, alpha * z), z))
        if not isfinite(slope):
            slope = float(np.vdot(self.arithmetic.sums(self.t, self.s, alpha * z).residual, z))
        return slope

    def longest(self, root: Array) -> float:
        """The largest squared length of ``root`` x̄ over rows of positive weight."""
        z = root.dot(self._transposed)
        squares = np.add.reduce(np.multiply(z, z, out=z), axis=0)
        return float(np.maximum.reduce(squares, initial=0.0, where=self.s > 0))

    def hessian(self, W: Array, second: Array | None) -> Array:
        """The second derivatives of the mean loss, (K (d + 1), K (d + 1)); ``second``: what ``sums`` found at W."""
        if second is None:
            second = self.sums(W)[2]
        else:
            self.counter.add()
        return self.arithmetic.hessian(self.block, self.s, second)


# --- The length of Newton's first step from W = 0

# The largest first estimate, and the largest multiple: if classes are separated, φ may have no minimum.
LARGEST_ESTIMATE, LARGEST_MULTIPLE = 2.0, 8.0


def first_multiple(problem: Objective, V: Array, slope: float) -> float:
    """A multiple α of Newton's step V from W = 0, between 1 and LARGEST_MULTIPLE, near the minimum of φ(α) = E(αV).

    ``slope``: φ′(0) = ⟨∇E(0), V⟩. The result is 1 if E no longer falls at V.

    All probabilities are equal at W = 0, so the curvature of a logistic loss is largest there, and V is too short: the
    minimum of φ is often at α between 1.2 and 2.5. The scores of αV are α times those of V, so φ′ at several α takes
    one pass. The longer step usually saves one of five Newton steps, sometimes two.

    The first estimate of the minimum is the zero of the rational function (−a + cα)/(1 + kα) that has the slope φ′(0) =
    −a, its derivative φ″(0) = a (V is a Newton step) and φ′(1) = −b: with k = b/(a − b) it is at α = 1/(1 − k). One
    secant step improves it.

    >>> from separatrix.core.problem import build_objective
    >>> from separatrix.core.penalty import Penalty
    >>> from separatrix.core.rows.labelled_table import labelled_rows
    >>> rows = labelled_rows(np.arange(6.0)[:, None], np.array([0, 0, 1, 0, 1, 1]), 2)
    >>> problem = build_objective(rows, 2, Penalty(0.1, np.ones(1)))
    >>> zero = np.zeros((1, 2))
    >>> gradient = problem.value_gradient(zero).gradient
    >>> V = -np.linalg.solve(problem.hessian(zero), gradient[0])[None, :]
    >>> alpha = first_multiple(problem, V, float(np.vdot(gradient, V)))
    >>> alpha > 1.1, problem.value_gradient(alpha * V).value < problem.value_gradient(V).value
    (True, True)
    """
    slope_at = problem.slope_along(V)
    at_one = slope_at(1.0)
    if not slope < at_one < 0:
        return 1.0
    k = at_one / (slope - at_one)
    estimate = min(1 / (1 - k), LARGEST_ESTIMATE) if k < 1 else LARGEST_ESTIMATE
    there = slope_at(estimate)
    if not there > at_one:  # rounding, or scores so large that E is a straight line
        return estimate
    return min(max(1.0, estimate - there * (estimate - 1) / (there - at_one)), LARGEST_MULTIPLE)
