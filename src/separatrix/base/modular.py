"""Floats modulo a prime: every float64 is a whole number times a power of two, so it has a residue.

The rank of a matrix of residues is never larger than the rank r of the matrix itself: a minor that is not zero modulo p
is not zero. It is smaller only if p divides every minor of order r, and these minors have few prime factors of the size
used here. So a randomly drawn prime gives the rank with high probability, and any prime gives a lower bound.
"""

from __future__ import annotations

from random import SystemRandom
from typing import NamedTuple

import numpy as np

from separatrix.base.arrays import Array, Integers

# The largest prime below 2²⁶: sums of 2¹³ products of a residue with half a residue are exact in float64.
P = 67_108_859
# The number of bits of a residue, and of each of the halves into which ``halves`` splits it.
BITS, HALF = 26, 13
# Largest number of products of residues that are summed before the sum is reduced modulo p, so that int64 does not
# overflow: 26 + 26 + 10 bits fit into 63.
MOST_TERMS = 1 << 10


def residues(A: Array, p: int = P) -> Integers:
    """A modulo an odd prime below 2³¹, entry by entry; ½ becomes the inverse of 2 modulo p.

    >>> residues(np.array([[3.0, -1.0, 0.5]]), 7).tolist()
    [[3, 6, 4]]
    """
    mantissa, exponent = np.frexp(A)
    whole = np.ldexp(mantissa, 53).astype(np.int64)
    least, most = int(exponent.min(initial=0)), int(exponent.max(initial=0))
    powers = np.array([pow(2, e - 53, p) for e in range(least, most + 1)], dtype=np.int64)
    return np.asarray(whole % p * powers[exponent - least] % p)


class Pivots(NamedTuple):
    """Pivot k is in row ``rows[k]`` and column ``columns[k]``. The number of pivots never exceeds the true rank."""

    rows: list[int]
    columns: list[int]
    p: int


def pivots(A: Array) -> Pivots:
    """Gaussian elimination modulo a prime, with pivots in the leftmost columns that allow one.

    If some pivot is not in the first columns, the cause may be the fixed prime, since data can be multiples of it. So
    the elimination is repeated modulo a randomly drawn prime. Modulo any prime, the rank of the first k columns is at
    most their true rank, so the result with more pivots, or with pivots further to the left, is the better one.

    >>> pivots(np.array([[0.0, 2.0, 4.0], [0.0, 1.0, 2.0], [1.0, 1.0, 1.0]]))
    Pivots(rows=[2, 1], columns=[0, 1], p=67108859)
    """
    first = eliminated(residues(A), P)
    if first.columns == list(range(min(A.shape))):
        return first
    q = drawn_prime()
    return min(first, eliminated(residues(A, q), q), key=lambda pivots: (-len(pivots.columns), pivots.columns))


def eliminated(R: Integers, p: int) -> Pivots:
    """Gaussian elimination of residues, in place."""
    order = np.arange(len(R))
    columns: list[int] = []
    for j in range(R.shape[1]):
        k = len(columns)
        candidates = np.flatnonzero(R[k:, j]) + k
        if len(candidates) == 0:
            continue
        R[[k, candidates[0]]] = R[[candidates[0], k]]
        order[[k, candidates[0]]] = order[[candidates[0], k]]
        below = np.flatnonzero(R[k + 1 :, j]) + k + 1
        factor = R[below, j] * pow(int(R[k, j]), -1, p) % p
        R[below, j:] = (R[below, j:] - factor[:, None] * R[k, j:]) % p
        columns.append(j)
        if len(columns) == len(R):
            break
    return Pivots(order[: len(columns)].tolist(), columns, p)


def product(A: Integers, B: Integers, p: int) -> Integers:
    """A B modulo p for residues, by exact float products. A may have at most ``MOST_TERMS`` columns."""
    return joined(A.astype(np.float64) @ halves(B)) % p


def halves(x: Integers) -> Array:
    """The lower and the upper half of the bits of each number, side by side."""
    return np.hstack([x & ((1 << HALF) - 1), x >> HALF]).astype(np.float64)


def joined(product: Array) -> Integers:
    """Combine the products with the two ``halves`` of some numbers into the products with the numbers."""
    whole = product.astype(np.int64)
    q = whole.shape[-1] // 2
    return np.asarray(whole[..., :q] + (whole[..., q:] << HALF))


def drawn_prime() -> int:
    """One of the nearly two million primes from 2²⁵ to 2²⁶, drawn by the operating system's random generator.

    >>> (1 << 25) < drawn_prime() < (1 << 26)
    True
    """
    dice = SystemRandom()
    while True:
        candidate = dice.randrange((1 << 25) + 1, 1 << 26, 2)
        if is_prime(candidate):
            return candidate


def is_prime(n: int) -> bool:
    """Miller–Rabin test with the bases 2, 3, 5 and 7, which is deterministic for odd n below 3 215 031 751."""
    odd, twos = n - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for base in (2, 3, 5, 7):
        x = pow(base, odd, n)
        if x not in (1, n - 1) and not any((x := x * x % n) == n - 1 for _ in range(twos - 1)):
            return False
    return True
