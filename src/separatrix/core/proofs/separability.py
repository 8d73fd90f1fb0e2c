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
from typing import Any, NamedTuple

import numpy as np

from separatrix.core.base.arrays import AnyArray, Array, Integers
from separatrix.core.base.errors import ParameterError
from separatrix.core.base.labels import encode
from separatrix.core.base.machine import one_blas_thread
from separatrix.core.base.watching import Part, watched
from separatrix.core.cluster import read_in_place
from separatrix.core.exact_arithmetic import Dependency, across, positive_dependency
from separatrix.core.proofs import overlap
from separatrix.core.proofs.class_differences import Differences
from separatrix.core.proofs.coordinates import Coordinates, nearest_entries
from separatrix.core.proofs.linear_programs import Found, search, surely_positive
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
    all_weights,
    flattened,
    rows_for,
)
from separatrix.core.proofs.verdicts import Doubtful, Inseparable, QuasiSeparable, Separable, Verdict, smallest_distance
from separatrix.core.rows.block import Block
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
    outside = isinstance(X, OutsideMemory)
    if outside and y is not None:
        raise ParameterError("y", f"got one together with {X.name}", "name its column: scan(..., target=...)")
    classes, codes = (X.classes, np.zeros(0, dtype=np.int64)) if outside else encode(y)
    K, fit_intercept = len(classes), bool(fit_intercept)
    if K < 2:
        raise ParameterError("y", f"it has {K} class", "give at least two")
    about = About(fit_intercept, classes, column_names(X, names))
    if outside:
        return decide_streamed(X.rows(Coding(signs=K == 2)), View(K, fit_intercept), about).verdict
    rows = rows_for(X, codes)
    if rows.shape[1] + fit_intercept == 0:
        raise ParameterError("X", "it has no columns", "give at least one, or an intercept")
    return decide(Differences(rows, codes, K, fit_intercept), about)


def verdict_on(rows: Rows, fit_intercept: bool = True) -> Verdict:
    """The verdict on rows with targets ±1, in the units of their columns, in memory or elsewhere.

    >>> from separatrix.core.rows.memory_rows import memory_rows
    >>> bool(verdict_on(memory_rows(np.array([[1.0], [2.0]]), np.array([-1.0, 1.0]))))
    True
    """
    about = About(fit_intercept)
    block = rows.resident()
    if block is None:
        return decide_streamed(rows, View(2, fit_intercept), about).verdict
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
        coordinates, moved, outcome = _settled(D, about)
        verdict = outcome.verdict(moved, about) if isinstance(outcome, _Direction) else outcome
        return coordinates.told(verdict, D, moved)


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
    """The outcome on rows in some coordinates, and the differences of these rows."""

    coordinates: Coordinates
    moved: Differences
    outcome: Separable | Inseparable | Doubtful | _Direction


def _settled(D: Differences, about: About) -> _Settled:
    """The outcome with columns near zero or, if that leaves doubt, with most entries of each column near zero."""
    found = _in_coordinates(D, Coordinates.of(D), about)
    if not isinstance(found.outcome, Doubtful):
        return found
    coordinates = Coordinates.of(D, most=True)
    more = np.any(coordinates.c[found.coordinates.c == 0])
    return _in_coordinates(D, coordinates, about) if more else found


def _in_coordinates(D: Differences, coordinates: Coordinates, about: About) -> _Settled:
    moved = coordinates.moved(D)
    return _Settled(coordinates, moved, _decide(moved, about))


def _decide(D: Differences, about: About) -> Separable | Inseparable | Doubtful | _Direction:
    known: overlap.Known | None = None
    while True:
        found = search(D) if known is None else search(D, known.N, known.left)
        if found is None:
            return Doubtful("the linear program could not be solved", about.fit_intercept)
        if found.v is not None:
            if known is None:
                return Separable.of(D, found.v, about, found.m)
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


# --- The rows at hand in a search for a proof over rows outside memory

# Rows of the sample: at most MOST_CORE_ROWS, and at most MOST_CORE_ENTRIES / width, but at least
# SAMPLE_ROWS_PER_DIRECTION for each weight. Tables of 2 000 000 rows of 10 columns then take two or three reads
# (`python -m benchmarks.separability`).
MOST_CORE_ROWS, MOST_CORE_ENTRIES, SAMPLE_ROWS_PER_DIRECTION = 20_000, 4_000_000, 4


@dataclass(frozen=True)
class ClassExtremes:
    """Finds the smallest and the largest entry of each class and column, (2, K, d); infinite without rows."""

    view: View
    n_features: int

    def zero(self) -> Array:
        return np.stack([np.full((self.view.K, self.n_features), end) for end in (np.inf, -np.inf)])

    def add(self, total: Array, block: Block) -> Array:
        D, _ = self.view.of(block)
        return self.merge(total, np.stack(overlap.extremes(D)))

    def merge(self, a: Array, b: Array) -> Array:
        return np.stack([np.minimum(a[0], b[0]), np.maximum(a[1], b[1])])  # NaN replaces what it is compared with


@dataclass(frozen=True)
class Core:
    """The rows at hand, by increasing number, and the extreme entries of all rows, (K, d) each."""

    rows: CarriedRows
    low: Array
    high: Array

    @property
    def numbers(self) -> Integers:
        (numbers,) = self.rows.numbers
        return numbers

    def differences(self, view: View) -> Differences:
        """The class differences of the rows at hand."""
        (block,) = self.rows.parts
        return view.of(block)[0]


