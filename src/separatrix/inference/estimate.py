r"""A maximum of the likelihood, with the linear map from its coordinates to the coefficients that people read.

In the standard frame a score is W x̄ with x̄ = (1, (x − c)/s), so the raw weights are linear in W:

    w_j = W_j/s_j,    b = W_0 − Σ_j (c_j/s_j) W_j

and of K classes only differences to a reference class have a meaning. A coefficient is identified where its function
of W does not change along any direction that leaves all scores as they are (``objectives/subspace.py``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from separatrix.base.arrays import EPS, Array
from separatrix.base.cached import cached_property
from separatrix.base.errors import InputError, ParameterError
from separatrix.inference.expansion import expansion, holding
from separatrix.inference.pair_directions import Directions
from separatrix.inference.request import SummaryRequest
from separatrix.objectives.damped_newton import damped_step, newton_direction
from separatrix.objectives.factor import Factor
from separatrix.objectives.problem import Evaluation, Objective
from separatrix.proofs.existence import flat
from separatrix.rows.block import LARGE_OFFSET, Frame, power_of_two

# What a direction that leaves all scores alone may change a coefficient by, as a share of what it is a sum of.
ALONE = 1e-6
# Entries of an orthonormal basis below this are rounding.
ROUNDED = 1e-9
# A column whose curvature is below this share of what it is a sum of is constant: rounding alone moves it.
CONSTANT = 1e-13
# Standard errors from the maximum at which refining stops; Newton's method squares them, so it takes few steps.
THERE, MOST_STEPS = 1e-9, 20
# Nearer than this a full step of Newton's method that does not help is rounding; farther, it may be too long.
FAR = 1e-3
# Standard errors below which a step of Newton's method is trusted, and as much of it as a second one may be.
SHORT = 0.5


@dataclass(frozen=True)
class Estimate:
    """W (K or 1, width) at the maximum of ``problem``; A (q, K or 1) the contrasts, Phi (m, width) the raw weights.

    ``raw`` (K or 1, 1 + d); ``total`` = Σ s in the weights' own units; ``held``: columns of Phi whose coefficient stays
    as it is, being that of a constant beside an intercept. Coefficients are counted contrast by contrast. ``at`` and
    ``hessian`` are E with its gradient, and ∇² of the mean loss, at W.
    """

    problem: Objective
    W: Array
    raw: Array
    A: Array
    Phi: Array
    total: float
    at: Evaluation
    hessian: Array
    held: Any

    @cached_property
    def factor(self) -> Factor:
        """Of the Hessian of the mean loss on the identified directions."""
        found = self._cholesky or self.problem.factor(self.W)
        if found is None:
            came = "the information matrix is singular to working precision"
            raise InputError("X", came, "drop columns that are nearly collinear, or give more rows")
        return found

    @cached_property
    def _cholesky(self) -> Factor | None:
        return Factor.of(self.problem.subspace.reduce_hessian(self.hessian))

    @property
    def is_flat(self) -> bool:
        """Whether the likelihood hardly bends in some direction: its maximum may be at infinity."""
        return flat(self._cholesky)

    @property
    def n_coefficients(self) -> int:
        """How many the rows determine."""
        return len(self.problem.subspace.reduce(np.zeros(self.problem.shape)))

    @property
    def coefficients(self) -> Array:
        """(q, m), in the columns' own units."""
        return np.asarray(self.A @ self.raw[:, 1 - self._first :])

    @property
    def _first(self) -> int:
        """1 where the first of Phi is the intercept."""
        return len(self.Phi) - (int(self.raw.shape[1]) - 1)

    @cached_property
    def identified(self) -> Any:
        """Which of Phi's coefficients the rows determine, (m,); one that is held is not among them."""
        return ~self.held & identified(self.problem, self.Phi)

    @cached_property
    def F(self) -> Array:
        """The coefficients A ⊗ Phi as functions of the identified directions, (q m, r)."""
        space: Any = self.problem.subspace
        if isinstance(space, Directions):
            return space.reduce_rows(np.asarray(np.kron(self.A, self.Phi), dtype=np.float64))
        left = self.A if space.Q is None else self.A @ space.Q
        right = self.Phi if space.Z is None else self.Phi @ space.Z
        return np.asarray(np.kron(left, right), dtype=np.float64)

    @property
    def log_likelihood(self) -> float:
        return -(self.at.value - self.problem.penalty_value(self.W)) * self.total

    @property
    def null_log_likelihood(self) -> float:
        return -self.problem.null_value * self.total

    @cached_property
    def distance(self) -> float:
        """How many standard errors, to first order, a coefficient can be away from the maximum: Newton's decrement."""
        g = self.problem.subspace.reduce(self.at.gradient)
        return float(np.linalg.norm(self.factor.half(g))) * float(np.sqrt(self.total))


def estimate_of(asked: SummaryRequest, reference: Any = None) -> Estimate:
    """The fit's own weights as an estimate; constant columns beside an intercept are held where they are."""
    problem, raw = build_objective_of(asked), asked.claim.scorer.W
    beside = np.hstack([raw, np.eye(len(raw), problem.n_offsets)])
    W = problem.rows.frame.from_original(beside)
    at, hessian = expansion(problem, W)
    constant = _constant(problem, hessian) if problem.fit_intercept else np.zeros(problem.shape[1], dtype=bool)
    problem = holding(problem, constant, hessian)
    Phi = raw_weights(problem)
    held = np.concatenate([[False], constant[1 : raw.shape[1]]])[1 - problem.fit_intercept :]
    return Estimate(problem, W, raw, contrast(asked, reference), Phi, total_weight(asked), at, hessian, held)


