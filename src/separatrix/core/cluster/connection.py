"""What a fit asks of Dask: which client is used, how results are waited for, and what is sent.

A function that also takes arrays reads the rows of Dask collections where they are, and does not gather them in this
process. Predictions for Dask collections are Dask arrays, computed by partition when they are used.
"""

from __future__ import annotations

import logging
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from separatrix.core.base.arrays import AnyArray
from separatrix.core.base.errors import ClusterError, ParameterError
from separatrix.core.base.lazy import is_dask, is_data_frame
from separatrix.core.base.machine import thread_count
from separatrix.core.rows.labelled_table import OutsideMemory

# --- Dask collections in place of arrays


def shape_in_place(X: Any) -> tuple[int, int]:
    """The numbers of rows and columns of X. The rows of Dask collections are counted where they are.

    >>> import dask.array as da
    >>> shape_in_place(da.zeros((4, 3), chunks=2))
    (4, 3)
    """
    if isinstance(X, OutsideMemory):
        return X.n_rows, X.n_features
    if not is_dask(X):
        n_rows, n_columns = np.shape(X)
        return n_rows, n_columns
    import dask

    from separatrix.core.cluster.partitions import tasks

    parts = X.to_delayed() if is_data_frame(X) else X.rechunk({1: X.shape[1]}).to_delayed().ravel()
    return sum(dask.compute(*tasks(_n_rows, [(part,) for part in parts]))), X.shape[1]


def _n_rows(part: Any) -> int:
    """The number of rows of a partition: an array, a sparse matrix or a data frame."""
    return int(part.shape[0])


@dataclass(frozen=True)
class _PartAnswer:
    """The answer for a partition, which may have no rows. ``empty``: the answer for no rows."""

    answer: Callable[[Any], AnyArray]
    empty: AnyArray

    def __call__(self, rows: Any) -> AnyArray:
        return self.answer(rows) if rows.shape[0] else self.empty


def answered(X: Any, answer: Callable[[Any], AnyArray]) -> Any:
    """A Dask array with what ``answer`` returns for the rows of X, an array or a data frame.

    The model immediately predicts one row of zeros, which checks that its columns are those of X before any partition
    is computed.
    """
    first = answer(_row_of_zeros(X))
    part = _PartAnswer(answer, first[:0])
    dtype = part.empty.dtype
    if not is_data_frame(X):
        whole = X.rechunk({1: X.shape[1]})
        if part.empty.ndim == 1:
            return whole.map_blocks(part, drop_axis=1, dtype=dtype, meta=part.empty)
        chunks = (whole.chunks[0], (part.empty.shape[1],))
        return whole.map_blocks(part, chunks=chunks, dtype=dtype, meta=part.empty)
    import dask.array as da

    from separatrix.core.cluster.partitions import tasks

    shape = (np.nan, *part.empty.shape[1:])
    each = [da.from_delayed(one, shape, dtype) for one in tasks(part, [(rows,) for rows in X.to_delayed()])]
    return da.concatenate(each, allow_unknown_chunksizes=True)


def _row_of_zeros(X: Any) -> Any:
    if is_data_frame(X):
        frame = type(X._meta)  # the index of pandas
        return frame(np.zeros((1, len(X.columns))), columns=X.columns).astype(dict(X.dtypes.items()))
    return np.zeros((1, *X.shape[1:]), dtype=X.dtype)


# --- The bytes that are sent to the workers and back


@dataclass(frozen=True)
class PassTraffic:
    """One pass: the name of the sum, the number of tasks, and the bytes of their arguments and of their results."""

    what: str
    tasks: int
    sent: int
    received: int

    @property
    def bytes_per_task(self) -> float:
        """The bytes per task, in both directions."""
        return (self.sent + self.received) / max(1, self.tasks)


_open: ContextVar[tuple[list[PassTraffic], ...]] = ContextVar("separatrix_traffic", default=())


def count_traffic(one: PassTraffic) -> None:
    """Add a pass to every ``counted_traffic`` block that is open."""
    for traffic in _open.get():
        traffic.append(one)


