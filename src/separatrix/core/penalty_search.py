"""The search for the strength of the penalty: the C whose fit predicts held-out rows best (docs/tour.md, R8, E2).

Problem   min over C of the mean over rows of −ln P(t_i | x_i), by the fit at C without row i, weighted by the sample
          weights, which include class weights
Given     rows, classes, weights, the penalty at C = 1
Returns   the best C, the scores of all C tried, and the weights at the best C
Step      from a first C, with warm starts, multiply C by a factor until the penalty has no effect or the score
          increases. If the first C is the best, divide C until the score increases or the fit is within 1 % of the
          null model. Then try the minimum of the parabola in ln C through the best C and its neighbours, while that
          predicts a gain
Scores    by the leverages of one fit for each C (``ByLeverages``), or by folds where there are too many parameters for
          leverages (``ByFolds``). The only row of a class is not scored, because without it the class is empty

Stone 1974; Rad and Maleki 2020.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from separatrix.core.base.arrays import Array, Integers
from separatrix.core.base.errors import ParameterError
from separatrix.core.base.lazy import cached_property
from separatrix.core.base.messages import Message, Setting, number_text
from separatrix.core.base.watching import part
from separatrix.core.leave_one_out import leave_one_out, row_lengths
from separatrix.core.linear_algebra import Subspace
from separatrix.core.null_model import null_curvature
from separatrix.core.penalty import Penalty, PenaltyChoice
from separatrix.core.problem import Objective
from separatrix.core.regularisation_path import Inverse, PathFit, ReducedRows, Ridge, Solved, WarmPath
from separatrix.core.rows.block import Block, is_sparse
from separatrix.core.rows.hold_out import stratified_folds
from separatrix.core.rows.labelled_table import InMemory
from separatrix.core.rows.memory_rows import memory_rows
from separatrix.core.rows.protocol import Rows
from separatrix.core.solvers.span import MOST_SPAN_ROWS, RowBasis, factored_span
from separatrix.core.solvers.state import in_memory

# --- The data and settings of the search


def merged_columns(X: Any, q: Array) -> tuple[Any, Array]:
    """CSR rows with merged columns that give the same ridge fits as X (n, d), and the penalty factors of their columns.

    ``q``: the penalty factor of each column of X, (d,), all positive.

    Let J be the columns whose only nonzero entry is in row i. Their weights affect only the score of row i. If they add
    c to that score, the penalty ½ Σ_{j∈J} q_j w_j² is at least ½ c²/v² with v² = Σ_{j∈J} x_ij²/q_j. Therefore one
    column with the entry v in row i and q = 1 can replace all columns of J, in a fit to any subset of the rows. Columns
    of zeros have weight zero and are dropped. In text data most columns are of these two kinds, since most words are
    rare.

    >>> from scipy.sparse import csr_array
    >>> rows, factors = merged_columns(csr_array([[3.0, 4.0, 1.0, 0.0], [0.0, 0.0, 1.0, 0.0]]), np.ones(4))
    >>> rows.toarray().tolist(), factors.tolist()
    ([[1.0, 5.0], [1.0, 0.0]], [1.0, 1.0])
    """
    from scipy.sparse import csr_array, hstack

    uses = np.bincount(X.indices[X.data != 0], minlength=X.shape[1])
    shared, single = np.flatnonzero(uses > 1), np.flatnonzero(uses == 1)
    own = X[:, single]
    largest = float(np.max(np.abs(own.data), initial=0.0)) or 1.0
    lengths = largest * np.sqrt(np.asarray((own / largest).power(2) @ (1.0 / q[single])))  # no square overflows
    rows = np.flatnonzero(lengths)
    merged = csr_array((lengths[rows], (rows, np.arange(len(rows)))), shape=(X.shape[0], len(rows)))
    whole = csr_array(hstack([X[:, shared], merged]))
    kind = X.indices.dtype  # keep the index dtype: a new one would compile the loops again
    whole.indices, whole.indptr = whole.indices.astype(kind), whole.indptr.astype(kind)
    return whole, np.concatenate([q[shared], np.ones(len(rows))])


CHOICE_OF_C = InMemory("choose_penalty", "it leaves out single rows, or selects the rows of folds by index")


@dataclass(frozen=True)
class Question:
    """The data and settings of the search: ``labelled_rows``, the penalty at C = 1, and settings of the fit.

    ``n_offsets``: this many of the last columns of the rows are an offset. The rows must be in memory.

    >>> from separatrix.core.rows.labelled_table import labelled_rows
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
        rows = memory_rows(merged, self.block.t, self.block.weight, weight_unit=self.rows.weight_unit)
        return replace(self, rows=rows, penalty=replace(penalty, factors=factors), names=None)

    @property
    def scored(self) -> Any:
        """Which rows can be left out, (n,): those of positive weight that are not the only row of their class."""
        seen = self.block.weight > 0
        return seen & (np.bincount(self.codes[seen], minlength=self.n_classes)[self.codes] > 1)


