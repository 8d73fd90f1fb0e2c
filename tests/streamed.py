"""A home of rows that reads them anew for every pass, never holds them, and learns their number on the way.

It stands for a file that does not fit into memory: blocks come from a generator, ``resident()`` is None, ``n_rows`` is
None until all blocks have been read once, and rows cannot be had in a random order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from separatrix.rows import Block, Frame, Order, PassCounter, Rows, Sample
from separatrix.rows.csr import is_sparse
from separatrix.rows.labelled import labelled_rows
from separatrix.rows.sampling import draw


@dataclass
class _Learnt:
    """What all views of a stream have learnt of it."""

    n_rows: int | None = None


@dataclass(frozen=True)
class StreamedRows:
    """Blocks of ``size`` rows of a source that is asked for them again in every pass."""

    source: Rows  # only ``records`` reads it
    size: int
    frame: Frame
    counter: PassCounter = field(default_factory=PassCounter)
    learnt: _Learnt = field(default_factory=_Learnt)

    @property
    def n_rows(self) -> int | None:
        return self.learnt.n_rows

    @property
    def n_features(self) -> int:
        return self.source.n_features

    @property
    def weight_unit(self) -> float:
        return self.source.weight_unit

    def seen_through(self, frame: Frame) -> StreamedRows:
        return replace(self, frame=frame)

    def records(self, size: int) -> Iterator[Block]:
        """The rows, some at a time, as a reader makes them: copies, so that no view outlives its block."""
        whole: Any = self.source.resident()
        for start in range(0, whole.n_rows, size):
            part = whole.take(np.arange(start, min(start + size, whole.n_rows)))
            yield Block(part.X, part.t, part.weight, start, self.frame)
        self.learnt.n_rows = whole.n_rows

    def fold(self, partial):
        self.counter.add()
        total = partial.zero()
        for block in self.records(self.size):
            total = partial.add(total, block)
        return total

    def blocks(self, order: Order) -> Iterator[Block]:
        assert order.draw == "given", "a stream has one order; what needs another must have been refused"
        self.counter.add()
        yield from self.records(order.size)

    def sample(self, size: int, seed: int, targets=None) -> Sample:
        """The rows that a table in memory draws. A reader of real files would keep a reservoir instead."""
        self.counter.add()
        parts = list(self.records(self.size))
        X: Any = [part.X for part in parts]
        if is_sparse(X[0]):
            from scipy.sparse import vstack

            X = vstack(X, format="csr")
        else:
            X = np.concatenate(X)
        t, weight = (np.concatenate([getattr(part, name) for part in parts]) for name in ("t", "weight"))
        return draw(self, Block(X, t, weight, 0, self.frame), size, seed, targets)

    def resident(self) -> None:
        return None


def streamed(rows: Rows, size: int = 7) -> StreamedRows:
    """The same rows as a stream."""
    return StreamedRows(rows, size, rows.frame)


def streamed_labels(X, codes, n_classes, weight=None, size: int = 7) -> StreamedRows:
    """``labelled_rows`` as a stream."""
    return streamed(labelled_rows(X, codes, n_classes, weight), size)
