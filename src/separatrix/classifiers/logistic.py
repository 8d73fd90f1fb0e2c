"""Logistic regression: P(class | x) from linear scores, by maximum (penalised) likelihood. TEXTBOOK R1–R9."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from separatrix.base import errors
from separatrix.base.arrays import AnyArray, Array
from separatrix.base.concurrency import one_blas_thread
from separatrix.base.errors import ParameterError
from separatrix.base.zero_weight_classes import classes_with_weight, codes_within, with_absent
from separatrix.classifiers.bias_reduction import BIAS_REDUCTIONS
from separatrix.classifiers.description import (
    LINEAR_SCORER,
    VERDICT,
    Description,
    Setting,
    array,
    choice,
    number,
    record,
)
from separatrix.classifiers.fit_input import (
    FitInput,
    seed_of,
    validate,
)
from separatrix.classifiers.likelihood_certificate import likelihood_certificate
from separatrix.classifiers.likelihood_settings import check_settings, chooses_C, penalty_of, seeded, weights_of
from separatrix.classifiers.likelihood_start import start_of
from separatrix.classifiers.linear import Approach, LinearClassifier
from separatrix.classifiers.separated import APART, explained
from separatrix.classifiers.shared_descriptions import (
    CLASS_WEIGHT,
    L1_RATIO,
    LOSS,
    MAX_ITER,
    NO_INTERCEPT,
    SOLVER,
    TOL,
    C,
)
from separatrix.classifiers.sklearn_settings import (
    UNSET,
    C_of,
    l1_ratio_of,
    say_what_is_done_instead,
    settings_of_work,
    why_chosen,
)
from separatrix.losses import LOSSES
from separatrix.objectives.build import as_offset, build_objective
from separatrix.objectives.problem import Objective
from separatrix.rows import labelled_rows
from separatrix.scorers.scorer import Scorer, chosen_classes
from separatrix.solvers import Need, Run, Solver, choose, default_rules, delivered, named, refuse_unmet, run
from separatrix.tuning.penalty_choice import PenaltyChoice
from separatrix.tuning.penalty_scores import Question
from separatrix.tuning.penalty_search import choose_near, choose_penalty

DESCRIPTION = Description(
    about="logistic regression; softmax with several classes",
    settings=(
        C,
        LOSS,
        L1_RATIO,
        Setting(
            "--bias-reduction",
            "bias_reduction",
            "Firth's penalised likelihood in place of a penalty: finite weights where classes are separated.",
            words=("firth",),
        ),
        SOLVER,
        NO_INTERCEPT,
        CLASS_WEIGHT,
        TOL,
        MAX_ITER,
    ),
    claims={
        "likelihood": record(
            "separatrix.certificates.likelihood_claim:LikelihoodClaim",
            scorer=LINEAR_SCORER,
            C=number(above=0.0),
            penalty_factors=array("d", least=0),
            class_weights=array("K", least=0),
            loss=choice("separatrix.losses:LOSSES"),
            l1_ratio=number(0.0, 1.0),
        ),
        "firth": record(
            "separatrix.certificates.firth_claim:FirthClaim", scorer=LINEAR_SCORER, class_weights=array("K", least=0)
        ),
    },
    fitted={
        "C_": number(above=0.0),
        "n_iter_": array("", whole=True, least=0),
        "penalty_choice_": record(
            "separatrix.tuning.penalty_choice:PenaltyChoice",
            Cs=array("", finite=False),
            scores=array("", finite=False),
            standard_errors=array("", finite=False),
            refitted=array("", whole=True),
        ).maybe(),
        "separation_": VERDICT.maybe(),
    },
    traced=True,
    probabilities=True,
)


class LogisticRegression(LinearClassifier):
    r"""Minimise C Σ_i s_i ℓ(t_i, w·x_i + b) + Σ_j f_j (α |w_j| + ½ (1 − α) w_j²), with ℓ logistic or softmax.

    Two classes have one weight vector; K > 2 classes have K, for the softmax. The intercept is never penalised.
    The solver needs no scaling of columns: it works in coordinates of its own and answers in yours. The penalty is on
    the weights in your units, so a finite C does depend on them; ``C=np.inf`` does not.

    Parameters
    ----------
    C : float or "auto", default 1.0
        Inverse strength of the penalty, as in scikit-learn. ``np.inf``: maximum likelihood. "auto": the C at which rows
        left out are predicted best, by their log loss; ``penalty_choice_`` says how it was found.
    l1_ratio : float between 0 and 1, default 0.0
        α above: 0 is the ridge, 1 the lasso, which leaves most weights at exactly zero, between them the elastic net.
    loss : "logistic", "probit", "cloglog" or "squared-sigmoid", default "logistic"
        Which head the score has and what is minimised, for two classes: P = σ(z), Φ(z) or 1 − exp(−exp(z)) by
        likelihood, or the squared cost (y − σ(z))², which is not convex. More classes: "logistic" (softmax) only.
    solver : str or solver object, default "auto"
        "auto", a name in ``separatrix.solvers.SOLVERS`` such as "newton" or "lbfgs", or a solver object. "sgd" and
        "minibatch" are variance reduced, so that they reach ``tol``; ``solvers.StochasticDescent`` has plain steps, a
        decay and a patience.
        scikit-learn's "liblinear", "newton-cg", "newton-cholesky", "sag" and "saga" stand for "auto", since the optimum
        is the same; ``solver_`` says which one was used.
    fit_intercept : bool, default True
    class_weight : None, "balanced" or dict of label to factor
    penalty_factors : array (n_features,) or None
        f_j above; 0 leaves a column unpenalised.
    bias_reduction : None or "firth", default None
        "firth": maximise l + ½ ln |I| in place of all the above, with I the information (Firth 1993). Weights are
        finite where classes are separated. ``C`` and the penalty's other settings stay at their defaults; ``tol`` is
        then the penalised score's length in standard errors. ``separatrix.firth`` has its tests and intervals.
    tol : float, default 1e-8
        Stop once the objective is proven to be within ``tol`` times the null model's objective of its minimum. Losses
        other than "logistic" have no such proof but for "probit" with a finite C: there it is the gradient's length.
    max_iter : int, default 1000
        With 0 the weights are those of the start, and the certificate says how far from the optimum these are.
    start : "zero", "random" or array (K or 1, n_features + 1), default "zero"
        Where to start, intercepts in column 0, in the columns' own units.
    warm_start : bool, default False
        Start from the last fit's weights where the classes and columns are the same.
    random_state : int, RandomState or None
        For a random start and for stochastic solvers.
    penalty : "l1", "l2", "elasticnet" or None
        As in scikit-learn, where it is deprecated: "l2" is ``l1_ratio=0``, "l1" is ``l1_ratio=1``, and None is
        ``C=np.inf``.
    verbose : int, default 0
        Above 0, print a line for every iteration.
    n_jobs : int or None
        The number of threads, −1 for all cores; None leaves it to ``separatrix.threads``. It changes no bit of the fit.
    dual, intercept_scaling, multi_class
        Accepted for scikit-learn's sake. A value that would change something there is answered by one
        ``CompatibilityWarning``, which says what is done instead.

    Attributes
    ----------
    classes_, coef_, intercept_, n_iter_, n_features_in_, feature_names_in_ : as in scikit-learn
        Writing ``coef_`` or ``intercept_`` changes the predictions, and takes the certificate away.
    certificate_ : Certificate
        How good the fit is, with ``verify(X, y)``.
    solver_ : str
        The name of the solver that was used.
    C_ : float
        The C of the fit, given or chosen.
    separation_ : Separable, QuasiSeparable or None
        Where no optimum exists: the verdict on the classes, with the direction in which weights grow for ever.
    penalty_choice_ : PenaltyChoice or None
        With ``C="auto"``, every C tried and its score.
    trace_ : tuple of Record
        Objective, gradient and bound at every iteration.

    Examples
    --------
    >>> from separatrix import LogisticRegression
    >>> model = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"])
    >>> model.predict([[0.5], [2.5]]).tolist()
    ['no', 'yes']
    >>> model.certificate_.code, bool(model.certificate_.verify([[0], [1], [2], [3]], ["no", "no", "yes", "yes"]))
    ('optimal', True)
    """

    approach: ClassVar[Approach] = "discriminative"
    has_probabilities: ClassVar[bool] = DESCRIPTION.probabilities

    def __init__(
        self,
        C: float | str = 1.0,
        *,
        l1_ratio: float = 0.0,
        loss: str = "logistic",
        solver: str | Solver = "auto",
        fit_intercept: bool = True,
        class_weight: Any = None,
        penalty_factors: Any = None,
        bias_reduction: str | None = None,
        tol: float = 1e-8,
        max_iter: int = 1000,
        start: Any = "zero",
        warm_start: bool = False,
        random_state: Any = None,
        penalty: str | None = UNSET,
        dual: bool = False,
        intercept_scaling: float = 1,
        multi_class: str | None = UNSET,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.C = C
        self.l1_ratio = l1_ratio
        self.loss = loss
        self.solver = solver
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.penalty_factors = penalty_factors
        self.bias_reduction = bias_reduction
        self.tol = tol
        self.max_iter = max_iter
        self.start = start
        self.warm_start = warm_start
        self.random_state = random_state
        self.penalty = penalty
        self.dual = dual
        self.intercept_scaling = intercept_scaling
        self.multi_class = multi_class
        self.verbose = verbose
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> Self:
        """Fit to rows X (n, d), dense or sparse, with any labels y (n,).

        ``offset``: known parts of the scores, (n,) for two classes, (n, K) for more, added as they are; fitting with
        one copies X. Predictions leave it out unless it is given to them, too.
        """
        check_settings(self)
        task = validate(self, X, y, sample_weight)
        beside = as_offset(offset, len(task.codes), 1 if task.n_classes == 2 else task.n_classes)
        if beside is not None and l1_ratio_of(self) > 0:
            came = f"got one with l1_ratio={l1_ratio_of(self)}"
            raise ParameterError("offset", came, "use l1_ratio=0 beside an offset")
        say_what_is_done_instead(self, task.n_classes)
        with one_blas_thread, settings_of_work(self):
            return self._fit(task, beside)

    def decision_function(self, X: Any, offset: Any = None) -> Array:
        """Scores: (n,) for two classes, positive for the second; (n, K) for more. ``offset`` is added to them."""
        z = super().decision_function(X)
        beside = as_offset(offset, len(z), 1 if z.ndim == 1 else z.shape[1])
        return z if beside is None else z + beside.reshape(z.shape)

    def predict(self, X: Any, offset: Any = None) -> AnyArray:
        """The most probable class of each row; of equally probable ones the first."""
        if offset is None:
            return super().predict(X)
        return chosen_classes(self.decision_function(X, offset), self.classes_, self.scorer_.link)

    def predict_proba(self, X: Any, offset: Any = None) -> Array:
        """P(class | x), (n, K), columns in the order of ``classes_``."""
        if offset is None:
            return super().predict_proba(X)  # type: ignore[no-any-return]
        with np.errstate(under="ignore"):
            return np.asarray(np.exp(self.predict_log_proba(X, offset)))

    def predict_log_proba(self, X: Any, offset: Any = None) -> Array:
        """ln P(class | x), (n, K)."""
        if offset is None:
            return super().predict_log_proba(X)  # type: ignore[no-any-return]
        return self.scorer_.link.log_probabilities(self.decision_function(X, offset))

    def _fit(self, task: FitInput, offset: Array | None) -> Self:
        weight, by_class = weights_of(self, task)
        if self.bias_reduction is not None:
            BIAS_REDUCTIONS[self.bias_reduction](self, task, offset, weight, by_class)
            return self
        whole, held = task, classes_with_weight(task.codes, weight, task.n_classes)
        if not held.all() and held.any():
            if offset is not None:
                raise ParameterError("offset", "got one, and a class has no weight", "drop the rows of that class")
            codes = codes_within(task.codes, held)
            task = replace(task, codes=codes, classes=task.classes[held], before=None)
        solver = seeded(self, named(self.solver))
        self.C_, self.penalty_choice_, near, posed = self._chosen(task, weight, offset)
        standard = solver is None or Need.STANDARD in solver.needs
        problem = (
            posed
            if posed is not None and standard
            else build_objective(
                labelled_rows(task.X, task.codes, task.n_classes, weight, offset),
                task.n_classes,
                penalty_of(self, task.X.shape[1], self.C_),
                self.fit_intercept,
                standard,
                task.names,
                loss=self.loss,
                n_offsets=0 if offset is None else offset.shape[1],
            )
        )
        why = f"{getattr(solver, 'name', '')}: asked for"
        if solver is None:
            solver, why = choose(problem) if near is None else choose_near(problem)
            why = why_chosen(self, why)
        refuse_unmet(solver, problem)
        start = start_of(self, problem, task, solver, near)
        outcome = run(solver, problem, start, default_rules(self.tol, self.max_iter), self.tol, exact_weights=True)
        W, outcome = delivered(outcome, problem, self.tol)
        self.separation_, outcome = explained(task, weight, problem, outcome, self.fit_intercept)
        W = W if task is whole else with_absent(W, held)
        self._keep(whole, by_class, problem, W, outcome, solver, why)
        return self

    def _chosen(
        self, task: FitInput, weight: Array, offset: Array | None
    ) -> tuple[float, PenaltyChoice | None, Array | None, Objective | None]:
        """C, how it was chosen, weights near its fit, and its problem; nothing of these but C where that is given."""
        if not chooses_C(self):
            return float(C_of(self)), None, None, None
        asked = (task.X, task.codes, task.n_classes, weight, penalty_of(self, task.X.shape[1], 1.0), self.fit_intercept)
        seed = seed_of(self.random_state)
        found = choose_penalty(Question(*asked, task.names, self.loss, offset, seed, self.max_iter, self.tol))
        return found.choice.C, found.choice, found.W, found.problem

    @property
    def solver_(self) -> str:
        """The name of the solver that was used."""
        return self.certificate_.solver

    def _link_name(self, n_classes: int) -> str:
        return LOSSES[self.loss].traits.head.name if n_classes == 2 else "softmax"

    def _keep(
        self,
        task: FitInput,
        by_class: Array,
        problem: Objective,
        W: Array,
        outcome: Run,
        solver: Solver,
        why: str,
    ) -> None:
        self._keep_scorer(Scorer(W, task.classes, problem.loss.traits.head.name if len(W) == 1 else "softmax"))
        self.n_iter_ = np.array([outcome.state.iteration], dtype=np.int32)
        self.trace_ = outcome.trace
        self.n_parameters_ = (task.n_classes - 1) * (task.X.shape[1] + problem.fit_intercept)
        self.certificate_ = likelihood_certificate(self, task, by_class, problem, outcome, solver, why)
        if not outcome.status.met:
            kind = errors.SeparationWarning if outcome.status.code in APART else errors.NotConvergedWarning
            warnings.warn(outcome.status.sentence, kind, stacklevel=4)
