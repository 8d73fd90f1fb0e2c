r"""Which rows move a least-squares fit the most, by leaving them out. TEXTBOOK S5.

In whitened coordinates, where (S H)⁻¹ is the identity, row i of weight s_i is u_i and its leverage is h_i = ‖u_i‖². Let
U hold the rows of a set I, and U = P diag(σ) Qᵀ. Without them the weights β are exactly

    β₋ᵢ = (I − UᵀU)⁺ (β − Uᵀ t) ,   (I − UᵀU)⁺ = I + Q diag(σ²/(1 − σ²)) Qᵀ,  with −1 in the diagonal where σ = 1

so nothing is fitted again (Cook and Weisberg 1982, chapter 3). σ = 1 means that the set is alone along a direction:
without it that direction counts as zero. Two far rows side by side hide each other: leaving out either changes
little. So a row of high leverage is left out together with the others of high leverage beside it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.moments.squared_cost import Minimum, SquaredCost
from separatrix.rows import Order

# Rows written out at once.
CHUNK = 4096
# Past this leverage a set of rows is alone along its direction, to working precision.
ALONE = 1 - 1e-9
# Leverage is high past this multiple of its mean. Less than the 2 of Hoaglin and Welsch (1978): two far rows share it.
HIGH = 1.5
# Of the rows of high leverage, so many are tried with their company.
MOST_SETS = 200


@dataclass(frozen=True)
class InfluentialRow:
    """A row, and what happens without it and the rows ``besides`` that hide its effect.

    cook: Cook's distance, the squared change of all rows' outputs beside the residual variance, by the number of rows
    left out. changed: the rows that then get another class. weights: of the decision without them, in raw units,
    intercepts in column 0.
    """

    row: int
    besides: Integers
    leverage: float
    cook: float
    changed: Integers
    weights: Array


@dataclass(frozen=True)
class Influence:
    """Of every row: leverage h and Cook's distance (n,), both for that row alone."""

    leverage: Array
    cook: Array


@dataclass(frozen=True)
class _Whitened:
    """U (n, r), targets t (n, outputs) times the root of the row's share of weight; weights β (r, outputs)."""

    U: Array
    t: Array
    beta: Array
    variance: float
    rank: int

    @property
    def leverage(self) -> Array:
        return np.asarray(np.sum(self.U**2, axis=1))

    def without(self, rows: Integers) -> Array:
        """β after the rows are left out."""
        U = self.U[rows]
        _, sigma, Qt = np.linalg.svd(U, full_matrices=False)
        alone = sigma**2 > ALONE
        gain = np.where(alone, -1.0, sigma**2 / np.where(alone, 1.0, 1 - sigma**2))
        left = self.beta - U.T @ self.t[rows]
        return np.asarray(left + Qt.T @ (gain[:, None] * (Qt @ left)))

    def cook(self, change: Array) -> float:
        return _cook(float(np.sum(change**2)), self.rank, self.variance)


def _cook(change: float, rank: int, variance: float) -> float:
    """‖Δ‖²/(p σ²); of a fit without residuals 0 where nothing changes, else infinite."""
    if variance > 0:
        return change / (rank * variance)
    return 0.0 if change <= 1e-20 else np.inf


def _whitened(cost: SquaredCost, least: Minimum) -> _Whitened:
    S, white = cost.moments.total_weight, cost.white
    parts, squares = [], 0.0
    for block in cost.rows.blocks(Order(CHUNK)):
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
    pull = np.sum(residual**2, axis=1) * h / np.where(h > ALONE, 1.0, (1 - h) ** 2)
    alone = np.flatnonzero(h > ALONE)
    pull[alone] = np.sum((white.U[alone] @ white.beta) ** 2, axis=1)
    return Influence(h, np.array([_cook(change, white.rank, white.variance) for change in pull.tolist()]))


def _company(white: _Whitened) -> dict[int, Integers]:
    """For rows of high leverage, the others with u_i·u_j at least half of either's leverage: as far, the same way."""
    h = white.leverage
    high = np.flatnonzero(h > HIGH * white.rank / len(h))
    high = high[np.argsort(-h[high], kind="stable")[:MOST_SETS]]
    near = white.U[high] @ white.U[high].T >= 0.5 * np.maximum(h[high][:, None], h[high])
    np.fill_diagonal(near, False)
    return {int(i): np.sort(high[near[a]]) for a, i in enumerate(high) if near[a].any()}


def most_influential(cost: SquaredCost, decision: Array, top: int) -> tuple[InfluentialRow, ...]:
    """The rows without which the fit changes the most. ``decision``: scores = decision @ outputs, (K or 1, outputs)."""
    least = cost.minimise()
    white, alone = _whitened(cost, least), influence(cost, least)
    company, distance = _company(white), alone.cook.copy()
    for i, others in company.items():
        jointly = white.cook(white.without(np.append(others, i)) - white.beta)
        distance[i] = max(distance[i], jointly / (1 + len(others)))
    order = np.lexsort((-alone.leverage, -distance))[:top]
    block = cost.rows.resident()
    assert block is not None  # rows in memory
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
