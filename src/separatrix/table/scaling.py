"""Columns of X in like units: x ↦ (x − center)/scale, column by column.

Standardised, a column has mean 0 and standard deviation 1 over the rows of the fit. A penalty then weighs all columns
alike, and methods that walk along the rows, such as the perceptron, take few steps; a fit without a penalty, and
methods by moments, give the same answers in any units. Sparse rows are scaled only: centring would fill them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray, Array


@dataclass(frozen=True, eq=False)
class Scaling:
    """``center`` (d,) and ``scale`` (d,), all positive.

    >>> Scaling(np.array([1.0]), np.array([2.0])).apply(np.array([[1.0], [5.0]])).tolist()
    [[0.0], [2.0]]
    """

    center: Array
    scale: Array

    @classmethod
    def of(cls, X: Any, train: AnyArray | None = None) -> Scaling:
        """By mean and standard deviation (population) of the rows ``train`` (n,) of X, all if None.

        A column of one value there has the scale 1.

        >>> found = Scaling.of(np.array([[0.0, 7.0], [4.0, 7.0], [90.0, 8.0]]), np.array([True, True, False]))
        >>> found.center.tolist(), found.scale.tolist()
        ([2.0, 7.0], [2.0, 1.0])
        """
        from separatrix.base.concurrency import one_blas_thread
        from separatrix.rows import memory_rows
        from separatrix.rows.block import is_sparse
        from separatrix.rows.column_statistics import summarise

        weight = None if train is None else np.asarray(train, dtype=np.float64)
        with one_blas_thread:
            found = summarise(memory_rows(X, np.zeros(X.shape[0]), weight), ranges=False)
        usable = ~found.constant & np.isfinite(found.std) & (found.std > 0)
        center = np.where(found.constant, found.minimum, found.mean)
        return cls(np.zeros_like(center) if is_sparse(X) else center, np.where(usable, found.std, 1.0))

    def apply(self, X: Any) -> Any:
        """X (n, d) in these units, a copy; sparse rows stay so where nothing is centred."""
        if not hasattr(X, "nnz"):
            found = X - self.center
            found /= self.scale
            return found
        if self.center.any():
            return self.apply(X.toarray())
        scaled = X.tocsr().astype(np.float64)
        scaled.data /= self.scale[scaled.indices]
        return scaled

    def after(self, first: Scaling | None) -> Scaling:
        """Both, ``first`` and then this, as one.

        >>> both = Scaling(np.array([3.0]), np.array([0.5])).after(Scaling(np.array([1.0]), np.array([2.0])))
        >>> both.center.tolist(), both.scale.tolist()
        ([7.0], [1.0])
        """
        if first is None:
            return self
        return Scaling(first.center + first.scale * self.center, first.scale * self.scale)

    def plain(self) -> dict[str, list[float]]:
        """In JSON's own types."""
        return {"center": self.center.tolist(), "scale": self.scale.tolist()}
