"""Vowpal Wabbit's L-BFGS with its own cache. It reads lines of text, so writing them is part of the fit."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from vowpalwabbit import Workspace

BITS = 18
CONSTANT = 11650396 & (2**BITS - 1)


def fit(path: str, names: list[str], C: float) -> np.ndarray:
    with tempfile.TemporaryDirectory(dir=Path(path).parent) as folder:
        text = Path(folder) / "rows.txt"
        form = "%d | " + " ".join(f"{j}:%.9g" for j in range(len(names)))
        with text.open("w") as file:
            for batch in pq.ParquetFile(path).iter_batches(1 << 16):
                y = 2 * np.asarray(batch.column("y"), dtype=np.int64) - 1
                X = np.column_stack([y, *map(batch.column, names)])
                np.savetxt(file, X, form)
        # By default it sets every tenth row aside when it makes several passes.
        goal = "--bfgs --mem 20 --passes 60 --termination 1e-9 --holdout_off --loss_function logistic"
        model = Workspace(f"-d {text} -c -k -b {BITS} --quiet {goal} --l2 {1.0 / C!r} --no_bias_regularization")
        print("# it computes in float32, which limits the digits of its objective")
        return np.array([model.get_weight(CONSTANT), *(model.get_weight(j) for j in range(len(names)))])
