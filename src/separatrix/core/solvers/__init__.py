"""Solvers for the objective, one family of algorithms per file, and the driver that runs them.

A module is imported when one of its names is first used, since a fit needs only one solver.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from separatrix.core.solvers.convex_hulls import Kozinec, NearestPoint
    from separatrix.core.solvers.driver import Iteration, Run, delivered, run, states
    from separatrix.core.solvers.dual_descent import DualDescent
    from separatrix.core.solvers.gradient_descent import GradientDescent, StochasticDescent
    from separatrix.core.solvers.lbfgs import LBFGS, Preconditioner
    from separatrix.core.solvers.newton import Newton
    from separatrix.core.solvers.perceptron_updates import UPDATES
    from separatrix.core.solvers.preconditioners import Chord, Diagonal, Identity, Kronecker, Sample
    from separatrix.core.solvers.proximal import Proximal
    from separatrix.core.solvers.registry import SCIKIT_LEARN_SOLVERS, SOLVERS, choose, named, refuse_unmet
    from separatrix.core.solvers.smoothing import Smoothing
    from separatrix.core.solvers.span import Span
    from separatrix.core.solvers.state import Halt, Need, Solver, State
    from separatrix.core.solvers.stopping import Record, SmallGradient, Status, Stopping

_MODULES = {
    "convex_hulls": ("Kozinec", "NearestPoint"),
    "driver": ("Iteration", "Run", "delivered", "run", "states"),
    "dual_descent": ("DualDescent",),
    "gradient_descent": ("GradientDescent", "StochasticDescent"),
    "lbfgs": ("LBFGS", "Preconditioner"),
    "newton": ("Newton",),
    "perceptron_updates": ("UPDATES",),
    "preconditioners": ("Chord", "Diagonal", "Identity", "Kronecker", "Sample"),
    "proximal": ("Proximal",),
    "registry": ("SCIKIT_LEARN_SOLVERS", "SOLVERS", "choose", "named", "refuse_unmet"),
    "smoothing": ("Smoothing",),
    "span": ("Span",),
    "state": ("Halt", "Need", "Solver", "State"),
    "stopping": ("Record", "SmallGradient", "Status", "Stopping"),
}

__all__ = [
    "LBFGS",
    "SCIKIT_LEARN_SOLVERS",
    "SOLVERS",
    "UPDATES",
    "Chord",
    "Diagonal",
    "DualDescent",
    "GradientDescent",
    "Halt",
    "Identity",
    "Iteration",
    "Kozinec",
    "Kronecker",
    "NearestPoint",
    "Need",
    "Newton",
    "Preconditioner",
    "Proximal",
    "Record",
    "Run",
    "Sample",
    "SmallGradient",
    "Smoothing",
    "Solver",
    "Span",
    "State",
    "Status",
    "StochasticDescent",
    "Stopping",
    "choose",
    "delivered",
    "named",
    "refuse_unmet",
    "run",
    "states",
]


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
