r"""The squared cost of linear outputs, and its exact minimum. TEXTBOOK S2, S4.

    E(W) = (1/S) [½ Σ_i s_i ‖W x̄_i − t_i‖² + ½ λ Σ_k Σ_j w_kj²],    S = Σ_i s_i

with W (outputs, d + 1), intercepts in column 0 and never penalised, w in raw units. Lectures 001 and 003 write
½ tr RᵀR: this divided by the total weight; minimisers do not depend on it. E is quadratic, so with its gradient G and
Hessian H (alike for every output) the gap E(W) − min E is ½ tr G H⁺ Gᵀ, for any W, exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol, final

import numpy as np

from separatrix.arrays import Array, Integers
from separatrix.moments.gather import Moments, gather
from separatrix.moments.whitening import Whitening
from separatrix.rows import ArraySum, Block, Rows, memory_rows
from separatrix.rows.block import is_sparse
from separatrix.rows.columns import FEWEST_COMPILED

# A gap of this share of the null model's cost is rounding: digits of W that no residual can tell.
NOTHING = 1e-24
# An exact fit ends at its targets up to this share of their distance.
BEYOND = 1e-12


class Coding(Protocol):
    """How classes become targets, and outputs estimates of P(C_k|x)."""

    def table(self, n_classes: int) -> Array: ...
    def estimates(self, outputs: Array) -> Array: ...


@final
@dataclass(frozen=True)
class OneHot:
    """Class k has the target e_k: an output for each class.

    >>> OneHot().table(2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    def table(self, n_classes: int) -> Array:
        """The targets, a row for each class."""
        return np.eye(n_classes)

    def estimates(self, outputs: Array) -> Array:
        """y_k(x), which estimates P(C_k|x), (n, K)."""
        return outputs


@final
@dataclass(frozen=True)
class Signed:
    """Targets −1 and +1: one output for two classes, K outputs for more.

    >>> Signed().table(2).tolist()
    [[-1.0], [1.0]]
    """

    def table(self, n_classes: int) -> Array:
        """The targets, a row for each class."""
        return np.array([[-1.0], [1.0]]) if n_classes == 2 else 2 * np.eye(n_classes) - 1

    def estimates(self, outputs: Array) -> Array:
        """(1 + output)/2, which estimates P(C_k|x), (n, K)."""
        signs = np.column_stack([-outputs, outputs]) if outputs.shape[1] == 1 else outputs
        return np.asarray((1 + signs) / 2)


TARGETS: dict[str, Coding] = {"one-hot": OneHot(), "signed": Signed()}


def decision_of(targets: Array) -> Array:
    """D with scores z = D · outputs: the outputs themselves; for two classes one, near ±1 at their targets.

    >>> decision_of(OneHot().table(2)).tolist(), decision_of(Signed().table(2)).tolist()
    ([[-1.0, 1.0]], [[1.0]])
    """
    if len(targets) > 2:
        return np.eye(len(targets))
    apart = targets[1] - targets[0]
    return np.asarray(2 * apart / (apart @ apart))[None, :]


@dataclass(frozen=True)
class SquaredResiduals(ArraySum):
    """½ Σ s ‖r‖² in entry 0, rows with an output outside its targets' range in entry 1, Σ s r ⊗ x̄ in the rest.

    r = W x̄ − t.
    """

    W: Array
    targets: Array
    compiled: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        return (2 + self.W.size,)

    @cached_property
    def range(self) -> tuple[float, float]:
        """The least and the largest output that is no further out than a target."""
        low, high = float(self.targets.min()), float(self.targets.max())
        return low - BEYOND * (high - low), high + BEYOND * (high - low)

    def add(self, total: Array, block: Block) -> Array:
        X: Any = block.X
        if self.compiled and not is_sparse(X) and X.flags.c_contiguous and not block.frame.has_large_offset:
            return self._swept(total, block)
        R = block.scores(self.W)
        low, high = self.range
        out = (R.min(axis=1) < low) | (R.max(axis=1) > high)
        R -= self.targets[block.t]
        weighted = block.weight[:, None] * R
        total[0] += 0.5 * float(np.sum(weighted * R))
        total[1] += np.count_nonzero(out)
        total[2:] += block.adjoint(weighted).ravel()
        return total

    def _swept(self, total: Array, block: Block) -> Array:
        """The same in one sweep over raw rows that does not hold the interpreter; moved afterwards."""
        from separatrix.kernels.dense import squares_pass

        frame, raw = block.frame, block.frame.to_original(self.W)
        first, product = np.zeros(len(raw)), np.zeros((len(raw), raw.shape[1] - 1))
        weights = (np.ascontiguousarray(raw[:, 1:]), np.ascontiguousarray(raw[:, 0]))
        value, outside = squares_pass(
            block.X, block.t, block.weight, *weights, self.targets, *self.range, first, product
        )
        moved = (product - np.outer(first, frame.center)) / frame.scale
        total[0] += value
        total[1] += outside
        total[2:] += np.column_stack([first, moved]).ravel()
        return total


@dataclass(frozen=True)
class RootSystem:
    """Upper triangular, with the QR factor of rows √s (x̄, t), block after block: digits that squaring loses."""

    width: int
    targets: Array

    def zero(self) -> Array:
        return np.zeros((0, self.width + self.targets.shape[1]))

    def add(self, total: Array, block: Block) -> Array:
        rows = np.column_stack([block.homogeneous(), self.targets[block.t]])
        return self.merge(total, np.sqrt(block.weight)[:, None] * rows)

    def merge(self, a: Array, b: Array) -> Array:
        return np.asarray(np.linalg.qr(np.vstack([a, b]), mode="r"))


class Minimum(NamedTuple):
    """W as it is delivered, in raw units and in the frame's; E there; what is left of the gap; ‖∇E‖; rows outside."""

    raw: Array
    W: Array
    value: float
    gap: float | None
    gradient_norm: float
    n_outside: int


@dataclass(frozen=True)
class SquaredCost:
    """E over rows whose targets are class numbers, with their moments; ``targets``: (K, outputs), a row a class."""

    rows: Rows
    moments: Moments
    targets: Array
    l2: float
    fit_intercept: bool

    @cached_property
    def root_penalty(self) -> Array:
        """(λ/S)^½ by column of the frame, (d + 1)."""
        raw = np.sqrt(self.l2 / self.moments.total_weight) / self.rows.frame.scale
        return np.concatenate([[0.0], raw])

    @cached_property
    def gram(self) -> Array:
        """(1/S) Σ s x̄ x̄ᵀ, without the intercept's row and column where there is none."""
        found, m = self.moments, self.moments.center
        G = np.empty((len(m) + 1, len(m) + 1))
        G[0, 0], G[0, 1:], G[1:, 0] = 1.0, m, m
        G[1:, 1:] = (found.within + found.between) / found.total_weight + np.outer(m, m)
        if not self.fit_intercept:
            G[0, :] = G[:, 0] = 0.0
        return G

    @cached_property
    def root(self) -> tuple[Array, Array]:
        """R, R_t with the QR factor of the rows (x̄, t)/√S: RᵀR is the Gram matrix, Rᵀ R_t = (1/S) Σ s x̄ t."""
        width = self.rows.n_features + 1
        whole = self.rows.fold(RootSystem(width, self.targets)) / np.sqrt(self.moments.total_weight)
        R = whole[:, :width]
        if not self.fit_intercept:
            R[:, 0] = 0.0
        return R, whole[:, width:]

    @cached_property
    def noise(self) -> float:
        """The relative error of framed columns: centring rounds by their offset."""
        frame = self.rows.frame
        offset = float(np.max(np.abs(frame.center / frame.scale), initial=1.0))
        return 8 * (self.rows.n_features + 1) * float(np.finfo(np.float64).eps) * offset

    def _whitened(self, root_penalty: Array) -> Whitening:
        """Of the Gram matrix and a penalty; by their root where squaring leaves them singular."""
        found = Whitening.of(self.gram + np.diag(root_penalty**2))
        if not found.singular:
            return found
        return Whitening.of_root(np.vstack([self.root[0], np.diag(root_penalty)]), self.noise)

    @cached_property
    def white(self) -> Whitening:
        """Of H = gram + penalty."""
        return self._whitened(self.root_penalty)

    @property
    def rank(self) -> int:
        """Of X̄ (of X where there is no intercept), to working precision."""
        return self.white.rank if self.l2 == 0 else self._whitened(np.zeros_like(self.root_penalty)).rank

    @property
    def null_value(self) -> float:
        """E of the best constant outputs, of zero outputs where there is no intercept."""
        p = self.moments.shares
        mean = p @ self.targets if self.fit_intercept else np.zeros(self.targets.shape[1])
        return 0.5 * float(p @ np.sum((self.targets - mean) ** 2, axis=1))

    def value_gradient(self, W: Array) -> tuple[float, Array, int]:
        """E(W), ∇E(W), (outputs, d + 1), and how many rows' outputs leave the range of targets, in one pass."""
        many = (self.rows.n_rows or 0) * self.rows.n_features >= FEWEST_COMPILED
        found, S = self.rows.fold(SquaredResiduals(W, self.targets, many)), self.moments.total_weight
        G = found[2:].reshape(W.shape) / S + self.root_penalty * (self.root_penalty * W)
        if not self.fit_intercept:
            G[:, 0] = 0.0
        return float(found[0]) / S + 0.5 * float(np.sum((self.root_penalty * W) ** 2)), G, int(found[1])

    def gap(self, G: Array) -> float | None:
        """½ tr G H⁺ Gᵀ; None where the gradient has a part that the columns do not determine."""
        unit = np.sqrt(np.diag(self.gram) + self.root_penalty**2)
        unit[unit == 0] = 1.0
        outside = (G - (G @ self.white.A) @ self.white.colour.T) / unit
        if np.max(np.abs(outside)) > 1e-9 * (1.0 + float(np.max(np.abs(self.targets)))):
            return None
        return 0.5 * float(np.sum((G @ self.white.A) ** 2))

    def minimise(self) -> Minimum:
        """W = H⁺ (1/S) Σ s t x̄ᵀ; one step more from the residuals where the squared condition number calls for it."""
        if Whitening.of(self.gram + np.diag(self.root_penalty**2)).singular:
            R, R_t = self.root
            W = (self.white.A @ (self.white.A.T @ R.T) @ R_t).T
            return self.at(self.rows.frame.to_original(W))
        p = self.moments.shares
        first = np.column_stack([np.full(len(p), float(self.fit_intercept)), self.moments.mean])
        W = self.white.solve(first.T @ (self.targets * p[:, None])).T
        least = self.at(self.rows.frame.to_original(W))
        if least.gap is not None and least.gap <= NOTHING * self.null_value:
            return least
        _, G, _ = self.value_gradient(W)
        return self.at(self.rows.frame.to_original(W - self.white.solve(G.T).T))

    def at(self, raw: Array) -> Minimum:
        """E, its gap and gradient at weights in raw units."""
        W = self.rows.frame.from_original(raw)
        value, G, n_outside = self.value_gradient(W)
        return Minimum(raw, W, value, self.gap(G), float(np.linalg.norm(G)), n_outside)


def pose_squares(
    X: Any,
    codes: Integers,
    weight: Array,
    targets: Array,
    l2: float,
    fit_intercept: bool,
    names: list[str] | None = None,
) -> SquaredCost:
    """The cost over rows in memory, in standard coordinates. Refuses NaN and infinity by row and column.

    >>> X, codes = np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 1])
    >>> least = pose_squares(X, codes, np.ones(3), Signed().table(2), 0.0, True).minimise()
    >>> least.raw.round(12).tolist(), round(3 * least.value, 12)
    ([[-0.666666666667, 1.0]], 0.333333333333)
    """
    total = max(float(weight.sum()), np.finfo(np.float64).tiny)
    spread = 2 * float(np.sqrt(l2 / total))
    found = gather(X, codes, len(targets), weight, pooled=True, names=names, spread=spread, centred=fit_intercept)
    return SquaredCost(memory_rows(X, codes, weight, found.frame), found, targets, float(l2), fit_intercept)
