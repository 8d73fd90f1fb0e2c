"""Basis functions φ(x): the model stays linear in its parameters, its boundary in x may curve. TEXTBOOK B1, B2.

Transformers for a pipeline in front of any classifier. The constant function 1 is left to the classifier's
intercept: φ(x) = (1, x₁, x₂, x₁x₂) is ``Basis(["x0", "x1", "x0*x1"])`` and an intercept. Columns without names of
their own are called x0, x1, …, as in scikit-learn and everywhere in this package; the lectures count from 1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from separatrix.base.arrays import AnyArray, Array
from separatrix.base.errors import ParameterError
from separatrix.rows import memory_rows
from separatrix.rows.column_statistics import refuse_not_finite


@dataclass(frozen=True)
class Monomial:
    """∏ x_j over ``columns`` (numbers from 0, repeated for powers): a function that can be pickled.

    >>> Monomial((0, 1))(np.array([[2.0, 3.0]])).tolist()
    [6.0]
    """

    columns: tuple[int, ...]

    def __call__(self, X: Array) -> Array:
        with np.errstate(over="ignore"):
            return np.asarray(np.prod(X[:, list(self.columns)], axis=1))


class _Functions(TransformerMixin, BaseEstimator, ABC):
    """What all bases share: rows checked, functions by name, columns out. Subclasses give the functions."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Remember the columns; learn nothing from the labels."""
        self.functions_ = self._functions(self._rows(X, reset=True), self._names(None))
        self._n_features_out = len(self.functions_)
        return self

    def transform(self, X: Any) -> Array:
        """φ(x) for each row, (n, m)."""
        check_is_fitted(self)
        rows = self._rows(X, reset=False)
        columns = [_one_a_row(name, function(rows), len(rows)) for name, function in self.functions_]
        return np.column_stack(columns)

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:
        """The functions' names; columns without a name of their own are x0, x1, …"""
        check_is_fitted(self)
        names = self._names(input_features)
        return np.array([name for name, _ in self._named(names)], dtype=object)

    @abstractmethod
    def _functions(self, X: Array, names: list[str]) -> list[tuple[str, Callable[[Array], Array]]]:
        """Names and functions of rows."""

    def _named(self, names: list[str]) -> list[tuple[str, Callable[[Array], Array]]]:
        return self.functions_

    def _rows(self, X: Any, reset: bool) -> Array:
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite=False, reset=reset)
        given = getattr(self, "feature_names_in_", None)
        refuse_not_finite(memory_rows(X, np.zeros(len(X))), None if given is None else list(given))
        return np.asarray(X)

    def _names(self, input_features: Any) -> list[str]:
        given = _check_feature_names_in(self, input_features, generate_names=False)
        if given is None:
            return [f"x{j}" for j in range(self.n_features_in_)]
        return [str(name) for name in given]


def _one_a_row(name: str, values: Any, n_rows: int) -> Array:
    column = np.asarray(values, dtype=np.float64)
    if column.shape != (n_rows,):
        raise ParameterError(
            "functions", f"{name!r} gave shape {column.shape} for {n_rows} rows", "return one number a row"
        )
    return column


class Basis(_Functions):
    """φ(x) = (φ₁(x), …, φ_m(x)) from named functions. TEXTBOOK B1.

    Parameters
    ----------
    functions : list
        Each a pair (name, function of rows (n, d) that gives (n,)), or a product of columns by name: "x0", "x0*x1",
        "x0*x0*x1". Columns are called as in the frame they come in, else x0, x1, … Text is looked up, never run.

    Examples
    --------
    >>> from separatrix import Basis
    >>> phi = Basis(["x0", "x0*x1", ("radius", lambda X: np.hypot(X[:, 0], X[:, 1]))])
    >>> phi.fit_transform([[3.0, 4.0]]).tolist(), phi.get_feature_names_out().tolist()
    ([[3.0, 12.0, 5.0]], ['x0', 'x0*x1', 'radius'])
    """

    def __init__(self, functions: Any) -> None:
        self.functions = functions

    def _functions(self, X: Array, names: list[str]) -> list[tuple[str, Callable[[Array], Array]]]:
        if isinstance(self.functions, str) or not len(self.functions):
            raise ParameterError("functions", f"got {self.functions!r}", "give a list of at least one function")
        found = [_function(item, names) for item in self.functions]
        called = [name for name, _ in found]
        twice = next((name for name in called if called.count(name) > 1), None)
        if twice is not None:
            raise ParameterError("functions", f"{twice!r} is there twice", "give each function its own name")
        return found


