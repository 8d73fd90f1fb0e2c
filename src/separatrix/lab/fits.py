"""Fits that are kept for a moment, and their numbers.

A page asks again when the pointer moves over points that stay where they are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.base.errors import InputError
from separatrix.lab.certificates import verdict
from separatrix.lab.models import Chosen

MOST_KEPT = 32


@dataclass(frozen=True)
class _Asked:
    """A fit. Two are equal if the model, its settings and the points are."""

    key: tuple[str, bytes, bytes]
    model: Chosen = field(compare=False)
    X: Array = field(compare=False)
    y: Integers = field(compare=False)


def fitted(asked: Chosen, X: Array, y: Integers) -> Any:
    """The chosen model, fitted to these points; the same object while the points and the settings stay the same.

    >>> import numpy as np
    >>> X, y = np.array([[0.0, 0.0], [1.0, 1.0]]), np.array([0, 1])
    >>> fitted(Chosen("logistic", {}), X, y) is fitted(Chosen("logistic", {}), X, y)
    True
    """
    if not len(X):
        raise InputError("points", "there are none", "add points of two classes")
    return _fitted(_Asked((repr(asked), X.tobytes(), y.tobytes()), asked, X, y))


@lru_cache(maxsize=MOST_KEPT)
def _fitted(asked: _Asked) -> Any:
    return asked.model.estimator().fit(asked.X, asked.y)


def numbers(model: Any, X: Array, y: Integers) -> dict[str, Any]:
    """What the card of a fitted model shows: its mistakes, the length of its weights, its cost and its certificate."""
    coef = getattr(model, "coef_", None)
    return {
        "wrong": np.flatnonzero(model.predict(X) != y),
        "norm": None if coef is None else float(np.linalg.norm(coef)),
        "cost": float(model.certificate_.objective),
        "verdict": verdict(model.certificate_),
    }
