r"""Rows that dominate: leverage h_i = x̄_iᵀ (X̄ᵀX̄)⁻¹ x̄_i, what a row's own target moves its own fitted value by.

It lies between 1/n and 1 and is rank/n on average; from ½ on a row decides its fitted value more than all other rows
together (Huber, Robust Statistics, 1981). Two passes over the rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.labels import quoted
from separatrix.base.pieces import pieces, rows_per_piece
from separatrix.checks.checked_rows import MOST_COLUMNS, CheckedRows
from separatrix.checks.finding import NAMED, Finding, many
from separatrix.objectives.partials import Gram
from separatrix.rows import Block

# Leverage that is told; rows a parameter below which half of it is nothing unusual.
DOMINATES, ROWS_EACH = 0.5, 4
# Directions with less than this share of the variance are rounding.
ROUNDING = 1e-12
# Entries written out at once.
WRITTEN_OUT = 1 << 22


def leverage(subject: CheckedRows) -> Iterator[Finding]:
    """Rows of a leverage of ½ or more, with the column that they are far out in."""
    p = len(subject.varying) + 1
    if p > MOST_COLUMNS or subject.n_rows < ROWS_EACH * p:
        return
    rows = subject.standard
    values, V = np.linalg.eigh(rows.fold(Gram(rows.n_features + 1)))
    kept = values > ROUNDING * values[-1]
    found = rows.fold(_Leverages(V[:, kept] / np.sqrt(values[kept])))
    h, row, column = found[:, np.argsort(-found[0], kind="stable")]
    facts = {"rows": subject.numbers(row), "leverage": h.tolist()}
    if len(h) == 0:
        sentence = f"No row has a leverage of {DOMINATES} or more; the mean is {kept.sum() / subject.n_rows:.2g}."
        yield Finding("ok", "leverage", "No row dominates.", sentence, "", facts)
        return
    shown = [
        f"row {number} ({leverage:.2f}, far out in {quoted(subject.names[j])})"
        for number, leverage, j in zip(subject.numbers(row[:NAMED]), h, column.astype(np.int64), strict=False)
    ]
    more = f" and {many(len(h) - NAMED, 'more row')}" if len(h) > NAMED else ""
    title = "A row dominates." if len(h) == 1 else f"{len(h):,} rows dominate."
    sentence = f"By leverage, of which {DOMINATES} is more than all other rows together: {', '.join(shown)}{more}."
    do = "Look whether the entry is right; a logarithm may bring it in, and rare categories can be joined."
    yield Finding("warning", "leverage", title, sentence, do, facts)


@dataclass(frozen=True)
class _Leverages:
    """The partial that finds rows of high leverage: (leverage, row, column that is furthest out) each, (3, rows).

    ``A`` (d + 1, r): X̄ A has orthonormal columns.
    """

    A: Array

    def zero(self) -> Array:
        return np.empty((3, 0))

    def add(self, total: Array, block: Block) -> Array:
        size = rows_per_piece(WRITTEN_OUT, len(self.A))  # of CSR rows a block may be long
        for rows in pieces(block.n_rows, size):
            part = block.take(rows)
            X = part.homogeneous()
            T = X @ self.A
            h = np.einsum("ij,ij->i", T, T)
            high = np.flatnonzero(h >= DOMINATES)
            far = np.argmax(np.abs(X[high, 1:]), axis=1) if len(high) else high
            total = self.merge(total, np.array([h[high], block.start + rows.start + high, far]))
        return total

    def merge(self, a: Array, b: Array) -> Array:
        return np.concatenate([a, b], axis=1)
