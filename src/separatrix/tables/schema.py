"""What each column of a table holds.

A schema is inferred (``infer``), printed as JSON, edited, and given back:

    {
      "target": "default",
      "columns": [
        {"name": "student", "kind": "category", "reference": "No", "levels": ["No", "Yes"]},
        {"name": "balance", "kind": "number"},
        {"name": "id", "kind": "ignored", "note": "left out as asked"}
      ]
    }
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from separatrix.core.base.checksummed_json import distinct_keys
from separatrix.core.base.errors import ParameterError, TableError
from separatrix.core.base.labels import quoted
from separatrix.core.base.messages import ByAudience, Message
from separatrix.tables.cells import listed, perhaps, shortened
from separatrix.tables.encoder import KINDS, WORDS
from separatrix.tables.text import DEFAULTS, TextSettings

ALL_KINDS = (*KINDS, "text", "ignored")
# A larger schema file is refused. A schema of 100 000 columns with ten levels each takes about 20 MB.
LARGEST_SCHEMA_BYTES = 64 << 20
_KEYS = {"name", "kind", "reference", "levels", "note", "text"}


@dataclass(frozen=True)
class Column:
    """What one column holds.

    The kind is number, boolean, category, date, or words: a free text whose n-grams become columns of X. The kind
    "ignored" leaves a column out, and "text" marks a column that cannot be used as it is; it is refused.

    Parameters
    ----------
    name : str
        The column's name in the table.
    kind : {"number", "boolean", "category", "date", "words", "text", "ignored"}
        What it holds, or why it is not used.
    levels : tuple of str
        The values of a category as text, the reference first; empty if they are not known yet.
    note : str
        A remark for people.
    preferred : str, optional
        The reference that was asked for, while the levels are not known.
    text : TextSettings
        How a column of words becomes columns of X.

    Examples
    --------
    >>> Column("student", "category", ("No", "Yes")).reference
    'No'
    """

    name: str
    kind: str
    levels: tuple[str, ...] = ()
    note: str = ""
    preferred: str | None = None
    text: TextSettings = DEFAULTS

    @property
    def reference(self) -> str | None:
        """The level that has no column in X."""
        return self.levels[0] if self.levels else self.preferred

    def plain(self) -> dict[str, Any]:
        """The column as JSON types, without empty fields.

        Returns
        -------
        dict
        """
        fields = {
            "name": self.name,
            "kind": self.kind,
            "reference": self.reference,
            "levels": list(self.levels),
            "note": self.note,
            "text": {} if self.text == DEFAULTS else self.text.plain(),
        }
        return {key: value for key, value in fields.items() if value or key == "name"}


@dataclass(frozen=True)
class Schema:
    """What the columns of a table hold.

    A user's schema may mention only some of the columns, and may leave out the levels and the reference of a category:
    the rest is inferred. Where ``classes`` lists the labels of the target, a listed label counts even if it reads like
    a missing value. In the same way, "NA" among the levels of a category is a level. Notes are for people and change
    nothing.

    Parameters
    ----------
    columns : tuple of Column
        All columns except the target, in the order of the table.
    target : str, optional
        The column to predict.
    classes : tuple of str
        The labels of the target, if they are to be restricted; other labels are then refused.

    Examples
    --------
    >>> schema = Schema((Column("age", "number"), Column("city", "category", ("Brno", "Prague"))), "smoker")
    >>> Schema.from_plain(schema.plain()) == schema
    True
    """

    columns: tuple[Column, ...]
    target: str | None = None
    classes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all columns, including ignored ones."""
        return tuple(column.name for column in self.columns)

    @property
    def used(self) -> tuple[Column, ...]:
        """The columns that become columns of X."""
        return tuple(column for column in self.columns if column.kind in KINDS)

    def column(self, name: str) -> Column | None:
        """The column of this name, if there is one.

        Parameters
        ----------
        name : str
            The name of a column.

        Returns
        -------
        Column or None
        """
        return next((column for column in self.columns if column.name == name), None)

    def with_words(self, asked: Mapping[str, TextSettings]) -> Schema:
        """The schema in which the columns ``asked`` for are free text.

        Parameters
        ----------
        asked : dict of str to TextSettings
            The columns, each with the settings of its n-grams.

        Returns
        -------
        Schema

        Examples
        --------
        >>> Schema(()).with_words({"review": DEFAULTS}).columns[0].kind
        'words'
        """
        for name in asked:
            known = self.column(name)
            if name == self.target or (known is not None and known.kind != WORDS):
                what = "the target" if known is None else f"a {known.kind} in the schema"
                raise ParameterError("text", f"{name!r} is {what}", "name other columns, or change the schema")
        others = tuple(column for column in self.columns if column.name not in asked)
        words = tuple(Column(name, WORDS, text=settings) for name, settings in asked.items())
        return replace(self, columns=(*others, *words))

    def plain(self) -> dict[str, Any]:
        """The schema as JSON types.

        Returns
        -------
        dict
        """
        listed = {"classes": list(self.classes)} if self.classes else {}
        return {"target": self.target, **listed, "columns": [column.plain() for column in self.columns]}

    def __str__(self) -> str:
        """JSON with one column per line."""
        columns = ",\n".join(f"    {json.dumps(column.plain(), ensure_ascii=False)}" for column in self.columns)
        heads = {key: value for key, value in self.plain().items() if key != "columns"}
        lines = "".join(f'  "{key}": {json.dumps(value, ensure_ascii=False)},\n' for key, value in heads.items())
        return f'{{\n{lines}  "columns": [\n{columns}\n  ]\n}}'

    @classmethod
    def from_plain(cls, content: Any, source: str = "schema") -> Schema:
        """A schema from the result of ``plain``, possibly edited.

        Parameters
        ----------
        content : dict
            The keys ``target``, ``classes`` and ``columns``.
        source : str
            What error messages call the schema.

        Returns
        -------
        Schema

        Raises
        ------
        TableError
            If a key, a type or a value does not fit; the message names the place.
        """
        _require(isinstance(content, dict), source, "it is not a JSON object", 'write {"columns": [...]}')
        unknown = sorted(set(content) - {"target", "classes", "columns"})
        problem = f"it has the unknown key {_first(unknown)}"
        _require(not unknown, source, problem, "use only 'target', 'classes' and 'columns'")
        classes = content.get("classes", [])
        of_text = isinstance(classes, list) and all(isinstance(label, str) for label in classes)
        _require(of_text, source, "its classes are not all texts", 'write ["a", "b"], with quotes around numbers too')
        target, columns = content.get("target"), content.get("columns", [])
        _require(target is None or isinstance(target, str), source, f"target is {target!r}", "give a column's name")
        remedy = 'write [{"name": ..., "kind": ...}, ...]'
        _require(isinstance(columns, list), source, "'columns' is not a list", remedy)
        made = tuple(_column(f"{source}, columns[{k}]", column) for k, column in enumerate(columns))
        names = [column.name for column in made]
        twice = next((name for k, name in enumerate(names) if name in names[:k]), None)
        _require(twice is None, source, f"column {twice!r} occurs twice", "keep one of the two")
        _require(target not in names, source, f"the target {target!r} is among the columns", "take it out of them")
        return cls(made, target, tuple(classes))


