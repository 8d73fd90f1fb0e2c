"""The card of one point: its score, distance, probability and loss under a fitted model."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.diagnostics.explained_row import explain_row

# The most points whose losses are drawn.
MOST_LOSSES = 200


def card(model: Any, place: Array, label: int) -> dict[str, Any]:
    """The prediction and the loss of a model at a point (2,) of class ``label``.

    Score, distance and probability are those of the class: with two classes, the score of the first is −z, and the
    distance is negative on the wrong side. ``foot`` is the nearest point of a straight boundary.
    """
    classes = np.asarray(model.classes_).tolist()
    found = explain_row(model, place, label)
    k = classes.index(label)
    score = float(found.scores[k]) if len(found.scores) > 1 else float(found.scores[0]) * (1 if k else -1)
    side = 1 if found.predicted == label else -1
    return {
        "predicted": int(found.predicted),
        "score": score,
        "distance": None if found.distance is None else side * found.distance,
        "foot": found.projection,
        "probability": None if found.probabilities is None else float(found.probabilities[k]),
        "loss": found.loss,
        "loss_name": found.loss_name,
    }


def losses(model: Any, X: Array, y: Integers) -> list[float | None] | None:
    """The loss of every point, or None for more than ``MOST_LOSSES`` points."""
    if len(X) > MOST_LOSSES:
        return None
    return [explain_row(model, x, label).loss for x, label in zip(X, y.tolist(), strict=True)]
