"""Check for columns that alone separate the classes, exactly or nearly. They may leak the outcome.

The area under the ROC curve of a column is P(x of the class > x of another row), with ties counted half. It is 1 or 0
if a threshold separates the class. It is computed on a sample first, then on all rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.base.labels import quoted
from separatrix.base.number_text import many, number_text
from separatrix.checks.categories import ask, decisive, dropping, told_decisive
from separatrix.checks.checked_rows import CheckedRows
from separatrix.checks.finding import MOST_NAMED_IN_SENTENCE, Finding

# A column is reported if its area is at least this.
AREA_TO_REPORT = 0.99
# A column whose area in the sample is at least this is computed again on all rows, for at most this many columns.
AREA_TO_RECOMPUTE, MOST_COLUMNS_RECOMPUTED = 0.97, 100


def alone(subject: CheckedRows) -> Iterator[Finding]:
    """Categories that determine the class, and columns that alone separate all classes or one class from the others."""
    yield from told_decisive(subject)
    decided = {j for category in decisive(subject) for j in category.columns}
    low, high, *_ = subject.by_class
    separating = [j for j in subject.varying.tolist() if j not in decided and _disjoint(low[:, j], high[:, j])]
    if separating:
        yield _separating(subject, separating)
    nearly = _near(subject, {*separating, *decided})
    if nearly:
        yield _nearly_separating(subject, nearly)
    if not separating and not nearly and not decided:
        sentence = f"No column alone has an area under the ROC curve of {AREA_TO_REPORT} or more."
        yield Finding("ok", "leakage", "No column tells the class by itself.", sentence)


def _separating(subject: CheckedRows, columns: list[int]) -> Finding:
    one, names = len(columns) == 1, [subject.names[j] for j in columns]
    which = "the classes" if subject.n_classes == 2 else f"all {subject.n_classes} classes"
    each = f"{len(columns)} columns each separate the classes alone."
    title = "A column alone separates the classes." if one else each
    facts, tabled = {"columns": names}, subject.tabled(columns)
    if one:
        sentence = f"{quoted(names[0])} separates {which} without a mistake: {_cut(subject, columns[0])}."
    else:
        shown = [f"in {quoted(subject.names[j])} {_cut(subject, j)}" for j in columns[:MOST_NAMED_IN_SENTENCE]]
        n_more = len(columns) - MOST_NAMED_IN_SENTENCE
        more = f"; and {many(n_more, 'more column')}" if n_more > 0 else ""
        sentence = f"Each separates {which} without a mistake: {'; '.join(shown)}{more}."
    return Finding("problem", "leakage", title, sentence, ask(tabled), facts, dropping(tabled))


def _nearly_separating(subject: CheckedRows, nearly: dict[int, _Near]) -> Finding:
    shown = [
        f"{quoted(subject.names[j])} ({_area(subject, *near)})"
        for j, near in list(nearly.items())[:MOST_NAMED_IN_SENTENCE]
    ]
    n_more = len(nearly) - MOST_NAMED_IN_SENTENCE
    more = f" and {many(n_more, 'more column')}" if n_more > 0 else ""
    what = "the class" if subject.n_classes == 2 else "one class from the others"
    one = len(nearly) == 1
    title = f"A column nearly tells {what}." if one else f"{len(nearly)} columns nearly tell {what}."
    facts = {"columns": {subject.names[j]: near.area for j, near in nearly.items()}}
    sentence = f"The area under the ROC curve of a single column is close to 1: {', '.join(shown)}{more}."
    return Finding("warning", "leakage", title, sentence, ask(subject.tabled(nearly)), facts)


class _Near(NamedTuple):
    """An area under the ROC curve, and its class."""

    area: float
    k: int


def areas(x: Array, codes: Integers, K: int) -> Array:
    """The area under the ROC curve of x for each class against the rest, (K,), from rank sums.

    >>> areas(np.array([1.0, 2.0, 3.0]), np.array([0, 0, 1]), 2).tolist()
    [0.0, 1.0]
    """
    from scipy.stats import rankdata

    count = np.bincount(codes, minlength=K).astype(np.float64)
    total = np.bincount(codes, rankdata(x), K)
    return np.asarray((total - count * (count + 1) / 2) / (count * (len(codes) - count)))


def _near(subject: CheckedRows, leave_out: set[int]) -> dict[int, _Near]:
    """Columns whose area is near 1 or 0 for some class, closest first."""
    whole = len(subject.sampled) == subject.n_rows
    proposed = _in_sample(subject, [j for j in _candidates(subject).tolist() if j not in leave_out])
    least = AREA_TO_REPORT if whole else AREA_TO_RECOMPUTE
    best = sorted((j for j in proposed if proposed[j].area >= least), key=lambda j: -proposed[j].area)
    best = best[:MOST_COLUMNS_RECOMPUTED]
    if not whole:
        proposed = {j: _best(areas(subject.column(j), subject.known_codes, subject.n_classes)) for j in best}
    return {j: proposed[j] for j in best if proposed[j].area >= AREA_TO_REPORT}


def _in_sample(subject: CheckedRows, columns: list[int]) -> dict[int, _Near]:
    """The area of each of these columns in the sample of rows."""
    some = subject.sampled
    sample, codes = subject.X[some], subject.known_codes[some]
    found = {}
    for j in columns:
        x = sample[:, [j]].toarray()[:, 0] if subject.is_sparse else sample[:, j]
        found[j] = _best(areas(x, codes, subject.n_classes))
    return found


def _candidates(subject: CheckedRows) -> Integers:
    """Columns that can reach the area. Ties count half, so zeros must be rare in the class or in the other rows."""
    nonzero, counts = subject.by_class.nonzero, subject.counts[:, None]
    zeros = 1.0 - nonzero / counts
    others = 1.0 - (nonzero.sum(axis=0) - nonzero) / (subject.n_rows - counts)
    return np.intersect1d(
        subject.varying, np.flatnonzero(np.min(zeros * others, axis=0) <= 2 * (1 - AREA_TO_RECOMPUTE))
    )


def _best(by_class: Array) -> _Near:
    either = np.maximum(by_class, 1.0 - by_class)
    k = len(by_class) - 1 if len(by_class) == 2 else int(np.argmax(either))
    return _Near(float(either[k]), k)


def _area(subject: CheckedRows, area: float, k: int) -> str:
    number = "1" if area == 1 else number_text(min(area, 0.9999))
    return number if subject.n_classes == 2 else f"{number} for {quoted(subject.labels[k])}"


def _disjoint(low: Array, high: Array) -> bool:
    """Whether the ranges of the classes do not overlap."""
    order = np.argsort(low, kind="stable")
    return bool(np.all(high[order][:-1] < low[order][1:]))


def _cut(subject: CheckedRows, j: int) -> str:
    """Where a column separates its lowest class from the others."""
    low, high = subject.by_class.low[:, j], subject.by_class.high[:, j]
    first, second = np.argsort(low, kind="stable")[:2]
    labels: list[Any] = subject.labels
    end, begin = (number_text(float(value), 6) for value in (high[first], low[second]))
    return f"{quoted(labels[first])} ends at {end}, {quoted(labels[second])} begins at {begin}"
