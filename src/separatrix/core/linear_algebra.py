"""Factors of positive definite matrices, the directions that rows determine, and what float64 cannot resolve.

``Factor`` solves systems with a Hessian, and ``Subspace`` has the directions of W that the data and the penalty
determine. ``limiting_columns`` names the columns because of which float64 cannot give a fit more digits. ``unresolved``
tells directions on which the objective does not depend from those that float64 merely cannot resolve, by the rank of
the rows modulo random primes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import isfinite, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from separatrix.core.base.arrays import EPS, AnyArray, Array, Integers, pieces
from separatrix.core.base.messages import ByAudience, ColumnName, Message, Parameter, Remedy, joined
from separatrix.core.exact_arithmetic import MOST_TERMS, drawn_prime, eliminated, product, residues
from separatrix.core.rows.block import Block, is_sparse
from separatrix.core.rows.frame import LARGEST_RAW_EXPONENT, Frame
from separatrix.core.rows.protocol import Rows, number_of_rows

if TYPE_CHECKING:
    from separatrix.core.problem import Objective


# --- Factors of positive definite matrices

# The rounding error of a matrix and its factor, in units in the last place per row of the matrix.
ROUNDING_ULPS_PER_ROW = 16
# Options of LAPACK's functions, given by position: given by name they take as long as the work on a small matrix.
_UPPER, _TRANSPOSED, _CLEAN, _AS_IT_IS, _OVERWRITE = 0, 1, 1, 0, 1


@cache
def _lapack() -> Any:
    """LAPACK's functions, imported on first use. Repeating the import statement takes as long as a small solve."""
    import scipy.linalg.lapack

    return scipy.linalg.lapack


def is_positive_definite(A: Array) -> bool:
    """Whether a symmetric matrix with finite entries has a Cholesky factor in float64. A is overwritten.

    >>> is_positive_definite(np.eye(2)), is_positive_definite(np.ones((2, 2)) - np.eye(2))
    (True, False)
    """
    return len(A) == 0 or _lapack().dpotrf(A.T, _UPPER, _AS_IT_IS, _OVERWRITE)[1] == 0


