"""Gradient descent: with all rows, stochastic, and with reduced variance (docs/tour.md, R5, R6, R12).

Problem   min_W E(W), which the third form needs to be smooth and convex
Given     a start W, a learning rate η (except the third form); for the stochastic forms a batch size and a seed
Returns   the last W; ``StochasticDescent``, and a run that diverged, return the best W
Step      ``GradientDescent``     W ← W − η ∇E, or a step of length η in the same direction
          ``StochasticDescent``   W ← W − η ∇ of the mean loss over B, for each batch B of rows of an epoch
          ``VarianceReduced``     W ← W − η P [∇_B(W) − ∇_B(W̃) + ∇E(W̃)], for many batches B after each W̃
Stops     by the driver's rules; by itself if E grows far above its first value (η is too large), if E has not improved
          for some epochs or walks, or if rounding hides any descent

The first two are those of lectures 002 and 004 in docs/tour.md. The third is Johnson and Zhang, Accelerating stochastic
gradient descent using predictive variance reduction, NIPS (2013), with the sampling by smoothness of Xiao and Zhang, A
proximal stochastic gradient method with progressive variance reduction, SIAM Journal on Optimization 24 (2014).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, Generic, Literal, NamedTuple, TypeVar, get_args

import numpy as np

from separatrix.core.base.arrays import Array, Integers, pieces, rows_per_piece
from separatrix.core.base.errors import ParameterError
from separatrix.core.gap_bounds import largest_curvature
from separatrix.core.linear_algebra import Factor
from separatrix.core.losses import Loss
from separatrix.core.newton_step import VALUE_ROUNDING
from separatrix.core.objective_sums import Evaluation, Gram, RootGram
from separatrix.core.problem import Objective
from separatrix.core.rows.block import Block
from separatrix.core.rows.hold_out import row_hashes, uniform
from separatrix.core.rows.memory_rows import some_rows
from separatrix.core.rows.protocol import Order, Partial, Rows
from separatrix.core.rows.sampling import Carried
from separatrix.core.solvers.state import Halt, Need, State, begun

# A run counts as diverged if its objective exceeds this multiple of the larger of its first value and the null model's.
DIVERGENCE_FACTOR = 10.0


def _fixed(gradient: Array, eta: float) -> Array:
    return -eta * gradient


def _proportional(gradient: Array, eta: float) -> Array:
    length = float(np.linalg.norm(gradient))
    return (eta * length) * (-gradient / length) if length > 0 else np.zeros_like(gradient)


def _normalised(gradient: Array, eta: float) -> Array:
    length = float(np.linalg.norm(gradient))
    return -eta * gradient / length if length > 0 else np.zeros_like(gradient)


STEPS: dict[str, Callable[[Array, float], Array]] = {
    "fixed": _fixed,
    "proportional": _proportional,
    "normalised": _normalised,
}


def check_eta(eta: float | None) -> None:
    if eta is not None and not (np.isfinite(eta) and eta > 0):
        raise ParameterError("eta", f"got {eta!r}", "give a positive learning rate, or None for the default 1/L")


@dataclass(frozen=True)
class DescentMemory:
    """The learning rate, the first value of E, and the best weights so far with the value and gradient of E there."""

    eta: float
    first: float
    best_W: Array
    best_at: Evaluation


@dataclass(frozen=True)
class GradientDescent:
    """W ← W − η ∇E, or steps of length η in the same direction.

    The columns are not scaled, so that η has the same meaning as in the lecture. For every η < 2/L, where L is the
    Lipschitz constant of ∇E, each step decreases E.

    Parameters
    ----------
    eta : float, optional
        The learning rate; by default the reciprocal of the largest curvature, 1/L.
    step_rule : {"fixed", "proportional", "normalised"}
        The step rule: W ← W − η ∇E, which is the final form in the lecture; the same step as the lecture derives it,
        W ← W + η_t v̂ with v̂ = −∇E/‖∇E‖ and η_t = η ‖∇E‖; or W ← W + η v̂, so that every step has length η.

    Examples
    --------
    >>> GradientDescent(eta=0.1, step_rule="normalised").step_rule
    'normalised'
    """

    eta: float | None = None
    step_rule: str = "fixed"
    name: ClassVar[str] = "gradient-descent"
    needs: ClassVar[frozenset[Need]] = frozenset({Need.RIDGE})
    by_sums: ClassVar[bool] = True
    converges: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_eta(self.eta)
        if self.step_rule not in STEPS:
            raise ParameterError("step_rule", f"got {self.step_rule!r}", f"choose one of {', '.join(STEPS)}")

    def init(self, problem: Objective, start: Array) -> State[DescentMemory]:
        steepest = largest_curvature(problem)
        if self.eta is None and not np.isfinite(steepest):
            fault = (
                f"{self.name!r} has no default learning rate for a loss whose derivative is not Lipschitz continuous"
            )
            raise ParameterError("solver", fault, "give GradientDescent(eta=...), or use 'auto'")
        at = problem.value_gradient(start)
        eta = self.eta if self.eta is not None else 1.0 / max(steepest, 1e-300)
        return State(start, at, memory=DescentMemory(eta, at.value, start, at))

    def step(self, problem: Objective, state: State[DescentMemory], budget: int | None = None) -> State[DescentMemory]:
        memory = state.memory
        move = STEPS[self.step_rule](state.at.gradient, memory.eta)
        with np.errstate(over="ignore", invalid="ignore"):
            W = state.W + move
            at = problem.value_gradient(W)
        if not (np.isfinite(at.value) and np.all(np.isfinite(at.gradient))):
            return replace(state, halt=Halt.DIVERGED)
        if at.value < memory.best_at.value:
            memory = DescentMemory(memory.eta, memory.first, W, at)
        hopeless = at.value > DIVERGENCE_FACTOR * max(memory.first, problem.null_value)
        still = at.value == state.at.value and not np.any(move)
        halt = Halt.DIVERGED if hopeless else Halt.STALLED if still else None
        return State(W, at, state.iteration + 1, memory, halt)

    def solution(self, problem: Objective, state: State[DescentMemory]) -> State[DescentMemory]:
        if state.halt is not Halt.DIVERGED:
            return state
        return replace(state, W=state.memory.best_W, at=state.memory.best_at)


# --- Stochastic and minibatch descent

Draw = Literal["given", "shuffled", "replacement"]


@dataclass(frozen=True)
class StochasticMemory(DescentMemory):
    """The memory of gradient descent, with the epoch, the next batch, and the number of epochs without improvement."""

    epoch: int = 0
    batch: int = 0
    idle: int = 0


@dataclass(frozen=True)
class StochasticDescent:
    """W ← W − η ∇ of the mean loss over one row or a minibatch.

    The mean loss includes the penalty. A row of weight s counts s/s̄ times, s̄ the mean weight. With batches of one row
    of mean weight and no penalty, from W = 0, the first step adds η t x̄/2 to W. E is computed over all rows at the end
    of each step for the trace, the patience and the bound; the run returns the best W at the end of any epoch. The
    random order of rows depends only on the seed and the epoch, so a run that starts from a state continues with the
    same batches.

    Parameters
    ----------
    eta : float, optional
        The learning rate. By default, the reciprocal of the mean curvature of a row's loss.
    batch_size : int
        The number of rows in a batch.
    draw : {"given", "shuffled", "replacement"}
        How rows are drawn in an epoch: in their given order, shuffled, or at random with replacement. Rows outside
        memory are shuffled within a buffer, in another order than in memory, and cannot be drawn with replacement.
    decay : float
        The learning rate in epoch e is eta/(1 + decay · e).
    patience : int
        The run ends after this many epochs without improvement.
    improvement : float
        The smallest gain of an epoch that counts as improvement, relative to the null model's objective.
    seed : int
        The seed of the random order of rows.

    Examples
    --------
    >>> StochasticDescent(eta=0.1, batch_size=32, draw="shuffled").patience
    10
    """

    eta: float | None = None
    batch_size: int = 1
    draw: Draw = "replacement"
    decay: float = 0.0
    patience: int = 10
    improvement: float = 1e-4
    seed: int = 0
    name: ClassVar[str] = "sgd"
    needs: ClassVar[frozenset[Need]] = frozenset({Need.RIDGE})
    by_sums: ClassVar[bool] = False
    converges: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_eta(self.eta)
        for setting, least in (("batch_size", 1), ("patience", 1), ("decay", 0), ("improvement", 0)):
            if not getattr(self, setting) >= least:
                raise ParameterError(setting, f"got {getattr(self, setting)!r}", f"give at least {least}")
        if self.draw not in get_args(Draw):
            raise ParameterError("draw", f"got {self.draw!r}", f"choose one of {', '.join(get_args(Draw))}")

    def init(self, problem: Objective, start: Array) -> State[StochasticMemory]:
        at = problem.value_gradient(start)
        eta = self.eta
        if eta is None:
            steepest = (problem.loss.traits.lipschitz or 1.0) * float(np.sum(problem.framed.root_second_moments**2))
            eta = 1.0 / max(steepest + float(np.max(problem.root_penalty) ** 2), 1e-300)
        return State(start, at, memory=StochasticMemory(eta, at.value, start, at))

    def step(
        self, problem: Objective, state: State[StochasticMemory], budget: int | None = None
    ) -> State[StochasticMemory]:
        memory = state.memory
        eta = memory.eta / (1.0 + self.decay * memory.epoch)
        order = Order(self.batch_size, self.draw, self.seed, memory.epoch)
        W, rows_left = state.W, np.inf if budget is None else budget
        next_batch: int | None = None
        with np.errstate(over="ignore", invalid="ignore"):
            for k, block in enumerate(problem.rows.blocks(order)):
                if k < memory.batch:
                    continue
                if rows_left <= 0:
                    next_batch = k
                    break
                W = W - eta * problem.block_value_gradient(W, block).gradient
                rows_left -= block.n_rows
            at = problem.value_gradient(W)
        if not (np.isfinite(at.value) and np.all(np.isfinite(at.gradient))):
            return replace(state, halt=Halt.DIVERGED)
        gain = memory.best_at.value - at.value
        best_W, best_at = (W, at) if gain > 0 else (memory.best_W, memory.best_at)
        epoch, idle = memory.epoch, memory.idle
        if next_batch is None:  # the step ended with the epoch
            epoch, idle = epoch + 1, 0 if gain > self.improvement * problem.null_value else idle + 1
        memory = StochasticMemory(memory.eta, memory.first, best_W, best_at, epoch, next_batch or 0, idle)
        diverged = at.value > DIVERGENCE_FACTOR * max(memory.first, problem.null_value)
        halt = Halt.DIVERGED if diverged else Halt.PATIENCE if idle >= self.patience else None
        return State(W, at, state.iteration + 1, memory, halt)

    def solution(self, problem: Objective, state: State[StochasticMemory]) -> State[StochasticMemory]:
        return replace(state, W=state.memory.best_W, at=state.memory.best_at)


# --- The metric and the random rows of variance-reduced descent

# The number of entries of rows that are converted to a dense array at a time.
ENTRIES_PER_BATCH = 1 << 20
# The local metric uses this multiple of a row's curvature at W, and at least SMALLEST_ROW_CURVATURE times the largest.
LOCAL_CURVATURE_FACTOR, SMALLEST_ROW_CURVATURE = 4.0, 1e-9
# The streams of hashes of the iterations begin here. Smaller numbers belong to samples.
FIRST_HASH_STREAM = 16

A = TypeVar("A")


class Metric(NamedTuple):
    """F with P = FᵀF, the sum of the odds of all rows, and the learning rate η for them.

    ``W``: the weights at which the curvatures of the rows are computed; None for the largest curvature of the loss.
    ``odds``: the odds of each row, (n,); None for rows outside memory.
    """

    F: Array
    total: float
    eta: float
    W: Array | None
    odds: Array | None


class Draws(NamedTuple):
    """Random rows: ``chosen`` (steps, batch size) are their positions in ``block``, ``share`` (m,) their weights."""

    block: Block
    chosen: Integers
    share: Array


@dataclass(frozen=True)
class RowCurvatures:
    """h, (m,): the largest curvature of the loss, or four times each row's largest curvature in its scores at W."""

    loss: Loss
    W: Array | None

    @property
    def largest(self) -> float:
        """The largest curvature of the loss."""
        return self.loss.traits.lipschitz or 1.0

    def of(self, block: Block) -> Array:
        """The curvatures of the rows of a block."""
        if self.W is None:
            return np.full(block.n_rows, self.largest)
        z = block.scores(self.W)
        if not self.loss.traits.multiclass:
            own = self.loss.curvature_product(block.t, z[:, 0], np.ones(len(z)))
        else:
            bends = [
                self.loss.curvature_product(block.t, z, np.tile(e, (len(z), 1)))[:, k]
                for k, e in enumerate(np.eye(len(self.W)))
            ]
            own = 2.0 * np.max(bends, axis=0)
        return np.clip(LOCAL_CURVATURE_FACTOR * own, SMALLEST_ROW_CURVATURE * self.largest, self.largest)


