"""Which columns are wanted: by name, in any order, with a suggestion where a name is not there."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Protocol

from separatrix.base.errors import ParameterError, TableError
from separatrix.base.messages import Message, Setting
from separatrix.table.cells import NA, drop, listed
from separatrix.table.formats import Source

_SEPARATE = Message(
    "separate the columns by commas, semicolons, bars or tabs, or name their mark with ", Setting("delimiter")
)
_FIRST = "the first row must hold the names of the columns"


class Levelled(Protocol):
    """A column with levels: of a schema, or of an encoder."""

    @property
    def name(self) -> str: ...
    @property
    def levels(self) -> tuple[str, ...]: ...


def literal(columns: Sequence[Levelled], target: str | None, classes: Sequence[str]) -> set[str]:
    """The columns in which NA is a level or a class, since they list it.

    >>> literal([], "region", ["NA", "EU"])
    {'region'}
    """
    listing = {column.name for column in columns if NA in column.levels}
    return listing | {target} if target is not None and NA in classes else listing


def chosen_target(source: Source, target: str | None, leave_out: Sequence[str] = ()) -> str:
    """The target, which must be there, as must what is left out; a source may have one of its own."""
    target = source.target if target is None else target
    if target is None:
        do = f"name the column to predict, one of {listed(source.names)}"
        raise ParameterError("target", "it is not given", do)
    for name in (target, *leave_out):
        refuse_unknown(source, name)
    if target in leave_out:
        raise ParameterError("drop", f"it names the target {target!r}", "leave out other columns than the target")
    return target


def labels_of(source: Source, target: str | None, wanted: Sequence[str]) -> str:
    """The column of labels beside the columns of a model, which may have another name in this table."""
    target = source.target if target is None else target
    if target is None or target in source.names:
        return chosen_target(source, target)
    others = [name for name in source.names if name not in set(wanted)]
    name_it = Message("name theirs with ", Setting("target"), f", one of {listed(others)}")
    do = name_it if others else "give a table that has them"
    raise TableError(source.name, f"it has no column {target!r} of labels", do)


def features_of(source: Source, target: str, leave_out: Sequence[str] = ()) -> tuple[str, ...]:
    """All columns but the target and those left out."""
    names = tuple(name for name in source.names if name != target and name not in set(leave_out))
    if not names:
        do = _SEPARATE if _runs_together(source) else "give at least one column to learn from"
        raise TableError(source.name, f"there is no column beside the target {target!r}", do)
    return names


def refuse_nameless(source: Source, names: Sequence[str]) -> None:
    """A column without a name cannot be asked for again."""
    if "" in names:
        came = f"column {source.names.index('') + 1} has no name"
        do = Message("name it, or leave it out with ", drop(""), " (an index, perhaps)")
        raise TableError(source.name, came, do)


def refuse_lacking(source: Source, names: Sequence[str]) -> None:
    """A table that lacks columns of the model."""
    known = set(source.names)
    missing = [name for name in names if name not in known]
    if missing:
        came = f"it lacks {len(missing)} of the {len(names)} columns of the model: {listed(missing, 50)}"
        near = get_close_matches(missing[0], source.names, 1)
        do = f"rename {near[0]!r}, if that is it" if near else "give a table with the columns that were fitted"
        raise TableError(source.name, came, do)


def refuse_unknown(source: Source, name: str) -> None:
    """A column that is not there, with what may be meant."""
    if name in source.names:
        return
    if _runs_together(source):
        raise TableError(source.name, f"it has one column only, {source.names[0]!r}", _SEPARATE)
    if len(source.names) == 1:
        raise TableError(source.name, f"it has one column only, {source.names[0]!r}, and no column {name!r}", _FIRST)
    near = get_close_matches(name, source.names, 3, 0.5)
    near = near or [known for known in source.names if known.strip().lower() == name.strip().lower()]
    if near:
        do = f"perhaps {' or '.join(repr(known) for known in near)} is meant"
        raise TableError(source.name, f"it has no column {name!r}", do)
    do = f"choose one of {listed(source.names)}"
    if all(_reads_as_number(known) for known in source.names):
        do += f"; {_FIRST}"
    raise TableError(source.name, f"it has no column {name!r}", do)


def _runs_together(source: Source) -> bool:
    return len(source.names) == 1 and any(mark in source.names[0] for mark in ";\t|: ")


def _reads_as_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