@dataclass(frozen=True)
class Factor:
    """H = D L Lᵀ D with D = diag(H)^½, which removes the columns' units: H may span many orders of magnitude."""

    lower: Array
    d: Array
    squared: bool = True  # computed from H itself, which has half the digits of its root

    @classmethod
    def of(cls, H: Array) -> Factor | None:
        """The factor of H, or None if H is not positive definite to working precision.

        >>> Factor.of(np.array([[1.0, 1.0], [1.0, 1.0]])) is None
        True
        """
        diagonal = H.diagonal()
        if len(H) == 0:
            return cls(H, diagonal)
        # An entry that is not finite makes the sum not finite. The sum of finite entries may overflow, too. For small
        # matrices the minimum of a list takes a fifth of the time of NumPy's.
        if not (min(diagonal.tolist()) > 0 and (isfinite(H.sum()) or np.isfinite(H).all())):
            return None
        d = np.sqrt(diagonal)
        scaled = H / d
        scaled /= d[:, None]
        # LAPACK stores columns, so the upper triangle of the transpose is the lower triangle here, without a copy.
        upper, failed = _lapack().dpotrf(scaled.T, _UPPER, _CLEAN, _OVERWRITE)
        if failed or min(upper.diagonal().tolist()) ** 2 < 8 * len(H) * EPS:
            return None
        return cls(upper.T, d)

    @classmethod
    def of_root(cls, R: Array) -> Factor | None:
        """The factor of H = RᵀR, for R upper triangular. It works for condition numbers too large for H itself.

        >>> R = np.array([[1.0, 1.0], [0.0, 1e-10]])
        >>> Factor.of(R.T @ R) is None, Factor.of_root(R) is None
        (True, False)
        """
        d = np.linalg.norm(R, axis=0)
        if R.shape[0] < R.shape[1] or not (np.all(np.isfinite(R)) and np.all(d > 0)):
            return None
        lower = (R / d).T
        if np.min(np.abs(np.diag(lower)), initial=np.inf) < 8 * len(d) * EPS:
            return None
        return cls(np.ascontiguousarray(lower), d, squared=False)

    def half(self, B: Array) -> Array:
        """L⁻¹ D⁻¹ B, whose squared column lengths are bᵀ H⁻¹ b."""
        scaled = B / (self.d if B.ndim == 1 else self.d[:, None])
        if len(self.d) == 0:
            return scaled
        return np.asarray(_lapack().dtrtrs(self.lower.T, scaled, _UPPER, _TRANSPOSED)[0])

    def inverse(self) -> Array:
        """L⁻¹ D⁻¹, a root of H⁻¹: ``half`` of the identity."""
        return self.lower if len(self.d) == 0 else np.asarray(_lapack().dtrtri(self.lower.T, _UPPER)[0]).T / self.d

    def rounding(self, root: Array, cancelled: float = 1.0) -> float:
        """A bound on the relative error of gᵀ H⁻¹ g for any g; ``root``: L⁻¹ D⁻¹, as ``inverse`` computes it.

        ``cancelled``: the ratio of the terms that H was summed from to its diagonal.

        The scaled matrix A = L Lᵀ has a diagonal of ones and a rounding error of order p units in the last place. The
        relative error is twice that over its smallest eigenvalue, which is at least 1/trace(A⁻¹). If the factor comes
        from a root of H, the rounding error is in the root, and only the square root of that trace counts.

        >>> A = Factor.of(np.array([[1.0, 0.9], [0.9, 1.0]]))
        >>> A.rounding(A.inverse()) < 1e-12
        True
        """
        scaled = root * self.d
        trace = float(np.vdot(scaled, scaled)) * cancelled
        return 2 * ROUNDING_ULPS_PER_ROW * max(1, len(self.d)) * EPS * (trace if self.squared else sqrt(trace))

    def lengths(self, V: Array) -> Array:
        """(vᵀ H v)^½ for each row v.

        >>> Factor.of(np.diag([4.0, 9.0])).lengths(np.eye(2)).tolist()
        [2.0, 3.0]
        """
        return np.asarray(np.linalg.norm((V * self.d) @ self.lower, axis=1))

    def length(self, v: Array) -> float:
        """(vᵀ H v)^½.

        >>> Factor.of(np.diag([4.0, 9.0])).length(np.array([0.0, 1.0]))
        3.0
        """
        return float(np.linalg.norm((v * self.d).dot(self.lower)))

    def solve(self, g: Array) -> Array:
        """H⁻¹ g."""
        d = self.d if g.ndim == 1 else self.d[:, None]
        if len(d) == 0:
            return g.copy()
        return np.asarray(_lapack().dpotrs(self.lower.T, g / d, _UPPER, _OVERWRITE)[0] / d)


# --- The directions of W that the data and the penalty determine

# Relative eigenvalues of a Gram matrix below this may be rounding errors; they are computed again without squaring.
SMALLEST_SQUARED_EIGENVALUE = 1e-8


@dataclass(frozen=True)
class Subspace:
    """The directions W = Q Θ Zᵀ that the data and the penalty determine, which Newton steps and bounds keep to.

    The objective does not depend on some directions in three cases: collinear columns, a missing intercept, and for K
    score functions a common shift of all of them. Q (K, K − 1 or 1) is an orthonormal basis of the contrasts between
    classes, or None for one score function. Z (d + 1, r) is one of the identified columns, or None if these are all.

    ``others_null``: whether every direction of the columns outside Z is zero on all rows; None if that is not known.
    """

    Q: Array | None
    Z: Array | None
    rank: int
    others_null: bool | None = None

    def reduce(self, G: Array) -> Array:
        """Qᵀ G Z as a vector: a gradient in the coordinates Θ."""
        G = G if self.Q is None else self.Q.T @ G
        return (G if self.Z is None else G @ self.Z).ravel()

    def expand(self, theta: Array) -> Array:
        """Q Θ Zᵀ, (K, d + 1)."""
        T = theta.reshape(1 if self.Q is None else self.Q.shape[1], -1)
        T = T if self.Z is None else T @ self.Z.T
        return T if self.Q is None else self.Q @ T

    def remainder(self, G: Array) -> Array:
        """The part of G outside the subspace."""
        return G - self.expand(self.reduce(G))

    def outside(self) -> Array:
        """An orthonormal basis of the columns' directions that are not identified, (d + 1 − r, d + 1)."""
        if self.Z is None:
            return np.empty((0, 0))
        full = np.linalg.svd(self.Z, full_matrices=True)[0]
        return np.ascontiguousarray(full[:, self.Z.shape[1] :].T)

    def reduce_rows(self, rows: Array) -> Array:
        """Rows over (K, d + 1) in the coordinates Θ: rows (Q ⊗ Z)."""
        T = rows.reshape(len(rows), 1 if self.Q is None else len(self.Q), -1)
        T = T if self.Z is None else T @ self.Z
        T = T if self.Q is None else np.einsum("nkj,kc->ncj", T, self.Q)
        return np.ascontiguousarray(T).reshape(len(rows), -1)

    def reduce_hessian(self, H: Array) -> Array:
        """(Q ⊗ Z)ᵀ H (Q ⊗ Z)."""
        if self.Z is None and self.Q is None:
            return H
        K = 1 if self.Q is None else len(self.Q)
        width = len(H) // K
        if self.Z is not None and self.Z.shape[1] == 0:
            return np.empty((0, 0))
        if self.Z is not None:
            H, width = self.Z.T @ (H.reshape(-1, width) @ self.Z).reshape(K, width, -1), self.Z.shape[1]
        if self.Q is not None:
            H, K = self.Q.T @ (self.Q.T @ H.reshape(K, -1)).reshape(-1, K, width), K - 1
        return H.reshape(K * width, K * width)


