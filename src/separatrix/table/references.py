"""The reference level of a category: the level without a column in X, against which the others are compared.

It is the first level in alphabetical order, or the one that the user names, ``reference={"column": "level"}``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from separatrix.base.errors import ParameterError
from separatrix.base.labels import quoted
from separatrix.base.messages import ByAudience, Message
from separatrix.table.cells import listed, shortened
from separatrix.table.lookalikes import perhaps
from separatrix.table.schema import Column

# Why a column of another kind has no reference level.
_NO_LEVELS = {
    "number": "holds numbers",
    "boolean": "holds true and false, and is compared with false",
    "date": "holds dates",
    "text": "holds text that is not used",
    "ignored": "is left out",
}


def levels_in_order(levels: Iterable[str], reference: str | None = None) -> tuple[str, ...]:
    """Levels in alphabetical order, but the reference first, if it is among them.

    >>> levels_in_order(["c", "a", "b"]), levels_in_order(["c", "a", "b"], "b"), levels_in_order(["c", "a"], "b")
    (('a', 'b', 'c'), ('b', 'a', 'c'), ('a', 'c'))
    """
    return tuple(sorted(levels, key=lambda level: (level != reference, level)))


def checked_reference(reference: Any) -> dict[str, str]:
    """The reference levels by column, after checking that both are text.

    >>> checked_reference({"city": "Brno"}), checked_reference(None)
    ({'city': 'Brno'}, {})
    """
    of_text = isinstance(reference, Mapping) and all(isinstance(one, str) for pair in reference.items() for one in pair)
    if reference is not None and not of_text:
        raise ParameterError("reference", f"got {reference!r:.80}", 'give a dictionary such as {"column": "level"}')
    return dict(reference or {})


def refuse_other_columns(reference: Mapping[str, str], target: str | None, drop: Sequence[str]) -> None:
    """Refuse a reference level for the target, or for a column that is left out."""
    for name in reference:
        if name == target or name in drop:
            which = "the target" if name == target else "left out"
            remedy = "name a column that the model uses"
            raise ParameterError("reference", f"column {quoted(name)} is {which}", remedy)


def with_reference(column: Column, level: str) -> Column:
    """The column with this level as its reference; the other levels keep their order.

    >>> with_reference(Column("city", "category", ("Brno", "Kyiv", "Lviv")), "Kyiv").levels
    ('Kyiv', 'Brno', 'Lviv')
    """
    if column.kind != "category":
        problem = f"column {quoted(column.name)} {_NO_LEVELS[column.kind]}"
        remedy = Message(
            "name a category; a schema (", ByAudience("schema=", shell="--schema"), ") makes codes a category"
        )
        raise ParameterError("reference", problem, remedy)
    if level not in column.levels:
        near = perhaps(level, column.levels) or _similar(level, column.levels)
        problem = f"column {quoted(column.name)} has no level {quoted(shortened(level))}{near}"
        raise ParameterError("reference", problem, f"give one of {listed([*map(shortened, column.levels)])}")
    others = tuple(known for known in column.levels if known != level)
    return replace(column, levels=(level, *others), preferred=level)


def _similar(level: str, levels: Sequence[str]) -> str:
    near = get_close_matches(level, levels, 1)
    return f" (perhaps {quoted(shortened(near[0]))})" if near else ""