def read_schema(path: str | os.PathLike[str]) -> Schema:
    """Read a schema from a JSON file.

    Parameters
    ----------
    path : str or path
        The file, such as ``separatrix fit TABLE --print-schema`` prints it.

    Returns
    -------
    Schema

    Raises
    ------
    TableError
        If the file cannot be read or is not a schema; the message names the place.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "schema.json").write_text('{"columns": [{"name": "zip", "kind": "category"}]}')
    ...     read_schema(Path(folder, "schema.json")).names
    ('zip',)
    """
    name = os.fspath(path)
    try:
        content = json.loads(_text(name, Path(path)), object_pairs_hook=distinct_keys)
        json.dumps(content, ensure_ascii=False).encode()
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
        problem = f"line {error.lineno}, column {error.colno} is not valid JSON ({error.msg})"
        raise TableError(name, problem, "correct the JSON there") from error
    except RecursionError as error:
        raise TableError(name, "its lists are nested too deeply", "check the file") from error
    except ValueError as error:  # A key that occurs twice, or a number of thousands of digits.
        raise TableError(name, str(error).partition(";")[0], "check the file") from error
    return Schema.from_plain(content, name)


def _text(name: str, path: Path) -> str:
    """The text of a regular file. A pipe or a device is refused, since it might never end."""
    if path.exists() and not path.is_file():
        raise TableError(name, "it is not a regular file", "save the schema in a file")
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_size > LARGEST_SCHEMA_BYTES:
            problem = f"it is larger than {LARGEST_SCHEMA_BYTES >> 20} MB, the most that a schema may have"
            raise TableError(name, problem, "check the path")
        return file.read().decode("utf-8")


