r"""How far from the optimum at most.

Two bounds on E(W) − inf E, each true whatever W is and however it was found:

``duality``
    With a penalty on every column, for every convex loss that has a conjugate. Any dual point a gives E(W′) ≥ D(a) for
    all W′. Taking the loss's own slopes for a costs no pass, only that the intercept asks for Σ_i s_i a_i = 0; they are
    mixed with just enough of constant slopes to make that so, and of zero for absolute values. Of a loss with kinks
    the slopes are those of a smooth loss near it (``kinks``).

``affine``
    With or without a penalty, unchanged by any linear map of the columns. With H the Hessian in which only the
    rows of a subset count, λ² = gᵀ H⁻¹ g, R² = max over the subset of the squared H⁻¹-length of a row (of a
    difference of two classes' rows for softmax), u = λR: if u < 1 the optimum exists and the gap is at most
    [u + (1 − u) ln(1 − u)]/R², and the weights are within −ln(1 − u)/R of the optimum's (``curvature`` has both
    proofs). Absolute values are replaced by lines below them.

    It speaks of all directions: those outside of H's are null, exactly (``resolution``), or there is no bound.

Both count in what rounding may hide (``rounding``), and bound the error of the weights, too: a gap ε leaves
½ Σ_j r_j² (W_j − W*_j)² ≤ ε with the penalty's r_j.
"""

from __future__ import annotations

from dataclasses import replace
from math import log, sqrt
from typing import Any, NamedTuple

import numpy as np

from separatrix.base.arrays import EPS, Array
from separatrix.losses.traits import Kinked
from separatrix.objectives.bound import Bound, WeightError
from separatrix.objectives.curvature import (
    LARGEST_INVERSE_ERROR,
    LARGEST_PROVEN_U,
    Curvature,
    curvature_at,
    rounded_distance,
)
from separatrix.objectives.kinks import DualPoint, smoothed_slopes
from separatrix.objectives.penalty import soft
from separatrix.objectives.problem import Evaluation, Objective
from separatrix.objectives.rounding import Rounding
from separatrix.rows import Block
from separatrix.rows.block import is_sparse

# Second derivatives that cost more than so many passes are not worth it where passes make the duality bound as small.
WORTHWHILE = 100
# Multiplications of a matrix product in the time of one of a pass.
FASTER = 10
# Rows times squared parameters up to which second derivatives of all rows cost no more than a few passes' overhead.
ALL_ROWS_WORK = 1 << 20
# Lines below absolute values are level along null directions up to this share of the penalty.
LEVEL = 1e-10
# Rounding that moves λ by less than this share of √E, and weights by fewer standard errors than this, is not refined.
UNNOTICED = 1e-7
# Parameters up to which the rounding of scores is charged by the Hessian's own diagonal.
FEW_PARAMETERS = 300
# Scores beside the best constant whose slopes may make up for the intercept's part of a gradient; those of a logistic
# loss at the far ends are exactly 0 and 1.
CONSTANT_SCORES = (-800.0, -2.0, -1.0, 1.0, 2.0, 800.0)
# Columns of an unresolved direction that are named.
MOST_NAMED = 5


def _unknown(kind: str, reason: str) -> Bound:
    """No bound, neither on the gap nor on the weights."""
    return Bound(None, kind, reason, weights=WeightError(None, "", reason))


class Evidence(NamedTuple):
    """A bound, and the second derivatives that it was proven by, where it was."""

    bound: Bound
    curvature: Curvature | None = None


NOT_LOOKED_FOR = Evidence(_unknown("none", "not looked for yet"))


