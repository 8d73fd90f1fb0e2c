"""Average marginal effects: how the probability of a class changes with a column, averaged over the rows.

    derivative        (1/n) Σ_i ∂P(k | x_i)/∂x_j = (1/n) Σ_i Σ_l J_kl(z_i) w_lj,    J = ∂P/∂z
    discrete change   (1/n) Σ_i P(k | x_i, x_ij = 1) − P(k | x_i, x_ij = 0), for a column of zeros and ones
    contrast          (1/n) Σ_i P(k | x_i, factor = level) − P(k | x_i, factor = reference level)

A factor is a category with a column for each level but one. To change one of these columns alone would average over
rows of two levels at once, so a contrast sets all of them (``EncodedFactor``). Where a pipeline changes the columns
after they were encoded, by a scaler or a basis with products, rows are set to a level before these steps.

Standard errors follow by the delta method from the gradient of the average in W and the covariance of W. For two
classes k is the second. Greene, Econometric Analysis (2012), section 17.3.2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from separatrix.core.base.arrays import AnyArray, Array
from separatrix.core.base.labels import unsigned
from separatrix.core.certificate import as_matrix
from separatrix.core.links import sigmoid, softmax
from separatrix.core.rows.block import Block, is_sparse
from separatrix.core.rows.protocol import ArraySum
from separatrix.statistics import summary_table as render
from separatrix.statistics.covariance import Covariance, Estimate, determined, standard_errors
from separatrix.statistics.intervals import quantile, two_sided
from separatrix.statistics.summary_request import SummaryRequest
from separatrix.tables.encoder import EncodedFactor, with_indicators

# --- Probabilities and their derivatives by the scores


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


# --- Sums over rows


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


def _read(block: Block, E: Array) -> Array:
    """The raw columns whose weights in the frame's coordinates are E (b, width); whole numbers are exact."""
    x = block.scores(E)
    # Converting the frame's coordinates to raw values rounds once or twice, relative to the size of the centre.
    whole, rounding = np.rint(x), 1e-14 * (1.0 + np.abs(E[:, 0]))
    return np.where(np.abs(x - whole) <= rounding, whole, x)


@dataclass(frozen=True)
class ZeroOneColumns:
    """Which columns hold only zeros and ones, (d,)."""

    E: Array  # (d, width): the weights whose scores are the raw columns

    def zero(self) -> Array:
        return np.ones(len(self.E))

    def add(self, total: Array, block: Block) -> Array:
        x = _read(block, self.E)
        return np.minimum(total, np.all((x == 0.0) | (x == 1.0), axis=0))

    def merge(self, a: Array, b: Array) -> Array:
        return np.minimum(a, b)


@dataclass(frozen=True)
class Averages(ArraySum):
    """Σ u P, then Σ u J x̄, with b columns of each row set to fixed values: an entry for each row of ``values`` (m, b).

    ``E`` (b, width) reads these columns, and ``by`` (b, width) is the change of x̄ for one unit of each.
    """

    head: Head
    W: Array
    by_class: Array
    values: Array
    E: Array
    by: Array

    @property
    def shape(self) -> tuple[int, ...]:
        K, width = self.W.shape
        return (len(self.values), K + K * K * width)

    def add(self, total: Array, block: Block) -> Array:
        K = len(self.W)
        u, z, x = _own_weight(block, self.by_class, K > 1), block.scores(self.W), _read(block, self.E)
        for sums, values in zip(total, self.values, strict=True):
            step = values - x
            moved = z + step @ (self.by @ self.W.T)
            R = u[:, None] * self.head.J(moved).reshape(len(z), -1)
            sums[:K] += u @ self.head.P(moved)
            sums[K:] += (block.adjoint(R) + (R.T @ step) @ self.by).ravel()
        return total


# --- The effects with their standard errors, and their table

# Smallest scale (spread) of a column that is accepted as one of zeros and ones. A column with a zero and a one among n
# rows has a scale of at least n^−½. A column in tiny units, whose values are zero only up to rounding, is below it.
SMALLEST_BINARY_SCALE = 1e-9


@dataclass(frozen=True)
class Change:
    """The discrete changes (k,) of the probabilities with standard errors; NaN if they are not identified.

    They are those of the column or the level ``name``, against ``reference``, which is empty for a column of zeros and
    ones.
    """

    name: str
    reference: str
    effect: Array
    error: Array


@dataclass(frozen=True)
class Effects:
    """The derivatives (k, d) of each probability by each column with standard errors; NaN if they are not identified.

    ``changes`` are the discrete changes of columns of zeros and ones, and of the levels of factors.
    """

    effects: Array
    errors: Array
    changes: tuple[Change, ...]


