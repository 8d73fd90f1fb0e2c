r"""Proximal Newton: Newton's method for a penalty with absolute values (docs/tour.md, R8).

Problem   min_W E(W) = f(W) + Σ a_j |W_kj|, f smooth and convex, with few enough parameters for a matrix ∇²f
Given     a start W
Returns   W with E(W) near its minimum, and exact zeros where the minimum has them
Step      U = argmin of f's quadratic model at W plus Σ a |U|, to rounding error (``quadratic``); W ← W + α (U − W), α
          from 1 by halving, until E falls by a share of the decrease that the model predicts. If the model is so flat
          that no step towards its minimum achieves this, curvature is added to the model
Stops     by the driver's rules; by itself if rounding hides any descent

Lee, Sun and Saunders 2014, Algorithm 1; for logistic regression, Friedman, Hastie and Tibshirani 2010, and Yuan, Ho
and Lin 2012 (newGLMNET), for the descent condition.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from separatrix.base.arrays import Array
from separatrix.objectives.damped_newton import MOST_TRIALS, VALUE_ROUNDING, damped_step, newton_direction
from separatrix.objectives.problem import Evaluation, Objective
from separatrix.solvers.quadratic import minimise, moving
from separatrix.solvers.stalled import MOST_STALLED_STEPS, Stalled, stalled
from separatrix.solvers.start import begun
from separatrix.solvers.state import Halt, Need, State

# Pairs (damping, halvings), tried in order until E falls: the curvature that is added to the quadratic model, relative
# to its own curvature in each weight, and the most halvings of the step with this damping. If classes are nearly
# separated, the minimum of the model may be 10⁶ times too far away.
DAMPING_TRIALS = ((0.0, 12), (1e-8, 12), (1e-4, MOST_TRIALS))
# Curvatures of a model or a row that are smaller than this are rounding errors and are replaced by it.
SMALLEST_CURVATURE = 1e-12


class Progress(NamedTuple):
    """The lowest E and the smallest subgradient so far, steps since either last improved, and stalled steps."""

    value: float
    subgradient: float
    idle: int
    slow: Stalled


@dataclass(frozen=True)
class ProximalNewton:
    """W ← W + α (U − W), U the minimum of the model with absolute values.

    >>> from separatrix.objectives.build import build_objective
    >>> from separatrix.rows import labelled_rows
    >>> from separatrix.objectives.penalty import Penalty
    >>> rows, codes = np.arange(4.0)[:, None], np.array([0, 1, 0, 1])
    >>> problem = build_objective(labelled_rows(rows, codes, 2), 2, Penalty(1.0, np.ones(1), l1_ratio=1.0))
    >>> start = ProximalNewton().init(problem, np.zeros((1, 2)))
    >>> ProximalNewton().step(problem, start).W.tolist()
    [[0.0, 0.0]]
    """

    name: ClassVar[str] = "proximal-newton"
    needs: ClassVar[frozenset[Need]] = frozenset({Need.SMOOTH, Need.HESSIAN, Need.STANDARD})
    by_sums: ClassVar[bool] = True
    converges: ClassVar[bool] = True

    def init(self, problem: Objective, start: Array) -> State[Progress | None]:
        return self.begin(problem, start, begun(problem, start))

    def begin(
        self, problem: Objective, start: Array, at: Evaluation, before: State | None = None
    ) -> State[Progress | None]:
        """The first state of a run if E is already known; ``before``: the last state of a run with another penalty."""
        return State(start, at)

    def step(
        self, problem: Objective, state: State[Progress | None], budget: int | None = None
    ) -> State[Progress | None]:
        reached = None if problem.has_absolute else _newton_step(problem, state)
        if reached is None:
            reached = _model_step(problem, state)
        if reached is None:
            return replace(state, halt=Halt.STALLED)
        W, at = reached
        progress = progressed(problem, state, state.memory, W, at)
        return State(W, at, state.iteration + 1, progress, halted(progress))

    def solution(self, problem: Objective, state: State[Progress | None]) -> State[Progress | None]:
        return state


def _newton_step(problem: Objective, state: State) -> tuple[Array, Evaluation] | None:
    """The Newton step, which leads to the model's minimum without absolute values; None if E does not fall.

    It uses a factor of ∇²E, because coordinate descent needs thousands of sweeps if columns are nearly collinear.
    """
    factor = problem.factor(state.W)
    return None if factor is None else descend(problem, state, newton_direction(problem, state.at.gradient, factor))


def _model_step(problem: Objective, state: State) -> tuple[Array, Evaluation] | None:
    """The step towards the minimum of the model, which is damped until E falls; None if E does not fall."""
    H = curvature(problem, state.W)
    for damping, trials in DAMPING_TRIALS:
        V = unshifted(problem, model_minimum(problem, state, H, damping) - state.W)
        reached = descend(problem, state, V, trials)
        if reached is not None:
            return reached
    return None


def curvature(problem: Objective, W: Array) -> Array:
    """∇²f(W), made positive definite if the loss is not convex."""
    H = problem.hessian(W)
    if problem.loss.traits.convex:
        return H
    values, vectors = np.linalg.eigh(H)
    return np.asarray((vectors * np.maximum(np.abs(values), SMALLEST_CURVATURE)) @ vectors.T)


def model_minimum(problem: Objective, state: State, H: Array, damping: float) -> Array:
    """U, (K, d + 1)."""
    K, width = problem.shape
    a, free = np.tile(problem.absolute_penalty, K), moving(K, problem.unpenalised, problem.fit_intercept)
    damped = H + np.diag(damping * np.diag(H)) if damping else H
    return minimise(damped, state.at.gradient.ravel(), state.W.ravel(), a, free=free).reshape(K, width)


def unshifted(problem: Objective, V: Array) -> Array:
    """V without a common shift of all classes in unpenalised columns, on which E does not depend."""
    return V if len(V) == 1 else V - np.where(problem.unpenalised, V.mean(axis=0), 0.0)


def descend(problem: Objective, state: State, V: Array, trials: int = MOST_TRIALS) -> tuple[Array, Evaluation] | None:
    """The first of W + V, W + V/2, … at which E falls by a share of the predicted decrease; None if there is none."""
    promised = change(state.W, V, state.at.gradient, problem.absolute_penalty)
    return damped_step(problem, state.W, state.at, V, promised, trials)


def change(W: Array, V: Array, gradient: Array, a: Array) -> float:
    """⟨∇f, V⟩ + Σ a (|W + V| − |W|), summed so that weights which keep their signs do not cancel."""
    sign = np.where(W != 0, np.sign(W), np.sign(V))
    return float(np.sum(V * (gradient + a * sign) + a * (np.abs(W + V) - sign * (W + V))))


def progressed(problem: Objective, state: State, last: Progress | None, W: Array, at: Evaluation) -> Progress:
    """The progress after the step from ``state`` to W. A halved subgradient counts as progress.

    ``last``: the progress before the step, None before the first.
    """
    before, after = (
        float(np.max(np.abs(problem.subgradient(*there)))) for there in ((state.W, state.at.gradient), (W, at.gradient))
    )
    value, nearest, idle = (
        (state.at.value, before, 1) if last is None else (last.value, last.subgradient, last.idle + 1)
    )
    halved = after < 0.5 * nearest
    slow = stalled(None if last is None else last.slow, state.at.value, at.value, problem.null_value, halved)
    if at.value < value - VALUE_ROUNDING * abs(value) or halved:
        value, nearest, idle = min(value, at.value), min(nearest, after), 0
    return Progress(value, nearest, idle, slow)


def halted(progress: Progress, patience: int = 2) -> Halt | None:
    """Whether to halt: after ``patience`` consecutive steps without a new minimum of E or of its subgradient.

    A run also halts after MOST_STALLED_STEPS steps in which E hardly fell. Newton's method makes such steps only if
    rounding spoils its directions.
    """
    if progress.idle >= patience:
        return Halt.STALLED
    return Halt.CRAWLING if progress.slow.steps >= max(patience, MOST_STALLED_STEPS) else None
