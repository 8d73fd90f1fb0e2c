"""The hyperplane of maximum margin as a classifier (docs/tour.md, P10)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from separatrix.classifiers.base import ClassifierTraits
from separatrix.classifiers.description import MARGIN, SEARCHED, SEPARATION, Description, Requires
from separatrix.classifiers.hyperplane_search import HullClassifier, Search, isotropic
from separatrix.core.base.codec import ROWS, Number
from separatrix.core.problem import Objective
from separatrix.core.rows.protocol import Rows
from separatrix.core.separation_claims import Support
from separatrix.core.solvers.convex_hulls import (
    NearestPoint,
    NearestPointMemory,
    difference_of_means,
    multipliers,
    sides,
)
from separatrix.core.solvers.driver import run
from separatrix.core.solvers.separation_problem import HullMemory
from separatrix.core.solvers.separation_stopping import (
    INSEPARABLE,
    LargestMargin,
    OutOfSteps,
    ProvenInseparable,
)
from separatrix.core.solvers.stopping import Rule, Status, Stopping

DESCRIPTION = Description(
    about="the separating hyperplane with the largest margin",
    claims={"margin": MARGIN, "separation": SEPARATION},
    fitted={**SEARCHED, "margin_": Number(), "support_": ROWS},
    traced=True,
    requires=(Requires.SEPARABLE_CLASSES,),
)


class MaxMarginClassifier(HullClassifier):
    r"""Minimise ‖w‖ subject to t_i (w·x_i + b) ≥ 1: the separating hyperplane of maximum margin (docs/tour.md, P10).

    The solution is exact up to rounding: the weights, the support rows and their multipliers satisfy the conditions of
    Karush, Kuhn and Tucker. The certificate bounds the largest margin from below by 1/‖w‖, and from above by half the
    distance between the nearest points of the two convex hulls. If rounding leaves the two bounds more than a millionth
    apart, the status gives both. There is no ``sample_weight``, since repeating a row does not change the hulls.

    If the classes overlap, there is no such hyperplane. The certificate's status then names rows that prove it, and
    the weights minimise the sum over the classes of the mean of max(0, 1 − m). With more than two classes there is one
    hyperplane for each class against the rest, and the largest signed distance decides. Distances are in the units of
    the columns, which are not scaled.

    Parameters
    ----------
    fit_intercept : bool, default True
        If False, hyperplanes pass through the origin.
    max_iter : int, default 10000
        The maximum number of steps. Each is one pass over the rows.

    Attributes
    ----------
    classes_, coef_, intercept_, n_iter_, n_features_in_, feature_names_in_ : as in scikit-learn
    margin_ : float
        The smallest signed distance of a row to its hyperplane, over all classes; negative if a row is misclassified.
    support_ : array of row numbers
        The support rows over all classes: the nearest points of the hulls that the search found are convex combinations
        of them. A fit to these rows alone gives the same hyperplane. None if the classes overlap.
    certificate_, trace_ : the evidence, and the upper bound on the margin at every step

    Examples
    --------
    >>> from separatrix import MaxMarginClassifier
    >>> X, y = [[0, 0], [1, 0], [3, 1], [3, -1], [9, 9]], [0, 0, 1, 1, 1]
    >>> model = MaxMarginClassifier().fit(X, y)
    >>> model.margin_, model.support_.tolist(), model.coef_.round(12).tolist(), model.intercept_.round(12).tolist()
    (1.0, [1, 2, 3], [[1.0, 0.0]], [-2.0])
    """

    # There are no weights, and repeating a row changes nothing.
    traits: ClassVar[ClassifierTraits] = ClassifierTraits(
        repeatable=False,
        in_memory="if the classes are not separable, it proves this by linear programs over the rows",
        instead="LinearSVC with a large C, or separability for the proof",
    )

    def __init__(self, *, fit_intercept: bool = True, max_iter: int = 10_000) -> None:
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter

    def _keep_supports(self, found: Sequence[tuple[Search[HullMemory], Support]]) -> None:
        supports = [support.rows for search, support in found if search.status.code != INSEPARABLE]
        self.support_ = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *supports]))

    def _search(self, rows: Rows, names: list[str] | None) -> tuple[Search[HullMemory], Support]:
        problem = isotropic(rows, bool(self.fit_intercept), names)
        proof = ProvenInseparable()
        rules: list[Rule[NearestPointMemory]] = [
            LargestMargin(proof, relative=1e-11),  # rounding stops most fits well below it
            OutOfSteps(self.max_iter, proof),
        ]
        known = self._overlap(problem, proof)
        if known is not None:
            rules = [lambda *_: known]
        outcome = run(NearestPoint(head_start=known is None), problem, np.zeros(problem.shape), Stopping(rules))
        state = outcome.state
        W, lower = problem.rows.frame.to_original(state.W), state.memory.lower
        if lower > 0:
            W = W / (lower * np.linalg.norm(W[0, 1:]))
        solver, why = "nearest-point", "nearest-point: the exact method"
        search = Search(W, outcome.status, state, outcome.trace, problem, solver, why, proof.verdict)
        return search, Support(*multipliers(state))

    @staticmethod
    def _overlap(problem: Objective, proof: ProvenInseparable) -> Status | None:
        """A proof by a few rows that no hyperplane separates the classes; None if there is none, or if it is not tried.

        It is tried if the perpendicular bisector of the means does not separate the classes. It takes milliseconds,
        while the search for the nearest points of the hulls takes a hundred, and then needs such a proof as well.
        """
        W = np.zeros(problem.shape)
        W[0, 1:] = difference_of_means(problem)
        least = sides(problem, W).least
        apart = sum(least) if problem.fit_intercept else min(least)
        return None if apart > 0 else proof.ask(problem, by_sample=True)
