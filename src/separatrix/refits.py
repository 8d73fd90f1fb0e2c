r"""Fits without one row each, for many rows side by side: where leaving it out is too much for one step. TEXTBOOK E2.

Problem   min_W E(W) − (s_i/S) ℓ(t_i, z_i), for each of some rows i
Given     the minimum W of E, and A = (∇²E)⁻¹ there
Returns   the score of each row by the fit without it
Step      V ← V − α B g with B from pairs around A downdated by the row's curvature, α halved until that goes down
Stops     where the row's score is known to 0.003, or to that share of how far it went

With absolute values in the penalty, by the solvers for these, one row after the other.

Nocedal and Wright 2006, Algorithm 7.4; the downdate is Woodbury's formula.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from separatrix.arrays import AnyArray, Array, Integers
from separatrix.concurrency import in_order
from separatrix.leverages import Inverse, losses, pieces
from separatrix.objective import Evaluation, Objective
from separatrix.rows import Block, MemoryRows
from separatrix.solvers import choose, default_rules, run

# Numbers written out at once.
PIECE = 1 << 20
# A refit is done where its row's score is known to this, or to this share of how far it went, or after so many steps;
# pairs kept; descent that counts.
ACCURACY, MOST_STEPS, PAIRS, ENOUGH = 3e-3, 60, 8, 1e-4
# With absolute values it is done within this share of the null model's objective.
REFIT_TOL = 1e-6


def refitted(problem: Objective, W: Array, inverse: Inverse, block: Block, rows: Integers) -> Array:
    """The scores of these rows by fits without each, (len(rows), K)."""
    if problem.has_absolute:
        return np.concatenate(list(in_order(lambda i: _solved_without(problem, W, block, i), rows.tolist())))
    size = max(1, PIECE // (2 * block.n_rows * problem.shape[0]))
    parts = [rows[start : start + size] for start in range(0, len(rows), size)]
    at = problem.value_gradient(W)

    def scores(part: Integers) -> Array:
        fits, value, g = _Without.of(problem, W, at, inverse, block, part)
        return _scores(fits, W, value, g)

    return np.concatenate(list(in_order(scores, parts)))


def _solved_without(problem: Objective, W: Array, block: Block, i: int) -> Array:
    """The score of row i by the fit without it, (1, K)."""
    weight = block.weight.copy()
    weight[i] = 0.0
    rows = MemoryRows(block.X, block.t, weight, block.frame, partly=True)
    left = Objective(rows, problem.loss, problem.penalty, problem.n_classes, problem.fit_intercept)
    left.pinned, left.n_offsets = problem.pinned, problem.n_offsets
    outcome = run(choose(left)[0], left, W, default_rules(REFIT_TOL, MOST_STEPS), REFIT_TOL)
    return block.take(slice(i, i + 1)).scores(outcome.state.W)


Memory = list[tuple[Array, Array, Array]]


@dataclass(frozen=True)
class _Without:
    """Fits without one row each, side by side: weights (R, K, d + 1), begun at the fit to all."""

    problem: Objective
    inverse: Inverse
    block: Block
    part: Integers  # which row each leaves out
    X: Array  # and that row, (R, d + 1)
    N: Array  # A (I ⊗ x̄_i), (R, c r, c)
    M: Array  # σ ℓ″ (I − G σ ℓ″)⁻¹, (R, c, c): the downdated inverse is A + N M Nᵀ
    spread: Array  # trace of G without the row, (R,)

    @classmethod
    def of(
        cls, problem: Objective, W: Array, at: Evaluation, inverse: Inverse, block: Block, part: Integers
    ) -> tuple[_Without, Array, Array]:
        """The fits, E without the row at W, (R,), and its gradient in Θ, (R, c r)."""
        rows = block.take(part)
        own = pieces(problem, W, inverse, rows)
        (R, c), size = own.slope.shape, len(inverse.A)
        N = (inverse.A.reshape(size * c, -1) @ own.X.T).T.reshape(R, size, c)
        # A row alone along a direction leaves nothing of it: the least that rounding can tell from that stays.
        left = np.eye(c) * (1 + 1e-9) - own.G @ own.curvature
        M = own.curvature @ np.linalg.inv(left)
        spread = np.trace(np.linalg.solve(left, own.G), axis1=1, axis2=2)
        lost = rows.weight / problem.total_weight * losses(problem, rows, own.z)
        pull = (own.slope[:, :, None] * own.X[:, None, :]).reshape(R, size)
        fits = cls(problem, inverse, block, part, rows.homogeneous(), N, M, spread)
        return fits, at.value - lost, inverse.space.reduce(at.gradient) - pull

    def only(self, kept: AnyArray) -> _Without:
        """Some of the fits."""
        some = {name: getattr(self, name)[kept] for name in ("part", "X", "N", "M", "spread")}
        return replace(self, **some)

    def own_scores(self, V: Array) -> Array:
        """Of the row that each fit leaves out, (R, K)."""
        return np.asarray((V @ self.X[:, :, None])[:, :, 0])

    def product(self, g: Array, memory: Memory) -> Array:
        """B g for each fit; Nocedal and Wright (2006), Algorithm 7.4. A pair of ρ = 0 changes nothing."""
        q, taken = g.copy(), []
        for S, Y, rho in reversed(memory):
            taken.append(rho * _dots(S, q))
            q -= taken[-1][:, None] * Y
        inside = self.M @ (self.N.transpose(0, 2, 1) @ q[:, :, None])
        q = q @ self.inverse.A + (self.N @ inside)[:, :, 0]
        for (S, Y, rho), a in zip(memory, reversed(taken), strict=True):
            q += (a - rho * _dots(Y, q))[:, None] * S
        return q

    def expand(self, theta: Array) -> Array:
        """(R, c r) to (R, K, d + 1)."""
        Q, Z = self.inverse.space.Q, self.inverse.space.Z
        T = theta.reshape(len(theta), self.N.shape[2], -1)
        T = T if Z is None else T @ Z.T
        return T if Q is None else Q @ T

    def at(self, V: Array) -> tuple[Array, Array]:
        """E without the row of each fit, (R,), and its gradient in Θ, (R, c r), at weights V (R, K, d + 1)."""
        problem, block = self.problem, self.block
        (R, K, width), n = V.shape, block.n_rows
        own, sigma = (np.arange(R), self.part), block.weight / problem.total_weight
        # Scores of a class side by side in memory, so that sums over classes run over whole rows.
        z = block.scores(V.transpose(1, 0, 2).reshape(K * R, width)).T.reshape(K, -1).T
        value, slope = problem.loss.value_derivative(
            np.tile(block.t, R), z if problem.loss.traits.multiclass else z[:, 0]
        )
        value, pull = value.reshape(R, n), slope.reshape(-1, K).T.reshape(K, R, n) * sigma
        value[own], pull[:, own[0], own[1]] = 0.0, 0.0
        G = block.adjoint(pull.reshape(K * R, n).T).reshape(K, R, width).transpose(1, 0, 2)
        held = problem.penalty_gradient(V)
        total = value @ sigma + 0.5 * np.sum(V * held, axis=(1, 2))
        return total, self.inverse.space.reduce_rows((G + held).reshape(R, -1))


def _scores(fits: _Without, W: Array, value: Array, g: Array) -> Array:
    """Of each left-out row, (R, K): L-BFGS around the downdated inverses, steps halved until they go down."""
    found, going = np.empty((len(g), len(W))), np.arange(len(g))
    V, alpha, memory = np.repeat(W[None], len(g), axis=0), np.ones(len(g)), Memory()
    for _ in range(MOST_STEPS):
        step = fits.product(g, memory)
        decrement = _dots(step, g)
        gone = np.max(np.abs(fits.own_scores(V - W)), axis=1)
        wide = decrement * fits.spread > (ACCURACY * np.maximum(1.0, gone)) ** 2
        if not wide.all():
            found[going[~wide]] = fits.only(~wide).own_scores(V[~wide])
            fits, going, step, decrement = fits.only(wide), going[wide], step[wide], decrement[wide]
            V, value, g, alpha = V[wide], value[wide], g[wide], alpha[wide]
            memory = [(S[wide], Y[wide], rho[wide]) for S, Y, rho in memory]
            if len(going) == 0:
                return found
        step = alpha[:, None] * step
        trial = V - fits.expand(step)
        there, slope = fits.at(trial)
        down = there <= value - ENOUGH * alpha * decrement
        alpha = np.where(down, 1.0, 0.5 * alpha)
        S, Y = np.where(down[:, None], -step, 0.0), np.where(down[:, None], slope - g, 0.0)
        bent = _dots(S, Y)
        memory = [*memory, (S, Y, np.divide(1.0, bent, out=np.zeros_like(bent), where=bent > 0))][-PAIRS:]
        V, value = np.where(down[:, None, None], trial, V), np.where(down, there, value)
        g = g + Y
    found[going] = fits.own_scores(V)
    return found


def _dots(A: Array, B: Array) -> Array:
    """Of each row with its like, (R,)."""
    return np.asarray(np.einsum("ij,ij->i", A, B))
