"""One run of the benchmark: data made once, handed to workers as files, a contest a part, results kept by row."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contest import Contest, Entry, Settings, entries_for
from benchmarks.contestant import Task
from benchmarks.crew import Crew
from benchmarks.data import Data, Maker
from benchmarks.environments import interpreter
from benchmarks.limits import Limits, machine
from benchmarks.peers import PEERS
from benchmarks.rows import Part, Row


def hand_over(rows: Data, folder: Path) -> None:
    """The data as .npy files; CSR as its three arrays."""
    np.save(folder / "y.npy", rows.y)
    if rows.sparse:
        parts = {"data": rows.X.data, "indices": rows.X.indices, "indptr": rows.X.indptr, "shape": rows.X.shape}
    else:
        parts = {"X": rows.X}
    for name, array in parts.items():
        np.save(folder / f"{name}.npy", array)


def memory_bound(task: Task, rows: Data) -> float:
    """max(5 % of X, 64 MB) + 64 ((n + d) K + d²) bytes: eight numbers for each of what a fit may hold; and two for each
    weight that a path answers with.
    """
    K = task.K if task.K > 2 else 1
    squares = task.d**2 if task.d <= 5000 else 0  # no fit of ours holds d × d numbers beyond that
    return max(0.05 * rows.nbytes, 64e6) + 64.0 * ((task.n + task.d) * K + squares) + 16.0 * len(task.Cs) * task.d * K


@dataclass
class Session:
    """Settings of a run, its workers, and the data that is out at the moment."""

    settings: Settings
    limits: Limits
    shrink: int = 1
    peers: tuple[str, ...] = tuple(PEERS)
    tell: Callable[[str], None] = lambda line: print(f"benchmarks: {line}", file=sys.stderr, flush=True)
    python: Callable[[str], str] = interpreter
    folder: Path = field(init=False)
    crew: Crew = field(init=False)
    held: tuple[Maker, Data, Path] | None = None
    machine: dict[str, Any] = field(default_factory=machine)  # as it was before anything ran: its load is others'

    def __post_init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="separatrix-bench-"))
        self.crew = Crew(self.folder, self.python)

    def close(self) -> None:
        self.crew.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def rows_of(self, maker: Maker) -> tuple[Data, Path]:
        """The data and where workers find it; the last is kept."""
        if self.held is None or self.held[0] is not maker:
            if self.held is not None:
                shutil.rmtree(self.held[2])
                self.held = None
            rows = maker(self.shrink)
            folder = Path(tempfile.mkdtemp(dir=self.folder))
            hand_over(rows, folder)
            self.held = (maker, rows, folder)
        return self.held[1], self.held[2]

    def part(
        self, part: Part, label: str, choose: Callable[[Entry], bool] = lambda entry: True
    ) -> tuple[dict[str, Any], Task]:
        """A part's results, and the task it came to."""
        self.tell(f"{label}: making data")
        rows, folder = self.rows_of(part.data)
        task = part.task_on(rows)
        tell = self.tell
        contest = Contest(part, task, rows, folder, self.crew, self.settings, lambda line: tell(f"{label}: {line}"))
        entries = [entry for entry in entries_for(part, task, self.peers) if choose(entry)]
        lines = contest.hold(entries)
        work = part.work(task, rows) if part.work else None
        return {
            "name": part.name,
            "goal": part.goal,
            "accuracy": part.accuracy,
            "most_passes": part.most_passes,
            "against": list(part.against),
            "shown": contest.judge.shown,
            "shape": [task.n, task.d, task.K],
            "limit_seconds": self.limits.seconds(work, task.dtype) if work else None,
            "memory_bound": memory_bound(task, rows) if part.work else None,
            "lines": lines,
        }, task

    def row(self, row: Row, choose: Callable[[Entry], bool] = lambda entry: True) -> dict[str, Any]:
        """A row's results, with the machine and the versions that they hold for."""
        parts = [self.part(part, " ".join(filter(None, (row.name, part.name))), choose)[0] for part in row.parts]
        took_part = {line["peer"] for part in parts for line in part["lines"]}
        return {
            "about": row.about,
            "shrink": self.shrink,
            "machine": self.machine,
            "limits": self.limits.to_dict(),
            "versions": {
                peer: self.crew.versions[peer] for peer in PEERS if peer in took_part & set(self.crew.versions)
            },
            "parts": parts,
        }


@contextmanager
def session(*arguments: Any, **settings: Any) -> Iterator[Session]:
    """A session whose workers and files are gone afterwards, however it ends."""
    found = Session(*arguments, **settings)
    try:
        yield found
    finally:
        found.close()


def run_rows(found: Session, rows: Iterable[Row], keep: Callable[[str, dict[str, Any]], None]) -> None:
    """Every row in turn; each is kept as soon as it is done."""
    for row in rows:
        keep(row.name, found.row(row))
