"""An upper bound on the gap E(W) − inf E by duality, for a convex loss and a penalty on every column.

Any dual point a gives E(W′) ≥ D(a) for all W′. The slopes of the loss at W are a dual point without a pass, except that
the intercept requires Σ_i s_i a_i = 0. They are mixed with a share of constant slopes that makes this hold, and with a
share of zero for absolute values. For a loss with kinks the slopes are those of a smooth loss near it
(``smoothed_slopes``). The bound includes the rounding errors of the sums over rows (``Rounding``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, isfinite, log, sqrt
from typing import NamedTuple

import numpy as np

from separatrix.core.base.arrays import EPS, Array
from separatrix.core.certificate import Bound
from separatrix.core.linear_algebra import Subspace
from separatrix.core.losses import Kinked
from separatrix.core.objective_sums import Evaluation
from separatrix.core.penalty import soft
from separatrix.core.problem import Objective
from separatrix.core.rows.block import Block
from separatrix.core.rows.protocol import BLOCK_BYTES, ArraySum

# --- Rounding errors of sums over rows


class Charge(NamedTuple):
    """The gradient's error in the subspace's coordinates, (c r,); ``far`` is added to λ, ``more`` to the gap."""

    error: Array
    far: float = 0.0
    more: float = 0.0


@dataclass(frozen=True)
class Rounding:
    """Bounds on rounding errors in standard coordinates, where the root mean square of a column is below 2.

    A score is a sum of d + 1 products, each with an error of some units in the last place of
    |W_j| (|x̃_j| + |center_j/scale_j|), because rows without a large offset are multiplied in raw units and centred
    afterwards (``Block``). ``moved`` is the root mean square of that error. A logistic slope ℓ′ is at most 1 and at
    most the loss ℓ, so the root mean square of slopes is at most √E, and by Cauchy and Schwarz

        the error of E is at most √E moved, that of ∂E/∂W_j at most (√E + moved/2) times the size of column j,

    plus the rounding error of the sum over rows: a few units in the last place, and √m of them over blocks of m rows,
    since the errors are random. ``slope`` is the error of summing the slopes. A loss ℓ ≥ 0 whose slope has the
    Lipschitz constant M satisfies ℓ′² ≤ 2Mℓ, so (2ME)^½ replaces √E, and M replaces ½. A slope of a loss with kinks is
    at most 1.

    ``value``: the error of E. ``size``: the size of the columns, (d + 1,). ``bend``: ½ or M.
    """

    value: float
    slope: float
    moved: float
    size: Array
    bend: float = 0.5

    @classmethod
    def of(cls, objective: Objective, W: Array, at: Evaluation) -> Rounding:
        size, E = objective.framed.rounded_sizes, abs(at.value)
        moved = _units(objective) * float(np.abs(W).dot(size).max())
        rows = min(objective.n_rows, BLOCK_BYTES // (8 * max(1, objective.rows.n_features)) + 1)
        # With several classes a probability near 1 is rounded before 1 is subtracted, however small the loss.
        traits, bend = objective.loss.traits, 0.5
        slope = 1.0 if traits.multiclass or not traits.smooth else sqrt(min(1.0, E))
        if traits.lipschitz is not None and not traits.canonical:
            steepest = np.inf if traits.steepest is None else traits.steepest
            slope, bend = min(steepest, sqrt(2 * traits.lipschitz * E)), traits.lipschitz
        summed = EPS * (8 + sqrt(rows) / 4)
        return cls(summed * max(E, slope**2) + 2 * slope * moved, summed * slope, moved, size, bend)

    @property
    def gradient(self) -> Array:
        """The error of the derivative of E in each column, (d + 1,), the same for every class."""
        return (self.slope + self.bend * self.moved) * self.size

    def curvature(self, objective: Objective, W: Array, longest: float) -> float:
        """The relative error of a row's second derivative, which changes by no more than its score does.

        In the subset |x̃_j| is at most ``longest`` times the root of H_jj, and that is at most 1 + r_j.
        """
        reach = self.size + longest * (1.0 + objective.root_penalty)
        return 2 * _units(objective) * float(np.abs(W).dot(reach).max())

    def otherwise(self, objective: Objective, W: Array, aside: Array, curvatures: Array | None) -> Iterator[Charge]:
        """Two alternative bounds on the effect of the rounding of scores; each is sufficient alone.

        1. Let Ẽ be the objective with every score moved by its rounding error ε_i at W, a constant. The computed
           gradient is that of Ẽ, and |E − Ẽ| is at most the mean of |ε_i| everywhere, so the gap of E is at most the
           gap of Ẽ plus twice that mean. This is better if the curvature is small along large weights.
        2. The error of the gradient along v is the mean of ℓ″ ε_i (x̄_i·v), at most (mean ℓ″ ε²)^½ (vᵀ H v)^½, so the
           error of λ is (mean ℓ″ ε²)^½, at most the rounding of a score times Σ_j |W_j| H_jj^½. This is better if one
           class has nearly all the weight, so that ℓ″ is small. ``curvatures`` (K (d + 1),) are the roots of the
           diagonal of the Hessian of all rows, or None.
        """
        summed = reduced_error(objective.subspace, self.slope * self.size + aside)
        yield Charge(summed, more=2 * self.moved)
        if curvatures is not None:
            roots, offset = curvatures.reshape(W.shape), self.size[1:] - 2.0
            far = np.sum(np.abs(W) * roots) + np.sum((np.abs(W[:, 1:]) @ offset) * roots[:, 0])
            yield Charge(summed, far=_units(objective) * float(far))


def reduced_error(space: Subspace, error: Array) -> Array:
    """A bound on the error of a gradient in the subspace's coordinates, (c r,), from that of every column, (d + 1,)."""
    if space.Z is None and space.Q is None:
        return error
    classes = 1 if space.Q is None else len(space.Q)
    count = space.rank * max(1, classes - 1)
    return np.full(count, np.sqrt(classes) * float(np.linalg.norm(error)))


