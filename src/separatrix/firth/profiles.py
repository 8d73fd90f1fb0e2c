r"""Tests and intervals by profiles of Firth's likelihood.

A test holds columns at zero, maximises l* over the others and compares 2 (max l* − max l* held) with χ². An interval
for a coefficient holds every value v at which 2 (max l* − l*_prof(v)) ≤ χ²₁(level), where l*_prof(v) is the maximum
with the coefficient held at v. |I| is over all columns throughout: held columns stay in the model, their weights known.

An end of the interval solves r(v) = (2 (max l* − l*_prof(v)))^½ = q (``profile_ends``). The slope of l* along the
profile is −U*·a, with a = I⁻¹c/(cᵀI⁻¹c) and c the coefficient's gradient. An end is returned only after l*_prof has
been evaluated there, at a maximum over the other weights, and r found to be q; else it is NaN, and a warning says why.

Heinze and Schemper, A solution to the problem of separation in logistic regression, Statistics in Medicine 21 (2002);
Venzon and Moolgavkar, A method for computing profile-likelihood-based confidence intervals, Applied Statistics 37
(1988).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base import errors
from separatrix.base.arrays import Array
from separatrix.base.concurrency import one_blas_thread
from separatrix.base.errors import InputError, ParameterError
from separatrix.firth.ascent import NEAR, ROUNDING, Ascent, Point
from separatrix.firth.penalised_likelihood import Penalised
from separatrix.firth.profile_root import End, Look, find_end

# A direction lies within the determined ones where no more than this share of it is outside.
DETERMINED = 1e-6


def fit_holding(problem: Penalised, W: Array, columns: Any, tol: float = 1e-8) -> tuple[Point, int]:
    """The maximum of l* with these columns' weights as W has them, and how many directions they take away.

    ``W``: (K or 1, d + 1) in the problem's coordinates. ``columns``: (d + 1,) of truth values, or numbers of columns of
    W, 0 the intercept; held are the weights in raw units.

    >>> from separatrix.firth import pose
    >>> problem = pose(np.arange(4.0)[:, None], np.array([0, 0, 1, 1]), 2, np.ones(4))
    >>> point, taken = fit_holding(problem, problem.zero, [1])
    >>> point.W.tolist(), taken
    ([[0.0, 0.0]], 1)
    """
    basis = _moves_beside(problem, _held(problem, columns))
    with one_blas_thread:
        point, _ = Ascent(tol, moves=basis)(problem, W)
    return point, len(basis) - basis.shape[1]


def penalised_test(problem: Penalised, W: Array, columns: Any) -> tuple[float, float]:
    """2 (l*(W) − max l* with these columns' weights zero), and its p-value; W is the maximum.

    >>> from separatrix.firth import fit, pose
    >>> problem = pose(np.arange(6.0)[:, None], np.array([0, 0, 0, 1, 1, 1]), 2, np.ones(6))
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
        came = "the others say all that these columns say"
        raise InputError("columns", came, "leave out the columns that are combinations of others")
    statistic = max(0.0, 2 * problem.weight * (point.level.value - there.value))
    return statistic, float(chi2.sf(statistic, taken))


def profile_interval(
    problem: Penalised, W: Array, column: int, level: float = 0.95, contrast: Any = None
) -> tuple[float, float]:
    """Where a coefficient lies, by the profile of Firth's likelihood around its maximum W, in raw units.

    Parameters
    ----------
    problem : Penalised
        The likelihood, as ``pose`` or ``posed_again`` gives it.
    W : array (K or 1, d + 1)
        Its maximum, in the problem's coordinates.
    column : int
        Of W, 0 the intercept.
    level : float, default 0.95
        The confidence level.
    contrast : array (K,), for more than two classes
        Whose weights are added up and how often, e.g. (−1, 0, 1) for the third class against the first; it sums to
        zero.

    Returns
    -------
    low, high : float
        At each, 2 (max l* − l*_prof) was evaluated and equals χ²₁(level) to 2·10⁻⁹ of it, or 2·10⁻⁵ where rounding
        hides more. NaN where no such end was found; then a ``NotConvergedWarning`` says why.

    Examples
    --------
    >>> from separatrix.firth import fit, pose
    >>> problem = pose(np.arange(6.0)[:, None], np.array([0, 0, 0, 1, 1, 1]), 2, np.ones(6))
    >>> low, high = profile_interval(problem, fit(problem).point.W, 1)
    >>> round(low, 3), round(high, 3)
    (0.002, 6.07)
    """
    low, high = profile_ends(problem, W, column, level, contrast)
    for name, end in (("lower", low), ("upper", high)):
        if end.reason:
            sentence = f"no {name} end of the profile interval of column {column} was found: {end.reason}"
            warnings.warn(sentence, errors.NotConvergedWarning, stacklevel=2)
    return low.v, high.v


def profile_ends(
    problem: Penalised, W: Array, column: int, level: float = 0.95, contrast: Any = None
) -> tuple[End, End]:
    """The ends of ``profile_interval`` in raw units, each with the reason where it was not found."""
    from scipy.special import ndtri

    if not 0 < level < 1:
        raise ParameterError("level", f"got {level!r}", "give a share between 0 and 1, such as 0.95")
    q = float(ndtri(0.5 + 0.5 * level))
    with one_blas_thread:
        profile = _Profile.of(problem, W, *_coefficient(problem, column, contrast))
        return profile.end(-1, q), profile.end(+1, q)


@dataclass(frozen=True)
class _Profile:
    """l* along a coefficient c·θ + constant, θ in the determined directions, maximised over the rest of them."""

    problem: Penalised
    top: Point
    c: Array
    constant: float

    @classmethod
    def of(cls, problem: Penalised, W: Array, c: Array, constant: float) -> _Profile:
        return cls(problem, Ascent()(problem, W)[0], c, constant)

    def value(self, W: Array) -> float:
        return float(self.c @ self.problem.objective.subspace.reduce(W)) + self.constant

    def tangent(self, point: Point) -> Array:
        """I⁻¹c/(cᵀI⁻¹c): how the other weights follow where c·θ grows by one."""
        along = point.level.factor.solve(self.c)
        return np.asarray(along / (self.c @ along))

    def end(self, side: int, q: float) -> End:
        """Where the coefficient has r = q, on this side of the maximum."""
        if self.top.length > NEAR:
            return End(
                np.nan, f"the fit is no maximum: its penalised score is {self.top.length:.1e} standard errors long"
            )
        error = float(np.sqrt(self.c @ self.top.level.factor.solve(self.c) / self.problem.weight))
        rounding = 2 * self.problem.weight * ROUNDING * abs(self.top.level.value)
        found = find_end(_Walk(self, side), q * error, q, rounding)
        return found._replace(v=self.value(self.top.W) + side * found.v)


class _Walk:
    """The profile at one distance after another, each maximum sought from the last one found."""

    def __init__(self, profile: _Profile, side: int) -> None:
        self.profile, self.side, self.point = profile, side, profile.top
        self.ascent = Ascent(moves=np.linalg.svd(profile.c[None, :])[2][1:].T)

    def __call__(self, v: float) -> Look | None:
        """None where l* has no maximum that can be found with the coefficient so far from its own."""
        profile, space = self.profile, self.profile.problem.objective.subspace
        center, weight = profile.value(profile.top.W), profile.problem.weight
        ahead = center + self.side * v - profile.value(self.point.W)
        start = self.point.W + space.expand(ahead * profile.tangent(self.point))
        try:
            point, _ = self.ascent(profile.problem, start)
        except InputError:  # the information is singular there
            return None
        if point.length > NEAR:
            return None
        self.point = point
        fall = weight * (point.level.value - profile.top.level.value)
        slope = self.side * weight * float(space.reduce(point.gradient) @ profile.tangent(point))
        return Look(self.side * (profile.value(point.W) - center), float(np.sqrt(max(0.0, 2 * fall))), slope)


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

    ``column``: of X, by number or name; "intercept" for that. ``contrast``: as of ``profile_interval``.

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
    """The likelihood that a fitted model maximised, over the same rows, and its weights in those coordinates.

    >>> from separatrix import LogisticRegression
    >>> X, y = np.arange(6.0)[:, None], [0, 0, 0, 1, 1, 1]
    >>> problem, W = posed_again(LogisticRegression(bias_reduction="firth").fit(X, y), X, y)
    >>> bool(np.linalg.norm(problem.gradient(W, problem.level(W).factor)) < 1e-8)
    True
    """
    claim = getattr(getattr(model, "certificate_", None), "claim", None)
    posed = getattr(claim, "penalised", None)
    if posed is None:
        do = "fit LogisticRegression(bias_reduction='firth') first"
        raise InputError("model", f"{type(model).__name__} was not fitted by Firth's likelihood", do)
    problem: Penalised = posed(X, y, sample_weight, offset)
    return problem, problem.framed(model.scorer_.W)


def _number_of(model: Any, column: int | str) -> int:
    """Of a column of X, given by number or name, among the columns of W."""
    names = [str(name) for name in getattr(model, "feature_names_in_", ())]
    if isinstance(column, str) and column in names:
        return 1 + names.index(column)
    if column == "intercept":
        return 0
    if isinstance(column, str) or not 0 <= column < model.n_features_in_:
        do = f"give a number from 0 to {model.n_features_in_ - 1}, a column's name, or 'intercept'"
        raise InputError("column", f"got {column!r}", do)
    return 1 + int(column)


def _held(problem: Penalised, columns: Any) -> Any:
    """Columns of W, of the intercept and X alone, as truth values (d + 1,)."""
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
    """An orthonormal basis (P, q) of the directions left where the raw weights of these columns stay as they are."""
    space, frame = problem.objective.subspace, problem.objective.rows.frame
    free = ~(held | problem.objective.pinned)
    D = np.eye(len(free))
    if held[0]:  # a raw intercept stays as it is where the framed one makes up for what centring moves
        D[1:, 0] = frame.center / frame.scale
        D /= np.linalg.norm(D, axis=1, keepdims=True)
    directions = D[free] if space.Z is None else D[free] @ space.Z
    _, values, vectors = np.linalg.svd(directions, full_matrices=False)
    basis = vectors[values > DETERMINED * np.max(values, initial=0.0)].T
    return np.kron(np.eye(1 if space.Q is None else space.Q.shape[1]), basis)


def _coefficient(problem: Penalised, column: int, contrast: Any) -> tuple[Array, float]:
    """c and a constant with c·θ + constant the coefficient in raw units, θ in the determined directions."""
    K, width = problem.objective.shape
    frame, space = problem.objective.rows.frame, problem.objective.subspace
    if not 0 <= column < width - problem.objective.n_offsets or problem.objective.pinned[column]:
        came = f"got {column}, which is no column of the fit"
        raise InputError("column", came, f"give a number from 0, the intercept, to {width - 1}")
    across = _contrast(contrast, K)
    row = np.zeros(width)
    row[column] = 1.0 if column == 0 else 1.0 / frame.scale[column - 1]
    if column == 0:
        row[1:] = np.where(problem.objective.pinned[1:], 0.0, -frame.center / frame.scale)
    G = np.outer(across, row)
    if np.linalg.norm(space.remainder(G)) > DETERMINED * np.linalg.norm(G):
        came = f"column {column} of W is constant or a combination of the others"
        raise InputError("column", came, "leave out columns until each has a weight of its own")
    n_offsets = problem.objective.n_offsets if column == 0 else 0
    beside = float(across @ frame.center[-n_offsets:]) if n_offsets else 0.0  # the framed intercept holds their means
    return space.reduce(G), -beside


def _contrast(contrast: Any, K: int) -> Array:
    """The contrast of the classes as numbers, (K,), which sum to zero if there are several scores; 1 for one score."""
    across = np.ones(1) if K == 1 and contrast is None else np.asarray(contrast, dtype=np.float64)
    if across.shape != (K,) or (K > 1 and not abs(across.sum()) <= DETERMINED * np.abs(across).sum() > 0):
        do = f"give {K} numbers that sum to zero, such as 1 and −1 for one class against another"
        raise ParameterError("contrast", f"got {contrast!r}", do)
    return across
