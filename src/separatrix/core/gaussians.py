"""One Gaussian per class and Bayes' theorem, which give scores that are quadratic in x (docs/tour.md, D2, F4, F6).

The covariances may be singular or shrunk. ``Whitening`` holds the factors of a covariance or scatter matrix, singular
or not: coordinates in which the matrix is the identity. ``Gaussians`` evaluates the densities, and ``QuadraticScorer``
the posterior odds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np

from separatrix.core.base.arrays import EPS, AnyArray, Array, Integers, rows_per_piece
from separatrix.core.base.codec import Several, array
from separatrix.core.base.errors import ParameterError
from separatrix.core.base.messages import Message, Remedy, joined, reason, remedy
from separatrix.core.linear_algebra import Factor, dependent, listed
from separatrix.core.links import LINKS, Link
from separatrix.core.moments import Moments
from separatrix.core.rows.block import is_sparse
from separatrix.core.rows.frame import Frame
from separatrix.core.rows.memory_rows import memory_rows
from separatrix.core.rows.protocol import BLOCK_BYTES, NOT_COUNTED, Order
from separatrix.core.scorer import Classes, chosen_classes, score_rows

# --- Whitening

# An eigenvalue of whitened scatter below this share of the largest may be a rounding error of the sums.
LARGEST_ROUNDED_EIGENVALUE_SHARE = 1e-13
# A variance below this share of the one it is compared with is a rounding error, as deviations of 1e-12 are.
LARGEST_ROUNDED_VARIANCE_SHARE = 1e-24


@dataclass(frozen=True)
class Whitening:
    r"""A (d, r) with Aᵀ S A = I and C = S A with C Cᵀ = S; A Aᵀ is a generalised inverse of S (docs/tour.md, F3).

    Where S is singular, A Aᵀ b is the solution of S w = b of minimum norm in standardised columns, each divided by
    its √S_jj, so the result does not depend on the units of the columns. Then ``log_det`` is that of S with unit
    variance, in those standardised columns, along the missing directions.

    >>> white = Whitening.of(np.array([[4.0, 2.0], [2.0, 1.0]]))
    >>> white.rank, white.solve(np.array([4.0, 2.0])).round(12).tolist()
    (1, [0.5, 1.0])
    """

    A: Array
    colour: Array
    log_det: float

    @classmethod
    def of(cls, S: Array) -> Whitening:
        factor = Factor.of(S)
        pivots = np.zeros(0) if factor is None else np.diag(factor.lower)
        # A smaller squared pivot of a correlation matrix may be a rounding error that an earlier small pivot has
        # magnified.
        if factor is not None and np.all(pivots**2 > 1e-6):
            return cls._factored(factor)
        unit = np.sqrt(np.maximum(np.diag(S), 0.0))
        seen = np.flatnonzero(unit > 0)
        u = unit[seen, None]
        values, vectors = np.linalg.eigh(S[np.ix_(seen, seen)] / u / u.T)
        kept = values > 8 * len(values) * EPS * max(values[-1:], default=0.0)  # positive to working precision
        if factor is not None and kept.all():
            return cls._factored(factor)
        return cls._along(vectors[:, kept], np.sqrt(values[kept]), unit, float(np.log(values[kept]).sum()))

    @classmethod
    def _factored(cls, factor: Factor) -> Whitening:
        log_det = 2 * float(np.sum(np.log(np.diag(factor.lower)) + np.log(factor.d)))
        return cls(factor.half(np.eye(len(factor.d))).T, factor.lower * factor.d[:, None], log_det)

    @classmethod
    def of_root(cls, root: Array, noise: float) -> Whitening:
        """The whitening of S = rootᵀ root from the singular values of the root, which keep digits that S has lost.

        ``noise`` is the relative error of the root's columns; smaller singular values count as zero.
        """
        unit = np.linalg.norm(root, axis=0)
        seen = np.flatnonzero(unit > 0)
        _, values, vectors = np.linalg.svd(root[:, seen] / unit[seen], full_matrices=False)
        kept = values > noise * (values[0] if len(values) else 1.0)
        return cls._along(vectors[kept].T, values[kept], unit, 2 * float(np.log(values[kept]).sum()))

    @classmethod
    def _along(cls, axes: Array, lengths: Array, unit: Array, log_det: float) -> Whitening:
        """The whitening from the axes of S in standardised columns; ``unit``: √S_jj, ``log_det``: in these columns."""
        seen = np.flatnonzero(unit > 0)
        u = unit[seen, None]
        A, colour = np.zeros((len(unit), len(lengths))), np.zeros((len(unit), len(lengths)))
        A[seen] = axes / u / lengths
        colour[seen] = axes * u * lengths
        return cls(A, colour, 2 * float(np.log(u).sum()) + log_det)

    def completed(self, S: Array) -> tuple[Whitening, int]:
        """The whitening of S, with this matrix in its place along directions in which S has no scatter; S's rank."""
        own = Whitening.of(S)
        if not own.singular and np.all(np.diag(S) > LARGEST_ROUNDED_VARIANCE_SHARE * np.sum(self.colour**2, axis=1)):
            return own, own.rank
        values, vectors = np.linalg.eigh(self.A.T @ S @ self.A)
        kept = (values > LARGEST_ROUNDED_EIGENVALUE_SHARE * values[-1:]) & (values > LARGEST_ROUNDED_VARIANCE_SHARE)
        root = np.sqrt(np.where(kept, values, 1.0))
        log_det = self.log_det + 2 * float(np.log(root).sum())
        return Whitening(self.A @ vectors / root, self.colour @ vectors * root, log_det), int(kept.sum())

    @property
    def rank(self) -> int:
        return int(self.A.shape[1])

    @property
    def singular(self) -> bool:
        return self.rank < len(self.A)

    @property
    def deficient(self) -> bool:
        """Whether S is singular for another reason than zero columns."""
        return self.rank < int(np.count_nonzero(np.any(self.A, axis=1)))

    @property
    def constant(self) -> Integers:
        """The columns without scatter, by number."""
        return np.flatnonzero(~np.any(self.A, axis=1))

    def null_directions(self) -> Array:
        """The projection (d, d) onto the directions in which standardised columns have no scatter; 0 if constant."""
        size = np.linalg.norm(self.colour, axis=1)
        seen = np.flatnonzero(size > 0)
        N = np.zeros((len(size), len(size)))
        if self.rank == len(seen):  # The difference below would be rounding errors, which look like directions.
            return N
        Q = np.linalg.qr(self.colour[seen] / size[seen, None])[0]
        N[np.ix_(seen, seen)] = np.eye(len(seen)) - Q @ Q.T
        return N

    def solve(self, b: Array) -> Array:
        """A Aᵀ b: S⁻¹ b, or the solution of minimum norm if S is singular."""
        return np.asarray(self.A @ (self.A.T @ b))

    def misses(self, B: Array, unit: Array) -> bool:
        """Whether some row of B has a part outside the range of S, above rounding; ``unit`` is (d,) > 0."""
        if not self.singular or not np.any(B):
            return False
        outside = (B - (B @ self.A) @ self.colour.T) / unit
        # A smaller part outside the range of S is a rounding error.
        return bool(np.max(np.abs(outside)) > 1e-8 * np.max(np.abs(B / unit)))


