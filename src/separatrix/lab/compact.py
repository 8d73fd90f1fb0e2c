"""Many similar answers in few bytes: values that differ between answers are stored column by column.

The answers to one request differ in a few numbers only. A list of values with one shape is written as

    {"c": value}               the same value in all
    {"o": {key: column}}       objects with the same keys
    {"l": [column, ...]}       lists of the same length
    {"n": [d, ...], "e": e}    numbers in a grid: x_ij = (the sum of d_kl over k ≤ i, l ≤ j) / 10^e
    {"t": column}              texts, as lists of their parts that are and are not numbers
    {"v": [...], "i": [...]}   other values: x_i = v[i_i]
    {"s": [...], "g": [...]}   values of different shapes: the shape of each, and the column of each shape,
                               whose numbers are then in one row

and the result is JSON, compressed by gzip. ``static/recorded.js`` reads it.
"""

from __future__ import annotations

import base64
import gzip
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from separatrix.lab.request_registry import encoded

# Numbers are stored with DECIMALS decimals, since pages print at most three. Those below LEAST or above MOST in size,
# which pages print with an exponent, have DIGITS_OF_EXTREMES significant digits instead.
DECIMALS, LEAST, MOST, DIGITS_OF_EXTREMES = 4, 1e-3, 1e8, 4
_NUMBERS = re.compile(r"(-?\d+(?:\.\d+)?)")


def column(values: Sequence[Any], rows: int = 1) -> dict[str, Any]:
    """Plain values of JSON as a column. The values may stand for ``rows`` rows of a grid, one after the other.

    >>> column([{"x": 1.0, "name": "a"}, {"x": 1.25, "name": "a"}])
    {'o': {'x': {'n': [10000, 2500], 'e': 4}, 'name': {'c': 'a'}}}
    >>> column([[1], [], [2]])
    {'s': [0, 1, 0], 'g': [{'l': [{'n': [1, 1], 'e': 0}]}, {'c': []}]}
    """
    first = values[0]
    if all(_same(one, first) for one in values):
        return {"c": first}
    shapes = [_shape(one) for one in values]
    if len(set(shapes)) > 1:
        return _by_shape(values, shapes)
    if isinstance(first, dict):
        return {"o": {key: column([one[key] for one in values], rows) for key in first}}
    if isinstance(first, list):
        return {"l": [column(parts, rows) for parts in zip(*values, strict=True)]}
    if shapes[0] == ("number",):
        return _numbers(values, rows)
    if shapes[0][0] == "text":
        return {"t": column([_NUMBERS.split(one) for one in values], rows)}
    return _distinct(
        [float(f"{one:.{DIGITS_OF_EXTREMES}g}") for one in values] if shapes[0] == ("extreme",) else values
    )


def _same(one: Any, first: Any) -> bool:
    return type(one) is type(first) and one == first


def _shape(value: Any) -> tuple[Any, ...]:
    """What two values must share to stand in one column."""
    if isinstance(value, dict):
        return ("dict", *value)
    if isinstance(value, list):
        return "list", len(value)
    if isinstance(value, bool) or value is None:
        return ("constant",)
    if isinstance(value, str):
        parts = _NUMBERS.split(value)
        return ("text", *parts[::2]) if len(parts) > 1 and parts != ["", value, ""] else ("word",)
    return ("number",) if value == 0 or LEAST <= abs(value) <= MOST else ("extreme",)


def _by_shape(values: Sequence[Any], shapes: Sequence[Any]) -> dict[str, Any]:
    kinds = {shape: k for k, shape in enumerate(dict.fromkeys(shapes))}
    groups: list[list[Any]] = [[] for _ in kinds]
    for one, shape in zip(values, shapes, strict=True):
        groups[kinds[shape]].append(one)
    return {"s": [kinds[shape] for shape in shapes], "g": [column(group) for group in groups]}


def _distinct(values: Sequence[Any]) -> dict[str, Any]:
    places = {value: k for k, value in enumerate(dict.fromkeys(values))}
    return {"v": list(places), "i": [places[one] for one in values]}


def _numbers(values: Sequence[float], rows: int) -> dict[str, Any]:
    decimals = 0 if all(isinstance(one, int) for one in values) else DECIMALS
    grid = np.array([round(one * 10**decimals) for one in values]).reshape(rows, -1)
    differences = np.diff(np.diff(grid, axis=1, prepend=0), axis=0, prepend=0)
    return {"n": differences.ravel().tolist(), "e": decimals}


def packed(value: Any) -> str:
    """JSON compressed by gzip, in base64. The same value always gives the same text.

    >>> unpacked(packed({"w": [1.0, 2.0]}))
    '{"w":[1.0,2.0]}'
    """
    return base64.b64encode(gzip.compress(encoded(value).encode(), 9, mtime=0)).decode()


def unpacked(text: str) -> str:
    """The JSON of ``packed``."""
    return gzip.decompress(base64.b64decode(text)).decode()
