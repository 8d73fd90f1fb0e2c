"""Checks of the settings of logistic regression, and their conversion to the forms that solvers take."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.base.arrays import Array, all_true, any_true
from separatrix.base.errors import ParameterError
from separatrix.base.messages import ByAudience, Message
from separatrix.base.setting_checks import (
    check_C,
    check_choice,
    check_count,
    check_flag,
    check_not_negative,
    is_number,
)
from separatrix.classifiers.bias_reduction import check_bias_reduction
from separatrix.classifiers.fit_input import FitInput
from separatrix.classifiers.sample_weights import class_weights, refuse_weightless_classes, totals_for
from separatrix.classifiers.sklearn_settings import LOGISTIC, C_of, check_jobs, check_taken, l1_ratio_of
from separatrix.losses import LOSSES
from separatrix.objectives.penalty import Penalty
from separatrix.rows.coding import Coding

_GIVE_C = Message("give a positive number, or ", ByAudience("np.inf", shell="inf"), " for no penalty, or 'auto'")

# The losses that turn a single score into a probability.
LOSSES_WITH_PROBABILITIES = [name for name, loss in LOSSES.items() if loss.traits.proper and not loss.traits.multiclass]


def chooses_C(model: Any) -> bool:
    """Whether C is "auto"."""
    C = C_of(model)
    return isinstance(C, str) and C == "auto"


def check_settings(model: Any) -> None:
    """Raise a ``ParameterError`` for the first invalid setting."""
    check_taken(model, LOGISTIC)
    if model.penalty == "elasticnet" and model.l1_ratio is None:
        raise ParameterError("l1_ratio", "got None with penalty='elasticnet'", "give a number from 0 to 1")
    check_jobs("n_jobs", model.n_jobs)
    check_bias_reduction(model)
    chosen, l1_ratio = chooses_C(model), l1_ratio_of(model)
    if not chosen:
        check_C(C_of(model), _GIVE_C)
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
    if not all_true(held):
        refuse_weightless_classes(task.classes, weight, None if model.bias_reduction else 2)
        some = held if any_true(held) else None
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
        raise ParameterError(
            "penalty_factors",
            f"got {model.penalty_factors!r}",
            f"give {n_features} finite factors >= 0, one per column",
        )
    return Penalty(strength, factors, float(l1_ratio_of(model)))


def refuse_outside_memory(model: Any, task: FitInput, offset: Any) -> None:
    """Raise an error that names a setting that needs the rows in memory, if they are elsewhere."""
    if offset is not None:
        task.refuse_outside_memory("offset", "one", "it has one number for each row", "leave it out")
    if chooses_C(model):
        reason = "the search leaves out single rows, or selects the rows of folds by index"
        task.refuse_outside_memory("C", "'auto'", reason, "choose C on a sample of the rows")
