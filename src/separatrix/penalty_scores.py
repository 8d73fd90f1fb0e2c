r"""What a strength of the penalty is worth: the mean log loss of rows that the fit at C has not seen. TEXTBOOK R8, E2.

By leverages, where ∇²E fits into a matrix: the fit at C from that at the last, ∇²E there, and leave-one-out from one
product with its inverse. Where dense rows are fewer than columns, in the span of the rows. With absolute values, on the
columns in use. By folds, where parameters are too many: five, as many rows of each class in each, and a path of fits
for each. Rows count by their weights, those of classes included.

Rad and Maleki 2020; Kimeldorf and Wahba 1970 for the span.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from separatrix.arrays import Array, Integers
from separatrix.factor import Factor
from separatrix.leave_one_out import Inverse, leave_one_out
from separatrix.objective import Objective
from separatrix.penalty import Penalty
from separatrix.rows import memory_rows
from separatrix.rows.block import is_sparse
from separatrix.solvers.pairs import Pairs, QuasiNewton
from separatrix.solvers.span import LARGEST_SPAN, Basis, factored_span
from separatrix.walk import Solved, Walk, with_penalty

# The path may end past this share of all parameters, or below this share of the null model's loss.
NO_PENALTY, PERFECT = 0.99, 1e-3
# Path fits end within this share of the null model's loss, the first kind with a Newton step more, which squares it.
PATH_TOL, FOLD_TOL = 1e-5, 1e-6
# Steps around one matrix of second derivatives, matrices for one C, pairs kept.
STEPS, MATRICES, PAIRS = 15, 20, 10
FOLDS = 5


class Scored(NamedTuple):
    """One C: the score and its standard error, the loss of the fit on its own rows as a share of the null model's,
    rows refitted of those past the limit, whether the path may end, and the weights in raw units.
    """

    C: float
    score: float
    error: float
    fitted: float
    refitted: int
    high: int
    last: bool
    W: Array | None


@dataclass(frozen=True)
class Question:
    """What is fitted: rows, class numbers, weights, the penalty of C = 1, and the rest of a fit's settings.

    >>> rows, codes = np.arange(4.0)[:, None], np.array([0, 0, 0, 1])
    >>> Question(rows, codes, 2, np.ones(4), Penalty(1.0, np.ones(1))).scored.tolist()
    [True, True, True, False]
    """

    X: Any
    codes: Integers
    n_classes: int
    weight: Array
    penalty: Penalty
    fit_intercept: bool = True
    names: list[str] | None = None
    loss: str = "logistic"
    offset: Array | None = None
    seed: int = 0
    max_iter: int = 1000

    def walk(self, rows: Integers | None = None) -> Walk:
        """A path over all rows, or over some."""
        X, codes, weight, beside = self.X, self.codes, self.weight, self.offset
        if rows is not None:
            X, codes, weight, beside = X[rows], codes[rows], weight[rows], None if beside is None else beside[rows]
        rest = (self.n_classes, weight, self.penalty, self.fit_intercept, self.names, self.loss, beside)
        return Walk.over(X, codes, *rest)

    @property
    def scored(self) -> Any:
        """Which rows can be left out, (n,) of truth values: those of some weight that are not alone in their class."""
        seen = self.weight > 0
        return seen & (np.bincount(self.codes[seen], minlength=self.n_classes)[self.codes] > 1)


class Method(Protocol):
    """A way to score one C after another."""

    @property
    def name(self) -> str: ...
    @property
    def walk(self) -> Walk: ...
    def score(self, C: float) -> Scored: ...
    def note(self, path: list[Scored]) -> str: ...


def _mean(loss: Array, weight: Array) -> tuple[float, float]:
    """The weighted mean and its standard error."""
    total = float(weight.sum())
    mean = float(weight @ loss) / total
    return mean, float(np.sqrt(np.sum((weight * (loss - mean)) ** 2))) / total


def method_for(question: Question) -> Method:
    """Leverages where a matrix of second derivatives is small enough, on the columns or in the span of the rows.

    >>> rows, codes = np.arange(4.0)[:, None], np.array([0, 1, 0, 1])
    >>> method_for(Question(rows, codes, 2, np.ones(4), Penalty(1.0, np.ones(1)))).name
    'leave-one-out'
    """
    walk = question.walk()
    problem = with_penalty(walk.problem, walk.penalty)
    n, d = question.X.shape
    held = question.offset is None and bool(np.all(walk.penalty.quadratic > 0)) and question.penalty.l1_ratio == 0
    if held and n < d and n <= LARGEST_SPAN and not is_sparse(question.X):
        basis = Basis(problem, *factored_span(problem, _resident(problem)))
        if basis.small.has_hessian:
            return ByLeverages(question, walk, Ridge.on(basis.small), basis)
    if problem.has_hessian:
        fits = Ridge.on(problem) if not problem.has_absolute else Absolute(problem, walk, question.max_iter)
        return ByLeverages(question, walk, fits)
    return ByFolds.over(question, walk)


def _resident(problem: Objective) -> Any:
    return problem.rows.resident()


class Fits(Protocol):
    """Fits at one C after another: the problem, its minimum and the inverse of ∇²E there, None where that is lost."""

    def at(self, C: float) -> tuple[Objective, Array, Inverse | None]: ...


@dataclass
class Ridge:
    """Quasi-Newton steps around the last matrix of second derivatives, which is taken anew at the minimum."""

    base: Objective  # of C = 1
    W: Array
    H: Array  # ∇²E without the penalty, in the coordinates of the subspace

    @classmethod
    def on(cls, base: Objective) -> Ridge:
        base.subspace  # noqa: B018  (found once: which directions are determined does not depend on C)
        W = np.zeros(base.shape) if base.offsets is None else base.offsets
        fits = cls(base, W, np.empty((0, 0)))
        fits.H = fits._loss_hessian(base)
        return fits

    def _ridge(self, problem: Objective) -> Array:
        """The penalty's second derivatives in the coordinates of the subspace."""
        K, space = problem.shape[0], self.base.subspace
        r = problem.root_penalty
        part = np.diag(r**2) if space.Z is None else (space.Z * (r**2)[:, None]).T @ space.Z
        return np.asarray(np.kron(np.eye(K if space.Q is None else K - 1), part), dtype=np.float64)

    def _loss_hessian(self, problem: Objective) -> Array:
        free = with_penalty(problem, problem.penalty.times(0.0))
        return self.base.subspace.reduce_hessian(free.hessian(self.W))

    def at(self, C: float) -> tuple[Objective, Array, Inverse | None]:
        problem, space = with_penalty(self.base, self.base.penalty.times(1.0 / C)), self.base.subspace
        problem.subspace = space
        ridge = self._ridge(problem)
        at, factor = problem.value_gradient(self.W), Factor.of(self.H + ridge)
        method = QuasiNewton(problem, space.reduce, space.expand, PAIRS)
        for _ in range(MATRICES):
            if factor is None:
                return problem, self.W, None
            pairs = Pairs()
            for _ in range(STEPS):
                g = space.reduce(at.gradient)
                near = bool(g @ factor.solve(g) <= PATH_TOL * problem.null_value)
                found = None if near else method.step(self.W, at, pairs, factor.solve)
                if found is None:
                    break
                self.W, at, pairs = found
            self.H = self._loss_hessian(problem)
            factor = Factor.of(self.H + ridge)
            g = space.reduce(at.gradient)
            if factor is None or g @ factor.solve(g) <= 10 * PATH_TOL * problem.null_value:
                break
        if factor is None:
            return problem, self.W, None
        polished = self.W - space.expand(factor.solve(g))  # one Newton step, from which the last fit need not go on
        self.W = polished if problem.value_gradient(polished).value <= at.value else self.W
        return problem, self.W, Inverse.of(factor, space)


