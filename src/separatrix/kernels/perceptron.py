"""Walking over rows with the perceptron's update, and looking for mistakes; rows dense or CSR.

w is (d + 1,) with the intercept first. A row is a mistake where m = t z < 0, and where z = 0: always with
``zero_is_mistake``, else (z = 0 predicts +) for t = −1. Rows are taken by ``order``; as they lie where it is empty.

Scores may be summed in any order that the machine does fast, the same one every time; updates are as written. Sums are
in float64 whatever the rows.
"""

from __future__ import annotations

from typing import Any

from numba import njit, uintp

from separatrix.kernels.csr import score
from separatrix.kernels.lanes import LANES


@njit(nogil=True, cache=True)
def _is_mistake(t: Any, z: Any, zero_is_mistake: Any) -> Any:
    return t * z < 0.0 or (z == 0.0 and (zero_is_mistake or t < 0.0))


@njit(nogil=True, cache=True, fastmath=LANES)
def score_dense(X: Any, i: Any, w: Any) -> Any:
    """w·x̄ of row i."""
    a = 0.0
    for j in range(X.shape[1]):
        a += X[i, j] * w[j + 1]
    return w[0] + a


@njit(nogil=True, cache=True)
def score_sparse(data: Any, indices: Any, indptr: Any, i: Any, w: Any) -> Any:
    """w·x̄ of row i."""
    return w[0] + score(data, indices, uintp(indptr[i]), uintp(indptr[i + 1]), w[1:])


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
    """w ← w + η t x̄ at each mistake among the rows begin, …, end − 1 of the order; with ``once``, up to the first.

    Changes w; returns where the walk ended, how many updates it made, and Σ max(0, −m) as it met the rows.
    """
    made, cost, given = 0, 0.0, len(order) == 0
    for k in range(begin, end):
        i = k if given else order[k]
        z = score_dense(X, i, w)
        if _is_mistake(t[i], z, zero_is_mistake):
            step = eta * t[i]
            if fit_intercept:
                w[0] += step
            for j in range(X.shape[1]):
                w[j + 1] += step * X[i, j]
            made += 1
            cost -= t[i] * z
            if once:
                return k + 1, made, cost
    return end, made, cost


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
    made, cost, given = 0, 0.0, len(order) == 0
    after = w[1:]
    for k in range(begin, end):
        i = k if given else order[k]
        z = score_sparse(data, indices, indptr, i, w)
        if _is_mistake(t[i], z, zero_is_mistake):
            step = eta * t[i]
            if fit_intercept:
                w[0] += step
            for p in range(uintp(indptr[i]), uintp(indptr[i + 1])):
                after[uintp(indices[p])] += step * data[p]
            made += 1
            cost -= t[i] * z
            if once:
                return k + 1, made, cost
    return end, made, cost


@njit(nogil=True, cache=True)
def count_dense(X: Any, t: Any, order: Any, w: Any, zero_is_mistake: Any, most: Any) -> Any:
    """How many rows are mistakes, and how many rows were looked at; counting ends at ``most``."""
    wrong, given = 0, len(order) == 0
    for k in range(X.shape[0]):
        i = k if given else order[k]
        if _is_mistake(t[i], score_dense(X, i, w), zero_is_mistake):
            wrong += 1
            if wrong >= most:
                return wrong, k + 1
    return wrong, X.shape[0]


@njit(nogil=True, cache=True)
def count_sparse(
    data: Any, indices: Any, indptr: Any, t: Any, order: Any, w: Any, zero_is_mistake: Any, most: Any
) -> Any:
    """``count_dense`` for CSR rows."""
    wrong, given = 0, len(order) == 0
    n = len(indptr) - 1
    for k in range(n):
        i = k if given else order[k]
        if _is_mistake(t[i], score_sparse(data, indices, indptr, i, w), zero_is_mistake):
            wrong += 1
            if wrong >= most:
                return wrong, k + 1
    return wrong, n
