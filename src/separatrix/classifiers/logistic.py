"""Logistic regression: P(class | x) from linear scores, by maximum or penalised likelihood (docs/tour.md, R1–R9).

A fit checks the settings, chooses C if that is asked for, and builds the objective of the rows. A solver minimises it
from the start that is asked for. The weights are kept with a certificate, which bounds their distance from the optimum;
if the classes are separated, so that there is no optimum, it says so. With ``bias_reduction`` another likelihood is
maximised instead (``classifiers/firth_fit.py``).
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

import numpy as np

from separatrix.classifiers.base import Approach, LinearClassifier
from separatrix.classifiers.description import VERDICT, Description
from separatrix.classifiers.fit_input import (
    FitInput,
    class_weights,
    refuse_weightless_classes,
    seed_of,
    totals_for,
    validate,
)
from separatrix.classifiers.sklearn_settings import (
    LOGISTIC,
    UNSET,
    C_of,
    check_jobs,
    check_taken,
    l1_ratio_of,
    say_what_is_done_instead,
    seeded,
    settings_of_work,
    why_chosen,
)
from separatrix.core.base import errors
from separatrix.core.base.arrays import (
    AnyArray,
    Array,
    check_C,
    check_choice,
    check_count,
    check_flag,
    check_not_negative,
    is_number,
)
from separatrix.core.base.codec import Maybe, Number, RecordForm, array
from separatrix.core.base.errors import ParameterError
from separatrix.core.base.machine import one_blas_thread
from separatrix.core.base.messages import ByAudience, Message, Setting
from separatrix.core.certificate import Bound, Certificate, Recomputed
from separatrix.core.gap_bounds import in_doubt
from separatrix.core.likelihood_claims import LikelihoodClaim
from separatrix.core.losses import LOSSES
from separatrix.core.penalty import Penalty, PenaltyChoice
from separatrix.core.problem import Objective, as_offset, build_objective
from separatrix.core.rows.targets import ABSENT_CLASS_INTERCEPT, Coding, with_absent
from separatrix.core.scorer import Scorer, chosen_classes
from separatrix.core.solvers.driver import Run, delivered, run
from separatrix.core.solvers.registry import choose, chosen_by_user, named, with_settings
from separatrix.core.solvers.state import Need, Solver
from separatrix.core.solvers.stopping import APART, Stopping

DESCRIPTION = Description(
    about="logistic regression; softmax regression for more than two classes",
    claims={
        "likelihood": "separatrix.core.likelihood_claims:LikelihoodClaim",
        "firth": "separatrix.core.likelihood_claims:FirthClaim",
    },
    fitted={
        "C_": Number(above=0.0),
        "n_iter_": array("", whole=True, least=0),
        "penalty_choice_": Maybe(RecordForm("separatrix.core.penalty:PenaltyChoice")),
        "separation_": Maybe(VERDICT),
    },
    traced=True,
    probabilities=True,
)


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
        The share α of the lasso in the penalty: 0 is the ridge, 1 the lasso, which sets many weights to exactly zero;
        in between, the elastic net.
    loss : "logistic", "probit", "cloglog" or "squared-sigmoid", default "logistic"
        The loss, for two classes. The first three are the negative log-likelihoods of P = σ(z), Φ(z) and
        1 − exp(−exp(z)). The last is the squared error (y − σ(z))², which is not convex. More than two classes take
        "logistic" (softmax) only.
    solver : str or solver object, default "auto"
        The solver: "auto", a name in ``separatrix.core.solvers.SOLVERS`` such as "newton" or "lbfgs", or a solver
        object. "sgd" is the lectures' stochastic gradient descent on single rows, in the units of the columns. It
        approaches the optimum, but rarely meets ``tol``; ``solvers.StochasticDescent`` sets its learning rate, batch
        size, schedule and patience.
        scikit-learn's "liblinear", "newton-cg", "newton-cholesky", "sag" and "saga" mean "auto", since the optimum is
        the same; ``solver_`` says which one was used.
    fit_intercept : bool, default True
        Whether to fit b; otherwise b = 0.
    class_weight : None, "balanced" or dict of label to factor, default None
        The weight of a row is multiplied by the factor of its class. "balanced" gives every class the same weight.
    penalty_factors : array (n_features,) or None, default None
        f_j above, 1 by default; 0 leaves a column unpenalised.
    bias_reduction : None or "firth", default None
        Maximise Firth's penalised likelihood, whose weights are finite even if the classes are separated. It is
        l + ½ ln |I|, where l is the log-likelihood and I the information matrix (Firth 1993). ``C`` and the other
        settings of the penalty must keep their defaults; ``tol`` is then a tolerance on the length of the penalised
        score in standard errors. ``separatrix.core.firth`` has tests and confidence intervals.
    tol : float, default 1e-8
        Stop once the objective is proven to be within ``tol`` times the null model's objective of its minimum. Only
        "logistic", and "probit" with a finite C, have such a proof; for the others ``tol`` is a tolerance on the length
        of the gradient.
    max_iter : int, default 1000
        Stop after this many iterations. With 0 the weights are those of the start, and the certificate says how far
        from the optimum they are.
    start : "zero", "random" or array (K or 1, n_features + 1), default "zero"
        Where to start. An array has the intercepts in column 0 and is in the units of the columns.
    random_state : int, RandomState or None, default None
        Seed for a random start and for stochastic solvers.

    Other Parameters
    ----------------
    warm_start : bool, default False
        Start from the weights of the last fit if classes and columns are the same.
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
    trace_ : tuple of RecordForm
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
        C: float | Literal["auto"] = 1.0,
        *,
        l1_ratio: float = 0.0,
        loss: Literal["logistic", "probit", "cloglog", "squared-sigmoid"] | str = "logistic",
        solver: str | Solver = "auto",
        fit_intercept: bool = True,
        class_weight: Literal["balanced"] | Mapping[Any, float] | None = None,
        penalty_factors: Any = None,
        bias_reduction: Literal["firth"] | None = None,
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
        if offset is not None:
            task.refuse_outside_memory("offset", "one", "it has one number for each row", "leave it out")
        if chooses_C(self):
            reason = "the search leaves out single rows, or selects the rows of folds by index"
            task.refuse_outside_memory("C", "'auto'", reason, "choose C on a sample of the rows")
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
            from separatrix.classifiers.firth_fit import fit_firth  # other fits do not need the package ``firth``

            fit_firth(self, task, offset, coding, by_class)
            return self
        whole = task
        if coding.held is not None:  # only the classes with weight are fitted
            if offset is not None:
                raise ParameterError("offset", "got one, and a class has no weight", "drop the rows of that class")
            task = replace(task, classes=task.classes[coding.held], before=None)
        solver = seeded(self, named(self.solver))
        self.C_, self.penalty_choice_, near, problem = self._chosen(task, coding, offset)
        standard = solver is None or Need.STANDARD in solver.needs
        if problem is None or not standard:
            problem = build_objective(
                task.likelihood_rows(coding, offset),
                task.n_classes,
                penalty_of(self, task.n_features, self.C_),
                self.fit_intercept,
                standard,
                task.names,
                loss=self.loss,
                n_offsets=0 if offset is None else offset.shape[1],
            )
        if solver is None:
            solver, why = choose(problem, near is not None)
            why = why_chosen(self, why)
        else:
            solver, why = chosen_by_user(solver, problem)
        start = start_of(self, problem, task, solver, near)
        outcome = run(solver, problem, start, Stopping(tol=self.tol, max_iter=self.max_iter), exact_weights=True)
        W, outcome = delivered(outcome, problem)
        self.separation_, factor = None, None if outcome.curvature is None else outcome.curvature.factor
        if outcome.status.code in APART or in_doubt(problem, outcome.state.W, outcome.bound, factor):
            from separatrix.classifiers.no_optimum import explained  # most fits need no verdict

            self.separation_, outcome = explained(task, coding, problem, outcome, self.fit_intercept)
        W = W if coding.held is None else with_absent(W, coding.held)
        self._keep(whole, by_class, problem, W, outcome, solver, with_settings(why, solver, outcome.state))
        return self

    def _chosen(
        self, task: FitInput, coding: Coding, offset: Array | None
    ) -> tuple[float, PenaltyChoice | None, Array | None, Objective | None]:
        """C, how it was chosen, weights near its optimum, and its objective; the last three are None if C is given."""
        if not chooses_C(self):
            return float(C_of(self)), None, None, None
        from separatrix.core.penalty_search import Question, choose_penalty  # most fits are given C

        rows = task.likelihood_rows(coding, offset)
        asked = (rows, task.n_classes, penalty_of(self, task.n_features, 1.0), self.fit_intercept, task.names)
        n_offsets, seed = 0 if offset is None else offset.shape[1], seed_of(self.random_state)
        chosen = choose_penalty(Question(*asked, self.loss, n_offsets, seed, self.max_iter, self.tol))
        return chosen.choice.C, chosen.choice, chosen.W, chosen.problem

    @property
    def solver_(self) -> str:
        """The name of the solver that was used."""
        return self.certificate_.solver

    def _link_name(self, n_classes: int) -> str:
        return LOSSES[self.loss].traits.head.name if n_classes == 2 else "softmax"

    def _keep(
        self, task: FitInput, by_class: Array, problem: Objective, W: Array, outcome: Run, solver: Solver, why: str
    ) -> None:
        if task.row_names is not None:
            outcome = replace(outcome, status=replace(outcome.status, sentence=task.told(outcome.status.sentence)))
        self._keep_scorer(Scorer(W, task.classes, problem.loss.traits.head.name if len(W) == 1 else "softmax"))
        self.n_iter_ = np.array([outcome.state.iteration], dtype=np.int32)
        self.trace_ = outcome.trace
        self.n_parameters_ = (task.n_classes - 1) * (task.n_features + problem.fit_intercept)
        at = outcome.state.at
        slope = float(np.linalg.norm(problem.subgradient(outcome.state.W, at.gradient)))
        self.certificate_ = Certificate(
            status=outcome.status.sentence,
            code=outcome.status.code,
            met=outcome.status.met,
            **Recomputed(at.value, problem.null_value, outcome.bound, slope).fields(),
            iterations=outcome.state.iteration,
            passes=problem.passes,
            solver=solver.name,
            why=why,
            rank=(problem.standard or problem).columns.rank,
            full_rank=task.n_features + problem.fit_intercept,
            n_parameters=self.n_parameters_,
            n_rows=task.n_rows,
            claim=LikelihoodClaim(
                self.scorer_,
                self.C_,
                problem.penalty.factors[: task.n_features],
                bool(self.fit_intercept),
                by_class,
                self.loss,
                float(l1_ratio_of(self)),
            ),
            facts=_facts(self, task, outcome.bound),
        )
        if not outcome.status.met:
            kind = errors.SeparationWarning if outcome.status.code in APART else errors.NotConvergedWarning
            warnings.warn(outcome.status.sentence, kind, stacklevel=4)


def _facts(model: Any, task: FitInput, bound: Bound) -> dict[str, str | float | int]:
    """Further facts: how C was chosen, the gap if float64 resolves only some directions, classes without weight."""
    facts: dict[str, str | float | int] = {}
    if model.penalty_choice_ is not None:
        facts["penalty"] = str(model.penalty_choice_)
    if bound.resolved is not None:
        facts["resolved"] = f"gap at most {bound.resolved:.2e} over the directions that float64 resolves"
    absent = task.classes[model.scorer_.W[:, 0] == ABSENT_CLASS_INTERCEPT].tolist() if len(model.scorer_.W) > 1 else []
    if absent:
        names = ", ".join(map(repr, absent))
        facts["no weight"] = f"{names}: its rows do not enter the fit, and the probability of the class is 0"
    return facts


# --- Checks of the settings, and the forms that solvers take

# The losses that turn a single score into a probability.
LOSSES_WITH_PROBABILITIES = [name for name, loss in LOSSES.items() if loss.traits.proper and not loss.traits.multiclass]


def chooses_C(model: Any) -> bool:
    """Whether C is "auto"."""
    C = C_of(model)
    return isinstance(C, str) and C == "auto"


STRENGTHS = Message("give a positive number, or ", ByAudience("np.inf", shell="inf"), " for no penalty, or 'auto'")


def check_settings(model: Any) -> None:
    """Raise a ``ParameterError`` for the first invalid setting."""
    check_taken(model, LOGISTIC)
    if model.penalty == "elasticnet" and model.l1_ratio is None:
        raise ParameterError("l1_ratio", "got None with penalty='elasticnet'", "give a number from 0 to 1")
    check_jobs("n_jobs", model.n_jobs)
    check_bias_reduction(model)
    chosen, l1_ratio = chooses_C(model), l1_ratio_of(model)
    if not chosen:
        check_C(C_of(model), STRENGTHS)
    if not (is_number(l1_ratio) and 0 <= l1_ratio <= 1):
        raise ParameterError("l1_ratio", f"got {model.l1_ratio!r}", "give a number from 0 (ridge) to 1 (lasso)")
    check_choice("loss", model.loss, LOSSES_WITH_PROBABILITIES)
    if chosen and not LOSSES[model.loss].traits.likelihood:
        remedy = "give a number: C can be chosen only for a loss that is a likelihood"
        raise ParameterError("C", f"got 'auto' with loss={model.loss!r}", remedy)
    check_not_negative("tol", model.tol)
    check_count("max_iter", model.max_iter, least=1 if chosen or model.bias_reduction else 0)
    check_flag("fit_intercept", model.fit_intercept)
    check_flag("warm_start", model.warm_start)


def check_bias_reduction(model: Any) -> None:
    """Refuse settings that have no meaning together with a bias reduction."""
    if model.bias_reduction is None:
        return
    check_choice("bias_reduction", model.bias_reduction, ["firth"])
    together = Message(" with ", Setting("bias_reduction", model.bias_reduction))
    C, l1_ratio = C_of(model), l1_ratio_of(model)
    if not is_number(C) or float(C) not in (1.0, np.inf):
        raise ParameterError("C", f"got {C!r}" + together, "leave it out: Firth's penalty has no strength to set")
    if l1_ratio != 0:
        remedy = "leave it out: Firth's penalty is not on the size of the weights"
        raise ParameterError("l1_ratio", f"got {l1_ratio!r}" + together, remedy)
    if model.penalty_factors is not None:
        remedy = "leave them out: Firth's penalty is not on the size of the weights"
        raise ParameterError("penalty_factors", "got some" + together, remedy)
    if model.loss != "logistic":
        remedy = "use 'logistic': Firth's penalty is implemented for that loss only"
        raise ParameterError("loss", f"got {model.loss!r}" + together, remedy)
    if named(model.solver) is not None:
        remedy = "leave it at 'auto': this likelihood has its own solver"
        raise ParameterError("solver", f"got {model.solver!r}" + together, remedy)


def coding_of(model: Any, task: FitInput) -> tuple[Coding, Array]:
    """How targets and weights of the rows are computed, and the class weights.

    Only classes with weight are coded; a bias reduction needs weight in all of them.
    """
    if task.n_classes > 2 and model.loss != "logistic":
        problem = f"got {model.loss!r} for {task.n_classes} classes"
        raise ParameterError("loss", problem, "use 'logistic', or put this classifier into OneVsRestClassifier")
    totals = totals_for(model.class_weight, task.table)
    by_class = class_weights(model.class_weight, task.classes, totals.weight)
    factors = None if model.class_weight is None else by_class
    weight = totals.weight if factors is None else totals.weight * factors
    held, some = weight > 0, None
    if not held.all():
        refuse_weightless_classes(task.classes, weight, None if model.bias_reduction else 2)
        some = held if np.count_nonzero(held) else None
    return Coding.of_likelihood(totals, factors, some), by_class


def penalty_of(model: Any, n_features: int, C: float) -> Penalty:
    """The penalty of strength 1/C with the given penalty factors and l1_ratio."""
    strength = 0.0 if np.isinf(C) else 1.0 / C
    if model.penalty_factors is None:
        return Penalty(strength, np.ones(n_features), float(l1_ratio_of(model)))
    try:
        factors = np.asarray(model.penalty_factors, dtype=np.float64)
    except (TypeError, ValueError):
        factors = np.empty(0)
    if factors.shape != (n_features,) or not np.all(np.isfinite(factors) & (factors >= 0)):
        remedy = f"give {n_features} finite factors >= 0, one per column"
        raise ParameterError("penalty_factors", f"got {model.penalty_factors!r}", remedy)
    return Penalty(strength, factors, float(l1_ratio_of(model)))


# --- The start


def start_of(model: Any, problem: Objective, task: FitInput, solver: Solver, near: Array | None = None) -> Array:
    """The start in the problem's coordinates, (K or 1, d + 1). ``near``: weights in raw units near the optimum, if any.

    With a convex loss, a solver that uses standard coordinates starts at zero if the given start has a larger
    objective: at such a point second derivatives may underflow.
    """
    zero = np.zeros(problem.shape) if problem.offsets is None else problem.null_weights
    if near is not None:
        return _in_frame(near, problem)
    start = _asked_start(model, problem, task, zero)
    if start is zero or Need.STANDARD not in solver.needs or not problem.loss.traits.convex:
        return start
    return start if problem.value_gradient(start).value <= problem.value_gradient(zero).value else zero


def _asked_start(model: Any, problem: Objective, task: FitInput, zero: Array) -> Array:
    """The weights of the last fit for a warm start, else what ``start`` asks for."""
    shape = (zero.shape[0], zero.shape[1] - problem.n_offsets)
    before = task.before if model.warm_start else None
    if before is not None and before.W.shape == shape and before.classes.tolist() == task.classes.tolist():
        return _in_frame(before.W, problem)
    if isinstance(model.start, str) and model.start == "zero":
        return zero
    if isinstance(model.start, str) and model.start == "random":
        drawn = np.random.default_rng(seed_of(model.random_state)).standard_normal(zero.shape)
        return np.where(problem.pinned, zero, _identified(drawn, problem))
    remedy = f"give 'zero', 'random', or finite weights of shape {shape}, intercepts first"
    try:
        W = np.array(model.start, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError("start", f"got {model.start!r}", remedy) from error
    if W.shape != shape:
        raise ParameterError("start", f"it has shape {W.shape}", remedy)
    if not np.all(np.isfinite(W)):
        raise ParameterError("start", "it holds NaN or infinity", remedy)
    return _in_frame(_identified(W, problem), problem)


def _in_frame(W: Array, problem: Objective) -> Array:
    """Weights in raw units, converted to the problem's coordinates; each offset column has the weight 1."""
    return problem.rows.frame.from_original(np.hstack([W, np.eye(len(W), problem.n_offsets)]))


def _identified(W: Array, problem: Objective) -> Array:
    """W with intercepts of zero if none is fitted, and without the shift common to all classes."""
    W = W if problem.fit_intercept else np.column_stack([np.zeros(len(W)), W[:, 1:]])
    return W - W.mean(axis=0) if len(W) > 1 else W