# --- The interface of the methods that score values of C

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
    fit: PathFit | None


@dataclass(frozen=True)
class SearchPlan:
    """The start and the stopping rule of the search for C.

    The search starts at ``first`` and multiplies C by ``ratio``. After at least ``fewest`` values it ends once the
    score has increased ``rises`` times in a row, to more than ``risen`` times the lowest score.
    """

    first: float
    ratio: float = 4.0
    fewest: int = 8
    rises: int = 2
    risen: float = 1.05


def mean_loss(loss: Array, weight: Array) -> tuple[float, float]:
    """The weighted mean over rows and its standard error. ``Figure`` has the mean over folds."""
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


# --- Scores by cross-validation

# The number of folds of cross-validation.
FOLDS = 5


@dataclass(frozen=True)
class ByFolds:
    """Cross-validation with five stratified folds, and a path of warm-started fits on the training rows of each.

    For sparse rows, columns that are nonzero in only one row are merged.

    ``compare`` fits an estimator once for each fold. Here all values of C are fitted for each fold, each with a warm
    start from the last, and the score is weighted by the sample weights.
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
        codes = np.where(question.scored, question.codes, -1)
        fold = stratified_folds(codes, np.arange(len(codes)), FOLDS, question.seed)
        question = question.with_merged_columns()
        walks = tuple(question.walk(np.flatnonzero(fold != k)) for k in range(FOLDS))
        return cls(question, walk, lowest(walk), fold, walks)

    @property
    def plan(self) -> SearchPlan:
        """The plan of the search, which starts at the strongest penalty."""
        return SearchPlan(self.least)

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
        score, error = mean_loss(loss, question.block.weight * question.scored)
        last = score < PERFECT_LOSS_SHARE * self.walk.problem.null_value
        return Scored(C, score, error, fitted, 0, 0, len(loss), last, None)

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


# --- The start of the search, as predicted by one Newton step from the null model

# The penalty strengths 1/C at which the criterion is evaluated, relative to the largest curvature.
STRENGTHS_TRIED = np.geomspace(1e-8, 1e8, 161)
# The predicted C is multiplied by this. One Newton step from the null model is shorter than the path to the fit, so it
# predicts too strong a penalty: on eleven data sets the best C was 1 to 190 times the prediction, with a median of 7.
C_PER_PREDICTION = 4.0
# The predicted C is limited to this and its reciprocal, so that 1/C is a finite number.
SMALLEST_PREDICTED_C = 1e-290


def predicted_C(base: Objective, gradient: Array, rows: float) -> float:
    """The C that one Newton step from the null model predicts to be best for rows that are not fitted.

    ``gradient``: ∇E of the null model. ``rows``: the number of rows.

    In coordinates in which the second derivatives μ and the penalty are diagonal, with γ the gradient, one step at
    C = 1/ρ lowers the training loss by Σ γ² (μ/2 + ρ)/(μ + ρ)². The loss of new rows falls by less: the difference is
    1/rows times the effective number of parameters Σ μ/(μ + ρ). Takeuchi 1976 has this criterion, which Stone 1977
    derives from leave-one-out.

    >>> from separatrix.core.penalty import Penalty
    >>> from separatrix.core.problem import build_objective
    >>> from separatrix.core.rows.labelled_table import labelled_rows
    >>> X, codes = np.arange(8.0)[:, None], np.array([0, 0, 1, 0, 1, 0, 1, 1])
    >>> problem = build_objective(labelled_rows(X, codes, 2), 2, Penalty(1.0, np.ones(1)))
    >>> bool(0 < predicted_C(problem, problem.value_gradient(problem.null_weights).gradient, 8) < np.inf)
    True
    """
    Q, r, G = base.subspace.Q, base.root_penalty, base.columns.sample_gram
    held = np.flatnonzero(r > 0)
    if G[0, 0] > 0:  # project out the intercept
        G = G - np.outer(G[0], G[0]) / G[0, 0]
    # For columns of size 1e±200 the square of the penalty overflows, so the penalty is divided by a power of two.
    unit = float(np.ldexp(1.0, np.frexp(np.max(r[held], initial=0.0))[1]))
    # Weaker penalties are raised, so that products of four penalties do not underflow.
    r = np.maximum(r[held] / unit, 1e-70)
    G, g = G[np.ix_(held, held)] / r / r[:, None], gradient[:, held] / r
    s, U = np.linalg.eigh(null_curvature(base))
    g = U.T @ (g if Q is None else Q.T @ g)
    values = np.diag(G)
    # More columns than this are treated as uncorrelated.
    if len(held) <= 300:
        values, V = np.linalg.eigh(G)
        g = g @ V
    mu, squares = np.outer(s, np.maximum(values, 0.0)).ravel(), g.ravel() ** 2
    largest = float(mu.max(initial=0.0))
    if not largest > 0:  # no column changes a score, so every C gives the same fit
        return 1.0
    mu, squares, rho = mu / largest, squares / largest, STRENGTHS_TRIED[:, None]
    gain, used = np.sum(squares * (0.5 * mu + rho) / (mu + rho) ** 2, axis=1), np.sum(mu / (mu + rho), axis=1)
    with np.errstate(under="ignore", over="ignore"):
        C = C_PER_PREDICTION / (float(rho[np.argmax(gain - used / rows), 0]) * largest) * unit * unit
    return float(np.clip(C, SMALLEST_PREDICTED_C, 1 / SMALLEST_PREDICTED_C))


# --- Scores by approximate leave-one-out


@dataclass(frozen=True)
class ByLeverages:
    """Approximate leave-one-out from the leverages of one fit for each C.

    The leverages follow from one product with the inverse of the Hessian ∇²E. If rows are dense and fewer than the
    columns, this is done in the span of the rows (Kimeldorf and Wahba 1970); with absolute values in the penalty, on
    the columns in use.

    Unlike ``ByFolds`` it fits no model without the held-out rows: one Newton step from the fit to all rows replaces the
    refit, except for rows of high leverage.
    """

    question: Question
    walk: WarmPath
    least: float
    path: Ridge | None  # None: the penalty has absolute values, and the walk's solvers fit
    basis: RowBasis | None = None
    kept: list[Array] = field(default_factory=list)  # cache of the rows' lengths
    name: ClassVar[str] = "leave-one-out"

    @property
    def plan(self) -> SearchPlan:
        """The plan of the search.

        Fits with a purely quadratic penalty can start from the fit at any other C, so the search begins near the C that
        is predicted to be best for the effective number of rows, (Σ s)²/Σ s², and goes both ways.
        """
        if self.path is None:
            return SearchPlan(self.least)
        weight, base = self.question.block.weight, self.path.base
        predicted = predicted_C(base, self.path.null.at.gradient, float(weight.sum()) ** 2 / float(weight @ weight))
        return SearchPlan(max(self.least, predicted), 8.0, 2, 1, 1.0)

    def _fit(self, C: float) -> PathFit:
        """The fit at C, with the inverse Hessian on all weights, or on those in use."""
        if self.path is not None:
            return self.path.at(C)
        solved = self.walk.solved(C, tol=FOLD_TOL, max_iter=self.question.max_iter)
        problem, W = solved.problem, solved.outcome.state.W
        loss = solved.outcome.state.at.value - problem.penalty_value(W)
        rows = ReducedRows.of(problem, W, Subspace(None, None, W.shape[1]))
        return PathFit(rows, loss, Inverse.at(problem, W))

    def score(self, C: float) -> Scored:
        """The mean log loss of left-out rows at C."""
        rows, loss, inverse = fit = self._fit(C)
        if inverse is None:  # the penalty is negligible and the Hessian singular
            return Scored(C, np.inf, np.inf, 0.0, 0, 0, 0, True, None)
        found = leave_one_out(rows, inverse, self.question.seed, lambda: self._lengths(rows))
        problem = rows.problem
        score, error = mean_loss(found.loss, self.question.block.weight * self.question.scored)
        error = float(np.hypot(error, found.error))
        # With absolute values in the penalty, the effective number of parameters is the number of weights in use,
        # whatever the strength of the penalty, so it does not show that the penalty has no effect.
        free = not problem.has_absolute and float(found.share.sum()) > 0.99 * len(inverse.A)
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
        problem, W = best.fit.rows.problem, best.fit.rows.W
        if self.path is not None:
            W = self.path.finished(best.C, best.fit, self.question.tol)
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


# --- The search

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


def method_for(question: Question) -> ByFolds | ByLeverages:
    """Leave-one-out if the Hessian is small enough, in the columns or in the span of the rows; otherwise folds.

    >>> from separatrix.core.penalty import Penalty
    >>> from separatrix.core.rows.labelled_table import labelled_rows
    >>> rows = labelled_rows(np.arange(4.0)[:, None], np.array([0, 1, 0, 1]), 2)
    >>> method_for(Question(rows, 2, Penalty(1.0, np.ones(1)))).name
    'leave-one-out'
    """
    walk = question.walk()
    problem = walk.problem = walk.problem.with_(penalty=walk.penalty)
    # By the representer theorem the minimum is in the span of the rows if the penalty is a sum of squares of all
    # weights but the intercept. The rows must be dense and fewer than the columns.
    X: Any = question.block.X
    all_squares = bool(np.all(walk.penalty.quadratic > 0)) and question.penalty.l1_ratio == 0
    short = X.shape[0] < question.n_features and X.shape[0] <= MOST_SPAN_ROWS
    if not question.n_offsets and all_squares and short and not is_sparse(X):
        basis = RowBasis(problem, *factored_span(problem, in_memory(problem, "leave-one-out")))
        if basis.small.has_hessian:
            return ByLeverages(question, walk, lowest(walk), Ridge.on(basis.small), basis)
    if not problem.has_hessian:
        return ByFolds.over(question, walk)
    path = None if problem.has_absolute else Ridge.on(problem)
    if path is not None:
        walk.problem = path.base  # it has the Gram matrix in its cache
    return ByLeverages(question, walk, lowest(walk), path)


class ChosenPenalty(NamedTuple):
    """The choice, weights near the optimum of the chosen C, and its problem in standard coordinates.

    The weights are in raw units, (K or 1, d + 1), or None if they are not known.
    """

    choice: PenaltyChoice
    W: Array | None
    problem: Objective


def choose_penalty(question: Question) -> ChosenPenalty:
    """The C for which held-out rows are predicted best.

    >>> from separatrix.core.penalty import Penalty
    >>> from separatrix.core.rows.labelled_table import labelled_rows
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
    return ChosenPenalty(_described(question, method, path, best), method.weights(best), method.walk.objective(best.C))


