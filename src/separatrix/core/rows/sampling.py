"""Random samples of rows, in which rows with rare entries have a higher probability, and the contents of these rows.

The first draw takes the rows with the lowest hashes, the same number from each class. If the variance of a column comes
from few rows (a rare level, a far outlier), such a sample misjudges it. So a second draw adds rows with rare entries,
all of them if they are few. Every row is weighted by one over its probability of being drawn (Horvitz and Thompson
1952).

Both draws are sums over rows, ``LowestHashes`` and ``RareRows``. Their totals stay small whatever the number of rows,
and depend on the numbers and the contents of the rows alone. So every source of the same rows gives the same sample.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np

from separatrix.core.base.arrays import AnyArray, Array, Integers, pieces
from separatrix.core.rows.block import ROWS_PER_COPY, Block, block_rows, is_sparse, joined
from separatrix.core.rows.frame import Frame
from separatrix.core.rows.hold_out import Hashes, row_hashes, uniform
from separatrix.core.rows.protocol import BLOCK_BYTES, Partial, Rows

A = TypeVar("A")

# --- The sample and its two draws

# A column is rare if its participation ratio (Σ x²)²/Σ x⁴, the effective number of rows behind its variance, is below
# this number and below a tenth of the sample. The second draw takes about this many rows for a rare column, at most.
FEWEST_EFFECTIVE_ROWS = 150
# Blocks with fewer entries are searched by NumPy: importing the compiler's package would take longer.
FEWEST_ENTRIES_TO_COMPILE_SEARCH = 1 << 18
# The lowest hashes are selected when there are this many times more of them than asked for, since selecting takes time.
SLACK = 1.25
# The stream of hashes of the second draw, which must be independent of the first.
SECOND_DRAW = 1


@dataclass(frozen=True)
class RowSample:
    """Rows in the frame's coordinates with their weights; ``odds`` (m,): the probability that each was drawn."""

    block: Block
    odds: Array

    @property
    def n_rows(self) -> int:
        return self.block.n_rows

    @property
    def certain(self) -> AnyArray:
        """Which rows were drawn with probability one, (m,)."""
        return np.asarray(self.odds == 1)

    def standing_for(self, targets: AnyArray, totals: Array) -> Block:
        """The rows weighted by one over ``odds``, then rescaled so that the weights of each class sum to ``totals``."""
        weight, certain = self.block.weight / self.odds, self.certain
        for target, total in zip(targets, totals, strict=True):
            in_class = self.block.t == target
            rest = in_class & ~certain
            drawn, alone = float(weight[rest].sum()), float(weight[in_class & certain].sum())
            if drawn > 0:
                weight[rest] *= max(total - alone, 0.0) / drawn
        return replace(self.block, weight=weight)


@dataclass(frozen=True)
class Lowest:
    """The rows of one class with the lowest hashes, in no particular order, and the number of rows of that class."""

    hashes: Hashes
    rows: Integers
    count: int

    def limit(self, size: int) -> np.uint64:
        """A row whose hash is not below this is none of the ``size`` lowest."""
        return np.uint64(self.hashes.max()) if len(self.hashes) >= max(1, size) else np.uint64(2**64 - 1)

    def cut(self, size: int) -> Lowest:
        """The ``size`` lowest of them."""
        if len(self.rows) <= size:
            return self
        kept = np.argpartition(self.hashes, size - 1)[:size] if size else np.empty(0, dtype=np.intp)
        return Lowest(self.hashes[kept], self.rows[kept], self.count)


