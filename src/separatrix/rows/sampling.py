"""Random samples of rows, in which rows with rare entries are drawn with a higher probability.

If the variance of a column comes from few rows (a rare level, a far outlier), a uniform sample misjudges it. So rows
with such entries are drawn in addition, all of them if they are few, and every row is weighted by one over its
probability of being drawn (Horvitz and Thompson 1952).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.base.pieces import pieces
from separatrix.rows.block import ROWS_PER_COPY, Block
from separatrix.rows.csr import is_sparse
from separatrix.rows.frame import Frame
from separatrix.rows.protocol import Rows

# A column is rare if its participation ratio (Σ x²)²/Σ x⁴, the effective number of rows behind its variance, is below
# this number and below a tenth of the sample.
FEWEST_EFFECTIVE_ROWS = 150
# An entry of a rare column is rare if its square exceeds this share of the sample's Σ x².
RARE_ENTRY_SHARE = 0.003
# Blocks with fewer entries are searched by NumPy: importing the compiler's package would take longer.
FEWEST_ENTRIES_TO_COMPILE_SEARCH = 1 << 18


@dataclass(frozen=True)
class Sample:
    """Rows in the frame's coordinates with their weights; ``odds`` (m,): the probability that each was drawn."""

    block: Block
    odds: Array

    @property
    def n_rows(self) -> int:
        return self.block.n_rows

    @property
    def certain(self) -> AnyArray:
        """Which rows were drawn with probability one, (m,)."""
        return np.asarray(self.odds == 1)

    def standing_for(self, targets: AnyArray, totals: Array) -> Block:
        """The rows weighted by one over ``odds``, then rescaled so that the weights of each class sum to ``totals``."""
        weight, certain = self.block.weight / self.odds, self.certain
        for target, total in zip(targets, totals, strict=True):
            in_class = self.block.t == target
            rest = in_class & ~certain
            drawn, alone = float(weight[rest].sum()), float(weight[in_class & certain].sum())
            if drawn > 0:
                weight[rest] *= max(total - alone, 0.0) / drawn
        return replace(self.block, weight=weight)


