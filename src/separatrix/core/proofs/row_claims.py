"""Claims about every row, checked block by block, so that rows outside memory are read once for all of them.

A proof on a few rows shows what no hyperplane can do. What one hyperplane does has to be checked on every row:

    Positive      a·v > 0
    NotNegative   a·v ≥ 0, for v in integers
    Orthogonal    a·b = 0 for every b of an integer basis

A claim that fails names the rows that break it. ``Broken`` counts them and chooses some for the next attempt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from separatrix.core.base.arrays import AnyArray, Array, Booleans, Integers, as_floats
from separatrix.core.base.errors import LabelError, ParameterError
from separatrix.core.base.labels import encode, known_codes
from separatrix.core.cluster import read_in_place
from separatrix.core.exact_arithmetic import fractions, signs, vanishing
from separatrix.core.proofs.class_differences import Differences, chunks, subtracted
from separatrix.core.proofs.naming import NAMED, About
from separatrix.core.proofs.overlap import on, rounded
from separatrix.core.rows.block import Block, as_csr, is_sparse
from separatrix.core.rows.labelled_table import OutsideMemory
from separatrix.core.rows.memory_rows import memory_rows
from separatrix.core.rows.protocol import Rows, Together, number_of_rows
from separatrix.core.rows.sampling import chosen_rows
from separatrix.core.rows.targets import CLASS_NUMBERS

# --- The rows that a verdict is asked about, as class differences


def as_rows(X: Any) -> Any:
    """X as float64, either dense or CSR without duplicate entries.

    >>> as_rows([[1, 2]]).tolist()
    [[1.0, 2.0]]
    """
    if not is_sparse(X):
        return as_floats(X)
    rows: Any = as_csr(X)
    return rows if rows.dtype == np.float64 else as_csr(rows.astype(np.float64))


def rows_for(X: Any, labels: Any) -> Any:
    """X as ``as_rows`` converts it. Raises an error unless X is a table with one row for each label."""
    rows = as_rows(X)
    if rows.ndim != 2 or rows.shape[0] != len(labels):
        raise ParameterError("X", f"its shape is {rows.shape} for {len(labels)} labels", "give one row for each label")
    return rows


def are_in(D: Differences, rows: Integers, against: Integers) -> bool:
    """Whether each row is a row of D, paired with a class other than its own, and there is at least one."""
    if len(rows) == 0 or len(rows) != len(against) or rows.min() < 0 or rows.max() >= len(D.codes):
        return False
    return bool(np.all((against >= 0) & (against < D.K) & (against != D.codes[rows])))


def signs_of(D: Differences, numbers: Integers, v: list[Any]) -> Integers:
    """The sign of a·v for each of these rows, computed exactly."""
    return np.array([sign for part in chunks(numbers) for sign in signs(D.dense(part), v)], dtype=np.int64)


def flattened(D: Differences, v: AnyArray) -> AnyArray | None:
    """v as a vector that multiplies the rows of D; None if its shape is wrong or it has an unexpected intercept."""
    if v.shape != ((D.X.shape[1] + 1,) if D.K == 2 else (D.K, D.X.shape[1] + 1)):
        return None
    W = all_weights(v, D.K)
    return None if not D.fit_intercept and np.any(W[:, 0] != 0) else D.flat(W)


def all_weights(v: AnyArray, K: int) -> AnyArray:
    """The weights (K, d + 1) of a verdict's v, which for two classes has those of the second class only, (d + 1,)."""
    return np.vstack([np.zeros_like(v), v]) if K == 2 else v