@contextmanager
def counted_traffic() -> Iterator[list[PassTraffic]]:
    """Count the bytes that passes over a cluster send inside a ``with`` block.

    The bytes are those of the sums and their results. Dask's own messages come on top: about two kilobytes per task.

    Yields
    ------
    list of PassTraffic
        An entry for each pass, in order: its sum, its tasks, the bytes sent and received.

    Examples
    --------
    >>> with counted_traffic() as traffic:
    ...     count_traffic(PassTraffic("ValueGradient", 2, 3000, 5000))
    >>> traffic[0].bytes_per_task
    4000.0
    """
    traffic: list[PassTraffic] = []
    token = _open.set((*_open.get(), traffic))
    try:
        yield traffic
    finally:
        _open.reset(token)


# --- The connection to a scheduler

A = TypeVar("A")
T = TypeVar("T")

# The setting of Dask that limits how long a fit waits while the cluster has no worker.
WORKER_TIMEOUT = "separatrix.worker-timeout"
# A local cluster: processes with one thread each, which listen on the loopback interface only. Dask always starts an
# HTTP server; here it has no dashboard and listens on any free port.
LOCAL_SETTINGS: dict[str, Any] = {
    "threads_per_worker": 1,
    "processes": True,
    "host": "127.0.0.1",
    "dashboard_address": "127.0.0.1:0",
    "worker_dashboard_address": "127.0.0.1:0",
    "scheduler_kwargs": {"dashboard": False},
}


class WorkersReplaced(Exception):
    """All workers that held rows were lost, and there are other workers."""


def worker_timeout() -> float:
    """How long a fit waits for workers if there are none, in seconds: a minute unless the user sets another time.

    It is a setting of Dask: ``dask.config.set({"separatrix.worker-timeout": "5min"})``, or the environment variable
    DASK_SEPARATRIX__WORKER_TIMEOUT.
    """
    import dask
    from dask.utils import parse_timedelta

    given = dask.config.get(WORKER_TIMEOUT, "60s")
    try:
        seconds = float(parse_timedelta(given))
    except (KeyError, ValueError, TypeError):
        seconds = -1.0
    if not seconds > 0:
        raise ParameterError(WORKER_TIMEOUT, f"got {given!r}", "give a time such as '60s' or '5min'")
    return seconds


def default_client() -> Any | None:
    """The client that Dask itself would use; None if it would compute in this process."""
    import dask

    chosen = dask.config.get("scheduler", None)
    if "distributed" not in sys.modules or chosen not in (None, "distributed", "dask.distributed"):
        return None
    from distributed import Client

    try:
        return Client.current()
    except ValueError:
        return None


