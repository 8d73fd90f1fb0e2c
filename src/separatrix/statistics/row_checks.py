"""Checks of the target and of rows: class sizes, repeated rows, rows of high leverage, separable classes.

A check is a function of ``CheckedRows`` that yields findings. Each of these checks sees all rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.core.base.arrays import AnyArray, Array, Integers, pieces, rows_per_piece
from separatrix.core.base.labels import encode, quoted
from separatrix.core.base.messages import (
    ByAudience,
    Message,
    Parameter,
    ReferenceLevel,
    Setting,
    many,
    over_rows,
    with_references,
)
from separatrix.core.objective_sums import Gram
from separatrix.core.proofs.naming import levels_by_category
from separatrix.core.proofs.overlap import MOST_EXACT_ROWS
from separatrix.core.proofs.separability import separability
from separatrix.core.proofs.verdicts import Doubtful, Inseparable, QuasiSeparable, Separable, Verdict
from separatrix.core.rows.block import Block, is_sparse
from separatrix.core.rows.memory_rows import memory_rows
from separatrix.statistics.column_checks import dependent
from separatrix.statistics.finding import (
    MOST_COLUMNS_FOR_GRAM_MATRIX,
    MOST_NAMED_IN_SENTENCE,
    CheckedRows,
    Finding,
    and_more,
    capital,
    numbered,
    share,
)
from separatrix.tables.cells import listed
from separatrix.tables.infer import most_levels

# --- The target: the number of rows of each class, and whether they are enough

# The smallest of two classes is reported below this share of the rows. For K classes the share is 2/K times this.
SHARE_OF_SMALL_CLASS = 0.1
# It is a warning below this share of the rows, or below this number of rows.
SHARE_OF_TINY_CLASS, ROWS_OF_TINY_CLASS = 0.01, 10
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
        severity = "warning" if serious else "note"
        yield Finding(severity, "balance", "The class sizes are unequal.", sentence, remedy, facts)
        return
    shown = ", ".join(
        f"{quoted(label)} ({many(int(count), 'row')})"
        for label, count in list(zip(labels, counts, strict=True))[:MOST_NAMED_IN_SENTENCE]
    )
    more = and_more(subject.n_classes)
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
        shown = ", ".join(f"{quoted(labels[k])} {subject.counts[k]:,}" for k in short[:MOST_NAMED_IN_SENTENCE])
        covariance = f"a covariance of {subject.columns(d)}"
        sentence = f"Rows by class: {shown}{and_more(len(short))}. These are too few to estimate {covariance}."
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


# --- Equal rows, with the same label or with different ones

# The multipliers of SplitMix64's finalizer (Steele, Lea and Flood 2014); its shifts are in ``_mixed``.
_FIRST_MULTIPLIER, _SECOND_MULTIPLIER = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
# From this share of repeated rows on, it is a warning: many held-out rows would then be copies of training rows.
SHARE_OF_REPEATED_ROWS_TO_WARN = 0.2


def repeated(subject: CheckedRows) -> Iterator[Finding]:
    """Rows that repeat another; if their labels differ, the highest accuracy that is possible."""
    kept = np.setdiff1d(np.arange(subject.n_columns), list(subject.counting))
    if len(kept) == 0:
        return
    groups = equal_rows(subject.X[:, kept] if subject.counting else subject.X)
    yield _copies(subject, groups)
    if groups and subject.codes is not None:
        yield from _conflicting(subject, groups)


def _aside(subject: CheckedRows) -> str:
    """The columns that the comparison of rows ignores, in words."""
    numbers = [subject.names[j] for j in subject.counting]
    parts = [f"row numbers ({listed(numbers)})"] if numbers else []
    parts += [f"text ({listed(subject.unread)})"] if subject.unread else []
    return f", ignoring {' and '.join(parts)}" if parts else ""


def _copies(subject: CheckedRows, groups: list[Integers]) -> Finding:
    n, aside = subject.n_rows, _aside(subject)
    if not groups:
        return Finding("ok", "duplicates", "No row repeats another.", f"{n:,} rows are all different{aside}.")
    extra = int(sum(len(group) - 1 for group in groups))
    first = numbered(subject.numbers(groups[0]))
    repeat = "repeats" if extra == 1 else "repeat"
    sentence = (
        f"{many(extra, 'row')} of {n:,} ({share(extra, n)}) {repeat} an earlier one{aside}; {first} are the same."
    )
    remedy = "If they are copies, remove them: copies among held-out rows make a model look better than it is."
    facts: dict[str, Any] = {"repeated_rows": extra, "groups": len(groups), "rows": subject.numbers(groups[0])}
    severity = "warning" if extra >= SHARE_OF_REPEATED_ROWS_TO_WARN * n else "note"
    title = "A row occurs twice." if extra == 1 else "Rows occur more than once."
    return Finding(severity, "duplicates", title, sentence, remedy, facts)


def _conflicting(subject: CheckedRows, groups: list[Integers]) -> Iterator[Finding]:
    codes, n, aside = subject.known_codes, subject.n_rows, _aside(subject)
    torn = [group for group in groups if np.any(codes[group] != codes[group[0]])]
    if not torn:
        sentence = f"{many(len(groups), 'set')} of equal rows{aside}."
        yield Finding("ok", "conflicts", "Equal rows have equal labels.", sentence)
        return
    lost = sum(len(group) - int(np.bincount(codes[group]).max()) for group in torn)
    rows = sum(len(group) for group in torn)
    shown = "; ".join(numbered(subject.numbers(group), 4) for group in torn[:3])
    without = f"without {listed(subject.ignored)} no classifier" if aside else "no classifier on these columns"
    most = f"{without} can be right for more than {share(n - lost, n)} of the rows"
    equal = f"are equal{aside}, but labelled differently" if aside else "are equal but labelled differently"
    sentence = f"{many(rows, 'row')} in {many(len(torn), 'set')} {equal} ({shown}): {most}."
    remedy = "Correct the labels, or add a column that distinguishes such rows."
    facts = {
        "rows": [subject.numbers(group) for group in torn[:100]],
        "sets": len(torn),
        "best_accuracy": (n - lost) / n,
        "ignored_columns": subject.ignored,
    }
    yield Finding("warning", "conflicts", "Equal rows have different labels.", sentence, remedy, facts)


def equal_rows(X: Any) -> list[Integers]:
    """Groups of equal rows, as row indices, ordered by their first rows.

    Rows with equal hashes are compared entry by entry.

    >>> [group.tolist() for group in equal_rows(np.array([[1.0], [2.0], [1.0], [-0.0], [0.0]]))]
    [[0, 2], [3, 4]]
    """
    bits = hashes(X)
    order = np.argsort(bits, kind="stable")
    edges = np.flatnonzero(np.diff(bits[order]) != 0) + 1
    starts, stops = np.append(0, edges), np.append(edges, len(bits))
    some = np.flatnonzero(stops - starts > 1)
    groups = [order[start:stop] for start, stop in zip(starts[some].tolist(), stops[some].tolist(), strict=True)]
    verified = (group[_equal_to_first(X, group)] for group in groups)
    return sorted((group for group in verified if len(group) > 1), key=lambda group: int(group[0]))


def _equal_to_first(X: Any, group: Integers) -> AnyArray:
    """Which rows of a group are equal to its first, entry by entry."""
    part = X[group]
    if is_sparse(part):
        part = part[:, np.unique(part.indices)].toarray()
    return np.asarray(np.all(part == part[0], axis=1))


def hashes(X: Any) -> AnyArray:
    """A 64-bit hash of each row, (n,): equal rows have equal hashes, dense or CSR.

    It is Σ_j a_j h(x_j) mod 2⁶⁴ with odd a_j, where h mixes the bits of a float and keeps zero zero, so that only the
    stored entries of CSR rows are needed.

    >>> from scipy.sparse import csr_array
    >>> X = np.array([[0.0, 1.5], [2.0, 0.0]])
    >>> bool(np.all(hashes(X) == hashes(csr_array(X))))
    True
    """
    n, d = X.shape
    odd = np.random.default_rng(0).integers(0, 1 << 63, d, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    parts = memory_rows(X, np.zeros(n)).fold(_RowHashes(odd))
    out = np.empty(n, dtype=np.uint64)
    for start, bits in parts:
        out[start : start + len(bits)] = bits
    return out


@dataclass(frozen=True)
class _RowHashes:
    """The partial that collects (first row, hashes) of every block."""

    odd: AnyArray

    def zero(self) -> list[tuple[int, AnyArray]]:
        return []

    def add(self, total: list[tuple[int, AnyArray]], block: Block) -> list[tuple[int, AnyArray]]:
        X: Any = block.X
        if is_sparse(X):
            mixed = np.append(_mixed(X.data) * self.odd[X.indices], np.uint64(0))
            bits = np.add.reduceat(mixed, X.indptr[:-1])
            bits[np.diff(X.indptr) == 0] = 0
        else:
            bits = (_mixed(X) * self.odd).sum(axis=1, dtype=np.uint64)
        return [*total, (block.start, bits)]

    def merge(self, a: list[tuple[int, AnyArray]], b: list[tuple[int, AnyArray]]) -> list[tuple[int, AnyArray]]:
        return [*a, *b]


def _mixed(values: AnyArray) -> AnyArray:
    """The mixed bits of floats. −0 counts as 0, and zero stays zero."""
    bits = np.ascontiguousarray(values + 0.0).view(np.uint64)
    bits = (bits ^ (bits >> np.uint64(30))) * _FIRST_MULTIPLIER
    bits = (bits ^ (bits >> np.uint64(27))) * _SECOND_MULTIPLIER
    return np.asarray(bits ^ (bits >> np.uint64(31)))


# --- Rows of high leverage

# Rows with at least this leverage are reported.
HIGH_LEVERAGE = 0.5
# With fewer rows per parameter than this, a leverage of ½ is nothing unusual, and the check is skipped.
FEWEST_ROWS_PER_PARAMETER = 4
# Directions with a smaller share of the largest variance than this are rounding errors.
ROUNDING_SHARE_OF_VARIANCE = 1e-12
# Sparse rows are made dense in batches of at most this many entries.
DENSE_BATCH_ENTRIES = 1 << 22


def leverage(subject: CheckedRows) -> Iterator[Finding]:
    """Rows with a leverage h_i = x̄_iᵀ (X̄ᵀX̄)⁻¹ x̄_i of ½ or more, and the column in which each is most extreme.

    In least squares, h_i is the derivative of row i's fitted value with respect to its own target. It lies between 1/n
    and 1, with mean rank/n. From ½ on, a row determines its fitted value more than all other rows together (Huber,
    Robust Statistics, 1981). The check takes two passes over the rows.
    """
    p = len(subject.varying) + 1
    if p > MOST_COLUMNS_FOR_GRAM_MATRIX or subject.n_rows < FEWEST_ROWS_PER_PARAMETER * p:
        return
    rows = subject.standard
    values, V = np.linalg.eigh(rows.fold(Gram(rows.n_features + 1)))
    kept = values > ROUNDING_SHARE_OF_VARIANCE * values[-1]
    high = rows.fold(_Leverages(V[:, kept] / np.sqrt(values[kept])))
    h, row, column = high[:, np.argsort(-high[0], kind="stable")]
    facts = {"rows": subject.numbers(row), "leverage": h.tolist()}
    if len(h) == 0:
        sentence = f"No row has a leverage of {HIGH_LEVERAGE} or more; the mean is {kept.sum() / subject.n_rows:.2g}."
        yield Finding("ok", "leverage", "No row dominates.", sentence, "", facts)
        return
    few = slice(MOST_NAMED_IN_SENTENCE)
    places = zip(row[few].astype(np.int64).tolist(), column[few].astype(np.int64).tolist(), strict=True)
    shown = [
        f"row {number} ({leverage:.2f}, {_extreme(subject, i, j)})"
        for number, leverage, (i, j) in zip(subject.numbers(row[few]), h[few], places, strict=True)
    ]
    title = "A row dominates." if len(h) == 1 else f"{len(h):,} rows dominate."
    sentence = (
        f"From a leverage of {HIGH_LEVERAGE} on, a row determines its fitted value more than all other rows together: "
        f"{', '.join(shown)}{and_more(len(h), 'row')}."
    )
    remedy = (
        "Check whether the value is right. A logarithm may make it less extreme, and rare categories can be merged."
    )
    yield Finding("warning", "leverage", title, sentence, remedy, facts)


def _extreme(subject: CheckedRows, i: int, j: int) -> str:
    """In which column row i is extreme, given column j of X; for a category, its level of that row."""
    of = subject.names[j].partition("=")[0]
    columns = levels_by_category(subject.names).get(of, np.zeros(0, dtype=np.int64))
    if j not in columns or of not in subject.references:
        return f"extreme in {quoted(subject.names[j])}"
    own = [k for k in columns.tolist() if subject.column(k, np.array([i]))[0] == 1]
    level = subject.names[own[0]].partition("=")[2] if own else subject.references[of]
    return f"with the rare level {quoted(level)} of {quoted(of)}"


@dataclass(frozen=True)
class _Leverages:
    """The partial that finds rows of high leverage: (leverage, row, column that contributes most) for each, (3, rows).

    ``A`` (d + 1, r) is such that X̄ A has orthonormal columns, so (X̄ᵀX̄)⁻¹ = A Aᵀ = S. A column's contribution is its
    partial leverage (S x̄_i)_j² / S_jj: the leverage that the row loses without the column.
    """

    A: Array

    @property
    def _diagonal(self) -> Array:
        """S_jj, (d + 1,); infinite for a constant column, which contributes nothing."""
        squares = np.einsum("ij,ij->i", self.A, self.A)
        return np.where(squares > 0, squares, np.inf)

    def zero(self) -> Array:
        return np.empty((3, 0))

    def add(self, total: Array, block: Block) -> Array:
        size = rows_per_piece(DENSE_BATCH_ENTRIES, len(self.A))  # A block of CSR rows may have many rows.
        for rows in pieces(block.n_rows, size):
            part = block.take(rows)
            X = part.homogeneous()
            T = X @ self.A
            h = np.einsum("ij,ij->i", T, T)
            high = np.flatnonzero(h >= HIGH_LEVERAGE)
            far = np.argmax((T[high] @ self.A.T)[:, 1:] ** 2 / self._diagonal[1:], axis=1) if len(high) else high
            total = self.merge(total, np.array([h[high], block.start + rows.start + high, far]))
        return total

    def merge(self, a: Array, b: Array) -> Array:
        return np.concatenate([a, b], axis=1)


# --- Whether the classes are linearly separable

_NO_OPTIMUM = Message(
    "Without a penalty the weights grow without bound: fit with a penalty (",
    Setting("C", 1, "auto"),
    ") or with ",
    Setting("bias_reduction", "firth"),
    ".",
)
# The severity, the title and the advice for each verdict.
_BY_VERDICT: dict[type, tuple[str, str, str]] = {
    Separable: ("warning", "The classes are linearly separable.", _NO_OPTIMUM),
    QuasiSeparable: ("warning", "The classes are quasi-completely separated.", _NO_OPTIMUM),
    Inseparable: ("ok", "The classes overlap.", ""),
}


def separation(subject: CheckedRows) -> Iterator[Finding]:
    """The verdict of ``separability``, verified without a solver."""
    width = (len(subject.varying) + 1) * (subject.n_classes - 1)
    if width > MOST_EXACT_ROWS:
        whose = f"{subject.columns(len(subject.varying))} and {many(subject.n_classes, 'class')}"
        sentence = f"This is checked for up to {MOST_EXACT_ROWS} weights; {whose} have {width:,}."
        ask = ByAudience(
            "Call separatrix.separability(X, y), which may take long.",
            shell="Leave some columns out with --drop to have it checked.",
        )
        yield Finding("note", "separation", "Separability was not checked.", sentence, Message(ask))
        return
    y = subject.classes[subject.known_codes]
    X, verdict, aside = _tested(subject, y)
    severity, title, remedy = _BY_VERDICT.get(type(verdict), ("note", "Separability could not be decided.", ""))
    proof = with_references(over_rows(verdict.explain(), subject.rows), subject.references)
    if isinstance(verdict, Inseparable):
        # The proof names rows and weights, which few readers need, so it is only among the facts.
        told = "No linear boundary has every row on the side of its class, so maximum likelihood has an optimum."
    else:
        told = Message(capital(proof), ".")
    sentence = Message(told, aside)
    holds = verdict.verify(X, y)
    if type(verdict) in _BY_VERDICT:
        sentence += " Verified on all rows without a solver." if holds else " The proof did not verify."
        severity = severity if holds else "warning"
    if isinstance(verdict, QuasiSeparable) and any(isinstance(one, ReferenceLevel) for one in sentence.within()):
        sentence += _rows_of_level(subject, verdict)
    facts = {"verdict": type(verdict).__name__, "verified": holds, **_evidence(subject, verdict, proof)}
    yield Finding(severity, "separation", title, sentence, remedy, facts)


def _evidence(subject: CheckedRows, verdict: Verdict, proof: str) -> dict[str, Any]:
    """The facts behind a verdict: the rows that prove it, and the columns that cause a separation."""
    facts: dict[str, Any] = {}
    if isinstance(verdict, Inseparable):
        facts["proof"] = str(proof)
    if isinstance(verdict, Inseparable | QuasiSeparable):
        facts["rows"] = subject.numbers(verdict.rows)
    if isinstance(verdict, QuasiSeparable):
        facts["columns"] = [verdict.about.names[j] for columns in verdict.causes for j in columns]
    return facts


def _rows_of_level(subject: CheckedRows, verdict: QuasiSeparable) -> str:
    """A sentence with the rows of the reference level that separates classes: those off the hyperplane, if known."""
    touching = np.unique(verdict.touching) if subject.n_classes == 2 else np.zeros(0)
    off = np.setdiff1d(np.arange(subject.n_rows), touching)
    if len(off) == subject.n_rows or verdict.further:
        return ""
    return f" The level is in {numbered(subject.numbers(off))}."


def _tested(subject: CheckedRows, y: AnyArray) -> tuple[Any, Verdict, str]:
    """The rows that were tested, the verdict, and a remark on columns that were left out.

    A column that is a combination of others up to rounding can leave the verdict in doubt. Then the test is repeated
    without such columns.
    """
    verdict = separability(subject.X, y, names=subject.names)
    extra = dependent(subject) if isinstance(verdict, Doubtful) else []
    if not extra:
        return subject.X, verdict, ""
    kept = np.setdiff1d(np.arange(subject.n_columns), extra)
    X = subject.X[:, kept]
    left_out = listed([subject.names[j] for j in extra], MOST_NAMED_IN_SENTENCE)
    follow = "follows" if len(extra) == 1 else "follow"
    aside = f" This was checked without {left_out}, which {follow} from other columns."
    return X, separability(X, y, names=[subject.names[j] for j in kept]), aside
