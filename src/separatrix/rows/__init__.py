"""The `Rows` interface, through which all other code reads data, and its in-memory implementation."""

from separatrix.rows.block import Block
from separatrix.rows.column_statistics import ColumnSummary, standard_frame, summarise
from separatrix.rows.frame import Frame
from separatrix.rows.labelled import labelled_rows
from separatrix.rows.memory import MemoryRows, memory_rows, some_rows
from separatrix.rows.protocol import (
    NOT_COUNTED,
    ArraySum,
    Order,
    Partial,
    PassCounter,
    Rows,
    count_pass,
    counted_passes,
    first_rows,
    number_of_rows,
)
from separatrix.rows.sampling import Sample

__all__ = [
    "NOT_COUNTED",
    "ArraySum",
    "Block",
    "ColumnSummary",
    "Frame",
    "MemoryRows",
    "Order",
    "Partial",
    "PassCounter",
    "Rows",
    "Sample",
    "count_pass",
    "counted_passes",
    "first_rows",
    "labelled_rows",
    "memory_rows",
    "number_of_rows",
    "some_rows",
    "standard_frame",
    "summarise",
]
