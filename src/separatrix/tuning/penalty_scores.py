r"""The score of a penalty strength C: the mean log loss of held-out rows by the fit at C. TEXTBOOK R8, E2.

There are two methods. If the Hessian ∇²E can be built, scores are approximate leave-one-out: the fit at C starts from
the fit at the nearest C (``ridge_path``), and the leverages follow from one product with the inverse of ∇²E. If rows
are dense and fewer than the columns, this is done in the span of the rows; with absolute values in the penalty, on the
columns in use. If there are too many parameters, scores are by cross-validation with five stratified folds and a
regularisation path for each fold; for sparse rows, columns that are nonzero in only one row are merged
(``merged_columns``). Scores are weighted by the sample weights, including class weights.

Rad and Maleki 2020; Kimeldorf and Wahba 1970 for the span.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.base.cached import cached_property
from separatrix.base.folds import stratified_folds
from separatrix.objectives.penalty import Penalty
from separatrix.objectives.problem import Objective
from separatrix.objectives.subspace import Subspace
from separatrix.rows import Block, Rows, memory_rows
from separatrix.rows.csr import is_sparse
from separatrix.rows.in_memory import InMemory
from separatrix.solvers.row_space import MOST_SPAN_ROWS, Basis, factored_span
from separatrix.solvers.state import in_memory
from separatrix.tuning.leave_one_out import leave_one_out, row_lengths
from separatrix.tuning.leverages import Inverse
from separatrix.tuning.merged_columns import merged_columns
from separatrix.tuning.reduced_rows import ReducedRows, reduce_rows
from separatrix.tuning.ridge_path import Fit, Ridge
from separatrix.tuning.starting_penalty import predicted_C
from separatrix.tuning.warm_path import Solved, WarmPath

# The path ends if the effective number of parameters exceeds UNPENALISED_SHARE of all parameters, or if the score is
# below PERFECT_LOSS_SHARE of the null model's loss.
UNPENALISED_SHARE, PERFECT_LOSS_SHARE = 0.99, 1e-3
# The tolerance of fits with absolute values and of fits to folds, relative to the null model's loss.
FOLD_TOL = 1e-6
# The number of folds of cross-validation.
FOLDS = 5
# The smallest C is chosen so that the fit lowers the null model's loss by about this share.
FIRST_FIT_GAIN = 0.01
CHOICE_OF_C = InMemory("choose_penalty", "it leaves out single rows, or selects the rows of folds by index")


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
class Question:
    """The data and settings of the search: ``labelled_rows``, the penalty at C = 1, and settings of the fit.

    ``n_offsets``: this many of the last columns of the rows are an offset. The rows must be in memory.

    >>> from separatrix.rows import labelled_rows
    >>> rows = labelled_rows(np.arange(4.0)[:, None], np.array([0, 0, 0, 1]), 2)
    >>> Question(rows, 2, Penalty(1.0, np.ones(1))).scored.tolist()
    [True, True, True, False]
    """

    rows: Rows
    n_classes: int
    penalty: Penalty
    fit_intercept: bool = True
    names: list[str] | None = None
    loss: str = "logistic"
    n_offsets: int = 0
    seed: int = 0
    max_iter: int = 1000
    tol: float = 1e-8

    @cached_property
    def block(self) -> Block:
        """All rows."""
        return CHOICE_OF_C.block(self.rows)

    @property
    def n_features(self) -> int:
        """The number of columns other than an offset."""
        return self.rows.n_features - self.n_offsets

    @cached_property
    def codes(self) -> Integers:
        """The class number of each row."""
        t = self.block.t
        return (t > 0).astype(np.int64) if self.n_classes == 2 else t

    @property
    def weight(self) -> Array:
        """The weight of each row, in units of ``rows.weight_unit``."""
        return self.block.weight

    def walk(self, numbers: Integers | None = None) -> WarmPath:
        """The regularisation path over all rows, or over the rows with the given numbers."""
        rows = self.rows
        if numbers is not None:
            some = self.block.take(numbers)
            rows = memory_rows(some.X, some.t, some.weight, weight_unit=rows.weight_unit)
        rest = (self.penalty, self.fit_intercept, self.names, self.loss, self.n_offsets)
        return WarmPath.over(rows, self.n_classes, *rest)

    def with_merged_columns(self) -> Question:
        """The question with merged columns, if rows are sparse and the penalty is a sum of squares of all weights."""
        X: Any = self.block.X
        penalty = self.penalty
        if not is_sparse(X) or penalty.l1_ratio > 0 or not np.all(penalty.factors > 0):
            return self
        merged, factors = merged_columns(X[:, : self.n_features] if self.n_offsets else X, penalty.factors)
        if merged.shape[1] == 0:
            return self
        if self.n_offsets:
            from scipy.sparse import hstack

            merged = hstack([merged, X[:, self.n_features :]], format="csr")
        rows = memory_rows(merged, self.block.t, self.weight, weight_unit=self.rows.weight_unit)
        return replace(self, rows=rows, penalty=replace(penalty, factors=factors), names=None)

    @property
    def scored(self) -> Any:
        """Which rows can be left out, (n,): those of positive weight that are not the only row of their class."""
        seen = self.weight > 0
        return seen & (np.bincount(self.codes[seen], minlength=self.n_classes)[self.codes] > 1)


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


def _mean(loss: Array, weight: Array) -> tuple[float, float]:
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


def method_for(question: Question) -> Method:
    """Leave-one-out if the Hessian is small enough, in the columns or in the span of the rows; otherwise folds.

    >>> from separatrix.rows import labelled_rows
    >>> rows = labelled_rows(np.arange(4.0)[:, None], np.array([0, 1, 0, 1]), 2)
    >>> method_for(Question(rows, 2, Penalty(1.0, np.ones(1)))).name
    'leave-one-out'
    """
    walk = question.walk()
    problem = walk.problem = walk.problem.with_(penalty=walk.penalty)
    if _has_short_span(question, walk):
        basis = Basis(problem, *factored_span(problem, in_memory(problem, "leave-one-out")))
        if basis.small.has_hessian:
            return ByLeverages(question, walk, lowest(walk), Squares(Ridge.on(basis.small)), basis)
    if problem.has_hessian and problem.has_absolute:
        return ByLeverages(question, walk, lowest(walk), Absolute(problem, walk, question.max_iter))
    if problem.has_hessian:
        path = Ridge.on(problem)
        walk.problem = path.base  # it has the Gram matrix in its cache
        return ByLeverages(question, walk, lowest(walk), Squares(path))
    return ByFolds.over(question, walk)


def _has_short_span(question: Question, walk: WarmPath) -> bool:
    """Whether the rows are dense and fewer than the columns, and the minimum is in their span.

    By the representer theorem it is in their span if the penalty is a sum of squares of all weights but the intercept.
    """
    X, d = question.block.X, question.n_features
    all_squares = bool(np.all(walk.penalty.quadratic > 0)) and question.penalty.l1_ratio == 0
    short = X.shape[0] < d and X.shape[0] <= MOST_SPAN_ROWS
    return not question.n_offsets and all_squares and short and not is_sparse(X)


class Fits(Protocol):
    """Fits at a sequence of values of C, and the plan for the search."""

    def plan(self, least: float, rows: float) -> Plan: ...
    def at(self, C: float) -> Fit: ...
    def finished(self, C: float, theta: Array, tol: float) -> Array: ...


@dataclass
class Squares:
    """Fits with a purely quadratic penalty.

    They can start from the fit at any other C, so the search begins near the predicted best C and goes both ways.
    """

    path: Ridge

    def plan(self, least: float, rows: float) -> Plan:
        null = self.path.base.subspace.expand(self.path.null.gradient)
        return Plan(max(least, predicted_C(self.path.base, null, rows)), 8.0, 2, 1, 1.0)

    def at(self, C: float) -> Fit:
        return self.path.at(C)

    def finished(self, C: float, theta: Array, tol: float) -> Array:
        return self.path.finished(C, theta, tol)


@dataclass
class Absolute:
    """Fits with absolute values in the penalty, by the solvers of `WarmPath`, with the Hessian of active weights."""

    base: Objective
    path: WarmPath
    max_iter: int

    def plan(self, least: float, rows: float) -> Plan:
        return Plan(least)

    def at(self, C: float) -> Fit:
        solved = self.path.solved(C, tol=FOLD_TOL, max_iter=self.max_iter)
        problem, W = solved.problem, solved.outcome.state.W
        H = problem.hessian(W)
        curved = np.diag(H).reshape(W.shape) > 0
        active = ((W != 0) | problem.unpenalised) & ~problem.pinned & curved
        if len(W) > 1:  # weights of unpenalised columns are determined only up to a common shift
            active[-1] &= ~problem.unpenalised
        loss = solved.outcome.state.at.value - problem.penalty_value(W)
        rows = reduce_rows(problem, Subspace(None, None, W.shape[1]))
        return Fit(rows, W.ravel(), loss, Inverse.on_active(H, active))

    def finished(self, C: float, theta: Array, tol: float) -> Array:
        return theta


@dataclass(frozen=True)
class ByLeverages:
    """Approximate leave-one-out from the leverages of one fit for each C.

    Unlike ``ByFolds`` it fits no model without the held-out rows: one Newton step from the fit to all rows replaces the
    refit, except for rows of high leverage.
    """

    question: Question
    walk: WarmPath
    least: float
    fits: Fits
    basis: Basis | None = None
    kept: list[Array] = field(default_factory=list)  # cache of the rows' lengths
    name: ClassVar[str] = "leave-one-out"

    @property
    def plan(self) -> Plan:
        """The plan of the search, which uses the effective number of rows, (Σ s)²/Σ s²."""
        weight = self.question.weight
        return self.fits.plan(self.least, float(weight.sum()) ** 2 / float(weight @ weight))

    def score(self, C: float) -> Scored:
        """The mean log loss of left-out rows at C."""
        rows, theta, loss, inverse = fit = self.fits.at(C)
        if inverse is None:  # the penalty is negligible and the Hessian singular
            return Scored(C, np.inf, np.inf, 0.0, 0, 0, 0, True, None)
        found, problem = (
            leave_one_out(rows, theta, inverse, self.question.seed, lambda: self._lengths(rows)),
            rows.problem,
        )
        score, error = _mean(found.loss, self.question.weight * self.question.scored)
        error = float(np.hypot(error, found.error))
        # With absolute values in the penalty, the effective number of parameters is the number of weights in use,
        # whatever the strength of the penalty, so it does not show that the penalty has no effect.
        free = not problem.has_absolute and float(found.share.sum()) > UNPENALISED_SHARE * len(inverse.A)
        last = free or score < PERFECT_LOSS_SHARE * problem.null_value
        counts = (found.refitted, found.high, found.seen)
        return Scored(C, score, error, loss / problem.null_value, *counts, last, fit._replace(inverse=None))

    def _lengths(self, rows: ReducedRows) -> Array:
        """The lengths of the rows, which do not depend on C; cached."""
        if not self.kept:
            self.kept.append(row_lengths(rows))
        return self.kept[0]

    def weights(self, best: Scored) -> Array | None:
        """The weights at the best C in raw units, without those of an offset."""
        if best.fit is None:
            return None
        problem = best.fit.rows.problem
        W = best.fit.rows.weights(self.fits.finished(best.C, best.fit.theta, self.question.tol))
        if self.basis is not None:
            W = self.basis.image(W)
            problem = self.basis.problem
        raw = problem.rows.frame.to_original(W)
        return raw[:, : self.question.n_features + 1]

    def note(self, path: list[Scored]) -> str:
        """A description of how the scores were computed."""
        where = " in the span of the rows" if self.basis is not None else ""
        seen, rows = max(at.seen for at in path), len(self.question.codes)
        where += f" on {seen} of {rows} rows" if seen < rows else ""
        drawn = any(at.refitted < at.high for at in path)
        some = ", some of the rows of high leverage refitted for all of them" if drawn else ""
        return f"approximate leave-one-out{where}{some}"


@dataclass(frozen=True)
class ByFolds:
    """Cross-validation with five stratified folds, and a path of warm-started fits on the training rows of each.

    ``evaluation.trials`` fits an estimator once for each fold. Here all values of C are fitted for each fold, each with
    a warm start from the last, and the score is weighted by the sample weights.
    """

    question: Question
    walk: WarmPath
    least: float
    fold: Integers
    walks: tuple[WarmPath, ...]
    name: ClassVar[str] = "cross-validation"

    @classmethod
    def over(cls, question: Question, walk: WarmPath) -> ByFolds:
        """Draw the folds by the seed. A row that cannot be left out is in no fold."""
        fold = stratified_folds(question.codes, FOLDS, question.seed, among=question.scored, draw_first=True)
        question = question.with_merged_columns()
        walks = tuple(question.walk(np.flatnonzero(fold != k)) for k in range(FOLDS))
        return cls(question, walk, lowest(walk), fold, walks)

    @property
    def plan(self) -> Plan:
        """The plan of the search, which starts at the strongest penalty."""
        return Plan(self.least)

    def score(self, C: float) -> Scored:
        """The mean log loss of held-out rows at C."""
        question = self.question
        loss, fitted = np.zeros(len(question.codes)), 0.0
        for k, walk in enumerate(self.walks):
            held = np.flatnonzero(self.fold == k)
            if len(held):
                solved = walk.solved(C, tol=FOLD_TOL, max_iter=question.max_iter)
                loss[held] = self._held_out(solved, held)
                problem, state = solved.problem, solved.outcome.state
                fitted = max(fitted, (state.at.value - problem.penalty_value(state.W)) / problem.null_value)
        score, error = _mean(loss, question.weight * question.scored)
        return Scored(
            C, score, error, fitted, 0, 0, len(loss), score < PERFECT_LOSS_SHARE * self.walk.problem.null_value, None
        )

    def weights(self, best: Scored) -> Array | None:
        """None, because no fit to all rows was made, and fits to folds are not near enough to it."""
        return None

    def _held_out(self, solved: Solved, held: Integers) -> Array:
        question, problem = self.question, solved.problem
        raw = problem.rows.frame.to_original(solved.outcome.state.W)[:, : question.n_features + 1]
        block = question.block.take(held)
        z = block.scores(np.hstack([raw, np.eye(len(raw), question.n_offsets)]))
        return np.asarray(problem.loss.value(block.t, z if problem.loss.traits.multiclass else z[:, 0]))

    def note(self, path: list[Scored]) -> str:
        """How the scores were made."""
        return f"{FOLDS}-fold cross-validation, since parameters are too many for leverages"
