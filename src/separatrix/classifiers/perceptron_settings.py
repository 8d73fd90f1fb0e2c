"""Checks of the perceptron's settings, and the solver and the search plan that they ask for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import partial
from typing import Any

import numpy as np

from separatrix.base.errors import ParameterError
from separatrix.base.messages import Classifier, Message, Parameter, Setting
from separatrix.base.setting_checks import (
    check_choice,
    check_count,
    check_flag,
    check_not_negative,
    check_positive,
    is_number,
)
from separatrix.classifiers.fit_input import FitInput, seed_of
from separatrix.classifiers.perceptron_search import Plan, rows_aside
from separatrix.classifiers.sklearn_settings import check_jobs
from separatrix.solvers.separating.perceptron import UPDATES

# The l1_ratio that each name of a penalty stands for, as in scikit-learn; None: the setting ``l1_ratio`` decides.
L1_RATIO_OF_PENALTY: dict[str, float | None] = {"l2": 0.0, "l1": 1.0, "elasticnet": None}


def _check_share(name: str, value: Any) -> None:
    if not (is_number(value) and 0 <= value <= 1):
        raise ParameterError(name, f"got {value!r}", "give a number between 0 and 1")


def _check_average(name: str, value: Any) -> None:
    if not (isinstance(value, str) and value == "auto"):
        check_flag(name, value)


def _unless_none(check: Callable[[str, Any], None]) -> Callable[[str, Any], None]:
    """The same check for a setting that may also be None."""
    return lambda name, value: None if value is None else check(name, value)


# The check of each setting, in the order in which they are made.
CHECKS: dict[str, Callable[[str, Any], None]] = {
    "update": partial(check_choice, choices=UPDATES),
    "zero": partial(check_choice, choices=("mistake", "positive")),
    **dict.fromkeys(("pocket", "shuffle", "fit_intercept", "warm_start", "early_stopping"), check_flag),
    "eta0": check_positive,
    **dict.fromkeys(("max_iter", "n_iter_no_change"), check_count),
    "tol": _unless_none(check_not_negative),
    "average": _check_average,
    "penalty": _unless_none(partial(check_choice, choices=L1_RATIO_OF_PENALTY)),
    "alpha": check_not_negative,
    **dict.fromkeys(("l1_ratio", "validation_fraction"), _check_share),
    "n_jobs": check_jobs,
}


def check_settings(model: Any) -> None:
    """Raise a ``ParameterError`` for the first invalid setting."""
    for name, check in CHECKS.items():
        check(name, getattr(model, name))
    if model.average is True and (model.pocket or model.penalty is not None):
        other = "a pocket" if model.pocket else "a penalty"
        raise ParameterError("average", f"got True together with {other}", "choose one of the two")


def refuse_in_steps(model: Any) -> None:
    """Refuse settings with which ``partial_fit`` cannot work, since they need all rows at once."""
    if model.early_stopping:
        raise ParameterError("early_stopping", "partial_fit holds out no rows", "use fit, or set it to False")
    if isinstance(model.class_weight, str):
        problem = f"got {model.class_weight!r}, which needs all rows at once"
        raise ParameterError("class_weight", problem, "give partial_fit a factor for each label")


def refuse_outside_memory(model: Any, task: FitInput) -> None:
    """Refuse settings that need rows in memory, and weights, which the perceptron does not take."""
    if task.is_in_memory:
        return
    if model.early_stopping:
        problem = "it sets rows aside by their numbers, and these rows are not in memory"
        raise ParameterError("early_stopping", problem, "use tol and n_iter_no_change instead")
    if model.pocket and model.update == "online":
        problem = "after each online update it counts the mistakes on all rows, and these are not in memory"
        raise ParameterError("pocket", problem, Message("use ", Setting("update", "batch", "worst")))
    totals = task.table.totals
    if not np.array_equal(totals.weight, totals.rows):
        problem = "the scan has weights, and the perceptron takes none"
        raise ParameterError(
            "weight",
            problem,
            Message("leave them out, or use ", Parameter("class_weight"), " or ", Classifier("LogisticRegression")),
        )


def solver_of(model: Any) -> Any:
    """The solver for the update rule, with those settings that it has."""
    check_settings(model)
    kind: Any = UPDATES[model.update]
    settings = {"eta": float(model.eta0), "zero": model.zero, "pocket": bool(model.pocket)}
    settings |= {"average": model.average is True, "weighted": model.class_weight is not None}
    settings |= {"shuffle": bool(model.shuffle), "seed": seed_of(model.random_state)}
    # The pocket compares weights by the mistakes counted over all rows, so these are counted from the first epoch on.
    settings |= {"survey_from": 0 if model.pocket else int(model.max_iter)}
    if model.penalty is not None:
        ratio = L1_RATIO_OF_PENALTY[model.penalty]
        settings |= {"alpha": float(model.alpha), "l1_ratio": float(model.l1_ratio if ratio is None else ratio)}
    known = {field.name for field in fields(kind)}
    return kind(**{name: value for name, value in settings.items() if name in known})


def plan_of(model: Any, solver: Any, task: FitInput) -> Plan:
    """The plan of the search: which rows to hold out, and when to stop."""
    aside = None
    if model.early_stopping:
        fraction = float(model.validation_fraction)
        aside = rows_aside(task.codes, task.n_classes, fraction, seed_of(model.random_state))
    plain = not (model.pocket or model.early_stopping or model.penalty is not None)
    mean_after = model.average == "auto" and model.update == "online" and plain
    tol = None if model.tol is None else float(model.tol)
    patience, by_rows = int(model.n_iter_no_change), model.update != "batch"
    return Plan(solver, int(model.max_iter), tol, patience, mean_after, aside, by_rows)
