"""A fit by Firth's likelihood, begun several times: l* is not concave, and may have several maxima.

Starts are zero (or a given one), a ridge fit, and a place some standard errors beside the best maximum so far; the
highest maximum wins. A further run ends where it comes to be within a tenth of a standard error of a maximum that is
known. Where rows are many, the starts are tried on a sample, weighted to stand for all rows, and only what they agree
on is followed on all rows; where they disagree, all are tried there. What they agree on lies some standard errors from
the maximum over all rows; the penalty differs by less. So the first passes over all rows are for gradients of the
likelihood alone, a sixth of the work of a step, with the sample's penalty beside them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.concurrency import one_blas_thread
from separatrix.base.watching import part
from separatrix.firth.ascent import SAME, Ascent, Point, distance, root
from separatrix.firth.penalised_likelihood import Penalised
from separatrix.objectives.factor import Factor
from separatrix.solvers import Run
from separatrix.solvers.quasi_newton_pairs import Pairs

# How far beside the best maximum a further start lies, in standard errors a direction.
ASIDE, SEED = 2.0, 20_231_101
# Steps towards a ridge fit, where another run begins.
RIDGE_STEPS = 4
# Rows a parameter past which starts are tried on a sample, of so many rows a parameter, and how near maxima are
# followed there, in standard errors: those of the sample lie further than that from those of all rows.
MANY, SOME, ROUGHLY = 200, 50, 1e-2
# How near, in standard errors, and by how many gradients at most the maximum over all rows is approached from there.
NEARLY, MOST_SLOPES = 0.5, 8


@dataclass(frozen=True)
class Fit:
    """The highest maximum found; how many runs were begun, and how many of them came to it; on which rows."""

    point: Point
    run: Run
    starts: int = 1
    agreed: int = 1
    tried_on: int | None = None

    @property
    def sentence(self) -> str:
        """How the starts agreed."""
        where = "" if self.tried_on is None else f", by a sample of {self.tried_on} rows"
        return f"{self.agreed} of {self.starts} starts led to this maximum{where}"


def fit(problem: Penalised, start: Array | None = None, tol: float = 1e-8, max_iter: int = 1000) -> Fit:
    """Maximise l* from ``start`` (by default zero), from a ridge fit and from beside the best of both.

    >>> from separatrix.firth import pose
    >>> problem = pose(np.arange(4.0)[:, None], np.array([0, 0, 1, 1]), 2, np.ones(4))  # separated
    >>> found = fit(problem)
    >>> found.run.status.met, found.sentence
    (True, '3 of 3 starts led to this maximum')
    """
    first, ascent = problem.zero if start is None else start, Ascent(tol, max_iter)
    with one_blas_thread:
        sample = _sample(problem)
        if sample is not None:
            tried = _from_each(sample, first, Ascent(ROUGHLY))
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
        if distance(problem, point.W, best) <= SAME:
            agreed += 1
        elif other.status.met >= run.status.met and point.level.value < best.level.value:
            best, run, agreed = point, other, 1
    return Fit(best, run, 1 + len(others), agreed)


def _sample(problem: Penalised) -> Penalised | None:
    """Rows that stand for all, where there are many; None where there are not, or where they do not tell as much."""
    whole = problem.objective
    parameters = problem.rank * max(1, whole.shape[0] - 1)
    if whole.n_rows < MANY * parameters or not parameters:
        return None
    drawn = whole.sample(SOME * parameters)
    sample = problem.on(drawn.standing_for(whole.targets, whole.class_sums[:, 0]))
    at = sample.level(problem.zero)
    return sample if at is not None and np.isfinite(at.value) else None


def _approached(problem: Penalised, sample: Penalised, point: Point) -> Array:
    """From a maximum over a sample to near the one over all rows: the likelihood of all, with the sample's penalty as a
    plane, by the sample's information and what steps show (pairs of L-BFGS). The best seen, or a step on from near it.
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
        if length <= NEARLY:
            return to
    return at


def ridge_fit(problem: Penalised, best: Point) -> Array:
    """Where Σ s ℓ + ½ Σ w² is smallest in standard coordinates, intercepts left out, roughly: by a few Newton steps.

    The steps are not damped: a start need not be accurate, and the ridge keeps them short.
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
    """Weights two standard errors from the best in every direction of a basis in which I is the identity."""
    from scipy.linalg import solve_triangular

    sign = np.random.default_rng(SEED).choice([-1.0, 1.0], size=best.step.shape)
    apart = solve_triangular(root(best.level.factor), ASIDE / np.sqrt(problem.weight) * sign)
    return best.W + problem.objective.subspace.expand(apart)
