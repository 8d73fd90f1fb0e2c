"""scikit-learn's SGDClassifier, batch by batch, on standardised columns."""

from __future__ import annotations

import numpy as np
import pyarrow.parquet as pq
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

EPOCHS = 5
# The default steps are too long for so small an alpha.
STEPS = {"learning_rate": "invscaling", "eta0": 0.05, "power_t": 0.5, "average": True}


def fit(path: str, names: list[str], C: float) -> np.ndarray:
    n = pq.read_metadata(path).num_rows
    scaler, model = StandardScaler(), SGDClassifier(loss="log_loss", alpha=1.0 / (C * n), **STEPS, random_state=0)

    def batches():
        for batch in pq.ParquetFile(path).iter_batches(1 << 16):
            yield np.column_stack([batch.column(name) for name in names]), np.asarray(batch.column("y"))

    for X, _ in batches():
        scaler.partial_fit(X)
    for _ in range(EPOCHS):
        for X, y in batches():
            model.partial_fit(scaler.transform(X), y, classes=[0, 1])
    print(f"# {EPOCHS} epochs of shrinking steps, which approach the optimum only slowly")
    w = model.coef_[0] / scaler.scale_
    return np.concatenate([model.intercept_ - scaler.mean_ @ w, w])
