"""Walking over rows with the perceptron's update, and counting mistakes; rows dense or CSR.

w is (d + 1,) with the intercept first. A row is a mistake where m = t z < 0, and where z = 0: always with
``zero_is_mistake``, else (z = 0 predicts +) for t = −1. Sums run in one fixed order, in float64 whatever the rows.
"""

from __future__ import annotations

from typing import Any

from numba import njit


@njit(nogil=True, cache=True)
def _is_mistake(t: Any, z: Any, zero_is_mistake: Any) -> Any:
    return t * z < 0.0 or (z == 0.0 and (zero_is_mistake or t < 0.0))


@njit(nogil=True, cache=True)
def score_dense(X: Any, i: Any, w: Any) -> Any:
    """w·x̄ of row i: four sums side by side, since one addition must else wait for the last."""
    d = X.shape[1]
    a, b, c, e = 0.0, 0.0, 0.0, 0.0
    j = 0
    while j + 4 <= d:
        a += X[i, j] * w[j + 1]
        b += X[i, j + 1] * w[j + 2]
        c += X[i, j + 2] * w[j + 3]
        e += X[i, j + 3] * w[j + 4]
        j += 4
    while j < d:
        a += X[i, j] * w[j + 1]
        j += 1
    return w[0] + ((a + b) + (c + e))


@njit(nogil=True, cache=True)
def score_sparse(data: Any, indices: Any, indptr: Any, i: Any, w: Any) -> Any:
    """w·x̄ of row i."""
    a = 0.0
    for k in range(indptr[i], indptr[i + 1]):
        a += data[k] * w[indices[k] + 1]
    return w[0] + a


@njit(nogil=True, cache=True)
def walk_dense(
    X: Any,
    t: Any,
    order: Any,
    begin: Any,
    end: Any,
    w: Any,
    eta: Any,
    zero_is_mistake: Any,
    fit_intercept: Any,
    once: Any,
) -> Any:
    """w ← w + η t x̄ at each mistake among the rows order[begin:end]; with ``once``, up to the first.

    Changes w; returns where the walk ended, and how many updates it made.
    """
    made = 0
    for k in range(begin, end):
        i = order[k]
        if _is_mistake(t[i], score_dense(X, i, w), zero_is_mistake):
            step = eta * t[i]
            if fit_intercept:
                w[0] += step
            for j in range(X.shape[1]):
                w[j + 1] += step * X[i, j]
            made += 1
            if once:
                return k + 1, made
    return end, made


@njit(nogil=True, cache=True)
def walk_sparse(
    data: Any,
    indices: Any,
    indptr: Any,
    t: Any,
    order: Any,
    begin: Any,
    end: Any,
    w: Any,
    eta: Any,
    zero_is_mistake: Any,
    fit_intercept: Any,
    once: Any,
) -> Any:
    """``walk_dense`` for CSR rows."""
    made = 0
    for k in range(begin, end):
        i = order[k]
        if _is_mistake(t[i], score_sparse(data, indices, indptr, i, w), zero_is_mistake):
            step = eta * t[i]
            if fit_intercept:
                w[0] += step
            for p in range(indptr[i], indptr[i + 1]):
                w[indices[p] + 1] += step * data[p]
            made += 1
            if once:
                return k + 1, made
    return end, made


@njit(nogil=True, cache=True)
def count_dense(X: Any, t: Any, w: Any, zero_is_mistake: Any, most: Any) -> Any:
    """How many rows are mistakes; counting ends at ``most``."""
    wrong = 0
    for i in range(X.shape[0]):
        if _is_mistake(t[i], score_dense(X, i, w), zero_is_mistake):
            wrong += 1
            if wrong >= most:
                break
    return wrong


@njit(nogil=True, cache=True)
def count_sparse(data: Any, indices: Any, indptr: Any, t: Any, w: Any, zero_is_mistake: Any, most: Any) -> Any:
    """``count_dense`` for CSR rows."""
    wrong = 0
    for i in range(len(indptr) - 1):
        if _is_mistake(t[i], score_sparse(data, indices, indptr, i, w), zero_is_mistake):
            wrong += 1
            if wrong >= most:
                break
    return wrong