def contrasts(K: int) -> Array:
    """An orthonormal basis (K, K − 1) of the vectors that sum to zero (Helmert).

    >>> Q = contrasts(3)
    >>> bool(np.allclose(Q.T @ Q, np.eye(2)) and np.allclose(Q.sum(axis=0), 0))
    True
    """
    Q = np.zeros((K, K - 1))
    for j in range(1, K):
        Q[:j, j - 1] = 1.0
        Q[j, j - 1] = -j
        Q[:, j - 1] /= np.sqrt(j * (j + 1))
    return Q


def identified(curvature: Array) -> Subspace | None:
    """The columns' directions on which a (d + 1)² matrix of curvature is positive; None if rounding hides them.

    Squaring columns halves their digits: an eigenvalue below SMALLEST_SQUARED_EIGENVALUE may or may not be zero.

    >>> identified(np.diag([1.0, 0.0, 2.0])).rank
    2
    """
    d, Z = np.sqrt(curvature.diagonal()), None
    if not (d > 0).all():  # a column without curvature is left out exactly
        seen = np.flatnonzero(d > 0)
        d, Z, curvature = d[seen], np.eye(len(curvature))[:, seen], curvature[np.ix_(seen, seen)]
    scaled = curvature / d
    scaled /= d[:, None]
    scaled.ravel()[:: len(d) + 1] -= SMALLEST_SQUARED_EIGENVALUE
    # The factor exists if all eigenvalues exceed the subtracted value.
    return Subspace(None, Z, len(d)) if is_positive_definite(scaled) else None


def split_by_gap(curvature: Array) -> Subspace | None:
    """``identified`` if a gap separates rounding errors from other eigenvalues: a guess to be verified on the rows.

    >>> split_by_gap(np.array([[1.0, 1.0], [1.0, 1.0]])).rank
    1
    """
    d = np.sqrt(np.diag(curvature))
    seen = np.flatnonzero(d > 0)
    d = d[seen]
    values, vectors = np.linalg.eigh(curvature[np.ix_(seen, seen)] / d / d[:, None])
    largest = values[-1] if len(seen) else 0.0
    kept = values > SMALLEST_SQUARED_EIGENVALUE * largest
    if np.any(values[~kept] > 64 * len(curvature) * EPS * largest):
        return None
    return _spanned(vectors[:, kept], d, seen, len(curvature))


def _spanned(directions: Array, d: Array, seen: AnyArray, width: int) -> Subspace:
    """The range of a curvature from its eigenvectors for columns scaled to length one, after undoing the scaling."""
    rank = directions.shape[1]
    if rank == width:
        return Subspace(None, None, rank)
    Z = np.zeros((width, rank))
    Z[seen], _ = np.linalg.qr(directions * d[:, None])
    return Subspace(None, Z, rank)


def identified_by_root(root: Array, noise: float) -> Subspace:
    """``identified`` from a root of the curvature, whose singular values are accurate.

    ``noise``: the relative error of the columns; smaller singular values count as zero.

    >>> identified_by_root(np.array([[1.0, 1.0], [0.0, 1e-10]]), 1e-14).rank
    2
    """
    d = np.linalg.norm(root, axis=0)
    seen = np.flatnonzero(d > 0)
    width = root.shape[1]
    if len(seen) == 0:
        return Subspace(None, np.zeros((width, 0)), 0)
    d = d[seen]
    _, values, vectors = np.linalg.svd(root[:, seen] / d, full_matrices=False)
    return _spanned(vectors[values > noise * values[0]].T, d, seen, width)


