"""Declares which functions need rows in memory.

Given streamed rows or a table outside memory, such a function raises an error that names it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import ParamSpec, TypeVar

from separatrix.base.dask_types import is_dask_table
from separatrix.base.errors import ParameterError
from separatrix.rows.block import Block
from separatrix.rows.labelled import OutsideMemory
from separatrix.rows.protocol import Rows

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class InMemory:
    """The declaration that the function ``name`` needs rows in memory, the reason, and what to do instead.

    A module declares it as a constant. ``docs/architecture.md`` lists all such constants in a table, and
    ``tests/package/test_in_memory.py`` compares the two. Solvers and classifiers have declarations of their own.

    >>> from separatrix.rows import memory_rows
    >>> import numpy as np
    >>> InMemory("median", "it sorts the rows").block(memory_rows(np.eye(2), np.ones(2))).n_rows
    2
    """

    name: str
    reason: str
    instead: str = "read the rows into memory first"

    def block(self, rows: Rows) -> Block:
        """All rows as one block. Raises an error with the name of the function if rows are streamed."""
        block = rows.resident()
        if block is None:
            problem = f"its rows are streamed, and {self.name!r} needs rows in memory: {self.reason}"
            raise ParameterError("X", problem, self.instead)
        return block

    def refusing_tables(self, function: Callable[P, T]) -> Callable[P, T]:
        """The function, which raises an error with its name if one of its arguments is a table outside memory.

        So are Dask collections of rows, which NumPy would gather without notice.
        """

        @wraps(function)
        def refusing(*args: P.args, **kwargs: P.kwargs) -> T:
            for given in (*args, *kwargs.values()):
                if isinstance(given, OutsideMemory) or is_dask_table(given):
                    what = given.name if isinstance(given, OutsideMemory) else "a Dask collection"
                    problem = f"{what} is not in memory, and {self.name!r} needs rows in memory: {self.reason}"
                    raise ParameterError("X", problem, self.instead)
            return function(*args, **kwargs)

        return refusing
