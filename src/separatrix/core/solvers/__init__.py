"""Solvers for the objective, one family of algorithms per file, and the driver that runs them."""

from separatrix.core.solvers.convex_hulls import Kozinec, NearestPoint
from separatrix.core.solvers.driver import Iteration, Run, default_rules, delivered, run, states
from separatrix.core.solvers.dual_descent import DualDescent
from separatrix.core.solvers.gradient_descent import GradientDescent, StochasticDescent
from separatrix.core.solvers.lbfgs import LBFGS
from separatrix.core.solvers.newton import Newton
from separatrix.core.solvers.perceptron_updates import UPDATES
from separatrix.core.solvers.preconditioned_lbfgs import DiagonalLBFGS, KroneckerLBFGS, SampledNewton
from separatrix.core.solvers.proximal_newton import ProximalNewton, WorkingSet
from separatrix.core.solvers.registry import SCIKIT_LEARN_SOLVERS, SOLVERS, choose, named, refuse_unmet
from separatrix.core.solvers.span import Span
from separatrix.core.solvers.state import Halt, Need, Solver, State
from separatrix.core.solvers.stopping import (
    Certified,
    Halted,
    MostIterations,
    Record,
    Separated,
    SmallGradient,
    Stationary,
    Status,
    Stopping,
)

__all__ = [
    "LBFGS",
    "SCIKIT_LEARN_SOLVERS",
    "SOLVERS",
    "UPDATES",
    "Certified",
    "DiagonalLBFGS",
    "DualDescent",
    "GradientDescent",
    "Halt",
    "Halted",
    "Iteration",
    "Kozinec",
    "KroneckerLBFGS",
    "MostIterations",
    "NearestPoint",
    "Need",
    "Newton",
    "ProximalNewton",
    "Record",
    "Run",
    "SampledNewton",
    "Separated",
    "SmallGradient",
    "Solver",
    "Span",
    "State",
    "Stationary",
    "Status",
    "StochasticDescent",
    "Stopping",
    "WorkingSet",
    "choose",
    "default_rules",
    "delivered",
    "named",
    "refuse_unmet",
    "run",
    "states",
]
