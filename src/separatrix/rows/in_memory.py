"""Declarations of functions that need rows in memory, which refuse streamed rows by name."""

from __future__ import annotations

from dataclasses import dataclass

from separatrix.base.errors import ParameterError
from separatrix.rows.block import Block
from separatrix.rows.protocol import Rows


@dataclass(frozen=True)
class InMemory:
    """The declaration that the function ``name`` needs rows in memory, and the reason.

    A module declares it as a constant. ``docs/architecture.md`` lists all such constants in a table, and
    ``tests/package/test_in_memory.py`` compares the two. Solvers and classifiers have declarations of their own.

    >>> from separatrix.rows import memory_rows
    >>> import numpy as np
    >>> InMemory("median", "it sorts the rows").block(memory_rows(np.eye(2), np.ones(2))).n_rows
    2
    """

    name: str
    reason: str

    def block(self, rows: Rows) -> Block:
        """All rows as one block. Raises an error with the name of the function if rows are streamed."""
        block = rows.resident()
        if block is None:
            problem = f"its rows are streamed, and {self.name!r} needs rows in memory: {self.reason}"
            raise ParameterError("X", problem, "read the rows into memory first")
        return block