def row_rank(A: Array, noise: float) -> int:
    """The rank of a matrix with fewer rows than columns; relative singular values up to ``noise`` count as zero.

    >>> row_rank(np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0]]), 1e-12)
    1
    """
    length = np.sqrt(np.einsum("ij,ij->j", A, A))
    A = A / np.where(length > 0, length, 1.0)
    products = A @ A.T
    largest = np.max(np.sum(np.abs(products), axis=1), initial=0.0)  # no eigenvalue is larger
    products[np.diag_indices_from(products)] -= SMALLEST_SQUARED_EIGENVALUE * largest
    try:
        np.linalg.cholesky(products)  # succeeds if all eigenvalues exceed the subtracted value
        return len(A)
    except np.linalg.LinAlgError:
        sigma = np.linalg.svd(A, compute_uv=False)
    return int(np.sum(sigma > noise * sigma.max(initial=0.0)))


# --- The columns because of which float64 cannot give a fit more digits

# A sentence names at most this many columns of a group, and this many groups.
MOST_NAMED_LIMITS, MOST_NAMED_GROUPS = 5, 3
# A mean of more than this many spreads leaves fewer than eight digits for the spread.
FAR_FROM_ZERO = 1e8
# Dependencies are looked for among at most this many columns: a QR factorisation of the rows takes n d² steps.
MOST_COLUMNS_SEARCHED = 500
# A penalty is too weak if rounding errors of the gradient, of this size, allow a gap above SMALLEST_PROVABLE_GAP. The
# gradient of a smooth loss near one with kinks is steeper, and solvers cannot make it as small.
ROUNDED_GRADIENT, ROUNDED_STEEP_GRADIENT, SMALLEST_PROVABLE_GAP = 8 * EPS, 1e-11, 1e-9
# If a penalty is too weak in a column of at least this size, the size is the cause, and not C.
LARGE_COLUMN = 1e6
STANDARDISE = Message(
    ByAudience("standardise that column first", shell="standardise the columns first, with --standardise")
)
STANDARDISE_OR_DROP = Message(STANDARDISE, ", or leave that column out")


def column_name(j: int, names: Sequence[str] | None) -> ColumnName:
    """Column j in messages: by its name, or by its number if it has none.

    >>> column_name(1, ["age", "height"]).python, column_name(1, None).python
    ("column 'height'", 'column 1')
    """
    return ColumnName(j, None if names is None else f"column {names[j]!r}")


def listed(columns: Sequence[int], names: Sequence[str] | None) -> Message:
    """The first columns by name, and an ellipsis if there are more.

    >>> print(listed([0, 2], None)), print(listed(range(9), None))
    column 0, column 2
    column 0, column 1, column 2, column 3, column 4, …
    (None, None)
    """
    named = [Message(column_name(int(j), names)) for j in columns[:MOST_NAMED_LIMITS]]
    return joined(", ", [*named, *["…"] * (len(columns) > MOST_NAMED_LIMITS)])


def dependent_groups(N: Array) -> list[list[int]]:
    """The groups of columns that depend on each other, from the projection N (d, d) onto the null directions.

    >>> v = np.array([[1.0, -1.0, 0.0]]) / np.sqrt(2)
    >>> dependent_groups(v.T @ v)
    [[0, 1]]
    """
    # A column takes part in a dependency if its share exceeds this one of the largest.
    related = np.abs(N) > 1e-3 * np.max(np.diag(N), initial=0.0)
    groups, left = [], set(np.flatnonzero(np.diag(related)).tolist())
    while left:
        group, fresh = set[int](), {min(left)}
        while fresh:
            group |= fresh
            fresh = set(np.flatnonzero(related[sorted(fresh)].any(axis=0)).tolist()) & left - group
        groups.append(sorted(group))
        left -= group
    return groups


