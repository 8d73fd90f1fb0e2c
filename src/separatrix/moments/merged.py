"""Moments of rows that were gathered apart, put together, and rows of which only the moments are known."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import NoReturn, TypeVar

import numpy as np

from separatrix.base.arrays import AnyArray
from separatrix.base.errors import ParameterError
from separatrix.moments.gather import ClassMoments, Moments
from separatrix.rows import Block, Frame, Order, Partial, PassCounter, Sample
from separatrix.rows.coding import ClassTotals, Coding

A = TypeVar("A")


def merged_moments(a: Moments, b: Moments) -> Moments:
    """The moments of the rows of both, in the coordinates of the first.

    >>> from separatrix.moments.gather import gather
    >>> from separatrix.rows import memory_rows
    >>> X, codes = np.array([[0.0], [2.0], [5.0], [6.0], [4.0]]), np.array([0, 0, 1, 1, 0])
    >>> parts = [gather(memory_rows(X[some], codes[some]), 2) for some in (slice(0, 3), slice(3, 5))]
    >>> merged_moments(*parts).raw_mean.tolist()
    [[2.0], [5.5]]
    """
    partial = ClassMoments(len(a.weight), a.frame, pooled=len(a.scatter) < len(a.weight))
    return partial.merge(deepcopy(a), b.seen_through(a.frame))


@dataclass(frozen=True)
class MergedTable:
    """Rows of which only the moments are known, as a ``LabelledTable``; ``n_rows`` counts rows without weight, too."""

    moments: Moments
    n_rows: int

    @property
    def n_features(self) -> int:
        return int(self.moments.mean.shape[1])

    @property
    def totals(self) -> ClassTotals:
        """The totals of the classes; the largest weights are not known."""
        return ClassTotals(self.moments.n_rows, self.moments.weight, np.full(len(self.moments.weight), np.nan))

    def rows(self, coding: Coding) -> MergedRows:
        return MergedRows(self.moments, self.moments.frame)


@dataclass(frozen=True)
class MergedRows:
    """Rows that cannot be read. A fit that needs more than their moments raises an error."""

    moments: Moments
    frame: Frame
    counter: PassCounter = field(default_factory=PassCounter, repr=False, compare=False)
    is_sparse: bool = False
    is_row_major: bool = True
    weight_unit: float = 1.0

    @property
    def n_rows(self) -> int:
        return int(self.moments.n_rows.sum())

    @property
    def n_features(self) -> int:
        return int(self.moments.mean.shape[1])

    def seen_through(self, frame: Frame) -> MergedRows:
        return replace(self, frame=frame)

    def fold(self, partial: Partial[A]) -> A:
        self._refuse()

    def blocks(self, order: Order) -> Iterator[Block]:
        self._refuse()

    def sample(self, size: int, seed: int, targets: AnyArray | None = None) -> Sample:
        self._refuse()

    def resident(self) -> None:
        """None: the rows are not known."""
        return

    def _refuse(self) -> NoReturn:
        problem = "their sums have lost digits that the fit needs, since columns are collinear or far from zero"
        raise ParameterError("models", problem, "fit the model to all rows")
