"""Which rows are held out of a fit or belong to a fold, by hashes of the rows' numbers, which also draw samples.

Every row has a pseudorandom number, computed from the number of the row in its table alone. So the choice of rows does
not depend on how the rows are stored, in which pieces they are read, or in which order.

Of a class with at most ``MOST_RANKED`` rows, exactly the share with the lowest hashes is held out, and the rows are
dealt to folds in the order of their hashes. In a larger class a row is held out if its hash is below the share of all
64-bit words, and its fold is the part of these words in which its hash lies. So rows outside memory need at most one
pass over their labels, and none if all classes are large. ``docs/splits.md`` has the rule for programs of other
languages.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from separatrix.core.base.arrays import Array, Booleans, Integers

# --- Hashes of row numbers

Hashes = NDArray[np.uint64]

# The constants of splitmix64 (Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators").
GOLDEN_GAMMA = 0x9E3779B97F4A7C15
MIXERS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))


def splitmix64(numbers: Integers | Hashes, state: int) -> Hashes:
    """The outputs with these numbers, from 0, of the generator splitmix64 that starts in a state.

    >>> splitmix64(np.arange(2), 1234567).tolist()
    [6457827717110365317, 3203168211198807973]
    """
    h = numbers.astype(np.uint64, copy=False) * np.uint64(GOLDEN_GAMMA)
    h += np.uint64((state + GOLDEN_GAMMA) % (1 << 64))
    for shift, factor in MIXERS:
        h ^= h >> np.uint64(shift)
        h *= np.uint64(factor)
    h ^= h >> np.uint64(31)
    return h


def hashes_of(rows: Integers | Hashes, seed: int = 0, stream: int = 0) -> Hashes:
    """The hashes of rows with these numbers, uniform on 0 … 2⁶⁴ − 1.

    They are outputs of splitmix64, which starts in the output number ``stream`` of a splitmix64 that starts in
    ``seed``. Different rows have different hashes, because every step is a bijection of 64-bit words. Hashes of
    different seeds and streams are independent of each other.
    """
    return splitmix64(rows, int(splitmix64(np.array([stream]), seed)[0]))


def row_hashes(start: int, n_rows: int, seed: int = 0, stream: int = 0) -> Hashes:
    """The hashes of rows start, start + 1, …, (n_rows,).

    >>> whole = row_hashes(0, 5)
    >>> bool(np.all(row_hashes(2, 3) == whole[2:])), len(set(whole.tolist()))
    (True, 5)
    """
    return hashes_of(np.arange(start, start + n_rows, dtype=np.uint64), seed, stream)


def uniform(hashes: Hashes) -> Array:
    """The hashes as numbers in [0, 1), with the 53 bits of a float64.

    >>> uniform(np.array([0, 1 << 63], dtype=np.uint64)).tolist()
    [0.0, 0.5]
    """
    return (hashes >> np.uint64(11)).astype(np.float64) * 2.0**-53


# --- Rows held out of a fit, and folds

# The streams of hashes that choose held-out rows and folds. They must be independent of each other and of those that
# draw samples.
HELD_OUT_STREAM, FOLD_STREAM = 2, 3
# In classes with up to this many rows, rows are ranked by their hashes, so that shares are exact. The share of a larger
# class has a standard deviation of √(share (1 − share)/n), which is less than half a percent.
MOST_RANKED = 10_000


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Holds a row out if its hash is below the threshold of its class. ``thresholds`` (K,) follow from the ``share``.

    >>> codes, rows = np.array([0] * 8 + [1] * 4), np.arange(12)
    >>> held = ClassHashes.of(codes, rows, 0, HELD_OUT_STREAM).held_out(0.25).held(codes, rows)
    >>> held[:8].sum().item(), held[8:].sum().item()
    (2, 1)
    """

    share: float
    seed: int
    thresholds: Hashes

    def held(self, codes: Integers, rows: Integers) -> Booleans:
        """Which rows are held out, by their class numbers and, from 0, their numbers in the table."""
        return np.asarray(hashes_of(rows, self.seed, HELD_OUT_STREAM) < self.thresholds[codes])


