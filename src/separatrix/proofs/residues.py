r"""Linear systems of floats solved exactly: p-adic lifting followed by rational reconstruction.

Every float64 is an integer times a power of two, so it has a residue modulo an odd prime p. A sum of products is zero
if its residues are zero for enough primes that their product exceeds the sum.

Dixon, Exact solution of linear equations using p-adic expansions, Numerische Mathematik 40 (1982): given M⁻¹ modulo p,
each step yields one more digit of x in base p, at the cost of two products of M with numbers below p. A row of 53-bit
floats adds about 70 bits to the numerators, so r rows need about 5 r digits. Elimination over the integers would
multiply numbers of that length r³ times.
"""

from __future__ import annotations

from functools import cache
from math import gcd, isqrt, log2
from typing import Any, NamedTuple

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.base.modular import BITS, P, eliminated, halves, is_prime, joined, product, residues
from separatrix.proofs.rational import EXPONENT_OF_ZERO

# Largest number of rows for which a matrix is inverted by Gauss–Jordan elimination instead of recursively by halves.
MOST_ROWS_ELIMINATED = 48


def inverse(R: Integers, p: int = P) -> Integers:
    """R⁻¹ modulo p, for invertible R.

    With rows in the order of elimination no leading block is singular, so the matrix can be inverted recursively by
    halves, mostly by products of float matrices: Strassen, Gaussian elimination is not optimal, Numerische
    Mathematik 13 (1969).

    >>> inverse(np.array([[2, 1], [1, 1]]), 7).tolist()
    [[1, 6], [6, 2]]
    """
    order = eliminated(R % p, p).rows
    if len(order) < len(R):
        raise ArithmeticError("the matrix has no inverse modulo p")
    inverted = np.empty_like(R)
    inverted[:, order] = _by_halves(R[order] % p, p)
    return inverted


def _by_halves(R: Integers, p: int) -> Integers:
    """R⁻¹ modulo p where no leading block is singular, by inverting the first block and its Schur complement."""
    r = len(R)
    if r <= MOST_ROWS_ELIMINATED:
        return _by_rows(R, p)
    h = r // 2
    first = _by_halves(R[:h, :h], p)
    left, right = product(R[h:, :h], first, p), product(first, R[:h, h:], p)
    last = _by_halves((R[h:, h:] - product(left, R[:h, h:], p)) % p, p)
    lower, upper = product(last, left, p), product(right, last, p)
    return np.block([[(first + product(upper, left, p)) % p, -upper % p], [-lower % p, last]])


def _by_rows(R: Integers, p: int) -> Integers:
    r = len(R)
    both = np.hstack([R, np.eye(r, dtype=np.int64)])
    for k in range(r):
        both[k] = both[k] * pow(int(both[k, k]), -1, p) % p
        others = np.flatnonzero(both[:, k])
        others = others[others != k]
        both[others, k:] = (both[others, k:] - both[others, k, None] * both[k, k:]) % p
    return both[:, r:]


def _limbs(M: AnyArray) -> Array:
    """Integers as sums of limbs times 2^(26 l), (L, r, r), each below 2²⁶ in magnitude and with the number's sign."""
    sign = np.where(M < 0, -1.0, 1.0)
    rest: Any = abs(M)
    limbs: list[Array] = []
    while not limbs or np.any(rest != 0):
        limbs.append(sign * (rest & ((1 << BITS) - 1)).astype(np.float64))
        rest = rest >> BITS
    return np.array(limbs)


class Solution(NamedTuple):
    """x = ``above``/``below``: integer numerators (r, q) over one common denominator > 0."""

    above: AnyArray
    below: int


