"""README's picture, drawn by the package: a widest margin, rows that prove there is none, a bound above a true gap.

    python docs/pictures/evidence.py     writes evidence.svg beside this file

Rows are Fisher's irises (Annals of Eugenics 7, 1936): the lengths and widths of petals.
"""

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from scipy.spatial import ConvexHull
from sklearn.datasets import load_iris

import separatrix as sx

NAMES = ("petal length, cm", "petal width, cm")
# The certificate's gap is compared with a fit to rounding.
EXACT = 1e-15
# Room between a title and its axes, for a legend, in points.
ABOVE = 24.0


def species(*pair: str) -> tuple[Any, Any]:
    """Petals of two species, and which is which.

    >>> X, y = species("setosa", "versicolor")
    >>> X.shape, sorted(set(y.tolist()))
    ((100, 2), ['setosa', 'versicolor'])
    """
    iris = load_iris()
    labels = iris.target_names[iris.target]
    kept = np.isin(labels, pair)
    return iris.data[kept, 2:], labels[kept]


def separable(ax: Any, theme: Any) -> None:
    """The widest margin between two classes, and the rows that hold it up."""
    X, y = species("setosa", "versicolor")
    model = sx.MaxMarginClassifier().fit(X, y)
    assert model.certificate_.verify(X, y)
    sx.plots.DecisionRegionsDisplay.from_estimator(model, X, y, names=NAMES, ax=ax)
    (w,), (b,) = model.coef_, model.intercept_
    x = np.array(ax.get_xlim())
    for side in (-1.0, 1.0):
        ax.plot(x, (side - b - w[0] * x) / w[1], color=theme.muted, linestyle="--", linewidth=0.9)
    held = {"facecolors": "none", "edgecolors": theme.ink, "linewidths": 1.1}
    ax.scatter(*X[model.support_].T, s=85, **held)
    ax.set_title(f"Separable: {1.0 / np.hypot(*w):.3f} cm a side, proven widest", pad=ABOVE)


def inseparable(ax: Any, theme: Any) -> None:
    """Rows of two classes whose hulls share a point: no line has all of them on their own sides."""
    X, y = species("versicolor", "virginica")
    verdict = sx.separability(X, y)
    assert verdict.verify(X, y)
    model = sx.LogisticRegression(C=np.inf).fit(X, y)
    sx.plots.DecisionRegionsDisplay.from_estimator(model, X, y, names=NAMES, ax=ax)
    share = np.array([float(m) for m in verdict.multipliers])
    for k, label in enumerate(model.classes_):
        own = y[verdict.rows] == label
        corners = X[verdict.rows[own]]
        around = corners[ConvexHull(corners).vertices] if len(corners) > 2 else corners
        ax.add_patch(Polygon(around, facecolor=theme.of_class(k), alpha=0.25, edgecolor=theme.ink, linewidth=1.1))
        ax.scatter(*corners.T, s=70, facecolors="none", edgecolors=theme.ink, linewidths=1.1)
        common = share[own] @ corners / share[own].sum()
    ax.plot(*common, marker="*", color=theme.ink, markersize=11)
    ax.set_title(f"Not: {len(verdict.rows)} rows prove it, ★ is in both their hulls", pad=ABOVE)


def optimal(ax: Any, theme: Any) -> None:
    """What is proven of a fit after each iteration, beside what is true."""
    X, y = species("versicolor", "virginica")
    model = sx.LogisticRegression(C=1.0).fit(X, y)
    least = sx.LogisticRegression(C=1.0, tol=EXACT).fit(X, y).certificate_.objective
    proven = [(line.iteration, line.bound) for line in model.trace_ if line.bound is not None]
    true = [(line.iteration, line.value - least) for line in model.trace_ if line.value - least > EXACT]
    ax.semilogy(*zip(*proven, strict=True), "o-", color=theme.of_class(1), markersize=4, label="proven: at most")
    ax.semilogy(*zip(*true, strict=True), "s-", color=theme.of_class(0), markersize=4, label="true")
    ax.axhline(1e-8 * model.certificate_.null_objective, color=theme.muted, linestyle="--", linewidth=0.9)
    ax.text(0.0, 1.6e-8 * model.certificate_.null_objective, "tol=1e-8: stop below", color=theme.muted)
    ax.set_xlabel("iteration of logistic regression")
    ax.set_ylabel("objective above its minimum")
    ax.grid(True)
    ax.legend(loc="upper right")
    ax.set_title("Optimal: how nearly, as proven and as it is", pad=ABOVE)


def drawn() -> Figure:
    """All three, side by side.

    >>> [ax.get_title(loc="left").split(":")[0] for ax in drawn().axes]
    ['Separable', 'Not', 'Optimal']
    """
    with sx.plots.style("light") as theme:
        figure = Figure(figsize=(11.0, 3.7), layout="constrained")
        for draw, ax in zip((separable, inseparable, optimal), figure.subplots(1, 3), strict=True):
            draw(ax, theme)
    return figure


if __name__ == "__main__":
    with mpl.rc_context({"svg.hashsalt": "separatrix", "svg.fonttype": "path"}), sx.plots.style("light"):
        drawn().savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})
