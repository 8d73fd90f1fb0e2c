"""The forms of values in a model file: plain values, arrays, class labels and dataclasses.

A ``Form`` writes a value as JSON types, and reads it back after checking its type, its sizes and its range. It is given
the ``Place`` of the value in the file, so that errors name the place and what is wrong with it. An array or a record
that occurs in two places of a model is written once, and the second time as {"same": place}. When it is read, it
becomes one object again.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from importlib import import_module
from types import NoneType, UnionType
from typing import Any, ClassVar, Literal, Self, Union, get_args, get_origin, get_type_hints

import numpy as np

from separatrix.core.base.arrays import AnyArray
from separatrix.core.base.errors import ModelFileError, ParameterError
from separatrix.core.base.lazy import cached_property


class Form(ABC):
    """How values of one kind are stored. ``shared`` says that one object may occur in several places."""

    shared: ClassVar[bool] = False

    @abstractmethod
    def plain(self, value: Any, at: Writing) -> Any:
        """The value as JSON types."""

    @abstractmethod
    def read(self, found: Any, at: Reading) -> Any:
        """The value, after checking its type, its sizes and its range."""

    def refit(self, value: Any, at: Reading) -> None:
        """Refuse an object from another place that does not fit here."""
        at.require(False, "cannot occur in two places")


@dataclass(frozen=True)
class Place:
    """A path such as ``certificate.claim.C``, the lengths of named axes, and the shared objects seen so far."""

    path: str = ""
    sizes: Mapping[str, int] = field(default_factory=dict)
    seen: dict[Any, Any] = field(default_factory=dict)

    def into(self, name: object) -> Self:
        """The place of an item, by its key or index."""
        return type(self)(f"{self.path}.{name}" if self.path else str(name), self.sizes, self.seen)

    def within(self, **sizes: int) -> Self:
        """The same place with these lengths of axes."""
        return replace(self, sizes=sizes)


class Writing(Place):
    """A place to write to; ``seen`` holds objects by their identity."""

    def plain(self, form: Form, value: Any) -> Any:
        """The value as JSON types, or a reference to the place where it was written before."""
        if not form.shared:
            return form.plain(value, self)
        if id(value) in self.seen:
            return {"same": self.seen[id(value)][0]}
        self.seen[id(value)] = (self.path, value)  # The object is kept alive, so that its id is not reused.
        return form.plain(value, self)

    def refuse(self, problem: str, remedy: str) -> ParameterError:
        """The error for a model that cannot be written."""
        return ParameterError("model", f"its {self.path} {problem}", remedy)


class Reading(Place):
    """A place to read from; ``seen`` holds objects by their path. Classifiers inside others become estimators."""

    estimators: ClassVar[bool] = True

    def read(self, form: Form, found: Any) -> Any:
        """The value, or the object from the place that ``found`` refers to."""
        if not form.shared:
            return form.read(found, self)
        if isinstance(found, dict) and set(found) == {"same"}:
            known = isinstance(found["same"], str) and found["same"] in self.seen
            self.require(known, "refers to a place that has not been read")
            value = self.seen[found["same"]]
            form.refit(value, self)
        else:
            value = form.read(found, self)
        self.seen[self.path] = value
        return value

    def require(self, holds: bool, problem: str) -> None:
        """Refuse the file unless this holds."""
        if not holds:
            raise ModelFileError(f"its {self.path or 'content'} {problem}")


class ReadingScorers(Reading):
    """A place to read from, where classifiers inside others are read as ``StoredModel``, without scikit-learn."""

    estimators: ClassVar[bool] = False


# --- Settings and other plain values

NOT_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def to_plain(value: Any) -> Any:
    """A value as JSON types; a TypeError if that is not possible.

    Numbers that are not finite, such as C without a penalty, become the texts "inf", "-inf" and "nan". Text that reads
    like such a number becomes {"text": ...}. Dictionaries become {"pairs": ...}, since their keys are labels of any
    type.

    >>> to_plain({"yes": np.float64(2.0), "no": np.inf})
    {'pairs': [['yes', 2.0], ['no', 'inf']]}
    """
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, int | None):  # a bool is an int
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, str):
        return {"text": value} if value in NOT_FINITE else value
    if isinstance(value, list | tuple):
        return [to_plain(item) for item in value]
    if not isinstance(value, Mapping):
        raise TypeError(f"{type(value).__name__} has no form in JSON")
    pairs = [[to_plain(key), to_plain(item)] for key, item in value.items()]
    if not all(map(_is_pair, pairs)):
        raise TypeError("a key of a dictionary has no form in JSON")
    return {"pairs": pairs}


def from_plain(value: Any) -> Any:
    """The value of ``to_plain``, with lists in place of arrays and tuples.

    >>> from_plain({"pairs": [["yes", 2.0], ["no", "inf"]]})
    {'yes': 2.0, 'no': inf}
    """
    if isinstance(value, str):
        return NOT_FINITE.get(value, value)
    if isinstance(value, list):
        return [from_plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {"text"} and isinstance(value["text"], str):
        return value["text"]
    pairs = value.get("pairs")
    if len(value) != 1 or not isinstance(pairs, list) or not all(map(_is_pair, pairs)):
        raise ModelFileError("a setting has a wrong form")
    return {from_plain(key): from_plain(item) for key, item in pairs}


def _is_pair(value: Any) -> bool:
    """Whether this is a key and its value. A key may be text in the form {"text": ...}."""
    if not (isinstance(value, list) and len(value) == 2) or isinstance(value[0], list):
        return False
    # For some sets of larger integers, Python's dictionaries take quadratic time.
    if isinstance(value[0], int) and abs(value[0]) >= 1 << 64:
        return False
    return not isinstance(value[0], dict) or (set(value[0]) == {"text"} and isinstance(value[0]["text"], str))


# --- Single values and arrays

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
        return str(value) if len(value) <= LONGEST_SENTENCE else f"{value[: LONGEST_SENTENCE - 1]}…"

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
        # Python refuses to parse decimals of thousands of digits.
        return int(item) if abs(item) < 1 << 63 else hex(item)

    def read(self, found: Any, at: Reading) -> Any:
        at.require(isinstance(found, list), "is not a list")
        if not (self.array and found and isinstance(found[0], list)):
            numbers = [self._number(item, at) for item in found]
            return _objects(numbers) if self.array else tuple(numbers)
        numbers = [self._number(item, at) for row in found for item in (row if isinstance(row, list) else [row])]
        even = all(isinstance(row, list) and len(row) == len(found[0]) for row in found)
        at.require(even, "has rows of different lengths")
        return _objects(numbers).reshape(len(found), len(found[0]))

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


# --- Class labels

# The array types that labels may have, and the JSON types allowed for each.
_TYPES: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "bool": (bool,),
    "object": (str, bool, int, float),
    **dict.fromkeys((f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)), (int,)),
    **dict.fromkeys(("float16", "float32", "float64"), (float,)),
}
# A fixed-width text array may be wider than its longest label, but not wider than this many characters.
WIDEST_LABEL_ARRAY = 1024
# A fixed-width text array may take this many bytes, plus this many per character of the labels and their JSON. NumPy
# gives every label the width of the longest, so one long label among many could take many times the size of the file.
LABEL_BYTES_AT_LEAST, LABEL_BYTES_PER_CHARACTER = 2048, 64


@dataclass(frozen=True)
class Labels(Form):
    """At least ``least`` distinct labels; exactly as many as the length of ``axis``, if it is named.

    Labels of any plain type are read back as an array of the same type. Text is read as an array of its former width,
    if that is within the limit of bytes above; otherwise as wide as the longest label; and if that is too large as
    well, as an array of Python strings.

    >>> Labels().plain(np.array(["no", "yes"]), Writing("classes"))
    {'dtype': 'str', 'values': ['no', 'yes'], 'width': 3}
    """

    axis: str = ""
    least: int = 2
    shared: ClassVar[bool] = True

    def plain(self, value: Any, at: Writing) -> Any:
        kind = {"U": "str", "T": "str", "O": "object"}.get(value.dtype.kind, value.dtype.name)
        labels = [label.item() if isinstance(label, np.generic) else label for label in value.tolist()]
        for label in labels:
            if type(label) not in _TYPES.get(kind, ()) or (isinstance(label, float) and not math.isfinite(label)):
                problem = f"the class {label!r} is of type {type(label).__name__}"
                raise ParameterError("model", problem, "fit with labels that are text, finite numbers or truth values")
        fixed = value.dtype.kind == "U" and value.dtype.itemsize // 4 <= WIDEST_LABEL_ARRAY
        return {"dtype": kind, "values": labels} | ({"width": value.dtype.itemsize // 4} if fixed else {})

    def read(self, found: Any, at: Reading) -> AnyArray:
        formed = isinstance(found, dict) and set(found) - {"width"} == {"dtype", "values"}
        at.require(formed, "has a wrong form")
        kind, labels = found["dtype"], found["values"]
        at.require(isinstance(kind, str) and kind in _TYPES, f"is of an unknown type, {kind!r:.60}")
        at.require(isinstance(labels, list), "is not a list")
        self._count(len(labels), at)
        at.require(all(type(label) in _TYPES[kind] for label in labels), f"is not all of type {kind}")
        distinct = len({(type(label), _hashed(label)) for label in labels}) == len(labels)
        at.require(distinct, "has a class twice")
        dtype = self._dtype(found, at)
        if dtype == "object":
            classes = np.empty(len(labels), dtype=object)
            classes[:] = labels
            return classes
        try:
            return np.array(labels, dtype=dtype)
        except OverflowError:
            raise ModelFileError(f"its {at.path} has a class that does not fit into {kind}") from None

    @staticmethod
    def _dtype(found: dict[str, Any], at: Reading) -> str:
        kind, labels = str(found["dtype"]), found["values"]
        if kind != "str":
            at.require("width" not in found, f"has a width, but is of type {kind}")
            return kind
        longest = max((len(label) for label in labels), default=0)
        width = found.get("width", longest)
        sound = type(width) is int and longest <= width <= max(longest, WIDEST_LABEL_ARRAY)
        at.require(sound, f"has a width of {width!r:.60}, which does not fit its labels")
        room = LABEL_BYTES_AT_LEAST + LABEL_BYTES_PER_CHARACTER * sum(len(label) + 4 for label in labels)
        widths = [one for one in (width, longest) if 4 * max(1, one) * len(labels) <= room]
        return f"<U{max(1, widths[0])}" if widths else "object"

    def refit(self, value: Any, at: Reading) -> None:
        at.require(isinstance(value, np.ndarray) and value.ndim == 1, "is not a list of labels")
        self._count(len(value), at)

    def _count(self, count: int, at: Reading) -> None:
        at.require(count >= self.least, f"has {count} labels: there are fewer than two classes")
        wanted = at.sizes.get(self.axis, count)
        at.require(count == wanted, f"has {count} labels, where there must be {wanted}")


def _hashed(label: Any) -> Any:
    """The label itself, or the text of a long integer, since many long integers may have the same hash."""
    return str(label) if type(label) is int and abs(label) >= 1 << 64 else label


# --- Dataclasses

_PLAIN: dict[Any, Form] = {str: Plain(str), bool: Plain(bool), int: Plain(int), float: Number()}


def _optional(*hints: Any) -> Form:
    [hint] = [hint for hint in hints if hint is not NoneType]
    return Maybe(form_of(hint))


# The forms of annotations with arguments, by their origin.
_COMPOUND: dict[Any, Callable[..., Form]] = {
    UnionType: _optional,
    Union: _optional,
    Literal: lambda *words: Choice(words),
    tuple: lambda hint, _: Several(form_of(hint)),
}


def form_of(hint: Any) -> Form:
    """The form of an annotation. Arrays and protocols need an explicit form, ``Record(field=form)``.

    >>> form_of(tuple[int, ...]).read([1, 2], Reading("rows"))
    (1, 2)
    """
    if is_dataclass(hint) and isinstance(hint, type):
        return Record(hint)
    form = _PLAIN.get(hint)
    return _COMPOUND[get_origin(hint)](*get_args(hint)) if form is None else form


class Record(Form):
    """A dataclass, stored by its fields. ``kind`` is the class, or "module:class" if it is imported only when needed.

    ``check`` returns what is wrong with a value, given the lengths of axes, or an empty text. The default is the
    method ``misfit`` of the class, if it has one.

    >>> from separatrix.core.certificate import WeightErrorBound
    >>> Record(WeightErrorBound).read({"value": None, "unit": "", "reason": "why"}, Reading("weights"))
    WeightErrorBound(value=None, unit='', reason='why')
    """

    shared: ClassVar[bool] = True

    def __init__(
        self, kind: type | str, check: Callable[[Any, Mapping[str, int]], str] | None = None, /, **forms: Form
    ) -> None:
        self.kind, self.check, self._given = kind, check, forms

    @property
    def name(self) -> str:
        """The class as "module:class"."""
        return self.kind if isinstance(self.kind, str) else _name(self.kind)

    @cached_property
    def cls(self) -> Any:
        if isinstance(self.kind, type):
            return self.kind
        module, _, name = self.kind.partition(":")
        return getattr(import_module(module), name)

    @cached_property
    def forms(self) -> dict[str, Form]:
        """The forms of the fields, in order."""
        names = [field.name for field in fields(self.cls)]
        hints = get_type_hints(self.cls) if set(names) - set(self._given) else {}
        return {name: self._given.get(name) or form_of(hints[name]) for name in names}

    def plain(self, value: Any, at: Writing) -> Any:
        return {name: at.into(name).plain(form, getattr(value, name)) for name, form in self.forms.items()}

    def read(self, found: Any, at: Reading) -> Any:
        if not isinstance(found, dict):
            raise ModelFileError(f"its {at.path} is not an object")
        require_keys(found, set(self.forms), at)
        value = self.cls(**{name: at.into(name).read(form, found[name]) for name, form in self.forms.items()})
        self._require_sound(value, at)
        return value

    def refit(self, value: Any, at: Reading) -> None:
        at.require(_name(type(value)) == self.name, f"is a {type(value).__name__}")
        self._require_sound(value, at)

    def _require_sound(self, value: Any, at: Reading) -> None:
        check = self.check or getattr(self.cls, "misfit", None)
        problem = check(value, at.sizes) if check else ""
        at.require(not problem, problem)


class Kinds(Form):
    """One of several records, marked by the key "kind". A new kind is one line: its name and its record."""

    shared: ClassVar[bool] = True

    def __init__(self, records: Mapping[str, Record]) -> None:
        self.records = records

    def name_of(self, value: Any) -> str | None:
        """The name of a value's kind."""
        class_name = _name(type(value))
        return next((name for name, record in self.records.items() if record.name == class_name), None)

    def plain(self, value: Any, at: Writing) -> Any:
        name = self.name_of(value)
        if name is None:
            remedy = f"save one of the kinds that a file can hold: {', '.join(self.records)}"
            raise at.refuse(f"is of {type(value).__name__}", remedy)
        return {"kind": name, **self.records[name].plain(value, at)}

    def read(self, found: Any, at: Reading) -> Any:
        name = found.get("kind") if isinstance(found, dict) else None
        if not isinstance(name, str) or name not in self.records:
            raise ModelFileError(f"its {at.path} is of no known kind: {', '.join(self.records)}")
        return self.records[name].read({key: value for key, value in found.items() if key != "kind"}, at)

    def refit(self, value: Any, at: Reading) -> None:
        at.require(self.name_of(value) is not None, f"is a {type(value).__name__}")

    def only(self, *names: str) -> Kinds:
        """Only these kinds."""
        return Kinds({name: self.records[name] for name in names})


def require_keys(found: Mapping[str, Any], expected: set[str], at: Reading) -> None:
    """Refuse missing and unknown keys."""
    lacking, more = sorted(expected - set(found)), sorted(set(found) - expected)
    at.require(not lacking, f"lacks the key {', '.join(lacking)}")
    at.require(not more, f"has an unknown key, {', '.join(more):.60}")


def _name(kind: type) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"
