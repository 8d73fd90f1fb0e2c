r"""Approximate leave-one-out cross-validation from one fit: the loss of each row by the fit without it.

See docs/tour.md, E2.

Each row is left out by one Newton step (``leverages``). The step is inaccurate if ℓ″ h, the largest eigenvalue of
σ_i ℓ″ G_i, is not small, or if the step is so long that the curvature of other rows changes. If it exceeds
LARGEST_ACCURATE_LEVERAGE or LONGEST_STEP, the model is refitted without the row (``refits``). Rows that exceed
LONGEST_STEP only slightly are refitted only if their total effect on the loss is large. A row of weight 2 counts as one
row: leaving it out removes its whole weight.

If many rows exceed the limits, only a sample of them is refitted. Their sampling probabilities are proportional to the
squared ratio of the step to the limit, since the error of a Newton step is of second order: on the digits data, 50 of
185 rows gave the mean to 0.8 %. If there are many rows per parameter, so that leaving one out changes little, the rows
for Newton steps are sampled as well, with probabilities proportional to the expected change of the sum of losses, about
s_i² ‖ℓ′‖² ‖x̄_i‖².

With absolute values in the penalty, the same is done on the columns in use. Leaving out a row may change which columns
are in use, so the limit on the step is smaller.

Horvitz and Thompson 1952 and Madow 1949 for the sampling.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.base.concurrency import in_order
from separatrix.base.pieces import pieces, rows_per_piece
from separatrix.tuning.leverages import LARGEST_ACCURATE_LEVERAGE, Inverse, one_step, row_terms
from separatrix.tuning.reduced_rows import ReducedRows
from separatrix.tuning.refits import NUMBERS_PER_PIECE, refitted

__all__ = ["Inverse", "LeftOut", "leave_one_out", "row_lengths"]

# If one Newton step changes the score of a row by more than this, it is inaccurate, because the curvature of other rows
# changes. With absolute values the limit is smaller, because other columns may come into use.
LONGEST_STEP, LONGEST_ABSOLUTE_STEP = 0.5, 0.25
# Steps of up to MILD_FACTOR times the limit are accepted, without refits, if leaving out these rows increases the sum
# of losses by at most the share MILD_LOSS_SHARE.
MILD_FACTOR, MILD_LOSS_SHARE = 2.0, 0.02
# The number of refitted rows is at most FEWEST_REFITS, or REFIT_SHARE of all rows if that is more and their scores take
# at most half of NUMBERS_PER_PIECE.
FEWEST_REFITS, REFIT_SHARE = 32, 0.05
# With at least this many rows per parameter, only a sample of rows is scored.
FEWEST_ROWS_PER_PARAMETER = 4
# The sample has FEWEST_ROWS_LEFT_OUT rows, or as many as take DRAWN_MULTIPLICATIONS multiplications if that is more.
FEWEST_ROWS_LEFT_OUT, DRAWN_MULTIPLICATIONS = 500, 1 << 24
# The sampling probability of a row is at least this share of the mean probability.
SMALLEST_ODDS_SHARE = 0.1
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
    rows: ReducedRows, theta: Array, inverse: Inverse, seed: int = 0, lengths: Callable[[], Array] | None = None
) -> LeftOut:
    """The loss of every row by the fit without it, from the minimum Θ of a problem and A = (∇²E)⁻¹ there.

    ``seed``: the seed of the sampling. ``lengths``: returns ‖x_i‖², used for the sampling probabilities if there are
    many rows; by default all rows are assumed to have the same length.

    >>> from separatrix.objectives.build import build_objective
    >>> from separatrix.rows import labelled_rows
    >>> from separatrix.objectives.penalty import Penalty
    >>> from separatrix.tuning.reduced_rows import reduce_rows
    >>> X, codes = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
    >>> problem = build_objective(labelled_rows(X, codes, 2), 2, Penalty(10.0, np.ones(1)), fit_intercept=False)
    >>> W, space = np.zeros((1, 2)), problem.subspace
    >>> for _ in range(20):
    ...     W = W - space.expand(problem.factor(W).solve(space.reduce(problem.value_gradient(W).gradient)))
    >>> rows, theta = reduce_rows(problem), space.reduce(W)
    >>> found = leave_one_out(rows, theta, Inverse.of(problem.factor(W), space))
    >>> found.refitted, bool(np.all(found.loss >= rows.losses(rows.scores(theta))[0]))
    (0, True)
    """
    most = rows_seen(inverse)
    if rows.n_rows <= max(most, FEWEST_ROWS_PER_PARAMETER * len(inverse.A)):
        return _of(rows, theta, inverse, None, seed)
    own, expected = _expected(rows, theta, lengths)
    size = rows.sigma * expected
    seen, stands_for = drawn(size + SMALLEST_ODDS_SHARE * float(size.mean()), most, seed)
    found = _of(rows, theta, inverse, seen, seed)
    return _spread(found, own, expected, rows.sigma, seen, stands_for)


def rows_seen(inverse: Inverse) -> int:
    """The size of the sample if there are many rows."""
    r = inverse.space.rank
    return max(FEWEST_ROWS_LEFT_OUT, 2 * DRAWN_MULTIPLICATIONS // max(1, len(inverse.A) * (len(inverse.A) + r)))


def row_lengths(rows: ReducedRows) -> Array:
    """‖x_i‖² in the coordinates of the rows, (n,).

    >>> from separatrix.objectives.penalty import Penalty
    >>> from separatrix.objectives.build import build_objective
    >>> from separatrix.rows import labelled_rows
    >>> from separatrix.tuning.reduced_rows import reduce_rows
    >>> rows = labelled_rows(np.array([[2.0], [-2.0]]), np.array([0, 1]), 2)
    >>> problem = build_objective(rows, 2, Penalty(1.0, np.ones(1)))
    >>> row_lengths(reduce_rows(problem)).tolist()  # in units of two
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

    Returns the items drawn and the number of items that each represents, the reciprocal of its probability. Sampling is
    systematic: draws are evenly spaced along the cumulated sorted sizes, so the order of the items does not matter. An
    item larger than the spacing is always drawn.

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


