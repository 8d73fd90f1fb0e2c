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
from separatrix.base.zero_weight_classes import FAR, classes_with_weight, codes_within, with_absent
from separatrix.certificates.certificate import Certificate, Recomputed
from separatrix.certificates.likelihood_claim import LikelihoodClaim
from separatrix.classifiers.bias_reduction import BIAS_REDUCTIONS, check_bias_reduction
from separatrix.classifiers.fit_input import (
    FitInput,
    check_choice,
    check_count,
    check_flag,
    check_not_negative,
    check_positive,
    is_number,
    seed_of,
    validate,
)
from separatrix.classifiers.linear import Approach, LinearClassifier
from separatrix.classifiers.separated import APART, explained
from separatrix.classifiers.sklearn_settings import (
    UNSET,
    C_of,
    check_taken,
    l1_ratio_of,
    say_what_is_done_instead,
    settings_of_work,
    why_chosen,
)
from separatrix.classifiers.weights import class_weights, refuse_weightless_classes
from separatrix.losses import LOSSES
from separatrix.objective.bound import Bound
from separatrix.objective.build import as_offset, build_objective
from separatrix.objective.penalty import Penalty
from separatrix.objective.problem import Objective
from separatrix.rows import labelled_rows
from separatrix.scorers.scorer import Scorer, chosen_classes
from separatrix.solvers import Need, Run, Solver, choose, default_rules, delivered, named, refuse_unmet, run
from separatrix.tuning.penalty_choice import PenaltyChoice
from separatrix.tuning.penalty_scores import Question
from separatrix.tuning.penalty_search import choose_near, choose_penalty

