"""The value and the gradient of an objective at one point."""

from __future__ import annotations

from typing import NamedTuple

from separatrix.base.arrays import Array


class Evaluation(NamedTuple):
    """E at some W, and the gradient of its smooth part, which excludes the absolute values of the penalty."""

    value: float
    gradient: Array
