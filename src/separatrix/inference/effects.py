r"""Average marginal effects: how the probability of a class changes with a column, averaged over the rows.

    derivative        (1/n) Σ_i ∂P(k | x_i)/∂x_j = (1/n) Σ_i Σ_l J_kl(z_i) w_lj,    J = ∂P/∂z
    discrete change   (1/n) Σ_i P(k | x_i, x_ij = 1) − P(k | x_i, x_ij = 0), for a column of zeros and ones

Standard errors follow by the delta method from the gradient of the average in W and the covariance of W. For two
classes k is the second. Greene, Econometric Analysis (2012), section 17.3.2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.labels import unsigned
from separatrix.inference.estimate import Estimate
from separatrix.inference.information_matrix import Covariance, standard_errors
from separatrix.inference.request import SummaryRequest
from separatrix.losses import sigmoid, softmax
from separatrix.rows import ArraySum, Block

# Smallest scale (spread) of a column that is accepted as one of zeros and ones. A column with a zero and a one among n
# rows has a scale of at least n^−½. A column in tiny units, whose values are zero only up to rounding, is below it.
SMALLEST_BINARY_SCALE = 1e-9


@dataclass(frozen=True)
class Head:
    """Functions of the scores z (m, K or 1): P(z) (m, k), J = ∂P/∂z (m, k, l) and ∂J/∂z (m, k, l, h)."""

    P: Callable[[Array], Array]
    J: Callable[[Array], Array]
    dJ: Callable[[Array], Array]


def _of_one(P: Callable[[Array], Array], J: Callable[[Array], Array], dJ: Callable[[Array], Array]) -> Head:
    """The head of a model with one score, with derivatives as tensors that have one entry per row."""
    return Head(P, lambda z: J(z)[:, :, None], lambda z: dJ(z)[:, :, None, None])


def _normal_density(z: Array) -> Array:
    return np.asarray(np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi))


def _normal_probability(z: Array) -> Array:
    from scipy.special import ndtr

    return np.asarray(ndtr(z))


def _softmax_J(z: Array) -> Array:
    p = softmax(z)
    return np.asarray(p[:, :, None] * (np.eye(p.shape[1]) - p[:, None, :]))


def _softmax_dJ(z: Array) -> Array:
    """∂J_kl/∂z_h = J_kh (δ_kl − p_l) − p_k J_lh."""
    p, J = softmax(z), _softmax_J(z)
    own = np.eye(p.shape[1])[None, :, :, None] - p[:, None, :, None]
    return np.asarray(J[:, :, None, :] * own - p[:, :, None, None] * J[:, None, :, :])


def _rate(z: Array) -> Array:
    return np.asarray(np.exp(np.minimum(z, 700.0)))


def _gumbel_density(z: Array) -> Array:
    return np.asarray(np.exp(np.minimum(z, 700.0) - _rate(z)))


HEADS = {
    "logistic": _of_one(
        sigmoid,
        lambda z: sigmoid(z) * sigmoid(-z),
        lambda z: sigmoid(z) * sigmoid(-z) * (sigmoid(-z) - sigmoid(z)),
    ),
    "probit": _of_one(_normal_probability, _normal_density, lambda z: -z * _normal_density(z)),
    "cloglog": _of_one(
        lambda z: -np.expm1(-_rate(z)),
        _gumbel_density,
        lambda z: _gumbel_density(z) * (1.0 - _rate(z)),
    ),
    "softmax": Head(softmax, _softmax_J, _softmax_dJ),
}


# ------------------------------------------------------------------------------------------------- sums


def _own_weight(block: Block, by_class: Array, multiclass: bool) -> Array:
    """The sample weights without the class weights, so that averages represent the original rows."""
    return block.weight / by_class[block.t if multiclass else unsigned(block.t)]


@dataclass(frozen=True)
class Slopes(ArraySum):
    """Σ u J, then Σ u ∂J ⊗ x̄: (k l) and (k l h, width) entries, then Σ u."""

    head: Head
    W: Array
    by_class: Array

    @property
    def shape(self) -> tuple[int, ...]:
        K, width = self.W.shape
        return (K * K + K**3 * width + 1,)

    def add(self, total: Array, block: Block) -> Array:
        K = len(self.W)
        u, z = _own_weight(block, self.by_class, K > 1), block.scores(self.W)
        total[: K * K] += u @ self.head.J(z).reshape(len(z), -1)
        total[K * K : -1] += block.adjoint(u[:, None] * self.head.dJ(z).reshape(len(z), -1)).ravel()
        total[-1] += u.sum()
        return total


@dataclass(frozen=True)
class ZeroOne:
    """Which columns hold only zeros and ones, (d,)."""

    E: Array  # (d, width): the weights whose scores are the raw columns

    def zero(self) -> Array:
        return np.ones(len(self.E))

    def add(self, total: Array, block: Block) -> Array:
        x = block.scores(self.E)
        # Converting the frame's coordinates to raw values rounds once or twice, relative to the size of the centre.
        rounding = 1e-14 * (1.0 + np.abs(self.E[:, 0]))
        return np.minimum(total, np.all(np.minimum(np.abs(x), np.abs(x - 1.0)) <= rounding, axis=0))

    def merge(self, a: Array, b: Array) -> Array:
        return np.minimum(a, b)


@dataclass(frozen=True)
class Change(ArraySum):
    """Σ u (P¹ − P⁰), then Σ u (J¹ x̄¹ − J⁰ x̄⁰), where x̄ᵛ is the row with the chosen column set to v.

    ``by`` (width,): the change of x̄ for one unit of that column.
    """

    head: Head
    W: Array
    by_class: Array
    E: Array
    by: Array

    @property
    def shape(self) -> tuple[int, ...]:
        K, width = self.W.shape
        return (K + K * K * width,)

    def add(self, total: Array, block: Block) -> Array:
        K = len(self.W)
        u, z = _own_weight(block, self.by_class, K > 1), block.scores(self.W)
        x = np.rint(block.scores(self.E[None, :]))
        for value, sign in ((1.0, 1.0), (0.0, -1.0)):
            moved = z + (value - x) * (self.W @ self.by)
            total[:K] += sign * (u @ self.head.P(moved))
            R = sign * u[:, None] * self.head.J(moved).reshape(len(z), -1)
            gradient = block.adjoint(R) + np.outer(((value - x) * R).sum(axis=0), self.by)
            total[K:] += gradient.ravel()
        return total


# ---------------------------------------------------------------------------------------------- effects


@dataclass(frozen=True)
class Effects:
    """The effects (k, d) of each column on each probability with standard errors; NaN if they are not identified.

    ``changes``: for each column of zeros and ones, by number, the discrete changes (k,) and standard errors (k,).
    """

    effects: Array
    errors: Array
    changes: dict[int, tuple[Array, Array]]


def average_effects(asked: SummaryRequest, estimate: Estimate, covariance: Covariance) -> Effects:
    """All average marginal effects.

    This takes one pass over the rows, another one to find the columns of zeros and ones, and one for each of these.
    """
    problem, W = estimate.problem, estimate.W
    K, width = W.shape
    head, by_class = HEADS["softmax" if K > 1 else asked.claim.loss], asked.claim.class_weights
    sums = problem.rows.fold(Slopes(head, W, by_class))
    n = float(sums[-1])
    J, dJ = sums[: K * K].reshape(K, K) / n, sums[K * K : -1].reshape(K, K, K, width) / n
    d = len(asked.names)
    columns = estimate.Phi[-d:] if d else np.zeros((0, width))  # w_j as a function of W, (d, width)
    w = estimate.raw[:, 1:]
    known = estimate.identified[-d:] if d else np.zeros(0, dtype=bool)
    gradients = np.einsum("klhi,lj->kjhi", dJ, w) + np.einsum("kh,ji->kjhi", J, columns)
    effects, errors = J @ w, _errors(estimate, covariance, gradients.reshape(K * d, K, width)).reshape(K, d)
    effects[:, ~known], errors[:, ~known] = np.nan, np.nan
    reading = _reading(estimate, d)
    spread = problem.rows.frame.scale[:d] > SMALLEST_BINARY_SCALE
    binary = np.flatnonzero((problem.rows.fold(ZeroOne(reading)) > 0) & known & spread)
    changes = {}
    for j in binary.tolist():
        moved = problem.rows.fold(Change(head, W, by_class, reading[j], columns[j])) / n
        changes[j] = (moved[:K], _errors(estimate, covariance, moved[K:].reshape(K, K, width)))
    return Effects(effects, errors, changes)


def _errors(estimate: Estimate, covariance: Covariance, gradients: Array) -> Array:
    """Standard errors of functions with these gradients in W, (p, K, width)."""
    G = gradients.copy()
    G[:, :, estimate.problem.pinned] = 0.0
    F = estimate.problem.subspace.reduce_rows(G.reshape(len(G), -1))
    return standard_errors(covariance, F)


def _reading(estimate: Estimate, d: int) -> Array:
    """Weights in the frame's coordinates whose scores are the raw columns, (d, width)."""
    raw = np.zeros((d, estimate.W.shape[1]))
    raw[np.arange(d), np.arange(1, d + 1)] = 1.0
    return estimate.problem.rows.frame.from_original(raw)
