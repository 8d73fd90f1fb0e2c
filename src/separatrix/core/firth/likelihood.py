"""Firth's penalised likelihood of logistic regression, and its maximum (docs/tour.md, R8).

    l*(W) = l(W) + ½ ln |I(W)|,    l = −Σ_i s_i ℓ(t_i, W x̄_i),    I = Σ_i s_i H_i ⊗ x̄_i x̄_iᵀ,    H = diag(p) − p pᵀ

Problem   max_W l*(W), which is smooth, not concave, and −∞ where a probability goes to 0 or 1
Given     rows and their targets; a start W
Returns   W at which the penalised score U* is zero: the highest of the local maxima that ``fit`` finds
Step      V = I⁻¹ U*, shortened if it would change the rows' scores much; W ← W + αV, α from 1 by halving until l* does
          not fall. A step takes two passes
Stops     when (U*ᵀ I⁻¹ U*)^½ ≤ tol: the length of the score in coordinates in which the information is the identity,
          that is, the length of the next step in standard errors

Firth, Bias reduction of maximum likelihood estimates, Biometrika 80 (1993); Heinze and Schemper, A solution to the
problem of separation in logistic regression, Statistics in Medicine 21 (2002), section 2.2 for the steps; for more
classes Kosmidis and Firth, Multinomial logit bias reduction via the Poisson log-linear model, Biometrika 98 (2011).
Kosmidis and Firth, Jeffreys-prior penalty, finiteness and shrinkage in binomial-response generalized linear models,
Biometrika 108 (2021): l* has a maximum, and it is finite.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from separatrix.core.base.arrays import EPS, Array, pieces, rows_per_piece
from separatrix.core.base.errors import InputError, ParameterError, WeightError
from separatrix.core.base.lazy import cached_property
from separatrix.core.base.machine import one_blas_thread
from separatrix.core.base.messages import Message, Parameter, Remedy, Setting
from separatrix.core.base.watching import part
from separatrix.core.certificate import Bound
from separatrix.core.linear_algebra import Factor, limiting_columns
from separatrix.core.links import softmax
from separatrix.core.losses import Loss
from separatrix.core.newton_step import backtracked
from separatrix.core.objective_sums import Evaluation, add_softmax_hessian
from separatrix.core.penalty import Penalty
from separatrix.core.problem import LARGEST_HESSIAN, Objective, build_objective
from separatrix.core.rows.block import Block
from separatrix.core.rows.protocol import ArraySum, Rows
from separatrix.core.solvers.driver import Run, follower
from separatrix.core.solvers.lbfgs import Pairs
from separatrix.core.solvers.state import Halt, State
from separatrix.core.solvers.stopping import Record, Status

# --- Sums over rows


@dataclass(frozen=True)
class ValueHessian(ArraySum):
    """Σ s ℓ in entry 0 and Σ s ℓ″ ⊗ x̄ x̄ᵀ in the rest: a likelihood and its information in one pass."""

    loss: Loss
    W: Array

    @property
    def shape(self) -> tuple[int, ...]:
        return (1 + self.W.size**2,)

    def add(self, total: Array, block: Block) -> Array:
        z, H = block.scores(self.W), total[1:].reshape(self.W.size, self.W.size)
        if self.loss.traits.multiclass:
            total[0] += block.weight @ self.loss.value(block.t, z)
            add_softmax_hessian(H, block, block.weight, softmax(z).T)
        else:
            total[0] += block.weight @ self.loss.value(block.t, z[:, 0])
            H += block.sandwich(self.loss.curvature_product(block.t, z[:, 0], block.weight))
        return total


@dataclass(frozen=True)
class PenalisedGradient(ArraySum):
    """Σ s (∂ℓ − share · ½ H u) ⊗ x̄, (K, d + 1), with V_kl = (F_k x̄)·(F_l x̄) in u; F is (P, K, d + 1)."""

    loss: Loss
    W: Array
    F: Array
    share: float

    @property
    def shape(self) -> tuple[int, ...]:
        return self.W.shape

    def add(self, total: Array, block: Block) -> Array:
        # At most this many entries of the rows' whitened products are held in memory at once.
        size = rows_per_piece(1 << 19, self.F.shape[0] * len(self.W))
        for rows in pieces(block.n_rows, size):
            part = block if size >= block.n_rows else block.take(rows)
            total += part.adjoint(part.weight[:, None] * self._residuals(part))
        return total

    def _residuals(self, block: Block) -> Array:
        z, G = block.scores(self.W), [block.scores(self.F[:, k]) for k in range(len(self.W))]
        if self.loss.traits.multiclass:
            p, slope = softmax(z), self.loss.derivative(block.t, z)
            mixed = sum(p[:, k, None] * own for k, own in enumerate(G))
            u = np.stack([np.einsum("ij,ij->i", own, own - 2 * mixed) for own in G], axis=1)
        else:
            z, slope = z[:, 0], self.loss.derivative(block.t, z[:, 0])
            u = np.einsum("ij,ij->i", G[0], G[0]) * (-block.t - 2 * slope)  # 1 − 2p = −t − 2∂ℓ
        residuals = slope - 0.5 * self.share * self.loss.curvature_product(block.t, z, u)
        return np.asarray(residuals.reshape(block.n_rows, -1))


# --- The likelihood

# If a pivot of the information, scaled to a unit diagonal, is below this, the root of the information is factored
# instead. The rounding error of ln |I| is that of the entries divided by the smallest pivot, and steps must raise l* by
# more.
SMALLEST_TRUSTED_PIVOT = 1e-6


class Level(NamedTuple):
    """E* at some W, and the factor of the information there, per unit of weight, on the determined directions."""

    value: float
    factor: Factor


class Penalised:
    """E*(W) over rows: an ``Objective`` without a penalty, and the unit of its weights. ``pose`` makes one from rows.

    E* = −(l* − ½ ln |I(0)|)/S is minimised, with S = Σ s. I(0) is the information at equal probabilities; subtracting
    its logarithm removes the constant, so E* is the same in all coordinates. H is the number p(1 − p) for two classes.
    |I| is taken over the directions that the columns determine, so collinear columns, the common shift of K scores and
    the weights of an offset are not in it. Up to a constant factor, it does not depend on the units of the columns or
    on a reference class. The derivative of ½ ln |I| in the scores of a row is ½ s H u, with u_k = V_kk − 2 (V p)_k and
    V_kl = (e_k ⊗ x̄)ᵀ I⁻¹ (e_l ⊗ x̄). For two classes it is h (½ − p), with h = s p(1 − p) x̄ᵀ I⁻¹ x̄ the row's leverage.

    Parameters
    ----------
    objective : Objective
        The mean loss over the rows, without a penalty.
    unit : float, default 1
        The number by which the rows' weights were divided. Weights count rows here, because the penalty does not grow
        with them.
    zero : array (K or 1, d + 1), optional
        The weights whose scores are the offset alone; by default they are taken from the objective.

    Examples
    --------
    >>> from separatrix.core.rows.labelled_table import labelled_rows
    >>> problem = pose(labelled_rows(np.arange(4.0)[:, None], np.array([0, 0, 1, 1]), 2, np.full(4, 5.0)), 2)
    >>> problem.weight, problem.rank
    (20.0, 2)
    """

    def __init__(self, objective: Objective, unit: float = 1.0, zero: Array | None = None) -> None:
        if not objective.has_hessian:
            problem = f"got 'firth' for {objective.size} parameters"
            raise ParameterError("bias_reduction", problem, f"use fewer columns: at most {LARGEST_HESSIAN} parameters")
        self.objective, self.unit = objective, unit
        # The weights whose scores are the offset alone, (K or 1, d + 1).
        self.zero: Array = next(W for W in (zero, objective.offsets, np.zeros(objective.shape)) if W is not None)

    @property
    def weight(self) -> float:
        """S, the total weight of the rows in their own unit."""
        return self.unit * self.objective.total_weight

    @cached_property
    def rank(self) -> int:
        """The number of directions that the columns determine."""
        return self.objective.subspace.rank

    @cached_property
    def _directions(self) -> Array:
        """The determined directions, (P, K (d + 1))."""
        return self.objective.subspace.reduce_rows(np.eye(self.objective.size)).T

    @cached_property
    def _log_det_at_zero(self) -> float:
        """ln |I(0)| per unit of weight, from the Gram matrix: at zero H is ¼, or 1/K on the contrasts of K classes."""
        objective, Z = self.objective, self.objective.subspace.Z
        G = objective.columns.gram if Z is None else Z.T @ objective.columns.gram @ Z
        factor = Factor.of(G)
        if factor is None:
            root = objective.columns.root_gram if Z is None else objective.columns.root_gram @ Z
            with np.errstate(divide="ignore"):  # the Gram matrix of a sample may be singular
                log_det = 2 * float(np.sum(np.log(np.linalg.svd(root, compute_uv=False))))
        else:
            log_det = log_determinant(factor)
        K = objective.shape[0]
        return (log_det - self.rank * float(np.log(4 if K == 1 else K))) * max(1, K - 1)

    def level(self, W: Array) -> Level | None:
        """E* and the information at W, in one pass; None where the information is singular, and E* infinite."""
        objective = self.objective
        total = objective.rows.fold(ValueHessian(objective.loss, W)) / objective.total_weight
        value, information = float(total[0]), total[1:].reshape(W.size, W.size)
        factor = Factor.of(objective.subspace.reduce_hessian(information))
        if factor is None or float(np.min(np.abs(factor.lower.diagonal()), initial=1.0)) ** 2 < SMALLEST_TRUSTED_PIVOT:
            factor = objective.root_factor(W)
        if factor is None or not np.isfinite(value):
            return None
        penalty = 0.5 * (log_determinant(factor) - self._log_det_at_zero)
        return Level(value - penalty / self.weight, factor)

    def gradient(self, W: Array, factor: Factor) -> Array:
        """∇E*(W), (K, d + 1), in one pass, with the factor of the information at W."""
        objective = self.objective
        F = factor.half(self._directions).reshape(-1, *W.shape)
        total = objective.rows.fold(PenalisedGradient(objective.loss, W, F, 1.0 / self.weight))
        return objective.without_pinned(total / objective.total_weight)

    def framed(self, W: Array) -> Array:
        """Convert weights (K or 1, d + 1) in raw units to the problem's coordinates, and append those of an offset."""
        raw = np.hstack([W, np.eye(len(W), self.objective.n_offsets)])
        return self.objective.rows.frame.from_original(raw)


