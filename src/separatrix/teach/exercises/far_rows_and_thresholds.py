"""Exercises on least squares, on far rows, and on the threshold along a direction (docs/tour.md, S, R13 and F)."""

from __future__ import annotations

import numpy as np

import separatrix as sx
from separatrix.core.base.arrays import Array, Integers
from separatrix.teach.exercises.exercise import Answer, AnyOrder, Exercise, ExercisePart, Numbers, Slip, line


def _plane() -> tuple[Array, Integers]:
    positives = [(i, i + 1.0) for i in range(5)]
    negatives = [(i + 1.0, i) for i in range(5)]
    X = np.array([*positives, *negatives, (20.0, -10.0), (21.0, -10.0)])
    y = np.repeat([1, 0], [5, 7])
    return X, y


def _by_least_squares(X: Array, y: Integers) -> Answer:
    model = sx.LeastSquaresClassifier().fit(X, y)
    intercept, slope = model.output_weights_[1]
    plane = model.hyperplane()
    return {"slope": slope, "intercept": intercept, "boundary": -plane.b / plane.w[0]}


def _with_a_far_row(X: Array, y: Integers) -> Answer:
    labels = np.append(y, 1)
    near, far = np.vstack([X, [[30.0]]]), np.vstack([X, [[100.0]]])
    at_30, at_100 = (sx.LeastSquaresClassifier().fit(rows, labels) for rows in (near, far))
    squares = at_30.hyperplane()
    logistic = sx.LogisticRegression().fit(far, labels).hyperplane()
    return {
        "boundary": -squares.b / squares.w[0],
        "wrong_30": near[at_30.predict(near) != labels].ravel(),
        "wrong_100": far[at_100.predict(far) != labels].ravel(),
        "logistic": -logistic.b / logistic.w[0],
    }


def _in_the_plane(X: Array, y: Integers) -> Answer:
    before = sx.LeastSquaresClassifier().fit(X[:10], y[:10])
    model = sx.LeastSquaresClassifier().fit(X, y)
    perceptron = sx.Perceptron().fit(X, y)
    return {
        "before": np.sum(before.predict(X[:10]) != y[:10]),
        "wrong": X[model.predict(X) != y],
        "perceptron": np.sum(perceptron.predict(X) != y),
    }


def _signed() -> Array:
    """(b, w) of least squares on the line with targets ±1."""
    plane = sx.LeastSquaresClassifier(targets="signed").fit(*line()).hyperplane()
    return np.array([plane.b, *plane.w])


def _zero_of_h() -> float:
    found = _by_least_squares(*line())
    return float(-found["intercept"] / found["slope"])


_SIGNED = "This belongs to the targets −1 and +1. Take 0 and 1."


def _two_spreads() -> tuple[Array, Integers]:
    X = np.array([[-1.0], [0.0], [1.0], [2.0], [4.0], [6.0]])
    y = np.repeat([1, 2], 3)
    return X, y


def _crossings(X: Array, y: Integers) -> Answer:
    model = sx.FisherDiscriminant().fit(X, y)
    left, right = model.crossings_
    return {"crossings": [left, right], "left": model.predict([[left - 1.0]])[0]}


