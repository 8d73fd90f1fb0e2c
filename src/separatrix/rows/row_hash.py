"""A pseudorandom number for every row, computed from the number of the row alone.

Rows with the smallest numbers form a random sample. Which rows these are does not depend on how the rows are stored, in
which pieces they are read, or in which order, so rows in memory, in files and on a cluster give the same sample.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from separatrix.base.arrays import Array

Hashes = NDArray[np.uint64]

# The constants of splitmix64 (Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators").
GOLDEN_GAMMA = 0x9E3779B97F4A7C15
MIXERS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
LAST_SHIFT = 31
WORD = 1 << 64


def row_hashes(start: int, n_rows: int, seed: int = 0, stream: int = 0) -> Hashes:
    """The hashes of rows start, start + 1, …, (n_rows,), uniform on 0 … 2⁶⁴ − 1.

    Different rows have different hashes, because every step is a bijection of 64-bit words. Hashes of different seeds
    and ``stream`` numbers are independent of each other.

    >>> whole = row_hashes(0, 5)
    >>> bool(np.all(row_hashes(2, 3) == whole[2:])), len(set(whole.tolist()))
    (True, 5)
    """
    offset = (int(np.random.SeedSequence((seed, stream)).generate_state(1, np.uint64)[0]) + start * GOLDEN_GAMMA) % WORD
    h = np.arange(n_rows, dtype=np.uint64)
    h *= np.uint64(GOLDEN_GAMMA)
    h += np.uint64(offset)
    for shift, factor in MIXERS:
        h ^= h >> np.uint64(shift)
        h *= np.uint64(factor)
    h ^= h >> np.uint64(LAST_SHIFT)
    return h


def uniform(hashes: Hashes) -> Array:
    """The hashes as numbers in [0, 1), with the 53 bits of a float64.

    >>> uniform(np.array([0, 1 << 63], dtype=np.uint64)).tolist()
    [0.0, 0.5]
    """
    return (hashes >> np.uint64(11)).astype(np.float64) * 2.0**-53
