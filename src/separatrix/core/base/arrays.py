"""What all packages do with arrays and with the arguments of a call.

Arrays hold float64 unless their type says otherwise. A table becomes an array of numbers here, and the error about a
column of text or dates names that column. Rows are cut into pieces, which limits memory and keeps each piece in cache.
The bounds of the pieces depend on the data alone, never on the number of threads, so sums over them have the same bits
on any machine. A check of a setting raises a ``ParameterError`` that names the setting, its value and what to give.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import ldexp
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from separatrix.core.base.errors import InputError, ParameterError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Array: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
Booleans: TypeAlias = NDArray[np.bool_]
AnyArray: TypeAlias = NDArray[Any]
Matrix: TypeAlias = "NDArray[Any] | csr_array[Any, tuple[int, int]]"
# The distance from 1.0 to the next float64.
EPS = float(np.finfo(np.float64).eps)
# What columns of NumPy's kinds of times hold.
_TIMES = {"M": "dates", "m": "time differences"}


def scaled_length(x: Array) -> float:
    """The Euclidean norm of all entries, whose squares may leave the range of float64.

    >>> scaled_length(np.array([3.0, 4.0]) * 2.0**600) == 5 * 2.0**600
    True
    """
    exponent = int(np.frexp(np.max(np.abs(x), initial=0.0))[1])
    return ldexp(float(np.linalg.norm(np.ldexp(x, -exponent))), exponent)


# --- Tables: names of columns and rows, and conversion to numbers


class NamedRows(np.ndarray[tuple[int, int], np.dtype[np.float64]]):
    """Rows X (n, d) with names of columns and rows for messages. Slices and results of arithmetic are plain arrays.

    ``row_names`` are the rows' names in the user's table (``core/base/labels.py``), or None. ``encoding`` has the
    encoder of a table that made X, and the scaling of its columns.

    >>> X = NamedRows.of(np.array([[1.0, 2.0]]), ["age", "height"])
    >>> X.column_names, type(X[0]), type(2 * X)
    (['age', 'height'], <class 'numpy.ndarray'>, <class 'numpy.ndarray'>)
    """

    column_names: list[str] | None = None
    row_names: Any = None
    encoding: tuple[Any, Any] = (None, None)

    @classmethod
    def of(cls, X: Array, names: Sequence[str], row_names: Any = None) -> Self:
        """A view of X with names of its columns, and of its rows if they are given."""
        named = X.view(cls)
        named.column_names, named.row_names = list(names), row_names
        return named

    def __getitem__(self, key: Any) -> Any:
        return np.asarray(self)[key]

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        plain = np.asarray(array)
        return plain[()] if return_scalar else plain


def with_names(X: Any, names: Sequence[str], row_names: Any = None, encoding: tuple[Any, Any] = (None, None)) -> Any:
    """X, dense or CSR, with names of its columns, and of its rows if they are given, for the messages of a fit.

    The names belong to this object alone: what is computed from it, such as a slice, has none. X itself stays as it is.

    >>> with_names(np.array([[1.0, 2.0]]), ["age", "height"]).column_names
    ['age', 'height']
    """
    if isinstance(X, np.ndarray):
        named: Any = NamedRows.of(X, names, row_names)
    else:
        named = X.__class__(X)  # This shares the entries with X.
        named.column_names, named.row_names = list(names), row_names
    named.encoding = encoding
    return named


def as_floats(X: Any) -> Array:
    """X as float64. An error names the column that holds text.

    >>> as_floats([[1, 2]]).tolist()
    [[1.0, 2.0]]
    """
    refuse_unclear(X)
    try:
        return np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        refuse_text(X, error)
        raise InputError("X", f"it is not a table of numbers ({error})", "give a table of numbers") from error


def refuse_unclear(X: Any) -> None:
    """Refuse a table whose conversion to numbers would change its meaning, or fail in the words of another package.

    These are two columns of one name, dates or time differences, which NumPy may convert to counts of a unit, and
    masked entries, whose masks the conversion would drop.

    >>> refuse_unclear(np.zeros((3, 2), dtype="m8[s]"))
    Traceback (most recent call last):
    ...
    separatrix.core.base.errors.InputError: X: column 0 holds time differences, not numbers; turn them into numbers ...
    """
    masked = np.count_nonzero(np.ma.getmaskarray(X)) if isinstance(X, np.ma.MaskedArray) else 0
    if masked:
        problem = f"{masked} of its {X.size} entries {'is' if masked == 1 else 'are'} masked"
        remedy = "leave such rows out, or impute values first, as in SimpleImputer().fit_transform(X.filled(np.nan))"
        raise InputError("X", problem, remedy)
    names = _names(X)
    if len(set(names)) < len(names):
        twice = next(name for k, name in enumerate(names) if name in names[:k])
        raise InputError("X", f"{names.count(twice)} columns are called {twice!r}", "give each its own name")
    dtypes: Any = getattr(X, "dtypes", ()) if names else [getattr(X, "dtype", None)]
    if any(
        getattr(dtype, "kind", None) in _TIMES or (hasattr(dtype, "is_temporal") and dtype.is_temporal())
        for dtype in dtypes  # of NumPy, pandas or polars
    ):
        refuse_text(X)


def refuse_text(X: Any, error: Exception | None = None) -> None:
    """Raise an error that names the first column of text or times in X, if there is one; rows are counted from 0.

    >>> refuse_text(np.array([[1, "f"]], dtype=object), ValueError())
    Traceback (most recent call last):
    ...
    separatrix.core.base.errors.InputError: X: row 0, column 1 is 'f', not a number; encode such columns first: put ...
    """
    for name, column in _columns(X):
        values = np.asarray(column)
        if values.dtype.kind in "biuf":
            continue
        text = next((i for i, value in enumerate(values.tolist()) if isinstance(value, str)), None)
        if values.dtype.kind in _TIMES:
            problem = f"{name} holds {_TIMES[values.dtype.kind]}, not numbers"
        elif text is not None and not _is_number(values[text]):
            problem = f"row {text}, {name} is {str(values[text])[:40]!r}, not a number"
        else:
            continue
        remedy = "encode such columns first: put TableEncoder before the classifier in a pipeline, or use read_table"
        if values.dtype.kind == "m":
            remedy = "turn them into numbers first, such as the seconds that dt.total_seconds() gives"
        raise InputError("X", problem, remedy) from error


def _names(X: Any) -> list[Any]:
    """The names of a data frame's columns; empty if X is not a data frame."""
    if isinstance(X, np.ndarray):
        return []
    names = getattr(X, "column_names", None) or getattr(X, "columns", None)
    return [] if names is None else list(names)