def average_effects(asked: SummaryRequest, estimate: Estimate, covariance: Covariance) -> Effects:
    """All average marginal effects.

    This takes one pass over the rows, another one to find the columns of zeros and ones, and one for each of these and
    for each factor.
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
    average = partial(Averages, head, W, by_class)
    factors, names = asked.encoding.factors(), asked.names
    if asked.encoding.steps is None:
        spread = problem.rows.frame.scale[:d] > SMALLEST_BINARY_SCALE
        zero_one = problem.rows.fold(ZeroOneColumns(_reading(estimate, d))) > 0
        factors = with_indicators(factors, zero_one & known & spread)
    else:
        names = asked.encoding.names
    changes = list[Change]()
    for factor in factors:
        sums, possible = _averages(asked, estimate, factor, average)
        possible &= determined(problem, sums[:, K:].reshape(-1, width)).reshape(len(sums), -1).all(axis=1)
        moved = (sums[1:] - sums[0]) / n
        change, error = moved[:, :K], _errors(estimate, covariance, moved[:, K:].reshape(-1, K, width)).reshape(-1, K)
        unknown = ~(possible[1:] & possible[0])
        change[unknown], error[unknown] = np.nan, np.nan
        named = [names[j] for j in factor.own]
        changes += [Change(one, factor.reference, *pair) for one, *pair in zip(named, change, error, strict=True)]
    return Effects(effects, errors, tuple(changes))


def _averages(
    asked: SummaryRequest, estimate: Estimate, factor: EncodedFactor, average: Callable[[Array, Array, Array], Averages]
) -> tuple[Array, AnyArray]:
    """The sums of ``Averages`` with all rows set to the reference level of a factor, and to each of its other levels.

    Also says which of them are possible: if a column is constant, nothing is known of rows with another value.
    """
    rows, d = estimate.problem.rows, len(asked.names)
    center, values = rows.frame.center, np.vstack([factor.base, factor.levels])
    constant = np.flatnonzero(estimate.held[-d:])
    if asked.encoding.steps is None:
        held = np.isin(factor.columns, constant)
        possible = np.all(np.isclose(values[:, held], center[factor.columns[held]]), axis=1)
        E, by = _reading(estimate, d)[factor.columns], estimate.Phi[-d:][factor.columns]
        return rows.fold(average(values, E, by)), possible
    from separatrix.classifiers.fit_input import rows_to_score  # loads scikit-learn, which other summaries do not need

    none = np.zeros((0, estimate.W.shape[1]))
    sums, kept = list[Array](), list[bool]()
    for row in values:
        X = as_matrix(rows_to_score(asked.model, asked.encoding.with_values(factor.columns, row))[0])
        at = X[:, constant]
        kept.append(bool(np.isclose(at.toarray() if is_sparse(at) else at, center[constant]).all()))
        there = asked.claim.objective(X, asked.y, asked.weight, asked.offset).rows.seen_through(rows.frame)
        sums.append(there.fold(average(np.zeros((1, 0)), none, none))[0])
    return np.array(sums), np.array(kept)


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


DERIVATIVE, CHANGE, AGAINST = "derivative", "change 0 to 1", "against {}"


@dataclass(frozen=True, repr=False, eq=False)
class MarginalEffects:
    """A table with an entry for each probability and column, then for each discrete change.

    Discrete changes are those of columns of zeros and ones and of the levels of factors.

    ``classes`` has the class whose probability changes; ``kinds`` is "derivative", "change 0 to 1" or, for the level of
    a factor, what it is compared with, such as "against white".

    >>> import numpy as np
    >>> from separatrix import LogisticRegression, summary
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
    >>> effects = summary(LogisticRegression(C=np.inf).fit(X, y), X, y).marginal_effects()
    >>> effects.names, effects.effect.round(3).tolist(), effects.kinds
    (('x0',), [0.159], ('derivative',))
    """

    names: tuple[str, ...]
    classes: tuple[Any, ...]
    kinds: tuple[str, ...]
    effect: Array
    std_err: Array
    level: float

    @classmethod
    def of(cls, found: Effects, names: tuple[str, ...], classes: list[Any], level: float) -> MarginalEffects:
        entries = [
            (name, label, DERIVATIVE, found.effects[k, j], found.errors[k, j])
            for k, label in enumerate(classes)
            for j, name in enumerate(names)
        ]
        entries += [
            (one.name, label, AGAINST.format(one.reference) if one.reference else CHANGE, one.effect[k], one.error[k])
            for k, label in enumerate(classes)
            for one in found.changes
        ]
        who, of, kinds, effect, error = zip(*entries, strict=True) if entries else ((),) * 5
        return cls(who, of, kinds, np.array(effect, dtype=np.float64), np.array(error, dtype=np.float64), level)

    @property
    def z(self) -> Array:
        return self.effect / self.std_err

    @property
    def p_value(self) -> Array:
        return two_sided(self.z)

    @property
    def low(self) -> Array:
        return self.effect - quantile(self.level) * self.std_err

    @property
    def high(self) -> Array:
        return self.effect + quantile(self.level) * self.std_err

    def records(self) -> list[dict[str, Any]]:
        """One dictionary for each entry."""
        columns = (self.effect, self.std_err, self.z, self.p_value, self.low, self.high)
        numbers = zip(*(column.tolist() for column in columns), strict=True)
        labels = zip(self.classes, self.names, self.kinds, strict=True)
        keys = ("class", "term", "kind", "effect", "std_err", "z", "p_value", "low", "high")
        return [dict(zip(keys, (*a, *b), strict=True)) for a, b in zip(labels, numbers, strict=True)]

    def to_frame(self) -> Any:
        """The records as a pandas DataFrame."""
        return render.as_frame(self.records())

    def to_json(self) -> str:
        """The records as JSON."""
        return render.dumped(self.records())

    def __str__(self) -> str:
        title = f"average marginal effects, {100 * self.level:g} % intervals"
        return "\n".join([title, *render.table(self.records())])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return render.html_table(self.records())