def _expected(rows: ReducedRows, theta: Array, lengths: Callable[[], Array] | None) -> tuple[Array, Array]:
    """The loss of each row by the fit to all rows, (n,), and a value proportional to its expected increase, (n,)."""
    own, slope = rows.losses(rows.scores(theta))
    expected = rows.sigma * np.einsum("ij,ij->j", slope, slope)
    return own, expected if lengths is None else expected * lengths()


def _spread(found: LeftOut, own: Array, expected: Array, weight: Array, seen: Integers, stands_for: Array) -> LeftOut:
    """Extend the losses of the sample to all rows, in proportion to their expected increases."""
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


def _of(rows: ReducedRows, theta: Array, inverse: Inverse, seen: Integers | None, seed: int) -> LeftOut:
    """The losses of these rows (by default all) by one Newton step each, or by refits beyond the limits."""
    n, K = rows.n_rows, rows.problem.shape[0]
    part = rows if seen is None else rows.take(seen)
    z, share, lever, step = _stepped(part, theta, inverse)
    loss, excess = part.losses(z)[0], np.maximum(lever, step)
    mild = np.flatnonzero((step > 1) & (excess <= MILD_FACTOR) & (lever <= 1))
    if len(mild) and not rows.problem.has_absolute:
        some = part.take(mild)
        added = some.sigma @ (loss[mild] - some.losses(some.scores(theta))[0])
        if added <= MILD_LOSS_SHARE * (part.sigma @ loss):
            excess[mild] = 1.0
    high = np.flatnonzero((excess > 1) & (part.sigma > 0))
    most = max(FEWEST_REFITS, min(int(REFIT_SHARE * n), NUMBERS_PER_PIECE // (2 * n * K)))
    chosen, stands_for = drawn(excess[high] ** 2, most, seed)
    if len(chosen):
        again = high[chosen]
        now = part.take(again).losses(refitted(rows, theta, inverse, again if seen is None else seen[again]))[0]
        others = np.delete(high, chosen)
        off = float((stands_for - 1.0) @ (now - loss[again]))  # estimated total error of the other rows
        loss[others] *= max(0.0, 1.0 + off / max(float(loss[others].sum()), SMALLEST_NORMAL))
        loss[again] = now
    return LeftOut(loss, share, len(chosen), len(high), part.n_rows, 0.0)


def _stepped(rows: ReducedRows, theta: Array, inverse: Inverse) -> tuple[Array, Array, Array, Array]:
    """z₋ᵢ by one Newton step, (K, m); the trace of σ ℓ″ G; and the ratios of leverage and step to their limits."""
    far = LONGEST_ABSOLUTE_STEP if rows.problem.has_absolute else LONGEST_STEP

    def found_in(part: slice) -> tuple[Array, Array, Array, Array]:
        some = rows.take(part)
        of = row_terms(some, theta, inverse)
        left, trace, lever = one_step(of, some)
        return left, trace, lever / LARGEST_ACCURATE_LEVERAGE, np.max(np.abs(left - of.z), axis=0) / far

    parts = _cut(rows.n_rows, len(inverse.A))
    if len(parts) == 1:
        return found_in(parts[0])
    z, *rest = zip(*in_order(found_in, parts), strict=True)
    share, lever, step = map(np.concatenate, rest)
    return np.concatenate(z, axis=1), share, lever, step
