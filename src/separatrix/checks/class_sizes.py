"""Checks of the target: the number of rows of each class, and whether they are enough."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray
from separatrix.base.labels import encode, quoted
from separatrix.base.messages import Message, Parameter, Setting
from separatrix.base.number_text import many
from separatrix.checks.checked_rows import CheckedRows
from separatrix.checks.finding import Finding, share
from separatrix.table.infer import most_levels

# The smallest of two classes is reported below this share of the rows. For K classes the share is 2/K times this.
SHARE_OF_SMALL_CLASS = 0.1
# It is a warning below this share of the rows, or below this number of rows.
SHARE_OF_TINY_CLASS, ROWS_OF_TINY_CLASS = 0.01, 10
# A sentence names at most this many classes, to stay readable.
MOST_NAMED_CLASSES = 6
_CUT = "Group the numbers into classes first, or predict another column."


def unusable(y: AnyArray) -> Finding | None:
    """The finding that labels are not classes: all the same, measurements, or too many. None if they are classes.

    >>> unusable(np.array([0.5, 1.5, 2.5])).title
    'The target looks like a measurement.'
    >>> unusable(np.array(["a", "b"])) is None
    True
    """
    classes, codes = encode(y)
    n = len(codes)
    if len(classes) == 1:
        sentence = f"Every row has the label {quoted(classes.tolist()[0])}."
        return Finding("problem", "target", "The target has one class only.", sentence, "Give rows of at least two.")
    if classes.dtype.kind == "f" and np.any(classes != np.round(classes)):
        example = classes[np.argmax(classes != np.round(classes))]
        sentence = f"It has {many(len(classes), 'different number')} with decimals, such as {example:g}, in {n:,} rows."
        return Finding("problem", "target", "The target looks like a measurement.", sentence, _CUT)
    if len(classes) > most_levels(n):
        sentence = f"It has {many(len(classes), 'different label')} in {n:,} rows."
        numeric = classes.dtype.kind in "iuf"
        title = "The target looks like a measurement." if numeric else "The target has too many classes."
        return Finding(
            "problem", "target", title, sentence, _CUT if numeric else "Group them, or predict another column."
        )
    return None


def balance(subject: CheckedRows) -> Iterator[Finding]:
    """The sizes of the classes, and the accuracy of always guessing the most frequent one."""
    counts, labels, n = subject.counts, subject.labels, subject.n_rows
    most, least = int(np.argmax(counts)), int(np.argmin(counts))
    guess = f"always guessing {quoted(labels[most])} is right for {share(int(counts[most]), n)} of the rows"
    facts: dict[str, Any] = {"majority": labels[most], "accuracy_of_guessing": float(counts[most] / n)}
    facts |= {"smallest": labels[least], "smallest_rows": int(counts[least])}
    small_share = 100 * SHARE_OF_SMALL_CLASS * 2 / subject.n_classes
    if 100 * counts[least] < small_share * n:
        serious = counts[least] < SHARE_OF_TINY_CLASS * n or counts[least] < ROWS_OF_TINY_CLASS
        rows = many(int(counts[least]), "row")
        sentence = f"{quoted(labels[least])} has {rows} of {n:,} ({share(int(counts[least]), n)}); {guess}."
        remedy = Message(
            "Compare accuracies with that share and look at the log loss; fit with ",
            Setting("class_weight", "balanced"),
            " if missing the small class costs more.",
        )
        yield Finding(
            "warning" if serious else "note", "balance", "The class sizes are unequal.", sentence, remedy, facts
        )
        return
    shown = ", ".join(
        f"{quoted(label)} ({many(int(count), 'row')})"
        for label, count in list(zip(labels, counts, strict=True))[:MOST_NAMED_CLASSES]
    )
    more = f" and {subject.n_classes - MOST_NAMED_CLASSES} more" if subject.n_classes > MOST_NAMED_CLASSES else ""
    title = f"Every class has at least {small_share:.3g} % of the rows."
    yield Finding("ok", "balance", title, f"{shown}{more}; {guess}.", "", facts)


def enough_rows(subject: CheckedRows) -> Iterator[Finding]:
    """Whether there are more rows than columns, in all and in each class."""
    n, d, labels = subject.n_rows, len(subject.varying), subject.labels
    short = np.flatnonzero(subject.counts <= d)
    facts = {"rows": n, "columns": d, "classes": [labels[k] for k in short]}
    if n <= d:
        size = f"{n:,} rows and {subject.columns(d)} that vary"
        sentence = f"There are {size}, so any labels could be separated."
        penalise = Message("Fit with a penalty (a small ", Parameter("C"), "), or give more rows.")
        yield Finding("warning", "rows", "There are no more rows than columns.", sentence, penalise, facts)
    elif len(short):
        shown = ", ".join(f"{quoted(labels[k])} {subject.counts[k]:,}" for k in short[:MOST_NAMED_CLASSES])
        more = f" and {len(short) - MOST_NAMED_CLASSES} more" if len(short) > MOST_NAMED_CLASSES else ""
        sentence = f"Rows by class: {shown}{more}. These are too few to estimate a covariance of {subject.columns(d)}."
        remedy = "Avoid quadratic discriminant analysis, and keep a penalty."
        title = (
            "A class has no more rows than columns." if len(short) == 1 else "Classes have no more rows than columns."
        )
        yield Finding("note", "rows", title, sentence, remedy, facts)
    else:
        sentence = (
            f"{n:,} rows for {subject.columns(d)}; the smallest class has {many(int(subject.counts.min()), 'row')}."
        )
        yield Finding("ok", "rows", "There are more rows than columns.", sentence, "", facts)