# --- The columns because of which a scatter matrix is singular

# What a column without scatter within the classes is called.
WITHOUT_SCATTER = "constant within the classes up to rounding"


def singular_columns(
    white: Whitening,
    names: Sequence[str] | None,
    otherwise: str,
    constant: str = "constant up to rounding",
    first: int = 0,
) -> Message:
    """Which columns are constant and which are collinear, and the way out.

    Parameters
    ----------
    white : Whitening
        The whitening of the singular matrix.
    names : sequence of str or None
        The names of the columns.
    otherwise : str
        What else can be done; the last clause of the sentence.
    constant : str, default "constant up to rounding"
        What columns without scatter are called.
    first : int, default 0
        The row of the matrix that belongs to column 0; rows before it belong to the intercept.

    Returns
    -------
    Message

    Examples
    --------
    >>> import numpy as np
    >>> white = Whitening.of(np.array([[1.0, 2.0], [2.0, 4.0]]))
    >>> print(singular_columns(white, None, "give more rows"))
    column 0, column 1 are collinear up to rounding; leave one of them out, or give more rows
    >>> print(singular_columns(Whitening.of(np.diag([1.0, 0.0])), None, "give more rows"))
    column 1 is constant up to rounding; leave column 1 out, or give more rows
    """
    without = [int(j) - first for j in white.constant if j >= first]
    related = dependent(white.null_directions()[first:, first:], names, "collinear up to rounding")
    told, ways = list[str](), list[str]()
    if without:
        told.append(Message(listed(without, names), " are " if len(without) > 1 else " is ", constant))
        ways.append(Message("leave ", listed(without, names), " out"))
    if related:
        told.append(reason(related))
        ways.append(remedy(related))
    return Message(joined("; ", told), Remedy(joined(", ", [*ways, Message("or ", otherwise)])))


