r"""Check for rows that dominate the fit, by leverage h_i = x̄_iᵀ (X̄ᵀX̄)⁻¹ x̄_i.

In least squares, h_i is the derivative of row i's fitted value with respect to its own target. It lies between 1/n and
1, with mean rank/n. From ½ on, a row determines its fitted value more than all other rows together (Huber, Robust
Statistics, 1981). The check takes two passes over the rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.labels import quoted
from separatrix.base.number_text import many
from separatrix.base.pieces import pieces, rows_per_piece
from separatrix.checks.checked_rows import MOST_COLUMNS_FOR_GRAM_MATRIX, CheckedRows
from separatrix.checks.finding import MOST_NAMED_IN_SENTENCE, Finding
from separatrix.objectives.partials import Gram
from separatrix.proofs.reference_levels import levels_by_category
from separatrix.rows import Block

# Rows with at least this leverage are reported.
HIGH_LEVERAGE = 0.5
# With fewer rows per parameter than this, a leverage of ½ is nothing unusual, and the check is skipped.
FEWEST_ROWS_PER_PARAMETER = 4
# Directions with a smaller share of the largest variance than this are rounding errors.
ROUNDING_SHARE_OF_VARIANCE = 1e-12
# Sparse rows are made dense in batches of at most this many entries.
DENSE_BATCH_ENTRIES = 1 << 22


def leverage(subject: CheckedRows) -> Iterator[Finding]:
    """Rows with a leverage of ½ or more, and the column in which each is most extreme."""
    p = len(subject.varying) + 1
    if p > MOST_COLUMNS_FOR_GRAM_MATRIX or subject.n_rows < FEWEST_ROWS_PER_PARAMETER * p:
        return
    rows = subject.standard
    values, V = np.linalg.eigh(rows.fold(Gram(rows.n_features + 1)))
    kept = values > ROUNDING_SHARE_OF_VARIANCE * values[-1]
    high = rows.fold(_Leverages(V[:, kept] / np.sqrt(values[kept])))
    h, row, column = high[:, np.argsort(-high[0], kind="stable")]
    facts = {"rows": subject.numbers(row), "leverage": h.tolist()}
    if len(h) == 0:
        sentence = f"No row has a leverage of {HIGH_LEVERAGE} or more; the mean is {kept.sum() / subject.n_rows:.2g}."
        yield Finding("ok", "leverage", "No row dominates.", sentence, "", facts)
        return
    few = slice(MOST_NAMED_IN_SENTENCE)
    places = zip(row[few].astype(np.int64).tolist(), column[few].astype(np.int64).tolist(), strict=True)
    shown = [
        f"row {number} ({leverage:.2f}, {_extreme(subject, i, j)})"
        for number, leverage, (i, j) in zip(subject.numbers(row[few]), h[few], places, strict=True)
    ]
    more = f" and {many(len(h) - MOST_NAMED_IN_SENTENCE, 'more row')}" if len(h) > MOST_NAMED_IN_SENTENCE else ""
    title = "A row dominates." if len(h) == 1 else f"{len(h):,} rows dominate."
    sentence = (
        f"From a leverage of {HIGH_LEVERAGE} on, a row determines its fitted value more than all other rows together: "
        f"{', '.join(shown)}{more}."
    )
    remedy = (
        "Check whether the value is right. A logarithm may make it less extreme, and rare categories can be merged."
    )
    yield Finding("warning", "leverage", title, sentence, remedy, facts)


def _extreme(subject: CheckedRows, i: int, j: int) -> str:
    """In which column row i is extreme, given column j of X; for a category, its level of that row."""
    of = subject.names[j].partition("=")[0]
    columns = levels_by_category(subject.names).get(of, np.zeros(0, dtype=np.int64))
    if j not in columns or of not in subject.references:
        return f"extreme in {quoted(subject.names[j])}"
    own = [k for k in columns.tolist() if subject.column(k, np.array([i]))[0] == 1]
    level = subject.names[own[0]].partition("=")[2] if own else subject.references[of]
    return f"with the rare level {quoted(level)} of {quoted(of)}"


@dataclass(frozen=True)
class _Leverages:
    """The partial that finds rows of high leverage: (leverage, row, column that contributes most) for each, (3, rows).

    ``A`` (d + 1, r) is such that X̄ A has orthonormal columns, so (X̄ᵀX̄)⁻¹ = A Aᵀ = S. A column's contribution is its
    partial leverage (S x̄_i)_j² / S_jj: the leverage that the row loses without the column.
    """

    A: Array

    @property
    def _diagonal(self) -> Array:
        """S_jj, (d + 1,); infinite for a constant column, which contributes nothing."""
        squares = np.einsum("ij,ij->i", self.A, self.A)
        return np.where(squares > 0, squares, np.inf)

    def zero(self) -> Array:
        return np.empty((3, 0))

    def add(self, total: Array, block: Block) -> Array:
        size = rows_per_piece(DENSE_BATCH_ENTRIES, len(self.A))  # A block of CSR rows may have many rows.
        for rows in pieces(block.n_rows, size):
            part = block.take(rows)
            X = part.homogeneous()
            T = X @ self.A
            h = np.einsum("ij,ij->i", T, T)
            high = np.flatnonzero(h >= HIGH_LEVERAGE)
            far = np.argmax((T[high] @ self.A.T)[:, 1:] ** 2 / self._diagonal[1:], axis=1) if len(high) else high
            total = self.merge(total, np.array([h[high], block.start + rows.start + high, far]))
        return total

    def merge(self, a: Array, b: Array) -> Array:
        return np.concatenate([a, b], axis=1)
