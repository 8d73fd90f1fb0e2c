"""Error surfaces over two weights, and the path of a solver across them (docs/tour.md, L3, R4, R5).

The 0–1 error is piecewise constant, the perceptron error is piecewise linear and convex, and the squared error of σ may
have several local minima.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.errors import ParameterError
from separatrix.base.labels import encode, signed
from separatrix.losses import LOSSES
from separatrix.objectives.penalty import Penalty
from separatrix.objectives.problem import Objective
from separatrix.rows import memory_rows
from separatrix.rows.column_statistics import refuse_not_finite
from separatrix.rows.in_memory import InMemory
from separatrix.solvers import Solver, choose, named, refuse_unmet, states


@dataclass(frozen=True)
class Surface:
    """The mean loss over a grid of two weights. ``error_surface`` returns one.

    Attributes
    ----------
    first, second : arrays (points,)
        The values of the two weights.
    value : array (points, points)
        ``value[i, j]`` is E where the first weight is ``first[j]`` and the second is ``second[i]``.
    at : array (d + 1,)
        The values of the other weights.
    columns : tuple of two int
        Which entries of (b, w₁, …, w_d) the two weights are.
    """

    first: Array
    second: Array
    value: Array
    at: Array
    columns: tuple[int, int]

    @property
    def lowest(self) -> tuple[float, float, float]:
        """The lowest point of the grid: both weights, and E there."""
        i, j = np.unravel_index(int(np.argmin(self.value)), self.value.shape)
        return float(self.first[j]), float(self.second[i]), float(self.value[i, j])


@dataclass(frozen=True)
class Path:
    """The path of a solver. ``walk`` returns one.

    Attributes
    ----------
    W : array (steps + 1, d + 1)
        The weights at the start and after each step, the intercept first.
    value : array (steps + 1,)
        The mean loss there.
    """

    W: Array
    value: Array


ERROR_SURFACE = InMemory("error_surface", "it is for examples that fit into memory")


@ERROR_SURFACE.refusing_tables
def error_surface(
    X: Any,
    y: Any,
    loss: str = "logistic",
    box: tuple[float, float, float, float] = (-3.0, 3.0, -3.0, 3.0),
    columns: tuple[int, int] = (1, 2),
    at: Any = None,
    points: int = 101,
) -> Surface:
    """Compute the mean loss over a grid of two of the weights (b, w₁, …, w_d).

    Parameters
    ----------
    X : array (n, d)
        The rows.
    y : array (n,)
        Labels of two classes.
    loss : str, default "logistic"
        A name in ``sx.losses.LOSSES`` other than "softmax".
    box : tuple, default (−3, 3, −3, 3)
        The smallest and the largest value of the first weight, then of the second.
    columns : tuple of two int, default (1, 2)
        Which entries of (b, w₁, …, w_d) to vary.
    at : array (d + 1,) or None
        The values of the other weights, zero by default.
    points : int, default 101
        The number of grid points along each weight.

    Returns
    -------
    Surface

    Examples
    --------
    >>> from separatrix import error_surface
    >>> X, y = [[1.0, 2.0], [-1.0, 1.0], [0.5, -1.0]], [1, 1, 0]
    >>> flat = error_surface(X, y, "zero-one", points=41)
    >>> len(np.unique(flat.value)) <= 4
    True
    """
    objective = _raw_objective(X, y, loss)
    width = objective.shape[1]
    _check_grid(box, columns, points, width)
    base = np.zeros(width) if at is None else np.asarray(at, dtype=np.float64)
    if base.shape != (width,):
        raise ParameterError("at", f"its shape is {base.shape}", f"give {width} weights, the intercept first")
    first, second = np.linspace(box[0], box[1], points), np.linspace(box[2], box[3], points)
    value = np.empty((points, points))
    block = objective.rows.resident()
    assert block is not None
    for i, height in enumerate(second):
        W = np.tile(base, (points, 1))
        W[:, columns[0]], W[:, columns[1]] = first, height
        z = block.scores(W)
        value[i] = block.weight @ objective.loss.value(block.t[:, None], z) / block.weight.sum()
    return Surface(first, second, value, base, columns)


def _check_grid(box: tuple[float, float, float, float], columns: tuple[int, int], points: int, n_weights: int) -> None:
    if any(not 0 <= c < n_weights for c in columns) or columns[0] == columns[1]:
        remedy = f"give two different columns from 0 (b) to {n_weights - 1}"
        raise ParameterError("columns", f"got {columns!r}", remedy)
    if points < 2 or not (box[0] < box[1] and box[2] < box[3]):
        raise ParameterError("box", f"got {box!r} with {points} points", "give (low, high, low, high), points >= 2")


def walk(X: Any, y: Any, solver: str | Solver, loss: str = "logistic", start: Any = None, steps: int = 50) -> Path:
    """Record the path of a solver over the error surface of these rows.

    Parameters
    ----------
    X : array (n, d)
        The rows.
    y : array (n,)
        Labels of two classes.
    solver : str or solver object
        As for ``LogisticRegression``.
    loss : str, default "logistic"
        A name in ``sx.losses.LOSSES`` other than "softmax".
    start : array (d + 1,) or None
        The starting weights, the intercept first; zero by default.
    steps : int, default 50
        The largest number of steps.

    Returns
    -------
    Path

    Examples
    --------
    >>> from separatrix.textbook.surface import walk
    >>> from separatrix.solvers import GradientDescent
    >>> path = walk([[-1.0], [1.0], [0.5]], [0, 1, 0], GradientDescent(eta=0.5), steps=10)
    >>> path.W.shape, bool(np.all(np.diff(path.value) <= 0))
    ((11, 2), True)
    """
    objective = _raw_objective(X, y, loss)
    begin = np.zeros(objective.shape) if start is None else np.atleast_2d(np.asarray(start, dtype=np.float64))
    if begin.shape != objective.shape:
        raise ParameterError("start", f"its shape is {begin.shape}", f"give weights of shape {objective.shape}")
    method = named(solver) or choose(objective)[0]
    refuse_unmet(method, objective)
    visited = list(islice(states(method, objective, begin), steps + 1))
    return Path(np.array([state.W[0] for state in visited]), np.array([state.at.value for state in visited]))


def _raw_objective(X: Any, y: Any, loss: str) -> Objective:
    names = [name for name, known in LOSSES.items() if not known.traits.multiclass]
    if loss not in names:
        raise ParameterError("loss", f"got {loss!r}", f"choose one of {', '.join(names)}")
    classes, codes = encode(y)
    if len(classes) != 2:
        raise ParameterError("y", f"it has {len(classes)} classes", "give two: a surface has a single score")
    rows = memory_rows(np.asarray(X, dtype=np.float64), signed(codes))
    refuse_not_finite(rows)
    return Objective(rows, LOSSES[loss], Penalty.none(rows.n_features))
