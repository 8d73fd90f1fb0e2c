r"""The sums over rows of Firth's likelihood: the information with the likelihood, and the score with the leverages.

There are two implementations. ``Folded`` folds partials over any rows and any number of classes. ``ByColumns`` is for
two classes and dense rows in memory, where it takes two thirds of the time for a step at 20 000 × 20. It stores X̄ᵀ in
standard coordinates, each column contiguous, and caches the residuals and curvatures of the last information, from
which it computes the score.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import iadd
from typing import Any, Protocol

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.concurrency import in_order
from separatrix.base.pieces import even_pieces, pieces, rows_per_piece
from separatrix.losses import Loss, sigmoid, softmax
from separatrix.objectives.partials import Gram, Hessian, ValueGradient
from separatrix.objectives.problem import Objective
from separatrix.rows import ArraySum, Block, MemoryRows, PassCounter, Rows
from separatrix.rows.csr import is_sparse

# The most entries of the rows' whitened products that are held in memory at once.
LARGEST_PRODUCTS = 1 << 19
# Dense rows with at most this many entries are copied in standard coordinates, which halves the time of each pass.
MOST_STANDARDISED_ENTRIES = 1 << 24
# X̄ᵀ is summed in pieces of this many entries, for which BLAS still uses its code for small products, and each thread
# takes this many pieces: waking another thread takes as long as a pass over 20 000 × 20.
PIECE, STRAND = 1 << 15, 32
# The number of rows that are transposed at a time.
WRITTEN = 4096
# The compiled kernel computes products of columns if X̄ᵀ has at least this many entries and at most this many columns.
FEWEST_COMPILED, WIDEST_COMPILED = 1 << 18, 64


class Sums(Protocol):
    """Sums over rows, not divided by their total weight."""

    def gram(self) -> Array:
        """Σ s x̄ x̄ᵀ, (d + 1, d + 1)."""

    def slope(self, W: Array) -> Array:
        """Σ s ∂ℓ ⊗ x̄, (K, d + 1)."""

    def information(self, W: Array) -> tuple[float, Array]:
        """Σ s ℓ and Σ s ℓ″ ⊗ x̄ x̄ᵀ."""

    def score(self, W: Array, F: Array, share: float) -> Array:
        """Σ s (∂ℓ − share · ½ H u) ⊗ x̄, (K, d + 1), with V_kl = (F_k x̄)·(F_l x̄) in u; F is (P, K, d + 1)."""


def sums_of(objective: Objective) -> Sums:
    """The sums over an objective's rows, which are copied in standard coordinates if they are dense and few enough."""
    block, loss = objective.rows.resident(), objective.loss
    if block is None or is_sparse(block.X) or block.n_rows * objective.shape[1] > MOST_STANDARDISED_ENTRIES:
        return Folded(objective.rows, loss)
    if not loss.traits.multiclass:
        return ByColumns.of(block, objective.rows.counter)
    own = block.written_out(np.arange(block.n_rows))
    return Folded(MemoryRows(own.X, own.t, own.weight, own.frame, objective.rows.counter), loss)


# ------------------------------------------------------------------------------------------ any rows


@dataclass(frozen=True)
class ValueHessian(ArraySum):
    """Σ s ℓ in entry 0 and ``Hessian`` in the rest: a likelihood and its information in one pass."""

    loss: Loss
    W: Array

    @property
    def shape(self) -> tuple[int, ...]:
        return (1 + self.W.size**2,)

    def add(self, total: Array, block: Block) -> Array:
        z = block.scores(self.W)
        total[0] += block.weight @ self.loss.value(block.t, z if self.loss.traits.multiclass else z[:, 0])
        Hessian(self.loss, self.W).add(total[1:].reshape(self.W.size, self.W.size), block)
        return total


@dataclass(frozen=True)
class PenalisedGradient(ArraySum):
    """The sum that ``Sums.score`` describes."""

    loss: Loss
    W: Array
    F: Array
    share: float

    @property
    def shape(self) -> tuple[int, ...]:
        return self.W.shape

    def add(self, total: Array, block: Block) -> Array:
        size = rows_per_piece(LARGEST_PRODUCTS, self.F.shape[0] * len(self.W))
        for rows in pieces(block.n_rows, size):
            part = block if size >= block.n_rows else block.take(rows)
            total += part.adjoint(part.weight[:, None] * self._residuals(part))
        return total

    def _residuals(self, block: Block) -> Array:
        z = block.scores(self.W)
        if not self.loss.traits.multiclass:
            p, r = sigmoid(z[:, 0]), self.loss.derivative(block.t, z[:, 0])
            G = block.scores(self.F[:, 0])
            V = np.einsum("ij,ij->i", G, G)
            return np.asarray(r - self.share * V * p * (1.0 - p) * (0.5 - p))[:, None]
        p, r = softmax(z), self.loss.derivative(block.t, z)
        parts = [block.scores(self.F[:, k]) for k in range(len(self.W))]
        mixed = sum(p[:, k, None] * G for k, G in enumerate(parts))
        u = np.stack([np.einsum("ij,ij->i", G, G - 2 * mixed) for G in parts], axis=1)
        return np.asarray(r - 0.5 * self.share * self.loss.curvature_product(block.t, z, u))


