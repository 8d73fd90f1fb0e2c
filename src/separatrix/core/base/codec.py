r"""One codec for all that is stored: model files, the footers of caches, the data of recordings.

What is stored is declared once, on a dataclass. The annotation of a field gives its ``Form``. Bounds and the names of
axes, which a type does not have, are written beside the type:

    @dataclass(frozen=True)
    class HingeClaim:
        scorer: Scorer                                            another dataclass
        C: Annotated[float, Number(above=0.0)]                    a number with bounds
        class_weights: Annotated[Array, array("K", least=0)]      an array with a number for each of K classes
        supports: Annotated[tuple[Support, ...], Several("K")]    one item for each class
        note: str | None = None                                   text, or nothing

``RecordForm(HingeClaim)`` writes such an object as JSON types, reads it back after checking the type, size and range of
every field, and lists the fields. A key that a file lacks gets the default of the field, if there is one. A class with
a method ``misfit(sizes)`` is asked for what is wrong with the whole object.

A form is given the ``Place`` of the value, so that errors name the place and what is wrong with it. An array or a
record that occurs in two places is written once, and the second time as {"same": place}. When it is read, it becomes
one object again. Nothing that a file says is imported or executed: names in it are looked up among those declared.

Descriptions of classifiers hold forms and are read without NumPy, which is therefore imported only for arrays.
"""

from __future__ import annotations

import math
import typing
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, replace
from functools import partial
from importlib import import_module
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, TypeAlias, TypeVar

from separatrix.core.base.errors import InputError, ModelFileError, ParameterError
from separatrix.core.base.lazy import cached_property

if TYPE_CHECKING:
    from separatrix.core.base.arrays import AnyArray

T = TypeVar("T")


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


# A form, or a function that finds it when it is first needed.
Known: TypeAlias = Form | Callable[[], Form]


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

    def each(self, forms: Mapping[str, Form], values: Mapping[str, Any]) -> dict[str, Any]:
        """The values by name as JSON types."""
        return {name: self.into(name).plain(form, values[name]) for name, form in forms.items()}

    def refuse(self, problem: str, remedy: str) -> ParameterError:
        """The error for a model that cannot be written."""
        return ParameterError("model", f"its {self.path} {problem}", remedy)


class Copying(Writing):
    """A place to write to where every object is written in full, even one that was written before."""

    def plain(self, form: Form, value: Any) -> Any:
        """The value as JSON types."""
        return form.plain(value, self)


class Reading(Place):
    """A place to read from; ``seen`` holds objects by their path."""

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

    def each(self, forms: Mapping[str, Form], found: Mapping[str, Any]) -> dict[str, Any]:
        """The values by name, of those that the file has."""
        return {name: self.into(name).read(form, found[name]) for name, form in forms.items() if name in found}

    def require(self, holds: bool, problem: str) -> None:
        """Refuse the file unless this holds."""
        if not holds:
            raise self.refusal(problem)

    def refusal(self, problem: str) -> ModelFileError:
        """The error for a file with something wrong at this place."""
        return ModelFileError(f"its {self.path or 'content'} {problem}")


# --- Settings and other plain values

NOT_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def to_plain(value: Any) -> Any:
    """A value as JSON types; a TypeError if that is not possible.

    Numbers that are not finite, such as C without a penalty, become the texts "inf", "-inf" and "nan". Text that reads
    like such a number becomes {"text": ...}. Dictionaries become {"pairs": ...}, since their keys are labels of any
    type.

    >>> to_plain({"yes": 2.0, "no": math.inf})
    {'pairs': [['yes', 2.0], ['no', 'inf']]}
    """
    if hasattr(value, "tolist"):  # an array, or a number of NumPy
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


# --- Single values, and several of them

# Counts from here on are refused. They are printed and divided as float64, which ends at 2^1024.
LARGEST_COUNT = 1 << 1000
# The most characters of a sentence in a file. Sentences quote column names; those of one table take a few hundred.
LONGEST_SENTENCE = 1 << 16


