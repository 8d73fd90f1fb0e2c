"""The columns and the settings of text files that a user of ``scan`` asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any

from separatrix.base.errors import ParameterError
from separatrix.streams.batches import Batches
from separatrix.table.formats.header import called
from separatrix.table.formats.source import MemorySource
from separatrix.table.formats.spelling import Spelling

# How a table is written beyond what a scan reads: it has no dates, and no columns of a model.
_NOT_OF_SCANS = ("date_format", "target_place")


@dataclass(frozen=True)
class AskedColumns:
    """The names of the columns of labels and of weights, each None if there is none, and of those to leave out.

    A column has one of these purposes.
    """

    target: str | None
    weight: str | None
    drop: tuple[str, ...]

    def __post_init__(self) -> None:
        if self.target is not None and self.weight == self.target:
            remedy = "name another column, or leave weight out"
            raise ParameterError("weight", f"it names the target {self.target!r}", remedy)
        for what, column in (("target", self.target), ("weight", self.weight)):
            if column in self.drop:
                remedy = f"leave out other columns than the {what}"
                raise ParameterError("drop", f"it names the {what} {column!r}", remedy)

    @classmethod
    def of(
        cls, batches: Batches, target: str | int | None, weight: str | int | None, drop: Sequence[Any], header: bool
    ) -> AskedColumns:
        """The columns as the table calls them. Without a header they may be given by their numbers."""
        source = MemorySource(batches.name, batches.schema.empty_table())
        one, other = (None if column is None else called(source, column, header) for column in (target, weight))
        return cls(one, other, tuple(called(source, column, header) for column in drop))


def text_spelling(given: Mapping[str, Any]) -> Spelling:
    """How text files are written; an error if one of the settings does not exist."""
    known = [field.name for field in fields(Spelling) if field.init and field.name not in _NOT_OF_SCANS]
    unknown = next((name for name in given if name not in known), None)
    if unknown is not None:
        near = get_close_matches(unknown, known, 1)
        remedy = f"give {near[0]}" if near else f"how text files are written is given by {', '.join(known)}"
        raise ParameterError(unknown, "scan has no such argument", remedy)
    return Spelling(**given)
