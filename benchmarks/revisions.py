"""python -m benchmarks.revisions OLD [ROW ...]: times of this package at an older revision and now, in one run.

Each revision has a worker of its own, which imports the package from a checkout of that revision. The workers take
turns, so whatever slows the machine slows both. Both run with the tolerance of the benchmark's first rung.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from benchmarks.contestant import Task
from benchmarks.crew import Worker
from benchmarks.environments import HERE
from benchmarks.peers import OURS, contestants_of
from benchmarks.rows import ROWS, Part
from benchmarks.session import hand_over

# The rows that show how fast a fit is, without those that compare ways to choose C or starts of processes.
MAIN_ROWS = ("tall", "tall-iid", "scales", "tall32", "onehot", "likelihood", "softmax", "wide", "sparse", "moments")
LONGEST_RUN_SECONDS = 120.0


@contextmanager
def checked_out(revision: str, folder: Path) -> Iterator[Path]:
    """The sources of a revision, in a work tree of git that is removed afterwards."""
    place = folder / "old"
    git = ["git", "-C", str(HERE.parent), "worktree"]
    subprocess.run([*git, "add", "--quiet", "--detach", str(place), revision], check=True)
    try:
        yield place / "src"
    finally:
        subprocess.run([*git, "remove", "--force", str(place)], check=True)


def worker(source: Path, log: Path) -> Worker:
    """A worker that imports the package from ``source``."""
    return Worker(sys.executable, OURS, log, {**os.environ, "PYTHONPATH": str(source)})


def request(part: Part, task: Task, folder: Path) -> dict[str, Any]:
    """What a worker is asked for: the part's own contestant, with its first rung."""
    (own,) = (c for c in contestants_of(OURS) if c.kind == task.kind and c.where(task))
    return {
        "folder": str(folder),
        "task": task.to_dict(),
        "contestant": own.name,
        "rung": own.ladder[0],
        "answer": str(folder / "answer.npy"),
    }


def medians(part: Part, workers: dict[str, Worker], folder: Path, repeats: int, shrink: int) -> dict[str, float]:
    """The median seconds of a part by worker. Each worker has run once before."""
    rows = part.data(shrink)
    hand_over(rows, folder)
    asked = request(part, part.task_on(rows), folder)
    spent: dict[str, list[float]] = {name: [] for name in workers}
    for turn in range(repeats + 1):
        for name, one in workers.items():
            reply = one.ask(asked, LONGEST_RUN_SECONDS)
            if "seconds" not in reply:
                raise RuntimeError(f"{name}: {reply}")
            if turn:
                spent[name].append(reply["seconds"])
    return {name: statistics.median(times) for name, times in spent.items()}


def main(given: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.revisions", description=__doc__)
    parser.add_argument("old", metavar="OLD", help="the older revision, as git names it")
    parser.add_argument("names", nargs="*", metavar="ROW", help=f"rows to run; by default {', '.join(MAIN_ROWS)}")
    parser.add_argument("--repeats", type=int, default=5, help="timed runs of each revision (%(default)s)")
    parser.add_argument("--shrink", type=int, default=1, help="make the data this many times smaller (%(default)s)")
    asked = parser.parse_args(given)
    if unknown := [name for name in asked.names if name not in ROWS]:
        parser.error(f"ROW: got {', '.join(unknown)}; choose from {', '.join(ROWS)}")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        old = stack.enter_context(checked_out(asked.old, folder))
        sources = {"before": old, "now": HERE.parent / "src"}
        workers = {name: worker(source, folder / f"{name}.log") for name, source in sources.items()}
        for one in workers.values():
            stack.callback(one.close)
        print(f"load {os.getloadavg()[0]:.1f}\n| row | before s | now s | now / before |\n|---|---:|---:|---:|")
        for name in asked.names or MAIN_ROWS:
            for part in ROWS[name].parts:
                with tempfile.TemporaryDirectory(dir=folder) as place:
                    found = medians(part, workers, Path(place), asked.repeats, asked.shrink)
                before, now = found["before"], found["now"]
                print(f"| {name} {part.name} | {before:.3f} | {now:.3f} | {now / before:.2f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
