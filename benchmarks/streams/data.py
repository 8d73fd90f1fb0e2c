"""A table of normal columns with a label drawn from a logistic model, written to Parquet or CSV piece by piece."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

ROWS_PER_PIECE = 1 << 18
TARGET = "y"


def columns(d: int) -> list[str]:
    return [f"x{j}" for j in range(d)]


def pieces(n: int, d: int, seed: int = 0) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """X (m, d) with correlated columns of different scales, and y (m,) in {0, 1}; the same for the same arguments."""
    rng = np.random.default_rng(seed)
    mix = np.eye(d) + 0.3 * rng.standard_normal((d, d)) / np.sqrt(d)
    scale, w = np.logspace(-1, 1, d), rng.standard_normal(d) / np.sqrt(d)
    for start in range(0, n, ROWS_PER_PIECE):
        Z = rng.standard_normal((min(ROWS_PER_PIECE, n - start), d)) @ mix
        y = (Z @ w - 1.0 > rng.logistic(size=len(Z))).astype(np.int64)
        yield Z * scale, y


def write(path: Path, n: int, d: int) -> None:
    """Write the table; the ending of the path says which format."""
    schema = pa.schema([*((name, pa.float64()) for name in columns(d)), (TARGET, pa.int64())])
    opened = pq.ParquetWriter if path.suffix == ".parquet" else pa_csv.CSVWriter
    with opened(str(path), schema) as writer:
        for X, y in pieces(n, d):
            writer.write_table(pa.table([*map(pa.array, np.ascontiguousarray(X.T)), pa.array(y)], schema=schema))
