"""The card of one point: its score, distance, probability and loss under a fitted model."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.base.arrays import Array
from separatrix.geometry import Hyperplane


def card(model: Any, place: Array, label: int | None) -> dict[str, Any]:
    """What a model says of a point (1, 2), whose class is ``label`` if it has one.

    The score is that of the class, or of the predicted class for a bare place. With two classes, it is z for the second
    and −z for the first. ``foot`` is the nearest point of a straight boundary.
    """
    classes = np.asarray(model.classes_).tolist()
    predicted = int(model.predict(place)[0])
    k = label if label in classes else predicted
    z = np.asarray(model.decision_function(place), dtype=np.float64)[0]
    score = float(z[classes.index(k)]) if np.ndim(z) else float(z if k == classes[-1] else -z)
    W = getattr(getattr(model, "scorer_", None), "W", None)
    plane = _plane(W)
    probability = getattr(model, "predict_proba", None)
    return {
        "k": k,
        "predicted": predicted,
        "score": score,
        "distance": None if plane is None else float(plane.distance(place)[0]) * (1 if k == classes[-1] else -1),
        "foot": None if plane is None else plane.project(place)[0],
        "probability": None if probability is None else float(probability(place)[0, classes.index(k)]),
    }


def _plane(W: Any) -> Hyperplane | None:
    if W is None or np.shape(W) != (1, 3) or not np.any(W[0, 1:]):
        return None
    return Hyperplane(W[0, 1:], float(W[0, 0]))
