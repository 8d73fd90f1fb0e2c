"""What a verdict is about, in words: classes, columns, categories, rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from separatrix.base.arrays import AnyArray, Integers
from separatrix.base.errors import ParameterError
from separatrix.base.labels import quoted
from separatrix.rows.block import is_sparse

# How many rows, and columns, are named in a sentence.
NAMED = 12


@dataclass(frozen=True)
class About:
    """The classes in their order (none: two, without names), the columns' names, whether there is an intercept.

    >>> About(True, names=("age", "student=Yes")).column(1)
    "the category 'Yes' of 'student'"
    """

    fit_intercept: bool
    classes: AnyArray = field(default_factory=lambda: np.zeros(0))
    names: tuple[str, ...] = ()

    def column(self, j: int) -> str:
        """Column j by its name; one named like ``student=Yes`` is a category."""
        if not self.names:
            return f"column {j}"
        of, equals, value = self.names[j].partition("=")
        return (
            f"the category {quoted(value)} of {quoted(of)}"
            if equals and of and value
            else f"column {quoted(self.names[j])}"
        )

    def label(self, k: int) -> str:
        return quoted(self.classes[k].item() if hasattr(self.classes[k], "item") else self.classes[k])

    @property
    def summing(self) -> str:
        """What a proof adds up."""
        row = "(1, x)" if self.fit_intercept else "x"
        if len(self.classes) > 2:
            return f"the gains of the one class's scores over the other's, as multiples of {row},"
        return f"their t·{row}"


def listed(rows: Integers, against: Integers, about: About) -> str:
    """The rows of a proof, the first few by number; for more than two classes with the class they are set against.

    >>> listed(np.array([3, 5]), np.array([0, 0]), About(True))
    '2 rows prove it (3, 5)'
    """
    many = len(about.classes) > 2
    shown = [
        f"row {i} against {about.label(k)}" if many else str(i)
        for i, k in zip(rows[:NAMED], against[:NAMED], strict=True)
    ]
    named = ", ".join(shown) + (", …" if len(rows) > NAMED else "")
    what = "pairs of a row and another class" if many else "rows"
    return f"{len(rows)} {what} prove it ({named})"


class Directed(Protocol):
    """A verdict whose direction needs some columns."""

    @property
    def about(self) -> About: ...
    @property
    def columns(self) -> Integers: ...


def category(verdict: Directed) -> str:
    """Which columns cause it."""
    shown = [verdict.about.column(int(j)) for j in verdict.columns[:NAMED]]
    if not shown:
        return "the intercept alone causes it"
    named = shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + f" and {shown[-1]}"
    if len(verdict.columns) > NAMED:
        named = ", ".join(shown) + ", …"
    return f"{named} {'causes' if len(verdict.columns) == 1 else 'cause'} it"


def column_names(X: Any, names: Sequence[str] | None) -> tuple[str, ...]:
    """The names given, else those of a frame, else none.

    >>> column_names([[1.0, 2.0]], ["a", "b"])
    ('a', 'b')
    """
    width = np.shape(X)[1] if is_sparse(X) or np.ndim(X) == 2 else 0
    own: Any = names if names is not None else getattr(X, "columns", None)
    if own is None:
        return ()
    found = tuple(str(name) for name in own)
    if len(found) != width:
        raise ParameterError("names", f"got {len(found)} for {width} columns", "give one a column")
    return found
