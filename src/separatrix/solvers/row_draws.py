"""The metric and the random rows of variance-reduced descent (``variance_reduced``), for rows in memory and outside.

A row is drawn with a probability proportional to 1 + h x̄ᵀP x̄, its odds. In memory the odds of all rows are kept, and
rows are drawn with replacement. Outside memory the rows of a whole walk are drawn in one pass: a row with the expected
number λ of draws is drawn ⌊λ + u⌋ times, where u is computed from its number, the seed and the iteration. Then they are
shuffled. So only the rows of one walk are in memory, and the draw can be repeated. The walk differs from the one in
memory, but each row has the same expected number of draws.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.base.pieces import pieces, rows_per_piece
from separatrix.losses import Loss
from separatrix.objectives.factor import Factor
from separatrix.objectives.partials import Gram, RootGram
from separatrix.objectives.problem import Objective
from separatrix.rows import Block, Rows, some_rows
from separatrix.rows.carried import Carried
from separatrix.rows.protocol import Partial
from separatrix.rows.row_hash import row_hashes, uniform

# The number of entries of rows that are converted to a dense array at a time.
ENTRIES_PER_BATCH = 1 << 20
# The local metric uses this multiple of a row's curvature at W, and at least SMALLEST_ROW_CURVATURE times the largest.
LOCAL_CURVATURE_FACTOR, SMALLEST_ROW_CURVATURE = 4.0, 1e-9
# The streams of hashes of the iterations begin here. Smaller numbers belong to samples.
FIRST_HASH_STREAM = 16
# The smallest expected number of rows in a walk over rows outside memory, so that the probability of drawing no row is
# below exp(−64).
FEWEST_DRAWN_ROWS = 64

A = TypeVar("A")


class Metric(NamedTuple):
    """F with P = FᵀF, the sum of the odds of all rows, and the learning rate η for them.

    ``W``: the weights at which the curvatures of the rows are computed; None for the largest curvature of the loss.
    ``odds``: the odds of each row, (n,); None for rows outside memory.
    """

    F: Array
    total: float
    eta: float
    W: Array | None
    odds: Array | None


class Draws(NamedTuple):
    """Random rows: ``chosen`` (steps, batch size) are their positions in ``block``, ``share`` (m,) their weights."""

    block: Block
    chosen: Integers
    share: Array


@dataclass(frozen=True)
class RowCurvatures:
    """h, (m,): the largest curvature of the loss, or four times each row's largest curvature in its scores at W."""

    loss: Loss
    W: Array | None

    @property
    def largest(self) -> float:
        """The largest curvature of the loss."""
        return self.loss.traits.lipschitz or 1.0

    def of(self, block: Block) -> Array:
        """The curvatures of the rows of a block."""
        if self.W is None:
            return np.full(block.n_rows, self.largest)
        z = block.scores(self.W)
        if not self.loss.traits.multiclass:
            own = self.loss.curvature_product(block.t, z[:, 0], np.ones(len(z)))
        else:
            bends = [
                self.loss.curvature_product(block.t, z, np.tile(e, (len(z), 1)))[:, k]
                for k, e in enumerate(np.eye(len(self.W)))
            ]
            own = 2.0 * np.max(bends, axis=0)
        return np.clip(LOCAL_CURVATURE_FACTOR * own, SMALLEST_ROW_CURVATURE * self.largest, self.largest)


@dataclass(frozen=True)
class RowOdds:
    """s (1 + h x̄ᵀP x̄)/Σs, (m,), with P = FᵀF. ``mean_length`` stands for x̄ᵀP x̄ of every row if P is diagonal."""

    F: Array
    mean_length: float
    total_weight: float

    @classmethod
    def in_metric(cls, problem: Objective, F: Array) -> RowOdds:
        """The odds of the rows of a problem in the metric of F."""
        mean = float(np.sum((F * problem.root_second_moments) ** 2)) if F.ndim == 1 else np.nan
        return cls(F, mean, problem.total_weight)

    def of(self, block: Block, h: Array) -> Array:
        """The odds of the rows of a block, whose curvatures are h."""
        return block.weight / self.total_weight * (1.0 + h * self._lengths(block))

    def _lengths(self, block: Block) -> Array:
        """x̄ᵀP x̄ for each row of a block, (m,); for a diagonal P, every entry is the mean over all rows."""
        if self.F.ndim == 1:
            return np.full(block.n_rows, self.mean_length)
        size = rows_per_piece(ENTRIES_PER_BATCH, len(self.F))
        parts = (block.take(some).scores(self.F) for some in pieces(block.n_rows, size))
        return np.concatenate([np.einsum("ij,ij->i", X, X) for X in parts])


def measured(problem: Objective, W: Array | None, batch_size: int) -> Metric | None:
    """The metric from the curvature at W, or from the largest curvature if W is None; None if it is singular."""
    block, curvatures = problem.rows.resident(), RowCurvatures(problem.loss, W)
    if block is None:
        found = _root_metric(problem, problem.rows, curvatures)
    else:
        h = curvatures.of(block)
        found = _root_metric(problem, some_rows(replace(block, weight=block.weight * h)), None)
    if found is None:
        return None
    F, length = found
    odds = None
    if block is not None:
        problem.rows.counter.add()
        odds = RowOdds.in_metric(problem, F).of(block, h)
    total = 1.0 + length if odds is None else float(odds.sum())
    return Metric(F, total, 1.0 / (2.0 + 2.0 * (1.0 + total) / batch_size), W, odds)


