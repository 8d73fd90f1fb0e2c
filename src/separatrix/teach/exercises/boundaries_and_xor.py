"""Exercises on boundaries between scores, and on XOR (docs/tour.md, G, B and P)."""

from __future__ import annotations

import warnings

import numpy as np

import separatrix as sx
from separatrix.core.base.arrays import Array, Integers
from separatrix.teach.exercises.exercise import Answer, Exercise, ExercisePart, Numbers, Ray, Slip

Box = tuple[float, float, float, float]


def _two_scores() -> tuple[Array, Box]:
    W = np.array([[0.0, 2.0, 0.0], [0.0, 0.0, 1.0]])  # one row (b, w₁, w₂) for each class
    square = (0.0, 1.0, 0.0, 1.0)  # from 0 to 1 in both directions
    return W, square


def _where_they_are_equal(W: Array, square: Box) -> Answer:
    difference = W[0] - W[1]
    boundary = sx.Hyperplane(difference[1:], difference[0])
    first, _second = sx.regions(W, square)
    return {"slope": -boundary.w[0] / boundary.w[1], "share": first.area}


def _xor() -> tuple[Array, Integers]:
    X = np.array([[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]])
    t = np.array([-1, -1, 1, 1])
    return X, t


def _no_line(X: Array, t: Integers) -> Answer:
    proof = sx.separability(X, t)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the run warns that it does not converge
        run = sx.steps(sx.Perceptron(max_iter=1), X, t)
    multipliers = proof.multipliers  # type: ignore[union-attr]
    weights = [[run[k].b, *run[k].w] for k in range(1, 5)]
    h = sx.LeastSquaresClassifier().fit(X, t).outputs(X)[:, 1]
    return {"multipliers": multipliers, "weights": weights, "output": h.mean()}


def _with_the_product(X: Array, t: Integers) -> Answer:
    phi = sx.Basis(["x0", "x1", "x0*x1"]).fit_transform(X)
    model = sx.Perceptron().fit(phi, t)
    other_rule = sx.Perceptron(zero="positive").fit(phi, t)
    quadratic = sx.quadratic().fit(X).get_feature_names_out()
    return {
        "mistakes": model.mistakes_,
        "weights": [*model.intercept_, *model.coef_[0]],
        "bound": sx.novikoff_bound(phi, t).bound,
        "other_rule": other_rule.mistakes_,
        "quadratic": 1 + len(quadratic),
    }


def _weights_of_the_other_rule() -> list[float]:
    X, t = _xor()
    phi = sx.Basis(["x0", "x1", "x0*x1"]).fit_transform(X)
    model = sx.Perceptron(zero="positive").fit(phi, t)
    return [*model.intercept_, *model.coef_[0]]


