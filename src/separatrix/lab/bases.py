"""The basis functions φ(x) that a page offers, with their names in the notation of the textbooks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.errors import InputError
from separatrix.classifiers.basis import Basis, gaussian, quadratic
from separatrix.lab.request_registry import got, number

# The most Gaussian functions drawn from the rows, and the most on each side of a grid.
MOST_CENTRES, MOST_PER_SIDE = 20, 6
NARROWEST, WIDEST = 0.1, 10.0
LARGEST_SEED = 9999


@dataclass(frozen=True)
class ChosenBasis:
    """A basis that a page asks for, made for its rows: the unfitted transformer, and the expression that makes it."""

    transformer: Any
    python: str


def _products(*functions: str) -> Callable[[Mapping[str, Any], Array], ChosenBasis]:
    listed = ", ".join(f'"{one}"' for one in functions)
    return lambda given, X: ChosenBasis(Basis(list(functions)), f"sx.Basis([{listed}])")


def _quadratic(given: Mapping[str, Any], X: Array) -> ChosenBasis:
    return ChosenBasis(quadratic(), "sx.quadratic()")


def _gaussian(given: Mapping[str, Any], X: Array) -> ChosenBasis:
    """Gaussian functions around some of the rows, or around the places of a grid."""
    width = number(given, "width", NARROWEST, WIDEST)
    if given.get("place") == "grid":
        centres = grid(X, int(number(given, "centres", 2, MOST_PER_SIDE)))
        return ChosenBasis(gaussian(centres, width), f"sx.gaussian({centres.tolist()}, width={width:g})")
    count = int(number(given, "centres", 2, MOST_CENTRES))
    seed = int(number(given, "seed", 0, LARGEST_SEED))
    return ChosenBasis(gaussian(count, width, seed), f"sx.gaussian({count}, width={width:g}, seed={seed})")


BASES = {
    "linear": _products("x0", "x1"),
    "product": _products("x0", "x1", "x0*x1"),
    "quadratic": _quadratic,
    "gaussian": _gaussian,
}


def grid(X: Array, side: int) -> Array:
    """Places over the range of the rows, ``side`` in each direction, (side², 2).

    >>> grid(np.array([[0.0, -1.0], [4.0, 1.0]]), 2).tolist()
    [[0.0, -1.0], [4.0, -1.0], [0.0, 1.0], [4.0, 1.0]]
    """
    (left, low), (right, high) = X.min(axis=0), X.max(axis=0)
    across, up = np.meshgrid(np.linspace(left, right, side), np.linspace(low, high, side))
    return np.round(np.column_stack([across.ravel(), up.ravel()]), 2)


def chosen_basis(value: Any, X: Array) -> ChosenBasis:
    """A basis from the payload of a request: {"kind": ..., "centres": ..., "place": ..., "width": ..., "seed": ...}.

    >>> print(chosen_basis({"kind": "product"}, np.zeros((1, 2))).python)
    sx.Basis(["x0", "x1", "x0*x1"])
    """
    match value:
        case {"kind": str(kind)} if kind in BASES:
            return BASES[kind](value, X)
    raise InputError("basis", got(value), f"choose {', '.join(BASES)}")


def function_title(name: str) -> str:
    """The name of a basis function as the textbooks write it, where columns are counted from 1.

    >>> [function_title(one) for one in ("x0", "x1*x0", "x1*x1", "gaussian12")]
    ['x₁', 'x₁x₂', 'x₂²', 'φ₁₂']
    """
    if name.startswith("gaussian"):
        return f"φ{name.removeprefix('gaussian').translate(_LOWERED)}"
    factors = sorted(f"x{int(one[1:]) + 1}".translate(_LOWERED) for one in name.split("*"))
    return "".join(one if factors.count(one) == 1 else f"{one}²" for one in dict.fromkeys(factors))


_LOWERED = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
