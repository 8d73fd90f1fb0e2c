"""One local cluster for the tests of this folder: two worker processes with one thread each, on loopback."""

import pytest

pytest.importorskip("distributed", reason="Dask is not installed")

from distributed import Client, LocalCluster

from separatrix.core.cluster.connection import LOCAL_SETTINGS


@pytest.fixture(scope="package")
def client():
    with (
        LocalCluster(n_workers=2, **LOCAL_SETTINGS) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def as_default(client):
    """The client is the one that Dask uses."""
    with client.as_current():
        yield client
