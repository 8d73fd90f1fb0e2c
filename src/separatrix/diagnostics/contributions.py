r"""What each column contributed to the score of a row.

    margin m = (score of the true class) − (largest score of the others),    negative for a misclassified row
    contribution of column j = m(x) − m(x with x_j at its mean)
                             = v_j (x_j − mean_j)  for linear scores, with v = w_true − w_other

For linear scores the contributions add up: m(x) = m(row of means) + their sum. For others each is one column's share
alone, with the class that comes second held fixed. The columns of one category go to their means together, since no row
has two levels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.rows.csr import is_sparse
from separatrix.scorers.scorer import Scorer, scores_of

# Largest number of columns for a model that is not linear: each row is scored once for every column.
MOST_COLUMNS_NOT_LINEAR = 400


@dataclass(frozen=True)
class Contributions:
    """What each column contributed to the margins of some rows. ``contributions`` returns one.

    Attributes
    ----------
    values : array (m, d)
        The values of the rows.
    parts : array (m, d)
        The contributions. A positive one favours the true class.
    others : array (m,) of int
        The numbers of the classes that the true ones are compared with.
    """

    values: Array
    parts: Array
    others: Integers

    def largest(self, i: int, top: int) -> Integers:
        """The numbers of the columns that contributed most to row i, largest first, without zero contributions."""
        size = np.abs(self.parts[i])
        order = np.argsort(-size, kind="stable")[:top]
        return np.asarray(order[size[order] > 0])


def contributions(
    model: Any, rows: Any, codes: Integers, mean: Array, together: Sequence[slice] = ()
) -> Contributions | None:
    """What each column contributed to the margins of rows, a dense or CSR matrix, with the true classes ``codes``.

    ``mean`` (d,) holds the means of the columns over the rows of the fit. ``together`` has the columns that came from
    one column of a table; for scores that are not linear, the first of them has the contribution of all. Returns None
    for a model that is not linear and has too many columns.

    >>> from separatrix import LogisticRegression
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]], [0, 0, 1, 1]
    >>> model = LogisticRegression().fit(X, y)
    >>> found = contributions(model, np.array([[0.0, 0.5]]), np.array([1]), np.mean(X, axis=0))
    >>> bool(found.parts[0, 0] < 0), found.parts[0, 1].item(), found.others.tolist()
    (True, 0.0, [0])
    """
    scorer = scores_of(model)
    values = np.asarray(rows.toarray() if is_sparse(rows) else rows, dtype=np.float64)
    others = _second(np.asarray(scorer.scores(rows)), codes)
    if isinstance(scorer, Scorer):
        W = scorer.W[:, 1:]
        v = np.where(codes == 1, 1.0, -1.0)[:, None] * W if len(W) == 1 else W[codes] - W[others]
        return Contributions(values, v * (values - mean), others)
    if values.shape[1] > MOST_COLUMNS_NOT_LINEAR:
        return None
    parts = np.empty_like(values)
    for i, x in enumerate(values):
        moved = np.tile(x, (len(x) + 1, 1))
        np.fill_diagonal(moved, mean)
        for columns in together:
            moved[columns] = x
            moved[columns.start, columns] = mean[columns]
        m = _margin(np.asarray(scorer.scores(moved)), int(codes[i]), int(others[i]))
        parts[i] = m[-1] - m[:-1]
    return Contributions(values, parts, others)


def _second(Z: Array, codes: Integers) -> Integers:
    """For each row, the class with the largest score apart from the true one."""
    if Z.ndim == 1:
        return np.asarray(1 - codes)
    Z = Z.copy()
    np.put_along_axis(Z, codes[:, None], -np.inf, axis=1)
    return np.asarray(np.argmax(Z, axis=1), dtype=np.int64)


def _margin(Z: Array, own: int, other: int) -> Array:
    return np.asarray((Z if own == 1 else -Z) if Z.ndim == 1 else Z[:, own] - Z[:, other])
