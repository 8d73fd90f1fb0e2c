"""Error surfaces over two weights, and the path of a solver across them (docs/tour.md, L3, R4, R5).

The 0–1 error is piecewise constant, the perceptron error is piecewise linear and convex, and the squared error of σ may
have several local minima.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray, Array, as_floats
from separatrix.base.errors import ParameterError
from separatrix.base.setting_checks import check_count, check_flag, check_not_negative
from separatrix.objectives.problem import Objective
from separatrix.rows import memory_rows
from separatrix.rows.column_statistics import refuse_not_finite
from separatrix.rows.in_memory import InMemory
from separatrix.solvers import Solver, State, choose, default_rules, named, refuse_unmet, run
from separatrix.textbook.own_weights import as_numbers, problem_of
from separatrix.textbook.surface_values import SurfaceGrid


@dataclass(frozen=True)
class Surface:
    """The objective over a grid of two weights. ``error_surface`` returns one.

    Attributes
    ----------
    first, second : arrays (points,)
        The values of the two weights.
    value : array (points, points)
        ``value[i, j]`` is E where the first weight is ``first[j]`` and the second is ``second[i]``.
    at : array (d + 1,) or (K, d + 1)
        The values of the other weights.
    columns : tuple
        Which entries of (b, w₁, …, w_d) the two weights are; with K > 2 classes, pairs (class number, entry).
    gradient : array (2, points, points) or None
        The derivatives of E by the first and by the second weight, if they were requested.
    """

    first: Array
    second: Array
    value: Array
    at: Array
    columns: tuple[Any, Any]
    gradient: Array | None = None

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
    W : array (steps + 1, d + 1) or (steps + 1, K, d + 1)
        The weights at the start and after each step, the intercept first.
    value : array (steps + 1,)
        E there.
    status : str
        Why the run ended.
    """

    W: Array
    value: Array
    status: str = ""


ERROR_SURFACE = InMemory("error_surface", "it is for examples that fit into memory")


