"""Tests and intervals by profiles of Firth's penalised likelihood.

A test holds columns at zero, maximises l* over the others and compares 2 (max l* − max l* held) with χ². An interval
for a coefficient holds every value v at which 2 (max l* − l*_prof(v)) ≤ χ²₁(level), where l*_prof(v) is the maximum
with the coefficient held at v. |I| is always over all columns: held columns stay in the model with known weights.

An end of the interval solves r(v) = (2 (max l* − l*_prof(v)))^½ = q (``profile_ends``). The slope of l* along the
profile is −U*·a, with a = I⁻¹c/(cᵀI⁻¹c) and c the coefficient's gradient. An end is returned only after l*_prof has
been evaluated there, at a maximum over the other weights, and r is q. Otherwise it is NaN, and a warning says why.

Heinze and Schemper, A solution to the problem of separation in logistic regression, Statistics in Medicine 21 (2002);
Venzon and Moolgavkar, A method for computing profile-likelihood-based confidence intervals, Applied Statistics 37
(1988).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from separatrix.core.base.arrays import EPS, Array
from separatrix.core.base.errors import InputError, NotConvergedWarning, ParameterError
from separatrix.core.base.machine import one_blas_thread
from separatrix.core.firth.likelihood import LONGEST_ZERO_SCORE, VALUE_ROUNDING_SHARE, Ascent, Penalised, Point

# --- The end of an interval: the distance v > 0 from a maximum at which r(v) = q

# The tolerance of r relative to q, and the tolerance if rounding hides more digits.
ROOT_TOLERANCE, ROUNDED_ROOT_TOLERANCE = 1e-9, 1e-5
# The most evaluations for one end. Newton's method needs about ten; a bracket of float64 numbers is empty after sixty
# bisections.
MOST_EVALUATIONS = 100


class Look(NamedTuple):
    """The profile at the distance ``v``: its root ``r``, and ``slope`` = dr²/dv ÷ 2, the fall of l per unit of v."""

    v: float
    r: float
    slope: float


class End(NamedTuple):
    """The end of an interval; NaN with the reason if it was not found."""

    v: float
    reason: str = ""


def find_end(look: Callable[[float], Look | None], first: float, q: float, rounding: float = 0.0) -> End:
    """The distance at which r = q.

    r is nearly linear, so Newton's method solves r(v) = q. It is kept inside a bracket, which is bisected if a Newton
    step leaves it or does not halve |r − q|: Press, Teukolsky, Vetterling and Flannery, Numerical Recipes (2007),
    section 9.4. The search stops when |r² − q²| ≤ 2·10⁻⁹ q² plus the rounding error of r². Otherwise it stops when the
    bracket has no number between its ends: then rounding errors of the profile are larger than expected, and r is
    accepted within 10⁻⁵ q, or the profile jumps. Every distance that is returned was evaluated.

    Parameters
    ----------
    look : callable
        Evaluates the profile near a distance v > 0; it returns None if that is not possible.
    first : float
        The distance to evaluate first, such as q standard errors.
    q : float
        The value that r has at the end.
    rounding : float
        The largest rounding error of r².

    Returns
    -------
    End
        The distance, or NaN and the reason.

    Examples
    --------
    >>> round(find_end(lambda v: Look(v, v + v**2, (v + v**2) * (1 + 2 * v)), 1.0, 6.0).v, 6)
    2.0
    >>> find_end(lambda v: Look(v, 1.0 if v < 3 else 9.0, 1.0), 1.0, 6.0).reason
    'the profile jumps from r = 1 to r = 9 there'
    """
    inner, outer, v = Look(0.0, 0.0, 0.0), None, first
    before, failed = np.inf, 0
    for _ in range(MOST_EVALUATIONS):
        seen = look(v)
        if seen is None:  # too far from the last point: go halfway back
            failed += 1
            # Each failure halves the distance to the last point that could be evaluated, so twenty leave a millionth of
            # the first step.
            if failed == 20:
                return End(np.nan, f"the profile cannot be evaluated further out than where r = {inner.r:.4g}")
            v = 0.5 * (inner.v + v)
            continue
        if abs(seen.r**2 - q**2) <= 2 * ROOT_TOLERANCE * q**2 + rounding:
            return End(seen.v)
        inner, outer = (seen, outer) if seen.r < q else (inner, seen)
        if outer is not None and outer.v - inner.v <= 4 * EPS * outer.v:
            return _settled(inner, outer, q)
        v, before = _next(inner, outer, seen, q, before), abs(seen.r - q)
    reason = f"r is not {q:.4g} after {MOST_EVALUATIONS} evaluations of the profile; the last was {inner.r:.4g}"
    return End(np.nan, reason)


def _next(inner: Look, outer: Look | None, seen: Look, q: float, before: float) -> float:
    """Newton's distance if it is in the bracket and the last one halved |r − q|, else by bisection or outwards."""
    far = 3.0 * seen.v if outer is None else outer.v  # at most three times as far outwards
    newton = seen.v - (seen.r - q) * seen.r / seen.slope if seen.slope > 0 else np.nan
    if inner.v < newton < far and abs(seen.r - q) <= 0.5 * before:
        return newton
    return far if outer is None else 0.5 * (inner.v + outer.v)


