r"""Penalty paths: one fit for each of many strengths, each started where the last one ended. TEXTBOOK R8.

Problem   min_W C Σ_i s_i ℓ(t_i, W x̄_i) + Σ_j f_j (α |w_j| + ½ (1 − α) w_j²)   for every C of a list
Given     rows, labels, the values of C or how many, α
Returns   the fitted models, from the strongest penalty to the weakest, each with its certificate
Step      the rows are summarised once; the strongest penalty is the one at which all weights are zero, known from the
          sums of the classes alone; from one C to the next the loss and its gradient are known, so only what the new
          penalty changes is looked at, and columns gathered for the last C serve the next

Friedman, Hastie and Tibshirani 2010, section 2.5.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np

from separatrix.arrays import Array
from separatrix.certificate import Certificate
from separatrix.classifiers.given import Given, check_count, check_positive, given
from separatrix.classifiers.logistic import LogisticRegression
from separatrix.concurrency import one_blas_thread
from separatrix.errors import ParameterError
from separatrix.objective import Evaluation, Objective, pose
from separatrix.penalty import Penalty
from separatrix.rows import Frame
from separatrix.rows.block import power_of_two
from separatrix.solvers import Need, Run, Solver, State, choose, default_rules, delivered, named, refuse_unmet, run

# What an objective has found out that does not depend on the penalty; the second kind depends on the frame.
OF_ROWS = ("total_weight", "null_value", "value_at_zero", "rank")
OF_FRAME = ("gram", "sampled", "_sample_gram", "root_gram", "root_second_moments")
# The share of absolute values that a default list of C is made for at least: a ridge has no C at which weights vanish.
LEAST_RATIO = 1e-3

# So that rounding leaves the weights at zero there.
JUST_BELOW = 1 - 1e-10


@dataclass(frozen=True)
class PenaltyPath:
    """Fitted models by ascending C. ``states``: where the solver ended, in its own coordinates, to go on from.

    >>> import separatrix as sx
    >>> path = sx.penalty_path([[0, 1], [1, 0], [2, 1], [3, 0]], ["no", "no", "yes", "yes"], Cs=[10, 0.1])
    >>> path.Cs.tolist(), path.coef.shape, path.intercept.shape, len(path)
    ([0.1, 10.0], (2, 1, 2), (2, 1), 2)
    """

    models: tuple[LogisticRegression, ...]
    states: tuple[State, ...]

    @property
    def Cs(self) -> Array:
        """(n,), ascending: the penalty weakens."""
        return np.array([model.C for model in self.models])

    @property
    def coef(self) -> Array:
        """(n, K or 1, d)."""
        return np.stack([model.coef_ for model in self.models])

    @property
    def intercept(self) -> Array:
        """(n, K or 1)."""
        return np.stack([model.intercept_ for model in self.models])

    @property
    def certificates(self) -> tuple[Certificate, ...]:
        return tuple(model.certificate_ for model in self.models)

    @property
    def n_nonzero(self) -> Any:
        """How many columns have a weight that is not zero, (n,)."""
        return np.array([int(np.sum(np.any(model.coef_ != 0, axis=0))) for model in self.models])

    def model(self, i: int) -> LogisticRegression:
        """The fitted classifier of the i-th C."""
        return self.models[i]

    def __len__(self) -> int:
        return len(self.models)


def penalty_path(
    X: Any,
    y: Any,
    *,
    Cs: Any = None,
    n_values: int = 30,
    span: float = 1e3,
    l1_ratio: float = 1.0,
    fit_intercept: bool = True,
    class_weight: Any = None,
    penalty_factors: Any = None,
    sample_weight: Any = None,
    tol: float = 1e-8,
    max_iter: int = 1000,
    solver: str | Solver = "auto",
) -> PenaltyPath:
    """Fit a ``LogisticRegression`` for each of ``Cs``, by default ``n_values`` of them from the C at which all weights
    are zero to ``span`` times that, evenly on a logarithmic scale.

    >>> import separatrix as sx
    >>> path = sx.penalty_path([[0, 1], [1, 0], [2, 1], [3, 0]], ["no", "no", "yes", "yes"], n_values=4)
    >>> path.n_nonzero.tolist(), [certificate.code for certificate in path.certificates]
    ([0, 1, 1, 1], ['optimal', 'optimal', 'optimal', 'optimal'])
    >>> path.model(3).predict([[0.5, 1]]).tolist()
    ['no']
    """
    shared = {
        "l1_ratio": l1_ratio,
        "fit_intercept": fit_intercept,
        "class_weight": class_weight,
        "penalty_factors": penalty_factors,
        "tol": tol,
        "max_iter": max_iter,
        "solver": solver,
    }
    first = LogisticRegression(**shared)
    first._check_settings()
    check_count("n_values", n_values)
    check_positive("span", span)
    task = given(first, X, y, sample_weight)
    with one_blas_thread:
        walk = _Walk.over(first, task)
        models = [LogisticRegression(C, **shared) for C in _values(walk, Cs, n_values, span)]
        states = tuple(walk.fitted(model) for model in models)
    return PenaltyPath(tuple(models), states)


def _values(walk: _Walk, Cs: Any, n_values: int, span: float) -> list[float]:
    if Cs is None:
        zero = walk.zero()
        return [float(C) for C in np.geomspace(zero, zero * span, n_values)]
    try:
        given_values = np.sort(np.asarray(Cs, dtype=np.float64).ravel())
    except (TypeError, ValueError):
        given_values = np.empty(0)
    if len(given_values) == 0 or not np.all(given_values > 0):
        raise ParameterError("Cs", f"got {Cs!r}", "give positive numbers, or None for a list from the data")
    return [float(C) for C in given_values]


@runtime_checkable
class _TakesUp(Protocol):
    """A solver that can begin where E is known, and use what a run with another penalty has gathered."""

    def begin(self, problem: Objective, start: Array, at: Evaluation, before: State | None = None) -> State: ...


@dataclass
class _Walk:
    """Where the path is: the problem of the last C, and the state it ended in."""

    task: Given
    by_class: Array
    penalty: Penalty  # of C = 1, in the units of the rows' weights
    scale: Array  # of the columns alone, whatever the penalty
    problem: Objective
    solver: Solver | None = None
    state: State | None = None

    @classmethod
    def over(cls, model: LogisticRegression, task: Given) -> _Walk:
        weight, by_class = model._weights(task)
        factors = model._penalty(task.X.shape[1]).factors
        solver = named(model.solver)
        if solver is not None and Need.STANDARD not in solver.needs:
            raise ParameterError("solver", f"got {model.solver!r}", "use 'auto', or a solver of standard coordinates")
        lasso = Penalty(1.0, factors, 1.0)  # without squares, so that the frame is that of the columns
        rest = (task.n_classes, weight, lasso, bool(model.fit_intercept))
        problem = pose(task.X, task.codes, *rest, names=task.names)
        penalty = replace(problem.penalty, l1_ratio=float(model.l1_ratio))
        return cls(task, by_class, penalty, problem.rows.frame.scale, problem)

    def zero(self) -> float:
        """The largest C at which no penalised column has a weight, from the null model's gradient."""
        problem = self.problem
        sums = problem.class_sums / problem.total_weight
        share = sums[:, 0] if problem.fit_intercept else np.full(len(sums), 1.0 / len(sums))
        largest = np.max(np.abs(np.outer(share, sums.sum(axis=0)) - sums)[:, 1:], axis=0)
        ratio = max(self.penalty.l1_ratio, LEAST_RATIO)
        wanted = largest > 0
        a = ratio * problem.absolute_penalty[1:][wanted] / largest[wanted]
        return JUST_BELOW * float(np.min(a[a > 0])) if np.any(a > 0) else 1.0

    def fitted(self, model: LogisticRegression) -> State:
        """Fit ``model``, whose C is larger than the last; where the solver ended."""
        model._check_settings()
        strength = 0.0 if np.isinf(model.C) else 1.0 / float(model.C)
        problem = self._posed(self.penalty.times(strength))
        chosen, why = named(model.solver), f"{model.solver}: asked for"
        solver, why = choose(problem) if chosen is None else (chosen, why)
        refuse_unmet(solver, problem)
        outcome = run(
            solver, problem, self._start(solver, problem), default_rules(model.tol, model.max_iter), model.tol
        )
        self.problem, self.solver, self.state = problem, solver, outcome.state
        W, judged = delivered(outcome, problem, model.tol)
        self._keep(model, problem, W, judged, solver, why)
        return replace(outcome.state, memory={})

    def _keep(
        self, model: LogisticRegression, problem: Objective, W: Array, outcome: Run, solver: Solver, why: str
    ) -> None:
        model.n_features_in_ = self.task.X.shape[1]
        if self.task.names is not None:
            model.feature_names_in_ = np.array(self.task.names, dtype=object)
        model._keep(self.task, self.by_class, problem, W, outcome, solver, why)

    def _posed(self, penalty: Penalty) -> Objective:
        """The same rows with another penalty, and all that is known of them already."""
        last, frame = self.problem, self.problem.rows.frame
        spread = 2 * np.sqrt(penalty.quadratic / last.total_weight)
        scale = np.where(np.isinf(self.scale), np.inf, power_of_two(np.hypot(self.scale, spread)))
        same = bool(np.array_equal(scale, frame.scale))
        rows = last.rows if same else last.rows.seen_through(Frame(frame.center, scale))
        problem = Objective(rows, last.loss, penalty, last.n_classes, last.fit_intercept)
        problem.class_sums = last.class_sums if same else last.class_sums / _stretch(frame, rows.frame)
        for name in OF_ROWS + (OF_FRAME if same else ()):
            if name in vars(last):
                vars(problem)[name] = vars(last)[name]
        return problem

    def _start(self, solver: Solver, problem: Objective) -> Array | State:
        last, state = self.problem, self.state
        if state is None:
            return np.zeros(problem.shape)
        stretch = _stretch(last.rows.frame, problem.rows.frame)
        W = state.W * stretch
        if not isinstance(solver, _TakesUp):
            return W
        value = state.at.value - last.penalty_value(state.W) + problem.penalty_value(W)
        loss_gradient = (state.at.gradient - last.penalty_gradient(state.W)) / stretch
        at = Evaluation(value, loss_gradient + problem.penalty_gradient(W))
        goes_on = last.rows is problem.rows and solver == self.solver
        return solver.begin(problem, W, at, state if goes_on else None)


def _stretch(before: Frame, after: Frame) -> Array:
    """By how much weights grow from one frame to another with the same centre, (d + 1): powers of two."""
    hidden = np.isinf(after.scale)
    return np.concatenate([[1.0], np.where(hidden, 1.0, after.scale / np.where(hidden, 1.0, before.scale))])