# --- Densities and scores

# Whitened rows longer than this are shortened to it so that their squares do not overflow. At such a distance the
# nearest class stays the nearest.
LARGEST_WHITENED_LENGTH = 1e140
SMALLEST_NORMAL = float(np.finfo(np.float64).tiny)


class Likelihood(NamedTuple):
    """Mean −ln p(x, y) over some rows, an upper bound on its gap to the minimum (None if there is none), its slope.

    ``rounding`` bounds the rounding error of the mean, which is computed from moments.
    """

    objective: float
    gap: float | None
    slope: float
    rounding: float


class Whitened(NamedTuple):
    """(x − m_k) A_k of all classes, stacked, is unit (M v + (faint v)/unit + a), with v = (x − center)·scale.

    v may hold any finite numbers: ``unit``, a power of two, is so large that no sum of their products with M overflows.
    The entries of M that are too small to be divided by it are in ``faint`` instead, and zero in M.
    """

    M: Array
    faint: Array
    a: Array
    unit: float

    def in_units(self, V: Array) -> Array:
        """(x − m_k) A_k divided by ``unit``, for rows v of V, (n, ranks)."""
        h = np.asarray(V @ self.M.T + self.a)
        return h + V @ self.faint.T / self.unit if self.faint.any() else h


@dataclass(frozen=True)
class Gaussians:
    r"""ln p(x|C_k) = a_k − ½ ‖(x − m_k) A_k‖², with m_k (d,), A_k (d, r), in the coordinates of ``frame``.

    ``constant``: a, (K,), in raw units. ``whiten`` holds the A_k, and ``colour`` the C_k with covariances C_k C_kᵀ.
    With r < d this is the density of a projection of x, such as Fisher's; then ``colour`` may be empty.

    >>> unit = np.ones((1, 1))
    >>> model = Gaussians(Frame.identity(1), np.array([0.5, 0.5]), np.array([[0.0], [4.0]]),
    ...                   (unit, 0.5 * unit), (unit, 2 * unit), np.array([0.0, -np.log(2.0)]))
    >>> model.log_density(np.array([[0.0]])).round(4).tolist()
    [[0.0, -2.6931]]
    """

    frame: Frame
    priors: Annotated[Array, array("K", least=0)]
    means: Annotated[Array, array("K", "d")]
    whiten: Annotated[tuple[Annotated[Array, array("d", "")], ...], Several("K")]
    colour: tuple[Annotated[Array, array("d", "")], ...]
    constant: Annotated[Array, array("K")]

    def misfit(self, sizes: Mapping[str, int]) -> str:
        """What is wrong with Gaussians from a file; empty if nothing is."""
        return "" if len(self.colour) in (0, len(self.means)) else "does not have a colour for each class"

    @property
    def n_features(self) -> int:
        return int(self.means.shape[1])

    def log_density(self, X: Any, names: list[str] | None = None) -> Array:
        """ln p(x|C_k), (n, K). Raises on NaN and infinity in X."""
        return score_rows(X, len(self.means), self._densities, names)

    def _densities(self, X: Any) -> Array:
        rows = memory_rows(X, np.zeros(X.shape[0]), frame=self.frame, counter=NOT_COUNTED)
        found = np.empty((rows.n_rows, len(self.means)))
        for block in rows.blocks(Order(rows_per_piece(BLOCK_BYTES // 8, rows.n_features))):
            part, last = found[block.start : block.start + block.n_rows], None
            near = np.ones(block.n_rows, dtype=bool)
            for k, (m, A) in enumerate(zip(self.means, self.whiten, strict=True)):
                if A is not last:  # classes that share a covariance share the product
                    u, last = block.scores(np.column_stack([np.zeros(A.shape[1]), A.T])), A
                h = u - m @ A
                squares = np.sum(h**2, axis=1)
                near &= squares <= LARGEST_WHITENED_LENGTH**2
                part[:, k] = self.constant[k] - 0.5 * squares
            if not near.all():
                far = np.flatnonzero(~near)
                part[far] = self._far(block.X[far])
        return found

    def _far(self, X: Any) -> Array:
        """``log_density`` of rows so far away that squares or products overflow; NaN for rows that are not finite."""
        X = _dense(X) - self.frame.center
        white = self.whitened(self.frame.center, np.ones(self.n_features))
        h, unit = white.in_units(X), white.unit
        length = np.abs(h).max(axis=1, keepdims=True)
        h = h * np.where(length <= LARGEST_WHITENED_LENGTH / unit, unit, LARGEST_WHITENED_LENGTH / length)
        ends = np.cumsum([A.shape[1] for A in self.whiten])[:-1]
        squares = [np.sum(own**2, axis=1) for own in np.split(h, ends, axis=1)]
        return np.asarray(self.constant - 0.5 * np.column_stack(squares))

    def whitened(self, center: Array, scale: Array) -> Whitened:
        """The whitened rows of all classes, as functions of (x − center)·scale."""
        units = (self.frame.scale * scale)[:, None]
        M = np.vstack([(A / units).T for A in self.whiten])
        moved = (center - self.frame.center) / self.frame.scale
        a = np.concatenate([(moved - m) @ A for m, A in zip(self.means, self.whiten, strict=True)])
        largest = float(np.max(np.abs(M).sum(axis=1) + np.abs(a), initial=0.25))
        unit = float(2.0 ** (1 + np.ceil(np.log2(largest)))) if largest > 0.25 else 1.0
        divided = np.abs(M) >= unit * SMALLEST_NORMAL
        return Whitened(np.where(divided, M / unit, 0.0), np.where(divided, 0.0, M), a / unit, unit)

    def log_joint(self, X: Any, names: list[str] | None = None) -> Array:
        """ln p(x|C_k)p(C_k), (n, K)."""
        return self.log_density(X, names) + np.log(self.priors)

    def on(self, found: Moments) -> Likelihood:
        r"""Mean −ln p(x, y) over rows with these moments, its gap to the maximum likelihood, and its slope.

        The first is Σ_k p̂_k [½ tr M_k + ½ ‖(m̂_k − m_k) A_k‖² − a_k − ln π_k] with M_k = A_kᵀ Σ̂_k A_k. The second is
        KL(p̂ ‖ π) + Σ_k p̂_k ½ [tr M_k − d − ln |M_k| + ‖(m̂_k − m_k) A_k‖²], which has no cancellation. It is None
        where a covariance, given or estimated, is singular: then the likelihood has no maximum. The gap is the largest
        that the rounding of the moments allows: the eigenvalues of M_k are off by no more than M_k is, and λ − 1 − ln λ
        is convex.
        """
        p, ratio = found.shares, found.frame.scale / self.frame.scale
        m = (found.frame.center - self.frame.center) / self.frame.scale + found.mean * ratio
        pooled = len(found.scatter) == 1
        held = p > 0
        objective = -float(np.sum(p[held] * (self.constant[held] + np.log(self.priors[held]))))
        error = found.rounding + 8 * EPS * (self.n_features + 1)
        spread = np.sqrt(np.diag(found.within + found.between))
        surprise = np.log(p[held] / self.priors[held])
        gap = float(p[held] @ (surprise + error * np.abs(surprise))) + error**2
        slope, rounding, regular, last = float(np.sum((p - self.priors) ** 2)), error * abs(objective), True, None
        for k in np.flatnonzero(held):
            if not pooled or self.whiten[k] is not last:  # classes that share a covariance share M
                last = self.whiten[k]
                A = last * ratio[:, None]
                weight = found.total_weight if pooled else found.weight[k]
                M = A.T @ found.scatter[0 if pooled else k] @ A / weight
                values = np.linalg.eigvalsh(M)
                columns = spread @ np.abs(A)
                blurred = error * float(columns @ columns) / weight
                length = error * float(np.linalg.norm(columns)) / np.sqrt(found.total_weight)
            off, u = values - 1, (m[k] - self.means[k]) @ self.whiten[k]
            objective += 0.5 * p[k] * float(np.sum(values) + u @ u)
            slope += p[k] * (0.5 * float(np.sum(off**2)) + float(u @ u))
            rounding += 0.5 * p[k] * (len(values) * blurred + length * (2 * float(np.linalg.norm(u)) + length))
            regular = regular and len(values) == self.n_features
            regular = regular and bool(values[0] > LARGEST_ROUNDED_EIGENVALUE_SHARE * values[-1] + blurred)
            if regular:
                ends = np.stack([off - blurred, off + blurred])
                # ln(1 + ends); of a small eigenvalue λ, λ − 1 is −1 after rounding, so ln λ is taken from λ itself.
                small = np.log([values - blurred, values + blurred])
                logs = np.where(ends > -0.5, np.log1p(np.maximum(ends, -0.5)), small)
                gap += 0.5 * p[k] * float(np.sum(np.max(ends - logs, axis=0)))
                gap += 0.5 * p[k] * float((np.linalg.norm(u) + length) ** 2)
        return Likelihood(objective, float(gap) if regular else None, float(np.sqrt(slope)), rounding)

    def sample(self, codes: Integers, rng: np.random.Generator) -> Array:
        """A new row of class ``codes[i]`` for each i, in raw units, (n, d)."""
        drawn = np.empty((len(codes), self.n_features))
        for k, (m, colour) in enumerate(zip(self.means, self.colour, strict=True)):
            own = np.flatnonzero(codes == k)
            drawn[own] = m + rng.standard_normal((len(own), colour.shape[1])) @ colour.T
        return np.asarray(self.frame.center + drawn * self.frame.scale)


def quadratic_roots(a: float, b: float, c: float) -> list[float]:
    """The zeros of a y² + 2 b y + c without cancellation. One that is 1/EPS times larger than the other is left out.

    >>> quadratic_roots(1.0, 1.0, -3.0), quadratic_roots(0.0, 1.0, -3.0), quadratic_roots(1.0, 0.0, 3.0)
    ([-3.0, 1.0], [1.5], [])
    """
    square = b * b - a * c
    if square < 0:
        return []
    larger = -(b + np.copysign(np.sqrt(square), b))
    return [float(p / q) for p, q in ((larger, a), (c, larger)) if abs(q) > EPS * abs(p)]


def null_objective(found: Moments) -> float:
    """Mean −ln p(x, y) if x is independent of y: one Gaussian of maximum likelihood for all classes."""
    p = found.shares[found.weight > 0]
    white = Whitening.of((found.within + found.between) / found.total_weight)
    log_det = white.log_det + 2 * float(np.sum(np.log(found.frame.scale)))
    return -float(np.sum(p * np.log(p))) + 0.5 * (log_det + white.rank * (1 + float(np.log(2 * np.pi))))


@dataclass(frozen=True)
class QuadraticScorer:
    """Log posterior odds for two classes; ln p(x|C_k)p(C_k) for more, up to a constant that all classes share.

    A ``Scores`` that needs no scikit-learn.

    >>> one = np.ones((1, 1))
    >>> half, means = np.array([0.5, 0.5]), np.array([[0.0], [4.0]])
    >>> normal = Gaussians(Frame.identity(1), half, means, (one, one), (), np.zeros(2))
    >>> QuadraticScorer(normal, np.array(["a", "b"])).predict(np.array([[1.0], [3.0]])).tolist()
    ['a', 'b']
    """

    gaussians: Gaussians
    classes: Classes

    @property
    def n_features(self) -> int:
        return self.gaussians.n_features

    @property
    def link_name(self) -> str:
        return "logit" if len(self.classes) == 2 else "softmax"

    @property
    def link(self) -> Link:
        return LINKS[self.link_name]

    def scores(self, X: Any, names: list[str] | None = None) -> Array:
        """(n,) for two classes, positive for the second; (n, K) for more."""
        joint = self.gaussians.log_joint(X, names)
        # The mean constant depends on the units of the columns, which all classes share.
        return joint[:, 1] - joint[:, 0] if len(self.classes) == 2 else joint - self.gaussians.constant.mean()

    def quick_scores(self) -> Callable[[Array], Array]:
        """``scores`` of dense finite rows, without checks: a function that is fast for few rows and columns."""
        normal, K = self.gaussians, len(self.classes)
        M = np.vstack([(A / normal.frame.scale[:, None]).T for A in normal.whiten])
        a = np.concatenate([-m @ A for m, A in zip(normal.means, normal.whiten, strict=True)])
        owner = np.repeat(np.arange(K), [A.shape[1] for A in normal.whiten])
        # −½ of the squares of each class's own entries, summed.
        halves = -0.5 * (np.arange(K)[:, None] == owner)
        constant = (np.log(normal.priors) + normal.constant - normal.constant.mean())[:, None]
        center, affine, d = normal.frame.center[:, None], np.column_stack([M, a]), normal.n_features
        if K == 2:
            halves, constant = halves[1] - halves[0], constant[1] - constant[0]

        def scores(X: Array) -> Array:
            # Rows are columns here, so that all loops are long: this takes a third of the time for 3000 rows.
            V = np.empty((d + 1, len(X)))
            V[d] = 1.0
            np.subtract(X.T, center, out=V[:d])
            h = affine @ V
            h *= h
            Z = halves @ h
            Z += constant
            return np.asarray(Z.T)

        return scores

    def boundary_lines(self) -> Array | None:
        """The hyperplanes (b, w), (P, d + 1), where two Gaussians along one projection cross; None for others.

        With y = A₀·(x − center)/scale, twice the log odds are (y + a₀)² − (ρ y + a₁)² + 2c.
        """
        normal = self.gaussians
        if len(self.classes) != 2 or any(A.shape[1] != 1 for A in normal.whiten):
            return None
        own, other = (A[:, 0] for A in normal.whiten)
        rho = float(other @ own / (own @ own))
        if np.abs(other - rho * own).max() > 4 * EPS * np.abs(other).max():
            return None
        a = [-float(m @ A[:, 0]) for m, A in zip(normal.means, normal.whiten, strict=True)]
        c = float(np.log(normal.priors[1] / normal.priors[0]) + normal.constant[1] - normal.constant[0])
        A, B, C = 1 - rho * rho, a[0] - rho * a[1], (a[0] - a[1]) * (a[0] + a[1]) + 2 * c
        w = own / normal.frame.scale
        lines = [[-(float(w @ normal.frame.center) + y), *w] for y in quadratic_roots(A, B, C)]
        return np.array(lines).reshape(-1, len(w) + 1)

    def predict(self, X: Any, names: list[str] | None = None) -> AnyArray:
        """The class of each row; posterior odds of exactly 1 go to the first class."""
        return chosen_classes(self.scores(X, names), self.classes, self.link)

    def probabilities(self, X: Any, names: list[str] | None = None) -> Array:
        """P(class | x), (n, K)."""
        with np.errstate(under="ignore"):
            return np.asarray(np.exp(self.log_probabilities(X, names)))

    def log_probabilities(self, X: Any, names: list[str] | None = None) -> Array:
        """Ln P(class | x), (n, K), finite even where the probability rounds to zero."""
        return self.link.log_probabilities(self.scores(X, names))


# --- Shrunk covariances


def shrunk_covariances(moments: Moments, rows: list[Any], shrinkage: float | str, estimator: Any = None) -> Array:
    """One covariance per class, (K, d, d), in the coordinates of the moments, shrunk towards a simpler one.

    A class with the maximum-likelihood covariance C (n_k in the denominator) is shrunk by 0 ≤ δ ≤ 1:

        a number   (1 − δ) C + δ (tr C / d) I, in raw units
        "auto"     the same for standardised columns, with δ by Ledoit and Wolf

    (Ledoit and Wolf 2004, Journal of Multivariate Analysis 88, 365–411). These are scikit-learn's definitions, so both
    give the same fits. ``rows`` are the rows of each class, which "auto" and an ``estimator`` of covariances need in
    addition to the moments.

    >>> from separatrix.core.moments import gather
    >>> from separatrix.core.rows.memory_rows import memory_rows
    >>> X, codes = np.array([[0.0], [2.0], [4.0], [8.0]]), np.array([0, 0, 1, 1])
    >>> moments = gather(memory_rows(X, codes), 2)
    >>> (shrunk_covariances(moments, [], 1.0) * moments.frame.scale**2).ravel().tolist()
    [1.0, 4.0]
    """
    scale = moments.frame.scale
    if estimator is not None:
        return np.stack([_estimated(estimator, _dense(own)) / scale / scale[:, None] for own in rows])
    C = moments.scatter / moments.weight[:, None, None]
    if isinstance(shrinkage, str):
        return np.stack([_ledoit_wolf(C[k], _dense(own), scale) for k, own in enumerate(rows)])
    mean = np.mean(np.diagonal(C, axis1=1, axis2=2) * scale**2, axis=1)
    return np.asarray((1 - shrinkage) * C + shrinkage * mean[:, None, None] * np.diag(scale**-2.0))


def _ledoit_wolf(C: Array, X: Array, scale: Array) -> Array:
    """C shrunk in standardised columns; a constant column keeps its unit."""
    from sklearn.covariance import ledoit_wolf_shrinkage
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler()
    delta = float(ledoit_wolf_shrinkage(scaler.fit_transform(X)))
    unit = scaler.scale_ / scale
    return np.asarray((1 - delta) * C + delta * np.mean(np.diag(C) / unit**2) * np.diag(unit**2))


def _estimated(estimator: Any, X: Array) -> Array:
    """The covariance that an estimator fits to the rows of a class, in raw units."""
    estimator.fit(X)
    covariance = np.asarray(getattr(estimator, "covariance_", None), dtype=np.float64)
    if covariance.shape != (X.shape[1], X.shape[1]):
        problem = f"{type(estimator).__name__} does not have a covariance_ attribute of {X.shape[1]} rows and columns"
        raise ParameterError("covariance_estimator", problem, "give one of sklearn.covariance")
    return covariance


def _dense(X: Any) -> Array:
    return np.asarray(X.toarray() if is_sparse(X) else X, dtype=np.float64)
