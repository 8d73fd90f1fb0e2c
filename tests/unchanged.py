"""Arguments of many kinds, and whether a call leaves them as they were."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy.sparse import coo_array, csc_array, csr_array, csr_matrix, issparse

# ------------------------------------------------------------------------------------- fingerprints


def fingerprint(value, seen=()):
    """All that a caller can see of an argument, bytes and memory layout of arrays included, as something comparable."""
    if id(value) in seen:
        return "seen"
    seen = (*seen, id(value))
    if isinstance(value, np.ndarray):
        return _array(value)
    if issparse(value):
        names = [name for name in ("data", "indices", "indptr", "coords") if hasattr(value, name)]
        return type(value), value.shape, [fingerprint(getattr(value, name), seen) for name in names]
    if isinstance(value, pd.DataFrame | pd.Series):
        table = value.to_frame() if isinstance(value, pd.Series) else value
        columns = [fingerprint(table.iloc[:, j].to_numpy()) for j in range(table.shape[1])]
        return type(value), list(table.columns), table.index.tolist(), columns
    if isinstance(value, pl.DataFrame | pl.Series | pa.Table):
        arrow = value if isinstance(value, pa.Table) else value.to_arrow()
        return type(value), repr(getattr(value, "schema", None)), arrow.to_pylist()
    if isinstance(value, Mapping):
        return type(value), [(fingerprint(k, seen), fingerprint(v, seen)) for k, v in value.items()]
    if isinstance(value, list | tuple | set | frozenset):
        return type(value), [fingerprint(item, seen) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        return type(value), [fingerprint(getattr(value, field.name), seen) for field in fields(value)]
    if hasattr(value, "get_params") and not isinstance(value, type):
        return type(value), fingerprint(vars(value), seen)
    return type(value), repr(value) if isinstance(value, str | bytes | int | float | np.generic | None) else id(value)


def _array(array):
    """An array of objects by its values, any other by its bytes and those of the array that it is a view of."""
    own = [repr(item) for item in array.ravel()] if array.dtype.hasobject else array.tobytes()
    base = array.base.tobytes() if isinstance(array.base, np.ndarray) and not array.dtype.hasobject else None
    return type(array), array.dtype, array.shape, array.strides, array.flags.writeable, own, base


def unchanged(call, *arguments, **named):
    """``call(*arguments, **named)``, which must change none of them."""
    before, flags = fingerprint((arguments, named)), [_flags(value) for value in (*arguments, *named.values())]
    answer = call(*arguments, **named)
    assert fingerprint((arguments, named)) == before
    for value, kept in zip((*arguments, *named.values()), flags, strict=True):
        assert _flags(value) == _true_flags(value) | kept
    return answer


def _flags(value):
    """What SciPy has kept in a matrix about its indices: it does where it is first asked for."""
    names = ("_has_sorted_indices", "_has_canonical_format") if issparse(value) else ()
    return {name: bool(vars(value)[name]) for name in names if name in vars(value)}


def _true_flags(value):
    """What it should have kept, of those."""
    if not _flags(value):
        return {}
    fresh = type(value)((value.data.copy(), value.indices.copy(), value.indptr.copy()), shape=value.shape)
    true = {"_has_sorted_indices": fresh.has_sorted_indices, "_has_canonical_format": fresh.has_canonical_format}
    return {name: bool(true[name]) for name in _flags(value)}


# ------------------------------------------------------------------------------------- kinds of rows


def _parts(X, repeated=False):
    """CSR arrays of X: each row's entries in descending columns, on request each in two halves."""
    indices = [np.flatnonzero(row)[::-1] for row in X]
    if repeated:
        indices = [np.concatenate([columns, columns]) for columns in indices]
    data = np.concatenate([row[columns] for row, columns in zip(X, indices, strict=True)])
    indptr = np.concatenate([[0], np.cumsum([len(columns) for columns in indices])])
    return (data / 2 if repeated else data), np.concatenate(indices).astype(np.int32), indptr.astype(np.int32)


def _frozen(X):
    for array in (X.data, X.indices, X.indptr) if issparse(X) else (X,):
        array.flags.writeable = False
    return X


def _stale(X):
    """CSR whose flags were kept before its indices were put into another order."""
    stale = csr_array(X)
    assert stale.has_canonical_format
    stale.data, stale.indices, stale.indptr = _parts(X)
    return stale


def _mapped(X, folder):
    place = folder / f"{len(list(folder.iterdir()))}.npy"
    np.save(place, X)
    return np.load(place, mmap_mode="r")


def _strided(X):
    wide = np.full((2 * X.shape[0], 2 * X.shape[1]), 7.0)
    wide[::2, ::2] = X
    return wide[::2, ::2]


def _named(X):
    return {f"x{j}": X[:, j] for j in range(X.shape[1])}


SPARSE = {
    "CSR": lambda X, _: csr_array(X),
    "CSR, unsorted": lambda X, _: csr_array(_parts(X), shape=X.shape),
    "CSR matrix, unsorted": lambda X, _: csr_matrix(_parts(X), shape=X.shape),
    "CSR, repeated entries": lambda X, _: csr_array(_parts(X, repeated=True), shape=X.shape),
    "CSR, old flags": lambda X, _: _stale(X),
    "CSR, read-only": lambda X, _: _frozen(csr_array(X)),
    "CSR, unsorted and read-only": lambda X, _: _frozen(csr_array(_parts(X), shape=X.shape)),
    "CSR, repeated entries in float32": lambda X, _: csr_array(_parts(X, repeated=True), shape=X.shape, dtype="f4"),
    "CSC, unsorted": lambda X, _: csc_array(_parts(X.T), shape=X.shape),
    "CSC, repeated entries": lambda X, _: csc_array(_parts(X.T, repeated=True), shape=X.shape),
    "COO, repeated entries": lambda X, _: coo_array(csr_array(_parts(X, repeated=True), shape=X.shape)),
}
DENSE = {
    "dense": lambda X, _: X.copy(),
    "read-only": lambda X, _: _frozen(X.copy()),
    "Fortran order": lambda X, _: np.asfortranarray(X),
    "strided": lambda X, _: _strided(X),
    "reversed": lambda X, _: X[::-1].copy()[::-1],
    "memory-mapped": _mapped,
    "float32": lambda X, _: X.astype(np.float32),
    "integers": lambda X, _: X.astype(np.int64),
    "nested lists": lambda X, _: X.tolist(),
}
FRAMES = {
    "pandas": lambda X, _: pd.DataFrame(_named(X)),
    "polars": lambda X, _: pl.DataFrame(_named(X)),
}
KINDS = SPARSE | DENSE | FRAMES


def rows_as(kind, X, folder):
    """Rows X of that kind."""
    return KINDS[kind](X, folder)


def values_as(kind, values):
    """Labels or numbers, one a row, as they come beside rows of that kind."""
    values = np.asarray(values)
    if kind == "pandas":
        return pd.Series(values)
    if kind == "polars":
        return pl.Series(values)
    if kind == "strided":
        return np.repeat(values, 2)[::2]
    return _frozen(values.copy()) if "read-only" in kind or "mapped" in kind else values.copy()
