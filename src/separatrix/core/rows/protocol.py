"""The `Rows` protocol, which every data source implements, and the `Partial` protocol for sums over rows.

A pass sums a partial over blocks. Blocks are summed in strands, runs of consecutive blocks whose sums are computed in
parallel and then merged in order. Both depend on the rows alone, so a fit gives the same bits for any number of threads
and for rows in memory, in files or on a cluster.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, runtime_checkable

import numpy as np

from separatrix.core.base.arrays import AnyArray, Array, Integers
from separatrix.core.base.machine import in_order
from separatrix.core.base.watching import pulse
from separatrix.core.rows.block import Block
from separatrix.core.rows.frame import Frame

if TYPE_CHECKING:
    from separatrix.core.rows.sampling import RowSample


A = TypeVar("A")

# The size of a block in bytes. Blocks of this size stay in cache between X·w and Xᵀr, so a pass reads X from memory
# once. With smaller blocks threads wait for each other, because NumPy takes the interpreter lock again after each call:
# with blocks of one megabyte two threads were slower than one.
BLOCK_BYTES = 1 << 22
# The first STRANDS_PER_LENGTH strands have one block each, the next as many have two, then four, and so on. So the
# strands can be summed before the number of rows is known; small tables are divided into enough strands for many cores;
# and the number of strands grows only with the logarithm of the number of rows.
STRANDS_PER_LENGTH = 32


class Partial(Protocol[A]):
    """A sum over rows. It is small and picklable, and it holds weights but never rows."""

    def zero(self) -> A: ...
    def add(self, total: A, block: Block) -> A: ...
    def merge(self, a: A, b: A) -> A: ...


class ArraySum(ABC):
    """A partial whose total is one float64 array that is updated in place."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]: ...

    @abstractmethod
    def add(self, total: Array, block: Block) -> Array: ...

    def zero(self) -> Array:
        return np.zeros(self.shape)

    def merge(self, a: Array, b: Array) -> Array:
        a += b
        return a


@dataclass(frozen=True)
class Together:
    """Several partials that are summed in one pass. The total is a list of their totals, to the last bit."""

    partials: tuple[Partial[Any], ...]

    def zero(self) -> list[Any]:
        return [partial.zero() for partial in self.partials]

    def add(self, total: list[Any], block: Block) -> list[Any]:
        return [partial.add(part, block) for partial, part in zip(self.partials, total, strict=True)]

    def merge(self, a: list[Any], b: list[Any]) -> list[Any]:
        return [partial.merge(*pair) for partial, pair in zip(self.partials, zip(a, b, strict=True), strict=True)]


@dataclass(frozen=True)
class Order:
    """The order of rows in batches of ``size``: as given or shuffled.

    The order is a function of (seed, epoch), so a run that starts from a state continues with the same batches.
    """

    size: int
    draw: Literal["given", "shuffled"] = "given"
    seed: int = 0
    epoch: int = 0

    def rows(self, n_rows: int) -> Integers:
        if self.draw == "given":
            return np.arange(n_rows)
        return np.random.default_rng([self.seed, self.epoch]).permutation(n_rows)


_counters: ContextVar[tuple[list[int], ...]] = ContextVar("separatrix_passes", default=())