def pose(
    rows: Rows, n_classes: int, fit_intercept: bool = True, names: list[str] | None = None, n_offsets: int = 0
) -> Penalised:
    """Firth's likelihood of rows made by ``labelled_rows``, in memory or streamed.

    Parameters
    ----------
    rows : Rows
        The rows. The weight of a row says how often it counts.
    n_classes : int
        The number of classes.
    fit_intercept : bool
        Whether there is an intercept.
    names : list of str, optional
        The names of the columns other than offsets, for error messages.
    n_offsets : int
        This many of the last columns are an offset: known parts of the scores.

    Returns
    -------
    Penalised

    Raises
    ------
    WeightError
        If the rows count for next to nothing in all.

    Examples
    --------
    >>> from separatrix.core.rows.labelled_table import labelled_rows
    >>> problem = pose(labelled_rows(np.arange(4.0)[:, None], np.array([0, 0, 1, 1]), 2), 2)
    >>> round(problem.level(problem.zero).value, 6)  # ln 2: the penalty is zero at weights of zero
    0.693147
    """
    objective = build_objective(
        rows,
        n_classes,
        Penalty.none(rows.n_features - n_offsets),
        fit_intercept,
        names=names,
        hide_constant=False,  # a constant column is zero in these coordinates anyway, and keeps its weight
        n_offsets=n_offsets,
        sample_all=True,  # the Gram matrix of all rows is needed anyway, so no sample is drawn to find the rank
    )
    problem = Penalised(objective, rows.weight_unit)
    if problem.weight < 1e-3:  # in rows: with less the penalty outweighs the data completely
        fault = f"the rows count for {problem.weight:.2g} in all"
        raise WeightError("sample_weight", fault, "say how often each row counts: the penalty is worth a few rows")
    return problem


