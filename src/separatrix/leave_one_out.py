r"""Leave-one-out from one fit: what each row's score would be had it not been there. TEXTBOOK E2.

With E = (1/S) Σ s_i ℓ(t_i, z_i) + penalty at its minimum, A = (∇²E)⁻¹, G_i = x̄_iᵀ A x̄_i (K × K: one for each pair of
scores), ℓ′ and ℓ″ at z_i, and σ_i = s_i/S, one Newton step on E without row i gives

    z₋ᵢ ≈ z_i + (I − σ_i G_i ℓ″)⁻¹ G_i σ_i ℓ′ ,     for one score  z_i + ℓ′ h/(1 − ℓ″ h)  with h = σ_i G_i

(Beirami, Razaviyayn, Shahrampour and Tarokh 2017; Rad and Maleki 2020). For a squared loss it is exact (Allen 1974). It
is far off where ℓ″ h, the largest eigenvalue of σ_i ℓ″ G_i, is not small, or where the step is so long that the other
rows' curvature changes: past HIGH or FAR the row is really left out and the rest fitted again, by quasi-Newton steps
around A downdated by the row's curvature, for many rows side by side. A row of weight 2 counts as one row: leaving it
out removes both.

With absolute values in the penalty the same holds on the columns in use. Which those are may depend on a row, so steps
are far sooner, and refits are by the solvers for absolute values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from separatrix.arrays import AnyArray, Array, Integers
from separatrix.concurrency import in_order
from separatrix.factor import Factor
from separatrix.objective import Objective
from separatrix.rows import Block, MemoryRows
from separatrix.solvers import choose, default_rules, run
from separatrix.subspace import Subspace

# Past so much curvature × leverage one step is far off: tried on small sets, means of it by up to 15 %.
HIGH = 0.4
# And past so much it counts as this in that step.
MOST_LEVERAGE = 0.9
# Past so long a step of the score, too, with other rows' curvature; with absolute values, with other columns in use.
FAR, FAR_ABSOLUTE = 0.5, 0.25
# So many rows past these are fitted again, or this share of all rows where their scores fit into a piece.
FEWEST_REFITS, SHARE_REFITS = 50, 0.05
# Numbers written out at once, for refits and for leverages, and the rows of a piece at least.
PIECE, SMALL_PIECE, FEWEST_ROWS = 1 << 20, 1 << 17, 16
# A refit is done where its row's score is known to this, or after so many steps; pairs kept; descent that counts.
ACCURACY, MOST_STEPS, PAIRS, ENOUGH = 3e-3, 60, 8, 1e-4
# With absolute values it is done within this share of the null model's objective.
REFIT_TOL = 1e-6


@dataclass(frozen=True)
class Inverse:
    """A = (∇²E)⁻¹ in the coordinates W = Q Θ Zᵀ of a subspace, (c r, c r) with c scores and r columns."""

    space: Subspace
    A: Array

    @classmethod
    def of(cls, factor: Factor, space: Subspace) -> Inverse:
        """From a factor of ∇²E.

        >>> factor = Factor.of(np.array([[2.0, 0.0], [0.0, 4.0]]))
        >>> Inverse.of(factor, Subspace(None, None, 2)).A.round(12).tolist()
        [[0.5, 0.0], [0.0, 0.25]]
        """
        from scipy.linalg.lapack import dpotri

        if len(factor.d) == 0:
            return cls(space, np.zeros((0, 0)))
        upper = np.triu(dpotri(factor.lower.T, lower=0)[0])  # LAPACK counts by columns
        A = upper + np.triu(upper, 1).T
        return cls(space, A / factor.d / factor.d[:, None])

    @classmethod
    def on_active(cls, H: Array, active: AnyArray) -> Inverse | None:
        """Of ∇²E on the weights in use, (K, d + 1) of truth values; None where it is singular there.

        >>> Inverse.on_active(np.diag([2.0, 4.0]), np.array([[True, False]])).A.round(12).tolist()
        [[0.5, 0.0], [0.0, 0.0]]
        """
        used = np.flatnonzero(active)
        factor = Factor.of(H[np.ix_(used, used)])
        if factor is None:
            return None
        space = Subspace(None, None, active.shape[1])
        A = np.zeros_like(H)
        A[np.ix_(used, used)] = cls.of(factor, space).A
        return cls(space, A)

    def rows(self, block: Block) -> Array:
        """x̄ as Θ meets it, (m, r)."""
        X = block.homogeneous()
        return X if self.space.Z is None else X @ self.space.Z

    def to_scores(self, Z: Array) -> Array:
        """From the coordinates of Θ, (m, c), to scores, (m, K)."""
        return Z if self.space.Q is None else Z @ self.space.Q.T

    def from_scores(self, R: Array) -> Array:
        """The transposed way, (m, K) to (m, c)."""
        return R if self.space.Q is None else R @ self.space.Q

    def leverages(self, X: Array, c: int) -> Array:
        """G, (m, c, c), of rows X (m, r): one product for each score, with the scores up to it."""
        m, r = X.shape
        A, G = self.A.reshape(c, r, c * r), np.empty((m, c, c))
        for a in range(c):
            V = (X @ A[a, :, : (a + 1) * r]).reshape(m, a + 1, r)
            G[:, a, : a + 1] = G[:, : a + 1, a] = np.matmul(V, X[:, :, None])[:, :, 0]
        return G


class _Pieces(NamedTuple):
    """Of some rows: x̄ (m, r), σℓ′ (m, c), σℓ″ and G (m, c, c), and the scores z (m, K)."""

    X: Array
    slope: Array
    curvature: Array
    G: Array
    z: Array


class LeftOut(NamedTuple):
    """Of every row its loss by the fit without it, (n,).

    ``share``: the trace of σ ℓ″ G, (n,): the row's part in the effective number of parameters. ``refitted`` of the
    ``high`` rows past HIGH or FAR were left out and fitted again; where those are not all, they say by how much the
    others' one step is off.
    """

    loss: Array
    share: Array
    refitted: int
    high: int


def leave_one_out(problem: Objective, W: Array, inverse: Inverse, seed: int = 0) -> LeftOut:
    """The loss of every row by the fit without it, from the minimum W of ``problem`` and A there.

    Where rows past HIGH or FAR are too many, those fitted again are drawn by the seed, evenly by how far past.

    >>> from separatrix.posing import pose
    >>> from separatrix.penalty import Penalty
    >>> X, codes = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
    >>> problem = pose(X, codes, 2, np.ones(4), Penalty(10.0, np.ones(1)), fit_intercept=False)
    >>> W = np.zeros((1, 2))
    >>> for _ in range(20):
    ...     step = problem.factor(W).solve(problem.subspace.reduce(problem.value_gradient(W).gradient))
    ...     W = W - problem.subspace.expand(step)
    >>> found = leave_one_out(problem, W, Inverse.of(problem.factor(W), problem.subspace))
    >>> block = problem.rows.resident()
    >>> found.refitted, bool(np.all(found.loss >= problem.loss.value(block.t, block.scores(W)[:, 0])))
    (0, True)
    """
    block = problem.rows.resident()
    assert block is not None  # rows in memory
    n, K = block.n_rows, problem.shape[0]
    z, share, excess = np.empty((n, K)), np.empty(n), np.empty(n)
    size = max(FEWEST_ROWS, SMALL_PIECE // max(1, len(inverse.A)))
    pieces = [slice(start, min(start + size, n)) for start in range(0, n, size)]

    def found_in(rows: slice) -> tuple[Array, Array, Array]:
        of = _pieces(problem, W, inverse, block.take(rows))
        left, trace, lever = _one_step(of, inverse)
        step = np.max(np.abs(left - of.z), axis=1)
        return left, trace, np.maximum(lever / HIGH, step / (FAR_ABSOLUTE if problem.has_absolute else FAR))

    for rows, found in zip(pieces, in_order(found_in, pieces), strict=True):
        z[rows], share[rows], excess[rows] = found
    high = np.flatnonzero((excess > 1) & (block.weight > 0))
    drawn = _drawn(high, excess, n * K, n, seed)
    loss = _losses(problem, block, z)
    if len(drawn):
        again = _losses(problem, block.take(drawn), _refitted(problem, W, inverse, block, drawn))
        loss[high] *= float(again.sum()) / max(float(loss[drawn].sum()), np.finfo(np.float64).tiny)
        loss[drawn] = again
    return LeftOut(loss, share, len(drawn), len(high))


def _losses(problem: Objective, block: Block, z: Array) -> Array:
    return problem.loss.value(block.t, z if problem.loss.traits.multiclass else z[:, 0])


def _pieces(problem: Objective, W: Array, inverse: Inverse, block: Block) -> _Pieces:
    z, X = block.scores(W), inverse.rows(block)
    c = z.shape[1] if inverse.space.Q is None else inverse.space.Q.shape[1]
    sigma, loss = (block.weight / problem.total_weight)[:, None], problem.loss
    flat = z if loss.traits.multiclass else z[:, 0]
    slope = sigma * loss.derivative(block.t, flat).reshape(z.shape)
    curvature = np.empty((len(z), c, c))
    for a, along in enumerate(np.eye(c) if inverse.space.Q is None else inverse.space.Q.T):
        dz = np.tile(along, (len(z), 1)) if loss.traits.multiclass else np.full(len(z), along[0])
        bent = loss.curvature_product(block.t, flat, dz).reshape(z.shape)
        curvature[:, a] = inverse.from_scores(sigma * bent)
    return _Pieces(X, inverse.from_scores(slope), curvature, inverse.leverages(X, c), z)


def _one_step(of: _Pieces, inverse: Inverse) -> tuple[Array, Array, Array]:
    """z₋ᵢ; the trace of σ ℓ″ G; and its largest eigenvalue, or a bound on that where it is not past HIGH."""
    CG = of.curvature @ of.G
    trace = np.trace(CG, axis1=1, axis2=2)
    lever = trace.copy()  # no eigenvalue of a product of positive matrices is larger
    doubtful = np.flatnonzero(trace > HIGH)
    if CG.shape[1] > 1 and len(doubtful):
        lever[doubtful] = np.max(np.linalg.eigvals(CG[doubtful]).real, axis=1)
    # A row alone along a direction would be taken to infinity.
    less = np.minimum(1.0, MOST_LEVERAGE / np.maximum(lever, MOST_LEVERAGE))
    M = np.eye(CG.shape[1]) - less[:, None, None] * CG.transpose(0, 2, 1)
    pull = (of.G @ of.slope[:, :, None])[:, :, 0]
    step = pull / M[:, :, 0] if CG.shape[1] == 1 else np.linalg.solve(M, pull[:, :, None])[:, :, 0]
    return of.z + inverse.to_scores(step), trace, lever


def _drawn(high: Integers, excess: Array, n_scores: int, n: int, seed: int) -> Integers:
    """Rows to fit again: all, or evenly spaced ones by excess, so that their order in the table does not matter."""
    most = max(FEWEST_REFITS, min(int(SHARE_REFITS * n), PIECE // n_scores))
    if len(high) <= most:
        return high
    ranked = high[np.argsort(excess[high], kind="stable")]
    first = np.random.default_rng(seed).random()
    return np.sort(ranked[((np.arange(most) + first) * (len(high) / most)).astype(np.int64)])


def _refitted(problem: Objective, W: Array, inverse: Inverse, block: Block, rows: Integers) -> Array:
    """The scores of these rows by fits without each, (len(rows), K)."""
    if problem.has_absolute:
        return np.concatenate(list(in_order(lambda i: _solved_without(problem, W, block, i), rows.tolist())))
    size = max(1, PIECE // (2 * block.n_rows * problem.shape[0]))
    parts = [rows[start : start + size] for start in range(0, len(rows), size)]
    return np.concatenate(list(in_order(lambda part: _Without.of(problem, W, inverse, block, part).scores(), parts)))


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
    W: Array
    inverse: Inverse
    block: Block
    part: Integers
    weight: Array  # (R, n), shares of all rows' weight, zero where a fit leaves the row out
    N: Array  # A (I ⊗ x̄_i), (R, c r, c)
    M: Array  # σ ℓ″ (I − G σ ℓ″)⁻¹, (R, c, c): the downdated inverse is A + N M Nᵀ
    spread: Array  # trace of G without the row, (R,)

    @classmethod
    def of(cls, problem: Objective, W: Array, inverse: Inverse, block: Block, part: Integers) -> _Without:
        own = _pieces(problem, W, inverse, block.take(part))
        R, c = own.slope.shape
        weight = np.repeat((block.weight / problem.total_weight)[None], R, axis=0)
        weight[np.arange(R), part] = 0.0
        size = len(inverse.A)
        N = (inverse.A.reshape(size * c, -1) @ own.X.T).T.reshape(R, size, c)
        # A row alone along a direction leaves nothing of it: the least that rounding can tell from that stays.
        left = np.eye(c) * (1 + 1e-9) - own.G @ own.curvature
        M = own.curvature @ np.linalg.inv(left)
        spread = np.trace(np.linalg.solve(left, own.G), axis1=1, axis2=2)
        return cls(problem, W, inverse, block, part, weight, N, M, spread)

    def scores(self) -> Array:
        """Of each left-out row, (R, K)."""
        X = self.block.take(self.part).homogeneous()
        return np.asarray((self.weights() @ X[:, :, None])[:, :, 0])

    def weights(self) -> Array:
        """The minimum of each fit, by L-BFGS around the downdated inverses, steps halved until they go down."""
        V, going = np.repeat(self.W[None], len(self.part), axis=0), np.arange(len(self.part))
        value, g = self.at(V, going)
        alpha, memory = np.ones(len(V)), Memory()
        for _ in range(MOST_STEPS):
            step = self.product(g[going], going, memory)
            decrement = _dots(step, g[going])
            wide = decrement * self.spread[going] > ACCURACY**2
            going, step, decrement = going[wide], alpha[going[wide], None] * step[wide], decrement[wide]
            if len(going) == 0:
                break
            trial = V[going] - self.expand(step)
            there, slope = self.at(trial, going)
            down = there <= value[going] - ENOUGH * alpha[going] * decrement
            alpha[going] = np.where(down, 1.0, 0.5 * alpha[going])
            gone = going[down]
            S, Y, rho = np.zeros_like(g), np.zeros_like(g), np.zeros(len(g))
            S[gone], Y[gone] = -step[down], slope[down] - g[gone]
            bent = _dots(S[gone], Y[gone])
            rho[gone] = np.divide(1.0, bent, out=np.zeros_like(bent), where=bent > 0)
            memory = [*memory, (S, Y, rho)][-PAIRS:]
            V[gone], value[gone], g[gone] = trial[down], there[down], slope[down]
        return V

    def product(self, g: Array, going: Integers, memory: Memory) -> Array:
        """B g for each fit; Nocedal and Wright (2006), Algorithm 7.4. A pair of ρ = 0 changes nothing."""
        q, taken = g.copy(), []
        pairs = [(S[going], Y[going], rho[going]) for S, Y, rho in memory]
        for S, Y, rho in reversed(pairs):
            taken.append(rho * _dots(S, q))
            q -= taken[-1][:, None] * Y
        N = self.N[going]
        inside = self.M[going] @ (N.transpose(0, 2, 1) @ q[:, :, None])
        q = q @ self.inverse.A + (N @ inside)[:, :, 0]
        for (S, Y, rho), a in zip(pairs, reversed(taken), strict=True):
            q += (a - rho * _dots(Y, q))[:, None] * S
        return q

    def expand(self, theta: Array) -> Array:
        """(R, c r) to (R, K, d + 1)."""
        Q, Z = self.inverse.space.Q, self.inverse.space.Z
        T = theta.reshape(len(theta), self.N.shape[2], -1)
        T = T if Z is None else T @ Z.T
        return T if Q is None else Q @ T

    def at(self, V: Array, going: Integers) -> tuple[Array, Array]:
        """E without the row of each fit, (R,), and its gradient in Θ, (R, c r), at weights V (R, K, d + 1)."""
        problem, block = self.problem, self.block
        R, K, width = V.shape
        # Scores of a class side by side in memory, so that sums over classes run over whole rows.
        z = block.scores(V.transpose(1, 0, 2).reshape(K * R, width)).T.reshape(K, -1).T
        weight = self.weight[going]
        t = np.tile(block.t, R)
        value, slope = problem.loss.value_derivative(t, z if problem.loss.traits.multiclass else z[:, 0])
        pull = weight.ravel() * slope.reshape(-1, K).T
        G = block.adjoint(pull.reshape(K * R, -1).T).reshape(K, R, width).transpose(1, 0, 2)
        held = problem.penalty_gradient(V)
        total = _dots(weight, value.reshape(R, -1)) + 0.5 * np.sum(V * held, axis=(1, 2))
        return total, self.inverse.space.reduce_rows((G + held).reshape(R, -1))


def _dots(A: Array, B: Array) -> Array:
    """Of each row with its like, (R,)."""
    return np.asarray(np.einsum("ij,ij->i", A, B))
