r"""The perceptron convergence theorem, evaluated for given rows (docs/tour.md, P6, P12).

With R = max ‖x̄_i‖ and γ = min t_i w*·x̄_i > 0 for some separator w*, in homogeneous coordinates:

    from w₀ = 0    k ≤ R²‖w*‖²/γ² mistakes, since cos∠(w_k, w*) ≥ √k γ/(R‖w*‖) and no cosine exceeds 1
    from any w₀    k ≤ ‖w₀ − αŵ‖²/(η²R²) with ŵ = w*/‖w*‖, α = ηR²‖w*‖/γ, since ‖w_k − αŵ‖² falls by η²R² per mistake

The separator of maximum margin through the origin of x̄-space gives the smallest bounds. Novikoff, On convergence
proofs for perceptrons (1962).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from separatrix.core.base.arrays import Array, as_floats, check_count, check_flag, check_positive_finite
from separatrix.core.base.errors import ParameterError
from separatrix.core.base.labels import encode, signed
from separatrix.core.base.messages import many
from separatrix.core.losses import Zero
from separatrix.core.problem import Objective
from separatrix.core.proofs.separability import verdict_on
from separatrix.core.proofs.verdicts import Separable
from separatrix.core.rows.block import Block, as_csr, is_sparse
from separatrix.core.rows.labelled_table import InMemory
from separatrix.core.rows.memory_rows import memory_rows
from separatrix.core.solvers.convex_hulls import NearestPoint
from separatrix.core.solvers.driver import run, states
from separatrix.core.solvers.perceptron_updates import OnlineUpdates
from separatrix.core.solvers.separation_problem import build_separation_objective, survey
from separatrix.core.solvers.separation_stopping import LargestMargin, OutOfSteps, ProvenInseparable
from separatrix.core.solvers.stopping import Stopping

# Relative difference from the largest margin at which the search for w* stops. A smaller γ makes the bound larger, so
# the bound still holds.
RELATIVE_GAMMA_ERROR = 1e-12


@dataclass(frozen=True)
class Theorem:
    """R, γ, w* = (b, w) and ‖w*‖; ``bound`` on the mistakes from w = 0, ``bound_from_start`` from the given start."""

    R: float
    gamma: float
    separator: Array
    length: float
    bound: float
    bound_from_start: float

    def cosine_bound(self, mistakes: int) -> float:
        """√k γ/(R‖w*‖), a lower bound on cos∠(w_k, w*) after k mistakes from zero."""
        return float(np.sqrt(mistakes) * self.gamma / (self.R * self.length))


@dataclass(frozen=True)
class _LongestRow:
    """max ‖x_i‖²."""

    def zero(self) -> float:
        return 0.0

    def add(self, total: float, block: Block) -> float:
        X: Any = block.X
        squares = X.multiply(X).sum(axis=1) if is_sparse(X) else np.einsum("ij,ij->i", X, X, dtype=np.float64)
        return max(total, float(np.max(squares)))

    def merge(self, a: float, b: float) -> float:
        return max(a, b)


def theorem(problem: Objective, separator: Array, start: Array, eta: float) -> Theorem:
    """The theorem for a problem whose rows the separator (d + 1,) separates; start (d + 1,)."""
    gamma = survey(problem, separator[None, :], "mistake").smallest
    if not gamma > 0:
        remedy = "give (b, w) with t (w·x + b) > 0 for all rows, or leave it out"
        raise ParameterError("separator", f"its smallest margin is {gamma:.3g}", remedy)
    R = float(np.sqrt(problem.rows.fold(_LongestRow()) + problem.fit_intercept))
    length = float(np.linalg.norm(separator))
    alpha = eta * R**2 * length / gamma
    distance = float(np.linalg.norm(start - alpha * separator / length))
    return Theorem(R, gamma, separator, length, (R * length / gamma) ** 2, (distance / (eta * R)) ** 2)


NOVIKOFF_BOUND = InMemory("novikoff_bound", "it measures every row")


@NOVIKOFF_BOUND.refusing_tables
def novikoff_bound(
    X: Any,
    y: Any,
    start: Any = None,
    eta: float = 1.0,
    *,
    fit_intercept: bool = True,
    separator: Any = None,
) -> Theorem:
    """An upper bound on the mistakes of a perceptron on separable rows of two classes.

    Parameters
    ----------
    X : array (n, d), dense or sparse
        The rows.
    y : array (n,)
        The labels of two classes.
    start : array (d + 1,), optional
        The weights (b, w) that the perceptron starts from; by default zero.
    eta : float, default 1
        The learning rate.
    fit_intercept : bool, default True
        If False, hyperplanes pass through the origin.
    separator : array (d + 1,), optional
        w* as (b, w), any separating hyperplane; by default the one of maximum margin for the rows (1, x), or that of
        ``separability`` if columns are so far from zero that rounding hides this margin.

    Returns
    -------
    Theorem
        The quantities of the theorem, and ``bound``, the largest number of mistakes.

    Raises
    ------
    ParameterError
        If no hyperplane separates the classes, or ``separator`` does not, or ``eta`` is not a finite positive number.

    Examples
    --------
    >>> X = [[-1, -1, 1], [1, 1, 1], [-1, 1, -1], [1, -1, -1]]  # XOR, with x₁x₂ beside x₁ and x₂
    >>> found = novikoff_bound(X, [0, 0, 1, 1])
    >>> found.R, round(found.bound, 9)
    (2.0, 4.0)
    """
    check_positive_finite("eta", eta, "give a positive learning rate")
    problem, w_star = _posed(X, y, fit_intercept, separator)
    return theorem(problem, w_star, as_vector("start", start, len(w_star)), eta)


class Cosine(NamedTuple):
    """After k mistakes: the weights (b, w), the proof's lower bound on cos∠(w_k, w*), and the cosine itself."""

    mistakes: int
    w: Array
    lower: float
    cosine: float


