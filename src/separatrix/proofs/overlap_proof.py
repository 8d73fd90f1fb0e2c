"""Proofs that no hyperplane separates the classes, built from the rows that a linear program proposes.

A proof is a set of rows a_i with λ > 0 and Σ λ_i a_i = 0, so A v ≥ 0 forces a_i·v = 0 on their span. It is tried first
in floating point, with bounds that include all rounding errors, and then in exact arithmetic. ``separability`` extends
the proof by further rows until they span all rows, or until a direction moves all rows outside their span.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.proofs.class_differences import Differences
from separatrix.proofs.dependencies import Across, Dependency, across, joined, positive_dependency
from separatrix.proofs.enclosure import surely_positive
from separatrix.proofs.quasi import directions, outside
from separatrix.proofs.row_working_set import Found, attempts
from separatrix.proofs.together import Spanned, together

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
    proven = _all_at_once(D, found, known)
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


def _all_at_once(D: Differences, found: Found, known: Known | None) -> Known | Enclosed | None:
    """The proof extended by all touching rows at once."""
    if known is None:
        return _first_at_once(D, found)
    group = together(D, found.rows, Spanned(known.N, known.all.rows, known.left))
    return None if group is None else _with(D, group.rows, group.weights, known.first, known)


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
    first = _first(D, found)
    if first is None:
        return None
    has_same_span = len(first.rows) > group.rank
    return _spanned(D, first, first) if has_same_span else _with(D, group.rows, group.weights, first, None)


def _first(D: Differences, found: Found) -> Dependency | None:
    """A small set of rows with an exact positive dependency, so that no v is positive on all of them."""
    for group in candidate_groups(found, D.width + 1):
        weights = positive_dependency(D.dense(group), np.zeros((0, D.width)))
        if weights is not None:
            return Dependency(group, tuple(weights[0]))
    return None


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
    whole = joined(known.all if known else None, group, *weights)
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
