"""scikit-learn's settings of a logistic regression: what each means here, or what is done instead.

A setting that has a meaning here is mapped in silence. Another one is said once a fit, in one ``CompatibilityWarning``.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from numbers import Integral
from typing import Any

import numpy as np

from separatrix.base.concurrency import thread_count, threads
from separatrix.base.errors import CompatibilityWarning, ParameterError
from separatrix.base.watching import watch
from separatrix.solvers import SCIKIT_LEARN_SOLVERS

# What leaves a setting to the ones of this package, as in scikit-learn.
UNSET = "deprecated"
PENALTIES = ("l1", "l2", "elasticnet", None, UNSET)
MULTI_CLASS = ("auto", "multinomial", "ovr", None, UNSET)


def l1_ratio_of(model: Any) -> Any:
    """α by ``penalty`` where that is given, else by ``l1_ratio``.

    >>> from separatrix import LogisticRegression
    >>> l1_ratio_of(LogisticRegression(penalty="l1")), l1_ratio_of(LogisticRegression(l1_ratio=0.5))
    (1.0, 0.5)
    """
    if model.penalty in ("l1", "l2"):
        return float(model.penalty == "l1")
    return 0.0 if model.l1_ratio is None or model.penalty is None else model.l1_ratio


def C_of(model: Any) -> Any:
    """C, which is infinite with ``penalty=None``."""
    return np.inf if model.penalty is None else model.C


def check_taken(model: Any) -> None:
    """Refuse values that scikit-learn refuses, too."""
    for name, choices in (("penalty", PENALTIES), ("multi_class", MULTI_CLASS)):
        value = getattr(model, name)
        if not (value is None or isinstance(value, str)) or value not in choices:
            offered = ", ".join(repr(choice) for choice in choices if choice != UNSET)
            raise ParameterError(name, f"got {value!r}", f"leave it out, or choose one of {offered}")
    if model.penalty == "elasticnet" and model.l1_ratio is None:
        raise ParameterError("l1_ratio", "got None with penalty='elasticnet'", "give a number from 0 to 1")
    jobs = model.n_jobs
    if jobs is not None and (isinstance(jobs, bool) or not isinstance(jobs, Integral) or jobs == 0):
        raise ParameterError("n_jobs", f"got {jobs!r}", "give None, a number of threads, or -1 for all cores")


def say_what_is_done_instead(model: Any, n_classes: int) -> None:
    """One warning about all settings that have no meaning here; nothing where there is none."""
    said = list(_instead(model, n_classes))
    if said:
        warnings.warn(f"LogisticRegression: {'; '.join(said)}.", CompatibilityWarning, stacklevel=3)


def _instead(model: Any, n_classes: int) -> Iterator[str]:
    if model.penalty in ("l1", "l2") and model.l1_ratio not in (None, 0, 0.0, l1_ratio_of(model)):
        yield f"penalty={model.penalty!r} decides, and l1_ratio={model.l1_ratio!r} is left aside"
    if model.penalty is None and model.C != 1.0:
        yield f"Setting penalty=None will ignore the C and l1_ratio parameters: C={model.C!r} is left aside"
    penalised = model.solver == "liblinear" and bool(model.fit_intercept)
    if penalised:
        yield "solver='liblinear' would penalise the intercept; here it is never penalised, as by the other solvers"
    if model.intercept_scaling != 1 and not penalised:
        yield f"intercept_scaling={model.intercept_scaling!r} is left aside, since the intercept is not penalised"
    one_by_one = model.multi_class == "ovr" or model.solver == "liblinear"
    if one_by_one and n_classes > 2:
        asked = "multi_class='ovr'" if model.multi_class == "ovr" else "solver='liblinear'"
        remedy = "for one versus rest use OneVsRestClassifier(LogisticRegression())"
        yield f"{asked} is left aside, and softmax is fitted; {remedy}"
    if model.dual and model.solver not in ("liblinear", "dual"):
        yield "dual=True is left aside, since the optimum of the dual is the same; solver='dual' solves that"


def settings_of_work(model: Any) -> AbstractContextManager[Any]:
    """As many threads as ``n_jobs`` says, and a line for every iteration with ``verbose``."""
    stack = ExitStack()
    if model.n_jobs is not None:
        # As in joblib: −1 is all, −2 all but one.
        jobs = int(model.n_jobs)
        stack.enter_context(threads(jobs if jobs > 0 else max(1, thread_count() + 1 + jobs)))
    if model.verbose:
        stack.enter_context(watch(lambda stage, within: print(*within, stage, sep=" > ")))
    return stack


def why_chosen(model: Any, why: str) -> str:
    """Why a solver was chosen, with the name that was asked for where that is scikit-learn's."""
    if isinstance(model.solver, str) and model.solver in SCIKIT_LEARN_SOLVERS:
        return f"{why} ({model.solver!r} was asked for, which has the same optimum)"
    return why
