"""Makes `Rows` from arrays and class numbers. All code behind this function takes ``Rows``."""

from __future__ import annotations

from math import frexp, ldexp
from typing import Any

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.base.labels import signed
from separatrix.rows.csr import is_sparse
from separatrix.rows.memory import MemoryRows, memory_rows


def labelled_rows(
    X: Any, codes: Integers, n_classes: int, weight: Array | None = None, offset: Array | None = None
) -> MemoryRows:
    """Rows in memory with the targets of a likelihood: ±1 for two classes, class numbers for more.

    Weights are divided by a power of two, ``weight_unit``, so that their sums stay far from overflow and underflow.
    ``offset`` (n, K or 1) is added to the scores. It is appended to X as columns, which copies X.

    >>> rows = labelled_rows(np.eye(2), np.array([0, 1]), 2, np.array([3.0, 5.0]))
    >>> rows.t.tolist(), rows.weight.tolist(), rows.weight_unit
    ([-1.0, 1.0], [0.75, 1.25], 4.0)
    """
    weight = np.ones(len(codes)) if weight is None else weight
    largest = float(weight.max(initial=0.0))
    unit = ldexp(1.0, frexp(largest)[1] - 1) if largest > 0 else 1.0
    X = X if offset is None else _with_offset(X, offset)
    weight = weight if unit == 1 else weight / unit
    return memory_rows(X, signed(codes) if n_classes == 2 else codes, weight, weight_unit=unit)


def _with_offset(X: Any, offset: Array) -> Any:
    """X with the columns of an offset appended."""
    if not is_sparse(X):
        return np.column_stack([X, offset])
    from scipy.sparse import csr_array, hstack

    return hstack([csr_array(X), csr_array(offset)], format="csr")
