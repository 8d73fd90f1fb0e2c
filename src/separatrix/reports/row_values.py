"""The values of a row as its table has them, each with its contribution to the score.

    number           age = 30, in the units of the table also if X is standardised
    truth value      smoker = true
    date             born = 1987-03-05
    category         race: black, one entry with the sum of the contributions of its 0/1 columns
    missing          age: missing, if the model has an indicator for it; the indicator's contribution is added
    n-gram           an entry each: the columns of one text can be many

A category whose columns have other values than 0 and 1 had a level that no row of the fit has, and is encoded as their
average.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from separatrix.base.arrays import Array
from separatrix.reports.formatting import number

if TYPE_CHECKING:
    from separatrix.table.encoded_column import Encoded
    from separatrix.table.encoder import Encoder
    from separatrix.table.scaling import Scaling

# Rounding of a value when it was scaled and is scaled back, relative to the column's mean and standard deviation.
ROUNDING_OF_ORIGINAL = 1e-12
# How far a 0/1 value may be from 0 or 1, since older models scaled these columns, too.
INDICATOR_ROUNDING = 1e-6
# The significant digits of a number.
DIGITS_OF_CELL = 6
EPOCH = datetime.datetime(1970, 1, 1)


@dataclass(frozen=True)
class Entry:
    """One column of the table in one row: its name, the separator after it, its value, its contribution."""

    name: str
    joined: str
    value: str
    part: float


def in_units(values: Array, scaling: Scaling | None, columns: Sequence[int] | None = None) -> Array:
    """Values (m, d) of scaled columns in the units of the table; ``columns``: the numbers of the d columns, or all.

    >>> from separatrix.table.scaling import Scaling
    >>> in_units(np.array([[2.0], [-4.0]]), Scaling(np.array([40.0]), np.array([10.0]))).tolist()
    [[60.0], [0.0]]
    """
    if scaling is None:
        return values
    which = slice(None) if columns is None else list(columns)
    center, scale = scaling.center[which], scaling.scale[which]
    original = values * scale + center
    return np.where(np.abs(original) <= ROUNDING_OF_ORIGINAL * (np.abs(center) + scale), 0.0, original)


def entries(
    values: Array,
    parts: Array,
    names: Sequence[str],
    scaling: Scaling | None = None,
    encoder: Encoder | None = None,
    most: int | None = None,
) -> list[Entry]:
    """The entries of one row with the values (d,) and the contributions ``parts`` (d,), largest contributions first.

    Entries that contribute nothing are left out, and those after the first ``most``. Without an encoder that makes the
    columns ``names``, each column of X has an entry.

    >>> from separatrix.table import Encoded, Encoder
    >>> encoder = Encoder((Encoded("age", "number"), Encoded("race", "category", ("black", "other", "white"))))
    >>> found = entries(np.array([30.0, 0.0, 1.0]), np.array([0.1, 0.5, -0.9]), encoder.names, encoder=encoder)
    >>> [(one.name, one.value, round(one.part, 3)) for one in found]
    [('race', 'white', -0.4), ('age', '30', 0.1)]
    """
    x = in_units(values, scaling)
    if encoder is None or encoder.names != tuple(names):
        found = _largest(names, x, parts, most)
    else:
        found, start = [], 0
        for column in encoder.columns:
            here = slice(start, start + column.width)
            found += _of_column(column, x[here], parts[here], most)
            start += column.width
    return sorted((one for one in found if one.part != 0), key=lambda one: -abs(one.part))[:most]


def _largest(names: Sequence[str], x: Array, parts: Array, most: int | None) -> list[Entry]:
    """One entry for each column, of the ``most`` columns that contribute most: writing thousands of numbers is slow."""
    order = np.argsort(-np.abs(parts), kind="stable")[:most]
    return [Entry(names[j], " = ", cell(x[j]), float(parts[j])) for j in order.tolist()]


def cell(value: float) -> str:
    """A number of the table. Digits beyond the sixth are rounded, if they are not before the point.

    >>> cell(-0.5), cell(51250.0), cell(17.99)
    ('−0.5', '51,250', '17.99')
    """
    return number(value, DIGITS_OF_CELL)


def _of_column(column: Encoded, x: Array, parts: Array, most: int | None) -> list[Entry]:
    """The entries of a column of the table: one, or for a text one for each n-gram."""
    if column.text is not None:
        return _largest(column.names, x, parts, most)
    total = float(np.sum(parts))
    if column.indicator and x[-1] > 0.5:
        return [Entry(column.name, ": ", "missing", total)]
    if column.kind == "category":
        return [Entry(column.name, ": ", level_of(column, x[: column.values]), total)]
    return [Entry(column.name, " = ", _VALUES.get(column.kind, cell)(float(x[0])), total)]


def level_of(column: Encoded, x: Array) -> str:
    """The level of a category whose columns, one for each level but the first, are x.

    >>> from separatrix.table import Encoded
    >>> race = Encoded("race", "category", ("black", "other", "white"))
    >>> [level_of(race, np.array(x)) for x in ([0.0, 0.0], [0.0, 1.0], [0.3, 0.5])]
    ['black', 'white', 'a level unknown to the model']
    """
    near = np.round(x)
    if np.any(np.abs(x - near) > INDICATOR_ROUNDING):
        return "a level unknown to the model"
    return column.levels[int(np.argmax(near)) + 1 if near.any() else 0]


def _truth(value: float) -> str:
    """A truth value; a missing one may have been filled with a number in between."""
    return {0.0: "false", 1.0: "true"}.get(round(value, 6), cell(value))


def _day(value: float) -> str:
    """A date, from the days since 1970; a time of day is given to the minute."""
    try:
        at = EPOCH + datetime.timedelta(minutes=round(value * 24 * 60))
    except OverflowError:
        return f"{cell(value)} days since 1970"
    return at.strftime("%Y-%m-%d") if value == round(value) else at.strftime("%Y-%m-%d %H:%M")


_VALUES = {"boolean": _truth, "date": _day}
