"""Read the target column as labels: text, whole numbers, decimals or truth values.

White space around a label is ignored. A cell is missing its label if it is blank or reads NA, N/A, NaN, null or ?, or
reads - while no other cell reads +. A text that the schema lists under ``classes`` is always a label.
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

from separatrix.core.base.arrays import AnyArray, Integers
from separatrix.core.base.errors import LabelError, TableError
from separatrix.core.base.labels import quoted
from separatrix.core.base.messages import Message, RowNumber, RowNumbering, Setting
from separatrix.tables.cells import (
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
    told,
    trimmed,
)

_WHOLE = re.compile(r"-?[1-9]\d{0,17}|0")
_DECIMAL = re.compile(r"[-+]?(0|[1-9]\d*|(?=\.\d))(\.\d*)?([eE][-+]?\d+)?")
_TRUTH = {"true": True, "false": False}
# Longer labels are stored as Python objects. A fixed-width array takes four bytes per character in every row.
_LONGEST_FIXED_WIDTH_LABEL = 256
# "None" often means "no amount of something", not that nothing is known. So it counts as a label.
_NONE = ("None", "none")
NO_LABEL = tuple(spelling for spelling in NO_NUMBER if spelling not in _NONE)
_LABEL_THEM = Message("label such rows, or leave them out with ", Setting("missing", "drop"))


def unlabelled(column: Column, classes: Sequence[str] = ()) -> AnyArray:
    """A mask (n,) of the rows without a label. ``classes`` are labels even if they read like a missing value.

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


def rows_with_label(source: str, column: Any, target: str, classes: Sequence[str]) -> AnyArray:
    """A mask (n,) of the rows with a label. At least one row must have one."""
    labelled: AnyArray = ~unlabelled(column, classes)
    if not labelled.any():
        problem = f"no row has a label in the target column {quoted(target)}"
        raise TableError(source, problem, "predict another column")
    return labelled


def labels(
    source: str,
    column: Column,
    name: str,
    typed: bool = True,
    classes: Sequence[str] = (),
    remedy: str = _LABEL_THEM,
    counts: Integers | None = None,
) -> AnyArray:
    """The label of each row. A row without a label is refused, with the advice ``remedy``.

    ``counts``: how many rows of the table each of these rows stands for, one by default.

    Text becomes numbers if all of it reads as numbers; codes such as 007 stay text. Unless ``typed``, all text stays
    text: a model whose classes are text may read a file that holds only some of them.

    >>> labels("a table", pa.chunked_array([["7", "-1"]]), "y").tolist()
    [7, -1]
    >>> labels("a table", pa.chunked_array([["007", "7"]]), "y").tolist()
    ['007', '7']
    """
    _refuse_unlabelled(source, column, name, classes, remedy, counts)
    column = _cells(column, classes)
    if is_text(column.type):
        return _typed(column) if typed else _spelled(column.to_pylist())
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    elif not (is_number(column.type) or pa.types.is_boolean(column.type)):
        problem = f"target column {name!r} holds {column.type}, which cannot be labels"
        raise TableError(source, problem, "turn it into text or whole numbers")
    return as_array(column)


def _refuse_unlabelled(
    source: str, column: Column, name: str, classes: Sequence[str], remedy: str, counts: Integers | None
) -> None:
    absent = np.flatnonzero(unlabelled(column, classes))
    if not len(absent):
        return
    n_absent = len(absent) if counts is None else int(counts[absent].sum())
    more = f" ({n_absent} rows have none)" if n_absent > 1 else ""
    cell = decoded(column)[int(absent[0])].as_py()
    if isinstance(cell, str) and cell.strip():
        more += f": it reads {cell!r}"
    if is_text(decoded(column).type):
        remedy += f"; if {cell.strip() if cell else NA} is the name of a class, list it under 'classes' in the schema"
    problem = Message("row ", RowNumber(int(absent[0]) + 1), f", target column {name!r} has no label{more}")
    raise TableError(source, problem, remedy)