def penalised_log_likelihood(problem: Penalised, W: Array) -> float:
    """l*(W) − ½ ln |I(0)|: Firth's likelihood, with a constant that makes it the same in all coordinates.

    Parameters
    ----------
    problem : Penalised
        The likelihood, as ``pose`` returns it.
    W : array (K or 1, d + 1)
        Weights in the problem's coordinates.

    Returns
    -------
    float
        −∞ where the information is singular.

    Examples
    --------
    >>> from separatrix.core.rows.labelled_table import labelled_rows
    >>> problem = pose(labelled_rows(np.arange(4.0)[:, None], np.array([0, 0, 1, 1]), 2), 2)
    >>> round(penalised_log_likelihood(problem, problem.zero), 6)  # 4 ln ½
    -2.772589
    """
    found = problem.level(W)
    return -np.inf if found is None else -problem.weight * found.value


def log_determinant(factor: Factor) -> float:
    """ln |H| of a factored H.

    >>> round(log_determinant(Factor.of(np.diag([2.0, 3.0]))), 6)  # ln 6
    1.791759
    """
    return 2 * float(np.sum(np.log(np.abs(factor.lower.diagonal()) * factor.d)))


# --- Its maximum, by Newton's method with the information as its matrix (Fisher scoring)

# The relative rounding error of E*, which is a sum over rows and a determinant.
VALUE_ROUNDING_SHARE = 64 * EPS
# After this many consecutive steps without progress, rounding is taken to be the cause.
MOST_IDLE_STEPS = 3
# The number of L-BFGS pairs, which approximate the part of l*'s curvature that the information leaves out, and the
# length of the score, in standard errors, below which pairs are kept. Without them the slowest of 40 small tables took
# 294 steps.
MOST_PAIRS, LONGEST_SCORE_FOR_PAIRS = 8, 1.0
# The longest score, in standard errors, that counts as zero if rounding lets no step gain.
LONGEST_ZERO_SCORE = 1e-6
# Weights within this distance of a known maximum, in standard errors, lead to it: a Newton step reduces a tenth to
# about a hundredth.
SAME_MAXIMUM_DISTANCE = 0.1