def dependent(N: Array, names: Sequence[str] | None, how: str = "collinear") -> Message:
    """Which columns depend on each other, given the projection onto the null directions, and how many to leave out.

    >>> print(dependent(np.full((2, 2), 0.5), ["a", "b"]))
    column 'a', column 'b' are collinear; leave one of them out
    """
    groups, excess = dependent_groups(N), round(float(np.trace(N)))
    if not groups:
        return Message()
    told = [Message(listed(group, names), f" are {how}") for group in groups[:MOST_NAMED_GROUPS]]
    told += [Message(f"{len(groups) - len(told)} more groups are, too")] * (len(groups) > len(told))
    alone = "leave one of them out" if excess <= 1 else f"leave {excess} of them out"
    each = "leave one of each group out" if excess == len(groups) else f"leave {excess} of them out"
    return Message(joined("; ", told), Remedy(alone if len(groups) == 1 else each))


def far_from_zero(frame: Frame, names: Sequence[str] | None, least: float = FAR_FROM_ZERO) -> Message:
    """The column whose mean is the most spreads, if these are more than ``least``; else an empty message.

    >>> print(far_from_zero(Frame(np.array([0.0, 1e12]), np.ones(2)), None))
    the mean of column 1 is about 1e+12 times its spread; standardise that column first
    """
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        offsets = np.nan_to_num(np.where(np.isfinite(frame.scale), np.abs(frame.center) / frame.scale, 0.0))
    if not np.max(offsets, initial=0.0) > least:
        return Message()
    j = int(np.argmax(offsets))
    spreads = f" is about {offsets[j]:.0e} times its spread"
    return Message("the mean of ", column_name(j, names), spreads, Remedy(STANDARDISE))


def of_extreme_size(frame: Frame, names: Sequence[str] | None) -> Message:
    """The column whose size is farthest from one, if its weight may leave float64; else an empty message.

    >>> print(of_extreme_size(Frame(np.zeros(2), np.array([1.0, 2.0**-1000])), None))
    the entries of column 1 differ by about 9e-302; standardise that column first, or leave that column out
    """
    with np.errstate(divide="ignore"):
        exponents = np.where(np.isfinite(frame.scale), np.abs(np.log2(frame.scale)), 0.0)
    if not np.max(exponents, initial=0.0) > LARGEST_RAW_EXPONENT:
        return Message()
    j = int(np.argmax(exponents))
    return Message(_differing(j, frame, names), Remedy(STANDARDISE_OR_DROP))


def _differing(j: int, frame: Frame, names: Sequence[str] | None) -> Message:
    return Message("the entries of ", column_name(j, names), f" differ by about {frame.scale[j]:.0e}")


def weakly_penalised(objective: Objective) -> Message:
    """The column whose penalty is weakest, if rounding errors hide the penalty; else an empty message.

    The penalty on raw weights counts less and less the larger a column is: at 1e12, rounding errors in the gradient are
    as large as the gradient of the penalty.
    """
    frame = objective.rows.frame
    r, a = objective.root_penalty[1:], objective.absolute_penalty[1:]
    off = ROUNDED_GRADIENT if objective.loss.traits.smooth else ROUNDED_STEEP_GRADIENT
    with np.errstate(divide="ignore", over="ignore"):
        unproven = np.where(r > 0, 0.5 * (off / r) ** 2, off / a)
    unproven[objective.unpenalised[1:] | objective.pinned[1:] | ~np.isfinite(frame.scale)] = 0.0
    if not np.max(unproven, initial=0.0) > SMALLEST_PROVABLE_GAP:
        return Message()
    j = int(np.argmax(unproven))
    if frame.scale[j] < LARGE_COLUMN:
        return Message(
            "the penalty is too weak beside rounding errors", Remedy(Message("use a smaller ", Parameter("C")))
        )
    hidden = ", so rounding errors hide the penalty on its weight"
    return Message(_differing(j, frame, objective.names), hidden, Remedy(STANDARDISE_OR_DROP))


def oversized_column(objective: Objective) -> Message:
    """The column whose size limits the digits of a fit, without a pass over the rows; else an empty message."""
    cause = of_extreme_size(objective.rows.frame, objective.names) or weakly_penalised(objective)
    return cause if cause.columns else Message()


