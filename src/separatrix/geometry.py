"""Hyperplanes w·x + b = 0 and distances to them. TEXTBOOK G1–G4."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.arrays import Array
from separatrix.errors import ParameterError


@dataclass(frozen=True, eq=False)
class Hyperplane:
    """{x : w·x + b = 0}, with w its normal, pointing to the positive side.

    >>> plane = Hyperplane([3.0, 4.0], -5.0)
    >>> float(plane.distance([3.0, 4.0])), float(plane.distance([0.0, 0.0]))
    (4.0, -1.0)
    >>> plane == Hyperplane([6.0, 8.0], -10.0), plane == Hyperplane([-3.0, -4.0], 5.0)
    (True, False)
    """

    w: Array
    b: float

    def __init__(self, w: Any, b: float) -> None:
        normal = np.asarray(w, dtype=np.float64)
        if normal.ndim != 1 or not np.any(normal):
            raise ParameterError("w", f"got {w!r}", "give a normal vector that is not zero")
        object.__setattr__(self, "w", normal)
        object.__setattr__(self, "b", float(b))

    def score(self, X: Any) -> Array:
        """w·x + b for each row."""
        return np.asarray(np.asarray(X, dtype=np.float64) @ self.w + self.b)

    def distance(self, X: Any) -> Array:
        """The signed distance (w·x + b)/‖w‖."""
        return np.asarray(self.score(X) / np.linalg.norm(self.w))

    def project(self, X: Any) -> Array:
        """The nearest points on the hyperplane: x − d·w/‖w‖."""
        return np.asarray(X - np.multiply.outer(self.distance(X), self.w / np.linalg.norm(self.w)))

    @property
    def offset(self) -> float:
        """Its position along the normal, −b/‖w‖; the origin's signed distance is +b/‖w‖."""
        return float(-self.b / np.linalg.norm(self.w))

    def normalised(self) -> Hyperplane:
        """The same hyperplane with ‖w‖ = 1."""
        length = float(np.linalg.norm(self.w))
        return Hyperplane(self.w / length, self.b / length)

    def __eq__(self, other: object) -> bool:
        """Equal up to a positive factor, to rounding."""
        if not isinstance(other, Hyperplane) or self.w.shape != other.w.shape:
            return NotImplemented if not isinstance(other, Hyperplane) else False
        a, c = self.normalised(), other.normalised()
        return bool(np.allclose(a.w, c.w, rtol=1e-12, atol=1e-12) and np.isclose(a.b, c.b, rtol=1e-12))

    __hash__ = None  # type: ignore[assignment]
