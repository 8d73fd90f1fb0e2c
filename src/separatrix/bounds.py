r"""How far from the optimum at most.

Two bounds on E(W) − inf E, each true whatever W is and however it was found:

``duality``
    With a penalty on every column. Any dual point q gives E(W′) ≥ D(q) for all W′. Taking the model's own
    probabilities for q costs no pass, only that the intercept asks for Σ_i s_i q_ik = Σ_i s_i t_ik; q is mixed
    with just enough of a constant q to make that so, and of the targets for absolute values.

``affine``
    With or without a penalty, unchanged by any linear map of the columns. With H the Hessian in which only the
    rows of a subset count, λ² = gᵀ H⁻¹ g, R² = max over the subset of the squared H⁻¹-length of a row (of a
    difference of two classes' rows for softmax), u = λR: if u < 1 the optimum exists and the gap is at most
    [u + (1 − u) ln(1 − u)]/R². The third derivative of a logistic loss is at most its second times the change of
    score; integrate twice from W and minimise over the distance walked (after Bach 2010, self-concordance).
    Absolute values are replaced by lines below them.

    It speaks of all directions: those outside of H's are null, exactly (``resolution``), or there is no bound.

Both count in what rounding may hide (``Rounding``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from separatrix.arrays import EPS, Array
from separatrix.certificate import Bound
from separatrix.factor import Factor
from separatrix.objective import Evaluation, Objective
from separatrix.penalty import soft
from separatrix.rows import Block, some_rows
from separatrix.rows.block import is_sparse
from separatrix.rows.seam import BLOCK_BYTES
from separatrix.subspace import Subspace
from separatrix.sums import LongestScores

# Second derivatives that cost more than so many passes are not worth it where passes make the duality bound as small.
WORTHWHILE = 100
# Multiplications of a matrix product in the time of one of a pass.
FASTER = 10
# Rows whose lengths are measured at once: bounds the memory of R².
CHUNK = 1024
# The relative error of H⁻¹ by squares past which it is found again from a root of H.
ROUGH = 1e-3
# Lines below absolute values are level along null directions up to this share of the penalty.
LEVEL = 1e-10
# Parameters up to which the rounding of scores is charged by the Hessian's own diagonal.
FEW_PARAMETERS = 300
# Columns of an unresolved direction that are named.
MOST_NAMED = 5
# With a direction to infinity λR ≥ 1 exactly; rounding must not take it below what counts.
SURE = 0.5


def duality(objective: Objective, W: Array, at: Evaluation) -> Bound:
    r"""E(W) − D(q), summed up so that no term is negative and nothing cancels:

        Σ_j ½ (r_j W_j + soft(Ĝ_j, a_j)/r_j)² + a_j |W_j| + clip(Ĝ_j, ±a_j) W_j
        + (1 − ρ) L + ρ θ [L − H(u) − ⟨W, G_u⟩]

    G, L: the loss's gradient and value. q = ρ ((1 − θ) p + θ u) + (1 − ρ) t: the model's probabilities p, with enough
    of a constant u that the intercept's condition holds, and of the targets t that |Ĝ_j| ≤ a_j for columns whose
    absolute value alone is penalised; Ĝ = ρ ((1 − θ) G + θ G_u). Entropy is concave, so H(q) is at least its shares.
    """
    if not objective.loss.traits.canonical:
        return Bound(None, "duality", "only the logistic and softmax losses have a duality bound here")
    G = at.gradient - objective.penalty_gradient(W)
    L = at.value - objective.penalty_value(W)
    theta, u, least = _towards_constant(objective, G)
    sums = objective.class_sums / objective.total_weight
    G_u = np.outer(u, sums.sum(axis=0)) - sums
    G_u = G_u[1:] if objective.shape[0] == 1 else G_u
    G_hat = (1 - theta) * G + theta * G_u
    free = objective.unpenalised[1:]
    if np.count_nonzero(free) and np.any(G_hat[:, 1:][:, free]):
        return Bound(None, "duality", "a column without a penalty has no duality bound")
    held = objective.root_penalty > 0
    r, beyond, rho, gap = objective.root_penalty[held], G_hat[:, held], 1.0, 0.0
    if objective.has_absolute:
        a = objective.absolute_penalty
        largest, kinked = np.max(np.abs(G_hat), axis=0), ~held & (a > 0)
        rho = float(np.min(a[kinked] / np.maximum(largest[kinked], a[kinked]), initial=1.0))
        beyond = soft(rho * beyond, a[held])
        gap = float(np.sum(a * np.abs(W) + np.clip(rho * G_hat, -a, a) * W)) + (1 - rho) * L
    rounding = Rounding.of(objective, W, at)
    with np.errstate(over="ignore"):  # beside columns of 1e200 a penalty is so weak that it bounds nothing
        gap += 0.5 * float(np.sum((np.abs(r * W[:, held] + beyond / r) + rounding.gradient[held] / r) ** 2))
    if objective.has_absolute:
        off = rounding.gradient
        gap += float(np.sum(off * np.abs(W))) + L * float(np.max(off[kinked] / a[kinked], initial=0.0))
    kept = u[u > 0]
    apart = L + float(np.sum(kept * np.log(kept))) - float(np.sum(W * G_u))
    if theta > 0:
        gap += rho * theta * max(0.0, apart)
    if objective.fit_intercept:
        # The intercepts' condition holds up to rounding: so much more of the constant probabilities makes up for it.
        gap += float(rounding.gradient[0]) / least * (abs(apart) + L)
    return _bounded(gap, rounding, at, "duality")


def _towards_constant(objective: Objective, G: Array) -> tuple[float, Array, float]:
    """How much of which constant probabilities, (classes,), makes up for the loss's gradient in the intercepts; and the
    least probability that the model gives to a class, on average.
    """
    share = objective.class_sums[:, 0] / objective.total_weight
    if not objective.fit_intercept:
        return 0.0, share, 1.0
    slope = np.array([-G[0, 0], G[0, 0]]) if objective.shape[0] == 1 else G[:, 0]
    p = share + slope
    theta = float(max(0.0, np.max(slope / np.maximum(p, EPS))))  # 1 − share/p, without the cancelling
    u = np.maximum(p - slope / theta, 0.0) if theta > 0 else share
    return theta, u, float(np.maximum(p, EPS).min())


def affine(objective: Objective, W: Array, at: Evaluation, subset: Block | None = None) -> Bound:
    """The bound by self-concordance, with the rows of ``subset`` (by default all, or a sample of many)."""
    kind = "self-concordance"
    constant = objective.loss.traits.self_concordance
    if not objective.loss.traits.convex:
        return Bound(None, kind, "this cost is not convex: other minima may be lower")
    if constant is None:
        return Bound(None, kind, "no bound is known for this loss: its third derivative is not bound by its second")
    if not objective.has_hessian:
        return Bound(None, kind, f"{objective.size} parameters are too many for a matrix of second derivatives")
    if subset is None:
        subset = objective.sampled.block
    space, rounding = objective.subspace, Rounding.of(objective, W, at)
    gradient, slack = _below(objective, W, at.gradient)
    aside = _aside(objective, gradient)
    if aside is None:
        return Bound(None, kind, "the gradient has a part outside the directions that the columns determine")
    factor, root, error = _sharp_factor(objective, W, subset)
    if factor is None:
        return Bound(None, kind, "the Hessian is singular to working precision: weights may grow without end")
    longest = np.sqrt(_longest_row(objective, root, subset)) * constant
    error += rounding.curvature(objective, W, longest)
    if not error < SURE:
        return Bound(None, kind, "the Hessian is so close to singular that rounding hides its inverse")
    decrement, lengths = float(np.linalg.norm(factor.half(space.reduce(gradient)))), np.linalg.norm(root, axis=0)
    whole = subset.n_rows == objective.rows.n_rows and objective.size <= FEW_PARAMETERS
    curvatures = factor.lengths(space.reduce_rows(np.eye(objective.size))) if whole else None
    gap, u = min(
        _self_concordant((decrement + off @ lengths + far) / np.sqrt(1 - error), longest / np.sqrt(1 - error), more)
        for off, far, more in rounding.charges(objective, W, aside, curvatures)
    )
    if not u < SURE:
        return Bound(None, kind, f"no bound yet: λR = {u:.3g}, and a bound needs λR < {SURE}")
    found = _bounded(gap + slack, rounding, at, kind)
    return replace(found, value=None, resolved=found.value, reason=open_) if (open_ := _open(objective)) else found


def _self_concordant(decrement: float, longest: float, more: float) -> tuple[float, float]:
    """The gap for λ and R, with what is added to it, and λR; infinite where λR is too large."""
    u = decrement * longest
    if not u < SURE:
        return np.inf, u
    # For small u the bracket is u²/2 + u³/6 + …; its two terms would cancel.
    bracket = u + (1 - u) * np.log1p(-u) if u > 1e-4 else 0.5 * u**2 * (1 + u)
    return float(bracket / longest**2 if longest > 0 else 0.5 * decrement**2) + more, u


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


def _sharp_factor(objective: Objective, W: Array, subset: Block) -> tuple[Factor | None, Array, float]:
    """The factor of the subset's Hessian, the inverse of its root, and the relative error of what they give.

    From the Hessian itself only where that holds digits enough, else from a root of it.
    """
    factor = objective.factor(W, subset)
    for _ in range(2):
        if factor is None:
            break
        root = factor.half(np.eye(len(factor.d)))
        error = factor.rounding(root, _cancelled(objective, factor))
        if not (factor.squared and error > ROUGH):
            return factor, root, error
        factor = objective.root_factor(W, subset)
    return None, np.empty((0, 0)), np.inf


def _cancelled(objective: Objective, factor: Factor) -> float:
    """How much larger the terms are than the curvature that is summed of them along a direction of the subspace.

    Along z = Σ_j z_j e_j the terms are up to (Σ_j |z_j| H_jj^½)², and H_jj^½ is at most 1 + r_j. None cancel where
    directions are columns.
    """
    Z = objective.subspace.Z
    if Z is None or np.all(np.count_nonzero(Z, axis=0) == 1):
        return 1.0
    terms = np.abs(Z).T @ (1.0 + objective.root_penalty)
    return max(1.0, float(np.max(np.tile(terms, len(factor.d) // max(1, len(terms))) / factor.d, initial=1.0)) ** 2)


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
    return 2 * share * a if share < ROUGH and np.all(rest[a == 0] <= LEVEL * np.max(a)) else None


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


@dataclass(frozen=True)
class Rounding:
    """What rounding may hide, in standard coordinates, where the root mean square of a column is below 2.

    A score is a sum of d + 1 products, each off by some units in the last place of |W_j| (|x̃_j| + |center_j/scale_j|):
    where no offset is large, rows are multiplied in raw units and moved afterwards (``Block``). ``moved`` is the root
    mean square of that error. A slope ℓ′ is at most 1 and at most the loss ℓ, so the root mean square of slopes is at
    most √E, and by Cauchy and Schwarz

        E is off by √E moved, and ∂E/∂W_j by (√E + moved/2) times the size of column j,

    each with the rounding of a sum over rows, ``summed``: a few units in the last place, and √m of them, over blocks of
    m rows, where errors add up at random.

    ``value``: of E. ``gradient``: of its derivative by each column, (d + 1,), of every class.
    """

    value: float
    gradient: Array
    size: Array
    summed: Array
    moved: float

    @classmethod
    def of(cls, objective: Objective, W: Array, at: Evaluation) -> Rounding:
        size = _sizes(objective)
        moved = _units(objective) * float(np.max(np.abs(W) @ size))
        rows = min(objective.rows.n_rows or BLOCK_BYTES, BLOCK_BYTES // (8 * max(1, objective.rows.n_features)) + 1)
        summed, slope = EPS * (8 + np.sqrt(rows) / 4), np.sqrt(min(1.0, abs(at.value)))
        own = np.where(objective.pinned, 0.0, size)
        value = float(summed * abs(at.value) + 2 * slope * moved)
        return cls(value, (summed * slope + 0.5 * moved) * own, size, summed * slope * own, moved)

    def curvature(self, objective: Objective, W: Array, longest: float) -> float:
        """The relative error of a row's second derivative, which changes by no more than its score does.

        In the subset |x̃_j| is at most ``longest`` times the root of H_jj, and that is at most 1 + r_j.
        """
        reach = self.size + longest * (1.0 + objective.root_penalty)
        return 2 * _units(objective) * float(np.max(np.abs(W) @ reach))

    def charges(
        self, objective: Objective, W: Array, aside: Array, curvatures: Array | None
    ) -> list[tuple[Array, float, float]]:
        """Ways to charge for rounding, each of which suffices: the gradient's error in the subspace's coordinates, what
        is added to λ, and what is added to the gap.

        Parameters
        ----------
        aside : (d + 1,)
            What the gradient is moved by besides.
        curvatures : (K (d + 1),) or None
            The roots of H's diagonal, where H is that of all rows.

        Notes
        -----
        1. The gradient's error by column, as above.
        2. Call Ẽ the objective with every score moved by its rounding error ε_i at W, a constant. What is summed is its
           gradient, and |E − Ẽ| is at most the mean of |ε_i| everywhere, so the gap of E is at most that of Ẽ and twice
           that mean. This is better where curvature is small along long weights.
        3. The error of the gradient along v is the mean of ℓ″ ε_i (x̄_i·v), at most (mean ℓ″ ε²)^½ (vᵀ H v)^½, so λ is
           off by (mean ℓ″ ε²)^½, which is at most the rounding of a score times Σ_j |W_j| H_jj^½. This is better where
           one class has nearly all the weight, and ℓ″ is small.
        """
        space, amplified = objective.subspace, self.size[1:] - 2.0
        ways = [(self.gradient, 0.0, 0.0), (self.summed, 0.0, 2 * self.moved)]
        if curvatures is not None:
            roots = curvatures.reshape(W.shape)
            far = np.sum(np.abs(W) * roots) + np.sum((np.abs(W[:, 1:]) @ amplified) * roots[:, 0])
            ways.append((self.summed, _units(objective) * float(far), 0.0))
        return [(self._reduced(space, error + aside), far, more) for error, far, more in ways]

    @staticmethod
    def _reduced(space: Subspace, error: Array) -> Array:
        if space.Z is None and space.Q is None:
            return error
        classes = 1 if space.Q is None else len(space.Q)
        count = space.rank * max(1, classes - 1)
        return np.full(count, np.sqrt(classes) * float(np.linalg.norm(error)))


def _units(objective: Objective) -> float:
    """The rounding of a score, as a share of the sum of its products' sizes, where errors add up at random."""
    return 2 * EPS * float(np.sqrt(objective.shape[1] + 2))


