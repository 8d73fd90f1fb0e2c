"""The seam: what every home of rows offers, and what can be summed over them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar, runtime_checkable

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.base.concurrency import in_order
from separatrix.rows.block import Block, Frame

if TYPE_CHECKING:
    from separatrix.rows.sampling import Sample

A = TypeVar("A")

# Blocks of this size stay in cache between X·w and Xᵀr, so a pass reads X once; smaller ones make threads wait for each
# other, since NumPy takes the interpreter back after each call: at a megabyte two threads were slower than one.
BLOCK_BYTES = 1 << 22
# Enough strands to feed many cores; few enough that their accumulators are no burden.
STRANDS = 32


class Partial(Protocol[A]):
    """What is summed: small, picklable, holds weights, never rows."""

    def zero(self) -> A: ...
    def add(self, total: A, block: Block) -> A: ...
    def merge(self, a: A, b: A) -> A: ...


class ArraySum(ABC):
    """A partial whose total is one float64 array, added in place."""

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
class Order:
    """How rows are walked: in batches of ``size``, as given, shuffled, or drawn with replacement.

    The walk is a function of (seed, epoch), so a run resumed from a checkpoint walks on as it would have.
    """

    size: int
    draw: Literal["given", "shuffled", "replacement"] = "given"
    seed: int = 0
    epoch: int = 0

    def rows(self, n_rows: int) -> Integers:
        if self.draw == "given":
            return np.arange(n_rows)
        rng = np.random.default_rng([self.seed, self.epoch])
        if self.draw == "shuffled":
            return rng.permutation(n_rows)
        return rng.integers(0, n_rows, n_rows)


_counters: ContextVar[tuple[list[int], ...]] = ContextVar("separatrix_passes", default=())


class PassCounter:
    """How often all rows have been read. Rows carry one, and every view of the same rows shares it.

    >>> counter = PassCounter()
    >>> counter.add()
    >>> counter.passes
    1
    """

    __slots__ = ("passes",)

    def __init__(self) -> None:
        self.passes = 0

    def add(self) -> None:
        """Note that every row has been read once more."""
        self.passes += 1
        for counter in _counters.get():
            counter[0] += 1


class _NotCounted(PassCounter):
    """The counter of rows that are only some of all rows: reading them is not a pass."""

    __slots__ = ()

    def add(self) -> None:
        pass


NOT_COUNTED = _NotCounted()


@runtime_checkable
class Rows(Protocol):
    """Rows in some home: dense memory, sparse memory, later a stream or a cluster.

    ``fold``, ``blocks`` and ``sample`` each add a pass to ``counter``, which all views of the same rows share. Code
    that reads the block of ``resident()`` itself calls ``counter.add()`` each time it has read all of it.

    ``n_rows`` is None until a home that cannot know it has been read once. ``weight_unit``: what the weights were
    divided by before they came here.
    """

    @property
    def n_rows(self) -> int | None: ...
    @property
    def n_features(self) -> int: ...
    @property
    def frame(self) -> Frame: ...
    @property
    def weight_unit(self) -> float: ...
    @property
    def counter(self) -> PassCounter: ...
    def seen_through(self, frame: Frame) -> Rows: ...
    def fold(self, partial: Partial[A]) -> A: ...
    def blocks(self, order: Order) -> Iterator[Block]: ...
    def sample(self, size: int, seed: int, targets: AnyArray | None = None) -> Sample: ...
    def resident(self) -> Block | None: ...


def count_pass() -> None:
    """Note that every row of an array without a counter of its own has been read once more."""
    for counter in _counters.get():
        counter[0] += 1


@contextmanager
def counted_passes() -> Iterator[list[int]]:
    """How often the rows are read inside the block: entry 0 of what it gives.

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
    """The partial that counts rows."""

    def zero(self) -> int:
        return 0

    def add(self, total: int, block: Block) -> int:
        return total + block.n_rows

    def merge(self, a: int, b: int) -> int:
        return a + b


@dataclass(frozen=True)
class _Weight:
    """The partial that adds up the rows' weights."""

    def zero(self) -> float:
        return 0.0

    def add(self, total: float, block: Block) -> float:
        return total + float(block.weight.sum())

    def merge(self, a: float, b: float) -> float:
        return a + b


def total_weight(rows: Rows) -> float:
    """Σ s: without a pass where rows are in memory."""
    block = rows.resident()
    return rows.fold(_Weight()) if block is None else float(block.weight.sum())


@dataclass(frozen=True)
class _Stacked:
    """The partial that puts what a function says of each block one after the other."""

    function: Callable[[Block], AnyArray]

    def zero(self) -> list[AnyArray]:
        return []

    def add(self, total: list[AnyArray], block: Block) -> list[AnyArray]:
        return [*total, self.function(block)]

    def merge(self, a: list[AnyArray], b: list[AnyArray]) -> list[AnyArray]:
        return a + b


def by_row(rows: Rows, function: Callable[[Block], AnyArray]) -> AnyArray:
    """What a function of a block says of each of its rows, (n, …), for all rows.

    Rows in memory are one block; of others one number a row is kept, and never the rows.
    """
    block = rows.resident()
    return np.concatenate(rows.fold(_Stacked(function))) if block is None else function(block)


def number_of_rows(rows: Rows) -> int:
    """How many rows there are; a pass counts them where their home does not know yet."""
    n = rows.n_rows
    return rows.fold(_Count()) if n is None else n


def fold_strands(blocks: Sequence[Block], partial: Partial[A]) -> A:
    """Sum ``partial`` over blocks: fixed strands, merged in a fixed order, whatever the threads."""
    if len(blocks) == 1:
        return partial.add(partial.zero(), blocks[0])
    edges = np.linspace(0, len(blocks), min(STRANDS, len(blocks)) + 1).astype(int)

    def strand(k: int) -> A:
        total = partial.zero()
        for block in blocks[edges[k] : edges[k + 1]]:
            total = partial.add(total, block)
        return total

    parts = in_order(strand, range(len(edges) - 1))
    total = next(parts, None)
    if total is None:
        return partial.zero()
    for part in parts:
        total = partial.merge(total, part)
    return total
