r"""Decides separability of rows outside memory in a few passes, with the same proofs as for rows in memory.

    given      rows that are read again in every pass
    each round decide separability of the rows at hand (``core_rows``), in memory; then check in one pass over all rows
               what the verdict says about every row, and take the rows that break it, and those near to it, to hand
    returns    a verdict on all rows
    ends       when a check finds nothing, or undecided after MOST_READS passes

A proof that no hyperplane can do something holds for all rows if it holds for some. What a hyperplane does has to be
checked on all rows (``row_claims``). Separable rows at hand propose the hyperplane that keeps furthest from them
(``widest_separator``), since it has the fewest of the other rows on the wrong side.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray, Array
from separatrix.base.concurrency import one_blas_thread
from separatrix.base.watching import Part, watched
from separatrix.proofs.asked_rows import flattened
from separatrix.proofs.class_differences import Differences
from separatrix.proofs.core_rows import Core, first_core
from separatrix.proofs.deciding import decide
from separatrix.proofs.dependencies import across
from separatrix.proofs.direction_rows import DirectionRows, Moved
from separatrix.proofs.enclosure import surely_positive
from separatrix.proofs.naming import About
from separatrix.proofs.offsets import Offsets
from separatrix.proofs.row_claims import Broken, NotNegative, Orthogonal, Positive, RowClaim, View
from separatrix.proofs.separable import smallest_distance
from separatrix.proofs.verdicts import Doubtful, Inseparable, QuasiSeparable, Separable, Verdict
from separatrix.proofs.widest_separator import widest_separator
from separatrix.rows import Block, Rows
from separatrix.rows.carried import Carried, CarriedRows
from separatrix.rows.protocol import Together

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
    """The verdict on rows outside memory. ``targets``: the value of t in each class.

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