EXERCISES = (
    Exercise(
        number=4,
        name="least-squares",
        title="Least squares on a line",
        items=("S1", "S2"),
        introduction="""\
The rows 1, 2, 3, 4 have the target 0, and the rows 5, 6, 7, 8 the target 1. Least squares fits h(x) = wx + b to
the targets,

w = Σ (xᵢ − x̄)(yᵢ − ȳ) / Σ (xᵢ − x̄)²,  b = ȳ − w x̄  (x̄ and ȳ are the means here),

and predicts class 1 where h(x) > ½.""",
        question="Compute the fit by hand, as fractions.",
        parts=(
            ExercisePart(
                "slope",
                "w",
                Numbers(),
                "The means are 4.5 and ½. The numerator is 8, the denominator is 2 (3.5² + 2.5² + 1.5² + 0.5²).",
                (Slip(lambda: _signed()[1], _SIGNED),),
            ),
            ExercisePart(
                "intercept",
                "b",
                Numbers(),
                "The line goes through the point of the two means.",
                (Slip(lambda: _signed()[0], _SIGNED),),
            ),
            ExercisePart(
                "boundary",
                "the place x where the prediction changes",
                Numbers(),
                "Solve h(x) = ½.",
                (Slip(_zero_of_h, "This is where h is 0, which is the threshold for targets −1 and +1. Take h = ½."),),
            ),
        ),
        given=line,
        solution=_by_least_squares,
        lab="#losses?v=1&l=squared&at=1&x=1,2,3,4,5,6,7,8,9",
        lab_try="Move one point at a time. Which of them turns the boundary of the squared loss most?",
    ),
    Exercise(
        number=5,
        name="far-point",
        title="A point that is right moves the boundary",
        items=("S5", "R13"),
        introduction="""\
A ninth row of class 1 is added to the rows 1, …, 8, far on its own side. The squared loss (1 − m)² of a row with
targets ±1 grows again for margins m > 1, so least squares pays for a row that is "too correct". The logistic
loss ln(1 + e^{−m}) does not.""",
        question="Add a row of class 1 at 30, then at 100 instead. Where is the boundary, and which rows are wrong?",
        parts=(
            ExercisePart(
                "boundary",
                "the boundary of least squares with the ninth row at 30",
                Numbers(),
                "Use the formulas of exercise 4 with nine rows, whose means are 22/3 and 5/9.",
                (Slip(lambda: _by_least_squares(*line())["boundary"], "This is the boundary without the ninth row."),),
            ),
            ExercisePart(
                "wrong_30",
                "the rows that least squares gets wrong with the ninth row at 30",
                AnyOrder(None, "a list of rows, such as [1, 2]"),
                "Which rows lie between 4.5 and the new boundary?",
            ),
            ExercisePart(
                "wrong_100",
                "the rows that it gets wrong with the ninth row at 100",
                AnyOrder(None, "a list of rows, such as [1, 2]"),
                "Fit again: the boundary has moved further to the right.",
            ),
            ExercisePart(
                "logistic",
                "the boundary of logistic regression (C = 1) with the ninth row at 100",
                Numbers(),
                "Fit sx.LogisticRegression() to the nine rows; the boundary is −b/w.",
            ),
        ),
        given=line,
        solution=_with_a_far_row,
        lab="#losses?v=1&l=logistic,squared,perceptron&at=2&x=1,2,3,4,5,6,7,8,30",
        lab_try="Pull the point at 30 back and forth. Which boundaries follow it, and which stay?",
    ),
    Exercise(
        number=6,
        name="far-points-in-the-plane",
        title="Two far points in the plane",
        items=("S5", "P14"),
        introduction="""\
The positives are (i, i + 1) and the negatives (i + 1, i) for i = 0, …, 4: the diagonal x₂ = x₁ separates them.
The last two rows, (20, −10) and (21, −10), are negatives, far on their own side of this line. A classifier is
wrong where sign(w·x + b) is not the target.""",
        question="Which points does least squares get wrong, without and with the two far points?",
        parts=(
            ExercisePart(
                "before",
                "the number of points that least squares gets wrong, of the first ten rows",
                Numbers(),
                "Fit sx.LeastSquaresClassifier() to X[:10], y[:10] and count the wrong predictions.",
            ),
            ExercisePart(
                "wrong",
                "the points that least squares gets wrong with all twelve rows",
                AnyOrder(2, "a list of points, such as [(0, 0), (1, 2)]"),
                "There are mistakes on both sides. Compare model.predict(X) with y.",
            ),
            ExercisePart(
                "perceptron",
                "the number of points that the perceptron gets wrong, of all twelve rows",
                Numbers(),
                "A row that is right causes no update, however far away it is. Fit sx.Perceptron() to all rows.",
            ),
        ),
        given=_plane,
        solution=_in_the_plane,
        lab="#plane?v=1&m=least-squares,logistic,perceptron&p=~AABkAAFkAMgAAcgALAEBLAGQAQGQAfQBAWQAAAAAyABkAAAsAcgAAJABLAEA9AGQAQDQBxj8ADQIGPwA",
        lab_try="Drag both far points back to the others, and watch the mistakes of least squares vanish.",
    ),
    Exercise(
        number=7,
        name="two-crossings",
        title="Two places where posteriors cross",
        items=("F4",),
        introduction="""\
Along a projection each class is a Gaussian with the mean μ, the standard deviation σ (with n − 1) and the prior
n/N of its rows. The posteriors cross where

−ln σ₁ − (x − μ₁)²/(2σ₁²) + ln p₁ = −ln σ₂ − (x − μ₂)²/(2σ₂²) + ln p₂.

The rows −1, 0, 1 of class 1 have μ₁ = 0 and σ₁ = 1; the rows 2, 4, 6 of class 2 have μ₂ = 4 and σ₂ = 2.""",
        question="Find both places where the posteriors cross. Which class wins far on the left?",
        parts=(
            ExercisePart(
                "crossings",
                "the two places",
                AnyOrder(None, "a list of two numbers"),
                "The priors are equal. Multiply by 8: 4x² = (x − 4)² + 8 ln 2.",
                (
                    Slip(
                        lambda: [-4.0, 4.0 / 3.0],
                        "This leaves out the factor 1/σ of the densities, as the posterior of lecture 001 does.",
                    ),
                ),
            ),
            ExercisePart(
                "left",
                "the class that is predicted to the left of both places, 1 or 2",
                Numbers(),
                "Far away from both means the wider density is the larger one.",
            ),
        ),
        given=_two_spreads,
        solution=_crossings,
        lab="#fisher?v=1&p=unequal-spreads&a=0",
        lab_try="Compare the crossings with the midpoint: which of the two gets fewer rows wrong?",
    ),
)
