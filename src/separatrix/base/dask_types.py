"""Which arguments are Dask collections. This module imports neither Dask nor NumPy, so that every fit can use it."""

from __future__ import annotations


def is_dask(given: object) -> bool:
    """Whether an argument is a Dask array, data frame or series. Dask is not imported.

    >>> is_dask([[1.0]])
    False
    """
    return type(given).__module__.partition(".")[0] in ("dask", "dask_expr")


def is_data_frame(given: object) -> bool:
    """Whether a Dask collection is a data frame. A series has ``columns``, too."""
    return is_dask(given) and hasattr(given, "columns") and getattr(given, "ndim", 1) == 2


def is_dask_table(given: object) -> bool:
    """Whether an argument is a Dask array of two dimensions or a Dask data frame, and so may hold rows."""
    return is_dask(given) and getattr(given, "ndim", 1) == 2
