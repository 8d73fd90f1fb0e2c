"""The loop of the averaged perceptron over dense rows of two columns.

Examples in the plane are fitted while a point is dragged, with 300 000 visits of rows for each class. The weights stay
in registers here, which takes 7 ns for each visit instead of the 12 ns of the loop for any number of columns.
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
