"""The interface of the methods that score values of C: score, plan of the search, smallest C (docs/tour.md, R8, E2).

The score of C is the mean log loss of held-out rows by the fit at C, weighted by the sample weights, which include
class weights. ``leverage_scores`` and ``fold_scores`` are the two methods, and ``scoring_methods`` chooses one of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np

from separatrix.base.arrays import Array
from separatrix.tuning.ridge_path import Fit
from separatrix.tuning.warm_path import WarmPath

# The path ends if the score is below this share of the null model's loss.
PERFECT_LOSS_SHARE = 1e-3
# The tolerance of fits with absolute values and of fits to folds, relative to the null model's loss.
FOLD_TOL = 1e-6
# The smallest C is chosen so that the fit lowers the null model's loss by about this share.
FIRST_FIT_GAIN = 0.01


class Scored(NamedTuple):
    """The score of one C.

    ``error``: the standard error of the score. ``fitted``: the training loss relative to the null model's.
    ``refitted``: the number of refitted rows, of the ``high`` rows whose Newton step is inaccurate. ``seen``: the
    number of rows scored. ``last``: whether the path may end here. ``fit``: the fit without its inverse Hessian.
    """

    C: float
    score: float
    error: float
    fitted: float
    refitted: int
    high: int
    seen: int
    last: bool
    fit: Fit | None


@dataclass(frozen=True)
class Plan:
    """The start and the stopping rule of the search for C.

    The search starts at ``first`` and multiplies C by ``ratio``. After at least ``fewest`` values it ends once the
    score has increased ``rises`` times in a row, to more than ``risen`` times the lowest score.
    """

    first: float
    ratio: float = 4.0
    fewest: int = 8
    rises: int = 2
    risen: float = 1.05


class Method(Protocol):
    """A method that scores values of C in sequence. ``least`` is the smallest C that is tried."""

    @property
    def name(self) -> str: ...
    @property
    def walk(self) -> WarmPath: ...
    @property
    def least(self) -> float: ...
    @property
    def plan(self) -> Plan: ...
    def score(self, C: float) -> Scored: ...
    def weights(self, best: Scored) -> Array | None: ...
    def note(self, path: list[Scored]) -> str: ...


def mean_loss(loss: Array, weight: Array) -> tuple[float, float]:
    """The weighted mean over rows and its standard error. For the mean over folds, see ``standings.Figure``."""
    total = float(weight.sum())
    mean = float(weight @ loss) / total
    return mean, float(np.sqrt(np.sum((weight * (loss - mean)) ** 2))) / total


def lowest(walk: WarmPath) -> float:
    """The smallest C to try: the fit lowers the null model's loss by about FIRST_FIT_GAIN, or all weights are zero."""
    problem, penalty = walk.problem, walk.penalty
    g = walk.null_gradient[-walk.problem.shape[0] :, 1:]
    r = problem.with_(penalty=replace(penalty, l1_ratio=0.0)).root_penalty[1:]
    with np.errstate(over="ignore"):  # if entries are about 1e200, any C is large
        gain = float(np.sum((g[:, r > 0] / r[r > 0]) ** 2))
    ridge = (1.0 - penalty.l1_ratio) * FIRST_FIT_GAIN * problem.null_value / gain if gain > 0 else 0.0
    lasso = walk.zero() if penalty.l1_ratio > 0 else 0.0
    return max(ridge, lasso) or 1.0
