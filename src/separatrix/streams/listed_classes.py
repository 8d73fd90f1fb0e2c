"""Labels of a table whose classes the user has listed: they are numbered and counted in the first pass over the rows.

So no pass over the column of labels precedes it. Which of the classes have rows must be known before, since classes
without rows are left out of a fit. The first rows usually show all of them. These rows are kept until the first pass,
which continues where they end, so that the source is opened no more often than there are passes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from separatrix.base.arrays import Integers
from separatrix.base.read_ahead import read_ahead
from separatrix.rows.coding import ClassTotals
from separatrix.streams.labelling import LabelColumn, Labelling, Numbering
from separatrix.streams.table_parts import Part, PartTable

# The most parts that are searched for rows of all classes. If a class is missing in them, the labels are read first.
MOST_PARTS_KEPT = 8


@dataclass
class _Begun:
    """A pass that has been begun: its parts so far with their class numbers, and the iterator that gives the others."""

    labelling: Labelling
    others: Iterator[Part]
    parts: list[tuple[Part, Integers]] = field(default_factory=list)

    def next(self) -> tuple[Part, Integers] | None:
        """The next part; None at the end."""
        part = next(self.others, None)
        return None if part is None else (part, self.labelling.class_numbers(part.labels, part.weight))


class ListedClasses:
    """The labels of ``table``, all of which ``labels.given`` lists. ``weighted``: rows have weights."""

    def __init__(self, table: PartTable, labels: LabelColumn, weighted: bool) -> None:
        self.table, self.labels, self.weighted = table, labels, weighted
        self.numbering: Numbering | None = None
        # The pass that has been begun, if there is one. Adding to a deque and taking from it need no lock.
        self._begun: deque[_Begun] = deque(maxlen=1)

    def __getstate__(self) -> dict[str, Any]:
        """Without the pass that has been begun, which belongs to this process."""
        return {"table": self.table, "labels": self.labels, "weighted": self.weighted, "numbering": self.numbering}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["table"], state["labels"], state["weighted"])  # type: ignore[misc]
        self.numbering = state["numbering"]

    def seen_totals(self) -> ClassTotals | None:
        """The totals of the first rows, if these have all classes; None if that is not so, or weights differ."""
        if self.weighted:
            return None
        begun, wanted = self._taken(), set(range(len(self.labels.given)))  # type: ignore[arg-type]
        while wanted != set(begun.labelling.among_given) and len(begun.parts) < MOST_PARTS_KEPT:
            found = begun.next()
            if found is None:
                break
            begun.parts.append(found)
        if wanted != set(begun.labelling.among_given):
            return None
        totals = begun.labelling.numbering(self.weighted).totals
        self._begun.append(begun)
        return totals

    def parts(self) -> Iterator[tuple[Part, Integers]]:
        """All parts with their class numbers: the first pass, which continues after the rows that have been kept."""
        begun = self._taken()
        begun.parts.reverse()
        while begun.parts:
            yield begun.parts.pop()
        with closing(read_ahead(iter(begun.next, None))) as others:
            yield from others
        self.numbering = begun.labelling.numbering(self.weighted)

    def _taken(self) -> _Begun:
        """The pass that has been begun, which only one caller gets, or a new one."""
        try:
            return self._begun.pop()
        except IndexError:
            return self._begin()

    def _begin(self) -> _Begun:
        labelling = self.labels.labelling(self.table)
        assert labelling is not None
        return _Begun(labelling, self.table.parts())
