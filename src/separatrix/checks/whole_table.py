"""Check a table. Text columns, constant columns, missing values and a bad target are reported, not refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from separatrix.base.arrays import AnyArray
from separatrix.base.errors import ParameterError
from separatrix.base.labels import quoted
from separatrix.base.messages import Message, Setting, joined
from separatrix.checks.finding import MOST_NAMED_IN_SENTENCE, Checks, Finding, capital, many
from separatrix.checks.running import checked
from separatrix.checks.single_columns import absent
from separatrix.table import Encoder, Schema, Source, infer, open_source, select
from separatrix.table.cells import listed
from separatrix.table.fitting import fit_encoder, refusal
from separatrix.table.formats import SparseSource, Spelling
from separatrix.table.target_column import labels, unlabelled

_FILLED = "For these checks they were filled with the means of their columns."


def check_table(
    data: Any,
    target: str | None = None,
    drop: Sequence[str] = (),
    schema: Schema | None = None,
    encoding: str = "utf-8",
    delimiter: str | None = None,
    decimal: str = ".",
    max_columns: int | None = None,
    max_unpacked: float | None = None,
) -> Checks:
    """Check a file or a frame before a fit, for the things that a careful analyst looks for.

    Parameters
    ----------
    data : str, path or frame
        The table, as in ``read_table``.
    target : str, optional
        The column to predict. Demo tables and libsvm files know theirs.
    drop : sequence of str
        Columns to leave out.
    schema : Schema, optional
        What the columns hold. Columns that it does not mention are inferred.
    encoding, delimiter, decimal, max_columns, max_unpacked
        How to read a text file, and limits on its size, as in ``read_table``.

    Returns
    -------
    Checks
        The findings, worst first. Rows are counted from 1.

    Examples
    --------
    >>> checks = check_table("demo:outlier-1d")
    >>> checks.worst, [finding.check for finding in checks.problems]
    ('problem', ['leakage'])
    """
    source = open_source(data, Spelling(encoding, delimiter, decimal, max_columns, max_unpacked))
    drop = (drop,) if isinstance(drop, str) else tuple(drop)
    given = schema if schema is not None else Schema(())
    if not isinstance(given, Schema):
        do = "give a Schema: read_schema(path), or Schema.from_plain(...)"
        raise ParameterError("schema", f"got {type(schema).__name__}", do)
    target = select.chosen_target(source, given.target if target is None else target, drop)
    for name in given.names:
        select.refuse_unknown(source, name)
    names = select.features_of(source, target, drop)
    checks = _sparse(source, names) if isinstance(source, SparseSource) else _dense(source, names, target, given)
    return replace(checks, target=target, notes=source.notes)


def _sparse(source: SparseSource, names: Sequence[str]) -> Checks:
    X = source.matrix(names)
    n = X.shape[0]
    return checked(X, source.labels, names, np.arange(1, n + 1), [absent({}, n, "")])


def _dense(source: Source, names: Sequence[str], target: str, given: Schema) -> Checks:
    columns = source.read([*names, target], select.literal(given.columns, target, given.classes))
    kept = ~unlabelled(columns.column(target), given.classes)
    inferred = infer(columns, target, given)
    first = [*_unlabelled(kept, target), *_refused(inferred), *_left_out(inferred, given)]
    if not kept.any() or not inferred.used:
        return Checks((*first, *_nothing(kept, inferred)), columns.num_rows, len(names))
    columns = columns.filter(pa.array(kept)) if not kept.all() else columns
    y = labels(source.name, columns.column(target), target, classes=given.classes)
    encoder = fit_encoder(replace(inferred, columns=inferred.used), columns, "impute", "average", source.name)
    encoder = _with_shares(encoder)
    reading = encoder.read(columns, source.name)
    references = {column.name: column.levels[0] for column in encoder.columns if column.levels}
    first.append(absent(reading.missing, len(y), _FILLED))
    numbers, given_columns = np.flatnonzero(kept) + 1, len(encoder.columns)
    return checked(reading.X, y, encoder.names, numbers, first, references, n_columns=given_columns)


def _with_shares(encoder: Encoder) -> Encoder:
    """The encoder with the average of a category for its missing values, which the checks tell from its levels."""
    return replace(encoder, columns=tuple(replace(one, fill=one.average or one.fill) for one in encoder.columns))


def _unlabelled(kept: AnyArray, target: str) -> Iterator[Finding]:
    lost = int((~kept).sum())
    if lost and kept.any():
        which = f"{many(lost, 'row')} of {len(kept):,}"
        sentence = f"{which} have no value in the target {quoted(target)}; they are left out here."
        do = Message("Fit with ", Setting("missing", "drop"), ", which leaves them out.")
        yield Finding("note", "target", "Rows have no label.", sentence, do)


def _refused(inferred: Schema) -> Iterator[Finding]:
    for column in inferred.columns:
        if column.kind == "text":
            came, do = refusal(column)
            sentence = Message(quoted(column.name), ": ", came, "; it is left out here.")
            title = "A column is text, or holds values that are not numbers."
            facts = {"columns": [column.name]}
            yield Finding("problem", "text", title, sentence, capital(Message(do, ".")), facts)


def _left_out(inferred: Schema, given: Schema) -> Iterator[Finding]:
    """Columns without a value or with only one, except those that the user's schema leaves out."""
    asked = {column.name for column in given.columns if column.kind == "ignored"}
    constant = [column for column in inferred.columns if column.kind == "ignored" and column.name not in asked]
    if not constant:
        return
    one, names = len(constant) == 1, [column.name for column in constant]
    title = "A column is constant." if one else f"{len(constant)} columns are constant."
    shown = joined(
        "; ", [Message(quoted(column.name), ": ", column.note) for column in constant[:MOST_NAMED_IN_SENTENCE]]
    )
    others = names[MOST_NAMED_IN_SENTENCE:]
    more = f"; and {listed(others, MOST_NAMED_IN_SENTENCE)}" if others else ""
    do = "A fit leaves such a column out." if one else "A fit leaves such columns out."
    yield Finding("note", "constant", title, Message(shown, more, "."), do, {"columns": names})


def _nothing(kept: AnyArray, inferred: Schema) -> Iterator[Finding]:
    if not kept.any():
        sentence = f"None of {many(len(kept), 'row')} has a label in {quoted(inferred.target)}."
        yield Finding("problem", "target", "No row has a label.", sentence, "Predict another column.")
    if not inferred.used:
        sentence = f"None of {many(len(inferred.columns), 'column')} beside the target can be used."
        yield Finding("problem", "columns", "There is no column to learn from.", sentence, "Give columns that vary.")