@dataclass(frozen=True)
class RowOdds:
    """s (1 + h x̄ᵀP x̄)/Σs, (m,), with P = FᵀF. ``mean_length`` stands for x̄ᵀP x̄ of every row if P is diagonal."""

    F: Array
    mean_length: float
    total_weight: float

    @classmethod
    def in_metric(cls, problem: Objective, F: Array) -> RowOdds:
        """The odds of the rows of a problem in the metric of F."""
        mean = float(np.sum((F * problem.framed.root_second_moments) ** 2)) if F.ndim == 1 else np.nan
        return cls(F, mean, problem.total_weight)

    def of(self, block: Block, h: Array) -> Array:
        """The odds of the rows of a block, whose curvatures are h."""
        lengths: Array
        if self.F.ndim == 1:
            lengths = np.full(block.n_rows, self.mean_length)
        else:
            size = rows_per_piece(ENTRIES_PER_BATCH, len(self.F))
            parts = (block.take(some).scores(self.F) for some in pieces(block.n_rows, size))
            lengths = np.concatenate([np.einsum("ij,ij->i", X, X) for X in parts])
        return block.weight / self.total_weight * (1.0 + h * lengths)


def measured(problem: Objective, W: Array | None, batch_size: int) -> Metric | None:
    """The metric from the curvature at W, or from the largest curvature if W is None; None if it is singular."""
    block, curvatures = problem.rows.resident(), RowCurvatures(problem.loss, W)
    if block is None:
        found = _root_metric(problem, problem.rows, curvatures)
    else:
        h = curvatures.of(block)
        found = _root_metric(problem, some_rows(replace(block, weight=block.weight * h)), None)
    if found is None:
        return None
    F, length = found
    odds = None
    if block is not None:
        problem.rows.counter.add()
        odds = RowOdds.in_metric(problem, F).of(block, h)
    total = 1.0 + length if odds is None else float(odds.sum())
    return Metric(F, total, 1.0 / (2.0 + 2.0 * (1.0 + total) / batch_size), W, odds)


