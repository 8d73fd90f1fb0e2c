"""The orders in which several epochs visit the rows, as one array."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from separatrix.base.arrays import Integers
from separatrix.rows.protocol import Order

# The most rows, counted in each of the epochs, whose order is kept in one array, and how many arrays are cached: 8 MB
# for each.
MOST_ROWS_AT_ONCE, ORDERS_IN_CACHE = 1 << 20, 4


@lru_cache(maxsize=ORDERS_IN_CACHE)
def shuffled_epochs(n_rows: int, seed: int, first: int, count: int) -> Integers:
    """The orders of ``count`` epochs from the ``first`` on, one after the other.

    Drawing them takes longer than walking few rows, and tables of the same length share them, so they are cached.
    """
    orders = [Order(1, "shuffled", seed, epoch).rows(n_rows) for epoch in range(first, first + count)]
    order = np.concatenate(orders)
    order.flags.writeable = False
    return order
