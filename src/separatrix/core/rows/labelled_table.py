"""Tables with labels, in memory or outside, and the `Rows` that are made of them.

A ``LabelledTable`` is what a classifier is fitted to: rows with class numbers and weights. It gives ``Rows`` with the
targets and weights of a ``Coding``; all code behind it takes ``Rows``. A function that needs rows in memory declares
this by an ``InMemory``, which refuses streamed rows and tables outside memory with an error that names the function.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import wraps
from typing import Any, NoReturn, ParamSpec, Protocol, TypeVar

import numpy as np

from separatrix.core.base.arrays import AnyArray, Array, Integers, Matrix
from separatrix.core.base.errors import ParameterError, TableError
from separatrix.core.base.lazy import cached_property, is_dask_table
from separatrix.core.rows.block import Block, is_sparse
from separatrix.core.rows.memory_rows import MemoryRows, memory_rows
from separatrix.core.rows.protocol import Order, Rows
from separatrix.core.rows.targets import CLASS_NUMBERS, ClassTotals, Coding, class_targets, weight_unit

# --- Tables


class OutsideMemory(ABC):
    """A table in files or on a cluster, which ``fit`` takes in place of X and y. It is a ``LabelledTable``.

    ``columns`` are the names of the columns of X, ``classes`` the sorted labels. ``dtype`` is float32 if all columns
    are, else float64. ``has_names``: the names are the user's, and not only numbers of columns.
    ``has_weights``: the rows have weights that the user gave.
    ``absent_are_zero``: columns that the table does not have are zero, as in a libsvm file, with its columns x1, x2, ….
    """

    columns: tuple[str, ...]
    has_names: bool = True

    @property
    def absent_are_zero(self) -> bool:
        return False

    @property
    def has_weights(self) -> bool:
        return False

    @property
    @abstractmethod
    def name(self) -> str: ...
    @property
    @abstractmethod
    def classes(self) -> AnyArray: ...
    @property
    @abstractmethod
    def dtype(self) -> Any: ...
    @property
    @abstractmethod
    def totals(self) -> ClassTotals: ...
    @abstractmethod
    def rows(self, coding: Coding) -> Rows: ...

    @property
    def n_features(self) -> int:
        return len(self.columns)

    @property
    def n_rows(self) -> int:
        return self.totals.n_rows

    @property
    def seen_totals(self) -> ClassTotals:
        """Totals that say which classes have rows, and the largest weights. They may count a part of the rows only."""
        return self.totals

    @property
    def known_rows(self) -> int | None:
        """The number of rows, if it is known without another pass."""
        return self.n_rows

    def matrices(self) -> Iterator[Matrix]:
        """X in consecutive pieces, in the order of the rows, for predictions, which need no labels."""
        return (block.X for block in self.rows(CLASS_NUMBERS).blocks(Order(1 << 16)))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        """Refuse to become an array, since functions that ask for one need all rows in memory."""
        raise TableError(
            self.name,
            "it is a table outside memory, and this function needs an array, as GridSearchCV, cross-validation and "
            "the other steps of a Pipeline do",
            "fit one classifier at a time, since fit, predict, evaluate, summary and certificate_.verify read such "
            "tables, or read the rows into memory first",
        )


class LabelledTable(Protocol):
    """Rows with class numbers 0 … K − 1 and weights, in memory, in files or on a cluster."""

    @property
    def n_rows(self) -> int: ...
    @property
    def n_features(self) -> int: ...
    @property
    def totals(self) -> ClassTotals: ...
    @property
    def seen_totals(self) -> ClassTotals: ...
    def rows(self, coding: Coding) -> Rows: ...


@dataclass(frozen=True)
class MemoryTable:
    """X (n, d) dense or CSR, class numbers (n,) and weights (n,) in memory.

    >>> table = MemoryTable(np.eye(2), np.array([0, 1]), np.ones(2), 2)
    >>> table.rows(Coding(signs=True)).t.tolist()
    [-1.0, 1.0]
    """

    X: Any
    codes: Integers
    weight: Array
    n_classes: int

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])

    @cached_property
    def totals(self) -> ClassTotals:
        return ClassTotals.of(self.codes, self.weight, self.n_classes)

    @property
    def seen_totals(self) -> ClassTotals:
        return self.totals

    def rows(self, coding: Coding) -> MemoryRows:
        t, weight = coding.of(self.codes, self.weight)
        return memory_rows(self.X, t, weight, weight_unit=coding.unit)


def labelled_rows(
    X: Any, codes: Integers, n_classes: int, weight: Array | None = None, offset: Array | None = None
) -> MemoryRows:
    """Rows in memory with the targets of a likelihood: ±1 for two classes, class numbers for more.

    Weights are divided by a power of two, ``weight_unit``, so that their sums stay far from overflow and underflow.
    ``offset`` (n, K or 1) is added to the scores. It is appended to X as columns, which copies X.

    >>> rows = labelled_rows(np.eye(2), np.array([0, 1]), 2, np.array([3.0, 5.0]))
    >>> rows.t.tolist(), rows.weight.tolist(), rows.weight_unit
    ([-1.0, 1.0], [0.75, 1.25], 4.0)
    """
    weight = np.ones(len(codes)) if weight is None else weight
    unit = weight_unit(float(weight.max(initial=0.0)))
    X = X if offset is None else with_offset(X, offset)
    weight = weight if unit == 1 else weight / unit
    return memory_rows(X, class_targets(codes, n_classes), weight, weight_unit=unit)


def with_offset(X: Any, offset: Array) -> Any:
    """X with the columns of an offset appended."""
    if not is_sparse(X):
        return np.column_stack([X, offset])
    from scipy.sparse import csr_array, hstack

    return hstack([csr_array(X), csr_array(offset)], format="csr")


# --- Functions that need rows in memory

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class InMemory:
    """The declaration that the function ``name`` needs rows in memory, the reason, and what to do instead.

    A module declares it as a constant. ``docs/architecture.md`` lists all such constants in a table, and
    ``tests/package/test_in_memory.py`` compares the two. Solvers and classifiers have declarations of their own.

    >>> from separatrix.core.rows.memory_rows import memory_rows
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
