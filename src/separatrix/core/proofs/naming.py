"""Descriptions of classes, columns, categories and rows for the sentences of a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from separatrix.core.base.arrays import AnyArray, Array, Integers
from separatrix.core.base.codec import Labels
from separatrix.core.base.errors import ParameterError
from separatrix.core.base.labels import quoted
from separatrix.core.base.messages import ColumnName, Message, ReferenceLevel, RowNumber, joined
from separatrix.core.proofs.class_differences import Differences
from separatrix.core.rows.block import is_sparse

if TYPE_CHECKING:
    from separatrix.core.proofs.verdicts import QuasiSeparable

# --- Reference levels that cause a quasi-complete separation


def levels_by_category(names: Sequence[str]) -> dict[str, Integers]:
    """The columns of each category. A name such as 'student=Yes' denotes a level.

    >>> levels_by_category(["age", "class=2", "class=3"])
    {'class': array([1, 2])}
    """
    found: dict[str, list[int]] = {}
    for j, name in enumerate(names):
        of, equals, level = name.partition("=")
        if of and equals and level:
            found.setdefault(of, []).append(j)
    return {of: np.array(columns) for of, columns in found.items()}


def with_reference_columns(D: Differences, names: Sequence[str]) -> tuple[Differences, list[Integers]]:
    """Rows of one 0/1 column for each reference level, and the columns of the other levels of its category.

    The reference level of a category has no column of its own, but 1 minus the sum of the columns of the other levels
    is one: it is 1 in the rows of the reference level and 0 in all others. With an intercept, a threshold for it is a
    direction like any other, although it uses all columns of the category.

    >>> D = Differences(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), np.array([0, 1, 1]), 2)
    >>> reference, columns = with_reference_columns(D, ["class=2", "class=3"])
    >>> reference.X.ravel().tolist(), [list(map(int, one)) for one in columns]
    ([1.0, 0.0, 0.0], [[0, 1]])
    """
    found: list[Array] = []
    columns: list[Integers] = []
    for levels in levels_by_category(names).values() if D.fit_intercept else ():
        rest = _rest(D.X[:, levels])
        if rest is not None:
            found.append(rest)
            columns.append(levels)
    X = np.column_stack(found) if found else np.zeros((len(D.codes), 0))
    return replace(D, X=X), columns


def _rest(levels: Any) -> Array | None:
    """1 minus the sum of these columns, if each row has a 1 in at most one of them and is 0 elsewhere; else None."""
    entries = levels.data if is_sparse(levels) else levels
    if not np.all((entries == 0) | (entries == 1)):
        return None
    rest = 1.0 - np.asarray(levels.sum(axis=1), dtype=np.float64).ravel()
    return rest if rest.min(initial=0.0) >= 0 else None


def over_levels(W: AnyArray, levels: Integers, n_columns: int) -> AnyArray:
    """Weights (K, 2) of an intercept and the column of a reference level, as weights (K, n_columns + 1).

    >>> over_levels(np.array([[-1, 1]], dtype=object), np.array([1, 2]), 3).tolist()
    [[0, 0, -1, -1]]
    """
    whole = np.zeros((len(W), n_columns + 1), dtype=object)
    whole[:, 0] = W[:, 0] + W[:, 1]
    whole[:, levels + 1] = -W[:, 1:]
    return whole


# --- The names that sentences use

# Largest number of rows, and of columns, that a sentence names.
NAMED = 12


@dataclass(frozen=True)
class About:
    """The names that the sentences of a verdict use: ``classes`` in their order, and column ``names``.

    ``classes`` is empty for two classes without names. ``fit_intercept`` tells whether there is an intercept.

    >>> print(About(True, names=("age", "student=Yes")).column(1))
    the category 'Yes' of 'student'
    """

    fit_intercept: bool
    classes: Annotated[AnyArray, Labels(least=0)] = field(default_factory=lambda: np.zeros(0))
    names: tuple[str, ...] = ()

    def column(self, j: int) -> Message:
        """Column j, by its name if that is known."""
        return Message(ColumnName(j, column_words(self.names[j]) if self.names else None))

    def label(self, k: int) -> str:
        return quoted(self.classes[k].item() if hasattr(self.classes[k], "item") else self.classes[k])

    @property
    def summing(self) -> str:
        """The terms whose weighted sum is zero in a proof, in words."""
        row = "(1, x)" if self.fit_intercept else "x"
        if len(self.classes) > 2:
            return f"the gains of the one class's scores over the other's, as multiples of {row},"
        return f"their t·{row}"


def column_words(name: str) -> str:
    """A column in words. A name such as 'student=Yes' denotes a category.

    >>> column_words("age"), column_words("student=Yes")
    ("column 'age'", "the category 'Yes' of 'student'")
    """
    of, equals, value = name.partition("=")
    if equals and of and value:
        return f"the category {quoted(value)} of {quoted(of)}"
    return f"column {quoted(name)}"


def numbered(rows: Integers) -> Message:
    """The row numbers as a list; only the first ``NAMED`` are shown.

    >>> print(numbered(np.array([3, 5])))
    3, 5
    """
    shown = joined(", ", [Message(RowNumber(int(i))) for i in rows[:NAMED]])
    return Message(shown, ", …" if len(rows) > NAMED else "")


def listed(rows: Integers, against: Integers, about: About) -> Message:
    """The number of rows in a proof and the first row numbers; for K > 2, also the class each is compared with.

    >>> print(listed(np.array([3, 5]), np.array([0, 0]), About(True)))
    2 rows prove it (3, 5)
    """
    if len(about.classes) <= 2:
        return Message(f"{len(rows)} rows prove it (", numbered(rows), ")")
    pairs = zip(rows[:NAMED], against[:NAMED], strict=True)
    shown = joined(", ", [Message("row ", RowNumber(int(i)), f" against {about.label(k)}") for i, k in pairs])
    more = ", …" if len(rows) > NAMED else ""
    return Message(f"{len(rows)} pairs of a row and another class prove it (", shown, more, ")")


def causes(verdict: QuasiSeparable) -> Message:
    """A sentence that names the columns of every cause, or the reference level that is the cause."""
    if not len(verdict.causes[0]):
        return Message("the intercept alone causes it")
    named = named_causes(verdict)
    if len(named) > 1:
        return Message(_enumerated(named), " each cause it")
    plural = len(verdict.causes[0]) > 1 and not any(isinstance(one, ReferenceLevel) for one in named[0].within())
    return Message(named[0], " cause it" if plural else " causes it")


def named_causes(verdict: QuasiSeparable) -> list[Message]:
    """Every cause by name: its columns, or the reference level. Empty if the intercept alone is the cause."""
    last = " and " if len(verdict.causes) == 1 else " with "
    found = []
    for columns, W in zip(verdict.causes, verdict.directions, strict=True):
        level = reference_of(verdict.about, columns, W) if len(columns) else None
        if level is not None:
            found.append(Message(level))
        elif len(columns):
            found.append(_enumerated([verdict.about.column(int(j)) for j in columns], last))
    return found


def reference_of(about: About, columns: Integers, W: AnyArray) -> ReferenceLevel | None:
    """The reference level that is the cause, for weights W (K, d + 1) of these columns; None if columns are the cause.

    The columns must be all those of one category. If their weights are all w and the intercept is −w, only the rows of
    the reference level, which are zero in these columns, have a score other than zero.

    >>> about = About(True, names=("age", "class=2", "class=3"))
    >>> reference_of(about, np.array([1, 2]), np.array([[-1, 0, 1, 1]]))
    ReferenceLevel(of='class', level=None)
    >>> reference_of(about, np.array([1, 2]), np.array([[0, 0, 1, 1]])) is None
    True
    """
    if not about.names:
        return None
    of = about.names[columns[0]].partition("=")[0]
    levels = levels_by_category(about.names).get(of)
    W = np.atleast_2d(W)
    if levels is not None and np.array_equal(levels, columns) and np.all(W[:, columns + 1] == -W[:, :1]):
        return ReferenceLevel(of)
    return None


def _enumerated(names: list[Message], last: str = " and ") -> Message:
    """The names as "a, b and c"; of more than ``NAMED`` names, the first ones and the number of others."""
    if len(names) > NAMED:
        return Message(joined(", ", names[:NAMED]), f" and {len(names) - NAMED} more")
    return names[0] if len(names) == 1 else Message(joined(", ", names[:-1]), last, names[-1])


def column_names(X: Any, names: Sequence[str] | None) -> tuple[str, ...]:
    """The given names, or those of a data frame or of a table outside memory, or an empty tuple.

    >>> column_names([[1.0, 2.0]], ["a", "b"])
    ('a', 'b')
    """
    width = X.n_features if hasattr(X, "n_features") else np.shape(X)[1] if is_sparse(X) or np.ndim(X) == 2 else 0
    own: Any = names if names is not None else getattr(X, "columns", None)
    if own is None:
        return ()
    found = tuple(str(name) for name in own)
    if len(found) != width:
        raise ParameterError("names", f"got {len(found)} for {width} columns", "give one name per column")
    return found
