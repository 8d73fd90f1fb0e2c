"""Dask collections as a table, for functions that also take arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.base.dask_types import is_dask, is_data_frame
from separatrix.rows.labelled import OutsideMemory


def read_in_place(X: Any, y: Any, sample_weight: Any = None) -> tuple[Any, Any, Any]:
    """X, y and the weights as they are given; of Dask collections a table of all three, and None for y and the weights.

    So the rows of Dask collections are read where they are, and not gathered in this process.
    """
    if not is_dask(X):
        return X, y, sample_weight
    from separatrix.cluster.dask_collections import dask_table

    return dask_table(X, y, sample_weight), None, None


def shape_in_place(X: Any) -> tuple[int, int]:
    """The numbers of rows and columns of X. The rows of Dask collections are counted where they are.

    >>> import dask.array as da
    >>> shape_in_place(da.zeros((4, 3), chunks=2))
    (4, 3)
    """
    if isinstance(X, OutsideMemory):
        return X.n_rows, X.n_features
    if not is_dask(X):
        n_rows, n_columns = np.shape(X)
        return n_rows, n_columns
    import dask

    from separatrix.cluster.partitions import tasks

    parts = X.to_delayed() if is_data_frame(X) else X.rechunk({1: X.shape[1]}).to_delayed().ravel()
    return sum(dask.compute(*tasks(_n_rows, [(part,) for part in parts]))), X.shape[1]


def _n_rows(part: Any) -> int:
    """The number of rows of a partition: an array, a sparse matrix or a data frame."""
    return int(part.shape[0])
