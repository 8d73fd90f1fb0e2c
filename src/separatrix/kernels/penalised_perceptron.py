"""Epochs of the perceptron with a penalty on the weights, over dense or CSR rows.

After each row every weight except the intercept takes a proximal step: v ↦ sign(v) max(0, ρ|v| − τ). Since k such steps
are sign(v) max(0, ρᵏ|v| − τ (1 + ρ + … + ρᵏ⁻¹)), on CSR rows a weight is updated only when it is next needed.
"""

from __future__ import annotations

from typing import Any

from numba import njit, uintp
from numpy import int64, zeros

from separatrix.kernels.perceptron import _add_dense, _add_sparse, _is_mistake


@njit(nogil=True, cache=True)
def shrunk(v: Any, rho: Any, tau: Any, k: Any) -> Any:
    """The weight v after k proximal steps."""
    if k == 0 or v == 0.0:
        return v
    power = rho**k
    total = k * tau if rho == 1.0 else tau * (1.0 - power) / (1.0 - rho)
    size = power * abs(v) - total
    if size <= 0.0:
        return 0.0
    return size if v > 0.0 else -size


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
    rho: Any,
    tau: Any,
) -> Any:
    """w ← w + η s t x̄ at each mistake, then a proximal step; returns ``end``, the updates, and Σ max(0, −m) as met."""
    made, cost, given = 0, 0.0, len(order) == 0
    for k in range(begin, end):
        i = k if given else order[k]
        z = w[0]
        for j in range(X.shape[1]):
            z += X[i, j] * w[j + 1]
        if _is_mistake(t[i], z, zero_is_mistake):
            _add_dense(X, i, w, eta * s[i] * t[i], fit_intercept)
            made += 1
            cost -= t[i] * z
        for j in range(1, len(w)):
            w[j] = shrunk(w[j], rho, tau, 1)
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
    rho: Any,
    tau: Any,
) -> Any:
    """``walk_dense`` for CSR rows."""
    made, cost, given = 0, 0.0, len(order) == 0
    settled = zeros(len(w) - 1, dtype=int64)  # the proximal steps that each weight has had
    for k in range(begin, end):
        i = k if given else order[k]
        z = w[0]
        for p in range(uintp(indptr[i]), uintp(indptr[i + 1])):
            j = indices[p]
            w[j + 1] = shrunk(w[j + 1], rho, tau, k - begin - settled[j])
            settled[j] = k - begin
            z += data[p] * w[j + 1]
        if _is_mistake(t[i], z, zero_is_mistake):
            _add_sparse(data, indices, indptr, i, w, eta * s[i] * t[i], fit_intercept)
            made += 1
            cost -= t[i] * z
    for j in range(len(settled)):
        w[j + 1] = shrunk(w[j + 1], rho, tau, end - begin - settled[j])
    return end, made, cost
