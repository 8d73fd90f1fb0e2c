r"""The point of an affine hull that is nearest to the origin, for dense and for sparse points.

Problem   minimise ‖Σ_i β_i P_i‖ subject to Σ_i β_i = 1; the β_i may be negative
Given     points P (k, d), and which of them to use
Returns   β, and the nearest point p
Step      least squares in the differences from the first point, repeated on the residual, which corrects rounding
          errors (iterative refinement)

For dense points, least squares is solved by Householder QR with pivoting, with the columns of P sorted by size, so that
the error is small relative to the scale of each column (Cox and Higham, Stability of Householder QR factorization for
weighted least squares problems, 1998). If p is short compared with the points, nearly all digits cancel in their sum.
Therefore p is computed as the residual of the first point after projections.
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

# The Gram matrix of the differences, which is faster than QR, is used only if each difference has at least this share
# of its length outside the span of those before it, and if the sizes of columns differ by at most LARGEST_COLUMN_RATIO,
# so that rounding errors matter equally in all columns.
SMALLEST_INDEPENDENT_SHARE = 1e-3
# A sparse difference counts as linearly dependent on the others if less than LARGEST_DEPENDENT_SHARE of its length is
# outside their span, or if it is shorter than NEGLIGIBLE_LENGTH_SHARE of the longest point: its inner products are then
# mostly rounding errors.
LARGEST_DEPENDENT_SHARE, NEGLIGIBLE_LENGTH_SHARE = 1e-6, 1e-5
# Sparse differences are converted to a dense array, for QR, only if it has at most this many entries (128 MB).
LARGEST_DENSE_COPY = 1 << 24


def affine_hulls(P: Any) -> Callable[[Integers], tuple[Array, Array]]:
    """A function that returns the nearest point of the affine hull of some of the points P.

    Its argument is the array of their indices. It returns their weights, which sum to 1, and the nearest point.

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
    """The point of the affine hull of P nearest to the origin: its weights, which sum to 1, and the point."""
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
    """The span of the columns of a matrix A; ``rounds``: the number of rounds of iterative refinement."""

    rounds: ClassVar[int]

    def coefficients(self, r: Array) -> Array: ...
    def projection(self, r: Array) -> Array: ...


def _dense_span(A: Array) -> _Span:
    return _Gram.of(A) or _Reflected.of(A)


def _sparse_span(A: Any, products_of_points: Array) -> _Span:
    """The span of sparse columns by their Gram matrix; by QR if they are nearly dependent and a dense copy is small."""
    span = _SparseGram.of(A, products_of_points)
    if span.smallest_share < SMALLEST_INDEPENDENT_SHARE and A.shape[0] * A.shape[1] <= LARGEST_DENSE_COPY:
        return _Reflected.of(A.toarray())
    return span


@dataclass(frozen=True)
class _Reflected:
    """The span of A's columns by Householder QR: A[order] = Q R, with rows sorted by size and columns by ``pivots``."""

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
        """The projection A β of r onto the span."""
        projected = np.empty_like(r)
        projected[self.order] = self.Q @ (self.Q.T @ r[self.order])
        return projected


@dataclass(frozen=True)
class _Gram:
    """The span of A's columns by Cholesky of AᵀA, which is many times faster and as accurate under two conditions.

    A's rows must have similar sizes, and its columns must be far from linearly dependent. Each round of iterative
    refinement then gains as many digits as the condition number of AᵀA leaves (Björck, Numerical Methods for Least
    Squares Problems, 1996, section 2.9).
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
        """The projection A β of r onto the span."""
        return np.asarray(self.A @ self.coefficients(r))


@dataclass(frozen=True)
class _SparseGram:
    """The span of sparse columns by their Gram matrix, without any dense array of size d × k.

    Columns that depend linearly on others get the coefficient zero. Each round gains fewer digits than for ``_Gram``,
    since the columns may be closer to linear dependence, so there are more rounds.
    """

    A: Any
    independent: Integers
    factor: Factor
    rounds: ClassVar[int] = 6

    @classmethod
    def of(cls, A: Any, products_of_points: Array) -> _SparseGram:
        """The span of the differences A from the first point, given the inner products of the points."""
        K = products_of_points
        G = K[1:, 1:] - K[1:, :1] - K[:1, 1:] + K[0, 0]
        longer = np.diag(G) > NEGLIGIBLE_LENGTH_SHARE**2 * np.max(np.diag(K))
        independent, factor = np.arange(len(G)), Factor.of(G) if longer.all() else None
        if factor is None or np.min(np.diag(factor.lower)) < SMALLEST_INDEPENDENT_SHARE:
            independent = _independent(G, np.flatnonzero(longer))
            factor = Factor.of(G[np.ix_(independent, independent)])
            assert factor is not None  # `_independent` keeps only pivots above rounding error
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
        """The projection A β of r onto the span."""
        return np.asarray(self.A @ self.coefficients(r))


def _independent(G: Array, among: Integers) -> Integers:
    """The linearly independent columns of those ``among``, by pivoted Cholesky of the Gram matrix G.

    They are in the order of their pivots. Columns with pivots below four times the rounding limit of ``Factor`` are
    dropped, so that the remaining ones can be factored.
    """
    from scipy.linalg.lapack import dpstrf

    if not len(among):
        return among
    d = np.sqrt(np.diag(G)[among])
    scaled = G[np.ix_(among, among)] / d / d[:, None]
    _, order, rank, _ = dpstrf(scaled, lower=1, tol=max(LARGEST_DEPENDENT_SHARE**2, 32 * len(G) * EPS))
    return np.asarray(among[order[:rank] - 1])
