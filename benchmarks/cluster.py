"""python -m benchmarks.cluster FOLDER [--rows N]: a fit on a local Dask cluster, against threads and against dask-ml.

It writes a Parquet file with N rows of 20 correlated numbers into FOLDER, unless it is there. Then it fits logistic
regression

- in memory, with as many threads as the cluster has workers;
- on a local cluster of worker processes with one thread each, which read the file and keep the rows;
- by dask-ml's lbfgs, in an environment of its own, on a cluster of the same size with the rows in its memory.

It prints CPU seconds of all processes, wall seconds of loading the rows and of fitting, how the fits compare, the log
loss of each, and the bytes that a pass over the cluster sends.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.streamed import NAMES, made

# dask-ml's lbfgs: the first tolerance whose log loss is within this distance of ours counts.
SAME_LOG_LOSS = 1e-6
TOLERANCES = (1e-4, 1e-6, 1e-8)
PEER = Path(__file__).parent / "peers" / "dask_ml_lbfgs.py"


def cpu_seconds() -> float:
    """The processor time of this process and of its children, such as workers."""
    import psutil

    me = psutil.Process()
    used = [each.cpu_times() for each in (me, *me.children(recursive=True))]
    return float(sum(times.user + times.system for times in used))


@contextmanager
def measured() -> Iterator[dict[str, float]]:
    """CPU and wall seconds of a ``with`` block."""
    found: dict[str, float] = {}
    cpu, wall = cpu_seconds(), time.perf_counter()
    yield found
    found["wall"], found["cpu"] = time.perf_counter() - wall, cpu_seconds() - cpu


def loopback_bytes() -> int:
    """The bytes that the loopback interface has sent; each is also received there."""
    import psutil

    return int(psutil.net_io_counters(pernic=True)["lo"].bytes_sent)


def rows_of(path: Path) -> tuple[Any, Any]:
    from pyarrow import parquet

    table = parquet.read_table(path)
    return np.column_stack([table[name].to_numpy() for name in NAMES]), table["y"].to_numpy()


def log_loss(X: Any, y: Any, coef: Any, intercept: float) -> float:
    """The mean of log(1 + e^{-m})."""
    margin = np.where(y == 1, 1.0, -1.0) * (X @ np.asarray(coef) + intercept)
    return float(np.logaddexp(0.0, -margin).mean())


def in_memory(X: Any, y: Any, workers: int) -> dict[str, Any]:
    import separatrix as sx

    with sx.threads(workers):
        sx.LogisticRegression().fit(X[:100_000], y[:100_000])  # compiled loops are loaded
        with measured() as spent:
            model = sx.LogisticRegression().fit(X, y)
    return {**spent, "coef": model.coef_[0], "intercept": model.intercept_[0], "passes": model.certificate_.passes}


def on_cluster(path: Path, workers: int) -> dict[str, Any]:
    from distributed import Client

    import separatrix as sx
    from separatrix.core.cluster.connection import LOCAL_SETTINGS, counted_traffic

    with Client(n_workers=workers, **LOCAL_SETTINGS, set_as_default=False) as client:
        table = sx.scan(path, target="y", cluster=client)
        with measured() as load:
            table.held  # noqa: B018 (the first access loads the rows)
        sx.LogisticRegression(C=3.0).fit(table)  # compiled loops are loaded
        before = loopback_bytes()
        with measured() as spent, counted_traffic() as traffic:
            model = sx.LogisticRegression().fit(table)
        sent = loopback_bytes() - before
    return {
        **spent,
        "load": load,
        "coef": model.coef_[0],
        "intercept": model.intercept_[0],
        "passes": traffic,
        "sent": sent,
    }


def by_dask_ml(path: Path, workers: int, here: bool) -> Iterator[dict[str, Any]]:
    """Fits with smaller and smaller tolerances. The peer goes on when the next one is asked for, else it ends."""
    from benchmarks.environments import interpreter

    python = interpreter("dask-ml", here)
    command = [python, str(PEER), str(path), str(workers), json.dumps(TOLERANCES)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for line in process.stdout:
            yield json.loads(line)
            print("next", file=process.stdin, flush=True)


def told(name: str, found: dict[str, Any], loss: float) -> str:
    return f"{name:<28} {found['cpu']:6.1f} s CPU {found['wall']:6.1f} s wall   log loss {loss:.9f}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--without-dask-ml", action="store_true")
    asked = parser.parse_args()
    path = made(asked.folder, asked.rows)
    X, y = rows_of(path)
    memory = in_memory(X, y, asked.workers)
    best = log_loss(X, y, memory["coef"], memory["intercept"])
    print(told(f"memory, {asked.workers} threads", memory, best))
    cluster = on_cluster(path, asked.workers)
    print(told(f"cluster, {asked.workers} workers", cluster, log_loss(X, y, cluster["coef"], cluster["intercept"])))
    report(memory, cluster)
    if asked.without_dask_ml:
        return
    for found in by_dask_ml(path, asked.workers, here=False):
        loss = log_loss(X, y, found["coef"], found["intercept"])
        print(told(f"dask-ml lbfgs, tol={found['tol']:g}", found, loss))
        if loss - best < SAME_LOG_LOSS:
            ratio = found["wall"] / cluster["wall"], found["cpu"] / cluster["cpu"]
            print(f"dask-ml takes {ratio[0]:.1f} times the wall time and {ratio[1]:.1f} times the CPU time")
            break
    sys.stdout.flush()


def report(memory: dict[str, Any], cluster: dict[str, Any]) -> None:
    """How the fit on the cluster compares with that in memory, and what it sent."""
    load, passes = cluster["load"], cluster["passes"]
    same = np.array_equal(memory["coef"], cluster["coef"])
    print(f"loading took {load['cpu']:.1f} s CPU, {load['wall']:.1f} s wall; the same bits as in memory: {same}")
    print(
        f"cluster / memory: {cluster['wall'] / memory['wall']:.2f} of wall, {cluster['cpu'] / memory['cpu']:.2f} of CPU"
    )
    for each in passes:
        print(f"  {each.what:<16} {each.tasks} tasks, {each.bytes_per_task / 1000:6.1f} kB per task")
    print(f"  on the wire, with Dask's own messages: {cluster['sent'] / 1000:.0f} kB in {len(passes)} passes")


if __name__ == "__main__":
    main()
