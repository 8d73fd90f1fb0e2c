"""Hyperplanes w·x + b = 0: sides, distances, and the hyperplane through given points (docs/tour.md, G1–G6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.core.base.arrays import Array, Integers
from separatrix.core.base.errors import InputError, ParameterError

# Relative rounding error: normalised hyperplanes that differ by less are equal, points whose smallest singular value is
# less than this share of the largest are dependent, and points nearer to the hyperplane lie on it.
HYPERPLANE_ROUNDING = 1e-12


def homogeneous(X: Any) -> Array:
    """x̄ = (1, x), so that w·x + b is (b, w)·x̄ (docs/tour.md, G6).

    Parameters
    ----------
    X : array (..., d)
        Rows.

    Returns
    -------
    array (..., d + 1)

    Examples
    --------
    >>> from separatrix.core.geometry.hyperplane import homogeneous
    >>> homogeneous([[2.0, 3.0]]).tolist()
    [[1.0, 2.0, 3.0]]
    """
    rows = np.asarray(X, dtype=np.float64)
    return np.concatenate([np.ones((*rows.shape[:-1], 1)), rows], axis=-1)


@dataclass(frozen=True, eq=False)
class Hyperplane:
    """The hyperplane {x : w·x + b = 0}, whose normal w points to the positive side (docs/tour.md, G1–G4, G6).

    Parameters
    ----------
    w : array (d,)
        The normal vector, not zero.
    b : float
        The intercept.

    Examples
    --------
    >>> from separatrix import Hyperplane
    >>> plane = Hyperplane([3.0, 4.0], -5.0)
    >>> float(plane.distance([3.0, 4.0])), float(plane.distance([0.0, 0.0]))
    (4.0, -1.0)
    >>> plane == Hyperplane([6.0, 8.0], -10.0), plane == Hyperplane([-3.0, -4.0], 5.0)
    (True, False)
    >>> plane.homogeneous.tolist(), plane.side([[3.0, 4.0], [0.0, 0.0], [1.0, 0.5]]).tolist()
    ([-5.0, 3.0, 4.0], [1, -1, 0])
    """

    w: Array
    b: float

    def __init__(self, w: Any, b: float) -> None:
        normal = np.asarray(w, dtype=np.float64)
        if normal.ndim != 1 or not np.any(normal) or not np.all(np.isfinite(normal)):
            raise ParameterError("w", f"got {w!r}", "give a finite normal vector that is not zero")
        if not np.isfinite(b):
            raise ParameterError("b", f"got {b!r}", "give a finite number")
        object.__setattr__(self, "w", normal)
        object.__setattr__(self, "b", float(b))

    @classmethod
    def from_homogeneous(cls, v: Any) -> Hyperplane:
        """Return the hyperplane (b, w)·x̄ = 0.

        Parameters
        ----------
        v : array (d + 1,)
            (b, w).

        Returns
        -------
        Hyperplane
        """
        weights = np.asarray(v, dtype=np.float64)
        return cls(weights[1:], float(weights[0]))

    @classmethod
    def through(cls, points: Any, positive: Any = None) -> Hyperplane:
        """Return the hyperplane through d points of ℝᵈ, with ‖w‖ = 1 (docs/tour.md, G6).

        Parameters
        ----------
        points : array (d, d)
            One point per row.
        positive : array (d,) or None
            A point on the positive side. By default the origin is on the negative side; if the hyperplane contains the
            origin, the first nonzero weight is positive.

        Returns
        -------
        Hyperplane

        Raises
        ------
        ParameterError
            If the points do not determine a hyperplane.

        Examples
        --------
        >>> from separatrix import Hyperplane
        >>> line = Hyperplane.through([[0.0, 1.0], [1.0, 0.0]])
        >>> line == Hyperplane([1.0, 1.0], -1.0)
        True
        """
        P = np.asarray(points, dtype=np.float64)
        if P.ndim != 2 or len(P) == 0 or P.shape[0] != P.shape[1] or not np.all(np.isfinite(P)):
            raise ParameterError("points", f"its shape is {P.shape}", "give d finite points of d coordinates each")
        w = _normal_to(P[1:] - P[0])
        b = -float(w @ P[0])
        towards = float(w @ np.asarray(positive, dtype=np.float64)) + b if positive is not None else -b
        if positive is not None and abs(towards) <= HYPERPLANE_ROUNDING * float(np.linalg.norm(np.asarray(positive))):
            raise ParameterError("positive", "this point lies on the hyperplane itself", "give a point off it")
        if abs(towards) <= HYPERPLANE_ROUNDING * np.abs(P).max(initial=0.0):
            towards = float(w[np.argmax(np.abs(w) > HYPERPLANE_ROUNDING)])
        return cls(w, b) if towards > 0 else cls(-w, -b)

    @property
    def homogeneous(self) -> Array:
        """(b, w), the weights of x̄ = (1, x)."""
        return np.concatenate([[self.b], self.w])

    def score(self, X: Any) -> Array:
        """The score w·x + b of each row.

        Parameters
        ----------
        X : array (n, d) or (d,)
            Points.

        Returns
        -------
        array (n,)
        """
        rows = np.asarray(X, dtype=np.float64)
        if rows.ndim == 0 or rows.shape[-1] != len(self.w):
            remedy = f"give points of {len(self.w)} coordinates, one per row"
            raise InputError("X", f"its shape is {rows.shape}", remedy)
        return np.asarray(rows @ self.w + self.b)

    def side(self, X: Any) -> Integers:
        """The side of each row: +1, −1, or 0 on the hyperplane itself.

        Parameters
        ----------
        X : array (n, d) or (d,)
            Points.

        Returns
        -------
        array (n,) of int
        """
        return np.asarray(np.sign(self.score(X)), dtype=np.int64)

    def distance(self, X: Any) -> Array:
        """The signed distance (w·x + b)/‖w‖ of each row.

        Parameters
        ----------
        X : array (n, d) or (d,)
            Points.

        Returns
        -------
        array (n,)
        """
        return np.asarray(self.score(X) / np.linalg.norm(self.w))

    def project(self, X: Any) -> Array:
        """The nearest point on the hyperplane, x − d·w/‖w‖ with the signed distance d, for each row.

        Parameters
        ----------
        X : array (n, d) or (d,)
            Points.

        Returns
        -------
        array of the shape of X
        """
        return np.asarray(
            np.asarray(X, dtype=np.float64) - np.multiply.outer(self.distance(X), self.w / np.linalg.norm(self.w))
        )

    def margin(self, X: Any, t: Any) -> Array:
        """The margin m = t (w·x + b) of each row, positive if the row is on the side of its class.

        Parameters
        ----------
        X : array (n, d)
            Points.
        t : array (n,)
            The classes as ±1.

        Returns
        -------
        array (n,)
        """
        return np.asarray(np.asarray(t, dtype=np.float64) * self.score(X))

    def clearance(self, X: Any, t: Any) -> float:
        """The smallest signed distance t d of a row from the boundary: the geometric margin.

        Parameters
        ----------
        X : array (n, d)
            Points.
        t : array (n,)
            The classes as ±1.

        Returns
        -------
        float

        Examples
        --------
        >>> from separatrix import Hyperplane
        >>> Hyperplane([1.0, 0.0], 0.0).clearance([[2.0, 0.0], [-3.0, 1.0]], [1, -1])
        2.0
        """
        return float(np.min(np.asarray(t, dtype=np.float64) * self.distance(X)))

    @property
    def offset(self) -> float:
        """The position along the normal, −b/‖w‖; the signed distance of the origin is +b/‖w‖."""
        return float(-self.b / np.linalg.norm(self.w))

    def normalised(self) -> Hyperplane:
        """The same hyperplane with ‖w‖ = 1.

        Returns
        -------
        Hyperplane
        """
        length = float(np.linalg.norm(self.w))
        return Hyperplane(self.w / length, self.b / length)

    def flipped(self) -> Hyperplane:
        """The same boundary with the sides swapped: −(b, w).

        Returns
        -------
        Hyperplane
        """
        return Hyperplane(-self.w, -self.b)

    def same_boundary(self, other: Hyperplane) -> bool:
        """Whether both are the same set of points, whichever side is positive.

        Parameters
        ----------
        other : Hyperplane
            The hyperplane to compare with.

        Returns
        -------
        bool
        """
        return self == other or self == other.flipped()

    def __eq__(self, other: object) -> bool:
        """Whether both are equal up to a positive factor and rounding."""
        if not isinstance(other, Hyperplane) or self.w.shape != other.w.shape:
            return NotImplemented if not isinstance(other, Hyperplane) else False
        a, c = self.normalised(), other.normalised()
        return bool(np.allclose(a.homogeneous, c.homogeneous, rtol=HYPERPLANE_ROUNDING, atol=HYPERPLANE_ROUNDING))

    __hash__ = None  # type: ignore[assignment]


def _normal_to(directions: Array) -> Array:
    """The unit vector orthogonal to d − 1 directions of ℝᵈ."""
    d = directions.shape[1]
    scale = np.abs(directions).max(initial=0.0)
    _, lengths, V = np.linalg.svd(directions / scale if scale > 0 else directions, full_matrices=True)
    if d > 1 and lengths[-1] <= HYPERPLANE_ROUNDING * max(lengths[0], np.finfo(np.float64).tiny):
        raise ParameterError(
            "points", "they lie in a common plane of lower dimension", "give points that determine one hyperplane"
        )
    return np.asarray(V[-1])
