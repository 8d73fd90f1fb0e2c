r"""The search for the strength of the penalty: the C whose fit predicts held-out rows best (docs/tour.md, R8, E2).

Problem   min over C of the mean over rows of −ln P(t_i | x_i), by the fit at C without row i
Given     rows, classes, weights, the penalty at C = 1
Returns   the best C, the scores of all C tried, and the weights at the best C
Step      from a first C, with warm starts, multiply C by a factor until the penalty has no effect or the score
          increases. If the first C is the best, divide C until the score increases or the fit is within 1 % of the
          null model. Then try the minimum of the parabola in ln C through the best C and its neighbours, while that
          predicts a gain
Scores    by leverages or folds (``penalty_scores``). The only row of a class is not scored, because without it the
          class is empty

Stone 1974; Rad and Maleki 2020.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.errors import ParameterError
from separatrix.base.messages import Message, Setting
from separatrix.base.number_text import number_text
from separatrix.base.watching import part
from separatrix.objectives.problem import Objective
from separatrix.solvers import Newton, Solver, choose
from separatrix.tuning.penalty_choice import PenaltyChoice
from separatrix.tuning.penalty_question import Question
from separatrix.tuning.penalty_scores import Method, Plan, Scored
from separatrix.tuning.scoring_methods import method_for

# The most values of C that are tried. Scores whose relative difference is below LEVEL_SCORE_SHARE count as equal.
MOST_VALUES, LEVEL_SCORE_SHARE = 25, 1e-4
# If the training loss is below NEARLY_SEPARATED_LOSS times the null model's, C grows by at most the factor
# LARGEST_GENTLE_RATIO per step.
NEARLY_SEPARATED_LOSS, LARGEST_GENTLE_RATIO = 0.05, 4.0
# If the training loss is below SEPARATED_LOSS times the null model's, classes are taken to be separated, and a weaker
# penalty only increases the weights. The path then ends once a step lowers the score by less than
# SMALLEST_GAIN_IN_ERRORS standard errors.
SEPARATED_LOSS, SMALLEST_GAIN_IN_ERRORS = 0.02, 0.75
# The search is refined by another fit only if ln C changes by at least SMALLEST_LOG_STEP and the predicted gain,
# relative to the score, is at least the first of SMALLEST_REFINED_GAINS; for the second refinement, the second.
SMALLEST_LOG_STEP, SMALLEST_REFINED_GAINS = 0.3, (1e-3, 4e-3)
# If the scales of the columns differ by more than this factor, a note says that a penalty in raw units affects only
# some of them.
LARGEST_SCALE_RATIO = 1000.0


class Chosen(NamedTuple):
    """The choice, weights near the optimum of the chosen C, and its problem in standard coordinates.

    The weights are in raw units, (K or 1, d + 1), or None if they are not known.
    """

    choice: PenaltyChoice
    W: Array | None
    problem: Objective


def choose_penalty(question: Question) -> Chosen:
    """The C for which held-out rows are predicted best.

    >>> from separatrix.objectives.penalty import Penalty
    >>> from separatrix.rows import labelled_rows
    >>> codes = np.array([0, 0, 0, 1, 0, 0, 1, 0, 1, 1, 1, 1])
    >>> found = choose_penalty(Question(labelled_rows(np.arange(12.0)[:, None], codes, 2), 2, Penalty(1.0, np.ones(1))))
    >>> bool(0 < found.choice.C < np.inf), found.W.shape
    (True, (1, 2))
    """
    if not np.any(question.scored):
        raise ParameterError("C", "got 'auto', and every class has one row", "give a number, or more rows of a class")
    if not np.any(question.penalty.factors > 0):
        remedy = Message("give ", Setting("C", np.inf), ", or factors above zero")
        raise ParameterError("C", "got 'auto', and no column is penalised", remedy)
    method = method_for(question)
    path = _searched(method)
    for gain in SMALLEST_REFINED_GAINS:
        between = _vertex(path, gain)
        if between is None:
            break
        path = sorted([*path, _scored(method, between, path)], key=lambda at: at.C)
    best = min(path, key=lambda at: at.score)
    return Chosen(_described(question, method, path, best), method.weights(best), method.walk.objective(best.C))


def choose_near(problem: Objective) -> tuple[Solver, str]:
    """The solver for a start near the minimum, and the reason: Newton's method if ∇²E can be built.

    >>> from separatrix.objectives.penalty import Penalty
    >>> from separatrix.objectives.build import build_objective
    >>> from separatrix.rows import labelled_rows
    >>> choose_near(build_objective(labelled_rows(np.eye(2), np.array([0, 1]), 2), 2, Penalty(1.0, np.ones(2))))[1]
    'Newton: started at the weights found during the search for C, so that few steps are needed'
    """
    if not (problem.smooth and problem.has_hessian):
        return choose(problem)
    return Newton(), "Newton: started at the weights found during the search for C, so that few steps are needed"


def _searched(method: Method) -> list[Scored]:
    """Scores at increasing C, then at decreasing C if the first is the best; in ascending order of C."""
    plan, path = method.plan, list[Scored]()
    while not _ends(path, plan):
        path.append(_scored(method, _higher(path, plan), path))
    while method.least < path[0].C and path[0].score == min(at.score for at in path) and not _level(path[:3]):
        if len(path) >= MOST_VALUES:
            break
        path.insert(0, _scored(method, max(method.least, path[0].C / plan.ratio), path))
    return path


def _scored(method: Method, C: float, path: list[Scored]) -> Scored:
    with part("value of C", len(path) + 1, note=f"C = {C:.3g}"):
        return method.score(C)


def _higher(path: list[Scored], plan: Plan) -> float:
    """The next larger C."""
    if not path:
        return plan.first
    return path[-1].C * (
        plan.ratio if path[-1].fitted >= NEARLY_SEPARATED_LOSS else min(LARGEST_GENTLE_RATIO, plan.ratio)
    )


def _level(path: list[Scored]) -> bool:
    scores = [at.score for at in path]
    return len(path) > 2 and bool(np.ptp(scores) <= LEVEL_SCORE_SHARE * max(scores))


def _ends(path: list[Scored], plan: Plan) -> bool:
    if len(path) < plan.fewest:
        return bool(path) and path[-1].last
    scores = [at.score for at in path]
    tail = scores[-plan.rises - 1 :]
    turned = bool(np.all(np.diff(tail) > 0)) and tail[-1] > plan.risen * min(scores)
    before, after = path[-2:]
    grown = after.fitted < SEPARATED_LOSS and before.score - after.score < SMALLEST_GAIN_IN_ERRORS * after.error
    return after.last or turned or _level(path[-3:]) or grown or len(path) >= MOST_VALUES


def _vertex(path: list[Scored], gain: float) -> float | None:
    """The C at the minimum of the parabola in ln C through the best C and its neighbours.

    None if the best C is at an end of the path, or if the predicted relative gain is less than ``gain``.
    """
    best = int(np.argmin([at.score for at in path]))
    if best in (0, len(path) - 1):
        return None
    u = np.log([at.C for at in path[best - 1 : best + 2]])
    f = np.array([at.score for at in path[best - 1 : best + 2]])
    left, right = (f[1] - f[0]) / (u[1] - u[0]), (f[2] - f[1]) / (u[2] - u[1])
    bent = (right - left) / (u[2] - u[0])
    if not bent > 0:
        return None
    step = 0.5 * (u[0] + u[1] - left / bent) - u[1]
    slight = abs(step) < SMALLEST_LOG_STEP or bent * step**2 < gain * f[1]
    return None if slight else float(np.exp(u[1] + step))


def _described(question: Question, method: Method, path: list[Scored], best: Scored) -> PenaltyChoice:
    Cs, scores, errors = (np.array([getattr(at, name) for at in path]) for name in ("C", "score", "error"))
    parts = [
        f"C = {number_text(best.C)}, chosen by {method.note(path)}: log loss {number_text(best.score)} "
        f"± {number_text(best.error, 2)} "
        f"({_tried(Cs)})"
    ]
    alone = int(np.sum(question.weight > 0) - np.sum(question.scored))
    if alone == 1:
        parts.append("1 row alone in its class is not scored")
    elif alone:
        parts.append(f"{alone} rows alone in their class are not scored")
    if len(Cs) > 1 and best.C in (Cs[0], Cs[-1]):
        parts.append(f"the {'strongest' if Cs[0] == best.C else 'weakest'} penalty tried is the best")
    scale = method.walk.scale[: question.n_features][question.penalty.factors > 0]
    scale = scale[np.isfinite(scale)]
    if len(scale) and scale.max() / LARGEST_SCALE_RATIO > scale.min():
        decades = np.log10(scale.max()) - np.log10(scale.min())  # the ratio itself may overflow
        parts.append(f"the penalised columns' scales differ 1e{decades:+03.0f} times: scaling them first would matter")
    refitted = np.array([at.refitted for at in path])
    return PenaltyChoice(Cs, scores, errors, refitted, method.name, best.C, "; ".join(parts))


def _tried(Cs: Array) -> str:
    """The values of C that were tried, in words.

    >>> _tried(np.array([1.0])), _tried(np.array([0.1, 1.0, 10.0]))
    ('only C = 1 was tried', '3 values of C from 0.1 to 10')
    """
    if len(Cs) == 1:
        return f"only C = {number_text(Cs[0], 2)} was tried"
    return f"{len(Cs)} values of C from {number_text(Cs[0], 2)} to {number_text(Cs[-1], 2)}"
