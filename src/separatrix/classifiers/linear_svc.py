"""Linear support vector classification: a hyperplane with a soft margin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

import numpy as np

from separatrix.classifiers.base import ClassifierTraits
from separatrix.classifiers.description import Description
from separatrix.classifiers.fit_input import (
    FitInput,
    class_weights,
    refuse_weightless_classes,
    seed_of,
    totals_for,
    validate,
)
from separatrix.classifiers.hyperplane_search import Search, SeparatingClassifier
from separatrix.classifiers.sklearn_settings import (
    LINEAR_SVC,
    check_taken,
    say_what_is_done_instead,
    seeded,
    settings_of_work,
)
from separatrix.core.base.arrays import (
    check_C,
    check_choice,
    check_count,
    check_flag,
    check_not_negative,
    check_positive,
)
from separatrix.core.base.codec import COUNT
from separatrix.core.base.errors import ParameterError
from separatrix.core.base.machine import one_blas_thread
from separatrix.core.base.messages import Classifier, Message
from separatrix.core.base.watching import part
from separatrix.core.certificate import Recomputed
from separatrix.core.likelihood_claims import HingeClaim, summed
from separatrix.core.losses import LOSSES
from separatrix.core.penalty import Penalty
from separatrix.core.problem import build_objective
from separatrix.core.rows.protocol import Rows
from separatrix.core.rows.targets import Coding
from separatrix.core.rows.views import table_against_rest
from separatrix.core.scorer import Scorer
from separatrix.core.solvers.driver import delivered, run
from separatrix.core.solvers.registry import choose, chosen_by_user, named, with_settings
from separatrix.core.solvers.state import Need, Solver
from separatrix.core.solvers.stopping import Stopping

DESCRIPTION = Description(
    about="linear support vector classification (soft margin); one-versus-rest for more than two classes",
    claims={"hinge": "separatrix.core.likelihood_claims:HingeClaim"},
    fitted={"n_iter_": COUNT},
)


class LinearSVC(SeparatingClassifier):
    r"""Minimise C Σ_i s_i ℓ(t_i (w·x_i + b)) + ½ ‖w‖² with ℓ(m) = max(0, 1 − m)², or max(0, 1 − m).

    With two classes, t = ±1, this is the hyperplane w·x + b = 0 that trades a wide margin 2/‖w‖ against rows inside the
    margin or on the wrong side. With more classes there is one hyperplane for each class against the rest, and the
    largest score wins.

    The intercept b is not penalised. scikit-learn's ``LinearSVC`` penalises it, divided by ``intercept_scaling``, so
    its result depends on the origin of the columns; with a large ``intercept_scaling`` it approaches this one. With
    ``loss="hinge"`` the optimum is that of ``SVC(kernel="linear")``.

    Parameters
    ----------
    C : float, default 1.0
        Inverse strength of the penalty, as in scikit-learn. It must be finite.
    loss : "squared_hinge" or "hinge", default "squared_hinge"
        The loss ℓ. Any convex loss of the margin in ``separatrix.core.losses.LOSSES`` without probabilities is
        accepted.
    solver : str or solver object, default "auto"
        The solver: "auto", a name in ``separatrix.core.solvers.SOLVERS``, or a solver object. The hinge loss is not
        smooth, so it needs the solver "smoothing"; "sgd" only approaches its minimum.
    fit_intercept : bool, default True
        Whether to fit b; otherwise b = 0.
    class_weight : None, "balanced" or dict of label to factor, default None
        The weight of a row is multiplied by the factor of its class, in the objective of every score.
    tol : float, default 1e-8
        Stop once the objective is proven to be within ``tol`` times the null model's objective of its minimum.
    max_iter : int, default 1000
        Stop after this many iterations.
    random_state : int, RandomState or None, default None
        Seed for stochastic solvers.

    Other Parameters
    ----------------
    verbose : int, default 0
        Above 0, print a line for every iteration.
    dual : "auto" or bool, default "auto"
        Accepted for compatibility with scikit-learn, where it chooses a solver. The optimum is the same.
    penalty, intercept_scaling, multi_class
        Accepted for compatibility with scikit-learn. If a value would change the result there, a
        ``CompatibilityWarning`` says what is done instead.

    Attributes
    ----------
    classes_, coef_, intercept_, n_features_in_, feature_names_in_ : as in scikit-learn
    n_iter_ : int
        The largest number of iterations over the scores.
    has_sample_weight_ : bool or None
        Whether the fit had sample weights; None if it is not known.
    certificate_ : Certificate
        The objective is the one above divided by C times the total weight; with several scores, the sum of theirs. The
        bound on its gap is by duality, and ``verify(X, y)`` proves it from the rows alone.

    See Also
    --------
    MaxMarginClassifier : The limit C = ∞, for classes that a hyperplane separates.

    Examples
    --------
    >>> from separatrix import LinearSVC
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"]
    >>> model = LinearSVC(loss="hinge").fit(X, y)
    >>> model.coef_.round(4).tolist(), model.predict([[0.5], [2.5]]).tolist()
    ([[1.0]], ['no', 'yes'])
    >>> model.certificate_.code, bool(model.certificate_.verify(X, y))
    ('optimal', True)
    """

    traits: ClassVar[ClassifierTraits] = ClassifierTraits()

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: Literal["squared_hinge", "hinge"] | str = "squared_hinge",
        solver: str | Solver = "auto",
        fit_intercept: bool = True,
        class_weight: Literal["balanced"] | Mapping[Any, float] | None = None,
        tol: float = 1e-8,
        max_iter: int = 1000,
        random_state: Any = None,
        penalty: str = "l2",
        dual: bool | str = "auto",
        intercept_scaling: float = 1,
        multi_class: str = "ovr",
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.loss = loss
        self.solver = solver
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.penalty = penalty
        self.dual = dual
        self.intercept_scaling = intercept_scaling
        self.multi_class = multi_class
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the hyperplanes.

        Parameters
        ----------
        X : array (n, d), dense or sparse, or a table outside memory
            The rows. A table outside memory, such as a scan, has its labels and weights in columns of its own.
        y : array (n,)
            Class labels.
        sample_weight : array (n,) or None
            s_i above: weights >= 0; a row of weight 2 counts as two rows.

        Returns
        -------
        self

        Warns
        -----
        NotConvergedWarning
            If the solver stopped before it met ``tol``.
        CompatibilityWarning
            If a setting of scikit-learn has another effect here.
        """
        self._check_settings()
        solver = seeded(self, named(self.solver))
        task = validate(self, X, y, sample_weight)
        say_what_is_done_instead(self, LINEAR_SVC, task.n_classes)
        totals = totals_for(self.class_weight, task.table)
        by_class = class_weights(self.class_weight, task.classes, totals.weight)
        refuse_weightless_classes(task.classes, totals.weight * by_class)
        coding = Coding.of_likelihood(totals, None if self.class_weight is None else by_class)
        against_rest = table_against_rest(task.table, coding, task.n_classes)
        searches, values = list[Search](), list[Recomputed]()
        with one_blas_thread, settings_of_work(self):
            for rows in against_rest:
                with part("model", len(searches) + 1, len(against_rest)):
                    search, value = self._search(task, rows, solver)
                searches.append(search)
                values.append(value)
        self._keep_scorer(Scorer(np.vstack([search.W for search in searches]), task.classes, "sign"))
        self.n_iter_ = max(search.state.iteration for search in searches)
        self.n_parameters_ = len(searches) * (task.n_features + bool(self.fit_intercept))
        claim = HingeClaim(self.scorer_, float(self.C), bool(self.fit_intercept), by_class, self.loss)
        self._certify(task, searches, claim, values[0] if len(values) == 1 else summed(values, len(values)))
        self._warn_if_unmet()
        return self

    @property
    def solver_(self) -> str:
        """The name of the solver that was used."""
        return self.certificate_.solver

    def _check_settings(self) -> None:
        finite = Message("give a positive number; for the limit of a large C use ", Classifier("MaxMarginClassifier"))
        check_C(self.C, finite)
        if np.isinf(float(self.C)):
            raise ParameterError("C", f"got {self.C!r}", finite)
        check_choice("loss", self.loss, losses())
        check_not_negative("tol", self.tol)
        check_count("max_iter", self.max_iter, least=0)
        check_flag("fit_intercept", self.fit_intercept)
        check_taken(self, LINEAR_SVC)
        check_positive("intercept_scaling", self.intercept_scaling)
        seed_of(self.random_state)  # refuses an invalid seed, even for solvers that draw nothing

    def _search(self, task: FitInput, rows: Rows, solver: Solver | None) -> tuple[Search, Recomputed]:
        """Fit one score to the targets +1 (its class) and −1 (the rest), and evaluate its objective."""
        problem = build_objective(
            rows,
            2,
            Penalty(1.0 / float(self.C), np.ones(task.n_features)),
            bool(self.fit_intercept),
            solver is None or Need.STANDARD in solver.needs,
            task.names,
            loss=self.loss,
        )
        chosen, why = choose(problem) if solver is None else chosen_by_user(solver, problem)
        stopping = Stopping(tol=self.tol, max_iter=self.max_iter)
        outcome = run(chosen, problem, np.zeros(problem.shape), stopping, exact_weights=True)
        W, outcome = delivered(outcome, problem)
        state = outcome.state
        slope = float(np.linalg.norm(problem.subgradient(state.W, state.at.gradient)))
        value = Recomputed(state.at.value, problem.null_value, outcome.bound, slope)
        return Search(
            W, outcome.status, state, outcome.trace, problem, chosen.name, with_settings(why, chosen, state)
        ), value


def losses() -> list[str]:
    """The names of the losses that ``LinearSVC`` takes: convex, calibrated, of the margin, without probabilities.

    >>> losses()
    ['squared', 'hinge', 'squared_hinge']
    """
    known = ((name, loss.traits) for name, loss in LOSSES.items())
    return [name for name, T in known if T.convex and T.calibrated and T.by_margin and not T.proper]
