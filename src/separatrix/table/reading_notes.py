"""Notes on what was done with a table that was read: columns and rows left out, values filled, levels not expected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from separatrix.base.labels import quoted
from separatrix.base.messages import Message
from separatrix.table.cells import listed, rows_counted, shortened
from separatrix.table.encoder import Reading
from separatrix.table.lookalikes import perhaps
from separatrix.table.narrowing import FILLED
from separatrix.table.schema import Column, Schema

# A note suggests at most this many spellings for a column.
MOST_SPELLINGS = 3


def column_note(column: Column) -> Message:
    """The note on a column as a sentence, which says whether the column is used.

    >>> print(column_note(Column("id", "number", note="its values never repeat")))
    Column 'id' is kept: its values never repeat.
    """
    done = "left out" if column.kind == "ignored" else "kept"
    return Message(f"Column {quoted(column.name)} is {done}: ", column.note, ".")


def odd_columns(schema: Schema) -> list[str]:
    """The notes on all columns that have one."""
    return [column_note(column) for column in schema.columns if column.note]


def filled(reading: Reading, missing: str, lost: str) -> list[str]:
    """A note on the missing values; ``lost`` says what happens to rows with one if they are dropped."""
    if not reading.missing:
        return []
    if missing == "drop":
        return dropped(reading.missing, int((~reading.kept).sum()), len(reading.kept), lost)
    return [f"{FILLED[missing]} the training rows: {_by_column(reading.missing)}."]


def dropped(missing: dict[str, int], n_dropped: int, n: int, lost: str = "left out") -> list[str]:
    """A note on the ``n_dropped`` of n rows that are not kept, with the missing values by column."""
    if not n_dropped:
        return []
    verb = "is" if n_dropped == 1 else "are"
    return [f"{n_dropped} of {rows_counted(n)} {verb} {lost} because a value is missing: {_by_column(missing)}."]


def _by_column(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} in {quoted(name)}" for name, count in counts.items())


def without_label(n: int, spellings: Sequence[str]) -> list[str]:
    """A note on the n rows without a label, and on what their cells say where they are not blank."""
    if not n:
        return []
    said = f" (some read {listed(spellings)})" if spellings else ""
    return [f"{rows_counted(n)} without a label {'is' if n == 1 else 'are'} left out{said}."]


def unseen_levels(
    unseen: dict[str, dict[str, int]], which: str, levels_of: Mapping[str, Sequence[str]] | None = None
) -> list[str]:
    """Notes on levels that were not expected, with the levels that are spelled alike."""
    notes = []
    for name, levels in unseen.items():
        rows = rows_counted(sum(levels.values()))
        near = [
            f"{quoted(level)}{hint}" for level in levels if (hint := perhaps(level, (levels_of or {}).get(name, ())))
        ]
        spelled = f" Check the spelling of {', '.join(near[:MOST_SPELLINGS])}." if near else ""
        shown = listed([shortened(level) for level in levels])
        notes.append(f"Column {quoted(name)} has levels that {which}, in {rows}, counted as average: {shown}.{spelled}")
    return notes
