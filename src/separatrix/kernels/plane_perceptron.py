"""The loops of the averaged perceptron over dense rows of two columns.

Examples in the plane are fitted while a point is dragged, with 300 000 visits of rows for each class. For one class the
weights stay in registers, which takes 7 ns for each visit instead of the 12 ns of the loop for any number of columns.
For three classes at once a visit takes 4.5 ns for each class.
"""

from __future__ import annotations

from typing import Any

from numba import njit, uintp


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
    """``walk_plane`` for several classes at once, with targets T (n, K), weights W (3, K) and sums U (3, K).

    It adds the numbers of updates to ``made`` and Σ max(0, −m) to ``cost``, (K,) each. Whether a row is a mistake is
    hard to predict, so the new weights are chosen without a branch. The processor computes the classes side by side,
    since they do not depend on each other.
    """
    for k in range(len(order)):
        i = uintp(order[uintp(k)])
        x1, x2, size = X[i, uintp(0)], X[i, uintp(1)], eta * s[i]
        place = seen + k
        for c in range(T.shape[1]):
            j = uintp(c)
            target, b, w1, w2 = T[i, j], W[uintp(0), j], W[uintp(1), j], W[uintp(2), j]
            z = _score(x1, x2, b, w1, w2)
            m = target * z
            is_mistake = (m < 0.0) | ((z == 0.0) & (zero_is_mistake | (target < 0.0)))
            step = size * target
            count = place * step
            if fit_intercept:
                W[uintp(0), j] = b + step if is_mistake else b
                U[uintp(0), j] += count if is_mistake else 0.0
            W[uintp(1), j] = w1 + step * x1 if is_mistake else w1
            W[uintp(2), j] = w2 + step * x2 if is_mistake else w2
            U[uintp(1), j] += count * x1 if is_mistake else 0.0
            U[uintp(2), j] += count * x2 if is_mistake else 0.0
            made[j] += 1 if is_mistake else 0
            cost[j] -= m if is_mistake else 0.0
