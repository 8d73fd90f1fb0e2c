"""Exercises on the lectures. ``check`` compares an answer with the expected one.

``check(3, answer)`` says which parts of an answer are right, and gives a hint for the others. The expected answers are
computed by the classifiers and functions of this package. ``docs/exercises`` has a notebook for each exercise.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

from separatrix.core.base.errors import ParameterError
from separatrix.teach.exercises import boundaries_and_xor, far_rows_and_thresholds, perceptron_and_losses, three_classes
from separatrix.teach.exercises.exercise import Exercise, ExercisePart, Feedback, PartFeedback

__all__ = ["EXERCISES", "Exercise", "ExercisePart", "Feedback", "PartFeedback", "check"]

EXERCISES: dict[int, Exercise] = {
    exercise.number: exercise
    for module in (boundaries_and_xor, far_rows_and_thresholds, perceptron_and_losses, three_classes)
    for exercise in module.EXERCISES
}


def check(number: int, answer: Any) -> Feedback:
    """Check an answer to an exercise.

    Parameters
    ----------
    number : int
        The number of the exercise, from 1 to 12.
    answer : dict
        The answer to each part by its name. Numbers need three significant digits.

    Returns
    -------
    Feedback
        It is true if every part is right. Printed, it says which parts are right and gives a hint for the others.

    Raises
    ------
    ParameterError
        If there is no such exercise, or the answer is not a dict of its parts.

    Examples
    --------
    >>> import separatrix as sx
    >>> print(sx.exercises.check(1, {"slope": 1.0, "share": 0.75}))
    Exercise 1, Where two scores are equal: 1 of 2 right.
      slope: not yet. This is the bisector of the lines h₁ = 0 and h₂ = 0. Set h₁(x) = h₂(x) instead.
      share: right
    >>> bool(sx.exercises.check(1, {"slope": 2.0, "share": 0.75}))
    True
    """
    if not isinstance(number, Integral) or number not in EXERCISES:
        raise ParameterError("number", f"got {number!r}", f"give a number from 1 to {len(EXERCISES)}")
    return EXERCISES[int(number)].check(answer)
