"""One local cluster for the tests of this folder: two worker processes with one thread each, on loopback."""

import pytest

pytest.importorskip("distributed", reason="Dask is not installed")

from distributed import Client, LocalCluster


@pytest.fixture(scope="package")
def client():
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def as_default(client):
    """The client is the one that Dask uses."""
    with client.as_current():
        yield client