def nearly_collinear(R: Array, names: Sequence[str] | None) -> Message:
    """The columns that are collinear or nearly so; an empty message if there are none. RᵀR is their Gram matrix.

    >>> print(nearly_collinear(np.array([[1.0, 1.0], [0.0, 1e-9]]), None))
    column 0, column 1 are nearly collinear; leave one of them out
    """
    length = np.linalg.norm(R, axis=0)
    seen = np.flatnonzero((length > 0) & np.isfinite(length))
    _, values, V = np.linalg.svd(R[:, seen] / length[seen], full_matrices=True)
    # Columns of length one are nearly collinear if some combination of them is shorter than this: a sum of squares then
    # has fewer than four digits for it.
    short = V[np.concatenate([values, np.zeros(len(V) - len(values))]) < 1e-6]
    N = np.zeros((len(length), len(length)))
    N[np.ix_(seen, seen)] = short.T @ short
    return dependent(N, names, "nearly collinear")


def limiting_columns(objective: Objective) -> Message:
    """The columns that limit the digits of a fit, with the way out; an empty message if no cause is known.

    Four causes can be determined: columns that are collinear, exactly or nearly; a column whose mean is many times its
    spread, so that its entries and its weight have few digits for the spread; a column of extreme size; and a penalty
    that is too weak beside rounding errors, in all columns or in a large one.

    It takes a pass and a QR factorisation unless the objective has computed them already.
    """
    frame, names = objective.rows.frame, objective.names
    cause = of_extreme_size(frame, names) or far_from_zero(frame, names)
    weak = cause or weakly_penalised(objective)
    if cause or weak.columns or not 2 <= objective.shape[1] - 1 <= MOST_COLUMNS_SEARCHED:
        return weak
    return nearly_collinear(objective.columns.root_gram[:, 1:], names) or weak


# --- Null and unresolved directions


@dataclass(frozen=True)
class MixedResidues:
    """M X̄ modulo each p, (primes, w, w): random combinations of the rows, of the given columns of W, as exact numbers.

    The rows are x − center without rounding; the scales of the frame are left out, since they do not change the rank.
    """

    columns: Integers
    primes: tuple[int, ...]

    def zero(self) -> Integers:
        return np.zeros((len(self.primes), len(self.columns), len(self.columns)), dtype=np.int64)

    def add(self, total: Integers, block: Block) -> Integers:
        for rows in pieces(block.n_rows, MOST_TERMS):
            part = block.take(rows)
            part = part if np.all(part.weight > 0) else part.take(np.flatnonzero(part.weight > 0))
            for k, p in enumerate(self.primes):
                dice = np.random.default_rng([p, block.start + rows.start])
                mix = dice.integers(0, p, (len(self.columns), part.n_rows))
                total[k] = (total[k] + product(mix, self._residues(part, p), p)) % p
        return total

    def merge(self, a: Integers, b: Integers) -> Integers:
        return np.asarray((a + b) % np.array(self.primes)[:, None, None])

    def _residues(self, block: Block, p: int) -> Integers:
        R = np.ones((block.n_rows, len(self.columns)), dtype=np.int64)
        own, frame = self.columns[self.columns > 0] - 1, block.frame
        X: Any = block.X[:, own]
        X = np.asarray(X.toarray() if is_sparse(X) else X, dtype=np.float64)
        centred = (residues(X, p) - residues(frame.center[own], p)) % p
        R[:, self.columns > 0] = np.where(np.isinf(frame.scale[own]), 0, centred)
        return R


def nullity(rows: Rows, columns: Integers) -> int:
    """The number of independent directions of these columns of W (0 is the intercept) that are null on all rows.

    The rows have residues modulo a prime p, and the rank of the residues is never above that of the rows. Random
    combinations of all rows modulo p, one for each column, have that rank except with probability about 1/p. New primes
    are drawn for each test, so no data can be constructed to defeat them.

    >>> from separatrix.core.rows.memory_rows import memory_rows
    >>> rows = memory_rows(np.array([[1.0, 2.0, 0.1], [2.0, 4.0, 0.3], [3.0, 6.0, 0.2]]), np.ones(3))
    >>> nullity(rows, np.array([1, 2])), nullity(rows, np.array([0, 1, 3]))
    (1, 0)
    """
    # The rank is too low only if both primes divide every largest minor.
    primes = tuple(drawn_prime() for _ in range(2))
    mixed = rows.fold(MixedResidues(columns, primes))
    return len(columns) - max(len(eliminated(R, p).columns) for R, p in zip(mixed, primes, strict=True))


