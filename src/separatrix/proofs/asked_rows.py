"""The rows that a verdict is asked about, as class differences: conversions and checks that all verdicts share."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray, Integers, as_floats
from separatrix.base.errors import LabelError, ParameterError
from separatrix.base.labels import encode, known_codes
from separatrix.proofs.class_differences import Differences, chunks
from separatrix.proofs.naming import About
from separatrix.proofs.rational import signs
from separatrix.rows.csr import as_csr, is_sparse


def as_rows(X: Any) -> Any:
    """X as float64, either dense or CSR without duplicate entries.

    >>> as_rows([[1, 2]]).tolist()
    [[1.0, 2.0]]
    """
    if not is_sparse(X):
        return as_floats(X)
    rows: Any = as_csr(X)
    return rows if rows.dtype == np.float64 else as_csr(rows.astype(np.float64))


def asked_differences(X: Any, y: Any, about: About) -> Differences:
    """The rows to verify a verdict on, with the classes of that verdict."""
    rows = as_rows(X)
    if len(about.classes):
        codes, K = known_codes(y, about.classes), len(about.classes)
    else:
        classes, codes = encode(y)
        K = len(classes)
        if K != 2:
            raise LabelError("y", f"it has {K} classes", "give the two classes of the verdict")
    if rows.ndim != 2 or rows.shape[0] != len(codes):
        raise ParameterError("X", f"its shape is {rows.shape} for {len(codes)} labels", "give one row for each label")
    return Differences(rows, codes, K, about.fit_intercept)


def are_in(D: Differences, rows: Integers, against: Integers) -> bool:
    """Whether each row is a row of D, paired with a class other than its own, and there is at least one."""
    if len(rows) == 0 or len(rows) != len(against) or rows.min() < 0 or rows.max() >= len(D.codes):
        return False
    return bool(np.all((against >= 0) & (against < D.K) & (against != D.codes[rows])))


def signs_of(D: Differences, numbers: Integers, v: Any) -> set[int]:
    """The set of signs of a·v, computed exactly."""
    return {sign for part in chunks(numbers) for sign in signs(D.dense(part), v)}


def flattened(D: Differences, v: AnyArray) -> AnyArray | None:
    """v as a vector that multiplies the rows of D; None if its shape is wrong or it has an unexpected intercept."""
    if v.shape != ((D.X.shape[1] + 1,) if D.K == 2 else (D.K, D.X.shape[1] + 1)):
        return None
    W = np.vstack([np.zeros_like(v), v]) if D.K == 2 else v
    return None if not D.fit_intercept and np.any(W[:, 0] != 0) else D.flat(W)
