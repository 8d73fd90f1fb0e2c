r"""A maximum of the likelihood, with the linear map from its coordinates to the reported coefficients.

In the standard frame a score is W x̄ with x̄ = (1, (x − c)/s), so the raw weights are linear in W:

    w_j = W_j/s_j,    b = W_0 − Σ_j (c_j/s_j) W_j

For K classes, only differences from a reference class are meaningful. A coefficient is identified if, as a function of
W, it is constant along every direction that leaves all scores unchanged (``objectives/subspace.py``).
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
from separatrix.rows.frame import LARGE_OFFSET, Frame

# A coefficient is identified if directions that do not change the scores change it by at most this share of the sum of
# the absolute values of its terms.
LARGEST_UNIDENTIFIED_SHARE = 1e-6
# Entries of an orthonormal basis below this are rounding errors.
LARGEST_ROUNDED_ENTRY = 1e-9
# A column is constant if its curvature is at most this share of the size of the terms that are summed, since the sum is
# then only rounding error.
LARGEST_CONSTANT_CURVATURE = 1e-13
# Refinement ends at this distance from the maximum, in standard errors, or after this many steps. Newton's method
# squares the distance in each step, so few steps are enough.
REFINED_DISTANCE, MOST_REFINING_STEPS = 1e-9, 20
# Smallest distance from the maximum, in standard errors, at which a full Newton step that brings no improvement is
# damped. At a smaller distance rounding is the cause, and refinement ends.
SMALLEST_DAMPED_DISTANCE = 1e-3
# A second step with the same Hessian is tried only below this distance from the maximum, in standard errors, and is
# accepted only if its length is below this share of the first step's.
TRUSTED_STEP_SHARE = 0.5


@dataclass(frozen=True)
class Estimate:
    """The maximum W (K or 1, width) of the likelihood of ``problem``, and the maps from W to the coefficients.

    A (q, K or 1) has the contrasts between classes, and Phi (m, width) maps W to raw weights. ``raw`` (K or 1, 1 + d)
    are the raw weights. ``total`` is Σ s in the units of the sample weights. ``held`` marks the rows of Phi whose
    coefficient is fixed, because its column is constant and there is an intercept. Coefficients are numbered contrast
    by contrast. ``at`` and ``hessian`` are E with its gradient, and ∇² of the mean loss, at W.
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
        """The factor of the Hessian of the mean loss on the identified directions."""
        found = self._cholesky or self.problem.factor(self.W)
        if found is None:
            problem = "the information matrix is singular to working precision"
            raise InputError("X", problem, "drop columns that are nearly collinear, or give more rows")
        return found

    @cached_property
    def _cholesky(self) -> Factor | None:
        return Factor.of(self.problem.subspace.reduce_hessian(self.hessian))

    @property
    def is_flat(self) -> bool:
        """Whether the likelihood has almost no curvature in some direction, so that its maximum may be at infinity."""
        return flat(self._cholesky)

    @property
    def n_coefficients(self) -> int:
        """The number of coefficients that the rows determine."""
        return len(self.problem.subspace.reduce(np.zeros(self.problem.shape)))

    @property
    def coefficients(self) -> Array:
        """The coefficients (q, m) in the columns' own units."""
        return np.asarray(self.A @ self.raw[:, 1 - self._first :])

    @property
    def _first(self) -> int:
        """1 if the first row of Phi is the intercept, else 0."""
        return len(self.Phi) - (int(self.raw.shape[1]) - 1)

    @cached_property
    def identified(self) -> Any:
        """Which of Phi's coefficients the rows determine, (m,); fixed (``held``) ones are excluded."""
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
        """The Newton decrement: to first order, the distance from the maximum, in standard errors of a coefficient."""
        g = self.problem.subspace.reduce(self.at.gradient)
        return float(np.linalg.norm(self.factor.half(g))) * float(np.sqrt(self.total))


def estimate_of(asked: SummaryRequest, reference: Any = None) -> Estimate:
    """The fitted weights as an estimate. With an intercept, the weights of constant columns are fixed."""
    problem, raw = build_objective_of(asked), asked.claim.scorer.W
    beside = np.hstack([raw, np.eye(len(raw), problem.n_offsets)])
    W = problem.rows.frame.from_original(beside)
    at, hessian = expansion(problem, W)
    constant = _constant(problem, hessian) if problem.fit_intercept else np.zeros(problem.shape[1], dtype=bool)
    problem = holding(problem, constant, hessian)
    Phi = raw_weights(problem)
    held = np.concatenate([[False], constant[1 : raw.shape[1]]])[1 - problem.fit_intercept :]
    return Estimate(problem, W, raw, contrast(asked, reference), Phi, asked.total_weight, at, hessian, held)


def refined(estimate: Estimate) -> Estimate:
    """The maximum itself, by Newton's method from the fitted weights.

    The tolerance of a fit limits the error of the likelihood. The error of a coefficient is about its square root.
    """
    for _ in range(MOST_REFINING_STEPS):
        if estimate.distance <= REFINED_DISTANCE:
            break
        step = newton_direction(estimate.problem, estimate.at.gradient, estimate.factor)
        nearer = _moved_to(estimate, estimate.W + step + _second_step(estimate, step))
        if not nearer.distance < 0.5 * estimate.distance:
            damped = (
                damped_step(estimate.problem, estimate.W, estimate.at, step)
                if estimate.distance > SMALLEST_DAMPED_DISTANCE
                else None
            )
            if damped is None:  # rounding allows no further step
                break
            nearer = _moved_to(estimate, damped[0])
        estimate = nearer
    return estimate


