"""Proofs that no hyperplane separates the classes, built from the rows that a linear program proposes.

A proof is a set of rows a_i with λ > 0 and Σ λ_i a_i = 0, so A v ≥ 0 forces a_i·v = 0 on their span. It is tried first
in floating point, with bounds that include all rounding errors, and then in exact arithmetic. ``separability`` extends
the proof by further rows until they span all rows, or until a direction v of quasi-complete separation, A v ≥ 0 and
A v ≠ 0, moves all rows outside their span. Such a v is found in integers and with few columns, and so are all other
causes: sets of columns, each of which separates some rows without the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from separatrix.core.base.arrays import AnyArray, Array, Integers
from separatrix.core.exact_arithmetic import (
    Across,
    Dependency,
    across,
    extended_dependency,
    integers,
    pivots,
    positive_dependency,
    smallest,
    vanishing,
)
from separatrix.core.proofs.class_differences import Differences, chunks
from separatrix.core.proofs.linear_programs import (
    Found,
    attempts,
    balancing,
    complementary,
    fewest,
    in_directions,
    spread,
    surely_positive,
)
from separatrix.core.proofs.naming import over_levels, with_reference_columns
from separatrix.core.rows.block import is_sparse

# --- The direction of quasi-complete separation

# Numbers of bits to which coefficients are rounded. They are tried in turn until v is proven to separate.
COEFFICIENT_BITS = (8, 24, 52)


def rounded(whole: AnyArray) -> Array:
    """Integers divided by the largest, each rounded once to a float.

    >>> rounded(np.array([10**400, -(10**399)], dtype=object)).tolist()
    [1.0, -0.1]
    """
    largest = max((abs(x) for x in whole.ravel()), default=0) or 1
    return np.array([x / largest for x in whole.ravel()], dtype=np.float64).reshape(whole.shape)


def directions(D: Differences, basis: Across) -> Array:
    """The basis in floating point, orthonormal in the units of the columns, (width, q).

    >>> from separatrix.core.exact_arithmetic import across
    >>> D = Differences(np.array([[2.0], [2.0]]), np.array([0, 1]), 2)
    >>> np.abs(directions(D, across(D.dense(np.arange(2))))).round(3).tolist()  # (1, 2)·v = 0, in units of 1 and 2
    [[0.707], [0.354]]
    """
    scaled = np.column_stack([rounded_in(column, D.unit) for column in basis.basis.T])
    Q, _ = np.linalg.qr(scaled)
    return np.asarray(Q / D.unit[:, None])


def rounded_in(whole: AnyArray, unit: Array) -> Array:
    """Integers times units that are powers of two, divided by the largest, so that no entry overflows float64.

    >>> rounded_in(np.array([2, 1], dtype=object), np.array([1.0, 4.0])).tolist()
    [0.5, 1.0]
    """
    exponent = np.frexp(unit)[1]
    least = int(exponent.min())
    shifted = np.array([x << int(e - least) for x, e in zip(whole, exponent, strict=True)], dtype=object)
    return rounded(shifted)


def on(D: Differences, v: AnyArray) -> Integers:
    """The rows with a·v = 0 exactly, for an integer vector v.

    >>> on(Differences(np.array([[3.0], [0.5]]), np.array([0, 1]), 2), np.array([-3, 1], dtype=object)).tolist()
    [0]
    """
    approximate = rounded(v)
    near = np.flatnonzero(np.abs(D.margins(approximate)) <= 2 * D.rounding(approximate))
    kept = [part[vanishing(D.dense(part), v[:, None])] for part in chunks(near)]
    return np.concatenate([np.zeros(0, dtype=np.int64), *kept])


def outside(D: Differences, basis: Across, N: Array, within: Integers, near: float = 1e-9) -> AnyArray:
    """A mask (count,) of the rows that are not in the span of the rows ``within``.

    A row whose score in a random direction orthogonal to the span is clearly nonzero is outside; rows with scores near
    zero are checked exactly. Without rounding, the rows ``within`` would have score zero, so their scores show how
    large rounding errors are.

    >>> from separatrix.core.exact_arithmetic import across
    >>> D = Differences(np.array([[2.0], [2.0], [3.0]]), np.array([0, 1, 1]), 2)
    >>> basis = across(D.dense(np.arange(2)))
    >>> outside(D, basis, directions(D, basis), np.arange(2)).tolist()
    [False, False, True]
    """
    v = N @ np.random.default_rng(0).standard_normal(N.shape[1])
    scores = np.abs(D.margins(v))
    # Scores above a thousand times the largest observed rounding error are accepted as nonzero without an exact check.
    rounding = max(near * float(np.max(np.abs(v) * D.unit)), 1000.0 * float(np.max(scores[within], initial=0.0)))
    away = ~(scores <= rounding)
    close = np.flatnonzero(~away)
    for part in chunks(close):
        away[part] = ~vanishing(D.dense(part), basis.basis)
    return away


def direction_in(D: Differences, basis: Across, v: Array, left: AnyArray) -> AnyArray | None:
    """An integer direction near v, exactly orthogonal to the span and proven positive on the rows ``left``, or None.

    It is a combination of the integer basis of the span's orthogonal complement; its coefficients come from a linear
    program and are rounded to few bits.

    >>> from separatrix.core.exact_arithmetic import across
    >>> D = Differences(np.array([[2.0], [2.0], [3.0]]), np.array([0, 1, 1]), 2)
    >>> basis = across(D.dense(np.arange(2)))
    >>> direction_in(D, basis, np.array([-2.0000001, 1.0]), np.array([False, False, True])).tolist()
    [-2, 1]
    """
    size = np.abs(v) * D.unit
    # Smaller coefficients are rounding errors.
    coefficients = np.where(size > 1e-11 * size.max(), v, 0.0)[basis.free]
    mantissa, exponent = np.frexp(coefficients)
    for digits in COEFFICIENT_BITS:
        kept = np.ldexp(np.round(np.ldexp(mantissa, digits)), exponent - digits)
        whole = basis.basis @ integers(kept[:, None])[:, 0]
        whole = np.array(smallest([int(x) for x in whole]), dtype=object)
        if np.any(whole != 0) and len(D.not_positive(rounded(whole), whole.tolist(), left)) == 0:
            return whole
    return None


def used(W: AnyArray) -> Integers:
    """The columns with a nonzero weight, for weights (K, d + 1).

    >>> used(np.array([[0, 0, 0], [5, 0, 1]])).tolist()
    [1]
    """
    return np.flatnonzero(np.any(W[:, 1:] != 0, axis=0))


def fewest_columns(
    D: Differences, v: AnyArray, rows: Integers, spanning: Integers, again: Callable[[Integers], AnyArray | None]
) -> AnyArray:
    """Weights (K, d + 1) that use a minimal set of columns: none of them can be omitted.

    The columns of the v with minimal Σ |v_j| are tried first, then each column is tried for omission. ``again`` returns
    weights that use only the given columns, or None if there are none.

    >>> D = Differences(np.array([[0.0, 1.0], [1.0, 1.0], [1.0, 1.0]]), np.array([0, 0, 1]), 2)
    >>> touching = np.array([1, 2])
    >>> v = np.array([2, -1, -1], dtype=object)
    >>> fewest_columns(D, v, np.array([0]), touching, lambda columns: None)[1].tolist()  # no other will do
    [2, -1, -1]
    """
    W = D.weights(v)

    def within(columns: Integers) -> bool:
        nonlocal W
        if len(columns) + D.fit_intercept == 0:
            return False
        found = again(columns)
        if found is not None:
            W = np.zeros_like(W)
            W[:, np.concatenate([[0], columns + 1])] = found
        return found is not None

    proposed = fewest(D.take(rows), D.take(spanning), D.unit)
    if proposed is not None:
        few = used(D.weights(proposed))
        if len(few) < len(used(W)):
            within(few)
    # Every trial solves the problem again.
    if len(used(W)) <= 64:
        for j in used(W)[::-1]:
            if j in used(W):
                within(np.setdiff1d(used(W), [j]))
    return W


# --- All touching rows at once: the rows with a·v = 0 for every v with A v ≥ 0

# Marginals are 0 or at least 1, up to the tolerance of the program, so this value tells them apart.
MARGINAL_THRESHOLD = 0.5
# A row with a score above this is moved by v. The tolerance of the programs is 1e-7.
SMALLEST_MOVE = 1e-6
# A row with a score above this in a direction orthogonal to a span is not in that span.
SMALLEST_SCORE_OUTSIDE_SPAN = 1e-9


class DependentRows(NamedTuple):
    """Rows by number, the first ``rank`` of them independent, and λ > 0 that sums them to zero, up to rounding."""

    rows: Integers
    weights: Array
    rank: int


def together(D: Differences, chosen: Integers, known: Known | None = None) -> DependentRows | None:
    """A few touching rows that span all touching rows; None if there are none or a linear program fails.

    A row touches if no v with A v ≥ 0 "moves" it. ``known``: the proof so far, for rows that touch and are not in its
    span. In each round one program on the working set (``complementary``) has s_i = 1 on rows that some v moves, and
    marginals λ_i ≥ 1 on the others, by strict complementarity; then all rows are checked: those that v violates enter,
    and so do those that v does not move, unless rows with λ > 0 span them. It stops when no rows enter.

    The result has at most twice the rank of the touching rows (Steinitz): independent rows, and the rows of a vertex
    that expresses minus their sum. All of this is computed in floating point; only the result is proven. Adding one
    minimal dependency at a time would add only a few rows each: 300 columns of rare categories have 70 minimal
    dependencies. Goldman and Tucker, Theory of linear programming (1956), corollary 2A.

    >>> D = Differences(np.array([[0.0], [1.0], [1.0], [2.0], [1.0]]), np.array([0, 0, 1, 1, 1]), 2)
    >>> together(D, np.arange(5)).rows.tolist()
    [1, 2]
    """
    N, left, before = None, None, np.zeros(0, dtype=np.int64)
    if known is not None:
        N, left, before = known.N, known.left, known.all.rows
    for _ in range(50):  # each round solves one linear program
        found = complementary(in_directions(D, chosen, N))
        if found is None or not np.any(found[1] > MARGINAL_THRESHOLD):
            return None
        v, group = found[0], chosen[found[1] > MARGINAL_THRESHOLD]
        fresh = _coming(D, group, v if N is None else N @ v, left)
        fresh = fresh[~np.isin(fresh, chosen)]
        if len(fresh) == 0:
            return _reduced(D, group, before)
        most = 2 * (D.width if N is None else N.shape[1])  # the rows that are added in a round
        chosen = np.concatenate([chosen, spread(fresh, most)])
    return None


def _coming(D: Differences, group: Integers, v: Array, left: AnyArray | None) -> Integers:
    """The rows that v violates, and those that it does not move although they are not in the span of the group."""
    from scipy.linalg import lstsq

    size = float(np.max(np.abs(v) * D.unit, initial=0.0)) or 1.0
    m = D.margins(v / size)
    A = D.dense(group) / D.unit
    drawn = np.random.default_rng(0).standard_normal(D.width)
    coefficients: Array = lstsq(A.T, drawn, cond=SMALLEST_SCORE_OUTSIDE_SPAN, lapack_driver="gelsy")[0]
    outside_span = np.abs(D.margins((drawn - np.asarray(A.T @ coefficients)) / D.unit))
    across = outside_span > SMALLEST_SCORE_OUTSIDE_SPAN * float(np.abs(drawn).max())
    open_still = (m < -SMALLEST_MOVE) | ((m < SMALLEST_MOVE) & across)
    return np.flatnonzero(open_still if left is None else open_still & left)


def _reduced(D: Differences, group: Integers, before: Integers) -> DependentRows | None:
    """The rows of the group that are needed for the span. The rows known before may have weights of either sign."""
    both = D.dense(np.concatenate([before, group])) / D.unit
    pivot = pivots(both.T)
    own = np.array([j for j in pivot.columns if j >= len(before)], dtype=np.int64)
    if len(own) == 0:  # the span has not grown; or all rows are zero, and a single zero row is a proof
        return None if len(before) else DependentRows(group[:1], np.ones(1), 0)
    more = balancing(both[:, pivot.rows], own, len(before))
    if more is None:
        return None
    # A smaller balancing weight is a rounding error. The rows are scaled to about 1.
    more[more < 1e-9 * more.max(initial=1.0)] = 0.0
    more[: len(before)] = 0.0
    order = np.concatenate([own, np.setdiff1d(np.flatnonzero(more), own)])
    more[own] += 1.0
    return DependentRows(group[order - len(before)], more[order], len(own))


# --- Proofs from the rows that a linear program proposes

# Marginals below one of these shares of the largest are taken to be rounding errors. The shares are tried in turn until
# the exact check passes.
SMALLEST_SHARES = (1e-9, 1e-6, 1e-12)
# Largest number of columns, times the number of classes less one, for which exact proofs and touching rows are searched
# for: 1000 categorical columns take half a minute.
MOST_EXACT_ROWS = 1000
# Limit on the work of exact arithmetic, in columns² × bits, since time grows with both. It admits 600 columns of floats
# (80 bits each), which take about as long (half a minute with the linear programs).
MOST_EXACT_WORK = 600**2 * 600 * 80


@dataclass(frozen=True)
class Known:
    """Rows on which A v ≥ 0 forces a·v = 0, as proven so far.

    ``all`` is the dependency on all of them and ``first`` the first one proven. ``basis`` spans the directions
    orthogonal to them, and N is the same basis in floating point. ``left`` marks the rows outside their span.
    """

    all: Dependency
    first: Dependency
    basis: Across
    N: Array
    left: AnyArray


def proof_from(D: Differences, found: Found, known: Known | None) -> Known | Enclosed | None:
    """A proof from the rows of ``found``: first in floating point, then exactly if affordable; None if both fail."""
    if found.is_proof:
        return Enclosed(found.rows)
    enclosed = None if known else _enclosed(D, found)
    return _proven(D, found, known) if enclosed is None and is_affordable(D) else enclosed


def is_affordable(D: Differences) -> bool:
    """Whether exact arithmetic is affordable. Determinants have no more bits than the columns have in total."""
    return D.width <= MOST_EXACT_ROWS and (D.K - 1) * D.bits * D.width**2 <= MOST_EXACT_WORK


def candidate_groups(found: Found, most: int) -> Iterator[Integers]:
    """Candidate sets of at most ``most`` rows with positive marginals, one for each threshold in SMALLEST_SHARES."""
    for share in SMALLEST_SHARES:
        group = found.rows[found.weights > share * found.weights.max()]
        if len(group) <= most:
            yield group


def _proven(D: Differences, found: Found, known: Known | None) -> Known | Enclosed | None:
    """The proof extended by these rows or by alternatives to them, or rows that prove an overlap by themselves."""
    if known is None:
        proven = _first_at_once(D, found)
    else:
        group = together(D, found.rows, known)
        proven = None if group is None else _with(D, group.rows, group.weights, known.first, known)
    if proven is not None:
        return proven
    for attempt in attempts(D, found, known.N if known else None):
        proven = (None if known else _enclosed(D, attempt)) or _more(D, attempt, known)
        if proven is not None:
            return proven
    return None


class Enclosed(NamedTuple):
    """Rows of full rank with a dependency whose weights are proven positive in floating point."""

    rows: Integers
    near: Array | None = None


def _enclosed(D: Differences, found: Found) -> Enclosed | None:
    groups = candidate_groups(found, D.width + 1)
    return next((Enclosed(group) for group in groups if surely_positive(D.dense(group))), None)


def _first_at_once(D: Differences, found: Found) -> Known | Enclosed | None:
    """The first proof, by all touching rows at once, or only by the first few rows if these have the same span.

    None if the candidate rows already leave at most one direction, since more rows would not help.
    """
    if len(next(candidate_groups(found, D.width + 1), found.rows[:0])) >= D.width:
        return None
    group = together(D, found.rows)
    if group is None:
        return None
    if group.rank == D.width and surely_positive(D.dense(group.rows), group.weights):
        return Enclosed(group.rows, group.weights)
    first = _more(D, found, None)
    if first is None or len(first.all.rows) > group.rank:  # the first few rows have the same span
        return first
    return _with(D, group.rows, group.weights, first.all, None)


def _more(D: Differences, found: Found, known: Known | None) -> Known | None:
    """The proof extended by one of the candidate sets: its rows depend on each other exactly, modulo the known rows."""
    for group in candidate_groups(found, D.width + 1):
        more = _with(D, group, None, known.first if known else None, known)
        if more is not None:
            return more
    return None


def _with(
    D: Differences, group: Integers, near: Array | None, first: Dependency | None, known: Known | None
) -> Known | None:
    """The proof extended by a group of rows that depend on each other modulo the known rows.

    None where they span nothing new: every group must reduce the number of open directions, or the search would not
    end.
    """
    before = D.dense(known.all.rows) if known else np.zeros((0, D.width))
    weights = positive_dependency(D.dense(group), before, near)
    if weights is None:
        return None
    whole = extended_dependency(known.all if known else None, group, *weights)
    extended = _spanned(D, whole, first or whole)
    grows = known is None or extended is None or extended.N.shape[1] < known.N.shape[1]
    return extended if grows else None


def _spanned(D: Differences, whole: Dependency, first: Dependency) -> Known | None:
    basis = across(D.dense(whole.rows))
    if basis is None:
        return None
    if not basis.free:
        return Known(whole, first, basis, np.zeros((D.width, 0)), np.zeros(D.count, dtype=bool))
    N = directions(D, basis)
    return Known(whole, first, basis, N, outside(D, basis, N, whole.rows))


# --- All causes of a quasi-complete separation


def further_directions(
    D: Differences, first: AnyArray, direction: Callable[[Integers], AnyArray | None], names: Sequence[str] = ()
) -> tuple[AnyArray, ...]:
    """Integer directions (K, d + 1) with A v ≥ 0 and A v ≠ 0 that share no column with ``first`` or with each other.

    One pass over the rows finds all single columns that are a cause. In a table with categories, these include the
    levels that occur with one class only; reference levels are tested in the same way, if the names of the columns are
    known. The other causes are searched one at a time: the columns of the causes found so far are removed, and
    separability is decided again.

    Only the direction of a reference level may share columns with the other levels of its category. ``direction``
    returns weights of a direction that uses only the given columns, or None if there is none. ``names`` are the names
    of the columns, if they are known.

    >>> D = Differences(np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), np.array([0, 1, 1, 1]), 2)
    >>> [v.tolist() for v in further_directions(D, np.array([[0, 0, 0], [0, 1, 0]]), lambda columns: None)]
    [[[0, 0, 0], [0, 0, 1]]]
    """
    taken = used(first)
    found = [v for v in single_columns(D) if not np.isin(used(v), taken).any()]
    found += [v for v in reference_levels(D, names) if not np.array_equal(used(v), taken)]
    for _ in range(8):  # each search decides separability again
        left = np.setdiff1d(np.arange(D.X.shape[1]), np.concatenate([taken, *(used(v) for v in found)]))
        W = direction(left) if len(left) else None
        if W is None:
            break
        found.append(W)
    return tuple(found)


def single_columns(D: Differences) -> list[AnyArray]:
    """One integer direction (K, d + 1) for each column that is a cause by itself.

    It is one if for some threshold one class has no value below it and the other classes have none above it.

    >>> D = Differences(np.array([[3.0, 5.0], [3.0, 1.0], [4.0, 2.0]]), np.array([0, 1, 1]), 2)
    >>> [v.tolist() for v in single_columns(D)]
    [[[0, 0, 0], [-3, 1, 0]], [[0, 0, 0], [2, 0, -1]]]
    """
    low, high = extremes(D)
    by_column: dict[int, AnyArray] = {}
    for k in range(D.K) if D.K > 2 else (1,):
        others = np.arange(D.K) != k
        rest_low, rest_high = low[others].min(axis=0), high[others].max(axis=0)
        for sign, inner, outer in ((1, low[k], rest_high), (-1, -high[k], -rest_low)):
            # Multiplied by ``sign``, values of class k are at least ``inner`` and those of the other classes are at
            # most ``outer``.
            apart = (inner >= outer) if D.fit_intercept else (inner >= 0) & (outer <= 0)
            varies = np.maximum(high[k], rest_high) > np.minimum(low[k], rest_low)
            for j in np.flatnonzero(apart & varies).tolist():
                threshold = float(inner[j]) if D.fit_intercept else 0.0
                by_column.setdefault(j, _of_column(D, j, k, sign, threshold))
    return [by_column[j] for j in sorted(by_column)]


def reference_levels(D: Differences, names: Sequence[str]) -> list[AnyArray]:
    """One integer direction (K, d + 1) for each reference level that is a cause by itself.

    >>> D = Differences(np.array([[0.0, 1.0], [0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), np.array([0, 1, 0, 1]), 2)
    >>> [v.tolist() for v in reference_levels(D, ["c=p", "c=q"])]
    [[[0, 0, 0], [1, -1, -1]]]
    """
    reference, columns = with_reference_columns(D, names)
    found = []
    for W in single_columns(reference) if columns else ():
        (j,) = used(W)
        W = over_levels(W[:, [0, j + 1]], columns[j], D.X.shape[1])
        if np.array_equal(W[:, 0], -W[:, columns[j][0] + 1]):  # Only rows of the reference level gain.
            found.append(W)
    return found


def _of_column(D: Differences, j: int, k: int, sign: int, threshold: float) -> AnyArray:
    """sign · x_j − threshold as the score of class k, in integers."""
    W = np.zeros((D.K, D.X.shape[1] + 1), dtype=object)
    W[k, 0], W[k, j + 1] = integers(np.array([[-threshold], [float(sign)]]))[:, 0]
    return W


def extremes(D: Differences) -> tuple[Array, Array]:
    """The smallest and the largest value of each class in each column, both (K, d); infinite for an absent class."""
    low = np.full((D.K, D.X.shape[1]), np.inf)
    high = -low
    for k in np.unique(D.codes).tolist():
        part = D.X[np.flatnonzero(D.codes == k)]
        for ends, extreme in ((low, part.min(axis=0)), (high, part.max(axis=0))):
            ends[k] = np.asarray(extreme.toarray() if is_sparse(extreme) else extreme, dtype=np.float64).ravel()
    return low, high
