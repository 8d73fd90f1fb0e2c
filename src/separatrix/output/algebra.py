"""The computation of a model for one row, as an expression over vectors that can be written in any language.

    inputs x  ->  Affine a + M x  ->  +, −, ×, ÷, exp, "where z ≥ 0", largest  ->  scores, probabilities

Each node is a vector of ``width`` numbers. A vector of width 1 is broadcast to the width of the other operand. The
exports differ only in how they write the nodes below: a new export is one table of rules for ``translate``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, final

import numpy as np

from separatrix.core.base.arrays import Array

T = TypeVar("T")
# Smallest exponent for which e^x is computed. Below it e^x is subnormal, which PostgreSQL reports as an error, so e^x
# is replaced by 0.
LOWEST_EXPONENT = -708.0
# Largest exponent for which e^x is computed, since e^x overflows for larger ones. The probabilities in
# ``output/formula.py`` keep their exponents below it.
HIGHEST_EXPONENT = 700.0


class Vector:
    """A vector of ``width`` numbers, computed from its ``operands``.

    >>> x = Inputs(2)
    >>> z = Affine(x, np.array([[2.0, -1.0]]), np.array([0.5]))
    >>> z.width, (1.0 + Exp(z)).width
    (1, 1)
    """

    width: int

    @property
    def operands(self) -> tuple[Vector, ...]:
        return ()

    def __add__(self, other: Vector | float) -> Vector:
        return Combine("+", self, _vector(other))

    def __radd__(self, other: float) -> Vector:
        return Combine("+", _vector(other), self)

    def __sub__(self, other: Vector | float) -> Vector:
        return Combine("-", self, _vector(other))

    def __rsub__(self, other: float) -> Vector:
        return Combine("-", _vector(other), self)

    def __mul__(self, other: Vector | float) -> Vector:
        return Combine("*", self, _vector(other))

    def __rmul__(self, other: float) -> Vector:
        return Combine("*", _vector(other), self)

    def __truediv__(self, other: Vector | float) -> Vector:
        return Combine("/", self, _vector(other))

    def __rtruediv__(self, other: float) -> Vector:
        return Combine("/", _vector(other), self)

    def __neg__(self) -> Vector:
        return 0.0 - self


@final
@dataclass(frozen=True, eq=False)
class Inputs(Vector):
    """The d columns of X for one row, minus the shifts in ``Formula.columns``."""

    width: int


@final
@dataclass(frozen=True, eq=False)
class Constant(Vector):
    """The same number for every row."""

    value: float
    width: int = 1


@final
@dataclass(frozen=True, eq=False)
class Affine(Vector):
    """a + M v, with M (R, S) and a (R,)."""

    of: Vector
    M: Array
    a: Array

    @property
    def width(self) -> int:  # type: ignore[override]
        return len(self.a)

    @property
    def operands(self) -> tuple[Vector, ...]:
        return (self.of,)


@final
@dataclass(frozen=True, eq=False)
class Combine(Vector):
    """One of a + b, a − b, a × b, a ÷ b, entry by entry."""

    sign: str
    a: Vector
    b: Vector

    @property
    def width(self) -> int:  # type: ignore[override]
        return max(self.a.width, self.b.width)

    @property
    def operands(self) -> tuple[Vector, ...]:
        return (self.a, self.b)


@dataclass(frozen=True, eq=False)
class EntryByEntry(Vector):
    """A function of each entry of v."""

    of: Vector

    @property
    def width(self) -> int:  # type: ignore[override]
        return self.of.width

    @property
    def operands(self) -> tuple[Vector, ...]:
        return (self.of,)


@final
@dataclass(frozen=True, eq=False)
class Exp(EntryByEntry):
    """e^v, or 0 if v is below ``LOWEST_EXPONENT``. v must not exceed ``HIGHEST_EXPONENT``."""


@final
@dataclass(frozen=True, eq=False)
class Abs(EntryByEntry):
    """|v|."""


@final
@dataclass(frozen=True, eq=False)
class Where(Vector):
    """``yes`` where test ≥ 0, else ``no``, entry by entry."""

    test: Vector
    yes: Vector
    no: Vector

    @property
    def width(self) -> int:  # type: ignore[override]
        return max(operand.width for operand in self.operands)

    @property
    def operands(self) -> tuple[Vector, ...]:
        return (self.test, self.yes, self.no)


@final
@dataclass(frozen=True, eq=False)
class Largest(Vector):
    """The largest entry, a vector of width 1."""

    of: Vector
    width: int = 1

    @property
    def operands(self) -> tuple[Vector, ...]:
        return (self.of,)


Rules = Mapping[type[Vector], Callable[..., T]]


def translate(node: Vector, rules: Rules[T], known: dict[Vector, T]) -> T:
    """Translate a node by ``rules``, after its operands. Each node is translated once and cached in ``known``.

    >>> spelled = {Inputs: lambda node: "x", Constant: lambda node: str(node.value),
    ...            Combine: lambda node, a, b: f"({a} {node.sign} {b})"}
    >>> translate(2.0 * Inputs(1), spelled, {})
    '(2.0 * x)'
    """
    if node not in known:
        parts = [translate(operand, rules, known) for operand in node.operands]
        known[node] = rules[type(node)](node, *parts)
    return known[node]


def _vector(value: Vector | float) -> Vector:
    return value if isinstance(value, Vector) else Constant(float(value))


def total(v: Vector) -> Vector:
    """The sum of all entries."""
    return Affine(v, np.ones((1, v.width)), np.zeros(1))


def beside(a: Vector, b: Vector) -> Vector:
    """The vector (a, b), for two vectors of width 1."""
    return Affine(a, np.array([[1.0], [0.0]]), np.zeros(2)) + Affine(b, np.array([[0.0], [1.0]]), np.zeros(2))


def horner(coefficients: tuple[float, ...], v: Vector) -> Vector:
    """c₀ vⁿ + c₁ vⁿ⁻¹ + … + cₙ, with at least two coefficients."""
    value: Any = coefficients[0]
    for c in coefficients[1:]:
        value = value * v + c
    return _vector(value)