def _sizes(objective: Objective) -> Array:
    """The size of what a column's product is rounded as, (d + 1,): its root mean square, and its offset as it is read."""
    frame, block = objective.rows.frame, objective.rows.resident()
    offset = np.abs(frame.center / frame.scale) if block is None else block.offsets_read()
    return np.concatenate([[1.0], 2.0 + offset])


def _bounded(gap: float, rounding: Rounding, at: Evaluation, kind: str) -> Bound:
    """The gap, and the rounding of the weights themselves; never more than E, which is at least zero everywhere.

    What E's own sum is off by does not count: both bounds are made of the gradient, and E only limits them.
    """
    return Bound(min(gap + 4 * EPS * abs(at.value), at.value + rounding.value), kind)


def _longest_row(objective: Objective, root: Array, subset: Block) -> float:
    """Max over rows, and over pairs of classes, of the squared H⁻¹-length of (e_k − e_l) ⊗ x̄; H⁻¹ = rootᵀ root."""
    space = objective.subspace
    if space.Q is None:
        return some_rows(subset).fold(LongestScores(root if space.Z is None else root @ space.Z.T))
    counted, longest = np.flatnonzero(subset.weight > 0), 0.0
    inverses = _pair_inverses(root, space.Q)
    for start in range(0, len(counted), CHUNK):
        X = subset.take(counted[start : start + CHUNK]).homogeneous()
        X = X if space.Z is None else X @ space.Z
        for M in inverses:
            longest = max(longest, float(np.max(np.sum((X @ M) * X, axis=1))))
    return longest


