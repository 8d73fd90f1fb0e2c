"""The test of separability: entry points for tables and for rows, in memory or outside.

``deciding`` has the algorithm for rows in memory, and ``streamed_separability`` that for rows outside memory. The rule
that detects separation during a fit is ``solvers.separation_rule``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray
from separatrix.base.errors import ParameterError
from separatrix.base.labels import encode
from separatrix.cluster.in_place import read_in_place
from separatrix.proofs.asked_rows import as_rows
from separatrix.proofs.class_differences import Differences
from separatrix.proofs.deciding import decide
from separatrix.proofs.naming import About, column_names
from separatrix.proofs.row_claims import View
from separatrix.proofs.streamed_separability import decide_streamed
from separatrix.proofs.verdicts import Verdict
from separatrix.rows import Rows
from separatrix.rows.coding import Coding
from separatrix.rows.labelled import OutsideMemory
from separatrix.rows.one_against_rest import class_targets


def separability(X: Any, y: Any = None, fit_intercept: bool = True, *, names: Sequence[str] | None = None) -> Verdict:
    """Decide whether linear scores put every row on the side of its class, and prove the answer.

    For K > 2 classes the scores are those of the softmax model: every row's own class must have the largest score.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d), or a ``scan``
        The rows. They must be finite. The rows of a scan are read a few times, at most 20, and its rows without weight
        do not count.
    y : array-like of shape (n,)
        The class labels, of at least two classes. A scan has its own.
    fit_intercept : bool, default=True
        If False, hyperplanes pass through the origin.
    names : sequence of str, optional
        Column names used by ``explain()``. By default those of a data frame.

    Returns
    -------
    Separable, QuasiSeparable, Inseparable or Doubtful
        The verdict. Only ``Separable`` is true as a bool. Each verdict has ``verify(X, y)`` and ``explain()``. A scan
        that 20 passes do not decide is ``Doubtful``.

    Raises
    ------
    ParameterError
        If y has fewer than two classes, or X has the wrong shape or no columns.

    Examples
    --------
    >>> verdict = separability([[0.0], [1.0], [3.0]], ["no", "no", "yes"])
    >>> bool(verdict), verdict.margin, verdict.verify([[0.0], [1.0], [3.0]], ["no", "no", "yes"])
    (True, 1.0, True)
    >>> xor = [[-1, -1], [1, 1], [-1, 1], [1, -1]]
    >>> verdict = separability(xor, [0, 0, 1, 1])
    >>> type(verdict).__name__, verdict.rows.tolist(), verdict.multipliers
    ('Inseparable', [0, 1, 2, 3], (1, 1, 1, 1))
    """
    X, y, _ = read_in_place(X, y)
    if isinstance(X, OutsideMemory):
        return _outside_memory(X, y, fit_intercept, names)
    classes, codes = encode(y)
    if len(classes) < 2:
        raise ParameterError("y", f"it has {len(classes)} class", "give at least two")
    rows = as_rows(X)
    if rows.ndim != 2 or rows.shape[0] != len(codes):
        raise ParameterError("X", f"its shape is {rows.shape} for {len(codes)} labels", "give one row for each label")
    if rows.shape[1] + bool(fit_intercept) == 0:
        raise ParameterError("X", "it has no columns", "give at least one, or an intercept")
    about = About(bool(fit_intercept), classes, column_names(X, names))
    return decide(Differences(rows, codes, len(classes), about.fit_intercept), about)


def _outside_memory(table: OutsideMemory, y: Any, fit_intercept: bool, names: Sequence[str] | None) -> Verdict:
    if y is not None:
        raise ParameterError("y", f"got one together with {table.name}", "name its column: scan(..., target=...)")
    K = len(table.classes)
    if K < 2:
        raise ParameterError("y", f"it has {K} class", "give at least two")
    if names is not None and len(names) != table.n_features:
        raise ParameterError("names", f"got {len(names)} for {table.n_features} columns", "give one name per column")
    about = About(bool(fit_intercept), table.classes, tuple(map(str, table.columns if names is None else names)))
    rows = table.rows(Coding(signs=K == 2))
    return decide_streamed(rows, View(K, about.fit_intercept), about, class_values(K)).verdict


def class_values(n_classes: int) -> AnyArray:
    """The value of t in each class, as ``class_targets`` has it.

    >>> class_values(2).tolist(), class_values(3).tolist()
    ([-1.0, 1.0], [0, 1, 2])
    """
    return class_targets(np.arange(n_classes), n_classes)


def verdict_on(rows: Rows, fit_intercept: bool = True) -> Verdict:
    """The verdict on rows with targets ±1, in the units of their columns, in memory or elsewhere.

    >>> from separatrix.rows import memory_rows
    >>> bool(verdict_on(memory_rows(np.array([[1.0], [2.0]]), np.array([-1.0, 1.0]))))
    True
    """
    about = About(fit_intercept)
    block = rows.resident()
    if block is None:
        return decide_streamed(rows, View(2, fit_intercept), about, class_values(2)).verdict
    return decide(Differences.of_block(block, 2, fit_intercept), about)
