"""python -m benchmarks.separability: how often a table outside memory is read until its separability is decided.

Each table is written to a Parquet file and decided twice: from the file, and in memory. The verdicts must be of the
same kind, and the one from the file is verified on the file. ``python -m benchmarks.separability 200000 3`` takes
200 000 rows and three seeds instead of 2 000 000 rows and two seeds.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

COLUMNS = 10
ROWS, SEEDS = 2_000_000, 2

Table = tuple[Any, Any]


def _apart(dice: np.random.Generator, n: int) -> tuple[Any, Any, Any]:
    """Rows, their signed distance to a hyperplane, and the labels that it gives."""
    X, w = dice.standard_normal((n, COLUMNS)), dice.standard_normal(COLUMNS)
    z = X @ w / np.linalg.norm(w) + 0.3
    return X, z, (z > 0).astype(np.int64)


def thin_margin(dice: np.random.Generator, n: int) -> Table:
    X, _, y = _apart(dice, n)
    return X, y


def one_row_flipped(dice: np.random.Generator, n: int) -> Table:
    X, _, y = _apart(dice, n)
    y[dice.integers(n)] ^= 1
    return X, y


def one_row_flipped_near_the_boundary(dice: np.random.Generator, n: int) -> Table:
    X, z, y = _apart(dice, n)
    y[np.argpartition(np.abs(z), n // 10_000)[n // 10_000]] ^= 1
    return X, y


def narrow_overlap(dice: np.random.Generator, n: int) -> Table:
    X, z, _ = _apart(dice, n)
    return X, (z + 1e-4 * dice.logistic(size=n) > 0).astype(np.int64)


def rare_column_of_one_class(dice: np.random.Generator, n: int) -> Table:
    X, y = heavy_overlap(dice, n)
    X[:, -1] = 0
    X[dice.choice(np.flatnonzero(y == 1), 7, replace=False), -1] = 1
    return X, y


def rare_column_of_both_classes(dice: np.random.Generator, n: int) -> Table:
    X, y = rare_column_of_one_class(dice, n)
    X[dice.choice(np.flatnonzero(y == 0), 1), -1] = 1
    return X, y


def heavy_overlap(dice: np.random.Generator, n: int) -> Table:
    X, z, _ = _apart(dice, n)
    return X, (z + dice.logistic(size=n) > 0).astype(np.int64)


TABLES: tuple[Callable[[np.random.Generator, int], Table], ...] = (
    thin_margin,
    one_row_flipped,
    one_row_flipped_near_the_boundary,
    narrow_overlap,
    rare_column_of_one_class,
    rare_column_of_both_classes,
    heavy_overlap,
)


class Line(NamedTuple):
    """One line of the result: CPU seconds of the decision from the file, and of the one in memory."""

    table: str
    seed: int
    verdict: str
    agrees: bool
    verifies: bool
    reads: int
    seconds: float
    in_memory: float


def decided(make: Callable[[np.random.Generator, int], Table], n: int, seed: int, folder: str) -> Line:
    """Decide a table from a file and in memory."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    import separatrix as sx
    from separatrix.core.rows.protocol import counted_passes

    X, y = make(np.random.default_rng(seed), n)
    path = Path(folder) / "table.parquet"
    pq.write_table(pa.table({**{f"x{j}": X[:, j] for j in range(COLUMNS)}, "y": y}), path)
    scan = sx.scan(path, target="y", classes=[0, 1])
    start = time.process_time()
    with counted_passes() as reads:
        ours = sx.separability(scan)
    between = time.process_time()
    theirs = sx.separability(X, y)
    end = time.process_time()
    verifies, agrees = ours.verify(scan), type(ours) is type(theirs)
    name = make.__name__.replace("_", " ")
    return Line(name, seed, type(ours).__name__, agrees, verifies, reads[0], between - start, end - between)


def lines(n: int, seeds: int) -> Iterator[Line]:
    with tempfile.TemporaryDirectory() as folder:
        for make in TABLES:
            for seed in range(seeds):
                yield decided(make, n, seed, folder)


def main(n: int = ROWS, seeds: int = SEEDS) -> None:
    print(f"{n:,} rows of {COLUMNS} columns; CPU seconds from the Parquet file and in memory")
    print(f"{'table':34} seed  {'verdict':15} as in memory  verifies  reads  seconds  in memory")
    for line in lines(n, seeds):
        said = [f"{'yes' if value else 'NO':>{width}}" for value, width in ((line.agrees, 12), (line.verifies, 8))]
        figures = f"{line.reads:5}  {line.seconds:7.2f}  {line.in_memory:9.2f}"
        print(f"{line.table:34} {line.seed:4}  {line.verdict:15} {said[0]}  {said[1]}  {figures}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