def _searched(method: ByFolds | ByLeverages) -> list[Scored]:
    """Scores at increasing C, then at decreasing C if the first is the best; in ascending order of C."""
    plan, path = method.plan, list[Scored]()
    while not _ends(path, plan):
        if not path:
            C = plan.first
        elif path[-1].fitted >= NEARLY_SEPARATED_LOSS:
            C = path[-1].C * plan.ratio
        else:
            C = path[-1].C * min(LARGEST_GENTLE_RATIO, plan.ratio)
        path.append(_scored(method, C, path))
    while method.least < path[0].C and path[0].score == min(at.score for at in path) and not _level(path[:3]):
        if len(path) >= MOST_VALUES:
            break
        path.insert(0, _scored(method, max(method.least, path[0].C / plan.ratio), path))
    return path


def _scored(method: ByFolds | ByLeverages, C: float, path: list[Scored]) -> Scored:
    with part("value of C", len(path) + 1, note=f"C = {C:.3g}"):
        return method.score(C)


def _level(path: list[Scored]) -> bool:
    scores = [at.score for at in path]
    return len(path) > 2 and bool(np.ptp(scores) <= LEVEL_SCORE_SHARE * max(scores))


def _ends(path: list[Scored], plan: SearchPlan) -> bool:
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


def _described(question: Question, method: ByFolds | ByLeverages, path: list[Scored], best: Scored) -> PenaltyChoice:
    Cs, scores, errors = (np.array([getattr(at, name) for at in path]) for name in ("C", "score", "error"))
    parts = [
        f"C = {number_text(best.C)}, chosen by {method.note(path)}: log loss {number_text(best.score)} "
        f"± {number_text(best.error, 2)} ({_tried(Cs)})"
    ]
    alone = int(np.sum(question.block.weight > 0) - np.sum(question.scored))
    if alone == 1:
        parts.append("1 row alone in its class is not scored")
    elif alone:
        parts.append(f"{alone} rows alone in their class are not scored")
    if len(Cs) > 1 and best.C in (Cs[0], Cs[-1]):
        parts.append(f"the {'strongest' if Cs[0] == best.C else 'weakest'} penalty tried is the best")
    scale = method.walk.scale[: question.n_features][question.penalty.factors > 0]
    scale = scale[np.isfinite(scale)]
    # With such different scales, a penalty in raw units affects only some of the columns.
    if len(scale) and scale.max() / 1000.0 > scale.min():
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
