"""Names to solvers, and the choice of ``auto``.

A new solver is one class in a file of its own, and one line here.
"""

from __future__ import annotations

from separatrix.errors import ParameterError
from separatrix.objective import SAMPLE_ROWS, Objective
from separatrix.solvers.gradient_descent import GradientDescent
from separatrix.solvers.lbfgs import LBFGS
from separatrix.solvers.newton import Newton
from separatrix.solvers.sampled import SampledNewton
from separatrix.solvers.state import Need, Solver
from separatrix.solvers.stochastic import StochasticDescent

SOLVERS: dict[str, Solver] = {
    "newton": Newton(),
    "sampled-newton": SampledNewton(),
    "lbfgs": LBFGS(),
    "gradient-descent": GradientDescent(),
    "sgd": StochasticDescent(decay=0.5),
    "minibatch": StochasticDescent(batch_size=32, draw="shuffled", decay=0.5),
}

# Up to here a Newton step (a factor of the Hessian) costs less than the L-BFGS passes that it saves.
NEWTON_PARAMETERS = 1000
# With so many times the rows of a sample, second derivatives of the sample cost little beside a pass.
MANY = 4


def named(solver: str | Solver) -> Solver | None:
    """The solver of that name, the solver itself, or None for ``auto``.

    >>> named("newton").name, named("auto")
    ('newton', None)
    """
    if isinstance(solver, Solver) and not isinstance(solver, type):
        return solver
    if solver == "auto":
        return None
    if not isinstance(solver, str) or solver not in SOLVERS:
        names = ", ".join(["auto", *SOLVERS])
        raise ParameterError("solver", f"got {solver!r}", f"choose one of {names}, or give a solver object")
    return SOLVERS[solver]


def choose(problem: Objective) -> tuple[Solver, str]:
    """The solver for a problem's shape, and why, in a sentence.

    >>> import numpy as np
    >>> from separatrix.objective import pose
    >>> from separatrix.penalty import Penalty
    >>> rows, codes = np.arange(4.0)[:, None], np.array([0, 1, 0, 1])
    >>> problem = pose(rows, codes, 2, np.ones(4), Penalty(1.0, np.ones(1)))
    >>> choose(problem)[1]
    'Newton: with 2 parameters second derivatives are cheap and few passes do'
    """
    if not problem.loss.traits.convex:
        return LBFGS(), "L-BFGS: the cost is not convex, and its second derivatives may point uphill"
    small = problem.has_hessian and problem.size <= NEWTON_PARAMETERS
    n_rows = problem.rows.n_rows or 0
    if small and n_rows >= MANY * max(SAMPLE_ROWS, 20 * problem.size):
        why = f"sampled Newton: {n_rows} rows are many for {problem.size} parameters, so a sample's curvature serves"
        return SampledNewton(), why
    if small:
        return Newton(), f"Newton: with {problem.size} parameters second derivatives are cheap and few passes do"
    return LBFGS(), f"L-BFGS: {problem.size} parameters are too many to factor second derivatives at every step"


def refuse_unmet(solver: Solver, problem: Objective) -> None:
    """Raise where the problem lacks what the solver needs."""
    if Need.SMOOTH in solver.needs and not problem.loss.traits.smooth:
        raise ParameterError("solver", f"{solver.name!r} needs {Need.SMOOTH.value}", "use 'gradient-descent'")
    if Need.RIDGE in solver.needs and problem.has_absolute:
        raise ParameterError("solver", f"{solver.name!r} needs {Need.RIDGE.value}", "use 'auto'")
    if Need.HESSIAN in solver.needs and not problem.has_hessian:
        raise ParameterError(
            "solver",
            f"{solver.name!r} needs {Need.HESSIAN.value}, and there are {problem.size}",
            "use 'lbfgs' or 'auto'",
        )
