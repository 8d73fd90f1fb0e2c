"""Newton's method on polars' streaming engine: the loop that a user of polars would write."""

from __future__ import annotations

import numpy as np
import polars as pl

from benchmarks.stream_rivals.newton_sums import newton, pairs


def fit(path: str, names: list[str], C: float) -> np.ndarray:
    d, table, x = len(names), pl.scan_parquet(path), [pl.lit(1.0), *map(pl.col, names)]

    def sums(v: np.ndarray) -> list[float]:
        z = pl.sum_horizontal([x[j] * v[j] for j in range(d + 1)])
        known = table.with_columns((1 / (1 + (-z).exp())).alias("p")).with_columns(
            (pl.col("p") * (1 - pl.col("p"))).alias("h"), (pl.col("p") - pl.col("y")).alias("r")
        )
        first = [(pl.col("r") * x[j]).sum().alias(f"g{j}") for j in range(d + 1)]
        second = [(pl.col("h") * x[j] * x[k]).sum().alias(f"h{j}_{k}") for j, k in pairs(d)]
        return list(known.select(first + second).collect(engine="streaming").row(0))

    return newton(sums, d, C)
