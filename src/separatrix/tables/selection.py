"""What is asked of a table: where it is, which column to predict, which to leave out, and what the others hold.

Columns are found by name. An error about an unknown name suggests similar ones.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import pyarrow as pa

from separatrix.core.base.errors import ParameterError, TableError
from separatrix.core.base.labels import quoted
from separatrix.core.base.messages import Message, Setting
from separatrix.tables.cells import NA, drop, is_date, listed
from separatrix.tables.encoder import Encoded
from separatrix.tables.formats.csv_files import NO_HEADER, called, is_made_up
from separatrix.tables.formats.libsvm import SparseSource
from separatrix.tables.formats.opening import open_source
from separatrix.tables.formats.source import Source, Spelling
from separatrix.tables.schema import Column, Schema, checked_reference, refuse_other_columns
from separatrix.tables.text import TextSettings, asked_for

# --- Columns by name

# Quotation marks that are read as part of a cell unless they are given.
OTHER_QUOTES = ("'", "`", "|")
_HOW_TO_SEPARATE = Message(
    "separate the columns by commas, semicolons, vertical bars or tabs, or give the separator with ",
    Setting("delimiter"),
)
_HEADER_NEEDED = Message(
    "the first row must hold the names of the columns; for a file without a header give ", NO_HEADER
)


def literal_columns(columns: Sequence[Column | Encoded], target: str | None, classes: Sequence[str]) -> set[str]:
    """The columns that list NA as a level or a class.

    >>> literal_columns([], "region", ["NA", "EU"])
    {'region'}
    """
    listing = {column.name for column in columns if NA in column.levels}
    return listing | {target} if target is not None and NA in classes else listing


def pointed(columns: Sequence[Column | Encoded]) -> set[str]:
    """The columns that are known to hold no numbers, whose cells may have points beside decimal commas."""
    return {column.name for column in columns if column.kind != "number"}


def all_called(source: Source, columns: str | int | Sequence[str | int], header: bool = True) -> tuple[str, ...]:
    """The names of several columns, each of which must exist. A text that is not a name is a list separated by commas.

    In such a list, a name that holds a comma is written in quotes.

    >>> from separatrix.tables.formats.opening import open_frame
    >>> import pyarrow as pa
    >>> all_called(open_frame(pa.table({"a": [1], "b": [1], "c,d": [1]})), ["c,d", "a,b"])
    ('c,d', 'a', 'b')
    """
    given = (columns,) if isinstance(columns, str | int) else columns
    names = dict.fromkeys(called(source, column, header) for one in given for column in _apart(source, one))
    for name in names:
        refuse_unknown(source, name)
    return tuple(names)


def _apart(source: Source, column: str | int) -> Iterator[str | int]:
    if column in source.names or not isinstance(column, str) or "," not in column:
        yield column
    else:
        yield from (part.strip() for part in next(csv.reader([column], skipinitialspace=True)))


def chosen_target(source: Source, target: str | None, leave_out: Sequence[str] = ()) -> str:
    """The target: the one given, or the source's own. It and the columns to leave out must exist."""
    target = source.target if target is None else target
    if target is None:
        remedy = f"name the column to predict, one of {listed(source.names)}"
        raise ParameterError("target", "it is not given", remedy)
    for name in (target, *leave_out):
        refuse_unknown(source, name)
    if target in leave_out:
        raise ParameterError("drop", f"it names the target {target!r}", "leave out other columns than the target")
    return target


def with_words(
    source: Source, given: Schema, asked: Mapping[str, TextSettings], target: str | None, leave_out: Collection[str]
) -> Schema:
    """The schema in which the columns ``asked`` for are free text. They are neither the target nor left out."""
    for name in asked:
        if isinstance(source, SparseSource):
            remedy = Message("leave ", Setting("text"), " out")
            raise TableError(source.name, "all columns of a libsvm file are numbers, and none is text", remedy)
        if name == target or name in leave_out:
            what = "the target" if name == target else "left out, too"
            raise ParameterError("text", f"{name!r} is {what}", "name other columns of text")
    return given.with_words(asked)


