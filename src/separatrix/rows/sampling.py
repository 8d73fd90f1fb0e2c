"""Rows that stand for all: drawn at random, and with better odds those that carry what hardly any row has.

A column whose spread comes from few rows (a rare level, a far outlier) is misjudged by a sample of the others. So of
each such column some rows are drawn beside, all where they are few, and every row counts by one over its odds
(Horvitz and Thompson 1952).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.rows.block import CHUNK, Block, Frame, is_sparse
from separatrix.rows.protocol import Rows

# A column is rare where the spread of the sample comes from fewer rows than this (and a tenth of it), by the
# participation ratio (Σ x²)²/Σ x⁴; its rows are those with more than this share of the sample's Σ x².
RARE, SHARE = 150, 0.003
# Blocks of fewer entries are looked through before the compiler's package has been imported.
FEWEST_COMPILED = 1 << 18


@dataclass(frozen=True)
class Sample:
    """Rows written out in the frame's coordinates, with weights of their own; ``odds``: of being drawn, (m,)."""

    block: Block
    odds: Array

    @property
    def n_rows(self) -> int:
        return self.block.n_rows

    @property
    def certain(self) -> AnyArray:
        """Which rows stand for themselves alone, (m,)."""
        return np.asarray(self.odds == 1)

    def standing_for(self, targets: AnyArray, totals: Array) -> Block:
        """The rows weighted by one over their odds, then so that each class counts as in all rows, with ``totals``."""
        weight, certain = self.block.weight / self.odds, self.certain
        for target, total in zip(targets, totals, strict=True):
            own = self.block.t == target
            rest = own & ~certain
            drawn, alone = float(weight[rest].sum()), float(weight[own & certain].sum())
            if drawn > 0:
                weight[rest] *= max(total - alone, 0.0) / drawn
        return replace(self.block, weight=weight)


def draw(rows: Rows, whole: Block, size: int, seed: int, targets: AnyArray | None) -> Sample:
    """About ``size`` rows of ``whole``, which holds all of ``rows``; all of them where they are no more.

    ``targets``: what t is in each class; then of each class the same number, or all its rows where they are fewer.
    """
    counted = whole.weight > 0  # rows without weight stand for nothing
    if size >= len(counted):
        return Sample(whole, np.ones(len(counted)))
    if np.count_nonzero(counted) <= size:
        chosen = np.flatnonzero(counted)
        return Sample(whole.written_out(chosen), np.ones(len(chosen)))
    rng = np.random.default_rng(seed)
    groups = [counted] if targets is None else [counted & (whole.t == value) for value in targets]
    chosen = np.sort(np.concatenate([_some(np.flatnonzero(g), size // len(groups), rng) for g in groups]))
    block = whole.written_out(chosen)
    look = _rare_entries(block, whole.frame, whole.X[chosen[0]])
    seen, odds = _odds(rows.fold(look), counted, size // 3) if len(look.columns) else (chosen[:0], np.empty(0))
    more = seen[rng.random(len(seen)) < odds]
    if len(more):
        chosen = np.union1d(chosen, more)
        del block  # one copy at a time
        block = whole.written_out(chosen)
    missed = np.ones(len(chosen))  # the odds that a row is drawn neither as any other nor for a rare column
    for group in groups:
        missed[group[chosen]] = max(0.0, 1.0 - size // len(groups) / np.count_nonzero(group))
    _, here, there = np.intersect1d(chosen, seen, assume_unique=True, return_indices=True)
    missed[here] *= 1.0 - odds[there]
    return Sample(block, 1.0 - missed)


def _some(rows: Integers, size: int, rng: np.random.Generator) -> Integers:
    """``size`` of the rows, or all where they are fewer."""
    return rows if len(rows) <= size else rows[rng.choice(len(rows), size, replace=False, shuffle=False)]


@dataclass(frozen=True)
class _RareEntries:
    """The partial that finds entries of ``columns`` further than ``far`` from ``base``, all in raw units.

    Its total is (2, entries): row and place among the columns.
    """

    columns: Integers
    base: Array
    far: Array

    def zero(self) -> Integers:
        return np.empty((2, 0), dtype=np.int64)

    def add(self, total: Integers, block: Block) -> Integers:
        X: Any = block.X
        if is_sparse(X):  # where a CSR column is rare its base is the zero that is not stored
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
        """Row and place among the columns of each such entry of dense rows; by compiled sweeps where they are many."""
        if X.size < FEWEST_COMPILED or not X.flags.c_contiguous:
            return np.array(np.nonzero(np.abs(X[:, self.columns] - self.base) > self.far))
        from separatrix.kernels.dense import count_beyond, places_beyond

        base, far = np.zeros(X.shape[1]), np.full(X.shape[1], np.inf)
        base[self.columns], far[self.columns] = self.base, self.far
        count = np.empty(len(X), dtype=np.int64)
        count_beyond(X, base, far, count)
        found = np.empty((2, int(count.sum())), dtype=np.int64)
        places_beyond(X, base, far, count, found)
        found[1] = np.searchsorted(self.columns, found[1])
        return found

    def merge(self, a: Integers, b: Integers) -> Integers:
        return np.concatenate([a, b], axis=1)


def _rare_entries(sample: Block, frame: Frame, first: Any) -> _RareEntries:
    """What to look for in all rows, judged by a sample that is written out; ``first``: its first row as it came."""
    X: Any = sample.X
    d = X.shape[1]
    if is_sparse(X):
        size = np.abs(X.data.astype(np.float64)) / frame.scale[X.indices]
        energy, fourth = (np.bincount(X.indices, size**k, d).astype(np.float64) for k in (2, 4))
        base = np.zeros(d)
    else:
        middle = X.mean(axis=0)
        energy, fourth = np.zeros(d), np.zeros(d)
        for start in range(0, len(X), CHUNK):
            square = (X[start : start + CHUNK] - middle) ** 2
            energy += square.sum(axis=0)
            fourth += np.einsum("ij,ij->j", square, square)
        still = np.flatnonzero(energy <= len(X) * 1e-20 * (1.0 + middle**2))
        still = still[np.all(X[:, still] == X[0, still], axis=0)]
        energy[still] = 0.0
        base = frame.center + middle * np.where(np.isfinite(frame.scale), frame.scale, 0.0)
        base[still] = first[still]
    few = min(RARE, sample.n_rows / 10)
    rare = np.isfinite(frame.scale) & ((energy == 0) | (energy**2 < few * fourth))
    columns = np.flatnonzero(rare)
    return _RareEntries(columns, base[columns], np.sqrt(SHARE * energy[columns]) * frame.scale[columns])


def _odds(entries: Integers, counted: AnyArray, most: int) -> tuple[Integers, Array]:
    """Rows of rare columns, and the odds to draw each: so that a column has as many as any other, or all its rows."""
    row, column = entries[:, counted[entries[0]]]
    if len(row) == 0:
        return row, np.empty(0)
    _, place, count = np.unique(column, return_inverse=True, return_counts=True)
    by_column = np.minimum(1.0, np.clip(most // len(count), 1, RARE) / count)
    seen, where = np.unique(row, return_inverse=True)
    odds = np.zeros(len(seen))
    np.maximum.at(odds, where, by_column[place])
    return seen, odds
