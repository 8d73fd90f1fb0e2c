"""Loops over dense or CSR rows that make the perceptron's updates, or count mistakes.

w is (d + 1,) with the intercept first. A row is a mistake if m = t z < 0. A row with z = 0 is a mistake if
``zero_is_mistake``; otherwise z = 0 predicts +, so it is a mistake only for t = −1. Rows are visited in the order of
``order``, or in their own order if ``order`` is empty. The weights s of the rows scale the updates, but not counts or
sums.

The terms of a score are added in an order that the compiler chooses, which is the same in every run. Sums are in
float64 for rows of any type.
"""

from __future__ import annotations

from typing import Any

from numba import njit, uintp
from numpy import inf

from separatrix.kernels.csr import score
from separatrix.kernels.fast_math import LANES


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
) -> Any:
    """Update w ← w + η s t x̄ at each mistake among the rows begin, …, end − 1 of ``order``; with ``once``, one.

    Returns where the loop ended, the number of updates, and Σ max(0, −m) with the weights at each row's turn. If u is
    not empty, c times each update is added to u, where c counts the rows from 0 after ``seen`` earlier ones. Then the
    mean of the weights after each of C rows is w − u/C.
    """
    made, cost, given, averaged = 0, 0.0, len(order) == 0, len(u) > 0
    for k in range(begin, end):
        i = k if given else order[k]
        z = score_dense(X, i, w)
        if _is_mistake(t[i], z, zero_is_mistake):
            step = eta * s[i] * t[i]
            _add_dense(X, i, w, step, fit_intercept)
            if averaged:
                _add_dense(X, i, u, (seen + k - begin) * step, fit_intercept)
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
) -> Any:
    """``walk_dense`` for CSR rows."""
    made, cost, given, averaged = 0, 0.0, len(order) == 0, len(u) > 0
    for k in range(begin, end):
        i = k if given else order[k]
        z = score_sparse(data, indices, indptr, i, w)
        if _is_mistake(t[i], z, zero_is_mistake):
            step = eta * s[i] * t[i]
            _add_sparse(data, indices, indptr, i, w, step, fit_intercept)
            if averaged:
                _add_sparse(data, indices, indptr, i, u, (seen + k - begin) * step, fit_intercept)
            made += 1
            cost -= t[i] * z
            if once:
                return k + 1, made, cost
    return end, made, cost


@njit(nogil=True, cache=True)
def _add_dense(X: Any, i: Any, w: Any, step: Any, fit_intercept: Any) -> None:
    """w ← w + step x̄_i."""
    if fit_intercept:
        w[0] += step
    for j in range(X.shape[1]):
        w[j + 1] += step * X[i, j]


@njit(nogil=True, cache=True)
def _add_sparse(data: Any, indices: Any, indptr: Any, i: Any, w: Any, step: Any, fit_intercept: Any) -> None:
    """w ← w + step x̄_i."""
    if fit_intercept:
        w[0] += step
    after = w[1:]
    for p in range(uintp(indptr[i]), uintp(indptr[i + 1])):
        after[uintp(indices[p])] += step * data[p]


@njit(nogil=True, cache=True)
def count_dense(X: Any, t: Any, order: Any, w: Any, zero_is_mistake: Any, most: Any) -> Any:
    """The number of mistakes, and the number of rows looked at; counting stops at ``most`` mistakes."""
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


@njit(nogil=True, cache=True)
def survey_dense(X: Any, t: Any, w: Any, zero_is_mistake: Any, fit_intercept: Any, pull: Any) -> Any:
    """The number of mistakes, Σ max(0, −m) and the smallest m; adds Σ_{mistakes} t x̄ to ``pull``."""
    wrong, cost, smallest = 0, 0.0, inf
    for i in range(X.shape[0]):
        z = score_dense(X, i, w)
        m = t[i] * z
        smallest = min(smallest, m)
        cost += max(0.0, -m)
        if _is_mistake(t[i], z, zero_is_mistake):
            wrong += 1
            _add_dense(X, i, pull, t[i], fit_intercept)
    return wrong, cost, smallest


@njit(nogil=True, cache=True)
def survey_sparse(
    data: Any, indices: Any, indptr: Any, t: Any, w: Any, zero_is_mistake: Any, fit_intercept: Any, pull: Any
) -> Any:
    """``survey_dense`` for CSR rows."""
    wrong, cost, smallest = 0, 0.0, inf
    for i in range(len(indptr) - 1):
        z = score_sparse(data, indices, indptr, i, w)
        m = t[i] * z
        smallest = min(smallest, m)
        cost += max(0.0, -m)
        if _is_mistake(t[i], z, zero_is_mistake):
            wrong += 1
            _add_sparse(data, indices, indptr, i, pull, t[i], fit_intercept)
    return wrong, cost, smallest


@njit(nogil=True, cache=True)
def pocket_dense(
    X: Any,
    t: Any,
    s: Any,
    order: Any,
    begin: Any,
    end: Any,
    w: Any,
    eta: Any,
    zero_is_mistake: Any,
    fit_intercept: Any,
    best: Any,
    fewest: Any,
) -> Any:
    """``walk_dense`` that counts all rows' mistakes after each update; weights with fewer than ``fewest`` go to best.

    Changes w and best; returns where the walk ended, updates, Σ max(0, −m) as met, and the fewest mistakes.
    """
    position, made, cost = begin, 0, 0.0
    while position < end:
        rest = (position, end, w, eta, zero_is_mistake, fit_intercept, True, w[:0], 0)
        position, more, met = walk_dense(X, t, s, order, *rest)
        made, cost = made + more, cost + met
        wrong = count_dense(X, t, order[:0], w, zero_is_mistake, fewest)[0] if more else fewest
        if wrong < fewest:
            fewest = wrong
            best[:] = w
    return position, made, cost, fewest


@njit(nogil=True, cache=True)
def pocket_sparse(
    data: Any,
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
    best: Any,
    fewest: Any,
) -> Any:
    """``pocket_dense`` for CSR rows."""
    position, made, cost = begin, 0, 0.0
    while position < end:
        rest = (position, end, w, eta, zero_is_mistake, fit_intercept, True, w[:0], 0)
        position, more, met = walk_sparse(data, indices, indptr, t, s, order, *rest)
        made, cost = made + more, cost + met
        wrong = count_sparse(data, indices, indptr, t, order[:0], w, zero_is_mistake, fewest)[0] if more else fewest
        if wrong < fewest:
            fewest = wrong
            best[:] = w
    return position, made, cost, fewest
