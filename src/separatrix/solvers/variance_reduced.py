r"""Stochastic gradient descent that converges: SVRG, on single rows or minibatches (docs/tour.md, R6).

Problem   min_W E(W), smooth and convex
Given     a start W, a batch size b, a seed
Returns   the last W
Step      compute ∇E(W̃) over all rows, which the trace needs anyway; then take m inner steps (a walk), each with a
          random batch B of b rows:
              W ← W − η P [∇_B(W) − ∇_B(W̃) + ∇E(W̃)]
          The bracket has mean ∇E(W), and its noise falls to zero together with W − W̃, so that a constant η leads
          to the minimum. Plain steps −η ∇_B would need η → 0, and then about 1/ε rows for a gap of ε. Rows are drawn
          with probabilities proportional to 1 + h x̄ᵀP x̄, a row's curvature in the metric P⁻¹ = Σ h x̄x̄ᵀ/n + R, and
          weighted by the reciprocals. At first h is the largest curvature of the loss; after 4, 8, 16, … iterations it
          is four times the row's curvature at W̃. A walk that does not lower E is repeated with the first h, or, if
          that is already in use, with half the η
Stops     by the driver's rules; by itself if even a small η does not lower E, or after many long walks

P removes the units and correlations of the columns (only its diagonal is used if columns are many), so that η and m
need no tuning: 1 + h x̄ᵀP x̄ has mean 1 + rank, η = 1/(2 + 2 (2 + rank)/b), and m = 8/η inner steps reduce the distance
to the minimum by a constant factor. If they do not halve the gradient, the next walk is twice as long. If classes are
nearly separated, most rows have a thousandth of the largest curvature, and the local h reduces the number of steps
accordingly.

Rows outside memory are read twice in a step: for the rows of the walk (``row_draws``) and for ∇E.

Johnson and Zhang, Accelerating stochastic gradient descent using predictive variance reduction, NIPS (2013); for
sampling by smoothness, Xiao and Zhang, A proximal stochastic gradient method with progressive variance reduction, SIAM
Journal on Optimization 24 (2014). The module ``stochastic`` has the plain steps of the lectures.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.errors import ParameterError
from separatrix.base.pieces import pieces
from separatrix.objectives.damped_newton import VALUE_ROUNDING
from separatrix.objectives.problem import Objective
from separatrix.rows import Block
from separatrix.solvers.row_draws import ENTRIES_PER_BATCH, Metric, drawn, measured
from separatrix.solvers.start import begun
from separatrix.solvers.state import Halt, Need, State

# The number of inner steps in the first walk, times η. It doubles after each walk that does not halve the gradient.
FIRST_WALK_LENGTH = 8.0
# The most inner steps in one walk.
MOST_WALK_STEPS = 1000
# The run ends after this many walks of MOST_WALK_STEPS that do not halve the gradient: about two seconds of work.
MOST_LONG_WALKS = 60
# The iteration at which the metric is first computed from the curvature at W.
FIRST_LOCAL_METRIC = 4
# After this many consecutive walks that did not lower E, each with half the η, rounding is taken to be the cause.
MOST_FAILED_WALKS = 12


class VarianceReducedMemory(NamedTuple):
    """The metric (None if it is singular), whether it is local, and the iteration at which it is next computed.

    ``local``: the metric uses the curvature at W. ``length``: the number of steps of the next walk, times η; ``long``:
    the number of walks that were limited by MOST_WALK_STEPS; ``idle``: the number of walks since E last fell.
    """

    metric: Metric | None
    local: bool = False
    refresh: int = FIRST_LOCAL_METRIC
    length: float = FIRST_WALK_LENGTH
    long: int = 0
    idle: int = 0


@dataclass(frozen=True)
class VarianceReduced:
    """W ← W − η P [∇_B(W) − ∇_B(W̃) + ∇E(W̃)].

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
        halt = Halt.STALLED if memory.idle >= MOST_FAILED_WALKS else None
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
            X, z = _written(rows, F), rows.scores(state.W)
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


def _written(rows: Block, F: Array) -> Array:
    """F x̄ for each row, (m, r)."""
    return rows.scores(F) if F.ndim == 2 else rows.homogeneous() * F


def _slopes(problem: Objective, rows: Block, z: Array) -> Array:
    """∂ℓ of each row, (m, K)."""
    if problem.loss.traits.multiclass:
        return problem.loss.derivative(rows.t, z)
    return problem.loss.derivative(rows.t, z[:, 0])[:, None]


def _halved(state: State, gradient: Array) -> bool:
    return bool(np.linalg.norm(gradient) < 0.5 * np.linalg.norm(state.at.gradient))
