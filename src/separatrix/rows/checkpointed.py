"""Rows whose sums and samples are kept in a checkpoint, so that a resumed fit need not read them again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from separatrix._version import __version__
from separatrix.base.arrays import AnyArray
from separatrix.base.checkpoints import Checkpoint, current_checkpoint
from separatrix.rows.block import Block
from separatrix.rows.coding import ClassTotals, Coding
from separatrix.rows.frame import Frame
from separatrix.rows.labelled import LabelledTable, OutsideMemory
from separatrix.rows.protocol import Order, Partial, PassCounter, Rows
from separatrix.rows.sampling import Sample

A = TypeVar("A")


@dataclass(frozen=True)
class Answer:
    """What a pass returned, how many passes it took, and the number of rows as it was known afterwards."""

    value: Any
    passes: int
    n_rows: int | None


@dataclass
class _Known:
    """The number of rows, if it is known from an answer in the file."""

    n_rows: int | None = None


@dataclass(frozen=True)
class CheckpointedRows:
    """Rows of a source outside memory. ``part`` and ``coding`` distinguish the questions of several fits.

    An answer that comes from the file counts as many passes as it took, so that a resumed fit reports the passes of
    both runs together. Rows that are read in batches, by ``blocks``, are read again.
    """

    rows: Rows
    checkpoint: Checkpoint
    part: str
    coding: Coding
    known: _Known = field(default_factory=_Known, repr=False, compare=False)

    @property
    def n_rows(self) -> int | None:
        n = self.rows.n_rows
        return self.known.n_rows if n is None else n

    @property
    def n_features(self) -> int:
        return self.rows.n_features

    @property
    def is_sparse(self) -> bool:
        return self.rows.is_sparse

    @property
    def is_row_major(self) -> bool:
        return self.rows.is_row_major

    @property
    def frame(self) -> Frame:
        return self.rows.frame

    @property
    def weight_unit(self) -> float:
        return self.rows.weight_unit

    @property
    def counter(self) -> PassCounter:
        return self.rows.counter

    def seen_through(self, frame: Frame) -> CheckpointedRows:
        return replace(self, rows=self.rows.seen_through(frame))

    def fold(self, partial: Partial[A]) -> A:
        answer: A = self._answer(("fold", partial), lambda: self.rows.fold(partial))
        return answer

    def sample(self, size: int, seed: int, targets: AnyArray | None = None) -> Sample:
        drawn: Sample = self._answer(("sample", size, seed, targets), lambda: self.rows.sample(size, seed, targets))
        return drawn

    def blocks(self, order: Order) -> Iterator[Block]:
        return self.rows.blocks(order)

    def resident(self) -> Block | None:
        return self.rows.resident()

    def _answer(self, question: tuple[Any, ...], ask: Callable[[], Any]) -> Any:
        counted = list[int]()

        def asked() -> Answer:
            before = self.counter.passes
            value = ask()
            counted.append(self.counter.passes - before)
            return Answer(value, counted[0], self.rows.n_rows)

        coding = (self.coding.signs, self.coding.factors, self.coding.unit, self.coding.held, self.coding.numbers)
        where = (self.part, *coding, self.frame)
        answer = self.checkpoint.result((*where, *question), asked)
        if not counted:
            for _ in range(answer.passes):
                self.counter.add()
            self.known.n_rows = answer.n_rows if self.known.n_rows is None else self.known.n_rows
        return answer.value


@dataclass(frozen=True)
class CheckpointedTable:
    """A ``LabelledTable`` outside memory whose rows are kept in a checkpoint."""

    table: LabelledTable
    checkpoint: Checkpoint
    part: str

    @property
    def n_rows(self) -> int:
        return self.table.n_rows

    @property
    def n_features(self) -> int:
        return self.table.n_features

    @property
    def totals(self) -> ClassTotals:
        return self.table.totals

    @property
    def seen_totals(self) -> ClassTotals:
        return self.table.totals

    def rows(self, coding: Coding) -> CheckpointedRows:
        return CheckpointedRows(self.table.rows(coding), self.checkpoint, self.part, coding)


def kept_in_checkpoint(table: OutsideMemory, classifier: str, settings: Mapping[str, Any]) -> LabelledTable:
    """The table with its passes saved in the current checkpoint; the table itself if there is no checkpoint.

    The checkpoint must be of the same table and of the same classifier with the same settings.
    """
    held = current_checkpoint()
    if held is None:
        return table
    facts = {
        "version of separatrix": __version__,
        "table": table.fingerprint,
        "columns": ", ".join(table.columns),
        "classes": ", ".join(map(repr, table.classes.tolist())),
        "number of rows": ", ".join(map(str, table.totals.rows.tolist())),
        "classifier": classifier,
        **{f"setting {name}": str(value) for name, value in sorted(settings.items())},
    }
    return CheckpointedTable(table, held, held.begin("fit", facts))