def solve(M: Array, R: Array, p: int = P, shares: AnyArray | None = None) -> Solution:
    """The exact solution x of M x = R, for M (r, r) invertible modulo p and R (r, q), both of floats.

    With integers ``shares`` (q, k), the system is M x = R shares instead.

    >>> found = solve(np.array([[2.0, 1.0], [1.0, 1.0]]), np.array([[1.0], [0.25]]))
    >>> found.above.tolist(), found.below
    ([[3], [-2]], 4)
    """
    r = len(M)
    if r == 0:
        return Solution(np.zeros((0, (R if shares is None else shares).shape[1]), dtype=object), 1)
    whole, unit = _whole(M, R)
    A, B = whole[:, :r], whole[:, r:] if shares is None else whole[:, r:] @ shares
    inverted, limbs = inverse(np.asarray(A % p, dtype=np.int64), p).astype(np.float64), _limbs(A)
    stacked = limbs.reshape(-1, r)
    enough = 2 + int((2 * sum(_bits(row) for row in np.hstack([A, B])) + 2) / log2(p))
    digits: list[AnyArray] = []
    rest, look = B, 4
    while True:
        residue = np.asarray(rest % p, dtype=np.int64)
        x = joined(inverted @ halves(residue)) % p
        parts = joined(stacked @ halves(x)).reshape(len(limbs), r, -1).astype(object)
        rest = (rest - sum(part << (BITS * k) for k, part in enumerate(parts))) // p
        digits.append(x.astype(object))
        if len(digits) in (look, enough):
            look *= 2
            found = _fractions(_number(digits, p), p ** len(digits))
            if found is not None and np.array_equal(A.dot(found.above), B * found.below):
                return _in_units(found, unit)
        if len(digits) > enough:
            raise ArithmeticError("more digits than Hadamard's bound allows: M has no inverse modulo p")


def _whole(M: Array, R: Array) -> tuple[AnyArray, Integers]:
    """(M, R) as integers, after scaling rows and unknowns by powers of two. Unknown j is in units of 2^−unit_j.

    Exponents are tracked as integers, because a row may hold both 2⁹⁰⁰ and 2⁻⁹⁰⁰, which no common scale fits in
    float64.
    """
    r = len(M)
    both = np.hstack([M, R])
    mantissa, exponent = np.frexp(both)
    numbers, none = np.ldexp(mantissa, 53).astype(np.int64), both == 0
    size = np.where(none, EXPONENT_OF_ZERO, exponent.astype(np.int64))
    row = size[:, :r].max(axis=1, keepdims=True)
    unit = (size[:, :r] - row).max(axis=0)
    power = exponent - np.concatenate([unit, np.zeros(R.shape[1], dtype=np.int64)])
    last = np.frexp((numbers & -numbers).astype(np.float64))[1] - 1  # the position of the lowest set bit
    least = np.where(none, -EXPONENT_OF_ZERO, power + last).min(axis=1, keepdims=True)
    shift = np.where(none, 0, power - least)
    up, down = np.maximum(shift, 0), np.maximum(-shift, 0)
    return np.asarray((numbers >> down).astype(object) << up.astype(object)), unit


def _bits(row: AnyArray) -> float:
    """An upper bound on log₂ of the row's Euclidean length."""
    return 0.5 * (log2(max(1, sum(int(x) ** 2 for x in row))) + 1e-9)


def _number(digits: list[AnyArray], base: int) -> AnyArray:
    """Σ_k digits[k] base^k, added pairwise so that both operands are about equally long."""
    while len(digits) > 1:
        pairs = [a + b * base for a, b in zip(digits[::2], digits[1::2], strict=False)]
        digits = pairs + digits[len(pairs) * 2 :]
        base *= base
    return digits[0]


