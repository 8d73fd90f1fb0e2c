"""Rows in memory, dense or CSR: the block knows which, so one home serves both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from separatrix.arrays import AnyArray, Array, Integers, Matrix
from separatrix.rows.block import Block, Frame, as_csr, is_sparse
from separatrix.rows.seam import BLOCK_BYTES, Order, Partial, count_pass, fold_strands

A = TypeVar("A")


@dataclass(frozen=True)
class MemoryRows:
    """X (n, d) dense or CSR, targets t (n,), weights (n,), seen through a frame.

    >>> rows = memory_rows(np.eye(3), np.array([1.0, -1.0, 1.0]))
    >>> rows.n_rows, rows.n_features
    (3, 3)
    """

    X: Matrix
    t: AnyArray
    weight: Array
    frame: Frame

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])

    def seen_through(self, frame: Frame) -> MemoryRows:
        """The same rows in other coordinates; nothing is copied."""
        return replace(self, frame=frame)

    def _cut(self, start: int, stop: int) -> Block:
        part = slice(start, stop)
        return Block(self.X[part], self.t[part], self.weight[part], start, self.frame)

    @cached_property
    def _edges(self) -> Integers:
        """Where blocks begin and end: about BLOCK_BYTES of values each, by the data and not by the threads."""
        n, d = self.n_rows, self.n_features
        if is_sparse(self.X):
            X: Any = self.X
            filled = X.indptr.astype(np.int64) * 12  # eight bytes of value, four of index
            cuts = np.searchsorted(filled, np.arange(BLOCK_BYTES, filled[-1], BLOCK_BYTES))
            by_rows = np.arange(0, n, BLOCK_BYTES // 16)  # rows with few values still cost their score
            return np.unique(np.concatenate([[0], cuts, by_rows, [n]])).astype(np.int64)
        size = max(1, BLOCK_BYTES // max(1, d * 8))
        return np.append(np.arange(0, n, size), n).astype(np.int64)

    def fold(self, partial: Partial[A]) -> A:
        count_pass()
        return fold_strands(_Cuts(self, self._edges), partial)

    def blocks(self, order: Order) -> Iterator[Block]:
        """Batches of ``order.size`` rows; a batch of rows as given is a view."""
        n = self.n_rows
        if order.draw == "given":
            for start in range(0, n, order.size):
                yield self._cut(start, min(start + order.size, n))
            return
        chosen = order.rows(n)
        whole = self._cut(0, n)
        for start in range(0, n, order.size):
            yield whole.take(chosen[start : start + order.size])

    def sample(self, size: int, seed: int, targets: AnyArray | None = None) -> Block:
        """About ``size`` rows drawn at random, written out, and a few more so that no varying column is constant.

        ``targets``: what t is in each class; then of each class the same number, or all its rows where they are fewer.
        """
        n = self.n_rows
        whole = self._cut(0, n)
        if size >= n:
            return whole
        rng = np.random.default_rng(seed)
        counted = self.weight > 0  # rows without weight stand for nothing
        if np.count_nonzero(counted) <= size:
            return whole.written_out(np.flatnonzero(counted))
        groups = [counted] if targets is None else [counted & (self.t == value) for value in targets]
        drawn = [_some(np.flatnonzero(group), size // len(groups), rng) for group in groups]
        chosen = np.sort(np.concatenate(drawn))
        return whole.written_out(np.union1d(chosen, _rows_that_vary(self.X, chosen)))

    def resident(self) -> Block | None:
        return self._cut(0, self.n_rows)


@dataclass(frozen=True)
class _Cuts(Sequence[Block]):
    """The blocks between the edges, cut only when asked for."""

    rows: MemoryRows
    edges: Integers

    def __len__(self) -> int:
        return max(0, len(self.edges) - 1)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[k] for k in range(*index.indices(len(self)))]
        return self.rows._cut(int(self.edges[index]), int(self.edges[index + 1]))


def _some(rows: Integers, size: int, rng: np.random.Generator) -> Integers:
    """``size`` of the rows, or all where they are fewer."""
    return rows if len(rows) <= size else rows[rng.choice(len(rows), size, replace=False, shuffle=False)]


def _rows_that_vary(X: Matrix, chosen: Integers) -> Integers:
    """For each column that is constant over the chosen rows but not over all, one row where it differs."""
    extra: list[int] = []
    if is_sparse(X):
        csr: Any = X
        filled = np.bincount(csr[chosen].indices, minlength=csr.shape[1])
        absent = np.flatnonzero((filled == 0)[csr.indices])
        first = absent[np.unique(csr.indices[absent], return_index=True)[1]]
        return np.searchsorted(csr.indptr, first, side="right").astype(np.int64) - 1
    dense: Any = X
    part = dense[chosen]
    for j in np.flatnonzero(np.all(part == part[0], axis=0)):
        differs = np.asarray(dense[:, j] != part[0, j])
        if differs.any():
            extra.append(int(np.argmax(differs)))
    return np.asarray(extra, dtype=np.int64)


def memory_rows(X: Any, t: AnyArray, weight: Array | None = None, frame: Frame | None = None) -> MemoryRows:
    """Rows over arrays in memory; weights default to 1, the frame to the identity."""
    matrix: Matrix = as_csr(X) if is_sparse(X) else np.asarray(X)
    n, d = matrix.shape
    return MemoryRows(
        matrix, t, np.ones(n) if weight is None else weight, Frame.identity(d) if frame is None else frame
    )
