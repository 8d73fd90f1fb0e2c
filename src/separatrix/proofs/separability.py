r"""Can linear scores separate the classes? A verdict with its proof. TEXTBOOK P7, B3.

With A the rows t_i x̄_i (for K classes the differences of ``differences``), exactly one of these is true (Gordan,
Stiemke):

    separable          some v has A v > 0
    quasi-separable    no v has A v > 0, but some v has A v ≥ 0 and A v ≠ 0: rows touch every such hyperplane
    inseparable        A v ≥ 0 only where A v = 0: the classes overlap

The proofs are small. For the first, v. Against it, a few rows (at most the rank plus one) and λ > 0 with
Σ λ_i a_i = 0: whatever v, some of them has a_i·v ≤ 0. If those rows span all rows, that is overlap. If not, A v ≥ 0
forces a_i·v = 0 on what they span, so the question is asked again of the other rows, in the directions left.

Programs in floating point only propose: v is checked row by row against its own rounding, λ is enclosed between
positive bounds or found again in exact arithmetic. What passes no check is ``Doubtful``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.arrays import AnyArray, Array, Integers
from separatrix.concurrency import one_blas_thread
from separatrix.errors import ParameterError
from separatrix.labels import encode
from separatrix.proofs.dependencies import Across, Dependency, across, joined, positive_dependency
from separatrix.proofs.differences import Differences
from separatrix.proofs.enclosure import surely_positive
from separatrix.proofs.naming import About, column_names, listed
from separatrix.proofs.quasi import direction_in, directions, fewest_columns, on, outside, used
from separatrix.proofs.verdicts import Doubtful, Inseparable, QuasiSeparable, Separable, Verdict, as_rows
from separatrix.proofs.working_set import Found, attempts, search
from separatrix.rows import memory_rows
from separatrix.rows.columns import refuse_not_finite

# A marginal below this share of the largest may be rounding; tried in turn until the exact check passes.
SMALLEST_SHARES = (1e-9, 1e-6, 1e-12)
# Exact numbers for so many rows of a proof take some twenty seconds; the time grows with the third power.
MOST_EXACT_ROWS = 600
TOO_WIDE = f"an exact proof is looked for in up to {MOST_EXACT_ROWS} columns, times the classes less one"
UNSURE = "rounding decides whether one has any"
TOUCHING = "rows touch a hyperplane to rounding, which could not be made sure of"


def separability(X: Any, y: Any, fit_intercept: bool = True, *, names: Sequence[str] | None = None) -> Verdict:
    """Whether linear scores have every row on the side of its own class; for K classes, the softmax model's.

    Answers ``Separable``, ``QuasiSeparable``, ``Inseparable`` or ``Doubtful``; only the first is true as a bool.
    Each has ``verify(X, y)`` and ``explain()``. Without an intercept hyperplanes pass through the origin. ``names``:
    of the columns, for ``explain``; those of a frame by default.

    >>> verdict = separability([[0.0], [1.0], [3.0]], ["no", "no", "yes"])
    >>> bool(verdict), verdict.margin, verdict.verify([[0.0], [1.0], [3.0]], ["no", "no", "yes"])
    (True, 1.0, True)
    >>> xor = [[-1, -1], [1, 1], [-1, 1], [1, -1]]
    >>> verdict = separability(xor, [0, 0, 1, 1])
    >>> type(verdict).__name__, verdict.rows.tolist(), verdict.multipliers
    ('Inseparable', [0, 1, 2, 3], (1, 1, 1, 1))
    """
    classes, codes = encode(y)
    if len(classes) < 2:
        raise ParameterError("y", f"it has {len(classes)} class", "give at least two")
    rows = as_rows(X)
    if rows.ndim != 2 or rows.shape[0] != len(codes):
        raise ParameterError("X", f"its shape is {rows.shape} for {len(codes)} labels", "give one row a label")
    if rows.shape[1] + bool(fit_intercept) == 0:
        raise ParameterError("X", "it has no columns", "give at least one, or an intercept")
    about = About(bool(fit_intercept), classes, column_names(X, names))
    return decide(Differences(rows, codes, len(classes), about.fit_intercept), about)


def verdict_on(X: Any, t: Array, fit_intercept: bool = True) -> Verdict:
    """The same for rows in memory with targets ±1.

    >>> bool(verdict_on(np.array([[1.0], [2.0]]), np.array([-1.0, 1.0])))
    True
    """
    return decide(Differences(X, (t > 0).astype(np.int64), 2, fit_intercept), About(fit_intercept))


def decide(D: Differences, about: About) -> Verdict:
    """The verdict on rows as differences of classes.

    >>> D = Differences(np.array([[0.0], [1.0], [3.0]]), np.array([0, 1, 2]), 3)
    >>> bool(decide(D, About(True, np.arange(3))))
    True
    """
    if not np.all(np.isfinite(D.unit)):
        refuse_not_finite(memory_rows(D.X, D.codes), list(about.names) or None)
    with one_blas_thread:
        found = _decide(D, about)
        return found if not isinstance(found, _Direction) else found.verdict(D, about)


def touching(D: Differences) -> Integers | Separable | Inseparable | Doubtful:
    """The rows with a·v = 0 along every v with A v ≥ 0, by number, where rows are quasi-separable; else the verdict.

    >>> touching(Differences(np.array([[0.0], [1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1]), 2)).tolist()
    [1, 2]
    """
    with one_blas_thread:
        found = _decide(D, About(D.fit_intercept))
    return np.flatnonzero(~found.known.left) if isinstance(found, _Direction) else found


@dataclass(frozen=True)
class _Known:
    """Rows that no v is positive on: all of them, the first of them alone, a basis across their span (as floats N),
    and which rows are left outside.
    """

    all: Dependency
    first: Dependency
    basis: Across
    N: Array
    left: AnyArray


@dataclass(frozen=True)
class _Direction:
    """What makes rows quasi-separable: v in whole numbers, and what is known; ``rows`` are the last working set."""

    v: AnyArray
    known: _Known
    rows: Integers

    def verdict(self, D: Differences, about: About) -> QuasiSeparable:
        """The verdict, with v in columns of which none can be left out."""

        def again(columns: Integers) -> AnyArray | None:
            part = Differences(D.X[:, columns], D.codes, D.K, D.fit_intercept)
            found = _decide(part, about)
            return part.weights(found.v) if isinstance(found, _Direction) else None

        W = fewest_columns(D, self.v, self.rows, self.known.all.rows, again)
        touching, first = D.named(on(D, D.flat(W))), self.known.first
        proof = (*D.named(first.rows), D.dense(first.rows), about, first.multipliers)
        return QuasiSeparable(*proof, W[1] if D.K == 2 else W, *touching, used(W))


def _decide(D: Differences, about: About) -> Separable | Inseparable | Doubtful | _Direction:
    known: _Known | None = None
    while True:
        found = search(D) if known is None else search(D, known.N, known.left)
        if found is None:
            return Doubtful("the linear program could not be solved", about.fit_intercept)
        if found.v is not None and known is None:
            return Separable.of(D, found.v, found.m, about)
        if found.v is not None and known is not None:
            v = direction_in(D, known.basis, found.v, known.left)
            return Doubtful(TOUCHING, about.fit_intercept) if v is None else _Direction(v, known, found.rows)
        hardly = f"no hyperplane has a margin above {found.most:.1e} of the rows' size"
        if D.width > MOST_EXACT_ROWS:
            return Doubtful(f"{_without_span(D, found, about) or hardly}; {TOO_WIDE}", about.fit_intercept, found.most)
        proven = _proven(D, found, known)
        if proven is None:
            return Doubtful(f"{hardly}, and {UNSURE}", about.fit_intercept, found.most)
        if not isinstance(proven, _Known):
            return Inseparable(*D.named(proven), D.dense(proven), about, None)
        known = proven
        if not known.left.any():
            return _spanning(D, known.all, about)


def _without_span(D: Differences, found: Found, about: About) -> str | None:
    """That no v is positive on all rows, where few rows prove that much: what they span is left open."""
    for group in _groups(found, MOST_EXACT_ROWS):
        if positive_dependency(D.dense(group), np.zeros((0, D.width))) is not None:
            return f"none separates, {listed(*D.named(group), about)}, but whether classes overlap or touch is open"
    return None


def _spanning(D: Differences, proof: Dependency, about: About) -> Inseparable:
    """The verdict by a dependency that spans all rows; rows of zeros, which add nothing to it, are left out."""
    A = D.dense(proof.rows)
    kept = np.any(A != 0, axis=1)
    if not kept.any():
        kept[:] = True
    multipliers = tuple(m for m, keep in zip(proof.multipliers, kept, strict=True) if keep)
    return Inseparable(*D.named(proof.rows[kept]), A[kept], about, multipliers)


def _groups(found: Found, most: int) -> Iterator[Integers]:
    """The rows with positive marginals, as far as rounding leaves that open; no more than a proof has."""
    for share in SMALLEST_SHARES:
        group = found.rows[found.weights > share * found.weights.max()]
        if len(group) <= most:
            yield group


def _proven(D: Differences, found: Found, known: _Known | None) -> _Known | Integers | None:
    """What is known with the rows found, or with others in their stead; or rows that alone prove an overlap."""
    for attempt in attempts(D, found, known.N if known else None):
        enclosed = None if known else _enclosed(D, attempt)
        proven = enclosed if enclosed is not None else _more(D, attempt, known)
        if proven is not None:
            return proven
    return None


def _enclosed(D: Differences, found: Found) -> Integers | None:
    """Rows of full rank that depend on each other with weights that floating point is sure are positive."""
    return next((group for group in _groups(found, D.width + 1) if surely_positive(D.dense(group))), None)


def _more(D: Differences, found: Found, known: _Known | None) -> _Known | None:
    """What is known with the rows that were found: they depend on each other exactly, up to those known before."""
    before = D.dense(known.all.rows) if known else np.zeros((0, D.width))
    for group in _groups(found, D.width + 1):
        weights = positive_dependency(D.dense(group), before)
        if weights is None:
            continue
        whole = joined(known.all if known else None, group, *weights)
        basis = across(D.dense(whole.rows))
        if basis is None:
            return None
        if not basis.free:
            return _Known(whole, whole, basis, np.zeros((D.width, 0)), np.zeros(D.count, dtype=bool))
        N = directions(D, basis)
        return _Known(whole, known.first if known else whole, basis, N, outside(D, basis, N))
    return None
