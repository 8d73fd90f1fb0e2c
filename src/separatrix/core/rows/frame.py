"""The coordinates in which rows are read, x ↦ (x − center)/scale by column, and weights taken back to raw units.

The intercept in raw units is b = W₀ − Σ_j w_j c_j. With centres c_j of 1e15, b is of that size too, and its last bit
changes every score by 0.1. The last bit of a weight w_j also changes b by 2⁻⁵² |w_j c_j|, but k such steps change the
column's part of the centred scores only by a relative k 2⁻⁵². Among a few thousand k there is one for which the
rounded b is a thousand times nearer to its exact value. ``raw_weights`` chooses it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

import numpy as np

from separatrix.core.base.arrays import AnyArray, Array
from separatrix.core.base.codec import array
from separatrix.core.base.lazy import cached_property

# A column's offset is large if it exceeds this many times its scale: then X·w − c·w loses digits that (X − c)·w keeps.
LARGE_OFFSET = 64.0
# With scales beyond 2 to this power, weights in raw units can leave the range of float64 although their scores do not.
LARGEST_RAW_EXPONENT = 900
LARGEST_FLOAT = float(np.finfo(np.float64).max)
# The rounding error of a larger w·center is visible in the scores at 1e-12, so a larger one is computed exactly.
LARGEST_ROUNDED_SHIFT = 4096.0


def power_of_two(scale: Array) -> Array:
    """The power of two at or below each positive scale, 1 where a scale is 0: dividing by it is exact.

    >>> power_of_two(np.array([0.0, 0.3, 1.0, 5.0])).tolist()
    [1.0, 0.25, 1.0, 4.0]
    """
    power = np.ldexp(0.5, np.frexp(scale)[1])
    positive = scale > 0
    return power if positive.all() else np.where(positive, power, 1.0)


@dataclass(frozen=True)
class Frame:
    """x ↦ (x − center)/scale, applied implicitly so that sparse rows stay sparse.

    ``center``, ``scale``: (d,); scales are powers of two. A scale of infinity hides a constant column: it reads 0
    everywhere, its weight stays 0, and the contribution of a given weight to the scores goes to the intercept.
    """

    center: Annotated[Array, array("d")]
    scale: Annotated[Array, array("d", finite=False, least=0)]

    @classmethod
    def identity(cls, n_features: int) -> Frame:
        return cls(np.zeros(n_features), np.ones(n_features))

    @cached_property
    def is_identity(self) -> bool:
        return bool((self.center == 0).all() and (self.scale == 1).all())

    @cached_property
    def is_far(self) -> AnyArray:
        """Which columns have a large offset relative to their scale, (d,) booleans."""
        with np.errstate(over="ignore"):  # If the product overflows, no mean exceeds it.
            return np.asarray(np.abs(self.center) > LARGE_OFFSET * self.scale)

    @cached_property
    def has_large_offset(self) -> bool:
        return bool(np.count_nonzero(self.is_far))

    @cached_property
    def is_near(self) -> bool:
        """Whether all offsets are small, so that centring sums of raw products loses at most one digit."""
        return bool(np.all(np.abs(self.center) <= 4.0 * self.scale))

    @cached_property
    def squares_safely(self) -> bool:
        """Whether squares of raw entries are far from overflow and underflow."""
        exponents = np.frexp(np.concatenate([self.scale[np.isfinite(self.scale)], self.center[self.center != 0]]))[1]
        # The squares of such numbers are far from overflow (2^1024) and underflow.
        return bool(np.all(np.abs(exponents) < 250))

    @cached_property
    def is_extreme(self) -> bool:
        """Whether weights for raw rows may leave float64's range; rows are then framed before they are multiplied."""
        exponents = np.frexp(self.scale)[1]  # zero for an infinite scale
        return bool(np.count_nonzero(np.abs(exponents) > LARGEST_RAW_EXPONENT))

    @cached_property
    def _finite_scale(self) -> Array:
        """The scales, zero for hidden columns."""
        hidden = np.isinf(self.scale)
        return np.where(hidden, 0.0, self.scale) if np.count_nonzero(hidden) else self.scale

    def to_original(self, W: Array) -> Array:
        """Weights for raw rows from weights for framed rows; out-of-range values become the largest float."""
        original = np.empty_like(W)
        if self.is_extreme:
            with np.errstate(over="ignore"):
                original[:, 1:] = np.clip(W[:, 1:] / self.scale, -LARGEST_FLOAT, LARGEST_FLOAT)
        else:
            original[:, 1:] = W[:, 1:] / self.scale
        original[:, 0] = self._shifted(W[:, 0], original[:, 1:], -1)
        return original

    def from_original(self, W: Array) -> Array:
        """Weights for framed rows from weights for raw rows."""
        framed = np.empty_like(W)
        framed[:, 1:] = W[:, 1:] * self._finite_scale
        framed[:, 0] = self._shifted(W[:, 0], W[:, 1:], +1)
        return framed

    def _shifted(self, b: Array, w: Array, sign: int) -> Array:
        """b ± w·center; in exact arithmetic where cancellation would lose digits of the scores."""
        if not self.has_large_offset and not self.is_extreme:
            moved: Array = w.dot(self.center)
            if all(-LARGEST_ROUNDED_SHIFT <= shift <= LARGEST_ROUNDED_SHIFT for shift in moved.tolist()):
                return b + moved if sign > 0 else b - moved
        center = [Fraction(c) for c in self.center.tolist()]
        exact = [
            Fraction(intercept) + sign * sum((Fraction(x) * c for x, c in zip(row, center, strict=True)), Fraction(0))
            for intercept, row in zip(b.tolist(), w.tolist(), strict=True)
        ]
        largest = Fraction(LARGEST_FLOAT)
        return np.array([float(min(max(total, -largest), largest)) for total in exact])


