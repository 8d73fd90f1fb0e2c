"""The targets and weights of rows as functions of their class numbers, and the checks of weights.

A ``Coding`` makes targets and weights block by block, while rows are read. Rows of classes without weight are left out
of a fit. With an unpenalised intercept the likelihood of the other classes increases without limit as such a class's
intercept falls, so its best weights are w = 0 and b = −∞. ``ABSENT_CLASS_INTERCEPT`` represents that infinity.
"""

from __future__ import annotations

import reprlib
from dataclasses import dataclass, replace
from fractions import Fraction
from math import frexp, isfinite, ldexp
from typing import Any

import numpy as np

from separatrix.core.base.arrays import AnyArray, Array, Booleans, Integers
from separatrix.core.base.errors import WeightError
from separatrix.core.base.labels import signed

# --- Checks of weights

# The largest row weight must lie between these, so that weights times rows neither underflow nor overflow.
SMALLEST_LARGEST_WEIGHT, LARGEST_WEIGHT = 1e-290, 1e290


def row_weights(sample_weight: Any, n_rows: int) -> Array:
    """Weights (n,), 1 by default. The error about a negative, infinite or NaN weight names the row."""
    if sample_weight is None:
        return np.ones(n_rows)
    try:
        weight = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise WeightError("sample_weight", f"got {reprlib.repr(sample_weight)}", "give one number per row") from error
    if weight.ndim == 0:
        weight = np.full(n_rows, float(weight))
    if weight.shape != (n_rows,):
        raise WeightError(
            "sample_weight",
            f"its shape is {weight.shape} for {n_rows} rows (sample_weight.shape == {weight.shape})",
            "give one number per row",
        )
    bad = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if len(bad):
        raise WeightError(
            "sample_weight", f"row {bad[0]} has {weight[bad[0]]}", "give finite weights that are not negative"
        )
    refuse_extreme_weights("sample_weight", "the largest", float(weight.max(initial=0.0)))
    return weight


def refuse_extreme_weights(argument: str, which: str, largest: float) -> None:
    """Raise an error about ``argument`` if the largest weight is too large or small; the message calls it ``which``.

    >>> refuse_extreme_weights("weight", "the largest weight in column 'w'", 1e300)
    Traceback (most recent call last):
    separatrix.core.base.errors.WeightError: weight: the largest weight in column 'w' is 1e+300; rescale ...
    """
    if largest > 0 and not SMALLEST_LARGEST_WEIGHT < largest < LARGEST_WEIGHT:
        raise WeightError(argument, f"{which} is {largest}", "rescale them to a size near 1")


# --- Classes without weight

# The intercept of a class without weight. It is finite, but lower than any score of another class.
ABSENT_CLASS_INTERCEPT = -1e300


def codes_within(codes: Integers, held: Booleans) -> Integers:
    """Renumber the classes with weight (``held``) from 0. Rows of other classes, which have weight zero, get code 0."""
    return np.where(held, np.cumsum(held) - 1, 0)[codes]


def weights_among(W: Array, held: Booleans) -> Array | None:
    """The weights (K' or 1, d + 1) of the ``held`` classes, from the weights W (K, d + 1) of all classes.

    None if a class that is not held could be predicted.

    >>> full = with_absent(np.array([[1.0, 2.0]]), np.array([True, False, True]))
    >>> weights_among(full, np.array([True, False, True])).tolist()
    [[1.0, 2.0]]
    """
    if np.any(W[~held, 1:]) or np.any(W[~held, 0] != ABSENT_CLASS_INTERCEPT):
        return None
    return W[held] if held.sum() > 2 else W[held][1:] - W[held][:1]


def with_absent(W: Array, held: Booleans) -> Array:
    """The weights (K, d + 1) of all classes, from the weights W (K' or 1, d + 1) of the ``held`` classes.

    The other classes are never predicted.
    """
    full = np.zeros((len(held), W.shape[1]))
    full[~held, 0] = ABSENT_CLASS_INTERCEPT
    full[held] = W if len(W) > 1 else np.vstack([-0.5 * W, 0.5 * W])
    return full


# --- Targets, totals and codings of classes


def class_targets(codes: Integers, n_classes: int) -> AnyArray:
    """The targets of rows in a likelihood: ±1 for two classes, and the class numbers for more.

    >>> class_targets(np.array([0, 1]), 2).tolist(), class_targets(np.array([0, 2]), 3).tolist()
    ([-1.0, 1.0], [0, 2])
    """
    return signed(codes) if n_classes == 2 else codes


