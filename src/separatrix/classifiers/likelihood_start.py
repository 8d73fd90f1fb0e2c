"""Where a fit of logistic regression starts: at zero, at random, at given weights, or where the last fit ended."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.errors import ParameterError
from separatrix.classifiers.fit_input import FitInput, seed_of
from separatrix.objective.problem import Objective
from separatrix.solvers import Need, Solver


def start_of(model: Any, problem: Objective, task: FitInput, solver: Solver, near: Array | None = None) -> Array:
    """The start in the problem's coordinates, (K or 1, d + 1): ``near``, in raw units, where that is known.

    On a convex loss a solver with coordinates of its own takes no start that is worse than zero: from there,
    second derivatives may be rounded away.
    """
    standard = Need.STANDARD in solver.needs
    zero = np.zeros(problem.shape) if problem.offsets is None else problem.null_weights
    before = task.before if model.warm_start else None
    if near is not None:
        return problem.rows.frame.from_original(_beside(near, problem))
    if (
        before is not None
        and before.W.shape == (zero.shape[0], zero.shape[1] - problem.n_offsets)
        and before.classes.tolist() == task.classes.tolist()
    ):
        start = problem.rows.frame.from_original(_beside(before.W, problem))
    elif isinstance(model.start, str) and model.start == "zero":
        return zero
    elif isinstance(model.start, str) and model.start == "random":
        drawn = np.random.default_rng(seed_of(model.random_state)).standard_normal(zero.shape)
        start = np.where(problem.pinned, zero, _settled(drawn, problem))
    else:
        shape = (zero.shape[0], zero.shape[1] - problem.n_offsets)
        raw = _settled(_given(model, shape), problem)
        start = problem.rows.frame.from_original(_beside(raw, problem))
    sure = standard and problem.loss.traits.convex
    if sure and not problem.value_gradient(start).value <= problem.value_gradient(zero).value:
        return zero
    return start


def _beside(W: Array, problem: Objective) -> Array:
    """Weights in raw units with those of an offset behind them."""
    return np.hstack([W, np.eye(len(W), problem.n_offsets)])


def _given(model: Any, shape: tuple[int, int]) -> Array:
    do = f"give 'zero', 'random', or finite weights of shape {shape}, intercepts first"
    try:
        W = np.array(model.start, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError("start", f"got {model.start!r}", do) from error
    if W.shape != shape:
        raise ParameterError("start", f"it has shape {W.shape}", do)
    if not np.all(np.isfinite(W)):
        raise ParameterError("start", "it holds NaN or infinity", do)
    return W


def _settled(W: Array, problem: Objective) -> Array:
    """W without what the model has no use for: an intercept that is not fitted, a shift common to all classes."""
    W = W if problem.fit_intercept else np.column_stack([np.zeros(len(W)), W[:, 1:]])
    return W - W.mean(axis=0) if len(W) > 1 else W
