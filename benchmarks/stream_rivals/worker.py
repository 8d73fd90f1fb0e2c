"""Runs one fit in a process of its own, and prints its weights, times and peak memory as JSON.

The processor time and the memory are those of this process and of all processes that it started, such as Java's.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from importlib import import_module
from pathlib import Path
from threading import Event, Thread

TICK = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
SECONDS_BETWEEN_LOOKS = 0.05


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


def resident_bytes(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def processor_seconds(pid: int) -> float:
    """Of the process and of its children that have ended."""
    try:
        return sum(map(int, Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11:15])) / TICK
    except OSError:
        return 0.0


def main(called: str, path: str, names: list[str], C: float) -> None:
    module, function = called.split(":")
    fit = getattr(import_module(f"benchmarks.stream_rivals.{module}"), function)
    here, peak, done = os.getpid(), [0], Event()

    def look() -> None:
        while not done.wait(SECONDS_BETWEEN_LOOKS):
            peak[0] = max(peak[0], sum(map(resident_bytes, [here, *started_by(here)])))

    watcher = Thread(target=look, daemon=True)
    watcher.start()
    cpu, wall = processor_seconds(here), time.perf_counter()
    weights = fit(path, names, C)
    wall = time.perf_counter() - wall
    children = started_by(here)
    cpu = sum(map(processor_seconds, [here, *children])) - cpu
    done.set()
    watcher.join()
    print(json.dumps({"weights": weights.tolist(), "wall": wall, "cpu": cpu, "peak": peak[0]}), flush=True)
    for pid in children:
        os.kill(pid, signal.SIGKILL)
    os._exit(0)  # some packages wait for their servers at exit


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3].split(","), float(sys.argv[4]))
