"""The test of separability, for rows in memory and outside (docs/tour.md, P7, B3).

Let A have the rows t_i x̄_i (for K classes, the class differences). Exactly one of these holds (Gordan, Stiemke):

    separable          some v has A v > 0
    quasi-separable    no v has A v > 0, but some v has A v ≥ 0 and A v ≠ 0: every such hyperplane touches rows
    inseparable        A v ≥ 0 only where A v = 0: the classes overlap

The proofs are small. Separability is proven by v. Inseparability is proven by a few rows (at most the rank plus one)
and λ > 0 with Σ λ_i a_i = 0: for every v, at least one of these rows has a_i·v ≤ 0. If these rows span all rows, the
classes overlap. If not, A v ≥ 0 forces a_i·v = 0 on their span, so the search is repeated on the other rows, in the
directions orthogonal to that span.

Linear programs in floating point only propose a proof. v is checked row by row against its rounding error; λ is
enclosed between positive bounds, or recomputed in exact arithmetic. If no check succeeds, the verdict is ``Doubtful``.
The rule that detects separation during a fit is in `core/solvers/stopping.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm
from typing import Any, NamedTuple

import numpy as np

from separatrix.core.base.arrays import AnyArray, Array, Integers
from separatrix.core.base.errors import ParameterError
from separatrix.core.base.labels import encode
from separatrix.core.base.machine import one_blas_thread
from separatrix.core.base.watching import Part, watched
from separatrix.core.cluster import read_in_place
from separatrix.core.exact_arithmetic import Dependency, across, fractions, positive_dependency, smallest, span
from separatrix.core.proofs import overlap
from separatrix.core.proofs.class_differences import Differences, subtracted
from separatrix.core.proofs.linear_programs import Found, search, surely_positive, widest_separator
from separatrix.core.proofs.naming import About, column_names, listed
from separatrix.core.proofs.row_claims import (
    Broken,
    DirectionRows,
    Moved,
    NotNegative,
    Orthogonal,
    Positive,
    RowClaim,
    View,
    as_rows,
    flattened,
)
from separatrix.core.proofs.verdicts import Doubtful, Inseparable, QuasiSeparable, Separable, Verdict, smallest_distance
from separatrix.core.rows.block import Block, is_sparse
from separatrix.core.rows.column_statistics import refuse_not_finite
from separatrix.core.rows.labelled_table import OutsideMemory
from separatrix.core.rows.memory_rows import memory_rows
from separatrix.core.rows.protocol import Rows, Together
from separatrix.core.rows.sampling import Carried, CarriedRows, LowestHashes
from separatrix.core.rows.targets import Coding, class_targets


def separability(X: Any, y: Any = None, fit_intercept: bool = True, *, names: Sequence[str] | None = None) -> Verdict:
    """Decide whether linear scores put every row on the side of its class, and prove the answer.

    For K > 2 classes the scores are those of the softmax model: every row's own class must have the largest score.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d), or a ``scan``
        The rows. They must be finite. The rows of a scan are read a few times, at most 20, and its rows without weight
        do not count.
    y : array-like of shape (n,)
        The class labels, of at least two classes. A scan has its own.
    fit_intercept : bool, default=True
        If False, hyperplanes pass through the origin.
    names : sequence of str, optional
        Column names used by ``explain()``. By default those of a data frame.

    Returns
    -------
    Separable, QuasiSeparable, Inseparable or Doubtful
        The verdict. Only ``Separable`` is true as a bool. Each verdict has ``verify(X, y)`` and ``explain()``. A scan
        that 20 passes do not decide is ``Doubtful``.

    Raises
    ------
    ParameterError
        If y has fewer than two classes, or X has the wrong shape or no columns.

    Examples
    --------
    >>> verdict = separability([[0.0], [1.0], [3.0]], ["no", "no", "yes"])
    >>> bool(verdict), verdict.margin, verdict.verify([[0.0], [1.0], [3.0]], ["no", "no", "yes"])
    (True, 1.0, True)
    >>> xor = [[-1, -1], [1, 1], [-1, 1], [1, -1]]
    >>> verdict = separability(xor, [0, 0, 1, 1])
    >>> type(verdict).__name__, verdict.rows.tolist(), verdict.multipliers
    ('Inseparable', [0, 1, 2, 3], (1, 1, 1, 1))
    """
    X, y, _ = read_in_place(X, y)
    if isinstance(X, OutsideMemory):
        return _outside_memory(X, y, fit_intercept, names)
    classes, codes = encode(y)
    if len(classes) < 2:
        raise ParameterError("y", f"it has {len(classes)} class", "give at least two")
    rows = as_rows(X)
    if rows.ndim != 2 or rows.shape[0] != len(codes):
        raise ParameterError("X", f"its shape is {rows.shape} for {len(codes)} labels", "give one row for each label")
    if rows.shape[1] + bool(fit_intercept) == 0:
        raise ParameterError("X", "it has no columns", "give at least one, or an intercept")
    about = About(bool(fit_intercept), classes, column_names(X, names))
    return decide(Differences(rows, codes, len(classes), about.fit_intercept), about)


def _outside_memory(table: OutsideMemory, y: Any, fit_intercept: bool, names: Sequence[str] | None) -> Verdict:
    if y is not None:
        raise ParameterError("y", f"got one together with {table.name}", "name its column: scan(..., target=...)")
    K = len(table.classes)
    if K < 2:
        raise ParameterError("y", f"it has {K} class", "give at least two")
    if names is not None and len(names) != table.n_features:
        raise ParameterError("names", f"got {len(names)} for {table.n_features} columns", "give one name per column")
    about = About(bool(fit_intercept), table.classes, tuple(map(str, table.columns if names is None else names)))
    rows = table.rows(Coding(signs=K == 2))
    return decide_streamed(rows, View(K, about.fit_intercept), about, class_values(K)).verdict


def class_values(n_classes: int) -> AnyArray:
    """The value of t in each class, as ``class_targets`` has it.

    >>> class_values(2).tolist(), class_values(3).tolist()
    ([-1.0, 1.0], [0, 1, 2])
    """
    return class_targets(np.arange(n_classes), n_classes)


def verdict_on(rows: Rows, fit_intercept: bool = True) -> Verdict:
    """The verdict on rows with targets ±1, in the units of their columns, in memory or elsewhere.

    >>> from separatrix.core.rows.memory_rows import memory_rows
    >>> bool(verdict_on(memory_rows(np.array([[1.0], [2.0]]), np.array([-1.0, 1.0]))))
    True
    """
    about = About(fit_intercept)
    block = rows.resident()
    if block is None:
        return decide_streamed(rows, View(2, fit_intercept), about, class_values(2)).verdict
    return decide(Differences.of_block(block, 2, fit_intercept), about)


# --- The decision for rows in memory

TOO_WIDE = (
    f"proofs are attempted for up to {overlap.MOST_EXACT_ROWS} columns, times the number of classes less one, and "
    "exact proofs for up to 600 columns of floats"
)


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
    known: overlap.Known
    rows: Integers

    def verdict(self, D: Differences, about: About) -> QuasiSeparable:
        """The verdict, with v reduced to a minimal set of columns, and with all other causes."""
        W = self._fewest(D, about)

        def in_columns(columns: Integers) -> AnyArray | None:
            part = replace(D, X=D.X[:, columns])
            outcome = _decide(part, about)
            if not isinstance(outcome, _Direction):
                return None
            whole = np.zeros((D.K, D.X.shape[1] + 1), dtype=object)
            whole[:, np.concatenate([[0], columns + 1])] = outcome._fewest(part, about)
            return whole

        further = overlap.further_directions(D, W, in_columns, about.names)
        touching, first = D.named(overlap.on(D, D.flat(W))), self.known.first
        proof = (*D.named(first.rows), D.dense(first.rows), about, first.multipliers, None)
        own, *others = [V[1] if D.K == 2 else V for V in (W, *further)]
        return QuasiSeparable(*proof, own, *touching, overlap.used(W), tuple(others))

    def _fewest(self, D: Differences, about: About) -> AnyArray:
        """v as weights (K, d + 1), reduced to a minimal set of columns."""

        def again(columns: Integers) -> AnyArray | None:
            part = replace(D, X=D.X[:, columns])
            outcome = _decide(part, about)
            return part.weights(outcome.v) if isinstance(outcome, _Direction) else None

        return overlap.fewest_columns(D, self.v, self.rows, self.known.all.rows, again)


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
    known: overlap.Known | None = None
    while True:
        found = search(D) if known is None else search(D, known.N, known.left)
        if found is None:
            return Doubtful("the linear program could not be solved", about.fit_intercept)
        if found.v is not None:
            if known is None:
                return Separable.of(D, found.v, found.m, about)
            # v is positive on all rows outside the span of the known ones.
            exact = overlap.direction_in(D, known.basis, found.v, known.left)
            if exact is not None:
                return _Direction(exact, known, found.rows)
            reason = "rows touch a hyperplane up to rounding, which could not be confirmed"
            return Doubtful(reason, about.fit_intercept)
        proven = overlap.proof_from(D, found, known)
        if proven is None:
            return Doubtful(_doubt(D, found, about), about.fit_intercept, found.most)
        if isinstance(proven, overlap.Enclosed):
            return Inseparable(*D.named(proven.rows), D.dense(proven.rows), about, None, proven.near)
        if not proven.left.any():
            return _spanning(D, proven.all, about)
        known = proven


def _doubt(D: Differences, found: Found, about: About) -> str:
    """The reason why separability could not be decided, in words."""
    hardly = f"no hyperplane has a margin above {found.most:.1e} of the rows' size"
    if overlap.is_affordable(D):
        return f"{hardly}, and rounding leaves open whether any has a positive one"
    # A few rows may prove that no v is positive on all rows. Their span is not examined.
    # Such a proof is checked exactly even if the columns exceed the limits of ``is_affordable``.
    for group in overlap.candidate_groups(found, 300):
        if positive_dependency(D.dense(group), np.zeros((0, D.width))) is not None:
            shown = listed(*D.named(group), about)
            return f"none separates, {shown}, but whether classes overlap or touch is open; {TOO_WIDE}"
    return f"{hardly}; {TOO_WIDE}"


def _spanning(D: Differences, proof: Dependency, about: About) -> Inseparable:
    """The verdict from a dependency that spans all rows. Zero rows are omitted: they add nothing to the proof."""
    A = D.dense(proof.rows)
    kept = np.any(A != 0, axis=1)
    if not kept.any():
        kept[:] = True
    multipliers = tuple(m for m, keep in zip(proof.multipliers, kept, strict=True) if keep)
    return Inseparable(*D.named(proof.rows[kept]), A[kept], about, multipliers, None)


# --- Columns of extreme size are rescaled by powers of two, and the verdict is converted back

# The smallest and the largest exponents (as ``frexp`` counts them) at which a weight has full precision.
LOWEST_WEIGHT_EXPONENT, HIGHEST_WEIGHT_EXPONENT = -1021, 1023
# The exponent of the smallest positive float64.
EXPONENT_OF_SMALLEST_FLOAT = -1074
OUT_OF_RANGE = (
    "some hyperplane separates, but columns are of sizes so far apart that its weights leave the range of floating "
    "point; multiply columns by powers of two"
)


@dataclass(frozen=True)
class Scaled:
    """Rows ``D`` whose columns were divided by 2^``exponent``, (d,), without rounding.

    With x_j = 2^{e_j} x'_j, the scores agree, a'·v' = a·v, for v_j = 2^{−e_j} v'_j. So the same rows lie on the
    hyperplane, they depend on each other with the same λ, and the other rows lie on the same sides. Only the weights v
    differ, and they may overflow float64.
    """

    D: Differences
    exponent: Integers

    @classmethod
    def of(cls, D: Differences) -> Scaled:
        """D with columns of extreme size scaled to about 1 unless that loses bits; D itself if there are none.

        >>> D = Differences(np.array([[2.0**900, 1.0], [0.0, 3.0]]), np.array([0, 1]), 2)
        >>> Scaled.of(D).D.X.tolist(), Scaled.of(D).exponent.tolist()
        ([[0.5, 1.0], [0.0, 3.0]], [901, 0])
        """
        size = np.frexp(D.unit[D.width - D.X.shape[1] :])[1]
        exponent = np.zeros(D.X.shape[1], dtype=np.int64)
        # Columns with larger exponents are rescaled, so that products and quotients of three columns stay in range.
        for j in np.flatnonzero(np.abs(size) > 300):
            column = D.X[:, [j]]
            low, high = span(column.toarray() if is_sparse(column) else column)
            exponent[j] = min(int(high[0]), int(low[0]) - EXPONENT_OF_SMALLEST_FLOAT)
        if not exponent.any():
            return cls(D, exponent)
        return cls(replace(D, X=_divided(D.X, exponent)), exponent)

    def told(self, verdict: Verdict, given: Differences) -> Verdict:
        """The verdict on ``D``, converted to the rows as they were given."""
        if not self.exponent.any() or isinstance(verdict, Doubtful):
            return verdict
        if isinstance(verdict, Separable):
            return self._separable(verdict, given)
        signed = given.dense(given.numbers(verdict.rows, verdict.against))
        if isinstance(verdict, Inseparable):
            return replace(verdict, signed=signed)
        further = tuple(self._whole(v) for v in verdict.further)
        return replace(verdict, signed=signed, direction=self._whole(verdict.direction), further=further)

    def _separable(self, verdict: Separable, given: Differences) -> Separable | Doubtful:
        W = _in_range(np.atleast_2d(verdict.v), np.concatenate([[0], -self.exponent]))
        if W is None:
            return Doubtful(OUT_OF_RANGE, verdict.fit_intercept)
        v = given.flat(np.vstack([np.zeros_like(W), W]) if given.K == 2 else W)
        m = given.margins(v)
        if len(given.not_positive(v, m=m)):
            return Doubtful(OUT_OF_RANGE, verdict.fit_intercept)
        return Separable.of(given, v, m, verdict.about)

    def _whole(self, direction: AnyArray) -> AnyArray:
        """The direction in the original units of the columns, again in the smallest integers."""
        top = max(0, int(self.exponent.max()))
        shift = np.concatenate([[top], top - self.exponent]).astype(object)
        whole: Any = direction << shift
        return np.array(smallest([int(x) for x in whole.ravel()]), dtype=object).reshape(whole.shape)


def _divided(X: Any, exponent: Integers) -> Any:
    if not is_sparse(X):
        return np.ldexp(X, -exponent)
    from scipy.sparse import csr_array

    return csr_array((np.ldexp(X.data, -exponent[X.indices]), X.indices, X.indptr), shape=X.shape)


def _in_range(W: Array, exponent: Integers) -> Array | None:
    """W times 2^exponent per column, times one power of two that brings all weights into range; None if none does.

    >>> _in_range(np.array([[1.0, 1.0]]), np.array([1500, 0])).tolist() == [[2.0**749, 2.0**-751]]
    True
    """
    size = (np.frexp(W)[1] + exponent)[W != 0]
    least, most = int(size.min()), int(size.max())
    if most - least > HIGHEST_WEIGHT_EXPONENT - LOWEST_WEIGHT_EXPONENT:
        return None
    middle = 0 if least >= LOWEST_WEIGHT_EXPONENT and most <= HIGHEST_WEIGHT_EXPONENT else (least + most) // 2
    return np.ldexp(W, exponent - middle)


# --- A value is subtracted from columns far from zero, and the verdict is converted back

# A column is moved if its distance from zero exceeds this many times its range, or if that of its middle half does.
# Random tables of columns with up to 100 000 000 different values are all decided at 4096 times, and not all tables of
# 1000 values at 16 384 times.
SMALLEST_OFFSET = 256
# The weights are multiplied by one of these until the intercept, rounded to a float, still separates. Without them 37
# of 1116 random separable tables with whole numbers up to 2^53 are in doubt.
FACTORS = tuple(2.0 ** (-k / 64) for k in range(64))
LARGEST_FLOAT = float(np.finfo(np.float64).max)
BETWEEN_FLOATS = (
    "some hyperplane separates, but no intercept that was tried is between the classes after rounding to float64; "
    "subtract a constant from the columns that are far from zero"
)


@dataclass(frozen=True)
class Offsets:
    """The values ``c`` (d,) to subtract from the columns, zero for those that stay.

    With x_j = c_j + x'_j and an intercept, the scores agree, w·x' + b' = w·x + b, for b' = b + w·c. So the same rows
    lie on the hyperplane, they depend on each other with the same λ, and the other rows lie on the same sides. Without
    the subtraction, the differences between rows of columns such as Unix times, which decide separation, are lost in
    the tolerance of the linear programs.

    c_j is the entry of the column that is nearest to zero. All entries lie within a factor of two of it, so that no
    difference is rounded: Sterbenz, Floating-Point Computation (1974), theorem 4.3.1. Such a column of a sparse matrix
    stores all its entries. If a few entries are elsewhere, such as a 0 that marks a missing time, c_j is the median,
    and every difference is checked; this is done only if the verdict is in doubt otherwise.

    >>> offsets = Offsets.between(np.array([1e9, 0.0]), np.array([1e9 + 3, 7.0]))
    >>> offsets.c.tolist(), offsets.whole(np.array([-1, 1, 1], dtype=object)).tolist()
    ([1000000000.0, 0.0], [-1000000001, 1, 1])
    """

    c: Array

    @classmethod
    def between(cls, low: Array, high: Array, fit_intercept: bool = True) -> Offsets:
        """The offsets of columns with these smallest and largest entries; none without an intercept."""
        nearest = np.where(low > 0, low, np.where(high < 0, high, 0.0))
        with np.errstate(over="ignore"):
            is_far = (low <= high) & (SMALLEST_OFFSET * (high - low) < np.abs(nearest))
        return cls(np.where(is_far & fit_intercept, nearest, 0.0))

    @classmethod
    def of(cls, D: Differences) -> Offsets:
        """The offsets of the rows of D."""
        return cls.between(*D.ends, D.fit_intercept)

    @classmethod
    def of_most(cls, D: Differences) -> Offsets:
        """The offsets of columns of which most entries are far from zero: the medians, if no difference is rounded.

        >>> X = np.array([[0.0], [1e9], [1e9 + 1], [1e9 + 2], [1e9 + 3]])
        >>> Offsets.of_most(Differences(X, np.array([0, 0, 0, 1, 1]), 2)).c.tolist()
        [1000000001.0]
        """
        c = np.zeros(D.X.shape[1])
        for j in range(len(c) if D.fit_intercept else 0):
            column = D.X[:, [j]]
            x = np.asarray(column.toarray() if is_sparse(column) else column, dtype=np.float64).ravel()
            low, median, high = np.quantile(x, (0.25, 0.5, 0.75), method="lower")
            is_stored = not is_sparse(column) or column.nnz == len(x)
            if SMALLEST_OFFSET * (high - low) < abs(median) and is_stored and _is_exact(x, median):
                c[j] = median
        return cls(c)

    def moved(self, D: Differences) -> Differences:
        """The differences of the rows without the offsets; D itself if there are none."""
        return replace(D, X=subtracted(D.X, self.c)) if self.c.any() else D

    def exactly(self, W: AnyArray) -> AnyArray:
        """Weights (..., d + 1) of the columns as given as weights of the moved columns, in fractions."""
        return self._shifted(W, 1)

    def nearly(self, W: Array) -> Array:
        """The same, rounded to floats."""
        return _rounded(self.exactly(W)) if self.c.any() else W

    def given(self, W: Array) -> Array:
        """Weights of the moved columns as weights of the columns as given, rounded to floats."""
        return _rounded(self._shifted(W, -1)) if self.c.any() else W

    def whole(self, W: AnyArray, sign: int = -1) -> AnyArray:
        """Integer weights of the moved columns as weights of the columns as given, in the smallest integers.

        With ``sign`` = 1 it converts in the other direction.
        """
        if not self.c.any():
            return W
        W = self._shifted(W, sign)
        below = lcm(*(x.denominator for x in W.ravel()))
        return np.array(smallest([int(x * below) for x in W.ravel()]), dtype=object).reshape(W.shape)

    def _shifted(self, W: AnyArray, sign: int) -> AnyArray:
        W = np.array([Fraction(x) for x in W.ravel().tolist()], dtype=object).reshape(W.shape)
        W[..., 0] += sign * (W[..., 1:] @ np.array(fractions(self.c), dtype=object))
        return W

    def told(self, verdict: Verdict, D: Differences) -> Verdict:
        """The verdict on the moved rows D, converted to the rows as they were given."""
        if not self.c.any() or isinstance(verdict, Doubtful):
            return verdict
        if isinstance(verdict, Separable):
            return self._separable(verdict, D)
        blocks: Array = verdict.signed.reshape(len(verdict.signed), D.K - 1, D.block_width).copy()
        blocks[..., 1:] += blocks[..., :1] * self.c  # the sums are entries as they were given, so they are not rounded
        signed = blocks.reshape(verdict.signed.shape)
        if isinstance(verdict, Inseparable):
            return replace(verdict, signed=signed)
        own, *further = (self.whole(v) for v in (verdict.direction, *verdict.further))
        return replace(verdict, signed=signed, direction=own, further=tuple(further))

    def _separable(self, verdict: Separable, D: Differences) -> Separable | Doubtful:
        """The verdict with an intercept that is a float; doubtful if each one tried has rows on the wrong side."""
        largest = np.abs(verdict.v[..., 1:]).max() or 1.0
        for factor in FACTORS:
            v = self.given(factor * (verdict.v / largest))
            if not np.all(np.isfinite(v)):
                break
            exact = np.asarray(flattened(D, self.exactly(v)))
            near = _rounded(exact)
            m = D.margins(near)
            if len(D.not_positive(near, exact.tolist(), m=m)) == 0:
                return Separable(v, smallest_distance(D, D.weights(near), m), verdict.about)
        return Doubtful(BETWEEN_FLOATS, verdict.fit_intercept)


def _is_exact(x: Array, c: float) -> bool:
    """Whether no difference x_i − c is rounded: Knuth's formula for the rounding error of a difference."""
    with np.errstate(over="ignore", invalid="ignore"):
        difference = x - c
        back = x - difference
        return not np.any((x - (difference + back)) + (back - c))


