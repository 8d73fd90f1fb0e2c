"""Runs one fit in a process of its own, and prints its weights, times and peak memory as JSON.

The processor time and the peaks of memory are those of this process and of all processes that it started, such as
Java's. Importing the package is not counted; starting Java is.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from importlib import import_module
from pathlib import Path

TICK = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


def started_by(parent: int) -> list[int]:
    """The processes below ``parent``."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
        except OSError:  # the process has ended
            continue
    found, new = list[int](), [parent]
    while new:
        new = [pid for pid, above in parents.items() if above in new]
        found += new
    return found


def peak_bytes(pid: int) -> int:
    """The largest resident memory that a process has had."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:  # the process has ended
        return 0
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM:")), 0)


def processor_seconds(pid: int) -> float:
    """Of the process and of its children that have ended."""
    try:
        return sum(map(int, Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11:15])) / TICK
    except OSError:
        return 0.0


def main(called: str, path: str, names: list[str], C: float) -> None:
    module, function = called.split(":")
    fit = getattr(import_module(f"benchmarks.stream_rivals.{module}"), function)
    here = os.getpid()
    cpu, wall = processor_seconds(here), time.perf_counter()
    weights = fit(path, names, C)
    wall = time.perf_counter() - wall
    children = started_by(here)
    cpu = sum(map(processor_seconds, [here, *children])) - cpu
    peak = sum(map(peak_bytes, [here, *children]))
    print(json.dumps({"weights": weights.tolist(), "wall": wall, "cpu": cpu, "peak": peak}), flush=True)
    for pid in children:
        os.kill(pid, signal.SIGKILL)
    os._exit(0)  # some packages wait for their servers at exit


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3].split(","), float(sys.argv[4]))
