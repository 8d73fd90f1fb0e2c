"""Basis functions φ(x): the model is linear in its parameters, but its boundary in x may be curved.

The bases are transformers, which are placed before a classifier in a pipeline (docs/tour.md, B1, B2). They do not
contain the constant function 1, since the classifier fits an intercept: ``Basis(["x0", "x1", "x0*x1"])`` with an
intercept is φ(x) = (1, x₁, x₂, x₁x₂). Columns without names are called x0, x1, …, as in scikit-learn and in the rest of
this package; the lectures count from 1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from separatrix.core.base.arrays import AnyArray, Array, refuse_unclear
from separatrix.core.base.errors import ParameterError
from separatrix.core.rows.column_statistics import refuse_not_finite
from separatrix.core.rows.memory_rows import memory_rows


@dataclass(frozen=True)
class Monomial:
    """The product of x_j over the column indices ``columns``; an index is repeated for a power. It can be pickled.

    >>> Monomial((0, 1))(np.array([[2.0, 3.0]])).tolist()
    [6.0]
    """

    columns: tuple[int, ...]

    def __call__(self, X: Array) -> Array:
        with np.errstate(over="ignore"):
            return np.asarray(np.prod(X[:, list(self.columns)], axis=1))


class _Functions(TransformerMixin, BaseEstimator, ABC):
    """Base class of all bases. It validates the rows and evaluates the functions that a subclass defines."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Build the functions for the columns of X.

        Parameters
        ----------
        X : array (n, d)
            The rows. Their values are used only by ``GaussianBasis`` if it draws the centres from the rows.
        y : None
            Ignored.

        Returns
        -------
        self
        """
        self.functions_ = self._functions(self._rows(X, reset=True), self._names(None))
        self._n_features_out = len(self.functions_)
        return self

    def transform(self, X: Any) -> Array:
        """Evaluate the basis functions for each row.

        Parameters
        ----------
        X : array (n, d)
            The rows.

        Returns
        -------
        array (n, m)
            φ(x) for each row.
        """
        check_is_fitted(self)
        rows = self._rows(X, reset=False)
        columns = [_checked_values(name, function(rows), len(rows)) for name, function in self.functions_]
        return np.column_stack(columns)

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:
        """Return the names of the functions.

        Parameters
        ----------
        input_features : list of str or None
            Names of the columns of X. If None, the names seen in ``fit`` are used, or x0, x1, … if there were none.

        Returns
        -------
        array (m,) of str
        """
        check_is_fitted(self)
        names = self._names(input_features)
        return np.array([name for name, _ in self._named(names)], dtype=object)

    @abstractmethod
    def _functions(self, X: Array, names: list[str]) -> list[tuple[str, Callable[[Array], Array]]]:
        """Return pairs of a name and a function from rows (n, d) to values (n,)."""

    def _named(self, names: list[str]) -> list[tuple[str, Callable[[Array], Array]]]:
        return self.functions_

    def _rows(self, X: Any, reset: bool) -> Array:
        refuse_unclear(X)
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite=False, reset=reset)
        given = getattr(self, "feature_names_in_", None)
        refuse_not_finite(memory_rows(X, np.zeros(len(X))), None if given is None else list(given))
        return np.asarray(X)

    def _names(self, input_features: Any) -> list[str]:
        given = _check_feature_names_in(self, input_features, generate_names=False)
        if given is None:
            return [f"x{j}" for j in range(self.n_features_in_)]
        return [str(name) for name in given]


def _checked_values(name: str, values: Any, n_rows: int) -> Array:
    column = np.asarray(values, dtype=np.float64)
    if column.shape != (n_rows,):
        raise ParameterError(
            "functions", f"{name!r} returned shape {column.shape} for {n_rows} rows", "return one number per row"
        )
    return column


class Basis(_Functions):
    """Basis φ(x) = (φ₁(x), …, φ_m(x)) of named functions (docs/tour.md, B1).

    Parameters
    ----------
    functions : list
        Each entry is either a pair (name, function from rows (n, d) to values (n,)), or a product of columns such as
        "x0", "x0*x1" or "x0*x0*x1". Columns are called by their names in the data frame, or x0, x1, … if X is an array.
        A string is split at "*" and each factor must be a column name; strings are never evaluated as code.

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
        functions = [_function(item, names) for item in self.functions]
        used = [name for name, _ in functions]
        repeated = next((name for name in used if used.count(name) > 1), None)
        if repeated is not None:
            raise ParameterError("functions", f"the name {repeated!r} occurs twice", "give each function its own name")
        return functions