def _units(objective: Objective) -> float:
    """The rounding error of a score relative to the sum of the sizes of its products, for random errors."""
    return 2 * EPS * sqrt(objective.shape[1] + 2)


# --- Dual points

# The widths μ of the smooth losses: with the first every row is in the smooth part at W = 0, with the last the gap is
# below rounding.
WIDTHS = tuple(4.0**-k for k in range(-1, 15))


class DualPoint(NamedTuple):
    """The sums of slopes a_i: ``gradient`` is the mean of a_i x̄_i, (K or 1, d + 1), with the error ``rounding``.

    ``apart``: the mean of ℓ(z_i) + ℓ*(a_i) − a_i z_i, which is zero for the slopes of a smooth loss at z_i.
    """

    gradient: Array
    rounding: Array
    apart: float = 0.0


@dataclass(frozen=True)
class SmoothedSlopes(ArraySum):
    """For each width: Σ s (ℓ + ℓ*(a) − a z) in entry 0, Σ s a x̄ in the rest, with a the smoothed loss's slopes at W."""

    loss: Kinked
    W: Array
    widths: tuple[float, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.widths), 1 + self.W.size)

    def add(self, total: Array, block: Block) -> Array:
        z, t = block.scores(self.W), block.t[:, None]
        a = np.hstack([self.loss.smoothed(mu).derivative(t, z) for mu in self.widths])
        left = np.maximum(self.loss.value(t, z) + self.loss.conjugate(t, a) - a * z, 0.0)
        total[:, 0] += block.weight @ left
        total[:, 1:] += block.adjoint(block.weight[:, None] * a)
        return total


def smoothed_slopes(objective: Objective, W: Array, rounding: Rounding) -> list[DualPoint]:
    """Dual points for a loss with kinks: one for each of ``WIDTHS``, in one pass.

    At the optimum of such a loss some rows are at a kink. The slope of each is somewhere between the slopes on either
    side and does not follow from its score. A smooth loss ℓ_μ near ℓ determines it: at the minimum of the objective
    with ℓ_μ its slopes satisfy the optimality conditions, and they are slopes of ℓ itself, so Fenchel's inequality
    bounds the gap. The remaining slack ``apart`` is of order μ. Weights that minimise none of these smooth objectives
    get a bound, too, but not a sharp one.

    Slopes computed from rounded scores are valid slopes, too. So rounding counts only in their sum, and in ``apart``,
    twice, because two of its terms contain the score.
    """
    assert isinstance(objective.loss, Kinked)
    mean = objective.rows.fold(SmoothedSlopes(objective.loss, W, WIDTHS)) / objective.total_weight
    off, apart = rounding.slope * rounding.size, 2 * rounding.moved + rounding.value
    gradients = mean[:, 1:].reshape(len(WIDTHS), *objective.shape)
    return [
        DualPoint(objective.without_pinned(G), off, float(left) + apart)
        for G, left in zip(gradients, mean[:, 0], strict=True)
    ]


