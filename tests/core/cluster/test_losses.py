"""Workers and schedulers that go away in the middle of a pass."""

import os
import signal
import subprocess
import sys
import threading
import time

import dask
import numpy as np
import pytest
from distributed import Client, LocalCluster

import separatrix as sx
from separatrix.core.base.errors import ClusterError
from separatrix.core.cluster.cluster_rows import ClusterRows, dask_table
from separatrix.core.cluster.connection import LOCAL_SETTINGS, connected
from separatrix.core.rows.labelled_table import MemoryTable
from separatrix.core.rows.targets import CLASS_NUMBERS
from tests.core.cluster.tables import from_file, labelled

CHUNKS = (40_000, 1, 70_007, 0, 39_992)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    X, y = labelled(sum(CHUNKS), 8)
    folder = tmp_path_factory.mktemp("table")
    return X, y, from_file(X, folder / "X.npy", CHUNKS), from_file(y, folder / "y.npy", CHUNKS)


@pytest.fixture(scope="module")
def restarting_client():
    """A cluster whose workers are started again when a test has killed them."""
    with (
        LocalCluster(n_workers=2, silence_logs=60, **LOCAL_SETTINGS) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def own_client(restarting_client):
    """Two workers that a test may kill."""
    restarting_client.wait_for_workers(2, timeout=60)
    return restarting_client


def pids(client):
    """The processes of the workers, without their nannies."""
    return list(client.run(os.getpid).values())


class SlowSum:
    """Σ x, which leaves a mark when a worker has begun, and then takes its time."""

    def __init__(self, folder, seconds):
        self.folder, self.seconds = str(folder), seconds

    def zero(self):
        return np.zeros(8)

    def add(self, total, block):
        open(f"{self.folder}/{os.getpid()}", "a").close()
        time.sleep(self.seconds)
        return total + np.asarray(block.X).sum(axis=0)

    def merge(self, a, b):
        return a + b


def when_begun(folder, count, action):
    """Run an action in a thread as soon as ``count`` processes have begun to sum."""

    def watch():
        end = time.monotonic() + 60
        while len(os.listdir(folder)) < count and time.monotonic() < end:
            time.sleep(0.01)
        action()

    thread = threading.Thread(target=watch)
    thread.start()
    return thread


def memory_sum(X, y, partial):
    return MemoryTable(X, (y == "yes").astype(np.int64), np.ones(len(y)), 2).rows(CLASS_NUMBERS).fold(partial)


@pytest.mark.parametrize("lost", [pytest.param("one", marks=pytest.mark.slow), "all"])
def test_workers_that_are_killed_in_a_pass_change_no_bit(own_client, table, tmp_path, lost):
    X, y, *on_dask = table
    rows = dask_table(*on_dask, cluster=own_client).rows(CLASS_NUMBERS)
    there = pids(own_client)
    victims = there if lost == "all" else there[:1]

    def kill():
        for pid in victims:
            os.kill(pid, signal.SIGKILL)

    thread = when_begun(tmp_path, 2, kill)
    total = rows.fold(SlowSum(tmp_path, 0.05))
    thread.join()
    assert len(os.listdir(tmp_path)) > (2 if lost == "all" else 1), "another process went on"
    np.testing.assert_array_equal(total, memory_sum(X, y, SlowSum(tmp_path, 0)))
    # The rows have been loaded again, and fits go on.
    ours, theirs = sx.LogisticRegression().fit(dask_table(*on_dask, cluster=own_client)), sx.LogisticRegression()
    np.testing.assert_array_equal(ours.coef_, theirs.fit(X, y).coef_)


def test_a_worker_that_stands_still_for_a_while_is_waited_for(own_client, table, tmp_path):
    X, y, *on_dask = table
    rows = dask_table(*on_dask, cluster=own_client).rows(CLASS_NUMBERS)
    pid = pids(own_client)[1]

    def pause():
        os.kill(pid, signal.SIGSTOP)
        time.sleep(1)
        os.kill(pid, signal.SIGCONT)

    thread = when_begun(tmp_path, 2, pause)
    total = rows.fold(SlowSum(tmp_path, 0.05))
    thread.join()
    np.testing.assert_array_equal(total, memory_sum(X, y, SlowSum(tmp_path, 0)))


def test_without_workers_a_fit_ends_within_the_stated_time(table, tmp_path):
    _, _, *on_dask = table
    with (
        dask.config.set({"separatrix.worker-timeout": "1s"}),
        LocalCluster(n_workers=1, silence_logs=60, **LOCAL_SETTINGS) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        rows = dask_table(*on_dask, cluster=client).rows(CLASS_NUMBERS)
        thread = when_begun(tmp_path, 1, lambda: cluster.scale(0))
        begin = time.monotonic()
        with pytest.raises(ClusterError, match=r"no worker for 1 second.*worker-timeout"):
            rows.fold(SlowSum(tmp_path, 0.5))
        assert time.monotonic() - begin < 30
        thread.join()
        with pytest.raises(ClusterError, match="no worker for 1 second"):
            sx.LogisticRegression().fit(dask_table(*on_dask, cluster=client))


SCHEDULER = "from distributed.cli.dask_scheduler import main; main()"
WORKER = "from distributed.cli.dask_worker import main; main()"


def started(code, *arguments):
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def test_a_scheduler_that_goes_away_is_an_error(table, tmp_path):
    _, _, *on_dask = table
    address_file = tmp_path / "scheduler.json"
    quiet = ["--no-dashboard", "--scheduler-file", str(address_file)]
    scheduler = started(SCHEDULER, "--host", "127.0.0.1", "--port", "0", *quiet)
    worker = started(WORKER, "--host", "127.0.0.1", "--nthreads", "1", "--no-nanny", "--death-timeout", "20", *quiet)
    marks = tmp_path / "marks"
    marks.mkdir()
    try:
        end = time.monotonic() + 60
        while not address_file.exists() and time.monotonic() < end:
            time.sleep(0.05)
        with Client(scheduler_file=str(address_file), set_as_default=False) as client:
            rows = dask_table(*on_dask, cluster=client).rows(CLASS_NUMBERS)
            thread = when_begun(marks, 1, scheduler.kill)
            with pytest.raises(ClusterError, match=r"contact with the scheduler at tcp://127.0.0.1:.* was lost"):
                rows.fold(SlowSum(marks, 0.5))
            thread.join()
    finally:
        for process in (scheduler, worker):
            process.kill()
            process.wait()


def test_no_scheduler_at_an_address():
    with (
        dask.config.set({"separatrix.worker-timeout": "1s"}),
        pytest.raises(ClusterError, match=r"no scheduler answers at tcp://127.0.0.1:1"),
    ):
        connected("tcp://127.0.0.1:1")


@pytest.mark.parametrize("address", ["nonsense", "", "host:port", "smoke://host:8786"])
def test_a_text_that_is_no_address_is_named_at_once(address):
    with pytest.raises(ClusterError, match=f"'{address}' is not the address of a scheduler"):
        connected(address)


def test_a_scheduler_with_encryption_needs_certificates():
    with pytest.raises(ClusterError, match=r"cannot connect to tls://127.0.0.1:1 \(.*check the TLS settings"):
        connected("tls://127.0.0.1:1")


class SlowFit:
    """Slows every pass of a fit down, and leaves a mark when one of them begins on a worker."""

    def __init__(self, monkeypatch, marks, seconds):
        def slow(rows, partial):
            return fold(rows, Marked(partial, str(marks), seconds))

        fold = ClusterRows.fold
        monkeypatch.setattr(ClusterRows, "fold", slow)


class Marked:
    """A sum that leaves a mark when a worker begins it, and takes a little longer."""

    def __init__(self, partial, folder, seconds):
        self.partial, self.folder, self.seconds = partial, folder, seconds
        self.merges_exactly = getattr(partial, "merges_exactly", False)
        self.zero, self.merge = partial.zero, partial.merge

    def add(self, total, block):
        open(f"{self.folder}/{type(self.partial).__name__}-{os.getpid()}-{time.monotonic_ns()}", "a").close()
        time.sleep(self.seconds)
        return self.partial.add(total, block)


@pytest.mark.slow
@pytest.mark.parametrize("lost", ["one", "all"])
def test_workers_that_are_killed_during_a_whole_fit_change_no_bit(own_client, table, tmp_path, monkeypatch, lost):
    """Workers die in the middle of a fit, after some of its passes, and the other passes need their rows again."""
    X, y, *on_dask = table
    SlowFit(monkeypatch, tmp_path, 0.1)
    there = pids(own_client)
    victims = there if lost == "all" else there[:1]

    def kill():
        for pid in victims:
            os.kill(pid, signal.SIGKILL)

    thread = when_begun(tmp_path, 8, kill)
    ours = sx.LogisticRegression().fit(dask_table(*on_dask, cluster=own_client))
    thread.join()
    assert not set(victims) & set(pids(own_client))
    monkeypatch.undo()
    np.testing.assert_array_equal(ours.coef_, sx.LogisticRegression().fit(X, y).coef_)


@pytest.mark.slow
def test_a_fit_without_workers_ends_with_an_error_and_the_next_one_goes_through(table, tmp_path, monkeypatch):
    X, y, *on_dask = table
    with (
        dask.config.set({"separatrix.worker-timeout": "1s"}),
        LocalCluster(n_workers=1, silence_logs=60, **LOCAL_SETTINGS) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        with monkeypatch.context() as slowed:
            SlowFit(slowed, tmp_path, 0.5)
            thread = when_begun(tmp_path, 8, lambda: cluster.scale(0))
            begin = time.monotonic()
            with pytest.raises(ClusterError, match="no worker for 1 second"):
                sx.LogisticRegression().fit(dask_table(*on_dask, cluster=client))
            assert time.monotonic() - begin < 60
            thread.join()
        cluster.scale(1)
        client.wait_for_workers(1, timeout=60)
        ours = sx.LogisticRegression().fit(dask_table(*on_dask, cluster=client))
    np.testing.assert_array_equal(ours.coef_, sx.LogisticRegression().fit(X, y).coef_)
