"""Learn an encoder from training rows: the levels of each category, and what replaces missing and unseen values.

V (n, p) holds the cells as numbers, with one column for each column of the table. A cell of a category holds the number
of its level; a missing value is NaN.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.base.errors import TableError
from separatrix.base.messages import Message, Setting, joined, reason, remedy, solving, together
from separatrix.base.watching import Part, watched
from separatrix.table.cells import drop
from separatrix.table.encoded_column import WORDS, Encoded
from separatrix.table.encoder import Encoder, checked, refuse_missing, text_cells
from separatrix.table.encoder_checks import MISSING, UNSEEN
from separatrix.table.schema import Column, Schema
from separatrix.table.text import learn
from separatrix.table.text_counts import CountedTexts, count_texts


def fit_encoder(
    schema: Schema, table: pa.Table, missing: str = "error", unseen: str = "average", source: str = "the table"
) -> Encoder:
    """The encoder of the schema's columns, learned from these rows, or from those that are not dropped.

    >>> from separatrix.table.infer import infer
    >>> table = pa.table({"age": [20.0, None, 40.0], "sex": ["f", "m", "f"]})
    >>> [column.fill for column in fit_encoder(infer(table), table, missing="impute").columns]
    [(30.0,), (0.0,)]
    """
    checked("missing", missing, MISSING)
    checked("unseen", unseen, UNSEEN)
    columns = encodable(schema, source, missing)
    V = read_cells(columns, table, source)
    kept = kept_rows(columns, V, missing, source)
    return learned(columns, V, missing, unseen, source, kept, read_texts(columns, table, source))


def encodable(schema: Schema, source: str, missing: str = "error") -> tuple[Column, ...]:
    """The columns that become X. A column of text, or a table without usable columns, is an error."""
    _refuse_text(schema, source, missing)
    if not schema.used:
        problem = "no column is left to learn from" if schema.columns else "the target is the only column"
        raise TableError(source, problem, _why_none(schema))
    return schema.used


def read_cells(columns: Sequence[Column], table: pa.Table, source: str) -> Array:
    """V (n, p), in C order."""
    V, tell = np.empty((table.num_rows, len(columns))), watched()
    for j, column in enumerate(columns):
        if tell is not None:
            tell(Part("as numbers: column", j + 1, len(columns)))
        V[:, j] = Encoded(column.name, column.kind, column.levels).read(table, source)
    return V


def read_texts(columns: Sequence[Column], table: pa.Table, source: str) -> dict[str, CountedTexts]:
    """The counted n-grams of each column of words."""
    return {
        column.name: count_texts(text_cells(table, column.name, source), column.text)
        for column in columns
        if column.kind == WORDS
    }


def missing_counts(columns: Sequence[Column], V: Array) -> dict[str, int]:
    """The number of missing values in each column that has any."""
    counts = np.isnan(V).sum(axis=0).tolist()
    return {column.name: count for column, count in zip(columns, counts, strict=True) if count}


def kept_rows(columns: Sequence[Column], V: Array, missing: str, source: str) -> AnyArray:
    """A mask (n,) of the training rows: all, or the complete ones if ``missing`` is "drop". "error" refuses holes."""
    lacking = missing_counts(columns, V)
    if lacking and missing == "error":
        raise refuse_missing(source, lacking, len(V))
    if missing != "drop":
        return np.ones(len(V), dtype=bool)
    return np.asarray(~np.isnan(V).any(axis=1))


def learned(
    columns: Sequence[Column],
    V: Array,
    missing: str,
    unseen: str,
    source: str,
    train: AnyArray | None = None,
    texts: Mapping[str, CountedTexts] | None = None,
) -> Encoder:
    """The encoder learned from the rows ``train`` (n,) of V and of ``texts``, or from all rows if None.

    With ``missing="indicator"``, a column gets an indicator if a training row lacks its value.

    >>> V = np.array([[20.0], [40.0], [90.0]])
    >>> learned([Column("age", "number")], V, "impute", "average", "t", np.array([1, 1, 0])).columns[0].fill
    (30.0,)
    """
    rows = np.ones(len(V), dtype=bool) if train is None else np.asarray(train, dtype=bool)
    known = ~np.isnan(V) & rows[:, None]
    means = column_means(V, known)
    holes = int(rows.sum()) - known.sum(axis=0)
    fitted = []
    for j, column in enumerate(columns):
        marked = missing == "indicator" and bool(holes[j])
        if column.kind == WORDS:
            text = learn(column.name, column.text, (texts or {})[column.name], train, source)
            fitted.append(Encoded(column.name, column.kind, indicator=marked, text=text))
            continue
        counts = _counts(V[known[:, j], j], len(column.levels)) if column.kind == "category" else None
        fitted.append(encoded_column(column, means[j], counts, marked))
    return checked_encoder(Encoder(tuple(fitted), missing, unseen), source)


def encoded_column(column: Column, mean: float, counts: Integers | None, marked: bool) -> Encoded:
    """A column other than words, with the ``mean`` of its training rows, or with the ``counts`` of a category's levels.

    ``marked``: whether an indicator marks missing values.
    """
    if counts is None:
        mean = float(mean > 0.5) if column.kind == "boolean" else mean
        return Encoded(column.name, column.kind, column.levels, (mean,), marked)
    fill = _replacement(column.levels, counts, marked)
    return Encoded(column.name, column.kind, column.levels, fill, marked, _shares(counts))


def checked_encoder(encoder: Encoder, source: str) -> Encoder:
    """The encoder, after checking that its columns of X have different names."""
    _refuse_one_name(encoder, source)
    return encoder


def column_means(V: Array, known: AnyArray) -> list[float]:
    """Column means of the known values. If a sum overflows, the values are scaled before they are added."""
    counts = np.maximum(known.sum(axis=0), 1)
    with np.errstate(over="ignore"):
        means = V.sum(axis=0, where=known) / counts
    if not np.isfinite(means).all():
        largest = np.abs(V).max(axis=0, where=known, initial=1.0)
        means = (V / largest).sum(axis=0, where=known) / counts * largest
    return [float(mean) for mean in means]


def _counts(v: Array, n_levels: int) -> Integers:
    """How often each level (n_levels,) occurs among the known cells v (m,)."""
    return np.bincount(v[v >= 0].astype(np.intp), minlength=n_levels)


def _replacement(levels: Sequence[str], counts: Integers, marked: bool) -> tuple[float, ...]:
    """The columns of a missing value: those of the most frequent level, or zeros if an indicator marks it.

    Among equally frequent levels it is the first in alphabetical order, whichever is the reference.

    >>> _replacement(["b", "a", "c"], np.array([2, 2, 1]), marked=False)
    (1.0, 0.0)
    """
    order = sorted(range(len(levels)), key=lambda k: (-int(counts[k]), levels[k]))
    return tuple(float(k == order[0] and not marked) for k in range(1, len(levels)))


def _shares(counts: Integers) -> tuple[float, ...]:
    """The share of each level except the first; zeros if no level occurs."""
    return tuple((counts[1:] / max(int(counts.sum()), 1)).tolist())


def _refuse_text(schema: Schema, source: str, missing: str) -> None:
    """Refuse columns that cannot be used, with the settings that solve all of them where each can be solved."""
    refused = [column for column in schema.columns if column.kind == "text"]
    if not refused:
        return
    first, *rest = refused
    problem, remedy = refusal(first)
    settings = solution(refused, missing)
    if rest and settings:
        all_left_out = [setting.name for setting in settings] == ["drop"]
        remedy = Message("leave them out with " if all_left_out else "give ", joined(" ", map(Message, settings)))
    more = f" (and {len(rest)} more: {', '.join(repr(column.name) for column in rest[:8])})" if rest else ""
    raise TableError(source, Message(f"column {first.name!r}: ", problem, more), remedy, settings)


def solution(refused: Sequence[Column], missing: str = "error") -> tuple[Setting, ...]:
    """The settings with which a table with these columns can be read; empty if a column needs more than settings.

    >>> from separatrix.base.messages import Remedy
    >>> told = [Column(name, "text", note=Message("it is text", Remedy("", (drop(name),)))) for name in ("id", "key")]
    >>> [setting.python for setting in solution(told)]
    ["drop=['id', 'key']"]
    """
    each = [solving(column.note) for column in refused]
    if not all(each):
        return ()
    settings = together(setting for one in each for setting in one)
    marks = missing == "error" and any(setting.name == "na" for setting in settings)
    return (*settings, Setting("missing", "impute")) if marks else settings


def refusal(column: Column) -> tuple[str, str]:
    """Why a column of text cannot be used, and what to do.

    An inferred note says both. A note that comes from the user's schema does not.

    >>> problem, remedy = refusal(Column("city", "text", note="asked for"))
    >>> problem, str(remedy)
    ('its kind in the schema is text', "leave it out with drop='city', or say what it holds in the schema")
    """
    if remedy(column.note):
        return reason(column.note), remedy(column.note)
    advice = Message("leave it out with ", drop(column.name), ", or say what it holds in the schema")
    return "its kind in the schema is text", advice


def _why_none(schema: Schema) -> str:
    notes = [Message(f"{column.name!r}: ", column.note) for column in schema.columns if column.note]
    if not notes:
        return "give at least one column to learn from"
    return Message("give columns that vary (", joined("; ", notes[:3]), ")")


def _refuse_one_name(encoder: Encoder, source: str) -> None:
    names = encoder.names
    if len(set(names)) < len(names):
        twice = next(name for k, name in enumerate(names) if name in names[:k])
        raise TableError(
            source, f"two columns of X would have the name {twice!r}", "rename a column of the table, or a level"
        )
