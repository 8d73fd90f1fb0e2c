r"""A v with a·v > 0 on all rows, where one is easily found: Newton's method on few of them, and no program.

    given      rows a_c by number, and some drawn from them, many more than directions
    each round lower Σ max(0, 1 − a_c·v)² over the rows at hand; then look at all rows, one pass; violated rows come in
    returns    v with its margins on all rows, and whether it is sure to be positive on all
    stops      where it is, or where the rows at hand are not: the sum's minimum is zero if and only if some v separates

A step is least squares on the rows with a·v < 1, so from v = 0 the first is so on all. Where classes overlap the
second gains little, and one pass was spent. Mangasarian, A finite Newton method for classification, Optimization
Methods and Software 17 (2002).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.proofs.class_differences import Differences

# Passes, and steps in each round.
MOST_ROUNDS, MOST_STEPS = 10, 40
# Rows that come in a round, in multiples of the directions.
COMING = 8
# Margins above this are wide enough to look at all rows.
ENOUGH = 0.3
# Parts of a step that are tried: a full one overshoots where many rows turn up below 1.
PARTS = (1.0, 0.5, 0.25)
# What a step must leave of the sum at most, and the share of rows on the wrong side past which classes overlap.
LEFT, MOST_WRONG = 0.8, 0.15
# Of the trace, added to a matrix's diagonal against collinear columns.
RIDGE = 1e-9


class Near(NamedTuple):
    """``v`` with its margins ``m`` on all rows; ``separates`` where all are sure to be positive."""

    v: Array
    m: Array
    separates: bool


def nearly(D: Differences, drawn: Integers) -> Near:
    """A v that is positive on all rows, or on most.

    >>> D = Differences(np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([0, 0, 1, 1]), 2)
    >>> nearly(D, np.arange(4)).separates
    True
    >>> D = Differences(np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([0, 1, 0, 1]), 2)
    >>> nearly(D, np.arange(4)).separates
    False
    """
    chosen, B = drawn, D.dense(drawn) / D.unit
    u = np.zeros(D.width)
    for _ in range(MOST_ROUNDS):
        u, at_hand = _lowered(B, u, MOST_WRONG / (D.K - 1))
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
        spread = np.linspace(0, len(fresh) - 1, min(len(fresh), COMING * D.width)).astype(np.int64)
        chosen = np.concatenate([chosen, fresh[spread]])
        B = np.vstack([B, D.dense(fresh[spread]) / D.unit])
    return Near(v, m, False)


def _lowered(B: Array, u: Array, most_wrong: float) -> tuple[Array, Array]:
    """u and B u after steps that lower the sum, until all margins are wide, or a step gains little or leaves a larger
    share than ``most_wrong`` below zero.
    """
    m = B @ u
    total = _total(m)
    for _ in range(MOST_STEPS):
        if m.min() > ENOUGH:
            break
        step = _step(B, m)
        change = B @ step
        part = min(PARTS, key=lambda part: _total(m + part * change))
        before, total = total, _total(m + part * change)
        if not total < before:
            break
        u, m = u + part * step, m + part * change
        if total > LEFT * before or np.mean(m <= 0) > most_wrong:
            break
    return u, m


def _total(m: Array) -> float:
    below = np.maximum(1.0 - m, 0.0)
    return float(below @ below)


def _step(B: Array, m: Array) -> Array:
    """Least squares for margins of 1 on the rows below."""
    below = m < 1
    rows = B if below.all() else B[below]
    G = rows.T @ rows
    G[np.diag_indices_from(G)] += RIDGE * np.trace(G) + np.finfo(np.float64).tiny
    return np.asarray(np.linalg.solve(G, rows.T @ (1.0 - m[below])))