def _settled(inner: Look, outer: Look, q: float) -> End:
    """The end of the interval from a bracket that cannot be bisected any more."""
    best = min(inner, outer, key=lambda seen: abs(seen.r - q))
    if abs(best.r - q) <= ROUNDED_ROOT_TOLERANCE * q:
        return End(best.v)
    return End(np.nan, f"the profile jumps from r = {inner.r:.4g} to r = {outer.r:.4g} there")


# A direction is determined by the columns if at most this share of its length is outside the determined directions.
LARGEST_UNDETERMINED_SHARE = 1e-6


def fit_holding(problem: Penalised, W: Array, columns: Any, tol: float = 1e-8) -> tuple[Point, int]:
    """The maximum of l* with the weights of some columns held as in W, and the number of directions that this removes.

    Parameters
    ----------
    problem : Penalised
        The likelihood, as ``pose`` or ``posed_again`` returns it.
    W : array (K or 1, d + 1)
        The start, in the problem's coordinates.
    columns : array
        The columns of W whose weights in raw units are held: truth values (d + 1,), or column numbers, where 0 is the
        intercept.
    tol : float
        The tolerance on the length of the score, in standard errors.

    Returns
    -------
    point : Point
        The maximum.
    taken : int
        The number of directions that are held.

    Examples
    --------
    >>> from separatrix.core.firth.likelihood import pose
    >>> from separatrix.core.rows.labelled_table import labelled_rows
    >>> problem = pose(labelled_rows(np.arange(4.0)[:, None], np.array([0, 0, 1, 1]), 2), 2)
    >>> point, taken = fit_holding(problem, problem.zero, [1])
    >>> point.W.tolist(), taken
    ([[0.0, 0.0]], 1)
    """
    basis = _moves_beside(problem, _held(problem, columns))
    with one_blas_thread:
        point, _ = Ascent(tol, moves=basis)(problem, W)
    return point, len(basis) - basis.shape[1]


def penalised_test(problem: Penalised, W: Array, columns: Any) -> tuple[float, float]:
    """The likelihood-ratio statistic 2 (l*(W) − max l* with these columns' weights zero), and its p-value.

    Parameters
    ----------
    problem : Penalised
        The likelihood, as ``pose`` or ``posed_again`` returns it.
    W : array (K or 1, d + 1)
        Its maximum, in the problem's coordinates.
    columns : array
        The columns to test, as for ``fit_holding``.

    Returns
    -------
    statistic, p_value : float

    Examples
    --------
    >>> from separatrix.core.firth.likelihood import fit, pose
    >>> from separatrix.core.rows.labelled_table import labelled_rows
    >>> problem = pose(labelled_rows(np.arange(6.0)[:, None], np.array([0, 0, 0, 1, 1, 1]), 2), 2)
    >>> statistic, p = penalised_test(problem, fit(problem).point.W, [1])
    >>> round(statistic, 3), round(p, 3)
    (3.857, 0.05)
    """
    from scipy.stats import chi2

    held = _held(problem, columns)
    frame, there = problem.objective.rows.frame, problem.level(W)
    raw = frame.to_original(W)
    raw[:, held] = 0.0
    point, taken = fit_holding(problem, frame.from_original(raw), held)
    if there is None:
        raise InputError("W", "Firth's likelihood is −∞ there", "give the weights of a fit to the same rows")
    if taken == 0:
        fault = "the others say all that these columns say"
        raise InputError("columns", fault, "leave out the columns that are combinations of others")
    statistic = max(0.0, 2 * problem.weight * (point.level.value - there.value))
    return statistic, float(chi2.sf(statistic, taken))