# --- The bound


def duality(objective: Objective, W: Array, at: Evaluation) -> Bound:
    r"""E(W) − D(a) for dual points a_i, slopes of the loss, by Fenchel's inequality ℓ(z) + ℓ*(a) ≥ a z.

    It is summed so that no term is negative and nothing cancels:

        Σ_j ½ (r_j W_j + soft(Ĝ_j, a_j)/r_j)² + a_j |W_j| + clip(Ĝ_j, ±a_j) W_j
        + (1 − ρ) L + ρ (1 − θ) F + ρ θ [L + ℓ*(u) − ⟨W, G_u⟩]

    L, G: the mean loss, and the mean of a_i x̄_i. The dual points are ρ ((1 − θ) a + θ u): the slopes a at W, with
    a share θ of constant slopes u (``Constants``), so that the intercept's condition Σ_i s_i a_i = 0 holds, and a share
    1 − ρ of the slope 0, so that |Ĝ_j| ≤ a_j in columns with a penalty on the absolute value alone;
    Ĝ = ρ ((1 − θ) G + θ G_u). Since ℓ* is convex, its value at the mixture is at most the mixture of its values. F is
    the mean of ℓ(z_i) + ℓ*(a_i) − a_i z_i, which is zero for the slopes of a smooth loss.
    """
    traits = objective.loss.traits
    if not traits.convex:
        return Bound.unknown("duality", "this cost is not convex: other minima may be lower")
    if traits.smooth and traits.lipschitz is None:
        reason = "the loss's slope has no Lipschitz constant, so the effect of rounding is unknown"
        return Bound.unknown("duality", reason)
    # The attribute makes a loss ``Kinked``. Asking that protocol takes a quarter of a millisecond.
    if not (traits.smooth or hasattr(objective.loss, "smoothed")):
        return Bound.unknown("duality", "the loss has kinks and no smooth approximation")
    rounding, L = Rounding.of(objective, W, at), at.value - objective.penalty_value(W)
    if traits.smooth:
        points = [DualPoint(at.gradient - objective.penalty_gradient(W), rounding.gradient)]
    elif len(objective.free_columns):
        points = []
    else:
        points = smoothed_slopes(objective, W, rounding)
    gap = min((_gap(objective, W, L, point) for point in points), default=np.inf)
    if np.isinf(gap) and len(objective.free_columns):
        return Bound.unknown("duality", "a column without a penalty has no duality bound")
    return Bound.of_gap(gap, at.value, rounding.value, "duality")


def _gap(objective: Objective, W: Array, L: float, point: DualPoint) -> float:
    """E(W) − D for one dual point; infinite if it cannot be made feasible."""
    G, off = point.gradient, point.rounding
    constants = (_constant_probabilities if objective.loss.traits.canonical else _constant_slopes)(objective, W, G, L)
    theta = constants.theta
    G_hat = (1 - theta) * G + theta * constants.gradient
    free = objective.free_columns
    # A gradient of zero may be the result of rounding; only a column of zeros certainly has one.
    if len(free) and (G_hat[:, free].any() or objective.framed.largest_entries[free].any()):
        return np.inf
    held = objective.ridged
    r, beyond, rho, gap = objective.root_penalty[held], G_hat[:, held], 1.0, 0.0
    if objective.has_absolute:
        a = objective.absolute_penalty
        largest, kinked = np.max(np.abs(G_hat), axis=0), (objective.root_penalty == 0) & (a > 0)
        rho = float(np.min(a[kinked] / np.maximum(largest[kinked], a[kinked]), initial=1.0))
        beyond = soft(rho * beyond, a[held])
        gap = float(np.sum(a * np.abs(W) + np.clip(rho * G_hat, -a, a) * W)) + (1 - rho) * L
    with np.errstate(over="ignore"):  # next to columns of size 1e200 a penalty may be too weak to give a bound
        gap += 0.5 * float(((np.abs(r * W[:, held] + beyond / r) + off[held] / r) ** 2).sum())
    if objective.has_absolute:
        gap += float(np.sum(off * np.abs(W))) + L * float(np.max(off[kinked] / a[kinked], initial=0.0))
    gap += rho * (1 - theta) * point.apart
    if theta > 0:
        gap += rho * theta * max(0.0, constants.apart)
    if objective.fit_intercept:
        # The intercept's condition holds up to rounding, which a larger share of the constant slopes compensates.
        gap += float(off[0]) * constants.price
    return gap