@dataclass(frozen=True)
class ClassTotals:
    """For each class: the number of its rows, the sum of their weights, and the largest weight, (K,) each.

    ``rest``: the rounding errors of the sums of weights. They make the sums independent of the order in which rows are
    added, so a table in many pieces gives the same bits as in memory.
    """

    rows: Integers
    weight: Array
    largest: Array
    rest: Array | None = None

    @property
    def n_rows(self) -> int:
        return int(self.rows.sum())

    def merge(self, other: ClassTotals) -> ClassTotals:
        """The totals of these rows and of others with the same classes."""
        largest = np.maximum(self.largest, other.largest)
        weight, rest = _rounded_sum(self.weight, other.weight, self.left_out, other.left_out)
        return ClassTotals(self.rows + other.rows, weight, largest, rest)

    @property
    def left_out(self) -> Array:
        """``rest``, or zeros."""
        return np.zeros(len(self.weight)) if self.rest is None else self.rest

    def regrouped(self, numbers: Integers, n_classes: int) -> ClassTotals:
        """The totals when class k gets the number ``numbers[k]``, perhaps with others; −1 leaves its rows out.

        >>> totals = ClassTotals.of(np.array([0, 1, 2]), np.array([1.0, 2.0, 3.0]), 3)
        >>> totals.regrouped(np.array([1, 1, -1]), 2).weight.tolist()
        [0.0, 3.0]
        """
        some = numbers >= 0
        to, largest = numbers[some], np.zeros(n_classes)
        np.maximum.at(largest, to, self.largest[some])
        weight, rest = _sums(to, self.weight[some], n_classes)
        rounding = np.asarray(np.bincount(to, self.left_out[some], n_classes), dtype=np.float64)
        weight, rest = _rounded_sum(weight, rounding, rest, np.zeros(n_classes))
        rows = np.bincount(to, self.rows[some], n_classes).astype(np.int64)
        return ClassTotals(rows, weight, largest, rest)

    @classmethod
    def none(cls, n_classes: int) -> ClassTotals:
        """The totals of classes without rows."""
        return cls(np.zeros(n_classes, dtype=np.int64), np.zeros(n_classes), np.zeros(n_classes))

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
            with np.errstate(over="ignore"):
                total: Array = rows * np.float64(high)
            return cls(rows, total, np.where(rows > 0, high, 0.0), None if high == 1 else _rounding(rows, high, total))
        largest = np.zeros(n_classes)
        np.maximum.at(largest, codes, weight)
        total, rest = _sums(codes, weight, n_classes)
        return cls(rows, total, largest, rest)


def _sums(codes: Integers, weight: Array, n_classes: int) -> tuple[Array, Array]:
    """Σ weight by class, and its rounding errors by class.

    Each weight is split into a multiple of a unit and a remainder. The unit is so large that sums of the multiples are
    exact.
    """
    largest = float(weight.max(initial=0.0))
    unit = ldexp(1.0, frexp(largest)[1] + len(weight).bit_length() - 53) if largest < np.inf else 0.0
    if unit == 0:  # all weights are zero or nearly so, or a sum has overflowed
        return np.bincount(codes, weight, n_classes).astype(np.float64), np.zeros(n_classes)
    whole = np.rint(weight / unit) * unit
    high, low = (np.bincount(codes, part, n_classes).astype(np.float64) for part in (whole, weight - whole))
    return _rounded_sum(high, low, np.zeros(n_classes), np.zeros(n_classes))


def _rounding(counts: Integers, weight: float, total: Array) -> Array:
    """The rounding errors of counts × weight = total, by class; zero where the total overflows."""
    exact = (count * Fraction(weight) for count in counts.tolist())
    pairs = zip(exact, total.tolist(), strict=True)
    return np.array([float(product - Fraction(rounded)) if isfinite(rounded) else 0.0 for product, rounded in pairs])


def _rounded_sum(a: Array, b: Array, a_rest: Array, b_rest: Array) -> tuple[Array, Array]:
    """a + b + their rests, rounded, and the rounding error (Knuth's two-sum, twice).

    Weights whose sum overflows are refused when all rows have been read.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        total = a + b
        from_b = total - a
        rest = (a - (total - from_b)) + (b - from_b) + (a_rest + b_rest)
        rounded = total + rest
        return rounded, rest - (rounded - total)


@dataclass(frozen=True)
class Coding:
    """Makes targets and weights from class numbers and the weights that the user gave.

    ``factors``: the weights of the rows of class k are multiplied by ``factors[k]``. Then they are divided by ``unit``,
    a power of two. ``numbers``: class k gets the number ``numbers[k]``; the other settings refer to these numbers.
    ``held``: the classes with weight, which alone are numbered; rows of other classes, which have no weight, count as
    rows of the first class. ``signs``: the targets are ±1, for two classes, and not class numbers.

    >>> coding = Coding(signs=True, factors=np.array([1.0, 3.0]), unit=2.0)
    >>> [part.tolist() for part in coding.of(np.array([0, 1]), np.array([1.0, 1.0]))]
    [[-1.0, 1.0], [0.5, 1.5]]
    """

    signs: bool = False
    factors: Array | None = None
    unit: float = 1.0
    held: Booleans | None = None
    numbers: Integers | None = None

    def of(self, codes: Integers, weight: Array) -> tuple[AnyArray, Array]:
        """The targets and the weights of rows."""
        if self.factors is not None:
            weight = weight * self.factors[codes]
        if self.unit != 1:
            weight = weight / self.unit
        if self.numbers is not None:
            codes = self.numbers[codes]
        if self.held is not None:
            codes = codes_within(codes, self.held)
        return (signed(codes) if self.signs else codes), weight

    def n_classes(self, before: int) -> int:
        """The number of classes that the targets distinguish, given the number of classes of the table.

        >>> Coding().n_classes(3), Coding(held=np.array([True, False, True])).n_classes(3)
        (3, 2)
        """
        if self.held is not None:
            return int(self.held.sum())
        return before if self.numbers is None else int(self.numbers.max(initial=-1)) + 1

    def after(self, numbers: Integers) -> Coding:
        """The same coding for rows whose classes first get other numbers; −1 leaves the rows of a class without weight.

        >>> coding = Coding(signs=True).after(np.array([1, -1, 0]))
        >>> [part.tolist() for part in coding.of(np.array([0, 1, 2]), np.ones(3))]
        [[1.0, -1.0, -1.0], [1.0, 0.0, 1.0]]
        """
        if self.numbers is not None:
            numbers = np.where(numbers < 0, -1, self.numbers[numbers])
        left_out = numbers < 0
        within = np.maximum(numbers, 0)
        factors = None if self.factors is None else self.factors[within]
        if np.any(left_out):
            factors = np.where(left_out, 0.0, 1.0 if factors is None else factors)
        return replace(self, factors=factors, numbers=within)

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
