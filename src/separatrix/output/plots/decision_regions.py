"""A plot of the decision regions in a plane, with the rows or a sample of them.

Regions are polygons with the boundaries between them in ink, or contours of the scores. Rows are points in the colour
and the shape of their class, with rings around mistakes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self, final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from separatrix.classifiers.fit_input import rows_to_score
from separatrix.core.base.arrays import AnyArray, Array, Integers
from separatrix.core.base.labels import known_codes
from separatrix.core.base.messages import number_text
from separatrix.core.geometry.polygons import Region
from separatrix.core.scorer import scores_of
from separatrix.output.plots.display import PLOTS, POINTS_PER_PIXEL, STRONG, THIN, Display, marker, plain, shortened
from separatrix.output.theme import GROUND, POINT, POINT_EDGE, RING, Theme, told_apart
from separatrix.statistics.view_plane import Plane, exact_regions, leads, plane_of, sampled_rows, view_of

# --- The display

# Largest number of rows drawn: more cover each other.
MOST_ROWS_DRAWN = 1200
# With more points than this, points are drawn small, with this share of the diameter.
MOST_LARGE_POINTS, SMALL_POINT = 300, 0.7
# If the range of all rows is wider than this multiple of the range between the 1 % and 99 % quantiles, only the latter
# is drawn, so that an outlier does not shrink the rest.
OUTLIER_RATIO = 4.0
# Margin around the rows, as a share of their range.
BOX_MARGIN = 0.07
# Largest number of classes in the legend: those with the most points.
MOST_CLASSES_IN_LEGEND = 40


@final
@dataclass(eq=False)
class DecisionRegionsDisplay(Display):
    """The region of each class in a plane, as exact polygons for linear scores, else as contours of scores on a grid.

    Points are rows, coloured by their true class; misclassified rows have a ring. Of many rows, a random sample is
    drawn. A pipeline with a basis φ is drawn in its input columns, where its boundary is curved (docs/tour.md, B4).

    Attributes
    ----------
    plane : Plane
        The plane of the plot.
    classes : array (K,)
        The labels.
    box : tuple
        The limits of both axes.
    regions : list of Region or None
        The polygons, if the scores are linear.
    leads : tuple of arrays or None
        Otherwise the grid, and by how much each class leads there.
    points, codes, wrong : arrays
        The coordinates of the rows, their class numbers, and which of them are misclassified.
    drawn : array
        The numbers of the rows that are drawn.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from separatrix import LogisticRegression
    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [3.0, 0.0], [3.0, 1.0]], ["a", "a", "b", "b"]
    >>> model = LogisticRegression().fit(X, y)
    >>> shown = DecisionRegionsDisplay.from_estimator(model, X, y, ax=Figure().subplots())
    >>> len(shown.regions), shown.ax_.get_xlabel(), shown.drawn.tolist()
    (2, 'x0', [0, 1, 2, 3])
    """

    plane: Plane
    classes: AnyArray
    box: tuple[float, float, float, float]
    regions: Sequence[Region] | None
    leads: tuple[Array, Array, Array] | None
    points: Array
    codes: Integers
    wrong: AnyArray
    drawn: Integers

    @classmethod
    @PLOTS.refusing_tables
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        y: Any,
        *,
        names: Any = None,
        most: int = MOST_ROWS_DRAWN,
        seed: int = 0,
        ax: Any = None,
    ) -> Self:
        """Draw the decision regions of a fitted classifier.

        Parameters
        ----------
        model : estimator
            A fitted classifier of this package, or a pipeline that ends in one.
        X, y
            Labelled rows.
        names : list of str or None
            Names of the columns; by default those of the fit.
        most : int, default 1200
            The largest number of rows that are drawn; of more, a random sample of this size is.
        seed : int, default 0
            Seed for the sample of rows that are drawn, and for the one from which the plane is chosen.
        ax : matplotlib Axes or None
            Where to draw; by default on a new figure of pyplot.

        Returns
        -------
        DecisionRegionsDisplay
        """
        return cls.of(model, X, y, names=names, most=most, seed=seed).plot(ax)

    @classmethod
    def of(
        cls,
        model: Any,
        X: Any,
        y: Any,
        *,
        names: Any = None,
        most: int = MOST_ROWS_DRAWN,
        seed: int = 0,
        plane: Plane | None = None,
    ) -> Self:
        """The same display, not drawn yet; call ``plot`` to draw it.

        Parameters
        ----------
        model, X, y, names, most, seed
            As for ``from_estimator``.
        plane : Plane, optional
            The plane to draw, which may have been chosen by other rows.

        Returns
        -------
        DecisionRegionsDisplay
        """
        model, X, encoded, scaling = view_of(model, X)
        names = encoded if names is None else names
        scorer, classes = scores_of(model), np.asarray(model.classes_)
        rows, codes = rows_to_score(model, X)[0], known_codes(y, classes)
        if plane is None:
            plane = plane_of(model, X, y, names=names, seed=seed, scaling=scaling)
        points = plane.place(rows)
        wrong = known_codes(scorer.predict(rows), classes) != codes
        box = _box(points, flat=len(plane.origin) == 1)
        exact = exact_regions(model, plane, box)
        grid = leads(model, plane, box) if exact is None else None
        return cls(plane, classes, box, exact, grid, points, codes, wrong, sampled_rows(len(codes), most, seed))

    @property
    def outside(self) -> int:
        """How many of all rows lie outside the box."""
        left, right, low, high = self.box
        x, y = self.points.T
        return int(np.sum((x < left) | (x > right) | (y < low) | (y > high)))

    @property
    def says(self) -> str:
        """What the plot shows, in words."""
        parts = [f"axes: {self.plane.says}"]
        if len(self.drawn) < len(self.codes):
            parts.append(f"a random sample of {len(self.drawn):,} of {len(self.codes):,} rows is drawn")
        if self.outside:
            parts.append(f"{self.outside:,} of all rows {'lies' if self.outside == 1 else 'lie'} outside the plot")
        if not self.plane.exact:
            parts.append("regions with all other directions at their mean, so rows may lie outside their region")
        if len(self.named) < len(self.classes):
            parts.append(f"{len(self.named)} of {len(self.classes)} classes are named, those with the most points")
        parts += [note] if (note := told_apart(len(self.classes))) else []
        return "; ".join(parts)

    @property
    def alternative(self) -> str:
        K = len(self.classes)
        rows, wrong = (np.bincount(codes, minlength=K) for codes in (self.codes, self.codes[self.wrong]))
        middle = [np.median(self.points[self.codes == k], axis=0) for k in range(K) if rows[k]]
        told = [
            f"{shortened(self.classes.tolist()[k], 40)}: {rows[k]:,} rows, {wrong[k]:,} of them misclassified, "
            f"in the middle at ({number_text(x, 3)}, {number_text(y, 3)})"
            for k, (x, y) in zip(np.flatnonzero(rows).tolist(), middle, strict=True)
        ]
        return f"Rows in a plane, by class. {'; '.join(told)}."

    @property
    def named(self) -> dict[int, str]:
        """The names of the classes in the legend, by class number."""
        counts = np.bincount(self.codes, minlength=len(self.classes))
        chosen = np.sort(np.argsort(-counts, kind="stable")[:MOST_CLASSES_IN_LEGEND]).tolist()
        labels = self.classes.tolist()
        return {k: plain(labels[k], 24) for k in chosen}

    @property
    def size(self) -> tuple[float, float]:
        return 4.6, 3.6 + self._legend_height([*self.named.values(), "mistake"], 4.6)

    def _draw(self, ax: Axes, theme: Theme) -> None:
        if self.regions is not None:
            draw_regions(ax, theme, self.regions, self.classes.tolist(), self.box)
        if self.leads is not None:
            self._draw_contours(ax, theme)
        points, codes, wrong = self.points[self.drawn], self.codes[self.drawn], self.wrong[self.drawn]
        size = SMALL_POINT if len(points) > MOST_LARGE_POINTS else 1.0
        draw_rows(ax, theme, points, codes, wrong, n_classes=len(self.classes), named=self.named, size=size)
        ax.set_xlim(*self.box[:2])
        ax.set_ylim(*self.box[2:])
        ax.set_xlabel(plain(self.plane.names[0], 40))
        ax.set_ylabel(plain(self.plane.names[1], 40))
        if len(self.plane.origin) == 1:
            ax.set_yticks([])
        self._legend(ax)

    def _draw_contours(self, ax: Axes, theme: Theme) -> None:
        assert self.leads is not None
        first, second, lead = self.leads
        for k, ahead in enumerate(lead):
            if np.any(ahead > 0):
                top = float(np.max(ahead)) + 1.0
                ax.contourf(first, second, ahead, levels=[0.0, top], colors=[theme.of_class(k)], alpha=GROUND)
            # The boundary of two classes is the same curve for both.
            if np.any(ahead > 0) and np.any(ahead < 0) and (k > 0 or len(lead) > 2):
                ax.contour(first, second, ahead, levels=[0.0], colors=[theme.ink], linewidths=STRONG, zorder=2.8)


def _box(points: Array, flat: bool) -> tuple[float, float, float, float]:
    """The limits of both axes. ``flat``: there is one column, and the second coordinate is random."""
    ends = []
    for x in points.T:
        low, high = float(x.min()), float(x.max())
        inner = np.quantile(x, [0.01, 0.99])
        if high - low > OUTLIER_RATIO * (inner[1] - inner[0]) > 0:
            low, high = float(inner[0]), float(inner[1])
        margin = BOX_MARGIN * (high - low) if high > low else 1.0
        ends += [low - margin, high + margin]
    return (ends[0], ends[1], -2.5, 2.5) if flat else (ends[0], ends[1], ends[2], ends[3])


# --- Rows and regions


def draw_rows(
    ax: Axes,
    theme: Theme,
    points: Array,
    codes: Integers,
    wrong: AnyArray,
    *,
    n_classes: int,
    named: Mapping[int, str] | None = None,
    size: float = 1.0,
) -> None:
    """Draw rows in the colour and shape of their class, and a ring around misclassified rows.

    Parameters
    ----------
    ax, theme
        Where to draw, and in which colours.
    points : array (n, 2)
        The positions of the rows.
    codes : array (n,)
        Their class numbers.
    wrong : array (n,) of bool
        Which rows are misclassified.
    n_classes : int
        The number of classes.
    named : mapping of int to str, optional
        The names in the legend, by class number.
    size : float, default 1
        The size of points and rings, as a multiple of the size in the theme.
    """
    point, ring = (POINTS_PER_PIXEL * size * diameter for diameter in (POINT, RING))
    look = {"s": point**2, "linewidths": POINTS_PER_PIXEL * size * POINT_EDGE, "edgecolors": theme.paper, "zorder": 3}
    for k in range(n_classes):
        x, y = points[codes == k].T
        ax.scatter(x, y, color=theme.of_class(k), marker=marker(k), label=(named or {}).get(k), **look)  # type: ignore[arg-type]
    x, y = points[wrong].T
    if len(x):
        look = {"facecolors": "none", "edgecolors": theme.ink, "linewidths": THIN, "zorder": 4}
        ax.scatter(x, y, s=ring**2, label="mistake", **look)  # type: ignore[arg-type]


def draw_regions(
    ax: Axes,
    theme: Theme,
    regions: Sequence[Region],
    labels: Sequence[Any],
    box: tuple[float, float, float, float],
) -> None:
    """Fill the region of each class with its colour, and draw the boundaries between them in ink.

    Parameters
    ----------
    ax, theme
        Where to draw, and in which colours.
    regions : list of Region
        Polygons that cover the box, as ``sx.regions`` returns them.
    labels : list
        The classes, in the order of their colours.
    box : tuple
        The limits of both axes, whose frame is not a boundary.
    """
    drawn = [region for region in regions if not region.empty]
    for k, label in enumerate(labels):
        polygons = [region.vertices for region in drawn if region.labels == (label,)]
        if polygons:
            shape = Path.make_compound_path(*(Path(np.vstack([V, V[:1]]), closed=True) for V in polygons))
            ax.add_patch(PathPatch(shape, facecolor=theme.of_class(k), alpha=GROUND, linewidth=0))
    edges = boundaries(drawn, box)
    if len(edges):
        codes = np.tile([Path.MOVETO, Path.LINETO], len(edges)).astype(np.uint8)
        look: dict[str, Any] = {"edgecolor": theme.ink, "linewidth": STRONG, "capstyle": "round", "zorder": 2.8}
        ax.add_patch(PathPatch(Path(edges.reshape(-1, 2), codes), facecolor="none", label="boundary", **look))


# --- Boundaries between polygons

# Points of the unit square are the same if they agree to this many digits.
DECIMALS_OF_CORNERS = 6
TOLERANCE = 2 * 10.0**-DECIMALS_OF_CORNERS


def boundaries(regions: Sequence[Region], box: tuple[float, float, float, float]) -> Array:
    """The segments (m, 2, 2) where regions with different labels meet. The frame of the box is not among them.

    A segment that only one region has is a boundary, too: rounding has moved the ends of the other region's edge.

    >>> left = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 2.0], [0.0, 2.0]])
    >>> low, high = (np.array([[1.0, y], [2.0, y], [2.0, y + 1], [1.0, y + 1]]) for y in (0.0, 1.0))
    >>> found = [Region(("a",), left), Region(("b",), low), Region(("b",), high)]
    >>> sorted(boundaries(found, (0.0, 2.0, 0.0, 2.0))[:, :, 1].min(axis=1).tolist())
    [0.0, 1.0]
    """
    left, right, low, high = box
    corner, unit = np.array([left, low]), np.array([right - left, high - low])
    polygons = [
        np.round((np.asarray(region.vertices) - corner) / unit, DECIMALS_OF_CORNERS) + 0.0 for region in regions
    ]
    corners = np.unique(np.vstack(polygons), axis=0) if polygons else np.empty((0, 2))
    meeting: dict[tuple[float, ...], list[tuple[object, ...]]] = {}
    for region, V in zip(regions, polygons, strict=True):
        for start, end in zip(V, np.roll(V, -1, axis=0), strict=True):
            for a, b in pairwise(_split(start, end, corners)):
                meeting.setdefault((*a, *b) if a < b else (*b, *a), []).append(region.labels)
    kept = [
        ends
        for ends, labels in meeting.items()
        if len(set(labels)) > 1 or (len(labels) == 1 and not _on_frame(np.array(ends).reshape(2, 2)))
    ]
    return np.asarray(np.array(kept).reshape(-1, 2, 2) * unit + corner)


def _on_frame(ends: Array) -> bool:
    near = np.minimum(np.abs(ends), np.abs(ends - 1)) <= TOLERANCE
    return bool(np.any(near.all(axis=0)))


def _split(start: Array, end: Array, corners: Array) -> list[tuple[float, ...]]:
    """The points on an edge: its ends, and the corners of other polygons that lie on it."""
    along = end - start
    length = float(along @ along)
    if length == 0.0:
        return []
    share = (corners - start) @ along / length
    away = np.abs((corners - start) @ np.array([-along[1], along[0]])) / np.sqrt(length)
    on = (away <= TOLERANCE) & (np.abs(share - 0.5) <= 0.5 + TOLERANCE)
    return [tuple(point) for point in corners[on][np.argsort(share[on], kind="stable")].tolist()]
