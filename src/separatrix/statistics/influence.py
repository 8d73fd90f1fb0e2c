"""Rows that stand out: those whose deletion would change a fit the most, and the most surprising.

For a likelihood, with A = (∇²E)⁻¹, G_i = x̄_iᵀ A x̄_i, ℓ′ and ℓ″ at the row's score and σ_i = s_i/S, leaving row i out
moves the weights, in one Newton step, by A x̄_i v with v = (I − σ ℓ″ G)⁻¹ σ ℓ′. The squared length of this step in the
metric of the Hessian,

    D_i = S vᵀ G v/p ,      for one score  (ℓ′²/ℓ″) h/(p (1 − h)²)  with the leverage h = σ ℓ″ G,

is Cook's distance in Pregibon's form for logistic regression (Logistic regression diagnostics, Annals of Statistics 9,
1981); p is the number of weights. For least squares the deletion is exact (``core/squared_cost.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.classifiers.fit_input import rows_to_score
from separatrix.core.base.arrays import Array, Integers, pieces, rows_per_piece
from separatrix.core.base.errors import InputError, ParameterError
from separatrix.core.base.machine import in_order, one_blas_thread
from separatrix.core.certificate import AGREEMENT
from separatrix.core.likelihood_claims import FirthClaim, LikelihoodOfRows
from separatrix.core.problem import Objective
from separatrix.core.regularisation_path import Inverse, ReducedRows, row_terms
from separatrix.core.rows.labelled_table import InMemory
from separatrix.core.scorer import taken_apart
from separatrix.statistics.measures import Answers, in_bits, true_class_log_probability

# Largest number of multiplications for the leverages of all rows; more would take longer than a minute.
MOST_LEVERAGE_MULTIPLICATIONS = 4e11
# Numbers in a batch of rows, which limits the memory that a batch needs.
BATCH_NUMBERS = 1 << 20
# Added to 1 so that the step stays finite for a row with leverage 1, which alone determines a direction.
LEVERAGE_ROUNDING = 1e-9
INFLUENCE = InMemory("influential", "it leaves out single rows")


@dataclass(frozen=True)
class Influence:
    """The most influential rows of a fit. ``influential`` returns one.

    Attributes
    ----------
    rows : array
        Row numbers, the most influential first.
    distance : array
        Cook's distance of each of these rows.
    leverage : array
        The leverage of each of these rows.
    says : str
        How they were computed.
    """

    rows: Integers
    distance: Array
    leverage: Array
    says: str


def influential(model: Any, X: Any, y: Any, top: int = 10) -> Influence:
    """Find the rows whose deletion would change a fit the most.

    Parameters
    ----------
    model : estimator
        A fitted LogisticRegression or LeastSquaresClassifier, or a pipeline that ends in one.
        Other models have no curvature from which an influence follows.
    X, y
        The data of the fit, which must have had neither sample weights nor an offset.
    top : int, default 10
        How many rows to return.

    Returns
    -------
    Influence

    Raises
    ------
    ParameterError
        If the model is of another kind.
    InputError
        If these are not the rows of the fit, or there are too many rows and columns.

    Examples
    --------
    >>> from separatrix import LogisticRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [9.0]], [0, 0, 1, 1, 0]
    >>> found = influential(LogisticRegression().fit(X, y), X, y, top=2)
    >>> found.rows[0].item(), bool(found.distance[0] > found.distance[1])
    (4, True)
    """
    model, X, _ = taken_apart(model, X)
    claim = getattr(getattr(model, "certificate_", None), "claim", None)
    with one_blas_thread:
        if hasattr(type(model), "influential"):
            return _by_deletion(model, X, y, top)
        if isinstance(claim, LikelihoodOfRows):
            return _by_one_step(model, X, y, top)
    problem = f"{type(model).__name__} has no curvature from which a row's influence follows"
    raise ParameterError("model", problem, "give a fitted LogisticRegression or LeastSquaresClassifier")


def _by_deletion(model: Any, X: Any, y: Any, top: int) -> Influence:
    """The influence by the model's own exact deletion."""
    ranked = model.influential(X, y, top=top)
    rows = np.array([entry.row for entry in ranked], dtype=np.int64)
    distance, leverage = (np.array([getattr(entry, name) for entry in ranked]) for name in ("cook", "leverage"))
    return Influence(rows, distance, leverage, "Cook's distance, by exact deletion")


