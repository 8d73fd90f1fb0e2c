"""Which columns matter most to a model, the most important first."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.base.arrays import Integers
from separatrix.diagnostics.coefficients import Coefficients
from separatrix.rows import memory_rows, summarise


def important_columns(rows: Any, codes: Integers, n_classes: int, found: Coefficients | None, top: int) -> Integers:
    """The numbers of at most ``top`` columns: by the size of their weights per step, without those of weight zero.

    Without coefficients, ``found`` is None, and columns are ordered by how far the class means differ in standard
    deviations.

    >>> X = np.array([[0.0, 5.0], [1.0, 5.5], [0.0, 9.0], [1.0, 9.5]])
    >>> important_columns(X, np.array([0, 0, 1, 1]), 2, None, 1).tolist()
    [1]
    """
    if found is not None:
        order = found.largest(top)
        return np.asarray(order[np.any(found.value[:, order] != 0, axis=0)])
    counts = np.bincount(codes, minlength=n_classes)
    present = np.flatnonzero(counts)
    share = (codes[:, None] == present) / counts[present]
    means = np.asarray(rows.T @ share).T
    columns = summarise(memory_rows(rows, codes), ranges=False)
    usable = ~columns.constant & (columns.std > 0)
    apart = np.where(usable, means.std(axis=0) / np.where(usable, columns.std, 1.0), 0.0)
    return np.argsort(-apart, kind="stable")[:top]
