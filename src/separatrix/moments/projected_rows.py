"""Rows seen along few directions, and where to cut there. TEXTBOOK F1–F5."""

from __future__ import annotations

from dataclasses import dataclass

from separatrix.base.arrays import AnyArray, Array
from separatrix.moments.gather import Moments
from separatrix.moments.projections import DIRECTIONS, Direction, apart
from separatrix.moments.thresholds import THRESHOLDS, Cut, Threshold

__all__ = ["DIRECTIONS", "THRESHOLDS", "Cut", "Direction", "Projection", "Threshold", "apart"]


@dataclass(frozen=True)
class Projection:
    """V (d, q) in raw units, with the names of the criterion it maximises and of the rule that cuts along it."""

    V: Array
    direction: str
    threshold: str

    def criterion(self, found: Moments) -> float:
        """J(V) on these moments."""
        return DIRECTIONS[self.direction].criterion(found, self.V)

    def gap(self, found: Moments) -> float | None:
        """The largest J less J(V), with what rounding may hide; None where J is unbounded but for rounding."""
        return DIRECTIONS[self.direction].gap(found, self.V)

    def stationarity(self, found: Moments) -> float:
        """How far V is from a stationary point of J; 0 at one."""
        return DIRECTIONS[self.direction].stationarity(found, self.V)

    def cut(self, found: Moments, classes: AnyArray) -> Cut:
        """The scorer that these moments call for along V."""
        return THRESHOLDS[self.threshold].cut(found, self.V, classes)
