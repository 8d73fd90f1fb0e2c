"""Claims about every row, checked block by block, so that rows outside memory are read once for all of them.

A proof on a few rows shows what no hyperplane can do. What one hyperplane does has to be checked on every row:

    Positive      a·v > 0
    NotNegative   a·v ≥ 0, for v in integers
    Orthogonal    a·b = 0 for every b of an integer basis

A claim that fails names the rows that break it. ``Broken`` counts them and chooses some for the next attempt.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.proofs.asked_rows import as_rows
from separatrix.proofs.class_differences import Differences, chunks, subtracted
from separatrix.proofs.quasi import on, rounded
from separatrix.proofs.rational import fractions, signs
from separatrix.proofs.residues import vanishing
from separatrix.rows import Block, Rows
from separatrix.rows.row_hash import Hashes, row_hashes


@dataclass(frozen=True)
class View:
    """How a block becomes class differences. Rows without weight are left out.

    ``code_of``: the class number of each target, for targets that are class numbers; None for those of
    ``class_targets``. ``columns``: the numbers of the columns in use; None for all. ``offsets``: values that are
    subtracted from these columns without rounding; None for none.

    >>> from separatrix.rows import memory_rows
    >>> block = memory_rows(np.array([[5.0], [7.0]]), np.array([-1.0, 1.0]), np.array([0.0, 1.0])).resident()
    >>> D, numbers = View(2, True).of(block)
    >>> D.codes.tolist(), numbers.tolist()
    ([1], [1])
    """

    K: int
    fit_intercept: bool
    code_of: Integers | None = None
    columns: Integers | None = None
    offsets: Array | None = None

    def n_columns(self, rows: Rows) -> int:
        """The number of columns in use."""
        return rows.n_features if self.columns is None else len(self.columns)

    def of(self, block: Block) -> tuple[Differences, Integers]:
        """The class differences of a block, and the numbers of its rows."""
        counted = block.weight > 0
        part = block if counted.all() else block.take(np.flatnonzero(counted))
        if self.code_of is not None:
            codes = self.code_of[part.t]
        else:
            codes = (part.t > 0).astype(np.int64) if self.K == 2 else part.t
        X: Any = as_rows(part.X if self.columns is None else part.X[:, self.columns])
        X = X if self.offsets is None else subtracted(X, self.offsets)
        D = Differences(X, codes, self.K, self.fit_intercept, is_part=True)
        return D, block.start + np.flatnonzero(counted)


class RowClaim(Protocol):
    """A claim about every row."""

    def broken(self, D: Differences) -> Integers:
        """The numbers of the class differences for which the claim is not proven."""

    def margins(self, D: Differences) -> Array:
        """How far each class difference is from breaking the claim, (count,); the smallest come closest."""


@dataclass(frozen=True)
class Positive:
    """a·v > 0, for v in floats or fractions. With ``exact``, every row is checked in integers.

    >>> D = Differences(np.array([[0.0], [1.0], [3.0]]), np.array([0, 0, 1]), 2)
    >>> Positive(np.array([-1.0, 1.0])).broken(D).tolist()
    [1]
    """

    v: AnyArray
    exact: bool = False

    def broken(self, D: Differences) -> Integers:
        v = fractions(self.v)
        return _not_above(D, v, 0) if self.exact else D.not_positive(self.v.astype(np.float64), v)

    def margins(self, D: Differences) -> Array:
        return D.margins(self.v.astype(np.float64))


@dataclass(frozen=True)
class NotNegative:
    """a·v ≥ 0 for an integer vector v. With ``exact``, every row is checked in integers.

    >>> D = Differences(np.array([[0.0], [1.0], [3.0], [0.5]]), np.array([0, 0, 1, 1]), 2)
    >>> NotNegative(np.array([-1, 1], dtype=object)).broken(D).tolist()
    [3]
    """

    v: AnyArray
    exact: bool = False

    def broken(self, D: Differences) -> Integers:
        if self.exact:
            return _not_above(D, self.v.tolist(), -1)
        off = np.ones(D.count, dtype=bool)
        off[on(D, self.v)] = False
        return D.not_positive(rounded(self.v), self.v.tolist(), off)

    def margins(self, D: Differences) -> Array:
        return D.margins(rounded(self.v))


@dataclass(frozen=True)
class Orthogonal:
    """a·b = 0 for every column b of an integer basis (width, q), by residues modulo large primes.

    >>> D = Differences(np.array([[0.0], [1.0], [3.0]]), np.array([0, 0, 1]), 2)
    >>> Orthogonal(np.array([[0], [1]], dtype=object)).broken(D).tolist()
    [1, 2]
    """

    basis: AnyArray
    exact: bool = False

    def broken(self, D: Differences) -> Integers:
        if self.exact:
            found = [np.flatnonzero(_signs(D, b.tolist()) != 0) for b in self.basis.T]
            return np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *found]))
        parts = [part[~vanishing(D.dense(part), self.basis)] for part in chunks(np.arange(D.count))]
        return np.concatenate([np.zeros(0, dtype=np.int64), *parts])

    def margins(self, D: Differences) -> Array:
        """Minus the size of the score in a random direction of the basis."""
        along = np.random.default_rng(0).standard_normal(self.basis.shape[1])
        return -np.abs(D.margins(np.column_stack([rounded(b) for b in self.basis.T]) @ along))


def _signs(D: Differences, v: list[Any]) -> Integers:
    """The signs of all a·v, computed exactly, (count,)."""
    found = [sign for part in chunks(np.arange(D.count)) for sign in signs(D.dense(part), v)]
    return np.array(found, dtype=np.int64)


def _not_above(D: Differences, v: list[Any], bound: int) -> Integers:
    return np.flatnonzero(_signs(D, v) <= bound)


class Chosen(NamedTuple):
    """Rows by number, each with a key: only those with the lowest keys are kept."""

    rows: Integers
    keys: AnyArray

    def with_(self, other: Chosen, most: int) -> Chosen:
        rows, keys = (np.concatenate(pair) for pair in zip(self, other, strict=True))
        if len(rows) > most:
            low = np.argpartition(keys, most - 1)[:most]
            rows, keys = rows[low], keys[low]
        return Chosen(rows, keys)

    @classmethod
    def none(cls, dtype: type) -> Chosen:
        return cls(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=dtype))


class BrokenTotal(NamedTuple):
    """How many class differences break a claim; the rows nearest to breaking it, by class; others that break it."""

    n_broken: int
    nearest: tuple[Chosen, ...]
    others: Chosen


@dataclass(frozen=True)
class Broken:
    """Counts the class differences that break a claim, and chooses rows that a better proposal should know.

    These are, for each class, the ``most`` rows with the smallest margins, whether they break the claim or not, and up
    to ``most`` of the rows that break it, drawn by the hashes of their numbers.
    """

    claim: RowClaim
    view: View
    most: int

    def zero(self) -> BrokenTotal:
        return BrokenTotal(0, (Chosen.none(np.float64),) * self.view.K, Chosen.none(np.uint64))

    def add(self, total: BrokenTotal, block: Block) -> BrokenTotal:
        D, numbers = self.view.of(block)
        if len(numbers) == 0:
            return total
        broken = self.claim.broken(D)
        if self.most == 0:
            return total._replace(n_broken=total.n_broken + len(broken))
        m = self.claim.margins(D).reshape(len(numbers), -1).min(axis=1)
        nearest = []
        for k in range(self.view.K):
            own = np.flatnonzero(D.codes == k)
            nearest.append(Chosen(numbers[own], np.nan_to_num(m[own], nan=-np.inf)))
        rows = numbers[np.unique(broken // (D.K - 1))]
        hashes: Hashes = row_hashes(block.start, block.n_rows)[rows - block.start]
        return self.merge(total, BrokenTotal(len(broken), tuple(nearest), Chosen(rows, hashes)))

    def merge(self, a: BrokenTotal, b: BrokenTotal) -> BrokenTotal:
        nearest = tuple(one.with_(other, self.most) for one, other in zip(a.nearest, b.nearest, strict=True))
        return BrokenTotal(a.n_broken + b.n_broken, nearest, a.others.with_(b.others, self.most))

    def chosen(self, total: BrokenTotal) -> Integers:
        """The numbers of the rows chosen."""
        return np.unique(np.concatenate([total.others.rows, *(part.rows for part in total.nearest)]))
