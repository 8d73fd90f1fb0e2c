"""Approximate leave-one-out cross-validation from one fit: the loss of each row by the fit without it.

Each row is left out by one Newton step (``one_step``), which is inaccurate if the row has a high leverage, or if the
step is so long that the curvature of other rows changes. Then the model is refitted without the row (``refitted``).
If many rows need a refit, or if there are many rows per parameter, a sample of them stands for the others. A row of
weight 2 counts as one row: leaving it out removes its whole weight. See docs/tour.md, E2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from separatrix.core.base.arrays import Array, Integers, pieces, rows_per_piece
from separatrix.core.base.machine import in_order
from separatrix.core.base.watching import unwatched
from separatrix.core.problem import Objective
from separatrix.core.regularisation_path import LARGEST_ACCURATE_LEVERAGE, Inverse, ReducedRows, one_step, row_terms
from separatrix.core.rows.memory_rows import MemoryRows
from separatrix.core.rows.protocol import NOT_COUNTED
from separatrix.core.solvers.driver import run
from separatrix.core.solvers.lbfgs import two_loop_product
from separatrix.core.solvers.registry import choose
from separatrix.core.solvers.state import in_memory
from separatrix.core.solvers.stopping import Stopping

# If one Newton step changes the score of a row by more than this, it is inaccurate, because the curvature of other rows
# changes. With absolute values the limit is smaller, because other columns may come into use.
LONGEST_STEP, LONGEST_ABSOLUTE_STEP = 0.5, 0.25
# Steps of up to MILD_FACTOR times the limit are accepted, without refits, if leaving out these rows increases the sum
# of losses by at most the share MILD_LOSS_SHARE.
MILD_FACTOR, MILD_LOSS_SHARE = 2.0, 0.02
# The most numbers in the scores that are computed at a time, which limits memory.
NUMBERS_PER_PIECE = 1 << 20
# The number of refitted rows is at most FEWEST_REFITS, or REFIT_SHARE of all rows if that is more and their scores take
# at most half of NUMBERS_PER_PIECE.
FEWEST_REFITS, REFIT_SHARE = 32, 0.05
# With at least this many rows per parameter, only a sample of rows is scored.
FEWEST_ROWS_PER_PARAMETER = 4
# The sample has FEWEST_ROWS_LEFT_OUT rows, or as many as take DRAWN_MULTIPLICATIONS multiplications if that is more.
FEWEST_ROWS_LEFT_OUT, DRAWN_MULTIPLICATIONS = 500, 1 << 24
# The count of numbers that are computed at a time (a piece), and the fewest rows of a piece.
SMALL_PIECE, FEWEST_ROWS_PER_SMALL_PIECE = 1 << 17, 16
# Avoids division by zero.
SMALLEST_NORMAL = float(np.finfo(np.float64).tiny)


class LeftOut(NamedTuple):
    """The loss of every row by the fit without it, (n,); for rows that were not drawn, its expected value.

    ``share``: the trace of σ ℓ″ G, (n,), which is the contribution of the row to the effective number of parameters.
    ``high``: the number of rows that exceed LARGEST_ACCURATE_LEVERAGE or LONGEST_STEP; ``refitted``: the number of them
    for which the model was refitted. If some were not, their losses are corrected by the mean error of the
    refitted ones.
    ``seen``: the number of rows scored; ``error``: the standard error that sampling adds to the mean loss.
    """

    loss: Array
    share: Array
    refitted: int
    high: int
    seen: int
    error: float


def leave_one_out(
    rows: ReducedRows, inverse: Inverse, seed: int = 0, lengths: Callable[[], Array] | None = None
) -> LeftOut:
    """The loss of every row by the fit without it, from the rows at the minimum of a problem and A = (∇²E)⁻¹ there.

    A row is refitted if the largest eigenvalue of its σ_i ℓ″ G_i exceeds LARGEST_ACCURATE_LEVERAGE or its step exceeds
    LONGEST_STEP. Rows that exceed LONGEST_STEP only slightly are refitted only if their total effect on the loss is
    large. With absolute values in the penalty, the same is done on the columns in use. Leaving out a row may change
    which columns are in use, so the limit on the step is smaller.

    If many rows exceed the limits, only a sample of them is refitted. Their sampling probabilities are proportional to
    the squared ratio of the step to the limit, since the error of a Newton step is of second order: on the digits data,
    50 of 185 rows gave the mean to 0.8 %. If there are many rows per parameter, so that leaving one out changes little,
    the rows for Newton steps are sampled as well, with probabilities proportional to the expected change of the sum of
    losses, about s_i² ‖ℓ′‖² ‖x̄_i‖².

    ``seed``: the seed of the sampling. ``lengths``: returns ‖x_i‖², used for the sampling probabilities if there are
    many rows; by default all rows are assumed to have the same length.

    >>> from separatrix.core.penalty import Penalty
    >>> from separatrix.core.problem import build_objective
    >>> from separatrix.core.regularisation_path import Ridge
    >>> from separatrix.core.rows.labelled_table import labelled_rows
    >>> X, codes = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
    >>> problem = build_objective(labelled_rows(X, codes, 2), 2, Penalty(1.0, np.ones(1)), fit_intercept=False)
    >>> rows, _, inverse = Ridge.on(problem).at(0.1)
    >>> found = leave_one_out(rows, inverse)
    >>> found.refitted, bool(np.all(found.loss >= rows.losses(rows.z)[0]))
    (0, True)
    """
    p, weight = len(inverse.A), rows.sigma
    most = max(FEWEST_ROWS_LEFT_OUT, 2 * DRAWN_MULTIPLICATIONS // max(1, p * (p + inverse.space.rank)))
    if rows.n_rows <= max(most, FEWEST_ROWS_PER_PARAMETER * p):
        return _left_out(rows, inverse, None, seed)
    own, slope = rows.losses(rows.z)
    expected = weight * np.einsum("ij,ij->j", slope, slope)  # proportional to the expected increase of each row's loss
    if lengths is not None:
        expected = expected * lengths()
    size = weight * expected
    # The sampling probability of a row is at least a tenth of the mean probability.
    seen, stands_for = drawn(size + 0.1 * float(size.mean()), most, seed)
    found = _left_out(rows, inverse, seen, seed)
    # The losses of the sample are extended to all rows in proportion to their expected increases.
    added = found.loss - own[seen]
    others = np.ones(len(own), dtype=bool)
    others[seen] = False
    total = float((stands_for - 1.0) @ (weight[seen] * added))
    loss = own + expected * max(0.0, total / max(float(weight[others] @ expected[others]), SMALLEST_NORMAL))
    loss[seen] = found.loss
    share = np.full(len(own), float((stands_for - 1.0) @ found.share) / max(1, int(others.sum())))
    share[seen] = found.share
    each = stands_for * weight[seen] * added * len(seen)  # each draw's estimate of the sum over all rows
    error = float(each.std()) / (np.sqrt(len(seen)) * float(weight.sum()))
    return LeftOut(loss, share, found.refitted, found.high, len(seen), error)


def row_lengths(rows: ReducedRows) -> Array:
    """‖x_i‖² in the coordinates of the rows, (n,).

    >>> from separatrix.core.penalty import Penalty
    >>> from separatrix.core.problem import build_objective
    >>> from separatrix.core.rows.labelled_table import labelled_rows
    >>> rows = labelled_rows(np.array([[2.0], [-2.0]]), np.array([0, 1]), 2)
    >>> problem = build_objective(rows, 2, Penalty(1.0, np.ones(1)))
    >>> row_lengths(ReducedRows.of(problem, problem.null_weights)).tolist()  # in units of two
    [2.0, 2.0]
    """
    parts = _cut(rows.n_rows, rows.space.rank)

    def lengths(part: slice) -> Array:
        X = rows.take(part).X
        return np.asarray(np.einsum("ij,ij->i", X, X))

    return np.concatenate(list(in_order(lengths, parts)))


def _cut(n: int, width: int) -> list[slice]:
    """Slices that divide all rows into pieces of about SMALL_PIECE numbers."""
    return list(pieces(n, rows_per_piece(SMALL_PIECE, width, FEWEST_ROWS_PER_SMALL_PIECE)))


def drawn(size: Array, most: int, seed: int) -> tuple[Integers, Array]:
    """Draw about ``most`` items with probabilities proportional to ``size``, or all if there are no more.

    Returns the items drawn and the number of items that each represents, the reciprocal of its probability (Horvitz and
    Thompson 1952). Sampling is systematic (Madow 1949): draws are evenly spaced along the cumulated sorted sizes, so
    the order of the items does not matter. An item larger than the spacing is always drawn.

    >>> drawn(np.array([1.0, 1.0, 8.0, 1.0, 1.0]), 3, 0)
    (array([2, 3]), array([1., 4.]))
    """
    if len(size) <= most:
        return np.arange(len(size)), np.ones(len(size))
    order = np.argsort(size, kind="stable")
    ends = np.cumsum(size[order])
    points = (np.random.default_rng(seed).random() + np.arange(most)) * (ends[-1] / most)
    hit, times = np.unique(np.minimum(np.searchsorted(ends, points), len(size) - 1), return_counts=True)
    rows = order[hit]
    stands_for = times * (ends[-1] / most) / size[rows]
    ascending = np.argsort(rows)
    return rows[ascending], stands_for[ascending]


def _left_out(rows: ReducedRows, inverse: Inverse, seen: Integers | None, seed: int) -> LeftOut:
    """The losses of these rows (by default all) by one Newton step each, or by refits beyond the limits."""
    n, K = rows.n_rows, rows.problem.shape[0]
    part = rows if seen is None else rows.take(seen)
    z, share, lever, step = _stepped(part, inverse)
    loss, excess = part.losses(z)[0], np.maximum(lever, step)
    mild = np.flatnonzero((step > 1) & (excess <= MILD_FACTOR) & (lever <= 1))
    if len(mild) and not rows.problem.has_absolute:
        some = part.take(mild)
        added = some.sigma @ (loss[mild] - some.losses(some.z)[0])
        if added <= MILD_LOSS_SHARE * (part.sigma @ loss):
            excess[mild] = 1.0
    high = np.flatnonzero((excess > 1) & (part.sigma > 0))
    most = max(FEWEST_REFITS, min(int(REFIT_SHARE * n), NUMBERS_PER_PIECE // (2 * n * K)))
    chosen, stands_for = drawn(excess[high] ** 2, most, seed)
    if len(chosen):
        again = high[chosen]
        now = part.take(again).losses(refitted(rows, inverse, again if seen is None else seen[again]))[0]
        others = np.delete(high, chosen)
        off = float((stands_for - 1.0) @ (now - loss[again]))  # estimated total error of the other rows
        loss[others] *= max(0.0, 1.0 + off / max(float(loss[others].sum()), SMALLEST_NORMAL))
        loss[again] = now
    return LeftOut(loss, share, len(chosen), len(high), part.n_rows, 0.0)


def _stepped(rows: ReducedRows, inverse: Inverse) -> tuple[Array, Array, Array, Array]:
    """z₋ᵢ by one Newton step, (K, m); the trace of σ ℓ″ G; and the ratios of leverage and step to their limits."""
    far = LONGEST_ABSOLUTE_STEP if rows.problem.has_absolute else LONGEST_STEP

    def found_in(part: slice) -> tuple[Array, Array, Array, Array]:
        some = rows.take(part)
        left, trace, lever = one_step(row_terms(some, inverse), some)
        return left, trace, lever / LARGEST_ACCURATE_LEVERAGE, np.max(np.abs(left - some.z), axis=0) / far

    parts = _cut(rows.n_rows, len(inverse.A))
    if len(parts) == 1:
        return found_in(parts[0])
    z, *rest = zip(*in_order(found_in, parts), strict=True)
    share, lever, step = map(np.concatenate, rest)
    return np.concatenate(z, axis=1), share, lever, step


# --- Refits of several rows at once

# The most steps of a refit.
MOST_REFIT_STEPS = 60
# The tolerance of a refit with absolute values, relative to the null model's objective.
REFIT_TOL = 1e-6


def refitted(rows: ReducedRows, inverse: Inverse, out: Integers) -> Array:
    """The score of each row in ``out`` by the fit without that row, (K, len(out)).

    Problem   min_W E(W) − (s_i/S) ℓ(t_i, z_i), for each row i of ``out``
    Given     the minimum W of E, and A = (∇²E)⁻¹ there
    Step      V ← V − α B g, with B from pairs and B₀ = A downdated by the row's curvature (Woodbury's formula). α is
              halved until, at the end of the step, E still falls along the direction or rises less steeply than it
              fell at the start. E is convex, so its values are not needed
    Stops     when the row's score is accurate to 0.01, or to 0.01 times its change
    Source    Nocedal and Wright 2006, Algorithm 7.4

    With absolute values in the penalty, the solvers for such penalties refit one row after another.
    """
    if rows.problem.has_absolute:
        return np.concatenate(list(in_order(lambda i: _solved_without(rows.problem, rows.W, i), out.tolist()))).T
    size = rows_per_piece(NUMBERS_PER_PIECE, 2 * rows.n_rows * rows.problem.shape[0])
    gradient = rows.space.reduce(rows.problem.value_gradient(rows.W).gradient)
    parts = [_Refits.of(rows, gradient, inverse, out[part]) for part in pieces(len(out), size)]
    return np.concatenate(list(in_order(_scores_by_refits, parts)), axis=1)


def _solved_without(problem: Objective, W: Array, i: int) -> Array:
    """The score of row i by the fit without it, (1, K)."""
    block = in_memory(problem, "leave-one-out")
    weight = block.weight.copy()
    weight[i] = 0.0
    rows = MemoryRows(block.X, block.t, weight, block.frame, NOT_COUNTED)
    left = problem.with_(rows=rows)
    with unwatched():  # refits are not reported, as in the pool's threads
        outcome = run(choose(left)[0], left, W, Stopping(tol=REFIT_TOL, max_iter=MOST_REFIT_STEPS))
    return np.asarray(block.take(slice(i, i + 1)).scores(outcome.state.W))


# The L-BFGS pairs of R fits: S, Y and ρ of each pair, (R, c r), (R, c r) and (R, 1). A fit whose step was rejected has
# ρ = 0 in that pair.
Memory = list[tuple[Array, Array, Array]]


@dataclass(frozen=True)
class _Refits:
    """R simultaneous fits, each without one row, at W + Q Θ Zᵀ with Θ (R, c r), which start at Θ = 0.

    They are evaluated together, by one product of all rows with all Θ: each by itself would read the rows R times.
    """

    rows: ReducedRows
    A: Array
    out: Integers  # the index of the row that each fit leaves out
    own: ReducedRows  # the left-out rows
    N: Array  # A (I ⊗ x_i), (R, c r, c)
    M: Array  # σ ℓ″ (I − G σ ℓ″)⁻¹, (R, c, c): the downdated inverse is A + N M Nᵀ
    spread: Array  # trace of G without the row, (R,)
    first: Array  # ∇E at W without the row, (R, c r)

    @classmethod
    def of(cls, rows: ReducedRows, gradient: Array, inverse: Inverse, out: Integers) -> _Refits:
        """The fits, from ``gradient`` (c r,), ∇E of all rows at W."""
        own = rows.take(out)
        of = row_terms(own, inverse)
        (R, c), size = of.slope.shape, len(inverse.A)
        N = (inverse.A.reshape(size * c, -1) @ own.X.T).T.reshape(R, size, c)
        # If a row is the only one with a component along some direction, the Hessian without it is singular. The factor
        # 1 + 1e-9 keeps the matrix regular.
        left = np.linalg.inv(np.eye(c) * (1 + 1e-9) - of.G @ of.curvature)
        spread = np.trace(left @ of.G, axis1=1, axis2=2)
        pull = (of.slope[:, :, None] * own.X[:, None, :]).reshape(R, size)
        return cls(rows, inverse.A, out, own, N, of.curvature @ left, spread, gradient - pull)

    def only(self, kept: Integers) -> _Refits:
        """The given subset of the fits."""
        some = {name: getattr(self, name)[kept] for name in ("out", "N", "M", "spread")}
        return replace(self, own=self.own.take(kept), **some)

    def own_scores(self, V: Array) -> Array:
        """The score of the left-out row of each fit, (K, R)."""
        T = V.reshape(len(V), self.N.shape[2], -1)
        return self.own.z + self.rows.to_scores(np.einsum("ncr,nr->cn", T, self.own.X))

    def product(self, g: Array, memory: Memory) -> Array:
        """B g for each fit, with B₀ the downdated inverse."""
        return two_loop_product(g, memory, self._downdated_inverse, lambda A, B: _dots(A, B)[:, None])

    def _downdated_inverse(self, q: Array) -> Array:
        """(A + N M Nᵀ) q for each fit."""
        inside = self.M @ (self.N.transpose(0, 2, 1) @ q[:, :, None])
        return np.asarray(q @ self.A + (self.N @ inside)[:, :, 0])

    def gradient(self, V: Array) -> Array:
        """∇E at Θ = V for each fit, without its left-out row, (R, c r)."""
        rows = self.rows
        slope = rows.slopes(rows.each_scores(V))
        slope *= rows.sigma
        slope[:, np.arange(len(V)), self.out] = 0.0
        return rows.each_adjoint(slope) + rows.pull(V)


def _scores_by_refits(fits: _Refits) -> Array:
    """The score of each left-out row, (K, R), by L-BFGS with B₀ the downdated inverses, starting from Θ = 0."""
    V, g = np.zeros_like(fits.first), fits.first
    start = fits.own_scores(V)
    found, going, alpha, memory = start.copy(), np.arange(len(g)), np.ones(len(g)), Memory()
    for _ in range(MOST_REFIT_STEPS):
        step = fits.product(g, memory)
        decrement = _dots(step, g)
        z = fits.own_scores(V)
        gone = np.max(np.abs(z - start), axis=0)
        # A refit ends when its row's score is accurate to 1e-2, absolutely or relative to its change.
        wide = decrement * fits.spread > (1e-2 * np.maximum(1.0, gone)) ** 2
        found[:, going] = z
        left = int(np.count_nonzero(wide))
        if left == 0:
            break
        if 4 * left <= 3 * len(wide):  # removing finished fits copies arrays
            kept = np.flatnonzero(wide)
            fits, going, start, V, g = fits.only(kept), going[kept], start[:, kept], V[kept], g[kept]
            step, decrement, alpha = step[kept], decrement[kept], alpha[kept]
            memory = [(S[kept], Y[kept], rho[kept]) for S, Y, rho in memory]
        S = -alpha[:, None] * step
        slope = fits.gradient(V + S)
        # A step is accepted if the slope of E along it at its end is at most 0.9 times minus the slope at its start.
        down = _dots(slope, step) >= -0.9 * decrement
        alpha = np.where(down, 1.0, 0.5 * alpha)
        if not down.all():
            S[~down] = 0.0
            slope[~down] = g[~down]
        Y = slope - g
        bent = _dots(S, Y)[:, None]
        # The last eight pairs of L-BFGS are kept.
        memory = [*memory, (S, Y, np.divide(1.0, bent, out=np.zeros_like(bent), where=bent > 0))][-8:]
        V, g = V + S, slope
    return found


def _dots(A: Array, B: Array) -> Array:
    """The dot product of each row of A with the same row of B, (R,)."""
    return np.asarray(np.vecdot(A, B))
