"""python -m benchmarks.stream_rivals: one logistic regression of a table in a file, ours beside others'."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from benchmarks.environments import HERE, Unavailable, interpreter
from benchmarks.streamed import NAMES, made

RIVALS = HERE / "stream_rivals"
GIGABYTE = 1e9
COMPILING_ROWS = 200_000


@dataclass(frozen=True)
class Rival:
    """``call`` is the module and function that fits; ``pins`` the file of its requirements, or None for ours."""

    name: str
    call: str
    pins: str | None


CONTEST = (
    Rival("separatrix, cache", "ours:fit", None),
    Rival("separatrix, no cache", "ours:without_cache", None),
    Rival("Newton on polars", "polars_newton:fit", "polars"),
    Rival("Newton in DuckDB", "duckdb_newton:fit", "duckdb"),
    Rival("SGDClassifier", "sgd:fit", "scikit-learn"),
    Rival("Vowpal Wabbit, bfgs", "vowpal_wabbit:fit", "vowpal-wabbit"),
    Rival("Spark ML, local[2]", "spark:fit", "spark"),
    Rival("H2O GLM", "h2o_glm:fit", "h2o"),
)


def run(rival: Rival, path: Path, C: float, limit: float) -> dict[str, Any]:
    """The result of one worker, or what went wrong."""
    try:
        pins = None if rival.pins is None else RIVALS / f"{rival.pins}.txt"
        python = sys.executable if pins is None else interpreter(f"stream-{rival.pins}", pins=pins)
    except Unavailable as error:
        return {"failed": str(error)}
    command = [python, "-m", "benchmarks.stream_rivals.worker", rival.call, str(path), ",".join(NAMES), repr(C)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, cwd=HERE.parent, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return {"failed": f"no answer in {limit:g} s"}
    lines = done.stdout.strip().splitlines()
    if done.returncode or not lines:
        return {"failed": (done.stderr.strip().splitlines() or ["no reason"])[-1][:200]}
    found: dict[str, Any] = json.loads(lines[-1])
    found["note"] = " ".join(line.removeprefix("# ") for line in lines[:-1] if line.startswith("# "))
    return found


def judged(path: Path, v: np.ndarray, C: float) -> dict[str, float]:
    """The mean log loss at v = (b, w), and the objective, which adds ‖w‖²/(2Cn), computed by NumPy."""
    total, n = 0.0, 0
    for batch in pq.ParquetFile(path).iter_batches(1 << 16):
        X = np.column_stack([batch.column(name) for name in NAMES])
        t = 2.0 * np.asarray(batch.column("y"), dtype=np.float64) - 1.0
        total += float(np.logaddexp(0.0, -t * (X @ v[1:] + v[0])).sum())
        n += len(t)
    return {"log loss": total / n, "objective": (total + v[1:] @ v[1:] / (2 * C)) / n}


def one_read(path: Path) -> dict[str, float]:
    """What a single-threaded read of all columns costs, which any method without a cache pays in each pass."""
    call = "import sys, time, resource, pyarrow.parquet as pq; t = time.perf_counter(); c = time.process_time(); "
    call += "f = pq.ParquetFile(sys.argv[1], pre_buffer=False, buffer_size=1 << 20); "
    call += "n = sum(b.num_rows for b in f.iter_batches(1 << 16, use_threads=False)); "
    call += "print(time.perf_counter() - t, time.process_time() - c)"
    done = subprocess.run([sys.executable, "-c", call, str(path)], capture_output=True, text=True, check=True)
    wall, cpu = map(float, done.stdout.split())
    return {"wall": wall, "cpu": cpu}


def table(found: dict[str, dict[str, Any]], best: float, read: dict[str, float]) -> str:
    head = "| | wall s | CPU s | peak GB | log loss | objective above the best | |"
    lines = [head, "|---|---:|---:|---:|---:|---:|---|"]
    lines.append(f"| one read, `iter_batches` | {read['wall']:.2f} | {read['cpu']:.2f} | | | | |")
    for name, one in found.items():
        if "failed" in one:
            lines.append(f"| {name} | | | | | | {one['failed']} |")
            continue
        gap, peak = one["objective"] / best - 1, one["peak"] / GIGABYTE
        spent = f"{one['wall']:.1f} | {one['cpu']:.1f} | {peak:.2f}"
        lines.append(f"| {name} | {spent} | {one['log loss']:.9f} | {gap:.0e} | {one['note']} |")
    return "\n".join(lines)


def main(given: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.stream_rivals", description=__doc__)
    parser.add_argument("--rows", type=int, default=4_000_000, help="rows of the table (%(default)s)")
    parser.add_argument("--C", type=float, default=1.0, help="inverse strength of the penalty (%(default)s)")
    parser.add_argument("--only", default="", help="parts of the names of rivals, with semicolons between")
    parser.add_argument("--limit", type=float, default=900.0, help="seconds for one fit (%(default)s)")
    asked = parser.parse_args(given)
    chosen = [r for r in CONTEST if not asked.only or any(part.strip() in r.name for part in asked.only.split(";"))]
    with tempfile.TemporaryDirectory() as folder:
        path = made(Path(folder), asked.rows)
        print(f"{asked.rows} rows of {len(NAMES)} columns, {path.stat().st_size / GIGABYTE:.2f} GB", flush=True)
        # Loops are compiled by the first fit on a machine, and are kept. That fit is not measured.
        run(CONTEST[0], made(Path(folder), COMPILING_ROWS), asked.C, asked.limit)
        found: dict[str, dict[str, Any]] = {}
        for rival in chosen:
            found[rival.name] = run(rival, path, asked.C, asked.limit)
            if "weights" in found[rival.name]:
                found[rival.name] |= judged(path, np.array(found[rival.name]["weights"]), asked.C)
            print(f"  {rival.name}: done", file=sys.stderr, flush=True)
        best = min((one["objective"] for one in found.values() if "objective" in one), default=np.nan)
        print(table(found, best, one_read(path)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
