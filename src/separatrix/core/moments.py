"""Sums of (1, x, xxᵀ) by class: all that least squares, Fisher, LDA and QDA need of the rows.

Each class k has its weight S_k, its mean m_k, and its scatter Σ_i s_i (x_i − m_k)(x_i − m_k)ᵀ, an unnormalised sum
like S_i in lecture 001. Inside a block the rows of a class are centred, then multiplied, and the sum is corrected for
the rounding error of the centre; blocks are merged as in Chan, Golub and LeVeque (1983). So there is no cancellation,
however far the rows lie from zero or the classes from each other. ``gather`` takes one pass, in a frame estimated from
the first rows, and a second one only if a column is nearly constant or out of range.

``ClassSums`` has the moments of rows that come in parts and are not kept, for ``partial_fit``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, NamedTuple, NoReturn

import numpy as np

from separatrix.core.base.arrays import EPS, AnyArray, Array, Integers, pieces, rows_per_piece
from separatrix.core.base.codec import array
from separatrix.core.base.errors import InputError
from separatrix.core.base.machine import refuse_too_large
from separatrix.core.base.messages import Classifier, Message
from separatrix.core.linear_algebra import STANDARDISE, column_name
from separatrix.core.rows.block import LARGEST_DENSE_BLOCK, Block, block_rows, is_sparse
from separatrix.core.rows.column_statistics import (
    LARGEST_SQUARE,
    SMALLEST_SQUARE,
    refuse_not_finite,
    standard_frame,
    sum_beyond_range,
    summarise,
)
from separatrix.core.rows.frame import LARGE_OFFSET, Frame, power_of_two
from separatrix.core.rows.memory_rows import MemoryRows
from separatrix.core.rows.protocol import BLOCK_BYTES, Order, Partial, PassCounter, Rows, first_rows
from separatrix.core.rows.sampling import RowSample
from separatrix.core.rows.targets import ClassTotals, Coding

# --- What a few rows, or a few columns, show before the moments of all rows are used

# Number of rows from which the first estimate of the columns' centres and scales is taken, before the pass.
ROWS_FOR_FIRST_FRAME = 256


def first_frame(rows: Rows) -> Frame:
    """Centres and scales estimated from a few rows, close enough that sums in this frame lose no precision.

    The rows are evenly spaced in the first block, so that a stream need not be read twice.
    """
    size = max(ROWS_FOR_FIRST_FRAME, block_rows(BLOCK_BYTES, rows.n_features))
    block = first_rows(rows, size)
    if block is None:
        return Frame.identity(rows.n_features)
    counted = np.flatnonzero(block.weight > 0)
    few: Any = block.X[counted[:: max(1, len(counted) // ROWS_FOR_FIRST_FRAME)][:ROWS_FOR_FIRST_FRAME]]
    few = np.asarray(few.toarray() if is_sparse(few) else few, dtype=np.float64)
    if not len(few) or not np.all(np.isfinite(few)):
        return Frame.identity(rows.n_features)
    with np.errstate(over="ignore", invalid="ignore"):
        center, scale = few.mean(axis=0), power_of_two(few.std(axis=0))
    if rows.is_sparse:  # a constant column's standard deviation is a rounding error; dense rows are always centred
        constant = few.min(axis=0) == few.max(axis=0)
        center[constant] = few[0, constant]
        scale[constant] = power_of_two(np.maximum(np.abs(few[0, constant]), 1.0))
    sound = np.isfinite(center) & np.isfinite(scale)
    return Frame(np.where(sound, center, 0.0), np.where(sound, scale, 1.0))


def extremes(X: Any) -> tuple[Array, Array]:
    """The smallest and the largest entry of each column, (d,); in CSR rows, entries that are not stored are zeros."""
    low, high = X.min(axis=0), X.max(axis=0)
    if is_sparse(X):
        low, high = low.toarray(), high.toarray()
    return np.asarray(low, dtype=np.float64).ravel(), np.asarray(high, dtype=np.float64).ravel()


class Ranges(NamedTuple):
    """The smallest and the largest entries of some columns, over rows with weight; NaN if any entry is not finite."""

    low: Array
    high: Array


@dataclass(frozen=True)
class ColumnRanges:
    """The ranges of columns: if a column is constant, its ends are the same to the last bit."""

    columns: Integers

    def zero(self) -> Ranges:
        return Ranges(np.full(len(self.columns), np.inf), np.full(len(self.columns), -np.inf))

    def add(self, total: Ranges, block: Block) -> Ranges:
        raw: Any = block.X
        X, counted = raw[:, self.columns], np.flatnonzero(block.weight > 0)
        if not np.all(np.isfinite(X.data if is_sparse(X) else X)):
            none = np.full(len(self.columns), np.nan)
            return Ranges(none, none)
        return self.merge(total, Ranges(*extremes(X[counted]))) if len(counted) else total

    def merge(self, a: Ranges, b: Ranges) -> Ranges:
        return Ranges(np.minimum(a.low, b.low), np.maximum(a.high, b.high))


def constant_values(rows: Rows, columns: Integers) -> Array | None:
    """The values of columns that are constant, checked entry by entry; None where one varies or is not finite.

    Without columns nothing is read. In memory only these columns are read, which does not count as a pass.
    """
    if not len(columns):
        return np.empty(0)
    with nullcontext() if rows.resident() is None else rows.counter.paused():
        low, high = rows.fold(ColumnRanges(columns))
    return low if np.array_equal(low, high) and np.all(np.isfinite(low)) else None


# --- The moments of all rows

# A column whose spread is below this share of its offset may be constant up to rounding.
NEARLY_CONSTANT_SPREAD = 1e-10
# A block's spread below this share of the column's is lost to rounding; the ratio of scales is not reduced further.
SMALLEST_BLOCK_SPREAD = 2.0**-52
# The scales of columns between which squares of projections, in raw units, neither underflow nor overflow.
SMALLEST_SQUARABLE_SCALE, LARGEST_SQUARABLE_SCALE = 1e-152, 1e152
# How many matrices of d × d numbers a fit holds at once, rounded down, from its peak memory on 400 sparse rows of 2,000
# columns: 8.1 for FisherDiscriminant, 9.5 for LinearDiscriminantAnalysis, 11.8 for LeastSquaresClassifier, and 13.9 and
# 20.7 for QuadraticDiscriminantAnalysis with two and four classes.
PROJECTION_MATRICES, SHARED_COVARIANCE_MATRICES, SQUARED_COST_MATRICES = 8, 9, 11


def kept(moments: Moments) -> Moments | None:
    """The moments that a fitted model keeps; None if they would take too much memory."""
    return moments if moments.mean.shape[1] <= 1000 else None  # 8 MB for each matrix


def covariance_matrices(n_classes: int) -> int:
    """How many matrices of d × d numbers a fit holds at once if each class has a covariance."""
    return 6 + 3 * n_classes


@dataclass
class Moments:
    """In the coordinates of ``frame``: weight (K,), n_rows (K,), mean (K, d), scatter (K, d, d), or (1, d, d) pooled.

    ``rounding`` bounds two relative errors: of an entry of the scatter, relative to the root of the product of its two
    diagonal entries over all rows, and of a mean, relative to the spread of its column.

    >>> from separatrix.core.rows.memory_rows import memory_rows
    >>> moments = gather(memory_rows(np.array([[0.0], [2.0], [5.0]]), np.array([0, 0, 1])), 2)
    >>> moments.weight.tolist(), moments.raw_mean.tolist(), moments.raw_scatter.tolist()
    ([2.0, 1.0], [[1.0], [5.0]], [[[2.0]], [[0.0]]])
    """

    frame: Frame
    weight: Annotated[Array, array("K", least=0)]
    n_rows: Annotated[Integers, array("K", whole=True, least=0)]
    mean: Annotated[Array, array("K", "d")]
    scatter: Annotated[Array, array("", "d", "d")]
    rounding: float = 0.0

    @property
    def total_weight(self) -> float:
        return float(self.weight.sum())

    @property
    def shares(self) -> Array:
        """S_k/S."""
        return np.asarray(self.weight / self.weight.sum())

    @property
    def center(self) -> Array:
        """The mean of all rows, (d,)."""
        return np.asarray(self.shares @ self.mean)

    @property
    def within(self) -> Array:
        """S_W, the sum of the scatters of all classes, (d, d)."""
        return np.asarray(self.scatter.sum(axis=0))

    @property
    def between(self) -> Array:
        """Σ_k S_k (m_k − m)(m_k − m)ᵀ, (d, d)."""
        apart = self.mean - self.center
        return np.asarray(apart.T @ (apart * self.weight[:, None]))

    def seen_through(self, frame: Frame) -> Moments:
        """The same moments in other coordinates; scales are powers of two, so only the means are rounded."""
        ratio = self.frame.scale / frame.scale
        mean = (self.frame.center - frame.center) / frame.scale + self.mean * ratio
        return Moments(frame, self.weight, self.n_rows, mean, self.scatter * ratio * ratio[:, None], self.rounding)

    @property
    def raw_mean(self) -> Array:
        """Means in raw units, (K, d)."""
        return np.asarray(self.frame.center + self.mean * self.frame.scale)

    @property
    def raw_scatter(self) -> Array:
        """Scatter in raw units."""
        return np.asarray(self.scatter * self.frame.scale * self.frame.scale[:, None])


@dataclass(frozen=True)
class ClassMoments:
    """The partial sum behind ``Moments``; targets are class numbers. ``pooled`` keeps d² numbers instead of K d²."""

    n_classes: int
    frame: Frame
    pooled: bool = False

    def zero(self) -> Moments:
        K, d = self.n_classes, len(self.frame.center)
        scatter = np.zeros((1 if self.pooled else K, d, d))
        return Moments(self.frame, np.zeros(K), np.zeros(K, dtype=np.int64), np.zeros((K, d)), scatter)

    def add(self, total: Moments, block: Block) -> Moments:
        counted = block.weight > 0
        if not counted.all():
            X: Any = block.X
            if not np.all(np.isfinite(X.data if is_sparse(X) else X)):
                total.weight[:] = np.nan  # rows without weight must be finite, too
            block = block.take(np.flatnonzero(counted))
        if block.n_rows == 0:
            return total
        with np.errstate(over="ignore", invalid="ignore"):  # overflow shows in the sums and is checked once
            if is_sparse(block.X):
                return self.merge(total, self._of_sparse(block))
            return self.merge(total, self._by_sums(block) or self._of_dense(block))

    def _by_sums(self, block: Block) -> Moments | None:
        """One product of all rows minus the part of the class means, without a copy; None if that would lose digits."""
        K, d = self.n_classes, len(self.frame.center)
        # With fewer columns per class, class sums are not cheap relative to products of columns.
        if not self.pooled or not self.frame.is_near or d < 4 * K:
            return None
        part = self.zero()
        sums, H = block.raw_products(((block.t == np.arange(K)[:, None]) * block.weight).T)
        part.n_rows[:] = np.bincount(block.t, minlength=K)
        part.weight[:] = sums[:, 0]
        part.mean[:] = np.divide(sums[:, 1:], sums[:, :1], out=np.zeros((K, d)), where=sums[:, :1] > 0)
        part.scatter[0] = H[1:, 1:] - part.mean.T @ sums[:, 1:]
        kept, of = np.diag(part.scatter[0]), np.diag(H)[1:]
        # If the scatter is a smaller share of a column's sum of squares, it is computed about the class means instead.
        if not np.all(kept >= (1 / 16) * of):
            return None
        multiplied = of + H[0, 0] * (self.frame.center / self.frame.scale) ** 2  # the sum of squares about zero
        varies = kept > NEARLY_CONSTANT_SPREAD**2 * multiplied
        part.rounding = block.n_rows * EPS * float(np.max(multiplied[varies] / kept[varies], initial=1.0))
        return part

    def _of_dense(self, block: Block) -> Moments:
        """Rows sorted by class and centred in place; a pooled scatter then needs only one product."""
        part, scale = self.zero(), self.frame.scale
        part.rounding = block.n_rows * EPS
        order = np.argsort(block.t, kind="stable")
        X: Any = block.X
        D = np.take(X, order, axis=0).astype(np.float64, copy=False)
        s = block.weight[order]
        edges = np.searchsorted(block.t[order], np.arange(self.n_classes + 1))
        part.n_rows[:] = np.diff(edges)
        missed = np.zeros_like(part.mean)
        for k in np.flatnonzero(part.n_rows):
            own, share = D[edges[k] : edges[k + 1]], s[edges[k] : edges[k + 1]]
            part.weight[k] = share.sum()
            about = (share @ own) / part.weight[k]
            own -= about
            own /= scale  # a power of two; its reciprocal overflows if a column holds only subnormal numbers
            missed[k] = (share @ own) / part.weight[k]
            part.mean[k] = (about - self.frame.center) / scale + missed[k]
        if np.any(s != 1.0):
            D *= np.sqrt(s)[:, None]
        if self.pooled:
            part.scatter[0] = D.T @ D - missed.T @ (missed * part.weight[:, None])
            return part
        for k in np.flatnonzero(part.n_rows):
            own = D[edges[k] : edges[k + 1]]
            part.scatter[k] = own.T @ own - part.weight[k] * np.outer(missed[k], missed[k])
        return part

    def _of_sparse(self, block: Block) -> Moments:
        part = self.zero()
        offset = np.minimum(np.abs(block.frame.center / block.frame.scale), LARGE_OFFSET)  # larger offsets are removed
        part.rounding = block.n_rows * EPS * (1.0 + float(np.max(offset, initial=0.0)) ** 2)
        size = rows_per_piece(LARGEST_DENSE_BLOCK, block.X.shape[1])  # small enough that CSR rows may be made dense
        for k in range(self.n_classes):
            own = np.flatnonzero(block.t == k)
            for some_rows in pieces(len(own), size):
                rows = block.take(own[some_rows])
                some = self.zero()
                some.n_rows[k] = rows.n_rows
                some.weight[k], some.mean[k], some.scatter[0 if self.pooled else k] = _centred(rows)
                part = self.merge(part, some)
        return part

    def merge(self, a: Moments, b: Moments) -> Moments:
        weight = a.weight + b.weight
        share = np.divide(b.weight, weight, out=np.zeros_like(weight), where=weight > 0)
        delta = b.mean - a.mean
        spread = a.weight * share
        a.scatter += b.scatter
        if self.pooled:
            a.scatter[0] += delta.T @ (delta * spread[:, None])
        else:
            for k in np.flatnonzero(spread):
                a.scatter[k] += np.outer(delta[k], delta[k]) * spread[k]
        a.mean += delta * share[:, None]
        a.weight = weight
        a.n_rows = a.n_rows + b.n_rows
        a.rounding = max(a.rounding, b.rounding) + 4 * EPS
        return a


def _centred(rows: Block) -> tuple[float, Array, Array]:
    """Weight, mean and scatter of some CSR rows of one class, in the coordinates of their frame."""
    s, frame = rows.weight, rows.frame
    total = float(s.sum())
    about = frame.center + frame.scale * (rows.adjoint(s[:, None])[0, 1:] / total)
    # The spread of these rows, so that the block can tell whether their offset is large relative to it.
    spread = replace(rows, frame=Frame(about, frame.scale)).squares(s)[1:] / total
    ratio = np.where(
        spread > SMALLEST_BLOCK_SPREAD**2, power_of_two(np.sqrt(np.maximum(spread, 0.0))), SMALLEST_BLOCK_SPREAD
    )
    H = replace(rows, frame=Frame(about, frame.scale * ratio)).sandwich(s)
    missed = H[0, 1:] / total
    scatter = (H[1:, 1:] - total * np.outer(missed, missed)) * np.outer(ratio, ratio)
    return total, (about - frame.center) / frame.scale + ratio * missed, scatter


def moments_of(rows: Rows, n_classes: int, pooled: bool = False) -> Moments:
    """The moments of any kind of rows, in the coordinates of their frame: one pass."""
    return rows.fold(ClassMoments(n_classes, rows.frame, pooled))


def gather(
    rows: Rows,
    n_classes: int,
    pooled: bool = False,
    names: list[str] | None = None,
    spread: Callable[[float], float] | None = None,
    centred: bool = True,
    matrices: int = PROJECTION_MATRICES,
) -> Moments:
    """The moments of rows whose targets are class numbers, in standard coordinates.

    Variances that are rounding errors are zero. Raises on NaN and infinity, on numbers that are out of range, and
    before the first allocation if ``matrices``, the number of d × d matrices that the caller holds at once, cannot fit
    into memory.

    It takes one pass if all columns vary clearly. ``spread`` gives the smallest scale of a coordinate in raw units from
    the total weight; use it for a quantity that will be added to the variances. By default it is zero. If ``centred``
    is False, the coordinates keep the origin and are scaled by the root mean square of each column.
    """
    d = rows.n_features
    remedy = Message("use fewer columns, or ", Classifier("LogisticRegression"), " or ", Classifier("LinearSVC"))
    refuse_too_large("X", f"{matrices} matrices of {d:,} × {d:,} numbers", matrices * d * d, remedy)
    moments = moments_of(rows.seen_through(first_frame(rows)), n_classes, pooled)
    constant = np.flatnonzero(~_clear(moments))
    values = constant_values(rows, constant)
    if values is not None:
        least = spread(moments.total_weight) if spread else 0.0
        frame = _standard(moments, least, centred)
        if centred:
            frame.center[constant] = values
        if centred and rows.is_sparse:  # the variances of these columns are rounding errors
            frame.scale[constant] = power_of_two(np.array([least]))
        moments = moments.seen_through(frame)
    else:
        # Non-finite entries are reported here. Otherwise a column is nearly constant or its squares overflow: a pass
        # over the columns with their exact ranges tells these apart, and the moments are computed again in that frame.
        summary = summarise(rows, names)
        curvature = np.full(d, ((spread(summary.weight) if spread else 0.0) / 2) ** 2)
        frame = standard_frame(summary, curvature, centred, hide_constant=False)
        moments = moments_of(rows.seen_through(frame), n_classes, pooled)
        constant = np.flatnonzero(summary.constant)
        values = summary.minimum[constant]
    moments.mean[:, constant] = (values - frame.center[constant]) / frame.scale[constant]
    moments.scatter[:, constant, :] = moments.scatter[:, :, constant] = 0.0
    past = np.flatnonzero(~np.all(np.isfinite(moments.mean), axis=0))
    if len(past):
        raise sum_beyond_range(int(past[0]), names)
    # With a smaller scale, the column's weights in raw units would leave the range of float64.
    refuse_extreme_scales(moments.frame, names, 2.0**-1000)
    for scatter in moments.scatter:
        # A within-class variance below this share of the column's variance is a rounding error: the column is constant.
        none = np.diag(scatter) <= 1e-24 * moments.total_weight
        scatter[none, :] = scatter[:, none] = 0.0
    return moments


def refuse_extreme_scales(frame: Frame, names: list[str] | None, least: float, most: float = np.inf) -> None:
    """Raise an error if the scale of a column is outside of the range, naming the first such column."""
    extreme = np.flatnonzero((frame.scale < least) | (frame.scale > most))
    if len(extreme):
        j = int(extreme[0])
        problem = Message("the entries of ", column_name(j, names), f" differ by about {frame.scale[j]:.0e}")
        remedy = Message(STANDARDISE, ": weights or squares in its units leave the range of float64")
        raise InputError("X", problem, remedy)


def _variance(moments: Moments) -> Array:
    """The variance of each column over all rows, in the frame's coordinates, (d,)."""
    return np.asarray(np.diag(moments.within + moments.between) / moments.total_weight)


