r"""The start of the search for C, as predicted by one Newton step from the null model (docs/tour.md, R8).

Takeuchi 1976 for the criterion, which Stone 1977 derives from leave-one-out.
"""

from __future__ import annotations

import numpy as np

from separatrix.base.arrays import Array
from separatrix.objectives.null_model import null_curvature
from separatrix.objectives.problem import Objective

# The penalty strengths 1/C at which the criterion is evaluated, relative to the largest curvature.
STRENGTHS_TRIED = np.geomspace(1e-8, 1e8, 161)
# The Gram matrix of at most this many columns is diagonalised; more columns are treated as uncorrelated.
MOST_DIAGONALISED_COLUMNS = 300
# The predicted C is multiplied by this. One Newton step from the null model is shorter than the path to the fit, so it
# predicts too strong a penalty: on eleven data sets the best C was 1 to 190 times the prediction, with a median of 7.
C_PER_PREDICTION = 4.0
TINY = float(np.finfo(np.float64).tiny)
# Penalties weaker than this share of the largest are raised to it, so that products of four penalties do not underflow.
WEAKEST_RELATIVE_PENALTY = 1e-70
# The predicted C is limited to this and its reciprocal, so that 1/C is a finite number.
SMALLEST_PREDICTED_C = 1e-290


def predicted_C(base: Objective, gradient: Array, rows: float) -> float:
    """The C that one Newton step from the null model predicts to be best for rows that are not fitted.

    ``gradient``: ∇E of the null model. ``rows``: the number of rows.

    In coordinates in which the second derivatives μ and the penalty are diagonal, with γ the gradient, one step at
    C = 1/ρ lowers the training loss by Σ γ² (μ/2 + ρ)/(μ + ρ)². The loss of new rows falls by less: the difference is
    1/rows times the effective number of parameters Σ μ/(μ + ρ).

    >>> from separatrix.objectives.penalty import Penalty
    >>> from separatrix.objectives.build import build_objective
    >>> from separatrix.rows import labelled_rows
    >>> X, codes = np.arange(8.0)[:, None], np.array([0, 0, 1, 0, 1, 0, 1, 1])
    >>> problem = build_objective(labelled_rows(X, codes, 2), 2, Penalty(1.0, np.ones(1)))
    >>> bool(0 < predicted_C(problem, problem.value_gradient(problem.null_weights).gradient, 8) < np.inf)
    True
    """
    Q, r, G = base.subspace.Q, base.root_penalty, base.sample_gram
    held = np.flatnonzero(r > 0)
    if G[0, 0] > 0:  # project out the intercept
        G = G - np.outer(G[0], G[0]) / G[0, 0]
    # For columns of size 1e±200 the square of the penalty overflows, so the penalty is divided by a power of two.
    unit = float(np.ldexp(1.0, np.frexp(np.max(r[held], initial=0.0))[1]))
    r = np.maximum(r[held] / unit, WEAKEST_RELATIVE_PENALTY)
    G, g = G[np.ix_(held, held)] / r / r[:, None], gradient[:, held] / r
    s, U = np.linalg.eigh(null_curvature(base))
    g = U.T @ (g if Q is None else Q.T @ g)
    values = np.diag(G)
    if len(held) <= MOST_DIAGONALISED_COLUMNS:
        values, V = np.linalg.eigh(G)
        g = g @ V
    mu, squares = np.outer(s, np.maximum(values, 0.0)).ravel(), g.ravel() ** 2
    rho = STRENGTHS_TRIED[:, None] * max(float(mu.max(initial=0.0)), TINY)
    gain, used = np.sum(squares * (0.5 * mu + rho) / (mu + rho) ** 2, axis=1), np.sum(mu / (mu + rho), axis=1)
    with np.errstate(under="ignore", over="ignore"):
        C = C_PER_PREDICTION / float(rho[np.argmax(gain - used / rows), 0]) * unit * unit
    return float(np.clip(C, SMALLEST_PREDICTED_C, 1 / SMALLEST_PREDICTED_C))
