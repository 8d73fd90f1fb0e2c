"""A plot of how C was chosen: the log loss on held-out rows against each value of C that was tried."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter

from separatrix.base.arrays import Array
from separatrix.base.errors import ParameterError
from separatrix.base.number_text import number_text
from separatrix.base.theme import BAND, Theme
from separatrix.plots import legends
from separatrix.plots.display import TICK_MULTIPLES, Display, last_step
from separatrix.plots.style import STRONG, THIN
from separatrix.tuning.penalty_choice import PenaltyChoice


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
        legends.below(ax)


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
