"""``--cluster``: the workers of a Dask cluster read the table, and keep its rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from separatrix.base.errors import ParameterError
from separatrix.cli import terminal

if TYPE_CHECKING:
    from separatrix.streams.encoded_on_cluster import ClusterPasses
    from separatrix.table.formats import Source

cluster_option = click.option(
    "--cluster",
    metavar="ADDRESS",
    help="Let the workers of a Dask cluster read the Parquet or CSV files of DATA: the address of a scheduler, such as "
    "tcp://host:8786 or tls://host:8786, or local for processes of this machine. TLS settings are those of Dask's "
    "configuration. The command waits up to 60 seconds for a scheduler and workers (DASK_SEPARATRIX__WORKER_TIMEOUT).",
)


def refuse_with_cluster(cluster: str | None, given: dict[str, Any]) -> None:
    """Refuse options that have no meaning when the workers of a cluster keep the rows."""
    for option, value in given.items():
        if cluster is not None and value is not None:
            problem = "the workers of a cluster keep all rows in their memory"
            raise ParameterError(option, problem, f"leave out {option} or --cluster")


@contextmanager
def passes_on(cluster: str, source: Source) -> Iterator[tuple[ClusterPasses, str]]:
    """The passes of workers over a table, and the sentence that says so. The connection ends with the block."""
    from separatrix.cluster.connection import workers
    from separatrix.streams.encoded_on_cluster import cluster_passes
    from separatrix.table.formats.batched import batched

    try:
        with terminal.working(f"connecting to {cluster}"):
            passes = cluster_passes(batched(source), source, cluster)
    except ParameterError as error:
        named = "--cluster" if error.argument == "cluster" else error.argument
        raise ParameterError(named, error.problem, error.remedy) from error
    try:
        n = len(workers(passes.client))
        yield passes, f"The table is read by the {terminal.count(n, 'worker')} of the cluster (--cluster)."
    finally:
        passes.client.close()
