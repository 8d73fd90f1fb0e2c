"""How class labels are stored: labels of any plain type, read back as an array of the same type."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from separatrix.base.arrays import AnyArray
from separatrix.base.errors import ModelFileError, ParameterError
from separatrix.model_file.places import Form, Reading, Writing

_INTEGER_TYPES = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
# The array types that labels may have, and the JSON types allowed for each.
_TYPES: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "bool": (bool,),
    "object": (str, bool, int, float),
    **dict.fromkeys(_INTEGER_TYPES, (int,)),
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

    Text is read as an array of its former width, if that is within the limit of bytes above; otherwise as wide as the
    longest label; and if that is too large as well, as an array of Python strings.

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
