"""Solvers for the objective, one algorithm per file, and the driver that runs them."""

from separatrix.solvers.diagonal import DiagonalLBFGS
from separatrix.solvers.driver import Run, default_rules, delivered, run, states
from separatrix.solvers.dual import DualDescent
from separatrix.solvers.gradient_descent import GradientDescent
from separatrix.solvers.iteration import Iteration
from separatrix.solvers.kronecker import KroneckerLBFGS
from separatrix.solvers.lbfgs import LBFGS
from separatrix.solvers.newton import Newton
from separatrix.solvers.proximal import ProximalNewton
from separatrix.solvers.registry import SCIKIT_LEARN_SOLVERS, SOLVERS, choose, named, refuse_unmet
from separatrix.solvers.row_space import Span
from separatrix.solvers.sampled import SampledNewton
from separatrix.solvers.separating.kozinec import Kozinec
from separatrix.solvers.separating.max_margin import NearestPoint
from separatrix.solvers.separating.perceptron import UPDATES
from separatrix.solvers.separation_rule import Separated
from separatrix.solvers.state import Halt, Need, Solver, State
from separatrix.solvers.stochastic import StochasticDescent
from separatrix.solvers.stopping import (
    Certified,
    Halted,
    MostIterations,
    Record,
    SmallGradient,
    Stationary,
    Status,
)
from separatrix.solvers.variance_reduced import VarianceReduced
from separatrix.solvers.working_set import WorkingSet

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
    "VarianceReduced",
    "WorkingSet",
    "choose",
    "default_rules",
    "delivered",
    "named",
    "refuse_unmet",
    "run",
    "states",
]
