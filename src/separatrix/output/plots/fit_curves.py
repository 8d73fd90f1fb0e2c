"""Plots of a fit: the objective, or its proven gap to the minimum, by iteration, and how C was chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, Self, final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, NullFormatter

from separatrix.core.base.arrays import Array
from separatrix.core.base.errors import ParameterError
from separatrix.core.base.messages import number_text
from separatrix.core.penalty import PenaltyChoice
from separatrix.output.plots.display import STRONG, THIN, TICK_MULTIPLES, Display, last_step, plain, shortened
from separatrix.output.theme import BAND, Theme

# --- The objective by iteration

# The largest number of curves in a plot; further curves are not drawn.
MOST_RUNS = 8
# Curves with at most this many iterations have a marker at each iteration.
MOST_MARKED_ITERATIONS = 60
# If the relative change of the objective is at most this, it is drawn as a horizontal line in the middle of the axis.
SMALLEST_SHOWN_CHANGE = 1e-6


class RunCurve(NamedTuple):
    """The curve of one solver run: name, iterations, objectives, and a proven lower bound on the objective or None.

    ``measure`` is the label of the y-axis.
    """

    name: str
    iteration: Array
    value: Array
    floor: float | None
    measure: str = "objective"


@final
@dataclass(eq=False)
class LossDisplay(Display):
    """The objective at every iteration of a fit. With one solver run per class there is one curve per class.

    A perceptron on a large table does not compute its cost after each epoch. The plot then shows the mean over the
    epoch of the cost that each row had when it was visited, and the axis label says so.

    Parameters
    ----------
    runs : list of Run
        The curves.
    gap : bool, default False
        Draw the objective minus its proven lower bound on a logarithmic axis. This is an upper bound on the true
        distance to the minimum.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from separatrix import LogisticRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    >>> shown = LossDisplay.from_estimator(LogisticRegression().fit(X, y), ax=Figure().subplots())
    >>> len(shown.runs), bool(shown.runs[0].value[0] > shown.runs[0].value[-1])
    (1, True)
    """

    runs: Sequence[RunCurve]
    gap: bool = False

    @classmethod
    def from_estimator(cls, model: Any, X: Any = None, y: Any = None, *, gap: bool = False, ax: Any = None) -> Self:
        """Draw the objective at every iteration of a fit.

        Parameters
        ----------
        model : estimator
            A fitted classifier with a ``trace_``, or a pipeline that ends in one.
        X, y : any
            Ignored, since the model stores its trace. Present for compatibility with other displays.
        gap : bool, default False
            Draw the objective minus its proven lower bound, on a logarithmic axis.
        ax : matplotlib Axes or None
            The axes to draw on. If None, a new pyplot figure is created.

        Returns
        -------
        LossDisplay
        """
        return cls(runs_of(last_step(model)), gap).plot(ax)

    @property
    def size(self) -> tuple[float, float]:
        named = [plain(run.name, 18) for run in self.runs[:MOST_RUNS]] if len(self.runs) > 1 else []
        return 4.6, 3.1 + self._legend_height(named, 4.6)

    @property
    def alternative(self) -> str:
        parts = []
        for run in self.runs[:MOST_RUNS]:
            floor = (run.floor or 0.0) if self.gap else 0.0
            if not self.gap or run.floor is not None:
                ends = f"{run.value[0] - floor:.4g} at the start, {run.value[-1] - floor:.4g} at the end"
                parts.append(f"{shortened(run.name, 40)}: {ends}, after {run.iteration[-1]:.0f} iterations")
        return f"{'Proven gap to the minimum' if self.gap else 'Values'}. {'; '.join(parts)}."

    def _draw(self, ax: Axes, theme: Theme) -> None:
        for k, run in enumerate(self.runs[:MOST_RUNS]):
            value = run.value
            if self.gap:
                if run.floor is None:
                    continue
                value = np.maximum(value - run.floor, np.finfo(np.float64).tiny)
            few = len(value) <= MOST_MARKED_ITERATIONS
            look: dict[str, Any] = {"marker": "o", "markersize": 3.5} if few else {}
            look["color"] = theme.ink if len(self.runs) == 1 else theme.of_class(k)
            ax.plot(run.iteration, value, label=plain(run.name, 18), **look)
        ax.set_xlabel("iteration")
        ax.set_ylabel(
            "proven gap to the minimum" if self.gap else ", ".join(sorted({run.measure for run in self.runs}))
        )
        ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=8))
        self._scale(ax)
        if all(len(run.value) == 1 for run in self.runs):
            sentence = "the solver stopped at its starting point"
            ax.text(0.5, 0.9, sentence, transform=ax.transAxes, ha="center", color=theme.muted)
        ax.grid(True)
        if len(self.runs) > 1:
            self._legend(ax)

    def _scale(self, ax: Axes) -> None:
        """Set the y-axis: a logarithmic one for a gap, and a wide one for a nearly constant objective."""
        low, high = ax.dataLim.intervaly
        if self.gap:
            ax.set_yscale("log")
            ax.set_ylim(10.0 ** np.floor(np.log10(low)) / 2, 10.0 ** np.ceil(np.log10(high)) * 2)
            return
        ax.ticklabel_format(axis="y", useOffset=False)
        if high - low <= SMALLEST_SHOWN_CHANGE * abs(high):
            room = 0.1 * abs(high) or 1.0
            ax.set_ylim(high - room, high + room)


def runs_of(model: Any) -> list[RunCurve]:
    """Return the curves of a fitted model, one for each solver run; of several models, each with its number.

    >>> from separatrix import LogisticRegression
    >>> [run.name for run in runs_of(LogisticRegression().fit([[0.0], [1.0], [2.0]], [0, 1, 0]))]
    ['objective']
    """
    parts = getattr(model, "estimators_", None)
    if parts is not None and all(hasattr(part, "trace_") for part in parts):
        runs = [run for part in parts for run in runs_of(part)]
        numbered = len(runs) == len(parts) > 1
        return [run._replace(name=f"model {k}") for k, run in enumerate(runs, 1)] if numbered else runs
    if not getattr(model, "trace_", ()):
        problem = f"{type(model).__name__} was not fitted by an iterative solver and has no trace to plot"
        raise ParameterError("model", problem, "give a fitted classifier with a trace_, such as LogisticRegression")
    records, measure = _measured(model.trace_)
    searches = _searches(records)
    labels = np.asarray(model.classes_).tolist()
    names = [str(label) for label in labels] if len(searches) == len(labels) > 1 else ["objective"] * len(searches)
    floor = _lower_bound(model) if len(searches) == 1 else None
    return [
        RunCurve(name, _values(search, "iteration"), _values(search, "value"), floor, measure)
        for name, search in zip(names, searches, strict=True)
    ]


def _searches(records: list[Any]) -> list[list[Any]]:
    """Split the records by solver run. A new run begins where the iteration number does not increase."""
    starts = [k for k in range(1, len(records)) if records[k].iteration <= records[k - 1].iteration]
    return [records[a:b] for a, b in pairwise([0, *starts, len(records)]) if b > a]


def _values(records: list[Any], name: str) -> Array:
    return np.array([getattr(record, name) for record in records], float)


def _lower_bound(model: Any) -> float | None:
    """Return the proven lower bound on the objective, or None if the certificate has none."""
    certificate = getattr(model, "certificate_", None)
    if certificate is None or certificate.bound is None:
        return None
    return float(certificate.objective - certificate.bound)


def _measured(trace: Sequence[Any]) -> tuple[list[Any], str]:
    """Return the records to plot and the label of the y-axis; the mean cost replaces missing objectives."""
    known = [record for record in trace if np.isfinite(record.value)]
    met = [record for record in trace if record.met is not None]
    if 2 * len(known) >= len(trace) or not met:
        return known, "objective"
    return [record._replace(value=record.met) for record in met], "mean cost during the epoch"


# --- The choice of C


@final
@dataclass(eq=False)
class PenaltyPathDisplay(Display):
    """The log loss on held-out rows, ± one standard error, against C; a line marks the chosen C.

    Parameters
    ----------
    choice : PenaltyChoice
        The ``penalty_choice_`` of a fit with ``C="auto"``.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from separatrix import LogisticRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
    >>> model = LogisticRegression("auto").fit(X, y)
    >>> shown = PenaltyPathDisplay.from_estimator(model, ax=Figure().subplots())
    >>> shown.choice.C == model.C_, shown.ax_.get_xscale()
    (True, 'log')
    """

    choice: PenaltyChoice

    @classmethod
    def from_estimator(cls, model: Any, X: Any = None, y: Any = None, *, ax: Any = None) -> Self:
        """Draw the choice of C of a fitted model.

        Parameters
        ----------
        model : estimator
            A LogisticRegression fitted with ``C="auto"``, or a pipeline that ends in one.
        X, y : any
            Ignored; the model holds all numbers.
        ax : matplotlib Axes or None
            Where to draw; by default on a new figure of pyplot.

        Returns
        -------
        PenaltyPathDisplay
        """
        model = last_step(model)
        choice = getattr(model, "penalty_choice_", None)
        if choice is None:
            problem = f"this {type(model).__name__} was fitted with a given C, or is not fitted"
            raise ParameterError("model", problem, 'fit LogisticRegression(C="auto")')
        return cls(choice).plot(ax)

    @property
    def size(self) -> tuple[float, float]:
        return 4.6, 3.4

    @property
    def alternative(self) -> str:
        tried = zip(self.choice.Cs.tolist(), self.choice.scores, self.choice.standard_errors, strict=True)
        told = [f"C = {number_text(C, 3)}: {number_text(score)} ± {error:.2g}" for C, score, error in tried]
        return f"The chosen C is {number_text(self.choice.C)}. Log loss on held-out rows by C: {'; '.join(told)}."

    def _draw(self, ax: Axes, theme: Theme) -> None:
        choice, colour = self.choice, theme.ink
        low, high = choice.scores - choice.standard_errors, choice.scores + choice.standard_errors
        ax.fill_between(choice.Cs, low, high, color=colour, alpha=BAND, linewidth=0, label="± one standard error")
        ax.plot(choice.Cs, choice.scores, color=colour, marker="o", markersize=4, label=choice.method)
        ax.axvline(choice.C, color=theme.highlight, linewidth=4 * STRONG, zorder=0)
        ax.axvline(choice.C, color=theme.highlight_edge, linewidth=THIN, label=f"C = {number_text(choice.C)}", zorder=1)
        ax.set_xscale("log")
        ticks = ticks_of(choice.Cs)
        if ticks is not None:
            ax.set_xticks(ticks, [number_text(C, 3) for C in ticks])
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.set_xlabel("C (stronger penalty to the left)")
        ax.set_ylabel("log loss on held-out rows")
        ax.grid(True)
        self._legend(ax)


def ticks_of(Cs: Array) -> Array | None:
    """Ticks for values of C within two decades; None for a wider range, where powers of ten are enough.

    >>> ticks_of(np.array([0.3, 2.0])).tolist(), ticks_of(np.array([0.61, 0.93])).tolist()
    ([0.5, 1.0, 2.0], [0.61, 0.93])
    """
    known = Cs[np.isfinite(Cs) & (Cs > 0)]
    low, high = float(known.min()), float(known.max())
    if high > 100 * low:
        return None
    powers = np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
    candidates = np.array([multiple * 10.0**power for power in powers for multiple in TICK_MULTIPLES])
    inside = candidates[(candidates >= low) & (candidates <= high)]
    return inside if len(inside) > 1 else np.unique([low, high])
