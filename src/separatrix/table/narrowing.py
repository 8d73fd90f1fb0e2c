"""How an encoding is narrowed to the rows fitted, from counts of their levels, and what notes say about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.base.labels import quoted
from separatrix.base.messages import ForColumn, Message, Setting
from separatrix.table.cells import listed, shortened
from separatrix.table.encoded_column import UNKNOWN
from separatrix.table.encoder import Encoder, refuse_unseen
from separatrix.table.references import levels_in_order
from separatrix.table.schema import Column

# A reference level gets a note if it has at most MOST_ROWS_OF_A_RARE_REFERENCE rows, and another level has at least
# RATIO_TO_A_RARE_REFERENCE times as many.
MOST_ROWS_OF_A_RARE_REFERENCE = 4
RATIO_TO_A_RARE_REFERENCE = 10
# What is done with missing values, before the words "the training rows".
FILLED = {
    "impute": "Missing values are filled with the means (categories: the most frequent levels) of",
    "indicator": "Missing values are filled and marked, as learned from",
}


def level_counts(v: Array, n_levels: int) -> Integers:
    """How many of the cells v (n,) of a category have each level."""
    return np.bincount(v[v >= 0].astype(np.intp), minlength=n_levels)


def narrowed(column: Column, counts: Integers) -> tuple[Column, Integers | None]:
    """A category with only the levels that occur, by their ``counts``, and the new number of each old level.

    The numbers are None if they do not change.

    >>> narrowed(Column("city", "category", ("a", "b", "c")), np.array([3, 0, 1]))[0].levels
    ('a', 'c')
    """
    present = {level: int(n) for level, n in zip(column.levels, counts, strict=True) if n}
    if len(present) < 2:
        only = f"its only value is {quoted(shortened(next(iter(present))))}" if present else "it has no value"
        return replace(column, kind="ignored", note=f"{only} in the rows fitted"), None
    levels = levels_in_order(present, column.preferred)
    if levels == column.levels:
        return column, None
    numbers = {level: k for k, level in enumerate(levels)}
    return replace(column, levels=levels), np.array([numbers.get(level, int(UNKNOWN)) for level in column.levels])


def left_out(columns: Sequence[Column]) -> Iterator[str]:
    """Notes on the columns that are ignored."""
    for column in columns:
        if column.kind == "ignored":
            yield Message(f"Column {quoted(column.name)} is left out: ", column.note, ".")


def replaced_references(columns: Sequence[Column]) -> Iterator[str]:
    """Notes on categories whose chosen reference no training row has."""
    for column in columns:
        if column.preferred is not None and column.preferred != column.levels[0]:
            yield (
                f"The reference {quoted(column.preferred)} of column {quoted(column.name)} is in no row fitted; "
                f"{quoted(column.levels[0])} takes its place."
            )


def rare_reference(column: Column, counts: Integers) -> Iterator[str]:
    """A note on the reference of a category if very few rows have it; ``counts``: the fitted rows of each level."""
    n, most = int(counts[0]), int(counts.argmax())
    if 0 < n <= MOST_ROWS_OF_A_RARE_REFERENCE and counts[most] >= RATIO_TO_A_RARE_REFERENCE * n:
        said = f"is in {n} of the rows fitted, so the weights of the others are uncertain"
        frequent = Setting("reference", ForColumn(column.name, column.levels[most]))
        start = f"The reference {quoted(shortened(column.levels[0]))} of column {quoted(column.name)} {said}; "
        yield Message(start, "to compare with the most frequent level, give ", frequent, ".")


def filled(missing: Mapping[str, int], how: str, who: str) -> Iterator[str]:
    """A note on the missing values, which are counted by column; ``how``: what is done with them."""
    if missing:
        where = ", ".join(f"{count} in {quoted(name)}" for name, count in missing.items())
        yield f"{FILLED[how]} {who}: {where}."


def new_levels(source: str, strange: Mapping[str, dict[str, int]], unseen: str) -> Iterator[str]:
    """Notes on levels that only held-out rows have; an error if ``unseen`` is "error", as in prediction."""
    if strange and unseen == "error":
        raise refuse_unseen(source, dict(strange))
    for name, levels in strange.items():
        n = sum(levels.values())
        said = f"in {n} row{'s' * (n != 1)} held out, counted as average"
        some = listed(list(map(shortened, levels)))
        yield f"Column {quoted(name)} has levels that no fitted row has, {said}: {some}."


def scaled(encoder: Encoder | None, dense: bool, who: str) -> str:
    """A note on the columns that were standardised."""
    which = "Columns" if encoder is None or encoder.measured.all() else "Numbers and dates"
    how = "standardised" if dense else "divided by their standard deviations"
    return f"{which} are {how}, using {who}."
