r"""The rows without which a fit would change the most.

For a likelihood, with A = (∇²E)⁻¹, G_i = x̄_iᵀ A x̄_i, ℓ′ and ℓ″ at the row's score and σ_i = s_i/S, leaving row i out
moves the weights, in one Newton step, by A x̄_i v with v = (I − σ ℓ″ G)⁻¹ σ ℓ′. Its length in the curvature of the fit,

    D_i = S vᵀ G v/p ,      for one score  (ℓ′²/ℓ″) h/(p (1 − h)²)  with the leverage h = σ ℓ″ G,

is Cook's distance as Pregibon has it for logistic regression (Logistic regression diagnostics, Annals of Statistics 9,
1981); p counts the weights. Least squares needs no approximation (``moments/deletion.py``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.base.concurrency import in_order, one_blas_thread
from separatrix.base.errors import InputError, ParameterError
from separatrix.base.pieces import pieces, rows_per_piece
from separatrix.certificates.certificate import AGREEMENT
from separatrix.classifiers.fit_input import rows_to_score
from separatrix.objectives.problem import Objective
from separatrix.rows import Block
from separatrix.scorers.scorer import taken_apart
from separatrix.tuning.leave_one_out import Inverse

# Products of all rows with A past so many multiplications would take a minute.
MOST_WORK = 4e11
# Numbers written out at once.
PIECE = 1 << 20


@dataclass(frozen=True)
class Influence:
    """Row numbers, the most influential first; Cook's distance and leverage of each; how they were found."""

    rows: Integers
    distance: Array
    leverage: Array
    says: str


def influential(model: Any, X: Any, y: Any, top: int = 10) -> Influence:
    """The ``top`` rows of the fit's own data X, y without which it would change the most.

    For ``LogisticRegression`` and ``LeastSquaresClassifier``, or a pipeline that ends in one; others have no curvature
    that says so.

    >>> from separatrix import LogisticRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [9.0]], [0, 0, 1, 1, 0]
    >>> found = influential(LogisticRegression().fit(X, y), X, y, top=2)
    >>> found.rows[0].item(), bool(found.distance[0] > found.distance[1])
    (4, True)
    """
    model, X, _ = taken_apart(model, X)
    claim = getattr(getattr(model, "certificate_", None), "claim", None)
    for offers, find in WAYS:
        if offers(model, claim):
            with one_blas_thread:
                return find(model, X, y, top)
    came = f"{type(model).__name__} has no curvature from which a row's influence follows"
    raise ParameterError("model", came, "give a fitted LogisticRegression or LeastSquaresClassifier")


def _by_deletion(model: Any, X: Any, y: Any, top: int) -> Influence:
    found = model.influential(X, y, top=top)
    rows = np.array([one.row for one in found], dtype=np.int64)
    distance, leverage = (np.array([getattr(one, name) for one in found]) for name in ("cook", "leverage"))
    return Influence(rows, distance, leverage, "Cook's distance, by exact deletion")


def _by_one_step(model: Any, X: Any, y: Any, top: int) -> Influence:
    claim = model.certificate_.claim
    problem = claim.objective(rows_to_score(model, X)[0], y)
    W = problem.rows.frame.from_original(claim.scorer.W)
    _refuse_other_rows(model, problem, W)
    block = problem.rows.resident()
    assert block is not None  # rows in memory
    if not problem.has_hessian or block.n_rows * float(problem.size) ** 2 > MOST_WORK:
        came = f"{block.n_rows} rows with {problem.size} weights are too many for the leverage of each"
        raise InputError("X", came, "ask for a model of fewer columns")
    inverse = _inverse(problem, W)
    if inverse is None:
        raise InputError("X", "the curvature is singular to working precision", "drop collinear columns")
    size = rows_per_piece(PIECE, len(inverse.A), fewest=16)
    parts = in_order(lambda rows: _moves(problem, W, inverse, block.take(rows)), pieces(block.n_rows, size))
    distance, leverage = (np.concatenate(part) for part in zip(*parts, strict=True))
    rows = np.argsort(-distance, kind="stable")[:top]
    says = "Cook's distance, in one Newton step (Pregibon 1981)"
    return Influence(rows, distance[rows], leverage[rows], says)


def _refuse_other_rows(model: Any, problem: Objective, W: Array) -> None:
    """Other rows than the fit's have no influence on it. Of Firth's likelihood the objective here is a part only."""
    certificate = model.certificate_
    if getattr(model, "bias_reduction", None) is not None:
        return
    value = problem.value_gradient(W).value
    if abs(value - certificate.objective) > AGREEMENT * max(abs(certificate.null_objective), abs(value)):
        came = f"the objective on these rows is {value:.10g}, of the fit's {certificate.objective:.10g}"
        raise InputError("X", came, "give the rows of the fit, which must be without sample weights and offset")


def _inverse(problem: Objective, W: Array) -> Inverse | None:
    """A on the directions that the rows determine; where absolute values are penalised, on the columns in use."""
    if not problem.has_absolute:
        factor = problem.factor(W)
        return None if factor is None else Inverse.of(factor, problem.subspace)
    H = problem.hessian(W)
    active = ((W != 0) | problem.unpenalised) & ~problem.pinned & (np.diag(H).reshape(W.shape) > 0)
    if len(W) > 1:  # of a column that no penalty holds, only differences between classes are determined
        active[-1] &= ~problem.unpenalised
    return Inverse.on_active(H, active)


def _moves(problem: Objective, W: Array, inverse: Inverse, block: Block) -> tuple[Array, Array]:
    """Cook's distance and leverage of the block's rows, (m,) each."""
    loss, z, Q = problem.loss, block.scores(W), inverse.space.Q
    flat = z if loss.traits.multiclass else z[:, 0]
    sigma = (block.weight / problem.total_weight)[:, None]
    slope = inverse.from_scores(sigma * loss.derivative(block.t, flat).reshape(z.shape))
    m, c = slope.shape
    curvature = np.empty((m, c, c))
    for a, along in enumerate(np.eye(c) if Q is None else Q.T):
        dz = np.tile(along, (m, 1)) if loss.traits.multiclass else np.full(m, along[0])
        curvature[:, a] = inverse.from_scores(sigma * loss.curvature_product(block.t, flat, dz).reshape(z.shape))
    G = inverse.leverages(inverse.rows(block), c)
    CG = curvature @ G
    # A row alone along a direction would move it for ever: the least that rounding can tell from that stays.
    v = np.linalg.solve(np.eye(c) * (1 + 1e-9) - CG, slope[:, :, None])
    moved = np.sum(v * (G @ v), axis=(1, 2))
    parameters = max(1, int(np.count_nonzero(np.diag(inverse.A))))
    return problem.total_weight * moved / parameters, np.trace(CG, axis1=1, axis2=2)


Way = tuple[Callable[[Any, Any], bool], Callable[[Any, Any, Any, int], Influence]]
WAYS: tuple[Way, ...] = (
    (lambda model, claim: hasattr(type(model), "influential"), _by_deletion),
    (lambda model, claim: hasattr(claim, "objective") and hasattr(claim, "class_weights"), _by_one_step),
)