def profile_interval(
    problem: Penalised, W: Array, column: int, level: float = 0.95, contrast: Any = None
) -> tuple[float, float]:
    """The interval of a coefficient, in raw units, by the profile of Firth's likelihood around its maximum W.

    Parameters
    ----------
    problem : Penalised
        The likelihood, as ``pose`` or ``posed_again`` returns it.
    W : array (K or 1, d + 1)
        Its maximum, in the problem's coordinates.
    column : int
        The column of W; 0 is the intercept.
    level : float, default 0.95
        The confidence level.
    contrast : array (K,), for more than two classes
        The coefficients of the classes' weights, which sum to zero, e.g. (−1, 0, 1) for the third class against the
        first.

    Returns
    -------
    low, high : float
        The ends, at which 2 (max l* − l*_prof) equals χ²₁(level) within a relative error of 2·10⁻⁹, or 2·10⁻⁵ if
        rounding hides more. NaN if no such end was found; then a ``NotConvergedWarning`` says why.

    Examples
    --------
    >>> from separatrix.core.firth.likelihood import fit, pose
    >>> from separatrix.core.rows.labelled_table import labelled_rows
    >>> problem = pose(labelled_rows(np.arange(6.0)[:, None], np.array([0, 0, 0, 1, 1, 1]), 2), 2)
    >>> low, high = profile_interval(problem, fit(problem).point.W, 1)
    >>> round(low, 3), round(high, 3)
    (0.002, 6.07)
    """
    low, high = profile_ends(problem, W, column, level, contrast)
    for name, end in (("lower", low), ("upper", high)):
        if end.reason:
            sentence = f"no {name} end of the profile interval of column {column} was found: {end.reason}"
            warnings.warn(sentence, NotConvergedWarning, stacklevel=2)
    return low.v, high.v


def profile_ends(
    problem: Penalised, W: Array, column: int, level: float = 0.95, contrast: Any = None
) -> tuple[End, End]:
    """The ends of ``profile_interval`` in raw units, with the reason for each end that was not found.

    Parameters
    ----------
    problem, W, column, level, contrast
        As for ``profile_interval``.

    Returns
    -------
    low, high : End
        Each has the end ``v``, which is NaN if it was not found, and then a ``reason``.

    Examples
    --------
    >>> from separatrix.core.firth.likelihood import fit, pose
    >>> from separatrix.core.rows.labelled_table import labelled_rows
    >>> problem = pose(labelled_rows(np.arange(6.0)[:, None], np.array([0, 0, 0, 1, 1, 1]), 2), 2)
    >>> low, high = profile_ends(problem, fit(problem).point.W, 1)
    >>> low.reason, high.reason
    ('', '')
    """
    from scipy.special import ndtri

    if not 0 < level < 1:
        raise ParameterError("level", f"got {level!r}", "give a share between 0 and 1, such as 0.95")
    q = float(ndtri(0.5 + 0.5 * level))
    with one_blas_thread:
        c, constant = _coefficient(problem, column, contrast)
        top, _ = Ascent()(problem, W)
        low, high = (_Profile(problem, top, c, constant, side).end(q) for side in (-1, 1))
        return low, high


