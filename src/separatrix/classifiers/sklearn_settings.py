"""scikit-learn's settings of logistic regression: what each means here, or what is done instead.

A setting with a meaning here is translated silently. All others are reported together, in one
``CompatibilityWarning`` per fit.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, nullcontext
from numbers import Integral
from typing import Any

import numpy as np

from separatrix.base.concurrency import thread_count, threads
from separatrix.base.errors import CompatibilityWarning, ParameterError
from separatrix.base.watching import watch
from separatrix.solvers import SCIKIT_LEARN_SOLVERS

# scikit-learn's default for a deprecated setting, which leaves the decision to the settings that replace it.
UNSET = "deprecated"
# The values that scikit-learn accepts for ``penalty`` and ``multi_class``.
SCIKIT_LEARN_CHOICES = {
    "penalty": ("l1", "l2", "elasticnet", None, UNSET),
    "multi_class": ("auto", "multinomial", "ovr", None, UNSET),
}


def l1_ratio_of(model: Any) -> Any:
    """α from ``penalty`` if that is given, else from ``l1_ratio``.

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
    for name, choices in SCIKIT_LEARN_CHOICES.items():
        value = getattr(model, name)
        if not (value is None or isinstance(value, str)) or value not in choices:
            offered = ", ".join(repr(choice) for choice in choices if choice != UNSET)
            raise ParameterError(name, f"got {value!r}", f"leave it out, or choose one of {offered}")
    if model.penalty == "elasticnet" and model.l1_ratio is None:
        raise ParameterError("l1_ratio", "got None with penalty='elasticnet'", "give a number from 0 to 1")
    _check_jobs(model.n_jobs)


def _check_jobs(jobs: Any) -> None:
    if jobs is not None and (isinstance(jobs, bool) or not isinstance(jobs, Integral) or jobs == 0):
        raise ParameterError("n_jobs", f"got {jobs!r}", "give None, a number of threads, or -1 for all cores")


def say_what_is_done_instead(model: Any, n_classes: int) -> None:
    """Warn once about all settings that have no meaning here, if there are any."""
    sentences = [*_penalty_sentences(model), *_solver_sentences(model, n_classes)]
    if sentences:
        warnings.warn(f"LogisticRegression: {'; '.join(sentences)}.", CompatibilityWarning, stacklevel=3)


def _penalty_sentences(model: Any) -> Iterator[str]:
    """What is done instead of settings of the penalty that contradict each other or have no effect."""
    if model.penalty in ("l1", "l2") and model.l1_ratio not in (None, 0, 0.0, l1_ratio_of(model)):
        yield f"penalty={model.penalty!r} takes precedence, and l1_ratio={model.l1_ratio!r} is ignored"
    if model.penalty is None and model.C != 1.0:
        yield f"Setting penalty=None will ignore the C and l1_ratio parameters: C={model.C!r} is ignored"
    penalised = model.solver == "liblinear" and bool(model.fit_intercept)
    if penalised:
        yield "solver='liblinear' would penalise the intercept; here no solver penalises it"
    if model.intercept_scaling != 1 and not penalised:
        yield f"intercept_scaling={model.intercept_scaling!r} is ignored, since the intercept is not penalised"


def _solver_sentences(model: Any, n_classes: int) -> Iterator[str]:
    """What is done instead of one versus rest and of the dual."""
    if n_classes > 2 and (model.multi_class == "ovr" or model.solver == "liblinear"):
        asked = "multi_class='ovr'" if model.multi_class == "ovr" else "solver='liblinear'"
        remedy = "for one versus rest use OneVsRestClassifier(LogisticRegression())"
        yield f"{asked} is ignored, and softmax is fitted; {remedy}"
    if model.dual and model.solver not in ("liblinear", "dual"):
        yield "dual=True is ignored, since the optimum of the dual is the same; solver='dual' solves the dual"


def settings_of_work(model: Any) -> AbstractContextManager[Any]:
    """A context that uses ``n_jobs`` threads and prints each iteration if ``verbose``."""
    if model.n_jobs is None and not model.verbose:
        return nullcontext()
    stack = ExitStack()
    if model.n_jobs is not None:
        # As in joblib, −1 means all cores and −2 all but one.
        jobs = int(model.n_jobs)
        stack.enter_context(threads(jobs if jobs > 0 else max(1, thread_count() + 1 + jobs)))
    if model.verbose:
        stack.enter_context(watch(lambda stage, within: print(*within, stage, sep=" > ")))
    return stack


def why_chosen(model: Any, why: str) -> str:
    """Why a solver was chosen; names the scikit-learn solver that was asked for, if any."""
    if isinstance(model.solver, str) and model.solver in SCIKIT_LEARN_SOLVERS:
        return f"{why} ({model.solver!r} was asked for, which has the same optimum)"
    return why