def _second_step(estimate: Estimate, step: Array) -> Array | float:
    """A second step with the same Hessian, if the first step does not suffice; zero if it is not needed or accepted.

    A gradient alone takes a third of the time of a gradient with a Hessian. Shamanskii, Ukrainian Mathematical Journal
    19 (1967).
    """
    if not REFINED_DISTANCE < estimate.distance**2 < TRUSTED_STEP_SHARE**2:
        return 0.0
    there = estimate.problem.value_gradient(estimate.W + step)
    more = newton_direction(estimate.problem, there.gradient, estimate.factor)
    return more if np.linalg.norm(more) < TRUSTED_STEP_SHARE * np.linalg.norm(step) else 0.0


def _moved_to(estimate: Estimate, W: Array) -> Estimate:
    raw = estimate.problem.rows.frame.to_original(W)[:, : estimate.raw.shape[1]]
    at, hessian = expansion(estimate.problem, W)
    return replace(estimate, W=W, raw=raw, at=at, hessian=hessian)


def build_objective_of(asked: SummaryRequest) -> Objective:
    problem = asked.objective()
    if not problem.has_hessian:
        fault = f"{problem.size} coefficients are too many for a matrix of second derivatives"
        raise InputError("X", fault, "ask for a summary of a model of fewer columns")
    return problem


def contrast(asked: SummaryRequest, reference: Any) -> Array:
    """The contrasts (K − 1, K) of each class's score with that of the reference class; ±1 if there is one score."""
    classes = asked.claim.scorer.classes.tolist()
    if reference is not None and reference not in classes:
        raise ParameterError("reference", f"got {reference!r}", f"name one of the classes {classes}")
    at = 0 if reference is None else classes.index(reference)
    if len(classes) > 2:
        found = np.delete(np.eye(len(classes)), at, axis=0)
        found[:, at] = -1.0
        return found
    if at == 1 and asked.claim.loss == "cloglog":
        remedy = f"leave it at {classes[0]!r}, or swap the labels and fit again"
        raise ParameterError("reference", "complementary log-log is another model with the classes swapped", remedy)
    return np.array([[1.0 if at == 0 else -1.0]])


def raw_weights(problem: Objective) -> Array:
    """Phi: the intercept, if there is one, and the raw weights as linear functions of W's free columns."""
    frame, own = problem.rows.frame, problem.rows.n_features - problem.n_offsets
    Phi = np.zeros((own + 1, problem.shape[1]))
    Phi[0, 0] = 1.0
    Phi[0, 1 : own + 1] = -frame.center[:own] / frame.scale[:own]
    Phi[np.arange(1, own + 1), np.arange(1, own + 1)] = 1.0 / frame.scale[:own]
    Phi[:, problem.pinned] = 0.0
    return Phi[1 - problem.fit_intercept :]


def identified(problem: Objective, Phi: Array) -> Any:
    """Which functions Phi (m, width) of W's free columns are constant along directions that do not change scores."""
    Z, free = problem.subspace.Z, ~problem.pinned
    if Z is None:
        return np.ones(len(Phi), dtype=bool)
    N = np.linalg.svd(Z[free], full_matrices=True)[0][:, Z.shape[1] :]
    return unmoved(Phi[:, free], N, problem.rows.frame)


def unmoved(F: Array, N: Array, frame: Frame) -> Any:
    """Which functions F (m, width) are constant along all directions N (width, q), orthonormal in the frame."""
    rounding = max(LARGEST_ROUNDED_ENTRY, 64 * EPS * float(np.max(np.abs(frame.center / frame.scale), initial=1.0)))
    N = np.where(np.abs(N) < rounding, 0.0, N)
    return np.all(np.abs(F @ N) <= LARGEST_UNIDENTIFIED_SHARE * (np.abs(F) @ np.abs(N)), axis=1)


def _constant(problem: Objective, hessian: Array) -> Any:
    """Which columns are zero in the centred frame up to rounding, (width,); the intercept is not one of them."""
    frame = problem.rows.frame
    diagonal = np.diag(hessian).reshape(problem.shape).max(axis=0)
    # If rows are centred explicitly, a constant column is exactly zero. Only CSR columns with a small offset are not:
    # they have rounding errors.
    size = 1.0 + np.minimum(np.abs(frame.center / frame.scale), LARGE_OFFSET) ** 2
    found = diagonal[1:] <= LARGEST_CONSTANT_CURVATURE * size * diagonal[0]
    if np.any(found):  # near separation only touching rows have curvature, and a column may be constant on these
        found &= problem.root_second_moments[1:] ** 2 <= LARGEST_CONSTANT_CURVATURE * size
    if problem.n_offsets:
        found[-problem.n_offsets :] = False
    return np.concatenate([[False], found])
