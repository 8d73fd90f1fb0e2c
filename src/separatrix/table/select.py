"""Which columns are wanted: by name, in any order, with a suggestion where a name is not there."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from separatrix.errors import ParameterError, TableError
from separatrix.table import encode
from separatrix.table.sources import Source

_SEPARATE = "separate the columns by commas, or by tabs in a .tsv file"


def read_labelled(source: Source, target: str | None = None, leave_out: Sequence[str] = ()) -> encode.Table:
    """All columns as numbers but the target, which gives the labels, and those left out.

    >>> from separatrix.table import open_source
    >>> table = read_labelled(open_source("demo:iris"), leave_out=["petal width (cm)"])
    >>> table.X.shape, table.target, table.y[0].item()
    ((150, 3), 'species', 'setosa')
    """
    target = source.target if target is None else target
    if target is None:
        raise ParameterError(
            "--target", "it is not given", f"name the column to predict, one of {listed(source.names)}"
        )
    for name in (target, *leave_out):
        if name not in source.names:
            raise _unknown(source, name)
    if target in leave_out:
        raise ParameterError("--drop", f"it names the target {target!r}", "leave out other columns than the target")
    names = tuple(name for name in source.names if name != target and name not in leave_out)
    if not names:
        do = _SEPARATE if _runs_together(source) else "give at least one column of numbers"
        raise TableError(source.name, f"there is no column beside the target {target!r}", do)
    if "" in names:
        came = f"column {source.names.index('') + 1} has no name"
        raise TableError(source.name, came, f"name it, or leave it out with {encode.drop('')} (an index, perhaps)")
    columns = source.read(names, target)
    y = encode.labels(source.name, columns.column(target), target)
    return encode.Table(source.name, names, encode.features(source.name, columns, names), target, y)


def read_columns(source: Source, names: Sequence[str]) -> encode.Table:
    """The columns ``names`` as numbers, in that order; others are not read.

    >>> from separatrix.table import open_source
    >>> read_columns(open_source("demo:wine"), ["hue", "alcohol"]).X[0].tolist()
    [1.04, 14.23]
    """
    missing = [name for name in names if name not in source.names]
    if missing:
        came = f"it lacks {len(missing)} of the {len(names)} columns of the model: {listed(missing)}"
        near = get_close_matches(missing[0], source.names, 1)
        do = f"rename {near[0]!r}, if that is it" if near else "give a table with the columns that were fitted"
        raise TableError(source.name, came, do)
    columns = source.read(names, None)
    return encode.Table(source.name, tuple(names), encode.features(source.name, columns, names))


def listed(names: Sequence[str], most: int = 8) -> str:
    """Names in quotes, the first few of many.

    >>> listed(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    shown = ", ".join(repr(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def _unknown(source: Source, name: str) -> TableError:
    if _runs_together(source):
        return TableError(source.name, f"it has one column only, {source.names[0]!r}", _SEPARATE)
    near = get_close_matches(name, source.names, 3, 0.5)
    near = near or [known for known in source.names if known.strip().lower() == name.strip().lower()]
    if near:
        do = f"perhaps {' or '.join(repr(known) for known in near)} is meant"
        return TableError(source.name, f"it has no column {name!r}", do)
    do = f"choose one of {listed(source.names)}"
    if all(_reads_as_number(known) for known in source.names):
        do += "; the first row must hold the names of the columns"
    return TableError(source.name, f"it has no column {name!r}", do)


def _runs_together(source: Source) -> bool:
    return len(source.names) == 1 and any(mark in source.names[0] for mark in ";\t|")


def _reads_as_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