def connected(cluster: Any) -> Any:
    """A client of the cluster that ``cluster`` names.

    ``"local"`` starts workers in processes of this machine, one thread each, which listen on the loopback interface
    only and have no dashboard. Other text is the address of a scheduler. A ``distributed.Client`` is used as it is,
    with its TLS settings, and a cluster object gets a client.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise ClusterError("Dask is not installed", "install it: pip install 'separatrix[dask]'") from error
    if isinstance(cluster, Client):
        return cluster
    if cluster == "local":  # the workers end when the client is closed, at the latest with this process
        return Client(n_workers=thread_count(), **LOCAL_SETTINGS, set_as_default=False)
    address = getattr(cluster, "scheduler_address", cluster)
    if not isinstance(address, str):
        raise ParameterError(
            "cluster", f"got {cluster!r}", "give 'local', the address of a scheduler, or a distributed.Client"
        )
    _refuse_no_address(address)
    limit = worker_timeout()
    try:
        with _quiet():
            return Client(cluster, set_as_default=False, timeout=limit)
    except (ValueError, TypeError) as error:  # Dask finds at once that settings are missing
        problem = f"Dask cannot connect to {address} ({_one_line(error)})"
        raise ClusterError(problem, "check the TLS settings of Dask's configuration") from error
    except OSError as error:
        problem = f"no scheduler answers at {address} within {_seconds(limit)} ({_one_line(error)})"
        raise ClusterError(problem, "check the address, and the TLS settings if it begins with tls://") from error


def _refuse_no_address(address: str) -> None:
    """Raise an error if a text cannot be the address of a scheduler, without trying to connect to it."""
    from distributed.comm import get_address_host_port

    if address.startswith("inproc://"):  # a scheduler in this process, whose address has no port
        return
    try:
        get_address_host_port(address)
    except ValueError as error:
        problem = f"{address!r} is not the address of a scheduler ({_one_line(error)})"
        raise ClusterError(problem, "give 'local', or an address such as 'tcp://host:8786'") from error


def workers(client: Any) -> dict[str, int]:
    """The addresses of the workers and their numbers of threads. Waits for a first worker, up to the time limit."""
    limit = worker_timeout()
    try:
        client.wait_for_workers(1, timeout=limit)
        found: dict[str, int] = client.nthreads()
    except TimeoutError as error:
        raise _no_worker(limit) from error
    except OSError as error:
        raise _lost(client) from error
    return dict(sorted(found.items()))


def computed_in_order(client: Any, function: Callable[[A], T], arguments: Sequence[A]) -> Iterator[T]:
    """The results of a function of each argument, computed by the workers, in the order of the arguments.

    At most two tasks per thread are running or have results that were not yet taken, so results do not pile up.
    """
    ahead = 2 * max(1, sum(workers(client).values()))
    waiting = deque[Any]()
    try:
        for k, argument in enumerate(arguments):
            waiting.append(client.submit(function, argument, pure=False))
            if k >= ahead:
                yield results(client, [waiting.popleft()])[0]
        while waiting:
            yield results(client, [waiting.popleft()])[0]
    finally:
        if waiting:
            with suppress(Exception):
                client.cancel(list(waiting))


def results(client: Any, futures: Sequence[Any], preferred: frozenset[str] = frozenset()) -> list[Any]:
    """The results of tasks, in order. Dask repeats the tasks of a lost worker, and loads its rows again.

    ``preferred``: the workers for which the rows were loaded. Raises ``WorkersReplaced`` if all of them are lost and
    there are others, and ``ClusterError`` if the scheduler is lost, if there is no worker for longer than the time
    limit, or if the same task has lost several workers. If the wait is interrupted, the tasks are cancelled.
    """
    from distributed.scheduler import KilledWorker

    try:
        return _gathered(client, futures, preferred)
    except CancelledError as error:
        raise _lost(client) from error
    except KilledWorker as error:
        problem = f"workers were lost {error.allowed_failures + 1} times while they worked on the same rows"
        raise ClusterError(problem, "see the workers' logs; they may need more memory") from error
    except (KeyboardInterrupt, ClusterError):
        with suppress(Exception):
            client.cancel(futures)
        raise


def _gathered(client: Any, futures: Sequence[Any], preferred: frozenset[str]) -> list[Any]:
    """Wait for the results of tasks, and check regularly whether there are workers.

    ``distributed.wait`` would need a current client. To make one current changes a setting of Dask for all threads, and
    another thread may be fetching rows or computing partitions in this process. If the scheduler is on this machine,
    results come from the workers directly; elsewhere they may be on a network that this process cannot reach.
    """
    direct = True if "://127.0.0.1:" in _address(client) else None  # None stands for Dask's default
    limit = worker_timeout()
    alone_since: float | None = None
    while True:
        try:
            for future in futures:
                if not future.done():
                    # The state of the cluster is checked twice a second; results that arrive end the wait at once.
                    future.exception(timeout=0.5)
            gathered: list[Any] = client.gather(futures, direct=direct)
            return gathered
        except TimeoutError:
            alive = _alive(client)
            if alive and preferred and not preferred & alive:
                raise WorkersReplaced from None
            alone_since = None if alive else (alone_since or time.monotonic())
            if alone_since is not None and time.monotonic() - alone_since > limit:
                raise _no_worker(limit) from None


def _alive(client: Any) -> frozenset[str]:
    """The addresses of the workers that are connected."""
    if client.status != "running":
        raise _lost(client)
    try:
        return frozenset(client.nthreads())
    except (OSError, TimeoutError) as error:
        raise _lost(client) from error


def _address(client: Any) -> str:
    scheduler = getattr(client, "scheduler", None)
    return str(getattr(scheduler, "address", "an address that is no longer known"))


def _lost(client: Any) -> ClusterError:
    return ClusterError(f"contact with the scheduler at {_address(client)} was lost", "start it again, and fit again")


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def _seconds(limit: float) -> str:
    return f"{limit:g} second{'s' * (limit != 1)}"


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Dask from logging what is also reported as an error."""
    logger = logging.getLogger("distributed")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)


def _no_worker(limit: float) -> ClusterError:
    problem = f"there has been no worker for {_seconds(limit)}"
    return ClusterError(problem, f"start workers, or wait longer by setting {WORKER_TIMEOUT!r} in Dask's configuration")
