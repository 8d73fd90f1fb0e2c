"""The form of classes: labels of any plain type, as an array of the type that they had."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from separatrix.arrays import AnyArray
from separatrix.errors import ModelFileError, ParameterError
from separatrix.model_file.places import Form, Reading, Writing

_WHOLE = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
# What labels may be: the name of their array's type, and the type that each must have in JSON.
_TYPES: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "bool": (bool,),
    "object": (str, bool, int, float),
    **dict.fromkeys(_WHOLE, (int,)),
    **dict.fromkeys(("float16", "float32", "float64"), (float,)),
}
# Text arrays may be wider than their longest label, but not wider than this: a file must not ask for much memory.
WIDEST = 1024


@dataclass(frozen=True)
class Labels(Form):
    """Distinct labels, ``least`` of them or more; as many as the axis is long, where it has a name.

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
                came = f"the class {label!r} is of type {type(label).__name__}"
                raise ParameterError("model", came, "fit with labels that are text, finite numbers or truth values")
        fixed = value.dtype.kind == "U" and value.dtype.itemsize // 4 <= WIDEST
        return {"dtype": kind, "values": labels} | ({"width": value.dtype.itemsize // 4} if fixed else {})

    def read(self, found: Any, at: Reading) -> AnyArray:
        formed = isinstance(found, dict) and set(found) - {"width"} == {"dtype", "values"}
        at.require(formed, "has a wrong form")
        kind, labels = found["dtype"], found["values"]
        at.require(isinstance(kind, str) and kind in _TYPES, f"is of an unknown type, {kind!r:.60}")
        at.require(isinstance(labels, list), "is not a list")
        self._count(len(labels), at)
        at.require(all(type(label) in _TYPES[kind] for label in labels), f"is not all of type {kind}")
        distinct = len({(type(label), label) for label in labels}) == len(labels)
        at.require(distinct, "has a class twice")
        if kind == "object":
            classes = np.empty(len(labels), dtype=object)
            classes[:] = labels
            return classes
        try:
            return np.array(labels, dtype=self._dtype(found, at))
        except OverflowError:
            raise ModelFileError(f"its {at.path} has a class that does not fit into {kind}") from None

    @staticmethod
    def _dtype(found: dict[str, Any], at: Reading) -> str:
        if "width" not in found:
            return str(found["dtype"])
        width, longest = found["width"], max((len(str(label)) for label in found["values"]), default=0)
        sound = type(width) is int and found["dtype"] == "str" and max(1, longest) <= width <= max(longest, WIDEST)
        at.require(sound, f"has a width of {width!r:.60}, which does not fit its labels")
        return f"<U{width}"

    def refit(self, value: Any, at: Reading) -> None:
        at.require(isinstance(value, np.ndarray) and value.ndim == 1, "is not a list of labels")
        self._count(len(value), at)

    def _count(self, count: int, at: Reading) -> None:
        at.require(count >= self.least, f"has {count} labels: there are fewer than two classes")
        wanted = at.sizes.get(self.axis, count)
        at.require(count == wanted, f"has {count} labels, where there must be {wanted}")
