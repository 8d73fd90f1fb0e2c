"""python -m benchmarks.streamed FOLDER [--rows N] [--format csv]: fits of tables larger than memory, against reading.

It writes a Parquet or CSV file with N rows of 20 correlated numbers into FOLDER, unless it is there, and prints for
fits in fresh processes: the peak of resident memory, the passes, CPU and wall seconds, and how many times longer a pass
took than one read of the file by a single thread, in CPU and in wall time. That read is the fastest of several settings
of PyArrow. Imports are not counted. It also prints how long it takes to write as many bytes as the cache has: on a
virtual machine, the host must first provide memory for the page cache, which may take longer than the fit. The numbers
of a CSV file are written with all digits. For CSV, the rows are also fitted from Parquet, to compare the bits of the
coefficients, and by the command line.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import separatrix as sx
from separatrix.core.base.machine import thread_count

COLUMNS, ROWS_PER_GROUP, SEED = 20, 1 << 17, 20240229
NAMES = [f"x{j + 1}" for j in range(COLUMNS)]
# Settings of PyArrow's reader of Parquet files: the size of its buffers in bytes, and the rows of a batch.
READERS = ((1 << 20, 1 << 16), (1 << 17, 1 << 16), (1 << 17, 1 << 13))


def made(folder: Path, n: int, columns: int = COLUMNS) -> Path:
    """A Parquet file of n rows in row groups of ROWS_PER_GROUP, written group by group."""
    import pyarrow as pa
    from pyarrow import parquet

    path = folder / (f"{n}.parquet" if columns == COLUMNS else f"{n}x{columns}.parquet")
    if path.exists():
        return path
    rng = np.random.default_rng(SEED)
    mix = np.eye(columns) + 0.7 * rng.standard_normal((columns, columns)) / np.sqrt(columns)
    w = rng.standard_normal(columns) / np.sqrt(columns)
    schema = pa.schema([*((f"x{j + 1}", pa.float64()) for j in range(columns)), ("y", pa.int8())])
    part = path.with_suffix(".part")
    with parquet.ParquetWriter(part, schema) as out:
        for start in range(0, n, ROWS_PER_GROUP):
            X = rng.standard_normal((min(ROWS_PER_GROUP, n - start), columns)) @ mix
            y = (X @ w > rng.logistic(size=len(X))).astype(np.int8)
            out.write_table(pa.table([*X.T.copy(), y], schema=schema))
    part.rename(path)
    return path


def as_csv(parquet_file: Path) -> Path:
    """The rows of a Parquet file as CSV."""
    from pyarrow import csv, parquet

    path, part = parquet_file.with_suffix(".csv"), parquet_file.with_suffix(".part")
    if not path.exists():
        with parquet.ParquetFile(parquet_file) as file, csv.CSVWriter(part, file.schema_arrow) as out:
            for batch in file.iter_batches():
                out.write_batch(batch)
        part.rename(path)
    return path


def one_read(path: Path, buffer: int, rows: int) -> int:
    """All record batches of the file, read by one thread; the number of rows."""
    from pyarrow import csv, parquet

    if path.suffix == ".csv":
        with csv.open_csv(path, csv.ReadOptions(use_threads=False)) as reader:
            return sum(batch.num_rows for batch in reader)
    with parquet.ParquetFile(path, pre_buffer=False, buffer_size=buffer) as file:
        return sum(batch.num_rows for batch in file.iter_batches(rows, use_threads=False))


def one_write(path: Path, n: int) -> int:
    """Write n rows of zeros to a temporary file in the folder where fits put their cache; return n."""
    rows = np.zeros((ROWS_PER_GROUP, COLUMNS))
    with tempfile.TemporaryFile() as out:
        for start in range(0, n, ROWS_PER_GROUP):
            out.write(rows[: n - start].data)
    return n


def fastest_read(path: Path) -> dict[str, Any]:
    """What the fastest read by one thread took. The first one brings the file into memory, if it has room there."""
    readers = READERS if path.suffix == ".parquet" else READERS[:1]
    measured("read", path, *readers[0])
    return min((measured("read", path, *reader) for reader in readers), key=lambda run: float(run["cpu"]))


def fit(path: Path, memory: str, cache: Any, threads: int) -> dict[str, Any]:
    """A default fit of a scan, with what it took."""
    with sx.threads(threads):
        model = sx.LogisticRegression().fit(sx.scan(path, target="y", memory=memory, cache=cache))
    certificate = model.certificate_
    return {
        "passes": int(certificate.passes),
        "relative bound": certificate.relative_bound,
        "coef": model.coef_[0, :3].tolist(),
        "bits": model.coef_.tobytes().hex() + model.intercept_.tobytes().hex(),
    }


def command(path: Path, memory: str, cache: Any, threads: int) -> dict[str, Any]:
    """``separatrix fit --memory``, with what it said."""
    from click.testing import CliRunner

    from separatrix.cli import main as separatrix

    words = ["fit", str(path), "--target", "y", "--memory", memory, "--test-size", "0", "--json"]
    with sx.threads(threads):
        done = CliRunner().invoke(separatrix, words, catch_exceptions=False)
    said = json.loads(done.stdout)
    return {"passes": said["certificate"]["passes"], "rows": said["data"]["rows_in_source"]}


# What the tasks import, before the time is taken.
IMPORTED = {
    "read": ("pyarrow.csv", "pyarrow.parquet"),
    "write": (),
    "fit": (
        "separatrix.classifiers.logistic",
        "separatrix.core.kernels.dense_rows",
        "separatrix.core.kernels.dense_rows",
        "separatrix.core.kernels.interleave",
    ),
}
TASKS: dict[str, Callable[..., Any]] = {"read": one_read, "write": one_write, "fit": fit, "command": command}


def measured(task: str, *given: Any) -> dict[str, Any]:
    """CPU and wall seconds and the peak of memory of a task, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.streamed", "--task", json.dumps([task, *map(_plain, given)])]
    found: dict[str, Any] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    return found


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Path) else value