def labels_of(source: Source, target: str | None, wanted: Sequence[str]) -> str:
    """The column of labels in a table for a fitted model. It may have another name than in training."""
    target = source.target if target is None else target
    if target is None or target in source.names:
        return chosen_target(source, target)
    others = [name for name in source.names if name not in set(wanted)]
    name_it = Message("name theirs with ", Setting("target"), f", one of {listed(others)}")
    remedy = name_it if others else "give a table that has them"
    raise TableError(source.name, f"it has no column {target!r} of labels", remedy)


def features_of(source: Source, target: str, leave_out: Sequence[str] = ()) -> tuple[str, ...]:
    """All columns except the target and those left out."""
    names = tuple(name for name in source.names if name != target and name not in set(leave_out))
    if not names:
        remedy = _HOW_TO_SEPARATE if _runs_together(source) else "give at least one column to learn from"
        raise TableError(source.name, f"the target {target!r} is the only column", remedy)
    return names


def refuse_nameless(source: Source, names: Sequence[str]) -> None:
    """Refuse a column without a name: a model could not find it in another table."""
    if "" in names:
        problem = f"column {source.names.index('') + 1} has no name"
        remedy = Message("name it, or leave it out with ", drop(""), " (an index, perhaps)")
        raise TableError(source.name, problem, remedy)


def refuse_lacking(source: Source, names: Sequence[str]) -> None:
    """Refuse a table that lacks columns of the model."""
    known = set(source.names)
    missing = [name for name in names if name not in known]
    if missing:
        problem = f"it lacks {len(missing)} of the {len(names)} columns of the model: {listed(missing, 50)}"
        near = get_close_matches(missing[0], source.names, 1) or same_but_for_case(missing[0], source.names)
        remedy: str = f"rename {near[0]!r}, if that is it" if near else "give a table with the columns that were fitted"
        if quoted := _quote_around(missing, known):
            remedy = quoted
        elif all(map(is_made_up, missing)):
            remedy = Message(remedy, "; for a file without a header give ", NO_HEADER)
        raise TableError(source.name, problem, remedy)


def _quote_around(names: Sequence[str], known: Collection[str]) -> Message:
    """The advice to give the quotation mark that surrounds these names in the header; empty if none does.

    >>> print(_quote_around(["age"], ["'age'", "'sex'"]))
    its names are in quotation marks: give quote="'"
    """
    for mark in OTHER_QUOTES:
        if all(f"{mark}{name}{mark}" in known for name in names):
            return Message("its names are in quotation marks: give ", Setting("quote", mark))
    return Message()


def refuse_unknown(source: Source, name: str) -> None:
    """Refuse the name of a column that the source does not have, and suggest similar names."""
    if name in source.names:
        return
    if _runs_together(source):
        raise TableError(source.name, f"it has only one column, {source.names[0]!r}", _HOW_TO_SEPARATE)
    if len(source.names) == 1:
        raise TableError(
            source.name, f"it has only one column, {source.names[0]!r}, and no column {name!r}", _HEADER_NEEDED
        )
    if any(NO_HEADER in note.within() for note in source.notes if isinstance(note, Message)):
        headless = Message("its first line looks like a row of data: if it is one, give ", NO_HEADER)
        raise TableError(source.name, f"it has no column {name!r}", headless)
    if quoted := _quote_around([name], set(source.names)):
        raise TableError(source.name, f"it has no column {name!r}", quoted)
    near = get_close_matches(name, source.names, 3, 0.5) or same_but_for_case(name, source.names)
    if near:
        remedy = f"perhaps {' or '.join(map(repr, near))} is meant"
        raise TableError(source.name, f"it has no column {name!r}", remedy)
    remedy = f"choose one of {listed(source.names)}"
    if all(_reads_as_number(known) for known in source.names):
        remedy = Message(remedy, "; ", _HEADER_NEEDED)
    raise TableError(source.name, f"it has no column {name!r}", remedy)


