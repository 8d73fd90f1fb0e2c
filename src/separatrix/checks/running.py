"""The registry of checks, and the checks of rows and labels that are given as arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray, Booleans, Integers
from separatrix.base.concurrency import one_blas_thread
from separatrix.base.errors import ParameterError
from separatrix.base.labels import as_label_array, encode
from separatrix.base.row_names import RowNames
from separatrix.base.watching import part
from separatrix.certificates.certificate import as_matrix
from separatrix.checks import (
    categories,
    class_sizes,
    collinear,
    leakage,
    leverage,
    missing_values,
    repeated,
    separation,
    single_columns,
)
from separatrix.checks.checked_rows import CheckedRows
from separatrix.checks.finding import Checks, Finding
from separatrix.proofs.asked_rows import as_rows
from separatrix.proofs.naming import column_names
from separatrix.rows.csr import is_sparse

Check = Callable[[CheckedRows], Iterator[Finding]]


@dataclass(frozen=True)
class Known:
    """A check, and whether it needs labels that are classes."""

    run: Check
    needs_classes: bool = True


# A new check is one function and one line here.
CHECKS: dict[str, Known] = {
    "leakage": Known(leakage.alone),
    "separation": Known(separation.separation),
    "categories": Known(categories.categories),
    "index": Known(single_columns.index, False),
    "collinear": Known(collinear.collinear, False),
    "leverage": Known(leverage.leverage, False),
    "duplicates": Known(repeated.repeated, False),
    "constant": Known(single_columns.constant, False),
    "scales": Known(single_columns.scales, False),
    "balance": Known(class_sizes.balance),
    "rows": Known(class_sizes.enough_rows),
}
_FILLED = "For these checks they were filled with the means of their columns."


def check_arrays(
    X: Any,
    y: Any,
    names: Sequence[str] | None,
    only: Sequence[str] | None,
    rows: Sequence[int] | Integers | None,
) -> Checks:
    """``check`` for rows X and labels y. Infinity and NaN are reported, and replaced by the mean of their column."""
    given_names = column_names(X, names)
    table = as_rows(as_matrix(X))
    labels = as_label_array(y)
    if table.ndim != 2 or table.shape[0] != len(labels) or table.shape[1] == 0:
        problem = f"its shape is {table.shape} for {len(labels)} labels"
        raise ParameterError("X", problem, "give at least one column, and one row per label")
    rows = getattr(X, "row_names", None) if rows is None else rows
    numbers = np.arange(len(labels)) if rows is None else rows if isinstance(rows, RowNames) else np.asarray(rows)
    if len(numbers) != len(labels):
        raise ParameterError("rows", f"it has {len(numbers)} for {len(labels)} labels", "give a number for each row")
    columns = given_names or tuple(f"x{j}" for j in range(table.shape[1]))
    table, missing = _filled(table, columns)
    first = [missing_values.absent(missing, len(labels), _FILLED)]
    return checked(table, labels, columns, numbers, first, only=only)


def checked(
    X: Any,
    y: AnyArray,
    names: Sequence[str],
    rows: Integers | RowNames,
    first: Sequence[Finding] = (),
    references: Mapping[str, str] | None = None,
    only: Sequence[str] | None = None,
    n_columns: int | None = None,
    ngrams: Booleans | None = None,
    sources: tuple[str, ...] = (),
    unread: tuple[str, ...] = (),
    constant: tuple[str, ...] = (),
) -> Checks:
    """Run every check that applies to finite rows, and put the findings after those in ``first``.

    ``rows`` are the rows' numbers. ``n_columns`` is the number of columns of the table, if X has more because of
    categories; ``ngrams`` (d,) marks its columns that are n-grams of a text, and ``sources`` (d,) names the table's
    column that each was made from. ``unread`` and ``constant`` are columns of the table that X lacks. If the labels
    are not classes, only checks that do not need classes are run.
    """
    _refuse_unknown(only or ())
    fault = class_sizes.unusable(y)
    classes, codes = encode(y)
    n_columns = len(names) if n_columns is None else n_columns
    usable_codes = codes if fault is None else None
    encoded = n_columns != len(names)
    lacking = (sources, unread, constant)
    subject = CheckedRows(X, usable_codes, classes, tuple(names), rows, references or {}, encoded, ngrams, *lacking)
    findings = [
        *first,
        *([] if fault is None else [fault]),
        *_leaving_a_column(subject, list(_findings(subject, only))),
    ]
    counts = {} if subject.codes is None else dict(zip(subject.labels, subject.counts.tolist(), strict=True))
    return Checks(tuple(findings), subject.n_rows, n_columns, counts, n_encoded=subject.n_columns)


def _refuse_unknown(names: Sequence[str]) -> None:
    for name in names:
        if name not in CHECKS:
            raise ParameterError("only", f"got {name!r}", f"name some of {', '.join(CHECKS)}")


def _findings(subject: CheckedRows, only: Sequence[str] | None) -> Iterator[Finding]:
    """The findings of all checks, or of those in ``only``, that can be run on the subject."""
    asked = {
        name: known
        for name, known in CHECKS.items()
        if (only is None or name in only) and (subject.codes is not None or not known.needs_classes)
    }
    with one_blas_thread:
        for k, (name, known) in enumerate(asked.items(), 1):
            with part("check", k, len(asked), name) if len(asked) > 1 else nullcontext():
                yield from known.run(subject)


def _leaving_a_column(subject: CheckedRows, findings: list[Finding]) -> list[Finding]:
    """The findings; without the settings that leave columns out, if together they would leave no column."""
    left_out = {
        name for one in findings for setting in one.solving if setting.name == "drop" for name in setting.values
    }
    if left_out.issuperset(subject.tabled(range(subject.n_columns))):
        return [replace(one, solving=tuple(s for s in one.solving if s.name != "drop")) for one in findings]
    return findings


def _filled(X: Any, names: tuple[str, ...]) -> tuple[Any, dict[str, int]]:
    """The rows with the column's mean in place of NaN and infinity, and the number of those by column."""
    data: AnyArray = X.data if is_sparse(X) else X
    if np.all(np.isfinite(data)):
        return X, {}
    X = X.copy()
    missing: dict[str, int] = {}
    for j in range(X.shape[1]) if not is_sparse(X) else np.unique(X.indices[~np.isfinite(X.data)]).tolist():
        place = np.flatnonzero(X.indices == j) if is_sparse(X) else slice(None)
        values = X.data[place] if is_sparse(X) else X[:, j]
        bad = ~np.isfinite(values)
        if bad.any():
            missing[names[j]] = int(bad.sum())
            values[bad] = values[~bad].sum() / max(1, X.shape[0] - missing[names[j]])
            if is_sparse(X):
                X.data[place] = values
    return X, missing
