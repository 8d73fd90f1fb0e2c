"""Columns of extreme size: they are rescaled by powers of two, without rounding, and the verdict is converted back.

With x_j = 2^{e_j} x'_j, the scores agree, a'·v' = a·v, for v_j = 2^{−e_j} v'_j. So the same rows lie on the
hyperplane, they depend on each other with the same λ, and the other rows lie on the same sides. Only the weights v
differ, and they may overflow float64.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.proofs.class_differences import Differences
from separatrix.proofs.rational import smallest
from separatrix.proofs.residues import span
from separatrix.proofs.verdicts import Doubtful, Inseparable, Separable, Verdict
from separatrix.rows.csr import is_sparse

# Columns with exponents beyond ±300 are rescaled, so that products and quotients of three columns stay in range.
LARGEST_UNSCALED_EXPONENT = 300
# The smallest and the largest exponents (as ``frexp`` counts them) at which a weight has full precision.
LOWEST_WEIGHT_EXPONENT, HIGHEST_WEIGHT_EXPONENT = -1021, 1023
# The exponent of the smallest positive float64.
EXPONENT_OF_SMALLEST_FLOAT = -1074
OUT_OF_RANGE = (
    "some hyperplane separates, but columns are of sizes so far apart that its weights leave the range of floating "
    "point; multiply columns by powers of two"
)


@dataclass(frozen=True)
class Scaled:
    """Rows ``D`` whose columns were divided by 2^``exponent``, (d,)."""

    D: Differences
    exponent: Integers

    @classmethod
    def of(cls, D: Differences) -> Scaled:
        """D with columns of extreme size scaled to about 1 unless that loses bits; D itself if there are none.

        >>> D = Differences(np.array([[2.0**900, 1.0], [0.0, 3.0]]), np.array([0, 1]), 2)
        >>> Scaled.of(D).D.X.tolist(), Scaled.of(D).exponent.tolist()
        ([[0.5, 1.0], [0.0, 3.0]], [901, 0])
        """
        size = np.frexp(D.unit[D.width - D.X.shape[1] :])[1]
        exponent = np.zeros(D.X.shape[1], dtype=np.int64)
        for j in np.flatnonzero(np.abs(size) > LARGEST_UNSCALED_EXPONENT):
            column = D.X[:, [j]]
            low, high = span(column.toarray() if is_sparse(column) else column)
            exponent[j] = min(int(high[0]), int(low[0]) - EXPONENT_OF_SMALLEST_FLOAT)
        if not exponent.any():
            return cls(D, exponent)
        return cls(replace(D, X=_divided(D.X, exponent)), exponent)

    def told(self, verdict: Verdict, given: Differences) -> Verdict:
        """The verdict on ``D``, converted to the rows as they were given."""
        if not self.exponent.any() or isinstance(verdict, Doubtful):
            return verdict
        if isinstance(verdict, Separable):
            return self._separable(verdict, given)
        signed = given.dense(given.numbers(verdict.rows, verdict.against))
        if isinstance(verdict, Inseparable):
            return replace(verdict, signed=signed)
        further = tuple(self._whole(v) for v in verdict.further)
        return replace(verdict, signed=signed, direction=self._whole(verdict.direction), further=further)

    def _separable(self, verdict: Separable, given: Differences) -> Separable | Doubtful:
        W = _in_range(np.atleast_2d(verdict.v), np.concatenate([[0], -self.exponent]))
        if W is None:
            return Doubtful(OUT_OF_RANGE, verdict.fit_intercept)
        v = given.flat(np.vstack([np.zeros_like(W), W]) if given.K == 2 else W)
        m = given.margins(v)
        if len(given.not_positive(v, m=m)):
            return Doubtful(OUT_OF_RANGE, verdict.fit_intercept)
        return Separable.of(given, v, m, verdict.about)

    def _whole(self, direction: AnyArray) -> AnyArray:
        """The direction in the original units of the columns, again in the smallest integers."""
        top = max(0, int(self.exponent.max()))
        shift = np.concatenate([[top], top - self.exponent]).astype(object)
        whole: Any = direction << shift
        return np.array(smallest([int(x) for x in whole.ravel()]), dtype=object).reshape(whole.shape)


def _divided(X: Any, exponent: Integers) -> Any:
    if not is_sparse(X):
        return np.ldexp(X, -exponent)
    from scipy.sparse import csr_array

    return csr_array((np.ldexp(X.data, -exponent[X.indices]), X.indices, X.indptr), shape=X.shape)


def _in_range(W: Array, exponent: Integers) -> Array | None:
    """W times 2^exponent per column, times one power of two that brings all weights into range; None if none does.

    >>> _in_range(np.array([[1.0, 1.0]]), np.array([1500, 0])).tolist() == [[2.0**749, 2.0**-751]]
    True
    """
    size = (np.frexp(W)[1] + exponent)[W != 0]
    least, most = int(size.min()), int(size.max())
    if most - least > HIGHEST_WEIGHT_EXPONENT - LOWEST_WEIGHT_EXPONENT:
        return None
    middle = 0 if least >= LOWEST_WEIGHT_EXPONENT and most <= HIGHEST_WEIGHT_EXPONENT else (least + most) // 2
    return np.ldexp(W, exponent - middle)
