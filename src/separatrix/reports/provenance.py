"""Where a report comes from: the day, the versions, and digests of the rows, so that it can be made again."""

from __future__ import annotations

import datetime
import hashlib
import os
from typing import Any

import numpy as np

from separatrix.base.labels import as_label_array
from separatrix.rows.csr import is_sparse


def today() -> datetime.date:
    """The day in UTC, or that of SOURCE_DATE_EPOCH, the convention for builds that give the same bytes again."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    if given.isdigit():
        return datetime.datetime.fromtimestamp(int(given), datetime.UTC).date()
    return datetime.datetime.now(datetime.UTC).date()


def digest(X: Any, y: Any) -> str:
    """SHA-256 of rows and labels as numbers: the same for equal values, whatever type of array holds them.

    >>> digest(np.array([[1.0, 2.0]]), ["a"]) == digest(np.array([[1, 2]]), np.array(["a"]))
    True
    """
    found = hashlib.sha256(repr(tuple(X.shape)).encode())
    if is_sparse(X):
        X = X.tocsr() if hasattr(X, "tocsr") else X
        parts = [X.indptr.astype(np.int64), X.indices.astype(np.int64), np.asarray(X.data, dtype=np.float64)]
    else:
        parts = [np.ascontiguousarray(X, dtype=np.float64)]
    for part in parts:
        found.update(memoryview(part).cast("B") if part.size else b"")
    for label in as_label_array(y).tolist():
        found.update(str(label).encode(errors="surrogatepass") + b"\n")
    return found.hexdigest()
