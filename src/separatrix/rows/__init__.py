"""Rows: the one seam between data and everything that sums over it."""

from separatrix.rows.block import Block, Frame
from separatrix.rows.column_statistics import ColumnSummary, standard_frame, summarise
from separatrix.rows.memory import MemoryRows, memory_rows, some_rows
from separatrix.rows.protocol import ArraySum, Order, Partial, Rows, count_pass, counted_passes
from separatrix.rows.sampling import Sample

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