@dataclass(frozen=True)
class Plain(Form):
    """Text, a truth value, or an integer that is at least ``least`` and below ``LARGEST_COUNT``.

    Text for people, with ``shortened``, is cut after ``LONGEST_SENTENCE`` characters when it is written.

    >>> Plain(int).read(7, Reading("rows"))
    7
    """

    kind: type[Any]
    least: float = -math.inf
    shortened: bool = False

    def plain(self, value: Any, at: Writing) -> Any:
        if self.shortened and len(value) > LONGEST_SENTENCE:
            return f"{value[: LONGEST_SENTENCE - 1]}…"
        return self.kind(value)

    def read(self, found: Any, at: Reading) -> Any:
        if type(found) is not self.kind:
            raise at.refusal(f"is {found!r:.60}, not of type {self.kind.__name__}")
        if self.kind is int and found < self.least:
            raise at.refusal(f"is {found!r:.60}, below {self.least}")
        if self.kind is int and abs(found) >= LARGEST_COUNT:
            raise at.refusal(f"is {found!r:.60}, too large")
        if self.shortened and len(found) > LONGEST_SENTENCE:
            raise at.refusal(f"has more than {LONGEST_SENTENCE} letters")
        return found


COUNT, SENTENCE = Plain(int, 0), Plain(str, shortened=True)


@dataclass(frozen=True)
class Number(Form):
    """A float64 above ``above``, if given, and from ``least`` to ``most``. NaN is allowed only without any bounds."""

    least: float = -math.inf
    most: float = math.inf
    above: float | None = None
    finite: bool = False

    def plain(self, value: Any, at: Writing) -> Any:
        return to_plain(float(value))

    def read(self, found: Any, at: Reading) -> float:
        value = NOT_FINITE.get(found) if isinstance(found, str) else found
        if type(value) is not float:
            raise at.refusal(f"is {found!r:.60}, not of type float")
        if self.finite and not math.isfinite(value):
            raise at.refusal(f"is {value}, not finite")
        if not self.least <= value <= self.most and self != Number():
            raise at.refusal(f"is {value}, not between {self.least} and {self.most}")
        if self.above is not None and not value > self.above:
            raise at.refusal(f"is {value}, not above {self.above}")
        return value


Finite: TypeAlias = Annotated[float, Number(finite=True)]


@dataclass(frozen=True)
class Choice(Form):
    """One of several words. If they are the names of ``objects``, the value is the object of this name."""

    words: Collection[str]
    objects: Mapping[str, Any] | None = None

    def plain(self, value: Any, at: Writing) -> Any:
        return str(value if self.objects is None else value.name)

    def read(self, found: Any, at: Reading) -> Any:
        at.require(isinstance(found, str) and found in self.words, f"is unknown: {found!r:.60}")
        return found if self.objects is None else self.objects[found]


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
    """Values of one form; exactly as many as the length of ``axis``, if it is named.

    Beside an annotation such as ``tuple[float, ...]``, the form of the values is left out.
    """

    axis: str = ""
    form: Any = None
    kind: type = tuple

    def plain(self, value: Any, at: Writing) -> Any:
        if isinstance(self.form, Plain | Number):
            return [self.form.plain(item, at) for item in value]
        return [at.into(k).plain(self.form, item) for k, item in enumerate(value)]

    def read(self, found: Any, at: Reading) -> Any:
        at.require(isinstance(found, list), "is not a list")
        wanted = at.sizes.get(self.axis, len(found))
        at.require(len(found) == wanted, f"has {len(found)} entries, where there must be {wanted}")
        if isinstance(self.form, Plain | Number):  # many of them, such as the n-grams of a text
            with suppress(ModelFileError):
                return self.kind(self.form.read(item, at) for item in found)
        return self.kind(at.into(k).read(self.form, item) for k, item in enumerate(found))


@dataclass(frozen=True)
class NamedPairs(Form):
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
class Values(Form):
    """Plain values by name, in no order."""

    def plain(self, value: Any, at: Writing) -> Any:
        return {str(key): to_plain(item) for key, item in value.items()}

    def read(self, found: Any, at: Reading) -> Any:
        at.require(isinstance(found, dict), "is not an object")
        return {key: from_plain(item) for key, item in found.items()}


# --- Arrays


