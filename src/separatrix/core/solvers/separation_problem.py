"""The search for a separating hyperplane as a problem, for all solvers that make one (docs/tour.md, P1).

The problem is an ``Objective`` with the perceptron's cost over rows with targets ±1. A ``Survey`` counts its mistakes
in one pass, and the memories hold what a solver knows of its progress. The search measures distances in the raw units
of the columns, so their sizes can limit it, in addition to the causes that limit other fits; ``limiting_sizes`` names
such columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from separatrix.core.base.arrays import Array
from separatrix.core.base.errors import InputError
from separatrix.core.base.messages import ByAudience, Message, Remedy
from separatrix.core.linear_algebra import MOST_COLUMNS_SEARCHED, column_name, far_from_zero, nearly_collinear
from separatrix.core.losses import LOSSES, Zero, ZeroOne
from separatrix.core.objective_sums import Evaluation
from separatrix.core.penalty import Penalty
from separatrix.core.problem import Columns, FramedRows, Objective, pinned_columns
from separatrix.core.rows.block import Block, is_sparse
from separatrix.core.rows.column_statistics import refuse_not_finite, summarise
from separatrix.core.rows.frame import Frame
from separatrix.core.rows.protocol import Rows, number_of_rows

# If the largest entry of the rows is outside this range, their squared lengths underflow or overflow float64.
SMALLEST_SQUARABLE_SIZE, LARGEST_SQUARABLE_SIZE = 1e-152, 1e152
# If the spreads of two columns differ by more than this factor, a distance has fewer than eight digits for the smaller.
UNLIKE_SPREADS = 1e8
STANDARDISE_ALL = Message(
    ByAudience("standardise the columns first", shell="standardise the columns first, with --standardise")
)


def build_separation_objective(rows: Rows, fit_intercept: bool = True, names: list[str] | None = None) -> Objective:
    """The objective with the perceptron's cost, for rows with targets ±1. Raises an error for NaN and infinity.

    >>> from separatrix.core.rows.memory_rows import memory_rows
    >>> problem = build_separation_objective(memory_rows(np.array([[0.0], [2.0]]), np.array([-1.0, 1.0])))
    >>> problem.value_gradient(np.array([[1.0, 1.0]])).value  # m = -1 and 3
    0.5
    """
    block = rows.resident()
    largest = rows.fold(_LargestEntry())
    if not np.isfinite(largest):
        refuse_not_finite(rows, names)
    if largest > 0 and not SMALLEST_SQUARABLE_SIZE < largest < LARGEST_SQUARABLE_SIZE:
        fault = Message(f"its largest entry is {largest:.3g}")
        if block is not None:
            X: Any = block.X
            by_column = np.asarray(abs(X).max(axis=0).toarray() if is_sparse(X) else np.abs(X).max(axis=0)).ravel()
            named = column_name(int(np.argmax(by_column)), names)
            fault = Message("the largest entry of ", named, f" is {largest:.3g}")
        raise InputError("X", fault, Message(STANDARDISE_ALL, ": lengths of rows are squared here"))
    return _posed(rows, fit_intercept, names)


def build_separation_objectives(
    each: Sequence[Rows], fit_intercept: bool = True, names: list[str] | None = None
) -> Iterator[Objective]:
    """One objective for each of several target vectors on the same rows, whose entries are checked only once.

    Row weights multiply the updates; mistakes and cost count every row once.

    >>> from separatrix.core.rows.memory_rows import memory_rows
    >>> X, targets = np.array([[0.0], [2.0]]), [np.array([-1.0, 1.0]), np.array([1.0, -1.0])]
    >>> one, other = build_separation_objectives([memory_rows(X, t) for t in targets])
    >>> one.passes, other.passes
    (1, 0)
    """
    yield build_separation_objective(each[0], fit_intercept, names)
    for rows in each[1:]:
        yield _posed(rows, fit_intercept, names)


def _posed(rows: Rows, fit_intercept: bool, names: list[str] | None) -> Objective:
    # Every row counts once.
    framed = FramedRows(rows, 2, 1, given_weight=float(number_of_rows(rows)))
    columns = Columns(framed, pinned_columns(rows.n_features, fit_intercept))
    return Objective(columns, LOSSES["perceptron"], Penalty.none(rows.n_features), fit_intercept, names=names)


@dataclass(frozen=True)
class _LargestEntry:
    """max |x_ij|; NaN if any entry is NaN."""

    def zero(self) -> float:
        return 0.0

    def add(self, total: float, block: Block) -> float:
        X: Any = block.X
        entries = X.data if is_sparse(X) else X
        return self.merge(total, self.merge(np.max(entries, initial=0.0), -np.min(entries, initial=0.0)))

    def merge(self, a: float, b: float) -> float:
        return float(np.maximum(a, b))


# --- Mistakes, the perceptron's cost and the worst row under given weights, in one pass


class Survey(NamedTuple):
    """Statistics of all rows under w: mistakes, Σ max(0, −m), Σ_{mistakes} t x̄, the smallest m, and the worst mistake.

    ``step`` is Σ_{mistakes} s t x̄ and ``worst_x`` the worst mistake's s t x̄, with s the weights of the rows;
    mistakes, cost and ``pull`` count every row once.
    """

    errors: int
    cost: float
    pull: Array
    step: Array
    smallest: float
    worst: float
    row: int
    worst_x: Array


@dataclass(frozen=True)
class Mistakes:
    """The fold that computes ``Survey``. Ties for the worst mistake go to the first row."""

    W: Array
    zero_score: Zero
    weighted: bool = False

    def zero(self) -> Survey:
        width = self.W.shape[1]
        nothing = np.zeros(width)
        return Survey(0, 0.0, nothing, nothing.copy(), np.inf, np.inf, -1, nothing.copy())

    def add(self, total: Survey, block: Block) -> Survey:
        z = block.scores(self.W)[:, 0]
        m = block.t * z
        wrong = ZeroOne(self.zero_score).value(block.t, z)
        pull = block.adjoint((block.t * wrong)[:, None])[0]
        step = block.adjoint((block.weight * block.t * wrong)[:, None])[0] if self.weighted else pull
        cost, errors, smallest = float(np.maximum(-m, 0.0).sum()), int(np.count_nonzero(wrong)), float(m.min())
        worst, row, worst_x = np.inf, -1, total.worst_x
        if errors and smallest < total.worst:
            k = int(np.where(wrong > 0, m, np.inf).argmin())
            worst, row = float(m[k]), block.start + k
            worst_x = block.weight[k] * block.t[k] * block.homogeneous_row(k)
        return self.merge(total, Survey(errors, cost, pull, step, smallest, worst, row, worst_x))

    def merge(self, a: Survey, b: Survey) -> Survey:
        worse = b if b.worst < a.worst else a
        return Survey(
            a.errors + b.errors,
            a.cost + b.cost,
            a.pull + b.pull,
            a.step + b.step,
            min(a.smallest, b.smallest),
            worse.worst,
            worse.row,
            worse.worst_x,
        )


def survey(problem: Objective, W: Array, zero: Zero, weighted: bool = False) -> Survey:
    """The survey of all rows under W, in one pass; ``weighted``: rows have weights other than 1."""
    with np.errstate(over="ignore", invalid="ignore"):
        found = problem.rows.fold(Mistakes(W, zero, weighted))
    if not problem.fit_intercept:
        found.pull[0] = found.step[0] = found.worst_x[0] = 0.0
    return found


def evaluation(problem: Objective, found: Survey) -> Evaluation:
    """E_p and a subgradient of it, both divided by the total weight."""
    S = problem.total_weight
    return Evaluation(found.cost / S, -found.pull[None, :] / S)


# --- The memories (``State.memory``) of the solvers


class PerceptronMemory(NamedTuple):
    """The memory of the perceptron.

    ``errors``: the number of mistakes under the current weights; on a large table without a survey, it is only known
    whether there are any. ``survey``: the survey of all rows under the current weights, None if there was none.
    ``best_W`` and ``best_errors``: the weights in the pocket and their number of mistakes. ``u`` and ``seen``: the sums
    for the mean of the weights. ``mistakes``: the number of updates so far. ``epoch`` and ``position``: the epoch, and
    the next row in it. ``since``: the number of rows processed since the last update.
    """

    errors: int
    survey: Survey | None
    best_W: Array
    best_errors: int
    u: Array
    seen: int = 0
    mistakes: int = 0
    epoch: int = 0
    position: int = 0
    since: int = 0

    @property
    def known_survey(self) -> Survey:
        """The survey of a state that always has one: a solution, or a state of batch or worst-example updates."""
        assert self.survey is not None
        return self.survey

    def surveyed(self, survey: Survey) -> PerceptronMemory:
        """The memory with the given survey of the current weights."""
        return self._replace(errors=survey.errors, survey=survey)


@dataclass(frozen=True)
class HullMemory:
    """A lower and an upper bound on the largest margin, and the length of the longest vector used to compute them.

    ``errors``: the number of misclassified rows, None if they were not counted.
    """

    lower: float
    upper: float
    longest: float
    errors: int | None = None


# --- The columns whose sizes keep the search undecided in float64


def limiting_sizes(problem: Objective) -> Message:
    """The columns that limit the search, with the remedy; an empty message if no cause is known.

    >>> from separatrix.core.rows.memory_rows import memory_rows
    >>> from separatrix.core.solvers.separation_problem import build_separation_objective
    >>> rows = memory_rows(np.array([[0.0, 1e13], [1.0, 1e13 + 1]]), np.array([-1.0, 1.0]))
    >>> print(limiting_sizes(build_separation_objective(rows, names=["age", "born"])))
    the mean of column 'born' is about 2e+13 times its spread; standardise that column first
    """
    summary = summarise(problem.rows, ranges=False)
    scale = np.where(summary.constant | (summary.std == 0), np.inf, summary.std)
    frame, names = Frame(summary.mean, scale), problem.names
    remedy = Message(STANDARDISE_ALL, ", which changes how distances are measured")
    cause = far_from_zero(frame, names) or unlike_sizes(frame, names, remedy)
    if cause or not 2 <= len(scale) <= MOST_COLUMNS_SEARCHED:
        return cause
    return nearly_collinear(problem.columns.root_gram[:, 1:], names)


def unlike_sizes(frame: Frame, names: Sequence[str] | None, way_out: Message) -> Message:
    """The columns with the largest and the smallest spread, if these are very different; otherwise an empty message.

    >>> print(unlike_sizes(Frame(np.zeros(2), np.array([1.0, 1e-12])), None, STANDARDISE_ALL))
    the entries of column 0 differ by about 1e+00, those of column 1 by about 1e-12; standardise the columns first
    """
    varying = np.flatnonzero(np.isfinite(frame.scale))
    if len(varying) < 2:
        return Message()
    small, large = (int(varying[pick(frame.scale[varying])]) for pick in (np.argmin, np.argmax))
    least, most = float(frame.scale[small]), float(frame.scale[large])
    if not most > UNLIKE_SPREADS * least:
        return Message()
    first = Message("the entries of ", column_name(large, names), f" differ by about {most:.0e}, ")
    return Message(first, "those of ", column_name(small, names), f" by about {least:.0e}", Remedy(way_out))


def because(problem: Objective, joint: str = ": ") -> Message:
    """The cause as the end of a sentence, after ``joint``; empty if it is not known."""
    cause = limiting_sizes(problem)
    return Message(joint, cause) if cause else Message()
