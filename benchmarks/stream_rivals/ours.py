"""Separatrix: the same estimator as in memory, on a scan of the file."""

from __future__ import annotations

import numba  # noqa: F401
import numpy as np
from pyarrow import parquet  # noqa: F401

import separatrix as sx

# What a fit imports is imported now, as the other packages do: names of `sx` import their modules when they are used.
USED = sx.LogisticRegression, sx.scan


def fit(path: str, names: list[str], C: float, memory: str = "500MB", cache: bool | None = None) -> np.ndarray:
    model = sx.LogisticRegression(C=C).fit(sx.scan(path, target="y", memory=memory, cache=cache))
    print(f"# {model.certificate_.passes} reads, gap at most {model.certificate_.bound:.1e}")
    return np.concatenate([model.intercept_, model.coef_[0]])


def without_cache(path: str, names: list[str], C: float) -> np.ndarray:
    return fit(path, names, C, cache=False)
