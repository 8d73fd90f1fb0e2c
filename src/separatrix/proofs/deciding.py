r"""Decides whether linear scores separate the classes, and proves it (docs/tour.md, P7, B3).

Let A have the rows t_i x̄_i (for K classes, the rows of ``class_differences``). Exactly one of these holds (Gordan,
Stiemke):

    separable          some v has A v > 0
    quasi-separable    no v has A v > 0, but some v has A v ≥ 0 and A v ≠ 0: every such hyperplane touches rows
    inseparable        A v ≥ 0 only where A v = 0: the classes overlap

The proofs are small. Separability is proven by v. Inseparability is proven by a few rows (at most the rank plus one)
and λ > 0 with Σ λ_i a_i = 0: for every v, at least one of these rows has a_i·v ≤ 0. If these rows span all rows, the
classes overlap. If not, A v ≥ 0 forces a_i·v = 0 on their span, so the search is repeated on the other rows, in the
directions orthogonal to that span.

Linear programs in floating point only propose a proof. v is checked row by row against its rounding error; λ is
enclosed between positive bounds, or recomputed in exact arithmetic. If no check succeeds, the verdict is ``Doubtful``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.base.concurrency import one_blas_thread
from separatrix.proofs.causes import further_directions
from separatrix.proofs.class_differences import Differences
from separatrix.proofs.dependencies import Dependency, positive_dependency
from separatrix.proofs.naming import About, listed
from separatrix.proofs.offsets import Offsets
from separatrix.proofs.overlap_proof import (
    MOST_EXACT_ROWS,
    Enclosed,
    Known,
    candidate_groups,
    is_affordable,
    proof_from,
)
from separatrix.proofs.quasi import direction_in, fewest_columns, on, used
from separatrix.proofs.row_working_set import Found, search
from separatrix.proofs.scales import Scaled
from separatrix.proofs.verdicts import Doubtful, Inseparable, QuasiSeparable, Separable, Verdict
from separatrix.rows import memory_rows
from separatrix.rows.column_statistics import refuse_not_finite

TOO_WIDE = (
    f"proofs are attempted for up to {MOST_EXACT_ROWS} columns, times the number of classes less one, and exact proofs "
    "for up to 600 columns of floats"
)
# Largest number of rows in a proof that is checked exactly even if the columns exceed the limits of ``overlap_proof``.
MOST_ROWS_ALWAYS_PROVEN = 300
UNSURE = "rounding leaves open whether any has a positive one"
TOUCHING = "rows touch a hyperplane up to rounding, which could not be confirmed"


def decide(D: Differences, about: About) -> Verdict:
    """The verdict on rows given as class differences.

    >>> D = Differences(np.array([[0.0], [1.0], [3.0]]), np.array([0, 1, 2]), 3)
    >>> bool(decide(D, About(True, np.arange(3))))
    True
    """
    if not np.all(np.isfinite(D.unit)):
        refuse_not_finite(memory_rows(D.X, D.codes), list(about.names) or None)
    with one_blas_thread:
        offsets, moved, scaled, outcome = _settled(D, about)
        verdict = outcome.verdict(scaled.D, about) if isinstance(outcome, _Direction) else outcome
        return offsets.told(scaled.told(verdict, moved), moved)


def touching(D: Differences) -> Integers | Separable | Inseparable | Doubtful:
    """The numbers of the rows with a·v = 0 for every v with A v ≥ 0, if rows are quasi-separable; else the verdict.

    >>> touching(Differences(np.array([[0.0], [1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1]), 2)).tolist()
    [1, 2]
    """
    with one_blas_thread:
        outcome = _settled(D, About(D.fit_intercept)).outcome
    return np.flatnonzero(~outcome.known.left) if isinstance(outcome, _Direction) else outcome


@dataclass(frozen=True)
class _Direction:
    """An integer direction v of quasi-complete separation, with the proof so far; ``rows`` is the last working set."""

    v: AnyArray
    known: Known
    rows: Integers

    def verdict(self, D: Differences, about: About) -> QuasiSeparable:
        """The verdict, with v reduced to a minimal set of columns, and with all other causes."""
        W = self._fewest(D, about)

        def in_columns(columns: Integers) -> AnyArray | None:
            part = replace(D, X=D.X[:, columns])
            outcome = _decide(part, about)
            return _widened(D, columns, outcome._fewest(part, about)) if isinstance(outcome, _Direction) else None

        further = further_directions(D, W, in_columns, about.names)
        touching, first = D.named(on(D, D.flat(W))), self.known.first
        proof = (*D.named(first.rows), D.dense(first.rows), about, first.multipliers, None)
        own, *others = [V[1] if D.K == 2 else V for V in (W, *further)]
        return QuasiSeparable(*proof, own, *touching, used(W), tuple(others))

    def _fewest(self, D: Differences, about: About) -> AnyArray:
        """v as weights (K, d + 1), reduced to a minimal set of columns."""

        def again(columns: Integers) -> AnyArray | None:
            part = replace(D, X=D.X[:, columns])
            outcome = _decide(part, about)
            return part.weights(outcome.v) if isinstance(outcome, _Direction) else None

        return fewest_columns(D, self.v, self.rows, self.known.all.rows, again)


def _widened(D: Differences, columns: Integers, W: AnyArray) -> AnyArray:
    """Weights of some columns as weights of all columns."""
    whole = np.zeros((D.K, D.X.shape[1] + 1), dtype=object)
    whole[:, np.concatenate([[0], columns + 1])] = W
    return whole


class _Settled(NamedTuple):
    """The outcome on the rows of ``scaled``, which are those of ``moved``, from which ``offsets`` were subtracted."""

    offsets: Offsets
    moved: Differences
    scaled: Scaled
    outcome: Separable | Inseparable | Doubtful | _Direction


def _settled(D: Differences, about: About) -> _Settled:
    """The outcome without offsets of all entries of a column or, if that leaves doubt, of most entries."""
    found = _without(D, Offsets.of(D), about)
    if not isinstance(found.outcome, Doubtful):
        return found
    offsets = Offsets.of_most(D)
    return _without(D, offsets, about) if np.any(offsets.c[found.offsets.c == 0]) else found


def _without(D: Differences, offsets: Offsets, about: About) -> _Settled:
    moved = offsets.moved(D)
    scaled = Scaled.of(moved)
    return _Settled(offsets, moved, scaled, _decide(scaled.D, about))


def _decide(D: Differences, about: About) -> Separable | Inseparable | Doubtful | _Direction:
    known: Known | None = None
    while True:
        found = search(D) if known is None else search(D, known.N, known.left)
        if found is None:
            return Doubtful("the linear program could not be solved", about.fit_intercept)
        if found.v is not None:
            return _along(D, found, found.v, known, about)
        proven = proof_from(D, found, known)
        if proven is None:
            return Doubtful(_doubt(D, found, about), about.fit_intercept, found.most)
        if isinstance(proven, Enclosed):
            return Inseparable(*D.named(proven.rows), D.dense(proven.rows), about, None, proven.near)
        if not proven.left.any():
            return _spanning(D, proven.all, about)
        known = proven


def _along(
    D: Differences, found: Found, v: Array, known: Known | None, about: About
) -> Separable | Doubtful | _Direction:
    """The verdict from a direction v that is positive on all rows outside the span of the known ones."""
    if known is None:
        return Separable.of(D, v, found.m, about)
    exact = direction_in(D, known.basis, v, known.left)
    return Doubtful(TOUCHING, about.fit_intercept) if exact is None else _Direction(exact, known, found.rows)


def _doubt(D: Differences, found: Found, about: About) -> str:
    """The reason why separability could not be decided, in words."""
    hardly = f"no hyperplane has a margin above {found.most:.1e} of the rows' size"
    if is_affordable(D):
        return f"{hardly}, and {UNSURE}"
    return f"{_without_span(D, found, about) or hardly}; {TOO_WIDE}"


def _without_span(D: Differences, found: Found, about: About) -> str | None:
    """A sentence saying that no v is positive on all rows, if a few rows prove it; their span is not examined."""
    for group in candidate_groups(found, MOST_ROWS_ALWAYS_PROVEN):
        if positive_dependency(D.dense(group), np.zeros((0, D.width))) is not None:
            return f"none separates, {listed(*D.named(group), about)}, but whether classes overlap or touch is open"
    return None


def _spanning(D: Differences, proof: Dependency, about: About) -> Inseparable:
    """The verdict from a dependency that spans all rows. Zero rows are omitted: they add nothing to the proof."""
    A = D.dense(proof.rows)
    kept = np.any(A != 0, axis=1)
    if not kept.any():
        kept[:] = True
    multipliers = tuple(m for m, keep in zip(proof.multipliers, kept, strict=True) if keep)
    return Inseparable(*D.named(proof.rows[kept]), A[kept], about, multipliers, None)
