"""The loop that makes the perceptron's updates, over dense or CSR rows.

Dense rows are an array X (n, d), and ``indices`` and ``indptr`` are None. For CSR rows X is their ``data``. Numba
decides ``X.ndim == 2`` when it compiles a loop, so each kind of rows has a loop without the branch for the other.

w is (d + 1,) with the intercept first. A row is a mistake if m = t z < 0. A row with z = 0 is a mistake if
``zero_is_mistake``; otherwise z = 0 predicts +, so it is a mistake only for t = −1. The weights s of the rows scale the
updates, but not counts or sums.

The terms of a score are added in an order that the compiler chooses, which is the same in every run. Sums are in
float64 for rows of any type.
"""

from __future__ import annotations

from typing import Any

from numba import njit, uintp

from separatrix.core.kernels.dense_rows import LANES
from separatrix.core.kernels.sparse_rows import score


@njit(nogil=True, cache=True)
def _is_mistake(t: Any, z: Any, zero_is_mistake: Any) -> Any:
    return t * z < 0.0 or (z == 0.0 and (zero_is_mistake or t < 0.0))


@njit(nogil=True, cache=True, fastmath=LANES)
def _score_dense(X: Any, i: Any, w: Any) -> Any:
    a = 0.0
    for j in range(X.shape[1]):
        a += X[i, j] * w[j + 1]
    return w[0] + a


@njit(nogil=True, cache=True)
def _score(X: Any, indices: Any, indptr: Any, i: Any, w: Any) -> Any:
    """w·x̄ of row i."""
    if X.ndim == 2:
        return _score_dense(X, i, w)
    return w[0] + score(X, indices, uintp(indptr[i]), uintp(indptr[i + 1]), w[1:])


@njit(nogil=True, cache=True)
def _add(X: Any, indices: Any, indptr: Any, i: Any, w: Any, step: Any, fit_intercept: Any) -> None:
    """w ← w + step x̄_i."""
    if fit_intercept:
        w[0] += step
    if X.ndim == 2:
        for j in range(X.shape[1]):
            w[j + 1] += step * X[i, j]
    else:
        after = w[1:]
        for p in range(uintp(indptr[i]), uintp(indptr[i + 1])):
            after[uintp(indices[p])] += step * X[p]


@njit(nogil=True, cache=True)
def walk(
    X: Any,
    indices: Any,
    indptr: Any,
    t: Any,
    s: Any,
    order: Any,
    begin: Any,
    end: Any,
    w: Any,
    eta: Any,
    zero_is_mistake: Any,
    fit_intercept: Any,
    once: Any,
    u: Any,
    seen: Any,
    best: Any,
    fewest: Any,
) -> Any:
    """Update w ← w + η s t x̄ at each mistake among the rows begin, …, end − 1 of ``order``; with ``once``, one.

    An empty ``order`` is that of the rows. Returns where the loop ended, the number of updates, Σ max(0, −m) with the
    weights at each row's turn, and the fewest mistakes. If u is not empty, c times each update is added to u, where c
    counts the rows from 0 after ``seen`` earlier ones. Then the mean of the weights after each of C rows is w − u/C. If
    ``best`` is not empty, all rows' mistakes are counted after each update, and weights with fewer than ``fewest`` are
    copied to ``best``.
    """
    made, cost, given, averaged, pocket = 0, 0.0, len(order) == 0, len(u) > 0, len(best) > 0
    for k in range(begin, end):
        i = k if given else order[k]
        z = _score(X, indices, indptr, i, w)
        if _is_mistake(t[i], z, zero_is_mistake):
            step = eta * s[i] * t[i]
            _add(X, indices, indptr, i, w, step, fit_intercept)
            if averaged:
                _add(X, indices, indptr, i, u, (seen + k - begin) * step, fit_intercept)
            made += 1
            cost -= t[i] * z
            if pocket:
                wrong = _count(X, indices, indptr, t, w, zero_is_mistake, fewest)
                if wrong < fewest:
                    fewest = wrong
                    best[:] = w
            if once:
                return k + 1, made, cost, fewest
    return end, made, cost, fewest


@njit(nogil=True, cache=True)
def _count(X: Any, indices: Any, indptr: Any, t: Any, w: Any, zero_is_mistake: Any, most: Any) -> Any:
    """The number of mistakes; counting stops at ``most``."""
    wrong = 0
    for i in range(len(t)):
        if _is_mistake(t[i], _score(X, indices, indptr, i, w), zero_is_mistake):
            wrong += 1
            if wrong >= most:
                break
    return wrong
