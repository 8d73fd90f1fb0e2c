"""Several files as one table: the files of a folder or of a pattern such as data/*.csv, sorted by name."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from separatrix.base.errors import TableError
from separatrix.base.row_names import short_names
from separatrix.table.cells import listed
from separatrix.table.formats.source import Source, with_files


@dataclass(frozen=True)
class FolderSource:
    """Files with the same columns, in the order of the first file."""

    name: str
    files: tuple[Source, ...]
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of every file."""
        return self.files[0].names

    @property
    def target(self) -> str | None:
        """The target that the first file declares."""
        return self.files[0].target

    def read(self, names: Sequence[str], literal: Collection[str] = (), pointed: Collection[str] = ()) -> pa.Table:
        """The columns of all files, one below the other."""
        tables = [file.read(names, literal, pointed) for file in self.files]
        for file, table in zip(self.files, tables, strict=True):
            for name in names:
                self.compare(name, tables[0].column(name).type, file, table.column(name).type)
        columns = pa.table([self._joined(name, tables) for name in names], list(names))
        counts = [table.num_rows for table in tables]
        short = short_names([file.name for file in self.files])
        return with_files(columns, tuple(zip(short, counts, strict=True)))

    def _joined(self, name: str, tables: Sequence[pa.Table]) -> Any:
        """One column of all files. Arrow does not mix decimals with whole numbers past 2^53: it would round them."""
        try:
            return pa.concat_tables([t.select([name]) for t in tables], promote_options="permissive").column(name)
        except pa.ArrowInvalid as error:
            problem = f"column {name!r} mixes types that do not go together ({' '.join(str(error).split())[:200]})"
            raise TableError(self.name, problem, "write it with one type in all files") from error

    def compare(self, name: str, first: pa.DataType, file: Source, other: pa.DataType) -> None:
        """Refuse a mix of types. Whole numbers and decimals may mix, text and numbers may not."""
        try:
            pa.unify_schemas([pa.schema([(name, first)]), pa.schema([(name, other)])], promote_options="permissive")
        except pa.ArrowException as error:
            problem = f"column {name!r} holds {other} in {file.name} and {first} in {self.files[0].name}"
            raise TableError(self.name, problem, "write it with one type in all files") from error


def join(name: str, files: Sequence[Source], notes: tuple[str, ...] = ()) -> FolderSource:
    """The files as one source. All must have the same columns."""
    wanted = set(files[0].names)
    for file in files[1:]:
        lacks = [column for column in files[0].names if column not in set(file.names)]
        more = [column for column in file.names if column not in wanted]
        if lacks or more:
            parts = [f"lacks {listed(lacks)}"] * bool(lacks) + [f"has {listed(more)} in addition"] * bool(more)
            problem = f"{file.name} {' and '.join(parts)}, compared with {files[0].name}"
            raise TableError(name, problem, "give files with the same columns, in any order")
    return FolderSource(name, tuple(files), (*dict.fromkeys(note for file in files for note in file.notes), *notes))