class _Profile:
    """l* along a coefficient c·θ + constant, θ in the determined directions, maximised over the rest of them.

    It is evaluated on one ``side`` of the maximum ``top``. Each search for a maximum starts from the last one.
    """

    def __init__(self, problem: Penalised, top: Point, c: Array, constant: float, side: int) -> None:
        self.problem, self.top, self.c, self.constant, self.side, self.point = problem, top, c, constant, side, top
        self.ascent = Ascent(moves=np.linalg.svd(c[None, :])[2][1:].T)
        self.center = self.value(top.W)

    def value(self, W: Array) -> float:
        return float(self.c @ self.problem.objective.subspace.reduce(W)) + self.constant

    def tangent(self, point: Point) -> Array:
        """I⁻¹c/(cᵀI⁻¹c): the change of all weights along the profile if c·θ grows by one."""
        along = point.level.factor.solve(self.c)
        return np.asarray(along / (self.c @ along))

    def end(self, q: float) -> End:
        """The coefficient at which r = q."""
        weight, length = self.problem.weight, self.top.length
        if length > LONGEST_ZERO_SCORE:
            return End(np.nan, f"the fit is not a maximum: its penalised score is {length:.1e} standard errors long")
        error = float(np.sqrt(self.c @ self.top.level.factor.solve(self.c) / weight))
        found = find_end(self, q * error, q, 2 * weight * VALUE_ROUNDING_SHARE * abs(self.top.level.value))
        return found._replace(v=self.center + self.side * found.v)

    def __call__(self, v: float) -> Look | None:
        """The profile at distance v; None if no maximum was found with the coefficient held there."""
        space, weight = self.problem.objective.subspace, self.problem.weight
        ahead = self.center + self.side * v - self.value(self.point.W)
        start = self.point.W + space.expand(ahead * self.tangent(self.point))
        try:
            point, _ = self.ascent(self.problem, start)
        except InputError:  # the information is singular there
            return None
        if point.length > LONGEST_ZERO_SCORE:
            return None
        self.point = point
        fall = weight * (point.level.value - self.top.level.value)
        slope = self.side * weight * float(space.reduce(point.gradient) @ self.tangent(point))
        return Look(self.side * (self.value(point.W) - self.center), float(np.sqrt(max(0.0, 2 * fall))), slope)


def _held(problem: Penalised, columns: Any) -> Any:
    """The held columns of W as truth values (d + 1,)."""
    width = problem.objective.shape[1]
    given = np.asarray(columns)
    held = np.zeros(width, dtype=bool)
    if given.dtype == bool and given.shape == held.shape:
        held |= given
    elif given.dtype.kind in "iu" and np.all((given >= 0) & (given < width)):
        held[given] = True
    else:
        raise InputError("columns", f"got {columns!r}", f"give numbers from 0 to {width - 1}, or {width} truth values")
    return held


def _moves_beside(problem: Penalised, held: Any) -> Array:
    """An orthonormal basis (P, q) of the directions along which the raw weights of these columns do not change."""
    space, frame = problem.objective.subspace, problem.objective.rows.frame
    free = ~(held | problem.objective.pinned)
    D = np.eye(len(free))
    if held[0]:  # the raw intercept is held if the framed one compensates for the change due to centring
        D[1:, 0] = frame.center / frame.scale
        D /= np.linalg.norm(D, axis=1, keepdims=True)
    directions = D[free] if space.Z is None else D[free] @ space.Z
    _, values, vectors = np.linalg.svd(directions, full_matrices=False)
    basis = vectors[values > LARGEST_UNDETERMINED_SHARE * np.max(values, initial=0.0)].T
    return np.kron(np.eye(1 if space.Q is None else space.Q.shape[1]), basis)


def _coefficient(problem: Penalised, column: int, contrast: Any) -> tuple[Array, float]:
    """c and a constant such that the coefficient in raw units is c·θ + constant, θ in the determined directions."""
    K, width = problem.objective.shape
    frame, space = problem.objective.rows.frame, problem.objective.subspace
    if not 0 <= column < width - problem.objective.n_offsets or problem.objective.pinned[column]:
        fault = f"got {column}, which is not a column of the fit"
        raise InputError("column", fault, f"give a number from 0, the intercept, to {width - 1}")
    across = _contrast(contrast, K)
    row = np.zeros(width)
    row[column] = 1.0 if column == 0 else 1.0 / frame.scale[column - 1]
    if column == 0:
        row[1:] = np.where(problem.objective.pinned[1:], 0.0, -frame.center / frame.scale)
    G = np.outer(across, row)
    if np.linalg.norm(space.remainder(G)) > LARGEST_UNDETERMINED_SHARE * np.linalg.norm(G):
        fault = f"column {column} of W is constant or a combination of the others"
        raise InputError("column", fault, "leave out columns until each has a weight of its own")
    n_offsets = problem.objective.n_offsets if column == 0 else 0
    beside = float(across @ frame.center[-n_offsets:]) if n_offsets else 0.0  # the framed intercept holds their means
    return space.reduce(G), -beside