def _columns(X: Any) -> Iterator[tuple[str, Any]]:
    """The name and the values of each column of X. If X is not a data frame, the name is the column's number."""
    names = _names(X)
    if names:
        yield from ((f"column {name!r}", X[name]) for name in names)
        return
    table = X if isinstance(X, np.ndarray) else np.asarray(X, dtype=object)
    if table.ndim == 2:
        yield from ((f"column {j}", table[:, j]) for j in range(table.shape[1]))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


# --- Pieces of rows or columns that are computed one at a time


def pieces(n: int, size: int) -> Iterator[slice]:
    """Slices of ``size`` items that cover n items in order. The last one is shorter if ``size`` does not divide n.

    >>> list(pieces(5, 2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    return (slice(start, min(start + size, n)) for start in range(0, n, size))


def even_pieces(n: int, count: int) -> list[slice]:
    """``count`` slices that cover n items in order and differ in length by at most one.

    >>> even_pieces(5, 2)
    [slice(0, 2, None), slice(2, 5, None)]
    """
    edges = [*(int(k * (n / count)) for k in range(count)), n]
    return [slice(*pair) for pair in pairwise(edges)]


def rows_per_piece(entries: int, width: int, fewest: int = 1) -> int:
    """The number of rows of ``width`` entries that fit into ``entries`` entries, and at least ``fewest``.

    For a sparse matrix of n rows with ``stored`` nonzero entries in total, use ``rows_per_piece(entries * n, stored)``,
    the number of rows that fit on average.

    >>> rows_per_piece(1000, 300), rows_per_piece(1000, 3000), rows_per_piece(1000, 300, fewest=16)
    (3, 1, 16)
    """
    return max(fewest, entries // max(1, width))


# --- Arithmetic without warnings

# A decorator of functions in which NumPy does not warn about results that overflow, underflow or are undefined.
quietly = np.errstate(under="ignore", over="ignore", invalid="ignore")


# --- Checks of settings

# C must be larger than this: the strength 1/C of the penalty, multiplied by squares of weights, must not overflow.
SMALLEST_C = 1e-300


def check_positive(name: str, value: Any, remedy: str = "give a positive number") -> None:
    """Refuse all but positive numbers; infinity is one."""
    if not (is_number(value) and value > 0):
        raise ParameterError(name, f"got {value!r}", remedy)


def check_positive_finite(name: str, value: Any, remedy: str = "give a finite positive number") -> None:
    """Refuse all but finite positive numbers.

    >>> check_positive_finite("eta", 0.0, "give a positive learning rate")
    Traceback (most recent call last):
    ...
    separatrix.core.base.errors.ParameterError: eta: got 0.0; give a positive learning rate.
    """
    if not (is_number(value) and 0 < value < np.inf):
        raise ParameterError(name, f"got {value!r}", remedy)


def check_C(C: Any, remedy: str) -> None:
    """Refuse all but positive numbers and infinity, and a C so small that a penalty of strength 1/C may overflow.

    >>> check_C(1e-305, "give a positive number")
    Traceback (most recent call last):
    ...
    separatrix.core.base.errors.ParameterError: C: got 1e-305; give more than 1e-300, so that ...
    """
    check_positive("C", C, remedy)
    if not float(C) > SMALLEST_C:
        remedy = f"give more than {SMALLEST_C}, so that a penalty of strength 1/C does not overflow"
        raise ParameterError("C", f"got {C!r}", remedy)


def check_not_negative(name: str, value: Any) -> None:
    """Refuse all but finite numbers of at least 0."""
    if not (is_number(value) and 0 <= value < np.inf):
        raise ParameterError(name, f"got {value!r}", "give a number >= 0")


def check_count(name: str, value: Any, least: int = 1) -> None:
    """Refuse all but whole numbers of at least ``least``; True and False are no numbers."""
    whole = type(value) is int or (isinstance(value, Integral) and not isinstance(value, bool))
    if not whole or value < least:
        raise ParameterError(name, f"got {value!r}", f"give a whole number of at least {least}")


def check_flag(name: str, value: Any) -> None:
    """Refuse all but True and False."""
    if type(value) is not bool and not isinstance(value, np.bool_):
        raise ParameterError(name, f"got {value!r}", "give True or False")


def check_choice(name: str, value: Any, choices: Any) -> None:
    """Refuse all but the names among ``choices``."""
    if not isinstance(value, str) or value not in choices:
        raise ParameterError(name, f"got {value!r}", f"choose one of {', '.join(map(repr, choices))}")


def is_number(value: Any) -> bool:
    """Whether a value is a real number that float64 can hold, or infinity, but not NaN."""
    if type(value) is float:
        return value == value
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    try:
        return float(value) == float(value)
    except OverflowError:
        return False
