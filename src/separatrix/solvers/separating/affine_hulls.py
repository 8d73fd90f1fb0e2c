r"""The point of an affine hull that is nearest to the origin, for dense and for sparse points.

Problem   minimise ‖Σ_i β_i P_i‖ subject to Σ_i β_i = 1, the β_i of either sign
Given     points P (k, d), and which of them to use
Returns   β, and the nearest point p
Step      least squares in the differences from the first point, repeated on the remainder, which corrects rounding

Dense points are solved by Householder reflections with pivoting, columns in order of size: the error is then small in
each column's own unit (Cox and Higham, Stability of Householder QR factorization for weighted least squares problems,
1998). If p is short compared with the points, nearly all digits cancel in their sum, so p is computed as the remainder
of one of them after projections instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from separatrix.base.arrays import EPS, Array, Integers
from separatrix.objectives.factor import Factor
from separatrix.rows.csr import is_sparse
from separatrix.solvers.hull_start import LARGEST_COLUMN_RATIO, products

# The Gram matrix is used if each difference has at least this share of its length outside the span of those before it,
# and if the sizes of columns differ by at most LARGEST_COLUMN_RATIO, so that rounding treats them alike.
SMALLEST_INDEPENDENT_SHARE = 1e-3
# A sparse difference with a smaller share of its length outside the span of the others depends on them. So does one
# shorter than NEGLIGIBLE_LENGTH_SHARE of the longest point: its products are then differences of rounded ones.
LARGEST_DEPENDENT_SHARE, NEGLIGIBLE_LENGTH_SHARE = 1e-6, 1e-5
# The most entries of sparse differences that may be converted to a dense array, 128 MB.
LARGEST_DENSE_COPY = 1 << 24


def affine_hulls(P: Any) -> Callable[[Integers], tuple[Array, Array]]:
    """A function that takes the indices of some points and returns their weights, which sum to 1, and the point.

    >>> share, p = affine_hulls(np.array([[1.0, 0.0], [0.0, 1.0], [9.0, 9.0]]))(np.array([0, 1]))
    >>> share.round(12).tolist(), p.round(12).tolist()
    ([0.5, 0.5], [0.5, 0.5])
    """
    if not is_sparse(P):
        return lambda kept: _nearest_by(P[kept], _dense_span)
    G = products(P)

    def nearest(kept: Integers) -> tuple[Array, Array]:
        return _nearest_by(P[kept], lambda A: _sparse_span(A, G[np.ix_(kept, kept)]))

    return nearest


def _nearest_by(P: Any, span_of: Callable[[Any], _Span]) -> tuple[Array, Array]:
    """The weights of P, which sum to 1, of the point of their affine hull nearest to the origin, and that point."""
    x = P[[0]].toarray()[0] if is_sparse(P) else P[0]
    if P.shape[0] == 1:
        return np.ones(1), np.asarray(x)
    A = _from_first(P).T
    span = span_of(A)
    beta = np.zeros(A.shape[1])
    for _ in range(span.rounds):  # later rounds correct rounding errors
        beta += span.coefficients(-x - A @ beta)
    share = np.concatenate([[1.0 - beta.sum()], beta])
    for _ in range(span.rounds):
        x = x - span.projection(x)
    hull_point = np.asarray(share @ P)
    return share, x if x @ hull_point > 0 else hull_point


def _from_first(P: Any) -> Any:
    """The differences P_i − P_0 for i ≥ 1, (k − 1, d); sparse for sparse points."""
    if not is_sparse(P):
        return P[1:] - P[0]
    from scipy.sparse import csr_array

    return P[1:] - csr_array(np.ones((P.shape[0] - 1, 1))) @ P[[0]]


class _Span(Protocol):
    """The span of the columns of a matrix A, and how many rounds of least squares correct its rounding."""

    rounds: ClassVar[int]

    def coefficients(self, r: Array) -> Array: ...
    def projection(self, r: Array) -> Array: ...


def _dense_span(A: Array) -> _Span:
    return _Gram.of(A) or _Reflected.of(A)


def _sparse_span(A: Any, products_of_points: Array) -> _Span:
    """The span of sparse columns; of nearly dependent ones by reflections, if a dense copy of them is small."""
    span = _SparseGram.of(A, products_of_points)
    if span.smallest_share < SMALLEST_INDEPENDENT_SHARE and A.shape[0] * A.shape[1] <= LARGEST_DENSE_COPY:
        return _Reflected.of(A.toarray())
    return span


@dataclass(frozen=True)
class _Reflected:
    """The span of A's columns, rows in order of size: A[order] = Q R, columns in the order of ``pivots``."""

    order: Integers
    Q: Array
    R: Array
    pivots: Integers
    width: int
    rounds: ClassVar[int] = 2

    @classmethod
    def of(cls, A: Array) -> _Reflected:
        from scipy.linalg import qr

        order = np.argsort(-np.abs(A).max(axis=1), kind="stable")
        factors: Any = qr(A[order], mode="economic", pivoting=True, check_finite=False)
        Q, R, pivots = factors
        size = np.abs(np.diag(R))
        rank = int(
            np.sum(size > EPS * (A.shape[1] + 1) * size.max(initial=0.0))
        )  # later columns depend on earlier ones
        return cls(order, Q[:, :rank], R[:rank, :rank], pivots[:rank], A.shape[1])

    def coefficients(self, r: Array) -> Array:
        """β with A β nearest to r."""
        from scipy.linalg import solve_triangular

        beta = np.zeros(self.width)
        beta[self.pivots] = solve_triangular(self.R, self.Q.T @ r[self.order])
        return beta

    def projection(self, r: Array) -> Array:
        """A β."""
        projected = np.empty_like(r)
        projected[self.order] = self.Q @ (self.Q.T @ r[self.order])
        return projected