def _rounded(exact: AnyArray) -> Array:
    """Fractions as floats, infinite where they are too large."""
    found = [float(x) if abs(x) <= LARGEST_FLOAT else np.inf for x in exact.ravel()]
    return np.array(found, dtype=np.float64).reshape(exact.shape)


# --- The rows at hand in a search for a proof over rows outside memory

# Rows of the sample: at most MOST_CORE_ROWS, and at most MOST_CORE_ENTRIES / width, but at least
# SAMPLE_ROWS_PER_DIRECTION for each weight. Of 2 000 000 rows of 10 columns with a thin margin, a hyperplane that
# separates 20 000 has about 700 on the wrong side.
MOST_CORE_ROWS, MOST_CORE_ENTRIES, SAMPLE_ROWS_PER_DIRECTION = 20_000, 4_000_000, 4


class ExtremeTotal(NamedTuple):
    """The smallest and the largest entry of each class and column, (K, d), and the numbers of rows that have them.

    A class without rows has infinite entries and rows −1.
    """

    low: Array
    high: Array
    low_row: Integers
    high_row: Integers


@dataclass(frozen=True)
class ExtremeRows:
    """Finds for each class and column a row with the smallest and a row with the largest entry."""

    view: View
    n_features: int

    def zero(self) -> ExtremeTotal:
        shape = (self.view.K, self.n_features)
        return ExtremeTotal(np.full(shape, np.inf), np.full(shape, -np.inf), *(np.full(shape, -1) for _ in range(2)))

    def add(self, total: ExtremeTotal, block: Block) -> ExtremeTotal:
        D, numbers = self.view.of(block)
        found = self.zero()
        for k in np.unique(D.codes).tolist():
            own = np.flatnonzero(D.codes == k)
            part: Any = D.X if len(own) == len(numbers) else D.X[own]
            columns = np.arange(self.n_features)
            for row, value, place in (
                (found.low_row, found.low, part.argmin(axis=0)),
                (found.high_row, found.high, part.argmax(axis=0)),
            ):
                at = np.asarray(place).ravel()
                row[k] = numbers[own[at]]
                values = part[at, columns]
                value[k] = np.asarray(values.toarray() if is_sparse(values) else values, dtype=np.float64).ravel()
        return self.merge(total, found)

    def merge(self, a: ExtremeTotal, b: ExtremeTotal) -> ExtremeTotal:
        lower, higher = ~(a.low <= b.low), ~(a.high >= b.high)  # NaN replaces what it is compared with
        return ExtremeTotal(
            np.where(lower, b.low, a.low),
            np.where(higher, b.high, a.high),
            np.where(lower, b.low_row, a.low_row),
            np.where(higher, b.high_row, a.high_row),
        )

    def chosen(self, total: ExtremeTotal) -> Integers:
        """The numbers of the rows; none if there are many columns."""
        if self.n_features > 500:  # there are up to 2 K extreme rows for each column
            return np.zeros(0, dtype=np.int64)
        found = np.unique(np.concatenate([total.low_row.ravel(), total.high_row.ravel()]))
        return found[found >= 0]


