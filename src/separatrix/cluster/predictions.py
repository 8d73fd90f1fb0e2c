"""Predictions of a fitted model for Dask collections: a Dask array, computed by partition when it is used."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray
from separatrix.base.dask_types import is_data_frame


@dataclass(frozen=True)
class _PartAnswer:
    """The answer for a partition, which may have no rows. ``empty``: the answer for no rows."""

    answer: Callable[[Any], AnyArray]
    empty: AnyArray

    def __call__(self, rows: Any) -> AnyArray:
        return self.answer(rows) if rows.shape[0] else self.empty


def answered(X: Any, answer: Callable[[Any], AnyArray]) -> Any:
    """A Dask array with what ``answer`` returns for the rows of X, an array or a data frame.

    The model immediately predicts one row of zeros, which checks that its columns are those of X before any partition
    is computed.
    """
    first = answer(_row_of_zeros(X))
    part = _PartAnswer(answer, first[:0])
    return _of_frame(X, part) if is_data_frame(X) else _of_array(X, part)


def _row_of_zeros(X: Any) -> Any:
    if is_data_frame(X):
        frame = type(X._meta)  # the index of pandas
        return frame(np.zeros((1, len(X.columns))), columns=X.columns).astype(dict(X.dtypes.items()))
    return np.zeros((1, *X.shape[1:]), dtype=X.dtype)


def _of_array(X: Any, part: _PartAnswer) -> Any:
    whole = X.rechunk({1: X.shape[1]})
    if part.empty.ndim == 1:
        return whole.map_blocks(part, drop_axis=1, dtype=part.empty.dtype, meta=part.empty)
    chunks = (whole.chunks[0], (part.empty.shape[1],))
    return whole.map_blocks(part, chunks=chunks, dtype=part.empty.dtype, meta=part.empty)


def _of_frame(X: Any, part: _PartAnswer) -> Any:
    import dask.array as da

    from separatrix.cluster.partitions import tasks

    shape = (np.nan, *part.empty.shape[1:])
    each = [da.from_delayed(one, shape, part.empty.dtype) for one in tasks(part, [(rows,) for rows in X.to_delayed()])]
    return da.concatenate(each, allow_unknown_chunksizes=True)