class Constants(NamedTuple):
    """Slopes u, one for each class, and their share ``theta`` that cancels the intercept's part of the gradient.

    ``gradient``: G_u, (K or 1, d + 1). ``apart``: L + ℓ*(u) − ⟨W, G_u⟩, the slack of Fenchel's inequality for u.
    ``price``: the amount that a unit of error in the intercept's gradient adds to the gap.
    """

    theta: float
    gradient: Array
    apart: float
    price: float


def _constant_probabilities(objective: Objective, W: Array, G: Array, L: float) -> Constants:
    """For logistic and softmax losses: slopes p − t of constant probabilities p, whose ℓ* is minus their entropy."""
    theta, u, least = _towards_constant(objective, G)
    sums, mean = objective.framed.mean_class_sums, objective.framed.mean_row
    G_u = u[1] * mean - sums[1:] if len(W) == 1 else u[:, None] * mean - sums
    apart = L + sum(p * log(p) for p in u.tolist() if p > 0) - float((W * G_u).sum())
    return Constants(theta, G_u, apart, (abs(apart) + L) / least)


def _constant_slopes(objective: Objective, W: Array, G: Array, L: float) -> Constants:
    """For any convex loss of one score: its slopes at the constant score of CONSTANT_SCORES with the lowest price."""
    slopes = objective.constant_slopes if objective.fit_intercept else None
    if slopes is None:
        return Constants(0.0, np.zeros_like(G), 0.0, 0.0)
    with np.errstate(invalid="ignore"):
        aparts = (L + slopes.conjugate - slopes.gradients @ W[0]).tolist()
    along = slopes.along.tolist()  # without NumPy, which takes several times as long for six numbers
    prices = [(abs(a) + L) / abs(u) if u != 0 and isfinite(a) else inf for u, a in zip(along, aparts, strict=True)]
    below, above = ([p if u * sign > 0 else inf for u, p in zip(along, prices, strict=True)] for sign in (-1, 1))
    g = float(G[0, 0])
    k = below.index(min(below)) if g > 0 else above.index(min(above))
    theta = abs(g) / (abs(g) + abs(along[k])) if g != 0 else 0.0
    return Constants(theta, slopes.gradients[k : k + 1], aparts[k], max(min(below), min(above)))


def _towards_constant(objective: Objective, G: Array) -> tuple[float, Array, float]:
    """The share θ and the constant probabilities, (classes,), that cancel the loss's gradient in the intercepts.

    The third value is the smallest mean probability that the model gives to a class.
    """
    share = objective.framed.mean_class_sums[:, 0]
    if not objective.fit_intercept:
        return 0.0, share, 1.0
    if objective.shape[0] == 1:  # without NumPy, which takes ten times as long for two numbers
        g = float(G[0, 0])
        over, k = abs(g), int(g > 0)  # the class whose probabilities sum to more than its share
        theta = over / max(float(share[k]) + over, EPS)
        least = max(min(float(share[0]) - g, float(share[1]) + g), EPS)
        return theta, np.array([float(k), 1.0 - k]) if theta > 0 else share, least
    slope = G[:, 0]
    p = share + slope
    theta = float(max(0.0, np.max(slope / np.maximum(p, EPS))))  # 1 − share/p without cancellation
    u = np.maximum(p - slope / theta, 0.0) if theta > 0 else share
    return theta, u, float(np.maximum(p, EPS).min())