_OTHER_RULE = "This is the answer if a score of 0 counts as a prediction of +. Count m = 0 as a mistake here."
EXERCISES = (
    Exercise(
        number=1,
        name="equal-scores",
        title="Where two scores are equal",
        items=("G5",),
        introduction="""\
With one score hₖ(x) = wₖ·x + bₖ for each class, a point belongs to the class with the largest score. So the
classes i and j meet where

(wᵢ − wⱼ)·x + (bᵢ − bⱼ) = 0.

Here h₁(x) = 2x₁ and h₂(x) = x₂: the weights of the first class are twice as long as those of the second.""",
        question="Where do the two classes meet, and which share of the square from 0 to 1 belongs to the first?",
        parts=(
            ExercisePart(
                "slope",
                "the number s for which the boundary is the line x₂ = s x₁",
                Numbers(),
                "Set h₁(x) = h₂(x) and solve for x₂.",
                (
                    Slip(
                        lambda: 1.0,
                        "This is the bisector of the lines h₁ = 0 and h₂ = 0. Set h₁(x) = h₂(x) instead.",
                    ),
                    Slip(lambda: 0.5, "This is x₁ as a function of x₂. The question asks for x₂ as a function of x₁."),
                ),
            ),
            ExercisePart(
                "share",
                "the area of the points of the unit square that belong to class 1",
                Numbers(),
                "Draw the boundary into the square. Which of its sides does it reach?",
                (
                    Slip(lambda: 0.25, "This is the share of class 2."),
                    Slip(lambda: 0.5, "The bisector would halve the square. The boundary is steeper."),
                ),
            ),
        ),
        given=_two_scores,
        solution=_where_they_are_equal,
        lab="#classes?v=1&m=one-versus-rest,logistic&p=three",
        lab_try="The dashed lines are h = 0 of each class. Do the boundaries halve the angles between them?",
    ),
    Exercise(
        number=2,
        name="xor",
        title="No line separates XOR",
        items=("B3", "P2", "P7", "S2"),
        introduction="""\
The rows (−1, −1), (1, 1) have the target t = −1, the rows (−1, 1), (1, −1) the target t = +1. With x̄ = (1, x₁,
x₂), a line (b, w₁, w₂) separates them if all margins tᵢ (b, w)·x̄ᵢ are positive. If there are λᵢ > 0 with

Σ λᵢ tᵢ x̄ᵢ = 0,

then the margins, multiplied by these λᵢ, add up to 0 for every line, so they cannot all be positive. That is a
proof.""",
        question="Prove that no line separates the rows, and see what the perceptron and least squares do with them.",
        parts=(
            ExercisePart(
                "multipliers",
                "four positive numbers λᵢ, in the order of the rows, for which the sum is zero",
                Ray(4, "a list of four numbers"),
                "Write tᵢ x̄ᵢ below each other and add up each of the three columns.",
            ),
            ExercisePart(
                "weights",
                "(b, w₁, w₂) after each of the first four updates of the online perceptron: it starts at 0, takes the "
                "rows in their order, and adds tᵢ x̄ᵢ if m ≤ 0",
                Numbers((4, 3), "four lists of three numbers"),
                "Every row is a mistake. Use the weights after the previous update, and write b first.",
            ),
            ExercisePart(
                "output",
                "the output h of least squares with targets 0 and 1, which is the same at every row",
                Numbers(),
                "By symmetry both weights are 0. Which constant has the least squared error?",
                (Slip(lambda: 0.0, "That is the answer for targets −1 and +1. Take 0 and 1."),),
            ),
        ),
        given=_xor,
        solution=_no_line,
        lab="#step?v=1&m=perceptron&p=xor&k=4",
        lab_try="Step on past the fourth update: the weights are zero again, and the run repeats forever.",
    ),
    Exercise(
        number=3,
        name="xor-with-product",
        title="XOR comes apart",
        items=("B2", "B3", "D1", "P6"),
        introduction="""\
With φ(x) = (x₁, x₂, x₁x₂) as columns the model stays linear in its parameters (b, w₁, w₂, w₃), and now a plane
separates the rows of XOR. The convergence theorem bounds the number of mistakes of the perceptron by

k ≤ R²‖w*‖²/γ²,

where R is the length of the longest row φ̄ = (1, φ), and γ the smallest margin of a separator w*. The bound
is smallest for the separator with the widest margin.""",
        question="Run the perceptron on these columns, and compare the number of its mistakes with the bound.",
        parts=(
            ExercisePart(
                "mistakes",
                "the number of updates of the online perceptron, which takes the rows in their order and counts m = 0 "
                "as a mistake",
                Numbers(),
                "Each update adds tᵢ (1, x₁, x₂, x₁x₂). Go on until a whole round has no mistake.",
                (Slip(lambda: 2, _OTHER_RULE),),
            ),
            ExercisePart(
                "weights",
                "(b, w₁, w₂, w₃) at the end",
                Numbers((4,), "a list of four numbers"),
                "Add up tᵢ φ̄ᵢ over the rows that caused an update, b first.",
                (Slip(_weights_of_the_other_rule, _OTHER_RULE),),
            ),
            ExercisePart(
                "bound",
                "the smallest value of R²‖w*‖²/γ²",
                Numbers(),
                "All rows φ̄ have the same length. Take w* = (0, 0, 0, −1): what is its smallest margin?",
            ),
            ExercisePart(
                "other_rule",
                "the number of updates if a score of 0 counts as a prediction of +",
                Numbers(),
                "Under this rule, a row of class + with the score 0 causes no update.",
                (Slip(lambda: 4, "This is the number if m = 0 is a mistake."),),
            ),
            ExercisePart(
                "quadratic",
                "the number of parameters, with b, of a model with x₁, x₂ and all products of two columns",
                Numbers(),
                "The products are x₁x₁, x₁x₂ and x₂x₂.",
                (
                    Slip(
                        lambda: 3,
                        "This is the number of parameters beyond those of a line. Count all of them.",
                    ),
                    Slip(lambda: 5, "The intercept b is a parameter, too."),
                ),
            ),
        ),
        given=_xor,
        solution=_with_the_product,
        lab="#basis?v=1&b=product&p=xor",
        lab_try="Take the product away and add it again. Which rows prove that no line separates the points?",
    ),
)
