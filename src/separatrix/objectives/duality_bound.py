r"""A bound on E(W) − inf E by duality, for every convex loss that has a conjugate and a penalty on every column.

Any dual point a gives E(W′) ≥ D(a) for all W′. The slopes of the loss at W are a dual point without a pass, except that
the intercept requires Σ_i s_i a_i = 0. They are mixed with a share of constant slopes that makes this hold, and with a
share of zero for absolute values. For a loss with kinks the slopes are those of a smooth loss near it (``kinks``).
"""

from __future__ import annotations

from math import inf, isfinite, log
from typing import NamedTuple

import numpy as np

from separatrix.base.arrays import EPS, Array
from separatrix.losses.traits import Kinked, Loss
from separatrix.objectives.bound import Bound
from separatrix.objectives.kinks import DualPoint, smoothed_slopes
from separatrix.objectives.penalty import soft
from separatrix.objectives.problem import Evaluation, Objective
from separatrix.objectives.rounding import Rounding


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
    if reason := _no_bound(objective):
        return Bound.unknown("duality", reason)
    penalty, rounding = objective.penalised(W), Rounding.of(objective, W, at)
    L = at.value - penalty.value
    if objective.loss.traits.smooth:
        points = [DualPoint(at.gradient - penalty.gradient, rounding.gradient)]
    elif len(objective.free_columns):
        points = []
    else:
        points = smoothed_slopes(objective, W, rounding)
    gap = min((_gap(objective, W, L, point) for point in points), default=np.inf)
    if np.isinf(gap) and len(objective.free_columns):
        return Bound.unknown("duality", "a column without a penalty has no duality bound")
    return Bound.of_gap(gap, at.value, rounding.value, "duality")


def _no_bound(objective: Objective) -> str:
    """The reason why the loss has no duality bound; empty if it has one."""
    traits = objective.loss.traits
    if not traits.convex:
        return "this cost is not convex: other minima may be lower"
    if traits.smooth and traits.lipschitz is None:
        return "the loss's slope has no Lipschitz constant, so the effect of rounding is unknown"
    if not (traits.smooth or _has_kinks(objective.loss)):
        return "the loss has kinks and no smooth approximation"
    return ""


_KINKED: dict[type, bool] = {}


def _has_kinks(loss: Loss) -> bool:
    """Whether the loss is ``Kinked``; known by its type, since asking a protocol takes a quarter of a millisecond."""
    kind = type(loss)
    if kind not in _KINKED:
        _KINKED[kind] = isinstance(loss, Kinked)
    return _KINKED[kind]


def _gap(objective: Objective, W: Array, L: float, point: DualPoint) -> float:
    """E(W) − D for one dual point; infinite if it cannot be made feasible."""
    G, off = point.gradient, point.rounding
    constants = (_constant_probabilities if objective.loss.traits.canonical else _constant_slopes)(objective, W, G, L)
    theta = constants.theta
    G_hat = (1 - theta) * G + theta * constants.gradient
    free = objective.free_columns
    # A gradient of zero may be the result of rounding; only a column of zeros certainly has one.
    if len(free) and (G_hat[:, free].any() or not objective.zero_columns[free].all()):
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
    sums, mean = objective.mean_class_sums, objective.mean_row
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
    share = objective.mean_class_sums[:, 0]
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
