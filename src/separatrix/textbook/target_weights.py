r"""Least squares predicts weighted sums of the targets (docs/tour.md, S7).

    y(x) = Wᵀx̄ = Tᵀ a(x),    a(x) = X̄ (X̄ᵀX̄)⁻¹ x̄

The weights a(x) depend on the rows alone, not on the targets. Where X̄ᵀX̄ is singular, its pseudoinverse is used.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.base.arrays import Array, as_floats
from separatrix.base.errors import ParameterError
from separatrix.geometry import homogeneous
from separatrix.rows import memory_rows
from separatrix.rows.column_statistics import refuse_not_finite
from separatrix.rows.in_memory import InMemory

TARGET_WEIGHTS = InMemory("target_weights", "it is for examples that fit into memory")


@TARGET_WEIGHTS.refusing_tables
def target_weights(X: Any, at: Any) -> Array:
    """The weights of all training targets in the prediction of least squares at given rows.

    Parameters
    ----------
    X : array (n, d)
        The rows of the fit.
    at : array (m, d)
        The rows to predict.

    Returns
    -------
    array (m, n)
        ``target_weights(X, at) @ T`` are the predictions for targets T (n, K). Each row sums to 1.

    Examples
    --------
    >>> import separatrix as sx
    >>> sx.target_weights([[0.0], [1.0], [2.0]], [[1.0], [2.0]]).round(4).tolist()
    [[0.3333, 0.3333, 0.3333], [-0.1667, 0.3333, 0.8333]]
    """
    rows, places = as_floats(X), as_floats(at)
    if rows.ndim != 2 or places.ndim != 2 or rows.shape[1] != places.shape[1]:
        problem = f"the shapes of X and at are {rows.shape} and {places.shape}"
        raise ParameterError("at", problem, "give tables with the same number of columns")
    refuse_not_finite(memory_rows(rows, np.zeros(len(rows))))
    return np.asarray(homogeneous(places) @ np.linalg.pinv(homogeneous(rows)))
