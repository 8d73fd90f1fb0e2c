"""Coordinate descent on quadratic models with an l1 penalty: over a matrix of curvatures, or over columns of a table.

A coordinate u with gradient G, curvature h and penalty a |u| is set to the minimum of h ũ²/2 + (G − h u) ũ + a |ũ|.
The columns are those of a working set. They are first gathered from the table, as dense columns or as CSC: the entries
of column j are then ``data`` and ``row`` from ``start[j]`` to ``start[j + 1]``. Sums are in float64 and in a fixed
order.
"""

from __future__ import annotations

from typing import Any

from numba import njit

from separatrix.core.kernels.dense_rows import LANES


@njit(nogil=True, cache=True)
def _least(u: Any, G: Any, h: Any, a: Any) -> Any:
    """The minimum of the one-dimensional model."""
    x = h * u - G
    if x > a:
        return (x - a) / h
    if x < -a:
        return (x + a) / h
    return 0.0


@njit(nogil=True, cache=True, fastmath=LANES)
def sweep_matrix(H: Any, G: Any, u: Any, a: Any, sweeps: Any, settled: Any, enough: Any) -> Any:
    """Up to ``sweeps`` sweeps over ½ uᵀHu + …, which change u and its gradient G.

    The sweeps end if no coordinate has decreased the model by more than ``enough`` in a sweep (the decrease is
    h δ²/2), or if no coordinate has become zero or nonzero in the last ``settled`` sweeps. Returns the largest decrease
    in the last sweep.
    """
    m = len(u)
    largest, quiet = 0.0, 0
    for _ in range(sweeps):
        largest, quiet = 0.0, quiet + 1
        for j in range(m):
            h = H[j, j]
            if h <= 0.0:
                continue
            to = _least(u[j], G[j], h, a[j])
            delta = to - u[j]
            if delta != 0.0:
                if u[j] * to <= 0.0:
                    quiet = 0
                u[j] = to
                for i in range(m):
                    G[i] += delta * H[j, i]
                largest = max(largest, 0.5 * h * delta * delta)
        if largest <= enough or quiet >= settled:
            break
    return largest


# --- Columns of a working set: gathering, products and sweeps


@njit(nogil=True, cache=True)
def gather_dense(X: Any, chosen: Any, center: Any, scale: Any, A: Any) -> None:
    """Ones into the first column of A, (x − center)/scale of the chosen columns of X into the others."""
    for i in range(X.shape[0]):
        A[i, 0] = 1.0
        for k in range(len(chosen)):
            A[i, k + 1] = (X[i, chosen[k]] - center[k]) / scale[k]


@njit(nogil=True, cache=True)
def count_chosen(indices: Any, place: Any, counts: Any) -> None:
    """Add to ``counts`` how often each chosen column occurs; ``place``: a column's number, the last for others."""
    for k in range(len(indices)):
        counts[place[indices[k]]] += 1


@njit(nogil=True, cache=True)
def place_chosen(
    X: Any,
    indices: Any,
    indptr: Any,
    place: Any,
    first: Any,
    full: Any,
    center: Any,
    scale: Any,
    ahead: Any,
    row: Any,
    data: Any,
) -> None:
    """Put the chosen entries of CSR rows ``first, first + 1, …`` into columns; ``ahead``: the next place of each.

    A full column has a place for every row, and holds (x − center)/scale; the others hold x/scale.
    """
    for i in range(len(indptr) - 1):
        for k in range(indptr[i], indptr[i + 1]):
            j = place[indices[k]]
            if j == len(full):
                continue
            if full[j]:
                data[ahead[j] + first + i] = (X[k] - center[j]) / scale[j]
            else:
                row[ahead[j]] = first + i
                data[ahead[j]] = X[k] / scale[j]
                ahead[j] += 1


@njit(nogil=True, cache=True)
def spread(data: Any, row: Any, start: Any, D: Any, U: Any) -> None:
    """U += X Dᵀ, (n, K), for D (K, p)."""
    K = D.shape[0]
    for j in range(len(start) - 1):
        for k in range(K):
            delta = D[k, j]
            if delta != 0.0:
                for at in range(start[j], start[j + 1]):
                    U[row[at], k] += delta * data[at]


@njit(nogil=True, cache=True, fastmath=LANES)
def collect(data: Any, row: Any, start: Any, R: Any, first: Any, last: Any, out: Any) -> None:
    """Rᵀ X, (K, p), into ``out``, for the columns from ``first`` to ``last``."""
    K = R.shape[1]
    for j in range(first, last):
        for k in range(K):
            total = 0.0
            for at in range(start[j], start[j + 1]):
                total += data[at] * R[row[at], k]
            out[k, j] = total


@njit(nogil=True, cache=True, fastmath=LANES)
def curvatures(
    data: Any, row: Any, start: Any, active: Any, d: Any, e: Any, coupled: Any, own: Any, mixed: Any
) -> None:
    """Of the active columns: ``own`` (p, K) = Σ x² (d_k − e_k²), ``mixed`` (p, K, K) = Σ x (d_k 1[k=l] − e_k e_l)."""
    K = d.shape[1]
    for place in range(len(active)):
        j = active[place]
        for k in range(K):
            second, cross = 0.0, 0.0
            for at in range(start[j], start[j + 1]):
                i, x = row[at], data[at]
                h = d[i, k] - e[i, k] * e[i, k] if coupled else d[i, k]
                second += x * x * h
                cross += x * h
            own[j, k], mixed[j, k, k] = second, cross
            if coupled:
                for l in range(k):
                    total = 0.0
                    for at in range(start[j], start[j + 1]):
                        total -= data[at] * e[row[at], k] * e[row[at], l]
                    mixed[j, k, l] = mixed[j, l, k] = total


@njit(nogil=True, cache=True, fastmath=LANES)
def sweep_columns(
    data: Any,
    row: Any,
    start: Any,
    active: Any,
    d: Any,
    e: Any,
    coupled: Any,
    own: Any,
    mixed: Any,
    eliminated: Any,
    ridge: Any,
    a: Any,
    R: Any,
    U: Any,
    V: Any,
    beta: Any,
) -> Any:
    """One sweep over the active columns and all classes. It changes the weights U (K, p), their total change V, and R.

    The curvature of a row in the model is diag(d) − e eᵀ. R (n, K) holds the residuals of the model without the change
    ``beta`` of the intercepts, which is kept at the minimum over the intercepts: ``eliminated`` (p, K, K) is its change
    per change of a weight. Returns the largest decrease h δ²/2 of the model.
    """
    K = U.shape[0]
    largest = 0.0
    for place in range(len(active)):
        j = active[place]
        for k in range(K):
            h = own[j, k]
            if h <= 0.0:
                continue
            u = U[k, j]
            G = ridge[j] * u
            for l in range(K):
                G += mixed[j, k, l] * beta[l]
            total = 0.0
            for at in range(start[j], start[j + 1]):
                total += data[at] * R[row[at], k]
            to = _least(u, G + total, h, a[j])
            delta = to - u
            if delta == 0.0:
                continue
            U[k, j] = to
            V[k, j] += delta
            for l in range(K):
                beta[l] -= delta * eliminated[j, l, k]
            largest = max(largest, 0.5 * h * delta * delta)
            if coupled:
                for at in range(start[j], start[j + 1]):
                    i, x = row[at], delta * data[at]
                    R[i, k] += x * d[i, k]
                    x *= e[i, k]
                    for l in range(K):
                        R[i, l] -= x * e[i, l]
            else:
                for at in range(start[j], start[j + 1]):
                    R[row[at], k] += delta * data[at] * d[row[at], k]
    return largest
