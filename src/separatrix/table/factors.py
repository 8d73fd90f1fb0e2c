"""Columns of X that change together, because they come from one column of a table.

    category         a level: its column is 1 and those of the other levels are 0; for the reference level all are 0
    boolean          true, against false
    an indicator     missing: the indicator is 1, and the other columns hold what replaces the value

A row in which one of these columns changes alone cannot exist: nobody has two levels. A missing category is compared
with the reference level, and a missing truth value with false. A missing number or date is compared with the value that
replaces it, its mean over the training rows, and a missing text with an empty one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.table.encoded_column import WORDS, Encoded
from separatrix.table.encoder import Encoder
from separatrix.table.scaling import Scaling

# What values are compared with, by the kind of the column. For a category it is the reference level.
REFERENCES = {"boolean": "false", "number": "its mean", "date": "its mean", WORDS: "an empty text"}


@dataclass(frozen=True, eq=False)
class Factor:
    """The columns of X (b,) that one column of a table became, and their values for each of its levels.

    ``base`` (b,) are the values for the reference level, which ``reference`` describes, and ``levels`` (m, b) those for
    the other levels. ``own`` (m,) has the column of X that each of these is named after.
    """

    columns: Integers
    base: Array
    levels: Array
    own: Integers
    reference: str


def factors(encoder: Encoder, scaling: Scaling | None = None) -> list[Factor]:
    """The factors among the columns of X that an encoder makes, in the units of a scaling.

    >>> column = Encoded("race", "category", ("white", "black", "other"))
    >>> [found] = factors(Encoder((Encoded("age", "number"), column)))
    >>> found.columns.tolist(), found.base.tolist(), found.levels.tolist(), found.reference
    ([1, 2], [0.0, 0.0], [[1.0, 0.0], [0.0, 1.0]], 'white')
    """
    found, start = list[Factor](), 0
    for column in encoder.columns:
        columns = np.arange(start, start + column.width)
        start += column.width
        base, levels, own = _settings(column)
        if scaling is not None:
            base, levels = ((v - scaling.center[columns]) / scaling.scale[columns] for v in (base, levels))
        if len(levels):
            reference = column.levels[0] if column.kind == "category" else REFERENCES[column.kind]
            found.append(Factor(columns, base, levels, columns[own], reference))
    return found


def with_indicators(found: list[Factor], are_indicators: AnyArray) -> list[Factor]:
    """The factors together with those columns of a mask (d,) that belong to none of them, in the order of the columns.

    The latter hold zeros and ones, and have no reference level.
    """
    alone = set(np.flatnonzero(are_indicators).tolist()).difference(*(factor.columns.tolist() for factor in found))
    one = np.ones((1, 1))
    more = [Factor(np.array([j]), np.zeros(1), one, np.array([j]), "") for j in alone]
    return sorted([*found, *more], key=lambda factor: int(factor.columns[0]))


def _settings(column: Encoded) -> tuple[Array, Array, Integers]:
    """``base``, ``levels`` and the places of ``own`` of a column of a table; without levels it is no factor."""
    values, width = column.values, column.width
    if column.kind in ("category", "boolean"):
        levels = np.eye(width)
        levels[values:, :values] = column.fill or 0.0
        return np.zeros(width), levels, np.arange(width)
    base = np.zeros(width)
    base[:values] = column.fill or 0.0
    levels = np.tile(base, (column.indicator, 1))
    levels[:, values:] = 1.0
    return base, levels, np.arange(values, width)
