"""What a solver did: the objective at every iteration, or how far above the proven minimum it still was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, Self, final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from separatrix.base.arrays import Array
from separatrix.base.errors import ParameterError
from separatrix.plots import legends
from separatrix.plots.display import Display, last_step
from separatrix.plots.style import Theme, plain

# Runs drawn at most; a run of so few iterations has a point at each.
MOST_RUNS, FEW = 8, 60
# An objective that moves by less than this share of itself is level.
LEVEL = 1e-6


class Run(NamedTuple):
    """One search: its name, iterations and objectives, and a number below which the objective cannot go, or None.

    ``measure``: what the values are, as the axis names it.
    """

    name: str
    iteration: Array
    value: Array
    floor: float | None
    measure: str = "objective"


@final
@dataclass(eq=False)
class LossDisplay(Display):
    """E at every iteration of a fit; several searches (K classes) are several curves.

    Of a walk that spared the cost after each epoch (a perceptron on a large table), the mean cost of the rows as each
    epoch met them is drawn, and the axis says so.

    With ``gap``, E less the lower bound that the certificate proves, on a logarithmic axis: the true distance to the
    minimum is at most that.

    >>> from matplotlib.figure import Figure
    >>> from separatrix import LogisticRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    >>> shown = LossDisplay.from_estimator(LogisticRegression().fit(X, y), ax=Figure().subplots())
    >>> len(shown.runs), bool(shown.runs[0].value[0] > shown.runs[0].value[-1])
    (1, True)
    """

    runs: Sequence[Run]
    gap: bool = False

    @classmethod
    def from_estimator(cls, model: Any, X: Any = None, y: Any = None, *, gap: bool = False, ax: Any = None) -> Self:
        """From a fitted classifier that was found by iterations, or a pipeline that ends in one; no rows are needed."""
        return cls(runs_of(last_step(model)), gap).plot(ax)

    @property
    def size(self) -> tuple[float, float]:
        named = [plain(run.name, 18) for run in self.runs[:MOST_RUNS]] if len(self.runs) > 1 else []
        return 4.6, 3.1 + legends.height(named, 4.6)

    def _draw(self, ax: Axes, theme: Theme) -> None:
        for k, run in enumerate(self.runs[:MOST_RUNS]):
            value = run.value
            if self.gap:
                if run.floor is None:
                    continue
                value = np.maximum(value - run.floor, np.finfo(np.float64).tiny)
            look = {"marker": "o", "markersize": 3.5} if len(value) <= FEW else {}
            ax.plot(run.iteration, value, color=theme.of_class(k), label=plain(run.name, 18), **look)  # type: ignore[arg-type]
        ax.set_xlabel("iteration")
        ax.set_ylabel(
            "proven gap to the minimum" if self.gap else ", ".join(sorted({run.measure for run in self.runs}))
        )
        ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=8))
        self._scale(ax)
        if all(len(run.value) == 1 for run in self.runs):
            ax.text(0.5, 0.9, "the search ended where it began", transform=ax.transAxes, ha="center", color=theme.muted)
        ax.grid(True)
        if len(self.runs) > 1:
            legends.below(ax)

    def _scale(self, ax: Axes) -> None:
        """Whole powers of ten for a gap; of an objective that hardly moves, an axis that shows it level."""
        low, high = ax.dataLim.intervaly
        if self.gap:
            ax.set_yscale("log")
            ax.set_ylim(10.0 ** np.floor(np.log10(low)) / 2, 10.0 ** np.ceil(np.log10(high)) * 2)
            return
        ax.ticklabel_format(axis="y", useOffset=False)
        if high - low <= LEVEL * abs(high):
            room = 0.1 * abs(high) or 1.0
            ax.set_ylim(high - room, high + room)


def runs_of(model: Any) -> list[Run]:
    """The searches behind a fitted model, one for each class or part where there are several.

    >>> from separatrix import LogisticRegression
    >>> [run.name for run in runs_of(LogisticRegression().fit([[0.0], [1.0], [2.0]], [0, 1, 0]))]
    ['objective']
    """
    parts = getattr(model, "estimators_", None)
    if parts is not None and all(hasattr(part, "trace_") for part in parts):
        found = [run for part in parts for run in runs_of(part)]
        if len(found) == len(parts) > 1:
            return [run._replace(name=f"model {k + 1}") for k, run in enumerate(found)]
        return found
    if not getattr(model, "trace_", ()):
        came = f"{type(model).__name__} was not found by iterations"
        raise ParameterError("model", came, "give a fitted classifier with a trace_, such as LogisticRegression")
    records, measure = _measured(model.trace_)
    starts = [k for k in range(1, len(records)) if records[k].iteration <= records[k - 1].iteration]
    cuts = [0, *starts, len(records)]
    pieces = [records[a:b] for a, b in pairwise(cuts) if b > a]
    labels = np.asarray(model.classes_).tolist()
    several = len(pieces) == len(labels) > 1
    found = []
    for k, piece in enumerate(pieces):
        iteration, value = (np.array([getattr(r, name) for r in piece], float) for name in ("iteration", "value"))
        bound = getattr(getattr(model, "certificate_", None), "bound", None) if len(pieces) == 1 else None
        floor = None if bound is None else float(model.certificate_.objective - bound)
        found.append(Run(str(labels[k]) if several else "objective", iteration, value, floor, measure))
    return found


def _measured(trace: Sequence[Any]) -> tuple[list[Any], str]:
    """The records with a value, and what it is: the objective, or what was met on the way where most have no other."""
    known = [record for record in trace if np.isfinite(record.value)]
    met = [record for record in trace if record.met is not None]
    if 2 * len(known) >= len(trace) or not met:
        return known, "objective"
    return [record._replace(value=record.met) for record in met], "mean cost of rows as the epoch met them"
