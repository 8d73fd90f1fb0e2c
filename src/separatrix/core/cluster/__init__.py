"""Rows in the memory of the workers of a Dask cluster. Dask is imported only here, and only when it is used."""

from __future__ import annotations

from typing import Any

from separatrix.core.base.lazy import is_dask


def read_in_place(X: Any, y: Any, sample_weight: Any = None) -> tuple[Any, Any, Any]:
    """X, y and the weights as they are given; of Dask collections a table of all three, and None for y and the weights.

    So the rows of Dask collections are read where they are, and not gathered in this process.
    """
    if not is_dask(X):
        return X, y, sample_weight
    from separatrix.core.cluster.cluster_rows import dask_table

    return dask_table(X, y, sample_weight), None, None
