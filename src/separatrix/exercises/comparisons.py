"""Comparisons of a given answer with the expected one. Each describes in words the form that an answer must have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, final

import numpy as np

from separatrix.base.arrays import Array

# Three significant digits suffice: rounding to them changes a number by at most this share.
TOLERANCE = 0.005


class Comparison(Protocol):
    """How an answer is compared with the expected one."""

    @property
    def form(self) -> str: ...
    def read(self, answer: Any) -> Any: ...
    def same(self, answer: Any, expected: Any) -> bool: ...


class FormError(ValueError):
    """An answer does not have the form that its exercise asks for."""


def _array(answer: Any, shape: tuple[int, ...] | None) -> Array:
    """The answer as an array of finite numbers; of the given shape, if there is one."""
    try:
        found = np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise FormError from None
    if not np.all(np.isfinite(found)) or (shape is not None and found.shape != shape):
        raise FormError
    return found


def _close(a: Array, b: Array) -> bool:
    return a.shape == b.shape and bool(np.allclose(a, b, rtol=TOLERANCE, atol=1e-9))


@final
@dataclass(frozen=True)
class Numbers:
    """Numbers in their order. ``shape`` is () for one number.

    >>> Numbers().same(np.array(4.5), 9 / 2), Numbers((2,)).same(np.array([1.0, 2.0]), [2.0, 1.0])
    (True, False)
    """

    shape: tuple[int, ...] = ()
    form: str = "a number"

    def read(self, answer: Any) -> Array:
        return _array(answer, self.shape)

    def same(self, answer: Any, expected: Any) -> bool:
        return _close(answer, np.asarray(expected, dtype=np.float64))


@final
@dataclass(frozen=True)
class AnyOrder:
    """Numbers or points whose order does not count. ``width`` is the length of a point, or None for numbers.

    >>> AnyOrder().same(np.array([6.0, 5.0]), [5, 6])
    True
    """

    width: int | None = None
    form: str = "a list of numbers"

    def read(self, answer: Any) -> Array:
        found = _array(answer, None)
        if self.width is None:
            found = np.atleast_1d(found)
        points = self.width is None or found.shape[1:] == (self.width,)
        if found.ndim != (1 if self.width is None else 2) or not points:
            raise FormError
        return found

    def same(self, answer: Any, expected: Any) -> bool:
        return _close(_sorted(answer), _sorted(np.asarray(expected, dtype=np.float64)))


def _sorted(found: Array) -> Array:
    return np.sort(found) if found.ndim == 1 else found[np.lexsort(found.T[::-1])]


@final
@dataclass(frozen=True)
class Ray:
    """A vector of which only the direction counts: positive multiples of it are the same answer.

    >>> Ray(2).same(np.array([3.0, 3.0]), [1, 1]), Ray(2).same(np.array([-1.0, -1.0]), [1, 1])
    (True, False)
    """

    length: int
    form: str = "a list of numbers"

    def read(self, answer: Any) -> Array:
        return _array(answer, (self.length,))

    def same(self, answer: Any, expected: Any) -> bool:
        lengths = np.linalg.norm(answer), np.linalg.norm(expected)
        return bool(lengths[0] > 0) and bool(
            np.allclose(answer / lengths[0], np.asarray(expected) / lengths[1], rtol=0.0, atol=TOLERANCE)
        )
