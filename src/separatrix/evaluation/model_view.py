"""The columns in which a model is drawn: the input of the pipeline, or the input of its classifier (docs/tour.md, B4).

A table's encoder turns text into numbers, so the columns after it are drawn. Scalers only shift and stretch the axes,
so a model of more than two columns is drawn after them. Any other step, such as a basis φ, is not linear: the columns
before it are drawn, and the boundary in them is curved. One or two columns are always drawn before all scalers.
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
from separatrix.table.scaling import Scaling


class View(NamedTuple):
    """A classifier, the rows X in the columns that are drawn, and the names of these columns if they are known.

    ``scaling`` says how the table's encoder standardised these columns; None if it did not.
    """

    model: Any
    X: Any
    names: list[str] | None
    scaling: Scaling | None = None


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
        """The rows X after the steps."""
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
    """The view in which a fitted classifier of this package, or a pipeline that ends in one, is drawn.

    >>> from sklearn.pipeline import make_pipeline
    >>> from separatrix import LogisticRegression, quadratic
    >>> X, y = np.array([[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]]), [0, 0, 1, 1]
    >>> view = view_of(make_pipeline(quadratic(), LogisticRegression()).fit(X, y), X)
    >>> view.X.shape, type(view.model).__name__
    ((4, 2), 'Whole')
    """
    steps = _steps_before_classifier(model)
    if not steps:
        return View(*taken_apart(model, X))
    names: list[str] | None = [str(name) for name in getattr(X, "columns", ())] or None
    after_encoder, scaling = model, None
    if hasattr(steps[0], "encoder_"):
        X, names = model[0].transform(X), [str(name) for name in model[0].get_feature_names_out()]
        after_encoder, scaling, steps = model[1:], model[0].scaling_, steps[1:]
    if not steps:
        return View(model[-1], X, names, scaling)
    rows = X if hasattr(X, "nnz") else np.asarray(X, dtype=np.float64)
    only_scalers = all(type(step).__name__ in SCALERS for step in steps)
    if only_scalers and rows.shape[1] > 2:
        return View(*taken_apart(after_encoder, X))
    scorer = ThroughSteps(after_encoder[:-1], scores_of(model[-1]))
    return View(Whole(scorer, np.asarray(model[-1].classes_), rows.shape[1]), rows, names, scaling)


def _steps_before_classifier(model: Any) -> list[Any]:
    """The steps of a pipeline that change rows; none for a classifier."""
    return [step for _, step in getattr(model, "steps", ())[:-1] if step is not None and step != "passthrough"]
