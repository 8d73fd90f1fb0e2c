"""The rows 1, …, 8 on a line, which several exercises use."""

from __future__ import annotations

import numpy as np

from separatrix.base.arrays import Array, Integers


def line() -> tuple[Array, Integers]:
    """The rows 1, …, 4 of class 0 and 5, …, 8 of class 1."""
    X = np.arange(1.0, 9.0)[:, None]  # the rows 1, …, 8
    y = np.repeat([0, 1], 4)
    return X, y
