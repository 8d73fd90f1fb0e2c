"""The loops of the averaged perceptron over dense rows of two columns.

Examples in the plane are fitted while a point is dragged, with 300 000 visits of rows for each class. For one class the
weights stay in registers, which takes 7 ns for each visit instead of the 12 ns of the loop for any number of columns.
For three classes at once a visit takes 5 ns for each class.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, uintp

# The number of classes that ``walk_plane_classes`` updates at once. More would not fit into the registers.
CLASSES_AT_ONCE = 3
# The number of visits after which the sums are brought up to date: the lists of mistakes until then stay in the cache.
_VISITS_BETWEEN_SUMS = 250


# Only "contract", which allows fused multiply-add: the sum has two terms, whose order must not change.
@njit(nogil=True, cache=True, fastmath={"contract"})
def _score(x1: Any, x2: Any, b: Any, w1: Any, w2: Any) -> Any:
    """w·x̄, summed in the order of ``perceptron.score_dense``, so that rows on the hyperplane are rounded alike."""
    a = x1 * w1 + 0.0
    a = x2 * w2 + a
    return b + a


@njit(nogil=True, cache=True)
def walk_plane(
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
    u: Any,
    seen: Any,
) -> Any:
    """``perceptron.walk_dense`` for X (n, 2), an ``order`` that is not empty, and weights whose mean is wanted."""
    made, cost = 0, 0.0
    b, w1, w2 = w[0], w[1], w[2]
    u0, u1, u2 = u[0], u[1], u[2]
    for k in range(begin, end):
        i = uintp(order[uintp(k)])  # unsigned, so that no code is needed for negative indices
        x1, x2, target = X[i, uintp(0)], X[i, uintp(1)], t[i]
        z = _score(x1, x2, b, w1, w2)
        m = target * z
        if m < 0.0 or (z == 0.0 and (zero_is_mistake or target < 0.0)):
            step = eta * s[i] * target
            count = (seen + k - begin) * step
            if fit_intercept:
                b += step
                u0 += count
            w1 += step * x1
            w2 += step * x2
            u1 += count * x1
            u2 += count * x2
            made += 1
            cost -= m
    w[0], w[1], w[2] = b, w1, w2
    u[0], u[1], u[2] = u0, u1, u2
    return end, made, cost


@njit(nogil=True, cache=True)
def walk_plane_classes(
    X: Any,
    T: Any,
    s: Any,
    order: Any,
    W: Any,
    eta: Any,
    zero_is_mistake: Any,
    fit_intercept: Any,
    U: Any,
    seen: Any,
    made: Any,
    cost: Any,
) -> None:
    """``walk_plane`` for three classes at once, with targets T (n, 3), weights W (3, 3) and sums U (3, 3) in columns.

    It adds the numbers of updates to ``made`` and Σ max(0, −m) to ``cost``, (3,) each. The processor computes the
    classes side by side, since they do not depend on each other. The sums are computed from a list of the mistakes,
    so that the weights of all classes stay in registers.
    """
    at_a, at_b, at_c = np.full(8, -0.0), np.full(8, -0.0), np.full(8, -0.0)
    places, margins = np.empty((3, _VISITS_BETWEEN_SUMS), np.int64), np.empty((3, _VISITS_BETWEEN_SUMS))
    found = np.empty(3, np.int64)
    a0, a1, a2 = W[0, 0], W[1, 0], W[2, 0]
    b0, b1, b2 = W[0, 1], W[1, 1], W[2, 1]
    c0, c1, c2 = W[0, 2], W[1, 2], W[2, 2]
    for begin in range(0, len(order), _VISITS_BETWEEN_SUMS):
        na = nb = nc = uintp(0)
        for k in range(begin, min(begin + _VISITS_BETWEEN_SUMS, len(order))):
            i = uintp(order[uintp(k)])
            x1, x2, size = X[i, uintp(0)], X[i, uintp(1)], eta * s[i]
            wrong, m, a0, a1, a2 = _visited(x1, x2, T[i, 0], size, a0, a1, a2, zero_is_mistake, fit_intercept, at_a)
            places[0, na], margins[0, na], na = k, m, na + wrong
            wrong, m, b0, b1, b2 = _visited(x1, x2, T[i, 1], size, b0, b1, b2, zero_is_mistake, fit_intercept, at_b)
            places[1, nb], margins[1, nb], nb = k, m, nb + wrong
            wrong, m, c0, c1, c2 = _visited(x1, x2, T[i, 2], size, c0, c1, c2, zero_is_mistake, fit_intercept, at_c)
            places[2, nc], margins[2, nc], nc = k, m, nc + wrong
        found[0], found[1], found[2] = na, nb, nc
        for c in range(3):
            made[c] += found[c]
            _add_mistakes(X, T, s, order, eta, fit_intercept, U, seen, cost, c, places[c, : found[c]], margins[c])
    W[0, 0], W[1, 0], W[2, 0] = a0, a1, a2
    W[0, 1], W[1, 1], W[2, 1] = b0, b1, b2
    W[0, 2], W[1, 2], W[2, 2] = c0, c1, c2


@njit(nogil=True, cache=True)
def _visited(
    x1: Any,
    x2: Any,
    target: Any,
    size: Any,
    b: Any,
    w1: Any,
    w2: Any,
    zero_is_mistake: Any,
    fit_intercept: Any,
    updates: Any,
) -> Any:
    """Whether a row is a mistake, 0 or 1, its margin, and the weights after its visit.

    Whether a row is a mistake is hard to predict, so there is no branch: the update is stored in ``updates`` behind an
    update by −0.0, which changes no number, and one of both is read. The compiler would turn a choice between two
    numbers into a branch.
    """
    z = _score(x1, x2, b, w1, w2)
    m = target * z
    wrong = uintp((m < 0.0) | ((z == 0.0) & (zero_is_mistake | (target < 0.0))))
    step = size * target
    if fit_intercept:
        updates[4] = step
    updates[5], updates[6] = step * x1, step * x2
    at = wrong << uintp(2)
    return wrong, m, b + updates[at], w1 + updates[at + uintp(1)], w2 + updates[at + uintp(2)]


@njit(nogil=True, cache=True)
def _add_mistakes(
    X: Any,
    T: Any,
    s: Any,
    order: Any,
    eta: Any,
    fit_intercept: Any,
    U: Any,
    seen: Any,
    cost: Any,
    c: Any,
    places: Any,
    margins: Any,
) -> None:
    """Add the mistakes of class c, at these places of ``order``, to its sums and its cost."""
    u0, u1, u2, total = U[0, c], U[1, c], U[2, c], cost[c]
    for j in range(len(places)):
        k = places[j]
        i = uintp(order[uintp(k)])
        count = (seen + k) * (eta * s[i] * T[i, c])
        if fit_intercept:
            u0 += count
        u1 += count * X[i, uintp(0)]
        u2 += count * X[i, uintp(1)]
        total -= margins[j]
    U[0, c], U[1, c], U[2, c], cost[c] = u0, u1, u2, total