@dataclass(frozen=True)
class LowestHashes:
    """Finds the rows of each class whose hashes are lowest; rows with zero weight do not take part.

    All rows are found if there are at most ``size``, and otherwise size/K rows of each of the K classes. The total may
    hold some more. ``targets``: the value of t in each class; None draws from all rows alike. The total has one entry
    for each class.
    """

    size: int
    seed: int
    targets: AnyArray | None = None
    merges_exactly: ClassVar[bool] = True

    def covers(self, other: LowestHashes) -> bool:
        """Whether this draw has chosen all the rows that another one would choose."""
        mine, theirs = self.targets, other.targets
        alike = mine is theirs if mine is None or theirs is None else np.array_equal(mine, theirs)
        return alike and self.size >= other.size and self.seed == other.seed

    def zero(self) -> list[Lowest]:
        empty = Lowest(np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64), 0)
        return [empty] * (1 if self.targets is None else len(self.targets))

    def add(self, total: list[Lowest], block: Block) -> list[Lowest]:
        return self.merge(total, self.found(total, block))

    def found(self, total: list[Lowest], block: Block) -> list[Lowest]:
        """The rows of a block that may be among the lowest, given those found so far."""
        hashes, counted = row_hashes(block.start, block.n_rows, self.seed), block.weight > 0
        groups = [counted] if self.targets is None else [counted & (block.t == value) for value in self.targets]
        size, found = self._each(total), []
        for part, group in zip(total, groups, strict=True):
            rows = np.flatnonzero(group & (hashes < part.limit(size)))
            found.append(Lowest(hashes[rows], block.start + rows, int(np.count_nonzero(group))))
        return found

    def _each(self, total: list[Lowest]) -> int:
        """The number of rows that are wanted of each class, given those found so far."""
        return self.size if sum(part.count for part in total) <= self.size else self.size // len(total)

    def merge(self, *totals: list[Lowest]) -> list[Lowest]:
        whole = [
            Lowest(
                np.concatenate([part.hashes for part in parts]),
                np.concatenate([part.rows for part in parts]),
                sum(part.count for part in parts),
            )
            for parts in zip(*totals, strict=True)
        ]
        size = self._each(whole)
        return [part.cut(size) if len(part.rows) > SLACK * size else part for part in whole]

    def only_wanted(self, total: list[Lowest]) -> list[Lowest]:
        """The total without the rows that it holds beyond those that are asked for."""
        return [part.cut(self._each(total)) for part in total]

    def chosen(self, total: list[Lowest]) -> Integers:
        """The numbers of the rows drawn."""
        return np.concatenate([part.rows for part in total])


class RowAccess(Protocol):
    """How a sample gets at rows: the two draws over all rows, and the contents of rows that they chose.

    ``framed_copy(numbers)`` gives rows in the frame's coordinates, ``raw(numbers)`` their entries in raw units.
    """

    @property
    def frame(self) -> Frame: ...
    def lowest(self, draw: LowestHashes) -> list[Lowest]: ...
    def rare(self, draw: RareRows) -> Integers: ...
    def framed_copy(self, numbers: Integers) -> Block: ...
    def raw(self, numbers: Integers) -> Any: ...


@dataclass(frozen=True)
class _SampledInMemory:
    """Access to rows in memory: ``whole`` holds all of ``rows``."""

    rows: Rows
    whole: Block

    @property
    def frame(self) -> Frame:
        return self.whole.frame

    def lowest(self, draw: LowestHashes) -> list[Lowest]:
        return draw.add(draw.zero(), self.whole)

    def rare(self, draw: RareRows) -> Integers:
        return self.rows.fold(draw)

    def framed_copy(self, numbers: Integers) -> Block:
        return self.whole.framed_copy(numbers)

    def raw(self, numbers: Integers) -> Any:
        return self.whole.X[numbers]


def draw(rows: Rows, whole: Block, size: int, seed: int, targets: AnyArray | None) -> RowSample:
    """A sample of about ``size`` rows of ``whole``, which holds all of ``rows``; all rows if there are no more."""
    if size >= whole.n_rows:  # rows with zero weight may stay, and no row is copied
        return RowSample(whole, np.ones(whole.n_rows))
    return drawn_sample(_SampledInMemory(rows, whole), size, seed, targets)