def same_but_for_case(name: str, names: Sequence[str]) -> list[str]:
    """The names that differ from this one only in case or in white space around them.

    >>> same_but_for_case("age", ["Age ", "size"])
    ['Age ']
    """
    return [known for known in names if known.strip().lower() == name.strip().lower()]


def _runs_together(source: Source) -> bool:
    return len(source.names) == 1 and any(mark in source.names[0] for mark in ";\t|: ")


def _reads_as_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


# --- Selections

# A column by its name, or by its number in a file without a header; or several.
Columns = str | int | Sequence[str | int]


@dataclass(frozen=True)
class Selection:
    """A source, its target (None if none was asked for), the columns to leave out, and what the user says they hold."""

    source: Source
    target: str | None
    drop: tuple[str, ...]
    given: Schema
    spelling: Spelling
    reference: Mapping[str, str]

    @property
    def labels(self) -> str:
        """The target of a selection that must have one."""
        assert self.target is not None
        return self.target

    def read(self, names: Sequence[str]) -> pa.Table:
        """The columns, with NA as text where the schema lists it."""
        literal = literal_columns(self.given.columns, self.target, self.given.classes)
        columns = self.source.read(names, literal, pointed(self.given.columns))
        form = self.spelling.date_forms.get("")
        if form is not None and not any(is_date(kind) for kind in columns.schema.types):
            remedy = "check the form, or leave it out"
            raise ParameterError(
                "date_format", f"no column of {self.source.name} holds dates of the form {form!r}", remedy
            )
        return columns


def selected(
    data: Any,
    target: str | int | None,
    drop: Columns,
    schema: Schema | None,
    spelling: Spelling,
    needs_target: bool = True,
    text: Any = (),
    reference: Mapping[str, str] | None = None,
    **kinds: Columns,
) -> Selection:
    """Open the source and find every column that is named. ``kinds`` are columns by what they hold.

    ``text`` names columns of free text, and ``reference`` the reference levels of categories, as in ``read_table``.

    >>> asked = selected("demo:iris", None, "petal width (cm)", None, Spelling(), category="petal length (cm)")
    >>> asked.target, asked.given.columns[0].kind
    ('species', 'category')
    """
    source, header = open_source(data, spelling), spelling.header
    if not isinstance(schema, Schema | None):
        remedy = "give a Schema: read_schema(path), or Schema.from_plain(...)"
        raise ParameterError("schema", f"got {type(schema).__name__}", remedy)
    given = schema or Schema(())
    wanted = given.target if target is None else target
    wanted = None if wanted is None else called(source, wanted, header)
    left_out = all_called(source, drop, header)
    if needs_target or wanted is not None or source.target is not None:
        wanted = chosen_target(source, wanted, left_out)
    words = {called(source, name, header): settings for name, settings in asked_for(text).items()}
    given = with_words(source, given, words, wanted, left_out)
    levels = {called(source, name, header): level for name, level in checked_reference(reference).items()}
    for name in (*given.names, *levels):
        refuse_unknown(source, name)
    refuse_other_columns(levels, wanted, left_out)
    for name in filter(None, spelling.date_forms):
        refuse_unknown(source, called(source, name, header))
    given = _with_kinds(given, source, wanted, header, kinds)
    return Selection(source, wanted, left_out, given, spelling, levels)


def _with_kinds(schema: Schema, source: Source, target: str | None, header: bool, asked: dict[str, Columns]) -> Schema:
    """The schema with columns of the requested kinds, which override its own."""
    kinds: dict[str, str] = {}
    for kind, columns in asked.items():
        for name in all_called(source, columns, header):
            if name == target:
                problem = f"it names the target {quoted(name)}"
                raise ParameterError(kind, problem, "leave it out: labels are classes in any case")
            if name in kinds:
                raise ParameterError(kind, f"column {quoted(name)} is given as a {kinds[name]}, too", "choose one kind")
            kinds[name] = kind
    kept = [column for column in schema.columns if kinds.get(column.name, column.kind) == column.kind]
    known = {column.name for column in kept}
    more = [Column(name, kind) for name, kind in kinds.items() if name not in known]
    return Schema((*kept, *more), schema.target, schema.classes)
