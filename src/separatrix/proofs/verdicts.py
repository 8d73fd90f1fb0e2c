"""Verdicts on separability: frozen claims, each with the rows or the hyperplane that prove it. TEXTBOOK P7.

``verify`` needs no solver. Sums of the few rows of a proof are computed in integers. The other rows are checked in
floating point against an error bound, and exactly where that is inconclusive. ``verify(X, y, exact=True)`` checks
every row in integers, which takes about half a microsecond per entry (times the classes less one): see ``exact_cost``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers, as_floats
from separatrix.base.cached import cached_property
from separatrix.base.errors import LabelError, ParameterError
from separatrix.base.labels import encode, known_codes
from separatrix.base.messages import Message
from separatrix.geometry import Hyperplane
from separatrix.proofs.class_differences import Differences, chunks
from separatrix.proofs.dependencies import across, positive_dependency
from separatrix.proofs.enclosure import surely_positive
from separatrix.proofs.naming import About, causes, listed
from separatrix.proofs.quasi import on, rounded, used
from separatrix.proofs.rational import fractions, signs, sums_to_zero
from separatrix.proofs.residues import vanishing
from separatrix.rows import Rows
from separatrix.rows.csr import as_csr, is_sparse

# Measured time of a product of a float and a long integer, used to estimate the cost of exact verification.
SECONDS_PER_EXACT_ENTRY = 5e-7
# Weights are divided by the largest only if the smallest nonzero weight stays above this, so that it does not
# underflow.
SMALLEST_RELATIVE_WEIGHT = 1e-280


def rows_of(A: Any, rows: Integers) -> Array:
    """Some rows of a dense or CSR matrix, dense.

    >>> rows_of(as_csr(np.eye(2)), np.array([1])).tolist()
    [[0.0, 1.0]]
    """
    part = A[rows]
    return np.asarray(part.toarray() if is_sparse(part) else part, dtype=np.float64)


def signed_rows(rows: Rows, fit_intercept: bool) -> Any:
    """A, the rows t_i x̄_i of rows with targets ±1, dense or CSR; t_i x_i without an intercept.

    >>> from separatrix.rows import memory_rows
    >>> signed_rows(memory_rows(np.array([[5.0], [7.0]]), np.array([-1.0, 1.0])), True).tolist()
    [[-1.0, -5.0], [1.0, 7.0]]
    """
    D = Differences.of_rows(rows, 2, fit_intercept)
    return D.take(np.arange(D.count))


def as_rows(X: Any) -> Any:
    """X as float64, either dense or CSR without duplicate entries.

    >>> as_rows([[1, 2]]).tolist()
    [[1.0, 2.0]]
    """
    if not is_sparse(X):
        return as_floats(X)
    rows: Any = as_csr(X)
    return rows if rows.dtype == np.float64 else as_csr(rows.astype(np.float64))


def _asked(X: Any, y: Any, about: About) -> Differences:
    """The rows to verify a verdict on, with the classes of that verdict."""
    rows = as_rows(X)
    if len(about.classes):
        codes, K = known_codes(y, about.classes), len(about.classes)
    else:
        classes, codes = encode(y)
        K = len(classes)
        if K != 2:
            raise LabelError("y", f"it has {K} classes", "give the two classes of the verdict")
    if rows.ndim != 2 or rows.shape[0] != len(codes):
        raise ParameterError("X", f"its shape is {rows.shape} for {len(codes)} labels", "give one row a label")
    return Differences(rows, codes, K, about.fit_intercept)


def _are_in(D: Differences, rows: Integers, against: Integers) -> bool:
    """Whether each row is a row of D, paired with a class other than its own, and there is at least one."""
    if len(rows) == 0 or len(rows) != len(against) or rows.min() < 0 or rows.max() >= len(D.codes):
        return False
    return bool(np.all((against >= 0) & (against < D.K) & (against != D.codes[rows])))


def _signs(D: Differences, numbers: Integers, v: Any) -> set[int]:
    """The set of signs of a·v, computed exactly."""
    return {sign for part in chunks(numbers) for sign in signs(D.dense(part), v)}


class _Claim(ABC):
    """Base class of the verdicts that make a claim: all except ``Doubtful``."""

    about: About

    def __str__(self) -> str:
        return self.explain()

    @abstractmethod
    def explain(self) -> str:
        """The verdict in words."""

    @property
    def fit_intercept(self) -> bool:
        return self.about.fit_intercept

    def exact_cost(self, X: Any) -> str:
        """A sentence that estimates how long ``verify(X, y, exact=True)`` takes."""
        n, d = np.shape(X)
        entries = n * (d + self.fit_intercept) * max(1, len(self.about.classes) - 1)
        return f"{entries:,} entries as whole numbers: about {entries * SECONDS_PER_EXACT_ENTRY:.2g} s"


@dataclass(frozen=True)
class Separable(_Claim):
    """A v > 0 for all rows. ``v`` is (b, w); for K > 2 classes it has one such row per class.

    ``margin`` is the smallest distance of a row to ``hyperplane``. For K > 2 classes it is the smallest distance of a
    row to the hyperplane between its class and another.

    >>> from separatrix import separability
    >>> print(separability([[0.0], [2.0]], [0, 1]).explain())
    separable: the hyperplane has every row on its own side, the nearest at a distance of 1
    """

    v: Array
    margin: float
    about: About

    @classmethod
    def of(cls, D: Differences, v: Array, m: Array, about: About) -> Separable:
        """The verdict for v (width,) with its margins m (count,)."""
        W = D.weights(v)
        margin = _smallest_distance(D, W, m)
        shared = W / np.abs(W).max()
        W = shared if np.abs(shared[W != 0]).min() > SMALLEST_RELATIVE_WEIGHT else W
        return cls(W[1] if D.K == 2 else W, margin, about)

    @classmethod
    def by(cls, D: Differences, v: Array, about: About) -> Separable | None:
        """The verdict for a proposed v (width,), or None if some margin is not proven to be positive."""
        if not np.all(np.isfinite(v)) or len(D.not_positive(v)):
            return None
        W = D.weights(v)
        return cls(W[1] if D.K == 2 else W, _smallest_distance(D, W, D.margins(v)), about)

    @property
    def hyperplane(self) -> Hyperplane:
        return _hyperplane(self.v)

    def __bool__(self) -> bool:
        return True

    def verify(self, X: Any, y: Any, exact: bool = False) -> bool:
        """Whether v separates these rows: each margin exceeds its rounding error, or is positive exactly.

        With ``exact``, every margin is computed in integers; ``exact_cost(X)`` estimates how long that takes.
        """
        D = _asked(X, y, self.about)
        v = _flat(D, self.v)
        if v is None or not np.all(np.isfinite(v)):
            return False
        if exact:
            return _signs(D, np.arange(D.count), fractions(v)) <= {1}
        return len(D.not_positive(v)) == 0

    def explain(self) -> str:
        if self.v.ndim == 1:
            how = "the hyperplane has every row on its own side, the nearest at a distance of"
        else:
            how = "for every row the score of its own class is the largest; the nearest boundary is at a distance of"
        return f"separable: {how} {self.margin:.6g}"


def _hyperplane(v: Array) -> Hyperplane:
    if v.ndim != 1:
        do = "take v: its rows are one score a class, and their differences are hyperplanes"
        raise ParameterError("hyperplane", f"the verdict is about {len(v)} classes", do)
    return Hyperplane(v[1:], float(v[0]))


def _flat(D: Differences, v: AnyArray) -> AnyArray | None:
    """v as a vector that multiplies the rows of D; None if its shape is wrong or it has an unexpected intercept."""
    if v.shape != ((D.X.shape[1] + 1,) if D.K == 2 else (D.K, D.X.shape[1] + 1)):
        return None
    W = np.vstack([np.zeros_like(v), v]) if D.K == 2 else v
    return None if not D.fit_intercept and np.any(W[:, 0] != 0) else D.flat(W)


def _smallest_distance(D: Differences, W: Array, m: Array) -> float:
    """The smallest distance of a row to its hyperplanes, for weights W of any size with margins m."""
    size = np.abs(W).max()
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        W, m = W / size, m / size
        if D.K == 2:
            return float(m.min() / np.linalg.norm(W[1, 1:]))
        rows, against = D.named(np.arange(D.count))
        lengths = np.linalg.norm(W[:, None, 1:] - W[None, :, 1:], axis=2)
        return float(np.min(m / lengths[D.codes[rows], against]))


@dataclass(frozen=True)
class _Overlapping(_Claim):
    """Rows a_i and integers λ > 0 with Σ λ_i a_i = 0. ``against`` has, for each row, the class it is compared with.

    ``signed`` holds the rows a_i, from which λ is computed on first use unless it was ``given``. If λ is not unique,
    ``near`` is an approximate λ from which the exact one is computed.
    """

    rows: Integers
    against: Integers
    signed: Array
    about: About
    given: tuple[int, ...] | None
    near: Array | None

    def __bool__(self) -> bool:
        return False

    @cached_property
    def multipliers(self) -> tuple[int, ...]:
        """λ as integers."""
        if self.given is not None:
            return self.given
        dependency = positive_dependency(self.signed, self.signed[:0], self.near)
        if dependency is None:
            raise ArithmeticError("the rows of the proof have no dependency with weights above zero")
        return tuple(dependency[0])

    @property
    def weights(self) -> Array:
        """λ divided by its sum."""
        total = sum(self.multipliers)
        return np.array([m / total for m in self.multipliers])

    def _supporting(self, D: Differences) -> Array | None:
        """The rows of the proof, if they are rows of D and λ > 0 sums them to zero; else None."""
        A = self._among(D)
        if A is None or len(A) != len(self.multipliers) or min(self.multipliers) <= 0:
            return None
        return A if sums_to_zero(A, self.multipliers) else None

    def _among(self, D: Differences) -> Array | None:
        """The rows of the proof, if they are rows of D; else None."""
        if not _are_in(D, self.rows, self.against):
            return None
        return D.dense(D.numbers(self.rows, self.against))

    def _named(self) -> Message:
        return listed(self.rows, self.against, self.about)

    def _summing(self) -> str:
        return self.about.summing


@dataclass(frozen=True)
class Inseparable(_Overlapping):
    """The classes overlap: A v ≥ 0 only where A v = 0, so a maximum likelihood estimate exists.

    ``rows`` (at most twice the rank) span all rows, and Σ λ_i t_i x̄_i = 0 with λ > 0.

    >>> from separatrix import separability
    >>> print(separability([[0.0], [1.0], [2.0]], [0, 1, 0]).explain())
    inseparable: 3 rows prove it (0, 1, 2): with weights λ > 0 their t·(1, x) sum to zero, so no hyperplane has all
    of them on their own sides, and none but a trivial one has none of them on the wrong side
    """

    def verify(self, X: Any, y: Any, exact: bool = False) -> bool:
        """Whether the rows prove it: λ > 0 sums them to zero, and they span all rows.

        The sum is checked in integers or enclosed by bounds that include all rounding errors. If the rows of the proof
        have full rank, residues prove that they span all rows.

        With ``exact``, where the rows do not have full rank, every row is checked in integers for each missing
        dimension: ``exact_cost(X)`` estimates how long that takes.
        """
        D = _asked(X, y, self.about)
        if self.given is None and not exact and self._surely(D):
            return True
        A = self._supporting(D)
        complement = None if A is None else across(A)
        if complement is None:
            return False
        if exact:
            return all(_signs(D, np.arange(D.count), v.tolist()) <= {0} for v in complement.basis.T)
        if len(complement.free) == 0:
            return True
        return all(vanishing(D.dense(part), complement.basis).all() for part in chunks(np.arange(D.count)))

    def _surely(self, D: Differences) -> bool:
        """Whether D has the rows of the proof, and floating point proves their rank and λ > 0."""
        A = self._among(D)
        return A is not None and np.array_equal(A, self.signed) and surely_positive(A, self.near)

    def explain(self) -> Message:
        return Message("inseparable: ", self.proof)

    @property
    def proof(self) -> Message:
        """The proof in words."""
        if len(self.about.classes) > 2:
            end = "so no scores have the largest for every row's own class, and none but trivial ones tie with it"
        else:
            end = (
                "so no hyperplane has all of them on their own sides, and none but a trivial one has none of them on "
                "the wrong side"
            )
        return Message(self._named(), f": with weights λ > 0 {self._summing()} sum to zero, {end}")


@dataclass(frozen=True)
class QuasiSeparable(_Overlapping):
    """A v ≥ 0 and A v ≠ 0 for ``v`` = (b, w), but no v has A v > 0 (quasi-complete separation).

    ``rows`` (at most the rank plus one) and λ > 0 prove the latter, since λ sums them to zero. ``direction`` is v in
    integers, and ``v`` is ``direction`` rounded to floats. ``touching`` are the rows exactly on its hyperplane; for
    K > 2 classes ``touching_against`` has the classes that tie. ``columns`` are the columns that v uses, none of which
    can be omitted. ``further`` has a direction of the same kind for each other cause; no two share a column.

    >>> from separatrix import separability
    >>> verdict = separability([[0.0], [1.0], [1.0], [2.0]], [0, 0, 1, 1])
    >>> verdict.rows.tolist(), verdict.touching.tolist(), verdict.hyperplane.offset, verdict.direction.tolist()
    ([1, 2], [1, 2], 1.0, [-1, 1])
    """

    direction: AnyArray
    touching: Integers
    touching_against: Integers
    columns: Integers
    further: tuple[AnyArray, ...] = ()

    @property
    def causes(self) -> tuple[Integers, ...]:
        """The columns of each direction: every set separates some rows without the columns of the others."""
        return (self.columns, *(used(np.atleast_2d(v)) for v in self.further))

    @cached_property
    def v(self) -> Array:
        return rounded(self.direction)

    @property
    def hyperplane(self) -> Hyperplane:
        return _hyperplane(self.v)

    def verify(self, X: Any, y: Any, exact: bool = False) -> bool:
        """Whether v and λ prove the claim on these rows, and every direction in ``further`` has A v ≥ 0 and A v ≠ 0.

        λ and the touching rows are checked in integers. The margins of the other rows must exceed their rounding
        error, or be positive exactly.

        With ``exact``, every row is checked in integers; ``exact_cost(X)`` estimates how long that takes.
        """
        D = _asked(X, y, self.about)
        v = _flat(D, self.direction)
        if v is None or self._supporting(D) is None or not _are_in(D, self.touching, self.touching_against):
            return False
        own = used(np.atleast_2d(self.direction))
        if not np.array_equal(own, self.columns) or not all(self._is_direction(D, other) for other in self.further):
            return False
        touching = D.numbers(self.touching, self.touching_against)
        off = np.ones(D.count, dtype=bool)
        off[touching] = False
        if not off.any():
            return False
        if exact:
            return _signs(D, touching, v.tolist()) <= {0} and _signs(D, np.flatnonzero(off), v.tolist()) <= {1}
        if not all(vanishing(D.dense(part), v[:, None]).all() for part in chunks(touching)):
            return False
        return len(D.not_positive(rounded(v), v.tolist(), off)) == 0

    def gaining(self, D: Differences) -> AnyArray:
        """A mask of the rows whose likelihood grows along a direction.

        With K classes the margin of a row may stay at zero against one class and grow against another. The row gains
        unless its margin stays at zero against all other classes.
        """
        flat = [v for v in (_flat(D, direction) for direction in self.further) if v is not None]
        tied = [self.touching, *(D.named(on(D, v))[0] for v in flat)]
        return np.asarray(np.any([np.bincount(rows, minlength=len(D.codes)) < D.K - 1 for rows in tied], axis=0))

    @staticmethod
    def _is_direction(D: Differences, direction: AnyArray) -> bool:
        """Whether A v ≥ 0 and A v ≠ 0 for v = ``direction`` in integers."""
        v = _flat(D, direction)
        if v is None:
            return False
        off = np.ones(D.count, dtype=bool)
        off[on(D, v)] = False
        return bool(off.any()) and len(D.not_positive(rounded(v), v.tolist(), off)) == 0

    def explain(self) -> Message:
        return Message("quasi-separable: ", self.proof)

    @property
    def proof(self) -> Message:
        """The proof in words."""
        count = len(np.unique(self.touching))
        rows, lie = (f"{count} row", "lies") if count == 1 else (f"{count} rows", "lie")
        if len(self.about.classes) > 2:
            where = f"some scores never have another class above a row's own, but tie at {rows}, and none separate"
        else:
            where = f"a hyperplane has no row on the wrong side, but {rows} {lie} on it, and none separates"
        sum_to_zero = f", since with weights λ > 0 {self._summing()} sum to zero; "
        return Message(where, ": ", self._named(), sum_to_zero, causes(self))


@dataclass(frozen=True)
class Doubtful:
    """Neither separation nor its impossibility could be proven; ``reason`` says why.

    ``margin`` is an upper bound on the margin of every hyperplane, in units in which the largest entry of each column,
    then of each row, is near 1.

    >>> Doubtful("rounding", True).explain()
    'in doubt: rounding'
    """

    reason: str
    fit_intercept: bool
    margin: float = np.inf

    def __bool__(self) -> bool:
        return False

    def verify(self, X: Any, y: Any, exact: bool = False) -> bool:
        """Nothing is claimed, so nothing can be verified."""
        return False

    def explain(self) -> str:
        return f"in doubt: {self.reason}"


Verdict: TypeAlias = Separable | QuasiSeparable | Inseparable | Doubtful