def first_core(rows: Rows, view: View, names: list[str] | None) -> Core:
    """The rows at hand after the first pass.

    They are the rows with the lowest hashes, the same number from each class. Raises an error that names the entry if
    one is not finite.
    """
    n_columns = rows.n_features if view.columns is None else len(view.columns)
    width = (view.K - 1) * (n_columns + view.fit_intercept)
    size = max(SAMPLE_ROWS_PER_DIRECTION * width, min(MOST_CORE_ROWS, MOST_CORE_ENTRIES // max(1, width)))
    sample = LowestHashes(size, 0, class_targets(np.arange(view.K), view.K))
    drawn, (low, high) = rows.fold(Together((Carried(sample), ClassExtremes(view, n_columns))))
    held = np.isfinite(low).any(axis=1) | np.isfinite(high).any(axis=1) | np.isnan(low).any(axis=1)
    if not (np.isfinite(low[held]).all() and np.isfinite(high[held]).all()):
        refuse_not_finite(rows, names)
    return Core(drawn.rows.only(sample.chosen(drawn.total)).joined(), low, high)


# --- The decision for rows outside memory

# Limit on passes over all rows, several times what any table of that benchmark takes.
MOST_READS = 20
# The rows of each class with the smallest margins join the rows in memory in each round: JOINING_ROWS of them, or
# JOINING_ROWS_PER_DIRECTION for each direction if that is more.
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


def decide_streamed(rows: Rows, view: View, about: About, reached: Array | None = None) -> Decided:
    """The verdict on rows outside memory, with the targets of ``class_targets``, which are read a few times.

    In each round decide separability of the rows at hand, in memory; then check in one pass over all rows what the
    verdict says about every row, and take the rows that break it, and those near to it, to hand. It ends when a check
    finds nothing, or undecided after MOST_READS passes.

    A proof that no hyperplane can do something holds for all rows if it holds for some. What a hyperplane does has to
    be checked on all rows.

    ``reached``: weights (K, d + 1) that seem to separate the classes. They are proposed first.
    """
    core, tell = first_core(rows, view, list(about.names) or None), watched()
    low, high = core.low.min(axis=0), core.high.max(axis=0)
    c = nearest_entries(low, high) if view.fit_intercept else np.zeros_like(low)
    coordinates = Coordinates(c, np.zeros(len(c), dtype=np.int64))
    seen = replace(view, offsets=c) if c.any() else view
    for k in range(2, MOST_READS + 1):
        if tell is not None:
            tell(Part("separability: pass", k, note=f"{len(core.numbers)} rows at hand"))
        D = core.differences(seen)
        near = None if reached is None or k > 2 else D.flat(coordinates.rounded(reached, back=False))
        proposed = None if near is None else Separable.by(D, near, about)
        verdict = coordinates.told(decide(D, about) if proposed is None else proposed, core.differences(view), D)
        claims = _claims(D, verdict, coordinates)
        if isinstance(verdict, Doubtful) or not claims:
            return Decided(_numbered(verdict, core), core.low, core.high)
        most = max(JOINING_ROWS, JOINING_ROWS_PER_DIRECTION * D.width)
        checks = [Carried(Broken(claim, seen, most)) for claim in claims]
        told = _telling(verdict, claims, seen, coordinates)
        *found, tale = rows.fold(Together((*checks, told)))
        broken = [(check, part) for check, part in zip(checks, found, strict=True) if part.total.n_broken]
        if not broken:
            return _decided(_numbered(verdict, core), core, told, tale)
        for check, part in broken:
            more = part.rows.only(check.draw.chosen(part.total))
            core = replace(core, rows=core.rows.with_(more).joined())
    return Decided(Doubtful(UNDECIDED, about.fit_intercept), core.low, core.high)


def _claims(D: Differences, verdict: Verdict, coordinates: Coordinates) -> tuple[RowClaim, ...]:
    """What a verdict on the rows at hand says about every row, in these coordinates.

    It is empty if the verdict holds for all rows as it is.
    """
    if isinstance(verdict, Separable):
        v = flattened(D, coordinates.exactly(verdict.v, back=False))
        return () if v is None else (Positive(v),)
    if isinstance(verdict, QuasiSeparable):
        flat = [flattened(D, coordinates.whole(v, back=False)) for v in (verdict.direction, *verdict.further)]
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


def _telling(
    verdict: Verdict, claims: tuple[RowClaim, ...], view: View, coordinates: Coordinates
) -> _SmallestDistance | DirectionRows:
    """The partial of what the verdict tells about all rows if its claims hold."""
    if isinstance(verdict, Separable):
        return _SmallestDistance(coordinates.rounded(all_weights(verdict.v, view.K), back=False), view)
    return DirectionRows(tuple(claim.v for claim in claims if isinstance(claim, NotNegative)), view)


def _decided(verdict: Verdict, core: Core, told: _SmallestDistance | DirectionRows, tale: Any) -> Decided:
    """The verdict on all rows, with what the pass has told about them."""
    moved = None
    if isinstance(verdict, Separable):
        verdict = replace(verdict, margin=tale)
    elif isinstance(verdict, QuasiSeparable) and isinstance(told, DirectionRows):
        moved = told.joined(tale)
        verdict = replace(verdict, touching=moved.touching, touching_against=moved.against)
    return Decided(verdict, core.low, core.high, moved)
