"""Dask collections as a table, for functions that also take arrays."""

from __future__ import annotations

from typing import Any

from separatrix.base.dask_types import is_dask_table


def read_in_place(X: Any, y: Any, sample_weight: Any = None) -> tuple[Any, Any, Any]:
    """X, y and the weights as they are given; of Dask collections a table of all three, and None for y and the weights.

    So the rows of Dask collections are read where they are, and not gathered in this process.
    """
    if not is_dask_table(X):
        return X, y, sample_weight
    from separatrix.cluster.dask_collections import dask_table

    return dask_table(X, y, sample_weight), None, None
