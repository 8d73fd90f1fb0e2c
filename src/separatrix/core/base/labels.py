"""Labels and their codings {0, 1}, {−1, +1} and 1-of-K (docs/tour.md, D3), and the names that messages give to rows.

Users may give any labels; internally class k of ``classes`` has code k. Rows are named by their numbers in the user's
table, the first row being row 1, and in a table of several files also by their file:

    row 17                    of one file or frame
    row 17 of part-2.csv      of several files: the 17th row of that file
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import numpy as np

from separatrix.core.base.arrays import AnyArray, Array, Integers
from separatrix.core.base.errors import InputError, LabelError, printable
from separatrix.core.base.messages import Message, MessagePart, RowNumber, over_rows

# The public functions, available to users as ``sx.labels``; the other functions are internal.
__all__ = ["encode", "from_one_hot", "one_hot", "signed", "unsigned"]

# The kinds of NumPy's types of dates and durations.
TIMES = "mM"


def encode(y: Any) -> tuple[AnyArray, Integers]:
    """The sorted classes, and for each row the number of its class.

    Parameters
    ----------
    y : array (n,)
        Labels of any kind.

    Returns
    -------
    classes : array (K,)
        The labels that occur, sorted.
    codes : array of int (n,)
        The position of each row's label in ``classes``.

    Examples
    --------
    >>> classes, codes = encode(["spam", "ham", "spam"])
    >>> classes.tolist(), codes.tolist()
    (['ham', 'spam'], [1, 0, 1])

    Labels that cannot be compared with each other are sorted by type, then by their string form:

    >>> encode([("a", 1), "b", ("a", 1)])[1].tolist()
    [1, 0, 1]
    """
    labels = as_label_array(y)
    if len(labels) == 0:
        raise LabelError("y", "it holds no labels", "give at least one row of each of two classes")
    by_table = _by_table(labels)
    if by_table is not None:
        return by_table
    try:
        classes, codes = np.unique(labels, return_inverse=True)
        if labels.dtype == object and len(set(classes.tolist())) < len(classes):
            raise TypeError("compared by something other than an order, as sets are by inclusion")
    except TypeError:
        distinct = sorted(set(labels), key=lambda label: (type(label).__name__, repr(label)))
        position = {label: k for k, label in enumerate(distinct)}
        classes = _object_array(distinct)
        codes = np.array([position[label] for label in labels])
    return classes, codes.astype(np.int64)


def _by_table(labels: AnyArray) -> tuple[AnyArray, Integers] | None:
    """``encode`` by a lookup table, for integers in a small range; None for other labels."""
    if labels.dtype.kind not in "biu":
        return None
    low, high = int(labels.min()), int(labels.max())
    # A wider range takes longer in a lookup table than by sorting.
    if high - low > 1 << 16 or high > np.iinfo(np.int64).max:
        return None
    shifted = labels.astype(np.int64)
    if low != 0:
        shifted -= low
    counts = np.bincount(shifted)
    if counts.all():
        return np.arange(low, high + 1, dtype=labels.dtype), shifted
    held = counts > 0
    table = np.cumsum(held) - 1
    return (np.flatnonzero(held) + low).astype(labels.dtype), table[shifted]


def as_label_array(y: Any) -> AnyArray:
    """Convert y to an array with one label per row. Tuples and other objects are valid labels; NaN is an error."""
    labels = y if isinstance(y, np.ndarray) else _object_or_plain(y)
    if labels.ndim != 1:
        raise LabelError("y", f"its shape is {labels.shape}", "give one label a row")
    if np.ma.is_masked(labels):
        problem = f"row {int(np.argmax(np.ma.getmaskarray(labels)))} is masked"
        raise LabelError("y", problem, "drop rows without a label")
    if labels.dtype.kind in "fOmM":
        if labels.dtype.kind == "O":
            absent = ("NAType", "NaTType")  # of pandas
            missing = np.array(
                [label is None or type(label).__name__ in absent or label != label for label in labels], dtype=bool
            )
        else:
            missing = np.isnan(labels)
        if missing.any():
            problem = f"row {int(np.argmax(missing))} has no label (NaN or None)"
            raise LabelError("y", problem, "drop rows without a label")
    return labels


def _object_array(values: list[Any]) -> AnyArray:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _object_or_plain(y: Any) -> AnyArray:
    """Labels that are not a NumPy array, as an array; an array of objects if conversion would change a label."""
    if hasattr(y, "__array__"):
        return np.asarray(y)
    try:
        values = list(y)
    except TypeError as error:
        raise LabelError("y", f"got {y!r}", "give one label a row") from error
    for k, value in enumerate(values):
        try:
            hash(value)
        except TypeError:
            problem = f"row {k} is {value!r}"
            raise LabelError("y", problem, "give one label a row, of a kind that can be compared") from None
    kinds = {type(v) for v in values}
    if kinds == {str} and any(v.endswith("\0") for v in values):  # NumPy's strings lose NUL characters at their end
        return _object_array(values)
    if any(kinds <= alike for alike in ({bool}, {int, float}, {str})):
        plain = np.asarray(values)
        if not (plain.dtype.kind == "f" and kinds == {int}):  # integers beyond 2⁶³ would be rounded
            return plain
    return _object_array(values)


def refuse_fractions(labels: AnyArray) -> None:
    """Raise an error if labels are numbers with a fraction, which are measurements and no classes."""
    if labels.dtype.kind == "f" and np.any(labels != np.floor(labels)):
        row = int(np.argmax(labels != np.floor(labels)))
        raise LabelError(
            "y",
            f"row {row} is {labels[row]} (Unknown label type: continuous)",
            "give classes, not measurements; np.digitize turns numbers into classes",
        )


def known_codes(y: Any, classes: AnyArray) -> Integers:
    """The index in ``classes`` of each label; an unknown label is an error.

    >>> known_codes(["b", "a"], np.array(["a", "b"])).tolist()
    [1, 0]
    """
    given = as_label_array(y)
    if classes.dtype.kind in TIMES:
        if given.dtype == object and all(
            isinstance(label, np.datetime64 | np.timedelta64 | date | timedelta) for label in given
        ):
            given = np.array(given.tolist(), dtype=classes.dtype.kind + "8")
        if given.dtype.kind == classes.dtype.kind:  # the finer of the two units
            unit = np.promote_types(given.dtype, classes.dtype)
            given, classes = given.astype(unit), classes.astype(unit)
    are_numbers = given.dtype.kind in "biuf" and classes.dtype.kind in "biuf"
    are_times = classes.dtype.kind in TIMES and given.dtype == classes.dtype
    if (are_numbers or are_times) and len(classes):  # both have one order, so bisection finds the labels
        near = np.minimum(np.searchsorted(classes, given), len(classes) - 1)
        if np.all(classes[near] == given):
            return near.astype(np.int64)
    position = {label: k for k, label in enumerate(label_list(classes))}
    labels = label_list(given)
    unknown = next((label for label in labels if label not in position), None)
    if unknown is not None:
        raise LabelError("y", f"it has the label {unknown!r}", f"use the classes of the fit: {list(position)}")
    return np.array([position[label] for label in labels], dtype=np.int64)


def label_list(labels: AnyArray) -> list[Any]:
    """Labels as Python objects. Dates and durations stay NumPy's, which would become integers in some units.

    >>> [str(label) for label in label_list(np.array(["2020-01-01"], dtype="datetime64[ns]"))]
    ['2020-01-01T00:00:00.000000000']
    """
    return list(labels) if labels.dtype.kind in TIMES else labels.tolist()


def signed(codes: Integers) -> Array:
    """Convert codes {0, 1} to targets {−1, +1}.

    Parameters
    ----------
    codes : array of int (n,)
        The class codes.

    Returns
    -------
    array (n,)

    Examples
    --------
    >>> signed(np.array([0, 1])).tolist()
    [-1.0, 1.0]
    """
    return np.asarray(2.0 * codes - 1.0, dtype=np.float64)


def unsigned(t: Array) -> Integers:
    """Convert targets {−1, +1} to codes {0, 1}.

    Parameters
    ----------
    t : array (n,)
        The targets.

    Returns
    -------
    array of int (n,)

    Examples
    --------
    >>> unsigned(np.array([-1.0, 1.0])).tolist()
    [0, 1]
    """
    return (t > 0).astype(np.int64)


def one_hot(codes: Integers, n_classes: int) -> Array:
    """Convert class codes to 1-of-K (one-hot) rows.

    Parameters
    ----------
    codes : array of int (n,)
        The class codes.
    n_classes : int
        The number of classes, K.

    Returns
    -------
    array (n, K)
        Each row has a one at its class, and zeros elsewhere.

    Examples
    --------
    >>> one_hot(np.array([1, 0]), 3).tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
    """
    return np.eye(n_classes)[codes]


def from_one_hot(T: Array) -> Integers:
    """Convert 1-of-K (one-hot) rows to class codes.

    Parameters
    ----------
    T : array (n, K)
        The rows.

    Returns
    -------
    array of int (n,)
        The position of the largest entry of each row.

    Examples
    --------
    >>> from_one_hot(np.array([[0.0, 1.0], [1.0, 0.0]])).tolist()
    [1, 0]
    """
    return np.asarray(np.argmax(T, axis=1), dtype=np.int64)


# --- Names of rows, files and labels in messages


@dataclass(frozen=True, eq=False)
class RowNames:
    """The names of rows, by their index. ``numbers`` (m,) count all rows of the table from 1; some may be left out.

    ``files`` are the files that the table consists of, in their order, each with its number of rows; empty for one.

    >>> names = RowNames(np.array([1, 3, 4, 5]), (("a.csv", 3), ("b.csv", 2)))
    >>> names[1], names[3], names[np.array([False, True, True, False])].tolist()
    ('3 of a.csv', '2 of b.csv', ['3 of a.csv', '1 of b.csv'])
    >>> RowNames.first(3)[-1]
    3
    """

    numbers: Integers
    files: tuple[tuple[str, int], ...] = ()

    @classmethod
    def first(cls, n: int, files: tuple[tuple[str, int], ...] = ()) -> RowNames:
        """The names of all n rows of a table."""
        return cls(np.arange(1, n + 1), files)

    @classmethod
    def following(cls, start: int, files: tuple[tuple[str, int], ...] = ()) -> RowNames:
        """The names of consecutive rows from row ``start``, counted from 0, however many there are.

        >>> RowNames.following(2, (("a.csv", 3), ("b.csv", 2)))[1]
        '1 of b.csv'
        """
        numbers: Any = range(start + 1, sys.maxsize)  # it is indexed as an array is, and takes no memory
        return cls(numbers, files)

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, index: Any) -> Any:
        """The name of a row; of several rows, their names."""
        chosen = self.numbers[index]
        return RowNames(chosen, self.files) if isinstance(chosen, np.ndarray) else self.called(int(chosen))

    def __iter__(self) -> Iterator[int | str]:
        return (self.called(int(number)) for number in self.numbers)

    def tolist(self) -> list[int | str]:
        """All names."""
        return list(self)

    def called(self, number: int) -> int | str:
        """The name of a row by its number in the whole table."""
        if not self.files:
            return number
        for name, count in self.files:
            if number <= count:
                return f"{number} of {name}"
            number -= count
        raise IndexError(number)

    @property
    def counted(self) -> str:
        """How rows are counted, in words."""
        return "rows counted from 1 in each file" if self.files else "rows counted from 1, as in the table"

    def told(self, text: str) -> str:
        """A message about rows by their index, such as a status, with their names and how they are counted."""
        if not isinstance(text, Message) or not text.rows:
            return text
        return Message(over_rows(text, self), f" ({self.counted})")

    def named(self, text: str) -> str:
        """A message about rows by their number among these rows, from 1, with their names as plain text."""

        def change(part: MessagePart) -> str | MessagePart:
            return str(self[part.number - 1]) if isinstance(part, RowNumber) else part

        return text.mapped(change) if isinstance(text, Message) else text

    @contextmanager
    def in_errors(self) -> Iterator[None]:
        """Give errors that name rows by their number among these rows, from 1, the names of these rows."""
        try:
            yield
        except InputError as error:
            error.problem = self.named(error.problem)
            error.args = (error.argument, error.problem, error.remedy)
            raise


def short_names(paths: Sequence[str]) -> list[str]:
    """The names of files without their folders, unless two would be the same.

    >>> short_names(["d/a.csv", "d/b.csv"]), short_names(["d/a.csv", "e/a.csv"])
    (['a.csv', 'b.csv'], ['d/a.csv', 'e/a.csv'])
    """
    bare = [path.replace("\\", "/").rpartition("/")[2] for path in paths]
    return bare if len(set(bare)) == len(bare) else list(paths)


def quoted(name: Any) -> str:
    r"""A name or label for messages: text in plain quotes, without control characters.

    >>> print(quoted("$\\alpha$"), quoted("O'Hara"), quoted("two\nlines"), quoted(1))
    '$\alpha$' "O'Hara" 'two\nlines' 1
    """
    if not isinstance(name, str):
        return repr(name)
    text = printable(name)
    mark = '"' if "'" in text else "'"
    return f"{mark}{text}{mark}"
