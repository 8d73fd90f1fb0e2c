r"""Two classes along any direction: histogram, Fisher's criterion and thresholds (docs/tour.md, F1–F5, F7).

With y = w·x, ‖w‖ = 1, the classes have means m_i, sums of squares s_i² and standard deviations σ_i = s_i/√(n_i − 1):

    J(w) = (m₂ − m₁)²/(s₁² + s₂²),    largest at ŵ ∝ S_W⁻¹(m₂ − m₁)

Thresholds: midway between the means, or where the posteriors of the two Gaussians with priors n_i/n cross.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.core.base.arrays import AnyArray, Array, Integers, as_floats, check_count
from separatrix.core.base.errors import LabelError, ParameterError
from separatrix.core.base.labels import encode
from separatrix.core.base.messages import many
from separatrix.core.moments import Moments, gather
from separatrix.core.projections import DIRECTIONS, Fisher, apart, gaussian_cut
from separatrix.core.rows.block import is_sparse
from separatrix.core.rows.labelled_table import InMemory
from separatrix.core.rows.memory_rows import memory_rows

ALONG = InMemory("along", "it counts the rows of a histogram")
CRITERION_CURVE = InMemory("criterion_curve", "it is for examples that fit into memory")


@dataclass(frozen=True, eq=False)
class Along:
    """Two classes along a direction. ``along`` returns one.

    Attributes
    ----------
    direction : array (d,)
        w, of length 1.
    classes : array (2,)
        The labels.
    values : array (n,)
        y = w·x of each row.
    means, deviations : arrays (2,)
        m_i and σ_i.
    J, best_J : float
        Fisher's criterion along w, and its maximum over all directions.
    best_direction : array (d,) or None
        The direction of the largest J; None if the classes have the same mean.
    midpoint : float
        Midway between the means.
    crossings : array (0, 1 or 2)
        Where the posteriors cross.
    threshold : float
        The crossing at which the second class begins; infinite if one class has the larger posterior everywhere.
    wrong_by_midpoint, wrong_by_posterior : int
        How many rows each threshold gets wrong; with two crossings, the larger posterior decides.
    edges : array (bins + 1,)
        The edges of the histogram.
    counts : array (2, bins) of int
        The rows of each class in each bin.
    note : str
        A remark on these variances; empty if there is none.

    Examples
    --------
    >>> import separatrix as sx
    >>> found = sx.along([[0.0, 0.0], [1.0, 0.0], [4.0, 1.0], [5.0, 1.0]], ["a", "a", "b", "b"], [1.0, 0.0])
    >>> found.means.tolist(), found.midpoint, found.wrong_by_midpoint
    ([0.5, 4.5], 2.5, 0)
    """

    direction: Array
    classes: AnyArray
    values: Array
    means: Array
    deviations: Array
    J: float
    best_J: float
    best_direction: Array | None
    midpoint: float
    crossings: Array
    threshold: float
    wrong_by_midpoint: int
    wrong_by_posterior: int
    edges: Array
    counts: Integers
    note: str

    def __str__(self) -> str:
        points = ", ".join(f"{point:.4g}" for point in self.crossings)
        return "\n".join(
            [
                f"J = {self.J:.4g} of at most {self.best_J:.4g}, means {self.means[0]:.4g} and {self.means[1]:.4g}",
                f"  midpoint {self.midpoint:.4g}: {self.wrong_by_midpoint} of {len(self.values)} rows wrong",
                f"  posteriors cross at {points or 'no point'}: {many(self.wrong_by_posterior, 'row')} wrong",
            ]
        )


@ALONG.refusing_tables
def along(X: Any, y: Any, direction: Any = "fisher", *, bins: int = 20) -> Along:
    """Project two classes on a direction, and measure how well it separates them.

    Parameters
    ----------
    X : array (n, d)
        The rows.
    y : array (n,)
        Labels of two classes.
    direction : array (d,), "fisher" or "means", default "fisher"
        Any direction, Fisher's, or that of the means. Its length does not matter.
    bins : int, default 20
        The number of bins of the histogram.

    Returns
    -------
    Along

    Examples
    --------
    >>> import separatrix as sx
    >>> X, y = [[0.0, 0.0], [2.0, 1.0], [4.0, 0.0], [6.0, 2.0]], [0, 0, 1, 1]
    >>> print(sx.along(X, y, [1.0, 0.0]))
    J = 4 of at most 29, means 1 and 5
      midpoint 3: 0 of 4 rows wrong
      posteriors cross at 3: 0 rows wrong
    """
    rows, classes, codes = _two_classes(X, y)
    check_count("bins", bins)
    moments = gather(memory_rows(rows, codes), 2)
    w = _direction(direction, moments, rows.shape[1])
    values = rows @ w
    means = np.array([values[codes == k].mean() for k in (0, 1)])
    onward = 1.0 if means[1] >= means[0] else -1.0
    cut = gaussian_cut(moments, onward * w[:, None], np.arange(2))
    midpoint = float(means.mean())
    best = _best(moments)
    edges = np.histogram_bin_edges(values, bins)
    return Along(
        direction=w,
        classes=classes,
        values=values,
        means=means,
        deviations=np.array([_deviation(values[codes == k]) for k in (0, 1)]),
        J=Fisher().criterion(moments, w[:, None]),
        best_J=0.0 if best is None else Fisher().criterion(moments, best[:, None]),
        best_direction=best,
        midpoint=midpoint,
        crossings=np.sort(onward * cut.crossings),
        threshold=onward * cut.threshold,
        wrong_by_midpoint=int(np.sum((onward * (values - midpoint) >= 0) != (codes == 1))),
        wrong_by_posterior=int(np.sum(cut.scorer.predict(rows) != codes)),
        edges=edges,
        counts=np.array([np.histogram(values[codes == k], edges)[0] for k in (0, 1)]),
        note=cut.note,
    )


@dataclass(frozen=True, eq=False)
class CriterionCurve:
    """Fisher's criterion of all directions in the plane. ``criterion_curve`` returns one.

    Attributes
    ----------
    angles : array (points,)
        θ in radians, from 0 to π: a direction and its opposite have the same J.
    J : array (points,)
        J of (cos θ, sin θ).
    best_angle, means_angle : float
        The angles of Fisher's direction and of the means' direction, from 0 to π.
    best_J, means_J : float
        J there.

    Examples
    --------
    >>> import separatrix as sx
    >>> X = [[0.0, 1.0], [1.0, 0.0], [-1.0, -1.0], [4.0, 1.0], [5.0, 0.0], [3.0, -1.0]]
    >>> curve = sx.criterion_curve(X, [0, 0, 0, 1, 1, 1])
    >>> curve.means_angle, curve.best_J > curve.means_J
    (0.0, True)
    """

    angles: Array
    J: Array
    best_angle: float
    means_angle: float
    best_J: float
    means_J: float


@CRITERION_CURVE.refusing_tables
def criterion_curve(X: Any, y: Any, points: int = 181) -> CriterionCurve:
    """Compute Fisher's criterion J(θ) of two classes in the plane, for directions (cos θ, sin θ).

    Parameters
    ----------
    X : array (n, 2)
        The rows.
    y : array (n,)
        Labels of two classes.
    points : int, default 181
        The number of angles from 0 to π.

    Returns
    -------
    CriterionCurve

    Raises
    ------
    ParameterError
        If X does not have two columns.
    LabelError
        If the classes have the same mean, so that no direction separates them.

    Examples
    --------
    >>> import separatrix as sx
    >>> X, y = [[0.0, 0.0], [2.0, 1.0], [4.0, 0.0], [6.0, 2.0]], [0, 0, 1, 1]
    >>> curve = sx.criterion_curve(X, y)
    >>> bool(curve.J.max() <= curve.best_J * (1 + 1e-12)), curve.J.shape
    (True, (181,))
    """
    rows, _, codes = _two_classes(X, y)
    if rows.shape[1] != 2:
        raise ParameterError(
            "X", f"it has {many(rows.shape[1], 'column')}", "give two; along takes any direction of more"
        )
    check_count("points", points, least=2)
    moments = gather(memory_rows(rows, codes), 2)
    angles = np.linspace(0.0, np.pi, points)
    V = np.stack([np.cos(angles), np.sin(angles)]) * moments.frame.scale[:, None]
    within = np.einsum("ia,ij,ja->a", V, moments.within, V)
    between = (apart(moments) @ V)[0] ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        J = np.where(between > 0, between / within, 0.0)
    ways = {name: way.best(moments, 1)[0][:, 0] for name, way in DIRECTIONS.items()}
    turned = {name: float(np.arctan2(w[1], w[0]) % np.pi) for name, w in ways.items()}
    values = {name: Fisher().criterion(moments, w[:, None]) for name, w in ways.items()}
    return CriterionCurve(angles, J, turned["fisher"], turned["means"], values["fisher"], values["means"])


def _two_classes(X: Any, y: Any) -> tuple[Array, AnyArray, Integers]:
    """The rows as an array, the labels of the two classes, and the class numbers of the rows."""
    classes, codes = encode(y)
    if len(classes) != 2:
        raise ParameterError("y", f"it has {many(len(classes), 'class')}", "give two")
    rows = as_floats(X.toarray() if is_sparse(X) else X)
    if rows.ndim != 2 or len(rows) != len(codes):
        raise ParameterError("X", f"its shape is {rows.shape} for {len(codes)} labels", "give one row for each label")
    return rows, classes, codes


def _direction(given: Any, moments: Moments, width: int) -> Array:
    """The direction as a vector of length 1."""
    if isinstance(given, str):
        if given not in DIRECTIONS:
            raise ParameterError("direction", f"got {given!r}", f"give {width} numbers, or {' or '.join(DIRECTIONS)}")
        w = DIRECTIONS[given].best(moments, 1)[0][:, 0]
    else:
        try:
            w = np.asarray(given, dtype=np.float64).ravel()
        except (TypeError, ValueError):
            w = np.zeros(0)
    size = float(np.max(np.abs(w), initial=0.0))
    if len(w) != width or not 0 < size < np.inf:
        raise ParameterError("direction", f"got {given!r}", f"give {width} finite numbers that are not all zero")
    w = w / size  # so that the squares neither overflow nor underflow
    return np.asarray(w / np.linalg.norm(w))


def _best(moments: Moments) -> Array | None:
    try:
        w = Fisher().best(moments, 1)[0][:, 0]
    except LabelError:  # the classes have the same mean
        return None
    return np.asarray(w / np.linalg.norm(w))


def _deviation(values: Array) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 else 0.0