def duality(objective: Objective, W: Array, at: Evaluation) -> Bound:
    r"""E(W) − D(a) for dual points a_i, slopes of the loss, by Fenchel's inequality ℓ(z) + ℓ*(a) ≥ a z.

    Summed up so that no term is negative and nothing cancels, it is

        Σ_j ½ (r_j W_j + soft(Ĝ_j, a_j)/r_j)² + a_j |W_j| + clip(Ĝ_j, ±a_j) W_j
        + (1 − ρ) L + ρ (1 − θ) F + ρ θ [L + ℓ*(u) − ⟨W, G_u⟩]

    L, G: the mean loss, and the mean of a_i x̄_i. The dual points are ρ ((1 − θ) a + θ u): the slopes a at W, with
    enough of constant slopes u (``Constants``) that the intercept's condition Σ_i s_i a_i = 0 holds, and of the slope 0
    that |Ĝ_j| ≤ a_j for columns whose absolute value alone is penalised; Ĝ = ρ ((1 − θ) G + θ G_u). ℓ* is convex, so it
    is at most its shares there. F is the mean of ℓ(z_i) + ℓ*(a_i) − a_i z_i: zero for the slopes of a smooth loss.
    """
    traits = objective.loss.traits
    if not traits.convex:
        return _unknown("duality", "this cost is not convex: other minima may be lower")
    if traits.lipschitz is None and traits.smooth:
        return _unknown("duality", "the loss's slope has no Lipschitz constant, so what rounding hides is not known")
    if not (traits.smooth or isinstance(objective.loss, Kinked)):
        return _unknown("duality", "the loss has kinks, and offers no smooth losses near it")
    penalty, rounding = objective.penalised(W), Rounding.of(objective, W, at)
    L = at.value - penalty.value
    if traits.smooth:
        points = [DualPoint(at.gradient - penalty.gradient, rounding.gradient)]
    elif len(objective.free_columns):
        points = []
    else:
        points = smoothed_slopes(objective, W, rounding)
    gap = min((_gap(objective, W, L, point) for point in points), default=np.inf)
    if np.isinf(gap) and len(objective.free_columns):
        return _unknown("duality", "a column without a penalty has no duality bound")
    return _bounded(gap, rounding, at, "duality")


def _gap(objective: Objective, W: Array, L: float, point: DualPoint) -> float:
    """E(W) − D by one dual point; infinite where it cannot be made feasible."""
    G, off = point.gradient, point.rounding
    constants = (_constant_probabilities if objective.loss.traits.canonical else _constant_slopes)(objective, W, G, L)
    theta = constants.theta
    G_hat = (1 - theta) * G + theta * constants.gradient
    free = objective.free_columns
    # A gradient of zero may be rounded: only a column of zeros has one for certain.
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
    with np.errstate(over="ignore"):  # beside columns of 1e200 a penalty is so weak that it bounds nothing
        gap += 0.5 * float(((np.abs(r * W[:, held] + beyond / r) + off[held] / r) ** 2).sum())
    if objective.has_absolute:
        gap += float(np.sum(off * np.abs(W))) + L * float(np.max(off[kinked] / a[kinked], initial=0.0))
    gap += rho * (1 - theta) * point.apart
    if theta > 0:
        gap += rho * theta * max(0.0, constants.apart)
    if objective.fit_intercept:
        # The intercepts' condition holds up to rounding: so much more of the constant slopes makes up for it.
        gap += float(off[0]) * constants.price
    return gap


def with_weights(objective: Objective, found: Bound) -> Bound:
    """A bound that says what it proves of the weights: if nothing does so yet, what the penalty's curvature proves.

    That is |w_j − w*_j| ≤ (2 S gap)^½ (C/f_j)^½, by strong convexity.
    """
    if found.value is None or found.weights.value is not None:
        return found
    held = _held_error(objective, found.value)
    return found if held.value is None and found.weights.is_told else replace(found, weights=held)


def _held_error(objective: Objective, gap: float) -> WeightError:
    quadratic = objective.penalty.quadratic[~objective.pinned[1:]]
    if not np.all(quadratic > 0):
        reason = "a column has no quadratic penalty, and no second derivatives were taken"
        return WeightError(None, "", reason)
    scale = "√C" if np.all(quadratic == objective.penalty.strength) else "√(C/f), f its quadratic penalty's factor,"
    return WeightError(_in_standard_errors(objective, np.sqrt(2 * gap)), f"{scale} of the optimum's, intercepts aside")


def _in_standard_errors(objective: Objective, distance: float) -> float:
    """S^½ times a length by the mean's Hessian: the same by the sum's, which is in standard errors."""
    return float(np.sqrt(objective.total_weight * objective.weight_unit) * distance)