@dataclass(frozen=True, eq=False)
class Folds:
    """The folds of a table. ``ranked``: by class the sorted hashes of a class of at most ``MOST_RANKED`` rows.

    Of each of these classes, the rows are dealt to the folds in turn. The first class starts at fold 0, and every other
    one at the fold after the last to which rows of the class before were dealt.
    """

    n_folds: int
    seed: int
    ranked: dict[int, Hashes]

    def of(self, codes: Integers, rows: Integers) -> Integers:
        """The folds of rows by their class numbers and, from 0, their numbers in the table; −1 for class −1."""
        hashes = hashes_of(rows, self.seed, FOLD_STREAM)
        edges = [-(-(k << 64) // self.n_folds) for k in range(1, self.n_folds)]
        fold = np.where(codes < 0, -1, np.searchsorted(np.array(edges, dtype=np.uint64), hashes, side="right"))
        first = 0
        for k, ranked in self.ranked.items():
            members = np.flatnonzero(codes == k)
            fold[members] = (np.searchsorted(ranked, hashes[members]) + first) % self.n_folds
            first += len(ranked)
        return fold


@dataclass(frozen=True, eq=False)
class ClassHashes:
    """The number of rows of each class, (K,), and the hashes of a class of at most ``MOST_RANKED`` rows, by class."""

    seed: int
    counts: Integers
    hashes: dict[int, Hashes]

    @classmethod
    def of(cls, codes: Integers, rows: Integers, seed: int, stream: int, n_classes: int = 1) -> ClassHashes:
        """Those of rows with these class numbers and, from 0, numbers in the table. Class −1 is left out."""
        counts = np.bincount(codes[codes >= 0], minlength=n_classes)
        ranked = np.flatnonzero(counts <= MOST_RANKED)
        few = np.flatnonzero((codes >= 0) & (counts[codes] <= MOST_RANKED))
        few = few[np.argsort(codes[few], kind="stable")]
        by_class = np.split(hashes_of(rows[few], seed, stream), np.cumsum(counts[ranked]))
        return cls(seed, counts, dict(zip(ranked.tolist(), by_class, strict=False)))

    def merge(self, other: ClassHashes) -> ClassHashes:
        """Those of these rows and of others."""
        counts = self.counts + other.counts
        ranked = np.flatnonzero(counts <= MOST_RANKED).tolist()
        return ClassHashes(self.seed, counts, {k: np.concatenate([self.hashes[k], other.hashes[k]]) for k in ranked})

    def held_out(self, share: float) -> HeldOut:
        """The rule that holds out ``share`` of each class, rounded to whole rows, but never all rows of a class.

        >>> codes = np.array([0] * 6 + [1] * 5 + [2])
        >>> held = ClassHashes.of(codes, np.arange(12), 0, HELD_OUT_STREAM).held_out(0.25).held(codes, np.arange(12))
        >>> np.bincount(codes[held], minlength=3).tolist()
        [2, 1, 0]
        """
        thresholds = np.full(len(self.counts), int(share * 2.0**64), dtype=np.uint64)
        for k, hashes in self.hashes.items():
            n = len(hashes)
            taken = min(int(share * n + 0.5), n - 1)
            thresholds[k] = np.partition(hashes, taken)[taken] if n else 0
        return HeldOut(share, self.seed, thresholds)

    def folds(self, n_folds: int) -> Folds:
        """The rule that deals the rows to folds."""
        return Folds(n_folds, self.seed, {k: np.sort(hashes) for k, hashes in self.hashes.items()})


def held_out(codes: Integers, rows: Integers, share: float, seed: int) -> HeldOut:
    """The rule that holds out ``share`` of each class of rows in memory."""
    return ClassHashes.of(codes, rows, seed, HELD_OUT_STREAM).held_out(share)


def stratified_folds(codes: Integers, rows: Integers, n_folds: int, seed: int) -> Integers:
    """The fold of each row, (n,). Every class is spread evenly over the folds.

    All cross-validations draw their folds here, so one seed always gives the same folds.

    Parameters
    ----------
    codes : (n,) array of int
        The class of each row; −1 for a row that belongs to no fold.
    rows : (n,) array of int
        The number of each row in its table, from 0.
    n_folds : int
        The number of folds.
    seed : int
        The seed of the hashes.

    Examples
    --------
    >>> fold = stratified_folds(np.array([0] * 5 + [1] * 4), np.arange(9), 3, seed=0)
    >>> np.bincount(fold).tolist(), np.bincount(fold[5:]).tolist()
    ([3, 3, 3], [1, 1, 2])
    """
    return ClassHashes.of(codes, rows, seed, FOLD_STREAM).folds(n_folds).of(codes, rows)
