r"""Leave-one-out from one fit: the loss of each row had it not been there. TEXTBOOK E2.

By one Newton step (``leverages``), which is far off where ℓ″ h, the largest eigenvalue of σ_i ℓ″ G_i, is not small,
or where the step is so long that the other rows' curvature changes: past HIGH or FAR the row is really left out and the
rest fitted again (``refits``); rows not much past FAR only where together they matter. A row of weight 2 counts as one
row: leaving it out removes both.

Where these are many, some are fitted again and stand for the others, drawn by odds in proportion to the square of how
far past they are, since a Newton step's error is of second order: on digits, 50 of 185 gave the mean to 0.8 %. Where
rows are many for their parameters, so that leaving one out changes little, rows whose step is made at all are drawn,
too, by odds in proportion to what it should add to the sum of losses, about s_i² ‖ℓ′‖² ‖x̄_i‖².

With absolute values in the penalty the same holds on the columns in use. Which those are may depend on a row, so steps
are far sooner.

Horvitz and Thompson 1952 and Madow 1949 for the draws.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.base.concurrency import in_order
from separatrix.tuning.leverages import HIGH, Inverse, one_step, pieces
from separatrix.tuning.reduced_rows import ReducedRows
from separatrix.tuning.refits import PIECE, refitted

__all__ = ["Inverse", "LeftOut", "leave_one_out", "row_lengths"]

# Past so long a step of the score one step is far off, too, with other rows' curvature; with absolute values, with
# other columns in use.
FAR, FAR_ABSOLUTE = 0.5, 0.25
# Up to so many times as far it is not, unless leaving such rows out adds more than this share to the sum of losses.
MILD, FEW = 2.0, 0.02
# So many rows past these are fitted again, or this share of all rows where their scores fit into half a piece.
FEWEST_REFITS, SHARE_REFITS = 32, 0.05
# With so many rows a parameter at least, some stand for all: so many, or what so many multiplications do.
MANY, FEWEST_SEEN, WORK = 4, 500, 1 << 24
# The odds of a row are at least this share of the mean.
LEAST_ODDS = 0.1
# Numbers written out at once, and the rows of a piece at least.
SMALL_PIECE, FEWEST_ROWS = 1 << 17, 16
TINY = float(np.finfo(np.float64).tiny)


class LeftOut(NamedTuple):
    """Of every row its loss by the fit without it, (n,); of rows not looked at, what is expected of them.

    ``share``: the trace of σ ℓ″ G, (n,): the row's part in the effective number of parameters. ``refitted`` of the
    ``high`` rows past HIGH or FAR were left out and fitted again; where those are not all, they say by how much the
    others' one step is off. ``seen``: rows looked at; ``error``: the standard error that this adds to the mean loss.
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
    """The loss of every row by the fit without it, from the minimum Θ of a problem and A there.

    Draws are by the seed. ``lengths``: gives ‖x_i‖², for the odds of rows where they are many; by default alike.

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
    if rows.n_rows <= max(most, MANY * len(inverse.A)):
        return _of(rows, theta, inverse, None, seed)
    own, expected = _expected(rows, theta, lengths)
    size = rows.sigma * expected
    seen, stands_for = drawn(size + LEAST_ODDS * float(size.mean()), most, seed)
    found = _of(rows, theta, inverse, seen, seed)
    return _spread(found, own, expected, rows.sigma, seen, stands_for)


def rows_seen(inverse: Inverse) -> int:
    """How many rows stand for all where they are many."""
    r = inverse.space.rank
    return max(FEWEST_SEEN, 2 * WORK // max(1, len(inverse.A) * (len(inverse.A) + r)))


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
    """All rows in pieces of about SMALL_PIECE numbers."""
    size = max(FEWEST_ROWS, SMALL_PIECE // max(1, width))
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def drawn(size: Array, most: int, seed: int) -> tuple[Integers, Array]:
    """All of them, or about ``most``, by odds in proportion to their size, and for how many each stands.

    Evenly spaced along the sizes, in their order, so that the order in the table does not matter; one longer than the
    spacing is drawn surely.

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
    """The loss of each row by the fit to all, (n,), and what leaving it out should add, in proportion."""
    own, slope = rows.losses(rows.scores(theta))
    expected = rows.sigma * np.einsum("ij,ij->j", slope, slope)
    return own, expected if lengths is None else expected * lengths()