@dataclass(frozen=True)
class _Reweighted(Generic[A]):
    """A partial over rows whose weights are multiplied by their curvatures."""

    partial: Partial[A]
    curvatures: RowCurvatures

    def zero(self) -> A:
        return self.partial.zero()

    def add(self, total: A, block: Block) -> A:
        return self.partial.add(total, replace(block, weight=block.weight * self.curvatures.of(block)))

    def merge(self, a: A, b: A) -> A:
        return self.partial.merge(a, b)


def _root_metric(problem: Objective, rows: Rows, curvatures: RowCurvatures | None) -> tuple[Array, float] | None:
    """F with FᵀF = P on the directions that the columns determine, and the mean of h x̄ᵀP x̄; None if P is singular.

    F is (r, d + 1), or (d + 1,) for a diagonal P. ``rows``: the rows, with weights s h if ``curvatures`` is
    None; otherwise it gives the curvatures h of a block.
    """

    def summed(partial: Partial[Array]) -> Array:
        return rows.fold(partial if curvatures is None else _Reweighted(partial, curvatures))

    R = problem.root_penalty**2
    if not problem.has_gram:
        mean = RowCurvatures(problem.loss, None).largest * problem.framed.root_second_moments**2
        size = mean + R
        F = np.divide(1.0, np.sqrt(size), out=np.zeros_like(size), where=(size > 0) & ~problem.pinned)
        return F, float(np.sum(mean * F**2))
    Z = problem.subspace.Z
    B = summed(Gram(problem.shape[1])) / problem.total_weight
    B[problem.pinned, :] = B[:, problem.pinned] = 0.0
    mean = B.copy()
    B[np.diag_indices_from(B)] += R
    factor = Factor.of(B if Z is None else Z.T @ B @ Z)
    if factor is None:
        root = summed(RootGram(problem.shape[1])) / np.sqrt(problem.total_weight)
        root[:, problem.pinned] = 0.0
        root = np.vstack([root, np.diag(problem.root_penalty)])
        factor = Factor.of_root(np.asarray(np.linalg.qr(root if Z is None else root @ Z, mode="r")))
    if factor is None:
        return None
    F = factor.half(np.eye(len(factor.d)))
    F = F if Z is None else F @ Z.T
    return F, float(np.sum((F @ mean) * F))


