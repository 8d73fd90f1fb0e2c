"""Weighted mean, variance, range and class sums of every column in one pass, and the standard frame from them.

Means, squared deviations and the classes' deviations from the mean are merged as in Chan, Golub and LeVeque (1983), so
a large offset loses no digits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

import numpy as np

from separatrix.core.base.arrays import AnyArray, Array, Matrix
from separatrix.core.base.errors import InputError, NotFiniteError, WeightError
from separatrix.core.base.messages import ByAudience, ColumnName, Message
from separatrix.core.rows.block import Block, is_sparse
from separatrix.core.rows.frame import Frame, power_of_two
from separatrix.core.rows.protocol import Rows

# If the variance is below this share of the squared mean, Σ s x² has too few digits of Σ s (x − mean)², or the column
# may be constant; the variance is then computed again with the mean subtracted.
SMALLEST_TRUSTED_VARIANCE = 1e-6
# The first entries of a table, up to this number, are summed by NumPy: importing the compiler's package would take
# longer. What a block does depends on its own rows alone, so a stream gives the same bits as rows in memory.
FEWEST_ENTRIES_TO_COMPILE_SUMS = 1 << 22
# Variances outside this range may come from squares outside float64's range; columns are then scaled by a power of two.
SMALLEST_SQUARE, LARGEST_SQUARE = 1e-200, 1e200
NONE = np.empty(0)


@dataclass
class ColumnSummary:
    """The mean, population std, min and max of each column over rows of positive weight, each (d,).

    Without ``ranges``, min and max are ∓infinity except for columns that may be constant. ``class_weight`` (K − 1,) and
    ``pull`` (K − 1, d) are the weight and Σ s (x − mean) of each class but the first.
    """

    weight: float
    n_rows: int
    mean: Array
    m2: Array
    minimum: Array
    maximum: Array
    unit: Array  # columns were divided by this power of two for m2
    class_weight: Array
    pull: Array

    @property
    def std(self) -> Array:
        return np.sqrt(self.m2 / self.weight) * self.unit

    @property
    def constant(self) -> Any:
        """Which columns have a single value."""
        return self.minimum == self.maximum

    def class_sums(self, frame: Frame) -> Array:
        """Σ s x̄ by class in a frame's coordinates, (K, d + 1)."""
        K, d = self.pull.shape
        sums = np.empty((K + 1, d + 1))
        sums[0, 0], sums[1:, 0] = self.weight - self.class_weight.sum(), self.class_weight
        sums[0, 1:], sums[1:, 1:] = -self.pull.sum(axis=0), self.pull
        if frame.center is not self.mean:
            sums[:, 1:] += sums[:, :1] * (self.mean - frame.center)
        sums[:, 1:] /= frame.scale
        return sums


