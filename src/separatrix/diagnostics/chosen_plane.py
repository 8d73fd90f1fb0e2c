"""Planes that the reader chooses, whatever the model: two columns, or Fisher's axes.

``view_plane`` chooses one by itself. ``ModelInPlane`` is a model as a function of the points of a plane: for two of
several columns, the other columns are at their means.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.base.labels import encode, known_codes
from separatrix.diagnostics.view_plane import (
    MOST_CLASSES_BY_PAIRS,
    Plane,
    fisher_directions,
    names_of_axes,
    own_columns,
    standardised_sample,
    two_directions,
)
from separatrix.geometry import Region
from separatrix.rows import memory_rows, summarise
from separatrix.scorers.parts import PartsScorer
from separatrix.scorers.scorer import Scorer, scores_of
from separatrix.table import Table


def fisher_plane(table: Table) -> Plane:
    """The plane of the two directions that separate the classes best, whatever the model.

    With two classes there is one such direction, and the second is the largest principal direction orthogonal to it.

    >>> from separatrix import read_table
    >>> fisher_plane(read_table("demo:iris")).names
    ('first Fisher axis', 'second Fisher axis')
    """
    names, scaling = list(table.names), table.scaling
    if len(names) <= 2:
        return own_columns(names, scaling)
    block, codes = standardised_sample(table.X, encode(table.y)[1])
    B, n_useful = two_directions(fisher_directions(block, codes), block)
    axes, says = names_of_axes(n_useful)
    return Plane(block.frame.center, block.frame.scale, B, axes, False, f"{says}, over standardised columns")


def column_plane(table: Table, first: int, second: int) -> Plane:
    """The plane of two columns in their own units, where all other columns are at their means.

    >>> from separatrix import read_table
    >>> plane = column_plane(read_table("demo:iris"), 2, 3)
    >>> plane.lift(np.array([[4.0, 1.0]])).round(2).tolist()
    [[5.84, 3.06, 4.0, 1.0]]
    """
    d = len(table.names)
    if d <= 2:
        return own_columns(list(table.names), table.scaling)
    mean = summarise(memory_rows(table.X, np.zeros(table.X.shape[0])), ranges=False).mean
    origin, scale, drawn = np.array(mean), np.ones(d), [first, second]
    own = table.scaling
    origin[drawn] = 0.0 if own is None else -own.center[drawn] / own.scale[drawn]
    scale[drawn] = 1.0 if own is None else 1.0 / own.scale[drawn]
    B = np.zeros((d, 2))
    B[first, 0] = B[second, 1] = 1.0
    says = "two columns, where the boundary is that of rows with all other columns at their means"
    return Plane(origin, scale, B, (table.names[first], table.names[second]), False, says)


@dataclass(frozen=True, eq=False)  # compared by identity, since arrays have no truth value
class ModelInPlane:
    """A fitted model as a classifier of points v of a plane, with u = corner + size ∘ v; classes are numbers.

    It has what ``geometry.regions`` needs. Coordinates v in which the picture has about the size 1 keep the geometry
    exact if the two axes have very different units.
    """

    model: Any
    plane: Plane
    corner: Array
    size: Array

    @property
    def classes_(self) -> Integers:
        """The numbers of the classes."""
        return np.arange(len(self.model.classes_))

    @property
    def n_features_in_(self) -> int:
        """Two: the coordinates in the plane."""
        return 2

    @property
    def scorer_(self) -> Any:
        """The scores as functions of v: linear ones as such, others by way of the rows."""
        scorer = scores_of(self.model)
        if isinstance(scorer, Scorer):
            return Scorer(self.weights(scorer.W), self.classes_, scorer.link_name)
        few = len(self.model.classes_) <= MOST_CLASSES_BY_PAIRS
        polygons = few and isinstance(scorer, PartsScorer) and scorer.W is not None
        return _Parts(scorer, self) if polygons else _Curved(scorer, self)

    def weights(self, W: Array) -> Array:
        """The weights of linear scores of rows x as weights of scores of v, (K, 3)."""
        found = self.plane.weights(W)
        return np.column_stack([found[:, 0] + found[:, 1:] @ self.corner, found[:, 1:] * self.size])

    def rows(self, V: Array) -> Array:
        """The rows x of points v."""
        return self.plane.lift(self.corner + np.asarray(V) * self.size)

    def decision_function(self, V: Array) -> Array:
        """The scores of points."""
        return np.asarray(scores_of(self.model).scores(self.rows(V)))

    def predict(self, V: Array) -> Integers:
        """The class numbers of points."""
        return known_codes(scores_of(self.model).predict(self.rows(V)), np.asarray(self.model.classes_))


@dataclass(frozen=True)
class _Curved:
    """The scores of a model that is not linear, at points of the plane."""

    scorer: Any
    of: ModelInPlane

    @property
    def classes(self) -> Integers:
        return self.of.classes_

    @property
    def link(self) -> Any:
        return self.scorer.link


@dataclass(frozen=True)
class _Parts(_Curved):
    """The same for a scheme of linear models, which computes its polygons itself."""

    def regions_in(self, box: Any) -> list[Region] | None:
        polygons = self.scorer.regions_in(box, self.of.weights)
        labels = self.scorer.classes.tolist()
        return None if polygons is None else [replace(one, labels=_numbers(one.labels, labels)) for one in polygons]


def _numbers(labels: tuple[Any, ...], classes: list[Any]) -> tuple[int, ...]:
    return tuple(classes.index(label) for label in labels)