@dataclass(frozen=True)
class Point:
    """W with E* and its derivatives there.

    Attributes
    ----------
    W : array (K or 1, d + 1)
        The weights in the problem's coordinates.
    level : Level
        E* and the factor of the information.
    gradient : array (K or 1, d + 1)
        The gradient of E*.
    step : array
        Newton's step in the coordinates of the determined directions.
    length : float
        The length of the score in standard errors.
    """

    W: Array
    level: Level
    gradient: Array
    step: Array
    length: float


@dataclass(frozen=True)
class Ascent:
    """Newton's method on Firth's likelihood, with the information as its matrix (Fisher scoring).

    Near the end, steps are corrected by the L-BFGS pairs of the last steps. A step changes the rows' scores by at most
    5 in the root mean square. Heinze and Schemper limit the change of each weight instead: if columns are nearly
    collinear, weights may have to change by millions while scores hardly change, so such a limit needs millions of
    steps.

    Calling it with a problem and a start returns the point where it ended, and the run.

    Parameters
    ----------
    tol : float, default 1e-8
        The length of the score, in standard errors, at which it stops.
    max_iter : int, default 1000
        The most steps.
    moves : array (P, q), optional
        An orthonormal basis of the directions in which W may move; by default all that the columns determine.

    Examples
    --------
    >>> from separatrix.core.firth.likelihood import pose
    >>> from separatrix.core.rows.labelled_table import labelled_rows
    >>> problem = pose(labelled_rows(np.arange(4.0)[:, None], np.array([0, 0, 1, 1]), 2), 2)
    >>> point, run = Ascent()(problem, problem.zero)
    >>> run.status.code, point.length < 1e-8
    ('gradient', True)
    """

    tol: float = 1e-8
    max_iter: int = 1000
    moves: Array | None = None

    def __call__(self, problem: Penalised, start: Array, near: Point | None = None) -> tuple[Point, Run]:
        """Run from ``start`` until the score vanishes or the weights are close to ``near``, a known maximum."""
        trace, pairs, idle, clock = list[Record](), Pairs(), 0, time.perf_counter()
        report = follower("firth", lambda: 1.0, self.tol, "score", problem.objective)
        point = self.at(problem, start) or self.at(problem, self._mildest(problem, start))
        if point is None:
            remedy = "leave out columns that are nearly combinations of others, or an offset of many units"
            raise InputError("X", "its information is singular to working precision where the fit begins", remedy)
        while True:
            seconds = time.perf_counter() - clock
            norm = float(np.linalg.norm(point.gradient))
            trace.append(Record(len(trace), problem.objective.passes, point.level.value, norm, None, seconds))
            if report is not None:
                report(trace[-1], _state(point, trace), point.length)
            known = near is not None and distance(problem, point.W, near) <= SAME_MAXIMUM_DISTANCE
            if known or point.length <= self.tol:
                return point, _run(point, _stationary(point), trace)
            if len(trace) > self.max_iter:
                out_of_steps = Message(
                    "stopped at ",
                    Setting("max_iter", self.max_iter),
                    " before the penalised score fell to the tolerance",
                    Remedy(Message("raise ", Parameter("max_iter"), " or ", Parameter("tol"))),
                )
                return point, _run(point, Status("max_iter", out_of_steps, False), trace)
            then = self._next(problem, point, pairs)
            idle = 0 if then is not None and _nearer(point, then) else idle + 1
            if then is None or idle > MOST_IDLE_STEPS:
                return point, _run(point, _stuck(problem, point), trace)
            if point.length > LONGEST_SCORE_FOR_PAIRS:  # l* is far from quadratic there
                pairs = Pairs()
            else:
                reduce = problem.objective.subspace.reduce
                pairs = pairs.with_pair(reduce(then.W - point.W), reduce(then.gradient - point.gradient), MOST_PAIRS)
            point = then if idle == 0 or then.length < point.length else point

    def _mildest(self, problem: Penalised, start: Array) -> Array:
        """The weights with the smallest scores that can be reached, where no row's probability is near 0 or 1."""
        even = problem.level(problem.zero)
        if self.moves is None or even is None:
            return problem.zero
        R, space = root(even.factor), problem.objective.subspace
        back = np.linalg.lstsq(R @ self.moves, R @ space.reduce(start - problem.zero), rcond=None)[0]
        return start - space.expand(self.moves @ back)

    def at(self, problem: Penalised, W: Array) -> Point | None:
        """E* and its derivatives at W, in two passes; None where E* is infinite."""
        level = problem.level(W)
        return None if level is None else self._with_score(problem, W, level)

    def _with_score(self, problem: Penalised, W: Array, level: Level) -> Point:
        gradient = problem.gradient(W, level.factor)
        g = problem.objective.subspace.reduce(gradient)
        step = self._newton(level.factor, g)
        return Point(W, level, gradient, step, float(np.sqrt(max(0.0, -problem.weight * float(g @ step)))))

    def _newton(self, factor: Factor, g: Array) -> Array:
        """−H⁻¹ g within the allowed directions."""
        if self.moves is None:
            return -factor.solve(g)
        within = Factor.of_root(np.asarray(np.linalg.qr(root(factor) @ self.moves, mode="r")))
        return np.zeros_like(g) if within is None else -self.moves @ within.solve(self.moves.T @ g)

    def _next(self, problem: Penalised, point: Point, pairs: Pairs) -> Point | None:
        """The point after the step that the pairs correct; if it lowers l*, after Newton's step, its half, etc."""
        if pairs.S:
            g = problem.objective.subspace.reduce(point.gradient)
            step = -pairs.product(g, lambda q: -self._newton(point.level.factor, q))
            then = self._damped(problem, point, step, trials=1)
            if then is not None:
                return then
        return self._damped(problem, point, point.step, 40)  # the most step lengths that are tried

    def _damped(self, problem: Penalised, point: Point, step: Array, trials: int) -> Point | None:
        """The first point along a limited step that does not lower l*; None if there is none."""
        V = problem.objective.subspace.expand(step)
        # A step changes the scores by at most 5, in the root mean square over the rows.
        squares = float(np.vdot(V @ problem.objective.columns.gram, V))
        longest = min(1.0, 5.0 / max(np.sqrt(max(squares, 0.0)), EPS))

        def evaluated(alpha: float) -> tuple[float, Level | None]:
            level = problem.level(point.W + alpha * V)
            return np.inf if level is None else level.value, level

        # l* is not concave, so its slope predicts no gain: any step that does not lower l* is accepted.
        accepted = backtracked(evaluated, point.level.value, 0.0, longest, trials, VALUE_ROUNDING_SHARE)
        alpha, level = (0.0, None) if accepted is None else accepted
        return None if level is None else self._with_score(problem, point.W + alpha * V, level)