def _clear(moments: Moments) -> Any:
    """Which columns have finite sums and a variance above rounding and within the range of squares, (d,)."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        variance = _variance(moments)
        offset = np.abs(moments.frame.center / moments.frame.scale + moments.center)
        least = np.maximum(SMALLEST_SQUARE, (NEARLY_CONSTANT_SPREAD * offset) ** 2)
    whole = np.all(np.isfinite(moments.scatter)) and np.all(np.isfinite(moments.mean))
    return whole & (variance > least) & (variance < LARGEST_SQUARE)


def _standard(moments: Moments, spread: float, centred: bool) -> Frame:
    """The frame that ``standard_frame`` makes of a summary, computed from the moments."""
    center = moments.frame.center + moments.center * moments.frame.scale
    with np.errstate(invalid="ignore"):  # rounding can make the variance of a constant column negative: its scale is 1
        std = np.sqrt(_variance(moments)) * moments.frame.scale
    if not centred:
        return Frame(np.zeros_like(center), power_of_two(np.hypot(np.hypot(std, center), spread)))
    return Frame(center, power_of_two(np.hypot(std, spread)))


# --- Moments of rows that come in parts and are not kept


@dataclass(frozen=True)
class ClassSums:
    """The moments of rows, in a frame that the first of them has set, and the extremes (d,) of their columns.

    ``largest``: the largest weight of a row of each class, (K,).
    """

    moments: Moments
    low: Array
    high: Array
    largest: Array

    @classmethod
    def of(
        cls, rows: MemoryRows, n_classes: int, pooled: bool, names: list[str] | None, frame: Frame | None = None
    ) -> ClassSums:
        """The sums of some rows whose targets are class numbers. Raises on NaN and infinity."""
        frame = frame or first_frame(rows)
        moments = moments_of(rows.seen_through(frame), n_classes, pooled)
        if not (np.all(np.isfinite(moments.weight)) and np.all(np.isfinite(moments.scatter))):
            refuse_not_finite(rows, names)
        counted, d = np.flatnonzero(rows.weight > 0), rows.n_features
        X: Any = rows.X if len(counted) == rows.n_rows else rows.X[counted]
        low, high = extremes(X) if len(counted) else (np.full(d, np.inf), np.full(d, -np.inf))
        return cls(moments, low, high, ClassTotals.of(np.asarray(rows.t), rows.weight, n_classes).largest)

    @classmethod
    def gathered(cls, moments: Moments, largest: Array) -> ClassSums:
        """The sums of rows whose moments ``gather`` has found. It has made the moments of constant columns exact."""
        means = moments.mean[moments.weight > 0]
        constant = ~np.any(moments.scatter.diagonal(axis1=1, axis2=2), axis=0) & np.all(means == means[0], axis=0)
        value = moments.frame.center + means[0] * moments.frame.scale
        return cls(moments, np.where(constant, value, -np.inf), np.where(constant, value, np.inf), largest)

    @property
    def pooled(self) -> bool:
        """Whether the scatters of all classes are added up."""
        return len(self.moments.scatter) < len(self.moments.weight)

    def plus(self, rows: MemoryRows, names: list[str] | None) -> ClassSums:
        """The sums with those of more rows; these sums are not changed.

        >>> from separatrix.core.rows.memory_rows import memory_rows
        >>> one, other = (memory_rows(np.array([[x], [x + 1]]), np.array([0, 1])) for x in (0.0, 4.0))
        >>> ClassSums.of(one, 2, False, None).plus(other, None).moments.raw_mean.tolist()
        [[2.0], [3.0]]
        """
        return self.merged(ClassSums.of(rows, len(self.largest), self.pooled, names, self.moments.frame))

    def merged(self, other: ClassSums) -> ClassSums:
        """The sums of these rows and of others with the same classes; neither sums are changed."""
        partial = ClassMoments(len(self.largest), self.moments.frame, self.pooled)
        moments = partial.merge(_copied(self.moments), other.moments.seen_through(self.moments.frame))
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        return ClassSums(moments, low, high, np.maximum(self.largest, other.largest))

    def among(self, places: Integers) -> ClassSums:
        """The sums of more classes; ``places``: where each of them is among the classes so far, −1 for a new one."""

        def spread(values: AnyArray) -> AnyArray:
            return np.concatenate([values, np.zeros_like(values[:1])])[places]

        m = self.moments
        scatter = m.scatter if self.pooled else spread(m.scatter)
        moments = replace(m, weight=spread(m.weight), n_rows=spread(m.n_rows), mean=spread(m.mean), scatter=scatter)
        return replace(self, moments=moments, largest=spread(self.largest))

    def as_rows(self) -> SummedRows:
        """The sums in place of the rows, for ``gather``."""
        return SummedRows(self, self.moments.frame)

    @property
    def seen(self) -> AnyArray:
        """Which classes have rows of positive weight, (K,)."""
        return np.asarray(self.moments.weight > 0)


def _copied(moments: Moments) -> Moments:
    return replace(moments, mean=moments.mean.copy(), scatter=moments.scatter.copy())


@dataclass(frozen=True)
class SummedRows:
    """Stands for rows that were not kept, and for their table: ``gather`` finds moments and constant columns in it.

    Only what needs the rows themselves raises an error.
    """

    sums: ClassSums
    frame: Frame
    counter: PassCounter = field(default_factory=PassCounter, repr=False, compare=False)
    weight_unit: float = 1.0
    is_sparse: bool = False
    is_row_major: bool = True

    @property
    def n_rows(self) -> int:
        return int(self.sums.moments.n_rows.sum())

    @property
    def n_features(self) -> int:
        return len(self.sums.low)

    @property
    def totals(self) -> ClassTotals:
        return ClassTotals(self.sums.moments.n_rows, self.sums.moments.weight, self.sums.largest)

    seen_totals = totals

    def rows(self, coding: Coding) -> SummedRows:
        """Itself; the targets of the rows were class numbers."""
        return self

    def seen_through(self, frame: Frame) -> SummedRows:
        return replace(self, frame=frame)

    def fold(self, partial: Partial[Any]) -> Any:
        """The moments, in the frame of the sums, or the values of constant columns."""
        if isinstance(partial, ClassMoments):
            self.counter.add()
            if self.sums.pooled and not partial.pooled:
                problem = "the sums that partial_fit keeps do not tell the covariances of the classes apart"
                raise InputError("shrinkage", problem, "set it before the first call")
            moments, constant = _copied(self.sums.moments), self.sums.low == self.sums.high
            # A constant column is at its value, without rounding errors.
            center = np.where(constant, self.sums.low, moments.frame.center)
            scale = np.where(constant, 1.0, moments.frame.scale)
            moments.mean[:, constant] = 0.0
            moments.scatter[:, constant, :] = moments.scatter[:, :, constant] = 0.0
            moments = replace(moments, frame=Frame(center, scale))
            return replace(moments, scatter=moments.within[None]) if partial.pooled else moments
        if isinstance(partial, ColumnRanges):
            return Ranges(self.sums.low[partial.columns], self.sums.high[partial.columns])
        return self._refuse()

    def blocks(self, order: Order) -> Iterator[Block]:
        """No rows: none are kept."""
        return iter(())

    def sample(self, size: int, seed: int, targets: AnyArray | None = None) -> RowSample:
        self._refuse()

    def resident(self) -> Block | None:
        return None

    def _refuse(self) -> NoReturn:
        raise InputError(
            "X",
            "a column is nearly constant or far from zero, and the sums that partial_fit keeps have lost the digits",
            "subtract a constant from that column, or use fit with all rows",
        )
