"""The objective of a search for a separating hyperplane: the perceptron's cost over rows with targets ±1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.concurrency import in_order
from separatrix.base.errors import InputError
from separatrix.base.messages import ByAudience, Message
from separatrix.base.pieces import pieces, rows_per_piece
from separatrix.losses import LOSSES
from separatrix.objectives.limiting_columns import column_name
from separatrix.objectives.penalty import Penalty
from separatrix.objectives.problem import Objective
from separatrix.rows import Block, Rows, number_of_rows
from separatrix.rows.column_statistics import refuse_not_finite
from separatrix.rows.csr import is_sparse
from separatrix.rows.protocol import BLOCK_BYTES

# If the largest entry of the rows is outside this range, their squared lengths underflow or overflow float64.
SMALLEST_SQUARABLE_SIZE, LARGEST_SQUARABLE_SIZE = 1e-152, 1e152
_RESCALE = Message(
    ByAudience("standardise the columns first", shell="standardise the columns first, with --standardise"),
    ": lengths of rows are squared here",
)


def build_separation_objective(rows: Rows, fit_intercept: bool = True, names: list[str] | None = None) -> Objective:
    """The objective with the perceptron's cost, for rows with targets ±1. Raises an error for NaN and infinity.

    >>> from separatrix.rows import memory_rows
    >>> problem = build_separation_objective(memory_rows(np.array([[0.0], [2.0]]), np.array([-1.0, 1.0])))
    >>> problem.value_gradient(np.array([[1.0, 1.0]])).value  # m = -1 and 3
    0.5
    """
    largest = _largest_entry(rows)
    if not np.isfinite(largest):
        refuse_not_finite(rows, names)
    if largest > 0 and not SMALLEST_SQUARABLE_SIZE < largest < LARGEST_SQUARABLE_SIZE:
        raise InputError("X", _largest_in_words(rows, largest, names), _RESCALE)
    return _posed(rows, fit_intercept, names)


def build_separation_objectives(
    each: Sequence[Rows], fit_intercept: bool = True, names: list[str] | None = None
) -> Iterator[Objective]:
    """One objective for each of several target vectors on the same rows, whose entries are checked only once.

    Row weights multiply the updates; mistakes and cost count every row once.

    >>> from separatrix.rows import memory_rows
    >>> X, targets = np.array([[0.0], [2.0]]), [np.array([-1.0, 1.0]), np.array([1.0, -1.0])]
    >>> one, other = build_separation_objectives([memory_rows(X, t) for t in targets])
    >>> one.passes, other.passes
    (1, 0)
    """
    yield build_separation_objective(each[0], fit_intercept, names)
    for rows in each[1:]:
        yield _posed(rows, fit_intercept, names)


def _posed(rows: Rows, fit_intercept: bool, names: list[str] | None) -> Objective:
    known = {"total_weight": float(number_of_rows(rows)), "null_value": 0.0}  # every row counts once, and E(0) = 0
    return Objective(
        rows, LOSSES["perceptron"], Penalty.none(rows.n_features), 2, fit_intercept, known=known, names=names
    )


@dataclass(frozen=True)
class _LargestEntry:
    """max |x_ij|; NaN if any entry is NaN."""

    def zero(self) -> float:
        return 0.0

    def add(self, total: float, block: Block) -> float:
        X: Any = block.X
        return self.merge(total, _largest(X.data if is_sparse(X) else X))

    def merge(self, a: float, b: float) -> float:
        return float(np.maximum(a, b))


def _largest_in_words(rows: Rows, largest: float, names: list[str] | None) -> Message:
    """The largest entry and its column, by name if it has one; without the column if the rows are not in memory."""
    block = rows.resident()
    if block is None:
        return Message(f"its largest entry is {largest:.3g}")
    X: Any = block.X
    by_column = np.asarray(abs(X).max(axis=0).toarray() if is_sparse(X) else np.abs(X).max(axis=0)).ravel()
    return Message("the largest entry of ", column_name(int(np.argmax(by_column)), names), f" is {largest:.3g}")


def _largest(values: Any) -> float:
    return float(np.maximum(np.max(values, initial=0.0), -np.min(values, initial=0.0)))


def _largest_entry(rows: Rows) -> float:
    """max |x_ij|; NaN if any entry is NaN. Columns need no other check here, so this runs at memory speed."""
    block = rows.resident()
    if block is None:
        return rows.fold(_LargestEntry())
    rows.counter.add()
    X: Any = block.X
    values = X.data if is_sparse(X) else X  # in storage order, so that CSR rows need not be cut into blocks
    size = rows_per_piece(BLOCK_BYTES // 8 * len(values), values.size)
    return float(np.max([0.0, *in_order(lambda part: _largest(values[part]), pieces(len(values), size))]))
