"""Plots a confusion matrix with counts and, for few classes, percentages of each true class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from separatrix.base.arrays import AnyArray, Integers
from separatrix.base.labels import encode, known_codes
from separatrix.base.theme import Theme
from separatrix.evaluation.answers import answers
from separatrix.evaluation.measures import confusion_matrix
from separatrix.plots.display import BROAD, PLOTS, Display
from separatrix.plots.style import SMALL_TEXT, TEXT, plain, shortened

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
class ConfusionDisplay(Display):
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
    @PLOTS.refusing_tables
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
        return (4.6, min(4.4, 2.2 + 0.42 * K)) if narrow else (BROAD, 1.2 + CELL_HEIGHT * K)

    @property
    def alternative(self) -> str:
        labels = [shortened(label, 40) for label in self.classes.tolist()]
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
        most = 1.25 * TEXT if len(self.shown) <= MOST_SHARES else SMALL_TEXT
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
        names = [plain(self.classes.tolist()[k], 14 if K <= 3 else 18) for k in chosen]
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
            ax.text(j + 0.5, i + 0.68, f"{100 * share:.0f} %", fontsize=SMALL_TEXT, **(centre | {"color": theme.body}))  # type: ignore[arg-type]