class Constants(NamedTuple):
    """Slopes u, one for each class, and how much of them makes up for the intercept's part of the gradient.

    ``gradient``: G_u, (K or 1, d + 1). ``apart``: L + ℓ*(u) − ⟨W, G_u⟩, what Fenchel's inequality leaves with all of
    them. ``price``: what a unit of error in the intercept's gradient adds to the gap.
    """

    theta: float
    gradient: Array
    apart: float
    price: float


def _constant_probabilities(objective: Objective, W: Array, G: Array, L: float) -> Constants:
    """Of the logistic and softmax losses: slopes p − t of constant probabilities p, whose ℓ* is less their entropy."""
    theta, u, least = _towards_constant(objective, G)
    sums, mean = objective.mean_class_sums, objective.mean_row
    G_u = u[1] * mean - sums[1:] if len(W) == 1 else u[:, None] * mean - sums
    apart = L + sum(p * log(p) for p in u.tolist() if p > 0) - float((W * G_u).sum())
    return Constants(theta, G_u, apart, (abs(apart) + L) / least)


def _constant_slopes(objective: Objective, W: Array, G: Array, L: float) -> Constants:
    """Of any convex loss of one score: its slopes at a constant score, the cheapest of a few on either side."""
    if not objective.fit_intercept:
        return Constants(0.0, np.zeros_like(G), 0.0, 0.0)
    loss, share, targets = objective.loss, objective.mean_class_sums[:, 0], objective.targets
    scores = float(objective.null_weights[0, 0] if objective.offsets is None else 0.0) + np.array(CONSTANT_SCORES)
    slopes = loss.derivative(np.tile(targets, len(scores)), np.repeat(scores, 2)).reshape(-1, 2)
    conjugate = loss.conjugate(np.tile(targets, len(scores)), slopes.ravel()).reshape(-1, 2)
    along, gradients = slopes @ share, slopes @ objective.mean_class_sums
    with np.errstate(divide="ignore", invalid="ignore"):
        apart = L + conjugate @ share - gradients @ W[0]
        price = np.where((along != 0) & np.isfinite(apart), (np.abs(apart) + L) / np.abs(along), np.inf)
    low, high = (int(np.argmin(np.where(side, price, np.inf))) for side in (along < 0, along > 0))
    g, k = float(G[0, 0]), low if G[0, 0] > 0 else high
    dearest = float(max(price[low] if along[low] < 0 else np.inf, price[high] if along[high] > 0 else np.inf))
    theta = abs(g) / (abs(g) + abs(float(along[k]))) if g != 0 else 0.0
    return Constants(theta, gradients[k : k + 1], float(apart[k]), dearest)


def _towards_constant(objective: Objective, G: Array) -> tuple[float, Array, float]:
    """How much of which constant probabilities, (classes,), makes up for the loss's gradient in the intercepts; and the
    least probability that the model gives to a class, on average.
    """
    share = objective.mean_class_sums[:, 0]
    if not objective.fit_intercept:
        return 0.0, share, 1.0
    if objective.shape[0] == 1:  # the same by hand: NumPy takes ten times as long over two numbers
        g = float(G[0, 0])
        over, k = abs(g), int(g > 0)  # the class whose probabilities sum to more than its share
        theta = over / max(float(share[k]) + over, EPS)
        least = max(min(float(share[0]) - g, float(share[1]) + g), EPS)
        return theta, np.array([float(k), 1.0 - k]) if theta > 0 else share, least
    slope = G[:, 0]
    p = share + slope
    theta = float(max(0.0, np.max(slope / np.maximum(p, EPS))))  # 1 − share/p, without the cancelling
    u = np.maximum(p - slope / theta, 0.0) if theta > 0 else share
    return theta, u, float(np.maximum(p, EPS).min())


def affine(objective: Objective, W: Array, at: Evaluation, subset: Block | None = None) -> Bound:
    """The bound by self-concordance, with the rows of ``subset`` (by default all, or a sample of many).

    Second derivatives of a sample prove the same with less work, and a larger bound.
    """
    return by_curvature(objective, W, at, subset).bound