def _nearer(point: Point, then: Point) -> bool:
    """Whether a step raised l* by more than rounding, or, where rounding hides that, halved the score."""
    raised = then.level.value < point.level.value - VALUE_ROUNDING_SHARE * abs(point.level.value)
    return raised or then.length < 0.5 * point.length


def root(factor: Factor) -> Array:
    """R with RᵀR the factored matrix."""
    return np.asarray(factor.lower.T * factor.d)


def distance(problem: Penalised, W: Array, point: Point) -> float:
    """The distance between W and a point, in standard errors at the point."""
    apart = problem.objective.subspace.reduce(W - point.W)
    return float(np.sqrt(problem.weight) * np.linalg.norm(root(point.level.factor) @ apart))


def _run(point: Point, status: Status, trace: list[Record]) -> Run:
    halt = Halt.STALLED if status.code == "rounding" else None
    return Run(_state(point, trace, halt), status, unbounded(point.length), tuple(trace))


def _state(point: Point, trace: list[Record], halt: Halt | None = None) -> State:
    return State(point.W, Evaluation(point.level.value, point.gradient), len(trace) - 1, halt=halt)


def unbounded(length: float) -> Bound:
    """A bound without a value, whose reason gives the length of the score in standard errors.

    Parameters
    ----------
    length : float
        The length of the penalised score.

    Returns
    -------
    Bound

    Examples
    --------
    >>> unbounded(2e-9).reason
    "Firth's likelihood is not concave; shown is that its score is 2.0e-09 standard errors long"
    """
    reason = f"Firth's likelihood is not concave; shown is that its score is {length:.1e} standard errors long"
    return Bound(None, "none", reason)