@dataclass(frozen=True)
class Core:
    """The rows at hand, by increasing number, and the extreme entries of all rows, (K, d) each.

    ``is_whole``: the rows at hand are all rows with a positive weight.
    """

    rows: CarriedRows
    low: Array
    high: Array
    view: View
    is_whole: bool = False

    @property
    def numbers(self) -> Integers:
        (numbers,) = self.rows.numbers
        return numbers

    @property
    def differences(self) -> Differences:
        """The class differences of the rows at hand."""
        (block,) = self.rows.parts
        return self.view.of(block)[0]

    def with_(self, more: CarriedRows) -> Core:
        """These rows and others."""
        return replace(self, rows=self.rows.with_(more).joined())


def first_core(rows: Rows, view: View, targets: AnyArray, names: list[str] | None) -> Core:
    """The rows at hand after the first pass. ``targets``: the value of t in each class.

    They are the rows with the lowest hashes, the same number from each class, and for each class and column a row with
    the smallest and one with the largest entry. So a column that is nonzero in a few rows of one class is at hand from
    the start.

    Raises an error that names the entry if one is not finite.
    """
    n_columns = view.n_columns(rows)
    width = (view.K - 1) * (n_columns + view.fit_intercept)
    size = max(SAMPLE_ROWS_PER_DIRECTION * width, min(MOST_CORE_ROWS, MOST_CORE_ENTRIES // max(1, width)))
    sample, extremes = LowestHashes(size, 0, targets), ExtremeRows(view, n_columns)
    drawn, extreme = rows.fold(Together((Carried(sample), Carried(extremes))))
    low, high = extreme.total.low, extreme.total.high
    held = np.isfinite(low).any(axis=1) | np.isfinite(high).any(axis=1) | np.isnan(low).any(axis=1)
    if not (np.isfinite(low[held]).all() and np.isfinite(high[held]).all()):
        refuse_not_finite(rows, names)
    kept = drawn.rows.only(sample.chosen(drawn.total)).with_(extreme.rows.only(extremes.chosen(extreme.total)))
    is_whole = sum(part.count for part in drawn.total) <= sample.size
    return Core(kept.joined(), low, high, view, is_whole)


# --- The decision for rows outside memory

# Limit on passes over all rows. Tables of 2 000 000 rows take two to four (`python -m benchmarks.separability`).
MOST_READS = 20
# Rows that join the rows at hand in a round, for each class with the smallest margins and as many others; at least this
# many for each direction.
JOINING_ROWS, JOINING_ROWS_PER_DIRECTION = 1000, 4
UNDECIDED = (
    f"the rows are not in memory, and {MOST_READS} passes over them did not decide it; read them into memory, or use a "
    "penalty"
)


@dataclass(frozen=True)
class Decided:
    """A verdict on rows outside memory; ``moved``: the rows that the directions of a quasi-separation move.

    ``low`` and ``high`` are the extreme entries of each class and column, (K, d).
    """

    verdict: Verdict
    low: Array
    high: Array
    moved: Moved | None = None


def decide_streamed(rows: Rows, view: View, about: About, targets: AnyArray, reached: Array | None = None) -> Decided:
    """The verdict on rows outside memory, which are read a few times. ``targets``: the value of t in each class.

    In each round decide separability of the rows at hand, in memory; then check in one pass over all rows what the
    verdict says about every row, and take the rows that break it, and those near to it, to hand. It ends when a check
    finds nothing, or undecided after MOST_READS passes.

    A proof that no hyperplane can do something holds for all rows if it holds for some. What a hyperplane does has to
    be checked on all rows. Separable rows at hand propose the hyperplane that keeps furthest from them, since it has
    the fewest of the other rows on the wrong side.

    ``reached``: weights (K, d + 1) that seem to separate the classes. They are proposed first.
    """
    core, tell = first_core(rows, view, targets, list(about.names) or None), watched()
    offsets = Offsets.between(core.low.min(axis=0), core.high.max(axis=0), view.fit_intercept)
    if offsets.c.any():
        core = replace(core, view=replace(view, offsets=offsets.c))
    D = core.differences
    for k in range(2, MOST_READS + 1):
        if tell is not None:
            tell(Part("separability: pass", k, note=f"{len(core.numbers)} rows at hand"))
        near = None if reached is None or k > 2 else D.flat(offsets.nearly(reached))
        verdict = offsets.told(_proposed(core, about, near), D)
        claims = _claims(D, verdict, offsets)
        if isinstance(verdict, Doubtful) or not claims:
            return Decided(_numbered(verdict, core), core.low, core.high)
        checks = _Checks.of(claims, verdict, core.view, D, offsets)
        found = rows.fold(checks.partial)
        if checks.hold(found):
            return checks.decided(found, _numbered(verdict, core), core)
        core = core.with_(checks.chosen(found))
        D = core.differences
    return Decided(Doubtful(UNDECIDED, about.fit_intercept), core.low, core.high)


def _proposed(core: Core, about: About, reached: Array | None) -> Verdict:
    """The verdict on the rows at hand.

    If there are other rows and those at hand are separable, their widest separator is proposed, since it is likely to
    separate the others as well. All rows of a small table are at hand, and ``decide`` is called as in memory.
    """
    D = core.differences
    if reached is not None and np.all(np.isfinite(reached)) and len(D.not_positive(reached)) == 0:
        return Separable.of(D, reached, D.margins(reached), about)
    with one_blas_thread:
        v = None if core.is_whole else widest_separator(D)
    return decide(D, about) if v is None else Separable.of(D, v, D.margins(v), about)


def _claims(D: Differences, verdict: Verdict, offsets: Offsets) -> tuple[RowClaim, ...]:
    """What a verdict on the rows at hand says about every row, without the offsets.

    It is empty if the verdict holds for all rows as it is.
    """
    if isinstance(verdict, Separable):
        v = flattened(D, offsets.exactly(verdict.v))
        return () if v is None else (Positive(v),)
    if isinstance(verdict, QuasiSeparable):
        flat = [flattened(D, offsets.whole(v, 1)) for v in (verdict.direction, *verdict.further)]
        return tuple(NotNegative(v) for v in flat if v is not None)
    if not isinstance(verdict, Inseparable):
        return ()
    signed = D.dense(D.numbers(verdict.rows, verdict.against))
    if not surely_positive(signed, verdict.near):
        complement = across(signed)
        if complement is not None and len(complement.free):
            return (Orthogonal(complement.basis),)
    return ()


def _numbered(verdict: Verdict, core: Core) -> Verdict:
    """The verdict with the numbers of the rows in the table, in place of those among the rows at hand."""
    if isinstance(verdict, Inseparable | QuasiSeparable):
        return replace(verdict, rows=core.numbers[verdict.rows])
    return verdict


@dataclass(frozen=True)
class _SmallestDistance:
    """The smallest distance of a row to the hyperplanes of weights W (K, d + 1)."""

    W: Array
    view: View

    def zero(self) -> float:
        return np.inf

    def add(self, total: float, block: Block) -> float:
        D, numbers = self.view.of(block)
        if len(numbers) == 0:
            return total
        return self.merge(total, smallest_distance(D, self.W, D.margins(np.asarray(D.flat(self.W)))))

    def merge(self, a: float, b: float) -> float:
        return min(a, b)


@dataclass(frozen=True)
class _Checks:
    """The partials of one pass: one for each claim, and one for what the verdict tells about all rows if they hold."""

    broken: tuple[Carried[Any], ...]
    told: _SmallestDistance | DirectionRows | None

    @classmethod
    def of(
        cls, claims: tuple[RowClaim, ...], verdict: Verdict, view: View, D: Differences, offsets: Offsets
    ) -> _Checks:
        most = max(JOINING_ROWS, JOINING_ROWS_PER_DIRECTION * D.width)
        told: _SmallestDistance | DirectionRows | None = None
        if isinstance(verdict, Separable):
            W = np.vstack([np.zeros_like(verdict.v), verdict.v]) if D.K == 2 else verdict.v
            told = _SmallestDistance(offsets.nearly(W), view)
        elif isinstance(verdict, QuasiSeparable):
            told = DirectionRows(tuple(claim.v for claim in claims if isinstance(claim, NotNegative)), view)
        return cls(tuple(Carried(Broken(claim, view, most)) for claim in claims), told)

    @property
    def partial(self) -> Together:
        return Together((*self.broken, *(() if self.told is None else (self.told,))))

    def hold(self, found: list[Any]) -> bool:
        return not any(part.total.n_broken for part in found[: len(self.broken)])

    def chosen(self, found: list[Any]) -> CarriedRows:
        """The rows that join the rows at hand: those that the claims that do not hold have chosen."""
        rows = CarriedRows()
        for carried, part in zip(self.broken, found, strict=False):
            if part.total.n_broken:
                rows = rows.with_(part.rows.only(carried.draw.chosen(part.total)))
        return rows

    def decided(self, found: list[Any], verdict: Verdict, core: Core) -> Decided:
        """The verdict on all rows, with what the pass has found."""
        if isinstance(self.told, DirectionRows) and isinstance(verdict, QuasiSeparable):
            moved = self.told.joined(found[-1])
            verdict = replace(verdict, touching=moved.touching, touching_against=moved.against)
            return Decided(verdict, core.low, core.high, moved)
        if isinstance(verdict, Separable):
            verdict = replace(verdict, margin=found[-1])
        return Decided(verdict, core.low, core.high)