def by_curvature(objective: Objective, W: Array, at: Evaluation, subset: Block | None = None) -> Evidence:
    """The same, with the second derivatives that prove it."""
    kind = "self-concordance"
    if not objective.loss.traits.convex:
        return Evidence(_unknown(kind, "this cost is not convex: other minima may be lower"))
    if objective.loss.traits.self_concordance is None:
        reason = "no bound is known for this loss: its third derivative is not bound by its second"
        return Evidence(_unknown(kind, reason))
    if not objective.has_hessian:
        reason = f"{objective.size} parameters are too many for a matrix of second derivatives"
        return Evidence(_unknown(kind, reason))
    if subset is None and not counts_all_rows(objective):
        subset = objective.sampled.block
    found = curvature_at(objective, W, subset)
    if found is None:
        reason = "the Hessian is singular to working precision: weights may grow without end"
        return Evidence(_unknown(kind, reason))
    return Evidence(proven(objective, W, at, found), found)


def proven(objective: Objective, W: Array, at: Evaluation, curvature: Curvature) -> Bound:
    """The bound at W that a curvature there, or nearby, proves."""
    kind, rounding = "self-concordance", Rounding.of(objective, W, at)
    gradient, slack = _below(objective, W, at.gradient)
    aside = _aside(objective, gradient)
    if aside is None:
        return _unknown(kind, "the gradient has a part outside the directions that the columns determine")
    if not curvature.least > 0:
        return _unknown(kind, "the second derivatives are those before a step so long that they prove nothing after it")
    error = curvature.error + rounding.curvature(objective, W, curvature.R)
    if not error < LARGEST_PROVEN_U:
        return _unknown(kind, "the Hessian is so close to singular that rounding hides its inverse")
    weaker = curvature.weaker(error)
    ways = _decrements(objective, W, at, gradient, aside, weaker, rounding)
    gap, u = min((weaker.gap(decrement) + more, weaker.u(decrement)) for decrement, more in ways)
    if not u < LARGEST_PROVEN_U:
        return _unknown(kind, f"no bound yet: λR = {u:.3g}, and a bound needs λR < {LARGEST_PROVEN_U}")
    found = _bounded(gap + slack, rounding, at, kind)
    if unresolved := _open(objective):
        return replace(_unknown(kind, unresolved), resolved=found.value)
    # What is added to the gap alone says nothing of the weights.
    decrement = min(decrement for decrement, more in ways if more == 0.0)
    return replace(found, weights=_weight_error(objective, W, weaker, decrement))


def _decrements(
    objective: Objective,
    W: Array,
    at: Evaluation,
    gradient: Array,
    aside: Array,
    curvature: Curvature,
    rounding: Rounding,
) -> list[tuple[float, float]]:
    """Upper bounds on λ, rounding included, each with what is added to the gap: whichever is best may be taken."""
    space = objective.subspace
    g, charges = space.reduce(gradient), [rounding.by_column(space, aside)]
    noticed = max(UNNOTICED * sqrt(abs(at.value)), 0.01 * curvature.decrement(g))
    noticed = min(noticed, UNNOTICED / _in_standard_errors(objective, 1.0))
    if charges[0].error @ curvature.lengths > noticed:
        few = objective.size <= FEW_PARAMETERS and not objective.n_offsets and curvature.complete
        roots = curvature.factor.lengths(space.reduce_rows(np.eye(objective.size))) if few else None
        charges += rounding.otherwise(objective, W, aside, roots)
    return [(curvature.decrement(g, float(off @ curvature.lengths) + far), more) for off, far, more in charges]


