"""Rows projected on a few directions, with thresholds along them (docs/tour.md, F1–F5)."""

from __future__ import annotations

from dataclasses import dataclass

from separatrix.base.arrays import AnyArray, Array
from separatrix.moments.gather import Moments
from separatrix.moments.projection_thresholds import THRESHOLDS, Cut, Threshold
from separatrix.moments.projections import DIRECTIONS, Direction, apart

__all__ = ["DIRECTIONS", "THRESHOLDS", "Cut", "Direction", "Projection", "Threshold", "apart"]


@dataclass(frozen=True)
class Projection:
    """V (d, q) in raw units, with the names of the criterion that it maximises and of its threshold rule."""

    V: Array
    direction: str
    threshold: str

    def criterion(self, moments: Moments) -> float:
        """J(V) on these moments."""
        return DIRECTIONS[self.direction].criterion(moments, self.V)

    def gap(self, moments: Moments) -> float | None:
        """The largest J minus J(V), plus a bound on rounding; None where J is unbounded up to rounding."""
        return DIRECTIONS[self.direction].gap(moments, self.V)

    def stationarity(self, moments: Moments) -> float:
        """How far V is from a stationary point of J; 0 at a stationary point."""
        return DIRECTIONS[self.direction].stationarity(moments, self.V)

    def cut(self, moments: Moments, classes: AnyArray) -> Cut:
        """The scorer along V for these moments."""
        return THRESHOLDS[self.threshold].cut(moments, self.V, classes)
