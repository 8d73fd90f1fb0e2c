"""What each column of a table holds: inferred (``infer``), printed as JSON, edited, and given back.

    {
      "target": "default",
      "columns": [
        {"name": "student", "kind": "category", "reference": "No", "levels": ["No", "Yes"]},
        {"name": "balance", "kind": "number"},
        {"name": "id", "kind": "ignored", "note": "left out as asked"}
      ]
    }

A kind is number, boolean, category or date; ``ignored`` leaves the column out; ``text`` says that it can be none of
these and is refused. A schema that is given may name some of the columns only, and of a category neither its levels
nor its reference need be there: the rest is inferred. ``"classes": ["NA", "EU"]`` lists the target's labels: others
are refused, and one that reads as a missing value is a label after all, as "NA" among ``levels`` is a level. Notes
are for people.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from separatrix.base.checksummed_json import distinct_keys
from separatrix.base.errors import TableError
from separatrix.table.encoder import KINDS

ALL_KINDS = (*KINDS, "text", "ignored")
# In bytes: 100 000 columns with ten levels each take about 20 MB.
LARGEST_SCHEMA = 64 << 20
_KEYS = {"name", "kind", "reference", "levels", "note"}


@dataclass(frozen=True)
class Column:
    """A column. Of a category ``levels`` are its values as text, the reference first; none where not known yet.

    >>> Column("student", "category", ("No", "Yes")).reference
    'No'
    """

    name: str
    kind: str
    levels: tuple[str, ...] = ()
    note: str = ""
    preferred: str | None = None  # a reference that was asked for, while the levels are not known

    @property
    def reference(self) -> str | None:
        """The level that has no column of X."""
        return self.levels[0] if self.levels else self.preferred

    def plain(self) -> dict[str, Any]:
        """In JSON's own types, without what is empty."""
        found = {"name": self.name, "kind": self.kind, "reference": self.reference, "levels": list(self.levels)}
        return {key: value for key, value in {**found, "note": self.note}.items() if value or key == "name"}


@dataclass(frozen=True)
class Schema:
    """The columns beside the target, in the table's order.

    >>> schema = Schema((Column("age", "number"), Column("city", "category", ("Brno", "Prague"))), "smoker")
    >>> Schema.from_plain(schema.plain()) == schema
    True
    """

    columns: tuple[Column, ...]
    target: str | None = None
    classes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Of all columns, ignored ones too."""
        return tuple(column.name for column in self.columns)

    @property
    def used(self) -> tuple[Column, ...]:
        """The columns that make X."""
        return tuple(column for column in self.columns if column.kind in KINDS)

    def column(self, name: str) -> Column | None:
        """The column of this name, if there is one."""
        return next((column for column in self.columns if column.name == name), None)

    def plain(self) -> dict[str, Any]:
        """In JSON's own types."""
        listed = {"classes": list(self.classes)} if self.classes else {}
        return {"target": self.target, **listed, "columns": [column.plain() for column in self.columns]}

    def __str__(self) -> str:
        """JSON with one column a line."""
        columns = ",\n".join(f"    {json.dumps(column.plain(), ensure_ascii=False)}" for column in self.columns)
        heads = {key: value for key, value in self.plain().items() if key != "columns"}
        lines = "".join(f'  "{key}": {json.dumps(value, ensure_ascii=False)},\n' for key, value in heads.items())
        return f'{{\n{lines}  "columns": [\n{columns}\n  ]\n}}'

    @classmethod
    def from_plain(cls, found: Any, source: str = "schema") -> Schema:
        """A schema from ``plain``'s values, edited or not; an error names the place."""
        _require(isinstance(found, dict), source, "it is no object", 'write {"columns": [...]}')
        unknown = sorted(set(found) - {"target", "classes", "columns"})
        _require(not unknown, source, f"it has the key {unknown[:1]}", "give 'target', 'classes' and 'columns' alone")
        classes = found.get("classes", [])
        of_text = isinstance(classes, list) and all(isinstance(label, str) for label in classes)
        _require(of_text, source, "its classes are not all text", 'write ["a", "b"], numbers in quotes too')
        target, columns = found.get("target"), found.get("columns", [])
        _require(target is None or isinstance(target, str), source, f"target is {target!r}", "give a column's name")
        _require(isinstance(columns, list), source, "columns is no list", 'write [{"name": ..., "kind": ...}, ...]')
        made = tuple(_column(f"{source}, columns[{k}]", column) for k, column in enumerate(columns))
        names = [column.name for column in made]
        twice = next((name for k, name in enumerate(names) if name in names[:k]), None)
        _require(twice is None, source, f"column {twice!r} is there twice", "keep one of the two")
        _require(target not in names, source, f"the target {target!r} is among the columns", "take it out of them")
        return cls(made, target, tuple(classes))