def _contrast(contrast: Any, K: int) -> Array:
    """The contrast of the classes as numbers, (K,), which sum to zero if there are several scores; 1 for one score."""
    across = np.ones(1) if K == 1 and contrast is None else np.asarray(contrast, dtype=np.float64)
    balanced = K == 1 or abs(across.sum()) <= LARGEST_UNDETERMINED_SHARE * np.abs(across).sum() > 0
    if across.shape != (K,) or not balanced:
        remedy = f"give {K} numbers that sum to zero, such as 1 and −1 for one class against another"
        raise ParameterError("contrast", f"got {contrast!r}", remedy)
    return across


# --- Intervals of a fitted model, whose likelihood is built again from the rows of the fit


def profile(
    model: Any,
    X: Any,
    y: Any,
    column: int | str,
    level: float = 0.95,
    *,
    contrast: Any = None,
    sample_weight: Any = None,
    offset: Any = None,
) -> tuple[float, float]:
    """The interval of a coefficient of a ``LogisticRegression(bias_reduction="firth")``, on the rows of its fit.

    Parameters
    ----------
    model : LogisticRegression
        The fitted model.
    X, y, sample_weight, offset
        The data of the fit.
    column : int or str
        A column of X by number or name, or "intercept".
    level : float, default 0.95
        The confidence level.
    contrast : array (K,), for more than two classes
        As for ``profile_interval``.

    Returns
    -------
    low, high : float
        The ends of the interval, as from ``profile_interval``.

    Examples
    --------
    >>> import numpy as np
    >>> from separatrix import LogisticRegression
    >>> X, y = np.arange(6.0)[:, None], [0, 0, 0, 1, 1, 1]
    >>> model = LogisticRegression(bias_reduction="firth").fit(X, y)
    >>> low, high = profile(model, X, y, 0)
    >>> round(low, 3), round(high, 3)
    (0.002, 6.07)
    """
    problem, W = posed_again(model, X, y, sample_weight, offset)
    return profile_interval(problem, W, _number_of(model, column), level, contrast)


def posed_again(model: Any, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> tuple[Penalised, Array]:
    """The likelihood that a fitted model maximised, over the same rows, and the model's weights in its coordinates.

    Parameters
    ----------
    model : LogisticRegression
        A model fitted with ``bias_reduction="firth"``.
    X, y, sample_weight, offset
        The data of the fit.

    Returns
    -------
    problem : Penalised
        The likelihood.
    W : array (K or 1, d + 1)
        The weights in its coordinates.

    Raises
    ------
    InputError
        If the model was not fitted by Firth's likelihood.

    Examples
    --------
    >>> import numpy as np
    >>> from separatrix import LogisticRegression
    >>> X, y = np.arange(6.0)[:, None], [0, 0, 0, 1, 1, 1]
    >>> problem, W = posed_again(LogisticRegression(bias_reduction="firth").fit(X, y), X, y)
    >>> bool(np.linalg.norm(problem.gradient(W, problem.level(W).factor)) < 1e-8)
    True
    """
    claim = getattr(getattr(model, "certificate_", None), "claim", None)
    posed = getattr(claim, "penalised", None)
    if posed is None:
        remedy = "fit LogisticRegression(bias_reduction='firth') first"
        raise InputError("model", f"{type(model).__name__} was not fitted by Firth's likelihood", remedy)
    problem: Penalised = posed(X, y, sample_weight, offset)
    return problem, problem.framed(model.scorer_.W)


def _number_of(model: Any, column: int | str) -> int:
    """The column of W for a column of X, which is given by number or name."""
    names = [str(name) for name in getattr(model, "feature_names_in_", ())]
    if isinstance(column, str) and column in names:
        return 1 + names.index(column)
    if column == "intercept":
        return 0
    if isinstance(column, str) or not 0 <= column < model.n_features_in_:
        remedy = f"give a number from 0 to {model.n_features_in_ - 1}, a column's name, or 'intercept'"
        raise InputError("column", f"got {column!r}", remedy)
    return 1 + int(column)
