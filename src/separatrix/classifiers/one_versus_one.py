"""One versus one: a model for each pair of classes, which vote. TEXTBOOK M1, M3."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from separatrix.base.arrays import Array, Integers
from separatrix.classifiers.available import offered_where
from separatrix.classifiers.combined import PartsScorer
from separatrix.classifiers.description import Description, Requires
from separatrix.classifiers.fit_input import rows_to_score
from separatrix.classifiers.one_versus import OneVersus, parts_are_linear
from separatrix.classifiers.shared_descriptions import ONE_VERSUS, PARTS_CLAIM
from separatrix.geometry import Hyperplane
from separatrix.scorers.schemes import OneVersusOne, Scheme, votes
from separatrix.scorers.scorer import Scorer

DESCRIPTION = Description(
    about="a model for each pair of classes, which vote",
    scorers=("linear", "parts"),
    claims={"parts": PARTS_CLAIM},
    fitted=ONE_VERSUS,
    requires=(Requires.MORE_THAN_TWO_CLASSES,),
    parts=("logistic", "perceptron"),
)


class OneVsOneClassifier(OneVersus):
    r"""argmax_i Σ_j sgn h_ij(x), with K(K − 1)/2 models h_ij = −h_ji, each trained on two classes' rows.

    TEXTBOOK M1.

    Equal votes are resolved by the sum of signed distances Σ_j h_ij/‖w_ij‖ where the models are linear, of scores
    where they are not. Votes are no probabilities.

    Parameters
    ----------
    estimator : classifier of two classes or regressor, default LogisticRegression()
        Cloned for each model; needs ``decision_function`` or ``predict_proba``, or it regresses on 0 and 1.
    n_jobs : int or None
        How many models of another package are fitted at a time; threads of a model of this one.
    verbose : int, default 0
        Above 0, print what is being fitted.

    Attributes
    ----------
    estimators_ : list of the fitted models, in the order of ``schemes.pairs``; a positive score speaks
        for the first class of the pair (with two classes in all, for the second)
    imbalance_, cost_ : the models' training sets, and what they cost in all
    certificate_ : Certificate
        The sum of the parts'; ``verify`` recomputes each part.

    Examples
    --------
    >>> from separatrix import OneVsOneClassifier
    >>> X, y = [[0.0, 0.0], [0.0, 4.0], [4.0, 0.0]], ["a", "b", "c"]
    >>> model = OneVsOneClassifier().fit(X, y)
    >>> model.predict([[0.0, 3.0]]).tolist(), model.votes([[0.0, 3.0]]).tolist()
    (['b'], [[0, 2, -2]])
    """

    scheme: ClassVar[Scheme] = OneVersusOne()

    def votes(self, X: Any) -> Integers:
        """Σ_j sgn h_ij(x) for each class, (n, K); h_ij = 0 counts for the class that it predicts."""
        check_is_fitted(self)
        rows, names = rows_to_score(self, X)
        H = self._pairwise(rows, names)
        if len(self.classes_) > 2:
            return votes(H, len(self.classes_))
        second = np.where(self.scorer_.link.decides(H[:, 0]), 1, -1)
        return np.column_stack([-second, second])

    def _pairwise(self, rows: Any, names: list[str] | None) -> Array:
        if isinstance(self.scorer_, PartsScorer):
            return self.scorer_.parts_scores(rows, names)
        return self.scorer_.scores(rows, names)[:, None]

    @offered_where(parts_are_linear)
    def hyperplane(self, i: Any = None, j: Any = None) -> Hyperplane:
        """Where h_ij = 0, positive on i's side; with two classes i and j may be left out."""
        check_is_fitted(self)
        if isinstance(self.scorer_, Scorer):
            return self.scorer_.hyperplane(i, j)
        assert isinstance(self.scorer_, PartsScorer)
        return self.scorer_.hyperplane(i, j)
