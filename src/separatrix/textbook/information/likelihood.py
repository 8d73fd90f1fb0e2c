"""Empirical distribution and likelihood: NLL = N · H(p̂, q), H(p̂, q) = D(p̂‖q) + H(p̂) (docs/tour.md, I5, R10).

H(p̂) does not depend on the model, so maximising the likelihood and minimising the cross-entropy or the KL divergence
are the same problem.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.base.errors import LabelError, ParameterError
from separatrix.base.labels import encode
from separatrix.textbook.information.entropy import cross_entropy, entropy, kl_divergence


@dataclass(frozen=True)
class Empirical:
    """The empirical distribution p̂(x) = |{i : x_i = x}|/N. ``empirical`` returns one.

    Attributes
    ----------
    outcomes : array
        The distinct values, sorted.
    counts : array of int
        How often each occurs.
    """

    outcomes: AnyArray
    counts: Integers

    @property
    def n(self) -> int:
        """The number of values."""
        return int(self.counts.sum())

    @property
    def p(self) -> Array:
        """The share of each outcome."""
        return np.asarray(self.counts / self.counts.sum())


def empirical(values: Any) -> Empirical:
    """Return the empirical distribution of values.

    Parameters
    ----------
    values : list or array
        Numbers or text.

    Returns
    -------
    Empirical

    Examples
    --------
    >>> from separatrix.textbook.information import empirical
    >>> seen = empirical(["a", "b", "a", "a"])
    >>> seen.outcomes.tolist(), seen.p.tolist()
    (['a', 'b'], [0.75, 0.25])
    """
    outcomes, codes = encode(values)
    return Empirical(outcomes, np.bincount(codes).astype(np.int64))


def negative_log_likelihood(model: Any, values: Any) -> float:
    """−Σ_i ln p(x_i), in nats.

    Parameters
    ----------
    model : distribution or density
        With ``log_pmf`` or ``log_pdf``.
    values : array
        The values x_i.

    Returns
    -------
    float

    Examples
    --------
    >>> from separatrix.textbook.information import negative_log_likelihood
    >>> from separatrix.textbook.information import Bernoulli
    >>> round(negative_log_likelihood(Bernoulli(0.5), [1, 0, 1]), 4)  # 3 ln 2
    2.0794
    """
    log_p = model.log_pmf if hasattr(model, "log_pmf") else getattr(model, "log_pdf", None)
    if log_p is None:
        raise ParameterError("model", f"got {type(model).__name__}", "give a distribution with log_pmf or log_pdf")
    return float(-np.sum(log_p(values)))


def likelihood(model: Any, values: Any) -> float:
    """∏_i p(x_i). It is not a probability of the parameters, may exceed 1 for densities, and may underflow.

    Parameters
    ----------
    model : distribution or density
        With ``log_pmf`` or ``log_pdf``.
    values : array
        The values x_i.

    Returns
    -------
    float

    Examples
    --------
    >>> from separatrix.textbook.information import likelihood
    >>> from separatrix.textbook.information import Bernoulli, Normal
    >>> round(likelihood(Bernoulli(0.5), [1, 0, 1]), 6), likelihood(Normal(0.0, 0.01), [0.0]) > 1
    (0.125, True)
    """
    return float(np.exp(-negative_log_likelihood(model, values)))


@dataclass(frozen=True)
class Account:
    """Four measures of a fit, in nats: NLL = N · cross-entropy, and cross-entropy = KL + entropy of the data.

    Attributes
    ----------
    n : int
        The number of values N.
    negative_log_likelihood, cross_entropy, kl, entropy : float
    """

    n: int
    negative_log_likelihood: float
    cross_entropy: float
    kl: float
    entropy: float


def account(values: Any, q: Any) -> Account:
    """Compute the four measures for probabilities q.

    Parameters
    ----------
    values : list or array
        The data.
    q : array
        The model's probability of each distinct value, in sorted order.

    Returns
    -------
    Account

    Examples
    --------
    >>> import numpy as np
    >>> from separatrix.textbook.information import account
    >>> found = account(["a", "b", "a", "a"], [0.5, 0.5])
    >>> bool(np.isclose(found.negative_log_likelihood, found.n * found.cross_entropy))
    True
    >>> bool(np.isclose(found.cross_entropy - found.kl, found.entropy))
    True
    """
    seen = empirical(values)
    model = np.asarray(q, dtype=np.float64)
    with np.errstate(divide="ignore"):
        loss = -np.log(model)
    _, codes = encode(values)
    return Account(
        seen.n,
        float(np.sum(loss[codes])),
        cross_entropy(seen.p, model),
        kl_divergence(seen.p, model),
        entropy(seen.p),
    )


def conditional_account(X: Any, codes: Any, P: Any) -> Account:
    """Compute the four measures for a model of P(t | x) (docs/tour.md, R10).

    p̂(t | x) is the distribution of t among the rows with the same x, and each x counts as often as it occurs. If no x
    occurs twice, p̂(t | x) is 0 or 1 and its entropy is 0, so cross-entropy and KL are equal.

    Parameters
    ----------
    X : array (n, d)
        The rows.
    codes : array (n,) of int
        The class number of each row, from 0 to K − 1.
    P : array (n, K)
        The model's probabilities.

    Returns
    -------
    Account

    Examples
    --------
    >>> from separatrix.textbook.information import conditional_account
    >>> X, codes = [[0.0], [0.0], [1.0], [1.0]], [0, 1, 1, 1]
    >>> found = conditional_account(X, codes, [[0.5, 0.5], [0.5, 0.5], [0.1, 0.9], [0.1, 0.9]])
    >>> round(found.cross_entropy, 4), round(found.kl + found.entropy, 4)
    (0.3993, 0.3993)
    """
    rows = np.asarray(X, dtype=np.float64)
    model = np.asarray(P, dtype=np.float64)
    t = _class_numbers(codes, model.shape[-1] if model.ndim else 0)
    if rows.ndim != 2 or model.ndim != 2 or len(rows) != len(model) or t.shape != (len(rows),):
        raise ParameterError("P", f"its shape is {model.shape}", f"give one row of K for each of {len(rows)} rows")
    with np.errstate(divide="ignore"):
        loss = -np.log(np.take_along_axis(model, t[:, None], axis=1)[:, 0])
    _, first, place = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    place = place.ravel()
    table = np.zeros((len(first), model.shape[1]))
    np.add.at(table, (place, t), 1.0)
    share = table.sum(axis=1) / len(rows)
    p_hat = table / table.sum(axis=1, keepdims=True)
    groups = list(zip(share, p_hat, model[first], strict=True))
    return Account(
        len(rows),
        float(loss.sum()),
        float(sum(s * cross_entropy(p, q) for s, p, q in groups)),
        float(sum(s * kl_divergence(p, q) for s, p, q in groups)),
        float(sum(s * entropy(p) for s, p, _ in groups)),
    )


def _class_numbers(codes: Any, n_classes: int) -> Integers:
    """The class numbers as int64; raises an error if they are not columns of P."""
    numbers = np.asarray(codes)
    if numbers.dtype.kind not in "biu" or np.any((numbers < 0) | (numbers >= n_classes)):
        problem = f"it holds {sorted(set(numbers.ravel().tolist()), key=str)[:3]}"
        remedy = (
            f"give the number of each row's column of P, 0 to {n_classes - 1}: np.unique(y, return_inverse=True)[1]"
        )
        raise LabelError("codes", problem, remedy)
    return numbers.astype(np.int64)
