r"""Newton's method on Firth's likelihood, with the information as its matrix (Fisher scoring).

Problem   max_W l*(W) = l(W) + ½ ln |I(W)|, which is smooth, not concave, and −∞ where a probability goes to 0 or 1
Given     a start W; the directions in which W may move, by default all that the columns determine
Returns   W at which the penalised score U* is zero, a local maximum
Step      V = I⁻¹ U*, near the end corrected by L-BFGS pairs of the last steps. V is shortened so that it changes the
          rows' scores by at most 5 in the root mean square. W ← W + αV, α from 1 by halving until l* does not fall. A
          step takes two passes
Stops     when (U*ᵀ I⁻¹ U*)^½ ≤ tol: the length of the score in coordinates in which the information is the identity,
          that is, the length of the next step in standard errors

Heinze and Schemper, A solution to the problem of separation in logistic regression, Statistics in Medicine 21 (2002),
section 2.2: the largest step and its halving. They limit the change of each weight. If columns are nearly collinear,
weights may have to change by millions while scores hardly change, so such a limit needs millions of steps. Kosmidis and
Firth, Jeffreys-prior penalty, finiteness and shrinkage in binomial-response generalized linear models, Biometrika 108
(2021): l* has a maximum, and it is finite.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from separatrix.base.arrays import EPS, Array
from separatrix.base.concurrency import one_blas_thread
from separatrix.base.errors import InputError
from separatrix.base.messages import Message, Parameter, Remedy, Setting
from separatrix.firth.penalised_likelihood import Level, Penalised
from separatrix.objectives.bound import Bound
from separatrix.objectives.damped_newton import backtracked
from separatrix.objectives.factor import Factor
from separatrix.objectives.limiting_columns import limiting_columns
from separatrix.objectives.problem import Evaluation
from separatrix.solvers import Halt, Record, Run, State, Status
from separatrix.solvers.iteration import follower
from separatrix.solvers.quasi_newton_pairs import Pairs

# The most that a step may change the scores, in the root mean square over the rows.
LARGEST_SCORE_CHANGE = 5.0
# The most step lengths that are tried along Newton's direction.
MOST_ASCENT_TRIALS = 40
# The relative rounding error of E*, which is a sum over rows and a determinant.
VALUE_ROUNDING_SHARE = 64 * EPS
# After this many consecutive steps without progress, rounding is taken to be the cause.
MOST_IDLE_STEPS = 3
# The number of L-BFGS pairs, which approximate the part of l*'s curvature that the information leaves out, and the
# length of the score, in standard errors, below which pairs are kept. Without them the slowest of 40 small tables took
# 294 steps.
MOST_PAIRS, LONGEST_SCORE_FOR_PAIRS = 8, 1.0
# The longest score, in standard errors, that counts as zero if rounding lets no step gain.
LONGEST_ZERO_SCORE = 1e-6
# Weights within this distance of a known maximum, in standard errors, lead to it: a Newton step reduces a tenth to
# about a hundredth.
SAME_MAXIMUM_DISTANCE = 0.1


@dataclass(frozen=True)
class Point:
    """W with E* and its derivatives there.

    Attributes
    ----------
    W : array (K or 1, d + 1)
        The weights in the problem's coordinates.
    level : Level
        E* and the factor of the information.
    gradient : array (K or 1, d + 1)
        The gradient of E*.
    step : array
        Newton's step in the coordinates of the determined directions.
    length : float
        The length of the score in standard errors.
    """

    W: Array
    level: Level
    gradient: Array
    step: Array
    length: float


@dataclass(frozen=True)
class Ascent:
    """Newton's method on Firth's likelihood, with the information as its matrix (Fisher scoring).

    Calling it with a problem and a start returns the point where it ended, and the run.

    Parameters
    ----------
    tol : float, default 1e-8
        The length of the score, in standard errors, at which it stops.
    max_iter : int, default 1000
        The most steps.
    moves : array (P, q), optional
        An orthonormal basis of the directions in which W may move; by default all that the columns determine.

    Examples
    --------
    >>> from separatrix.firth import pose
    >>> from separatrix.rows import labelled_rows
    >>> problem = pose(labelled_rows(np.arange(4.0)[:, None], np.array([0, 0, 1, 1]), 2), 2)
    >>> point, run = Ascent()(problem, problem.zero)
    >>> run.status.code, point.length < 1e-8
    ('gradient', True)
    """

    tol: float = 1e-8
    max_iter: int = 1000
    moves: Array | None = None

    def __call__(self, problem: Penalised, start: Array, near: Point | None = None) -> tuple[Point, Run]:
        """Run from ``start`` until the score vanishes or the weights are close to ``near``, a known maximum."""
        trace, pairs, idle, clock = list[Record](), Pairs(), 0, time.perf_counter()
        report = follower("firth", lambda: 1.0, self.tol, "score", problem.objective)
        point = self._first(problem, start)
        while True:
            seconds = time.perf_counter() - clock
            norm = float(np.linalg.norm(point.gradient))
            trace.append(Record(len(trace), problem.objective.passes, point.level.value, norm, None, seconds))
            if report is not None:
                report(trace[-1], _state(point, trace), point.length)
            status = self._ended(problem, point, near, len(trace))
            if status is not None:
                return point, _run(point, status, trace)
            then = self._next(problem, point, pairs)
            idle = 0 if then is not None and _nearer(point, then) else idle + 1
            if then is None or idle > MOST_IDLE_STEPS:
                return point, _run(point, _stuck(problem, point), trace)
            pairs = _with_step(pairs, problem, point, then)
            point = then if idle == 0 or then.length < point.length else point

    def _first(self, problem: Penalised, start: Array) -> Point:
        """The point to begin at: ``start``, or if E* is infinite there, the mildest weights that can be reached."""
        point = self.at(problem, start) or self.at(problem, self._mildest(problem, start))
        if point is None:
            remedy = "leave out columns that are nearly combinations of others, or an offset of many units"
            raise InputError("X", "its information is singular to working precision where the fit begins", remedy)
        return point

    def _ended(self, problem: Penalised, point: Point, near: Point | None, n_points: int) -> Status | None:
        """The status if the run ends at this point, before a further step is tried."""
        if point.length <= self.tol or (near is not None and distance(problem, point.W, near) <= SAME_MAXIMUM_DISTANCE):
            return _stationary(point)
        return _out_of_steps(self.max_iter) if n_points > self.max_iter else None

    def _mildest(self, problem: Penalised, start: Array) -> Array:
        """The weights with the smallest scores that can be reached, where no row's probability is near 0 or 1."""
        even = problem.level(problem.zero)
        if self.moves is None or even is None:
            return problem.zero
        R, space = root(even.factor), problem.objective.subspace
        back = np.linalg.lstsq(R @ self.moves, R @ space.reduce(start - problem.zero), rcond=None)[0]
        return start - space.expand(self.moves @ back)

    def at(self, problem: Penalised, W: Array) -> Point | None:
        """E* and its derivatives at W, in two passes; None where E* is infinite."""
        level = problem.level(W)
        return None if level is None else self._with_score(problem, W, level)

    def _with_score(self, problem: Penalised, W: Array, level: Level) -> Point:
        gradient = problem.gradient(W, level.factor)
        g = problem.objective.subspace.reduce(gradient)
        step = self._newton(level.factor, g)
        return Point(W, level, gradient, step, float(np.sqrt(max(0.0, -problem.weight * float(g @ step)))))

    def _newton(self, factor: Factor, g: Array) -> Array:
        """−H⁻¹ g within the allowed directions."""
        if self.moves is None:
            return -factor.solve(g)
        within = Factor.of_root(np.asarray(np.linalg.qr(root(factor) @ self.moves, mode="r")))
        return np.zeros_like(g) if within is None else -self.moves @ within.solve(self.moves.T @ g)

    def _next(self, problem: Penalised, point: Point, pairs: Pairs) -> Point | None:
        """The point after the step that the pairs correct; if it lowers l*, after Newton's step, its half, etc."""
        if pairs.S:
            g = problem.objective.subspace.reduce(point.gradient)
            step = -pairs.product(g, lambda q: -self._newton(point.level.factor, q))
            then = self._damped(problem, point, step, trials=1)
            if then is not None:
                return then
        return self._damped(problem, point, point.step, MOST_ASCENT_TRIALS)

    def _damped(self, problem: Penalised, point: Point, step: Array, trials: int) -> Point | None:
        """The first point along a limited step that does not lower l*; None if there is none."""
        V = problem.objective.subspace.expand(step)
        longest = min(1.0, LARGEST_SCORE_CHANGE / max(float(np.linalg.norm(problem.objective.root_gram @ V.T)), EPS))

        def evaluated(alpha: float) -> tuple[float, Level | None]:
            level = problem.level(point.W + alpha * V)
            return np.inf if level is None else level.value, level

        # l* is not concave, so its slope predicts no gain: any step that does not lower l* is accepted.
        accepted = backtracked(evaluated, point.level.value, 0.0, longest, trials, VALUE_ROUNDING_SHARE)
        alpha, level = (0.0, None) if accepted is None else accepted
        return None if level is None else self._with_score(problem, point.W + alpha * V, level)


