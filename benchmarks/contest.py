"""One part of a row: everyone climbs to the accuracy, then those who reached it are timed in turn.

Warm-up: round by round each contestant runs the next rung of its ladder until its answer is within the accuracy of the
best anyone has reached; that rung is the one that counts. Then rounds of timed runs, one a contestant, so that whatever
slows the machine slows all alike. A time is shown only for those who are within the accuracy in the end.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.contestant import Contestant, Task
from benchmarks.crew import Crew
from benchmarks.data import Data
from benchmarks.judges import JUDGES, Judge
from benchmarks.peers import PEERS, contestants_of
from benchmarks.rows import Part

# Threads of a library that has just run may spin for a while.
PAUSE_SECONDS = 0.1


@dataclass(frozen=True)
class Settings:
    """``limit``: seconds for one run. ``budget``: seconds that a contestant gets in all.

    ``patience``: both are cut to so many times the quickest that reached the accuracy, though not below ``least``
    seconds and twice that: else those who have no chance would take most of the time. ``far``: who takes so many times
    the quickest is timed twice only.
    """

    repeats: int = 5
    limit: float = 60.0
    budget: float = 40.0
    patience: float = 20.0
    least: float = 8.0
    far: float = 5.0
    pause: float = PAUSE_SECONDS

    def limit_after(self, quickest: float) -> float:
        """The limit when the quickest that reached the accuracy took so long.

        >>> Settings().limit_after(math.inf), Settings().limit_after(0.1), Settings().limit_after(0.5)
        (60.0, 8.0, 10.0)
        """
        return min(self.limit, max(self.least, self.patience * quickest))

    def budget_after(self, quickest: float) -> float:
        return min(self.budget, 2.0 * self.limit_after(quickest))

    def rounds(self, warm: float, spent: float, quickest: float) -> int:
        """How often to time a contestant whose last run took ``warm`` and all its runs ``spent``.

        >>> Settings().rounds(1.0, 2.0, 1.0), Settings().rounds(9.0, 9.0, 1.0), Settings().rounds(15.0, 15.0, 15.0)
        (5, 2, 1)
        """
        most = self.repeats if warm <= self.far * quickest else min(2, self.repeats)
        return max(1, min(most, int(max(0.0, self.budget - spent) / max(warm, 1e-9))))


@dataclass
class Entry:
    """A contestant on its way: where it is on its ladder, what it has come to."""

    peer: str
    contestant: Contestant
    rung: int = 0
    value: np.ndarray | None = None
    warm: float = math.inf
    spent: float = 0.0
    seconds: list[float] = field(default_factory=list)
    extra: int | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    ended: str = ""  # why it is out
    climbing: bool = True

    @property
    def name(self) -> str:
        return f"{self.peer} {self.contestant.name}"

    @property
    def last_rung(self) -> bool:
        return self.rung + 1 >= len(self.contestant.ladder)


@dataclass
class Contest:
    part: Part
    task: Task
    data: Data
    folder: Path
    crew: Crew
    settings: Settings
    tell: Callable[[str], None]

    def __post_init__(self) -> None:
        self.judge: Judge = JUDGES[self.task.kind](self.task, self.data)
        self.best = np.array([math.inf])

    def hold(self, entries: list[Entry]) -> list[dict[str, Any]]:
        """Every entry's line."""
        self.warm_up(entries)
        self.race(entries)
        return [self.line(entry) for entry in entries]

    # ---------------------------------------------------------------------------------------- warm-up

    def warm_up(self, entries: list[Entry]) -> None:
        while any(entry.climbing for entry in entries):
            for entry in entries:
                if entry.climbing:
                    self.climb(entry, entries)
            for entry in entries:  # someone may have come lower since
                if not entry.climbing and not entry.ended and not self.within(entry):
                    self.next_rung(entry, entries)

    def climb(self, entry: Entry, entries: Iterable[Entry]) -> None:
        if not self.run(entry, self.settings.limit_after(self.quickest(entries))) or self.within(entry):
            entry.climbing = False
        else:
            self.next_rung(entry, entries)

    def next_rung(self, entry: Entry, entries: Iterable[Entry]) -> None:
        """Tighter settings, and times anew; out where there are none or the budget is spent."""
        budget = self.settings.budget_after(self.quickest(entries))
        entry.climbing = False
        if entry.last_rung:
            entry.ended = "not reached"
        elif entry.spent > budget:
            entry.ended = f"not reached in {budget:.0f} s"
        else:
            entry.climbing, entry.rung, entry.seconds = True, entry.rung + 1, []

    def quickest(self, entries: Iterable[Entry]) -> float:
        """The least time of those within the accuracy."""
        return min((entry.warm for entry in entries if not entry.ended and self.within(entry)), default=math.inf)

    def within(self, entry: Entry) -> bool:
        return entry.value is not None and self.shortfall(entry) <= self.part.accuracy

    def shortfall(self, entry: Entry) -> float:
        assert entry.value is not None
        return self.judge.shortfall(entry.value, self.best)

    # ------------------------------------------------------------------------------------------- runs

    def run(self, entry: Entry, limit: float, count: bool = False) -> bool:
        """One run, judged; False where there is no answer."""
        time.sleep(self.settings.pause)
        answer = self.folder / "answer.npy"
        request = {
            "folder": str(self.folder),
            "task": self.task.to_dict(),
            "contestant": entry.contestant.name,
            "rung": dict(entry.contestant.ladder[entry.rung]),
            "answer": str(answer),
        }
        reply = self.crew.ask(entry.peer, request, limit)
        if count and "over" in reply:  # one slow run of several is no verdict: the median is
            entry.seconds.append(math.inf)
            self.tell(f"{entry.name}: {self.reason(reply)}")
            return True
        if "seconds" not in reply:
            entry.value = None
            entry.ended = self.reason(reply)
            self.tell(f"{entry.name}: {entry.ended}")
            return False
        self.take(entry, reply, self.judge.value(np.load(answer)), count)
        return True

    def take(self, entry: Entry, reply: dict[str, Any], value: np.ndarray, count: bool) -> None:
        entry.value = value
        self.best = np.minimum(self.best, value)
        entry.warm, entry.facts = reply["seconds"], reply["facts"]
        entry.spent += reply["seconds"]
        if count:
            entry.seconds.append(reply["seconds"])
            if reply["extra"] is not None:
                entry.extra = max(reply["extra"], entry.extra or 0)
        self.tell(f"{entry.name} {_short(entry.contestant.ladder[entry.rung])}: {reply['seconds']:.3g} s")

    def reason(self, reply: dict[str, Any]) -> str:
        if "over" in reply:
            return f"> {reply['over']:.0f} s"
        if "unavailable" in reply:
            return f"unavailable: {reply['unavailable']}"
        return f"failed: {reply['failed']}"

    def race(self, entries: list[Entry]) -> None:
        """Rounds of timed runs. Some solvers draw lots: who misses the accuracy here goes a rung up and starts anew."""
        runners = [entry for entry in entries if not entry.ended]
        quickest = self.quickest(runners)
        rounds = {id(e): self.settings.rounds(e.warm, e.spent, quickest) for e in runners}
        while waiting := [e for e in runners if not e.ended and len(e.seconds) < rounds[id(e)]]:
            for entry in waiting:
                if self.run(entry, self.settings.limit, count=True) and not self.within(entry):
                    self.next_rung(entry, runners)

    # ------------------------------------------------------------------------------------------ lines

    def line(self, entry: Entry) -> dict[str, Any]:
        if not entry.ended and math.isinf(median(entry.seconds)):
            entry.ended = f"> {self.settings.limit:.0f} s"
        reached = not entry.ended and self.within(entry)
        status = "reached" if reached else entry.ended or "not reached"
        note = entry.facts.get("note") or entry.contestant.note
        return {
            "peer": entry.peer,
            "contestant": entry.contestant.name,
            "status": status,
            "seconds": median(entry.seconds) if reached else None,
            "spread": [min(entry.seconds), min(max(entry.seconds), self.settings.limit)] if reached else None,
            "repeats": len(entry.seconds),
            "shortfall": None if entry.value is None else self.shortfall(entry),
            "value": None if entry.value is None else float(entry.value[-1]),
            "extra": entry.extra,
            "rung": dict(entry.contestant.ladder[entry.rung]),
            "facts": {name: fact for name, fact in entry.facts.items() if name != "note"},
            "note": note or "",
        }


def entries_for(part: Part, task: Task, peers: Iterable[str] = tuple(PEERS)) -> list[Entry]:
    """Everyone who does this task."""
    return [
        Entry(peer, contestant)
        for peer in peers
        if peer not in part.left_out
        for contestant in contestants_of(peer)
        if contestant.kind == task.kind and contestant.where(task)
    ]


def _short(rung: Any) -> str:
    return " ".join(
        f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}" for name, value in rung.items()
    )
