"""A fit by Firth's likelihood from several starts: l* is not concave, and may have several maxima.

The starts are zero (or a given start), a ridge fit, and a point two standard errors from the best maximum so far. The
highest maximum is returned. A later run ends once it is within a tenth of a standard error of a known maximum.

With many rows the starts are first tried on a weighted sample. If all of them lead to the same maximum, only that one
is followed on all rows; otherwise every start is tried on all rows. The maximum over the sample lies some standard
errors from that over all rows, but the two penalties differ by less. So the first passes over all rows compute only
gradients of the likelihood, which take a sixth of the work of a step, and use the gradient of the sample's penalty.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.concurrency import one_blas_thread
from separatrix.base.watching import part
from separatrix.firth.ascent import SAME_MAXIMUM_DISTANCE, Ascent, Point, distance, root
from separatrix.firth.penalised_likelihood import Penalised
from separatrix.objectives.factor import Factor
from separatrix.solvers import Run
from separatrix.solvers.quasi_newton_pairs import Pairs

# The distance of the third start from the best maximum, in standard errors along each direction, and the seed of its
# signs.
START_DISTANCE, START_SEED = 2.0, 20_231_101
# The number of Newton steps towards the ridge fit, the second start.
RIDGE_STEPS = 4
# With at least this many rows per parameter the starts are tried on a sample.
FEWEST_ROWS_TO_SAMPLE = 200
# The size of that sample, and the length of the score, in standard errors, at which its runs end: the maxima of the
# sample lie further than that from those of all rows.
SAMPLE_ROWS_PER_PARAMETER, SAMPLE_TOLERANCE = 50, 1e-2
# From the sample's maximum, gradients over all rows lead towards their maximum until the score is this short, in
# standard errors, and at most this many gradients are computed.
APPROACH_DISTANCE, MOST_SLOPES = 0.5, 8


@dataclass(frozen=True)
class Fit:
    """The highest maximum found, with its run.

    Attributes
    ----------
    point : Point
        The maximum.
    run : Run
        The run that led to it.
    starts : int
        The number of runs.
    agreed : int
        How many of them led to this maximum.
    tried_on : int or None
        The number of rows of the sample on which the starts were tried; None if they were tried on all rows.
    """

    point: Point
    run: Run
    starts: int = 1
    agreed: int = 1
    tried_on: int | None = None

    @property
    def sentence(self) -> str:
        """How many starts led to the maximum, in words."""
        where = "" if self.tried_on is None else f", by a sample of {self.tried_on} rows"
        return f"{self.agreed} of {self.starts} starts led to this maximum{where}"


def fit(problem: Penalised, start: Array | None = None, tol: float = 1e-8, max_iter: int = 1000) -> Fit:
    """Maximise l* from ``start``, from a ridge fit, and from a point near the better of these two maxima.

    Parameters
    ----------
    problem : Penalised
        The likelihood, as ``pose`` returns it.
    start : array (K or 1, d + 1), optional
        The weights to start from, in the problem's coordinates; by default zero.
    tol : float, default 1e-8
        The length of the score, in standard errors, at which a run stops.
    max_iter : int, default 1000
        The most steps of a run.

    Returns
    -------
    Fit

    Examples
    --------
    >>> from separatrix.firth import pose
    >>> from separatrix.rows import labelled_rows
    >>> problem = pose(labelled_rows(np.arange(4.0)[:, None], np.array([0, 0, 1, 1]), 2), 2)  # separated
    >>> found = fit(problem)
    >>> found.run.status.met, found.sentence
    (True, '3 of 3 starts led to this maximum')
    """
    first, ascent = problem.zero if start is None else start, Ascent(tol, max_iter)
    with one_blas_thread:
        sample = _sample(problem)
        if sample is not None:
            tried = _from_each(sample, first, Ascent(SAMPLE_TOLERANCE))
            if tried.agreed == tried.starts:
                found = Fit(*ascent(problem, _approached(problem, sample, tried.point)))
                return replace(found, starts=tried.starts, agreed=tried.agreed, tried_on=sample.objective.n_rows)
        return _from_each(problem, first, ascent)


def _from_each(problem: Penalised, first: Array, ascent: Ascent) -> Fit:
    agreed, others = 1, (ridge_fit, beside)
    with part("start", 1, 1 + len(others)):
        best, run = ascent(problem, first)
    for k, start in enumerate(others, 2):
        with part("start", k, 1 + len(others)):
            point, other = ascent(problem, start(problem, best), near=best)
        if distance(problem, point.W, best) <= SAME_MAXIMUM_DISTANCE:
            agreed += 1
        elif other.status.met >= run.status.met and point.level.value < best.level.value:
            best, run, agreed = point, other, 1
    return Fit(best, run, 1 + len(others), agreed)


def _sample(problem: Penalised) -> Penalised | None:
    """A weighted sample if there are many rows; None if there are few, or if the sample's information is singular."""
    whole = problem.objective
    parameters = problem.rank * max(1, whole.shape[0] - 1)
    if whole.n_rows < FEWEST_ROWS_TO_SAMPLE * parameters or not parameters:
        return None
    drawn = whole.sample(SAMPLE_ROWS_PER_PARAMETER * parameters)
    sample = problem.on(drawn.standing_for(whole.targets, whole.class_sums[:, 0]))
    at = sample.level(problem.zero)
    return sample if at is not None and np.isfinite(at.value) else None


