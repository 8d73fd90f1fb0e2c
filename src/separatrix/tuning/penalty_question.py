"""The data and settings of the search for the strength C of the penalty."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.base.cached import cached_property
from separatrix.objectives.penalty import Penalty
from separatrix.rows import Block, Rows, memory_rows
from separatrix.rows.csr import is_sparse
from separatrix.rows.in_memory import InMemory
from separatrix.tuning.merged_columns import merged_columns
from separatrix.tuning.warm_path import WarmPath

CHOICE_OF_C = InMemory("choose_penalty", "it leaves out single rows, or selects the rows of folds by index")


@dataclass(frozen=True)
class Question:
    """The data and settings of the search: ``labelled_rows``, the penalty at C = 1, and settings of the fit.

    ``n_offsets``: this many of the last columns of the rows are an offset. The rows must be in memory.

    >>> from separatrix.rows import labelled_rows
    >>> rows = labelled_rows(np.arange(4.0)[:, None], np.array([0, 0, 0, 1]), 2)
    >>> Question(rows, 2, Penalty(1.0, np.ones(1))).scored.tolist()
    [True, True, True, False]
    """

    rows: Rows
    n_classes: int
    penalty: Penalty
    fit_intercept: bool = True
    names: list[str] | None = None
    loss: str = "logistic"
    n_offsets: int = 0
    seed: int = 0
    max_iter: int = 1000
    tol: float = 1e-8

    @cached_property
    def block(self) -> Block:
        """All rows."""
        return CHOICE_OF_C.block(self.rows)

    @property
    def n_features(self) -> int:
        """The number of columns other than an offset."""
        return self.rows.n_features - self.n_offsets

    @cached_property
    def codes(self) -> Integers:
        """The class number of each row."""
        t = self.block.t
        return (t > 0).astype(np.int64) if self.n_classes == 2 else t

    @property
    def weight(self) -> Array:
        """The weight of each row, in units of ``rows.weight_unit``."""
        return self.block.weight

    def walk(self, numbers: Integers | None = None) -> WarmPath:
        """The regularisation path over all rows, or over the rows with the given numbers."""
        rows = self.rows
        if numbers is not None:
            some = self.block.take(numbers)
            rows = memory_rows(some.X, some.t, some.weight, weight_unit=rows.weight_unit)
        rest = (self.penalty, self.fit_intercept, self.names, self.loss, self.n_offsets)
        return WarmPath.over(rows, self.n_classes, *rest)

    def with_merged_columns(self) -> Question:
        """The question with merged columns, if rows are sparse and the penalty is a sum of squares of all weights."""
        X: Any = self.block.X
        penalty = self.penalty
        if not is_sparse(X) or penalty.l1_ratio > 0 or not np.all(penalty.factors > 0):
            return self
        merged, factors = merged_columns(X[:, : self.n_features] if self.n_offsets else X, penalty.factors)
        if merged.shape[1] == 0:
            return self
        if self.n_offsets:
            from scipy.sparse import hstack

            merged = hstack([merged, X[:, self.n_features :]], format="csr")
        rows = memory_rows(merged, self.block.t, self.weight, weight_unit=self.rows.weight_unit)
        return replace(self, rows=rows, penalty=replace(penalty, factors=factors), names=None)

    @property
    def scored(self) -> Any:
        """Which rows can be left out, (n,): those of positive weight that are not the only row of their class."""
        seen = self.weight > 0
        return seen & (np.bincount(self.codes[seen], minlength=self.n_classes)[self.codes] > 1)
