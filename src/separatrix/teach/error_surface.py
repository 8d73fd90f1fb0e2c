"""The objective at any weights, error surfaces over two of them, and the path of a solver across them.

    E(W) = (1/S) Σ_i s_i ℓ(t_i, W x̄_i) + (1/(C S)) Σ_k Σ_j f_j (α |w_kj| + ½ (1 − α) w_kj²),    S = Σ_i s_i

The weights are in the units of the columns. E is the number that ``certificate_.objective`` reports after a fit with
the same settings. As a function of two weights, the 0–1 error is piecewise constant, the perceptron error is piecewise
linear and convex, and the squared error of σ may have several local minima. See docs/tour.md, L3, R3, R4, R5, R8, R9.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, final

import numpy as np

from separatrix.core.base.arrays import (
    AnyArray,
    Array,
    Integers,
    as_floats,
    check_C,
    check_count,
    check_flag,
    check_not_negative,
    is_number,
)
from separatrix.core.base.errors import LabelError, ParameterError, WeightError
from separatrix.core.base.labels import encode
from separatrix.core.base.lazy import cached_property
from separatrix.core.base.machine import one_blas_thread
from separatrix.core.certificate import Bound
from separatrix.core.losses import LOSSES, Logistic, MarginLoss
from separatrix.core.penalty import Penalty
from separatrix.core.problem import Objective, build_objective
from separatrix.core.rows.block import as_csr, is_sparse
from separatrix.core.rows.column_statistics import refuse_not_finite
from separatrix.core.rows.labelled_table import InMemory, labelled_rows
from separatrix.core.rows.memory_rows import memory_rows
from separatrix.core.rows.targets import row_weights
from separatrix.core.solvers.driver import run
from separatrix.core.solvers.registry import choose, named, refuse_unmet
from separatrix.core.solvers.state import Solver, State
from separatrix.core.solvers.stopping import Record, Status, Stopping

# --- The objective


@final
class ObjectiveAt:
    """The objective E as a function of the weights, with gradient and Hessian. ``objective`` returns one.

    Parameters
    ----------
    problem : Objective
        The objective in the units of the columns.
    classes : array (K,)
        The sorted labels.

    Attributes
    ----------
    classes : array (K,)
        The sorted labels; a positive score means the second of two classes.
    shape : tuple
        The shape of the weights, intercepts first: (d + 1,) for two classes, (K, d + 1) for more. Without an intercept,
        d instead of d + 1.

    Examples
    --------
    >>> E = objective([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    >>> E.shape, E.hessian([0.0, 0.0]).tolist()
    ((2,), [[0.25, 0.375], [0.375, 0.875]])
    """

    def __init__(self, problem: Objective, classes: Any) -> None:
        self._problem, self.classes = problem, classes
        width = problem.shape[1] if problem.fit_intercept else problem.shape[1] - 1
        self.shape: tuple[int, ...] = (width,) if problem.shape[0] == 1 else (problem.shape[0], width)

    def __repr__(self) -> str:
        return f"ObjectiveAt(shape={self.shape}, classes={self.classes.tolist()})"

    def value(self, w: Any) -> float:
        """E(w), the mean loss over the rows plus the penalty.

        Parameters
        ----------
        w : array of ``shape``
            The weights, intercepts first.

        Returns
        -------
        float
        """
        with one_blas_thread:
            return self._problem.value_gradient(self._weights(w)).value

    def gradient(self, w: Any) -> Array:
        """∇E(w); with an l1 penalty or a loss with kinks, the shortest subgradient.

        Parameters
        ----------
        w : array of ``shape``
            The weights, intercepts first.

        Returns
        -------
        array of ``shape``
        """
        W = self._weights(w)
        with one_blas_thread:
            G = self._problem.subgradient(W, self._problem.value_gradient(W).gradient)
        return G[:, self._first :].reshape(self.shape)

    def hessian(self, w: Any) -> Array:
        """∇²E(w), a square matrix over the entries of w in row-major order.

        The l1 penalty adds nothing to it, since its second derivative is zero except at zero weights.

        Parameters
        ----------
        w : array of ``shape``
            The weights, intercepts first.

        Returns
        -------
        array (w.size, w.size)

        Raises
        ------
        ParameterError
            If the loss has no second derivatives.
        """
        if not self._problem.loss.traits.smooth:
            raise ParameterError("loss", "it has no second derivatives", "use value and gradient")
        K, width = self._problem.shape
        with one_blas_thread:
            H = self._problem.hessian(self._weights(w)).reshape(K, width, K, width)
        size = K * (width - self._first)
        return np.ascontiguousarray(H[:, self._first :, :, self._first :]).reshape(size, size)

    @property
    def _first(self) -> int:
        return 0 if self._problem.fit_intercept else 1

    def _weights(self, w: Any) -> Array:
        """The weights with a column for the intercept, (K or 1, d + 1)."""
        given = as_numbers("w", w, f"give {self.shape}, intercepts first")
        if given.shape != self.shape and given.shape != (1, *self.shape):
            raise ParameterError("w", f"its shape is {given.shape}", f"give {self.shape}, intercepts first")
        W = np.zeros(self._problem.shape)
        W[:, self._first :] = given.reshape(len(W), -1)
        return W


OBJECTIVE = InMemory("objective", "it is for examples that fit into memory")


@OBJECTIVE.refusing_tables
def objective(
    X: Any,
    y: Any,
    loss: str = "logistic",
    *,
    C: float = np.inf,
    l1_ratio: float = 0.0,
    fit_intercept: bool = True,
    sample_weight: Any = None,
) -> ObjectiveAt:
    """Return the objective over these rows as a function of the weights.

    Parameters
    ----------
    X : array or sparse matrix (n, d)
        Rows.
    y : array (n,)
        Labels of two or more classes.
    loss : str, default "logistic"
        A name in ``sx.losses.LOSSES``. With more than two classes "logistic" means the softmax loss.
    C : float, default infinity
        The inverse strength of the penalty, as in ``LogisticRegression``; infinity means no penalty.
    l1_ratio : float in [0, 1], default 0
        α above: 0 is the ridge, 1 the lasso.
    fit_intercept : bool, default True
        Whether the first entry of the weights is an intercept.
    sample_weight : array (n,) or None
        Weights of the rows.

    Returns
    -------
    ObjectiveAt
        It has the methods ``value(w)``, ``gradient(w)`` and ``hessian(w)``.

    Examples
    --------
    >>> import separatrix as sx
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["no", "yes", "no", "yes"]
    >>> E = sx.objective(X, y, C=1.0)
    >>> round(E.value([0.0, 0.0]), 6)  # ln 2
    0.693147
    >>> E.gradient([0.0, 0.0]).tolist(), E.hessian([0.0, 0.0]).tolist()
    ([0.0, -0.25], [[0.25, 0.375], [0.375, 1.125]])
    >>> model = sx.LogisticRegression(C=1.0).fit(X, y)
    >>> best = [*model.intercept_, *model.coef_[0]]
    >>> bool(abs(E.value(best) - model.certificate_.objective) < 1e-12)
    True
    """
    return ObjectiveAt(*problem_of(X, y, loss, C, l1_ratio, fit_intercept, sample_weight))


def problem_of(
    X: Any,
    y: Any,
    loss: str,
    C: float = np.inf,
    l1_ratio: float = 0.0,
    fit_intercept: bool = True,
    sample_weight: Any = None,
) -> tuple[Objective, AnyArray]:
    """The objective over these rows in the units of the columns, and the classes."""
    if not isinstance(loss, str) or loss not in LOSSES:
        raise ParameterError("loss", f"got {loss!r}", f"choose one of {', '.join(LOSSES)}")
    check_C(C, "give a positive number, or np.inf for no penalty")
    if not (is_number(l1_ratio) and 0 <= l1_ratio <= 1):
        raise ParameterError("l1_ratio", f"got {l1_ratio!r}", "give a number from 0 (ridge) to 1 (lasso)")
    classes, codes = encode(y)
    if len(classes) < 2:
        raise LabelError("y", f"it has {len(classes)} class", "give rows of at least two classes")
    if len(classes) > 2 and loss not in ("logistic", "softmax"):
        raise ParameterError("loss", f"got {loss!r} for {len(classes)} classes", "use 'logistic'")
    rows = as_csr(X) if is_sparse(X) else as_floats(X)
    if rows.ndim != 2 or rows.shape[0] != len(codes):
        raise ParameterError("X", f"its shape is {rows.shape}", f"give {len(codes)} rows, one for each label")
    weight = None if sample_weight is None else row_weights(sample_weight, len(codes))
    if weight is not None and not np.any(weight > 0):
        raise WeightError("sample_weight", "all weights are zero", "give at least one positive weight")
    check_flag("fit_intercept", fit_intercept)
    penalty = Penalty(0.0 if np.isinf(C) else 1.0 / C, np.ones(rows.shape[1]), float(l1_ratio))
    with one_blas_thread:
        problem = build_objective(
            labelled_rows(rows, codes, len(classes), weight),
            len(classes),
            penalty,
            fit_intercept,
            standard=False,
            loss=loss,
        )
    return problem, classes


def as_numbers(name: str, value: Any, remedy: str) -> Array:
    """An argument as an array of float64; the error names the argument.

    >>> as_numbers("w", [0, 1], "give 2 numbers").tolist()
    [0.0, 1.0]
    """
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(name, f"got {value!r}", remedy) from error


# --- Surfaces and paths


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
    check_count("points", points, least=2)
    remedy = "give four finite numbers (low, high, low, high)"
    edges = as_numbers("box", box, remedy)
    if edges.shape != (4,) or not np.all(np.isfinite(edges)) or edges[0] >= edges[1] or edges[2] >= edges[3]:
        raise ParameterError("box", f"got {box!r}", remedy)
    check_flag("gradient", gradient)
    entries = _entries(columns, K, width, len(classes))
    base = np.zeros((K, width)) if at is None else _weights("at", at, K, width)
    first, second = np.linspace(box[0], box[1], points), np.linspace(box[2], box[3], points)
    grid = SurfaceGrid(problem, base.reshape(K, width), entries, first, second)
    value, slopes = grid.loss(gradient)
    penalty, bends = grid.penalty(0.0 if np.isinf(C) else 1.0 / (C * problem.total_weight), l1_ratio)
    value += penalty
    return Surface(first, second, value, base, columns, None if slopes is None else slopes + bends)


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
    budget: int | None = None,
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
    budget : int, optional
        The number of rows that one step reads, for methods that update within an epoch. With 1, a step of "sgd" is one
        update; by default it is an epoch.

    Returns
    -------
    Path

    Examples
    --------
    >>> from separatrix import walk
    >>> from separatrix.core.solvers.gradient_descent import GradientDescent
    >>> path = walk([[-1.0], [1.0], [0.5]], [0, 1, 0], GradientDescent(eta=0.5), steps=10)
    >>> path.W.shape, bool(np.all(np.diff(path.value) <= 0))
    ((11, 2), True)
    """
    problem, _ = _problem(X, y, loss, C, l1_ratio)
    check_count("steps", steps, least=0)
    check_not_negative("tol", tol)
    if budget is not None:
        check_count("budget", budget)
    begin = np.zeros(problem.shape) if start is None else np.atleast_2d(_weights("start", start, *problem.shape))
    method = named(solver) or choose(problem)[0]
    refuse_unmet(method, problem)
    visited, stopping = list[State](), Stopping[Any](tol=tol, max_iter=steps)

    def visit(problem: Objective, state: State, bound: Bound, trace: Sequence[Record]) -> Status | None:
        visited.append(state)
        return stopping(problem, state, bound, trace, method.converges)

    outcome = run(method, problem, begin, replace(stopping, rules=[visit]), budget=budget)
    W = np.array([state.W[0] if len(state.W) == 1 else state.W for state in visited])
    return Path(W, np.array([state.at.value for state in visited]), str(outcome.status.sentence))


def _problem(X: Any, y: Any, loss: str, C: float, l1_ratio: float) -> tuple[Objective, AnyArray]:
    rows = as_floats(X)
    if rows.ndim == 2:
        refuse_not_finite(memory_rows(rows, np.zeros(len(rows))))
    return problem_of(rows, y, loss, C, l1_ratio)


# --- The objective over a grid

# The number of scores that are computed at once: 96 kB, which fit into the processor's cache. Arrays of 128 kB and more
# would come from the operating system each time, which takes longer than the arithmetic.
SCORES_AT_ONCE = 12_288


@dataclass(frozen=True)
class SurfaceGrid:
    """Two entries (score, column) of the weights over a grid, the other entries held at ``base`` (K or 1, d + 1)."""

    problem: Objective
    base: Array
    entries: tuple[tuple[int, int], tuple[int, int]]
    first: Array
    second: Array

    @property
    def _held(self) -> Array:
        """The weights with zeros in the two entries."""
        held = self.base.copy()
        for k, c in self.entries:
            held[k, c] = 0.0
        return held

    @cached_property
    def _table(self) -> TabulatedLoss | None:
        """The table of a costly loss; None for others and where margins are large."""
        loss, block = self.problem.loss, self.problem.rows.resident()
        if not (isinstance(loss, MarginLoss) and loss.traits.costly) or block is None:
            return None
        first, second = (np.abs(axis).max() for axis in (self.first, self.second))
        x1, (_, c), (_, e) = np.abs(block.homogeneous()), *self.entries
        reach = np.abs(block.scores(self._held)[:, 0]) + first * x1[:, c] + second * x1[:, e]
        most = float(reach.max())
        return tabulated(loss, -most, most, block.n_rows * len(self.first) * len(self.second))

    def loss(self, gradient: bool) -> tuple[Array, Array | None]:
        """The mean loss (points, points), and its derivatives by both entries (2, points, points) if asked for."""
        block = self.problem.rows.resident()
        assert block is not None  # the rows are in memory
        n = len(self.first)
        value, slopes = np.zeros((n, n)), np.zeros((2, n, n)) if gradient else None
        size = max(1, SCORES_AT_ONCE // n)
        share, x1, Z = block.weight / block.weight.sum(), block.homogeneous(), block.scores(self._held)
        sums = self._softmax if self.problem.loss.traits.multiclass else self._one_score
        for own in self._groups(block.t):
            for start in range(0, len(own), size):
                rows = own[start : start + size]
                sums(share[rows], block.t[rows], x1[rows], Z[rows], value, slopes)
        return value, slopes

    def _groups(self, t: Array) -> list[Integers]:
        """The numbers of all rows; for a loss that is not one of the margin, those of each target, as it is faster."""
        if self.problem.loss.traits.multiclass or isinstance(self.problem.loss, MarginLoss):
            return [np.arange(len(t))]
        return [np.flatnonzero(t == target) for target in np.unique(t)]

    def _one_score(self, share: Array, t: Array, x1: Array, Z: Array, value: Array, slopes: Array | None) -> None:
        """Add the loss of these rows, a function of one score, to ``value``, and its derivatives to ``slopes``.

        If it is not a function of the margin, the rows have the same target.
        """
        loss = self.problem.loss
        x, u = x1[:, self.entries[0][1]], x1[:, self.entries[1][1]]
        across = Z + np.outer(x, self.first)
        if isinstance(loss, MarginLoss):  # computed from margins, which are linear in the weights like scores
            across, x, u = t[:, None] * across, t * x, t * u
            of, with_slope = loss.of_margin, loss.value_slope
        else:
            of, with_slope = partial(loss.value, t[0]), partial(loss.value_derivative, t[0])
        by_entry = np.stack([share * x, share * u])
        if self._table is not None:
            self._table.add(across, self.second, u, share, value, by_entry, slopes)
            return
        z = np.empty_like(across)
        for i, height in enumerate(self.second):
            np.add(across, (height * u)[:, None], out=z)
            if slopes is None:
                value[i] += share @ of(z)
            else:
                here, slope = with_slope(z)
                value[i] += share @ here
                slopes[:, i] += by_entry @ slope

    def _softmax(self, share: Array, t: Array, x1: Array, Z: Array, value: Array, slopes: Array | None) -> None:
        """Add −ln P(class) of these rows to ``value``, and its derivatives to ``slopes``.

        With z the score of the first entry's class k and r = ln Σ e^z over the other classes, −ln P is
        r + ℓ(r − z) − z_t with ℓ the logistic loss. So there is one function to compute at each point of the grid, and
        not K. The rest is constant along a line, or linear in the first entry.
        """
        logistic = LOSSES["logistic"]
        assert isinstance(logistic, Logistic)
        (k, c), (m, e) = self.entries
        x, u, codes = x1[:, c], x1[:, e], t.astype(np.int64)
        lift = np.outer(self.second, u)  # the second entry's part of the scores of class m
        across, r, share_m = Z[:, k, None] + np.outer(x, self.first), *self._other_classes(Z, lift)
        level = r - lift if m == k else r
        value -= (share * (codes == k)) @ across
        own = np.where(codes == k, 0.0, Z[np.arange(len(codes)), codes])  # the score of each row's class, but for k
        value += (r @ share - share @ own - lift @ (share * (codes == m)))[:, None]
        margin = np.empty_like(across)
        # −slope is P_k, and P_m = (1 − P_k) share_m for another class m.
        by_entry = np.empty((2, *r.shape))
        by_entry[0], by_entry[1] = -share * x, share * u * (-1.0 if m == k else share_m)
        if slopes is not None:
            slopes[0] -= (share * x) @ (codes == k)
            slopes[1] += (share_m @ (share * u) - (share * u) @ (codes == m))[:, None]
        for i in range(len(self.second)):
            np.subtract(level[i, :, None], across, out=margin)
            if slopes is None:
                value[i] += share @ logistic.of_margin(margin)
                continue
            here, slope = logistic.value_slope(margin)
            value[i] += share @ here
            slopes[:, i] += by_entry[:, i] @ slope

    def _other_classes(self, Z: Array, lift: Array) -> tuple[Array, Array]:
        """r = ln Σ e^z over all classes but k, and the share of class m in that sum, (points, rows) each.

        The share is zero if the second entry belongs to class k.
        """
        (k, _), (m, _) = self.entries
        rest = np.logaddexp.reduce(np.delete(Z, [k, m], axis=1), axis=1)
        if m == k:
            return np.broadcast_to(rest, lift.shape), np.zeros_like(lift)
        raised = Z[:, m] + lift
        r = np.logaddexp(rest, raised)
        with np.errstate(under="ignore"):
            return r, np.exp(raised - r)

    def penalty(self, strength: float, l1_ratio: float) -> tuple[Array, Array]:
        """strength Σ (α |w| + ½ (1 − α) w²) over the grid, and its derivatives by both entries."""

        def of(w: Array) -> Array:
            return np.asarray(strength * (l1_ratio * np.abs(w) + 0.5 * (1 - l1_ratio) * w * w))

        def slope(w: Array) -> Array:
            return np.asarray(strength * (l1_ratio * np.sign(w) + (1 - l1_ratio) * w))

        n, rest = len(self.first), float(of(self._held[:, 1:]).sum())
        along, up = (axis * (entry[1] > 0) for axis, entry in zip((self.first, self.second), self.entries, strict=True))
        value = rest + of(along)[None, :] + of(up)[:, None]
        bends = np.stack([np.broadcast_to(slope(along), (n, n)), np.broadcast_to(slope(up)[:, None], (n, n))])
        return value, bends


# --- Losses as piecewise polynomials

# Intervals in a unit of the margin. The error of their polynomials is largest where the loss falls fastest: −ln Φ(m)
# falls like e^{−m²/2}, and at m = 24 the polynomials are off by a share of 5e-13.
PIECES_PER_UNIT = 64
# A piece takes eight evaluations of the loss, so a table is worth its time if it has this many margins for each piece.
MARGINS_PER_PIECE = 64


@dataclass(frozen=True)
class TabulatedLoss:
    """A loss of the margin as polynomials on short intervals, for the millions of margins of an error surface.

    ln Φ takes 27 ns for each margin, and a polynomial takes 3 ns. The polynomials agree with the loss and its slope up
    to a share of about 1e-12, also in the tails. ``values`` and ``slopes`` are the coefficients (pieces, degree + 1) of
    the loss and of its slope, lowest first, from the margin ``low`` on.
    """

    low: float
    values: Array
    slopes: Array

    def add(
        self, across: Array, second: Array, u: Array, share: Array, value: Array, by_entry: Array, slope: Array | None
    ) -> None:
        """Add Σ share ℓ and, if ``slope`` is given, Σ by_entry ℓ′ at the margins across + second u of a grid."""
        from separatrix.core.kernels.dense_rows import add_pieces

        arguments = across, second, u, share, self.low, float(PIECES_PER_UNIT), self.values, value
        if slope is None:
            add_pieces(*arguments)
        else:
            add_pieces(*arguments, self.slopes, by_entry, slope)


def tabulated(loss: MarginLoss, low: float, high: float, n_margins: int) -> TabulatedLoss | None:
    """The table of a loss for margins between two numbers; None if it would not be worth its time.

    >>> from separatrix.core.losses import Probit
    >>> table = tabulated(Probit(), -1.0, 1.0, 10**6)
    >>> value = np.zeros((1, 1))
    >>> table.add(np.zeros((1, 1)), np.ones(1), np.full(1, 0.5), np.ones(1), value, np.zeros((2, 1)), None)
    >>> bool(abs(value[0, 0] - Probit().of_margin(0.5)) < 1e-14)
    True
    """
    pieces = (high - low) * PIECES_PER_UNIT + 2  # one more at each end, since margins are rounded
    if not pieces * MARGINS_PER_PIECE <= n_margins:
        return None
    from separatrix.core.kernels.dense_rows import DEGREE

    nodes = np.cos(np.pi * (np.arange(DEGREE + 1) + 0.5) / (DEGREE + 1))  # those of Chebyshev's polynomial
    to_coefficients = np.linalg.inv(np.vander(nodes, increasing=True)).T
    low -= 1 / PIECES_PER_UNIT
    m = low + (np.arange(int(pieces) + 1)[:, None] + 0.5 + 0.5 * nodes) / PIECES_PER_UNIT
    value, slope = loss.value_slope(m)
    return TabulatedLoss(low, value @ to_coefficients, slope @ to_coefficients)
