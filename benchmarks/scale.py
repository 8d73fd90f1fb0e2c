"""python -m benchmarks.scale FOLDER [--largest N]: a model of what a fit costs, fitted to measured runs.

It writes Parquet files of several sizes into FOLDER, fits each as a stream in a process of its own, and prints

- the measured runs beside the model's times, each predicted by a model fitted to the others;
- the seconds that the model charges for a row in a pass, for an entry of X in a pass, and so on;
- what it predicts for tables that need a cluster, under the assumptions of ``CLUSTERS``.

docs/scale.md explains the model.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from scipy.optimize import nnls

from benchmarks.streamed import made, measured
from separatrix.core.rows.protocol import sample_size
from separatrix.core.solvers.registry import NEWTON_PARAMETERS

# Rows and columns of the measured tables; the last has the number of rows given by --largest.
SIZES = (
    *((100_000, d) for d in (5, 20, 200)),
    *((1_000_000, d) for d in (5, 20, 60, 200)),
    (4_000_000, 20),
    *((10_000_000, d) for d in (5, 20)),
)
LARGEST_COLUMNS = 4
REPEATS = 3
# A number takes this many bytes in memory and in messages.
NUMBER = 8
# A task of Dask sends this much besides its sum and its result (see `core/cluster/connection.py`).
TASK_BYTES = 2_000
# The time of a pass without rows: for the pass itself, and for each worker. Measured with two workers on one machine.
PASS_SECONDS, WORKER_SECONDS = 0.010, 0.0005


@dataclass(frozen=True)
class Work:
    """What a fit of two classes does: its rows, columns, passes, and the bytes of its file."""

    n: float
    d: float
    passes: float
    file_bytes: float

    @property
    def parameters(self) -> float:
        return self.d + 1

    @property
    def sample_rows(self) -> int:
        return sample_size(int(self.n), int(self.parameters), int(self.parameters))

    @property
    def terms(self) -> list[float]:
        """What the model charges for, in the order of TERMS."""
        return [
            1.0,
            self.passes * self.n,
            self.passes * self.n * self.d,
            self.sample_rows * self.parameters,
            self.sample_rows * self.parameters**2,
        ]


TERMS = ("a fit", "a row and pass", "an entry and pass", "an entry of the sample", "a product in the sample's Hessian")


@dataclass(frozen=True)
class Run:
    """A measured fit."""

    work: Work
    seconds: float


@dataclass(frozen=True)
class Cluster:
    """Machines that hold all rows in memory, and what is assumed of them."""

    machines: int
    cores: int
    store_bytes_per_second: float  # from files to each machine
    network_bytes_per_second: float  # into the driver

    @property
    def workers(self) -> int:
        return self.machines * self.cores


CLUSTERS = {
    "32 machines of 16 cores": Cluster(32, 16, 1e9, 1e9),
    "1000 machines of 32 cores": Cluster(1000, 32, 1e9, 1e9),
}
# Tables to predict: rows, columns, passes and the cluster. The passes are a few more than measured: 4 to 8 with up to
# 200 columns, 11 with 50 000 rows of 1000 columns.
PREDICTED = (
    (1e9, 100, 8, "32 machines of 16 cores"),
    (1e9, 1000, 16, "32 machines of 16 cores"),
    (1e12, 100, 8, "1000 machines of 32 cores"),
)


def run(folder: Path, n: int, d: int) -> Run:
    """Fit a stream of n rows with one thread, its rows cached. Of several runs, the one that others disturbed least."""
    path = made(folder, n, d)
    found = [measured("fit", path, "2GB", None, 1) for _ in range(REPEATS)]
    work = Work(n, d, found[0]["found"]["passes"], path.stat().st_size)
    return Run(work, min(one["cpu"] for one in found))


def fitted(runs: list[Run]) -> np.ndarray:
    """The price of each term, none negative, so that relative errors are small."""
    terms = np.array([one.work.terms for one in runs]) / np.array([[one.seconds] for one in runs])
    scale = terms.max(axis=0)
    return np.asarray(nnls(terms / scale, np.ones(len(runs)))[0] / scale)


def left_out(runs: list[Run]) -> list[float]:
    """The seconds of each run by the model of the others."""
    others = [[other for other in runs if other is not one] for one in runs]
    return [float(fitted(rest) @ one.work.terms) for rest, one in zip(others, runs, strict=True)]


@dataclass(frozen=True)
class Prediction:
    """Wall seconds of the parts of a fit on a cluster, and the bytes that reach the driver."""

    load: float
    passes: float
    driver: float
    messages: float
    sent: float

    @property
    def seconds(self) -> float:
        return self.load + self.passes + self.driver + self.messages


def predicted(prices: np.ndarray, work: Work, cluster: Cluster) -> Prediction:
    """The rows are read once and kept; each pass sends the weights to every worker and the sums back."""
    _, row, entry, *sample = prices * work.terms
    # With more parameters the curvature is that of the Gram matrix of all rows, which workers sum in one pass.
    gram = work.n * work.parameters**2 * product_seconds() if work.parameters > NEWTON_PARAMETERS else 0.0
    read = work.file_bytes / (cluster.machines * cluster.store_bytes_per_second)
    message = TASK_BYTES + 2 * NUMBER * work.parameters
    sent = work.passes * cluster.workers * message
    waits = work.passes * (PASS_SECONDS + WORKER_SECONDS * cluster.workers)
    return Prediction(
        load=read,
        passes=float(row + entry + gram) / cluster.workers,
        driver=work.parameters**3 * product_seconds() if gram else float(sum(sample)),
        messages=waits + sent / cluster.network_bytes_per_second,
        sent=sent,
    )


@cache
def product_seconds() -> float:
    """The CPU time of one multiplication in a product of matrices."""
    X = np.random.default_rng(0).standard_normal((4096, 512))
    start = time.process_time()
    for _ in range(20):
        X.T @ X
    return (time.process_time() - start) / (20 * X.shape[0] * X.shape[1] ** 2)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--largest", type=int, default=0, help="also fit a table of this many rows, e.g. 100000000")
    parser.add_argument("--rows-up-to", type=int, default=10_000_000, help="leave larger tables out")
    asked = parser.parse_args()
    sizes = [(n, d) for n, d in SIZES if n <= asked.rows_up_to]
    if asked.largest:
        sizes.append((asked.largest, LARGEST_COLUMNS))
    runs = [run(asked.folder, n, d) for n, d in sizes]
    prices = fitted(runs)
    print("| rows | columns | passes | CPU s | model | model of the other runs |\n|---:|---:|---:|---:|---:|---:|")
    errors: list[tuple[float, float]] = []
    for one, others in zip(runs, left_out(runs), strict=True):
        seconds = float(prices @ one.work.terms)
        errors.append((abs(seconds / one.seconds - 1), abs(others / one.seconds - 1)))
        shown = f"{one.seconds:.2f} | {seconds:.2f} | {others:.2f}"
        print(f"| {one.work.n:,} | {one.work.d} | {one.work.passes} | {shown} |")
    for name, error in zip(("the model", "the model of the other runs"), np.transpose(errors), strict=True):
        print(f"\nrelative error of {name}: median {np.median(error):.0%}, largest {error.max():.0%}")
    print()
    for name, price in zip(TERMS, prices, strict=True):
        print(f"{name:<34} {price:.2e} s")
    rate = float(np.median([one.work.file_bytes / (one.work.n * one.work.d) for one in runs]))
    print("\n| rows | columns | cluster | load s | passes s | driver s | messages s | in all | sent |")
    print("|---:|---:|---|---:|---:|---:|---:|---:|---:|")
    for n, d, passes, name in PREDICTED:
        work = Work(n, d, passes, rate * n * d)
        found = predicted(prices, work, CLUSTERS[name])
        shown = [f"{part:,.0f}" for part in (found.load, found.passes, found.driver, found.messages, found.seconds)]
        print(f"| {n:.0e} | {d:,} | {name} | {' | '.join(shown)} s | {found.sent / 1e6:,.0f} MB |")


if __name__ == "__main__":
    main()
