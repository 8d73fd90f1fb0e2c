"""scikit-learn's settings of its classifiers: what each means here, or what is done instead.

A setting with a meaning here is translated silently. All others are reported together, in one
``CompatibilityWarning`` per fit. ``LOGISTIC`` and ``LINEAR_SVC`` describe the settings of these two classes.
``n_jobs``, ``verbose`` and ``random_state`` mean the same for every class that has them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np

from separatrix.classifiers.fit_input import seed_of
from separatrix.core.base.errors import CompatibilityWarning, ParameterError
from separatrix.core.base.machine import thread_count, threads
from separatrix.core.base.watching import watch
from separatrix.core.solvers.registry import SCIKIT_LEARN_SOLVERS
from separatrix.core.solvers.state import Solver

# scikit-learn's default for a deprecated setting, which leaves the decision to the settings that replace it.
UNSET = "deprecated"


@dataclass(frozen=True)
class Accepted:
    """The settings of one scikit-learn class that are accepted for compatibility.

    ``choices``: the values that scikit-learn accepts, by setting. ``instead``: given the classifier and the number of
    classes, a sentence for each setting that has another effect here.
    """

    choices: Mapping[str, tuple[Any, ...]]
    instead: Callable[[Any, int], Iterator[str]]


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


def check_taken(model: Any, accepted: Accepted) -> None:
    """Refuse values that scikit-learn refuses, too."""
    for name, choices in accepted.choices.items():
        value = getattr(model, name)
        if isinstance(value, str) and value in choices:
            continue
        if not any(_is_same(value, choice) for choice in choices):
            offered = ", ".join(repr(choice) for choice in choices if choice != UNSET)
            raise ParameterError(name, f"got {value!r}", f"leave it out, or choose one of {offered}")


def _is_same(value: Any, choice: Any) -> bool:
    """Whether a value is this choice. The numbers 0 and 1 are not flags, but NumPy's flags are."""
    if isinstance(choice, bool):
        return isinstance(value, bool | np.bool_) and bool(value) == choice
    return value is None if choice is None else isinstance(value, str) and value == choice


def say_what_is_done_instead(model: Any, accepted: Accepted, n_classes: int) -> None:
    """Warn once about all settings that have no meaning here, if there are any. To be called by ``fit`` itself."""
    sentences = list(accepted.instead(model, n_classes))
    if sentences:
        warnings.warn(f"{type(model).__name__}: {'; '.join(sentences)}.", CompatibilityWarning, stacklevel=3)


def _instead_in_logistic(model: Any, n_classes: int) -> Iterator[str]:
    """What is done instead of contradictory settings of the penalty, of one versus rest, and of the dual."""
    if model.penalty in ("l1", "l2") and model.l1_ratio not in (None, 0, 0.0, l1_ratio_of(model)):
        yield f"penalty={model.penalty!r} takes precedence, and l1_ratio={model.l1_ratio!r} is ignored"
    if model.penalty is None and model.C != 1.0:
        yield f"Setting penalty=None will ignore the C and l1_ratio parameters: C={model.C!r} is ignored"
    penalised = model.solver == "liblinear" and bool(model.fit_intercept)
    if penalised:
        yield "solver='liblinear' would penalise the intercept; here no solver penalises it"
    if model.intercept_scaling != 1 and not penalised:
        yield _scaling_sentence(model)
    if n_classes > 2 and (model.multi_class == "ovr" or model.solver == "liblinear"):
        asked = "multi_class='ovr'" if model.multi_class == "ovr" else "solver='liblinear'"
        remedy = "for one versus rest use OneVsRestClassifier(LogisticRegression())"
        yield f"{asked} is ignored, and softmax is fitted; {remedy}"
    if model.dual and model.solver not in ("liblinear", "dual"):
        yield "dual=True is ignored, since the optimum of the dual is the same; solver='dual' solves the dual"


def _scaling_sentence(model: Any) -> str:
    return f"intercept_scaling={model.intercept_scaling!r} is ignored, since the intercept is not penalised"


