"""Kozinec's algorithm as a classifier (docs/tour.md, P9)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from separatrix.classifiers.base import ClassifierTraits
from separatrix.classifiers.description import MARGIN, SEARCHED, SEPARATION, Description, Requires
from separatrix.classifiers.hyperplane_search import HullClassifier, Search, isotropic
from separatrix.core.base.arrays import check_positive
from separatrix.core.base.codec import Number
from separatrix.core.rows.protocol import Rows
from separatrix.core.separation_claims import Support
from separatrix.core.solvers.convex_hulls import Kozinec
from separatrix.core.solvers.driver import run
from separatrix.core.solvers.separation_problem import HullMemory
from separatrix.core.solvers.separation_stopping import (
    LargestMargin,
    OutOfSteps,
    ProvenInseparable,
)
from separatrix.core.solvers.stopping import Stopping

DESCRIPTION = Description(
    about="Kozinec's algorithm: a separating hyperplane with a margin",
    claims={"margin": MARGIN, "separation": SEPARATION},
    fitted={**SEARCHED, "margin_": Number()},
    traced=True,
    requires=(Requires.SEPARABLE_CLASSES,),
)


class KozinecClassifier(HullClassifier):
    r"""The bisector of α and β, points in the convex hulls of the two classes (docs/tour.md, P9).

    Each step moves α or β towards a row, so that the two points approach each other. No hyperplane has a margin larger
    than ½‖α − β‖. Without ``eps``, the fit stops at the first hyperplane that separates the classes. With ``eps``, it
    stops once the smallest distance of a row is within ``eps`` of ½‖α − β‖, which proves that the margin is within
    ``eps`` of the largest one. The number of steps grows like 1/eps; ``MaxMarginClassifier`` finds the largest margin
    itself.

    If the classes overlap, the certificate's status names rows that prove it, and the weights minimise the sum over the
    classes of the mean of max(0, 1 − m). With more than two classes there is one hyperplane for each class against the
    rest, and the largest signed distance decides. There is no ``sample_weight``, since repeating a row does not change
    the hulls.

    Parameters
    ----------
    eps : float or None, default None
        Stop when the margin is proven to be within this distance of the largest margin, in the units of X.
    max_iter : int, default 10000
        The maximum number of steps. Each is one pass over the rows.

    Attributes
    ----------
    classes_, coef_, intercept_, n_iter_, n_features_in_, feature_names_in_ : as in scikit-learn
    margin_ : float
        The smallest signed distance of a row to its hyperplane, over all classes; negative if a row is misclassified.
    certificate_, trace_ : the evidence, and ½‖α − β‖ at every step

    Examples
    --------
    >>> from separatrix import KozinecClassifier
    >>> X, y = [[0, 0], [1, 0], [3, 1], [3, -1]], [0, 0, 1, 1]
    >>> model = KozinecClassifier(eps=1e-3).fit(X, y)
    >>> round(model.margin_, 2), model.predict([[1.9, 0], [2.1, 0]]).tolist()
    (1.0, [0, 1])
    """

    # If several rows are equally far, the first is taken, so the result depends on the order. There are no weights.
    traits: ClassVar[ClassifierTraits] = ClassifierTraits(
        order_free=False,
        repeatable=False,
        in_memory="it keeps a weight for each row, which proves the margin",
        instead="Perceptron, or separability for the proof",
    )

    def __init__(self, eps: float | None = None, *, max_iter: int = 10_000) -> None:
        self.eps = eps
        self.max_iter = max_iter

    def _check_settings(self) -> None:
        super()._check_settings()
        if self.eps is not None:
            check_positive("eps", self.eps, "give a positive distance, or None to stop at the first separation")

    def _search(self, rows: Rows, names: list[str] | None) -> tuple[Search[HullMemory], Support]:
        problem = isotropic(rows, True, names)
        proof = ProvenInseparable()
        known = LargestMargin(proof, eps=np.inf if self.eps is None else float(self.eps))
        stopping = Stopping([known, proof, OutOfSteps(self.max_iter, proof)])
        outcome = run(Kozinec(), problem, np.zeros(problem.shape), stopping)
        W = problem.rows.frame.to_original(outcome.state.W)
        share = outcome.state.memory.share
        support = np.flatnonzero(share > 0)
        why = "kozinec: the method of this classifier"
        search = Search(W, outcome.status, outcome.state, outcome.trace, problem, "kozinec", why, proof.verdict)
        return search, Support(support, share[support])
