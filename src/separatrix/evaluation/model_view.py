"""Which space a model is looked at in: the columns that came in, or those that reach its classifier. TEXTBOOK B4.

A pipeline's scalers only move and stretch the axes, and a table's encoder makes the numbers there are to draw. Any
other step, such as a basis φ, bends the space: then the columns before it are drawn, in which the boundary is curved.
One or two columns are always drawn as they came in.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from separatrix.base.arrays import AnyArray, Array
from separatrix.losses.links import Link
from separatrix.model_file.pipelines import SCALERS
from separatrix.scorers.scorer import scores_of, taken_apart


class View(NamedTuple):
    """A classifier of the rows X, their columns' names where they are known; X has the columns that are drawn."""

    model: Any
    X: Any
    names: list[str] | None


@dataclass(frozen=True)
class ThroughSteps:
    """The scores of a pipeline's classifier as a function of the columns before its steps."""

    steps: Any
    scorer: Any

    @property
    def classes(self) -> AnyArray:
        return np.asarray(self.scorer.classes)

    @property
    def link(self) -> Link:
        found: Link = self.scorer.link
        return found

    def _reached(self, X: Any) -> Any:
        """The rows as the classifier gets them."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            reached = self.steps.transform(X)
        return reached if hasattr(reached, "nnz") else np.asarray(reached, dtype=np.float64)

    def scores(self, X: Any, names: list[str] | None = None) -> Array:
        return np.asarray(self.scorer.scores(self._reached(X)))

    def predict(self, X: Any, names: list[str] | None = None) -> AnyArray:
        return np.asarray(self.scorer.predict(self._reached(X)))

    def probabilities(self, X: Any, names: list[str] | None = None) -> Array:
        return np.asarray(self.scorer.probabilities(self._reached(X)))

    def log_probabilities(self, X: Any, names: list[str] | None = None) -> Array:
        return np.asarray(self.scorer.log_probabilities(self._reached(X)))


@dataclass(frozen=True)
class Whole:
    """A pipeline as one classifier that is not linear in its columns."""

    scorer_: ThroughSteps
    classes_: AnyArray
    n_features_in_: int


def view_of(model: Any, X: Any) -> View:
    """What to draw of a fitted classifier of this package, or of a pipeline that ends in one.

    >>> from sklearn.pipeline import make_pipeline
    >>> from separatrix import LogisticRegression, quadratic
    >>> X, y = np.array([[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]]), [0, 0, 1, 1]
    >>> view = view_of(make_pipeline(quadratic(), LogisticRegression()).fit(X, y), X)
    >>> view.X.shape, type(view.model).__name__
    ((4, 2), 'Whole')
    """
    steps = [step for _, step in getattr(model, "steps", ())[:-1] if step is not None and step != "passthrough"]
    if not steps:
        return View(*taken_apart(model, X))
    names: list[str] | None = [str(name) for name in getattr(X, "columns", ())] or None
    first = 0
    if hasattr(steps[0], "encoder_"):
        X = model[0].transform(X)
        names, first = [str(name) for name in model[0].get_feature_names_out()], 1
    rows = X if hasattr(X, "nnz") else np.asarray(X, dtype=np.float64)
    bent = any(type(step).__name__ not in SCALERS for step in steps[first:])
    if len(steps) == first or not (bent or rows.shape[1] <= 2):
        reached = model[first:] if first else model
        return View(*taken_apart(reached, X)) if len(steps) > first else View(model[-1], X, names)
    scorer = ThroughSteps(model[first:-1], scores_of(model[-1]))
    return View(Whole(scorer, np.asarray(model[-1].classes_), rows.shape[1]), rows, names)