def refuse_measurements(
    source: str, y: AnyArray, name: str, rows: RowNumbering, most: int, n_rows: int | None = None
) -> None:
    """Refuse labels that are not classes: all the same, numbers with decimals, or more than ``most`` different ones.

    ``rows`` are the numbers or the names of the rows for the message. ``n_rows``: the number of rows, if y has only
    the different labels.
    """
    where = f"{source}, target column {name!r}"
    if (y == y[0]).all():
        problem = f"every row has the same label, {y[:1].tolist()[0]!r}"
        raise LabelError(where, problem, "give rows of at least two classes")
    if y.dtype.kind == "f" and (y != np.round(y)).any():
        k = int(np.argmax(y != np.round(y)))
        problem = f"row {rows[k]} is {y[k]}, a measurement rather than a class"
        raise LabelError(where, problem, "cut the numbers into classes first, or predict another column")
    if (distinct := len(set(y.tolist()))) > most:
        problem = f"it has {distinct} different labels in {len(y) if n_rows is None else n_rows} rows"
        raise LabelError(where, problem, f"give at most {most} classes: group them, or predict another column")


def refuse_unlisted(source: str, column: Column, name: str, classes: Sequence[str], rows: RowNumbering) -> None:
    """Refuse a label that the schema does not list, if it lists any; ``rows`` as in ``refuse_measurements``."""
    cells = _cells(column, classes)
    if not classes or not is_text(cells.type):
        return
    strange = np.flatnonzero(~as_array(reads(cells, classes)))
    if len(strange):
        problem = f"row {rows[strange[0]]} is {shortened(str(cells[int(strange[0])].as_py()))!r}"
        remedy = f"correct it, or list it under 'classes' in the schema together with {listed(classes)}"
        raise LabelError(f"{source}, target column {name!r}", problem, remedy)


def odd_labels(y: AnyArray, name: str) -> list[str]:
    """Notes on labels that look alike, or that look like a missing value."""
    texts = [label for label in set(y.tolist()) if isinstance(label, str)]
    clause = told("labels", texts)
    notes = [f"Target {name!r}: {clause}; they count as different classes."] if clause else []
    return notes + [f"Target {name!r}: {label!r} counts as a class." for label in _NONE if label in texts]


def markers(column: Column, classes: Sequence[str]) -> list[str]:
    """The distinct texts of the cells without a label, except blank ones."""
    column = decoded(column)
    if not is_text(column.type):
        return []
    texts: Any = trimmed(column, literal=True).filter(pa.array(unlabelled(column, classes)))
    return sorted(texts.drop_null().unique().to_pylist())


def _cells(column: Column, classes: Sequence[str]) -> Column:
    """The labels, null where there is none; text without surrounding white space."""
    column = decoded(column)
    if not is_text(column.type):
        return column
    bare: Any = trimmed(column, literal=True)
    none = set(NO_LABEL) - set(classes)
    if "-" not in classes and not compute.any(reads(bare, ["+"])).as_py():
        none.add("-")
    labelled: Column = compute.if_else(reads(bare, sorted(none)), None, bare)
    return labelled


def _are_floats(spelled: list[str]) -> bool:
    """Whether different numbers stay different as float64. Codes of 19 digits do not."""
    exact = {Decimal(label) for label in spelled}
    floats = {float(label) for label in spelled}
    return len(floats) == len(exact) and all(math.isfinite(value) for value in floats)


def _spelled(texts: list[Any]) -> AnyArray:
    wide = max(map(len, texts), default=0) > _LONGEST_FIXED_WIDTH_LABEL
    return np.array(texts, dtype=object if wide else np.str_)


def _typed(column: Column) -> AnyArray:
    coded: Any = column.combine_chunks().dictionary_encode()
    if isinstance(coded, pa.ChunkedArray):
        coded = coded.combine_chunks()
    values = _parsed(coded.dictionary.to_pylist())
    return np.asarray(values[coded.indices.to_numpy(zero_copy_only=False)])


def _parsed(distinct: list[str]) -> AnyArray:
    """Distinct labels as whole numbers, decimals or truth values if all of them read so; otherwise as text."""
    if all(_WHOLE.fullmatch(label) for label in distinct):
        return np.array([int(label) for label in distinct], dtype=np.int64)
    if all(_DECIMAL.fullmatch(label) for label in distinct) and _are_floats(distinct):
        return np.array([float(label) for label in distinct])
    if all(label.lower() in _TRUTH for label in distinct):
        return np.array([_TRUTH[label.lower()] for label in distinct])
    return _spelled(distinct)
