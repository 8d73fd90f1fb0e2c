"""Rows on a Dask cluster. This is the only package that imports Dask, and it does so only when it is used.

The workers load the partitions of a table once and keep them (``held``). A pass sends each worker one sum
(``cluster_rows``), and the totals are merged in the same order as for rows in memory (``cuts``). ``connection`` chooses
the client and waits for results, ``partitions`` and ``partition_labels`` read Dask collections, and ``predictions``
applies a fitted model.
"""
