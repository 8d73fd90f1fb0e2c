"""The starting point of a logistic regression: zero, random, given weights, or the weights of the last fit."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.errors import ParameterError
from separatrix.classifiers.fit_input import FitInput, seed_of
from separatrix.objectives.problem import Objective
from separatrix.solvers import Need, Solver


def start_of(model: Any, problem: Objective, task: FitInput, solver: Solver, near: Array | None = None) -> Array:
    """The start in the problem's coordinates, (K or 1, d + 1). ``near``: weights in raw units near the optimum, if any.

    With a convex loss, a solver that uses standard coordinates starts at zero if the given start has a larger
    objective: at such a point second derivatives may underflow.
    """
    zero = np.zeros(problem.shape) if problem.offsets is None else problem.null_weights
    if near is not None:
        return _in_frame(near, problem)
    start = _asked_start(model, problem, task, zero)
    if start is zero or Need.STANDARD not in solver.needs or not problem.loss.traits.convex:
        return start
    return start if problem.value_gradient(start).value <= problem.value_gradient(zero).value else zero


def _asked_start(model: Any, problem: Objective, task: FitInput, zero: Array) -> Array:
    """The weights of the last fit for a warm start, else what ``start`` asks for."""
    shape = (zero.shape[0], zero.shape[1] - problem.n_offsets)
    before = task.before if model.warm_start else None
    if before is not None and before.W.shape == shape and before.classes.tolist() == task.classes.tolist():
        return _in_frame(before.W, problem)
    if isinstance(model.start, str) and model.start == "zero":
        return zero
    if isinstance(model.start, str) and model.start == "random":
        drawn = np.random.default_rng(seed_of(model.random_state)).standard_normal(zero.shape)
        return np.where(problem.pinned, zero, _identified(drawn, problem))
    return _in_frame(_identified(_given(model, shape), problem), problem)


def _in_frame(W: Array, problem: Objective) -> Array:
    """Weights in raw units, converted to the problem's coordinates; each offset column has the weight 1."""
    return problem.rows.frame.from_original(np.hstack([W, np.eye(len(W), problem.n_offsets)]))


def _given(model: Any, shape: tuple[int, int]) -> Array:
    remedy = f"give 'zero', 'random', or finite weights of shape {shape}, intercepts first"
    try:
        W = np.array(model.start, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError("start", f"got {model.start!r}", remedy) from error
    if W.shape != shape:
        raise ParameterError("start", f"it has shape {W.shape}", remedy)
    if not np.all(np.isfinite(W)):
        raise ParameterError("start", "it holds NaN or infinity", remedy)
    return W


def _identified(W: Array, problem: Objective) -> Array:
    """W with intercepts of zero if none is fitted, and without the shift common to all classes."""
    W = W if problem.fit_intercept else np.column_stack([np.zeros(len(W)), W[:, 1:]])
    return W - W.mean(axis=0) if len(W) > 1 else W
