"""What the rules of ``infer`` need to know about a column of numbers, found part by part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.table.distinct import numbered

# At most this many values are kept to find out whether a value repeats. Past them, values are known not to repeat only
# if they increase.
MOST_VALUES_KEPT = 1 << 20


@dataclass(frozen=True, eq=False)
class SeenNumbers:
    """Numbers, truth values or days of consecutive rows.

    Parameters
    ----------
    n, known : int
        The number of rows, and of those with a value.
    first, last, low, high : float
        The first, last, lowest and highest value; NaN if there is none.
    counts_up : bool
        Whether each value is one more than the value before.
    whole, increases : bool
        Whether all values are whole numbers, and whether each is above the one before.
    infinite : int or None
        The number, from 0, of the first row whose value is infinite.
    values : (m,) array or None
        The different values, sorted; None if a value repeats, or if they are too many or need not be known.
    """

    n: int
    known: int
    first: float
    last: float
    low: float
    high: float
    counts_up: bool
    whole: bool
    increases: bool
    infinite: int | None = None
    values: Array | None = None

    @classmethod
    def of(cls, v: Array, start: int | Integers = 0, distinct: bool = False) -> SeenNumbers:
        """The numbers v (n,), NaN where one is missing. ``distinct``: whether it matters that a value repeats.

        >>> seen = SeenNumbers.of(np.array([1.0, np.nan, 3.0]))
        >>> seen.known, seen.low, seen.high, seen.counts_up
        (2, 1.0, 3.0, False)
        """
        missing = np.isnan(v)
        known: Array = v[~missing] if missing.any() else v
        if not len(known):
            nan = float("nan")
            return cls(len(v), 0, nan, nan, nan, nan, True, True, True, None, np.empty(0))
        low, high = float(known.min()), float(known.max())
        whole = bool(np.all(known == np.round(known)))
        # The difference of two infinities, which are refused later, or of two numbers near the limit of float64.
        with np.errstate(invalid="ignore", over="ignore"):
            steps = np.diff(known) if whole else np.empty(0)
        infinite = int(numbered(start, int(np.argmax(np.isinf(v))))) if np.isinf(low) or np.isinf(high) else None
        ends = (float(known[0]), float(known[-1]), low, high)
        ups = (whole and bool(np.all(steps == 1)), whole, whole and bool(np.all(steps > 0)))
        values = _unique(known) if distinct and whole else None
        return cls(len(v), len(known), *ends, *ups, infinite, values)

    def merge(self, later: SeenNumbers) -> SeenNumbers:
        """These rows and the ones after them."""
        if not self.known or not later.known:
            some = later if later.known else self
            return SeenNumbers(self.n + later.n, *_facts(some))
        return SeenNumbers(
            self.n + later.n,
            self.known + later.known,
            self.first,
            later.last,
            min(self.low, later.low),
            max(self.high, later.high),
            self.counts_up and later.counts_up and later.first == self.last + 1,
            self.whole and later.whole,
            self.increases and later.increases and later.first > self.last,
            later.infinite if self.infinite is None else self.infinite,
            _together(self.values, later.values),
        )

    @property
    def never_repeats(self) -> bool:
        """Whether all values are known to be different."""
        return self.increases or self.values is not None


def _facts(seen: SeenNumbers) -> tuple[Any, ...]:
    ends = (seen.known, seen.first, seen.last, seen.low, seen.high)
    return (*ends, seen.counts_up, seen.whole, seen.increases, seen.infinite, seen.values)


def _unique(known: AnyArray) -> Array | None:
    """The values, sorted; None if one repeats or there are too many to keep."""
    values = np.unique(known)
    return values if len(values) == len(known) <= MOST_VALUES_KEPT else None


def _together(a: Array | None, b: Array | None) -> Array | None:
    return None if a is None or b is None else _unique(np.concatenate([a, b]))