def refined(estimate: Estimate) -> Estimate:
    """The maximum itself, by Newton's method from where the fit stopped: its tolerance is on the likelihood, and leaves
    a coefficient the root of that.
    """
    for _ in range(MOST_STEPS):
        if estimate.distance <= THERE:
            break
        step = newton_direction(estimate.problem, estimate.at.gradient, estimate.factor)
        nearer = _moved_to(estimate, estimate.W + step + _second_step(estimate, step))
        if not nearer.distance < 0.5 * estimate.distance:
            damped = damped_step(estimate.problem, estimate.W, estimate.at, step) if estimate.distance > FAR else None
            if damped is None:  # as near as rounding lets it
                break
            nearer = _moved_to(estimate, damped[0])
        estimate = nearer
    return estimate


def _second_step(estimate: Estimate, step: Array) -> Array | float:
    """From where a step leads another with the same matrix, where the first squares the distance to one still too far.

    A gradient costs a third of what it costs beside a Hessian. Shamanskii, Ukrainian Mathematical Journal 19 (1967).
    """
    if not THERE < estimate.distance**2 < SHORT**2:
        return 0.0
    there = estimate.problem.value_gradient(estimate.W + step)
    more = newton_direction(estimate.problem, there.gradient, estimate.factor)
    return more if np.linalg.norm(more) < SHORT * np.linalg.norm(step) else 0.0


def _moved_to(estimate: Estimate, W: Array) -> Estimate:
    raw = estimate.problem.rows.frame.to_original(W)[:, : estimate.raw.shape[1]]
    at, hessian = expansion(estimate.problem, W)
    return replace(estimate, W=W, raw=raw, at=at, hessian=hessian)


def build_objective_of(asked: SummaryRequest) -> Objective:
    problem = asked.claim.objective(asked.X, asked.y, asked.weight, asked.offset)
    if not problem.has_hessian:
        came = f"{problem.size} coefficients are too many for a matrix of second derivatives"
        raise InputError("X", came, "ask for a summary of a model of fewer columns")
    return problem


def total_weight(asked: SummaryRequest) -> float:
    """Σ s, class weights included; of probability weights n, so that their unit does not matter."""
    weight = asked.weight * asked.claim.class_weights[asked.codes]
    unit = float(power_of_two(np.max(weight, keepdims=True))[0])
    return float(np.sum(weight / unit)) * unit if asked.declared.repeats else float(asked.n)


def contrast(asked: SummaryRequest, reference: Any) -> Array:
    """The scores of all classes but the reference, each less the reference's, (K − 1, K); of one score ±1."""
    classes = asked.claim.scorer.classes.tolist()
    if reference is not None and reference not in classes:
        raise ParameterError("reference", f"got {reference!r}", f"name one of the classes {classes}")
    at = 0 if reference is None else classes.index(reference)
    if len(classes) > 2:
        found = np.delete(np.eye(len(classes)), at, axis=0)
        found[:, at] = -1.0
        return found
    if at == 1 and asked.claim.loss == "cloglog":
        do = f"leave it at {classes[0]!r}, or swap the labels and fit again"
        raise ParameterError("reference", "complementary log-log is another model with the classes swapped", do)
    return np.array([[1.0 if at == 0 else -1.0]])


def raw_weights(problem: Objective) -> Array:
    """Phi: intercept, where there is one, and raw weights as functions of W's columns, pinned ones left out."""
    frame, own = problem.rows.frame, problem.rows.n_features - problem.n_offsets
    Phi = np.zeros((own + 1, problem.shape[1]))
    Phi[0, 0] = 1.0
    Phi[0, 1 : own + 1] = -frame.center[:own] / frame.scale[:own]
    Phi[np.arange(1, own + 1), np.arange(1, own + 1)] = 1.0 / frame.scale[:own]
    Phi[:, problem.pinned] = 0.0
    return Phi[1 - problem.fit_intercept :]


def identified(problem: Objective, Phi: Array) -> Any:
    """Which functions Phi (m, width) of W's free columns are the same along every direction that scores ignore."""
    Z, free = problem.subspace.Z, ~problem.pinned
    if Z is None:
        return np.ones(len(Phi), dtype=bool)
    N = np.linalg.svd(Z[free], full_matrices=True)[0][:, Z.shape[1] :]
    return unmoved(Phi[:, free], N, problem.rows.frame)


def unmoved(F: Array, N: Array, frame: Frame) -> Any:
    """Which functions F (m, width) are the same along all directions N (width, q), orthonormal in the frame."""
    rounding = max(ROUNDED, 64 * EPS * float(np.max(np.abs(frame.center / frame.scale), initial=1.0)))
    N = np.where(np.abs(N) < rounding, 0.0, N)
    return np.all(np.abs(F @ N) <= ALONE * (np.abs(F) @ np.abs(N)), axis=1)


def _constant(problem: Objective, hessian: Array) -> Any:
    """Which columns read zero in the centred frame, to rounding, (width,); the intercept is none of them."""
    frame = problem.rows.frame
    diagonal = np.diag(hessian).reshape(problem.shape).max(axis=0)
    # Rows that are centred one by one read an exact zero; only CSR columns with a small offset are left to rounding.
    size = 1.0 + np.minimum(np.abs(frame.center / frame.scale), LARGE_OFFSET) ** 2
    found = diagonal[1:] <= CONSTANT * size * diagonal[0]
    if np.any(found):  # near separation only rows that touch have curvature, and a column may be the same in those
        found &= problem.root_second_moments[1:] ** 2 <= CONSTANT * size
    if problem.n_offsets:
        found[-problem.n_offsets :] = False
    return np.concatenate([[False], found])