@dataclass(frozen=True)
class _Gram:
    """The span of A's columns from AᵀA, which is many times faster and as accurate under two conditions.

    Rows must have similar sizes, and columns must be far from dependent. Each round then gains as many digits as
    squaring leaves (Björck, Numerical Methods for Least Squares Problems, 1996, section 2.9).
    """

    A: Array
    factor: Factor
    rounds: ClassVar[int] = 3

    @classmethod
    def of(cls, A: Array) -> _Gram | None:
        sizes = np.abs(A).max(axis=1)
        if A.shape[1] > A.shape[0] or sizes.max() > LARGEST_COLUMN_RATIO * np.min(sizes[sizes > 0], initial=np.inf):
            return None
        factor = Factor.of(A.T @ A)
        return None if factor is None or np.min(np.diag(factor.lower)) < SMALLEST_INDEPENDENT_SHARE else cls(A, factor)

    def coefficients(self, r: Array) -> Array:
        """β with A β nearest to r."""
        return self.factor.solve(self.A.T @ r)

    def projection(self, r: Array) -> Array:
        """A β."""
        return np.asarray(self.A @ self.coefficients(r))


@dataclass(frozen=True)
class _SparseGram:
    """The same for sparse columns, from their products alone, so that nothing of d × k numbers is stored.

    Columns that depend on others get the coefficient zero. Each round gains fewer digits than for ``_Gram``, since the
    columns may be nearer to dependent, so there are more rounds.
    """

    A: Any
    independent: Integers
    factor: Factor
    rounds: ClassVar[int] = 6

    @classmethod
    def of(cls, A: Any, products_of_points: Array) -> _SparseGram:
        """The span of the differences A from the first point, given the products of the points."""
        K = products_of_points
        G = K[1:, 1:] - K[1:, :1] - K[:1, 1:] + K[0, 0]
        longer = np.diag(G) > NEGLIGIBLE_LENGTH_SHARE**2 * np.max(np.diag(K))
        independent, factor = np.arange(len(G)), Factor.of(G) if longer.all() else None
        if factor is None or np.min(np.diag(factor.lower)) < SMALLEST_INDEPENDENT_SHARE:
            independent = _independent(G, np.flatnonzero(longer))
            factor = Factor.of(G[np.ix_(independent, independent)])
            assert factor is not None  # the columns kept are in the order of their pivots, all above rounding
        return cls(A, independent, factor)

    @property
    def smallest_share(self) -> float:
        """The smallest share of a column's length outside the span of the columns before it."""
        return float(np.min(np.diag(self.factor.lower), initial=1.0))

    def coefficients(self, r: Array) -> Array:
        """β with A β nearest to r."""
        beta = np.zeros(self.A.shape[1])
        beta[self.independent] = self.factor.solve((self.A.T @ r)[self.independent])
        return beta

    def projection(self, r: Array) -> Array:
        """A β."""
        return np.asarray(self.A @ self.coefficients(r))


def _independent(G: Array, among: Integers) -> Integers:
    """Those columns ``among`` all that do not depend on others, by a pivoted Cholesky factor of their products G.

    They are in the order of their pivots. Pivots below four times what ``Factor`` takes for rounding are not kept, so
    that the factor of the rest exists.
    """
    from scipy.linalg.lapack import dpstrf

    if not len(among):
        return among
    d = np.sqrt(np.diag(G)[among])
    scaled = G[np.ix_(among, among)] / d / d[:, None]
    _, order, rank, _ = dpstrf(scaled, lower=1, tol=max(LARGEST_DEPENDENT_SHARE**2, 32 * len(G) * EPS))
    return np.asarray(among[order[:rank] - 1])