def _nearer(point: Point, then: Point) -> bool:
    """Whether a step raised l* by more than rounding, or, where rounding hides that, halved the score."""
    raised = then.level.value < point.level.value - VALUE_ROUNDING_SHARE * abs(point.level.value)
    return raised or then.length < 0.5 * point.length


def _with_step(pairs: Pairs, problem: Penalised, point: Point, then: Point) -> Pairs:
    """Add the pair of a step. Pairs are dropped while l* is far from quadratic."""
    if point.length > LONGEST_SCORE_FOR_PAIRS:
        return Pairs()
    reduce = problem.objective.subspace.reduce
    return pairs.with_pair(reduce(then.W - point.W), reduce(then.gradient - point.gradient), MOST_PAIRS)


def root(factor: Factor) -> Array:
    """R with RᵀR the factored matrix."""
    return np.asarray(factor.lower.T * factor.d)


def distance(problem: Penalised, W: Array, point: Point) -> float:
    """The distance between W and a point, in standard errors at the point."""
    apart = problem.objective.subspace.reduce(W - point.W)
    return float(np.sqrt(problem.weight) * np.linalg.norm(root(point.level.factor) @ apart))


def _run(point: Point, status: Status, trace: list[Record]) -> Run:
    halt = Halt.STALLED if status.code == "rounding" else None
    return Run(_state(point, trace, halt), status, unbounded(point.length), tuple(trace))