class PassCounter:
    """Counts passes over all rows. All views of the same rows share one counter.

    >>> counter = PassCounter()
    >>> counter.add()
    >>> counter.passes
    1
    """

    __slots__ = ("is_paused", "passes")

    def __init__(self) -> None:
        self.passes = 0
        self.is_paused = False

    def add(self, passes: int = 1) -> None:
        """Count one more pass, or several."""
        if self.is_paused:
            return
        self.passes += passes
        for counter in _counters.get():
            counter[0] += passes

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Count nothing inside a ``with`` block, in which only a few rows are read."""
        before, self.is_paused = self.is_paused, True
        try:
            yield
        finally:
            self.is_paused = before


# The counter of a subset of the rows: reading a subset does not count as a pass.
NOT_COUNTED = PassCounter()
NOT_COUNTED.is_paused = True


# A sample has max(20 p, min(max(SAMPLE_ROWS, n/16), MOST_SAMPLE_ENTRIES/(d + 1))) rows for p parameters.
SAMPLE_ROWS, MOST_SAMPLE_ENTRIES, SAMPLE_SEED = 4000, 9 << 19, 20_231_017


def sample_size(n_rows: int, n_parameters: int, width: int) -> int:
    """The approximate size of a sample of rows with ``width`` = d + 1 entries.

    >>> sample_size(20_000_000, 21, 21), sample_size(1000, 500, 500)
    (224694, 10000)
    """
    return max(20 * n_parameters, min(max(SAMPLE_ROWS, n_rows // 16), MOST_SAMPLE_ENTRIES // width))


@runtime_checkable
class Rows(Protocol):
    """Labelled and weighted rows from any source: dense memory, sparse memory, a stream or a cluster.

    ``fold``, ``blocks`` and ``sample`` each add a pass to ``counter``, which all views of the same rows share.
    ``resident()`` returns all rows as one block, or None if they are not in memory. Code that reads this block calls
    ``counter.add()`` each time it has read all of it.

    ``n_rows`` is None if the source does not know its length before the first pass. ``is_sparse``: blocks hold CSR
    rows. ``is_row_major``: the entries of a dense row are next to each other in memory. The weights have been divided
    by ``weight_unit``.
    """

    @property
    def n_rows(self) -> int | None: ...
    @property
    def n_features(self) -> int: ...
    @property
    def is_sparse(self) -> bool: ...
    @property
    def is_row_major(self) -> bool: ...
    @property
    def frame(self) -> Frame: ...
    @property
    def weight_unit(self) -> float: ...
    @property
    def counter(self) -> PassCounter: ...
    def seen_through(self, frame: Frame) -> Rows: ...
    def fold(self, partial: Partial[A]) -> A: ...
    def blocks(self, order: Order) -> Iterator[Block]: ...
    def sample(self, size: int, seed: int, targets: AnyArray | None = None) -> RowSample: ...
    def resident(self) -> Block | None: ...


def count_pass() -> None:
    """Count one more pass over an array that has no counter of its own."""
    for counter in _counters.get():
        counter[0] += 1


@contextmanager
def counted_passes() -> Iterator[list[int]]:
    """Count the passes inside a ``with`` block. Entry 0 of the list it yields is the count.

    >>> with counted_passes() as passes:
    ...     count_pass()
    >>> passes
    [1]
    """
    counter = [0]
    token = _counters.set((*_counters.get(), counter))
    try:
        yield counter
    finally:
        _counters.reset(token)


@dataclass(frozen=True)
class _Count:
    """Counts rows."""

    def zero(self) -> int:
        return 0

    def add(self, total: int, block: Block) -> int:
        return total + block.n_rows

    def merge(self, a: int, b: int) -> int:
        return a + b


# For passes that compute no sum.
NO_SUM = _Count()


def first_rows(rows: Rows, size: int) -> Block | None:
    """The first ``size`` rows, or all if there are fewer; None if there are none. This does not count as a pass."""
    block = rows.resident()
    if block is not None:
        return block.take(np.arange(min(size, block.n_rows)))
    with rows.counter.paused():
        return next(rows.blocks(Order(size)), None)


def number_of_rows(rows: Rows) -> int:
    """The number of rows. If the source does not know it yet, this takes a pass."""
    n = rows.n_rows
    return rows.fold(_Count()) if n is None else n


def strands(n_blocks: int) -> Iterator[slice]:
    """The runs of blocks that are summed in parallel. More blocks add strands and leave the others as they are.

    >>> [run.stop - run.start for run in strands(100)][30:67]
    [1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 4]
    """
    start, number = 0, 0
    while start < n_blocks:
        length = strand_length(number)
        yield slice(start, min(start + length, n_blocks))
        start, number = start + length, number + 1


def strand_length(number: int) -> int:
    """The number of blocks in a strand, given the number of strands before it."""
    return 1 << (number // STRANDS_PER_LENGTH)


def additions_in_order(n_blocks: int) -> int:
    """The largest number of successive additions that the sum of a block goes through, in its strand and in merging.

    >>> additions_in_order(1), additions_in_order(32), additions_in_order(96)
    (2, 33, 66)
    """
    runs = list(strands(n_blocks))
    return len(runs) + max((run.stop - run.start for run in runs), default=0)


def strand_totals(runs: Iterable[slice], block: Callable[[int], Block], partial: Partial[A]) -> Iterator[A]:
    """The sum of ``partial`` over each run of blocks, in order. ``block(k)`` makes or reads block k."""

    def strand(run: slice) -> A:
        total = partial.zero()
        for k in range(run.start, run.stop):  # one block at a time: they may be read from a file
            total = partial.add(total, block(k))
            pulse("reading rows")
        return total

    return in_order(strand, runs)


def merged(totals: Iterable[A], partial: Partial[A]) -> A:
    """The totals of strands, merged in order, so that the result does not depend on the number of threads."""
    parts = iter(totals)
    whole = next(parts, None)
    if whole is None:
        return partial.zero()
    for part in parts:
        whole = partial.merge(whole, part)
        pulse("reading rows")
    return whole


def fold_strands(n_blocks: int, block: Callable[[int], Block], partial: Partial[A]) -> A:
    """Sum ``partial`` over blocks. ``block(k)`` makes or reads block k, perhaps in several threads."""
    return merged(strand_totals(strands(n_blocks), block, partial), partial)


def fold_blocks(blocks: Iterator[Block], partial: Partial[A]) -> A:
    """``fold_strands`` for blocks that arrive one by one, with the same result to the last bit.

    Only one block is in memory at a time.
    """

    def totals() -> Iterator[A]:
        for number, block in enumerate(blocks):
            total = partial.add(partial.zero(), block)
            for block in islice(blocks, strand_length(number) - 1):
                total = partial.add(total, block)
            yield total

    return merged(totals(), partial)
