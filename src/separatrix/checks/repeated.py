r"""Rows that are there more than once, with one label or with several.

Rows are told apart by 64 bits each, Σ_j a_j h(x_j) mod 2⁶⁴ with odd a_j, h a mixing of a float's bits that leaves zero
at zero (so that CSR rows need only what they hold); rows of equal bits are then compared entry by entry.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray, Integers
from separatrix.checks.checked_rows import CheckedRows
from separatrix.checks.finding import Finding, many, numbered, share
from separatrix.rows import Block, memory_rows
from separatrix.rows.block import is_sparse
from separatrix.table.cells import listed

# Multipliers and shifts of SplitMix64's last steps (Steele, Lea and Flood 2014).
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
# From this share of repeated rows on it is a warning: rows held out have then been seen.
MUCH = 0.2


def repeated(subject: CheckedRows) -> Iterator[Finding]:
    """Rows that repeat another; where labels differ, the accuracy that none can exceed."""
    n = subject.n_rows
    kept = np.setdiff1d(np.arange(subject.n_columns), list(subject.counting))
    if len(kept) == 0:
        return
    aside = f", row numbers ({listed([subject.names[j] for j in subject.counting])}) aside" if subject.counting else ""
    groups = equal_rows(subject.X[:, kept] if subject.counting else subject.X)
    extra = int(sum(len(group) - 1 for group in groups))
    if not groups:
        yield Finding("ok", "duplicates", "No row repeats another.", f"{n:,} rows are all different{aside}.")
        return
    first = numbered(subject.numbers(groups[0]))
    repeat = "repeats" if extra == 1 else "repeat"
    sentence = (
        f"{many(extra, 'row')} of {n:,} ({share(extra, n)}) {repeat} an earlier one{aside}; {first} are the same."
    )
    do = "If that is no chance, take them out: copies in the held-out part make a model look better than it is."
    facts: dict[str, Any] = {"repeated_rows": extra, "groups": len(groups), "rows": subject.numbers(groups[0])}
    severity = "warning" if extra >= MUCH * n else "note"
    title = "A row is there twice." if extra == 1 else "Rows are there more than once."
    yield Finding(severity, "duplicates", title, sentence, do, facts)
    if subject.codes is not None:
        yield from _conflicting(subject, groups)


def _conflicting(subject: CheckedRows, groups: list[Integers]) -> Iterator[Finding]:
    codes, n = subject.known_codes, subject.n_rows
    torn = [group for group in groups if np.any(codes[group] != codes[group[0]])]
    if not torn:
        yield Finding("ok", "conflicts", "Equal rows have equal labels.", f"{many(len(groups), 'set')} of equal rows.")
        return
    lost = sum(len(group) - int(np.bincount(codes[group]).max()) for group in torn)
    rows = sum(len(group) for group in torn)
    shown = "; ".join(numbered(subject.numbers(group), 4) for group in torn[:3])
    most = f"no classifier of these columns is right for more than {share(n - lost, n)} of the rows"
    sentence = f"{many(rows, 'row')} in {many(len(torn), 'set')} are equal and labelled differently ({shown}): {most}."
    do = "Mend the labels, or find the column that tells such rows apart."
    facts = {
        "rows": [subject.numbers(group) for group in torn[:100]],
        "sets": len(torn),
        "best_accuracy": (n - lost) / n,
    }
    yield Finding("warning", "conflicts", "Equal rows have different labels.", sentence, do, facts)


def equal_rows(X: Any) -> list[Integers]:
    """Sets of equal rows by number, in the order of their first rows.

    >>> [group.tolist() for group in equal_rows(np.array([[1.0], [2.0], [1.0], [-0.0], [0.0]]))]
    [[0, 2], [3, 4]]
    """
    bits = hashes(X)
    order = np.argsort(bits, kind="stable")
    edges = np.flatnonzero(np.diff(bits[order]) != 0) + 1
    starts, stops = np.append(0, edges), np.append(edges, len(bits))
    some = np.flatnonzero(stops - starts > 1)
    groups = [order[start:stop] for start, stop in zip(starts[some].tolist(), stops[some].tolist(), strict=True)]
    sure = (group[_equal_to_first(X, group)] for group in groups)
    return sorted((group for group in sure if len(group) > 1), key=lambda group: int(group[0]))


def _equal_to_first(X: Any, group: Integers) -> AnyArray:
    """Which rows of a group are equal to its first, entry by entry."""
    part = X[group]
    if is_sparse(part):
        part = part[:, np.unique(part.indices)].toarray()
    return np.asarray(np.all(part == part[0], axis=1))


def hashes(X: Any) -> AnyArray:
    """64 bits a row, (n,): equal for equal rows, dense or CSR.

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
    """The partial that gathers (first row, bits) of every block."""

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
    """The bits of floats, stirred; −0 is 0, and zero stays zero."""
    bits = np.ascontiguousarray(values + 0.0).view(np.uint64)
    bits = (bits ^ (bits >> np.uint64(30))) * _FIRST
    bits = (bits ^ (bits >> np.uint64(27))) * _SECOND
    return np.asarray(bits ^ (bits >> np.uint64(31)))
