"""Rows that are held out of a fit, chosen by a hash of their numbers.

Of each class the rows with the lowest hashes are held out, so the choice does not depend on how the rows are read. For
rows that are not in memory, the highest of these hashes is found in one pass: the hash of rank k among n is near
k/n · 2⁶⁴, at a distance of about (share (1 − share)/n)^½, so only the hashes near the share are kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import sqrt

import numpy as np

from separatrix.base.arrays import Array, Booleans, Integers
from separatrix.rows.row_hash import Hashes, row_hashes, uniform

# The stream of hashes that chooses held-out rows, which must be independent of those that draw samples.
HELD_OUT_STREAM = 2
# Hashes are kept within this many standard deviations of the share, which is enough for all but one fit in 10^15.
DEVIATIONS_KEPT = 8.0


def held_counts(counts: Integers, share: float) -> Integers:
    """How many rows of each class to hold out: ``share`` of it, but never all rows of a class.

    Fractions of rows are rounded by the largest remainders, so that the total is ``share`` of all rows.

    >>> held_counts(np.array([8, 4, 1]), 0.25).tolist()
    [2, 1, 0]
    """
    wanted = share * counts
    taken = np.floor(wanted).astype(np.int64)
    left_over = round(share * int(counts.sum())) - int(taken.sum())
    for k in np.argsort(taken - wanted, kind="stable")[: max(left_over, 0)]:
        taken[k] += 1
    return np.asarray(np.clip(taken, 0, np.maximum(counts - 1, 0)))


@dataclass(frozen=True)
class HeldOut:
    """Which rows are held out: ``thresholds`` (K,) has the highest hash of the held-out rows of each class.

    ``any_held`` (K,): whether a class has any held-out rows. ``seed``: the seed of the hashes.

    >>> rule = HeldOut.of(np.array([0] * 8 + [1] * 4), np.arange(12), 0.25, seed=0)
    >>> held = rule.held(0, np.array([0] * 8 + [1] * 4))
    >>> held[:8].sum().item(), held[8:].sum().item()
    (2, 1)
    """

    thresholds: Hashes
    any_held: Booleans
    seed: int

    @classmethod
    def of(cls, codes: Integers, rows: Integers, share: float, seed: int) -> HeldOut:
        """The choice among rows in memory with these class numbers and row numbers, counted from 0."""
        counts = np.bincount(codes)
        windows = HashWindows(share)
        hashes = row_hashes(0, int(rows.max(initial=-1)) + 1, seed, HELD_OUT_STREAM)[rows]
        for k in range(len(counts)):
            windows = windows.add(k, hashes[codes == k])
        return windows.chosen(counts, seed)

    def held(self, start: int, codes: Integers) -> Booleans:
        """Which of the consecutive rows from row ``start`` are held out; rows with a class number below 0 never are."""
        hashes = row_hashes(start, len(codes), self.seed, HELD_OUT_STREAM)
        return (codes >= 0) & self.any_held[codes] & (hashes <= self.thresholds[codes])

    def held_rows(self, rows: Integers, codes: Integers) -> Booleans:
        """Which of the rows with these increasing numbers, from 0, and class numbers are held out."""
        if not len(rows):
            return np.zeros(0, dtype=bool)
        start = int(rows[0])
        every = np.full(int(rows[-1]) - start + 1, -1)
        every[rows - start] = codes
        return self.held(start, every)[rows - start]


@dataclass(frozen=True, eq=False)
class _Window:
    """Of n hashes: how many are below the window, and those inside it."""

    n: int = 0
    below: int = 0
    inside: Hashes = field(default_factory=lambda: np.empty(0, dtype=np.uint64))


@dataclass(frozen=True, eq=False)
class HashWindows:
    """The hashes near the ``share`` for each class number, found part by part. Parts can be merged in any order."""

    share: float
    windows: dict[int, _Window] = field(default_factory=dict)

    def add(self, k: int, hashes: Hashes) -> HashWindows:
        """The windows with more hashes of class k."""
        more = self._narrowed(_Window(len(hashes), 0, hashes))
        return HashWindows(self.share, {**self.windows, k: self._both(self.windows.get(k, _Window()), more)})

    def merge(self, other: HashWindows) -> HashWindows:
        """The windows of these rows and of others."""
        windows = dict(self.windows)
        for k, window in other.windows.items():
            windows[k] = self._both(windows.get(k, _Window()), window)
        return HashWindows(self.share, windows)

    def chosen(self, counts: Integers, seed: int) -> HeldOut:
        """The rows to hold out, given the number of rows of each class."""
        taken = held_counts(counts, self.share)
        thresholds = np.zeros(len(counts), dtype=np.uint64)
        for k in np.flatnonzero(taken).tolist():
            window = self.windows[k]
            place = int(taken[k]) - window.below - 1
            if not 0 <= place < len(window.inside):
                raise ArithmeticError(f"the threshold of class {k} is not among the {len(window.inside)} hashes kept")
            thresholds[k] = np.partition(window.inside, place)[place]
        return HeldOut(thresholds, taken > 0, seed)

    def _both(self, a: _Window, b: _Window) -> _Window:
        inside = np.concatenate([a.inside, b.inside])
        return self._narrowed(_Window(a.n + b.n, a.below + b.below, inside))

    def _narrowed(self, window: _Window) -> _Window:
        """The window for its number of hashes. The window for more hashes lies inside the window for fewer."""
        n, share = max(window.n, 1), self.share
        width = DEVIATIONS_KEPT * sqrt(share * (1 - share) / n) + 4 / n
        u: Array = uniform(window.inside)
        low = u < share - width
        return _Window(window.n, window.below + int(low.sum()), window.inside[~low & (u <= share + width)])
