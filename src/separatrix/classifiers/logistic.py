"""Logistic regression: P(class | x) from linear scores, by maximum (penalised) likelihood. TEXTBOOK R1–R9."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d, validate_data

from separatrix import errors
from separatrix.arrays import AnyArray, Array, Integers
from separatrix.certificate import Certificate, Claim
from separatrix.classifiers.weights import class_weights, row_weights
from separatrix.errors import LabelError, ParameterError
from separatrix.geometry import Hyperplane
from separatrix.labels import as_label_array, encode
from separatrix.objective import Objective, Ridge, pose
from separatrix.scorer import Scorer
from separatrix.solvers import Need, Run, Solver, choose, default_rules, delivered, named, refuse_unmet, run


class LogisticRegression(ClassifierMixin, BaseEstimator):
    r"""Minimise C Σ_i s_i ℓ(t_i, w·x_i + b) + ½ Σ_j f_j w_j², with ℓ the logistic or softmax loss.

    Two classes have one weight vector; K > 2 classes have K, for the softmax. The intercept is never penalised.
    Columns need no scaling: the solver works in coordinates of its own and answers in yours.

    Parameters
    ----------
    C : float, default 1.0
        Inverse strength of the penalty, as in scikit-learn. ``np.inf``: maximum likelihood.
    solver : str or solver object, default "auto"
        "auto", "newton", "lbfgs", "gradient-descent", "sgd", "minibatch", or one of ``separatrix.solvers``.
    fit_intercept : bool, default True
    class_weight : None, "balanced" or dict of label to factor
    penalty_factors : array (n_features,) or None
        f_j above; 0 leaves a column unpenalised.
    tol : float, default 1e-8
        Stop once the objective is proven to be within ``tol`` times the null model's objective of its minimum.
    max_iter : int, default 1000
    start : "zero", "random" or array (K or 1, n_features + 1), default "zero"
        Where to start, intercepts in column 0, in the columns' own units.
    warm_start : bool, default False
        Start from the last fit's weights where the classes and columns are the same.
    random_state : int, RandomState or None
        For a random start and for stochastic solvers.

    Attributes
    ----------
    classes_, coef_, intercept_, n_iter_, n_features_in_, feature_names_in_ : as in scikit-learn
    certificate_ : Certificate
        How good the fit is, with ``verify(X, y)``.
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

    def __init__(
        self,
        C: float = 1.0,
        *,
        solver: str | Solver = "auto",
        fit_intercept: bool = True,
        class_weight: Any = None,
        penalty_factors: Any = None,
        tol: float = 1e-8,
        max_iter: int = 1000,
        start: Any = "zero",
        warm_start: bool = False,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.solver = solver
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.penalty_factors = penalty_factors
        self.tol = tol
        self.max_iter = max_iter
        self.start = start
        self.warm_start = warm_start
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows X (n, d), dense or sparse, with any labels y (n,)."""
        task = self._task(X, y, sample_weight)
        solver = self._seeded(named(self.solver))
        standard = solver is None or Need.STANDARD in solver.needs
        problem = pose(
            task.X,
            task.codes,
            len(task.classes),
            task.weight,
            task.ridge,
            self.fit_intercept,
            standard,
            task.names,
        )
        why = f"{getattr(solver, 'name', '')}: asked for"
        if solver is None:
            solver, why = choose(problem)
        refuse_unmet(solver, problem)
        start = problem.rows.frame.from_original(self._start(problem, task.classes))
        outcome = run(solver, problem, start, default_rules(self.tol, self.max_iter), self.tol)
        W, outcome = delivered(outcome, problem, self.tol)
        self._keep(task, problem, W, outcome, solver, why)
        return self

    def _task(self, X: Any, y: Any, sample_weight: Any) -> _Task:
        """Everything that was given, checked, in the forms that the core takes."""
        _check_settings(self)
        if y is None:
            raise LabelError("y", "requires y to be passed, but the target y is None", "give one label a row")
        X = validate_data(self, X, accept_sparse="csr", dtype=(np.float64, np.float32), ensure_all_finite=False)
        y = _one_label_a_row(y)
        check_consistent_length(X, y)
        classes, codes = encode(y)
        if len(classes) < 2:
            raise LabelError(
                "y",
                f"it has one class only, {classes[0]!r}",
                "give rows of at least two classes, not one class",
            )
        weight = row_weights(sample_weight, X.shape[0])
        by_class = class_weights(self.class_weight, classes, codes, weight)
        strength = 0.0 if np.isinf(self.C) else 1.0 / self.C
        ridge = Ridge(strength, _penalty_factors(self.penalty_factors, X.shape[1]))
        names = getattr(self, "feature_names_in_", None)
        return _Task(
            X,
            codes,
            classes,
            weight * by_class[codes],
            by_class,
            ridge,
            None if names is None else list(names),
        )

    def _seeded(self, solver: Solver | None) -> Solver | None:
        if self.random_state is None or solver is None or not hasattr(solver, "seed"):
            return solver
        return replace(solver, seed=_seed(self.random_state))  # type: ignore[type-var]

    def _start(self, problem: Objective, classes: AnyArray) -> Array:
        """The start in raw units, (K or 1, d + 1)."""
        if self.warm_start and hasattr(self, "scorer_"):
            before: Scorer = self.scorer_
            if before.W.shape == problem.shape and before.classes.tolist() == classes.tolist():
                return before.W.copy()
        if isinstance(self.start, str):
            if self.start == "zero":
                return np.zeros(problem.shape)
            if self.start == "random":
                rng = np.random.default_rng(_seed(self.random_state))
                return _settled(rng.standard_normal(problem.shape), problem)
            raise ParameterError("start", f"got {self.start!r}", "give 'zero', 'random' or an array of weights")
        try:
            W = np.array(self.start, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ParameterError("start", f"got {self.start!r}", "give 'zero', 'random' or an array") from error
        if W.shape != problem.shape or not np.all(np.isfinite(W)):
            raise ParameterError(
                "start",
                f"it has shape {W.shape}",
                f"give finite weights of shape {problem.shape}, intercepts first",
            )
        return _settled(W, problem)

    def _keep(self, task: _Task, problem: Objective, W: Array, outcome: Run, solver: Solver, why: str) -> None:
        link = "softmax" if len(task.classes) > 2 else "logit"
        self.scorer_ = Scorer(W, task.classes, link)
        self.classes_ = task.classes
        self.coef_ = W[:, 1:].copy()
        self.intercept_ = W[:, 0].copy()
        self.n_iter_ = outcome.state.iteration
        self.trace_ = outcome.trace
        claim = Claim(
            self.scorer_,
            float(self.C),
            task.ridge.factors,
            bool(self.fit_intercept),
            task.class_weights,
        )
        self.certificate_ = Certificate(
            status=outcome.status.sentence,
            code=outcome.status.code,
            met=outcome.status.met,
            objective=outcome.state.at.value,
            null_objective=problem.null_value,
            bound=outcome.bound.value,
            bound_kind=outcome.bound.kind,
            bound_reason=outcome.bound.reason,
            gradient_norm=float(np.linalg.norm(outcome.state.at.gradient)),
            iterations=outcome.state.iteration,
            passes=problem.passes,
            solver=solver.name,
            why=why,
            rank=problem.rank,
            n_parameters=_free_parameters(problem),
            n_rows=task.X.shape[0],
            claim=claim,
        )
        if not outcome.status.met:
            apart = outcome.status.code in ("separated", "quasi-separated")
            kind = errors.SeparationWarning if apart else errors.NotConvergedWarning
            warnings.warn(outcome.status.sentence, kind, stacklevel=3)

    def _scored(self, X: Any) -> tuple[Any, list[str] | None]:
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=None, ensure_all_finite=False, reset=False)
        names = getattr(self, "feature_names_in_", None)
        return X, None if names is None else list(names)

    def decision_function(self, X: Any) -> Array:
        """Scores: (n,) for two classes, positive for the second; (n, K) for more."""
        return self.scorer_of().scores(*self._scored(X))

    def predict(self, X: Any) -> AnyArray:
        """The class of each row; a score of exactly zero goes to the second class."""
        return self.scorer_of().predict(*self._scored(X))

    def predict_proba(self, X: Any) -> Array:
        """P(class | x), (n, K), columns in the order of ``classes_``."""
        return self.scorer_of().probabilities(*self._scored(X))

    def predict_log_proba(self, X: Any) -> Array:
        """Ln P(class | x), (n, K)."""
        return self.scorer_of().log_probabilities(*self._scored(X))

    def hyperplane(self, i: Any = None, j: Any = None, *, probability: float | None = None) -> Hyperplane:
        """The boundary of class i against class j; with two classes, also where P(second) = ``probability``."""
        return self.scorer_of().hyperplane(i, j, probability)

    def scorer_of(self) -> Scorer:
        """The fitted linear model by itself, which needs no scikit-learn."""
        check_is_fitted(self)
        scorer: Scorer = self.scorer_
        return scorer

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


@dataclass(frozen=True)
class _Task:
    """What was given to ``fit``, checked."""

    X: Any
    codes: Integers
    classes: AnyArray
    weight: Array
    class_weights: Array
    ridge: Ridge
    names: list[str] | None


def _check_settings(model: LogisticRegression) -> None:
    if not (_is_number(model.C) and model.C > 0):
        raise ParameterError("C", f"got {model.C!r}", "give a positive number, or np.inf for no penalty")
    if not (_is_number(model.tol) and 0 <= model.tol < np.inf):
        raise ParameterError("tol", f"got {model.tol!r}", "give a number >= 0")
    if isinstance(model.max_iter, bool) or not isinstance(model.max_iter, Integral) or model.max_iter < 1:
        raise ParameterError("max_iter", f"got {model.max_iter!r}", "give a whole number of at least 1")
    for flag in ("fit_intercept", "warm_start"):
        if not isinstance(getattr(model, flag), bool | np.bool_):
            raise ParameterError(flag, f"got {getattr(model, flag)!r}", "give True or False")


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and value == value


def _penalty_factors(given: Any, n_features: int) -> Array:
    if given is None:
        return np.ones(n_features)
    factors = np.asarray(given, dtype=np.float64)
    if factors.shape != (n_features,) or not np.all(np.isfinite(factors) & (factors >= 0)):
        raise ParameterError(
            "penalty_factors", f"got {given!r}", f"give {n_features} finite factors >= 0, one a column"
        )
    return factors


def _one_label_a_row(y: Any) -> AnyArray:
    """Y without a needless second dimension; numbers that are no labels are refused."""
    labels = as_label_array(column_or_1d(y, warn=True) if getattr(y, "ndim", 1) == 2 else y)
    if labels.dtype.kind == "f" and np.any(labels != np.floor(labels)):
        row = int(np.argmax(labels != np.floor(labels)))
        raise LabelError(
            "y",
            f"row {row} is {labels[row]} (Unknown label type: continuous)",
            "give classes, not measurements; np.digitize makes classes of numbers",
        )
    return labels


def _seed(random_state: Any) -> int:
    from sklearn.utils import check_random_state

    if random_state is None or isinstance(random_state, Integral):
        return 0 if random_state is None else int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def _settled(W: Array, problem: Objective) -> Array:
    """W without what the model has no use for: an intercept that is not fitted, a shift common to all classes."""
    W = W if problem.fit_intercept else np.column_stack([np.zeros(len(W)), W[:, 1:]])
    return W - W.mean(axis=0) if len(W) > 1 else W


def _free_parameters(problem: Objective) -> int:
    """How many numbers the model determines: K − 1 score functions, each of d (+ 1) weights."""
    return (problem.n_classes - 1) * (problem.rows.n_features + problem.fit_intercept)
