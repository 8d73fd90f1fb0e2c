r"""A small dense table as one array of standardised rows: E, ∇E and ∇²E by a few matrix products, without a fold.

    E(W) = Σ_i s_i ℓ(t_i, z_i) + ½ Σ_kj (r_j W_kj)²,    z = W X̄ᵀ,    Σ_i s_i = 1

A pass over a small table takes less time than the interpreter takes to divide it into blocks and to add up their sums.
So `Objective` evaluates such a table here. The results agree with those of ``partials`` up to rounding. Second
derivatives usually follow an evaluation at the same W; the last evaluation's derivatives by row are kept for them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from separatrix.base.arrays import AnyArray, Array, all_true, inner
from separatrix.base.labels import one_hot
from separatrix.base.quiet import quietly
from separatrix.losses import Loss
from separatrix.losses.margin import Logistic
from separatrix.losses.multiclass import Softmax
from separatrix.objectives.evaluation import Evaluation
from separatrix.objectives.partials import add_softmax_hessian
from separatrix.rows import Block
from separatrix.rows.block import MOST_BATCHED_ENTRIES
from separatrix.rows.protocol import PassCounter

if TYPE_CHECKING:
    from separatrix.objectives.framed_penalty import FramedPenalty

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


def _logistic_hessian(block: Block, s: Array, second: Array) -> Array:
    return block.written_sandwich(second)


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
    X = block.written
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
    Logistic: Arithmetic(lambda t, K: -t, _logistic_sums, _logistic_residual, _logistic_hessian),
    Softmax: Arithmetic(
        lambda t, K: np.ascontiguousarray(one_hot(t, K).T), _softmax_sums, _softmax_residual, _softmax_hessian
    ),
}


@dataclass
class DenseTable:
    """The rows and the penalty of a small dense problem, ready for evaluation.

    ``block``: all rows, cached in the frame's coordinates. ``t``: their targets, as ``arithmetic`` takes them. ``s``:
    their weights divided by the sum of the weights. ``root_penalty``: r for each class, (K or 1, d + 1): products of
    small arrays take a third of the time if their shapes are the same. ``pinned``: the columns of W whose gradient is
    zero, None if there are none.

    >>> from separatrix.objectives.build import build_objective
    >>> from separatrix.objectives.penalty import Penalty
    >>> from separatrix.rows import labelled_rows
    >>> rows = labelled_rows(np.arange(4.0)[:, None], np.array([0, 1, 0, 1]), 2)
    >>> table = DenseTable.of(build_objective(rows, 2, Penalty(1.0, np.ones(1))))
    >>> round(table.value_gradient(np.zeros((1, 2))).value, 6)
    0.693147
    """

    block: Block
    arithmetic: Arithmetic
    t: Array
    s: Array
    root_penalty: Array
    pinned: AnyArray | None
    counter: PassCounter
    _last: tuple[bytes, Array] = (b"", np.empty(0))

    def __post_init__(self) -> None:
        self._X: Any = self.block.written
        self._transposed: Any = self._X.T
        self._curvature = self.root_penalty.ravel() ** 2
        counted = self.s > 0
        self._counted: Any = True if all_true(counted) else counted

    @classmethod
    def of(cls, problem: FramedPenalty) -> DenseTable | None:
        """The table of a problem, or None if it is not small, not dense, or its loss is not in ``ARITHMETIC``."""
        arithmetic = ARITHMETIC.get(type(problem.loss))
        block = problem.rows.resident()
        if arithmetic is None or block is None or not block.is_written_out or problem.has_absolute:
            return None
        if block.n_rows * problem.shape[1] > MOST_ENTRIES:
            return None
        s = block.weight / problem.total_weight
        pinned = problem.pinned if problem.has_pinned else None
        t = arithmetic.targets(block.t, problem.n_classes)
        root_penalty = problem.root_penalty[None, :].repeat(problem.shape[0], axis=0)
        return cls(block, arithmetic, t, s, root_penalty, pinned, problem.rows.counter)

    @quietly
    def value_gradient(self, W: Array) -> Evaluation:
        """E(W) and ∇E(W), (K, d + 1), in one pass."""
        self.counter.add()
        sums = self.arithmetic.sums(self.t, self.s, W.dot(self._transposed))
        gradient: Array = sums.residual.dot(self._X)
        np.add.reduce(sums.residual, axis=1, out=gradient[:, 0])  # exact: rows that balance each other sum to zero
        if self.pinned is not None:
            gradient[:, self.pinned] = 0.0
        W_r = self.root_penalty * W
        gradient += self.root_penalty * W_r
        self._last = (W.tobytes(), sums.second)
        W_r = W_r.ravel()
        return Evaluation(sums.value + 0.5 * float(W_r.dot(W_r)), gradient)

    @quietly
    def slope_along(self, V: Array) -> Callable[[float], float]:
        """φ′ for φ(α) = E(αV), as a function of α, in one pass."""
        self.counter.add()
        z, V_r = V.dot(self._transposed), self.root_penalty * V
        return partial(self._slope, z, inner(V_r, V_r))

    @quietly
    def _slope(self, z: Array, of_penalty: float, alpha: float) -> float:
        slope = inner(self.arithmetic.residual(self.t, self.s, alpha * z), z)
        if not isfinite(slope):
            slope = inner(self.arithmetic.sums(self.t, self.s, alpha * z).residual, z)
        return slope + alpha * of_penalty

    @quietly
    def gram(self) -> Array:
        """Σ_i s_i x̄_i x̄_iᵀ, zero in pinned columns, in one pass."""
        self.counter.add()
        total = self.block.written_sandwich(self.s)
        if self.pinned is not None:
            total[self.pinned, :] = total[:, self.pinned] = 0.0
        return total

    @quietly
    def longest(self, root: Array) -> float:
        """The largest squared length of ``root`` x̄ over rows of positive weight."""
        z = root.dot(self._transposed)
        squares = np.add.reduce(np.multiply(z, z, out=z), axis=0)
        return float(np.maximum.reduce(squares, initial=0.0, where=self._counted))

    @quietly
    def hessian(self, W: Array) -> Array:
        """∇²E(W), (K (d + 1), K (d + 1)), in one pass."""
        self.counter.add()
        last, second = self._last
        if last != W.tobytes():
            second = self.arithmetic.sums(self.t, self.s, W.dot(self._transposed)).second
        total = self.arithmetic.hessian(self.block, self.s, second)
        diagonal = total.ravel()[:: W.size + 1]  # a view
        diagonal += self._curvature
        return total