@dataclass(frozen=True)
class _Columns:
    """The sum behind ``summarise``.

    ``targets`` (K − 1,): the value of t in each class but the first. ``is_plain``: every unit is 1, so that columns are
    summed in their own units.
    """

    unit: Array
    targets: AnyArray
    ranges: bool
    is_plain: bool

    def zero(self) -> ColumnSummary:
        return ColumnSummary(0.0, 0, NONE, NONE, NONE, NONE, self.unit, NONE, NONE)  # before any row with a weight

    def add(self, total: ColumnSummary, block: Block) -> ColumnSummary:
        if not (block.weight > 0).all():
            X: Any = block.X
            if not np.all(np.isfinite(X.data if is_sparse(X) else X)):
                return replace(total, weight=np.nan)  # rows with zero weight must be finite as well
            block = block.take(np.flatnonzero(block.weight > 0))
        if block.n_rows == 0:
            return total
        with np.errstate(over="ignore", invalid="ignore"):
            return self.merge(total, self._part(block))

    def _part(self, block: Block) -> ColumnSummary:
        """One block's summary from sums of x and x²; inaccurate columns are summed again with the mean subtracted."""
        weight = float(block.weight.sum())
        by_class = np.where(block.t[:, None] == self.targets, block.weight[:, None], 0.0)
        class_weight = by_class.sum(axis=0)
        X: Any = block.X
        sparse = is_sparse(X)
        summed = _sparse_sums if sparse else _dense_sums
        entries_so_far = (X.nnz if sparse else X.size) / block.n_rows * (block.start + block.n_rows)  # about
        if entries_so_far >= FEWEST_ENTRIES_TO_COMPILE_SUMS and (sparse or X.flags.c_contiguous):
            summed = _compiled_sums
        mean, square, sums = summed(block, None if self.is_plain else self.unit, weight, by_class)
        least = weight * (mean if self.is_plain else mean / self.unit) ** 2
        m2 = square - least
        high = np.full(len(mean), np.inf)
        low = -high
        pull = sums - class_weight[:, None] * mean
        whole = ColumnSummary(weight, block.n_rows, mean, m2, low, high, self.unit, class_weight, pull)
        if not self.ranges and (m2 > SMALLEST_TRUSTED_VARIANCE * least).all():
            return whole
        absent = (square == 0) & (mean == 0)
        doubtful = np.flatnonzero((self.ranges | ~(m2 > SMALLEST_TRUSTED_VARIANCE * least)) & ~absent)
        low[absent] = high[absent] = m2[absent] = 0.0
        if len(doubtful):
            seen = _sparse_ranges if sparse else _dense_ranges
            again = seen(X[:, doubtful], block.weight, mean[doubtful], self.unit[doubtful])
            low[doubtful], high[doubtful], m2[doubtful] = again
        return whole

    def merge(self, a: ColumnSummary, b: ColumnSummary) -> ColumnSummary:
        if a.weight == 0 or b.weight == 0:
            return b if a.weight == 0 else a
        weight = a.weight + b.weight
        with np.errstate(over="ignore", invalid="ignore"):
            delta = b.mean - a.mean
            step = delta * (b.weight / weight)
            m2 = a.m2 + b.m2 + (delta / self.unit) ** 2 * (a.weight * (b.weight / weight))
            pull = a.pull + b.pull - np.outer(a.class_weight, step) + np.outer(b.class_weight, delta - step)
            mean = a.mean + step
        low, high = np.minimum(a.minimum, b.minimum), np.maximum(a.maximum, b.maximum)
        by_class = a.class_weight + b.class_weight
        return ColumnSummary(weight, a.n_rows + b.n_rows, mean, m2, low, high, self.unit, by_class, pull)


def _dense_sums(block: Block, unit: Array | None, weight: float, by_class: Array) -> tuple[Array, Array, Array]:
    """The mean, Σ s (x/unit)², and Σ s x by class; ``weight``: Σ s."""
    X = np.asarray(block.X, dtype=np.float64)
    mean = (block.weight / weight).dot(X)  # for small arrays ``dot`` takes half the time of ``@``
    scaled = X if unit is None else X / unit
    return mean, block.weight.dot(scaled * scaled), by_class.T.dot(X)


def _compiled_sums(block: Block, unit: Array | None, weight: float, by_class: Array) -> tuple[Array, Array, Array]:
    """`_dense_sums` for dense or CSR rows in one compiled sweep that releases the interpreter lock."""
    from separatrix.core.kernels import dense_rows, sparse_rows

    X: Any = block.X
    d = X.shape[1]
    mean, square, sums = np.zeros(d), np.zeros(d), np.zeros((by_class.shape[1], d))
    place = np.full(block.n_rows, -1)
    for k in range(by_class.shape[1]):
        place[by_class[:, k] > 0] = k
    rest = (block.weight / weight, place, mean, square, sums)
    if is_sparse(X):
        sparse_rows.moments_pass(X.data, X.indices, X.indptr, *rest)
    else:
        dense_rows.moments_pass(X, *rest)
    return mean, weight * square / (1.0 if unit is None else unit**2), weight * sums


