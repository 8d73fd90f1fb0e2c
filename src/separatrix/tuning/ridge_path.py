r"""The regularisation path for a quadratic penalty, with the inverse of ∇²E at each C (docs/tour.md, R8).

Problem   min_Θ E(Θ) for any C, in any order
Given     the objective at C = 1; the null model, whose second derivatives need no pass
Returns   for each C a Θ near the minimum, the loss there, and A = (∇²E)⁻¹
Step      start from the fit at the nearest C. There the second derivatives of the loss are known, and its gradient is
          minus that of the penalty, so the first Newton step for the new C needs no pass. Then take quasi-Newton steps
          with that Hessian until one Newton step is enough, and take that step with the Hessian at the current point.
          On small tables all steps are Newton steps
Stops     when the squared Newton decrement g·A g before the last step, which squares the error, is small relative to E

No bound on E − min E is computed: scores of C need fewer digits than a fit, and the fit at the chosen C has a bound.

Friedman, Hastie and Tibshirani 2010, section 2.5, for warm starts along the path; Nocedal and Wright 2006, Algorithm
7.4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.pieces import pieces
from separatrix.objectives.damped_newton import backtracked
from separatrix.objectives.duality_bound import duality
from separatrix.objectives.factor import Factor
from separatrix.objectives.null_model import null_hessian
from separatrix.objectives.problem import Evaluation, Objective
from separatrix.solvers.quasi_newton_pairs import Pairs, QuasiNewton
from separatrix.tuning.leverages import Inverse
from separatrix.tuning.path_sums import Sums, sums_of
from separatrix.tuning.reduced_rows import ReducedRows, Written, reduce_rows

# Second derivatives are computed when the squared Newton decrement g·A g falls to this share of E.
HESSIAN_DECREMENT = 3e-4
# If g·A g with these second derivatives is at most this share of E, one more Newton step is enough: the scores were
# within 0.2 % of the scores of fits to a tolerance of 1e-9.
NEWTON_DECREMENT = 1e-3
# The most quasi-Newton steps with one matrix of second derivatives are STEPS_PER_MATRIX, plus one for every
# PARAMETERS_PER_EXTRA_STEP parameters, since a larger matrix costs more.
STEPS_PER_MATRIX, PARAMETERS_PER_EXTRA_STEP = 3, 20
# The most matrices of second derivatives for one C, and the number of L-BFGS pairs that are kept.
MOST_MATRICES, PAIRS_ON_PATH = 20, 10
# If a matrix of second derivatives takes at most this many multiplications, every step is a Newton step.
MOST_NEWTON_WORK = 1 << 21
# The most step lengths that are tried along a Newton direction.
MOST_STEP_LENGTHS = 30
# If g·A g is below this share of E, it is due to rounding errors of the gradient.
ROUNDED_DECREMENT = float(np.finfo(np.float64).eps) ** 1.5


class Fit(NamedTuple):
    """The rows with the penalty at one C, Θ near the minimum, the mean loss there, and A (None if ∇²E is singular)."""

    rows: ReducedRows
    theta: Array
    loss: float
    inverse: Inverse | None


@dataclass(frozen=True)
class _Penalised:
    """E for one C, as a function of Θ."""

    sums: Sums
    rows: ReducedRows
    most_together: ClassVar[int] = 1

    def value_gradient(self, theta: Array) -> Evaluation:
        return self.add(theta, *self.sums.value_gradient(theta))

    def value_gradients(self, thetas: Sequence[Array]) -> list[Evaluation]:
        """E and its gradient at several points; reduced rows are in memory, so nothing is gained by one pass."""
        return [self.value_gradient(theta) for theta in thetas]

    def add(self, theta: Array, loss: float, gradient: Array) -> Evaluation:
        """E and its gradient, from those of the loss."""
        pull = self.rows.pull(theta)
        return Evaluation(loss + 0.5 * float(theta @ pull), gradient + pull)

    def factor(self, H: Array) -> Factor | None:
        """The factor of ∇²E, from the loss's second derivatives H; None if it is singular."""
        total, held = H.copy(), self.rows.held
        if held.ndim == 1:
            total.ravel()[:: len(H) + 1] += np.tile(held, len(H) // len(held))
            return Factor.of(total)
        for score in pieces(len(H), len(held)):
            total[score, score] += held
        return Factor.of(total)


class Place(NamedTuple):
    """A point of the path: ln C, Θ, the loss there, its gradient and its second derivatives."""

    u: float
    theta: Array
    loss: float
    gradient: Array
    H: Array


@dataclass
class Ridge:
    """The path so far: the null model, and the fits at all C tried.

    >>> from separatrix.objectives.penalty import Penalty
    >>> from separatrix.objectives.build import build_objective
    >>> from separatrix.rows import labelled_rows
    >>> X, codes = np.arange(6.0)[:, None], np.array([0, 1, 0, 1, 0, 1])
    >>> path = Ridge.on(build_objective(labelled_rows(X, codes, 2), 2, Penalty(1.0, np.ones(1))))
    >>> weak, strong = (path.at(C).loss for C in (1.0, 0.01))
    >>> bool(weak < strong)
    True
    """

    base: Objective  # the objective at C = 1
    rows: ReducedRows
    sums: Sums
    null: Place
    seen: list[Place] = field(default_factory=list)

    @classmethod
    def on(cls, base: Objective) -> Ridge:
        """The path that contains only the null model."""
        rows = reduce_rows(base)
        base, W = rows.problem, base.null_weights
        space, sums = rows.space, sums_of(rows)  # the identified directions do not depend on C
        theta = space.reduce(W if base.offsets is None else W - base.offsets)
        return cls(base, rows, sums, Place(-np.inf, theta, *sums.value_gradient(theta), null_hessian(base)))

    def at(self, C: float) -> Fit:
        """The fit at C, started from the fit at the nearest C."""
        E, place = self._penalised(C), self._nearest(C)
        theta, at = self._begun(E, C, place)
        factor = E.factor(place.H)
        few = isinstance(self.rows, Written) and self.rows.x.size * len(place.H) <= MOST_NEWTON_WORK
        for _ in range(MOST_MATRICES):
            theta, at, H = (_newton if few else _quasi_newton)(E, theta, at, factor)
            factor = E.factor(H)
            if factor is None:
                return Fit(E.rows, theta, at.value - 0.5 * float(theta @ E.rows.pull(theta)), None)
            step = factor.solve(at.gradient)
            decrement = float(at.gradient @ step)
            if decrement <= NEWTON_DECREMENT * at.value:
                break
        assert factor is not None  # the loop runs at least once
        return self._kept(E.rows, C, theta - step, at.value - 0.5 * decrement, H, factor)

    def _kept(self, rows: ReducedRows, C: float, theta: Array, value: float, H: Array, factor: Factor) -> Fit:
        """Record and return the fit at Θ, where E is ``value`` and its gradient is nearly zero."""
        pull = rows.pull(theta)
        loss = value - 0.5 * float(theta @ pull)
        self.seen = [*self.seen, Place(float(np.log(C)), theta, loss, -pull, H)]
        return Fit(rows, theta, loss, Inverse.of(factor, self.base.subspace))

    def _nearest(self, C: float) -> Place:
        return min(self.seen, key=lambda place: abs(place.u - np.log(C)), default=self.null)

    def _begun(self, E: _Penalised, C: float, place: Place) -> tuple[Array, Evaluation]:
        """The start for C: Θ of the nearest fit or, if E is lower there, an interpolated Θ.

        Between earlier fits, Θ is interpolated by a parabola in ln C through the three nearest ones.
        """
        at = E.add(place.theta, place.loss, place.gradient)
        u, seen = float(np.log(C)), [each.u for each in self.seen]
        if not min(seen, default=u) < u < max(seen, default=u):
            return place.theta, at
        near = sorted(self.seen, key=lambda each: abs(each.u - u))[:3]
        nodes = np.array([each.u for each in near])
        share = [np.prod((u - np.delete(nodes, k)) / (nodes[k] - np.delete(nodes, k))) for k in range(len(near))]
        theta = sum((a * each.theta for a, each in zip(share, near, strict=True)), np.zeros_like(place.theta))
        there = E.value_gradient(theta)
        return (theta, there) if there.value < at.value else (place.theta, at)

    def finished(self, C: float, theta: Array, tol: float) -> Array:
        """The minimum at C, started from Θ near it, to a duality gap of about ``tol`` times the null model's loss."""
        E = self._penalised(C)
        problem, factor = E.rows.problem, E.factor(self._nearest(C).H)
        if factor is None:
            return theta
        goal, space = tol * problem.null_value, self.base.subspace

        def done(theta: Array, at: Evaluation, decrement: float) -> bool:
            if not ROUNDED_DECREMENT * at.value < decrement <= goal:  # the gap is hardly smaller than the decrement
                return decrement <= goal
            there = Evaluation(at.value, space.expand(at.gradient))
            return duality(problem, E.rows.weights(theta), there).known <= goal

        return _descended(E, theta, E.value_gradient(theta), factor, done)[0]

    def _penalised(self, C: float) -> _Penalised:
        penalty, known = self.base.penalty.times(1.0 / C), {"subspace": self.base.subspace}
        problem = self.base.with_(penalty=penalty, known=known)
        return _Penalised(self.sums, self.rows.under(problem))


def _newton(E: _Penalised, theta: Array, at: Evaluation, factor: Factor | None) -> tuple[Array, Evaluation, Array]:
    """Θ, E and the loss's second derivatives after one Newton step, for tables where these are cheap."""
    step = None if factor is None else factor.solve(at.gradient)
    decrement = 0.0 if step is None else float(at.gradient @ step)
    if step is not None and decrement > HESSIAN_DECREMENT * at.value:

        def evaluated(alpha: float) -> tuple[float, tuple[Array, Evaluation, Array]]:
            trial = theta - alpha * step
            loss, gradient, H = E.rows.derivatives(trial)
            there = E.add(trial, loss, gradient)
            return there.value, (trial, there, H)

        accepted = backtracked(evaluated, at.value, -decrement, trials=MOST_STEP_LENGTHS, rounding=0.0)
        if accepted is not None:
            return accepted[1]
    return theta, at, E.sums.curvature(theta)


def _quasi_newton(
    E: _Penalised, theta: Array, at: Evaluation, factor: Factor | None
) -> tuple[Array, Evaluation, Array]:
    """Θ, E and the loss's second derivatives after several quasi-Newton steps with one factor."""
    theta, at = _descended(E, theta, at, factor, lambda _, at, decrement: decrement <= HESSIAN_DECREMENT * at.value)
    return theta, at, E.sums.curvature(theta)


def _descended(
    E: _Penalised,
    theta: Array,
    at: Evaluation,
    factor: Factor | None,
    done: Callable[[Array, Evaluation, float], bool],
) -> tuple[Array, Evaluation]:
    """Θ and E after quasi-Newton steps with one factor, until ``done`` or until a new factor costs less."""
    pairs, method = Pairs(), QuasiNewton(E, np.asarray, np.asarray, PAIRS_ON_PATH)
    for _ in range(STEPS_PER_MATRIX + len(theta) // PARAMETERS_PER_EXTRA_STEP):
        if factor is None:
            break
        g = at.gradient
        ended = done(theta, at, float(g @ factor.solve(g)))
        found = None if ended else method.step(theta, at, pairs, factor.solve)
        if found is None:
            break
        theta, at, pairs = found
    return theta, at
