"""The methods that walk downhill on an error surface: gradient descent with a step size, and all registered solvers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from separatrix.base.errors import SeparatrixError
from separatrix.objectives.problem import Objective
from separatrix.solvers import SOLVERS, GradientDescent, Solver, StochasticDescent, choose, refuse_unmet
from separatrix.solvers.gradient_descent import STEPS

LOWEST_ETA, HIGHEST_ETA = 1e-4, 1e3


def _descent(rule: str) -> Callable[[float], Solver]:
    return lambda eta: GradientDescent(eta=eta, step_rule=rule)


# The methods with a step size η, by their names in links and on the page.
WITH_ETA: dict[str, Callable[[float], Solver]] = {
    "gradient-descent": _descent("fixed"),
    **{f"{rule}-gradient": _descent(rule) for rule in STEPS if rule != "fixed"},
    "stochastic-gradient": lambda eta: StochasticDescent(eta=eta),
}
METHODS = (*WITH_ETA, "auto", *(name for name in SOLVERS if name not in WITH_ETA))


def solver_of(method: str, eta: float) -> str | Solver:
    """The solver that ``walk`` takes for a method; one without a step size ignores η.

    >>> solver_of("normalised-gradient", 0.5)
    GradientDescent(eta=0.5, step_rule='normalised')
    >>> solver_of("newton", 0.5)
    'newton'
    """
    return WITH_ETA[method](eta) if method in WITH_ETA else method


def suitable(problem: Objective) -> list[str]:
    """The methods whose needs an objective meets."""
    return [name for name in METHODS if _suits(name, problem)]


def _suits(name: str, problem: Objective) -> bool:
    solver: Any = WITH_ETA[name](1.0) if name in WITH_ETA else SOLVERS.get(name) or choose(problem)[0]
    try:
        refuse_unmet(solver, problem)
    except SeparatrixError:
        return False
    return True
