"""The certificate of a logistic regression that a solver has fitted."""

from __future__ import annotations

from typing import Any

from separatrix.base.arrays import Array, length
from separatrix.base.zero_weight_classes import ABSENT_CLASS_INTERCEPT
from separatrix.certificates.certificate import Certificate
from separatrix.certificates.claim import Recomputed
from separatrix.certificates.likelihood_claim import LikelihoodClaim
from separatrix.classifiers.fit_input import FitInput
from separatrix.classifiers.sklearn_settings import l1_ratio_of
from separatrix.objectives.bound import Bound
from separatrix.objectives.problem import Objective
from separatrix.solvers import Run, Solver


def likelihood_certificate(
    model: Any, task: FitInput, by_class: Array, problem: Objective, outcome: Run, solver: Solver, why: str
) -> Certificate:
    """Build the certificate of a model whose ``scorer_`` is already set."""
    at = outcome.state.at
    slope = length(problem.subgradient(outcome.state.W, at.gradient))
    return Certificate(
        status=outcome.status.sentence,
        code=outcome.status.code,
        met=outcome.status.met,
        **Recomputed(at.value, problem.null_value, outcome.bound, slope).fields(),
        iterations=outcome.state.iteration,
        passes=problem.passes,
        solver=solver.name,
        why=why,
        rank=(problem.standard or problem).rank,
        full_rank=task.n_features + problem.fit_intercept,
        n_parameters=model.n_parameters_,
        n_rows=task.n_rows,
        claim=LikelihoodClaim(
            model.scorer_,
            model.C_,
            problem.penalty.factors[: task.n_features],
            bool(model.fit_intercept),
            by_class,
            model.loss,
            float(l1_ratio_of(model)),
        ),
        facts=_facts(model, task, outcome.bound),
    )


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
