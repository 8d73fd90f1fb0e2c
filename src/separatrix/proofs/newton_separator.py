r"""Finds a v with a·v > 0 on all rows, where that is easy: Newton's method on a sample of rows, without linear
programs.

    given      rows a_c by number, and a sample of them that is much larger than the number of directions
    each round lower Σ max(0, 1 − a_c·v)² over the current rows; then check all rows in one pass and add violated rows
    returns    v with its margins on all rows, and whether it is proven positive on all
    stops      when v is positive on all rows, or not positive on the current rows: the minimum of the sum is zero if
               and only if some v separates

A step solves a least squares problem on the rows with a·v < 1, so the first step, from v = 0, uses all rows. If the
classes overlap, the second step reduces the sum only slightly, and the search ends after one pass over all rows.
Mangasarian, A finite Newton method for classification, Optimization Methods and Software 17 (2002).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.proofs.class_differences import Differences

# Limits on rounds, each of which takes one pass over all rows, and on Newton steps per round.
MOST_NEWTON_ROUNDS, MOST_NEWTON_STEPS_PER_ROUND = 10, 40
# Violated rows added per round, in multiples of the number of directions.
ADDED_ROWS_PER_DIRECTION = 8
# Newton steps end, and all rows are checked, as soon as all margins on the current rows exceed this.
WIDE_MARGIN = 0.3
# Step lengths that are tried. A full step is too long if many margins fall below 1.
STEP_LENGTHS = (1.0, 0.5, 0.25)
# Newton steps end after a step that leaves more than this share of the sum Σ max(0, 1 − a·v)².
LARGEST_SHARE_LEFT = 0.8
# Newton steps end when a larger share of rows than this is on the wrong side: the classes then probably overlap.
LARGEST_SHARE_WRONG = 0.15
# Ridge added to the diagonal of the normal matrix, as a share of its trace, against collinear columns.
RIDGE_SHARE_OF_TRACE = 1e-9


class Near(NamedTuple):
    """``v`` with its margins ``m`` on all rows; ``separates`` if all margins are proven positive."""

    v: Array
    m: Array
    separates: bool


def nearly(D: Differences, drawn: Integers) -> Near:
    """Find v with a·v > 0 on all rows, or at least on most rows.

    >>> D = Differences(np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([0, 0, 1, 1]), 2)
    >>> nearly(D, np.arange(4)).separates
    True
    >>> D = Differences(np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([0, 1, 0, 1]), 2)
    >>> nearly(D, np.arange(4)).separates
    False
    """
    chosen, B = drawn, D.dense(drawn) / D.unit
    u = np.zeros(D.width)
    for _ in range(MOST_NEWTON_ROUNDS):
        u, at_hand = _lowered(B, u, LARGEST_SHARE_WRONG / (D.K - 1))
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            v = u / D.unit
        m = D.margins(v)
        if not at_hand.min() > 0:
            break
        wrong = D.not_positive(v, m=m)
        if len(wrong) == 0:
            return Near(v, m, True)
        fresh = wrong[~np.isin(wrong, chosen)]
        if len(fresh) == 0:
            break
        spread = np.linspace(0, len(fresh) - 1, min(len(fresh), ADDED_ROWS_PER_DIRECTION * D.width)).astype(np.int64)
        chosen = np.concatenate([chosen, fresh[spread]])
        B = np.vstack([B, D.dense(fresh[spread]) / D.unit])
    return Near(v, m, False)


def _lowered(B: Array, u: Array, most_wrong: float) -> tuple[Array, Array]:
    """u and B u after Newton steps that lower Σ max(0, 1 − B u)².

    The steps end when all margins exceed WIDE_MARGIN, when a step lowers the sum only slightly, or when more than the
    share ``most_wrong`` of rows is on the wrong side.
    """
    m = B @ u
    total = _total(m)
    for _ in range(MOST_NEWTON_STEPS_PER_ROUND):
        if m.min() > WIDE_MARGIN:
            break
        step = _step(B, m)
        change = B @ step
        part = min(STEP_LENGTHS, key=lambda part: _total(m + part * change))
        before, total = total, _total(m + part * change)
        if not total < before:
            break
        u, m = u + part * step, m + part * change
        if total > LARGEST_SHARE_LEFT * before or np.mean(m <= 0) > most_wrong:
            break
    return u, m


def _total(m: Array) -> float:
    below = np.maximum(1.0 - m, 0.0)
    return float(below @ below)


def _step(B: Array, m: Array) -> Array:
    """The least squares step towards margins of 1 on the rows with margins below 1."""
    below = m < 1
    rows = B if below.all() else B[below]
    G = rows.T @ rows
    G[np.diag_indices_from(G)] += RIDGE_SHARE_OF_TRACE * np.trace(G) + np.finfo(np.float64).tiny
    return np.asarray(np.linalg.solve(G, rows.T @ (1.0 - m[below])))