def _weight_error(objective: Objective, W: Array, curvature: Curvature, decrement: float) -> WeightError:
    if objective.has_absolute and objective.shape[0] > 1:
        reason = "absolute values of several classes' weights leave a shift common to all classes undetermined"
        return WeightError(None, "", reason)
    if np.any((objective.root_penalty > 0) & ~objective.held):
        return WeightError(None, "", "a penalty is too weak to count beside rounding")
    if not curvature.u(decrement) < LARGEST_PROVEN_U:
        return WeightError(None, "", "rounding hides how near the weights are")
    distance = curvature.distance(decrement) + rounded_distance(objective, W)
    if len(W) > 1:  # the shift of all classes alike, which the optimum has none of
        distance += float(np.sqrt(len(W)) * np.linalg.norm(objective.root_penalty * W.mean(axis=0)))
    unit = "standard errors of the optimum's"
    if np.any(objective.root_penalty > 0):
        unit = "standard errors, by the penalised curvature, of the optimum's"
    if not curvature.complete:
        unit += f", as {curvature.n_rows} of the rows alone would have them"
    return WeightError(_in_standard_errors(objective, distance), unit)


def _open(objective: Objective) -> str:
    """Why a bound over the resolved directions does not speak of all; empty where it does."""
    if not objective.unresolved:
        return ""
    columns = [j for j in objective.unresolved if j > 0]
    names = [objective.column_name(j) for j in columns[:MOST_NAMED]] + ["…"] * (len(columns) > MOST_NAMED)
    return (
        f"{', '.join(names)} are collinear but for differences that float64 cannot resolve, and without a penalty the "
        "objective depends on them"
    )


def _aside(objective: Objective, gradient: Array) -> Array | None:
    """What the lines below absolute values must be moved by, (d + 1,), to be level along null directions.

    Loss and penalty are constant along a null direction v, but the lines s·W may rise along it by rounding. With
    |s·v| up to the share ε of a, the lines (1 − ε) s, less a part within ±ε a, are level, and still below a |W|. None
    where that is no matter of rounding.
    """
    a, space = objective.absolute_penalty, objective.subspace
    if not objective.has_absolute or (space.Z is None and space.Q is None):
        return np.zeros_like(a)
    rest = np.max(np.abs(space.remainder(gradient)), axis=0)
    share = float(np.max(rest[a > 0] / a[a > 0], initial=0.0)) + LEVEL
    return 2 * share * a if share < LARGEST_INVERSE_ERROR and np.all(rest[a == 0] <= LEVEL * np.max(a)) else None


def _below(objective: Objective, W: Array, gradient: Array) -> tuple[Array, float]:
    """The gradient at W of a smooth function below E, and E(W) less that function: what bounds it, bounds E.

    Absolute values are replaced by lines; a penalty too weak to count beside rounding is left out; and of K scores the
    shift of all alike is taken off, on which only the penalty depends, which is least without it.
    """
    gradient, slack = _linearised(objective, W, gradient)
    r = objective.root_penalty
    weak = (r > 0) & ~objective.held
    if np.any(weak):
        gradient = gradient - np.where(weak, objective.penalty_gradient(W), 0.0)
        slack += 0.5 * float(np.sum((r * W)[:, weak] ** 2))
    if len(W) > 1:
        slack += 0.5 * len(W) * float(np.sum((r * W.mean(axis=0)) ** 2))
    return gradient, slack


def _linearised(objective: Objective, W: Array, gradient: Array) -> tuple[Array, float]:
    """∇f + s and Σ a |W| − s·W, for an s with |s| ≤ a: E ≥ f + s·W everywhere, so what bounds the latter serves for E.

    One score: the s of the shortest subgradient, which costs nothing at W. More: s in proportion to −∇f in each
    column, so that over the classes it sums to zero as ∇f does, and f + s·W is bounded along a common shift.
    """
    if not objective.has_absolute:
        return gradient, 0.0
    if objective.shape[0] == 1:
        return objective.subgradient(W, gradient), 0.0
    a, largest = objective.absolute_penalty, np.max(np.abs(gradient), axis=0)
    s = -gradient * np.divide(a, largest, out=np.ones_like(a), where=largest > a)
    s[:, a == 0] = 0.0
    return gradient + s, float(np.sum(a * np.abs(W) - s * W))


