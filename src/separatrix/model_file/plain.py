"""Settings and other plain values as JSON types, and back.

Numbers that are not finite, such as C without a penalty, become the texts "inf", "-inf" and "nan". Dictionaries become
{"pairs": ...}, since their keys are labels of any type. Text that reads like such a number becomes {"text": ...}.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from separatrix.base.errors import ModelFileError

NOT_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
# Larger integers are refused as keys: for some sets of them, Python's dictionaries take quadratic time.
_LARGEST_KEY = 1 << 64


def to_plain(value: Any) -> Any:
    """A value as JSON types; a TypeError if that is not possible.

    >>> to_plain({"yes": np.float64(2.0), "no": np.inf})
    {'pairs': [['yes', 2.0], ['no', 'inf']]}
    """
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    for kinds, plain in _PLAIN_FORMS:
        if isinstance(value, kinds):
            return plain(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


# The conversion of each kind of value to JSON types. A bool is an int.
_PLAIN_FORMS: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (int | None, lambda value: value),
    (float, lambda value: value if math.isfinite(value) else str(value)),
    (str, lambda value: {"text": value} if value in NOT_FINITE else value),
    (list | tuple, lambda value: [to_plain(item) for item in value]),
    (Mapping, lambda value: {"pairs": _plain_pairs(value)}),
)


def _plain_pairs(value: Mapping[Any, Any]) -> list[list[Any]]:
    pairs = [[to_plain(key), to_plain(item)] for key, item in value.items()]
    if not all(_is_pair(pair) for pair in pairs):
        raise TypeError("a key of a dictionary has no form in JSON")
    return pairs


def from_plain(value: Any) -> Any:
    """The value of ``to_plain``, with lists in place of arrays and tuples.

    >>> from_plain({"pairs": [["yes", 2.0], ["no", "inf"]]})
    {'yes': 2.0, 'no': inf}
    """
    if isinstance(value, str):
        return NOT_FINITE.get(value, value)
    if isinstance(value, list):
        return [from_plain(item) for item in value]
    return _from_object(value) if isinstance(value, dict) else value


def _from_object(value: dict[str, Any]) -> Any:
    """The text or the dictionary that a JSON object stands for."""
    if set(value) == {"text"} and isinstance(value["text"], str):
        return value["text"]
    pairs = value.get("pairs")
    if len(value) != 1 or not isinstance(pairs, list) or not all(_is_pair(pair) for pair in pairs):
        raise ModelFileError("a setting has a wrong form")
    return {from_plain(key): from_plain(item) for key, item in pairs}


def _is_pair(value: Any) -> bool:
    """Whether this is a key and its value. A key may be text in the form {"text": ...}."""
    if not (isinstance(value, list) and len(value) == 2) or isinstance(value[0], list):
        return False
    if isinstance(value[0], int) and abs(value[0]) >= _LARGEST_KEY:
        return False
    return not isinstance(value[0], dict) or (set(value[0]) == {"text"} and isinstance(value[0]["text"], str))