def _stationary(point: Point) -> Status:
    sentence = (
        f"stationary: the penalised score is {point.length:.1e} standard errors long, at a maximum of Firth's "
        "likelihood, perhaps not the highest: it is not concave"
    )
    return Status("gradient", sentence, True)


def _stuck(problem: Penalised, point: Point) -> Status:
    """The status if no step raises l* any more. The score may then be as short as rounding allows."""
    if point.length <= LONGEST_ZERO_SCORE:
        return _stationary(point)
    sentence = (
        f"went as far as float64 goes: no step raises Firth's likelihood, and the penalised score is "
        f"{point.length:.1e} standard errors long"
    )
    cause = limiting_columns(problem.objective)
    why = Message(": ", cause) if cause else Remedy(Message("raise ", Parameter("tol")))
    return Status("rounding", Message(sentence, why), False)


def null_value(problem: Penalised) -> float:
    """E* of the null model, which has the best constant scores (zero without an intercept); |I| is over all columns.

    Without an offset all rows have the same p, so l* = Σ_k (n_k + r/2) ln p_k up to a constant, where r is the rank of
    the columns. At its maximum, r/2 rows are added to each class. With an offset it is found by Newton's method.

    Parameters
    ----------
    problem : Penalised
        The likelihood, as ``pose`` returns it.

    Returns
    -------
    float

    Examples
    --------
    >>> from separatrix.core.firth.likelihood import pose
    >>> from separatrix.core.rows.labelled_table import labelled_rows
    >>> problem = pose(labelled_rows(np.arange(4.0)[:, None], np.array([0, 0, 1, 1]), 2), 2)
    >>> round(null_value(problem), 6)  # ln 2: both classes have as many rows
    0.693147
    """
    objective, rank = problem.objective, problem.rank
    if not objective.n_offsets:
        if not objective.fit_intercept:
            return objective.value_at_zero
        n = problem.unit * objective.class_weight
        p = (n + 0.5 * rank) / (n.sum() + 0.5 * rank * len(n))
        return -float(n @ np.log(p) + 0.5 * rank * np.sum(np.log(len(n) * p))) / problem.weight
    space = objective.subspace
    constant = np.zeros((1, objective.shape[1]))
    constant[0, 0] = objective.fit_intercept
    moves = constant if space.Z is None else constant @ space.Z
    across = np.eye(1 if space.Q is None else space.Q.shape[1])
    with one_blas_thread:
        point, _ = Ascent(moves=np.asarray(np.kron(across, moves.T), dtype=np.float64))(problem, problem.zero)
    return point.level.value


