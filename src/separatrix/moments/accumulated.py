"""Moments that are accumulated from rows that come in parts and are not kept (``partial_fit``).

``ClassSums`` has the moments of all rows so far. As ``SummedTable`` it takes the place of the rows in a fit by moments:
``gather`` finds the moments in it as it finds them in rows. Only what needs the rows themselves raises an error.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.base.errors import InputError
from separatrix.moments.first_look import ColumnValues, SeenValues, extremes, first_frame
from separatrix.moments.gather import ClassMoments, Moments
from separatrix.rows import Block, Frame, MemoryRows, Order, Partial, PassCounter, Sample
from separatrix.rows.coding import ClassTotals, Coding
from separatrix.rows.column_statistics import refuse_not_finite


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
    def of(cls, rows: MemoryRows, n_classes: int, pooled: bool, names: list[str] | None) -> ClassSums:
        """The sums of some rows whose targets are class numbers. Raises on NaN and infinity."""
        return _summed(rows, ClassMoments(n_classes, first_frame(rows), pooled), names)

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

        >>> from separatrix.rows import memory_rows
        >>> one, other = (memory_rows(np.array([[x], [x + 1]]), np.array([0, 1])) for x in (0.0, 4.0))
        >>> ClassSums.of(one, 2, False, None).plus(other, None).moments.raw_mean.tolist()
        [[2.0], [3.0]]
        """
        partial = ClassMoments(len(self.largest), self.moments.frame, self.pooled)
        return self.merged(_summed(rows, partial, names))

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


def _summed(rows: MemoryRows, partial: ClassMoments, names: list[str] | None) -> ClassSums:
    moments = rows.seen_through(partial.frame).fold(partial)
    if not (np.all(np.isfinite(moments.weight)) and np.all(np.isfinite(moments.scatter))):
        refuse_not_finite(rows, names)
    counted = np.flatnonzero(rows.weight > 0)
    X: Any = rows.X if len(counted) == rows.n_rows else rows.X[counted]
    d = rows.n_features
    low, high = extremes(X) if len(counted) else (np.full(d, np.inf), np.full(d, -np.inf))
    totals = ClassTotals.of(np.asarray(rows.t), rows.weight, partial.n_classes)
    return ClassSums(moments, low, high, totals.largest)


def _copied(moments: Moments) -> Moments:
    return replace(moments, mean=moments.mean.copy(), scatter=moments.scatter.copy())


@dataclass(frozen=True)
class SummedRows:
    """Stands for rows that were not kept: it has their moments, and whether columns are constant."""

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

    def seen_through(self, frame: Frame) -> SummedRows:
        return replace(self, frame=frame)

    def fold(self, partial: Partial[Any]) -> Any:
        """The moments, in the frame of the sums, or the values of constant columns."""
        if isinstance(partial, ClassMoments):
            self.counter.add()
            if self.sums.pooled and not partial.pooled:
                problem = "the sums that partial_fit keeps do not tell the covariances of the classes apart"
                raise InputError("shrinkage", problem, "set it before the first call")
            moments = self._with_constant_columns()
            return replace(moments, scatter=moments.within[None]) if partial.pooled else moments
        if isinstance(partial, ColumnValues):
            low, high = self.sums.low[partial.columns], self.sums.high[partial.columns]
            return SeenValues(low, bool(np.any(low != high)))
        return self._refuse()

    def _with_constant_columns(self) -> Moments:
        """The moments, with columns that are constant at their value, without rounding errors."""
        moments, constant = _copied(self.sums.moments), self.sums.low == self.sums.high
        frame = moments.frame
        center, scale = np.where(constant, self.sums.low, frame.center), np.where(constant, 1.0, frame.scale)
        moments.mean[:, constant] = 0.0
        moments.scatter[:, constant, :] = moments.scatter[:, :, constant] = 0.0
        return replace(moments, frame=Frame(center, scale))

    def blocks(self, order: Order) -> Iterator[Block]:
        """No rows: none are kept."""
        return iter(())

    def sample(self, size: int, seed: int, targets: AnyArray | None = None) -> Sample:
        self._refuse()

    def resident(self) -> Block | None:
        return None

    def _refuse(self) -> NoReturn:
        raise InputError(
            "X",
            "a column is nearly constant or far from zero, and the sums that partial_fit keeps have lost the digits",
            "subtract a constant from that column, or use fit with all rows",
        )


@dataclass(frozen=True)
class SummedTable:
    """A labelled table whose rows were not kept."""

    sums: ClassSums

    @property
    def n_rows(self) -> int:
        return int(self.sums.moments.n_rows.sum())

    @property
    def n_features(self) -> int:
        return len(self.sums.low)

    @property
    def totals(self) -> ClassTotals:
        return ClassTotals(self.sums.moments.n_rows, self.sums.moments.weight, self.sums.largest)

    @property
    def seen_totals(self) -> ClassTotals:
        return self.totals

    def rows(self, coding: Coding) -> SummedRows:
        """The moments in place of the rows. Their targets are class numbers."""
        return self.sums.as_rows()