def unresolved(rows: Rows, space: Subspace, pinned: Any, held: Any) -> tuple[int, ...]:
    """The columns of W that take part in unresolved directions; empty if all directions outside are null.

    ``Subspace`` keeps the directions of W that float64 resolves: those along which the columns, each scaled to length
    one, have a singular value above rounding. A direction v outside of it is *null* if x̄_i·v = 0 exactly for every row:
    then E is constant along v, and leaving v out changes nothing. Otherwise v is *unresolved*: the rows differ along it
    by less than the rounding of their own entries, and a likelihood without a penalty may still increase along it; it
    may even separate the classes. Two columns that differ only in their last bits have such a direction.

    Let w be the number of columns of W that are neither pinned nor held by a penalty, r how many directions of them are
    resolved, and q = w − r. If q independent directions are null, then the resolved directions and the null ones
    together span all directions: no direction v ≠ 0 in the span of the resolved ones is null, since its curvature is
    above rounding. So the minimum of E over the resolved directions is the minimum of E, whatever the rounding errors
    of the bases; only the number q counts. Only columns that take part in the directions outside are tested: if some
    columns have q independent null directions, so have all columns together.

    Parameters
    ----------
    rows : Rows
        The rows of the objective.
    space : Subspace
        The resolved directions.
    pinned, held : (d + 1,) booleans
        The columns of W that are pinned, and those with a quadratic penalty, which take part in no null direction.

    Returns
    -------
    tuple of int
        0 is the intercept, j + 1 column j.
    """
    others_null = all_null(rows, space, pinned, held) if space.others_null is None else space.others_null
    if others_null:
        return ()
    candidates = left_out(rows, space, pinned, held)
    assert candidates is not None, "where no direction is left out, all of them are null"
    asked = candidates.each[:16]  # each of them takes a pass
    not_null = [columns for columns in asked if not _null(rows, np.setdiff1d(columns, np.flatnonzero(held)), 1)]
    return tuple(np.unique(np.concatenate(not_null or candidates.each)).tolist())


def all_null(rows: Rows, space: Subspace, pinned: Any, held: Any) -> bool:
    """Whether all directions outside are null, in one pass; arguments as those of ``unresolved``.

    >>> from separatrix.core.rows.memory_rows import memory_rows
    >>> rows = memory_rows(np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0], [5.0, 10.0]]), np.ones(4))
    >>> space, none = Subspace(None, np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 2.0]]), 2), np.zeros(3, dtype=bool)
    >>> all_null(rows, space, none, none)
    True
    """
    candidates = left_out(rows, space, pinned, held)
    return candidates is None or _null(rows, candidates.together, len(candidates.each))


class ColumnsOutside(NamedTuple):
    """The directions outside, by the columns of W that take part in them.

    ``each``: the columns of each direction. ``together``: all columns that may take part in a null direction.
    """

    together: Integers
    each: list[Integers]


def left_out(rows: Rows, space: Subspace, pinned: Any, held: Any) -> ColumnsOutside | None:
    """The columns that take part in the directions outside; None if there are none or all of them must be null.

    The number of resolved directions is at most the number of rows and penalties. If it equals that, every other
    direction is null. A fitted intercept always takes part: it compensates for the rounding of the centres.
    """
    from scipy.linalg import qr, solve

    most = number_of_rows(rows) + int(np.count_nonzero(held))
    if space.Z is None or space.rank >= most:
        return None
    own = ~pinned
    V = np.linalg.svd(space.Z[own], full_matrices=True)[0][:, space.Z.shape[1] :].T
    if not len(V):
        return None
    # A basis (q, d + 1) of the directions outside, each with a column that no other uses; zero in pinned columns.
    basis = np.zeros((len(V), len(pinned)))
    alone = qr(V, mode="r", pivoting=True)[1][: len(V)]
    basis[:, own] = solve(V[:, alone], V)
    # A column takes part in a direction if its coefficient exceeds this share of the largest one. If a column that
    # takes part is left out, fewer null directions are found, so a proof may fail but never succeed wrongly.
    takes_part = np.abs(basis) > 1e-9 * np.abs(basis).max(axis=1, keepdims=True)
    takes_part[:, 0] = not pinned[0]
    together = np.flatnonzero(takes_part.any(axis=0) & ~held)
    return ColumnsOutside(together, [np.flatnonzero(own) for own in takes_part])


def _null(rows: Rows, columns: Integers, count: int) -> bool:
    """Whether these columns have ``count`` independent null directions."""
    return len(columns) > 0 and nullity(rows, columns) >= count
