"""Verdicts on separability: frozen claims, each with the rows or the hyperplane that prove it. TEXTBOOK P7."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from separatrix.arrays import Array, Integers
from separatrix.errors import LabelError
from separatrix.geometry import Hyperplane
from separatrix.labels import encode, signed
from separatrix.proofs import rational
from separatrix.rows.block import as_csr, is_sparse

EPS = float(np.finfo(np.float64).eps)
# Exact elimination of so many columns takes a second or two; its cost grows with the fourth power.
MOST_EXACT_COLUMNS = 50
# Of a row's size: touching rows may miss a hyperplane, which is rounded, by so much.
TOUCHING = 1e-9
# Rows whose smallest singular value is below this share of the largest leave v in doubt.
WELL_SPREAD = 1e-6
# Rows turned into exact numbers at once.
CHUNK = 1024
# How many rows are named in a sentence.
NAMED = 12


def signed_rows(X: Any, t: Array, fit_intercept: bool) -> Any:
    """A, the rows t_i x̄_i, dense or CSR; t_i x_i without an intercept."""
    if is_sparse(X):
        from scipy.sparse import csr_array, hstack

        columns = [csr_array(np.ones((len(t), 1))), X] if fit_intercept else [X]
        return csr_array(hstack(columns, format="csr").multiply(t[:, None])).astype(np.float64)
    homogeneous = np.column_stack([np.ones(len(t)), X]) if fit_intercept else np.asarray(X, dtype=np.float64)
    return homogeneous * t[:, None]


def rows_of(A: Any, rows: Integers) -> Array:
    """Some rows of a dense or CSR matrix, dense."""
    part = A[rows]
    return np.asarray(part.toarray() if is_sparse(part) else part, dtype=np.float64)


def margins_are_positive(A: Any, v: Array) -> bool:
    """Whether A v > 0: sure where a margin exceeds its own rounding, decided exactly where it does not."""
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        m = np.asarray(A @ v)
        rounding = (A.shape[1] + 2) * EPS * np.asarray(abs(A) @ np.abs(v)) + np.finfo(np.float64).tiny
    if not np.all(np.isfinite(rounding)) or np.any(m < -rounding):
        return False
    return all(rational.sign_of_dot(rows_of(A, np.array([i]))[0], v) > 0 for i in np.flatnonzero(m <= rounding))


def _asked(X: Any, y: Any, fit_intercept: bool) -> tuple[Any, Array, Any]:
    """The rows, the targets and A of a question asked again; empty where there are not two classes."""
    rows = as_csr(X) if is_sparse(X) else np.asarray(X, dtype=np.float64)
    classes, codes = encode(y)
    if len(classes) != 2:
        raise LabelError("y", f"it has {len(classes)} classes", "give the two classes of the verdict")
    t = signed(codes)
    return rows, t, signed_rows(rows, t, fit_intercept)


def _homogeneous(v: Array, fit_intercept: bool) -> Array:
    """(b, w), with b = 0 where there is no intercept."""
    return v if fit_intercept else np.concatenate([[0.0], v])


@dataclass(frozen=True)
class Separable:
    """A v > 0 for all rows. ``v`` is (b, w); ``margin`` the smallest distance of a row to ``hyperplane``.

    >>> from separatrix import separability
    >>> print(separability([[0.0], [2.0]], [0, 1]).explain())
    separable: the hyperplane has every row on its own side, the nearest at a distance of 1
    """

    v: Array
    margin: float
    fit_intercept: bool

    @classmethod
    def of(cls, X: Any, t: Array, v: Array, fit_intercept: bool) -> Separable:
        whole = _homogeneous(v, fit_intercept)
        whole = whole / np.abs(whole).max()
        return cls(whole, _smallest_distance(X, t, whole), fit_intercept)

    @property
    def hyperplane(self) -> Hyperplane:
        return Hyperplane(self.v[1:], float(self.v[0]))

    def __bool__(self) -> bool:
        return True

    def verify(self, X: Any, y: Any) -> bool:
        """Whether v separates these rows: each margin above its own rounding, or positive exactly."""
        _, _, A = _asked(X, y, self.fit_intercept)
        v = self.v if self.fit_intercept else self.v[1:]
        return A.shape[1] == len(v) and margins_are_positive(A, v)

    def explain(self) -> str:
        return (
            f"separable: the hyperplane has every row on its own side, the nearest at a distance of {self.margin:.6g}"
        )


def _smallest_distance(X: Any, t: Array, v: Array) -> float:
    with np.errstate(over="ignore"):
        return float(np.min(t * np.asarray(X @ v[1:] + v[0])) / np.linalg.norm(v[1:]))


@dataclass(frozen=True)
class _Overlapping:
    """Rows and λ > 0 with Σ λ_i t_i x̄_i = 0, found group by group: each depends on itself and on those before."""

    rows: Integers
    weights: Array
    groups: tuple[int, ...]
    fit_intercept: bool

    def __bool__(self) -> bool:
        return False

    def _no_separator(self, A: Any) -> bool:
        """Whether the rows of the proof depend on each other with positive weights, in exact arithmetic."""
        if len(self.rows) == 0 or self.rows.max() >= A.shape[0] or A.shape[1] > MOST_EXACT_COLUMNS:
            return False
        local = np.split(np.arange(len(self.rows)), np.cumsum(self.groups)[:-1])
        return rational.combined(local, rows_of(A, self.rows)) is not None

    def _named(self) -> str:
        shown = ", ".join(str(row) for row in self.rows[:NAMED])
        return shown if len(self.rows) <= NAMED else f"{shown}, …"


def _proof(A: Any, groups: list[Integers]) -> tuple[Integers, Array, tuple[int, ...]] | None:
    rows = np.concatenate(groups)
    local = np.split(np.arange(len(rows)), np.cumsum([len(g) for g in groups])[:-1])
    found = rational.combined(local, rows_of(A, rows))
    if found is None:
        return None
    return rows, np.array([float(found[k]) for k in range(len(rows))]), tuple(len(g) for g in groups)


@dataclass(frozen=True)
class Inseparable(_Overlapping):
    """The classes overlap: A v ≥ 0 only where A v = 0. ``rows`` span all rows, and Σ λ_i t_i x̄_i = 0 with λ > 0.

    >>> from separatrix import separability
    >>> print(separability([[0.0], [1.0], [2.0]], [0, 1, 0]).explain())
    inseparable: 3 rows prove it (0, 1, 2): with weights λ > 0 their t·(1, x) sum to zero, so no hyperplane has all
    of them on their own sides, and none but a trivial one has none of them on the wrong side
    """

    @classmethod
    def of(cls, A: Any, groups: list[Integers], fit_intercept: bool) -> Verdict:
        proof = _proof(A, groups)
        if proof is None:
            return Doubtful("the rows of the proof do not depend on each other exactly", fit_intercept)
        return cls(*proof, fit_intercept)

    def verify(self, X: Any, y: Any) -> bool:
        """Whether the rows prove it: λ > 0 and the span are found again from them, in exact arithmetic."""
        _, _, A = _asked(X, y, self.fit_intercept)
        if not self._no_separator(A):
            return False
        proof = rows_of(A, self.rows)
        return rational.rank(proof) == A.shape[1] or _all_in_span(proof, A)

    def explain(self) -> str:
        row = "t·(1, x)" if self.fit_intercept else "t·x"
        return (
            f"inseparable: {len(self.rows)} rows prove it ({self._named()}): with weights λ > 0 their {row} sum to "
            "zero, so no hyperplane has all of them on their own sides, and none but a trivial one has none of "
            "them on the wrong side"
        )


@dataclass(frozen=True)
class QuasiSeparable(_Overlapping):
    """A v ≥ 0 with A v ≠ 0 for ``v`` = (b, w), but never A v > 0: the ``touching`` rows lie on every such one.

    ``rows`` and λ > 0 among the touching ones prove that. v is rounded: touching rows may miss it by 1e-9 of their
    size.

    >>> from separatrix import separability
    >>> verdict = separability([[0.0], [1.0], [1.0], [2.0]], [0, 0, 1, 1])
    >>> verdict.rows.tolist(), verdict.touching.tolist(), round(verdict.hyperplane.offset, 9)
    ([1, 2], [1, 2], 1.0)
    """

    v: Array
    touching: Integers

    @classmethod
    def of(cls, A: Any, v: Array, groups: list[Integers], touching: Integers, fit_intercept: bool) -> Verdict:
        proof = _proof(A, groups)
        whole = _homogeneous(v, fit_intercept)
        verdict = None if proof is None else cls(*proof, fit_intercept, whole / np.abs(whole).max(), touching)
        if verdict is None or not verdict._holds(A):
            return Doubtful("rows touch a hyperplane to rounding, which could not be made sure of", fit_intercept)
        return verdict

    @property
    def hyperplane(self) -> Hyperplane:
        return Hyperplane(self.v[1:], float(self.v[0]))

    def _holds(self, A: Any) -> bool:
        v = self.v if self.fit_intercept else self.v[1:]
        if A.shape[1] != len(v) or not self._no_separator(A):
            return False
        if not _well_spread(rows_of(A, self.rows)):
            return False
        m, size = np.asarray(A @ v), _sizes(A, v)
        off = np.setdiff1d(np.arange(A.shape[0]), self.touching)
        close = bool(np.all(np.abs(m[self.touching]) <= TOUCHING * size[self.touching]))
        return close and len(off) > 0 and bool(np.all(m[off] > TOUCHING * size[off]))

    def verify(self, X: Any, y: Any) -> bool:
        """Whether v and λ do what they claim on these rows: λ exactly; v to 1e-9 of a row's size, and the touching
        rows are then in the span of the proof's, exactly.
        """
        _, _, A = _asked(X, y, self.fit_intercept)
        if self.touching.max(initial=0) >= A.shape[0] or not self._holds(A):
            return False
        return _all_in_span(rows_of(A, self.rows), A[self.touching])

    def explain(self) -> str:
        return (
            f"quasi-separable: a hyperplane has no row on the wrong side, but {len(self.touching)} rows lie on it, "
            f"and on every other such one: {len(self.rows)} of them prove it ({self._named()}), since with weights "
            f"λ > 0 their {'t·(1, x)' if self.fit_intercept else 't·x'} sum to zero"
        )


def _well_spread(rows: Array) -> bool:
    """Whether v, which is orthogonal to these rows only to rounding, is near one that is so exactly.

    It is off by rounding over the rows' smallest singular value, in columns of unit size; what that leaves must be
    small beside TOUCHING.
    """
    unit = np.abs(rows).max(axis=0)
    unit[unit == 0] = 1.0
    values = np.linalg.svd(rows / unit, compute_uv=False)
    rank = rational.rank(rows)
    return rank == 0 or bool(values[rank - 1] > WELL_SPREAD * values[0])


def _sizes(A: Any, v: Array) -> Array:
    """How large each row's score could be, had every column the largest weight that it or another has, in its unit."""
    top = abs(A).max(axis=0)
    unit = np.asarray(top.toarray() if is_sparse(top) else top, dtype=np.float64).ravel()
    unit[unit == 0] = 1.0
    return np.asarray(abs(A) @ (1.0 / unit)) * float(np.max(np.abs(v) * unit))


def _all_in_span(spanning: Array, A: Any) -> bool:
    """Whether the rows of A are combinations of the spanning ones; some at a time: exact numbers are large."""
    starts = range(0, A.shape[0], CHUNK)
    parts = (np.arange(start, min(start + CHUNK, A.shape[0])) for start in starts)
    return all(rational.in_span(spanning, rows_of(A, rows)).all() for rows in parts)


@dataclass(frozen=True)
class Doubtful:
    """Neither separation nor its impossibility could be proven; ``reason`` says why.

    ``margin``: what no hyperplane's margin exceeds, in units in which the largest entry of each column, then of each
    row, is near 1.

    >>> Doubtful("rounding", True).explain()
    'in doubt: rounding'
    """

    reason: str
    fit_intercept: bool
    margin: float = np.inf

    def __bool__(self) -> bool:
        return False

    def verify(self, X: Any, y: Any) -> bool:
        """Nothing is claimed, so nothing can be verified."""
        return False

    def explain(self) -> str:
        return f"in doubt: {self.reason}"


Verdict: TypeAlias = Separable | QuasiSeparable | Inseparable | Doubtful
