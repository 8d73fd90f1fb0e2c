"""What this machine can do at most, measured in the same run, and what it is."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.rows import Work


@dataclass(frozen=True)
class Limits:
    """Bytes and operations a second."""

    bandwidth: float
    double: float
    single: float

    def seconds(self, work: Work, dtype: str) -> float:
        """The least time for this work.

        >>> Limits(1e9, 1e10, 2e10).seconds(Work(bytes=2e9, flops=1e10), "float64")
        2.0
        """
        peak = self.single if dtype == "float32" else self.double
        return max(work.bytes / self.bandwidth, work.flops / peak)

    def to_dict(self) -> dict[str, float]:
        return asdict(self)


def quickest(run: Callable[[], Any], times: int) -> float:
    found = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        found.append(time.perf_counter() - start)
    return min(found)


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def measure(megabytes: int = 1024, size: int = 3000, times: int = 5) -> Limits:
    """A threaded read of a large array, and the product of two large matrices in both precisions."""
    x = np.ones(megabytes * 2**17)
    parts = np.array_split(x, cores())
    with ThreadPoolExecutor(len(parts)) as pool:
        # Squares are summed by BLAS as fast as memory gives them; np.sum was 2 times slower than memory.
        read = quickest(lambda: list(pool.map(lambda part: np.dot(part, part), parts)), times)
    rng = np.random.default_rng(0)
    A = rng.standard_normal((size, size))
    B = A.astype(np.float32)
    flops = 2.0 * size**3
    return Limits(x.nbytes / read, flops / quickest(lambda: A @ A, times), flops / quickest(lambda: B @ B, times))


def machine() -> dict[str, Any]:
    """Processor, cores, memory, system, Python, load and when."""
    return {
        "processor": processor(),
        "cores": cores(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "load": round(load(), 2),
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
    }


def load() -> float:
    """What else the machine is doing: processes that want a core, over the last minute."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()
