r"""Leave-one-out refits, several at once, for rows for which one Newton step is not enough (docs/tour.md, E2).

Problem   min_W E(W) − (s_i/S) ℓ(t_i, z_i), for each row i of a given set
Given     the minimum W of E, and A = (∇²E)⁻¹ there
Returns   the score of each row by the fit without it
Step      V ← V − α B g, with B from pairs and B₀ = A downdated by the row's curvature. α is halved until, at the end of
          the step, E still falls along the direction or rises less steeply than it fell at the start. E is convex, so
          its values are not needed
Stops     when the row's score is accurate to 0.01, or to 0.01 times its change

With absolute values in the penalty, the solvers for such penalties refit one row after another.

Nocedal and Wright 2006, Algorithm 7.4; the downdate is Woodbury's formula.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.base.concurrency import in_order
from separatrix.base.pieces import pieces, rows_per_piece
from separatrix.base.watching import unwatched
from separatrix.objectives.problem import Objective
from separatrix.rows import NOT_COUNTED, MemoryRows
from separatrix.solvers import choose, default_rules, run
from separatrix.solvers.quasi_newton_pairs import two_loop_product
from separatrix.solvers.state import in_memory
from separatrix.tuning.leverages import Inverse, row_terms
from separatrix.tuning.reduced_rows import ReducedRows

# The most numbers in the scores that are computed at a time, which limits memory.
NUMBERS_PER_PIECE = 1 << 20
# A refit ends when its row's score is accurate to this, absolutely or relative to its change.
SCORE_ACCURACY = 1e-2
# The most steps of a refit.
MOST_REFIT_STEPS = 60
# The number of L-BFGS pairs that are kept.
PAIRS_IN_REFITS = 8
# A step is accepted if the slope of E along it at its end is at most this times minus the slope at its start.
LARGEST_RISE = 0.9
# The tolerance of a refit with absolute values, relative to the null model's objective.
REFIT_TOL = 1e-6


def refitted(rows: ReducedRows, theta: Array, inverse: Inverse, out: Integers) -> Array:
    """The score of each row in ``out`` by the fit without that row, (K, len(out))."""
    if rows.problem.has_absolute:
        W = rows.weights(theta)
        return np.concatenate(list(in_order(lambda i: _solved_without(rows.problem, W, i), out.tolist()))).T
    size = rows_per_piece(NUMBERS_PER_PIECE, 2 * rows.n_rows * rows.problem.shape[0])
    parts = [out[part] for part in pieces(len(out), size)]
    gradient = rows.gradient(theta) + rows.pull(theta)

    def scores(part: Integers) -> Array:
        fits, g = _Without.of(rows, theta, gradient, inverse, part)
        return _scores(fits, np.repeat(theta[None], len(part), axis=0), g)

    return scores(out) if len(parts) == 1 else np.concatenate(list(in_order(scores, parts)), axis=1)


def _solved_without(problem: Objective, W: Array, i: int) -> Array:
    """The score of row i by the fit without it, (1, K)."""
    block = in_memory(problem, "leave-one-out")
    weight = block.weight.copy()
    weight[i] = 0.0
    rows = MemoryRows(block.X, block.t, weight, block.frame, NOT_COUNTED)
    left = problem.with_(rows=rows)
    with unwatched():  # refits are not reported, as in the pool's threads
        outcome = run(choose(left)[0], left, W, default_rules(REFIT_TOL, MOST_REFIT_STEPS), REFIT_TOL)
    return np.asarray(block.take(slice(i, i + 1)).scores(outcome.state.W))


# The L-BFGS pairs of R fits: S, Y and ρ of each pair, (R, c r), (R, c r) and (R, 1). A fit whose step was rejected has
# ρ = 0 in that pair.
Memory = list[tuple[Array, Array, Array]]


@dataclass(frozen=True)
class _Without:
    """R simultaneous fits, each without one row: Θ (R, c r), started from the fit to all rows."""

    rows: ReducedRows
    A: Array
    out: Integers  # the index of the row that each fit leaves out
    own: ReducedRows  # the left-out rows
    N: Array  # A (I ⊗ x_i), (R, c r, c)
    M: Array  # σ ℓ″ (I − G σ ℓ″)⁻¹, (R, c, c): the downdated inverse is A + N M Nᵀ
    spread: Array  # trace of G without the row, (R,)

    @classmethod
    def of(
        cls, rows: ReducedRows, theta: Array, gradient: Array, inverse: Inverse, out: Integers
    ) -> tuple[_Without, Array]:
        """The fits, and for each of them ∇E at Θ without its row, (R, c r), from ``gradient``, that of all rows."""
        own = rows.take(out)
        of = row_terms(own, theta, inverse)
        (R, c), size = of.slope.shape, len(inverse.A)
        N = (inverse.A.reshape(size * c, -1) @ own.X.T).T.reshape(R, size, c)
        # If a row is the only one with a component along some direction, the Hessian without it is singular. The factor
        # 1 + 1e-9 keeps the matrix regular.
        left = np.linalg.inv(np.eye(c) * (1 + 1e-9) - of.G @ of.curvature)
        spread = np.trace(left @ of.G, axis1=1, axis2=2)
        pull = (of.slope[:, :, None] * own.X[:, None, :]).reshape(R, size)
        return cls(rows, inverse.A, out, own, N, of.curvature @ left, spread), gradient - pull

    def only(self, kept: Integers) -> _Without:
        """The given subset of the fits."""
        some = {name: getattr(self, name)[kept] for name in ("out", "N", "M", "spread")}
        return replace(self, own=self.own.take(kept), **some)

    def own_scores(self, V: Array) -> Array:
        """The score of the left-out row of each fit, (K, R)."""
        T = V.reshape(len(V), self.N.shape[2], -1)
        z = self.rows.to_scores(np.einsum("ncr,nr->cn", T, self.own.X))
        return z if self.own.shift is None else z + self.own.shift

    def product(self, g: Array, memory: Memory) -> Array:
        """B g for each fit, with B₀ the downdated inverse."""
        return two_loop_product(g, memory, self._downdated_inverse, lambda A, B: _dots(A, B)[:, None])

    def _downdated_inverse(self, q: Array) -> Array:
        """(A + N M Nᵀ) q for each fit."""
        inside = self.M @ (self.N.transpose(0, 2, 1) @ q[:, :, None])
        return np.asarray(q @ self.A + (self.N @ inside)[:, :, 0])

    def gradient(self, V: Array) -> Array:
        """∇E at Θ = V for each fit, without its left-out row, (R, c r)."""
        slope = self.rows.slopes(self.rows.each_scores(V))
        slope *= self.rows.sigma
        slope[:, np.arange(len(V)), self.out] = 0.0
        return self.rows.each_adjoint(slope) + self.rows.pull(V)


def _scores(fits: _Without, V: Array, g: Array) -> Array:
    """The score of each left-out row, (K, R), by L-BFGS with B₀ the downdated inverses, starting from Θ = V."""
    start = fits.own_scores(V)
    found, going, alpha, memory = start.copy(), np.arange(len(g)), np.ones(len(g)), Memory()
    for _ in range(MOST_REFIT_STEPS):
        step = fits.product(g, memory)
        decrement = _dots(step, g)
        z = fits.own_scores(V)
        gone = np.max(np.abs(z - start), axis=0)
        wide = decrement * fits.spread > (SCORE_ACCURACY * np.maximum(1.0, gone)) ** 2
        found[:, going] = z
        left = int(np.count_nonzero(wide))
        if left == 0:
            break
        if 4 * left <= 3 * len(wide):  # removing finished fits copies arrays
            kept = np.flatnonzero(wide)
            fits, going, start, V, g = fits.only(kept), going[kept], start[:, kept], V[kept], g[kept]
            step, decrement, alpha = step[kept], decrement[kept], alpha[kept]
            memory = [(S[kept], Y[kept], rho[kept]) for S, Y, rho in memory]
        S = -alpha[:, None] * step
        slope = fits.gradient(V + S)
        down = _dots(slope, step) >= -LARGEST_RISE * decrement
        alpha = np.where(down, 1.0, 0.5 * alpha)
        if not down.all():
            S[~down] = 0.0
            slope[~down] = g[~down]
        Y = slope - g
        bent = _dots(S, Y)[:, None]
        memory = [*memory, (S, Y, np.divide(1.0, bent, out=np.zeros_like(bent), where=bent > 0))][-PAIRS_IN_REFITS:]
        V, g = V + S, slope
    return found


def _dots(A: Array, B: Array) -> Array:
    """The dot product of each row of A with the same row of B, (R,)."""
    return np.asarray(np.vecdot(A, B))
