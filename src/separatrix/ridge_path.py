r"""Fits with a quadratic penalty at one C after another, and the inverse of ∇²E at each. TEXTBOOK R8.

Problem   min_W E(W) for any C, in any order
Given     the objective of C = 1; the null model, whose second derivatives need no pass
Returns   for each C a W near the minimum, the loss there, and A = (∇²E)⁻¹
Step      from the last fit: the loss's second derivatives are known there, and its gradient is the penalty's, reversed;
          so a Newton step for the new C costs no pass. Then quasi-Newton steps around that matrix until one Newton step
          is enough, and that one by second derivatives taken there
Stops     where the decrement g·A g before the last step, which squares it, is small beside E

No bound is asked for: scores of C need fewer digits than a fit, and the fit at the C chosen has its own.

Friedman, Hastie and Tibshirani 2010, section 2.5, for fits from one penalty to the next; Nocedal and Wright 2006,
Algorithm 7.4.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from separatrix.arrays import Array
from separatrix.bounds import duality
from separatrix.factor import Factor
from separatrix.leverages import Inverse
from separatrix.losses import Loss
from separatrix.null_model import null_curvature
from separatrix.objective import Evaluation, Objective
from separatrix.rows import ArraySum, Block
from separatrix.solvers.pairs import Pairs, QuasiNewton
from separatrix.walk import with_penalty

# Decrements, as shares of E, at which second derivatives are taken, and from which one Newton step with them is enough:
# scores were within 0.2 % of those of fits to 1e-9.
NEAR, ENOUGH = 3e-4, 1e-3
# Steps around one matrix of second derivatives, and one more for so many parameters each, since the matrix costs more
# then; matrices for one C; pairs kept.
STEPS, PER, MATRICES, PAIRS = 3, 20, 20, 10
EPS = float(np.finfo(np.float64).eps)


class Fit(NamedTuple):
    """The problem of one C, W near its minimum, the mean loss there, and A; None where ∇²E is singular."""

    problem: Objective
    W: Array
    loss: float
    inverse: Inverse | None


@dataclass(frozen=True)
class Curvature(ArraySum):
    """Σ s ℓ″ ⊗ x̄ x̄ᵀ over all scores but the last, (c, d + 1, c, d + 1): softmax's rows sum to zero over the classes."""

    loss: Loss
    W: Array

    @property
    def shape(self) -> tuple[int, ...]:
        K, width = self.W.shape
        return (max(1, K - 1), width, max(1, K - 1), width)

    def add(self, total: Array, block: Block) -> Array:
        z = block.scores(self.W)
        if not self.loss.traits.multiclass:
            h = self.loss.curvature_product(block.t, z[:, 0], np.ones(block.n_rows))
            total[0, :, 0] += block.sandwich(block.weight * h)
            return total
        for k in range(len(total)):
            along = np.zeros_like(z)
            along[:, k] = 1.0
            h = block.weight[:, None] * self.loss.curvature_product(block.t, z, along)
            for j in range(k + 1):
                part = block.sandwich(h[:, j])
                total[k, :, j] += part
                if j < k:
                    total[j, :, k] += part
        return total