def _fractions(x: AnyArray, m: int) -> Solution | None:
    """Rational reconstruction: numerators and one denominator below √(m/2) with above ≡ x below (mod m), or None."""
    most, below = isqrt(m // 2), 1
    above = np.empty(x.shape, dtype=object)
    flat, out = x.ravel(), above.ravel()
    for k, value in enumerate(flat):
        number = value * below % m
        number = number - m if number > m // 2 else number
        if abs(number) > most:
            number, more = _fraction(number % m, m, most)
            below *= more
            if more == 0 or below > most:
                return None
            out[:k] *= more
        out[k] = number
    return Solution(out.reshape(x.shape), below)


def _fraction(a: int, m: int, most: int) -> tuple[int, int]:
    """n, d > 0 with n ≡ a d modulo m and |n| ≤ most, by Euclid's algorithm."""
    before, now, s_before, s_now = m, a, 0, 1
    while now > most:
        q = before // now
        before, now = now, before - q * now
        s_before, s_now = s_now, s_before - q * s_now
    return (-now, -s_now) if s_now < 0 else (now, s_now)


def _in_units(found: Solution, unit: Integers) -> Solution:
    """The unknowns times 2^−unit, over the smallest common denominator."""
    top = int(unit.max())
    above = found.above * np.array([1 << (top - int(u)) for u in unit], dtype=object)[:, None]
    above, below = (above, found.below << top) if top >= 0 else (above << -top, found.below)
    common = gcd(below, *above.ravel())
    return Solution(above // common, below // common)


@cache
def _prime(k: int) -> int:
    """The k-th largest prime below 2³¹. Call it in order of k: each prime is searched for from the one before."""
    candidate = _prime(k - 1) - 2 if k else (1 << 31) - 1
    while not is_prime(candidate):
        candidate -= 2
    return candidate


def primes(bits: int) -> list[int]:
    """The largest primes below 2³¹ whose product exceeds 2^bits.

    >>> primes(40)
    [2147483647, 2147483629]
    """
    return [_prime(k) for k in range(bits // 30 + 1)]


def vanishing(A: Array, V: AnyArray) -> AnyArray:
    """Which rows of A (m, w), floats, have A V = 0 exactly, for integers V (w, q).

    It checks enough residues for a proof: the product of their primes exceeds the largest possible sum.

    >>> vanishing(np.array([[0.1, 0.1, 7.0], [0.1, 0.2, 0.0]]), np.array([[1], [-1], [0]], dtype=object)).tolist()
    [True, False]
    """
    used = np.flatnonzero(np.any(V != 0, axis=1))
    A, V = A[:, used], V[used]
    zero = np.ones(len(A), dtype=bool)
    if A.size == 0 or V.shape[1] == 0:
        return zero
    bits = _bits_of_sums(A, V)
    if bits <= 53:  # no partial sum is rounded
        return np.asarray(~np.any(A @ V.astype(np.float64), axis=1))
    for p in primes(bits):
        inside: Any = np.asarray(V % p, dtype=np.int64)
        left = np.flatnonzero(zero)
        if len(left) == 0:
            break
        R = residues(A[left], p)
        for column in inside.T:
            zero[left] &= np.asarray((R * column % p).sum(axis=1) % p == 0)
    return zero


def _bits_of_sums(A: Array, V: AnyArray) -> int:
    """The most bits that a sum a·v has, as a multiple of the smallest power of two among the entries of A."""
    low, high = span(A)
    top = max(int(abs(v)).bit_length() + int(h) for row, h in zip(V, high, strict=True) for v in row)
    return top - int(low.min()) + len(V).bit_length() + 1


def span(A: Array) -> tuple[Integers, Integers]:
    """For each column: e such that all entries are integer multiples of 2^e, and f such that all are below 2^f.

    >>> [side.tolist() for side in span(np.array([[0.75], [6.0]]))]
    [[-2], [3]]
    """
    mantissa, exponent = np.frexp(A)
    whole = np.ldexp(mantissa, 53).astype(np.int64)
    last = np.frexp((whole & -whole).astype(np.float64))[1] - 1  # the position of the lowest set bit
    none = whole == 0
    lowest = np.where(none, 2000, exponent - 53 + last).min(axis=0)
    highest = np.where(none, -2000, exponent).max(axis=0)
    empty = none.all(axis=0)
    return np.where(empty, 0, lowest).astype(np.int64), np.where(empty, 0, highest).astype(np.int64)
