"""The boundary of any classifier of two columns, traced as a curve (docs/tour.md, B4).

contourpy follows the boundary on a grid, and each vertex is moved along its edge of the grid onto the boundary
(``geometry/curved_regions.py``), up to 1e-6 of the width of the box. A part of the boundary that is smaller than a
square of the grid, such as a small loop, may be missed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.errors import ParameterError
from separatrix.geometry.curved_regions import Tracing
from separatrix.geometry.plane_scores import plane_scores
from separatrix.geometry.polygons import corners


def boundary_curve(model: Any, box: Any, n: int = 100, i: Any = None, j: Any = None) -> list[Array]:
    """Trace the curve on which two classes have the same score.

    Parameters
    ----------
    model : estimator or function
        A fitted classifier or pipeline of two columns with ``decision_function``, or a function from rows (m, 2) to
        scores (m,), whose zeros are traced.
    box : (x₁ low, x₁ high, x₂ low, x₂ high)
        The part of the plane to search.
    n : int, default 100
        The number of squares along each side of the grid.
    i, j : labels
        The two classes. With two classes they may be left out.

    Returns
    -------
    list of arrays (m, 2)
        Polylines; a closed one ends where it starts.

    Examples
    --------
    >>> import numpy as np
    >>> from separatrix import boundary_curve
    >>> circle = boundary_curve(lambda X: 1.0 - X[:, 0] ** 2 - X[:, 1] ** 2, (-2, 2, -2, 2), 50)
    >>> len(circle), float(abs(np.hypot(*circle[0].T) - 1.0).max()) < 1e-6
    (1, True)
    """
    corners(box)
    if n < 1:
        raise ParameterError("n", f"got {n}", "give at least one square per side")
    return Tracing(_score_of(model, i, j), box, n, smooth=False).curves()


def _score_of(model: Any, i: Any, j: Any) -> Callable[[Array], Array]:
    """The scores of the two classes, (m, 2), or (z, 0) for a function z."""
    if not hasattr(model, "decision_function"):
        return lambda X: np.column_stack([np.asarray(model(X), dtype=np.float64), np.zeros(len(X))])
    scores = plane_scores(model)
    labels, field = scores.labels, scores.field
    if i is None and j is None and len(labels) == 2:
        return field
    if i not in labels or j not in labels or i == j:
        raise ParameterError(
            "i, j",
            f"got {np.asarray(i).tolist()!r} and {np.asarray(j).tolist()!r}",
            f"name two of the classes {labels}",
        )
    both = _two_of(labels.index(i), labels.index(j))
    return lambda X: field(X)[:, both]


def _two_of(first: int, second: int) -> slice:
    """The slice of two elements in this order: unlike a list of their places, it copies nothing.

    >>> "abcd"[_two_of(1, 3)], "abcd"[_two_of(3, 1)], "abcd"[_two_of(2, 0)]
    ('bd', 'db', 'ca')
    """
    step = second - first
    end = second + step
    return slice(first, end if end >= 0 else None, step)
