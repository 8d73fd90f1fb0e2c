"""An exercise on losses and gradients at zero weights (docs/tour.md, L and R)."""

from __future__ import annotations

import numpy as np

import separatrix as sx
from separatrix.base.arrays import Array, Integers
from separatrix.exercises.comparisons import Numbers
from separatrix.exercises.exercise import Answer, Exercise, Part, Slip
from separatrix.exercises.line import line


def _at_zero(X: Array, y: Integers) -> Answer:
    margins = np.array([1.0, 0.0, 2.0])
    zero = np.zeros(2)
    error = sx.objective(X, y)
    fifth_row_alone = sx.objective(X, y, sample_weight=np.eye(8)[4])
    return {
        "squared": sx.losses.LOSSES["squared"].value(np.ones(3), margins),
        "error": error.value(zero),
        "gradient": error.gradient(zero),
        "step": zero - 1.0 * fifth_row_alone.gradient(zero),
    }


def _gradient_times(factor: float) -> Array:
    return np.asarray(factor * sx.objective(*line()).gradient(np.zeros(2)))


EXERCISES = (
    Exercise(
        number=10,
        name="at-zero-weights",
        title="Losses, and the first step from zero",
        items=("L2", "R3", "R6"),
        introduction="""\
The squared loss of a row with the target t = ±1 is (1 − m)², with the margin m = t(wx + b). The cross-entropy is

E(b, w) = (1/N) Σ ln(1 + e^{−mᵢ}),  ∇E = −(1/N) Σ tᵢ x̄ᵢ σ(−mᵢ),  x̄ᵢ = (1, xᵢ),

and a step of stochastic gradient descent on row i adds η tᵢ x̄ᵢ σ(−mᵢ). At zero weights every margin is 0, and
σ(0) = ½. The rows are again 1, …, 4 with t = −1 and 5, …, 8 with t = +1.""",
        question="Compute the squared loss at three margins, and E, ∇E and a step at zero weights.",
        parts=(
            Part(
                "squared",
                "the squared loss at m = 1, 0 and 2",
                Numbers((3,), "a list of three numbers"),
                "Insert each margin into (1 − m)².",
            ),
            Part(
                "error",
                "E(0, 0), in nats",
                Numbers(),
                "Every row has the loss ln(1 + e⁰).",
                (Slip(lambda: 1.0, "This is E in bits. Take the natural logarithm."),),
            ),
            Part(
                "gradient",
                "∇E(0, 0), as (∂E/∂b, ∂E/∂w)",
                Numbers((2,), "a list of two numbers"),
                "∇E = −Σ tᵢ x̄ᵢ/(2N). The targets add up to 0.",
                (
                    Slip(lambda: _gradient_times(-1.0), "This points downhill. The gradient points uphill."),
                    Slip(lambda: _gradient_times(2.0), "The factor σ(0) = ½ is missing."),
                    Slip(lambda: _gradient_times(8.0), "E is a mean over the rows. Divide by N = 8."),
                ),
            ),
            Part(
                "step",
                "(b, w) after a step from zero on the row x = 5 with η = 1",
                Numbers((2,), "a list of two numbers"),
                "The step adds η t x̄/2, with x̄ = (1, 5).",
                (Slip(lambda: [1.0, 5.0], "This would be the perceptron's update. Here σ(0) = ½ is a factor."),),
            ),
        ),
        given=line,
        solution=_at_zero,
        lab="#losses?v=1&l=logistic,squared,perceptron&at=2",
        lab_try="Move m from 0 to 2 and beyond. Which of the slopes changes its sign?",
    ),
)