def _bounded(gap: float, rounding: Rounding, at: Evaluation, kind: str) -> Bound:
    """The gap, and the rounding of the weights themselves; never more than E, which is at least zero everywhere.

    What E's own sum is off by does not count: both bounds are made of the gradient, and E only limits them.
    """
    return Bound(min(gap + 4 * EPS * abs(at.value), at.value + rounding.value), kind)


def hessian_passes(objective: Objective) -> float:
    """What a matrix of second derivatives costs, in passes over the rows: p² products a row beside its entries."""
    block, entries = objective.rows.resident(), float(objective.rows.n_features)
    if block is not None and is_sparse(block.X):
        X: Any = block.X
        entries = X.nnz / max(1, block.n_rows)
    return objective.size**2 / (FASTER * max(1.0, entries))


def counts_all_rows(objective: Objective) -> bool:
    """Whether second derivatives of all rows are cheap enough that no sample of them is needed."""
    return objective.n_rows * objective.size**2 <= ALL_ROWS_WORK


def _drawn(objective: Objective) -> float:
    """The share of rows by which the affine bound is taken."""
    if counts_all_rows(objective):
        return 1.0
    return min(1.0, objective.sample_size / max(1, objective.n_rows))


def factor_passes(objective: Objective) -> float:
    """What a factor of second derivatives costs, in passes."""
    entries = max(1, objective.n_rows) * max(1, objective.rows.n_features)
    return hessian_passes(objective) + objective.size**3 / (FASTER * entries)


def thorough_passes(objective: Objective) -> float:
    """What the affine bound costs: a factor and a root of its inverse, and the rows' lengths by it, of a sample.

    >>> from separatrix.objectives.penalty import Penalty
    >>> from separatrix.objectives.build import build_objective
    >>> from separatrix.rows import labelled_rows
    >>> problem = build_objective(labelled_rows(np.eye(20), np.arange(20) % 2, 2), 2, Penalty(1.0, np.ones(20)))
    >>> round(thorough_passes(problem), 3)
    6.725
    """
    second = hessian_passes(objective)
    return 2 * _drawn(objective) * second + factor_passes(objective) - second


def bound(objective: Objective, W: Array, at: Evaluation, thorough: bool, last: bool = False) -> Bound:
    """The better of the bounds; the affine one, which costs second derivatives, only where asked for.

    ``last``: no more passes will come, so second derivatives are taken whatever they cost.

    An objective in raw coordinates is judged by its standard twin, at the price of a pass, and only thoroughly.
    """
    return with_weights(objective, evidence(objective, W, at, thorough, last).bound)


def evidence(objective: Objective, W: Array, at: Evaluation, thorough: bool, last: bool = False) -> Evidence:
    """The same, with the second derivatives that were taken for it."""
    twin = objective.standard
    if twin is not None:
        if not thorough:
            return NOT_LOOKED_FOR
        framed = twin.rows.frame.from_original(objective.rows.frame.to_original(W))
        found = bound(twin, framed, twin.value_gradient(framed), thorough=True, last=last)
        return Evidence(found)
    cheap = duality(objective, W, at)
    if not thorough or (
        cheap.value is not None and not last and _drawn(objective) * hessian_passes(objective) > WORTHWHILE
    ):
        return Evidence(cheap)
    sharp = by_curvature(objective, W, at)
    return Evidence(better(cheap, sharp.bound), sharp.curvature)


def better(cheap: Bound, sharp: Bound) -> Bound:
    """The smaller of two bounds, the second by second derivatives: what those say of the weights stays with it."""
    if cheap.value is None and sharp.value is None:
        return sharp
    smaller = min((cheap, sharp), key=lambda b: b.known)
    return replace(smaller, weights=sharp.weights) if sharp.weights.value is not None else smaller


def largest_curvature(objective: Objective) -> float:
    """An upper bound on the curvature of E anywhere: ∇E is L-Lipschitz with this L."""
    lipschitz = objective.loss.traits.lipschitz
    if lipschitz is None:
        return np.inf
    if objective.has_gram:
        top = float(np.linalg.eigvalsh(objective.gram)[-1])
    else:
        top = float(np.sum(objective.root_second_moments**2))
    return lipschitz * top + float(np.max(objective.root_penalty) ** 2)