def _approached(problem: Penalised, sample: Penalised, point: Point) -> Array:
    """Weights near the maximum over all rows, starting from the maximum ``point`` over a sample.

    It maximises the likelihood of all rows plus a linear model of the sample's penalty, by L-BFGS around the sample's
    information. It returns the best weights seen, or one further step from weights that are near the maximum.
    """
    space, factor, best = problem.objective.subspace, point.level.factor, np.inf
    penalty = point.gradient - sample.slope(point.W)
    at, to, pairs, last = point.W, point.W, Pairs(), None
    for _ in range(MOST_SLOPES):
        g = space.reduce(problem.slope(to) + penalty)
        length = float(np.sqrt(problem.weight) * np.linalg.norm(factor.half(g)))
        if not length < best:
            return at
        pairs = pairs if last is None else pairs.with_pair(space.reduce(to - at), g - last, MOST_SLOPES)
        at, last, best = to, g, length
        to = at - space.expand(pairs.product(g, factor.solve))
        if length <= APPROACH_DISTANCE:
            return to
    return at


def ridge_fit(problem: Penalised, best: Point) -> Array:
    """Weights near the minimum of Σ s ℓ + ½ Σ w² in standard coordinates, without a penalty on intercepts.

    They are found by a few Newton steps. The steps are not damped, because a start need not be accurate, and the ridge
    keeps them short.
    """
    objective, W = problem.objective, problem.zero
    ridge = np.where(objective.pinned, 0.0, 1.0 / problem.weight)
    ridge[0] = 0.0
    for _ in range(RIDGE_STEPS):
        factor = Factor.of(objective.subspace.reduce_hessian(problem.curvature(W) + np.diag(np.tile(ridge, len(W)))))
        if factor is None:
            break
        W = W - objective.subspace.expand(factor.solve(objective.subspace.reduce(problem.slope(W) + ridge * W)))
    return W


def beside(problem: Penalised, best: Point) -> Array:
    """Weights START_DISTANCE standard errors from the best in each direction of a basis in which I is the identity."""
    from scipy.linalg import solve_triangular

    sign = np.random.default_rng(START_SEED).choice([-1.0, 1.0], size=best.step.shape)
    apart = solve_triangular(root(best.level.factor), START_DISTANCE / np.sqrt(problem.weight) * sign)
    return best.W + problem.objective.subspace.expand(apart)
