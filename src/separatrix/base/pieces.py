"""Cutting rows, or columns, into pieces that are computed one at a time.

Pieces limit memory and stay in cache. Their bounds depend on the data alone, never on the number of threads, so sums
over them have the same bits on any machine. This module imports no NumPy, so that ``--help`` need not load it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise


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