@dataclass(frozen=True)
class View:
    """How a block becomes class differences. Rows without weight are left out.

    ``code_of``: the class number of each target, for targets that are class numbers; None for those of
    ``class_targets``. ``columns``: the numbers of the columns in use; None for all. ``offsets``: values that are
    subtracted from these columns without rounding; None for none.

    >>> from separatrix.core.rows.memory_rows import memory_rows
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
        if self.exact:
            return np.flatnonzero(signs_of(D, np.arange(D.count), v) <= 0)
        return D.not_positive(self.v.astype(np.float64), v)

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
            return np.flatnonzero(signs_of(D, np.arange(D.count), self.v.tolist()) < 0)
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
            found = [np.flatnonzero(signs_of(D, np.arange(D.count), b.tolist())) for b in self.basis.T]
            return np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *found]))
        parts = [part[~vanishing(D.dense(part), self.basis)] for part in chunks(np.arange(D.count))]
        return np.concatenate([np.zeros(0, dtype=np.int64), *parts])

    def margins(self, D: Differences) -> Array:
        """Minus the size of the score in a random direction of the basis."""
        along = np.random.default_rng(0).standard_normal(self.basis.shape[1])
        return -np.abs(D.margins(np.column_stack([rounded(b) for b in self.basis.T]) @ along))


# ``broken`` gives the numbers of the class differences for which a claim is not proven; ``margins`` says how far each
# class difference is from breaking the claim.
RowClaim: TypeAlias = Positive | NotNegative | Orthogonal


class BrokenTotal(NamedTuple):
    """How many class differences break a claim; and for each class the rows nearest to breaking it, with margins."""

    n_broken: int
    nearest: tuple[tuple[Integers, Array], ...]


@dataclass(frozen=True)
class Broken:
    """Counts the class differences that break a claim, and chooses rows that a better proposal should know.

    These are, for each class, the ``most`` rows with the smallest margins, whether they break the claim or not.
    """

    claim: RowClaim
    view: View
    most: int

    def zero(self) -> BrokenTotal:
        return BrokenTotal(0, ((np.zeros(0, dtype=np.int64), np.zeros(0)),) * self.view.K)

    def add(self, total: BrokenTotal, block: Block) -> BrokenTotal:
        D, numbers = self.view.of(block)
        if len(numbers) == 0:
            return total
        n_broken = len(self.claim.broken(D))
        if self.most == 0:
            return total._replace(n_broken=total.n_broken + n_broken)
        m = np.nan_to_num(self.claim.margins(D).reshape(len(numbers), -1).min(axis=1), nan=-np.inf)
        nearest = tuple((numbers[D.codes == k], m[D.codes == k]) for k in range(self.view.K))
        return self.merge(total, BrokenTotal(n_broken, nearest))

    def merge(self, a: BrokenTotal, b: BrokenTotal) -> BrokenTotal:
        nearest = []
        for one, other in zip(a.nearest, b.nearest, strict=True):
            rows, m = (np.concatenate(pair) for pair in zip(one, other, strict=True))
            low = np.argpartition(m, self.most - 1)[: self.most] if len(m) > self.most else slice(None)
            nearest.append((rows[low], m[low]))
        return BrokenTotal(a.n_broken + b.n_broken, tuple(nearest))

    def chosen(self, total: BrokenTotal) -> Integers:
        """The numbers of the rows chosen."""
        return np.unique(np.concatenate([rows for rows, _ in total.nearest]))


# --- The table that a verdict is asked about


@dataclass(frozen=True)
class AskedTable:
    """The rows to verify a verdict on, with class numbers as targets, and how they become class differences.

    All rows are read in passes; the rows of a proof are taken out of them.
    """

    rows: Rows
    view: View

    @classmethod
    def of(cls, X: Any, y: Any, about: About) -> AskedTable:
        """The rows of X with labels y, or those of a table outside memory, with the classes of the verdict."""
        X, y, _ = read_in_place(X, y)
        outside, K = isinstance(X, OutsideMemory), len(about.classes) or 2
        if outside and y is not None:
            raise ParameterError("y", f"got one together with {X.name}", "leave it out: the scan has its labels")
        classes, codes = (X.classes, np.arange(len(X.classes))) if outside else encode(y)
        if len(about.classes):
            codes = known_codes(classes if outside else y, about.classes)
        elif len(classes) != K:
            raise LabelError("y", f"it has {len(classes)} classes", "give the two classes of the verdict")
        if outside:
            return cls(X.rows(CLASS_NUMBERS), View(K, about.fit_intercept, codes))
        return cls(memory_rows(rows_for(X, codes), codes), View(K, about.fit_intercept, np.arange(K)))

    @property
    def no_rows(self) -> Differences:
        """Class differences of the width of this table, without rows."""
        X, none = np.zeros((0, self.rows.n_features)), np.zeros(0, dtype=np.int64)
        return Differences(X, none, self.view.K, self.view.fit_intercept, is_part=True)

    def at(self, numbers: Integers) -> Differences | None:
        """The class differences of the rows with these numbers, in this order; None if there are no such rows."""
        if len(numbers) == 0 or numbers.min() < 0 or numbers.max() >= number_of_rows(self.rows):
            return None
        block = chosen_rows(self.rows, numbers)
        return self.view.of(replace(block, weight=np.ones(block.n_rows)))[0]

    def satisfies(self, claims: Sequence[RowClaim]) -> bool:
        """Whether every row satisfies all claims, in one pass."""
        checks = tuple(Broken(claim, self.view, 0) for claim in claims)
        return not any(found.n_broken for found in self.rows.fold(Together(checks)))


# --- The rows that directions of quasi-complete separation touch, and those that they move


class Moved(NamedTuple):
    """The rows that the first direction touches, with the classes that tie, and the rows that some direction moves.

    ``n_moved`` is the number of moved rows, and ``first`` has the numbers of the first ``NAMED`` of them.
    """

    touching: Integers
    against: Integers
    first: Integers
    n_moved: int


@dataclass(frozen=True)
class DirectionRows:
    """Finds touching and moved rows. ``directions``: integer vectors (width,), the first of which decides who touches.

    The total has a number of eight bytes for every touching row.
    """

    directions: tuple[AnyArray, ...]
    view: View

    def zero(self) -> list[Moved]:
        return []

    def add(self, total: list[Moved], block: Block) -> list[Moved]:
        D, numbers = self.view.of(block)
        if len(numbers) == 0 or not self.directions:
            return total
        tied = [D.named(on(D, v)) for v in self.directions]
        moves = moved_rows([rows for rows, _ in tied], len(numbers), D.K)
        gaining = numbers[moves]
        return [*total, Moved(numbers[tied[0][0]], tied[0][1], gaining[:NAMED], len(gaining))]

    def merge(self, a: list[Moved], b: list[Moved]) -> list[Moved]:
        return a + b

    def joined(self, total: list[Moved]) -> Moved:
        """The rows of all blocks."""
        none = np.zeros(0, dtype=np.int64)
        return Moved(
            np.concatenate([none, *(part.touching for part in total)]),
            np.concatenate([none, *(part.against for part in total)]),
            np.concatenate([none, *(part.first for part in total)])[:NAMED],
            sum(part.n_moved for part in total),
        )


def moved_rows(tied: list[Integers], n_rows: int, n_classes: int) -> Booleans:
    """A mask (n_rows,) of the rows whose likelihood grows along a direction.

    ``tied``: for each direction, the row of every pair of a row and another class that stays at zero. With K classes a
    row may stay at zero against one class and gain against another. It gains unless it stays at zero against all.

    >>> moved_rows([np.array([0, 0, 1])], 3, 3).tolist()
    [False, True, True]
    """
    return np.asarray(np.any([np.bincount(rows, minlength=n_rows) < n_classes - 1 for rows in tied], axis=0))