@dataclass(frozen=True)
class NumberArray(Form):
    """An array of numbers that are all at least ``least``; float64, or int64 if they are ``whole``.

    ``axes`` names its axes, "" for any length. With ``flat``, an array with two axes may also be one row without the
    first axis. The rounding of BLAS products depends on the order in memory, so a matrix in column order is written by
    columns: {"columns": ...}.
    """

    axes: tuple[str, ...]
    whole: bool = False
    finite: bool = True
    least: float = -math.inf
    flat: bool = False
    shared: ClassVar[bool] = True

    @property
    def dtype(self) -> str:
        return "int64" if self.whole else "float64"

    def plain(self, value: Any, at: Writing) -> Any:
        import numpy as np

        array = np.asarray(value, dtype=self.dtype)
        if array.ndim != len(self.axes) and not (self.flat and array.ndim == 1):
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
        one = self.flat and isinstance(found, list) and not any(isinstance(row, list) for row in found)
        return self._array(found, self.axes[one:], at)

    def _array(self, found: Any, axes: tuple[str, ...], at: Reading) -> AnyArray:
        """The array of nested lists. Nothing is allocated before all lengths and types have been checked."""
        import numpy as np

        shape, level = list[int](), [found]
        for axis in axes:
            at.require(all(type(row) is list for row in level), f"is not an array with {len(axes)} axes")
            lengths = {len(row) for row in level} or {at.sizes.get(axis, 0)}
            at.require(len(lengths) == 1, "has rows of different lengths")
            shape.append(lengths.pop())
            self._length(shape[-1], axis, at)
            level = [value for row in level for value in row]
        if not self.finite:
            level = [NOT_FINITE.get(value, value) if type(value) is str else value for value in level]
        kind = int if self.whole else float
        at.require(set(map(type, level)) <= {kind}, f"does not hold numbers of type {kind.__name__} alone")
        try:
            values = np.array(level, dtype=self.dtype).reshape(shape)
        except OverflowError:
            raise at.refusal("holds a number past 64 bits") from None
        at.require(self.least == -math.inf or bool(np.all(values >= self.least)), f"holds a number below {self.least}")
        return values

    def refit(self, value: Any, at: Reading) -> None:
        fits = getattr(value, "ndim", None) == len(self.axes) and value.dtype == self.dtype
        at.require(fits, "is not such an array")
        for length, axis in zip(value.shape, self.axes, strict=True):
            self._length(length, axis, at)

    @staticmethod
    def _length(length: int, axis: str, at: Reading) -> None:
        wanted = at.sizes.get(axis, length)
        at.require(length == wanted, f"has a length of {length}, where {axis} is {wanted}")


def array(*axes: str, **asked: Any) -> NumberArray:
    """A ``NumberArray`` with these axes.

    In model files: "K" (classes), "scores" (1 for two classes, else K), "d" (columns), "1+d", "models", or "" for any
    length.

    >>> array("K", "d").read([[1.0], [2.0]], Reading("means", {"K": 2, "d": 1})).tolist()
    [[1.0], [2.0]]
    """
    return NumberArray(axes, **asked)


# Row numbers.
ROWS = array("", whole=True, least=0)


@dataclass(frozen=True)
class Whole(Form):
    """Integers of any size: a tuple, or an object array with one or two axes."""

    array: bool = False

    def plain(self, value: Any, at: Writing) -> Any:
        return [self._entry(item) for item in (value.tolist() if self.array else value)]

    def _entry(self, item: Any) -> Any:
        if isinstance(item, list):
            return [self._entry(one) for one in item]
        # Python refuses to parse decimals of thousands of digits.
        return int(item) if abs(item) < 1 << 63 else hex(item)

    def read(self, found: Any, at: Reading) -> Any:
        at.require(isinstance(found, list), "is not a list")
        shape = [len(found)]
        if self.array and found and isinstance(found[0], list):
            shape.append(len(found[0]))
            even = all(isinstance(row, list) and len(row) == shape[1] for row in found)
            at.require(even, "has rows of different lengths")
            found = [item for row in found for item in row]
        numbers = [self._number(item, at) for item in found]
        return _objects(numbers).reshape(shape) if self.array else tuple(numbers)

    @staticmethod
    def _number(item: Any, at: Reading) -> int:
        if type(item) is int:
            return item
        try:
            return int(item, 16)
        except (TypeError, ValueError):
            raise at.refusal(f"holds {item!r:.60}, not an integer") from None


