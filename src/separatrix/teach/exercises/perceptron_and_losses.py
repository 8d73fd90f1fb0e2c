"""Exercises on the convergence of the perceptron, and on losses at zero weights (docs/tour.md, P, L and R)."""

from __future__ import annotations

import numpy as np

import separatrix as sx
from separatrix.core.base.arrays import Array, Integers
from separatrix.teach.exercises.exercise import Answer, Exercise, ExercisePart, Numbers, Slip, line


def _two_rows() -> tuple[Array, Integers]:
    X = np.array([[3.0, 2.0], [3.0, -4.0]])
    t = np.array([1, -1])
    return X, t


def _on_the_line(X: Array, y: Integers) -> Answer:
    model = sx.Perceptron().fit(X, y)
    with_far_row = sx.Perceptron().fit(np.vstack([X, [[30.0]]]), np.append(y, 1))
    return {
        "mistakes": model.mistakes_,
        "weights": [*model.intercept_, *model.coef_[0]],
        "bound": sx.novikoff_bound(X, y).bound,
        "mistakes_with_30": with_far_row.mistakes_,
    }


def _along_the_run(X: Array, t: Integers) -> Answer:
    separator = [0.0, 1.0, 1.0]  # (b, w₁, w₂)
    theorem = sx.novikoff_bound(X, t, fit_intercept=False, separator=separator)
    run = sx.steps(sx.Perceptron(fit_intercept=False), X, t)
    cosines = [step.cosine for step in sx.cosines(X, t, fit_intercept=False, separator=separator)]
    return {
        "R": theorem.R,
        "gamma": theorem.gamma,
        "bound": theorem.bound,
        "weights": [step.w for step in run][1:],
        "cosines": cosines,
        "costs": [step.cost for step in run],
    }


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
        number=8,
        name="perceptron-on-a-line",
        title="The perceptron takes its time",
        items=("P2", "P6", "P14"),
        introduction="""\
Rows 1, 2, 3, 4 are negatives, rows 5, 6, 7, 8 positives. The online perceptron starts at (b, w) = (0, 0), goes
through the rows in their order, round after round, and adds tᵢ (1, xᵢ) at each mistake m ≤ 0. It makes at most

k ≤ R²‖w*‖²/γ²

mistakes, where R is the length of the longest row (1, x) and γ the smallest margin of the separator w* = (b, w).""",
        question="Count the mistakes: write the loop yourself, or use `sx.Perceptron` and `sx.steps`.",
        parts=(
            ExercisePart(
                "mistakes",
                "the number of mistakes until a whole round has none",
                Numbers(),
                "Take the rows in their order, start at zero, and count m = 0 as a mistake.",
                (Slip(lambda: 8, "This is one round only. Go on until a whole round has no mistake."),),
            ),
            ExercisePart(
                "weights",
                "(b, w) at the end",
                Numbers((2,), "a list of two numbers"),
                "b is first. The boundary −b/w must lie between 4 and 5.",
                (Slip(lambda: [5.0, -23.0], "This is (w, b). Give b first."),),
            ),
            ExercisePart(
                "bound",
                "the smallest value of R²‖w*‖²/γ², from `sx.novikoff_bound(X, y)`",
                Numbers(),
                "The theorem's bound is the attribute `bound`.",
            ),
            ExercisePart(
                "mistakes_with_30",
                "the number of mistakes if a positive row at 30 comes last",
                Numbers(),
                "Is the row at 30 ever on the wrong side when its turn comes?",
            ),
        ),
        given=line,
        solution=_on_the_line,
        lab="#step?v=1&m=perceptron&p=~ZAAAAADIAAAAACwBAAAAkAEAAAD0AQAAAVgCAAABvAIAAAEgAwAAAQ&k=0",
        lab_try="Play the run. The boundary jumps to and fro. Is the number of wrong rows ever larger than before?",
    ),
    Exercise(
        number=9,
        name="falling-cosine",
        title="The bound rises, the cosine falls",
        items=("P6", "P11", "P16"),
        introduction="""\
The row (3, 2) is positive, the row (3, −4) negative. Multiplied by their targets, the rows
tᵢ xᵢ are (3, 2) and (−3, 4). There is no intercept. For the separator w* = (1, 1), R = max ‖xᵢ‖ and γ = min tᵢ
w*·xᵢ. The proof of the convergence theorem shows that after k mistakes

cos∠(w_k, w*) ≥ √k γ/(R‖w*‖).

This bound rises with every mistake. Lecture 004 claims this of the cosine itself.""",
        question="Follow the online perceptron from w = 0 by hand: there are two updates.",
        parts=(
            ExercisePart("R", "R, the length of the longest row", Numbers(), "‖(3, −4)‖² = 9 + 16."),
            ExercisePart(
                "gamma", "γ", Numbers(), "Add the two components of each row tᵢ xᵢ, and take the smaller sum."
            ),
            ExercisePart(
                "bound",
                "R²‖w*‖²/γ², the most mistakes that the theorem allows",
                Numbers(),
                "w* does not have length 1.",
                (Slip(lambda: 25.0, "Do not forget ‖w*‖² = 2."),),
            ),
            ExercisePart(
                "weights",
                "w after the first and after the second update",
                Numbers((2, 2), "two lists of two numbers"),
                "Each update adds tᵢ xᵢ. The second row is wrong after the first update.",
            ),
            ExercisePart(
                "cosines",
                "cos∠(w_k, w*) after the first and after the second update",
                Numbers((2,), "a list of two numbers"),
                "cos∠(w, w*) = w·w*/(‖w‖‖w*‖).",
            ),
            ExercisePart(
                "costs",
                "E_p = Σ max(0, −mᵢ) at the start, after the first and after the second update",
                Numbers((3,), "a list of three numbers"),
                "At w = 0 all margins are 0, and so is the cost. After the first update one row has a negative margin.",
            ),
        ),
        given=_two_rows,
        solution=_along_the_run,
        lab="#step?v=1&m=perceptron&fit_intercept=false&p=~LAHIAAEsAXD-AA&k=1",
        lab_try="Step through the run: E_p rises before it falls. The page follows the cosine to the best separator, "
        "not to (1, 1). Does that cosine fall, too?",
    ),
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
            ExercisePart(
                "squared",
                "the squared loss at m = 1, 0 and 2",
                Numbers((3,), "a list of three numbers"),
                "Insert each margin into (1 − m)².",
            ),
            ExercisePart(
                "error",
                "E(0, 0), in nats",
                Numbers(),
                "Every row has the loss ln(1 + e⁰).",
                (Slip(lambda: 1.0, "This is E in bits. Take the natural logarithm."),),
            ),
            ExercisePart(
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
            ExercisePart(
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