# --- A fit from several starts

# The distance of the third start from the best maximum, in standard errors along each direction, and the seed of its
# signs.
START_DISTANCE, START_SEED = 2.0, 20_231_101
# The size of that sample, and the length of the score, in standard errors, at which its runs end: the maxima of the
# sample lie further than that from those of all rows.
SAMPLE_ROWS_PER_PARAMETER, SAMPLE_TOLERANCE = 50, 1e-2
# From the sample's maximum, gradients over all rows lead towards their maximum until the score is this short, in
# standard errors, and at most this many gradients are computed.
APPROACH_DISTANCE, MOST_SLOPES = 0.5, 8


@dataclass(frozen=True)
class Fit:
    """The highest maximum found, with its run.

    Attributes
    ----------
    point : Point
        The maximum.
    run : Run
        The run that led to it.
    starts : int
        The number of runs.
    agreed : int
        How many of them led to this maximum.
    tried_on : int or None
        The number of rows of the sample on which the starts were tried; None if they were tried on all rows.
    """

    point: Point
    run: Run
    starts: int = 1
    agreed: int = 1
    tried_on: int | None = None

    @property
    def sentence(self) -> str:
        """How many starts led to the maximum, in words."""
        where = "" if self.tried_on is None else f", by a sample of {self.tried_on} rows"
        return f"{self.agreed} of {self.starts} starts led to this maximum{where}"


def fit(problem: Penalised, start: Array | None = None, tol: float = 1e-8, max_iter: int = 1000) -> Fit:
    """Maximise l* from ``start``, from a ridge fit, and from a point near the better of these two maxima.

    l* is not concave, and may have several maxima. The third start is two standard errors from the best maximum so far.
    The highest maximum is returned. A later run ends once it is within a tenth of a standard error of a known maximum.

    With many rows the starts are first tried on a weighted sample. If all of them lead to the same maximum, only that
    one is followed on all rows; otherwise every start is tried on all rows. The maximum over the sample lies some
    standard errors from that over all rows, but the two penalties differ by less. So the first passes over all rows
    compute only gradients of the likelihood, which take a sixth of the work of a step, and use the gradient of the
    sample's penalty.

    Parameters
    ----------
    problem : Penalised
        The likelihood, as ``pose`` returns it.
    start : array (K or 1, d + 1), optional
        The weights to start from, in the problem's coordinates; by default zero.
    tol : float, default 1e-8
        The length of the score, in standard errors, at which a run stops.
    max_iter : int, default 1000
        The most steps of a run.

    Returns
    -------
    Fit

    Examples
    --------
    >>> from separatrix.core.firth.likelihood import pose
    >>> from separatrix.core.rows.labelled_table import labelled_rows
    >>> problem = pose(labelled_rows(np.arange(4.0)[:, None], np.array([0, 0, 1, 1]), 2), 2)  # separated
    >>> found = fit(problem)
    >>> found.run.status.met, found.sentence
    (True, '3 of 3 starts led to this maximum')
    """
    first, ascent = problem.zero if start is None else start, Ascent(tol, max_iter)
    with one_blas_thread:
        sample = _sample(problem)
        if sample is not None:
            tried = _from_each(sample, first, Ascent(SAMPLE_TOLERANCE))
            if tried.agreed == tried.starts:
                found = Fit(*ascent(problem, _approached(problem, sample, tried.point)))
                return replace(found, starts=tried.starts, agreed=tried.agreed, tried_on=sample.objective.n_rows)
        return _from_each(problem, first, ascent)