@ERROR_SURFACE.refusing_tables
def error_surface(
    X: Any,
    y: Any,
    loss: str = "logistic",
    box: tuple[float, float, float, float] = (-3.0, 3.0, -3.0, 3.0),
    columns: tuple[Any, Any] = (1, 2),
    at: Any = None,
    points: int = 101,
    *,
    C: float = np.inf,
    l1_ratio: float = 0.0,
    gradient: bool = False,
) -> Surface:
    """Compute the objective over a grid of two of the weights (b, w₁, …, w_d): the mean loss plus the penalty.

    Parameters
    ----------
    X : array (n, d)
        The rows.
    y : array (n,)
        Labels of two or more classes.
    loss : str, default "logistic"
        A name in ``sx.losses.LOSSES``. With more than two classes "logistic" means the softmax loss.
    box : tuple, default (−3, 3, −3, 3)
        The smallest and the largest value of the first weight, then of the second.
    columns : tuple of two, default (1, 2)
        Which entries of (b, w₁, …, w_d) to vary. With K > 2 classes, two pairs (class number, entry).
    at : array (d + 1,) or (K, d + 1), or None
        The values of the other weights, zero by default.
    points : int, default 101
        The number of grid points along each weight.
    C : float, default infinity
        The inverse strength of the penalty, as in ``LogisticRegression``; infinity means no penalty.
    l1_ratio : float in [0, 1], default 0
        The share of the l1 penalty: 0 is the ridge, 1 the lasso.
    gradient : bool, default False
        Whether to compute the derivatives by both weights, too.

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
    problem, classes = _problem(X, y, loss, C, l1_ratio)
    K, width = problem.shape
    _check_grid(box, points)
    check_flag("gradient", gradient)
    entries = _entries(columns, K, width, len(classes))
    base = np.zeros((K, width)) if at is None else _weights("at", at, K, width)
    first, second = np.linspace(box[0], box[1], points), np.linspace(box[2], box[3], points)
    grid = SurfaceGrid(problem, base.reshape(K, width), entries, first, second)
    value, slopes = grid.loss(gradient)
    penalty, bends = grid.penalty(0.0 if np.isinf(C) else 1.0 / (C * problem.total_weight), l1_ratio)
    value += penalty
    return Surface(first, second, value, base, columns, None if slopes is None else slopes + bends)


def _check_grid(box: Any, points: int) -> None:
    check_count("points", points, least=2)
    remedy = "give four finite numbers (low, high, low, high)"
    edges = as_numbers("box", box, remedy)
    if edges.shape != (4,) or not np.all(np.isfinite(edges)) or edges[0] >= edges[1] or edges[2] >= edges[3]:
        raise ParameterError("box", f"got {box!r}", remedy)


def _weights(name: str, given: Any, K: int, width: int) -> Array:
    """Given weights as a finite array (K, width), or (width,) if K is 1."""
    shape = (width,) if K == 1 else (K, width)
    remedy = f"give finite weights of shape {shape}, the intercept first"
    W = as_numbers(name, given, remedy)
    if W.shape not in ((K, width), shape):
        raise ParameterError(name, f"its shape is {W.shape}", remedy)
    if not np.all(np.isfinite(W)):
        raise ParameterError(name, f"got {given!r}", remedy)
    return W


def _entries(columns: Any, K: int, width: int, n_classes: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """The two entries as pairs (score, column)."""
    if K == 1:
        remedy = f"give two different columns from 0 (b) to {width - 1}"
    else:
        remedy = f"give two pairs (class, column) for {n_classes} classes: 0 to {K - 1}, and 0 (b) to {width - 1}"
    try:
        given = np.asarray(columns)
    except ValueError as error:  # pairs and single numbers mixed
        raise ParameterError("columns", f"got {columns!r}", remedy) from error
    if given.shape != ((2,) if K == 1 else (2, 2)) or given.dtype.kind not in "iu":
        raise ParameterError("columns", f"got {columns!r}", remedy)
    first, second = [(0, column) for column in given.tolist()] if K == 1 else [tuple(pair) for pair in given.tolist()]
    inside = all(0 <= score < K and 0 <= column < width for score, column in (first, second))
    if not inside or first == second:
        raise ParameterError("columns", f"got {columns!r}", remedy)
    return first, second


WALK = InMemory("walk", "it is for examples that fit into memory")


@WALK.refusing_tables
def walk(
    X: Any,
    y: Any,
    solver: str | Solver = "auto",
    loss: str = "logistic",
    start: Any = None,
    steps: int = 50,
    *,
    C: float = np.inf,
    l1_ratio: float = 0.0,
    tol: float = 1e-8,
) -> Path:
    """Record the path of a solver over the error surface of these rows, until the run ends.

    Parameters
    ----------
    X : array (n, d)
        The rows.
    y : array (n,)
        Labels of two or more classes.
    solver : str or solver object, default "auto"
        As for ``LogisticRegression``.
    loss : str, default "logistic"
        A name in ``sx.losses.LOSSES``. With more than two classes "logistic" means the softmax loss.
    start : array (d + 1,) or (K, d + 1), or None
        The starting weights, the intercept first; zero by default.
    steps : int, default 50
        The largest number of steps. The path is shorter if a stopping rule of a fit holds earlier.
    C : float, default infinity
        The inverse strength of the penalty, as in ``LogisticRegression``; infinity means no penalty.
    l1_ratio : float in [0, 1], default 0
        The share of the l1 penalty: 0 is the ridge, 1 the lasso.
    tol : float, default 1e-8
        The run ends when E is proven to be within this share of the null model's objective.

    Returns
    -------
    Path

    Examples
    --------
    >>> from separatrix import walk
    >>> from separatrix.solvers import GradientDescent
    >>> path = walk([[-1.0], [1.0], [0.5]], [0, 1, 0], GradientDescent(eta=0.5), steps=10)
    >>> path.W.shape, bool(np.all(np.diff(path.value) <= 0))
    ((11, 2), True)
    """
    problem, _ = _problem(X, y, loss, C, l1_ratio)
    check_count("steps", steps, least=0)
    check_not_negative("tol", tol)
    begin = np.zeros(problem.shape) if start is None else np.atleast_2d(_weights("start", start, *problem.shape))
    method = named(solver) or choose(problem)[0]
    refuse_unmet(method, problem)
    visited: list[State] = []

    def visit(problem: Objective, state: State, *_: Any) -> None:
        visited.append(state)

    outcome = run(method, problem, begin, [visit, *default_rules(tol, steps)], tol)
    W = np.array([state.W[0] if len(state.W) == 1 else state.W for state in visited])
    return Path(W, np.array([state.at.value for state in visited]), str(outcome.status.sentence))


def _problem(X: Any, y: Any, loss: str, C: float, l1_ratio: float) -> tuple[Objective, AnyArray]:
    rows = as_floats(X)
    if rows.ndim == 2:
        refuse_not_finite(memory_rows(rows, np.zeros(len(rows))))
    return problem_of(rows, y, loss, C, l1_ratio)
