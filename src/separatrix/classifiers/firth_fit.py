"""Logistic regression by Firth's penalised likelihood: the weights and their certificate."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from separatrix import firth
from separatrix.classifiers.fit_input import FitInput
from separatrix.classifiers.logistic import start_of
from separatrix.core.base import errors
from separatrix.core.base.arrays import Array
from separatrix.core.base.messages import Message, Remedy
from separatrix.core.certificate import Certificate, Recomputed
from separatrix.core.gap_bounds import unresolved_reason
from separatrix.core.likelihood_claims import FirthClaim
from separatrix.core.linear_algebra import far_from_zero, of_extreme_size
from separatrix.core.objective_sums import Evaluation
from separatrix.core.rows.targets import Coding
from separatrix.core.scorer import Scorer
from separatrix.core.solvers.driver import Run, delivered
from separatrix.core.solvers.newton import Newton
from separatrix.core.solvers.stopping import Status


def fit_firth(model: Any, task: FitInput, offset: Array | None, coding: Coding, by_class: Array) -> None:
    """Maximise l(W) + ½ ln |I(W)| and store weights and certificate on the model. Firth, Biometrika 80 (1993).

    >>> from separatrix import LogisticRegression
    >>> model = LogisticRegression(bias_reduction="firth").fit([[0.0], [1.0]], ["no", "yes"])
    >>> model.predict_proba([[0.0], [1.0]]).round(6).tolist()  # half a row is added to each class in either row
    [[0.75, 0.25], [0.25, 0.75]]
    """
    rows = task.likelihood_rows(coding, offset)
    n_offsets = 0 if offset is None else offset.shape[1]
    problem = firth.pose(rows, task.n_classes, model.fit_intercept, task.names, n_offsets)
    start = start_of(model, problem.objective, task, Newton())
    fitted = firth.fit(problem, start, model.tol, model.max_iter)
    W, outcome = _delivered(problem, fitted.run, model.tol)
    outcome = replace(outcome, status=_among_resolved(outcome.status, problem))
    model._keep_scorer(Scorer(W, task.classes, problem.objective.loss.traits.head.name))
    # The weights are not penalised by size, and the maximum is finite even where the classes are separated.
    model.C_, model.penalty_choice_, model.separation_ = np.inf, None, None
    model.n_iter_, model.trace_ = np.array([outcome.state.iteration], dtype=np.int32), outcome.trace
    model.n_parameters_ = (task.n_classes - 1) * (task.n_features + problem.objective.fit_intercept)
    at, status = outcome.state.at, outcome.status
    length = float(np.linalg.norm(at.gradient))
    model.certificate_ = Certificate(
        status=status.sentence,
        code=status.code,
        met=status.met,
        **Recomputed(at.value, firth.null_value(problem), outcome.bound, length).fields(),
        iterations=outcome.state.iteration,
        passes=problem.objective.passes,
        solver="firth",
        why="firth: Fisher scoring on the penalised likelihood, from several starts",
        rank=problem.rank,
        full_rank=task.n_features + problem.objective.fit_intercept,
        n_parameters=model.n_parameters_,
        n_rows=task.n_rows,
        claim=FirthClaim(model.scorer_, bool(model.fit_intercept), by_class),
        facts={"starts": fitted.sentence},
    )
    if not status.met:
        warnings.warn(status.sentence, errors.NotConvergedWarning, stacklevel=4)


def _delivered(problem: firth.Penalised, run: Run, tol: float) -> tuple[Array, Run]:
    """The weights in raw units, and the run; if rounding to raw units loses digits, the run at the rounded weights."""
    W, outcome = delivered(run, problem.objective)
    if outcome is run:
        return W, run
    point = firth.Ascent().at(problem, problem.framed(W))
    if point is None:
        return W, run
    state = replace(outcome.state, W=point.W, at=Evaluation(point.level.value, point.gradient))
    return W, replace(
        run, state=state, bound=firth.unbounded(point.length), status=_judged(run.status, problem, point, tol)
    )


def _among_resolved(status: Status, problem: firth.Penalised) -> Status:
    """The status, which also names columns that differ by less than float64 resolves."""
    unresolved = unresolved_reason(problem.objective)
    if not status.met or not unresolved:
        return status
    way_out = Remedy("leave one of them out")
    return replace(
        status, sentence=Message(status.sentence, ", only among the resolved weights: ", unresolved, way_out)
    )


def _judged(status: Status, problem: firth.Penalised, point: firth.Point, tol: float) -> Status:
    """The status of the run at the weights in raw units."""
    if not status.met or point.length <= max(tol, firth.LONGEST_ZERO_SCORE):
        return status
    frame, names = problem.objective.rows.frame, problem.objective.names
    sentence = (
        f"stationary up to rounding: the weights in raw units leave a score of {point.length:.1e} standard errors"
    )
    cause = of_extreme_size(frame, names) or far_from_zero(frame, names, least=0.0)
    return Status("rounding", Message(sentence, *([", since ", cause] if cause else [])), False)
