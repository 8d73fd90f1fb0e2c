"""A table in parts: rows X with their labels and weights, from any kind of source."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

from separatrix.base.arrays import Array, Matrix
from separatrix.base.cached import cached_property
from separatrix.rows.cutting import block_rows
from separatrix.rows.protocol import BLOCK_BYTES
from separatrix.streams.batches import MOST_ROWS_PER_BATCH, Batches, LabelKind, Stamp
from separatrix.streams.labelling import checked_weights, refuse_not_finite
from separatrix.streams.matrix import float_width, matrix


class Part(NamedTuple):
    """Consecutive rows: X (m, d), labels as an Arrow array (m,) and weights (m,), each None if not asked for."""

    X: Matrix | None
    labels: Any
    weight: Array | None


class PartTable(Protocol):
    """Rows that can be read any number of times, in parts.

    ``description`` says what is read of the source. ``settled(X)`` gives rows of a part all columns, whose number some
    sources know only after they have been read. The other attributes are those of ``Batches``.
    """

    @property
    def name(self) -> str: ...
    @property
    def columns(self) -> tuple[str, ...]: ...
    @property
    def dtype(self) -> Any: ...
    @property
    def is_sparse(self) -> bool: ...
    @property
    def is_slow(self) -> bool: ...
    @property
    def label_kind(self) -> LabelKind: ...
    @property
    def n_rows(self) -> int | None: ...
    @property
    def stamps(self) -> tuple[Stamp, ...]: ...
    @property
    def description(self) -> str: ...
    def called(self, row: int) -> str: ...
    def parts(self, numbers: bool = True) -> Iterator[Part]: ...
    def settled(self, X: Any) -> Any: ...


@dataclass(frozen=True)
class BatchTable:
    """The columns of record batches: ``columns`` are those of X, ``target`` and ``weight`` are names or None."""

    batches: Batches
    columns: tuple[str, ...]
    target: str | None
    weight: str | None
    is_sparse: ClassVar[bool] = False

    @property
    def name(self) -> str:
        return self.batches.name

    @cached_property
    def dtype(self) -> Any:
        return float_width(self.batches.schema, self.columns)

    @property
    def is_slow(self) -> bool:
        return self.batches.is_slow

    @property
    def label_kind(self) -> LabelKind:
        return self.batches.label_kind

    @property
    def n_rows(self) -> int | None:
        return self.batches.n_rows

    @property
    def stamps(self) -> tuple[Stamp, ...]:
        return self.batches.stamps

    @property
    def description(self) -> str:
        """What is read of the files: columns with their types, the target and the weight."""
        schema = self.batches.schema
        chosen = (*self.columns, *(name for name in (self.target, self.weight) if name is not None))
        types = [f"{name!r}: {schema.field(name).type}" for name in chosen]
        return f"{types} target={self.target!r} weight={self.weight!r}"

    def called(self, row: int) -> str:
        return self.batches.called(row)

    @property
    def _batch_rows(self) -> int:
        """The rows of a batch: those of a block of rows that is summed, or half of them, which saves copies."""
        return min(MOST_ROWS_PER_BATCH, block_rows(min(BLOCK_BYTES, self.batches.batch_bytes), len(self.columns)))

    def settled(self, X: Any) -> Any:
        """X, which has all columns."""
        return X

    def parts(self, numbers: bool = True) -> Iterator[Part]:
        """The rows; without ``numbers`` their labels and weights alone."""
        columns = self.columns if numbers else ()
        extra = [name for name in (self.target, self.weight) if name is not None]
        start = 0
        for batch in self.batches.read([*columns, *extra], self._batch_rows if numbers else None):
            X = matrix(batch, columns, self.dtype) if numbers else None
            if X is not None:
                refuse_not_finite(X, columns, start, self.called)
            labels = None if self.target is None else batch.column(self.target)
            weight = None
            if self.weight is not None:
                weight = checked_weights(batch.column(self.weight), self.weight, start, self.called)
            yield Part(X, labels, weight)
            start += batch.num_rows