@dataclass
class Absolute:
    """Fits with absolute values, by the walk's solvers; second derivatives on the columns in use."""

    base: Objective
    path: Walk
    max_iter: int

    def at(self, C: float) -> tuple[Objective, Array, Inverse | None]:
        solved = self.path.solved(C, tol=FOLD_TOL, max_iter=self.max_iter)
        problem, W = solved.problem, solved.outcome.state.W
        H = problem.hessian(W)
        curved = np.diag(H).reshape(W.shape) > 0
        active = ((W != 0) | problem.unpenalised) & ~problem.pinned & curved
        if len(W) > 1:  # of a column that no penalty holds, only differences between classes are determined
            active[-1] &= ~problem.unpenalised
        return problem, W, Inverse.on_active(H, active)


@dataclass(frozen=True)
class ByLeverages:
    """Leave-one-out from the leverages of one fit a C."""

    question: Question
    walk: Walk
    fits: Fits
    basis: Basis | None = None
    name: ClassVar[str] = "leave-one-out"

    def score(self, C: float) -> Scored:
        """The mean log loss of rows left out."""
        problem, W, inverse = self.fits.at(C)
        if inverse is None:  # without a penalty to speak of, and nothing else that holds all directions
            return Scored(C, np.inf, np.inf, 0.0, 0, 0, True, None)
        found = leave_one_out(problem, W, inverse, self.question.seed)
        score, error = _mean(found.loss, self.question.weight * self.question.scored)
        # Of absolute values the effective number of parameters is that of columns in use, however strong they are.
        free = not problem.has_absolute and float(found.share.sum()) > NO_PENALTY * len(inverse.A)
        last = free or score < PERFECT * problem.null_value
        fitted = (problem.value_gradient(W).value - problem.penalty_value(W)) / problem.null_value
        return Scored(C, score, error, fitted, found.refitted, found.high, last, self._raw(problem, W))

    def _raw(self, problem: Objective, W: Array) -> Array:
        """The weights in raw units, without those of an offset."""
        if self.basis is not None:
            W = self.basis.image(W)
            problem = self.basis.problem
        raw = problem.rows.frame.to_original(W)
        return raw[:, : self.question.X.shape[1] + 1]

    def note(self, path: list[Scored]) -> str:
        """How the scores were made."""
        where = " in the span of the rows" if self.basis is not None else ""
        drawn = any(at.refitted < at.high for at in path)
        some = ", some of the rows of high leverage refitted for all of them" if drawn else ""
        return f"approximate leave-one-out{where}{some}"