def _sparse_sums(block: Block, unit: Array | None, weight: float, by_class: Array) -> tuple[Array, Array, Array]:
    X: Any = block.X
    d = X.shape[1]
    s = np.repeat(block.weight, np.diff(X.indptr))
    data = X.data.astype(np.float64)
    mean: Array = np.bincount(X.indices, s / weight * data, d).astype(np.float64)
    if unit is not None:
        data = data / unit[X.indices]
    square: Array = np.bincount(X.indices, s * data * data, d).astype(np.float64)
    return mean, square, np.asarray(X.T @ by_class).T


def _dense_ranges(X: Any, weight: Array, mean: Array, unit: Array) -> tuple[Array, Array, Array]:
    """Min, max and Σ s ((x − x̄)/unit)² of each column, where x̄ is the mean and ``mean`` that mean rounded."""
    X = np.asarray(X, dtype=np.float64)
    apart = X / unit - mean / unit  # the same numbers as (X − mean)/unit, but nothing overflows
    return X.min(axis=0), X.max(axis=0), _about_mean(weight @ apart, weight @ apart**2, weight)


def _about_mean(first: Array, second: Array, weight: Array) -> Array:
    """Σ s (x − x̄)² from Σ s (x − c) and Σ s (x − c)², for c near the mean x̄.

    A mean far from zero is rounded by up to 1e-16 of its size, which may be more than the spread of the column.
    """
    return np.asarray(np.maximum(second - first * (first / weight.sum()), 0.0))


def _sparse_ranges(X: Any, weight: Array, mean: Array, unit: Array) -> tuple[Array, Array, Array]:
    """`_dense_ranges` from the stored entries: a wide block may not fit into memory as a dense array."""
    X = X.tocsc()
    X.sum_duplicates()
    n, d = X.shape
    held = np.diff(X.indptr)
    data, s, column = X.data.astype(np.float64), weight[X.indices], np.repeat(np.arange(d), held)
    low, high, some = np.zeros(d), np.zeros(d), held > 0
    starts = X.indptr[:-1][some]
    low[some], high[some] = np.minimum.reduceat(data, starts), np.maximum.reduceat(data, starts)
    zeros = held < n
    low[zeros], high[zeros] = np.minimum(low[zeros], 0.0), np.maximum(high[zeros], 0.0)
    apart, zero = data / unit[column] - (mean / unit)[column], -mean / unit
    rest = np.where(zeros, weight.sum() - np.bincount(column, s, d), 0.0)
    first = np.bincount(column, s * apart, d) + rest * zero
    return low, high, _about_mean(first, np.bincount(column, s * apart**2, d) + rest * zero**2, weight)


@dataclass(frozen=True)
class _FirstNotFinite:
    """(row, column, value) of the first NaN or infinity, and the count of all."""

    def zero(self) -> tuple[int, int, float, int]:
        return (-1, -1, 0.0, 0)

    def add(self, total: tuple[int, int, float, int], block: Block) -> tuple[int, int, float, int]:
        X: Any = block.X
        bad = np.flatnonzero(~np.isfinite(X.data if is_sparse(X) else np.ascontiguousarray(X).ravel()))
        if len(bad) == 0:
            return total
        if is_sparse(X):
            row = int(np.searchsorted(X.indptr, bad[0], side="right")) - 1
            column, value = int(X.indices[bad[0]]), float(X.data[bad[0]])
        else:
            row, column = divmod(int(bad[0]), X.shape[1])
            value = float(X[row, column])
        return self.merge(total, (block.start + row, column, value, len(bad)))

    def merge(self, a: tuple[int, int, float, int], b: tuple[int, int, float, int]) -> tuple[int, int, float, int]:
        if a[3] == 0 or b[3] == 0:
            return b if a[3] == 0 else a
        return (*a[:3], a[3] + b[3])


def refuse_not_finite(rows: Rows, names: list[str] | None = None) -> None:
    """Raise if any entry is NaN or infinite, naming the first by row and column."""
    _refuse_found(rows.fold(_FirstNotFinite()), names)


def refuse_not_finite_pieces(pieces: Iterable[Matrix], names: list[str] | None = None) -> None:
    """``refuse_not_finite`` for consecutive pieces of X."""
    partial, start = _FirstNotFinite(), 0
    found = partial.zero()
    for X in pieces:
        n, d = X.shape
        found = partial.add(found, Block(X, np.zeros(n), np.ones(n), start, Frame.identity(d)))
        start += n
    _refuse_found(found, names)


