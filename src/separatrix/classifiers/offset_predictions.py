"""Predictions of a linear classifier with an offset: known terms that are added to the scores of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray, Array
from separatrix.classifiers.linear import LinearClassifier
from separatrix.objectives.build import as_offset
from separatrix.scorers.scorer import chosen_classes


class OffsetPredictions(LinearClassifier):
    """A linear classifier whose predictions take an offset."""

    def decision_function(self, X: Any, offset: Any = None) -> Array:
        """Return the scores of rows.

        Parameters
        ----------
        X : array (n, d), dense or sparse
            The rows.
        offset : array (n,) for two classes, (n, K) for more, or None
            Known terms that are added to the scores.

        Returns
        -------
        array (n,) for two classes, (n, K) for more
            With two classes a positive score speaks for the second class; with more, the largest score wins.
        """
        z = super().decision_function(X)
        if offset is None:
            return z
        added = as_offset(offset, len(z), 1 if z.ndim == 1 else z.shape[1])
        return z if added is None else z + added.reshape(z.shape)

    def predict(self, X: Any, offset: Any = None) -> AnyArray:
        """Predict the most probable class of each row; among equally probable classes, the first.

        Parameters
        ----------
        X : array (n, d), dense or sparse
            The rows.
        offset : array or None
            As for ``decision_function``.

        Returns
        -------
        array (n,)
            Labels.
        """
        if offset is None:
            return super().predict(X)
        return chosen_classes(self.decision_function(X, offset), self.classes_, self.scorer_.link)

    def predict_proba(self, X: Any, offset: Any = None) -> Array:
        """Return the probabilities P(class | x).

        Parameters
        ----------
        X : array (n, d), dense or sparse
            The rows.
        offset : array or None
            As for ``decision_function``.

        Returns
        -------
        array (n, K)
            Columns in the order of ``classes_``.
        """
        if offset is None:
            return super().predict_proba(X)  # type: ignore[no-any-return]
        with np.errstate(under="ignore"):
            return np.asarray(np.exp(self.predict_log_proba(X, offset)))

    def predict_log_proba(self, X: Any, offset: Any = None) -> Array:
        """Return ln P(class | x), which stays accurate for very small probabilities.

        Parameters
        ----------
        X : array (n, d), dense or sparse
            The rows.
        offset : array or None
            As for ``decision_function``.

        Returns
        -------
        array (n, K)
            Columns in the order of ``classes_``.
        """
        if offset is None:
            return super().predict_log_proba(X)  # type: ignore[no-any-return]
        return self.scorer_.link.log_probabilities(self.decision_function(X, offset))
