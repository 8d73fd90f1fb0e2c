"""The targets and weights of rows as functions of their class numbers, so that they can be computed block by block."""

from __future__ import annotations

from dataclasses import dataclass
from math import frexp, ldexp

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Booleans, Integers
from separatrix.base.labels import signed
from separatrix.base.zero_weight_classes import codes_within


@dataclass(frozen=True)
class ClassTotals:
    """For each class: the number of its rows, the sum of their weights, and the largest weight, (K,) each."""

    rows: Integers
    weight: Array
    largest: Array

    @property
    def n_rows(self) -> int:
        return int(self.rows.sum())

    def merge(self, other: ClassTotals) -> ClassTotals:
        """The totals of these rows and of others with the same classes."""
        largest = np.maximum(self.largest, other.largest)
        return ClassTotals(self.rows + other.rows, self.weight + other.weight, largest)

    @classmethod
    def of(cls, codes: Integers, weight: Array, n_classes: int) -> ClassTotals:
        """The totals of rows with these class numbers and weights.

        >>> totals = ClassTotals.of(np.array([0, 1, 1]), np.array([1.0, 2.0, 3.0]), 2)
        >>> totals.rows.tolist(), totals.weight.tolist(), totals.largest.tolist()
        ([1, 2], [1.0, 5.0], [1.0, 3.0])
        """
        rows = np.bincount(codes, minlength=n_classes)
        low, high = float(weight.min(initial=np.inf)), float(weight.max(initial=0.0))
        if low == high:
            return cls(rows, rows.astype(np.float64) * high, np.where(rows > 0, high, 0.0))
        largest = np.zeros(n_classes)
        np.maximum.at(largest, codes, weight)
        return cls(rows, np.bincount(codes, weight, n_classes).astype(np.float64), largest)


@dataclass(frozen=True)
class Coding:
    """Makes targets and weights from class numbers and the weights that the user gave.

    ``signs``: the targets are ±1, for two classes, and not class numbers. ``factors``: the weights of the rows of class
    k are multiplied by ``factors[k]``. Then they are divided by ``unit``, a power of two. ``held``: the classes with
    weight, which alone are numbered; rows of other classes, which have no weight, count as rows of the first class.

    >>> coding = Coding(signs=True, factors=np.array([1.0, 3.0]), unit=2.0)
    >>> [part.tolist() for part in coding.of(np.array([0, 1]), np.array([1.0, 1.0]))]
    [[-1.0, 1.0], [0.5, 1.5]]
    """

    signs: bool = False
    factors: Array | None = None
    unit: float = 1.0
    held: Booleans | None = None

    def of(self, codes: Integers, weight: Array) -> tuple[AnyArray, Array]:
        """The targets and the weights of rows."""
        if self.factors is not None:
            weight = weight * self.factors[codes]
        if self.unit != 1:
            weight = weight / self.unit
        if self.held is not None:
            codes = codes_within(codes, self.held)
        return (signed(codes) if self.signs else codes), weight

    @classmethod
    def of_likelihood(cls, totals: ClassTotals, factors: Array | None, held: Booleans | None = None) -> Coding:
        """The coding of a likelihood, whose weights are divided so that their sums stay far from overflow."""
        largest = totals.largest if factors is None else totals.largest * factors
        n_classes = len(totals.rows) if held is None else int(held.sum())
        return cls(n_classes == 2, factors, weight_unit(float(largest.max(initial=0.0))), held)


CLASS_NUMBERS = Coding()


def weight_unit(largest: float) -> float:
    """The power of two by which weights are divided, given the largest weight.

    >>> weight_unit(5.0), weight_unit(0.0)
    (4.0, 1.0)
    """
    return ldexp(1.0, frexp(largest)[1] - 1) if largest > 0 else 1.0
