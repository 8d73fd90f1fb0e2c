"""All causes of a quasi-complete separation: sets of columns, each of which separates some rows without the others.

A single column is a cause if for some threshold one class has no value below it and the other classes have none above
it. One pass over the rows finds all such columns. In a table with categories, these include the levels that occur with
one class only; reference levels are tested in the same way, if the names of the columns are known. The other causes are
searched one at a time: the columns of the causes found so far are removed, and separability is decided again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.proofs.class_differences import Differences
from separatrix.proofs.quasi import used
from separatrix.proofs.rational import integers
from separatrix.proofs.reference_levels import over_levels, with_reference_columns
from separatrix.rows.csr import is_sparse

# Largest number of causes that are searched for in addition to single columns. Each search decides separability again.
MOST_SEARCHED_CAUSES = 8


def further_directions(
    D: Differences, first: AnyArray, direction: Callable[[Integers], AnyArray | None], names: Sequence[str] = ()
) -> tuple[AnyArray, ...]:
    """Integer directions (K, d + 1) with A v ≥ 0 and A v ≠ 0 that share no column with ``first`` or with each other.

    Only the direction of a reference level may share columns with the other levels of its category. ``direction``
    returns weights of a direction that uses only the given columns, or None if there is none. ``names`` are the names
    of the columns, if they are known.

    >>> D = Differences(np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), np.array([0, 1, 1, 1]), 2)
    >>> [v.tolist() for v in further_directions(D, np.array([[0, 0, 0], [0, 1, 0]]), lambda columns: None)]
    [[[0, 0, 0], [0, 0, 1]]]
    """
    taken = used(first)
    found = [v for v in single_columns(D) if not np.isin(used(v), taken).any()]
    found += [v for v in reference_levels(D, names) if not np.array_equal(used(v), taken)]
    for _ in range(MOST_SEARCHED_CAUSES):
        left = np.setdiff1d(np.arange(D.X.shape[1]), np.concatenate([taken, *(used(v) for v in found)]))
        W = direction(left) if len(left) else None
        if W is None:
            break
        found.append(W)
    return tuple(found)


def single_columns(D: Differences) -> list[AnyArray]:
    """One integer direction (K, d + 1) for each column that is a cause by itself.

    >>> D = Differences(np.array([[3.0, 5.0], [3.0, 1.0], [4.0, 2.0]]), np.array([0, 1, 1]), 2)
    >>> [v.tolist() for v in single_columns(D)]
    [[[0, 0, 0], [-3, 1, 0]], [[0, 0, 0], [2, 0, -1]]]
    """
    low, high = extremes(D)
    by_column: dict[int, AnyArray] = {}
    for k in range(D.K) if D.K > 2 else (1,):
        others = np.arange(D.K) != k
        rest_low, rest_high = low[others].min(axis=0), high[others].max(axis=0)
        for sign, inner, outer in ((1, low[k], rest_high), (-1, -high[k], -rest_low)):
            # Multiplied by ``sign``, values of class k are at least ``inner`` and those of the other classes are at
            # most ``outer``.
            apart = (inner >= outer) if D.fit_intercept else (inner >= 0) & (outer <= 0)
            varies = np.maximum(high[k], rest_high) > np.minimum(low[k], rest_low)
            for j in np.flatnonzero(apart & varies).tolist():
                threshold = float(inner[j]) if D.fit_intercept else 0.0
                by_column.setdefault(j, _of_column(D, j, k, sign, threshold))
    return [by_column[j] for j in sorted(by_column)]


def reference_levels(D: Differences, names: Sequence[str]) -> list[AnyArray]:
    """One integer direction (K, d + 1) for each reference level that is a cause by itself.

    >>> D = Differences(np.array([[0.0, 1.0], [0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), np.array([0, 1, 0, 1]), 2)
    >>> [v.tolist() for v in reference_levels(D, ["c=p", "c=q"])]
    [[[0, 0, 0], [1, -1, -1]]]
    """
    reference, columns = with_reference_columns(D, names)
    found = []
    for W in single_columns(reference) if columns else ():
        (j,) = used(W)
        W = over_levels(W[:, [0, j + 1]], columns[j], D.X.shape[1])
        if np.array_equal(W[:, 0], -W[:, columns[j][0] + 1]):  # Only rows of the reference level gain.
            found.append(W)
    return found


def _of_column(D: Differences, j: int, k: int, sign: int, threshold: float) -> AnyArray:
    """sign · x_j − threshold as the score of class k, in integers."""
    W = np.zeros((D.K, D.X.shape[1] + 1), dtype=object)
    W[k, 0], W[k, j + 1] = integers(np.array([[-threshold], [float(sign)]]))[:, 0]
    return W


def extremes(D: Differences) -> tuple[Array, Array]:
    """The smallest and the largest value of each class in each column, both (K, d); infinite for an absent class."""
    low = np.full((D.K, D.X.shape[1]), np.inf)
    high = -low
    for k in np.unique(D.codes).tolist():
        part = D.X[np.flatnonzero(D.codes == k)]
        for ends, extreme in ((low, part.min(axis=0)), (high, part.max(axis=0))):
            ends[k] = np.asarray(extreme.toarray() if is_sparse(extreme) else extreme, dtype=np.float64).ravel()
    return low, high
