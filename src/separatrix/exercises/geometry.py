"""An exercise on boundaries between scores (docs/tour.md, G)."""

from __future__ import annotations

import numpy as np

import separatrix as sx
from separatrix.base.arrays import Array
from separatrix.exercises.comparisons import Numbers
from separatrix.exercises.exercise import Answer, Exercise, Part, Slip

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
            Part(
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
            Part(
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
)
