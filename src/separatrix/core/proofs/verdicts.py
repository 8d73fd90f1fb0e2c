"""Verdicts on separability: frozen claims, each with the rows or the hyperplane that prove it (docs/tour.md, P7).

``verify`` needs no solver. Sums of the few rows of a proof are computed in integers. The other rows are checked in
floating point against an error bound, and exactly where that is inconclusive. ``verify(X, y, exact=True)`` checks
every row in integers, which takes about half a microsecond per entry (times the classes less one): see ``exact_cost``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

import numpy as np

from separatrix.core.base.arrays import AnyArray, Array, Integers
from separatrix.core.base.codec import ROWS, Whole, array
from separatrix.core.base.errors import ParameterError
from separatrix.core.base.lazy import cached_property
from separatrix.core.base.messages import Message
from separatrix.core.exact_arithmetic import across, positive_dependency, sums_to_zero
from separatrix.core.geometry.hyperplane import Hyperplane
from separatrix.core.proofs.class_differences import Differences
from separatrix.core.proofs.linear_programs import surely_positive
from separatrix.core.proofs.naming import About, causes, listed
from separatrix.core.proofs.overlap import on, rounded, used
from separatrix.core.proofs.row_claims import (
    AskedTable,
    DirectionRows,
    NotNegative,
    Orthogonal,
    Positive,
    are_in,
    flattened,
    moved_rows,
)
from separatrix.core.rows.frame import power_of_two
from separatrix.core.rows.protocol import Together


class VerifiableVerdict(ABC):
    """Base class of the verdicts that make a claim: all except ``Doubtful``."""

    about: About

    def __str__(self) -> str:
        return self.explain()

    @abstractmethod
    def explain(self) -> str:
        """The verdict in words."""

    def verify(self, X: Any, y: Any = None, exact: bool = False) -> bool:
        """Whether the evidence proves the verdict on these rows.

        X is a table with labels y, or a ``scan``, which is read once, or up to three times for a ``QuasiSeparable``.

        Sums of the rows of a proof are computed in integers, or enclosed by bounds that include all rounding errors.
        A margin of another row must exceed its rounding error, or be positive exactly. With ``exact``, every row is
        checked in integers; ``exact_cost(X)`` estimates how long that takes.
        """
        return self._holds(AskedTable.of(X, y, self.about), exact)

    @abstractmethod
    def _holds(self, table: AskedTable, exact: bool) -> bool:
        """Whether the evidence proves the verdict on the rows of a table."""

    @property
    def fit_intercept(self) -> bool:
        return self.about.fit_intercept

    def exact_cost(self, X: Any) -> str:
        """A sentence that estimates how long ``verify(X, y, exact=True)`` takes.

        X : array (n, d), a ``scan``, or a Dask collection, whose rows are counted where they are.
        """
        from separatrix.core.cluster.connection import shape_in_place

        n, d = shape_in_place(X)
        entries = n * (d + self.fit_intercept) * max(1, len(self.about.classes) - 1)
        # A product of a float and a long integer was measured to take half a microsecond.
        return f"{entries:,} entries as whole numbers: about {entries * 5e-7:.2g} s"


# --- The classes are separable


@dataclass(frozen=True)
class Separable(VerifiableVerdict):
    """A v > 0 for all rows. ``v`` is (b, w); for K > 2 classes it has one such row per class.

    ``margin`` is the smallest distance of a row to ``hyperplane``. For K > 2 classes it is the smallest distance of a
    row to the hyperplane between its class and another.

    >>> from separatrix import separability
    >>> print(separability([[0.0], [2.0]], [0, 1]).explain())
    separable: the hyperplane has every row on its own side, the nearest at a distance of 1
    """

    v: Annotated[Array, array("", "", flat=True)]
    margin: float
    about: About

    @classmethod
    def of(cls, D: Differences, v: Array, about: About, m: Array | None = None) -> Separable:
        """The verdict for v (width,), whose margins m (count,) are proven to be positive."""
        W = D.weights(v)
        margin, unit = smallest_distance(D, W, D.margins(v) if m is None else m), np.abs(W).max()
        # Dividing by a power of two is exact, unless the smallest weight underflows.
        W = W / power_of_two(np.array([unit]))[0] if np.abs(W[W != 0]).min() > 1e-280 * unit else W
        return cls(W[1] if D.K == 2 else W, margin, about)

    @classmethod
    def by(cls, D: Differences, v: Array, about: About) -> Separable | None:
        """The verdict for a proposed v (width,), or None if some margin is not proven to be positive."""
        return cls.of(D, v, about) if np.all(np.isfinite(v)) and not len(D.not_positive(v)) else None

    @property
    def hyperplane(self) -> Hyperplane:
        return hyperplane_of(self.v)

    def __bool__(self) -> bool:
        return True

    def _holds(self, table: AskedTable, exact: bool) -> bool:
        v = flattened(table.no_rows, self.v)
        return v is not None and bool(np.all(np.isfinite(v))) and table.satisfies([Positive(v, exact)])

    def explain(self) -> str:
        if self.v.ndim == 1:
            how = "the hyperplane has every row on its own side, the nearest at a distance of"
        else:
            how = "for every row the score of its own class is the largest; the nearest boundary is at a distance of"
        return f"separable: {how} {self.margin:.6g}"


def hyperplane_of(v: Array) -> Hyperplane:
    if v.ndim != 1:
        remedy = "use v: each of its rows is the score of a class, and their differences are hyperplanes"
        raise ParameterError("hyperplane", f"the verdict is about {len(v)} classes", remedy)
    return Hyperplane(v[1:], float(v[0]))


def smallest_distance(D: Differences, W: Array, m: Array) -> float:
    """The smallest distance of a row to its hyperplanes, for weights W of any size with margins m."""
    size = np.abs(W).max()
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        W, m = W / size, m / size
        if D.K == 2:
            return float(m.min() / np.linalg.norm(W[1, 1:]))
        rows, against = D.named(np.arange(D.count))
        lengths = np.linalg.norm(W[:, None, 1:] - W[None, :, 1:], axis=2)
        return float(np.min(m / lengths[D.codes[rows], against]))


# --- No hyperplane separates the classes


@dataclass(frozen=True)
class _Overlapping(VerifiableVerdict):
    """Rows a_i and integers λ > 0 with Σ λ_i a_i = 0. ``against`` has, for each row, the class it is compared with.

    ``signed`` holds the rows a_i, from which λ is computed on first use unless it was ``given``. If λ is not unique,
    ``near`` is an approximate λ from which the exact one is computed.
    """

    rows: Annotated[Integers, ROWS]
    against: Annotated[Integers, ROWS]
    signed: Annotated[Array, array("", "")]
    about: About
    given: Annotated[tuple[int, ...], Whole()] | None
    near: Annotated[Array, array("")] | None

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

    def _rows_in(self, table: AskedTable) -> Array | None:
        """The rows a_i of the proof, as the table has them; None if it does not have them."""
        D, places = table.at(self.rows), np.arange(len(self.rows))
        return D.dense(D.numbers(places, self.against)) if D is not None and are_in(D, places, self.against) else None

    def _balances(self, A: Array) -> bool:
        """Whether λ > 0 sums the rows A to zero."""
        return len(A) == len(self.multipliers) and min(self.multipliers) > 0 and sums_to_zero(A, self.multipliers)


@dataclass(frozen=True)
class Inseparable(_Overlapping):
    """The classes overlap: A v ≥ 0 only where A v = 0, so a maximum likelihood estimate exists.

    ``rows`` (at most twice the rank) span all rows, and Σ λ_i t_i x̄_i = 0 with λ > 0.

    >>> from separatrix import separability
    >>> print(separability([[0.0], [1.0], [2.0]], [0, 1, 0]).explain())
    inseparable: 3 rows prove it (0, 1, 2): with weights λ > 0 their t·(1, x) sum to zero, so no hyperplane has all
    of them on their own sides, and one that has none of them on the wrong side contains them all
    """

    def _holds(self, table: AskedTable, exact: bool) -> bool:
        A = self._rows_in(table)
        if A is None:
            return False
        if self.given is None and not exact and np.array_equal(A, self.signed) and surely_positive(A, self.near):
            return True  # floating point proves the rank of the rows and λ > 0
        complement = across(A) if self._balances(A) else None
        if complement is None:
            return False
        return not complement.free or table.satisfies([Orthogonal(complement.basis, exact)])

    def explain(self) -> Message:
        return Message("inseparable: ", self.proof)

    @cached_property
    def proof(self) -> Message:
        """The proof in words."""
        if len(self.about.classes) > 2:
            end = (
                "so no linear scores are largest for the own class of each of these rows, and scores that are never "
                "lower for the own class are tied"
            )
        else:
            end = (
                "so no hyperplane has all of them on their own sides, and one that has none of them on the wrong side "
                "contains them all"
            )
        return Message(
            listed(self.rows, self.against, self.about), f": with weights λ > 0 {self.about.summing} sum to zero, {end}"
        )


@dataclass(frozen=True)
class QuasiSeparable(_Overlapping):
    """A v ≥ 0 and A v ≠ 0 for ``v`` = (b, w), but no v has A v > 0 (quasi-complete separation).

    ``rows`` (at most the rank plus one) and λ > 0 prove the latter, since λ sums them to zero. ``direction`` is v in
    integers, and ``v`` is ``direction`` rounded to floats. ``touching`` are the rows exactly on its hyperplane; for
    K > 2 classes ``touching_against`` has the classes that tie. ``columns`` are the columns that v uses, none of which
    can be omitted. ``further`` has a direction of the same kind for each other cause. No two share a column, except
    that the direction of a reference level uses all columns of its category.

    >>> from separatrix import separability
    >>> verdict = separability([[0.0], [1.0], [1.0], [2.0]], [0, 0, 1, 1])
    >>> verdict.rows.tolist(), verdict.touching.tolist(), verdict.hyperplane.offset, verdict.direction.tolist()
    ([1, 2], [1, 2], 1.0, [-1, 1])
    """

    direction: Annotated[AnyArray, Whole(array=True)]
    touching: Annotated[Integers, ROWS]
    touching_against: Annotated[Integers, ROWS]
    columns: Annotated[Integers, ROWS]
    further: tuple[Annotated[AnyArray, Whole(array=True)], ...] = ()

    @property
    def causes(self) -> tuple[Integers, ...]:
        """The columns of each direction, which separate some rows without any other column."""
        return (self.columns, *(used(np.atleast_2d(v)) for v in self.further))

    @property
    def directions(self) -> tuple[AnyArray, ...]:
        """The direction of each cause, as integer weights (1 or K, d + 1)."""
        return tuple(np.atleast_2d(v) for v in (self.direction, *self.further))

    @cached_property
    def v(self) -> Array:
        return rounded(self.direction)

    @property
    def hyperplane(self) -> Hyperplane:
        return hyperplane_of(self.v)

    def _holds(self, table: AskedTable, exact: bool) -> bool:
        """Whether λ > 0 sums rows to zero, all directions have A v ≥ 0 and A v ≠ 0, and v touches the named rows."""
        A = self._rows_in(table)
        if A is None or not self._balances(A) or not np.array_equal(used(self.directions[0]), self.columns):
            return False
        flat = [flattened(table.no_rows, v) for v in (self.direction, *self.further)]
        directions = [v for v in flat if v is not None]  # those that fit the columns of the table
        if len(directions) < len(flat) or not table.satisfies([NotNegative(v, exact) for v in directions]):
            return False
        each = [DirectionRows((v,), table.view) for v in directions]
        totals = table.rows.fold(Together(tuple(each)))
        moved = [rows.joined(total) for rows, total in zip(each, totals, strict=True)]
        first = moved[0]
        same = np.array_equal(first.touching, self.touching) and np.array_equal(first.against, self.touching_against)
        return same and all(rows.n_moved for rows in moved)

    def gaining(self, D: Differences) -> AnyArray:
        """A mask of the rows whose likelihood grows along a direction.

        With K classes the margin of a row may stay at zero against one class and grow against another. The row gains
        unless its margin stays at zero against all other classes.
        """
        flat = [v for v in (flattened(D, direction) for direction in self.further) if v is not None]
        tied = [self.touching, *(D.named(on(D, v))[0] for v in flat)]
        return moved_rows(tied, len(D.codes), D.K)

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
        sum_to_zero = f", since with weights λ > 0 {self.about.summing} sum to zero; "
        return Message(where, ": ", listed(self.rows, self.against, self.about), sum_to_zero, causes(self))


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

    def verify(self, X: Any, y: Any = None, exact: bool = False) -> bool:
        """Nothing is claimed, so nothing can be verified."""
        return False

    def explain(self) -> str:
        return f"in doubt: {self.reason}"


Verdict: TypeAlias = Separable | QuasiSeparable | Inseparable | Doubtful
