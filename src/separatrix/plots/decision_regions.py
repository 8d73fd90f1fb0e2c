"""Decision regions in the plane, with the rows in it and the mistakes among them ringed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.base.labels import known_codes
from separatrix.classifiers.fit_input import rows_to_score
from separatrix.diagnostics.plane import Plane, exact_regions, leads, plane_of
from separatrix.evaluation.model_view import view_of
from separatrix.geometry import Region
from separatrix.plots import legends
from separatrix.plots.display import Display
from separatrix.plots.style import Theme, marker, plain, told_apart
from separatrix.scorers.scorer import scores_of

# Rows drawn at most, of a rare class so many at least; past so many points they are small.
MOST_POINTS, FEWEST_OF_CLASS, MANY = 1200, 25, 300
# A box of the middle rows is drawn where the whole would be so many times as wide; room around the rows.
OUTLYING, ROOM = 4.0, 0.07
# Classes named in the legend, those of most points.
MOST_NAMED = 40


@final
@dataclass(eq=False)
class DecisionRegionsDisplay(Display):
    """Where each class wins in a plane, as exact polygons for linear scores, else as contours of scores on a grid.

    Points are rows, by their true class; those that the model gets wrong are ringed. A pipeline with a basis φ is
    drawn in the columns that came in, where its boundary is curved. TEXTBOOK B4.

    >>> from matplotlib.figure import Figure
    >>> from separatrix import LogisticRegression
    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [3.0, 0.0], [3.0, 1.0]], ["a", "a", "b", "b"]
    >>> model = LogisticRegression().fit(X, y)
    >>> shown = DecisionRegionsDisplay.from_estimator(model, X, y, ax=Figure().subplots())
    >>> len(shown.regions), shown.ax_.get_xlabel(), shown.n_rows
    (2, 'x0', 4)
    """

    plane: Plane
    classes: AnyArray
    box: tuple[float, float, float, float]
    regions: Sequence[Region] | None
    leads: tuple[Array, Array, Array] | None
    points: Array
    codes: Integers
    wrong: Any
    n_rows: int

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, y: Any, *, names: Any = None, most: int = MOST_POINTS, seed: int = 0, ax: Any = None
    ) -> Self:
        """From a fitted classifier of this package, or a pipeline that ends in one, and rows X with labels y.

        Of many rows ``most`` are drawn.
        """
        return cls.of(model, X, y, names=names, most=most, seed=seed).plot(ax)

    @classmethod
    def of(cls, model: Any, X: Any, y: Any, *, names: Any = None, most: int = MOST_POINTS, seed: int = 0) -> Self:
        """The same, not drawn yet."""
        model, X, encoded = view_of(model, X)
        names = encoded if names is None else names
        scorer, classes = scores_of(model), np.asarray(model.classes_)
        rows, codes = rows_to_score(model, X)[0], known_codes(y, classes)
        plane = plane_of(model, X, y, names=names, seed=seed)
        drawn = drawn_rows(codes, len(classes), most, seed)
        points = plane.place(rows[drawn])
        wrong = known_codes(scorer.predict(rows[drawn]), classes) != codes[drawn]
        box = _box(points, flat=len(plane.origin) == 1)
        exact = exact_regions(model, plane, box)
        grid = leads(model, plane, box) if exact is None else None
        return cls(plane, classes, box, exact, grid, points, codes[drawn], wrong, len(codes))

    @property
    def outside(self) -> int:
        """Points drawn that lie outside the box."""
        left, right, low, high = self.box
        x, y = self.points.T
        return int(np.sum((x < left) | (x > right) | (y < low) | (y > high)))

    @property
    def says(self) -> str:
        """What is seen, in words."""
        parts = [f"axes: {self.plane.says}"]
        if len(self.codes) < self.n_rows:
            parts.append(f"{len(self.codes)} of {self.n_rows} rows drawn")
        if self.outside:
            parts.append(f"{self.outside} of them lie outside the picture")
        if not self.plane.exact:
            parts.append("regions where all other directions are at their mean, so rows may lie elsewhere")
        if len(self.named) < len(self.classes):
            parts.append(f"{len(self.named)} of {len(self.classes)} classes are named, those of most points")
        parts += [told] if (told := told_apart(len(self.classes))) else []
        return "; ".join(parts)

    @property
    def named(self) -> dict[int, str]:
        """The classes in the legend, as they are called there."""
        counts = np.bincount(self.codes, minlength=len(self.classes))
        chosen = np.sort(np.argsort(-counts, kind="stable")[:MOST_NAMED]).tolist()
        labels = self.classes.tolist()
        return {k: plain(labels[k], 24) for k in chosen}

    @property
    def size(self) -> tuple[float, float]:
        return 4.6, 3.6 + legends.height([*self.named.values(), "mistake"], 4.6)

    def _draw(self, ax: Axes, theme: Theme) -> None:
        if self.regions is not None:
            self._draw_polygons(ax, theme)
        if self.leads is not None:
            self._draw_contours(ax, theme)
        many, named = len(self.points) > MANY, self.named
        for k in range(len(self.classes)):
            x, y = self.points[self.codes == k].T
            look = {"s": 9 if many else 18, "alpha": 0.75, "linewidths": 0.3, "edgecolors": theme.paper}
            ax.scatter(x, y, color=theme.of_class(k), marker=marker(k), label=named.get(k), **look)  # type: ignore[arg-type]
        x, y = self.points[self.wrong].T
        size = 34 if many else 60
        if len(x):
            ring = {"facecolors": "none", "edgecolors": theme.alarm, "linewidths": 0.9}
            ax.scatter(x, y, s=size, label="mistake", **ring)  # type: ignore[arg-type]
        ax.set_xlim(*self.box[:2])
        ax.set_ylim(*self.box[2:])
        ax.set_xlabel(plain(self.plane.names[0], 40))
        ax.set_ylabel(plain(self.plane.names[1], 40))
        if len(self.plane.origin) == 1:
            ax.set_yticks([])
        legends.below(ax, marks=1.4 if many else 1.0)

    def _draw_polygons(self, ax: Axes, theme: Theme) -> None:
        assert self.regions is not None
        labels = self.classes.tolist()
        held = [region for region in self.regions if not region.empty]
        single = len({region.labels for region in held}) == len(held)
        for k, label in enumerate(labels):
            own = [region.vertices for region in held if region.labels == (label,)]
            if own:
                shape = Path.make_compound_path(*(Path(np.vstack([V, V[:1]]), closed=True) for V in own))
                ax.add_patch(PathPatch(shape, facecolor=theme.of_class(k), alpha=0.13, linewidth=0))
                if single and len(labels) > 1:
                    ax.add_patch(PathPatch(shape, facecolor="none", edgecolor=theme.muted, linewidth=0.8))

    def _draw_contours(self, ax: Axes, theme: Theme) -> None:
        assert self.leads is not None
        first, second, lead = self.leads
        for k, ahead in enumerate(lead):
            if np.any(ahead > 0):
                top = float(np.max(ahead)) + 1.0
                ax.contourf(first, second, ahead, levels=[0.0, top], colors=[theme.of_class(k)], alpha=0.13)
            if np.any(ahead > 0) and np.any(ahead < 0):
                ax.contour(first, second, ahead, levels=[0.0], colors=[theme.muted], linewidths=0.8)


def drawn_rows(codes: Integers, n_classes: int, most: int, seed: int) -> Integers:
    """Row numbers to draw: all, or about ``most`` by the seed, of every class by its share and of a rare one some.

    >>> drawn_rows(np.array([0, 1, 0]), 2, 10, 0).tolist()
    [0, 1, 2]
    >>> codes = np.repeat([0, 1], [10_000, 30])
    >>> np.bincount(codes[drawn_rows(codes, 2, 100, 0)]).tolist()
    [100, 25]
    """
    if len(codes) <= most:
        return np.arange(len(codes))
    rng, found = np.random.default_rng(seed), []
    for k in range(n_classes):
        own = np.flatnonzero(codes == k)
        size = min(len(own), max(FEWEST_OF_CLASS, round(most * len(own) / len(codes))))
        found.append(rng.choice(own, size, replace=False))
    return np.sort(np.concatenate(found))


def _box(points: Array, flat: bool) -> tuple[float, float, float, float]:
    ends = []
    for x in points.T:
        low, high = float(x.min()), float(x.max())
        inner = np.quantile(x, [0.01, 0.99])
        if high - low > OUTLYING * (inner[1] - inner[0]) > 0:
            low, high = float(inner[0]), float(inner[1])
        room = ROOM * (high - low) if high > low else 1.0
        ends += [low - room, high + room]
    return (ends[0], ends[1], -2.5, 2.5) if flat else (ends[0], ends[1], ends[2], ends[3])