# Losses that give one score a probability.
HEADS = [name for name, loss in LOSSES.items() if loss.traits.proper and not loss.traits.multiclass]


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
        "auto", "newton", "chord", "sampled-newton", "lbfgs", "gradient-descent", "sgd", "minibatch"; with absolute
        values "proximal-newton", "working-set"; or one of ``separatrix.solvers``. "sgd" and "minibatch" are variance
        reduced, so that they reach ``tol``; ``solvers.StochasticDescent`` has plain steps, a decay and a patience.
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
        other than "logistic" have no such proof: there it is the gradient's length.
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
    has_probabilities: ClassVar[bool] = True

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
        self._check_settings()
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
        weight, by_class = self._row_weights(task)
        if self.bias_reduction is not None:
            BIAS_REDUCTIONS[self.bias_reduction](self, task, offset, weight, by_class)
            return self
        whole, held = task, classes_with_weight(task.codes, weight, task.n_classes)
        if not held.all() and held.any():
            if offset is not None:
                raise ParameterError("offset", "got one, and a class has no weight", "drop the rows of that class")
            codes = codes_within(task.codes, held)
            task = replace(task, codes=codes, classes=task.classes[held], before=None)
        solver = self._seeded(named(self.solver))
        self.C_, self.penalty_choice_, near, posed = self._chosen(task, weight, offset)
        standard = solver is None or Need.STANDARD in solver.needs
        problem = (
            posed
            if posed is not None and standard
            else build_objective(
                labelled_rows(task.X, task.codes, task.n_classes, weight, offset),
                task.n_classes,
                self._penalty(task.X.shape[1], self.C_),
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
        start = self._start(problem, task, solver, near)
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
        if not self._chooses_C:
            return float(C_of(self)), None, None, None
        asked = (task.X, task.codes, task.n_classes, weight, self._penalty(task.X.shape[1], 1.0), self.fit_intercept)
        seed = seed_of(self.random_state)
        found = choose_penalty(Question(*asked, task.names, self.loss, offset, seed, self.max_iter, self.tol))
        return found.choice.C, found.choice, found.W, found.problem

    @property
    def _chooses_C(self) -> bool:
        C = C_of(self)
        return isinstance(C, str) and C == "auto"

    @property
    def solver_(self) -> str:
        """The name of the solver that was used."""
        return self.certificate_.solver

    def _link_name(self, n_classes: int) -> str:
        return LOSSES[self.loss].traits.head.name if n_classes == 2 else "softmax"

    def _row_weights(self, task: FitInput) -> tuple[Array, Array]:
        """Of the rows, class weights included; of the classes."""
        if task.n_classes > 2 and self.loss != "logistic":
            came = f"got {self.loss!r} for {task.n_classes} classes"
            raise ParameterError("loss", came, "use 'logistic', or OneVsRestClassifier around this")
        by_class = class_weights(self.class_weight, task.classes, task.codes, task.weight)
        weight = task.weight * by_class[task.codes]
        refuse_weightless_classes(task.classes, task.codes, weight, None if self.bias_reduction else 2)
        return weight, by_class

    def _check_settings(self) -> None:
        check_taken(self)
        check_bias_reduction(self)
        C, l1_ratio = C_of(self), l1_ratio_of(self)
        if not self._chooses_C:
            check_positive("C", C, "give a positive number, or np.inf for no penalty, or 'auto'")
        if not self._chooses_C and not float(C) > 1e-300:
            raise ParameterError("C", f"got {C!r}", "give more than 1e-300: 1/C must be a number")
        if not (is_number(l1_ratio) and 0 <= l1_ratio <= 1):
            raise ParameterError("l1_ratio", f"got {self.l1_ratio!r}", "give a number from 0 (ridge) to 1 (lasso)")
        check_choice("loss", self.loss, HEADS)
        if self._chooses_C and not LOSSES[self.loss].traits.likelihood:
            raise ParameterError("C", f"got 'auto' with loss={self.loss!r}", "give a number: it has no log loss")
        check_not_negative("tol", self.tol)
        check_count("max_iter", self.max_iter, least=1 if self._chooses_C or self.bias_reduction else 0)
        check_flag("fit_intercept", self.fit_intercept)
        check_flag("warm_start", self.warm_start)

    def _penalty(self, n_features: int, C: float) -> Penalty:
        strength = 0.0 if np.isinf(C) else 1.0 / C
        if self.penalty_factors is None:
            return Penalty(strength, np.ones(n_features), float(l1_ratio_of(self)))
        try:
            factors = np.asarray(self.penalty_factors, dtype=np.float64)
        except (TypeError, ValueError):
            factors = np.empty(0)
        if factors.shape != (n_features,) or not np.all(np.isfinite(factors) & (factors >= 0)):
            raise ParameterError(
                "penalty_factors",
                f"got {self.penalty_factors!r}",
                f"give {n_features} finite factors >= 0, one a column",
            )
        return Penalty(strength, factors, float(l1_ratio_of(self)))

    def _seeded(self, solver: Solver | None) -> Solver | None:
        if self.random_state is None or solver is None or not hasattr(solver, "seed"):
            return solver
        return replace(solver, seed=seed_of(self.random_state))  # type: ignore[type-var]

    def _start(self, problem: Objective, task: FitInput, solver: Solver, near: Array | None = None) -> Array:
        """The start in the problem's coordinates, (K or 1, d + 1): ``near``, in raw units, where that is known.

        On a convex loss a solver with coordinates of its own takes no start that is worse than zero: from there,
        second derivatives may be rounded away.
        """
        standard = Need.STANDARD in solver.needs
        zero = np.zeros(problem.shape) if problem.offsets is None else problem.null_weights
        before = task.before if self.warm_start else None
        if near is not None:
            return problem.rows.frame.from_original(self._beside(near, problem))
        if (
            before is not None
            and before.W.shape == (zero.shape[0], zero.shape[1] - problem.n_offsets)
            and before.classes.tolist() == task.classes.tolist()
        ):
            start = problem.rows.frame.from_original(self._beside(before.W, problem))
        elif isinstance(self.start, str) and self.start == "zero":
            return zero
        elif isinstance(self.start, str) and self.start == "random":
            drawn = np.random.default_rng(seed_of(self.random_state)).standard_normal(zero.shape)
            start = np.where(problem.pinned, zero, _settled(drawn, problem))
        else:
            shape = (zero.shape[0], zero.shape[1] - problem.n_offsets)
            raw = _settled(self._given_start(shape), problem)
            start = problem.rows.frame.from_original(self._beside(raw, problem))
        sure = standard and problem.loss.traits.convex
        if sure and not problem.value_gradient(start).value <= problem.value_gradient(zero).value:
            return zero
        return start

    @staticmethod
    def _beside(W: Array, problem: Objective) -> Array:
        """Weights in raw units with those of an offset behind them."""
        return np.hstack([W, np.eye(len(W), problem.n_offsets)])

    def _given_start(self, shape: tuple[int, int]) -> Array:
        do = f"give 'zero', 'random', or finite weights of shape {shape}, intercepts first"
        try:
            W = np.array(self.start, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ParameterError("start", f"got {self.start!r}", do) from error
        if W.shape != shape:
            raise ParameterError("start", f"it has shape {W.shape}", do)
        if not np.all(np.isfinite(W)):
            raise ParameterError("start", "it holds NaN or infinity", do)
        return W

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
        at = outcome.state.at
        length = float(np.linalg.norm(problem.subgradient(outcome.state.W, at.gradient)))
        self.certificate_ = Certificate(
            status=outcome.status.sentence,
            code=outcome.status.code,
            met=outcome.status.met,
            **Recomputed(at.value, problem.null_value, outcome.bound, length).fields(),
            iterations=outcome.state.iteration,
            passes=problem.passes,
            solver=solver.name,
            why=why,
            rank=(problem.standard or problem).rank,
            full_rank=task.X.shape[1] + problem.fit_intercept,
            n_parameters=self.n_parameters_,
            n_rows=task.X.shape[0],
            claim=LikelihoodClaim(
                self.scorer_,
                self.C_,
                problem.penalty.factors[: task.X.shape[1]],
                bool(self.fit_intercept),
                by_class,
                self.loss,
                float(l1_ratio_of(self)),
            ),
            facts=self._facts(task, outcome.bound),
        )
        if not outcome.status.met:
            kind = errors.SeparationWarning if outcome.status.code in APART else errors.NotConvergedWarning
            warnings.warn(outcome.status.sentence, kind, stacklevel=4)

    def _facts(self, task: FitInput, bound: Bound) -> dict[str, str | float | int]:
        """What a certificate says besides: how C was chosen, the gap where only some directions are resolved, and
        classes without any weight.
        """
        facts: dict[str, str | float | int] = {}
        if self.penalty_choice_ is not None:
            facts["penalty"] = str(self.penalty_choice_)
        if bound.resolved is not None:
            facts["resolved"] = f"gap at most {bound.resolved:.2e} over the directions that float64 resolves"
        absent = task.classes[self.scorer_.W[:, 0] == FAR].tolist() if len(self.scorer_.W) > 1 else []
        if absent:
            names = ", ".join(map(repr, absent))
            facts["no weight"] = f"{names}: these rows drop out of the fit, and the probability of the class is 0"
        return facts


def _settled(W: Array, problem: Objective) -> Array:
    """W without what the model has no use for: an intercept that is not fitted, a shift common to all classes."""
    W = W if problem.fit_intercept else np.column_stack([np.zeros(len(W)), W[:, 1:]])
    return W - W.mean(axis=0) if len(W) > 1 else W
