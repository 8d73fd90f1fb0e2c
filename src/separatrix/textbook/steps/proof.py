r"""The quantities of the perceptron's convergence proofs along a run, with their bounds.

See docs/tour.md, P6, P12, P16.

For rows t_i x̄_i with ‖x̄_i‖ ≤ R and t_i w*·x̄_i ≥ γ, an update by s wrong rows with the learning rate η gives

    w*·w_k        ≥ w*·w_{k−1} + η s γ
    ‖w_k‖²        ≤ ‖w_{k−1}‖² + η² s² R²
    ‖w_k − αŵ‖²   ≤ ‖w_{k−1} − αŵ‖² + η² R² (s² − 2s),    ŵ = w*/‖w*‖, α = ηR²‖w*‖/γ

since misclassified rows have margins of at most 0. With one row per update, s = 1, these are the lemmas of lecture 004
and the proof of lecture 001, from any start. The run must end, because no cosine exceeds 1 and no squared length is
negative.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from separatrix.base.errors import ParameterError
from separatrix.solvers.separating.perceptron import BatchUpdates, OnlineUpdates, WorstUpdates
from separatrix.textbook.novikoff import Theorem
from separatrix.textbook.steps.step import Step


class ProofStep(NamedTuple):
    """The quantities of the proofs after k updates, with weights (b, w).

    Attributes
    ----------
    mistakes : int
        k, the number of updates.
    projection, projection_bound : float
        w*·w_k, and its lower bound.
    squared_length, squared_length_bound : float
        ‖w_k‖², and its upper bound.
    cosine, cosine_bound : float
        cos∠(w_k, w*), and the lower bound that follows from the two above; NaN for w_k = 0.
    squared_distance, squared_distance_bound : float
        ‖w_k − αŵ‖², and its upper bound.
    """

    mistakes: int
    projection: float
    projection_bound: float
    squared_length: float
    squared_length_bound: float
    cosine: float
    cosine_bound: float
    squared_distance: float
    squared_distance_bound: float

    def __str__(self) -> str:
        return (
            f"k = {self.mistakes}: w*·w = {self.projection:.4g} ≥ {self.projection_bound:.4g}, "
            f"‖w‖² = {self.squared_length:.4g} ≤ {self.squared_length_bound:.4g}, "
            f"‖w − αŵ‖² = {self.squared_distance:.4g} ≤ {self.squared_distance_bound:.4g}"
        )


def followed(steps: Iterable[Step], theorem: Theorem, eta: float) -> Iterator[ProofStep]:
    """The quantities after each update of one run."""
    w_star, unit = theorem.separator, theorem.separator / theorem.length
    goal = eta * theorem.R**2 * theorem.length / theorem.gamma * unit
    low = high = far = np.nan
    for step in steps:
        w = np.concatenate([[step.b], step.w])
        projection, squared, away = float(w_star @ w), float(w @ w), float((w - goal) @ (w - goal))
        if step.kind == "start":
            low, high, far = projection, squared, away
        else:
            s = len(step.rows) if step.rows is not None else step.n_rows
            low += eta * s * theorem.gamma
            high += (eta * s * theorem.R) ** 2
            far += (eta * theorem.R) ** 2 * (s * s - 2 * s)
        cosine = _cosine(projection, squared, theorem)
        # A negative bound on w*·w says nothing about the cosine, because w may be shorter than its bound.
        bound = _cosine(low, high, theorem) if low >= 0 else -1.0
        yield ProofStep(step.number, projection, low, squared, high, cosine, bound, away, far)


def _cosine(projection: float, squared_length: float, theorem: Theorem) -> float:
    """The cosine from w*·w and ‖w‖²; NaN for w = 0."""
    if squared_length <= 0:
        return float("nan")
    return projection / (theorem.length * math.sqrt(squared_length))


def refuse_other_updates(solver: Any) -> None:
    """Raise an error for runs other than those of a perceptron whose updates add unweighted rows."""
    if not isinstance(solver, OnlineUpdates | BatchUpdates | WorstUpdates):
        raise ParameterError("estimator", f"the proofs are not about {solver.name!r}", "use Perceptron")
    if solver.weighted:
        problem = "class weights change the updates, and the proofs are about plain ones"
        raise ParameterError("estimator", problem, "use class_weight=None")
