"""Reference levels that cause a quasi-complete separation.

The reference level of a category has no column of its own, but 1 minus the sum of the columns of the other levels is
one: it is 1 in the rows of the reference level and 0 in all others. With an intercept, a threshold for it is a
direction like any other, although it uses all columns of the category.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.proofs.class_differences import Differences
from separatrix.rows.csr import is_sparse


def levels_by_category(names: Sequence[str]) -> dict[str, Integers]:
    """The columns of each category. A name such as ``student=Yes`` denotes a level.

    >>> levels_by_category(["age", "class=2", "class=3"])
    {'class': array([1, 2])}
    """
    found: dict[str, list[int]] = {}
    for j, name in enumerate(names):
        of, equals, level = name.partition("=")
        if of and equals and level:
            found.setdefault(of, []).append(j)
    return {of: np.array(columns) for of, columns in found.items()}


def with_reference_columns(D: Differences, names: Sequence[str]) -> tuple[Differences, list[Integers]]:
    """Rows of one 0/1 column for each reference level, and the columns of the other levels of its category.

    >>> D = Differences(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), np.array([0, 1, 1]), 2)
    >>> reference, columns = with_reference_columns(D, ["class=2", "class=3"])
    >>> reference.X.ravel().tolist(), [list(map(int, one)) for one in columns]
    ([1.0, 0.0, 0.0], [[0, 1]])
    """
    found: list[Array] = []
    columns: list[Integers] = []
    for levels in levels_by_category(names).values() if D.fit_intercept else ():
        rest = _rest(D.X[:, levels])
        if rest is not None:
            found.append(rest)
            columns.append(levels)
    X = np.column_stack(found) if found else np.zeros((len(D.codes), 0))
    return replace(D, X=X), columns


def _rest(levels: Any) -> Array | None:
    """1 minus the sum of these columns, if each row has a 1 in at most one of them and is 0 elsewhere; else None."""
    entries = levels.data if is_sparse(levels) else levels
    if not np.all((entries == 0) | (entries == 1)):
        return None
    rest = 1.0 - np.asarray(levels.sum(axis=1), dtype=np.float64).ravel()
    return rest if rest.min(initial=0.0) >= 0 else None


def over_levels(W: AnyArray, levels: Integers, n_columns: int) -> AnyArray:
    """Weights (K, 2) of an intercept and the column of a reference level, as weights (K, n_columns + 1).

    >>> over_levels(np.array([[-1, 1]], dtype=object), np.array([1, 2]), 3).tolist()
    [[0, 0, -1, -1]]
    """
    whole = np.zeros((len(W), n_columns + 1), dtype=object)
    whole[:, 0] = W[:, 0] + W[:, 1]
    whole[:, levels + 1] = -W[:, 1:]
    return whole
