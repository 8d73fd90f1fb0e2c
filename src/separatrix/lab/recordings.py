"""What is recorded of a page: the requests that it will send, and the parts of them that may change.

A module of ``requests/`` declares it by a function ``recorded(link, options)``, which returns a ``Plan``. In the
recording, a request is answered by the nearest of the recorded ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.errors import ParameterError
from separatrix.lab.request_registry import Payload

# Keys and indices that lead to a part of a payload: ("X", 20, 0) is x₁ of row 20.
Place: TypeAlias = tuple[str | int, ...]
# The row of a plan in which no point can be moved.
NO_ROW = -1


@dataclass(frozen=True)
class Options:
    """The row that the caller has chosen to be dragged, and the numbers of places across and up."""

    drag: int | None
    places: tuple[int, int]


@dataclass(frozen=True)
class Axis:
    """A part of a payload that changes, and its values."""

    place: Place
    values: tuple[Any, ...]


@dataclass(frozen=True)
class Asked:
    """A request, such as "fit" of the page itself or "plane.start", for all combinations of the values on its axes."""

    request: str
    payload: Payload
    axes: tuple[Axis, ...] = ()

    def name(self, page: str) -> str:
        """The full name of the request.

        >>> Asked("fit", {}).name("plane"), Asked("plane.start", {}).name("basis")
        ('plane.fit', 'plane.start')
        """
        return self.request if "." in self.request else f"{page}.{self.request}"

    @property
    def size(self) -> int:
        """The number of payloads."""
        return int(np.prod([len(axis.values) for axis in self.axes], dtype=np.int64))

    def payloads(self) -> Iterator[Payload]:
        """All payloads; the last axis changes first.

        >>> asked = Asked("show", {"m": 0, "x": [5, 6]}, (Axis(("m",), (1, 2)), Axis(("x", 0), (3,))))
        >>> list(asked.payloads())
        [{'m': 1, 'x': [3, 6]}, {'m': 2, 'x': [3, 6]}]
        """
        for values in product(*(axis.values for axis in self.axes)):
            payload: Any = self.payload
            for axis, value in zip(self.axes, values, strict=True):
                payload = _changed(payload, axis.place, value)
            yield payload


def _changed(value: Any, place: Place, new: Any) -> Any:
    """A copy of nested lists and dictionaries with one part replaced."""
    if not place:
        return new
    copy: Any = dict(value) if isinstance(value, Mapping) else list(value)
    copy[place[0]] = _changed(copy[place[0]], place[1:], new)
    return copy


@dataclass(frozen=True)
class Plan:
    """All requests of a recording, and what a reader of the page can do with it.

    ``sentence`` says what can be changed. ``controls`` are CSS selectors of the controls that work; all others are
    disabled. ``still`` are parts of the page that react to nothing. Only the point ``row`` can be moved. ``grid``
    are the places that are recorded: the values of x₁ and those of x₂. ``dropped`` are parts of answers that a
    recording does not keep.
    """

    asked: tuple[Asked, ...]
    sentence: str
    controls: tuple[str, ...] = ()
    still: tuple[str, ...] = ()
    row: int = NO_ROW
    grid: tuple[tuple[float, ...], tuple[float, ...]] | None = None
    dropped: frozenset[str] = field(default_factory=frozenset)


def dragged_row(options: Options, default: int, n: int) -> int:
    """The row that can be dragged, checked."""
    row = default if options.drag is None else options.drag
    if n == 0:
        raise ParameterError("link", "it has no points", "give a link to a page with points")
    if not 0 <= row < n:
        raise ParameterError("drag", f"got {row}", f"give the number of a point, from 0 to {n - 1}")
    return row


def grid(
    box: Sequence[float], counts: Sequence[int], including: Sequence[float]
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The places of a grid over a box, of which one must be among them: the values of x₁ and those of x₂.

    >>> grid((0, 4, 0, 2), (5, 3), including=(1, 0.9))
    ((0.0, 1.0, 2.0, 3.0, 4.0), (0.0, 0.9, 2.0))
    """
    left, right, low, high = box
    return spread(left, right, counts[0], including[0]), spread(low, high, counts[1], including[1])


def spread(low: float, high: float, count: int, including: float) -> tuple[float, ...]:
    """Evenly spaced places in hundredths, of which the nearest is replaced by one that must be among them.

    >>> spread(0, 4, 5, including=2.3)
    (0.0, 1.0, 2.3, 3.0, 4.0)
    """
    values: Array = np.round(np.linspace(low, high, count), 2)
    values[np.argmin(np.abs(values - including))] = including
    return tuple(values.tolist())
