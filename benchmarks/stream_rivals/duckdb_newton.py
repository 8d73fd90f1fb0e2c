"""Newton's method in SQL, on DuckDB."""

from __future__ import annotations

import duckdb
import numpy as np

from benchmarks.stream_rivals.newton_sums import newton, pairs

MEMORY = "500MB"


def fit(path: str, names: list[str], C: float) -> np.ndarray:
    connection = duckdb.connect(config={"memory_limit": MEMORY, "threads": 2})
    d, x = len(names), ["1.0", *names]

    def sums(v: np.ndarray) -> list[float]:
        z = " + ".join(f"{value!r} * {name}" for value, name in zip(v.tolist(), x, strict=True))
        first = [f"sum((p - y) * {x[j]})" for j in range(d + 1)]
        second = [f"sum(p * (1 - p) * {x[j]} * {x[k]})" for j, k in pairs(d)]
        query = f"SELECT {', '.join(first + second)} FROM (SELECT *, 1 / (1 + exp(-({z}))) AS p FROM '{path}')"
        found = connection.execute(query).fetchone()
        assert found is not None
        return list(found)

    return newton(sums, d, C)