def _from_each(problem: Penalised, first: Array, ascent: Ascent) -> Fit:
    agreed, others = 1, (ridge_fit, beside)
    with part("start", 1, 1 + len(others)):
        best, run = ascent(problem, first)
    for k, start in enumerate(others, 2):
        with part("start", k, 1 + len(others)):
            point, other = ascent(problem, start(problem, best), near=best)
        if distance(problem, point.W, best) <= SAME_MAXIMUM_DISTANCE:
            agreed += 1
        elif other.status.met >= run.status.met and point.level.value < best.level.value:
            best, run, agreed = point, other, 1
    return Fit(best, run, 1 + len(others), agreed)


def _sample(problem: Penalised) -> Penalised | None:
    """A weighted sample if there are many rows; None if there are few, or if the sample's information is singular."""
    whole = problem.objective
    parameters = problem.rank * max(1, whole.shape[0] - 1)
    # With fewer rows per parameter the starts are tried on all rows.
    if whole.n_rows < 200 * parameters or not parameters:
        return None
    drawn = whole.framed.sample(SAMPLE_ROWS_PER_PARAMETER * parameters)
    block = drawn.standing_for(whole.targets, whole.class_weight)
    sample = Penalised(whole.restricted_to(block), problem.unit, problem.zero)
    at = sample.level(problem.zero)
    return sample if at is not None and np.isfinite(at.value) else None


def _approached(problem: Penalised, sample: Penalised, point: Point) -> Array:
    """Weights near the maximum over all rows, starting from the maximum ``point`` over a sample.

    It maximises the likelihood of all rows plus a linear model of the sample's penalty, by L-BFGS around the sample's
    information. It returns the best weights seen, or one further step from weights that are near the maximum.
    """
    space, factor, best = problem.objective.subspace, point.level.factor, np.inf
    penalty = point.gradient - sample.objective.value_gradient(point.W).gradient
    at, to, pairs, last = point.W, point.W, Pairs(), None
    for _ in range(MOST_SLOPES):
        g = space.reduce(problem.objective.value_gradient(to).gradient + penalty)
        length = float(np.sqrt(problem.weight) * np.linalg.norm(factor.half(g)))
        if not length < best:
            return at
        pairs = pairs if last is None else pairs.with_pair(space.reduce(to - at), g - last, MOST_SLOPES)
        at, last, best = to, g, length
        to = at - space.expand(pairs.product(g, factor.solve))
        if length <= APPROACH_DISTANCE:
            return to
    return at


def ridge_fit(problem: Penalised, best: Point) -> Array:
    """Weights near the minimum of Σ s ℓ + ½ Σ w² in standard coordinates, without a penalty on intercepts.

    They are found by a few Newton steps. The steps are not damped, because a start need not be accurate, and the ridge
    keeps them short.
    """
    objective, W = problem.objective, problem.zero
    ridge = np.where(objective.pinned, 0.0, 1.0 / problem.weight)
    ridge[0] = 0.0
    for _ in range(4):  # Newton steps towards the ridge fit
        gradient = objective.value_gradient(W).gradient + ridge * W
        factor = Factor.of(objective.subspace.reduce_hessian(objective.hessian(W) + np.diag(np.tile(ridge, len(W)))))
        if factor is None:
            break
        W = W - objective.subspace.expand(factor.solve(objective.subspace.reduce(gradient)))
    return W


def beside(problem: Penalised, best: Point) -> Array:
    """Weights START_DISTANCE standard errors from the best in each direction of a basis in which I is the identity."""
    from scipy.linalg import solve_triangular

    sign = np.random.default_rng(START_SEED).choice([-1.0, 1.0], size=best.step.shape)
    apart = solve_triangular(root(best.level.factor), START_DISTANCE / np.sqrt(problem.weight) * sign)
    return best.W + problem.objective.subspace.expand(apart)
