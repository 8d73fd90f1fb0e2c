"""Newton's method in SQL, on DuckDB."""

from __future__ import annotations

import duckdb
import numpy as np

from benchmarks.streams.rivals.newton_sums import newton, pairs

MEMORY = "500MB"


def fit(path: str, d: int, C: float) -> np.ndarray:
    connection = duckdb.connect(config={"memory_limit": MEMORY, "threads": 2})
    x = ["1.0", *(f"x{j}" for j in range(d))]

    def sums(v: np.ndarray) -> list[float]:
        z = " + ".join(f"{v[j]!r} * {x[j]}" for j in range(d + 1)).replace("np.float64(", "").replace(")", "")
        first = [f"sum((p - y) * {x[j]})" for j in range(d + 1)]
        second = [f"sum(p * (1 - p) * {x[j]} * {x[k]})" for j, k in pairs(d)]
        query = f"SELECT {', '.join(first + second)} FROM (SELECT *, 1 / (1 + exp(-({z}))) AS p FROM '{path}')"
        found = connection.execute(query).fetchone()
        assert found is not None
        return list(found)

    return newton(sums, d, C)
