"""The process that a contestant lives in: load once, then one timed run a request.

Requests and answers are lines of JSON on the standard streams' first descriptors; what a peer prints goes to stderr.
Arrays travel as .npy files. Started as `INTERPRETER -m benchmarks.worker PEER`.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contestant import Task
from benchmarks.peers import PEERS, contestants_of

# Runs shorter than this are repeated within one timing. Calls of half a microsecond took twice as long for the first
# some 30 ms after the preparations, in some processes and not in others (threads that still spin, perhaps).
LEAST_SECONDS = 0.2
# Rows of a run that is only to compile.
FEW = 50
COMPILED: set[tuple[str, str, bool, str]] = set()


def load(folder: Path) -> tuple[Any, Any]:
    """X, dense or CSR, and y, into memory of this process's own."""
    y = np.load(folder / "y.npy")
    if (folder / "X.npy").exists():
        return np.load(folder / "X.npy"), y
    from scipy.sparse import csr_matrix

    data, indices, indptr, shape = (np.load(folder / f"{part}.npy") for part in ("data", "indices", "indptr", "shape"))
    return csr_matrix((data, indices, indptr), shape=tuple(shape)), y


def few_of_each(y: Any) -> Any:
    """The first rows, by number, and of every class its first two, which those may lack.

    >>> few_of_each(np.repeat([0, 1], 100))[-3:].tolist()
    [49, 100, 101]
    """
    each = [np.flatnonzero(y == label)[:2] for label in np.unique(y)]
    return np.unique(np.concatenate([np.arange(min(FEW, len(y))), *each]))


def memory() -> dict[str, int]:
    """VmRSS and VmHWM in bytes; nothing where there is no /proc."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return {}
    pairs = (line.split(":") for line in lines if line.startswith(("VmRSS", "VmHWM")))
    return {name: 1024 * int(value.split()[0]) for name, value in pairs}


def forget_the_peak() -> None:
    """Give freed memory back and set VmHWM to VmRSS, so that the next peak is the run's own."""
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")
    except (OSError, AttributeError):
        return


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of one call and what it returned; very short ones are called until they add up to something."""
    start = time.perf_counter()
    result = run()
    seconds = time.perf_counter() - start
    if seconds >= LEAST_SECONDS:
        return seconds, result
    times = int(LEAST_SECONDS / max(seconds, 1e-7)) + 1
    start = time.perf_counter()
    for _ in range(times):
        run()
    return (time.perf_counter() - start) / times, result


def serve(peer: str, request: dict[str, Any], held: dict[str, Any], say: Callable[[Any], None]) -> dict[str, Any]:
    """One request: run a contestant, say what it took and what it found; "started" starts the parent's clock."""
    if held.get("folder") != request["folder"]:
        held.clear()
        held.update(folder=request["folder"], rows=load(Path(request["folder"])))
    X, y = held["rows"]
    task = Task.from_dict(request["task"])
    (contestant,) = (
        c for c in contestants_of(peer) if (c.name, c.kind) == (request["contestant"], task.kind) and c.where(task)
    )
    types = (contestant.name, task.kind, task.sparse, task.dtype)
    if contestant.compiles and types not in COMPILED:
        COMPILED.add(types)
        few = few_of_each(y)
        contestant.prepare(task, X[few], y[few], request["rung"])()
    run = contestant.prepare(task, X, y, request["rung"])
    forget_the_peak()
    before = memory()
    say({"started": contestant.name})
    seconds, model = timed(run)
    after = memory()
    answer = contestant.report(model, task)
    np.save(request["answer"], np.asarray(answer.result))
    extra = after["VmHWM"] - before["VmRSS"] if before else None
    return {"seconds": seconds, "extra": answer.facts.pop("extra", extra), "facts": answer.facts}


def main() -> None:
    # Peers in C print to descriptor 1: keep it for answers, and send theirs to stderr.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")  # not converging shows in the objective
    peer = sys.argv[1]
    held: dict[str, Any] = {}

    def say(what: Any) -> None:
        print(json.dumps(what), file=answers, flush=True)

    say({"ready": PEERS[peer].versions()})
    for line in sys.stdin:
        try:
            reply = serve(peer, json.loads(line), held, say)
        except Exception as error:
            traceback.print_exc()
            first = str(error).strip().split("\n")[0][:200]
            reply = {"failed": f"{type(error).__name__}: {first}"}
        say(reply)


if __name__ == "__main__":
    main()
