"""How C was chosen: the log loss on rows not seen, over every C tried."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self, final

from matplotlib.axes import Axes

from separatrix.base.errors import ParameterError
from separatrix.plots import legends
from separatrix.plots.display import Display, last_step
from separatrix.plots.style import Theme
from separatrix.tuning.penalty_choice import PenaltyChoice


@final
@dataclass(eq=False)
class PenaltyPathDisplay(Display):
    """Scores ± one standard error of a ``penalty_choice_``; the line is the C chosen.

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
        """From a ``LogisticRegression`` fitted with ``C="auto"``, or a pipeline that ends in one; without rows, too."""
        model = last_step(model)
        choice = getattr(model, "penalty_choice_", None)
        if choice is None:
            came = f"this {type(model).__name__} was fitted with a C that was given, or is not fitted"
            raise ParameterError("model", came, 'fit LogisticRegression(C="auto")')
        return cls(choice).plot(ax)

    @property
    def size(self) -> tuple[float, float]:
        return 4.6, 3.4

    def _draw(self, ax: Axes, theme: Theme) -> None:
        choice, colour = self.choice, theme.of_class(0)
        low, high = choice.scores - choice.standard_errors, choice.scores + choice.standard_errors
        ax.fill_between(choice.Cs, low, high, color=colour, alpha=0.16, linewidth=0, label="± one standard error")
        ax.plot(choice.Cs, choice.scores, color=colour, marker="o", markersize=4, label=choice.method)
        ax.axvline(choice.C, color=theme.of_class(1), linewidth=1.0, label=f"C = {choice.C:.4g}")
        ax.set_xscale("log")
        ax.set_xlabel("C (stronger penalty to the left)")
        ax.set_ylabel("log loss on rows not seen")
        ax.grid(True)
        legends.below(ax)