def draw(rows: Rows, whole: Block, size: int, seed: int, targets: AnyArray | None) -> Sample:
    """A sample of about ``size`` rows of ``whole``, which holds all of ``rows``; all rows if there are no more.

    ``targets``: the value of t in each class. If given, the same number of rows is drawn from each class, or all its
    rows if it has fewer.
    """
    counted = whole.weight > 0  # rows with zero weight are not drawn
    if size >= len(counted):
        return Sample(whole, np.ones(len(counted)))
    if np.count_nonzero(counted) <= size:
        chosen = np.flatnonzero(counted)
        return Sample(whole.written_out(chosen), np.ones(len(chosen)))
    rng = np.random.default_rng(seed)
    groups = [counted] if targets is None else [counted & (whole.t == value) for value in targets]
    chosen = np.sort(np.concatenate([_some(np.flatnonzero(g), size // len(groups), rng) for g in groups]))
    block = whole.written_out(chosen)
    look = _rare_entries(block, whole.frame, whole.X[chosen[:1]])
    seen, odds = _odds(rows.fold(look), counted, size // 3) if len(look.columns) else (chosen[:0], np.empty(0))
    more = seen[rng.random(len(seen)) < odds]
    if len(more):
        chosen = np.union1d(chosen, more)
        del block  # frees the first copy before the second is made
        block = whole.written_out(chosen)
    missed = np.ones(len(chosen))  # the probability that neither draw takes the row
    for group in groups:
        missed[group[chosen]] = max(0.0, 1.0 - size // len(groups) / np.count_nonzero(group))
    _, here, there = np.intersect1d(chosen, seen, assume_unique=True, return_indices=True)
    missed[here] *= 1.0 - odds[there]
    return Sample(block, 1.0 - missed)


def _some(rows: Integers, size: int, rng: np.random.Generator) -> Integers:
    """``size`` of the rows, or all if there are fewer."""
    return rows if len(rows) <= size else rows[rng.choice(len(rows), size, replace=False, shuffle=False)]


@dataclass(frozen=True)
class _RareEntries:
    """Finds the entries of ``columns`` further than ``far`` from ``base``, all in raw units.

    Its total is (2, entries): the row of each entry and its position in ``columns``.
    """

    columns: Integers
    base: Array
    far: Array

    def zero(self) -> Integers:
        return np.empty((2, 0), dtype=np.int64)

    def add(self, total: Integers, block: Block) -> Integers:
        X: Any = block.X
        if is_sparse(X):  # the base of a rare CSR column is the zero that is not stored
            place = np.full(X.shape[1], -1)
            place[self.columns] = np.arange(len(self.columns))
            entry = np.flatnonzero(place[X.indices] >= 0)
            column = place[X.indices[entry]]
            entry, column = (part[np.abs(X.data[entry]) > self.far[column]] for part in (entry, column))
            row = np.searchsorted(X.indptr, entry, side="right") - 1
        else:
            row, column = self._beyond(X)
        return self.merge(total, np.array([block.start + row, column], dtype=np.int64))

    def _beyond(self, X: Any) -> Integers:
        """The row and the position in ``columns`` of each such entry of dense rows; compiled for large blocks."""
        if X.size < FEWEST_ENTRIES_TO_COMPILE_SEARCH or not X.flags.c_contiguous:
            return np.array(np.nonzero(np.abs(X[:, self.columns] - self.base) > self.far))
        from separatrix.kernels.dense import count_beyond, places_beyond

        base, far = np.zeros(X.shape[1]), np.full(X.shape[1], np.inf)
        base[self.columns], far[self.columns] = self.base, self.far
        count = np.empty(len(X), dtype=np.int64)
        count_beyond(X, base, far, count)
        places = np.empty((2, int(count.sum())), dtype=np.int64)
        places_beyond(X, base, far, count, places)
        places[1] = np.searchsorted(self.columns, places[1])
        return places

    def merge(self, a: Integers, b: Integers) -> Integers:
        return np.concatenate([a, b], axis=1)


def _rare_entries(sample: Block, frame: Frame, first: Any) -> _RareEntries:
    """The search for rare entries in all rows, derived from a framed sample; ``first``: its first row, (1, d), raw."""
    X: Any = sample.X
    d = X.shape[1]
    if is_sparse(X):
        size = np.abs(X.data.astype(np.float64)) / frame.scale[X.indices]
        energy, fourth = (np.bincount(X.indices, size**k, d).astype(np.float64) for k in (2, 4))
        base = np.zeros(d)
    else:
        middle = X.mean(axis=0)
        energy, fourth = np.zeros(d), np.zeros(d)
        for part in pieces(len(X), ROWS_PER_COPY):
            square = (X[part] - middle) ** 2
            energy += square.sum(axis=0)
            fourth += np.einsum("ij,ij->j", square, square)
        still = np.flatnonzero(energy <= len(X) * 1e-20 * (1.0 + middle**2))
        still = still[np.all(X[:, still] == X[0, still], axis=0)]
        energy[still] = 0.0
        base = frame.center + middle * np.where(np.isfinite(frame.scale), frame.scale, 0.0)
        base[still] = first[0, still]
    few = min(FEWEST_EFFECTIVE_ROWS, sample.n_rows / 10)
    rare = np.isfinite(frame.scale) & ((energy == 0) | (energy**2 < few * fourth))
    columns = np.flatnonzero(rare)
    return _RareEntries(columns, base[columns], np.sqrt(RARE_ENTRY_SHARE * energy[columns]) * frame.scale[columns])


def _odds(entries: Integers, counted: AnyArray, most: int) -> tuple[Integers, Array]:
    """The rows with rare entries, and the probability of drawing each: every column gets the same number, or all."""
    row, column = entries[:, counted[entries[0]]]
    if len(row) == 0:
        return row, np.empty(0)
    _, place, count = np.unique(column, return_inverse=True, return_counts=True)
    by_column = np.minimum(1.0, np.clip(most // len(count), 1, FEWEST_EFFECTIVE_ROWS) / count)
    seen, where = np.unique(row, return_inverse=True)
    odds = np.zeros(len(seen))
    np.maximum.at(odds, where, by_column[place])
    return seen, odds