@dataclass
class Ridge:
    """Where the path is: the last W, the loss there, its gradient, and its second derivatives on the subspace.

    >>> from separatrix.penalty import Penalty
    >>> from separatrix.posing import pose
    >>> X, codes = np.arange(6.0)[:, None], np.array([0, 1, 0, 1, 0, 1])
    >>> path = Ridge.on(pose(X, codes, 2, np.ones(6), Penalty(1.0, np.ones(1))))
    >>> weak, strong = (path.at(C).loss for C in (1.0, 0.01))
    >>> bool(weak < strong)
    True
    """

    base: Objective  # of C = 1
    W: Array
    loss: float
    gradient: Array
    H: Array
    ridge: Array  # the penalty's part in ∇²E, at C = 1
    seen: list[tuple[float, Array]] = field(default_factory=list)  # ln C and W of the fits so far

    @classmethod
    def on(cls, base: Objective) -> Ridge:
        """At the null model."""
        space, W = base.subspace, base.null_weights  # which directions are determined does not depend on C
        at = base.value_gradient(W)
        G = base.sample_gram if space.Z is None else space.Z.T @ base.sample_gram @ space.Z
        squares = base.root_penalty**2
        held = np.diag(squares) if space.Z is None else (space.Z * squares[:, None]).T @ space.Z
        S = null_curvature(base)
        H, ridge = np.asarray(np.kron(S, G)), np.asarray(np.kron(np.eye(len(S)), held))
        return cls(base, W, at.value, at.gradient, H.astype(np.float64), ridge.astype(np.float64))

    def at(self, C: float) -> Fit:
        """The fit at C, from that at the last."""
        problem, space = self._posed(C), self.base.subspace
        at = self._begun(problem, C)
        factor = Factor.of(self.H + self.ridge / C)
        for _ in range(MATRICES):
            at = self._descended(problem, at, factor, lambda at, decrement: decrement <= NEAR * at.value)
            self.H = self._loss_hessian()
            factor = Factor.of(self.H + self.ridge / C)
            if factor is None:
                self.loss = at.value - problem.penalty_value(self.W)
                self.gradient = at.gradient - problem.penalty_gradient(self.W)
                return Fit(problem, self.W, self.loss, None)
            g = space.reduce(at.gradient)
            step = factor.solve(g)
            decrement = float(g @ step)
            if decrement <= ENOUGH * at.value:
                break
        assert factor is not None  # there is one matrix at least
        self.W = self.W - space.expand(step)
        self.loss = at.value - 0.5 * decrement - problem.penalty_value(self.W)
        self.gradient = -problem.penalty_gradient(self.W)
        self.seen = [*self.seen, (float(np.log(C)), self.W)]
        return Fit(problem, self.W, self.loss, Inverse.of(factor, space))

    def _begun(self, problem: Objective, C: float) -> Evaluation:
        """E at the last W; or, between fits seen, where a parabola in ln C through these leads, if that is lower."""
        at = Evaluation(self.loss + problem.penalty_value(self.W), self.gradient + problem.penalty_gradient(self.W))
        u, seen = float(np.log(C)), [node for node, _ in self.seen]
        if not min(seen, default=u) < u < max(seen, default=u):
            return at
        near = sorted(self.seen, key=lambda fit: abs(fit[0] - u))[:3]
        nodes = np.array([node for node, _ in near])
        share = [np.prod((u - np.delete(nodes, k)) / (nodes[k] - np.delete(nodes, k))) for k in range(len(near))]
        W = sum((a * fit[1] for a, fit in zip(share, near, strict=True)), np.zeros(problem.shape))
        there = problem.value_gradient(W)
        if there.value < at.value:
            self.W, at = W, there
        return at

    def finished(self, C: float, W: Array, tol: float) -> Array:
        """The minimum at C from W near it, to where the duality gap is ``tol`` of the null model's loss, or nearly."""
        problem, factor = self._posed(C), Factor.of(self.H + self.ridge / C)
        if factor is None:
            return W
        self.W, goal = W, tol * problem.null_value

        def done(at: Evaluation, decrement: float) -> bool:
            return decrement <= EPS * at.value or duality(problem, self.W, at).known <= goal

        self._descended(problem, problem.value_gradient(W), factor, done)
        return self.W

    def _posed(self, C: float) -> Objective:
        problem = with_penalty(self.base, self.base.penalty.times(1.0 / C))
        problem.subspace = self.base.subspace
        return problem

    def _descended(
        self, problem: Objective, at: Evaluation, factor: Factor | None, done: Callable[[Evaluation, float], bool]
    ) -> Evaluation:
        """E after quasi-Newton steps around a factor, until they are done or another factor is worth it."""
        space, pairs = self.base.subspace, Pairs()
        method = QuasiNewton(problem, space.reduce, space.expand, PAIRS)
        for _ in range(STEPS + len(self.H) // PER):
            if factor is None:
                break
            g = space.reduce(at.gradient)
            found = None if done(at, float(g @ factor.solve(g))) else method.step(self.W, at, pairs, factor.solve)
            if found is None:
                break
            self.W, at, pairs = found
        return at

    def _loss_hessian(self) -> Array:
        """∇² of the mean loss at W, on the subspace."""
        base, space = self.base, self.base.subspace
        base.passes += 1
        T = base.rows.fold(Curvature(base.loss, self.W)) / base.total_weight
        c, width = T.shape[:2]
        if space.Z is not None:
            T = space.Z.T @ (T @ space.Z).reshape(c, width, -1)
            width = space.Z.shape[1]
        if space.Q is not None:
            M = space.Q[:-1].T - space.Q[-1][:, None]  # the last score's part is less those of the others
            T = (M @ T.reshape(c, -1)).reshape(c * width, c, width)
            T = M @ T
        return np.ascontiguousarray(T).reshape(c * width, c * width)
