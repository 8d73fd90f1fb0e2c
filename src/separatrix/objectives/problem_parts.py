"""The parts of a problem, and its copies with other parts, which keep every cached statistic that still holds.

A problem is immutable: whoever holds one can rely on it. ``with_`` makes a changed copy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NoReturn, Self

import numpy as np

from separatrix.base.arrays import AnyArray, Array, any_true
from separatrix.base.messages import ColumnName
from separatrix.losses import Loss
from separatrix.objectives.limiting_columns import column_name
from separatrix.objectives.penalty import Penalty
from separatrix.objectives.statistic import Part, Statistic, depends_on
from separatrix.rows import Frame, Rows


class ProblemParts:
    """Rows, loss, penalty and pinned columns, with a cache of statistics.

    ``statistics``: all statistics of the class and its bases, by name. `Objective` describes the parts.
    """

    statistics: ClassVar[dict[str, Statistic[Any]]] = {}

    rows: Rows
    loss: Loss
    penalty: Penalty
    n_classes: int
    fit_intercept: bool
    pinned: AnyArray
    n_offsets: int
    names: list[str] | None
    weight_unit: float
    standard: Self | None
    _passes_before: int

    def __init_subclass__(cls) -> None:
        members = [item for base in reversed(cls.__mro__) for item in vars(base).items()]
        cls.statistics = {name: value for name, value in members if isinstance(value, Statistic)}

    def __init__(
        self,
        rows: Rows,
        loss: Loss,
        penalty: Penalty,
        n_classes: int = 2,
        fit_intercept: bool = True,
        *,
        pinned: AnyArray | None = None,
        n_offsets: int = 0,
        names: list[str] | None = None,
        weight_unit: float = 1.0,
        standard: Self | None = None,
        known: Mapping[str, Any] | None = None,
        passes_before: int = 0,
    ) -> None:
        if pinned is None:
            pinned = np.zeros(rows.n_features + 1, dtype=bool)
            pinned[0] = not fit_intercept
            pinned[rows.n_features + 1 - n_offsets :] = True
        # This bypasses ``__setattr__``, which refuses every assignment, since problems are shared.
        vars(self).update(
            rows=rows,
            loss=loss,
            penalty=penalty,
            n_classes=n_classes,
            fit_intercept=fit_intercept,
            pinned=pinned,
            n_offsets=n_offsets,
            names=names,
            weight_unit=weight_unit,
            standard=standard,
            _passes_before=passes_before,
        )
        if known:
            if not self.statistics.keys() >= known.keys():
                raise TypeError(f"not statistics of an objective: {sorted(known.keys() - self.statistics.keys())}")
            vars(self).update(known)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"an Objective does not change: use with_(...) for one with another {name}")

    def with_(
        self,
        *,
        rows: Rows | None = None,
        frame: Frame | None = None,
        penalty: Penalty | None = None,
        pinned: AnyArray | None = None,
        loss: Loss | None = None,
        known: Mapping[str, Any] | None = None,
        count_anew: bool = False,
    ) -> Self:
        """A copy with other parts that keeps every cached statistic that does not depend on them.

        ``loss``: another loss of the same targets.
        ``known``: statistics of the new problem that are already known. ``count_anew``: its passes are counted from 0.

        >>> import numpy as np
        >>> from separatrix.losses import LOSSES
        >>> from separatrix.objectives.problem import Objective
        >>> from separatrix.rows import memory_rows
        >>> rows = memory_rows(np.array([[0.0], [1.0]]), np.array([-1.0, 1.0]))
        >>> weak = Objective(rows, LOSSES["logistic"], Penalty(1.0, np.ones(1)))
        >>> float(weak.with_(penalty=weak.penalty.times(4.0)).root_penalty[1] / weak.root_penalty[1])
        2.0
        """
        given: dict[Part, Any] = {"rows": rows, "frame": frame, "penalty": penalty, "pinned": pinned, "loss": loss}
        changes = {part: value for part, value in given.items() if value is not None}
        parts = {"rows": self.rows, "loss": self.loss, "penalty": self.penalty, "pinned": self.pinned, **changes}
        of = parts["rows"] if frame is None else parts["rows"].seen_through(frame)
        if count_anew:
            passes_before = of.counter.passes
        else:
            passes_before = self._passes_before if rows is None else 0
        return type(self)(
            of,
            parts["loss"],
            parts["penalty"],
            self.n_classes,
            self.fit_intercept,
            pinned=parts["pinned"],
            n_offsets=self.n_offsets,
            names=self.names,
            weight_unit=self.weight_unit,
            standard=self._changed_standard(changes),
            known={**self._still_known(changes), **(known or {})},
            passes_before=passes_before,
        )

    def _changed_standard(self, changes: Mapping[Part, Any]) -> Self | None:
        """``standard`` with these changes; None for other rows, whose standard coordinates are not known."""
        if self.standard is None or "rows" in changes:
            return None
        others = {part: value for part, value in changes.items() if part != "frame"}
        return self.standard.with_(**others) if others else self.standard

    def _still_known(self, changes: Mapping[Part, Any]) -> dict[str, Any]:
        """The cached statistics that hold after these changes, by name."""
        changed, pinned = frozenset(changes), changes.get("pinned")
        more_pinned = pinned if pinned is not None and np.all(pinned[self.pinned]) else None
        kept = {}
        for name, value in vars(self).copy().items():  # a copy, because other threads may be adding statistics
            statistic = self.statistics.get(name)
            if statistic is not None and (still := statistic.kept(value, changed, more_pinned)) is not None:
                kept[name] = still[0]
        return kept

    def knows(self, statistic: str) -> bool:
        """Whether the statistic of this name is already cached."""
        return statistic in vars(self)

    @property
    def passes(self) -> int:
        """The number of passes over the rows so far, for any purpose."""
        return self.rows.counter.passes - self._passes_before

    @depends_on("rows")
    def shape(self) -> tuple[int, int]:
        """Of W: (K or 1, d + 1)."""
        return (self.n_classes if self.loss.traits.multiclass else 1, self.rows.n_features + 1)

    @depends_on("rows")
    def size(self) -> int:
        return self.shape[0] * self.shape[1]

    @depends_on("rows", "pinned")
    def n_free(self) -> int:
        """The number of weights that are fitted: all but the pinned ones."""
        return self.shape[0] * int(np.count_nonzero(~self.pinned))

    def column_name(self, j: int) -> ColumnName:
        """Column j ≥ 1 of W in messages: by its name, or by its number if it has none."""
        return column_name(j - 1, self.names)

    @depends_on("pinned")
    def has_pinned(self) -> bool:
        """Whether any column of W is pinned."""
        return any_true(self.pinned)

    def without_pinned(self, gradient: Array) -> Array:
        """Set the gradient to zero in pinned columns, in place, and return it."""
        if self.has_pinned:
            gradient[:, self.pinned] = 0.0
        return gradient
