"""An exercise on the threshold along a direction (docs/tour.md, F)."""

from __future__ import annotations

import numpy as np

import separatrix as sx
from separatrix.base.arrays import Array, Integers
from separatrix.exercises.comparisons import AnyOrder, Numbers
from separatrix.exercises.exercise import Answer, Exercise, Part, Slip


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
            Part(
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
            Part(
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
