"""Rows on a Dask cluster. This is the only package that imports Dask, and only when it is asked for.

The workers load the partitions of a table once and keep them (``held``). A pass sends each worker one sum (``rows``),
and the totals are merged in the order in which rows in memory are summed (``cuts``). ``connection`` chooses the client
and waits for results, ``partitions`` and ``labels`` read Dask collections, ``predictions`` applies a fitted model.
"""

from separatrix.cluster.dispatch import is_dask, is_data_frame

__all__ = ["is_dask", "is_data_frame"]
