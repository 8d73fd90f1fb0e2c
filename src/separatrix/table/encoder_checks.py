"""Checks of an encoder that a model file holds as JSON types: of every key, type and length."""

from __future__ import annotations

import math
from typing import Any

from separatrix.base.errors import ModelFileError
from separatrix.table import cells
from separatrix.table.encoded_column import KINDS, WORDS, Encoded
from separatrix.table.text import TextFeatures, checked_features

MISSING = ("error", "impute", "indicator", "drop")
UNSEEN = ("average", "error")


def checked_columns(content: Any) -> tuple[Encoded, ...]:
    """The columns of an encoder, from the result of its ``plain``.

    >>> one = {"name": "age", "kind": "number", "levels": [], "fill": [40.0], "indicator": False, "average": []}
    >>> checked_columns({"columns": [one | {"text": None}], "missing": "impute", "unseen": "average"})[0].fill
    (40.0,)
    """
    require(isinstance(content, dict) and set(content) == {"columns", "missing", "unseen"}, "it has a wrong form")
    require(content["missing"] in MISSING, f"its 'missing' is {content['missing']!r:.60}")
    require(content["unseen"] in UNSEEN, f"its 'unseen' is {content['unseen']!r:.60}")
    require(isinstance(content["columns"], list), "its columns are not a list")
    columns = tuple(_column(k + 1, column, content) for k, column in enumerate(content["columns"]))
    require(len({column.name for column in columns}) == len(columns), "two columns have the same name")
    return columns


def _column(k: int, content: Any, whole: dict[str, Any]) -> Encoded:
    """Column k, counted from 1."""
    keys = {"name", "kind", "levels", "fill", "indicator", "average", "text"}
    require(isinstance(content, dict) and set(content) == keys, f"column {k} has a wrong form")
    name, kind, indicator = content["name"], content["kind"], content["indicator"]
    require(isinstance(name, str), f"column {k} has no name")
    place = f"column {cells.shortened(name)!r}"
    require(isinstance(kind, str) and kind in KINDS, f"{place} is of an unknown kind, {kind!r:.60}")
    levels = _checked_levels(place, kind, content["levels"])
    fill, average = (_checked_numbers(place, key, content[key]) for key in ("fill", "average"))
    require(isinstance(indicator, bool), f"{place} has an indicator that is not true or false")
    text = _checked_text(place, kind, content["text"])
    allowed = whole["missing"] == "indicator"
    require(not indicator or allowed, f"{place} has an indicator that its 'missing' does not allow")
    column = Encoded(name, kind, levels, fill, indicator, average, text)
    if text is not None:
        require(not fill and not average, f"{place} is text and has fills")
    else:
        _check_replacements(place, column, whole)
    return column


def _check_replacements(place: str, column: Encoded, whole: dict[str, Any]) -> None:
    """Require that the replacements of missing values and of unseen levels fit the column."""
    filled = whole["missing"] in ("impute", "indicator")
    fits = len(column.fill) == column.values or (not column.fill and not filled)
    require(fits, f"{place} needs {column.values} fills")
    averaged = column.kind == "category" and whole["unseen"] == "average"
    require(bool(column.unseen) or not averaged, f"{place} needs {column.values} averages")
    fits = not column.average or (column.kind == "category" and len(column.average) == column.values)
    require(fits, f"{place} has {len(column.average)} averages, which does not fit a {column.kind}")


def _checked_text(place: str, kind: str, content: Any) -> TextFeatures | None:
    none = "no " if content is None else ""
    require(bool(none) == (kind != WORDS), f"{place} is of the kind {kind} and has {none}n-grams")
    if content is None:
        return None
    return checked_features(content, lambda holds, check: require(holds, f"the text of {place} {check}"))


def _checked_levels(place: str, kind: str, levels: Any) -> tuple[str, ...]:
    of_text = isinstance(levels, list) and all(isinstance(level, str) for level in levels)
    require(of_text and len(set(levels)) == len(levels), f"{place} has levels that are not distinct texts")
    fits = len(levels) >= 2 if kind == "category" else not levels
    require(fits, f"{place} has {len(levels)} levels, which does not fit a {kind}")
    return tuple(levels)


def _checked_numbers(place: str, key: str, found: Any) -> tuple[float, ...]:
    finite = isinstance(found, list) and all(type(value) is float and math.isfinite(value) for value in found)
    require(finite, f"{place} has a '{key}' that is not of finite decimal numbers")
    return tuple(found)


def require(holds: bool, check: str) -> None:
    """Raise an error about the encoder of a model file, if a check of it does not hold."""
    if not holds:
        raise ModelFileError(f"its encoder: {check}")
