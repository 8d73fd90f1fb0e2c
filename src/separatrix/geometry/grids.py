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

    ``number`` holds for each axis the number of every edge along it, −1 if its ends agree. ``node`` (m,) is the number
    of the first end among all nodes. ``start`` and ``step`` (m, 2) are the first end and the vector to the second;
    ``first`` and ``second`` the labels there. ``low`` ≥ 0 and ``high`` ≤ 0 are the score of the first label minus that
    of the second, at both ends. ``labels`` are those of all nodes.
    """

    labels: Integers
    number: tuple[Integers, Integers]
    node: Integers
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
    labels = winners(Z)
    n_x, n_y = labels.shape
    along = np.flatnonzero(labels[1:] != labels[:-1])
    up = np.flatnonzero(labels[:, 1:] != labels[:, :-1])
    n, m = len(along), len(along) + len(up)
    column = up // (n_y - 1)
    node = np.concatenate([along, up + column])  # a column has one edge less than nodes
    after = np.concatenate([along + n_y, node[n:] + 1])
    start, step = np.empty((m, 2)), np.zeros((m, 2))
    a, b = np.divmod(node, n_y)
    start[:, 0], start[:, 1] = grid.x[a], grid.y[b]
    step[:n, 0] = grid.x[a[:n] + 1] - start[:n, 0]
    step[n:, 1] = grid.y[b[n:] + 1] - start[n:, 1]
    own, scores = labels.ravel(), Z.reshape(n_x * n_y, -1)
    i, j = own[node], own[after]
    low, high = scores[node, i] - scores[node, j], scores[after, i] - scores[after, j]
    number = np.full((n_x - 1) * n_y, -1), np.full(n_x * (n_y - 1), -1)
    number[0][along], number[1][up] = np.arange(n), np.arange(n, m)
    shaped = number[0].reshape(n_x - 1, n_y), number[1].reshape(n_x, n_y - 1)
    return Edges(labels, shaped, node, start, step, i, j, low, high)


def winners(Z: Array) -> Integers:
    """The label with the largest score, the first of several, from scores (..., K).

    ``argmax`` takes twice as long where the scores of a label are contiguous.

    >>> winners(np.array([[0.0, 1.0, 1.0], [3.0, 2.0, 3.0], [0.0, 1.0, 2.0]])).tolist()
    [1, 0, 2]
    """
    largest = Z[..., 0]
    labels = np.zeros(largest.shape, dtype=np.int64)
    for k in range(1, Z.shape[-1]):
        np.putmask(labels, Z[..., k] > largest, k)
        largest = np.maximum(largest, Z[..., k])
    return labels


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
    square = np.flatnonzero(sums > -4)
    n_y = up.shape[1]
    a, b = np.divmod(square, n_y)
    node, along, up, L = square + a, along.ravel(), up.ravel(), edges.labels.ravel()
    right = node + n_y + 1
    around = np.array([along[node], up[square + n_y], along[node + 1], up[square]]).T
    corner = np.array([L[node], L[right], L[right + 1], L[node + 1]]).T
    return Squares(np.array([a, b]).T, around, corner)
