r"""The rows that influence a least-squares fit the most, found by deleting them (docs/tour.md, S5).

In whitened coordinates, where (S H)⁻¹ is the identity, row i of weight s_i is u_i and its leverage is h_i = ‖u_i‖². Let
U hold the rows of a set I, and U = P diag(σ) Qᵀ. Without these rows the weights β are exactly

    β₋ᵢ = (I − UᵀU)⁺ (β − Uᵀ t) ,   (I − UᵀU)⁺ = I + Q diag(σ²/(1 − σ²)) Qᵀ,  with −1 in the diagonal where σ = 1

so no refit is needed (Cook and Weisberg 1982, chapter 3). σ = 1 means that the set alone determines a direction; after
deletion the weight along that direction is zero. Two outlying rows close to each other mask each other: deleting one
changes little. So a row of high leverage is deleted together with the other high-leverage rows near it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.moments.squared_cost import Minimum, SquaredCost
from separatrix.rows import Order
from separatrix.rows.in_memory import InMemory

# Number of rows whitened at once.
ROWS_WHITENED_AT_ONCE = 4096
# A set of rows with leverage above this alone determines its direction, to working precision.
LEVERAGE_OF_SOLE_ROWS = 1 - 1e-9
# Leverage above this multiple of its mean is high. It is below the 2 of Hoaglin and Welsch (1978), because two outlying
# rows share their leverage.
HIGH_LEVERAGE_FACTOR = 1.5
# Limit on the high-leverage rows that are tried together with their neighbours.
MOST_MASKED_ROWS_TRIED = 200
DELETION = InMemory("most_influential", "it deletes single rows")


@dataclass(frozen=True)
class InfluentialRow:
    """A row, and the effect of deleting it together with the rows ``besides`` that mask it.

    ``cook`` is Cook's distance: the squared change of all outputs divided by the residual variance and the number of
    deleted rows. ``changed`` are the rows whose predicted class changes. ``weights`` are those of the decision after
    deletion, in raw units, with intercepts in column 0.
    """

    row: int
    besides: Integers
    leverage: float
    cook: float
    changed: Integers
    weights: Array


@dataclass(frozen=True)
class Influence:
    """Leverage h and Cook's distance of every row (n,), each for deleting that row alone."""

    leverage: Array
    cook: Array


@dataclass(frozen=True)
class _Whitened:
    """U (n, r) and targets t (n, outputs), both times the root of the row's share of weight; weights β (r, outputs)."""

    U: Array
    t: Array
    beta: Array
    variance: float
    rank: int

    @property
    def leverage(self) -> Array:
        return np.asarray(np.sum(self.U**2, axis=1))

    def without(self, rows: Integers) -> Array:
        """β after deleting the rows."""
        U = self.U[rows]
        _, sigma, Qt = np.linalg.svd(U, full_matrices=False)
        alone = sigma**2 > LEVERAGE_OF_SOLE_ROWS
        gain = np.where(alone, -1.0, sigma**2 / np.where(alone, 1.0, 1 - sigma**2))
        left = self.beta - U.T @ self.t[rows]
        return np.asarray(left + Qt.T @ (gain[:, None] * (Qt @ left)))

    def cook(self, change: Array) -> float:
        return _cook(float(np.sum(change**2)), self.rank, self.variance)


def _cook(change: float, rank: int, variance: float) -> float:
    """‖Δ‖²/(p σ²). If the residual variance is zero, it is 0 where nothing changes and infinite otherwise."""
    if variance > 0:
        return change / (rank * variance)
    return 0.0 if change <= 1e-20 else np.inf


def _whitened(cost: SquaredCost, least: Minimum) -> _Whitened:
    S, white = cost.moments.total_weight, cost.white
    parts, squares = [], 0.0
    for block in cost.rows.blocks(Order(ROWS_WHITENED_AT_ONCE)):
        root = np.sqrt(block.weight / S)[:, None]
        target = cost.targets[block.t]
        squares += float(np.sum((root * (target - block.scores(least.W))) ** 2))
        parts.append((root * (block.homogeneous() @ white.A), root * target))
    U, t = (np.concatenate(part) for part in zip(*parts, strict=True))
    freedom = S - white.rank
    noise = np.finfo(np.float64).eps * float(np.sum(t**2))
    variance = squares / freedom if freedom > 0 and squares > noise else 0.0
    return _Whitened(U, t, white.colour.T @ least.W.T, variance, white.rank)


def influence(cost: SquaredCost, least: Minimum) -> Influence:
    """Leverage and Cook's distance of every row."""
    white = _whitened(cost, least)
    h = white.leverage
    residual = white.t - white.U @ white.beta
    pull = np.sum(residual**2, axis=1) * h / np.where(h > LEVERAGE_OF_SOLE_ROWS, 1.0, (1 - h) ** 2)
    alone = np.flatnonzero(h > LEVERAGE_OF_SOLE_ROWS)
    pull[alone] = np.sum((white.U[alone] @ white.beta) ** 2, axis=1)
    return Influence(h, np.array([_cook(change, white.rank, white.variance) for change in pull.tolist()]))


def _company(white: _Whitened) -> dict[int, Integers]:
    """For each high-leverage row, the other such rows near it: u_i·u_j is at least half of either leverage."""
    h = white.leverage
    high = np.flatnonzero(h > HIGH_LEVERAGE_FACTOR * white.rank / len(h))
    high = high[np.argsort(-h[high], kind="stable")[:MOST_MASKED_ROWS_TRIED]]
    near = white.U[high] @ white.U[high].T >= 0.5 * np.maximum(h[high][:, None], h[high])
    np.fill_diagonal(near, False)
    return {int(i): np.sort(high[near[a]]) for a, i in enumerate(high) if near[a].any()}


def most_influential(cost: SquaredCost, decision: Array, top: int) -> tuple[InfluentialRow, ...]:
    """The rows whose deletion changes the fit the most; scores = decision @ outputs, decision (K or 1, outputs)."""
    least = cost.minimise()
    white, alone = _whitened(cost, least), influence(cost, least)
    company, distance = _company(white), alone.cook.copy()
    for i, others in company.items():
        jointly = white.cook(white.without(np.append(others, i)) - white.beta)
        distance[i] = max(distance[i], jointly / (1 + len(others)))
    order = np.lexsort((-alone.leverage, -distance))[:top]
    block = DELETION.block(cost.rows)
    before = _choice(block.scores(decision @ least.W))
    rows = []
    for i in order.tolist():
        others = company.get(i, np.empty(0, dtype=np.int64))
        change = white.without(np.append(others, i)) - white.beta
        W = decision @ (least.W + (cost.white.A @ change).T)
        changed = np.flatnonzero(_choice(block.scores(W)) != before)
        raw = cost.rows.frame.to_original(W)
        rows.append(InfluentialRow(i, others, float(alone.leverage[i]), float(distance[i]), changed, raw))
    return tuple(rows)


def _choice(z: Array) -> Integers:
    return (z[:, 0] >= 0).astype(np.int64) if z.shape[1] == 1 else np.argmax(z, axis=1)