COSINES = InMemory("cosines", "it follows the perceptron row by row")


@COSINES.refusing_tables
def cosines(
    X: Any,
    y: Any,
    *,
    fit_intercept: bool = True,
    separator: Any = None,
    zero: Zero = "mistake",
    most: int = 1000,
) -> Iterator[Cosine]:
    """Follow the cosine of w and w*, and its lower bound, along a run of the online perceptron from zero.

    The lower bound rises with every update, while the cosine itself may fall.

    Parameters
    ----------
    X : array (n, d), dense or sparse
        The rows.
    y : array (n,)
        The labels of two classes.
    fit_intercept : bool, default True
        If False, hyperplanes pass through the origin.
    separator : array (d + 1,), optional
        w* as (b, w), any separating hyperplane; by default the one of maximum margin for the rows (1, x), or that of
        ``separability`` if columns are so far from zero that rounding hides this margin.
    zero : {"mistake", "positive"}, default "mistake"
        Whether a score of zero is a mistake, or predicts the positive class.
    most : int, default 1000
        The maximum number of updates.

    Yields
    ------
    Cosine
        The number of mistakes, the weights, the lower bound on cos∠(w, w*), and this cosine.

    Examples
    --------
    >>> trail = cosines([[3, 2], [-3, 4], [-3, -2]], [1, 1, 0], fit_intercept=False, separator=[0, 1, 1])
    >>> [(k, w[1:].tolist(), round(cosine, 4)) for k, w, _, cosine in trail]
    [(1, [3.0, 2.0], 0.9806), (2, [0.0, 6.0], 0.7071)]
    """
    check_count("most", most, least=0)
    problem, w_star = _posed(X, y, fit_intercept, separator)
    proof = theorem(problem, w_star, np.zeros_like(w_star), 1.0)
    seen = 0
    for state in states(OnlineUpdates(zero=zero, by_update=True), problem, np.zeros((1, len(w_star)))):
        k, w = state.memory.mistakes, state.W[0]
        if k > seen:
            yield Cosine(k, w, proof.cosine_bound(k), float(w @ w_star / np.linalg.norm(w) / proof.length))
        if state.memory.errors == 0 or k >= most:
            return
        seen = k


def _posed(X: Any, y: Any, fit_intercept: bool, separator: Any) -> tuple[Objective, Array]:
    """The problem of these rows, and w*: the given separator, or the widest one."""
    check_flag("fit_intercept", fit_intercept)
    classes, codes = encode(y)
    if len(classes) != 2:
        raise ParameterError("y", f"it has {many(len(classes), 'class')}", "give two classes, or one against the rest")
    rows = as_csr(X) if is_sparse(X) else as_floats(X)
    if rows.ndim != 2 or rows.shape[0] != len(codes):
        raise ParameterError("X", f"its shape is {rows.shape} for {len(codes)} labels", "give one row for each label")
    problem = build_separation_objective(memory_rows(rows, signed(codes)), fit_intercept)
    given = separator is not None
    return problem, as_vector("separator", separator, rows.shape[1] + 1) if given else widest_separator(problem)


def as_vector(name: str, value: Any, width: int) -> Array:
    """(b, w) as an array (width,); zeros for None."""
    if value is None:
        return np.zeros(width)
    try:
        w = np.asarray(value, dtype=np.float64).ravel()
    except (TypeError, ValueError):
        w = np.zeros(0)
    if len(w) != width or not np.all(np.isfinite(w)):
        raise ParameterError(name, f"got {value!r}", f"give {width} finite numbers, the intercept first")
    return w


def widest_separator(problem: Objective) -> Array:
    """w* with the largest γ/‖w*‖ in x̄-space, (d + 1,); where it is lost in rounding, that of ``separability``."""
    rows: Any = problem.rows
    X = rows.X
    if problem.fit_intercept:
        ones = np.ones((X.shape[0], 1))
        if is_sparse(X):
            from scipy.sparse import csr_array, hstack

            X = hstack([csr_array(ones), X], format="csr")
        else:
            X = np.column_stack([ones, X])
    through = build_separation_objective(memory_rows(X, rows.t), fit_intercept=False)
    proof = ProvenInseparable()
    steps = OutOfSteps(100 * X.shape[1] + 1000, proof)
    stopping = Stopping([LargestMargin(proof, relative=RELATIVE_GAMMA_ERROR), steps])
    outcome = run(NearestPoint(), through, np.zeros(through.shape), stopping)
    w = outcome.state.W[0, 1:]
    if outcome.state.memory.lower <= 0:
        verdict = verdict_on(problem.rows, problem.fit_intercept)
        if isinstance(verdict, Separable):
            return verdict.v
        remedy = "the theorem is about separable rows: add columns, or use a pocket"
        raise ParameterError("X", verdict.explain(), remedy)
    w = w / (outcome.state.memory.lower * np.linalg.norm(w))
    return w if problem.fit_intercept else np.concatenate([[0.0], w])
