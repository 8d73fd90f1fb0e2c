"""The connection to a Dask scheduler: which client is used, and how results are waited for."""

from __future__ import annotations

import logging
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from separatrix.base.errors import ClusterError, ParameterError

A = TypeVar("A")
T = TypeVar("T")

# While waiting for results, check the state of the cluster at intervals of this many seconds. Results that arrive end
# the wait at once.
SECONDS_BETWEEN_WAITS = 0.5
# The setting of Dask that limits how long a fit waits while the cluster has no worker, and its default.
WORKER_TIMEOUT = "separatrix.worker-timeout"
DEFAULT_WORKER_TIMEOUT = "60s"
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
    """How long a fit waits for workers if there are none, in seconds.

    It is a setting of Dask: ``dask.config.set({"separatrix.worker-timeout": "5min"})``, or the environment variable
    ``DASK_SEPARATRIX__WORKER_TIMEOUT``.
    """
    import dask
    from dask.utils import parse_timedelta

    given = dask.config.get(WORKER_TIMEOUT, DEFAULT_WORKER_TIMEOUT)
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
    _need_distributed()
    from distributed import Client

    if isinstance(cluster, Client):
        return cluster
    if cluster == "local":
        return _local_client()
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


def _need_distributed() -> None:
    try:
        import distributed  # noqa: F401
    except ImportError as error:
        raise ClusterError("Dask is not installed", "install it: pip install 'separatrix[dask]'") from error


def _local_client() -> Any:
    """A client of new worker processes, which end when the client is closed, at the latest with this process."""
    from distributed import Client

    from separatrix.base.concurrency import thread_count

    return Client(n_workers=thread_count(), **LOCAL_SETTINGS, set_as_default=False)


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
    """Wait for the results of tasks, and check regularly whether there are workers."""
    limit = worker_timeout()
    alone_since: float | None = None
    while True:
        try:
            _wait(futures)
            gathered: list[Any] = client.gather(futures, direct=_is_local(client))
            return gathered
        except TimeoutError:
            alive = _alive(client)
            if alive and preferred and not preferred & alive:
                raise WorkersReplaced from None
            alone_since = None if alive else (alone_since or time.monotonic())
            if alone_since is not None and time.monotonic() - alone_since > limit:
                raise _no_worker(limit) from None


def _wait(futures: Sequence[Any]) -> None:
    """Wait until all tasks have ended. Raises a ``TimeoutError`` if one of them takes longer than the interval.

    ``distributed.wait`` would need a current client. To make one current changes a setting of Dask for all threads, and
    another thread may be fetching rows or computing partitions in this process.
    """
    for future in futures:
        if not future.done():
            future.exception(timeout=SECONDS_BETWEEN_WAITS)


def _alive(client: Any) -> frozenset[str]:
    """The addresses of the workers that are connected."""
    if client.status != "running":
        raise _lost(client)
    try:
        return frozenset(client.nthreads())
    except (OSError, TimeoutError) as error:
        raise _lost(client) from error


def _is_local(client: Any) -> bool | None:
    """True if the scheduler is on this machine, so that results come from workers directly; None for Dask's default.

    Elsewhere the workers may be on a network that this process cannot reach.
    """
    return True if "://127.0.0.1:" in _address(client) else None


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
