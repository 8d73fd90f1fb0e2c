"""The checks by name, and how they are run: on arrays by ``check``, on tables by ``check_table``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray, Integers
from separatrix.base.concurrency import one_blas_thread
from separatrix.base.errors import ParameterError
from separatrix.base.labels import as_label_array, encode
from separatrix.base.watching import part
from separatrix.certificates.certificate import as_matrix
from separatrix.checks import (
    categories,
    class_sizes,
    collinear,
    leakage,
    leverage,
    repeated,
    separation,
    single_columns,
)
from separatrix.checks.checked_rows import CheckedRows
from separatrix.checks.finding import Checks, Finding
from separatrix.proofs.naming import column_names
from separatrix.proofs.verdicts import as_rows
from separatrix.rows.block import is_sparse

Check = Callable[[CheckedRows], Iterator[Finding]]


@dataclass(frozen=True)
class Known:
    """A check, and whether it needs classes."""

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
_FILLED = "Here they were filled with their columns' means."


def check(
    X: Any,
    y: Any,
    names: Sequence[str] | None = None,
    *,
    only: Sequence[str] | None = None,
    rows: Sequence[int] | Integers | None = None,
) -> Checks:
    """What a careful analyst would look for in rows X (n, d), dense or sparse, with labels y, before fitting.

    Findings come worst first, each with its severity ("problem", "warning", "note", "ok"), numbers and what to do.
    ``names`` of the columns, those of a frame by default; one called ``of=level`` is a category. ``only``: some of
    ``separatrix.checks.CHECKS``. ``rows``: what rows are called, by default their places, counted from 0. A NaN does
    not stop it: it is told, and the column's mean stands for it. ``for_report()`` of the answer is what
    ``separatrix.report(checks=…)`` takes.

    >>> found = check([[0.0, 7.0], [1.0, 3.0], [4.0, 4.0], [5.0, 6.0]], [0, 0, 1, 1], names=["a", "b"])
    >>> print(found[0])
    problem: A column alone separates the classes. 'a' separates the classes without a mistake: 0 ends at 1, 1 begins at
    4. Ask whether it is known before the answer is; if not, leave it out.
    >>> found.worst, found.of("duplicates")[0].severity
    ('problem', 'ok')
    """
    own = column_names(X, names)
    table = as_rows(as_matrix(X))
    given = as_label_array(y)
    if table.ndim != 2 or table.shape[0] != len(given) or table.shape[1] == 0:
        raise ParameterError(
            "X", f"its shape is {table.shape} for {len(given)} labels", "give columns, and a row a label"
        )
    numbers = np.arange(len(given)) if rows is None else np.asarray(rows)
    if numbers.shape != given.shape:
        raise ParameterError("rows", f"it has {numbers.size} for {len(given)} labels", "give a number for each row")
    called = own or tuple(f"x{j}" for j in range(table.shape[1]))
    table, missing = _filled(table, called)
    first = [single_columns.absent(missing, len(given), _FILLED)]
    return checked(table, given, called, numbers, first, only=only)


def checked(
    X: Any,
    y: AnyArray,
    names: Sequence[str],
    rows: Integers,
    first: Sequence[Finding] = (),
    references: Mapping[str, str] | None = None,
    only: Sequence[str] | None = None,
    n_columns: int | None = None,
) -> Checks:
    """The findings of every check that applies to finite rows, after those that are there already.

    ``rows``: their numbers. ``n_columns``: of the table, where categories have more in X. Where labels make no classes,
    only checks that need none are run.
    """
    for name in only or ():
        if name not in CHECKS:
            raise ParameterError("only", f"got {name!r}", f"name some of {', '.join(CHECKS)}")
    fault = class_sizes.unusable(y)
    classes, codes = encode(y)
    own = codes if fault is None else None
    own_columns = len(names) if n_columns is None else n_columns
    subject = CheckedRows(X, own, classes, tuple(names), rows, references or {}, encoded=own_columns != len(names))
    found = [*first, *([] if fault is None else [fault])]
    with one_blas_thread:
        for k, (name, known) in enumerate(CHECKS.items(), 1):
            if (only is None or name in only) and (subject.codes is not None or not known.needs_classes):
                with part("check", k, len(CHECKS), name):
                    found.extend(known.run(subject))
    counts = {} if subject.codes is None else dict(zip(subject.labels, subject.counts.tolist(), strict=True))
    return Checks(tuple(found), subject.n_rows, own_columns, counts, n_encoded=subject.n_columns)


def _filled(X: Any, names: tuple[str, ...]) -> tuple[Any, dict[str, int]]:
    """The rows with a column's mean in place of NaN and infinity, and how many there were by column."""
    data: AnyArray = X.data if is_sparse(X) else X
    if np.all(np.isfinite(data)):
        return X, {}
    X = X.copy()
    missing: dict[str, int] = {}
    for j in range(X.shape[1]) if not is_sparse(X) else np.unique(X.indices[~np.isfinite(X.data)]).tolist():
        place = np.flatnonzero(X.indices == j) if is_sparse(X) else slice(None)
        own = X.data[place] if is_sparse(X) else X[:, j]
        bad = ~np.isfinite(own)
        if bad.any():
            missing[names[j]] = int(bad.sum())
            own[bad] = own[~bad].sum() / max(1, X.shape[0] - missing[names[j]])
            if is_sparse(X):
                X.data[place] = own
    return X, missing
