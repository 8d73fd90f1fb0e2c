r"""Distinguishes directions on which E does not depend from directions that float64 cannot resolve.

``Subspace`` keeps the directions of W that float64 resolves: those along which the columns, each scaled to length one,
have a singular value above rounding. A direction v outside of it is *null* if x̄_i·v = 0 exactly for every row: then E
is constant along v, and leaving v out changes nothing. Otherwise v is *unresolved*: the rows differ along it by less
than the rounding of their own entries, and a likelihood without a penalty may still increase along it; it may even
separate the classes. Two columns that differ only in their last bits have such a direction.

**The statement.** Let w be the number of columns of W that are neither pinned nor held by a penalty, r how many
directions of them are resolved, and q = w − r. If q independent directions are null, then the resolved directions and
the null ones together span all directions: no direction v ≠ 0 in the span of the resolved ones is null, since its
curvature is above rounding. So the minimum of E over the resolved directions is the minimum of E, whatever the rounding
errors of the bases; only the number q counts.

**The method.** A float64 is a whole number times a power of two, so rows have residues modulo a prime p, and the rank
of the residues is never above that of the rows (``modular``). Random combinations of all rows modulo p, one for each
tested column, have that rank except with probability about 1/p. Only columns that take part in the directions outside
are tested: if some columns have q independent null directions, so have all columns together. New primes are drawn for
each test, so no data can be constructed to defeat them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.base.modular import MOST_TERMS, drawn_prime, eliminated, product, residues
from separatrix.base.pieces import pieces
from separatrix.objectives.subspace import Subspace
from separatrix.rows import Block, Rows, number_of_rows
from separatrix.rows.csr import is_sparse

# A column takes part in a direction if its coefficient exceeds this share of the largest one. If a column that takes
# part is left out, fewer null directions are found, so a proof may fail but never succeed wrongly.
SMALLEST_SHARE_TAKING_PART = 1e-9
# The number of primes for each rank: the rank is too low only if all of them divide every largest minor.
PRIMES_PER_RANK = 2
# At most this many directions are tested one by one, since each takes a pass.
MOST_SEPARATE_DIRECTIONS = 16


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

    >>> from separatrix.rows import memory_rows
    >>> rows = memory_rows(np.array([[1.0, 2.0, 0.1], [2.0, 4.0, 0.3], [3.0, 6.0, 0.2]]), np.ones(3))
    >>> nullity(rows, np.array([1, 2])), nullity(rows, np.array([0, 1, 3]))
    (1, 0)
    """
    primes = tuple(drawn_prime() for _ in range(PRIMES_PER_RANK))
    mixed = rows.fold(MixedResidues(columns, primes))
    return len(columns) - max(len(eliminated(R, p).columns) for R, p in zip(mixed, primes, strict=True))


def _outside(space: Subspace, pinned: Any) -> Array:
    """A basis (q, d + 1) of the directions outside, each with a column that no other uses; zero in pinned columns."""
    from scipy.linalg import qr, solve

    if space.Z is None:
        return np.zeros((0, len(pinned)))
    own = ~pinned
    V = np.linalg.svd(space.Z[own], full_matrices=True)[0][:, space.Z.shape[1] :].T
    basis = np.zeros((len(V), len(pinned)))
    if len(V):
        alone = qr(V, mode="r", pivoting=True)[1][: len(V)]
        basis[:, own] = solve(V[:, alone], V)
    return basis


def unresolved(rows: Rows, space: Subspace, pinned: Any, held: Any) -> tuple[int, ...]:
    """The columns of W that take part in unresolved directions; empty if all directions outside are null.

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
    return () if others_null else _not_null(rows, space, pinned, held)


def _not_null(rows: Rows, space: Subspace, pinned: Any, held: Any) -> tuple[int, ...]:
    """``unresolved`` if not all directions outside are null."""
    candidates = left_out(rows, space, pinned, held)
    assert candidates is not None, "where no direction is left out, all of them are null"
    asked = candidates.each[:MOST_SEPARATE_DIRECTIONS]
    open_still = [columns for columns in asked if not _null(rows, np.setdiff1d(columns, np.flatnonzero(held)), 1)]
    return tuple(np.unique(np.concatenate(open_still or candidates.each)).tolist())


def all_null(rows: Rows, space: Subspace, pinned: Any, held: Any) -> bool:
    """Whether all directions outside are null, in one pass; arguments as those of ``unresolved``.

    >>> from separatrix.rows import memory_rows
    >>> rows = memory_rows(np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0], [5.0, 10.0]]), np.ones(4))
    >>> space, none = Subspace(None, np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 2.0]]), 2), np.zeros(3, dtype=bool)
    >>> all_null(rows, space, none, none)
    True
    """
    candidates = left_out(rows, space, pinned, held)
    return candidates is None or _null(rows, candidates.together, len(candidates.each))


class LeftOut(NamedTuple):
    """The directions outside, by the columns of W that take part in them.

    ``each``: the columns of each direction. ``together``: all columns that may take part in a null direction.
    """

    together: Integers
    each: list[Integers]


def left_out(rows: Rows, space: Subspace, pinned: Any, held: Any) -> LeftOut | None:
    """The columns that take part in the directions outside; None if there are none or all of them must be null.

    The number of resolved directions is at most the number of rows and penalties. If it equals that, every other
    direction is null. A fitted intercept always takes part: it compensates for the rounding of the centres.
    """
    basis = _outside(space, pinned)
    most = number_of_rows(rows) + int(np.count_nonzero(held))
    if not len(basis) or space.rank >= most:
        return None
    takes_part = np.abs(basis) > SMALLEST_SHARE_TAKING_PART * np.abs(basis).max(axis=1, keepdims=True)
    takes_part[:, 0] = not pinned[0]
    return LeftOut(np.flatnonzero(takes_part.any(axis=0) & ~held), [np.flatnonzero(own) for own in takes_part])


def _null(rows: Rows, columns: Integers, count: int) -> bool:
    return len(columns) > 0 and nullity(rows, columns) >= count