def _spread(found: LeftOut, own: Array, expected: Array, weight: Array, seen: Integers, stands_for: Array) -> LeftOut:
    """From the rows seen to all: what the others add is as expected of them, and in sum what the seen stand for."""
    added = found.loss - own[seen]
    others = np.ones(len(own), dtype=bool)
    others[seen] = False
    total = float((stands_for - 1.0) @ (weight[seen] * added))
    loss = own + expected * max(0.0, total / max(float(weight[others] @ expected[others]), TINY))
    loss[seen] = found.loss
    share = np.full(len(own), float((stands_for - 1.0) @ found.share) / max(1, int(others.sum())))
    share[seen] = found.share
    each = stands_for * weight[seen] * added * len(seen)  # of the sum over all rows, as each draw tells it
    error = float(each.std()) / (np.sqrt(len(seen)) * float(weight.sum()))
    return LeftOut(loss, share, found.refitted, found.high, len(seen), error)


def _of(rows: ReducedRows, theta: Array, inverse: Inverse, seen: Integers | None, seed: int) -> LeftOut:
    """Of these rows, by default all: one step each, and refits of those past HIGH or FAR."""
    n, K = rows.n_rows, rows.problem.shape[0]
    part = rows if seen is None else rows.take(seen)
    z, share, lever, step = _stepped(part, theta, inverse)
    loss, excess = part.losses(z)[0], np.maximum(lever, step)
    mild = np.flatnonzero((step > 1) & (excess <= MILD) & (lever <= 1))
    if len(mild) and not rows.problem.has_absolute:
        some = part.take(mild)
        added = some.sigma @ (loss[mild] - some.losses(some.scores(theta))[0])
        if added <= FEW * (part.sigma @ loss):
            excess[mild] = 1.0
    high = np.flatnonzero((excess > 1) & (part.sigma > 0))
    most = max(FEWEST_REFITS, min(int(SHARE_REFITS * n), PIECE // (2 * n * K)))
    chosen, stands_for = drawn(excess[high] ** 2, most, seed)
    if len(chosen):
        again = high[chosen]
        now = part.take(again).losses(refitted(rows, theta, inverse, again if seen is None else seen[again]))[0]
        others = np.delete(high, chosen)
        off = float((stands_for - 1.0) @ (now - loss[again]))  # of the others' one step, in sum
        loss[others] *= max(0.0, 1.0 + off / max(float(loss[others].sum()), TINY))
        loss[again] = now
    return LeftOut(loss, share, len(chosen), len(high), part.n_rows, 0.0)


def _stepped(rows: ReducedRows, theta: Array, inverse: Inverse) -> tuple[Array, Array, Array, Array]:
    """z₋ᵢ by one step, (K, m); the trace of σ ℓ″ G; how many times past HIGH, and past FAR, a row is."""
    far = FAR_ABSOLUTE if rows.problem.has_absolute else FAR

    def found_in(part: slice) -> tuple[Array, Array, Array, Array]:
        some = rows.take(part)
        of = pieces(some, theta, inverse)
        left, trace, lever = one_step(of, some)
        return left, trace, lever / HIGH, np.max(np.abs(left - of.z), axis=0) / far

    parts = _cut(rows.n_rows, len(inverse.A))
    if len(parts) == 1:
        return found_in(parts[0])
    z, *rest = zip(*in_order(found_in, parts), strict=True)
    share, lever, step = map(np.concatenate, rest)
    return np.concatenate(z, axis=1), share, lever, step