def _refuse_found(found: tuple[int, int, float, int], names: list[str] | None) -> None:
    row, column, value, count = found
    if count == 0:
        return
    named = f"column {names[column]!r}" if names is not None else f"column {column}"
    what = "NaN" if np.isnan(value) else "infinity (inf)"
    more = f" ({count} entries are not finite in all)" if count > 1 else ""
    raise NotFiniteError(
        "X",
        f"row {row}, {named} is {what}{more}",
        "impute or drop such entries first, for example with TableEncoder(missing='impute') or with scikit-learn's "
        "SimpleImputer",
    )


def summarise(
    rows: Rows, names: list[str] | None = None, targets: AnyArray | None = None, ranges: bool = True
) -> ColumnSummary:
    """Summarise every column in one pass, or more if squares leave float64's range; refuse NaN and infinity.

    ``targets``: the value of t in each class but the first, for class sums. ``ranges``: compute min and max of every
    column, not only of those that may be constant.
    """
    partial = _Columns(np.ones(rows.n_features), NONE if targets is None else targets, ranges, is_plain=True)
    summary = rows.fold(partial)
    # A sum that is not finite has an entry that is not finite, or overflows.
    if not (isfinite(summary.mean.sum()) and isfinite(summary.m2.sum()) and summary.weight > 0):
        refuse_not_finite(rows, names)
    if not 0 < summary.weight < np.inf:
        raise WeightError(
            "sample_weight",
            f"the weights sum to {summary.weight}: they are zero, or overflow",
            "give at least one row a positive weight",
        )
    spread = summary.m2 / summary.weight
    trusted = (spread > SMALLEST_SQUARE) & (spread < LARGEST_SQUARE)
    if trusted.all() or trusted[~summary.constant].all():
        return summary
    if not ranges:
        summary = rows.fold(replace(partial, ranges=True))
    largest = np.maximum(np.abs(summary.minimum), np.abs(summary.maximum))
    summary = rows.fold(replace(partial, unit=power_of_two(largest), ranges=True, is_plain=False))
    finite = np.isfinite(summary.mean) & np.isfinite(summary.m2) & np.isfinite(summary.pull).all(axis=0)
    if not finite.all():
        raise sum_beyond_range(int(np.argmin(finite)), names)
    return summary


def sum_beyond_range(column: int, names: Sequence[str] | None) -> InputError:
    """The error for a column whose entries are finite, but whose sum is not.

    >>> print(sum_beyond_range(1, None).problem)
    the sum of column 1 is beyond the range of float64
    """
    called = ColumnName(column, None if names is None else f"column {names[column]!r}")
    by_hand = "divide that column by a large number, such as 1e10, or leave it out"
    in_shell = "standardise the columns first, with --standardise, or leave that column out"
    problem = Message("the sum of ", called, " is beyond the range of float64")
    return InputError("X", problem, Message(ByAudience(by_hand, shell=in_shell)))


def standard_frame(
    summary: ColumnSummary, curvature: Array, centred: bool, hide_constant: AnyArray | bool = True
) -> Frame:
    """The frame in which the curvature of a column's weight, ¼ var from the loss plus the penalty's, is near ¼.

    ``curvature``: (d,), the penalty's second derivative in each raw weight. Without an intercept columns are not
    centred. Scales are powers of two, so scaling causes no rounding.
    """
    spread = 2 * np.sqrt(curvature)
    if not centred:
        rms = np.hypot(summary.std, summary.mean)
        return Frame(np.zeros_like(rms), power_of_two(np.hypot(rms, spread)))
    constant = summary.constant
    if not np.count_nonzero(constant):
        return Frame(summary.mean, power_of_two(np.hypot(summary.std, spread)))
    center = np.where(constant, summary.minimum, summary.mean)
    scale = power_of_two(np.hypot(np.where(constant, 0.0, summary.std), spread))
    return Frame(center, np.where(constant & hide_constant, np.inf, scale))