@dataclass(frozen=True)
class _Reweighted(Generic[A]):
    """A partial over rows whose weights are multiplied by their curvatures."""

    partial: Partial[A]
    curvatures: RowCurvatures

    def zero(self) -> A:
        return self.partial.zero()

    def add(self, total: A, block: Block) -> A:
        return self.partial.add(total, replace(block, weight=block.weight * self.curvatures.of(block)))

    def merge(self, a: A, b: A) -> A:
        return self.partial.merge(a, b)


def _root_metric(problem: Objective, rows: Rows, curvatures: RowCurvatures | None) -> tuple[Array, float] | None:
    """F with FᵀF = P on the directions that the columns determine, and the mean of h x̄ᵀP x̄; None if P is singular.

    F is (r, d + 1), or (d + 1,) for a diagonal P. ``rows``: the rows, with weights s h if ``curvatures`` is
    None; otherwise it gives the curvatures h of a block.
    """

    def summed(partial: Partial[Array]) -> Array:
        return rows.fold(partial if curvatures is None else _Reweighted(partial, curvatures))

    R = problem.root_penalty**2
    if not problem.has_gram:
        mean = RowCurvatures(problem.loss, None).largest * problem.root_second_moments**2
        size = mean + R
        F = np.divide(1.0, np.sqrt(size), out=np.zeros_like(size), where=(size > 0) & ~problem.pinned)
        return F, float(np.sum(mean * F**2))
    Z = problem.subspace.Z
    B = summed(Gram(problem.shape[1])) / problem.total_weight
    B[problem.pinned, :] = B[:, problem.pinned] = 0.0
    mean = B.copy()
    B[np.diag_indices_from(B)] += R
    factor = Factor.of(B if Z is None else Z.T @ B @ Z)
    if factor is None:
        root = summed(RootGram(problem.shape[1])) / np.sqrt(problem.total_weight)
        root[:, problem.pinned] = 0.0
        root = np.vstack([root, np.diag(problem.root_penalty)])
        factor = Factor.of_root(np.asarray(np.linalg.qr(root if Z is None else root @ Z, mode="r")))
    if factor is None:
        return None
    F = factor.half(np.eye(len(factor.d)))
    F = F if Z is None else F @ Z.T
    return F, float(np.sum((F @ mean) * F))


def drawn(problem: Objective, metric: Metric, n_steps: int, batch_size: int, seed: int, iteration: int) -> Draws:
    """The random rows of a walk of ``n_steps`` batches, a function of the seed and the iteration."""
    rng, block, odds = np.random.default_rng([seed, iteration]), problem.rows.resident(), metric.odds
    if block is not None and odds is not None:
        chosen = rng.choice(len(odds), size=(n_steps, batch_size), p=odds / odds.sum())
        share = block.weight / problem.total_weight / (odds / odds.sum()) / batch_size
        return Draws(block, chosen, share)
    size = max(FEWEST_DRAWN_ROWS, n_steps * batch_size)
    curvatures, row_odds = RowCurvatures(problem.loss, metric.W), RowOdds.in_metric(problem, metric.F)
    draw = _Copies(curvatures, row_odds, size, metric.total, seed, FIRST_HASH_STREAM + iteration)
    found = problem.rows.fold(Carried(draw))
    rows, copies, odds = draw.joined(found.total)
    held = found.rows.joined()
    block = held.block(problem.rows.frame).take(held.places(rows))
    order = rng.permutation(np.repeat(np.arange(len(rows)), copies))
    steps = max(1, len(order) // batch_size)
    chosen = np.resize(order, steps * batch_size).reshape(steps, batch_size)
    return Draws(block, chosen, block.weight / problem.total_weight / (odds / metric.total) / batch_size)


class _Copied(NamedTuple):
    """Rows by number, how often each was drawn, and their odds."""

    rows: Integers
    copies: Integers
    odds: Array


@dataclass(frozen=True)
class _Copies:
    """Draws about ``size`` rows in proportion to their odds, whose sum is ``total``, each ⌊λ + u⌋ times."""

    curvatures: RowCurvatures
    odds: RowOdds
    size: int
    total: float
    seed: int
    stream: int

    def zero(self) -> list[_Copied]:
        return []

    def add(self, total: list[_Copied], block: Block) -> list[_Copied]:
        odds = self.odds.of(block, self.curvatures.of(block))
        u = uniform(row_hashes(block.start, block.n_rows, self.seed, self.stream))
        copies = np.floor(self.size * odds / self.total + u).astype(np.int64)
        some = np.flatnonzero(copies)
        return [*total, _Copied(block.start + some, copies[some], odds[some])]

    def merge(self, a: list[_Copied], b: list[_Copied]) -> list[_Copied]:
        return a + b

    def chosen(self, total: list[_Copied]) -> Integers:
        """The numbers of the rows drawn."""
        return np.concatenate([np.zeros(0, dtype=np.int64), *(part.rows for part in total)])

    def joined(self, total: list[_Copied]) -> _Copied:
        """The rows drawn from all blocks."""
        return _Copied(
            self.chosen(total),
            np.concatenate([part.copies for part in total]),
            np.concatenate([part.odds for part in total]),
        )
