"""What is asked of a table: where it is, which column to predict, which to leave out, and what the others hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from separatrix.base.errors import ParameterError
from separatrix.base.labels import quoted
from separatrix.table import select
from separatrix.table.cells import is_date
from separatrix.table.formats import Source, Spelling, open_source
from separatrix.table.formats.header import called
from separatrix.table.references import checked_reference, refuse_other_columns
from separatrix.table.schema import Column, Schema
from separatrix.table.text_settings import asked_for

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
        literal = select.literal(self.given.columns, self.target, self.given.classes)
        columns = self.source.read(names, literal, select.pointed(self.given.columns))
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
    given = _checked(schema)
    wanted = given.target if target is None else target
    wanted = None if wanted is None else called(source, wanted, header)
    left_out = select.all_called(source, drop, header)
    if needs_target or wanted is not None or source.target is not None:
        wanted = select.chosen_target(source, wanted, left_out)
    words = {called(source, name, header): settings for name, settings in asked_for(text).items()}
    given = select.with_words(source, given, words, wanted, left_out)
    levels = {called(source, name, header): level for name, level in checked_reference(reference).items()}
    for name in (*given.names, *levels):
        select.refuse_unknown(source, name)
    refuse_other_columns(levels, wanted, left_out)
    for name in filter(None, spelling.date_forms):
        select.refuse_unknown(source, called(source, name, header))
    given = _with_kinds(given, source, wanted, header, kinds)
    return Selection(source, wanted, left_out, given, spelling, levels)


def _with_kinds(schema: Schema, source: Source, target: str | None, header: bool, asked: dict[str, Columns]) -> Schema:
    """The schema with columns of the requested kinds, which override its own."""
    kinds: dict[str, str] = {}
    for kind, columns in asked.items():
        for name in select.all_called(source, columns, header):
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


def _checked(schema: Schema | None) -> Schema:
    if not isinstance(schema, Schema | None):
        remedy = "give a Schema: read_schema(path), or Schema.from_plain(...)"
        raise ParameterError("schema", f"got {type(schema).__name__}", remedy)
    return schema or Schema(())
