"""Grids over a box, and their edges at whose ends different labels have the largest score."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from separatrix.base.arrays import Array, Integers

# From points (m, 2) to the scores of the K labels (m, K).
Field = Callable[[Array], Array]
# From the numbers (m,) of functions of a share t to the function that maps t (q, m) to their values (q, m).
Along = Callable[[Integers], Callable[[Array], Array]]


def score_differences(field: Field, start: Array, step: Array, first: Integers, second: Integers) -> Along:
    """The score of the first label minus that of the second at start + t step, as functions of t for each row.

    >>> along = score_differences(lambda X: X, np.zeros((1, 2)), np.array([[2.0, 3.0]]), np.array([0]), np.array([1]))
    >>> along(np.array([0]))(np.array([[0.0], [1.0]])).tolist()
    [[0.0], [-1.0]]
    """

    def of(which: Integers) -> Callable[[Array], Array]:
        at, by, i, j, rows = start[which], step[which], first[which], second[which], np.arange(len(which))
        sign = np.where(i < j, 1.0, -1.0)

        def difference(t: Array) -> Array:
            Z = field((at + t[..., None] * by).reshape(-1, 2))
            if Z.shape[1] == 2:  # the sign is cheaper than picking the scores
                return np.asarray((Z[:, 0] - Z[:, 1]).reshape(t.shape) * sign)
            Z = Z.reshape(*t.shape, -1)
            return np.asarray(Z[:, rows, i] - Z[:, rows, j])

        return difference

    return of


@dataclass(frozen=True)
class Grid:
    """The lines of a grid over a box, ascending: ``x`` (a + 1,) and ``y`` (b + 1,)."""

    x: Array
    y: Array

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.x), len(self.y)

    def nodes(self) -> Array:
        """The nodes (a + 1, b + 1, 2)."""
        nodes = np.empty((*self.shape, 2))
        nodes[..., 0], nodes[..., 1] = self.x[:, None], self.y
        return nodes

    def scores(self, field: Field) -> Array:
        """The scores of all nodes, (a + 1, b + 1, K)."""
        return field(self.nodes().reshape(-1, 2)).reshape(*self.shape, -1)


@dataclass(frozen=True)
class Edges:
    """The edges of a grid whose ends differ in their labels.

    ``number`` holds for each axis the number of every edge along it, −1 if its ends agree. ``start`` and ``step`` (m,
    2) are the first end and the vector to the second; ``first`` and ``second`` the labels there. ``low`` ≥ 0 and
    ``high`` ≤ 0 are the score of the first label minus that of the second, at both ends. ``labels`` are those of all
    nodes.
    """

    labels: Integers
    number: tuple[Integers, Integers]
    start: Array
    step: Array
    first: Integers
    second: Integers
    low: Array
    high: Array

    def differences(self, field: Field) -> Along:
        """The score of the first label minus that of the second, along the edges."""
        return score_differences(field, self.start, self.step, self.first, self.second)


def crossed_edges(grid: Grid, Z: Array) -> Edges:
    """The edges whose ends have different labels, from the scores of all nodes.

    >>> Z = np.array([[[1, 0], [1, 0]], [[0, 3], [0, 3]], [[0, 4], [0, 4]]])
    >>> edges = crossed_edges(Grid(np.arange(3.0), np.arange(2.0)), Z)
    >>> edges.start.tolist(), edges.step.tolist(), edges.low.tolist(), edges.high.tolist()
    ([[0.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [1.0, 0.0]], [1, 1], [-3, -3])
    """
    labels = np.argmax(Z, axis=2) if Z.shape[2] > 2 else (Z[..., 1] > Z[..., 0]).astype(np.int64)
    along = labels[1:] != labels[:-1], labels[:, 1:] != labels[:, :-1]
    (a0, b0), (a1, b1) = np.nonzero(along[0]), np.nonzero(along[1])
    n = len(a0)
    number = np.full(along[0].shape, -1), np.full(along[1].shape, -1)
    number[0][a0, b0] = np.arange(n)
    number[1][a1, b1] = np.arange(n, n + len(a1))
    a, b = np.concatenate([a0, a1]), np.concatenate([b0, b1])
    after, above = a.copy(), b.copy()
    after[:n] += 1
    above[n:] += 1
    start = np.column_stack([grid.x[a], grid.y[b]])
    step = np.column_stack([grid.x[after], grid.y[above]]) - start
    i, j = labels[a, b], labels[after, above]
    low, high = Z[a, b, i] - Z[a, b, j], Z[after, above, i] - Z[after, above, j]
    return Edges(labels, number, start, step, i, j, low, high)


@dataclass(frozen=True)
class Squares:
    """The squares of a grid with crossed edges: their places (m, 2), and in columns what is around them.

    ``around`` (m, 4): the numbers of the bottom, right, top and left edge, −1 if it is not crossed. ``corner`` (m, 4):
    the labels, counter-clockwise; each comes before the edge of the same column.
    """

    place: Integers
    around: Integers
    corner: Integers


def crossed_squares(edges: Edges) -> Squares:
    """The squares that have crossed edges."""
    along, up = edges.number
    # −1 in all four places, if no edge is crossed.
    sums = along[:, :-1] + along[:, 1:]
    sums += up[:-1]
    sums += up[1:]
    a, b = np.nonzero(sums > -4)
    around = np.column_stack([along[a, b], up[a + 1, b], along[a, b + 1], up[a, b]])
    L = edges.labels
    corner = np.column_stack([L[a, b], L[a + 1, b], L[a + 1, b + 1], L[a, b + 1]])
    return Squares(np.column_stack([a, b]), around, corner)
