r"""Check for equal rows, with the same label or with different ones.

Rows are hashed to 64 bits, Σ_j a_j h(x_j) mod 2⁶⁴ with odd a_j, where h mixes the bits of a float and keeps zero zero,
so that only the stored entries of CSR rows are needed. Rows with equal hashes are then compared entry by entry.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray, Integers
from separatrix.base.number_text import many
from separatrix.checks.checked_rows import CheckedRows
from separatrix.checks.finding import Finding, numbered, share
from separatrix.rows import Block, memory_rows
from separatrix.rows.csr import is_sparse
from separatrix.table.cells import listed

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
        yield Finding(
            "ok", "conflicts", "Equal rows have equal labels.", f"{many(len(groups), 'set')} of equal rows{aside}."
        )
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

    >>> from scipy.sparse import csr_array
    >>> X = np.array([[0.0, 1.5], [2.0, 0.0]])
    >>> bool(np.all(hashes(X) == hashes(csr_array(X))))
    True
    """
    n, d = X.shape
    odd = np.random.default_rng(0).integers(0, 1 << 63, d, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    parts = memory_rows(X, np.zeros(n)).fold(_Hashes(odd))
    out = np.empty(n, dtype=np.uint64)
    for start, bits in parts:
        out[start : start + len(bits)] = bits
    return out


@dataclass(frozen=True)
class _Hashes:
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
