r"""Choosing the strength of the penalty: the C whose fit predicts best the rows that it has not seen. TEXTBOOK R8, E2.

Problem   min_C of the mean over rows of −ln P(t_i | x_i), by the fit at C without row i
Given     rows, classes, weights, the penalty of C = 1
Returns   the C, the scores of all C tried, and the weights at the best
Step      C rises from where the fit is within 1 % of the null model, by a factor of 4, each fit from the last, until
          the penalty is practically none or the score has clearly turned; then once more where a parabola in ln C
          through the best three is lowest
Scores    by leverages or folds (``penalty_scores``). A row alone in its class is not scored: without it the class is
          empty

Stone 1974; Rad and Maleki 2020.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from separatrix.arrays import Array, Integers
from separatrix.errors import ParameterError
from separatrix.penalty_scores import Method, Question, Scored, method_for
from separatrix.walk import Walk, with_penalty

# The first fit gains about this share of the null model's loss; then C grows by this factor, so often at least, unless
# the penalty is practically none before, and at most.
LEAST_GAIN, RATIO, FEWEST_VALUES, MOST_VALUES = 0.01, 4.0, 8, 25
# The path ends where so many scores in a row have risen, to this multiple of the least; or have not changed by this
# share of the first.
RISES, RISEN, LEVEL = 2, 1.05, 1e-4
# Where classes are separated, so that the loss on the fit's own rows is below this share of the null model's, a weaker
# penalty only makes weights larger: the path ends once a step gains less than this share of the score's error.
SEPARATED, LITTLE = 0.02, 0.5
# The least step in ln C that is worth a fit, as a share of the path's.
SMALL_STEP = 0.1
# Past this ratio of the columns' scales a penalty in raw units falls on some of them alone.
UNLIKE = 1000.0


@dataclass(frozen=True)
class PenaltyChoice:
    """Every C tried, ascending, its score and the standard error of that, and how many rows were fitted again.

    ``scores`` are mean log losses in nats of rows not seen; ``method`` "leave-one-out" or "cross-validation".

    >>> from separatrix import LogisticRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
    >>> choice = LogisticRegression("auto").fit(X, y).penalty_choice_
    >>> choice.method, bool(choice.scores.min() == choice.scores[choice.Cs == choice.C][0])
    ('leave-one-out', True)
    >>> str(choice)
    'C = ..., chosen by approximate leave-one-out: log loss ... ± ... (... values of C from ... to ...)...'
    """

    Cs: Array
    scores: Array
    standard_errors: Array
    refitted: Integers
    method: str
    C: float
    sentence: str

    def __str__(self) -> str:
        return self.sentence


class Chosen(NamedTuple):
    """The choice, and weights near the optimum there, in raw units, (K or 1, d + 1); None where none are known."""

    choice: PenaltyChoice
    W: Array | None


def choose_penalty(question: Question) -> Chosen:
    """The C for which rows left out are predicted best.

    >>> from separatrix.penalty import Penalty
    >>> X, codes = np.arange(12.0)[:, None], np.array([0, 0, 0, 1, 0, 0, 1, 0, 1, 1, 1, 1])
    >>> found = choose_penalty(Question(X, codes, 2, np.ones(12), Penalty(1.0, np.ones(1))))
    >>> bool(0 < found.choice.C < np.inf), found.W.shape
    (True, (1, 2))
    """
    if not np.any(question.scored):
        raise ParameterError("C", "got 'auto', and every class has one row", "give a number, or more rows of a class")
    if not np.any(question.penalty.factors > 0):
        raise ParameterError("C", "got 'auto', and no column is penalised", "give C=np.inf, or factors above zero")
    method = method_for(question)
    first, path = lowest(method.walk), list[Scored]()
    while not _ends(path):
        path.append(method.score(first * RATIO ** len(path)))
    between = _vertex(path)
    if between is not None:
        path.append(method.score(between))
    best = min(path, key=lambda at: at.score)
    return Chosen(_described(question, method, sorted(path, key=lambda at: at.C), best), best.W)


def lowest(walk: Walk) -> float:
    """The C at which the loss is about LEAST_GAIN below the null model's, or no weight differs from zero."""
    problem, penalty = walk.problem, walk.penalty
    g = walk.null_gradient[-walk.problem.shape[0] :, 1:]
    r = with_penalty(problem, replace(penalty, l1_ratio=0.0)).root_penalty[1:]
    gain = float(np.sum((g[:, r > 0] / r[r > 0]) ** 2))
    ridge = (1.0 - penalty.l1_ratio) * LEAST_GAIN * problem.null_value / gain if gain > 0 else 0.0
    lasso = walk.zero() if penalty.l1_ratio > 0 else 0.0
    return max(ridge, lasso) or 1.0


def _ends(path: list[Scored]) -> bool:
    if len(path) < FEWEST_VALUES:
        return bool(path) and path[-1].last
    scores = [at.score for at in path]
    tail = scores[-RISES - 1 :]
    turned = bool(np.all(np.diff(tail) > 0)) and tail[-1] > RISEN * min(scores)
    level = np.ptp(tail) <= LEVEL * scores[0]
    before, after = path[-2:]
    grown = after.fitted < SEPARATED and before.score - after.score < LITTLE * after.error
    return after.last or turned or bool(level) or grown or len(path) >= MOST_VALUES


def _vertex(path: list[Scored]) -> float | None:
    """Where a parabola in ln C through the best and its neighbours is lowest; None at an end, or too near the best."""
    best = int(np.argmin([at.score for at in path]))
    if best in (0, len(path) - 1):
        return None
    u = np.log([at.C for at in path[best - 1 : best + 2]])
    f = np.array([at.score for at in path[best - 1 : best + 2]])
    left, right = (f[1] - f[0]) / (u[1] - u[0]), (f[2] - f[1]) / (u[2] - u[1])
    if not right > left:
        return None
    lowest_at = 0.5 * (u[0] + u[1] - left * (u[2] - u[0]) / (right - left))
    return float(np.exp(lowest_at)) if abs(lowest_at - u[1]) > SMALL_STEP * np.log(RATIO) else None


def _described(question: Question, method: Method, path: list[Scored], best: Scored) -> PenaltyChoice:
    Cs, scores, errors = (np.array([getattr(at, name) for at in path]) for name in ("C", "score", "error"))
    parts = [
        f"C = {best.C:.4g}, chosen by {method.note(path)}: log loss {best.score:.4g} ± {best.error:.2g} "
        f"({len(path)} values of C from {Cs[0]:.2g} to {Cs[-1]:.2g})"
    ]
    alone = int(np.sum(question.weight > 0) - np.sum(question.scored))
    if alone:
        parts.append(f"{alone} rows alone in their class are not scored")
    if best.C in (Cs[0], Cs[-1]):
        parts.append(f"the {'strongest' if Cs[0] == best.C else 'weakest'} penalty tried is the best")
    scale = method.walk.scale[: question.X.shape[1]][question.penalty.factors > 0]
    scale = scale[np.isfinite(scale)]
    if len(scale) and scale.max() > UNLIKE * scale.min():
        ratio = scale.max() / scale.min()
        parts.append(f"the penalised columns' scales differ {ratio:.0e} times: scaling them first would matter")
    refitted = np.array([at.refitted for at in path])
    return PenaltyChoice(Cs, scores, errors, refitted, method.name, best.C, "; ".join(parts))
