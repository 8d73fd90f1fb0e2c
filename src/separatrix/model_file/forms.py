"""The forms of single values and of arrays. The forms of dataclasses are in ``records``."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from separatrix.base.arrays import AnyArray
from separatrix.base.errors import ModelFileError
from separatrix.model_file.places import Form, Reading, Writing
from separatrix.model_file.plain import NOT_FINITE, from_plain, to_plain

# Larger integers are written in hexadecimal, since Python refuses to parse decimals of thousands of digits.
LARGEST_DECIMAL_INTEGER = 1 << 63
# Counts from here on are refused. They are printed and divided as float64, which ends at 2^1024.
LARGEST_COUNT = 1 << 1000
# The most characters of a sentence in a file. Sentences quote column names; those of one table take a few hundred.
LONGEST_SENTENCE = 1 << 16


@dataclass(frozen=True)
class Plain(Form):
    """Text, a truth value, or an integer that is at least ``least`` and below ``LARGEST_COUNT``.

    >>> Plain(int).read(7, Reading("rows"))
    7
    """

    kind: type
    least: float = -math.inf

    def plain(self, value: Any, at: Writing) -> Any:
        return self.kind(value)

    def read(self, found: Any, at: Reading) -> Any:
        at.require(type(found) is self.kind, f"is {found!r:.60}, not of type {self.kind.__name__}")
        at.require(self.kind is not int or found >= self.least, f"is {found!r:.60}, below {self.least}")
        at.require(self.kind is not int or abs(found) < LARGEST_COUNT, f"is {found!r:.60}, too large")
        return found


@dataclass(frozen=True)
class Sentence(Form):
    """Text for people, of at most ``LONGEST_SENTENCE`` characters. Longer text is shortened when it is written.

    >>> Sentence().read("optimal", Reading("status"))
    'optimal'
    """

    def plain(self, value: Any, at: Writing) -> Any:
        return value if len(value) <= LONGEST_SENTENCE else f"{value[: LONGEST_SENTENCE - 1]}…"

    def read(self, found: Any, at: Reading) -> Any:
        sentence = Plain(str).read(found, at)
        at.require(len(sentence) <= LONGEST_SENTENCE, f"has more than {LONGEST_SENTENCE} letters")
        return sentence


@dataclass(frozen=True)
class Number(Form):
    """A float64 above ``above``, if given, and from ``least`` to ``most``. NaN is allowed only without any bounds."""

    least: float = -math.inf
    most: float = math.inf
    above: float | None = None

    def plain(self, value: Any, at: Writing) -> Any:
        return to_plain(float(value))

    def read(self, found: Any, at: Reading) -> float:
        value = NOT_FINITE.get(found) if isinstance(found, str) else found
        if type(value) is not float:
            raise ModelFileError(f"its {at.path} is {found!r:.60}, not of type float")
        free = self == Number()
        at.require(free or self.least <= value <= self.most, f"is {value}, not between {self.least} and {self.most}")
        at.require(self.above is None or value > self.above, f"is {value}, not above {self.above}")
        return value


@dataclass(frozen=True)
class Choice(Form):
    """One of several words."""

    words: Collection[str]

    def plain(self, value: Any, at: Writing) -> Any:
        return str(value)

    def read(self, found: Any, at: Reading) -> Any:
        at.require(isinstance(found, str) and found in self.words, f"is unknown: {found!r:.60}")
        return found


@dataclass(frozen=True)
class Named(Form):
    """One of several objects, stored by its name."""

    objects: Mapping[str, Any]

    def plain(self, value: Any, at: Writing) -> Any:
        return str(value.name)

    def read(self, found: Any, at: Reading) -> Any:
        return self.objects[Choice(self.objects).read(found, at)]


@dataclass(frozen=True)
class Maybe(Form):
    """A value, or null."""

    form: Form

    def plain(self, value: Any, at: Writing) -> Any:
        return None if value is None else at.plain(self.form, value)

    def read(self, found: Any, at: Reading) -> Any:
        return None if found is None else at.read(self.form, found)


@dataclass(frozen=True)
class Several(Form):
    """A tuple of values of one form; exactly as many as the length of ``axis``, if it is named."""

    form: Form
    axis: str = ""
    kind: type = tuple

    def plain(self, value: Any, at: Writing) -> Any:
        return [at.into(k).plain(self.form, item) for k, item in enumerate(value)]

    def read(self, found: Any, at: Reading) -> Any:
        if not isinstance(found, list):
            raise ModelFileError(f"its {at.path} is not a list")
        wanted = at.sizes.get(self.axis, len(found))
        at.require(len(found) == wanted, f"has {len(found)} entries, where there must be {wanted}")
        return self.kind(at.into(k).read(self.form, item) for k, item in enumerate(found))


@dataclass(frozen=True)
class Pairs(Form):
    """A dictionary of plain values, in order."""

    def plain(self, value: Any, at: Writing) -> Any:
        return [[str(key), to_plain(item)] for key, item in value.items()]

    def read(self, found: Any, at: Reading) -> Any:
        pairs = isinstance(found, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in found)
        at.require(pairs, "are not pairs")
        values = [(name, from_plain(value)) for name, value in found]
        plain = all(type(name) is str and type(value) in (str, int, float) for name, value in values)
        at.require(plain, "are not plain values by name")
        return dict(values)


@dataclass(frozen=True)
class Whole(Form):
    """Integers of any size: a tuple, or an object array with one or two axes."""

    array: bool = False

    def plain(self, value: Any, at: Writing) -> Any:
        listed = value.tolist() if self.array else list(value)
        return [self._entry(item) for item in listed]

    def _entry(self, item: Any) -> Any:
        if isinstance(item, list):
            return [self._entry(one) for one in item]
        return int(item) if abs(item) < LARGEST_DECIMAL_INTEGER else hex(item)

    def read(self, found: Any, at: Reading) -> Any:
        at.require(isinstance(found, list), "is not a list")
        if self.array and found and isinstance(found[0], list):
            return self._matrix(found, at)
        numbers = [self._number(item, at) for item in found]
        return _objects(numbers) if self.array else tuple(numbers)

    def _matrix(self, rows: list[Any], at: Reading) -> AnyArray:
        """The array with two axes that a list of lists stands for."""
        flat = [self._number(item, at) for row in rows for item in (row if isinstance(row, list) else [row])]
        even = all(isinstance(row, list) and len(row) == len(rows[0]) for row in rows)
        at.require(even, "has rows of different lengths")
        return _objects(flat).reshape(len(rows), len(rows[0]))

    @staticmethod
    def _number(item: Any, at: Reading) -> int:
        if type(item) is int:
            return item
        try:
            return int(item, 16) if isinstance(item, str) else int("")
        except ValueError:
            raise ModelFileError(f"its {at.path} holds {item!r:.60}, not an integer") from None


def _objects(numbers: list[int]) -> AnyArray:
    """Integers of any size as an object array, (n,)."""
    values: AnyArray = np.empty(len(numbers), dtype=object)
    values[:] = numbers
    return values


@dataclass(frozen=True)
class Numbers(Form):
    """An array of numbers that are all at least ``least``. ``axes`` names its axes, "" for any length.

    The rounding of BLAS products depends on the order in memory. So a matrix in column order is written by columns:
    {"columns": ...}.
    """

    axes: tuple[str, ...]
    whole: bool = False
    finite: bool = True
    least: float = -math.inf
    shared: ClassVar[bool] = True

    def plain(self, value: Any, at: Writing) -> Any:
        array = np.asarray(value, dtype=np.int64 if self.whole else np.float64)
        if array.ndim != len(self.axes):
            raise at.refuse(f"has {array.ndim} axes", f"give it {len(self.axes)}")
        if not self.whole and not np.all(np.isfinite(array)):
            if self.finite:
                raise at.refuse("holds NaN or infinity", "fit it again, with a smaller step or a penalty")
            return to_plain(array)
        if array.ndim == 2 and array.strides[0] < array.strides[1] and min(array.shape) > 1:
            return {"columns": array.T.tolist()}
        return array.tolist()

    def read(self, found: Any, at: Reading) -> Any:
        if len(self.axes) == 2 and isinstance(found, dict) and set(found) == {"columns"}:
            return self._array(found["columns"], self.axes[::-1], at).T
        return self._array(found, self.axes, at)

    def _array(self, found: Any, axes: tuple[str, ...], at: Reading) -> AnyArray:
        """The array of nested lists. Nothing is allocated before all lengths and types have been checked."""
        shape, level = self._flattened(found, axes, at)
        if not self.finite:
            level = [NOT_FINITE.get(value, value) if type(value) is str else value for value in level]
        kind = int if self.whole else float
        at.require(set(map(type, level)) <= {kind}, f"does not hold numbers of type {kind.__name__} alone")
        try:
            values = np.array(level, dtype=np.int64 if self.whole else np.float64).reshape(shape)
        except OverflowError:
            raise ModelFileError(f"its {at.path} holds a number past 64 bits") from None
        at.require(self.least == -math.inf or bool(np.all(values >= self.least)), f"holds a number below {self.least}")
        return values

    def _flattened(self, found: Any, axes: tuple[str, ...], at: Reading) -> tuple[list[int], list[Any]]:
        """The shape of nested lists, and their values as one list."""
        shape, level = list[int](), [found]
        for axis in axes:
            at.require(all(type(row) is list for row in level), f"is not an array with {len(axes)} axes")
            lengths = {len(row) for row in level} or {at.sizes.get(axis, 0)}
            at.require(len(lengths) == 1, "has rows of different lengths")
            shape.append(lengths.pop())
            self._length(shape[-1], axis, at)
            level = [value for row in level for value in row]
        return shape, level

    def refit(self, value: Any, at: Reading) -> None:
        fits = isinstance(value, np.ndarray) and value.ndim == len(self.axes)
        at.require(fits and value.dtype == (np.int64 if self.whole else np.float64), "is not such an array")
        for length, axis in zip(value.shape, self.axes, strict=True):
            self._length(length, axis, at)

    @staticmethod
    def _length(length: int, axis: str, at: Reading) -> None:
        wanted = at.sizes.get(axis, length)
        at.require(length == wanted, f"has a length of {length}, where {axis} is {wanted}")


def numbers(*axes: str, **asked: Any) -> Numbers:
    """``Numbers`` with these axes.

    >>> numbers("K", "d").read([[1.0], [2.0]], Reading("means", {"K": 2, "d": 1})).tolist()
    [[1.0], [2.0]]
    """
    return Numbers(axes, **asked)