@dataclass(frozen=True)
class ByFolds:
    """Five folds by class, each with a path over the other rows."""

    question: Question
    walk: Walk
    fold: Integers
    walks: tuple[Walk, ...]
    name: ClassVar[str] = "cross-validation"

    @classmethod
    def over(cls, question: Question, walk: Walk) -> ByFolds:
        """The folds drawn by the seed; a row that cannot be left out is in none."""
        rng, fold = np.random.default_rng(question.seed), np.full(len(question.codes), -1)
        for k in range(question.n_classes):
            members = rng.permutation(np.flatnonzero((question.codes == k) & question.scored))
            fold[members] = (np.arange(len(members)) + rng.integers(FOLDS)) % FOLDS
        return cls(question, walk, fold, tuple(question.walk(np.flatnonzero(fold != k)) for k in range(FOLDS)))

    def score(self, C: float) -> Scored:
        """The mean log loss of rows held out."""
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
        return Scored(C, score, error, fitted, 0, 0, score < PERFECT * self.walk.problem.null_value, None)

    def _held_out(self, solved: Solved, held: Integers) -> Array:
        question, problem = self.question, solved.problem
        raw = problem.rows.frame.to_original(solved.outcome.state.W)[:, : question.X.shape[1] + 1]
        block: Any = memory_rows(question.X[held], problem.targets[question.codes[held]]).resident()
        z = block.scores(raw) if question.offset is None else block.scores(raw) + question.offset[held]
        return np.asarray(problem.loss.value(block.t, z if problem.loss.traits.multiclass else z[:, 0]))

    def note(self, path: list[Scored]) -> str:
        """How the scores were made."""
        return f"{FOLDS}-fold cross-validation, since parameters are too many for leverages"
