"""Exact arithmetic on floats: residues modulo primes, signs of sums, linear systems, and dependencies among rows.

Every float64 is an integer times a power of two. So signs and sums can be computed exactly, and every float has a
residue modulo an odd prime p. A sum of products is zero if its residues are zero for enough primes that their product
exceeds the sum.

The rank of a matrix of residues is never larger than the rank r of the matrix itself: a minor that is not zero modulo p
is not zero. It is smaller only if p divides every minor of order r, and these minors have few prime factors of the size
used here. So a randomly drawn prime gives the rank with high probability, and any prime gives a lower bound.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import gcd, isqrt, lcm, log2
from random import SystemRandom
from typing import Any, NamedTuple

import numpy as np

from separatrix.core.base.arrays import AnyArray, Array, Integers

# --- Residues modulo a prime

# The largest prime below 2²⁶: sums of 2¹³ products of a residue with half a residue are exact in float64.
P = 67_108_859
# The number of bits of a residue, and of each of the halves into which ``halves`` splits it.
BITS, HALF = 26, 13
# Largest number of products of residues that are summed before the sum is reduced modulo p, so that int64 does not
# overflow: 26 + 26 + 10 bits fit into 63.
MOST_TERMS = 1 << 10


def _decomposed(A: Array) -> tuple[Integers, Integers]:
    """Integers n and exponents e with A = n 2^(e − 53), entry by entry."""
    mantissa, exponent = np.frexp(A)
    return np.ldexp(mantissa, 53).astype(np.int64), exponent


def residues(A: Array, p: int = P) -> Integers:
    """A modulo an odd prime below 2³¹, entry by entry; ½ becomes the inverse of 2 modulo p.

    >>> residues(np.array([[3.0, -1.0, 0.5]]), 7).tolist()
    [[3, 6, 4]]
    """
    whole, exponent = _decomposed(A)
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
    return from_halves(A.astype(np.float64) @ halves(B)) % p


def halves(x: Integers) -> Array:
    """The lower and the upper half of the bits of each number, side by side."""
    return np.hstack([x & ((1 << HALF) - 1), x >> HALF]).astype(np.float64)


def from_halves(product: Array) -> Integers:
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


# --- Rows of floats as integers

# The exponent assigned to zero. It is below any sum of float64 exponents that occurs here.
EXPONENT_OF_ZERO = -10_000


def integers(A: Array) -> AnyArray:
    """A as Python integers: each column is multiplied by a power of two that makes it integer, without rounding.

    >>> integers(np.array([[0.5, 3.0], [0.25, 1.0]])).tolist()
    [[2, 3], [1, 1]]
    """
    whole = np.empty(A.shape, dtype=object)
    for j in range(A.shape[1]):
        ratios = [float(x).as_integer_ratio() for x in A[:, j]]
        unit = max((below for _, below in ratios), default=1)
        whole[:, j] = [above * (unit // below) for above, below in ratios]
    return whole


def fractions(v: AnyArray) -> list[Fraction]:
    """Floats, or other numbers, as exact fractions.

    >>> fractions(np.array([0.5]))
    [Fraction(1, 2)]
    """
    return [Fraction(x) for x in v.tolist()]


def signs(A: Array, v: list[Any]) -> list[int]:
    """The exact sign of a·v for each row a of floats; v has integers or fractions.

    >>> signs(np.array([[1.0, 1e-30, -1.0], [0.1, 0.2, -0.3]]), [1, 1, 1])
    [1, 1]
    """
    below = lcm(*(Fraction(c).denominator for c in v))
    whole = [int(c * below) for c in v]
    numbers, exponent = _decomposed(A)
    exponent = np.where(numbers == 0, exponent.max(initial=0), exponent)
    shifts = (exponent - exponent.min(initial=0)).tolist()
    row_signs = []
    for row, by in zip(numbers.tolist(), shifts, strict=True):
        total = sum((a * c) << s for a, c, s in zip(row, whole, by, strict=True) if a)
        row_signs.append((total > 0) - (total < 0))
    return row_signs


def sums_to_zero(A: Array, multipliers: tuple[int, ...]) -> bool:
    """Whether Σ λ_i a_i = 0 exactly, for integers λ.

    >>> sums_to_zero(np.array([[0.1, 2.0], [-0.2, -4.0]]), (2, 1))
    True
    """
    return not np.any(np.array(multipliers, dtype=object) @ integers(A))


def smallest(multipliers: list[int]) -> list[int]:
    """The integers divided by their greatest common divisor.

    >>> smallest([4, 6])
    [2, 3]
    """
    common = gcd(*multipliers)
    return [m // common for m in multipliers] if common > 1 else multipliers


# --- Linear systems


def inverse(R: Integers, p: int = P) -> Integers:
    """R⁻¹ modulo p, for invertible R, by the elimination of Gauss and Jordan in place.

    >>> inverse(np.array([[2, 1], [1, 1]]), 7).tolist()
    [[1, 6], [6, 2]]
    """
    R, order = R % p, np.arange(len(R))
    for k in range(len(R)):
        candidates = np.flatnonzero(R[k:, k]) + k
        if len(candidates) == 0:
            raise ArithmeticError("the matrix has no inverse modulo p")
        R[[k, candidates[0]]] = R[[candidates[0], k]]
        order[[k, candidates[0]]] = order[[candidates[0], k]]
        pivot, R[k, k] = int(R[k, k]), 1
        R[k] = R[k] * pow(pivot, -1, p) % p
        others = np.flatnonzero(R[:, k])
        others = others[others != k]
        factor = R[others, k]
        R[others, k] = 0  # from here on, column k is the one of the inverse
        R[others] = (R[others] - factor[:, None] * R[k]) % p
    inverted = np.empty_like(R)
    inverted[:, order] = R
    return inverted


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

    Given M⁻¹ modulo p, each step yields one more digit of x in base p, at the cost of two products of M with numbers
    below p. The fractions follow from the digits by rational reconstruction. A row of 53-bit floats adds about 70 bits
    to the numerators, so r rows need about 5 r digits. Elimination over the integers would multiply numbers of that
    length r³ times. Dixon, Exact solution of linear equations using p-adic expansions, Numerische Mathematik 40 (1982).

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
        x = from_halves(inverted @ halves(residue)) % p
        parts = from_halves(stacked @ halves(x)).reshape(len(limbs), r, -1).astype(object)
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
    (numbers, exponent), none = _decomposed(both), both == 0
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
    low, high = span(A)
    top = max(int(abs(v)).bit_length() + int(h) for row, h in zip(V, high, strict=True) for v in row)
    # The most bits that a sum has, as a multiple of the smallest power of two among the entries of A.
    bits = top - int(low.min()) + len(V).bit_length() + 1
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


def span(A: Array) -> tuple[Integers, Integers]:
    """For each column: e such that all entries are integer multiples of 2^e, and f such that all are below 2^f.

    >>> [side.tolist() for side in span(np.array([[0.75], [6.0]]))]
    [[-2], [3]]
    """
    whole, exponent = _decomposed(A)
    last = np.frexp((whole & -whole).astype(np.float64))[1] - 1  # the position of the lowest set bit
    none = whole == 0
    lowest = np.where(none, 2000, exponent - 53 + last).min(axis=0)
    highest = np.where(none, -2000, exponent).max(axis=0)
    empty = none.all(axis=0)
    return np.where(empty, 0, lowest).astype(np.int64), np.where(empty, 0, highest).astype(np.int64)


# --- Dependencies among rows, and integer bases of what is orthogonal to them

# Numbers of bits to which approximate weights are rounded before the other weights are computed from them exactly. They
# are tried in turn until all weights are positive, since a weight may be small beside the rounding error of another.
WEIGHT_BITS = (12, 53)


def positive_dependency(A: Array, before: Array, near: Array | None = None) -> tuple[list[int], list[int]] | None:
    """Integers λ > 0 and μ with Σ λ_i a_i + Σ μ_j c_j = 0, for rows a_i of A and c_j of ``before``.

    None if there are no such integers, or if λ is not unique up to a factor and ``near`` is not given. ``near`` is an
    approximate λ > 0. It supplies the weights of rows that are linear combinations of earlier rows. The rows of A come
    from a linear program in floating point: there are at most twice as many of them as their rank.

    >>> positive_dependency(np.array([[1.0, 1.0], [1.0, -1.0], [-4.0, 0.0]]), np.zeros((0, 2)))
    ([2, 2, 1], [])
    >>> positive_dependency(np.array([[1.0], [-1.0], [-2.0]]), np.zeros((0, 1)), np.array([3.0, 1.0, 1.0]))
    ([3, 1, 1], [])
    """
    first, n = len(before), len(before) + len(A)
    both = np.vstack([before, A])
    pivot = pivots(both.T)
    fixed = sorted(set(range(first, n)) - set(pivot.columns))
    if n == first or not fixed or (near is None and fixed != [n - 1]):
        return None
    for bits in WEIGHT_BITS if near is not None else (0,):
        shares = np.ones((1, 1), dtype=object) if near is None else _rounded(near[np.array(fixed) - first], bits)
        x = solve(both[pivot.columns][:, pivot.rows].T, -both[fixed][:, pivot.rows].T, pivot.p, shares)
        weights = [0] * n
        for j, number in zip([*pivot.columns, *fixed], [*x.above[:, 0], *(shares[:, 0] * x.below)], strict=True):
            weights[j] = int(number)
        weights = smallest(weights)
        if min(weights[first:]) > 0:
            return weights[first:], weights[:first]
    return None


def _rounded(near: Array, bits: int) -> AnyArray:
    """Nonzero integers (n, 1) that are proportional to ``near`` rounded to this many bits."""
    mantissa, exponent = np.frexp(near)
    return integers(np.ldexp(np.round(np.ldexp(mantissa, bits)), exponent - bits)[:, None])


class Dependency(NamedTuple):
    """Rows and integers λ > 0 with Σ λ_i a_i = 0."""

    rows: Integers
    multipliers: tuple[int, ...]


def extended_dependency(known: Dependency | None, group: Integers, own: list[int], through: list[int]) -> Dependency:
    """The known dependency extended by a group of rows, which depend on each other modulo the known rows.

    ``own`` are the multipliers of the group and ``through`` those of the known rows, which may have either sign. Adding
    a multiple of the known dependency, which sums to zero, makes them positive.

    >>> extended_dependency(Dependency(np.array([0, 1]), (1, 2)), np.array([5]), [3], [0, -4]).multipliers
    (3, 2, 3)
    """
    if known is None:
        return Dependency(group, tuple(own))
    more = 1 + max(0, *(-(mu // m) for mu, m in zip(through, known.multipliers, strict=True)))
    total = [more * m + mu for mu, m in zip(through, known.multipliers, strict=True)]
    return Dependency(np.concatenate([known.rows, group]), tuple(smallest([*total, *own])))


class Across(NamedTuple):
    """An integer basis (w, q) of the orthogonal complement of some rows.

    Row ``free[k]`` of ``basis`` has one nonzero entry, in column k, which is the same for all k.
    """

    basis: AnyArray
    free: list[int]


def across(A: Array) -> Across | None:
    """An exact integer basis of {v : A v = 0}; None if the rank of A modulo the chosen prime is too low.

    >>> across(np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 0.0]])).basis.T.tolist()
    [[-2, 0, 1]]
    """
    w = A.shape[1]
    pivot = pivots(A)
    free = [j for j in range(w) if j not in set(pivot.columns)]
    basis = np.zeros((w, len(free)), dtype=object)
    if not free:
        return Across(basis, free)
    rows = A[pivot.rows]
    x = solve(rows[:, pivot.columns], -rows[:, free], pivot.p)
    basis[pivot.columns] = x.above
    basis[free, np.arange(len(free))] = x.below
    # The rank modulo a prime may be lower than the rank; then some row is not orthogonal to the basis.
    return Across(basis, free) if bool(vanishing(A, basis).all()) else None