def _function(item: Any, names: list[str]) -> tuple[str, Callable[[Array], Array]]:
    if isinstance(item, str):
        factors = [factor.strip() for factor in item.split("*")] if item not in names else [item]
        unknown = next((factor for factor in factors if factor not in names), None)
        if "**" in item and unknown == "":
            do = "write powers as products: 'x0*x0' for the square of x0"
            raise ParameterError("functions", f"{item!r} has '**', which is not read", do)
        if unknown is not None:
            raise ParameterError("functions", f"{item!r} names {unknown!r}", f"use the columns {names}")
        return item, Monomial(tuple(names.index(factor) for factor in factors))
    if isinstance(item, tuple | list) and len(item) == 2 and isinstance(item[0], str) and callable(item[1]):
        return item[0], item[1]
    raise ParameterError("functions", f"got {item!r}", "give a product of columns, or a pair (name, function)")


class QuadraticBasis(_Functions):
    """All x_j and all x_i x_j, j ≤ i: d + d(d + 1)/2 functions. TEXTBOOK B2.

    With an intercept a linear classifier on them is a general quadratic discriminant function of
    1 + d + d(d + 1)/2 parameters, d(d + 1)/2 more than without them: 6 for d = 2.

    >>> phi = QuadraticBasis().fit([[3.0, 4.0]])
    >>> phi.get_feature_names_out().tolist(), phi.transform([[3.0, 4.0]]).tolist()
    (['x0', 'x1', 'x0*x0', 'x1*x0', 'x1*x1'], [[3.0, 4.0, 9.0, 12.0, 16.0]])
    """

    def _functions(self, X: Array, names: list[str]) -> list[tuple[str, Callable[[Array], Array]]]:
        return self._named(names)

    def _named(self, names: list[str]) -> list[tuple[str, Callable[[Array], Array]]]:
        d = len(names)
        powers = [(j,) for j in range(d)] + [(i, j) for i in range(d) for j in range(i + 1)]
        return [("*".join(names[j] for j in power), Monomial(power)) for power in powers]


@dataclass(frozen=True)
class Bump:
    """e^{−‖x − μ‖²/(2σ²)}.

    >>> Bump((0.0,), 1.0)(np.array([[0.0], [1.0]])).round(3).tolist()
    [1.0, 0.607]
    """

    centre: tuple[float, ...]
    width: float

    def __call__(self, X: Array) -> Array:
        with np.errstate(over="ignore", under="ignore"):
            squares = np.sum(((X - np.array(self.centre)) / self.width) ** 2, axis=1)
            return np.asarray(np.exp(-0.5 * squares))


class GaussianBasis(_Functions):
    """φ_k(x) = e^{−‖x − μ_k‖²/(2σ²)} around centres μ_k. TEXTBOOK B1.

    Parameters
    ----------
    centres : array (m, d), or a number of training rows to take (drawn by ``seed``), default 5
        There are never more functions than training rows: of fewer rows than asked for all are taken.
    width : float, default 1.0
        σ, in the columns' own units: scale them first where they differ.
    seed : int, default 0

    Examples
    --------
    >>> GaussianBasis([[0.0, 0.0]], width=2.0).fit_transform([[0.0, 0.0], [0.0, 2.0]]).round(3).tolist()
    [[1.0], [0.607]]
    """

    def __init__(self, centres: Any = 5, width: float = 1.0, seed: int = 0) -> None:
        self.centres = centres
        self.width = width
        self.seed = seed

    def _functions(self, X: Array, names: list[str]) -> list[tuple[str, Callable[[Array], Array]]]:
        if not (np.isfinite(self.width) and self.width > 0):
            raise ParameterError("width", f"got {self.width!r}", "give a positive number")
        self.centres_ = self._centres(X)
        bumps = [Bump(tuple(centre.tolist()), float(self.width)) for centre in self.centres_]
        return [(f"gaussian{k + 1}", bump) for k, bump in enumerate(bumps)]

    def _centres(self, X: Array) -> Array:
        if np.ndim(self.centres) == 0:
            count = min(int(self.centres), len(X))
            if count < 1:
                raise ParameterError("centres", f"got {self.centres!r}", "give at least one centre")
            return X[np.sort(np.random.default_rng(self.seed).choice(len(X), count, replace=False))]
        centres = np.asarray(self.centres, dtype=np.float64)
        if centres.ndim != 2 or centres.shape[1] != X.shape[1] or not np.all(np.isfinite(centres)):
            raise ParameterError(
                "centres", f"its shape is {centres.shape}", f"give finite centres of {X.shape[1]} coordinates each"
            )
        return centres


def quadratic() -> QuadraticBasis:
    """A transformer to all x_j and all products x_i x_j. TEXTBOOK B2.

    >>> quadratic().fit_transform([[2.0]]).tolist()
    [[2.0, 4.0]]
    """
    return QuadraticBasis()


def gaussian(centres: Any = 5, width: float = 1.0, seed: int = 0) -> GaussianBasis:
    """A transformer to bumps e^{−‖x − μ‖²/(2σ²)} around centres, given or drawn: a number of them is the most there
    will be, since no more are drawn than there are training rows.

    >>> gaussian([[0.0]], width=1.0).fit_transform([[0.0]]).tolist()
    [[1.0]]
    """
    return GaussianBasis(centres, width, seed)
