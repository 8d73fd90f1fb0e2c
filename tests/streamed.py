"""Rows that are read again in every pass, made of rows in memory, for the laws that hold for streams as well.

The source hands out copies of ``size`` rows at a time, so that no view outlives its piece. The blocks that are summed
are cut anew from these pieces, as for a file.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.core.rows.labelled_table import labelled_rows
from separatrix.core.rows.protocol import Rows
from separatrix.core.rows.streamed import Piece, StreamedRows


@dataclass
class CopiedPieces:
    """A source that copies some rows of others at a time. ``reads`` counts how often it was read."""

    rows: Rows
    size: int
    name: str = "a stream of a test"
    reads: int = 0
    reads_ahead: bool = False

    @property
    def n_features(self) -> int:
        return self.rows.n_features

    @property
    def is_sparse(self) -> bool:
        return self.rows.is_sparse

    def pieces(self) -> Iterator[Piece]:
        self.reads += 1
        whole: Any = self.rows.resident()
        for start in range(0, whole.n_rows, self.size):
            part = whole.take(np.arange(start, min(start + self.size, whole.n_rows)))
            X = part.X if self.is_sparse else np.ascontiguousarray(part.X)
            yield Piece(X, part.t, part.weight)


def streamed(rows: Rows, size: int = 7) -> StreamedRows:
    """The same rows as a stream that is read ``size`` rows at a time."""
    return StreamedRows(CopiedPieces(rows, size), rows.frame, weight_unit=rows.weight_unit)


def streamed_labels(X, codes, n_classes, weight=None, size: int = 7) -> StreamedRows:
    """``labelled_rows`` as a stream."""
    return streamed(labelled_rows(X, codes, n_classes, weight), size)