def _by_one_step(model: Any, X: Any, y: Any, top: int) -> Influence:
    """The influence by one Newton step from the fitted weights."""
    claim = model.certificate_.claim
    problem = claim.objective(rows_to_score(model, X)[0], y)
    W = problem.rows.frame.from_original(claim.scorer.W)
    _refuse_other_rows(model, problem, W)
    block = INFLUENCE.block(problem.rows)
    if not problem.has_hessian or block.n_rows * float(problem.size) ** 2 > MOST_LEVERAGE_MULTIPLICATIONS:
        fault = f"{block.n_rows} rows with {problem.size} weights are too many for the leverage of each"
        raise InputError("X", fault, "fit a model of fewer columns")
    inverse = Inverse.at(problem, W)
    if inverse is None:
        raise InputError("X", "the curvature is singular to working precision", "drop collinear columns")
    size = rows_per_piece(BATCH_NUMBERS, len(inverse.A), fewest=16)
    rows = ReducedRows.of(problem, W, inverse.space)
    parts = in_order(lambda some: _moves(rows.take(some), inverse), pieces(block.n_rows, size))
    distance, leverage = (np.concatenate(part) for part in zip(*parts, strict=True))
    first = np.argsort(-distance, kind="stable")[:top]
    says = "Cook's distance, in one Newton step (Pregibon 1981)"
    return Influence(first, distance[first], leverage[first], says)


def _refuse_other_rows(model: Any, problem: Objective, W: Array) -> None:
    """Raise an error if the objective on these rows is not that of the fit.

    For Firth's likelihood there is no such check, since the objective here lacks its penalty.
    """
    certificate = model.certificate_
    if isinstance(certificate.claim, FirthClaim):
        return
    value = problem.value_gradient(W).value
    if abs(value - certificate.objective) > AGREEMENT * max(abs(certificate.null_objective), abs(value)):
        fault = f"the objective is {value:.10g} on these rows and {certificate.objective:.10g} on those of the fit"
        raise InputError("X", fault, "give the rows of the fit, which must be without sample weights and offset")


def _moves(rows: ReducedRows, inverse: Inverse) -> tuple[Array, Array]:
    """Cook's distance and leverage of each row, (m,) each."""
    slope, curvature, G = row_terms(rows, inverse)
    CG = curvature @ G
    v = np.linalg.solve(np.eye(slope.shape[1]) * (1 + LEVERAGE_ROUNDING) - CG, slope[:, :, None])
    moved = np.sum(v * (G @ v), axis=(1, 2))
    parameters = max(1, int(np.count_nonzero(np.diag(inverse.A))))
    return rows.problem.total_weight * moved / parameters, np.trace(CG, axis1=1, axis2=2)


# --- The rows with the most surprising classes

# A smaller surprisal, in bits, rounds to 0.0: the model expects the label with a probability of at least 97 %.
LEAST_SURPRISE = 0.05


@dataclass(frozen=True)
class Surprises:
    """The most surprising rows. ``surprising`` returns one.

    Attributes
    ----------
    rows : array
        Row numbers, the most surprising first.
    amount : array
        The surprisal of each row in bits if ``in_bits``; else by how much its score is on the wrong side.
    in_bits : bool
    """

    rows: Integers
    amount: Array
    in_bits: bool


def surprising(found: Answers, top: int = 10) -> Surprises:
    """Find the rows whose true class surprises the model most. Mislabelled rows and outliers tend to be among them.

    Surprising rows have the largest surprisal −log₂ P(true class | x) in bits or, without probabilities, the scores
    farthest on the wrong side.

    Parameters
    ----------
    found : Answers
        The model's answers to labelled rows.
    top : int, default 10
        How many rows to return. Rows that surprise by less than 0.05 bits are left out; without probabilities, so are
        all rows that are classified correctly.

    Returns
    -------
    Surprises

    Examples
    --------
    >>> from separatrix import LogisticRegression
    >>> from separatrix.statistics.measures import answers
    >>> X, y = [[x] for x in range(8)], [0, 0, 0, 0, 1, 1, 1, 0]
    >>> surprising(answers(LogisticRegression().fit(X, y), X, y), top=1).rows.tolist()
    [7]
    """
    if found.log_P is None:
        amount = -found.margin
        counted = amount > 0
    else:
        amount = in_bits(-true_class_log_probability(found.log_P, found.codes))
        counted = amount >= LEAST_SURPRISE
    order = np.argsort(-amount, kind="stable")[:top]
    order = order[counted[order]]
    return Surprises(order, amount[order], found.log_P is not None)


def most_surprising(sets: Sequence[Surprises], top: int) -> tuple[Surprises, ...]:
    """The most surprising rows of several sets of rows together: of each set those that are among the first ``top``.

    >>> a = Surprises(np.array([4, 0]), np.array([5.0, 1.0]), True)
    >>> b = Surprises(np.array([7, 2]), np.array([3.0, 2.0]), True)
    >>> [kept.rows.tolist() for kept in most_surprising([a, b], 3)]
    [[4], [7, 2]]
    """
    sizes = [len(one.rows) for one in sets]
    order = np.argsort(-np.concatenate([one.amount for one in sets]), kind="stable")[:top]
    kept = np.zeros(sum(sizes), dtype=bool)
    kept[order] = True
    masks = np.split(kept, np.cumsum(sizes)[:-1])
    return tuple(
        Surprises(one.rows[mask], one.amount[mask], one.in_bits) for one, mask in zip(sets, masks, strict=True)
    )