# --- Weights in raw units

# An intercept whose rounding error is at most this is left as it is.
LARGEST_INTERCEPT_ERROR = 1e-12
# The search changes a weight by at most this many units in the last place in each direction.
MOST_LAST_BIT_STEPS = 4096


def raw_weights(frame: Frame, W: Array) -> Array:
    """Weights for raw rows, (K, d + 1), from weights for framed rows.

    >>> frame, W = Frame(np.array([1e15 + 2.5]), np.array([1.0])), np.array([[0.0, 0.3]])
    >>> plain, chosen = frame.to_original(W), raw_weights(frame, W)
    >>> [float(abs(frame.from_original(raw)[0, 0])) < 1e-4 for raw in (plain, chosen)]
    [False, True]
    """
    raw = frame.to_original(W)
    if not frame.has_large_offset:
        return raw
    for given, row in zip(W, raw, strict=True):
        if np.max(np.abs(row)) < LARGEST_FLOAT / 2:
            _settle(frame, float(given[0]), row)
    return raw


def _settle(frame: Frame, target: float, row: Array) -> None:
    """Change the last bits of one weight of ``row``, and its intercept, in place."""
    off = Fraction(target) - _at_centre(frame, row)
    step = np.spacing(np.abs(row[1:])) * np.abs(frame.center)
    j = int(np.argmax(np.where(row[1:] != 0, step, 0.0)))
    if abs(off) <= LARGEST_INTERCEPT_ERROR or row[j + 1] == 0 or step[j] <= LARGEST_INTERCEPT_ERROR:
        return
    # The change of b by one step of the weight and by one step of the intercept, as integers over a common denominator.
    weight_step = Fraction(float(np.spacing(abs(row[j + 1])))) * Fraction(float(frame.center[j]))
    intercept_step = Fraction(float(np.spacing(abs(row[0]))))
    unit = max(off.denominator, weight_step.denominator, intercept_step.denominator)
    rest, a, b = (int(x * unit) for x in (off, weight_step, intercept_step))
    half = b // 2

    def left(k: int) -> int:
        return abs((rest - k * a + half) % b - half)

    k = min(range(-MOST_LAST_BIT_STEPS, MOST_LAST_BIT_STEPS + 1), key=left)
    row[j + 1] += k * np.spacing(abs(row[j + 1]))
    row[0] = float(Fraction(row[0]) + Fraction(target) - _at_centre(frame, row))


def _at_centre(frame: Frame, row: Array) -> Fraction:
    """b + w·center, exactly."""
    total = Fraction(float(row[0]))
    for w, c in zip(row[1:].tolist(), frame.center.tolist(), strict=True):
        total += Fraction(w) * Fraction(c)
    return total