def read_schema(path: str | os.PathLike[str]) -> Schema:
    """The schema in a JSON file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "schema.json").write_text('{"columns": [{"name": "zip", "kind": "category"}]}')
    ...     read_schema(Path(folder, "schema.json")).names
    ('zip',)
    """
    name = os.fspath(path)
    try:
        found = json.loads(_text(name, Path(path)), object_pairs_hook=distinct_keys)
        json.dumps(found, ensure_ascii=False).encode()
    except TableError:
        raise
    except OSError as error:
        raise TableError(name, f"it cannot be opened ({error.strerror})", "check the path") from error
    except UnicodeEncodeError as error:
        code = f"\\u{ord(error.object[error.start]):04x}"
        raise TableError(name, f"{code} in it is not a character", "write the character itself") from error
    except UnicodeDecodeError as error:
        raise TableError(name, "it is not UTF-8 text", "save it as UTF-8") from error
    except json.JSONDecodeError as error:
        came = f"line {error.lineno}, column {error.colno} is no JSON ({error.msg})"
        raise TableError(name, came, "mend that place") from error
    except RecursionError as error:
        raise TableError(name, "its lists are nested too deeply", "check the file") from error
    except ValueError as error:  # a key that is there twice, or a number of thousands of digits
        raise TableError(name, str(error).partition(";")[0], "check the file") from error
    return Schema.from_plain(found, name)


def _text(name: str, path: Path) -> str:
    """The text of a regular file; a pipe or a device might never end."""
    if path.exists() and not path.is_file():
        raise TableError(name, "it is not a regular file", "save the schema in a file")
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_size > LARGEST_SCHEMA:
            raise TableError(name, f"it is larger than {LARGEST_SCHEMA >> 20} MB, as no schema is", "check the path")
        return file.read().decode("utf-8")


def _column(place: str, found: Any) -> Column:
    _require(isinstance(found, dict), place, "it is no object", 'write {"name": ..., "kind": ...}')
    unknown = sorted(set(found) - _KEYS)
    _require(not unknown, place, f"it has the key {unknown[:1]}", f"give {', '.join(sorted(_KEYS))} alone")
    name, kind, note = found.get("name"), found.get("kind"), found.get("note", "")
    _require(isinstance(name, str), place, f"its name is {name!r}", "give the name of a column")
    place = f"{place} ({name!r})"
    _require(isinstance(kind, str) and kind in ALL_KINDS, place, f"its kind is {kind!r}", _one_of(ALL_KINDS))
    _require(isinstance(note, str), place, "its note is no text", "write a sentence")
    levels, reference = found.get("levels", []), found.get("reference")
    of_text = isinstance(levels, list) and all(isinstance(level, str) for level in levels)
    _require(of_text, place, "its levels are not all text", 'write ["a", "b"], numbers in quotes too')
    _require(len(set(levels)) == len(levels), place, "a level is there twice", "keep one of the two")
    category = kind == "category"
    _require(category or not levels, place, f"it has levels and is a {kind}", "make its kind 'category'")
    _require(not levels or len(levels) > 1, place, "it has one level", "give two levels or more, or none")
    fits = reference is None or (category and isinstance(reference, str) and (not levels or reference in levels))
    _require(fits, place, f"its reference is {reference!r}", "give one of the levels of a category")
    if levels and reference is not None:
        levels = [reference, *(level for level in levels if level != reference)]
    return Column(name, kind, tuple(levels), note, None if levels else reference)


def _one_of(words: Iterable[str]) -> str:
    return f"give one of {', '.join(words)}"


def _require(holds: bool, place: str, came: str, do: str) -> None:
    if not holds:
        raise TableError(place, came, do)
