"""Products that neither overflow nor underflow, for engines that otherwise end the whole statement with an error.

PostgreSQL raises an error if a product of finite numbers is infinite, or if a product of nonzero numbers is zero. One
such row would prevent the predictions of all other rows. So factors are clipped to limits within which a product can
neither overflow nor underflow: a result above 1e290 in magnitude becomes 1e290, and one below 1e-320 becomes zero.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Protocol

import numpy as np

from separatrix.base.arrays import Array
from separatrix.export.algebra import Affine, Inputs, Vector
from separatrix.export.dialects import Dialect
from separatrix.export.formula import Formula

# Largest magnitude of a result; larger ones are replaced by it. A sum of 10^18 such numbers is still finite.
LARGEST_RESULT = 1e290
# Smallest magnitude of a result; smaller ones are replaced by zero. It is well above the smallest double, 5e-324, since
# rounding must not turn a nonzero result into zero.
SMALLEST_RESULT = 1e-320


class Guard(Protocol):
    """Writes the products of a formula. ``repeats`` tells whether a product contains its operands several times."""

    repeats: bool

    def input(self, j: int, value: str) -> str: ...
    def number(self, j: int, value: float) -> float: ...
    def scaled(self, c: float, text: str) -> str: ...
    def combined(self, sign: str, x: str, y: str) -> str: ...


def guard_of(formula: Formula, dialect: Dialect, inline: bool) -> Guard:
    """The guard for an engine: products are limited if it raises an error, and unchanged otherwise.

    With ``inline``, operands are expressions without names. Then only the inputs are clipped, which suffices for linear
    scores: repeating the operands of all products would make expressions grow exponentially.
    """
    if not dialect.traps:
        return Free(dialect)
    return HeldInputs(formula, dialect) if inline else Held(formula, dialect)


class Free:
    """For engines in which a product may be infinite or zero.

    >>> from separatrix.export.dialects import DIALECTS
    >>> Free(DIALECTS["sqlite"]).combined("*", "x", "y")
    '(x * y)'
    """

    repeats = False

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect

    def input(self, j: int, value: str) -> str:
        """Column j of X."""
        return value

    def number(self, j: int, value: float) -> float:
        """A constant that replaces a value of column j of X."""
        return value

    def scaled(self, c: float, text: str) -> str:
        """c times an expression."""
        return f"{self.dialect.double(c)} * {text}"

    def combined(self, sign: str, x: str, y: str) -> str:
        """x + y, x − y, x × y or x ÷ y."""
        return f"({x} {sign} {y})"


class HeldInputs(Free):
    """Clips the columns of X so that their products with all weights neither overflow nor underflow."""

    def __init__(self, formula: Formula, dialect: Dialect) -> None:
        super().__init__(dialect)
        weights = np.abs(np.vstack([np.ones(formula.n_columns), *_weights(formula)]))
        smallest = np.min(np.where(weights > 0, weights, 1.0), axis=0)
        self.low = np.where(smallest < 1.0, SMALLEST_RESULT / smallest, 0.0)
        self.high = LARGEST_RESULT / (np.max(weights, axis=0) * max(1, formula.n_columns))

    def input(self, j: int, value: str) -> str:
        """Column j of X, clipped to its limits. Its value must be a number, not NULL."""
        low, high, least = (self.dialect.double(v) for v in (self.low[j], self.high[j], -self.high[j]))
        held = f"LEAST(GREATEST({value}, {least}), {high})"
        if not self.low[j]:
            return held
        return f"CASE WHEN abs({value}) < {low} THEN {self.dialect.double(0.0)} ELSE {held} END"

    def number(self, j: int, value: float) -> float:
        """A constant that replaces a missing value of column j of X, clipped to the limits of the column."""
        return 0.0 if abs(value) < self.low[j] else float(np.clip(value, -self.high[j], self.high[j]))


class Held(HeldInputs):
    """Also limits all other products. If an operand is NULL, no test is true, and the result is the product, NULL."""

    repeats = True

    def scaled(self, c: float, text: str) -> str:
        """c times an expression."""
        product, double = f"{self.dialect.double(c)} * {text}", self.dialect.double
        if abs(c) > 1:
            most = f"sign({text}) * {double(math.copysign(LARGEST_RESULT, c))}"
            return f"CASE WHEN abs({text}) > {double(LARGEST_RESULT / abs(c))} THEN {most} ELSE {product} END"
        return f"CASE WHEN abs({text}) < {double(SMALLEST_RESULT / abs(c))} THEN {double(0.0)} ELSE {product} END"

    def combined(self, sign: str, x: str, y: str) -> str:
        """x + y and x − y unchanged; for x × y and x ÷ y the logarithm of the result is tested first."""
        plain = f"({x} {sign} {y})"
        if sign in "+-":
            return plain
        double = self.dialect.double
        zero = f"{x} = 0 OR {y} = 0" if sign == "*" else f"{x} = 0"
        size = f"ln(abs({x})) {'+' if sign == '*' else '-'} ln(abs({y}))"
        small = f"WHEN {size} < {double(math.log(SMALLEST_RESULT))} THEN {double(0.0)}"
        large = (
            f"WHEN {size} > {double(math.log(LARGEST_RESULT))} THEN sign({x}) * sign({y}) * {double(LARGEST_RESULT)}"
        )
        return f"(CASE WHEN {zero} THEN {plain} {small} {large} ELSE {plain} END)"


def _weights(formula: Formula) -> Iterator[Array]:
    """Every matrix by which the columns of X are multiplied."""
    waiting: list[Vector] = [formula.scores] if formula.probabilities is None else [formula.probabilities]
    seen: set[Vector] = set()
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        if isinstance(node, Affine) and isinstance(node.of, Inputs):
            yield node.M
        waiting += node.operands
