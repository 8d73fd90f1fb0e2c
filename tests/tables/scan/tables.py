"""Tables of Parquet files for the tests of what classifiers do with tables outside memory."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq


def written(folder, X, y=None, weight=None, files=3, names=None):
    """Write rows to some Parquet files and return a pattern that matches them."""
    names = names or [f"x{j}" for j in range(X.shape[1])]
    for k, part in enumerate(np.array_split(np.arange(len(X)), files)):
        columns = {name: X[part, j] for j, name in enumerate(names)}
        columns |= {} if y is None else {"y": y[part]}
        columns |= {} if weight is None else {"w": weight[part]}
        pq.write_table(pa.table(columns), folder / f"{k}.parquet", row_group_size=20_000)
    return str(folder / "*.parquet")


def labelled(n, d=8, n_classes=2, seed=0, dtype=np.float64):
    """Rows of some spread in each column, with overlapping classes named by letters."""
    rng = np.random.default_rng(seed)
    X = (rng.standard_normal((n, d)) * np.logspace(-1, 1, d) + np.arange(d)).astype(dtype)
    scores = np.column_stack([X[:, k] + X[:, 3 + k] / 20 for k in range(n_classes)]) * 2 + rng.gumbel(
        size=(n, n_classes)
    )
    return X, np.array(["a", "b", "c", "d"])[np.argmax(scores, axis=1)]
