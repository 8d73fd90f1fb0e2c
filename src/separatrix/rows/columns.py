"""One pass over the columns: weighted mean, variance, range; from them the standard frame.

Mean and sum of squared deviations are merged by Chan, Golub and LeVeque (1983), so a large offset loses nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from separatrix.arrays import Array
from separatrix.errors import NotFiniteError, WeightError
from separatrix.rows.block import Block, Frame, is_sparse, power_of_two
from separatrix.rows.seam import Rows

# Outside this range a squared deviation may leave float64; then columns are first divided by a power of two.
SMALLEST_SQUARE, LARGEST_SQUARE = 1e-200, 1e200


@dataclass
class ColumnSummary:
    """Of each column, over rows of positive weight: mean, std (population), min and max; all (d,)."""

    weight: float
    n_rows: int
    mean: Array
    m2: Array
    minimum: Array
    maximum: Array
    unit: Array  # the power of two that m2 was computed in

    @property
    def std(self) -> Array:
        return np.sqrt(self.m2 / self.weight) * self.unit

    @property
    def constant(self) -> Any:
        """Which columns have one value only."""
        return self.minimum == self.maximum


@dataclass(frozen=True)
class _Columns:
    """The partial sum behind ``summarise``."""

    unit: Array

    def zero(self) -> ColumnSummary:
        d = len(self.unit)
        return ColumnSummary(0.0, 0, np.zeros(d), np.zeros(d), np.full(d, np.inf), np.full(d, -np.inf), self.unit)

    def add(self, total: ColumnSummary, block: Block) -> ColumnSummary:
        counted = block.weight > 0
        if not counted.all():
            X: Any = block.X
            if not np.all(np.isfinite(X.data if is_sparse(X) else X)):
                return replace(total, weight=np.nan)  # a row without weight must be finite, too
            block = block.take(np.flatnonzero(counted))
        if block.n_rows == 0:
            return total
        weight = float(block.weight.sum())
        with np.errstate(over="ignore", invalid="ignore"):
            part = (_sparse_part if is_sparse(block.X) else _dense_part)(block, self.unit, weight)
            return self.merge(total, part)

    def merge(self, a: ColumnSummary, b: ColumnSummary) -> ColumnSummary:
        if a.weight == 0 or b.weight == 0:
            return b if a.weight == 0 else a
        weight = a.weight + b.weight
        with np.errstate(over="ignore", invalid="ignore"):
            delta = b.mean - a.mean
            mean = a.mean + delta * (b.weight / weight)
            m2 = a.m2 + b.m2 + (delta / self.unit) ** 2 * (a.weight * (b.weight / weight))
        low, high = np.minimum(a.minimum, b.minimum), np.maximum(a.maximum, b.maximum)
        return ColumnSummary(weight, a.n_rows + b.n_rows, mean, m2, low, high, self.unit)


def _dense_part(block: Block, unit: Array, weight: float) -> ColumnSummary:
    X = np.asarray(block.X, dtype=np.float64)
    mean = (block.weight / weight) @ X
    m2 = block.weight @ ((X - mean) / unit) ** 2
    return ColumnSummary(weight, block.n_rows, mean, m2, X.min(axis=0), X.max(axis=0), unit)


def _sparse_part(block: Block, unit: Array, weight: float) -> ColumnSummary:
    X: Any = block.X
    d = X.shape[1]
    s = np.repeat(block.weight, np.diff(X.indptr))
    data = X.data.astype(np.float64)
    mean: Array = np.bincount(X.indices, s / weight * data, d).astype(np.float64)
    filled = np.bincount(X.indices, s, d)
    deviation = ((data - mean[X.indices]) / unit[X.indices]) ** 2
    m2: Array = np.bincount(X.indices, s * deviation, d).astype(np.float64)
    m2 += np.maximum(weight - filled, 0.0) * (mean / unit) ** 2
    low, high = (np.asarray(m.toarray()).ravel().astype(np.float64) for m in (X.min(axis=0), X.max(axis=0)))
    return ColumnSummary(weight, block.n_rows, mean, m2, low, high, unit)


@dataclass(frozen=True)
class _FirstNotFinite:
    """(row, column, value, how many) of the first NaN or infinity."""

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
    row, column, value, count = rows.fold(_FirstNotFinite())
    if count == 0:
        return
    named = f"column {names[column]!r}" if names is not None else f"column {column}"
    what = "NaN" if np.isnan(value) else "infinity (inf)"
    more = f" ({count} entries are not finite in all)" if count > 1 else ""
    raise NotFiniteError(
        "X",
        f"row {row}, {named} is {what}{more}",
        "impute or drop such entries first, for example with sklearn.impute.SimpleImputer",
    )


def summarise(rows: Rows, names: list[str] | None = None) -> ColumnSummary:
    """Summarise every column in one pass (two where squares would leave float64); refuse NaN and infinity."""
    partial = _Columns(np.ones(rows.n_features))
    summary = rows.fold(partial)
    sound = np.isfinite(summary.minimum) & np.isfinite(summary.maximum) & ~np.isnan(summary.mean)
    if not sound.all() or not summary.weight > 0:
        refuse_not_finite(rows, names)
    if not 0 < summary.weight < np.inf:
        raise WeightError(
            "sample_weight",
            f"the weights sum to {summary.weight}: they are zero, or overflow",
            "give at least one row a positive weight",
        )
    spread = summary.m2[~summary.constant] / summary.weight
    if np.all((spread > SMALLEST_SQUARE) & (spread < LARGEST_SQUARE)):
        return summary
    largest = np.maximum(np.abs(summary.minimum), np.abs(summary.maximum))
    return rows.fold(_Columns(power_of_two(largest)))


def standard_frame(summary: ColumnSummary, curvature: Array, centred: bool, hide_constant: bool = True) -> Frame:
    """The frame in which a column's weight has curvature near ¼: of the loss ¼ var, and of the penalty.

    ``curvature``: (d,), the penalty's second derivative in each raw weight. Without an intercept nothing may be
    centred. Scales are powers of two, so the coordinates themselves round nothing.
    """
    spread = 2 * np.sqrt(curvature)
    if not centred:
        rms = np.hypot(summary.std, summary.mean)
        return Frame(np.zeros_like(rms), power_of_two(np.hypot(rms, spread)))
    constant = summary.constant
    center = np.where(constant, summary.minimum, summary.mean)
    scale = power_of_two(np.hypot(np.where(constant, 0.0, summary.std), spread))
    return Frame(center, np.where(constant, np.inf, scale) if hide_constant else scale)