def run_task(described: str) -> None:
    task, path, *given = json.loads(described)
    for module in IMPORTED.get(task, IMPORTED["fit"]):
        import_module(module)
    before, start = time.process_time(), time.perf_counter()
    found = TASKS[task](Path(path), *given)
    cpu, wall = time.process_time() - before, time.perf_counter() - start
    status = Path("/proc/self/status").read_text()  # what getrusage gives includes the process that started this one
    peak = int(status.split("VmHWM:")[1].split()[0]) * 1024 / 1e6
    print(json.dumps({"found": found, "cpu": cpu, "wall": wall, "peak MB": peak}))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.streamed", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--memory", default="500MB")
    parser.add_argument("--threads", type=int, default=thread_count(), help="of fits (%(default)s)")
    parser.add_argument("--format", choices=("parquet", "csv"), default="parquet", help="the file (%(default)s)")
    parser.add_argument("--only-make", action="store_true")
    parser.add_argument("--task", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.task:
        run_task(asked.task)
        return
    path = made(asked.folder, asked.rows)
    if asked.only_make:
        return
    text = as_csv(path) if asked.format == "csv" else None
    read = fastest_read(text or path)
    for name, run in (("one read", read), ("one write", measured("write", path, asked.rows))):
        print(f"{name:<20} {run['cpu']:6.1f} s CPU {run['wall']:6.1f} s wall", flush=True)
    fits: list[tuple[str, str, Path, Any]] = [("Parquet, cached", "fit", path, None)]
    if text is None:
        fits.append(("Parquet, not cached", "fit", path, False))
    else:
        fits += [("CSV, cached", "fit", text, None), ("CSV, command line", "command", text, None)]
    bits = set()
    for name, task, file, cache in fits:
        run = measured(task, file, asked.memory, cache, asked.threads)
        passes = run["found"]["passes"]
        reads = [run[clock] / (passes * read[clock]) for clock in ("cpu", "wall")]
        told = (
            f"{run['cpu']:6.1f} s CPU {run['wall']:6.1f} s wall, reads a pass: {reads[0]:.2f} CPU {reads[1]:.2f} wall"
        )
        bits |= {run["found"].pop("bits")} if "bits" in run["found"] else set()
        print(f"{name:<20} {told}  peak {run['peak MB']:.0f} MB  {run['found']}", flush=True)
    print(f"the coefficients of sx.scan have the same bits: {len(bits) == 1}")


if __name__ == "__main__":
    main()
