"""Detects runs whose objective still decreases, but too slowly to make progress."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# A run ends after MOST_STALLED_STEPS steps that together lower E by less than this share of the null model's objective.
SMALLEST_PROGRESS = 1e-7
MOST_STALLED_STEPS = 20


def stalled(memory: Mapping[str, Any], before: float, value: float, null_value: float, halved: bool) -> dict[str, Any]:
    """Update the count of steps without progress, for the memory of a state.

    ``before`` and ``value``: E before and after a step; ``halved``: whether the gradient has fallen below half, which
    counts as progress whatever E does.

    >>> memory = stalled({}, 1.0, 1.0 - 1e-9, 1.0, False)
    >>> memory["stalled"], stalled(memory, 1.0 - 1e-9, 0.5, 1.0, False)["stalled"]
    (1, 0)
    """
    high, count = memory.get("high", before), memory.get("stalled", 0) + 1
    if value < high - SMALLEST_PROGRESS * null_value or halved:
        high, count = min(high, value), 0
    return {"high": high, "stalled": count}
