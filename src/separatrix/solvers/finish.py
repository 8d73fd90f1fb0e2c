r"""The last steps of a fit that is within its tolerance, which make the weights as accurate as the objective.

If E is within ε of its minimum, the weights have an error of about ε^½: at a relative gap of 1e-8 a coefficient has
three or four correct digits. One Newton step with second derivatives that are already known, from the bound or from the
last Newton step, doubles the number of digits in one pass:

    W ← W − H⁻¹ ∇E(W),    accepted if it halves (∇Eᵀ H⁻¹ ∇E)^½ and does not raise E,

and ``curvature`` proves the bound at the new point with the same H. There is no line search: this close to the minimum
only rounding could make a full step too long, and half a step would not double the number of digits.
"""

from __future__ import annotations

from math import sqrt

from separatrix.base.arrays import Array, inner
from separatrix.base.quiet import quietly
from separatrix.objectives.bounds import better
from separatrix.objectives.curvature import Curvature, curvature_at
from separatrix.objectives.curvature_bound import Evidence, proven
from separatrix.objectives.damped_newton import VALUE_ROUNDING, newton_direction
from separatrix.objectives.duality_bound import duality
from separatrix.objectives.factor import Factor
from separatrix.objectives.pass_costs import counts_all_rows, longest_row_is_cheap
from separatrix.objectives.problem import Objective
from separatrix.solvers.newton import NewtonMemory
from separatrix.solvers.state import Memory, State

# The steps end at this distance to the optimum, in standard errors: a coefficient larger than a tenth of its standard
# error then has six correct digits.
SMALLEST_DISTANCE = 1e-7
# The same for small tables, whose passes take little time.
SMALLEST_DISTANCE_OF_SMALL_TABLES = 1e-10
# The most steps, each of which takes a pass. One step is enough with the Hessian at the current point; two or three are
# needed with that of an earlier point.
MOST_FINAL_STEPS = 3
# The same for small tables. After a long last Newton step, its Hessian gains only one or two digits per step.
MOST_FINAL_STEPS_OF_SMALL_TABLES = 5


@quietly
def finished(
    problem: Objective,
    start: State[Memory],
    found: Evidence,
    within: float = SMALLEST_DISTANCE,
    most_steps: int = MOST_FINAL_STEPS,
) -> tuple[State[Memory], Evidence]:
    """The state after the last steps, which count as one iteration, and its evidence; ``start`` if no step is accepted.

    ``within``: the steps end at this distance to the optimum, in standard errors. ``most_steps``: the most steps.

    >>> import numpy as np
    >>> from separatrix.objectives.bounds import evidence
    >>> from separatrix.objectives.build import build_objective
    >>> from separatrix.rows import labelled_rows
    >>> from separatrix.objectives.penalty import Penalty
    >>> rows, codes = np.arange(4.0)[:, None], np.array([0, 1, 0, 1])
    >>> problem = build_objective(labelled_rows(rows, codes, 2), 2, Penalty(1.0, np.ones(1)))
    >>> W = np.array([[0.0, 0.4]])
    >>> before = State(W, problem.value_gradient(W))
    >>> after, there = finished(problem, before, evidence(problem, W, before.at, thorough=True))
    >>> bool(np.linalg.norm(after.at.gradient) < 1e-3 * np.linalg.norm(before.at.gradient)), there.bound.known < 1e-9
    (True, True)
    """
    held = _at_hand(problem, start, found)
    if held is None:
        return start, found
    factor, curvature = held
    state, root = start, sqrt(problem.total_weight)
    V, decrement = _step_from(problem, factor, state)
    for _ in range(most_steps):
        if not root * decrement > within:
            break
        W = state.W + V
        after = State(
            W, problem.value_gradient(W), start.iteration + 1, start.memory, start.halt, start.expected, start.met
        )
        if not after.at.value <= state.at.value + VALUE_ROUNDING * abs(state.at.value):
            break
        next_V, left = _step_from(problem, factor, after)
        if not left <= 0.5 * decrement:
            break
        state, V, decrement = after, next_V, left
    judged = _judged(problem, start, state, found, curvature)
    return state, judged


def _judged(problem: Objective, start: State, end: State, found: Evidence, curvature: Curvature | None) -> Evidence:
    """The evidence at the end of the steps, from the curvature at their start; ``found``: the evidence at the start."""
    if curvature is None:
        return found if end is start else Evidence(duality(problem, end.W, end.at))
    if end is start and curvature is found.curvature:
        return found
    if end is start:
        return Evidence(better(found.bound, proven(problem, end.W, end.at, curvature)), curvature)
    there = curvature.after(problem.subspace.reduce(end.W - start.W))
    sharp = proven(problem, end.W, end.at, there)
    # This close to the optimum the duality bound is no smaller: both bounds are dominated by rounding.
    return Evidence(sharp if sharp.value is not None else duality(problem, end.W, end.at), there)


def _step_from(problem: Objective, factor: Factor, state: State) -> tuple[Array, float]:
    """The step V = −H⁻¹ ∇E from a state, and (∇Eᵀ H⁻¹ ∇E)^½ = (−⟨∇E, V⟩)^½."""
    V = newton_direction(problem, state.at.gradient, factor)
    return V, sqrt(abs(inner(state.at.gradient, V)))


def _at_hand(problem: Objective, state: State, found: Evidence) -> tuple[Factor, Curvature | None] | None:
    """A factor of the Hessian over all rows, at the state or near it, and a curvature that is valid there.

    The factor comes from the bound if that used all rows, otherwise from the last Newton step; for a small table it is
    otherwise computed. None if none of these applies, or if Newton steps do not suit the problem (`_suits_newton`).
    """
    if not _suits_newton(problem):
        return None
    if found.curvature is not None and found.curvature.complete:
        return found.curvature.factor, found.curvature
    if isinstance(state.memory, NewtonMemory):
        return _of_last_step(problem, state.W, state.memory, found)
    proves = counts_all_rows(problem) and problem.loss.traits.self_concordance is not None
    taken = curvature_at(problem, state.W) if proves else None
    return None if taken is None else (taken.factor, taken)


def _suits_newton(problem: Objective) -> bool:
    """Whether Newton steps suit the problem: a smooth, convex objective in standard coordinates with a Hessian."""
    return problem.standard is None and problem.smooth and problem.loss.traits.convex and problem.has_hessian


def _of_last_step(
    problem: Objective, W: Array, last: NewtonMemory, found: Evidence
) -> tuple[Factor, Curvature | None] | None:
    """The factor of Newton's last step, which led to W, and a curvature that is valid at W."""
    if problem.loss.traits.self_concordance is None:
        return last.factor, None
    if found.curvature is not None or not longest_row_is_cheap(problem):
        return last.factor, found.curvature
    taken = curvature_at(problem, last.start, factor=last.factor)
    return None if taken is None else (last.factor, taken.after(problem.subspace.reduce(W - last.start)))
