"""Solvers: one algorithm, one file; one driver for all."""

from separatrix.solvers.driver import Run, delivered, run, states
from separatrix.solvers.gradient_descent import GradientDescent
from separatrix.solvers.lbfgs import LBFGS
from separatrix.solvers.newton import Newton
from separatrix.solvers.registry import SOLVERS, choose, named, refuse_unmet
from separatrix.solvers.state import Halt, Need, Solver, State
from separatrix.solvers.stochastic import StochasticDescent
from separatrix.solvers.stopping import (
    Certified,
    Halted,
    MostIterations,
    Record,
    Separated,
    SmallGradient,
    Status,
    default_rules,
)

__all__ = [
    "LBFGS",
    "SOLVERS",
    "Certified",
    "GradientDescent",
    "Halt",
    "Halted",
    "MostIterations",
    "Need",
    "Newton",
    "Record",
    "Run",
    "Separated",
    "SmallGradient",
    "Solver",
    "State",
    "Status",
    "StochasticDescent",
    "choose",
    "default_rules",
    "delivered",
    "named",
    "refuse_unmet",
    "run",
    "states",
]
