"""One versus one: a model for each pair of classes; the models vote (docs/tour.md, M1, M3)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from separatrix.classifiers.description import ONE_VERSUS, PARTS_CLAIM, Description, Requires
from separatrix.classifiers.fit_input import scored
from separatrix.classifiers.one_versus import OneVersus
from separatrix.core.base.arrays import Array, Integers
from separatrix.core.schemes import OneVersusOne, PartsScorer, Scheme, votes

DESCRIPTION = Description(
    about="a model for each pair of classes; the models vote",
    scorers=("linear", "parts"),
    claims={"parts": PARTS_CLAIM},
    fitted=ONE_VERSUS,
    requires=(Requires.MORE_THAN_TWO_CLASSES,),
    parts=("logistic", "perceptron"),
)


class OneVsOneClassifier(OneVersus):
    r"""argmax_i Σ_j sgn h_ij(x), with K(K − 1)/2 models h_ij = −h_ji, each trained on two classes' rows.

    See docs/tour.md, M1.

    Ties between votes are broken by the sum of signed distances Σ_j h_ij/‖w_ij‖ if the models are linear, and by the
    sum of scores if not. Votes are not probabilities.

    Parameters
    ----------
    estimator : classifier or regressor, default LogisticRegression()
        Cloned for each model. A classifier needs ``decision_function`` or ``predict_proba``; a regressor is fitted to
        the targets 0 and 1.
    n_jobs : int or None, default None
        How many models to fit in parallel; for an estimator of this package, the number of threads of each fit.
    verbose : int, default 0
        Above 0, print what is being fitted.

    Attributes
    ----------
    estimators_ : list
        The fitted models, in the order of ``schemes.pairs``. A positive score means the first class of the pair
        (with two classes in all, for the second).
    imbalance_ : array (models, 2)
        How many rows each model has for its first class and for its second.
    cost_ : SchemeCost
        The sizes of the training sets, and their total.
    has_sample_weight_ : bool or None
        Whether the fit had sample weights; None if it is not known.
    certificate_ : Certificate
        The sum of the parts' certificates; ``verify`` recomputes each part.

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
        """Count the votes Σ_j sgn h_ij(x) of each class; h_ij = 0 counts for the class that the model predicts.

        Parameters
        ----------
        X : array (n, d), dense or sparse
            The rows.

        Returns
        -------
        array (n, K) of int
        """
        check_is_fitted(self)
        H = scored(self, X, self._pairwise)
        if len(self.classes_) > 2:
            return votes(H, len(self.classes_))
        second = np.where(self.scorer_.link.decides(H[:, 0]), 1, -1)
        return np.column_stack([-second, second])

    def _pairwise(self, rows: Any, names: list[str] | None) -> Array:
        if isinstance(self.scorer_, PartsScorer):
            return self.scorer_.parts_scores(rows, names)
        return self.scorer_.scores(rows, names)[:, None]