def _objects(values: list[Any]) -> AnyArray:
    """An object array, (n,)."""
    import numpy as np

    objects: AnyArray = np.empty(len(values), dtype=object)
    objects[:] = values
    return objects


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

    >>> Labels().read({"dtype": "int8", "values": [3, 5]}, Reading("classes"))
    array([3, 5], dtype=int8)
    """

    axis: str = ""
    least: int = 2
    shared: ClassVar[bool] = True

    def plain(self, value: Any, at: Writing) -> Any:
        kind = {"U": "str", "T": "str", "O": "object"}.get(value.dtype.kind, value.dtype.name)
        labels = [label.item() if hasattr(label, "item") else label for label in value.tolist()]
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
        # Many long integers may have the same hash, so their text is compared.
        hashed = {(type(one), str(one) if type(one) is int and abs(one) >= 1 << 64 else one) for one in labels}
        at.require(len(hashed) == len(labels), "has a class twice")
        dtype = self._dtype(found, at)
        if dtype == "object":
            return _objects(labels)
        import numpy as np

        try:
            return np.array(labels, dtype=dtype)
        except OverflowError:
            raise at.refusal(f"has a class that does not fit into {kind}") from None

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
        at.require(getattr(value, "ndim", None) == 1, "is not a list of labels")
        self._count(len(value), at)

    def _count(self, count: int, at: Reading) -> None:
        at.require(count >= self.least, f"has {count} labels: there are fewer than two classes")
        wanted = at.sizes.get(self.axis, count)
        at.require(count == wanted, f"has {count} labels, where there must be {wanted}")


# --- Dataclasses


@dataclass(frozen=True)
class Keyed(Form):
    """A dictionary with these keys, each with a value of its form; if ``may_be_empty``, also one without any."""

    forms: Mapping[str, Form]
    may_be_empty: bool = False

    def plain(self, value: Any, at: Writing) -> Any:
        return at.each(self.forms if value or not self.may_be_empty else {}, value)

    def read(self, found: Any, at: Reading) -> dict[str, Any]:
        at.require(isinstance(found, dict), "is not an object")
        forms = self.forms if found or not self.may_be_empty else {}
        require_keys(found, forms, at)
        return at.each(forms, found)


@dataclass(frozen=True)
class RecordForm(Form):
    """A dataclass, stored by its fields. ``kind`` is the class, or "module:class" if it is imported only when needed.

    ``known`` has the forms of types that annotations name and that the codec does not know, such as protocols, and the
    forms that annotations name by text, as in ``Annotated[Any, "model"]``.

    >>> from separatrix.core.certificate import WeightErrorBound
    >>> RecordForm(WeightErrorBound).read({"value": None, "unit": "", "reason": "why"}, Reading("weights"))
    WeightErrorBound(value=None, unit='', reason='why')
    """

    kind: type | str
    known: Mapping[Any, Known] = field(default_factory=dict, repr=False, compare=False)
    shared: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """The class as "module:class"."""
        return self.kind if isinstance(self.kind, str) else _name(self.kind)

    @cached_property
    def cls(self) -> Any:
        return _named(self.kind) if isinstance(self.kind, str) else self.kind

    @cached_property
    def forms(self) -> dict[str, Form]:
        """The forms of the fields, in order."""
        hints = typing.get_type_hints(self.cls, include_extras=True)
        return {one.name: form_of(hints[one.name], {**_PLAIN, **self.known}) for one in fields(self.cls)}

    @cached_property
    def defaults(self) -> set[str]:
        """The fields that a file may lack."""
        required = {one.name for one in fields(self.cls) if one.default is one.default_factory is MISSING}
        return set(self.forms) - required

    def plain(self, value: Any, at: Writing) -> dict[str, Any]:
        return at.each(self.forms, vars(value))

    def read(self, found: Any, at: Reading) -> Any:
        at.require(isinstance(found, dict), "is not an object")
        require_keys(found, self.forms, at, self.defaults)
        values = at.each(self.forms, found)
        try:
            value = self.cls(**values)
        except InputError as error:
            raise at.refusal(f"is refused: {error}") from None
        self._require_sound(value, at)
        return value

    def refit(self, value: Any, at: Reading) -> None:
        at.require(_name(type(value)) == self.name, f"is a {type(value).__name__}")
        self._require_sound(value, at)

    def _require_sound(self, value: Any, at: Reading) -> None:
        problem = value.misfit(at.sizes) if hasattr(value, "misfit") else ""
        at.require(not problem, problem)


@dataclass(frozen=True)
class Kinds(Form):
    """One of several records, marked by the key "kind". A new kind is one line: its name and its record."""

    records: Mapping[str, RecordForm]
    shared: ClassVar[bool] = True

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
            raise at.refusal(f"is of no known kind: {', '.join(self.records)}")
        return self.records[name].read({key: value for key, value in found.items() if key != "kind"}, at)

    def refit(self, value: Any, at: Reading) -> None:
        at.require(self.name_of(value) is not None, f"is a {type(value).__name__}")

    def only(self, *names: str) -> Kinds:
        """Only these kinds."""
        return Kinds({name: self.records[name] for name in names})


def require_keys(found: Mapping[str, Any], keys: Collection[str], at: Reading, optional: Collection[str] = ()) -> None:
    """Refuse missing and unknown keys."""
    lacking, more = sorted(set(keys) - set(optional) - set(found)), sorted(set(found) - set(keys))
    at.require(not lacking, f"lacks the key {', '.join(lacking)}")
    at.require(not more, f"has an unknown key, {', '.join(more):.60}")


def _name(kind: type) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


def _named(name: str) -> Any:
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)


# --- From annotations to forms

_PLAIN: dict[Any, Known] = {str: Plain(str), bool: Plain(bool), int: Plain(int), float: Number()}


def form_of(hint: Any, known: Mapping[Any, Known] = _PLAIN) -> Form:
    """The form of an annotation. ``known`` has those of types without arguments, and of texts beside annotations.

    >>> form_of(tuple[int, ...]).read([1, 2], Reading("rows"))
    (1, 2)
    >>> form_of(Annotated[float, Number(above=0.0)] | None)
    Maybe(form=Number(least=-inf, most=inf, above=0.0, finite=False))
    """
    if isinstance(hint, Form):
        return hint
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    within = partial(form_of, known=known)
    if origin is Annotated:
        of, said = arguments
        if isinstance(said, Several):
            return Several(said.axis, within(typing.get_args(of)[0]), typing.get_origin(of) or tuple)
        return within(said)
    if hint in known:
        found = known[hint]
        return found if isinstance(found, Form) else found()
    if origin in (UnionType, typing.Union):
        [one] = [argument for argument in arguments if argument is not NoneType]
        return Maybe(within(one))
    if origin is Literal:
        return Choice(arguments)
    if origin in (tuple, list):
        return Several(form=within(arguments[0]), kind=origin)
    if origin is Mapping:
        return NamedPairs()
    if is_dataclass(hint) and isinstance(hint, type):
        return RecordForm(hint, known)
    raise TypeError(f"{hint} has no form: write Annotated[..., a form] in its place")


def plain(value: Any) -> Any:
    """A dataclass as JSON types; None stays None.

    >>> from separatrix.core.certificate import WeightErrorBound
    >>> plain(WeightErrorBound(0.5, "standard errors"))
    {'value': 0.5, 'unit': 'standard errors', 'reason': ''}
    """
    return None if value is None else RecordForm(type(value)).plain(value, Copying())


def read(kind: type[T], found: Any) -> T:
    """The dataclass that ``plain`` has written, after checking every field.

    >>> from separatrix.core.certificate import WeightErrorBound
    >>> read(WeightErrorBound, {"value": 0.5, "unit": 3, "reason": ""})
    Traceback (most recent call last):
        ...
    separatrix.core.base.errors.ModelFileError: its unit is 3, not of type str
    """
    value: T = RecordForm(kind).read(found, Reading())
    return value


# --- The list of fields

_TYPES_IN_WORDS = {str: "text", bool: "true or false", int: "integer", list: "list", dict: "object"}


def in_words(form: Form) -> str:
    """What a form holds.

    >>> from separatrix.core.separation_claims import Support
    >>> {name: in_words(form) for name, form in RecordForm(Support).forms.items()}
    {'rows': 'integers (any), at least 0', 'weights': 'numbers (any), at least 0'}
    """
    bounds = {"at least": "least", "at most": "most", "above": "above"}
    asked = {words: getattr(form, name, None) for words, name in bounds.items()}
    bounded = "".join(
        f", {words} {value:g}" for words, value in asked.items() if value not in (None, math.inf, -math.inf)
    )
    match form:
        case Maybe():
            return f"{in_words(form.form)} or null"
        case Several():
            return f"list{form.axis and f' ({form.axis})'} of {in_words(form.form)}"
        case RecordForm():
            return form.name.partition(":")[2]
        case Kinds():
            return " or ".join(f"{in_words(record)} ({kind})" for kind, record in form.records.items())
        case Choice():
            return " or ".join(form.words)
        case Plain():
            return _TYPES_IN_WORDS[form.kind] + bounded
        case Number():
            return f"number{bounded}"
        case NumberArray():
            lengths = " × ".join(axis or "any" for axis in form.axes)
            return f"{'integers' if form.whole else 'numbers'} ({lengths}){bounded}"
        case _:
            return type(form).__name__