def _pair_inverses(root: Array, Q: Array) -> list[Array]:
    """For each pair of classes k < l, the (r, r) matrix cᵀ H⁻¹ c with c = Qᵀ(e_k − e_l)."""
    K, n_contrasts = Q.shape
    r = len(root) // n_contrasts
    T = (root.T @ root).reshape(n_contrasts, r, n_contrasts, r)
    A = np.einsum("ka,aibj,lb->klij", Q, T, Q, optimize=True)
    return [A[k, k] + A[l, l] - A[k, l] - A[l, k] for k in range(K) for l in range(k)]


def hessian_passes(objective: Objective) -> float:
    """What a matrix of second derivatives costs, in passes over the rows: p² products a row beside its entries."""
    block, entries = objective.rows.resident(), float(objective.rows.n_features)
    if block is not None and is_sparse(block.X):
        X: Any = block.X
        entries = X.nnz / max(1, block.n_rows)
    return objective.size**2 / (FASTER * max(1.0, entries))


def _drawn(objective: Objective) -> float:
    """The share of rows by which the affine bound is taken."""
    return min(1.0, objective.sample_size / max(1, objective.rows.n_rows or 1))


def factor_passes(objective: Objective) -> float:
    """What a factor of second derivatives costs, in passes."""
    entries = max(1, objective.rows.n_rows or 1) * max(1, objective.rows.n_features)
    return hessian_passes(objective) + objective.size**3 / (FASTER * entries)


