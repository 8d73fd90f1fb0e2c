"""The target's column -> one label a row: text, whole numbers, decimals or truth values.

White space around a label is no part of it. A blank cell has no label, nor has one that reads NA, N/A, NaN, null or ?,
nor, where no label reads +, one that reads -; unless a schema lists it under ``classes``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import compute

from separatrix.base.arrays import AnyArray
from separatrix.base.errors import LabelError, TableError
from separatrix.base.messages import Message, Setting
from separatrix.table.cells import (
    NA,
    NO_NUMBER,
    Column,
    as_array,
    decoded,
    is_number,
    is_text,
    listed,
    reads,
    shortened,
    trimmed,
)
from separatrix.table.lookalikes import told

_WHOLE = re.compile(r"-?[1-9]\d{0,17}|0")
_DECIMAL = re.compile(r"[-+]?(0|[1-9]\d*|(?=\.\d))(\.\d*)?([eE][-+]?\d+)?")
_TRUTH = {"true": True, "false": False}
# Longer labels are kept as objects: a fixed-width array would take four bytes a letter for every row.
_LONGEST_FIXED = 256
# "None" and "none" say how much there is of something as often as that nothing is known.
_NONE = ("None", "none")
NO_LABEL = tuple(spelling for spelling in NO_NUMBER if spelling not in _NONE)
_LABEL_THEM = Message("label such rows, or leave them out with ", Setting("missing", "drop"))


def unlabelled(column: Column, classes: Sequence[str] = ()) -> AnyArray:
    """Which rows (n,) have no label; ``classes`` are labels, whatever they read.

    >>> unlabelled(pa.chunked_array([["yes", " ", "?", "-", "no"]])).tolist()
    [False, True, True, True, False]
    >>> unlabelled(pa.chunked_array([["+", "-", "?"]]), classes=["?"]).tolist()
    [False, False, False]
    """
    column = _cells(column, classes)
    absent: Any = column.is_null()
    if pa.types.is_floating(column.type):
        absent = compute.or_kleene(absent, compute.is_nan(column))
    return as_array(absent)


def labels(
    source: str, column: Column, name: str, typed: bool = True, classes: Sequence[str] = (), do: str = _LABEL_THEM
) -> AnyArray:
    """One label a row; a row without a label is refused, with what to ``do``.

    Text becomes numbers where all of it reads so; codes such as 007 stay text. Not ``typed``, all text stays text: for
    a model whose classes are text, whichever of them a file holds.

    >>> labels("a table", pa.chunked_array([["7", "-1"]]), "y").tolist()
    [7, -1]
    >>> labels("a table", pa.chunked_array([["007", "7"]]), "y").tolist()
    ['007', '7']
    """
    absent = np.flatnonzero(unlabelled(column, classes))
    if len(absent):
        more = f" ({len(absent)} rows have none)" if len(absent) > 1 else ""
        said = decoded(column)[int(absent[0])].as_py()
        if isinstance(said, str) and said.strip():
            more += f": it reads {said!r}"
        if is_text(decoded(column).type):
            do += f"; a class called {said.strip() if said else NA} must stand under 'classes' in the schema"
        raise TableError(source, f"row {absent[0] + 1}, target column {name!r} has no label{more}", do)
    column = _cells(column, classes)
    if is_text(column.type):
        return _typed(column) if typed else _spelled(column.to_pylist())
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    elif not (is_number(column.type) or pa.types.is_boolean(column.type)):
        came = f"target column {name!r} holds {column.type}, which makes no labels"
        raise TableError(source, came, "turn it into text or whole numbers")
    return as_array(column)


def refuse_measurements(source: str, y: AnyArray, name: str, rows: AnyArray, most: int) -> None:
    """Labels that make no classes: one alone, numbers with decimals, or more than ``most`` different ones.

    ``rows`` are the rows' numbers, for the message.
    """
    where = f"{source}, target column {name!r}"
    if (y == y[0]).all():
        came = f"every row has the one label {y[:1].tolist()[0]!r}"
        raise LabelError(where, came, "give rows of at least two classes")
    if y.dtype.kind == "f" and (y != np.round(y)).any():
        k = int(np.argmax(y != np.round(y)))
        came = f"row {rows[k]} is {y[k]}, a measurement rather than a class"
        raise LabelError(where, came, "cut the numbers into classes first, or predict another column")
    if (distinct := len(set(y.tolist()))) > most:
        came = f"it has {distinct} different labels in {len(y)} rows"
        raise LabelError(where, came, f"give at most {most} classes: group them, or predict another column")


def refuse_unlisted(source: str, column: Column, name: str, classes: Sequence[str], rows: AnyArray) -> None:
    """A label that the schema does not list, where it lists them; ``rows`` as above."""
    found = _cells(column, classes)
    if not classes or not is_text(found.type):
        return
    strange = np.flatnonzero(~as_array(reads(found, classes)))
    if len(strange):
        came = f"row {rows[strange[0]]} is {shortened(str(found[int(strange[0])].as_py()))!r}"
        do = f"mend it, or list it under 'classes' in the schema beside {listed(classes)}"
        raise LabelError(f"{source}, target column {name!r}", came, do)


def odd_labels(y: AnyArray, name: str) -> list[str]:
    """Sentences on labels that look alike, or like a missing value."""
    texts = [label for label in set(y.tolist()) if isinstance(label, str)]
    clause = told("labels", texts)
    notes = [f"Target {name!r}: {clause}, and count as classes of their own."] if clause else []
    return notes + [f"Target {name!r}: {label!r} counts as a class." for label in _NONE if label in texts]


def markers(column: Column, classes: Sequence[str]) -> list[str]:
    """What the cells without a label read, where they are not blank; each once."""
    column = decoded(column)
    if not is_text(column.type):
        return []
    said: Any = trimmed(column, literal=True).filter(pa.array(unlabelled(column, classes)))
    return sorted(said.drop_null().unique().to_pylist())


def _cells(column: Column, classes: Sequence[str]) -> Column:
    """The labels, null where there is none; text without the space around it."""
    column = decoded(column)
    if not is_text(column.type):
        return column
    bare: Any = trimmed(column, literal=True)
    none = set(NO_LABEL) - set(classes)
    if "-" not in classes and not compute.any(reads(bare, ["+"])).as_py():
        none.add("-")
    found: Column = compute.if_else(reads(bare, sorted(none)), None, bare)
    return found


def _are_floats(spelled: list[str]) -> bool:
    """Whether floats can tell these numbers apart as far as they differ: codes of 19 digits they cannot."""
    exact = {Decimal(label) for label in spelled}
    floats = {float(label) for label in spelled}
    return len(floats) == len(exact) and all(math.isfinite(value) for value in floats)


def _spelled(texts: list[Any]) -> AnyArray:
    wide = max(map(len, texts), default=0) > _LONGEST_FIXED
    return np.array(texts, dtype=object if wide else np.str_)


def _typed(column: Column) -> AnyArray:
    coded: Any = column.combine_chunks().dictionary_encode()
    if isinstance(coded, pa.ChunkedArray):
        coded = coded.combine_chunks()
    distinct: list[str] = coded.dictionary.to_pylist()
    values: AnyArray
    if all(_WHOLE.fullmatch(label) for label in distinct):
        values = np.array([int(label) for label in distinct], dtype=np.int64)
    elif all(_DECIMAL.fullmatch(label) for label in distinct) and _are_floats(distinct):
        values = np.array([float(label) for label in distinct])
    elif all(label.lower() in _TRUTH for label in distinct):
        values = np.array([_TRUTH[label.lower()] for label in distinct])
    else:
        values = _spelled(distinct)
    return np.asarray(values[coded.indices.to_numpy(zero_copy_only=False)])
