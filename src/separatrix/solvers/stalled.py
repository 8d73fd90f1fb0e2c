"""When a run that still goes down, but by next to nothing, has gone as far as it will."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# So many steps that together lower E by less than this share of the null model's end a run.
CRAWLING, MOST_CRAWLED = 1e-7, 20


def stalled(memory: Mapping[str, Any], before: float, value: float, null_value: float, halved: bool) -> dict[str, Any]:
    """How long E has been going down by next to nothing, as a state remembers it.

    ``before`` and ``value``: E before and after a step; ``halved``: whether the gradient is less than half of what it
    was, which counts as progress whatever E does.

    >>> memory = stalled({}, 1.0, 1.0 - 1e-9, 1.0, False)
    >>> memory["stalled"], stalled(memory, 1.0 - 1e-9, 0.5, 1.0, False)["stalled"]
    (1, 0)
    """
    high, count = memory.get("high", before), memory.get("stalled", 0) + 1
    if value < high - CRAWLING * null_value or halved:
        high, count = min(high, value), 0
    return {"high": high, "stalled": count}
