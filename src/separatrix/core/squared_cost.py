"""The squared cost of linear outputs: targets, exact minimum, gap, influence of rows (docs/tour.md, S1–S7).

    E(W) = (1/S) [½ Σ_i s_i ‖W x̄_i − t_i‖² + ½ λ Σ_k Σ_j w_kj²],    S = Σ_i s_i

with W (outputs, d + 1), intercepts in column 0 and never penalised, w in raw units. Lectures 001 and 003 write
½ tr RᵀR, which is E times the total weight and has the same minimisers. E is quadratic, so with its gradient G and
Hessian H (the same for every output) the gap E(W) − min E is exactly ½ tr G H⁺ Gᵀ for any W.

A row of class k has the residual (W m̄_k − t_k) + w (x − m_k), so the moments also give E, as a sum of squares, and G.
One pass suffices, and a bound on the rounding of the moments is added to the gap. Where that bound is too large,
because columns are nearly collinear or the fit is nearly exact, a second pass computes the residuals themselves with
their own bound on rounding (``SquaredCost.by_residuals``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, final

import numpy as np

from separatrix.core.base.arrays import EPS, Array, Integers, as_floats
from separatrix.core.base.errors import ParameterError
from separatrix.core.base.lazy import cached_property
from separatrix.core.gaussians import Whitening
from separatrix.core.geometry.hyperplane import homogeneous
from separatrix.core.linear_algebra import Subspace, all_null
from separatrix.core.moments import SQUARED_COST_MATRICES, Moments, SummedRows, gather
from separatrix.core.rows.block import Block
from separatrix.core.rows.column_statistics import refuse_not_finite
from separatrix.core.rows.labelled_table import InMemory
from separatrix.core.rows.memory_rows import MemoryRows, memory_rows
from separatrix.core.rows.protocol import BLOCK_BYTES, ArraySum, Order, Rows, additions_in_order, number_of_rows

# --- Codings of classes as regression targets, and of outputs as probability estimates (S1, S6)


@final
@dataclass(frozen=True)
class OneHot:
    """Class k has the target e_k, so there is one output per class.

    >>> OneHot().table(2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    def table(self, n_classes: int) -> Array:
        """The targets, one row per class."""
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
        """The targets, one row per class."""
        return np.array([[-1.0], [1.0]]) if n_classes == 2 else 2 * np.eye(n_classes) - 1

    def estimates(self, outputs: Array) -> Array:
        """(1 + output)/2, which estimates P(C_k|x), (n, K)."""
        signs = np.column_stack([-outputs, outputs]) if outputs.shape[1] == 1 else outputs
        return np.asarray((1 + signs) / 2)


TARGETS: dict[str, OneHot | Signed] = {"one-hot": OneHot(), "signed": Signed()}


def decision_of(targets: Array) -> Array:
    """D such that the scores are z = D · outputs: the outputs, or for two classes one score, near ±1 at the targets.

    >>> decision_of(OneHot().table(2)).tolist(), decision_of(Signed().table(2)).tolist()
    ([[-1.0, 1.0]], [[1.0]])
    """
    if len(targets) > 2:
        return np.eye(len(targets))
    apart = targets[1] - targets[0]
    return np.asarray(2 * apart / (apart @ apart))[None, :]


# --- The gap from the residuals of every row, with a bound on rounding errors


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
        return squares, gradient.reshape(outputs, width), whitened.reshape(outputs, rank), gram.reshape(rank, rank)


class ResidualJudgement(NamedTuple):
    """E and a bound on its rounding; ∇E, (outputs, d + 1); the computed gap, and an upper bound that includes rounding.

    ``gap`` is None where rounding leaves the curvature along some direction unknown.
    """

    value: float
    rounding: float
    gradient: Array
    summed_gap: float
    gap: float | None


# --- The cost and its minimum

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
        """E, ∇E and the gap at W, in the frame's coordinates, from the residuals, in one pass.

        With A (d + 1, r) from the whitening, the gap along the directions W + Θ Aᵀ is exactly

            ½ tr (G A) M⁻¹ (G A)ᵀ,    G A = (1/S) Σ s r zᵀ + penalty,    M = (1/S) Σ s z zᵀ + penalty,    z = Aᵀ x̄

        so it suffices to sum products of r and z over the rows. M is near the identity, and no error of these sums is
        multiplied by a condition number. In coordinates in which M is the identity, with root mean squares over the
        rows and an extra row for each penalised weight, the Cauchy–Schwarz inequality bounds

        * the residuals' rounding ε: ‖(1/S) Σ s ε zᵀ‖ is at most the root mean square of ε, as the rows z/√S contract,
        * the rounding of z: its root mean square times that of r in G A, and its share of the smallest eigenvalue of M,
        * the sums over rows: their length times the unit roundoff, as if all errors had the same sign.
        """
        frame, A, root_penalty = self.rows.frame, self.white.A, self.root_penalty
        sizes = np.sqrt(np.diag(self.gram))  # the root mean square of each column, to which its rounding is relative
        sizes[0] = 1.0
        # Bounds on the errors of the intercepts in W: large offsets are converted from raw units exactly.
        shift = np.asarray(EPS * np.abs(W[:, 0]))
        if not frame.has_large_offset:
            offsets = np.abs(frame.center / frame.scale)
            shift = np.asarray(EPS * (W.shape[1] + 1) * (np.abs(W[:, 0]) + 2 * np.abs(W[:, 1:]) @ offsets))
        partial = ResidualSums(W, self.targets, A)
        total = self.rows.fold(partial) / self.moments.total_weight
        squares, gradient, whitened, gram = partial.parts(total)
        shrunk, held = root_penalty * W, root_penalty[:, None] * A
        gradient, whitened, M = gradient + root_penalty * shrunk, whitened + shrunk @ held, gram + held.T @ held
        squares = squares + 0.5 * np.sum(shrunk**2, axis=1)
        if not self.fit_intercept:
            gradient[:, 0] = 0.0

        n = number_of_rows(self.rows)
        # The number of roundings in a sum over blocks, strand by strand, and in its later use.
        merges = additions_in_order(1 + 12 * n * max(self.rows.n_features, 2) // BLOCK_BYTES) + 4
        # The rounding of a sum of products and a target, for centred columns, and of a sum over rows in any order in
        # a block, both relative to the sum of the sizes of their terms.
        product, chain = 0.5 * EPS * (len(sizes) + 3), EPS * (min(n, BLOCK_BYTES // 8) + merges)
        residual = np.sqrt(2 * squares)  # the root mean square of r and of the penalised weights, by output
        moved = shift + product * (np.abs(W) @ (sizes + root_penalty) + float(np.max(np.abs(self.targets))))
        value = float(squares.sum())
        # NumPy's pairwise sum over the rows of a block has a rounding error of at most 32 units.
        rounding = float(residual @ moved + 0.5 * moved @ moved) + EPS * (32 + merges) * value
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
        hidden = moved * (np.sqrt(1 + share) + blurred)
        hidden += (residual + moved) * (blurred + chain * np.sqrt(trace / least))
        left = np.sqrt(1 - share) - blurred
        # M is scaled so that its smallest singular value is 1; rounding must leave half of it certain.
        gap = 0.5 * float(np.sum(((length + hidden) / left) ** 2)) if left > 0.5 else None
        return ResidualJudgement(value, rounding, gradient, 0.5 * float(length @ length), gap)

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
        # A smaller gap is a rounding error: no residual resolves those digits of W.
        if judged.summed_gap <= 1e-24 * self.null_value:
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
        # The part of the gradient along directions that the columns do not determine must be a rounding error.
        G, unit = judged.gradient, self._units
        outside = (G - (G @ self.white.A) @ self.white.colour.T) / np.where(unit > 0, unit, 1.0)
        # A smaller gradient along directions without curvature is a rounding error.
        if np.max(np.abs(outside)) > 1e-9 * (1.0 + float(np.max(np.abs(self.targets)))):
            gap, reason = None, "the gradient has a part outside the directions that the columns determine"
        elif gap is None:
            reason = "the columns are so nearly collinear that rounding hides the curvature along some direction"
        return Minimum(raw, W, judged.value, judged.rounding, gap, float(np.linalg.norm(G)), reason=reason), judged

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


def build_squared_cost(
    rows: Rows, targets: Array, l2: float, fit_intercept: bool, names: list[str] | None = None
) -> SquaredCost:
    """The cost over rows whose targets are class numbers, in standard coordinates. Raises on NaN and infinity.

    >>> from separatrix.core.rows.memory_rows import memory_rows
    >>> X, codes, signs = np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 1]), np.array([[-1.0], [1.0]])
    >>> least = build_squared_cost(memory_rows(X, codes), signs, 0.0, True).minimise()
    >>> least.raw.round(12).tolist(), round(3 * least.value, 12)
    ([[-0.666666666667, 1.0]], 0.333333333333)
    """
    held = SQUARED_COST_MATRICES

    def spread(total: float) -> float:
        """The spread of a column at which its variance and the ridge have the same curvature."""
        return 2 * float(np.sqrt(l2 / max(total, np.finfo(np.float64).tiny))) if l2 else 0.0

    found = gather(rows, len(targets), pooled=True, names=names, spread=spread, centred=fit_intercept, matrices=held)
    rows = rows.seen_through(found.frame)
    if isinstance(rows, MemoryRows):
        rows = replace(rows, once=True)
    return SquaredCost(rows, found, targets, float(l2), fit_intercept)


# --- The rows that influence a fit the most, found by deleting them (S5)

# A set of rows with leverage above this alone determines its direction, to working precision.
LEVERAGE_OF_SOLE_ROWS = 1 - 1e-9
# Limit on the high-leverage rows that are tried together with their neighbours.
MOST_MASKED_ROWS_TRIED = 200
DELETION = InMemory("most_influential", "it deletes single rows")


@dataclass(frozen=True)
class InfluentialRow:
    """A row, and the effect of deleting it together with the rows ``besides`` that mask it.

    ``cook`` is Cook's distance: the squared change of all outputs divided by the residual variance and the number of
    deleted rows. ``changed`` are the rows whose predicted class changes. ``weights`` are those of the decision after
    deletion, in raw units, with intercepts in column 0.
    """

    row: int
    besides: Integers
    leverage: float
    cook: float
    changed: Integers
    weights: Array


@dataclass(frozen=True)
class DeletionEffects:
    """Leverage h and Cook's distance of every row (n,), each for deleting that row alone."""

    leverage: Array
    cook: Array


@dataclass(frozen=True)
class _WhitenedRows:
    """U (n, r) and targets t (n, outputs), both times the root of the row's share of weight; weights β (r, outputs)."""

    U: Array
    t: Array
    beta: Array
    variance: float
    rank: int

    @property
    def leverage(self) -> Array:
        return np.asarray(np.sum(self.U**2, axis=1))

    def without(self, rows: Integers) -> Array:
        """β after deleting the rows.

        In whitened coordinates, where (S H)⁻¹ is the identity, row i of weight s_i is u_i and its leverage is h_i =
        ‖u_i‖². Let U hold the rows of a set I, and U = P diag(σ) Qᵀ. Without these rows the weights β are exactly

            β₋ᵢ = (I − UᵀU)⁺ (β − Uᵀ t) ,   (I − UᵀU)⁺ = I + Q diag(σ²/(1 − σ²)) Qᵀ,  −1 in the diagonal where σ = 1

        so no refit is needed (Cook and Weisberg 1982, chapter 3). σ = 1 means that the set alone determines a
        direction; after deletion the weight along that direction is zero.
        """
        U = self.U[rows]
        _, sigma, Qt = np.linalg.svd(U, full_matrices=False)
        alone = sigma**2 > LEVERAGE_OF_SOLE_ROWS
        gain = np.where(alone, -1.0, sigma**2 / np.where(alone, 1.0, 1 - sigma**2))
        left = self.beta - U.T @ self.t[rows]
        return np.asarray(left + Qt.T @ (gain[:, None] * (Qt @ left)))

    def cook(self, change: Any) -> Array:
        """‖Δ‖²/(p σ²) from ‖Δ‖². If the residual variance is zero, it is 0 where nothing changes, else infinite."""
        if self.variance > 0:
            return np.asarray(change / (self.rank * self.variance))
        return np.where(change <= 1e-20, 0.0, np.inf)


def _whitened(cost: SquaredCost, least: Minimum) -> _WhitenedRows:
    S, white = cost.moments.total_weight, cost.white
    parts, squares = [], 0.0
    for block in cost.rows.blocks(Order(4096)):  # the rows that are whitened at once
        root = np.sqrt(block.weight / S)[:, None]
        target = cost.targets[block.t]
        squares += float(np.sum((root * (target - block.scores(least.W))) ** 2))
        parts.append((root * (block.homogeneous() @ white.A), root * target))
    U, t = (np.concatenate(part) for part in zip(*parts, strict=True))
    freedom = S - white.rank
    noise = EPS * float(np.sum(t**2))
    variance = squares / freedom if freedom > 0 and squares > noise else 0.0
    return _WhitenedRows(U, t, white.colour.T @ least.W.T, variance, white.rank)


def influence(cost: SquaredCost, least: Minimum) -> DeletionEffects:
    """Leverage and Cook's distance of every row."""
    white = _whitened(cost, least)
    h = white.leverage
    residual = white.t - white.U @ white.beta
    pull = np.sum(residual**2, axis=1) * h / np.where(h > LEVERAGE_OF_SOLE_ROWS, 1.0, (1 - h) ** 2)
    alone = np.flatnonzero(h > LEVERAGE_OF_SOLE_ROWS)
    pull[alone] = np.sum((white.U[alone] @ white.beta) ** 2, axis=1)
    return DeletionEffects(h, white.cook(pull))


def _company(white: _WhitenedRows) -> dict[int, Integers]:
    """For each high-leverage row, the other such rows near it: u_i·u_j is at least half of either leverage.

    Two outlying rows close to each other mask each other: deleting one changes little. So a row of high leverage is
    deleted together with the other high-leverage rows near it.
    """
    h = white.leverage
    # The factor is below the 2 of Hoaglin and Welsch (1978), because two outlying rows share their leverage.
    high = np.flatnonzero(h > 1.5 * white.rank / len(h))
    high = high[np.argsort(-h[high], kind="stable")[:MOST_MASKED_ROWS_TRIED]]
    near = white.U[high] @ white.U[high].T >= 0.5 * np.maximum(h[high][:, None], h[high])
    np.fill_diagonal(near, False)
    return {int(i): np.sort(high[near[a]]) for a, i in enumerate(high) if near[a].any()}


def most_influential(cost: SquaredCost, decision: Array, top: int) -> tuple[InfluentialRow, ...]:
    """The rows whose deletion changes the fit the most; scores = decision @ outputs, decision (K or 1, outputs)."""
    least = cost.minimise()
    white, alone = _whitened(cost, least), influence(cost, least)
    company, distance = _company(white), alone.cook.copy()
    for i, others in company.items():
        jointly = white.cook(np.sum((white.without(np.append(others, i)) - white.beta) ** 2))
        distance[i] = max(distance[i], float(jointly) / (1 + len(others)))
    order = np.lexsort((-alone.leverage, -distance))[:top]
    block = DELETION.block(cost.rows)
    before = _choice(block.scores(decision @ least.W))
    rows = []
    for i in order.tolist():
        others = company.get(i, np.empty(0, dtype=np.int64))
        change = white.without(np.append(others, i)) - white.beta
        W = decision @ (least.W + (cost.white.A @ change).T)
        changed = np.flatnonzero(_choice(block.scores(W)) != before)
        raw = cost.rows.frame.to_original(W)
        rows.append(InfluentialRow(i, others, float(alone.leverage[i]), float(distance[i]), changed, raw))
    return tuple(rows)


def _choice(z: Array) -> Integers:
    return (z[:, 0] >= 0).astype(np.int64) if z.shape[1] == 1 else np.argmax(z, axis=1)


# --- Least squares predicts weighted sums of the targets (S7)

TARGET_WEIGHTS = InMemory("target_weights", "it is for examples that fit into memory")


@TARGET_WEIGHTS.refusing_tables
def target_weights(X: Any, at: Any) -> Array:
    """The weights of all training targets in the prediction of least squares at given rows.

    The prediction is y(x) = Wᵀx̄ = Tᵀ a(x) with a(x) = X̄ (X̄ᵀX̄)⁻¹ x̄. These weights depend on the rows alone, not on the
    targets. Where X̄ᵀX̄ is singular, its pseudoinverse is used.

    Parameters
    ----------
    X : array (n, d)
        The rows of the fit.
    at : array (m, d)
        The rows to predict.

    Returns
    -------
    array (m, n)
        ``target_weights(X, at) @ T`` are the predictions for targets T (n, K). Each row sums to 1.

    Examples
    --------
    >>> import separatrix as sx
    >>> sx.target_weights([[0.0], [1.0], [2.0]], [[1.0], [2.0]]).round(4).tolist()
    [[0.3333, 0.3333, 0.3333], [-0.1667, 0.3333, 0.8333]]
    """
    rows, places = as_floats(X), as_floats(at)
    if rows.ndim != 2 or places.ndim != 2 or rows.shape[1] != places.shape[1]:
        problem = f"the shapes of X and at are {rows.shape} and {places.shape}"
        raise ParameterError("at", problem, "give tables with the same number of columns")
    refuse_not_finite(memory_rows(rows, np.zeros(len(rows))))
    return np.asarray(homogeneous(places) @ np.linalg.pinv(homogeneous(rows)))