@dataclass(frozen=True)
class Folded:
    """The sums by folding partials."""

    rows: Rows
    loss: Loss

    def gram(self) -> Array:
        return self.rows.fold(Gram(self.rows.n_features + 1))

    def slope(self, W: Array) -> Array:
        return self.rows.fold(ValueGradient(self.loss, W))[1:].reshape(W.shape)

    def information(self, W: Array) -> tuple[float, Array]:
        total = self.rows.fold(ValueHessian(self.loss, W))
        return float(total[0]), total[1:].reshape(W.size, W.size)

    def score(self, W: Array, F: Array, share: float) -> Array:
        return self.rows.fold(PenalisedGradient(self.loss, W, F, share))


# ------------------------------------------------------------------------------------------ two classes, dense rows


class ByColumns:
    """The sums of the logistic likelihood from X̄ᵀ (d + 1, n), t and s, (n,).

    >>> X, t = np.array([[1.0, 1.0, 1.0], [0.0, 1.0, 2.0]]), np.array([-1.0, 1.0, 1.0])
    >>> value, information = ByColumns(X, t, np.ones(3), PassCounter()).information(np.zeros((1, 2)))
    >>> round(value, 6), information.tolist()  # 3 ln 2; a quarter of the Gram matrix
    (2.079442, [[0.75, 0.75], [0.75, 1.25]])
    """

    def __init__(self, X: Array, t: Array, weight: Array, counter: PassCounter) -> None:
        self.counter = counter
        self.X, self.t, self.weight, self.signed = X, t, weight, t * weight
        self.pieces = _pieces(*X.shape)
        # The last W of `information`, and σ(−m) and σ(m) σ(−m) of the margins m = t z there.
        self.W: Array | None = None
        self.q, self.curvature = np.empty_like(weight), np.empty_like(weight)

    @classmethod
    def of(cls, block: Block, counter: PassCounter) -> ByColumns:
        """The rows of a dense block in its frame's coordinates."""
        raw: Any = block.X
        X = np.ones((raw.shape[1] + 1, block.n_rows))
        center, scale = block.frame.center[:, None], block.frame.scale[:, None]

        for rows in pieces(block.n_rows, WRITTEN):
            np.subtract(raw[rows].T, center, out=X[1:, rows])
            X[1:, rows] /= scale
        return cls(X, block.t, block.weight, counter)

    def _sum(self, part: Callable[[slice], Array]) -> Array:
        """The sum over the pieces in their order; the pieces depend on the data alone."""
        strands = [self.pieces[some] for some in pieces(len(self.pieces), STRAND)]
        return reduce(iadd, in_order(lambda strand: reduce(iadd, map(part, strand)), strands))

    def _square(self, rows: slice, h: Array) -> Array:
        """Σ h x̄ x̄ᵀ over a piece, for h ≥ 0."""
        if self.X.size >= FEWEST_COMPILED and len(self.X) <= WIDEST_COMPILED:
            from separatrix.kernels.weighted_gram import weighted_square

            return weighted_square(self.X, rows.start, rows.stop, h)  # type: ignore[no-any-return]
        half = self.X[:, rows] * np.sqrt(h)
        return half @ half.T  # NumPy recognises AAᵀ and calls the symmetric product, which halves the work

    def gram(self) -> Array:
        self.counter.add()
        return self._sum(lambda rows: self._square(rows, self.weight[rows]))

    def slope(self, W: Array) -> Array:
        self.counter.add()
        return self._sum(lambda rows: self._slope(W, rows))[None, :]

    def _slope(self, W: Array, rows: slice) -> Array:
        X = self.X[:, rows]
        with np.errstate(over="ignore", under="ignore"):  # σ(−m) is zero where e^m is infinite
            return np.asarray(X @ (self.signed[rows] / (-1.0 - np.exp(self.t[rows] * (W[0] @ X)))))

    def information(self, W: Array) -> tuple[float, Array]:
        self.counter.add()
        total = self._sum(lambda rows: self._information(W, rows))
        self.W = W.copy()
        return float(total[-1, 0]), total[:-1]

    def _information(self, W: Array, rows: slice) -> Array:
        """The information of a piece, and below it a row with the likelihood."""
        X, s = self.X[:, rows], self.weight[rows]
        m = self.t[rows] * (W[0] @ X)
        with np.errstate(under="ignore"):
            tail = np.exp(-np.abs(m))
            value = s @ (np.log1p(tail) - np.minimum(m, 0.0))
            share = 1.0 / (1.0 + tail)
            self.q[rows] = np.where(m >= 0, tail, 1.0) * share
            self.curvature[rows] = tail * share**2
        total = np.zeros((len(X) + 1, len(X)))
        total[:-1] = self._square(rows, s * self.curvature[rows])
        total[-1, 0] = value
        return total

    def score(self, W: Array, F: Array, share: float) -> Array:
        self.counter.add()
        if self.W is None or not np.array_equal(self.W, W):
            self.information(W)
        return self._sum(lambda rows: self._score(F[:, 0], share, rows))[None, :]

    def _score(self, F: Array, share: float, rows: slice) -> Array:
        X, q = self.X[:, rows], self.q[rows]
        G = F @ X
        V = np.einsum("ji,ji->i", G, G)
        # ∂ℓ = −t q, and ½ − p = t (q − ½).
        V *= self.curvature[rows]
        V *= share * (0.5 - q)
        V -= q
        V *= self.signed[rows]
        return np.asarray(X @ V)


def _pieces(width: int, n: int) -> list[slice]:
    """Slices of equal size, of about PIECE entries each, with at least as many rows as columns."""
    count = max(1, min(n // max(1, width), round(n * width / PIECE)))
    return even_pieces(n, count)
