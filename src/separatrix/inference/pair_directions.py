"""Subspaces of W that are spanned by pairs of a row and a class, and are not products of classes and columns.

They have the interface of a ``Subspace``, which maps gradients, rows and Hessians to fewer coordinates and back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.arrays import Array


@dataclass(frozen=True)
class Directions:
    """W = (0, B θ): the first class has score zero, and the orthonormal basis B spans the weights of the others.

    ``basis``: B, (K − 1 times the number of free columns, r); ``free`` (width,): which columns are free.

    >>> space = Directions(np.eye(4)[:, :3], np.array([True, True, False]))
    >>> space.expand(np.array([1.0, 2.0, 3.0])).tolist()
    [[0.0, 0.0, 0.0], [1.0, 2.0, 0.0], [3.0, 0.0, 0.0]]
    """

    basis: Array
    free: Any

    def reduce(self, G: Array) -> Array:
        return np.asarray(self.reduce_rows(G.reshape(1, -1))[0])

    def expand(self, theta: Array) -> Array:
        other = (self.basis @ theta).reshape(-1, int(self.free.sum()))
        W = np.zeros((1 + len(other), len(self.free)))
        W[1:, self.free] = other
        return W

    def reduce_rows(self, rows: Array) -> Array:
        own = rows.reshape(len(rows), -1, len(self.free))[:, 1:, self.free]
        return np.asarray(own.reshape(len(rows), -1) @ self.basis)

    def reduce_hessian(self, H: Array) -> Array:
        return self.reduce_rows(self.reduce_rows(H).T)