def thorough_passes(objective: Objective) -> float:
    """What the affine bound costs: a factor and a root of its inverse, and the rows' lengths by it, of a sample.

    >>> from separatrix.penalty import Penalty
    >>> from separatrix.posing import pose
    >>> round(thorough_passes(pose(np.eye(20), np.arange(20) % 2, 2, np.ones(20), Penalty(1.0, np.ones(20)))), 3)
    6.725
    """
    second = hessian_passes(objective)
    return 2 * _drawn(objective) * second + factor_passes(objective) - second


def bound(objective: Objective, W: Array, at: Evaluation, thorough: bool, last: bool = False) -> Bound:
    """The better of the bounds; the affine one, which costs second derivatives, only where asked for.

    ``last``: no more passes will come, so second derivatives are taken whatever they cost.

    An objective in raw coordinates is judged by its standard twin, at the price of a pass, and only thoroughly.
    """
    twin = objective.standard
    if twin is not None:
        if not thorough:
            return Bound(None, "none", "not looked for yet")
        before = twin.passes
        framed = twin.rows.frame.from_original(objective.rows.frame.to_original(W))
        found = bound(twin, framed, twin.value_gradient(framed), thorough=True, last=last)
        objective.passes += twin.passes - before
        return found
    cheap = duality(objective, W, at)
    if not thorough or (
        cheap.value is not None and not last and _drawn(objective) * hessian_passes(objective) > WORTHWHILE
    ):
        return cheap
    sharp = affine(objective, W, at)
    if cheap.value is None and sharp.value is None:
        return sharp
    return min((cheap, sharp), key=lambda b: b.known)


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
