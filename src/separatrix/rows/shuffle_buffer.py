"""Rows of a stream in random order, with a bounded number of them in memory.

The rows are read in chunks, and the buffer holds as many rows as a chunk. Each new chunk is put together with the rows
in the buffer. From both, as many rows as the chunk has are drawn at random and leave; the others stay in the buffer. So
a row can be delayed by any number of rows, but can move forward by at most the length of the buffer. A table that is
not longer than a chunk is shuffled completely. On a longer table the order is not uniform: rows that are far apart in
the source tend to keep their order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from separatrix.base.arrays import Integers
from separatrix.base.pieces import pieces
from separatrix.rows.block import Block
from separatrix.rows.csr import stacked

# Bytes of a chunk. The buffer, the chunk that joins it and the copy of both take about four times as much.
CHUNK_BYTES = 1 << 24


def shuffled_batches(chunks: Iterator[Block], size: int, rng: np.random.Generator) -> Iterator[Block]:
    """Batches of ``size`` rows, the last one perhaps smaller. The order depends on the chunks and on ``rng`` alone.

    >>> from separatrix.rows import Order, memory_rows
    >>> rows = memory_rows(np.zeros((10, 1)), np.arange(10))
    >>> batches = list(shuffled_batches(rows.blocks(Order(4)), 3, np.random.default_rng(0)))
    >>> [len(batch.t) for batch in batches], sorted(np.concatenate([batch.t for batch in batches]).tolist())
    ([3, 3, 3, 1], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    """
    waiting: Block | None = None  # fewer rows than a batch
    for drawn in _drawn(chunks, rng):
        rows = drawn if waiting is None else _joined(waiting, drawn)
        whole = rows.n_rows - rows.n_rows % size
        for part in pieces(whole, size):
            yield rows.take(part)
        waiting = rows.take(slice(whole, None)) if whole < rows.n_rows else None
    if waiting is not None:
        yield waiting


def _drawn(chunks: Iterator[Block], rng: np.random.Generator) -> Iterator[Block]:
    """All rows in random order, in blocks of the chunks' lengths."""
    buffer: Block | None = None
    for chunk in chunks:
        if buffer is None:
            buffer = chunk
            continue
        both = _joined(buffer, chunk)
        order: Integers = rng.permutation(both.n_rows)
        yield both.take(order[: chunk.n_rows])
        buffer = both.take(order[chunk.n_rows :])
    if buffer is not None:
        yield buffer.take(rng.permutation(buffer.n_rows))


def _joined(first: Block, second: Block) -> Block:
    X, t, weight = (stacked([getattr(part, name) for part in (first, second)]) for name in ("X", "t", "weight"))
    return replace(first, X=X, t=t, weight=weight, kept=False)
