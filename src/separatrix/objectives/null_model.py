r"""The null model, which uses no column, and what one Newton step from it says of the penalty. TEXTBOOK R8.

Its second derivatives need no pass of their own: with p the classes' shares they are Σ ⊗ X̄ᵀX̄/n, Σ = Σ_k p_k ℓ″(k, z).

Takeuchi 1976 for the criterion, as Stone 1977 derives it from leave-one-out.
"""

from __future__ import annotations

import numpy as np

from separatrix.base.arrays import Array
from separatrix.objectives.factor import Factor
from separatrix.objectives.problem import Objective

# Strengths looked at, as shares of the largest curvature; and the columns up to which their products are diagonalised:
# beyond, columns count as uncorrelated.
STRENGTHS, MOST_COLUMNS = np.geomspace(1e-8, 1e8, 161), 300
# One step from the null model falls short of the fit, so it wants more of a penalty than that: on eleven sets the best
# C was 1 to 190 times what it wants, 7 in the middle.
SHORT = 4.0
TINY = float(np.finfo(np.float64).tiny)
# Of the largest penalty: what is weaker counts as this, so that products of four stay in float64's range.
WEAKEST = 1e-70
# No C outside of this and its reciprocal is wanted: 1/C must be a number.
SMALLEST_C = 1e-290


def null_curvature(base: Objective) -> Array:
    """Σ above in the coordinates of the contrasts between classes, (c, c).

    >>> from separatrix.objectives.penalty import Penalty
    >>> from separatrix.objectives.build import build_objective
    >>> from separatrix.rows import labelled_rows
    >>> ridge = Penalty(1.0, np.ones(1))
    >>> problem = build_objective(labelled_rows(np.arange(4.0)[:, None], np.array([0, 1, 1, 1]), 2), 2, ridge)
    >>> null_curvature(problem).round(4).tolist()
    [[0.1875]]
    """
    return _curvature_at(base, base.null_weights[:, 0])


def _curvature_at(base: Objective, constants: Array) -> Array:
    """The same at any constant scores, (K or 1,)."""
    Q, share = base.subspace.Q, base.class_sums[:, 0] / base.total_weight
    z = np.tile(constants, (len(share), 1))
    if Q is None:
        return np.array([[share @ base.loss.curvature_product(base.targets, z[:, 0], np.ones(len(share)))]])
    along = [np.tile(q, (len(share), 1)) for q in Q.T]
    return np.array([share @ base.loss.curvature_product(base.targets, z, dz) for dz in along]) @ Q


def null_hessian(base: Objective) -> Array:
    """The second derivatives of its loss on the determined directions, (c r, c r): without a pass.

    >>> from separatrix.objectives.penalty import Penalty
    >>> from separatrix.objectives.build import build_objective
    >>> from separatrix.rows import labelled_rows
    >>> ridge = Penalty(1.0, np.ones(1))
    >>> problem = build_objective(labelled_rows(np.arange(4.0)[:, None], np.array([0, 1, 0, 1]), 2), 2, ridge)
    >>> null_hessian(problem).tolist()
    [[0.25, 0.0], [0.0, 0.3125]]
    """
    G, Z = base.sample_gram, base.subspace.Z
    return np.asarray(np.kron(null_curvature(base), G if Z is None else Z.T @ G @ Z), dtype=np.float64)


def factor_at_zero(base: Objective) -> Factor | None:
    """Of ∇²E where all weights are zero, without a pass; None where the columns' products are not at hand.

    >>> from separatrix.objectives.penalty import Penalty
    >>> from separatrix.objectives.build import build_objective
    >>> from separatrix.rows import labelled_rows
    >>> ridge = Penalty(1.0, np.ones(1))
    >>> problem = build_objective(labelled_rows(np.arange(4.0)[:, None], np.array([0, 1, 1, 1]), 2), 2, ridge)
    >>> g, zero = np.array([1.0, 2.0]), np.zeros((1, 2))
    >>> bool(np.allclose(factor_at_zero(problem).solve(g), problem.factor(zero).solve(g)))
    True
    """
    Z = base.subspace.Z
    if not base.knows("gram"):  # the subspace was found without all rows
        return None
    G, R = base.gram, np.diag(base.root_penalty**2)
    if Z is not None:
        G, R = Z.T @ G @ Z, Z.T @ R @ Z
    A = _curvature_at(base, np.zeros(base.shape[0]))
    return Factor.of(A[0, 0] * G + R if len(A) == 1 else np.kron(A, G) + np.kron(np.eye(len(A)), R))


def wanted(base: Objective, gradient: Array, rows: float) -> float:
    """About the C at which rows left out are predicted best, from ∇E of the null model, for so many rows.

    On axes on which second derivatives μ and the penalty are diagonal, with γ the gradient, one step at C = 1/ρ gains
    Σ γ² (μ/2 + ρ)/(μ + ρ)² on the rows themselves, and on others less by 1/rows for each of Σ μ/(μ + ρ) parameters.

    >>> from separatrix.objectives.penalty import Penalty
    >>> from separatrix.objectives.build import build_objective
    >>> from separatrix.rows import labelled_rows
    >>> X, codes = np.arange(8.0)[:, None], np.array([0, 0, 1, 0, 1, 0, 1, 1])
    >>> problem = build_objective(labelled_rows(X, codes, 2), 2, Penalty(1.0, np.ones(1)))
    >>> bool(0 < wanted(problem, problem.value_gradient(problem.null_weights).gradient, 8) < np.inf)
    True
    """
    Q, r, G = base.subspace.Q, base.root_penalty, base.sample_gram
    held = np.flatnonzero(r > 0)
    if G[0, 0] > 0:  # beside the intercept
        G = G - np.outer(G[0], G[0]) / G[0, 0]
    # Of columns of 1e±200 the penalty's own square leaves float64: it is counted in a power of two.
    unit = float(np.ldexp(1.0, np.frexp(np.max(r[held], initial=0.0))[1]))
    r = np.maximum(r[held] / unit, WEAKEST)
    G, g = G[np.ix_(held, held)] / r / r[:, None], gradient[:, held] / r
    s, U = np.linalg.eigh(null_curvature(base))
    g = U.T @ (g if Q is None else Q.T @ g)
    values = np.diag(G)
    if len(held) <= MOST_COLUMNS:
        values, V = np.linalg.eigh(G)
        g = g @ V
    mu, squares = np.outer(s, np.maximum(values, 0.0)).ravel(), g.ravel() ** 2
    rho = STRENGTHS[:, None] * max(float(mu.max(initial=0.0)), TINY)
    gain, used = np.sum(squares * (0.5 * mu + rho) / (mu + rho) ** 2, axis=1), np.sum(mu / (mu + rho), axis=1)
    with np.errstate(under="ignore", over="ignore"):
        C = SHORT / float(rho[np.argmax(gain - used / rows), 0]) * unit * unit
    return float(np.clip(C, SMALLEST_C, 1 / SMALLEST_C))
