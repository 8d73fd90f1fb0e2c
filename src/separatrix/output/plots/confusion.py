"""Plots of mistakes: the confusion matrix, calibration, and the threshold of the probability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from separatrix.core.base.arrays import AnyArray, Array, Integers
from separatrix.core.base.errors import ParameterError
from separatrix.core.base.labels import encode, known_codes
from separatrix.core.base.messages import number_text
from separatrix.output.plots import display
from separatrix.output.theme import BAND, Theme
from separatrix.statistics.intervals import wilson
from separatrix.statistics.measures import Answers, answers, confusion_matrix
from separatrix.statistics.model_decisions import CostFigures, Costs, cost_figures
from separatrix.statistics.reliability import Cut, Reliability, reliability

# --- The confusion matrix

# The largest number of classes that are drawn. If there are more, those with the most rows are drawn.
MOST_CLASSES_IN_MATRIX = 30
# With at most this many classes, each cell also shows the percentage of the true class below the count.
MOST_SHARES = 6
# With at most this many classes the plot has the normal width; with more, it is as wide as a page.
MOST_NARROW = 12
# The width of the class names at the left and the height of a cell in a wide plot, both in inches.
NAMES_WIDTH, CELL_HEIGHT = 1.2, 0.26
# The width of a digit, relative to the font size.
DIGIT_WIDTH = 0.68
# The text alternative lists at most this many mistakes of a class.
MOST_MISTAKES_TOLD = 5
# The largest opacity of a cell. It is below 1 so that the text stays readable.
LARGEST_CELL_OPACITY = 0.42


@final
@dataclass(eq=False)
class ConfusionDisplay(display.Display):
    """A confusion matrix. Cells of correct predictions have the colour of the class, and mistakes are grey.

    The opacity of a cell shows its share of the rows of the true class.

    Parameters
    ----------
    counts : array (K, K)
        ``counts[i, j]`` is the number of rows of class i predicted as class j.
    classes : array (K,)
        The labels.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> shown = ConfusionDisplay.from_predictions(["a", "a", "b"], ["a", "b", "b"], ax=Figure().subplots())
    >>> shown.counts.tolist(), [text.get_text() for text in shown.ax_.texts][:2]
    ([[1, 1], [0, 1]], ['1', '50 %'])
    """

    counts: Integers
    classes: AnyArray

    @classmethod
    @display.PLOTS.refusing_tables
    def from_estimator(cls, model: Any, X: Any, y: Any, *, ax: Any = None) -> Self:
        """Draw the confusion matrix of a fitted classifier.

        Parameters
        ----------
        model : estimator
            A fitted classifier.
        X, y
            The rows to predict, and their true labels.
        ax : matplotlib Axes or None
            The axes to draw on. If None, a new pyplot figure is created.

        Returns
        -------
        ConfusionDisplay
        """
        predicted = answers(model, X, y)
        return cls(predicted.confusion, predicted.classes).plot(ax)

    @classmethod
    def from_predictions(cls, y: Any, predicted: Any, *, ax: Any = None) -> Self:
        """Draw the confusion matrix of given predictions.

        Parameters
        ----------
        y, predicted : lists of labels
            The true and the predicted labels. The classes are all labels that occur in either.
        ax : matplotlib Axes or None
            The axes to draw on. If None, a new pyplot figure is created.

        Returns
        -------
        ConfusionDisplay
        """
        classes, _ = encode([*y, *predicted])
        counts = confusion_matrix(known_codes(y, classes), known_codes(predicted, classes), len(classes))
        return cls(counts, classes).plot(ax)

    @property
    def shown(self) -> Integers:
        """The indices of the classes that are drawn, in ascending order."""
        return np.sort(np.argsort(-self.counts.sum(axis=1), kind="stable")[:MOST_CLASSES_IN_MATRIX])

    @property
    def size(self) -> tuple[float, float]:
        K = len(self.shown)
        narrow = K <= MOST_NARROW
        return (4.6, min(4.4, 2.2 + 0.42 * K)) if narrow else (display.BROAD, 1.2 + CELL_HEIGHT * K)

    @property
    def alternative(self) -> str:
        labels = [display.shortened(label, 40) for label in self.classes.tolist()]
        parts = []
        for a in self.shown.tolist():
            row = self.counts[a]
            wrong = [
                f"{row[b]:,} as {labels[b]}" for b in np.argsort(-row, kind="stable").tolist() if b != a and row[b]
            ]
            found = f"{row[a]:,} of {row.sum():,} rows are predicted correctly"
            parts.append(f"{labels[a]}: {found}{', ' * bool(wrong)}{', '.join(wrong[:MOST_MISTAKES_TOLD])}")
        return "; ".join(parts) + "."

    @property
    def _digits(self) -> float:
        """The font size of the counts, in points, at which the largest count fits into its cell."""
        across = 72.0 * (self.size[0] - NAMES_WIDTH) / len(self.shown)
        most = 1.25 * display.TEXT if len(self.shown) <= MOST_SHARES else display.SMALL_TEXT
        return min(most, across / (DIGIT_WIDTH * len(str(int(self.counts.max(initial=0))))))

    def _draw(self, ax: Axes, theme: Theme) -> None:
        chosen = self.shown
        K, total = len(chosen), np.maximum(self.counts.sum(axis=1), 1)
        for i, a in enumerate(chosen):
            for j, b in enumerate(chosen):
                share = self.counts[a, b] / total[a]
                colour = theme.of_class(int(a)) if i == j else theme.ink
                opacity = LARGEST_CELL_OPACITY * float(share)
                ax.add_patch(Rectangle((j, i), 1, 1, facecolor=colour, alpha=opacity, linewidth=0))
                self._write(ax, theme, i, j, int(self.counts[a, b]), float(share))
        names = [display.plain(self.classes.tolist()[k], 14 if K <= 3 else 18) for k in chosen]
        ax.set_xticks(np.arange(K) + 0.5, names, rotation=0 if K <= 3 else 40, ha="center" if K <= 3 else "right")
        ax.set_yticks(np.arange(K) + 0.5, names)
        if K > 3:
            ax.tick_params(axis="x", labelrotation=40)
        ax.set_xticks(np.arange(K + 1), minor=True)
        ax.set_yticks(np.arange(K + 1), minor=True)
        ax.tick_params(which="both", length=0)
        ax.grid(True, which="minor", color=theme.rule)
        ax.set_xlim(0, K)
        ax.set_ylim(K, 0)
        ax.set_xlabel("predicted")
        ax.set_ylabel("true")

    def _write(self, ax: Axes, theme: Theme, i: int, j: int, count: int, share: float) -> None:
        if count == 0 and i != j:
            return
        both = len(self.shown) <= MOST_SHARES
        centre = {"ha": "center", "va": "center", "color": theme.ink}
        ax.text(j + 0.5, i + (0.4 if both else 0.5), f"{count}", fontsize=self._digits, **centre)  # type: ignore[arg-type]
        if both:
            percent, centre["color"] = f"{100 * share:.0f} %", theme.body
            ax.text(j + 0.5, i + 0.68, percent, fontsize=display.SMALL_TEXT, **centre)  # type: ignore[arg-type]


# --- Calibration


@final
@dataclass(eq=False)
class CalibrationDisplay(display.Display):
    """The observed share of a class against its predicted probability, in bins, with Wilson intervals.

    A histogram above the plot shows how many rows each bin has.

    Parameters
    ----------
    found : Reliability
        The numbers, from ``separatrix.statistics.reliability.reliability``.
    level : float, default 0.95
        The level of the confidence intervals.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from separatrix import LogisticRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    >>> shown = CalibrationDisplay.from_estimator(LogisticRegression().fit(X, y), X, y, ax=Figure().subplots())
    >>> shown.found.count.sum().item(), shown.ax_.get_xlabel()
    (4, 'predicted probability of 1')
    """

    found: Reliability
    level: float = 0.95

    @classmethod
    @display.PLOTS.refusing_tables
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        y: Any,
        *,
        of: Any = None,
        n_bins: int = 10,
        cut: Cut = "width",
        level: float = 0.95,
        ax: Any = None,
    ) -> Self:
        """Draw the calibration of a fitted classifier.

        Parameters
        ----------
        model : estimator
            A fitted classifier with probabilities.
        X, y
            Labelled rows, preferably not those of the fit.
        of : label or None
            The class whose probability to look at; as for ``reliability``.
        n_bins : int, default 10
            The number of bins.
        cut : str, default "width"
            How to choose the bins; as for ``reliability``.
        level : float, default 0.95
            The level of the confidence intervals.
        ax : matplotlib Axes or None
            Where to draw; by default on a new figure of pyplot.

        Returns
        -------
        CalibrationDisplay
        """
        return cls(reliability(model, X, y, of, n_bins, cut), level).plot(ax)

    @property
    def size(self) -> tuple[float, float]:
        return 4.6, 4.3

    @property
    def alternative(self) -> str:
        found = self.found
        bins = [
            f"{p:.2f} predicted, {f:.2f} observed, {n:,} rows"
            for p, f, n in zip(found.predicted, found.observed, found.count.tolist(), strict=True)
        ]
        return f"Expected calibration error {found.expected_error:.3f}. By bins of the prediction: {'; '.join(bins)}."

    def _draw(self, ax: Axes, theme: Theme) -> None:
        found, colour = self.found, theme.ink
        low, high = wilson(np.round(found.observed * found.count), found.count, self.level)
        ax.plot(
            [0, 1], [0, 1], color=theme.muted, linewidth=display.THIN, linestyle=display.REFERENCE, label="as predicted"
        )
        ax.vlines(found.predicted, low, high, color=colour, linewidth=display.THIN)
        label = f"observed, {100 * self.level:g} % Wilson intervals"
        size = 12.0 + 48.0 * np.sqrt(found.count / found.count.max())
        ax.scatter(found.predicted, found.observed, s=size, color=colour, label=label, zorder=3)
        display.share_axes(ax)
        what = display.plain(
            found.of[1:-1] if found.of[:1] in ("'", '"') else found.of, 24
        )  # ``of`` quotes a label of text
        ax.set_xlabel(f"predicted probability of {what}")
        ax.set_ylabel("observed share")
        self._legend(ax)
        above = ax.inset_axes((0.0, 1.03, 1.0, 0.17), sharex=ax)
        left, right = found.edges.T
        above.bar(left, found.count, right - left, align="edge", color=colour, alpha=2 * BAND, linewidth=0)
        above.set_yticks([int(found.count.max())])
        above.tick_params(axis="x", labelbottom=False, length=0)
        above.tick_params(axis="y", length=0)
        above.set_ylabel("rows")
        above.spines["left"].set_visible(False)


# --- The threshold

# The thresholds at which the curves are computed.
THRESHOLDS_DRAWN = np.linspace(0.0, 1.0, 401)
# The text alternative gives the values at these thresholds.
TOLD = (0.1, 0.3, 0.5, 0.7, 0.9)


@final
@dataclass(eq=False)
class ThresholdDisplay(display.Display):
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
    @display.PLOTS.refusing_tables
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
        return f"Predicting {display.shortened(self.label, 40)} {'; '.join(told)}."

    @property
    def size(self) -> tuple[float, float]:
        return 4.6, 3.3 + self._legend_height(["precision", "recall", "x" * 30, "x" * 24], 4.6)

    def _draw(self, ax: Axes, theme: Theme) -> None:
        precision, recall, cost = self.at(THRESHOLDS_DRAWN)
        ax.axvline(self.threshold, color=theme.highlight, linewidth=4 * display.STRONG, zorder=0)
        name = f"threshold {number_text(self.threshold, 3)}"
        ax.axvline(self.threshold, color=theme.highlight_edge, linewidth=display.THIN, zorder=1, label=name)
        for values, look, label in ((precision, "-", "precision"), (recall, display.DASHED, "recall")):
            kept = display.thinned(THRESHOLDS_DRAWN, np.nan_to_num(values, nan=1.0))
            ax.plot(THRESHOLDS_DRAWN[kept], values[kept], color=theme.ink, linestyle=look, label=label)
        ax.set_xlim(0.0, 1.0)
        ax.set_ylim(0.0, 1.04)
        ax.grid(True)
        ax.set_xlabel(f"threshold of the probability of {display.plain(self.label, 20)}")
        ax.set_ylabel("precision, recall")
        if cost is not None:
            beside = ax.twinx()
            beside.plot(THRESHOLDS_DRAWN, cost, color=theme.muted, linestyle=display.DOTTED)
            ax.plot([], [], color=theme.muted, linestyle=display.DOTTED, label="cost per row (right axis)")
            beside.set_ylim(0.0, 1.1 * float(cost.max()))
            beside.set_ylabel("cost per row")
            beside.spines["right"].set_visible(True)
        self._legend(ax)
