"""The orders in which several epochs visit the rows, as one array."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from separatrix.base.arrays import Integers
from separatrix.rows.protocol import Order

# The most visits of rows, over all epochs, whose order is kept in one array (8 MB).
MOST_ROWS_AT_ONCE = 1 << 20
# Arrays of at most this many visits are cached, and how many of them: 10 MB in all. The mean of the perceptron's
# weights takes three or four arrays for a table of up to 3000 rows, the same ones for each class. A cache of fewer
# arrays would forget each one just before its next use.
MOST_CACHED_VISITS, ORDERS_IN_CACHE = 100_000, 12


def shuffled_epochs(n_rows: int, seed: int, first: int, count: int) -> Integers:
    """The orders of ``count`` epochs from the ``first`` on, one after the other.

    Drawing them takes several times as long as walking few rows, and tables of the same length share them, so they are
    cached for few rows.

    >>> shuffled_epochs(3, 0, 0, 2).tolist()
    [2, 0, 1, 2, 0, 1]
    """
    draw = _cached if n_rows * count <= MOST_CACHED_VISITS else _drawn
    return draw(n_rows, seed, first, count)


def _drawn(n_rows: int, seed: int, first: int, count: int) -> Integers:
    order = np.concatenate([Order(1, "shuffled", seed, epoch).rows(n_rows) for epoch in range(first, first + count)])
    order.flags.writeable = False
    return order


_cached = lru_cache(maxsize=ORDERS_IN_CACHE)(_drawn)
