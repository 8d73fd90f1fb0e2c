"""Detects runs whose objective still decreases, but too slowly to make progress."""

from __future__ import annotations

from typing import NamedTuple

# A run ends after MOST_STALLED_STEPS steps that together lower E by less than this share of the null model's objective.
SMALLEST_PROGRESS = 1e-7
MOST_STALLED_STEPS = 20


class Stalled(NamedTuple):
    """``high``: a step that lowers E below this is progress; ``steps``: the number of steps since the last progress."""

    high: float
    steps: int


def stalled(last: Stalled | None, before: float, value: float, null_value: float, halved: bool) -> Stalled:
    """Update the count of steps without progress; ``last``: the count so far, None before the first step.

    ``before`` and ``value``: E before and after a step; ``halved``: whether the gradient has fallen below half, which
    counts as progress whatever E does.

    >>> slow = stalled(None, 1.0, 1.0 - 1e-9, 1.0, False)
    >>> slow.steps, stalled(slow, 1.0 - 1e-9, 0.5, 1.0, False).steps
    (1, 0)
    """
    high, steps = (before, 1) if last is None else (last.high, last.steps + 1)
    if value < high - SMALLEST_PROGRESS * null_value or halved:
        high, steps = min(high, value), 0
    return Stalled(high, steps)
