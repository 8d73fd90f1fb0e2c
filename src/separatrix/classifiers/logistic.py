"""Logistic regression: P(class | x) from linear scores, by maximum or penalised likelihood (docs/tour.md, R1–R9)."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from separatrix.base import errors
from separatrix.base.arrays import Array, Booleans
from separatrix.base.concurrency import one_blas_thread
from separatrix.base.errors import ParameterError
from separatrix.base.zero_weight_classes import with_absent
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
from separatrix.classifiers.likelihood_settings import (
    check_settings,
    chooses_C,
    coding_of,
    penalty_of,
    refuse_outside_memory,
)
from separatrix.classifiers.likelihood_start import start_of
from separatrix.classifiers.linear import Approach
from separatrix.classifiers.offset_predictions import OffsetPredictions
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
    LOGISTIC,
    UNSET,
    C_of,
    l1_ratio_of,
    say_what_is_done_instead,
    seeded,
    settings_of_work,
    why_chosen,
)
from separatrix.losses import LOSSES
from separatrix.objectives.build import as_offset, build_objective
from separatrix.objectives.problem import Objective
from separatrix.rows.coding import Coding
from separatrix.scorers.scorer import Scorer
from separatrix.solvers import Need, Run, Solver, choose, default_rules, delivered, named, refuse_unmet, run
from separatrix.tuning.penalty_choice import PenaltyChoice
from separatrix.tuning.penalty_question import Question
from separatrix.tuning.penalty_search import choose_near, choose_penalty

DESCRIPTION = Description(
    about="logistic regression; softmax regression for more than two classes",
    settings=(
        C,
        LOSS,
        L1_RATIO,
        Setting(
            "--bias-reduction",
            "bias_reduction",
            "For logistic: maximise Firth's penalised likelihood, which has finite weights even for separable classes.",
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
    offers={"loss": ("logistic", "probit", "cloglog", "squared-sigmoid")},
)


class LogisticRegression(OffsetPredictions):
    r"""Minimise C Σ_i s_i ℓ(t_i, w·x_i + b) + Σ_j f_j (α |w_j| + ½ (1 − α) w_j²), with ℓ logistic or softmax.

    Two classes have one weight vector; K > 2 classes have K, for the softmax. The intercept is never penalised.
    Columns need no scaling for the solver to converge: it standardises them itself and returns weights in the original
    units. The penalty is on the weights in the original units, so the fit with a finite C depends on these units, and
    the fit with ``C=np.inf`` does not.

    Parameters
    ----------
    C : float or "auto", default 1.0
        Inverse strength of the penalty, as in scikit-learn. ``np.inf``: maximum likelihood. "auto": the C with the
        smallest log loss on held-out rows; ``penalty_choice_`` says how it was found.
    l1_ratio : float between 0 and 1, default 0.0
        α above: 0 is the ridge, 1 the lasso, which sets many weights to exactly zero; in between, the elastic net.
    loss : "logistic", "probit", "cloglog" or "squared-sigmoid", default "logistic"
        The loss, for two classes. The first three are the negative log-likelihoods of P = σ(z), Φ(z) and
        1 − exp(−exp(z)). The last is the squared error (y − σ(z))², which is not convex. More than two classes take
        "logistic" (softmax) only.
    solver : str or solver object, default "auto"
        "auto", a name in ``separatrix.solvers.SOLVERS`` such as "newton" or "lbfgs", or a solver object. "sgd" and
        "minibatch" use variance reduction, so that they reach ``tol``; ``solvers.StochasticDescent`` takes plain steps
        with a decay and a patience.
        scikit-learn's "liblinear", "newton-cg", "newton-cholesky", "sag" and "saga" mean "auto", since the optimum is
        the same; ``solver_`` says which one was used.
    fit_intercept : bool, default True
        Whether to fit b; otherwise b = 0.
    class_weight : None, "balanced" or dict of label to factor, default None
        The weight of a row is multiplied by the factor of its class. "balanced" gives every class the same weight.
    penalty_factors : array (n_features,) or None, default None
        f_j above, 1 by default; 0 leaves a column unpenalised.
    bias_reduction : None or "firth", default None
        "firth": maximise l + ½ ln |I| instead of the objective above, where l is the log-likelihood and I the
        information matrix (Firth 1993). Its weights are finite even if the classes are separated. ``C`` and the other
        settings of the penalty must keep their defaults; ``tol`` is then a tolerance on the length of the penalised
        score in standard errors. ``separatrix.firth`` has tests and confidence intervals.
    tol : float, default 1e-8
        Stop once the objective is proven to be within ``tol`` times the null model's objective of its minimum. Only
        "logistic", and "probit" with a finite C, have such a proof; for the others ``tol`` is a tolerance on the length
        of the gradient.
    max_iter : int, default 1000
        Stop after this many iterations. With 0 the weights are those of the start, and the certificate says how far
        from the optimum they are.
    start : "zero", "random" or array (K or 1, n_features + 1), default "zero"
        Where to start. An array has the intercepts in column 0 and is in the units of the columns.
    warm_start : bool, default False
        Start from the weights of the last fit if classes and columns are the same.
    random_state : int, RandomState or None, default None
        Seed for a random start and for stochastic solvers.
    penalty : "l1", "l2", "elasticnet" or None
        As in scikit-learn, where it is deprecated: "l2" means ``l1_ratio=0``, "l1" means ``l1_ratio=1``, and None means
        ``C=np.inf``.
    verbose : int, default 0
        Above 0, print a line for every iteration.
    n_jobs : int or None, default None
        The number of threads, −1 for all cores; None leaves it to ``separatrix.threads``. The fit is the same, bit by
        bit, for any number.
    dual, intercept_scaling, multi_class
        Accepted for compatibility with scikit-learn. If a value would change the result there, a
        ``CompatibilityWarning`` says what is done instead.

    Attributes
    ----------
    classes_, coef_, intercept_, n_iter_, n_features_in_, feature_names_in_ : as in scikit-learn
        Changing ``coef_`` or ``intercept_`` changes the predictions and removes the certificate.
    has_sample_weight_ : bool or None
        Whether the fit had sample weights; None if it is not known.
    certificate_ : Certificate
        How good the fit is, with ``verify(X, y)``.
    solver_ : str
        The name of the solver that was used.
    C_ : float
        The C of the fit, given or chosen.
    separation_ : Separable, QuasiSeparable or None
        If no optimum exists: why the classes are separated, with the direction in which the weights grow without bound.
    penalty_choice_ : PenaltyChoice or None
        With ``C="auto"``: every C tried and its score.
    trace_ : tuple of Record
        Objective and gradient at every iteration, and the bound where it was computed.

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

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, offset: Any = None) -> Self:
        """Fit the weights.

        Parameters
        ----------
        X : array (n, d), dense or sparse, or a table outside memory
            The rows. A table outside memory, such as a scan, has its labels and weights in columns of its own.
        y : array (n,)
            Class labels.
        sample_weight : array (n,) or None
            s_i above: weights >= 0; a row of weight 2 counts as two rows.
        offset : array (n,) for two classes, (n, K) for more, or None
            Known terms that are added to the scores. Fitting with an offset copies X. Predictions use an offset only if
            it is given to them, too.

        Returns
        -------
        self

        Warns
        -----
        SeparationWarning
            If no optimum exists, since the classes are separated and there is no penalty.
        NotConvergedWarning
            If the solver stopped before it met ``tol``.
        CompatibilityWarning
            If a setting of scikit-learn has another effect here.
        """
        check_settings(self)
        task = validate(self, X, y, sample_weight)
        refuse_outside_memory(self, task, offset)
        n_scores = 1 if task.n_classes == 2 else task.n_classes
        added = None if offset is None else as_offset(offset, task.n_rows, n_scores)
        if added is not None and l1_ratio_of(self) > 0:
            problem = f"got one with l1_ratio={l1_ratio_of(self)}"
            raise ParameterError("offset", problem, "use l1_ratio=0 with an offset")
        say_what_is_done_instead(self, LOGISTIC, task.n_classes)
        with one_blas_thread, settings_of_work(self):
            return self._fit(task, added)

    def _fit(self, task: FitInput, offset: Array | None) -> Self:
        coding, by_class = coding_of(self, task)
        if self.bias_reduction is not None:
            BIAS_REDUCTIONS[self.bias_reduction](self, task, offset, coding, by_class)
            return self
        whole = task
        if coding.held is not None:
            task = _with_classes(task, coding.held, offset)
        solver = seeded(self, named(self.solver))
        self.C_, self.penalty_choice_, near, problem = self._chosen(task, coding, offset)
        standard = solver is None or Need.STANDARD in solver.needs
        if problem is None or not standard:
            problem = self._objective(task, coding, offset, standard)
        why = f"{getattr(solver, 'name', '')}: chosen by the user"
        if solver is None:
            solver, why = choose(problem) if near is None else choose_near(problem)
            why = why_chosen(self, why)
        else:
            refuse_unmet(solver, problem)
        start = start_of(self, problem, task, solver, near)
        outcome = run(solver, problem, start, default_rules(self.tol, self.max_iter), self.tol, exact_weights=True)
        W, outcome = delivered(outcome, problem, self.tol)
        self.separation_, outcome = explained(task, coding, problem, outcome, self.fit_intercept)
        W = W if coding.held is None else with_absent(W, coding.held)
        self._keep(whole, by_class, problem, W, outcome, solver, why)
        return self

    def _chosen(
        self, task: FitInput, coding: Coding, offset: Array | None
    ) -> tuple[float, PenaltyChoice | None, Array | None, Objective | None]:
        """C, how it was chosen, weights near its optimum, and its objective; the last three are None if C is given."""
        if not chooses_C(self):
            return float(C_of(self)), None, None, None
        rows = task.likelihood_rows(coding, offset)
        asked = (rows, task.n_classes, penalty_of(self, task.n_features, 1.0), self.fit_intercept, task.names)
        n_offsets, seed = 0 if offset is None else offset.shape[1], seed_of(self.random_state)
        chosen = choose_penalty(Question(*asked, self.loss, n_offsets, seed, self.max_iter, self.tol))
        return chosen.choice.C, chosen.choice, chosen.W, chosen.problem

    def _objective(self, task: FitInput, coding: Coding, offset: Array | None, standard: bool) -> Objective:
        """The objective with the penalty of ``C_``, in standard coordinates if the solver needs them."""
        return build_objective(
            task.likelihood_rows(coding, offset),
            task.n_classes,
            penalty_of(self, task.n_features, self.C_),
            self.fit_intercept,
            standard,
            task.names,
            loss=self.loss,
            n_offsets=0 if offset is None else offset.shape[1],
        )

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
        if task.row_names is not None:
            outcome = replace(outcome, status=replace(outcome.status, sentence=task.told(outcome.status.sentence)))
        self._keep_scorer(Scorer(W, task.classes, problem.loss.traits.head.name if len(W) == 1 else "softmax"))
        self.n_iter_ = np.array([outcome.state.iteration], dtype=np.int32)
        self.trace_ = outcome.trace
        self.n_parameters_ = (task.n_classes - 1) * (task.n_features + problem.fit_intercept)
        self.certificate_ = likelihood_certificate(self, task, by_class, problem, outcome, solver, why)
        if not outcome.status.met:
            kind = errors.SeparationWarning if outcome.status.code in APART else errors.NotConvergedWarning
            warnings.warn(outcome.status.sentence, kind, stacklevel=4)


def _with_classes(task: FitInput, held: Booleans, offset: Array | None) -> FitInput:
    """The same rows with only the classes that have weight."""
    if offset is not None:
        raise ParameterError("offset", "got one, and a class has no weight", "drop the rows of that class")
    return replace(task, classes=task.classes[held], before=None)