def _column(place: str, content: Any) -> Column:
    _require(isinstance(content, dict), place, "it is not a JSON object", 'write {"name": ..., "kind": ...}')
    unknown = sorted(set(content) - _KEYS)
    _require(not unknown, place, f"it has the unknown key {_first(unknown)}", f"use only {', '.join(sorted(_KEYS))}")
    name, kind, note = content.get("name"), content.get("kind"), content.get("note", "")
    _require(isinstance(name, str), place, f"its name is {name!r}", "give the name of a column")
    place = f"{place} ({name!r})"
    one_of = f"give one of {', '.join(ALL_KINDS)}"
    _require(isinstance(kind, str) and kind in ALL_KINDS, place, f"its kind is {kind!r}", one_of)
    _require(isinstance(note, str), place, "its note is not text", "write a sentence")
    levels = _checked_levels(place, kind, content.get("levels", []))
    reference = content.get("reference")
    fits = isinstance(reference, str) and kind == "category" and (not levels or reference in levels)
    problem = f"its reference is {reference!r}"
    _require(reference is None or fits, place, problem, "give one of the levels of a category")
    if levels and reference is not None:
        levels = [reference, *(level for level in levels if level != reference)]
    text = _checked_text(place, kind, content.get("text", {}))
    return Column(name, kind, tuple(levels), note, None if levels else reference, text)


def _checked_text(place: str, kind: str, content: Any) -> TextSettings:
    _require(kind == WORDS or not content, place, f"it has settings of text and is a {kind}", "make its kind 'words'")
    try:
        return TextSettings.from_plain(content)
    except ParameterError as error:
        raise TableError(place, f"{error.argument}: {error.problem}", error.remedy) from error


def _checked_levels(place: str, kind: str, levels: Any) -> list[str]:
    of_text = isinstance(levels, list) and all(isinstance(level, str) for level in levels)
    _require(of_text, place, "its levels are not all texts", 'write ["a", "b"], with quotes around numbers too')
    _require(len(set(levels)) == len(levels), place, "a level occurs twice", "keep one of the two")
    _require(kind == "category" or not levels, place, f"it has levels and is a {kind}", "make its kind 'category'")
    _require(len(levels) != 1, place, "it has only one level", "give two levels or more, or none")
    return list(levels)


def _first(keys: Sequence[str]) -> str:
    return repr(keys[0]) if keys else ""


def _require(holds: bool, place: str, problem: str, remedy: str) -> None:
    if not holds:
        raise TableError(place, problem, remedy)


# --- The reference level of a category: the level without a column in X, against which the others are compared

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
        similar = [f" (perhaps {quoted(shortened(one))})" for one in get_close_matches(level, column.levels, 1)]
        near = perhaps(level, column.levels) or "".join(similar)
        problem = f"column {quoted(column.name)} has no level {quoted(shortened(level))}{near}"
        raise ParameterError("reference", problem, f"give one of {listed([*map(shortened, column.levels)])}")
    others = tuple(known for known in column.levels if known != level)
    return replace(column, levels=(level, *others), preferred=level)
