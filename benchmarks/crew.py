"""The parent's side of the workers: one a peer, started when first asked, killed when it takes too long."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.environments import HERE, Unavailable, interpreter

# For starting, loading and whatever is not timed.
PREPARATION_SECONDS = 180.0


class TimedOut(RuntimeError):
    """A run that took longer than it was given."""


class Died(RuntimeError):
    """A worker that ended by itself; says the last thing it said."""


class Worker:
    """A process in a peer's interpreter; ``environment``: its environment variables, by default those of this one."""

    def __init__(self, python: str, peer: str, log: Path, environment: Mapping[str, str] | None = None) -> None:
        self.log = log
        with log.open("w") as errors:
            self.process = subprocess.Popen(
                [python, "-m", "benchmarks.worker", peer],
                cwd=HERE.parent,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=environment,
            )
        self.waiting = b""
        try:
            self.versions: dict[str, str] = self.read(PREPARATION_SECONDS)["ready"]
        except TimedOut as error:
            self.close()
            raise Died(f"did not start in {PREPARATION_SECONDS:.0f} s") from error

    def ask(self, request: Mapping[str, Any], limit: float) -> dict[str, Any]:
        """The reply to a request; the limit is on what is timed."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError as error:
            raise Died(self.last_words()) from error
        reply = self.read(PREPARATION_SECONDS)
        return self.read(limit) if "started" in reply else reply

    def read(self, seconds: float) -> dict[str, Any]:
        assert self.process.stdout is not None
        descriptor, until = self.process.stdout.fileno(), time.monotonic() + seconds
        while b"\n" not in self.waiting:
            ready, _, _ = select.select([descriptor], [], [], max(0.0, until - time.monotonic()))
            if not ready:
                raise TimedOut
            problem = os.read(descriptor, 65536)
            if not problem:
                raise Died(self.last_words())
            self.waiting += problem
        line, self.waiting = self.waiting.split(b"\n", 1)
        found: dict[str, Any] = json.loads(line)
        return found

    def last_words(self) -> str:
        code = self.process.wait()
        said = self.log.read_text(errors="replace").strip().splitlines()
        return f"ended with code {code}: {said[-1][:200] if said else 'said nothing'}"

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()


@dataclass
class Crew:
    """Workers by peer; ``python`` says which interpreter runs a peer (tests give their own)."""

    folder: Path
    python: Callable[[str], str] = interpreter
    workers: dict[str, Worker] = field(default_factory=dict)
    versions: dict[str, dict[str, str]] = field(default_factory=dict)
    unavailable: dict[str, str] = field(default_factory=dict)

    def worker(self, peer: str) -> Worker:
        if peer in self.unavailable:
            raise Unavailable(self.unavailable[peer])
        if peer not in self.workers:
            try:
                self.workers[peer] = Worker(self.python(peer), peer, self.folder / f"{peer}.log")
            except (Unavailable, Died, OSError) as error:
                self.unavailable[peer] = str(error)
                raise Unavailable(str(error)) from error
            self.versions[peer] = self.workers[peer].versions
        return self.workers[peer]

    def ask(self, peer: str, request: Mapping[str, Any], limit: float) -> dict[str, Any]:
        """The reply, or {"failed": why}, or {"over": limit}."""
        try:
            return self.worker(peer).ask(request, limit)
        except TimedOut:
            self.dismiss(peer)
            return {"over": limit}
        except Unavailable as error:
            return {"unavailable": str(error)}
        except Died as error:
            self.dismiss(peer)
            return {"failed": str(error)}

    def dismiss(self, peer: str) -> None:
        if peer in self.workers:
            self.workers.pop(peer).close()

    def close(self) -> None:
        for peer in list(self.workers):
            self.dismiss(peer)
