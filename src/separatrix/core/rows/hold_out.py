"""Rows held out of a fit, or divided into folds: chosen by a hash of their numbers, or by a seed.

Every row has a pseudorandom number, computed from the number of the row alone. Rows with the smallest ones form a
random sample. Which rows these are does not depend on how the rows are stored, in which pieces they are read, or in
which order, so rows in memory, in files and on a cluster give the same sample.

Of each class the rows with the lowest hashes are held out. For rows that are not in memory, the highest of these hashes
is found in one pass: the hash of rank k among n is near k/n · 2⁶⁴, at a distance of about (share (1 − share)/n)^½, so
only the hashes near the share are kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from separatrix.core.base.arrays import AnyArray, Array, Booleans, Integers

# --- Hashes of row numbers

Hashes = NDArray[np.uint64]

# The constants of splitmix64 (Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators").
GOLDEN_GAMMA = 0x9E3779B97F4A7C15
MIXERS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))


def row_hashes(start: int, n_rows: int, seed: int = 0, stream: int = 0) -> Hashes:
    """The hashes of rows start, start + 1, …, (n_rows,), uniform on 0 … 2⁶⁴ − 1.

    Different rows have different hashes, because every step is a bijection of 64-bit words. Hashes of different seeds
    and ``stream`` numbers are independent of each other.

    >>> whole = row_hashes(0, 5)
    >>> bool(np.all(row_hashes(2, 3) == whole[2:])), len(set(whole.tolist()))
    (True, 5)
    """
    first = int(np.random.SeedSequence((seed, stream)).generate_state(1, np.uint64)[0])
    offset = (first + start * GOLDEN_GAMMA) % (1 << 64)
    h = np.arange(n_rows, dtype=np.uint64)
    h *= np.uint64(GOLDEN_GAMMA)
    h += np.uint64(offset)
    for shift, factor in MIXERS:
        h ^= h >> np.uint64(shift)
        h *= np.uint64(factor)
    h ^= h >> np.uint64(31)
    return h


def uniform(hashes: Hashes) -> Array:
    """The hashes as numbers in [0, 1), with the 53 bits of a float64.

    >>> uniform(np.array([0, 1 << 63], dtype=np.uint64)).tolist()
    [0.0, 0.5]
    """
    return (hashes >> np.uint64(11)).astype(np.float64) * 2.0**-53


# --- Rows held out of a fit

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


# --- Folds


def stratified_folds(
    codes: Integers, n_folds: int, seed: int, *, among: AnyArray | None = None, draw_first: bool = False
) -> Integers:
    """The fold of each row, (n,). Every class is spread evenly over the folds.

    The rows of each class are shuffled and dealt to the folds in turn. All cross-validations draw their folds here, so
    one seed always gives the same folds.

    Parameters
    ----------
    codes : (n,) array of int
        The class of each row.
    n_folds : int
        The number of folds.
    seed : int
        The seed of the shuffles.
    among : (n,) array of bool, optional
        The rows to deal, by default all. The other rows get −1: they are in no fold.
    draw_first : bool, default False
        Whether each class starts at a randomly drawn fold. By default, each class starts at the fold after the last
        one that the previous class was dealt to, so that the sizes of folds differ by at most one row.

    Examples
    --------
    >>> fold = stratified_folds(np.array([0] * 5 + [1] * 4), 3, seed=0)
    >>> np.bincount(fold).tolist(), np.bincount(fold[5:]).tolist()
    ([3, 3, 3], [1, 1, 2])
    """
    rng, fold, first = np.random.default_rng(seed), np.full(len(codes), -1, dtype=np.int64), 0
    for k in range(int(codes.max()) + 1):
        members = rng.permutation(np.flatnonzero(codes == k if among is None else (codes == k) & among))
        if draw_first:
            first = int(rng.integers(n_folds))
        fold[members] = (np.arange(len(members)) + first) % n_folds
        first += len(members)
    return fold