def drawn_sample(access: RowAccess, size: int, seed: int, targets: AnyArray | None) -> RowSample:
    """A sample of about ``size`` rows with positive weight; all of them if there are no more.

    ``targets``: the value of t in each class. If given, the same number of rows is drawn from each class, or all its
    rows if it has fewer.
    """
    by_class = access.lowest(LowestHashes(size, seed, targets))
    if sum(part.count for part in by_class) <= size:
        chosen = np.sort(np.concatenate([part.rows for part in by_class]))
        return RowSample(access.framed_copy(chosen), np.ones(len(chosen)))
    each = size // len(by_class)
    chosen = np.sort(np.concatenate([part.cut(each).rows for part in by_class]))
    shares = np.array([min(1.0, each / max(1, part.count)) for part in by_class])
    block = access.framed_copy(chosen)
    odds = _odds_of_first_draw(block.t, targets, shares)
    rare = rare_rows(block, odds, access.frame, access.raw(chosen[:1]), size // 3, seed)
    if rare is None:
        return RowSample(block, odds)
    more = np.setdiff1d(access.rare(rare), chosen, assume_unique=True)
    if len(more):
        chosen = np.sort(np.concatenate([chosen, more]))
        del block  # frees the first copy before the second is made
        block = access.framed_copy(chosen)
        odds = _odds_of_first_draw(block.t, targets, shares)
    again = np.concatenate([rare.odds(access.raw(chosen[some])) for some in pieces(len(chosen), ROWS_PER_COPY)])
    return RowSample(block, 1.0 - (1.0 - odds) * (1.0 - again))


def _odds_of_first_draw(t: AnyArray, targets: AnyArray | None, shares: Array) -> Array:
    """The probability that the first draw takes a row, (m,), given the share of rows that it takes from each class."""
    if targets is None:
        return np.full(len(t), shares[0])
    return np.asarray((t[:, None] == targets) @ shares)


@dataclass(frozen=True)
class RareRows:
    """Draws rows with rare entries: those of ``columns`` further than ``far`` from ``base``, all in raw units.

    A row is drawn with the largest of the probabilities ``shares`` (columns,) over its rare entries. The total is the
    numbers of the rows drawn, in increasing order.
    """

    columns: Integers
    base: Array
    far: Array
    shares: Array
    seed: int
    merges_exactly: ClassVar[bool] = True

    def zero(self) -> Integers:
        return np.empty(0, dtype=np.int64)

    def add(self, total: Integers, block: Block) -> Integers:
        row, share = self._largest_shares(block.X)
        drawn = (uniform(row_hashes(block.start, block.n_rows, self.seed, SECOND_DRAW)[row]) < share) & (
            block.weight[row] > 0
        )
        return self.merge(total, block.start + row[drawn])

    def merge(self, a: Integers, b: Integers) -> Integers:
        return np.concatenate([a, b])

    def chosen(self, total: Integers) -> Integers:
        """The numbers of the rows drawn."""
        return total

    def odds(self, X: Any) -> Array:
        """The probability that rows X (m, d) in raw units are drawn, (m,)."""
        row, share = self._largest_shares(X)
        odds = np.zeros(X.shape[0])
        odds[row] = share
        return odds

    def _largest_shares(self, X: Any) -> tuple[Integers, Array]:
        """The rows with rare entries, in increasing order, and the largest share of each."""
        row, place = self._stored(X) if is_sparse(X) else self._beyond(X)
        if len(row) == 0:
            return row, np.empty(0)
        starts = np.flatnonzero(np.diff(row, prepend=-1))
        return row[starts], np.maximum.reduceat(self.shares[place], starts)

    def _stored(self, X: Any) -> tuple[Integers, Integers]:
        """The row of each rare entry of CSR rows, and its position in ``columns``.

        The base of a rare CSR column is the zero that is not stored.
        """
        position = np.full(X.shape[1], -1)
        position[self.columns] = np.arange(len(self.columns))
        entry = np.flatnonzero(position[X.indices] >= 0)
        place = position[X.indices[entry]]
        beyond = np.abs(X.data[entry]) > self.far[place]
        return np.searchsorted(X.indptr, entry[beyond], side="right") - 1, place[beyond]

    def _beyond(self, X: Any) -> tuple[Integers, Integers]:
        """As ``_stored``, for dense rows; compiled for large blocks."""
        if X.size < FEWEST_ENTRIES_TO_COMPILE_SEARCH or not X.flags.c_contiguous:
            row, place = np.nonzero(np.abs(X[:, self.columns] - self.base) > self.far)
            return row, place
        from separatrix.core.kernels.dense_rows import count_beyond, places_beyond

        base, far = np.zeros(X.shape[1]), np.full(X.shape[1], np.inf)
        base[self.columns], far[self.columns] = self.base, self.far
        count = np.empty(len(X), dtype=np.int64)
        count_beyond(X, base, far, count)
        places = np.empty((2, int(count.sum())), dtype=np.int64)
        places_beyond(X, base, far, count, places)
        return places[0], np.searchsorted(self.columns, places[1])


def rare_rows(sample: Block, odds: Array, frame: Frame, first: Any, most: int, seed: int) -> RareRows | None:
    """The second draw, of about ``most`` rows, derived from the framed rows of the first; None if no column is rare.

    ``odds``: the probability of each row of the first draw. ``first``: the first of these rows, (1, d), in raw units.
    The number of rare entries of a column is estimated from the first draw, so that the share of them to be drawn is
    known before the rows are read again. A column whose rare entries the first draw missed has few: all are drawn.
    """
    X: Any = sample.X
    if is_sparse(X):
        size = np.abs(X.data.astype(np.float64)) / frame.scale[X.indices]
        energy, fourth = (np.bincount(X.indices, size**k, X.shape[1]).astype(np.float64) for k in (2, 4))
        base = np.zeros(X.shape[1])
    else:
        energy, fourth, base = _dense_powers(X, frame, first)
    few = min(FEWEST_EFFECTIVE_ROWS, sample.n_rows / 10)
    columns = np.flatnonzero(np.isfinite(frame.scale) & ((energy == 0) | (energy**2 < few * fourth)))
    if not len(columns):
        return None
    limit = np.full(X.shape[1], np.inf)
    # An entry of a rare column is rare if its square exceeds this share of the sample's Σ x².
    limit[columns] = 0.003 * energy[columns]
    if is_sparse(X):
        stood = np.where(size**2 > limit[X.indices], np.repeat(1.0 / odds, np.diff(X.indptr)), 0.0)
        count = np.bincount(X.indices, stood, X.shape[1])[columns]
    else:
        part = X[:, columns]
        count = (1.0 / odds) @ ((part - part.mean(axis=0)) ** 2 > limit[columns])
        count[energy[columns] == 0] = 0.0  # a column with a single value differs from its mean by rounding
    each = np.clip(most // len(columns), 1, FEWEST_EFFECTIVE_ROWS)
    far = np.sqrt(limit[columns]) * frame.scale[columns]
    return RareRows(columns, base[columns], far, each / np.maximum(each, count), seed)


def _dense_powers(X: Array, frame: Frame, first: Any) -> tuple[Array, Array, Array]:
    """Σ (x − mean)² and Σ (x − mean)⁴ of framed columns, (d,) each, and the columns' means in raw units.

    A column with a single value gets exactly zero powers and that value, as ``first`` (1, d) has it.
    """
    d, middle = X.shape[1], X.mean(axis=0)
    energy, fourth = np.zeros(d), np.zeros(d)
    for part in pieces(len(X), ROWS_PER_COPY):
        square = (X[part] - middle) ** 2
        energy += square.sum(axis=0)
        fourth += np.einsum("ij,ij->j", square, square)
    still = np.flatnonzero(energy <= len(X) * 1e-20 * (1.0 + middle**2))
    still = still[np.all(X[:, still] == X[0, still], axis=0)]
    energy[still] = 0.0
    base = frame.center + middle * np.where(np.isfinite(frame.scale), frame.scale, 0.0)
    base[still] = first[0, still]
    return energy, fourth, base


# --- The contents of the rows that a draw chooses, for sources that cannot be read row by row


class Draw(Partial[A], Protocol[A]):
    """A partial that chooses rows. ``chosen(total)`` are their numbers, in any order.

    ``merges_exactly``: totals can be merged in any grouping with the same result. A worker of a cluster then merges the
    totals of its strands before it sends them, since each total may have as many numbers as the whole draw.
    """

    def chosen(self, total: A) -> Integers: ...


@dataclass(frozen=True)
class CarriedRows:
    """The contents of rows, in parts, each with the numbers of its rows in increasing order."""

    numbers: tuple[Integers, ...] = ()
    parts: tuple[Block, ...] = ()

    @classmethod
    def of(cls, block: Block, numbers: Integers) -> CarriedRows:
        """A copy of the rows of a block that have these numbers."""
        held = np.sort(numbers)
        return cls((held,), (block.take(held - block.start),)) if len(held) else cls()

    @property
    def n_rows(self) -> int:
        return sum(map(len, self.numbers))

    def with_(self, others: CarriedRows) -> CarriedRows:
        """These rows together with others."""
        return CarriedRows(self.numbers + others.numbers, self.parts + others.parts)

    def only(self, numbers: Integers) -> CarriedRows:
        """The rows with these numbers."""
        keep = [_places_of(numbers, held) for held in self.numbers]
        some = [(held[k], part.take(k)) for held, part, k in zip(self.numbers, self.parts, keep, strict=True) if len(k)]
        return CarriedRows(tuple(held for held, _ in some), tuple(part for _, part in some))

    def joined(self) -> CarriedRows:
        """The rows in one part, by increasing number; a row that is held twice occurs once."""
        if len(self.parts) < 2:
            return self
        return CarriedRows((np.concatenate(self.numbers),), (joined(self.parts),)).sorted()

    def sorted(self) -> CarriedRows:
        """One part by increasing number, without repeated rows. It is copied only if it is not so."""
        numbers, place = np.unique(self.numbers[0], return_index=True)
        if np.array_equal(place, np.arange(len(self.numbers[0]))):
            return self
        return CarriedRows((numbers,), (self.parts[0].take(place),))

    def places(self, numbers: Integers) -> Integers:
        """The positions of the rows with these numbers. The rows must have been joined."""
        return np.searchsorted(self.numbers[0], numbers)

    def block(self, frame: Frame) -> Block:
        """All rows, in one part. The rows must have been joined."""
        return replace(self.parts[0], frame=frame)


@dataclass
class CarriedTotal(Generic[A]):
    """The total of the draw, and the contents of the rows that it has chosen."""

    total: A
    rows: CarriedRows = field(default_factory=CarriedRows)


@dataclass(frozen=True)
class Carried(Generic[A]):
    """A draw that copies the rows that are chosen in a block, and drops them when later rows take their place."""

    draw: Draw[A]

    def zero(self) -> CarriedTotal[A]:
        return CarriedTotal(self.draw.zero())

    def add(self, total: CarriedTotal[A], block: Block) -> CarriedTotal[A]:
        inner = self.draw.add(total.total, block)
        chosen = self.draw.chosen(inner)
        here = chosen[(chosen >= block.start) & (chosen < block.start + block.n_rows)]
        return self._tidied(inner, total.rows.with_(CarriedRows.of(block, here)), chosen)

    def merge(self, a: CarriedTotal[A], b: CarriedTotal[A]) -> CarriedTotal[A]:
        inner = self.draw.merge(a.total, b.total)
        return self._tidied(inner, a.rows.with_(b.rows), self.draw.chosen(inner))

    def _tidied(self, inner: A, rows: CarriedRows, chosen: Integers) -> CarriedTotal[A]:
        """Drop rows that are no longer chosen if they are as many as the chosen rows, and at least 1024."""
        if rows.n_rows > max(2 * len(chosen), len(chosen) + 1024):
            rows = rows.only(chosen)
        return CarriedTotal(inner, rows)


def _places_of(numbers: Integers, held: Integers) -> Integers:
    """The places at which ``held`` has one of these row numbers; several times faster than ``np.isin``."""
    ordered = np.append(np.sort(numbers), -1)
    return np.flatnonzero(ordered[np.searchsorted(ordered[:-1], held)] == held)


class RowBuffer:
    """Dense rows in the first places of four arrays: their numbers, X, t and weight.

    Places of dropped rows are used again. So a sample takes little more memory than its rows, however many are read.
    """

    def __init__(self, first: Block, places: int) -> None:
        X: Any = first.X
        self.n_rows, self.frame = 0, first.frame
        form = ((places, np.int64), ((places, X.shape[1]), X.dtype), (places, first.t.dtype), (places, np.float64))
        self.arrays: list[AnyArray] = [np.empty(shape, dtype) for shape, dtype in form]

    def put(self, block: Block, numbers: Integers) -> None:
        """Copy the rows of a block that have these numbers."""
        rows, places = numbers - block.start, slice(self.n_rows, self.n_rows + len(numbers))
        for array, given in zip(self.arrays, (numbers, block.X[rows], block.t[rows], block.weight[rows]), strict=True):
            array[places] = given
        self.n_rows = places.stop

    def keep(self, numbers: Integers) -> None:
        """Drop all rows but those with these numbers."""
        places = _places_of(numbers, self.arrays[0][: self.n_rows])
        for array in self.arrays:
            for part in pieces(len(places), ROWS_PER_COPY):  # no row moves to a place that is read later
                array[part] = array[places[part]]
        self.n_rows = len(places)

    def carried(self) -> CarriedRows:
        """The rows in one part, by increasing number."""
        numbers, X, t, weight = (array[: self.n_rows] for array in self.arrays)
        return CarriedRows((numbers,), (Block(X, t, weight, 0, self.frame),)).sorted()


class Keeper:
    """Draws a sample from blocks that threads show to it, in any order, and keeps the rows that it draws.

    The dense rows that blocks add to the draw are collected and added to its total together, because each addition
    takes time proportional to the size of the total. Until then, rows are compared with the limits of an earlier total,
    so for a while too many rows are kept, but never too few.
    """

    def __init__(self, draw: LowestHashes) -> None:
        self.draw, self.total = draw, draw.zero()
        self.found: list[list[Lowest]] = []
        self.n_found = 0
        self.dense: RowBuffer | None = None
        self.sparse: CarriedTotal[list[Lowest]] = CarriedTotal(self.total)
        self.lock = threading.Lock()

    def see(self, block: Block) -> Block:
        """Take the rows of a block into account, and return the block."""
        with self.lock:
            if is_sparse(block.X):
                self.sparse = Carried(self.draw).add(self.sparse, block)
                return block
            if self.dense is None:
                self.dense = RowBuffer(block, int(SLACK * self.draw.size) + block_rows(BLOCK_BYTES, block.X.shape[1]))
            self.found.append(self.draw.found(self.total, block))
            numbers = self.draw.chosen(self.found[-1])
            self.dense.put(block, numbers)
            self.n_found += len(numbers)
            if self.n_found > (SLACK - 1) * self.draw.size:
                self._count(self.dense)
        return block

    def kept(self) -> CarriedTotal[list[Lowest]]:
        """The total of the draw, and the rows that were drawn from all blocks, in one part."""
        if self.dense is None:
            return CarriedTotal(self.sparse.total, self.sparse.rows.joined())
        self._count(self.dense)
        return CarriedTotal(self.total, self.dense.carried())

    def _count(self, dense: RowBuffer) -> None:
        """Count the rows that have been found into the total, and drop the rows that others have replaced."""
        self.total = self.draw.only_wanted(self.draw.merge(self.total, *self.found))
        self.found, self.n_found = [], 0
        dense.keep(self.draw.chosen(self.total))


# --- A few rows by their numbers


@dataclass(frozen=True)
class _NumberedRows:
    """Collects the rows with the given numbers, which are sorted and unique."""

    numbers: Integers

    def zero(self) -> list[Block]:
        return []

    def add(self, total: list[Block], block: Block) -> list[Block]:
        first, last = np.searchsorted(self.numbers, [block.start, block.start + block.n_rows])
        if total and first == last:  # the first part is kept although it may be empty, for its number of columns
            return total
        return [*total, block.take(self.numbers[first:last] - block.start)]

    def merge(self, a: list[Block], b: list[Block]) -> list[Block]:
        return a + b


def chosen_rows(rows: Rows, numbers: Integers) -> Block:
    """The rows with these numbers, in this order. Rows that are not in memory are read in one pass.

    >>> from separatrix.core.rows.memory_rows import memory_rows
    >>> chosen_rows(memory_rows(np.arange(4.0)[:, None], np.arange(4)), np.array([3, 1])).t.tolist()
    [3, 1]
    """
    whole = rows.resident()
    if whole is not None:
        return whole.take(numbers)
    unique, place = np.unique(numbers, return_inverse=True)
    found: list[Block] = rows.fold(_NumberedRows(unique))
    return joined(found).take(place)