def _instead_in_svc(model: Any, n_classes: int) -> Iterator[str]:
    """What is done instead of the L1 penalty, of a penalised intercept, and of Crammer and Singer's objective."""
    if model.penalty == "l1":
        remedy = 'for weights that are exactly zero use LogisticRegression(penalty="l1")'
        yield f"penalty='l1' is ignored, and the L2 penalty is used; {remedy}"
    if model.intercept_scaling != 1 and model.fit_intercept:
        yield _scaling_sentence(model)
    if model.multi_class == "crammer_singer":
        # With two classes its optimum is that of loss="hinge" with 2 C.
        fitted = "one versus rest" if n_classes > 2 else "one hyperplane"
        yield f"multi_class='crammer_singer' is ignored, and {fitted} is fitted with loss={model.loss!r}"


LOGISTIC = Accepted(
    {
        "penalty": ("l1", "l2", "elasticnet", None, UNSET),
        "multi_class": ("auto", "multinomial", "ovr", None, UNSET),
    },
    _instead_in_logistic,
)
# ``dual`` chooses a solver in scikit-learn. Both have the same optimum, so all its values are accepted silently.
LINEAR_SVC = Accepted(
    {"penalty": ("l1", "l2"), "dual": ("auto", True, False), "multi_class": ("ovr", "crammer_singer")},
    _instead_in_svc,
)


# What scikit-learn's perceptron has and ours lacks, since no lecture has it: by setting the values that are accepted,
# what is lacking, and what to do instead. scikit-learn's tolerance is not None by default, so its default is accepted.
_LACKING: dict[str, tuple[tuple[Any, ...], str, str]] = {
    "penalty": ((None,), "the perceptron has no penalty", "leave it out, or use LogisticRegression, which has one"),
    "tol": (
        (None, 1e-3),
        "the perceptron stops only by separation, a proof or max_iter",
        "leave it out, or lower max_iter",
    ),
    "early_stopping": (
        (False,),
        "the perceptron sets no rows aside",
        "leave it out, or choose max_iter by cross-validation",
    ),
}


def refuse_perceptron_settings(model: Any) -> None:
    """Refuse a penalty, a tolerance and early stopping, which only scikit-learn's perceptron has.

    >>> from separatrix import Perceptron
    >>> refuse_perceptron_settings(Perceptron(penalty=None, tol=1e-3))
    >>> refuse_perceptron_settings(Perceptron(penalty="l2"))
    Traceback (most recent call last):
    ...
    separatrix.core.base.errors.ParameterError: penalty: got 'l2', and the perceptron has no penalty; leave it ...
    """
    for name, (accepted, lack, remedy) in _LACKING.items():
        value = getattr(model, name)
        if np.ndim(value) or value not in accepted:
            raise ParameterError(name, f"got {value!r}, and {lack}", remedy)


def check_jobs(name: str, jobs: Any) -> None:
    """Refuse an ``n_jobs`` that is not a number of threads."""
    if jobs is not None and (isinstance(jobs, bool) or not isinstance(jobs, Integral) or jobs == 0):
        raise ParameterError(name, f"got {jobs!r}", "give None, a number of threads, or -1 for all cores")


def settings_of_work(model: Any) -> AbstractContextManager[Any]:
    """A context that uses ``n_jobs`` threads, if there is such a setting, and prints each iteration if ``verbose``."""
    jobs = getattr(model, "n_jobs", None)
    check_jobs("n_jobs", jobs)
    if jobs is None and not model.verbose:
        return nullcontext()
    stack = ExitStack()
    if jobs is not None:
        # As in joblib, −1 means all cores and −2 all but one.
        stack.enter_context(threads(int(jobs) if jobs > 0 else max(1, thread_count() + 1 + int(jobs))))
    if model.verbose:
        stack.enter_context(watch(lambda stage, within: print(*within, stage, sep=" > ")))
    return stack


def seeded(model: Any, solver: Solver | None) -> Solver | None:
    """The solver with the seed of ``random_state``, if it draws random numbers."""
    if model.random_state is None or solver is None or not hasattr(solver, "seed"):
        return solver
    return replace(solver, seed=seed_of(model.random_state))  # type: ignore[type-var]


def why_chosen(model: Any, why: str) -> str:
    """Why a solver was chosen; names the scikit-learn solver that the user chose, if any."""
    if isinstance(model.solver, str) and model.solver in SCIKIT_LEARN_SOLVERS:
        return f"{why} (instead of {model.solver!r}, which has the same optimum)"
    return why
