"""Settings and other loose values in JSON's own types, and back.

Numbers that are not finite, such as C without a penalty, are the texts "inf", "-inf" and "nan". Dictionaries are
{"pairs": ...}, since their keys are labels of any type; text that would read as a number is {"text": ...}.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from separatrix.base.errors import ModelFileError

NOT_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
# Whole numbers past 64 bits are no keys: Python's dictionaries take quadratic time for some sets of them.
_LARGE_KEY = 1 << 64


def to_plain(value: Any) -> Any:
    """A value in JSON's own types; a TypeError where it has no such form.

    >>> to_plain({"yes": np.float64(2.0), "no": np.inf})
    {'pairs': [['yes', 2.0], ['no', 'inf']]}
    """
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, str):
        return {"text": value} if value in NOT_FINITE else value
    if isinstance(value, list | tuple):
        return [to_plain(item) for item in value]
    if isinstance(value, Mapping):
        pairs = [[to_plain(key), to_plain(item)] for key, item in value.items()]
        if not all(_is_pair(pair) for pair in pairs):
            raise TypeError("a key of a dictionary has no form in JSON")
        return {"pairs": pairs}
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def from_plain(value: Any) -> Any:
    """The value again; arrays and tuples have become lists.

    >>> from_plain({"pairs": [["yes", 2.0], ["no", "inf"]]})
    {'yes': 2.0, 'no': inf}
    """
    if isinstance(value, str):
        return NOT_FINITE.get(value, value)
    if isinstance(value, list):
        return [from_plain(item) for item in value]
    if isinstance(value, dict):
        if set(value) == {"text"} and isinstance(value["text"], str):
            return value["text"]
        pairs = value.get("pairs")
        if len(value) != 1 or not isinstance(pairs, list) or not all(_is_pair(pair) for pair in pairs):
            raise ModelFileError("a setting has a wrong form")
        return {from_plain(key): from_plain(item) for key, item in pairs}
    return value


def _is_pair(value: Any) -> bool:
    """Whether these are a key and its value; a key may be text of the form {"text": ...}."""
    if not (isinstance(value, list) and len(value) == 2) or isinstance(value[0], list):
        return False
    if isinstance(value[0], int) and abs(value[0]) >= _LARGE_KEY:
        return False
    return not isinstance(value[0], dict) or (set(value[0]) == {"text"} and isinstance(value[0]["text"], str))
