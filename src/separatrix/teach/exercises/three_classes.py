"""Exercises on more than two classes (docs/tour.md, M)."""

from __future__ import annotations

import numpy as np

import separatrix as sx
from separatrix.core.base.arrays import Array, Integers
from separatrix.teach.exercises.exercise import Answer, Exercise, ExercisePart, Numbers, Slip


def _one_row_each() -> tuple[Array, Integers]:
    X = np.array([[0.0, 0.0], [2.0, 1.0], [2.0, 0.0]])
    y = np.array([1, 2, 3])
    return X, y


def _small_class() -> tuple[Array, Integers]:
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], [950, 50])
    X = rng.standard_normal((1000, 2)) + 0.7 * y[:, None]
    return X, y


def _by_votes(X: Array, y: Integers) -> Answer:
    model = sx.OneVsOneClassifier(sx.LeastSquaresClassifier(targets="signed")).fit(X, y)
    ten = sx.compare_schemes([1] * 10)
    return {
        "votes": model.votes(X[1:2])[0],
        "winner": model.predict(X[1:2])[0],
        "models": [ten.one_versus_one.models, ten.one_versus_rest.models],
    }


def _imbalance(X: Array, y: Integers) -> Answer:
    classes = np.repeat([1, 2, 3], 7)
    rest = sx.OneVsRestClassifier(sx.LogisticRegression()).fit(np.eye(3)[classes - 1], classes)
    ten = sx.OneVsRestClassifier(sx.LogisticRegression()).fit(np.eye(10), np.arange(10))
    plain, balanced = (sx.LogisticRegression(class_weight=weight).fit(X, y) for weight in (None, "balanced"))
    small = X[y == 1]
    return {
        "rows": rest.imbalance_[0],
        "ratio": ten.imbalance_[0, 1] / ten.imbalance_[0, 0],
        "recall": plain.predict(small).mean(),
        "balanced": balanced.predict(small).mean(),
    }


EXERCISES = (
    Exercise(
        number=11,
        name="votes",
        title="One against one",
        items=("M1", "M5"),
        introduction="""\
One versus one fits a model hᵢⱼ for each pair of classes i < j, which is positive where it prefers class i, and
hⱼᵢ = −hᵢⱼ. The classes vote, and the one with the most votes wins:

argmaxᵢ Σⱼ sgn hᵢⱼ(x).

In the example of lecture 003, h₁₂(x) = −1, h₁₃(x) = −1 and h₂₃(x) = 1. The rows X below have these scores at
X[1] if each pair is fitted by least squares with targets ±1.""",
        question="Count the votes, and the models that both schemes need for ten classes.",
        parts=(
            ExercisePart(
                "votes",
                "the sums Σⱼ sgn hᵢⱼ(x) of the classes 1, 2 and 3",
                Numbers((3,), "a list of three numbers"),
                "Class 1 loses against 2 and against 3: two terms of −1. Mind hⱼᵢ = −hᵢⱼ for the others.",
                (
                    Slip(
                        lambda: [0, 2, 1],
                        "This is the number of pairs that each class wins. A lost pair counts −1 in the sum.",
                    ),
                ),
            ),
            ExercisePart(
                "winner", "the class that wins, 1, 2 or 3", Numbers(), "It is the class with the largest sum."
            ),
            ExercisePart(
                "models",
                "the numbers of models for K = 10: one versus one, then one versus rest",
                Numbers((2,), "a list of two numbers"),
                "Each pair of classes has one model: do not count a pair twice.",
                (
                    Slip(lambda: [90, 10], "hᵢⱼ and hⱼᵢ are one model."),
                    Slip(lambda: [10, 45], "Give one versus one first."),
                ),
            ),
        ),
        given=_one_row_each,
        solution=_by_votes,
        lab="#classes?v=1&m=one-versus-one,one-versus-rest&p=three-classes",
        lab_try="Put the pointer into a hatched region, and add up the votes of each class yourself.",
    ),
    Exercise(
        number=12,
        name="imbalance",
        title="What imbalance does",
        items=("M4", "M6"),
        introduction="""\
One versus rest fits each class against all others. With K classes of the same size this gives the ratio 1 : (K
− 1), though the classes themselves are balanced. The recall of a class is the share of its rows that are
predicted to be of this class. The rows below have 950 of class 0 and 50 of class 1, near each other.""",
        question="Count the rows on each side, then compare logistic regression with and without balanced weights.",
        parts=(
            ExercisePart(
                "rows",
                "for three classes of 7 rows: the numbers of rows of the class and of the rest",
                Numbers((2,), "a list of two numbers"),
                "The rest are the rows of the two other classes.",
            ),
            ExercisePart(
                "ratio",
                "for ten classes of the same size: the number of rows of the rest, divided by that of the class",
                Numbers(),
                "The rest are K − 1 classes.",
                (Slip(lambda: 10.0, "The class itself does not belong to the rest."),),
            ),
            ExercisePart(
                "recall",
                "the recall of class 1 by `sx.LogisticRegression()` on the rows X, y",
                Numbers(),
                "The recall is the mean of model.predict(X[y == 1]) == 1.",
                (
                    Slip(
                        lambda: sx.LogisticRegression().fit(*_small_class()).score(*_small_class()),
                        "This is the accuracy over all rows, which is high although the small class is often missed.",
                    ),
                ),
            ),
            ExercisePart(
                "balanced",
                'the same with `class_weight="balanced"`',
                Numbers(),
                "Only the weights of the rows change; compute the recall as before.",
            ),
        ),
        given=_small_class,
        solution=_imbalance,
        lab="#classes?v=1&m=one-versus-rest,one-versus-one&p=four",
        lab_try="Compare how many rows the models of the two schemes are trained on.",
    ),
)
