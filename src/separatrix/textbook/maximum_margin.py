"""The hyperplane of maximum margin between two separable classes, as a hyperplane (docs/tour.md, P10).

A verdict of separability comes with some hyperplane; this is the one farthest from all rows, by the solver behind
``MaxMarginClassifier``. It is not a method of the verdict, since solvers ask for verdicts themselves.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.base.errors import ParameterError
from separatrix.base.labels import encode, signed
from separatrix.base.setting_checks import check_flag
from separatrix.geometry import Hyperplane
from separatrix.proofs.asked_rows import as_rows
from separatrix.proofs.separability import separability
from separatrix.proofs.verdicts import Separable
from separatrix.rows import Frame, memory_rows, summarise
from separatrix.rows.frame import power_of_two
from separatrix.rows.in_memory import InMemory
from separatrix.solvers.driver import run
from separatrix.solvers.separating.inseparability import ProvenInseparable
from separatrix.solvers.separating.max_margin import NearestPoint, NearestPointMemory
from separatrix.solvers.separating.rules import AtRounding, HullsMeet, MarginWithin, OutOfSteps
from separatrix.solvers.separating.separation_objective import build_separation_objective
from separatrix.solvers.stopping import Rule

# Relative difference from the largest margin at which the search stops, and its maximum number of steps (passes).
RELATIVE_MARGIN_ERROR, MOST_SOLVER_STEPS = 1e-11, 10_000


MAXIMUM_MARGIN = InMemory("maximum_margin", "it keeps a weight for each row")


@MAXIMUM_MARGIN.refusing_tables
def maximum_margin(X: Any, y: Any, fit_intercept: bool = True) -> Hyperplane:
    """The separating hyperplane whose smallest distance to a row is largest, with ‖w‖ = 1.

    Parameters
    ----------
    X : array (n, d), dense or sparse
        The rows.
    y : array (n,)
        The labels of two classes.
    fit_intercept : bool, default True
        If False, the hyperplane passes through the origin.

    Returns
    -------
    Hyperplane

    Raises
    ------
    ParameterError
        If no hyperplane separates the classes, or there are more than two.

    Examples
    --------
    >>> plane = maximum_margin([[0, 0], [1, 0], [3, 1], [3, -1]], [0, 0, 1, 1])
    >>> plane.w.round(12).tolist(), round(plane.b, 12)
    ([1.0, 0.0], -2.0)
    """
    check_flag("fit_intercept", fit_intercept)
    verdict = separability(X, y, fit_intercept)
    if not isinstance(verdict, Separable) or verdict.v.ndim != 1:
        remedy = "give rows of two classes that a hyperplane separates"
        raise ParameterError("X", verdict.explain() if not verdict else "it has more than two classes", remedy)
    problem = build_separation_objective(memory_rows(as_rows(X), signed(encode(y)[1])), fit_intercept)
    summary = summarise(problem.rows)
    center = summary.mean if fit_intercept else np.zeros_like(summary.mean)
    unit = power_of_two(np.array([np.hypot(summary.std, summary.mean - center).max(initial=0.0)]))[0]
    problem = problem.with_(frame=Frame(center, np.full(len(center), unit)))
    proof = ProvenInseparable()
    steps = OutOfSteps(MOST_SOLVER_STEPS, proof)
    rules: list[Rule[NearestPointMemory]] = [
        MarginWithin(relative=RELATIVE_MARGIN_ERROR),
        HullsMeet(proof),
        AtRounding(proof),
        steps,
    ]
    state = run(NearestPoint(), problem, np.zeros(problem.shape), rules, 0.0).state
    W = problem.rows.frame.to_original(state.W)[0] if state.memory.lower > 0 else verdict.v
    return Hyperplane(W[1:] / np.linalg.norm(W[1:]), float(W[0] / np.linalg.norm(W[1:])))
