"""A plot of the objective at every iteration of a solver, or of the proven gap to its minimum."""

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

# Largest number of curves in a plot.
MOST_RUNS = 8
# Largest number of iterations for which each one is marked by a point.
MOST_MARKED_ITERATIONS = 60
# An objective that changes by less than this share of itself is drawn as a level line in the middle of the axis.
SMALLEST_SHOWN_CHANGE = 1e-6


class Run(NamedTuple):
    """The curve of one search: name, iterations, objectives, and a proven lower bound on the objective or None.

    ``measure``: the label of the axis.
    """

    name: str
    iteration: Array
    value: Array
    floor: float | None
    measure: str = "objective"


@final
@dataclass(eq=False)
class LossDisplay(Display):
    """The objective at every iteration of a fit. A fit of several searches, one for each class, has several curves.

    A perceptron on a large table does not compute its cost after each epoch. Then the mean cost that the rows had when
    the epoch reached them is drawn, and the label of the axis says so.

    Parameters
    ----------
    runs : list of Run
        The curves.
    gap : bool, default False
        Draw the objective minus its proven lower bound, on a logarithmic axis. The true distance to the minimum is at
        most that.

    Examples
    --------
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
        """Draw the objective at every iteration of a fit.

        Parameters
        ----------
        model : estimator
            A fitted classifier with a ``trace_``, or a pipeline that ends in one.
        X, y : any
            Ignored; the model holds all numbers.
        gap : bool, default False
            Draw the proven gap to the minimum.
        ax : matplotlib Axes or None
            Where to draw; by default on a new figure of pyplot.

        Returns
        -------
        LossDisplay
        """
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
            look = {"marker": "o", "markersize": 3.5} if len(value) <= MOST_MARKED_ITERATIONS else {}
            ax.plot(run.iteration, value, color=theme.of_class(k), label=plain(run.name, 18), **look)  # type: ignore[arg-type]
        ax.set_xlabel("iteration")
        ax.set_ylabel(
            "proven gap to the minimum" if self.gap else ", ".join(sorted({run.measure for run in self.runs}))
        )
        ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=8))
        self._scale(ax)
        if all(len(run.value) == 1 for run in self.runs):
            sentence = "the search ended where it began"
            ax.text(0.5, 0.9, sentence, transform=ax.transAxes, ha="center", color=theme.muted)
        ax.grid(True)
        if len(self.runs) > 1:
            legends.below(ax)

    def _scale(self, ax: Axes) -> None:
        """For a gap, an axis that ends near powers of ten; for an objective that hardly changes, a wide axis."""
        low, high = ax.dataLim.intervaly
        if self.gap:
            ax.set_yscale("log")
            ax.set_ylim(10.0 ** np.floor(np.log10(low)) / 2, 10.0 ** np.ceil(np.log10(high)) * 2)
            return
        ax.ticklabel_format(axis="y", useOffset=False)
        if high - low <= SMALLEST_SHOWN_CHANGE * abs(high):
            room = 0.1 * abs(high) or 1.0
            ax.set_ylim(high - room, high + room)


def runs_of(model: Any) -> list[Run]:
    """The curves of a fitted model, one for each search.

    >>> from separatrix import LogisticRegression
    >>> [run.name for run in runs_of(LogisticRegression().fit([[0.0], [1.0], [2.0]], [0, 1, 0]))]
    ['objective']
    """
    parts = getattr(model, "estimators_", None)
    if parts is not None and all(hasattr(part, "trace_") for part in parts):
        runs = [run for part in parts for run in runs_of(part)]
        if len(runs) == len(parts) > 1:
            return [run._replace(name=f"model {k + 1}") for k, run in enumerate(runs)]
        return runs
    if not getattr(model, "trace_", ()):
        came = f"{type(model).__name__} was not fitted by iterations, so there is no curve"
        raise ParameterError("model", came, "give a fitted classifier with a trace_, such as LogisticRegression")
    records, measure = _measured(model.trace_)
    searches = _searches(records)
    labels = np.asarray(model.classes_).tolist()
    names = [str(label) for label in labels] if len(searches) == len(labels) > 1 else ["objective"] * len(searches)
    floor = _lower_bound(model) if len(searches) == 1 else None
    return [
        Run(name, _values(search, "iteration"), _values(search, "value"), floor, measure)
        for name, search in zip(names, searches, strict=True)
    ]


def _searches(records: list[Any]) -> list[list[Any]]:
    """The records of each search; a new search begins where the number of the iteration does not increase."""
    starts = [k for k in range(1, len(records)) if records[k].iteration <= records[k - 1].iteration]
    return [records[a:b] for a, b in pairwise([0, *starts, len(records)]) if b > a]


def _values(records: list[Any], name: str) -> Array:
    return np.array([getattr(record, name) for record in records], float)


def _lower_bound(model: Any) -> float | None:
    """The proven lower bound on the objective, None if the certificate has none."""
    certificate = getattr(model, "certificate_", None)
    if certificate is None or certificate.bound is None:
        return None
    return float(certificate.objective - certificate.bound)


def _measured(trace: Sequence[Any]) -> tuple[list[Any], str]:
    """The records with a value, and its name: the objective, or the mean cost during the epoch if most lack it."""
    known = [record for record in trace if np.isfinite(record.value)]
    met = [record for record in trace if record.met is not None]
    if 2 * len(known) >= len(trace) or not met:
        return known, "objective"
    return [record._replace(value=record.met) for record in met], "mean cost of rows during the epoch"