def _state(point: Point, trace: list[Record], halt: Halt | None = None) -> State:
    return State(point.W, Evaluation(point.level.value, point.gradient), len(trace) - 1, halt=halt)


def unbounded(length: float) -> Bound:
    """A bound without a value, whose reason gives the length of the score in standard errors.

    Parameters
    ----------
    length : float
        The length of the penalised score.

    Returns
    -------
    Bound

    Examples
    --------
    >>> unbounded(2e-9).reason
    "Firth's likelihood is not concave; shown is that its score is 2.0e-09 standard errors long"
    """
    reason = f"Firth's likelihood is not concave; shown is that its score is {length:.1e} standard errors long"
    return Bound(None, "none", reason)


def _stationary(point: Point) -> Status:
    sentence = (
        f"stationary: the penalised score is {point.length:.1e} standard errors long, at a maximum of Firth's "
        "likelihood, perhaps not the highest: it is not concave"
    )
    return Status("gradient", sentence, True)


def _stuck(problem: Penalised, point: Point) -> Status:
    """The status if no step raises l* any more. The score may then be as short as rounding allows."""
    if point.length <= LONGEST_ZERO_SCORE:
        return _stationary(point)
    sentence = (
        f"went as far as float64 goes: no step raises Firth's likelihood, and the penalised score is "
        f"{point.length:.1e} standard errors long"
    )
    cause = limiting_columns(problem.objective)
    why = Message(": ", cause) if cause else Remedy(Message("raise ", Parameter("tol")))
    return Status("rounding", Message(sentence, why), False)


def _out_of_steps(max_iter: int) -> Status:
    sentence = Message(
        "stopped at ",
        Setting("max_iter", max_iter),
        " before the penalised score fell to the tolerance",
        Remedy(Message("raise ", Parameter("max_iter"), " or ", Parameter("tol"))),
    )
    return Status("max_iter", sentence, False)


def null_value(problem: Penalised) -> float:
    """E* of the null model, which has the best constant scores (zero without an intercept); |I| is over all columns.

    Parameters
    ----------
    problem : Penalised
        The likelihood, as ``pose`` returns it.

    Returns
    -------
    float

    Examples
    --------
    >>> from separatrix.firth import pose
    >>> from separatrix.rows import labelled_rows
    >>> problem = pose(labelled_rows(np.arange(4.0)[:, None], np.array([0, 0, 1, 1]), 2), 2)
    >>> round(null_value(problem), 6)  # ln 2: both classes have as many rows
    0.693147
    """
    known = problem.null_in_closed_form
    if known is not None:
        return known
    space = problem.objective.subspace
    constant = np.zeros((1, problem.objective.shape[1]))
    constant[0, 0] = problem.objective.fit_intercept
    moves = constant if space.Z is None else constant @ space.Z
    across = np.eye(1 if space.Q is None else space.Q.shape[1])
    with one_blas_thread:
        point, _ = Ascent(moves=np.asarray(np.kron(across, moves.T), dtype=np.float64))(problem, problem.zero)
    return point.level.value
