"""Converts Dask collections to a table that classifiers accept."""

from __future__ import annotations

from typing import Any

from separatrix.base.dask_types import is_dask
from separatrix.base.errors import ParameterError
from separatrix.cluster.cluster_table import ClusterTable
from separatrix.cluster.connection import connected, default_client
from separatrix.cluster.local import PartitionStream
from separatrix.cluster.partitions import partitions_of
from separatrix.rows.labelled import OutsideMemory


def dask_table(X: Any, y: Any, sample_weight: Any = None, cluster: Any = None) -> OutsideMemory:
    """A table that ``fit`` takes in place of X and y, made of Dask collections. Nothing is gathered in this process.

    ``fit(X, y)`` with Dask collections makes such a table and drops it at the end. Make one yourself to fit several
    classifiers to rows that the workers load only once.

    Parameters
    ----------
    X : Dask array (n, d) or Dask data frame
        The rows: numbers, dense or in sparse chunks. Chunk sizes may be unknown, and partitions may be empty.
    y : Dask array (n,), Dask series or array
        The labels. A partition need not have all classes.
    sample_weight : Dask array (n,), Dask series or array, optional
        Weights >= 0; a row of weight 2 counts as two rows.
    cluster : distributed.Client, cluster, str, optional
        Where the rows are held: a client, a cluster, the address of a scheduler, or ``"local"`` for processes of this
        machine. By default the client that Dask itself would use. If there is none, partitions are computed in this
        process in every pass, a few at a time.

    Returns
    -------
    OutsideMemory

    Examples
    --------
    >>> import dask.array as da
    >>> from separatrix import LogisticRegression
    >>> X, y = da.from_array([[0.0], [1.0], [2.0], [3.0]], chunks=2), da.from_array([0, 1, 0, 1], chunks=2)
    >>> LogisticRegression().fit(dask_table(X, y)).predict([[0.0], [3.0]]).tolist()
    [0, 1]
    """
    if not is_dask(X):
        raise ParameterError("X", f"got {type(X).__name__}", "give a Dask array or a Dask data frame")
    client = default_client() if cluster is None else connected(cluster)
    partitions = partitions_of(X, y, sample_weight)
    return PartitionStream(partitions) if client is None else ClusterTable(partitions, client)