def _function(item: Any, names: list[str]) -> tuple[str, Callable[[Array], Array]]:
    """Return the name and the function of one entry of ``Basis.functions``."""
    if isinstance(item, str):
        return item, _monomial(item, names)
    if isinstance(item, tuple | list) and len(item) == 2 and isinstance(item[0], str) and callable(item[1]):
        return item[0], item[1]
    raise ParameterError("functions", f"got {item!r}", "give a product of columns, or a pair (name, function)")


def _monomial(product: str, names: list[str]) -> Monomial:
    """Parse a product of column names. A string that is itself a column name is not split at "*"."""
    factors = [product] if product in names else [factor.strip() for factor in product.split("*")]
    unknown = next((factor for factor in factors if factor not in names), None)
    if "**" in product and unknown == "":
        remedy = "write powers as products: 'x0*x0' for the square of x0"
        raise ParameterError("functions", f"{product!r} contains '**', which is not supported", remedy)
    if unknown is not None:
        raise ParameterError("functions", f"{product!r} contains {unknown!r}, which is not a column", f"use {names}")
    return Monomial(tuple(names.index(factor) for factor in factors))


class QuadraticBasis(_Functions):
    """Basis of all columns x_j and all products x_i x_j with j ≤ i: d + d(d + 1)/2 functions (docs/tour.md, B2).

    A linear classifier with an intercept on these functions is a general quadratic discriminant function. The number of
    its parameters is 1 + d + d(d + 1)/2. For d = 2 these are 6, while a linear discriminant function has 3.

    Examples
    --------
    >>> from separatrix.classifiers.basis import QuadraticBasis
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
    """The Gaussian function e^{−‖x − μ‖²/(2σ²)} with centre μ and width σ.

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
    """Basis of Gaussian functions φ_k(x) = e^{−‖x − μ_k‖²/(2σ²)} with centres μ_k (docs/tour.md, B1).

    Parameters
    ----------
    centres : array (m, d) or int, default 5
        The centres, or the number of training rows to draw at random as centres. If there are fewer training rows, all
        of them are centres.
    width : float, default 1.0
        The width σ, in the units of the columns. Scale the columns first if their units differ.
    seed : int, default 0
        Seed for drawing the centres.

    Attributes
    ----------
    centres_ : array (m, d)
        The given centres, or the training rows drawn as centres.

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
    """Return a transformer that computes all columns x_j and all products x_i x_j (docs/tour.md, B2).

    Returns
    -------
    QuadraticBasis

    Examples
    --------
    >>> from separatrix import quadratic
    >>> quadratic().fit_transform([[2.0]]).tolist()
    [[2.0, 4.0]]
    """
    return QuadraticBasis()


def gaussian(centres: Any = 5, width: float = 1.0, seed: int = 0) -> GaussianBasis:
    """Return a transformer that computes Gaussian functions e^{−‖x − μ_k‖²/(2σ²)} with centres μ_k (docs/tour.md, B1).

    Parameters
    ----------
    centres : array (m, d) or int, default 5
        The centres, or the number of training rows to draw at random as centres (at most all of them).
    width : float, default 1.0
        The width σ, in the units of the columns.
    seed : int, default 0
        Seed for drawing the centres.

    Returns
    -------
    GaussianBasis

    Examples
    --------
    >>> from separatrix import gaussian
    >>> gaussian([[0.0]], width=1.0).fit_transform([[0.0]]).tolist()
    [[1.0]]
    """
    return GaussianBasis(centres, width, seed)
