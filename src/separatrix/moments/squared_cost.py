r"""The squared cost of linear outputs, and its exact minimum (docs/tour.md, S2, S4).

    E(W) = (1/S) [½ Σ_i s_i ‖W x̄_i − t_i‖² + ½ λ Σ_k Σ_j w_kj²],    S = Σ_i s_i

with W (outputs, d + 1), intercepts in column 0 and never penalised, w in raw units. Lectures 001 and 003 write
½ tr RᵀR, which is E times the total weight and has the same minimisers. E is quadratic, so with its gradient G and
Hessian H (the same for every output) the gap E(W) − min E is exactly ½ tr G H⁺ Gᵀ for any W.

A row of class k has the residual (W m̄_k − t_k) + w (x − m_k), so the moments also give E, as a sum of squares, and G.
One pass suffices, and a bound on the rounding of the moments is added to the gap. Where that bound is too large,
because columns are nearly collinear or the fit is nearly exact, a second pass computes the residuals themselves with
their own bound on rounding (``residual_sums``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from separatrix.base.arrays import EPS, Array
from separatrix.base.cached import cached_property
from separatrix.moments.accumulated import SummedRows
from separatrix.moments.gather import SQUARED_COST_MATRICES, Moments, gather
from separatrix.moments.residual_sums import ResidualJudgement, judge_by_residuals
from separatrix.moments.whitening import Whitening
from separatrix.objectives.resolution import all_null
from separatrix.objectives.subspace import Subspace
from separatrix.rows import Block, MemoryRows, Rows

# A gap below this share of the null model's cost is a rounding error: no residual resolves those digits of W.
NEGLIGIBLE_GAP_SHARE = 1e-24
# A gradient above this, relative to the targets, along directions without curvature is not a rounding error.
LARGEST_ROUNDED_GRADIENT = 1e-9
# The moments decide alone if rounding leaves less than this share in doubt, both of the cost and of the outputs.
LARGEST_SHARE_IN_DOUBT = 1e-8


@dataclass(frozen=True)
class RootSystem:
    """The triangular QR factor of the rows √s (x̄, t), updated block by block; it keeps digits that squaring loses."""

    width: int
    targets: Array

    def zero(self) -> Array:
        return np.zeros((0, self.width + self.targets.shape[1]))

    def add(self, total: Array, block: Block) -> Array:
        for part in block.dense_pieces():
            rows = np.column_stack([part.homogeneous(), self.targets[part.t]])
            total = self.merge(total, np.sqrt(part.weight)[:, None] * rows)
        return total

    def merge(self, a: Array, b: Array) -> Array:
        return np.asarray(np.linalg.qr(np.vstack([a, b]), mode="r"))


class Minimum(NamedTuple):
    """W in raw units and in the frame's coordinates, E at W, its gap to the minimum, and ‖∇E‖.

    ``rounding`` bounds the error of the value. ``gap`` includes a bound on rounding, along the directions that float64
    resolves; it is None together with a ``reason``.
    """

    raw: Array
    W: Array
    value: float
    rounding: float
    gap: float | None
    gradient_norm: float
    by_residuals: bool = True
    shortest: bool = False  # whether it is the minimiser of least norm in raw units, intercept included
    reason: str = ""


@dataclass(frozen=True)
class SquaredCost:
    """E over rows whose targets are class numbers, with their moments; ``targets`` (K, outputs) has a row per class."""

    rows: Rows
    moments: Moments
    targets: Array
    l2: float
    fit_intercept: bool

    @cached_property
    def root_penalty(self) -> Array:
        """(λ/S)^½ for each column of the frame, (d + 1)."""
        raw = np.sqrt(self.l2 / self.moments.total_weight) / self.rows.frame.scale
        return np.concatenate([[0.0], raw])

    @cached_property
    def gram(self) -> Array:
        """(1/S) Σ s x̄ x̄ᵀ, with a zero row and column for the intercept if there is none."""
        found, m = self.moments, self.moments.center
        G = np.empty((len(m) + 1, len(m) + 1))
        G[0, 0], G[0, 1:], G[1:, 0] = 1.0, m, m
        G[1:, 1:] = (found.within + found.between) / found.total_weight + np.outer(m, m)
        if not self.fit_intercept:
            G[0, :] = G[:, 0] = 0.0
        return G

    @property
    def has_rows(self) -> bool:
        """Whether the rows can be read again; if not, there are only their moments."""
        return not isinstance(self.rows, SummedRows)

    @cached_property
    def root(self) -> tuple[Array, Array]:
        """R, R_t with the QR factor of the rows (x̄, t)/√S: RᵀR is the Gram matrix, Rᵀ R_t = (1/S) Σ s x̄ t.

        Without the rows R is a root of the Gram matrix, with half the digits.
        """
        if not self.has_rows:
            values, V = np.linalg.eigh(self.gram)
            size = np.sqrt(np.maximum(values, 0.0))[:, None]
            moved = V.T @ self._target_means
            return size * V.T, np.divide(moved, size, out=np.zeros_like(moved), where=size > 0)
        width = self.rows.n_features + 1
        whole = self.rows.fold(RootSystem(width, self.targets)) / np.sqrt(self.moments.total_weight)
        R = whole[:, :width]
        if not self.fit_intercept:
            R[:, 0] = 0.0
        return R, whole[:, width:]

    @cached_property
    def noise(self) -> float:
        """The relative error of framed columns: centring rounds relative to their offset, unless they are constant."""
        frame, varies = self.rows.frame, np.diag(self.gram)[1:] > 0
        offset = float(np.max(np.abs(frame.center / frame.scale)[varies], initial=1.0))
        return 8 * (self.rows.n_features + 1) * EPS * offset

    @cached_property
    def _squared(self) -> Whitening:
        """The whitening of H = gram + penalty, at the precision of squared columns."""
        return Whitening.of(self.gram + np.diag(self.root_penalty**2))

    def _by_root(self, found: Whitening, root_penalty: Array) -> Whitening:
        """The same whitening, from the root of the matrix where squaring left it singular."""
        if not found.deficient or not self.has_rows:
            return found
        return Whitening.of_root(np.vstack([self.root[0], np.diag(root_penalty)]), self.noise)

    @cached_property
    def white(self) -> Whitening:
        """The whitening of H = gram + penalty."""
        return self._by_root(self._squared, self.root_penalty)

    @property
    def rank(self) -> int:
        """The rank of X̄ (of X if there is no intercept), to working precision."""
        if self.l2 == 0:
            return self.white.rank
        return self._by_root(Whitening.of(self.gram), np.zeros_like(self.root_penalty)).rank

    @property
    def null_value(self) -> float:
        """E of the best constant outputs, or of zero outputs if there is no intercept."""
        p = self.moments.shares
        mean = p @ self.targets if self.fit_intercept else np.zeros(self.targets.shape[1])
        return 0.5 * float(p @ np.sum((self.targets - mean) ** 2, axis=1))

    def by_residuals(self, W: Array) -> ResidualJudgement:
        """E, ∇E and the gap at W from the residuals, in one pass."""
        found = judge_by_residuals(
            self.rows,
            W,
            self.targets,
            self.white.A,
            self.root_penalty,
            self.moments.total_weight,
            self._product_sizes,
            self._intercept_rounding(W),
        )
        if not self.fit_intercept:
            found.gradient[:, 0] = 0.0
        return found

    @cached_property
    def _product_sizes(self) -> Array:
        """The size that products of a column are rounded relative to, (d + 1,): its root mean square."""
        size = np.sqrt(np.diag(self.gram))
        size[0] = 1.0
        return size

    @cached_property
    def _offsets(self) -> Array:
        """The offset of each column in units of its scale, (d,)."""
        return np.abs(self.rows.frame.center / self.rows.frame.scale)

    def _intercept_rounding(self, W: Array) -> Array:
        """Bounds on the errors of intercepts converted from raw units, (outputs,). Large offsets convert exactly."""
        if self.rows.frame.has_large_offset:
            return np.asarray(EPS * np.abs(W[:, 0]))
        return np.asarray(EPS * (W.shape[1] + 1) * (np.abs(W[:, 0]) + 2 * np.abs(W[:, 1:]) @ self._offsets))

    def _value_gradient_by_moments(self, W: Array) -> tuple[float, Array]:
        """E and ∇E from the moments, without a pass."""
        p, w, within = self.moments.shares, W[:, 1:], self.moments.within / self.moments.total_weight
        off = self._means @ W.T - self.targets
        shrunk, spread = self.root_penalty * W, w @ within
        value = 0.5 * (float(p @ np.sum(off**2, axis=1)) + float(np.sum(spread * w)) + float(np.sum(shrunk**2)))
        G = (off * p[:, None]).T @ self._means + self.root_penalty * shrunk
        G[:, 1:] += spread
        return value, G

    @property
    def _target_means(self) -> Array:
        """(1/S) Σ s x̄ t, (d + 1, outputs)."""
        return np.asarray(self._means.T @ (self.targets * self.moments.shares[:, None]))

    @cached_property
    def _means(self) -> Array:
        """m̄_k, (K, d + 1)."""
        return np.column_stack([np.full(len(self.targets), float(self.fit_intercept)), self.moments.mean])

    def _leaves(self, G: Array) -> bool:
        """Whether the gradient has a part, above rounding, along directions that the columns do not determine."""
        unit = self._units
        outside = (G - (G @ self.white.A) @ self.white.colour.T) / np.where(unit > 0, unit, 1.0)
        return bool(np.max(np.abs(outside)) > LARGEST_ROUNDED_GRADIENT * (1.0 + float(np.max(np.abs(self.targets)))))

    @cached_property
    def _units(self) -> Array:
        """H_jj^½, (d + 1); zero for constant columns, and for the intercept if there is none."""
        return np.sqrt(np.diag(self.gram) + self.root_penalty**2)

    @cached_property
    def unresolved(self) -> bool:
        """Whether rows differ along some omitted direction, by less than float64 resolves. It takes one pass.

        Then E depends on that direction and may be lower along it than the minimum over the other directions.
        """
        colour, pinned = self.white.colour, self._units == 0
        if self.white.rank >= np.count_nonzero(~pinned):
            return False
        if not self.has_rows:
            return True
        space = Subspace(None, colour / np.linalg.norm(colour, axis=0), self.white.rank)
        return not all_null(self.rows, space, pinned, self.root_penalty > 0)

    def minimise(self) -> Minimum:
        """The minimum. If X̄ is rank-deficient and there is no penalty, the minimiser W = X̄⁺T (docs/tour.md, S2).

        X̄⁺T has the least norm, intercept included, in raw units. Where float64 cannot resolve it, because offsets are
        much larger than the columns' spreads, the result is the minimiser of least norm in standardised columns.
        """
        least = self._minimiser()
        width = self.rows.n_features + self.fit_intercept
        if self.l2 > 0 or self.white.rank >= width:
            return least
        raw = self._shortened(least.raw)
        shortest = (None if least.by_residuals else self._at_by_moments(raw)) or self.at(raw)
        allowed = max(10 * (least.gap or 0.0), LARGEST_SHARE_IN_DOUBT**2 * self.null_value)
        return least if shortest.gap is None or shortest.gap > allowed else shortest._replace(shortest=True)

    def _shortened(self, raw: Array) -> Array:
        """Raw weights without their part that is orthogonal to all rows x̄, on which no score depends."""
        frame, seen = self.rows.frame, self.white.colour  # the columns of colour span the framed rows
        scale = np.where(np.isinf(frame.scale), 0.0, frame.scale)  # a constant column consists of its centre alone
        rows = np.vstack([seen[:1], np.outer(frame.center, seen[0]) + scale[:, None] * seen[1:]])
        size = np.abs(rows).max(axis=0)  # not the length, whose square underflows if entries are below 1e-160
        Q = np.linalg.qr(rows[:, size > 0] / size[size > 0])[0]
        shortened = np.asarray(raw @ Q @ Q.T)
        if not self.fit_intercept:
            shortened[:, 0] = 0.0
        return shortened

    def _minimiser(self) -> Minimum:
        """W = H⁺ (1/S) Σ s t x̄ᵀ, refined by one step from the residuals if the squared condition number requires it."""
        if self._squared.deficient and self.has_rows:
            R, R_t = self.root
            W = (self.white.A @ (self.white.A.T @ R.T) @ R_t).T
            return self.at(self.rows.frame.to_original(W))
        W = self.white.solve(self._target_means).T
        raw = self.rows.frame.to_original(W)
        least = self._at_by_moments(raw)
        if least is not None or not self.has_rows:
            return least or self.at(raw)
        least, judged = self._at_by_residuals(raw)
        if judged.summed_gap <= NEGLIGIBLE_GAP_SHARE * self.null_value:
            return least
        return self.at(self.rows.frame.to_original(least.W - self.white.solve(judged.gradient.T).T))

    def judge(self, raw: Array) -> Minimum:
        """E, its gap and gradient at weights in raw units, from the moments, or from residuals where in doubt."""
        return (None if self._squared.deficient else self._at_by_moments(raw)) or self.at(raw)

    def at(self, raw: Array) -> Minimum:
        """E, its gap and gradient at weights in raw units, from the residuals; without the rows there is no gap."""
        if self.has_rows:
            return self._at_by_residuals(raw)[0]
        W = self.rows.frame.from_original(raw)
        value, G = self._value_gradient_by_moments(W)
        reason = "the sums that partial_fit keeps do not show the residuals, so fit all rows at once for a bound"
        return Minimum(raw, W, value, np.inf, None, float(np.linalg.norm(G)), by_residuals=False, reason=reason)

    def _at_by_residuals(self, raw: Array) -> tuple[Minimum, ResidualJudgement]:
        W = self.rows.frame.from_original(raw)
        judged = self.by_residuals(W)
        gap, reason = judged.gap, ""
        if self._leaves(judged.gradient):
            gap, reason = None, "the gradient has a part outside the directions that the columns determine"
        elif gap is None:
            reason = "the columns are so nearly collinear that rounding hides the curvature along some direction"
        slope = float(np.linalg.norm(judged.gradient))
        return Minimum(raw, W, judged.value, judged.rounding, gap, slope, reason=reason), judged

    def _at_by_moments(self, raw: Array) -> Minimum | None:
        """The same from the moments, with a bound on their rounding in the gap; None where that leaves doubt."""
        W, A = self.rows.frame.from_original(raw), self.white.A
        value, G = self._value_gradient_by_moments(W)
        unit, error = np.sqrt(np.diag(self.gram)), self.noise + self.moments.rounding
        reach = np.abs(W) @ unit + float(np.max(np.abs(self.targets)))  # bounds the mean output and residual
        columns = unit @ np.abs(A)
        blurred = 2 * error * float(columns @ columns)  # the error of H, in coordinates in which it is the identity
        if not blurred <= 0.5:
            return None
        length = np.linalg.norm(G @ A, axis=1) + 2 * error * reach * float(np.linalg.norm(columns))
        gap = 0.5 * float(length @ length) / (1 - blurred)
        rounding = error * float(reach @ reach)
        if rounding > LARGEST_SHARE_IN_DOUBT * value or gap > LARGEST_SHARE_IN_DOUBT**2 * self.null_value:
            return None
        return Minimum(raw, W, value, rounding, gap, float(np.linalg.norm(G)), by_residuals=False)


def ridge_spread(l2: float) -> Callable[[float], float]:
    """The spread of a column, from the total weight, at which its variance and the ridge have the same curvature."""
    return lambda total: 2 * float(np.sqrt(l2 / max(total, np.finfo(np.float64).tiny))) if l2 else 0.0


def build_squared_cost(
    rows: Rows,
    targets: Array,
    l2: float,
    fit_intercept: bool,
    names: list[str] | None = None,
) -> SquaredCost:
    """The cost over rows whose targets are class numbers, in standard coordinates. Raises on NaN and infinity.

    >>> from separatrix.rows import memory_rows
    >>> X, codes, signs = np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 1]), np.array([[-1.0], [1.0]])
    >>> least = build_squared_cost(memory_rows(X, codes), signs, 0.0, True).minimise()
    >>> least.raw.round(12).tolist(), round(3 * least.value, 12)
    ([[-0.666666666667, 1.0]], 0.333333333333)
    """
    spread, held = ridge_spread(l2), SQUARED_COST_MATRICES
    found = gather(rows, len(targets), pooled=True, names=names, spread=spread, centred=fit_intercept, matrices=held)
    rows = rows.seen_through(found.frame)
    if isinstance(rows, MemoryRows):
        rows = replace(rows, once=True)
    return SquaredCost(rows, found, targets, float(l2), fit_intercept)
