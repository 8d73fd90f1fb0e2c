"""A plot of precision, recall and the cost of mistakes against the threshold of the probability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from matplotlib.axes import Axes

from separatrix.base.arrays import AnyArray, Array
from separatrix.base.errors import ParameterError
from separatrix.base.number_text import number_text
from separatrix.base.theme import Theme
from separatrix.evaluation.answers import Answers, answers
from separatrix.evaluation.mistake_costs import CostFigures, Costs, cost_figures
from separatrix.plots import legends
from separatrix.plots.display import PLOTS, Display, thinned
from separatrix.plots.style import DASHED, DOTTED, STRONG, THIN, plain, shortened

# The thresholds at which the curves are computed.
THRESHOLDS_DRAWN = np.linspace(0.0, 1.0, 401)
# The text alternative gives the values at these thresholds.
TOLD = (0.1, 0.3, 0.5, 0.7, 0.9)


@final
@dataclass(eq=False)
class ThresholdDisplay(Display):
    """Precision and recall of the second class, and the cost per row, against the threshold of its probability.

    Parameters
    ----------
    p : array (n,)
        The probabilities of the second class.
    positive : array (n,) of bool
        Which rows are of the second class.
    label : object
        The second class.
    costs : Costs or None
        The costs of both mistakes, if they are known.
    level : float, default 0.95
        The level of the intervals of ``cost``.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from separatrix import LogisticRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    >>> model = LogisticRegression().fit(X, y)
    >>> shown = ThresholdDisplay.from_estimator(model, X, y, cost={"FP": 1, "FN": 4}, ax=Figure().subplots())
    >>> shown.threshold, shown.ax_.get_xlabel()
    (0.2, 'threshold of the probability of 1')
    """

    p: Array
    positive: AnyArray
    label: Any
    costs: Costs | None = None
    level: float = 0.95

    @classmethod
    @PLOTS.refusing_tables
    def from_estimator(cls, model: Any, X: Any, y: Any, *, cost: Any = None, ax: Any = None) -> Self:
        """Draw the thresholds of a fitted classifier of two classes with probabilities.

        Parameters
        ----------
        model : estimator
            A fitted classifier of two classes with probabilities.
        X, y
            Labelled rows, preferably not those of the fit.
        cost : dict or None
            The costs of both mistakes, as in ``{"FP": 1, "FN": 5}``.
        ax : matplotlib Axes or None
            Where to draw; by default on a new figure of pyplot.

        Returns
        -------
        ThresholdDisplay
        """
        return cls.of(answers(model, X, y), None if cost is None else Costs.of(cost)).plot(ax)

    @classmethod
    def of(cls, found: Answers, costs: Costs | None = None, level: float = 0.95) -> Self:
        """The display of a model's answers, not drawn yet; call ``plot`` to draw it.

        Parameters
        ----------
        found : Answers
            The answers of a model of two classes, with probabilities.
        costs : Costs, optional
            The costs of both mistakes.
        level : float
            The confidence level.

        Returns
        -------
        ThresholdDisplay
        """
        if found.log_P is None or found.n_classes != 2:
            problem = (
                "it is not a model of P(class | x)" if found.log_P is None else f"it has {found.n_classes} classes"
            )
            raise ParameterError("model", problem, "give a model of two classes with probabilities")
        return cls(np.exp(found.log_P[:, 1]), found.codes == 1, found.classes.tolist()[1], costs, level)

    @property
    def threshold(self) -> float:
        """The threshold in use: the one that follows from the costs, or ½ without costs."""
        return 0.5 if self.costs is None else self.costs.threshold

    @property
    def cost(self) -> CostFigures | None:
        """The cost at the threshold in use, and the lowest on these rows; None without costs."""
        return None if self.costs is None else cost_figures(self.costs, self.p, self.positive, level=self.level)

    def at(self, thresholds: Array) -> tuple[Array, Array, Array | None]:
        """Precision, recall and cost per row at given thresholds.

        Parameters
        ----------
        thresholds : array (m,)
            The second class is predicted if its probability is at least the threshold.

        Returns
        -------
        precision, recall : arrays (m,)
            The precision is NaN where the second class is predicted for no row.
        cost : array (m,) or None
            The cost per row; None if no costs are given.
        """
        own, others = np.sort(self.p[self.positive]), np.sort(self.p[~self.positive])
        hits, false = (len(a) - np.searchsorted(a, thresholds) for a in (own, others))
        with np.errstate(invalid="ignore", divide="ignore"):
            precision, recall = hits / (hits + false), hits / np.float64(len(own))
        cost = None if self.costs is None else self.costs.mean(false, len(own) - hits, len(self.p))
        return precision, recall, cost

    @property
    def alternative(self) -> str:
        at = np.array([self.threshold, *TOLD])
        precision, recall, cost = self.at(at)
        told = [
            f"from {number_text(t, 3)} on: precision {a:.3f}, recall {b:.3f}"
            + ("" if cost is None else f", cost {number_text(cost[k])} per row")
            for k, (t, a, b) in enumerate(zip(at, precision, recall, strict=True))
        ]
        return f"Predicting {shortened(self.label, 40)} {'; '.join(told)}."

    @property
    def size(self) -> tuple[float, float]:
        return 4.6, 3.3 + legends.height(["precision", "recall", "x" * 30, "x" * 24], 4.6)

    def _draw(self, ax: Axes, theme: Theme) -> None:
        precision, recall, cost = self.at(THRESHOLDS_DRAWN)
        ax.axvline(self.threshold, color=theme.highlight, linewidth=4 * STRONG, zorder=0)
        name = f"threshold {number_text(self.threshold, 3)}"
        ax.axvline(self.threshold, color=theme.highlight_edge, linewidth=THIN, zorder=1, label=name)
        for values, look, label in ((precision, "-", "precision"), (recall, DASHED, "recall")):
            kept = thinned(THRESHOLDS_DRAWN, np.nan_to_num(values, nan=1.0))
            ax.plot(THRESHOLDS_DRAWN[kept], values[kept], color=theme.ink, linestyle=look, label=label)
        ax.set_xlim(0.0, 1.0)
        ax.set_ylim(0.0, 1.04)
        ax.grid(True)
        ax.set_xlabel(f"threshold of the probability of {plain(self.label, 20)}")
        ax.set_ylabel("precision, recall")
        if cost is not None:
            beside = ax.twinx()
            beside.plot(THRESHOLDS_DRAWN, cost, color=theme.muted, linestyle=DOTTED)
            ax.plot([], [], color=theme.muted, linestyle=DOTTED, label="cost per row (right axis)")
            beside.set_ylim(0.0, 1.1 * float(cost.max()))
            beside.set_ylabel("cost per row")
            beside.spines["right"].set_visible(True)
        legends.below(ax)
