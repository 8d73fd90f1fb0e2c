"""Checks for a column that knows the answer: one that alone separates the classes, exactly or nearly.

Of a column the area under the ROC curve is P(x of the class > x of another row), ties counting half: 1 or 0 where a
cut separates the class. It is asked of a sample first, then of all rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.base.labels import quoted
from separatrix.checks.categories import ASK, decisive, told_decisive
from separatrix.checks.checked_rows import CheckedRows
from separatrix.checks.finding import NAMED, Finding, many
from separatrix.table.cells import listed

# Areas from here on are told; in the sample, from the second number on they are looked at again.
NEARLY, LOOKED_AT_AGAIN = 0.99, 0.97
# Columns looked at again at most.
MOST_AGAIN = 100


def alone(subject: CheckedRows) -> Iterator[Finding]:
    """Categories that decide all classes, and columns that separate them, or one from the others, by themselves."""
    yield from told_decisive(subject)
    decided = {j for one in decisive(subject) for j in one.columns}
    low, high, *_ = subject.by_class
    whole = [j for j in subject.varying.tolist() if j not in decided and _disjoint(low[:, j], high[:, j])]
    if whole:
        one = len(whole) == 1
        names = [subject.names[j] for j in whole]
        which = "the classes" if subject.n_classes == 2 else f"all {subject.n_classes} classes"
        title = (
            "A column alone separates the classes." if one else f"{len(whole)} columns each separate the classes alone."
        )
        how = _cut(subject, whole[0])
        sentence = f"{listed(names, NAMED)} {'separates' if one else 'each separate'} {which} without a mistake: {how}."
        yield Finding("problem", "leakage", title, sentence, ASK, {"columns": names})
    nearly = _near(subject, {*whole, *decided})
    if nearly:
        shown = [f"{quoted(subject.names[j])} ({_area(subject, *found)})" for j, found in list(nearly.items())[:NAMED]]
        more = f" and {many(len(nearly) - NAMED, 'more column')}" if len(nearly) > NAMED else ""
        what = "the class" if subject.n_classes == 2 else "one class from the others"
        one = len(nearly) == 1
        title = f"A column nearly tells {what}." if one else f"{len(nearly)} columns nearly tell {what}."
        facts = {"columns": {subject.names[j]: found.area for j, found in nearly.items()}}
        sentence = f"By the area under the ROC curve of one column alone: {', '.join(shown)}{more}."
        yield Finding("warning", "leakage", title, sentence, ASK, facts)
    if not whole and not nearly and not decided:
        sentence = f"No column alone has an area under the ROC curve of {NEARLY} or more."
        yield Finding("ok", "leakage", "No column tells the class by itself.", sentence)


class _Near(NamedTuple):
    """An area, and the class that it is of."""

    area: float
    k: int


def areas(x: Array, codes: Integers, K: int) -> Array:
    """The area under the ROC curve of x for each class against the rest, (K,), from the sums of ranks.

    >>> areas(np.array([1.0, 2.0, 3.0]), np.array([0, 0, 1]), 2).tolist()
    [0.0, 1.0]
    """
    from scipy.stats import rankdata

    count = np.bincount(codes, minlength=K).astype(np.float64)
    total = np.bincount(codes, rankdata(x), K)
    return np.asarray((total - count * (count + 1) / 2) / (count * (len(codes) - count)))


def _near(subject: CheckedRows, leave_out: set[int]) -> dict[int, _Near]:
    """Columns whose area is near 1 or 0 for some class, the nearest first."""
    some, codes, K = subject.sampled, subject.known_codes, subject.n_classes
    sample = subject.X[some]
    proposed: dict[int, _Near] = {}
    for j in _candidates(subject).tolist():
        if j not in leave_out:
            x = sample[:, [j]].toarray()[:, 0] if subject.is_sparse else sample[:, j]
            proposed[j] = _best(areas(x, codes[some], K))
    least = LOOKED_AT_AGAIN if len(some) < subject.n_rows else NEARLY
    best = sorted((j for j in proposed if proposed[j].area >= least), key=lambda j: -proposed[j].area)[:MOST_AGAIN]
    if len(some) < subject.n_rows:
        proposed = {j: _best(areas(subject.column(j), codes, K)) for j in best}
    return {j: proposed[j] for j in best if proposed[j].area >= NEARLY}


def _candidates(subject: CheckedRows) -> Integers:
    """Columns that can come near: ties count half, so zeros of the one side and of the other must rarely meet."""
    nonzero, counts = subject.by_class.nonzero, subject.counts[:, None]
    zeros = 1.0 - nonzero / counts
    others = 1.0 - (nonzero.sum(axis=0) - nonzero) / (subject.n_rows - counts)
    return np.intersect1d(subject.varying, np.flatnonzero(np.min(zeros * others, axis=0) <= 2 * (1 - LOOKED_AT_AGAIN)))


def _best(found: Array) -> _Near:
    either = np.maximum(found, 1.0 - found)
    k = len(found) - 1 if len(found) == 2 else int(np.argmax(either))
    return _Near(float(either[k]), k)


def _area(subject: CheckedRows, area: float, k: int) -> str:
    number = "1" if area == 1 else f"{min(area, 0.9999):.4g}"
    return number if subject.n_classes == 2 else f"{number} for {quoted(subject.labels[k])}"


def _disjoint(low: Array, high: Array) -> bool:
    """Whether the classes' ranges do not meet."""
    order = np.argsort(low, kind="stable")
    return bool(np.all(high[order][:-1] < low[order][1:]))


def _cut(subject: CheckedRows, j: int) -> str:
    """Where a column separates its lowest class from the others."""
    low, high = subject.by_class.low[:, j], subject.by_class.high[:, j]
    first, second = np.argsort(low, kind="stable")[:2]
    labels: list[Any] = subject.labels
    return f"{quoted(labels[first])} ends at {high[first]:g}, {quoted(labels[second])} begins at {low[second]:g}"
