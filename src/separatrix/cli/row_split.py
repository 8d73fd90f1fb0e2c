"""The rows of a fit, fitted and held out, in memory or in files: what the output of ``fit`` says about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.base.cached import cached_property
from separatrix.cli.measures_output import Measures
from separatrix.rows.csr import is_sparse

if TYPE_CHECKING:
    from separatrix.rows.labelled import OutsideMemory

# What the model file says about held-out rows that were chosen by a hash of the row number.
BY_HASH = "row hash"


class RowSplit(Protocol):
    """``counts`` and ``fitted_counts``: the rows of each class, all and fitted. ``how``: how rows were chosen."""

    @property
    def counts(self) -> list[int]: ...
    @property
    def fitted_counts(self) -> list[int]: ...
    @property
    def how(self) -> str: ...
    @property
    def training(self) -> dict[str, Any]: ...
    def deviations(self) -> Array: ...
    def measures(self, model: Any) -> Measures | None: ...


@dataclass(frozen=True, eq=False)
class MemorySplit:
    """Rows X in memory with class numbers ``codes`` (n,); ``held`` (n,) marks those held out."""

    X: Any
    classes: AnyArray
    codes: Integers
    held: Any

    @cached_property
    def counts(self) -> list[int]:
        return [int(count) for count in np.bincount(self.codes)]

    @cached_property
    def fitted_counts(self) -> list[int]:
        """The number of fitted rows of each class."""
        return [int(count) for count in np.bincount(self.codes[~self.held], minlength=len(self.classes))]

    @property
    def how(self) -> str:
        return "stratified by class"

    @property
    def training(self) -> dict[str, Any]:
        """What the model file stores about the choice of rows."""
        return {}

    def deviations(self) -> Array:
        """The standard deviation of each column over the fitted rows."""
        return deviations(self.X[~self.held])

    def rows(self, which: Any) -> tuple[Any, Any]:
        """X and the labels of some rows."""
        return self.X[which], self.classes[self.codes[which]]

    def measures(self, model: Any) -> Measures | None:
        """The measures on the held-out rows; None if there are none."""
        return Measures(model, *self.rows(self.held), self.fitted_counts) if self.held.any() else None


@dataclass(frozen=True, eq=False)
class StreamedSplit:
    """Rows outside memory. ``held`` is None if none is held out. ``kept`` (K,): the rows of each label, in both."""

    fitted: OutsideMemory
    held: OutsideMemory | None
    kept: Integers

    @property
    def fitted_counts(self) -> list[int]:
        """The number of fitted rows of each class."""
        return [int(count) for count in self.fitted.totals.rows]

    @property
    def counts(self) -> list[int]:
        return [int(count) for count in self.kept if count]

    @property
    def how(self) -> str:
        return "stratified by class, by a hash of the row number"

    @property
    def training(self) -> dict[str, Any]:
        """What the model file stores about the choice of rows."""
        return {"split": BY_HASH} if self.held is not None else {}

    def deviations(self) -> Array:
        """The standard deviation of each column over the fitted rows, in one pass."""
        from separatrix.rows.coding import CLASS_NUMBERS
        from separatrix.rows.column_statistics import summarise

        return summarise(self.fitted.rows(CLASS_NUMBERS), ranges=False).std

    def measures(self, model: Any) -> Measures | None:
        """The measures on the held-out rows, in one pass; None if there are none."""
        return None if self.held is None else Measures(model, self.held, None, self.fitted_counts)


def deviations(X: Any) -> Array:
    """The standard deviation of each column of dense or sparse rows.

    >>> deviations(np.array([[0.0, 1.0], [2.0, 1.0]])).tolist()
    [1.0, 0.0]
    >>> deviations(np.array([[-1e300], [1e300]])).tolist()
    [1e+300]
    """
    if not is_sparse(X):
        with np.errstate(over="ignore", invalid="ignore"):
            std = np.asarray(X.std(axis=0))
        overflowed = np.flatnonzero(~np.isfinite(std))
        if len(overflowed):  # The squares of huge numbers overflow; dividing by a power of two is exact.
            std[overflowed] = np.ldexp(np.ldexp(X[:, overflowed], -1000).std(axis=0), 1000)
        return std
    mean = np.asarray(X.mean(axis=0)).ravel()
    squares = np.asarray(X.multiply(X).mean(axis=0)).ravel()
    return np.asarray(np.sqrt(np.maximum(squares - mean**2, 0.0)))