def drawn(problem: Objective, metric: Metric, n_steps: int, batch_size: int, seed: int, iteration: int) -> Draws:
    """The random rows of a walk of ``n_steps`` batches, a function of the seed and the iteration.

    A row is drawn with a probability proportional to 1 + h x̄ᵀP x̄, its odds. In memory the odds of all rows are kept,
    and rows are drawn with replacement. Outside memory the rows of a whole walk are drawn in one pass: a row with the
    expected number λ of draws is drawn ⌊λ + u⌋ times, where u is computed from its number, the seed and the iteration.
    Then they are shuffled. So only the rows of one walk are in memory, and the draw can be repeated. The walk differs
    from the one in memory, but each row has the same expected number of draws.
    """
    rng, block, odds = np.random.default_rng([seed, iteration]), problem.rows.resident(), metric.odds
    if block is not None and odds is not None:
        chosen = rng.choice(len(odds), size=(n_steps, batch_size), p=odds / odds.sum())
        share = block.weight / problem.total_weight / (odds / odds.sum()) / batch_size
        return Draws(block, chosen, share)
    # With this expected number, the probability of drawing no row is below exp(−64).
    size = max(64, n_steps * batch_size)
    curvatures, row_odds = RowCurvatures(problem.loss, metric.W), RowOdds.in_metric(problem, metric.F)
    draw = _Copies(curvatures, row_odds, size, metric.total, seed, FIRST_HASH_STREAM + iteration)
    found = problem.rows.fold(Carried(draw))
    rows = draw.chosen(found.total)
    copies, odds = (np.concatenate([part[k] for part in found.total]) for k in (1, 2))
    held = found.rows.joined()
    block = held.block(problem.rows.frame).take(held.places(rows))
    order = rng.permutation(np.repeat(np.arange(len(rows)), copies))
    steps = max(1, len(order) // batch_size)
    chosen = np.resize(order, steps * batch_size).reshape(steps, batch_size)
    return Draws(block, chosen, block.weight / problem.total_weight / (odds / metric.total) / batch_size)


class _Copied(NamedTuple):
    """Rows by number, how often each was drawn, and their odds."""

    rows: Integers
    copies: Integers
    odds: Array


@dataclass(frozen=True)
class _Copies:
    """Draws about ``size`` rows in proportion to their odds, whose sum is ``total``, each ⌊λ + u⌋ times."""

    curvatures: RowCurvatures
    odds: RowOdds
    size: int
    total: float
    seed: int
    stream: int

    def zero(self) -> list[_Copied]:
        return []

    def add(self, total: list[_Copied], block: Block) -> list[_Copied]:
        odds = self.odds.of(block, self.curvatures.of(block))
        u = uniform(row_hashes(block.start, block.n_rows, self.seed, self.stream))
        copies = np.floor(self.size * odds / self.total + u).astype(np.int64)
        some = np.flatnonzero(copies)
        return [*total, _Copied(block.start + some, copies[some], odds[some])]

    def merge(self, a: list[_Copied], b: list[_Copied]) -> list[_Copied]:
        return a + b

    def chosen(self, total: list[_Copied]) -> Integers:
        """The numbers of the rows drawn."""
        return np.concatenate([np.zeros(0, dtype=np.int64), *(part.rows for part in total)])


# --- Stochastic descent that converges (SVRG)

# The most inner steps in one walk.
MOST_WALK_STEPS = 1000
# The run ends after this many walks of MOST_WALK_STEPS that do not halve the gradient: about two seconds of work.
MOST_LONG_WALKS = 60


class VarianceReducedMemory(NamedTuple):
    """The metric (None if it is singular), whether it is local, and the iteration at which it is next computed.

    ``local``: the metric uses the curvature at W. ``length``: the number of steps of the next walk, times η; ``long``:
    the number of walks that were limited by MOST_WALK_STEPS; ``idle``: the number of walks since E last fell.
    """

    metric: Metric | None
    local: bool = False
    refresh: int = 4  # the iteration at which the metric is next computed from the curvature at W
    # The number of inner steps times η; it doubles after each walk that does not halve the gradient.
    length: float = 8.0
    long: int = 0
    idle: int = 0


@dataclass(frozen=True)
class VarianceReduced:
    """W ← W − η P [∇_B(W) − ∇_B(W̃) + ∇E(W̃)].

    After ∇E over all rows at W̃, which the trace needs anyway, a step makes a walk: m inner steps, each with a random
    batch B. The end of the walk is the next W̃. The bracket has mean ∇E(W), and its noise falls to zero together with W
    − W̃, so that a constant η leads to the minimum. Plain steps −η ∇_B would need η → 0, and then about 1/ε rows for a
    gap of ε. Rows are drawn with probabilities proportional to 1 + h x̄ᵀP x̄, a row's curvature in the metric P⁻¹ = Σ h
    x̄x̄ᵀ/n + R, and weighted by the reciprocals. At first h is the largest curvature of the loss; after 4, 8, 16, …
    iterations it is four times the row's curvature at W̃: if classes are nearly separated, most rows have a thousandth
    of the largest curvature, and the local h reduces the number of steps accordingly. A walk that does not lower E is
    repeated with the first h, or, if that is already in use, with half the η.

    P removes the units and correlations of the columns (only its diagonal is used if columns are many), so that η and m
    need no tuning: 1 + h x̄ᵀP x̄ has mean 1 + rank, η = 1/(2 + 2 (2 + rank)/b) for batches of b rows, and m = 8/η inner
    steps reduce the distance to the minimum by a constant factor. If they do not halve the gradient, the next walk is
    twice as long. Rows outside memory are read twice in a step: for the rows of the walk, and for ∇E.

    Parameters
    ----------
    batch_size : int, default 1
        The number of rows in the batch of an inner step.
    seed : int, default 0
        The seed of the random draws, which also depend on the iteration.

    Examples
    --------
    >>> VarianceReduced(batch_size=32).batch_size
    32
    """

    batch_size: int = 1
    seed: int = 0
    name: ClassVar[str] = "sgd"
    needs: ClassVar[frozenset[Need]] = frozenset({Need.SMOOTH, Need.RIDGE, Need.STANDARD})
    by_sums: ClassVar[bool] = False
    converges: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.batch_size >= 1:
            raise ParameterError("batch_size", f"got {self.batch_size!r}", "give at least 1")

    def init(self, problem: Objective, start: Array) -> State[VarianceReducedMemory]:
        at, metric = begun(problem, start), measured(problem, None, self.batch_size)
        halt = Halt.SINGULAR if metric is None else None
        return State(start, at, memory=VarianceReducedMemory(metric), halt=halt)

    def step(
        self, problem: Objective, state: State[VarianceReducedMemory], budget: int | None = None
    ) -> State[VarianceReducedMemory]:
        memory, gone = self._refreshed(problem, state), state.iteration + 1
        metric = memory.metric
        if metric is None:
            return replace(state, halt=Halt.SINGULAR)
        with np.errstate(over="ignore", invalid="ignore"):
            W = state.W + self._walked(problem, state, metric, memory.length)
            at = problem.value_gradient(W)
        lower = at.value < state.at.value - VALUE_ROUNDING * abs(state.at.value)
        nearer = at.value <= state.at.value + VALUE_ROUNDING * abs(state.at.value) and _halved(state, at.gradient)
        if lower or nearer:
            longer = memory.length * (1.0 if _halved(state, at.gradient) else 2.0)
            longest = MOST_WALK_STEPS * metric.eta
            long = memory.long + int(longer > longest)
            memory = memory._replace(idle=0, length=min(longer, longest), long=long)
            return State(W, at, gone, memory, Halt.PATIENCE if long >= MOST_LONG_WALKS else None)
        if memory.local:
            metric = measured(problem, None, self.batch_size) or metric
        else:
            metric = metric._replace(eta=0.5 * metric.eta)
        memory = memory._replace(metric=metric, local=False, idle=memory.idle + 1)
        # After this many consecutive walks that did not lower E, each with half the η, rounding is taken to be the
        # cause.
        halt = Halt.STALLED if memory.idle >= 12 else None
        return replace(state, iteration=gone, memory=memory, halt=halt)

    def _refreshed(self, problem: Objective, state: State[VarianceReducedMemory]) -> VarianceReducedMemory:
        """The memory of a state, with the metric at its W if a refresh is due."""
        memory = state.memory
        if state.iteration < memory.refresh or not problem.has_gram:
            return memory
        if problem.rows.resident() is not None:
            problem.rows.counter.add()
        memory = memory._replace(refresh=2 * memory.refresh)
        local = measured(problem, state.W, self.batch_size)
        return memory if local is None else memory._replace(metric=local, local=True)

    def solution(self, problem: Objective, state: State[VarianceReducedMemory]) -> State[VarianceReducedMemory]:
        return state

    def _walked(self, problem: Objective, state: State, metric: Metric, length: float) -> Array:
        """W − W̃ at the end of a walk of ``length`` divided by η steps, (K, d + 1)."""
        F, eta = metric.F, metric.eta
        n_steps = min(MOST_WALK_STEPS, max(1, int(length / eta)))
        block, chosen, share = drawn(problem, metric, n_steps, self.batch_size, self.seed, state.iteration)
        slope, ridge = _through(state.at.gradient, F), _through(np.diag(problem.root_penalty**2), F, both=True)
        D = np.zeros((problem.shape[0], slope.shape[1]))
        for part in np.array_split(chosen, max(1, chosen.size * problem.shape[1] // ENTRIES_PER_BATCH)):
            rows = block.take(part.ravel())
            X = rows.scores(F) if F.ndim == 2 else rows.homogeneous() * F
            z = rows.scores(state.W)
            before = _slopes(problem, rows, z)
            for own in pieces(part.size, self.batch_size):
                now = _slopes(problem, rows.take(own), z[own] + X[own] @ D.T)
                noise = (share[part.ravel()[own], None] * (now - before[own])).T @ X[own]
                D -= eta * (noise + D @ ridge + slope)
        return np.asarray(D @ F if F.ndim == 2 else D * F)


def _through(G: Array, F: Array, both: bool = False) -> Array:
    """G Fᵀ; with ``both``, F G Fᵀ."""
    turned = G @ F.T if F.ndim == 2 else G * F
    return (F @ turned if F.ndim == 2 else F[:, None] * turned) if both else turned


def _slopes(problem: Objective, rows: Block, z: Array) -> Array:
    """∂ℓ of each row, (m, K)."""
    if problem.loss.traits.multiclass:
        return problem.loss.derivative(rows.t, z)
    return problem.loss.derivative(rows.t, z[:, 0])[:, None]


def _halved(state: State, gradient: Array) -> bool:
    return bool(np.linalg.norm(gradient) < 0.5 * np.linalg.norm(state.at.gradient))
