"""Rows: the one seam between data and everything that sums over it."""

from separatrix.rows.block import Block, Frame
from separatrix.rows.columns import ColumnSummary, standard_frame, summarise
from separatrix.rows.memory import MemoryRows, memory_rows, some_rows
from separatrix.rows.sampling import Sample
from separatrix.rows.seam import ArraySum, Order, Partial, Rows, count_pass, counted_passes

__all__ = [
    "ArraySum",
    "Block",
    "ColumnSummary",
    "Frame",
    "MemoryRows",
    "Order",
    "Partial",
    "Rows",
    "Sample",
    "count_pass",
    "counted_passes",
    "memory_rows",
    "some_rows",
    "standard_frame",
    "summarise",
]
