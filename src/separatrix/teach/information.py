"""Information theory and likelihood: the meaning of the loss of logistic regression (docs/tour.md, I1–I6, R10).

Logarithms are natural (nats) unless ``base`` says otherwise: ``base=2`` gives bits, and 0 log 0 = 0. Distributions over
finitely many outcomes are arrays of probabilities, ``Bernoulli``, ``Categorical`` or ``empirical(values)``; densities
are those of ``densities.py``.

>>> from separatrix import information
>>> information.entropy([0.5, 0.25, 0.25], base=2)
1.5
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, final

import numpy as np

from separatrix.core.base.arrays import AnyArray, Array, Integers
from separatrix.core.base.errors import LabelError, ParameterError
from separatrix.core.base.labels import encode
from separatrix.teach.densities import Density, Laplace, LogisticDensity, Mixture, Normal, Uniform, expectation

# --- Distributions over finitely many outcomes (I1)

# Largest difference of a sum of probabilities from 1, which allows for rounding.
SUMS_TO_ONE = 1e-9


def _probabilities(argument: str, p: Any) -> Array:
    """Return p as an array of probabilities that sum to 1; raises an error if they do not."""
    P = np.asarray(p, dtype=np.float64)
    if P.ndim != 1 or len(P) == 0 or not np.all(P >= 0) or abs(P.sum() - 1.0) > SUMS_TO_ONE:
        raise ParameterError(argument, f"got {p!r}", "give probabilities >= 0 that sum to 1")
    return P


@final
@dataclass(frozen=True)
class Bernoulli:
    """P(x) = φˣ(1 − φ)¹⁻ˣ for x in {0, 1}, with mean φ and variance φ(1 − φ).

    Parameters
    ----------
    phi : float
        The probability of 1.

    Examples
    --------
    >>> from separatrix.teach.information import Bernoulli
    >>> coin = Bernoulli(0.25)
    >>> coin.pmf([0, 1]).tolist(), coin.mean, coin.variance
    ([0.75, 0.25], 0.25, 0.1875)
    """

    phi: float

    def __post_init__(self) -> None:
        if not 0.0 <= self.phi <= 1.0:
            raise ParameterError("phi", f"got {self.phi!r}", "give a probability between 0 and 1")

    @property
    def p(self) -> Array:
        """The probabilities of 0 and 1."""
        return np.array([1.0 - self.phi, self.phi])

    def pmf(self, x: Any) -> Array:
        """The probability of x."""
        x = np.asarray(x)
        return np.where(x == 1, self.phi, np.where(x == 0, 1.0 - self.phi, 0.0))

    def log_pmf(self, x: Any) -> Array:
        """The logarithm of the probability of x."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.pmf(x)))

    @property
    def mean(self) -> float:
        return self.phi

    @property
    def variance(self) -> float:
        return self.phi * (1.0 - self.phi)

    def sample(self, size: Any, seed: int) -> Array:
        """Independent draws, of shape ``size``."""
        return np.asarray(np.random.default_rng(seed).random(size) < self.phi, dtype=np.float64)


@final
@dataclass(frozen=True, eq=False)
class Categorical:
    """P(x) = ∏_i p_i^{x_i} for one-hot x of K entries, with E[x_i] = p_i and Var(x_i) = p_i(1 − p_i).

    Parameters
    ----------
    p : array (K,)
        The probabilities, which sum to 1.

    Examples
    --------
    >>> from separatrix.teach.information import Categorical
    >>> die = Categorical([0.5, 0.25, 0.25])
    >>> die.pmf([[0, 1, 0], [1, 0, 0]]).tolist(), die.mean.tolist(), die.variance.tolist()
    ([0.25, 0.5], [0.5, 0.25, 0.25], [0.25, 0.1875, 0.1875])
    """

    p: Array

    def __init__(self, p: Any) -> None:
        object.__setattr__(self, "p", _probabilities("p", p))

    def pmf(self, x: Any) -> Array:
        """The probabilities of one-hot rows (…, K); zero for rows that are not one-hot."""
        rows = np.asarray(x, dtype=np.float64)
        if rows.shape[-1] != len(self.p):
            raise ParameterError("x", f"its shape is {rows.shape}", f"give one-hot rows of {len(self.p)} entries")
        one_hot = np.all((rows == 0) | (rows == 1), axis=-1) & (rows.sum(axis=-1) == 1)
        return np.where(one_hot, rows @ self.p, 0.0)

    def log_pmf(self, x: Any) -> Array:
        """The logarithm of the probability of x."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.pmf(x)))

    @property
    def mean(self) -> Array:
        return self.p

    @property
    def variance(self) -> Array:
        return np.asarray(self.p * (1.0 - self.p))

    def sample(self, size: int, seed: int) -> Array:
        """One-hot rows, (size, K)."""
        drawn = np.random.default_rng(seed).choice(len(self.p), size, p=self.p / self.p.sum())
        return np.eye(len(self.p))[drawn]


# --- Entropy, cross-entropy and KL divergence (I2, I3)

NATS = float(np.e)


def _unit(base: float) -> float:
    """ln base, by which nats are divided."""
    if not (np.isfinite(base) and base > 0 and base != 1):
        raise ParameterError("base", f"got {base!r}", "give e for nats, 2 for bits, or another base")
    return 1.0 if base == NATS else float(np.log(base))


def _discrete(argument: str, p: Any) -> Array:
    if hasattr(p, "outcomes"):  # an empirical distribution, whose outcomes need not be those of the other
        problem = f"it is an empirical distribution over {p.outcomes.tolist()[:5]}"
        raise ParameterError(argument, problem, "give its probabilities, .p, if both have the same outcomes")
    return np.asarray(p.p) if isinstance(p, Bernoulli | Categorical) else _probabilities(argument, p)


def self_information(p: Any, base: float = NATS) -> Array:
    """I = −log P: zero for P = 1, additive for independent events, infinite for impossible events.

    Parameters
    ----------
    p : array or float
        Probabilities.
    base : float, default e
        The base of the logarithm: e for nats, 2 for bits.

    Returns
    -------
    array of the shape of p

    Examples
    --------
    >>> from separatrix.teach.information import self_information
    >>> self_information([1.0, 0.5, 0.25], base=2).tolist()
    [0.0, 1.0, 2.0]
    """
    P = np.asarray(p, dtype=np.float64)
    if not np.all((P >= 0) & (P <= 1)):
        raise ParameterError("p", f"got {p!r}", "give probabilities between 0 and 1")
    with np.errstate(divide="ignore"):
        return np.asarray(np.abs(np.log(P)) / _unit(base))


def entropy(p: Any, base: float = NATS) -> float:
    """H(P) = −Σ P log P, or −∫ p log p for a density, which can be negative.

    Parameters
    ----------
    p : array, distribution or density
        Probabilities that sum to 1, ``Bernoulli``, ``Categorical``, an empirical distribution or a density.
    base : float, default e
        The base of the logarithm: e for nats, 2 for bits.

    Returns
    -------
    float

    Examples
    --------
    >>> from separatrix.teach.information import entropy
    >>> entropy([0.5, 0.5], base=2), entropy([1.0, 0.0])
    (1.0, 0.0)
    """
    if isinstance(p, Density):
        return float(p.entropy_nats()) / _unit(base)
    p = p.p if hasattr(p, "outcomes") else p
    return cross_entropy(p, p, base)


def cross_entropy(p: Any, q: Any, base: float = NATS) -> float:
    """H(P, Q) = −Σ P log Q, or −∫ p log q. It is at least H(P), with equality only for Q = P (Gibbs).

    Parameters
    ----------
    p, q : arrays, distributions or densities
        Both over the same outcomes, or both densities. If q is a ``Bernoulli``, p may be ``empirical(values)``.
    base : float, default e
        The base of the logarithm: e for nats, 2 for bits.

    Returns
    -------
    float

    Examples
    --------
    >>> from separatrix.teach.information import cross_entropy
    >>> cross_entropy([0.5, 0.5], [0.25, 0.75], base=2).__round__(4)
    1.2075
    """
    if isinstance(p, Density) or isinstance(q, Density):
        a, c = _densities(p, q)
        if isinstance(a, Normal) and isinstance(c, Normal):
            nats = c.entropy_nats() + 0.5 * ((a.sigma2 + (a.mu - c.mu) ** 2) / c.sigma2 - 1.0)
        else:
            nats = expectation(a, lambda x: -c.log_pdf(x))
        return nats / _unit(base)
    P, Q = _same_outcomes(p, q)
    kept = P > 0
    with np.errstate(divide="ignore"):
        return float(np.sum(P[kept] * -np.log(Q[kept])) / _unit(base)) + 0.0


def kl_divergence(p: Any, q: Any, base: float = NATS) -> float:
    """D(P‖Q) = H(P, Q) − H(P) ≥ 0, which is infinite if P has mass where Q has none. It is not symmetric.

    For two normals it is ½ [σ_p²/σ_q² − 1 − ln(σ_p²/σ_q²) + (μ_p − μ_q)²/σ_q²]; for other densities it is computed by
    quadrature.

    Parameters
    ----------
    p, q : arrays, distributions or densities
        Both over the same outcomes, or both densities. If q is a ``Bernoulli``, p may be ``empirical(values)``.
    base : float, default e
        The base of the logarithm: e for nats, 2 for bits.

    Returns
    -------
    float

    Examples
    --------
    >>> from separatrix.teach.information import kl_divergence
    >>> kl_divergence([0.5, 0.5], [0.25, 0.75], base=2).__round__(4)
    0.2075
    """
    if isinstance(p, Normal) and isinstance(q, Normal):
        ratio = p.sigma2 / q.sigma2
        return 0.5 * (ratio - 1.0 - float(np.log(ratio)) + (p.mu - q.mu) ** 2 / q.sigma2) / _unit(base)
    if isinstance(p, Density) or isinstance(q, Density):
        a, c = _densities(p, q)
        return expectation(a, lambda x: _log_ratio(a.log_pdf(x), c.log_pdf(x))) / _unit(base)
    P, Q = _same_outcomes(p, q)
    kept = P > 0
    if np.any(Q[kept] == 0):
        return float(np.inf)
    # Each term p ln(p/q) − p + q is at least zero, so there is no cancellation if P and Q are close.
    terms = P[kept] * np.log(P[kept] / Q[kept]) - P[kept] + Q[kept]
    return float(np.sum(np.maximum(terms, 0.0)) + np.sum(Q[~kept])) / _unit(base)


def _log_ratio(log_p: Array, log_q: Array) -> Array:
    with np.errstate(invalid="ignore"):
        return np.where(np.isneginf(log_p), 0.0, log_p - log_q)


def _same_outcomes(p: Any, q: Any) -> tuple[Array, Array]:
    if hasattr(p, "outcomes") and isinstance(q, Bernoulli):  # a third outcome stands for all values except 0 and 1
        seen = [float(np.sum(p.p[p.outcomes == x])) for x in (0, 1)]
        return np.array([*seen, max(0.0, 1.0 - sum(seen))]), np.array([*q.p, 0.0])
    P, Q = _discrete("p", p), _discrete("q", q)
    if P.shape != Q.shape:
        raise ParameterError("q", f"it has {len(Q)} outcomes, and p has {len(P)}", "give both the same outcomes")
    return P, Q


def _densities(p: Any, q: Any) -> tuple[Density, Density]:
    if not isinstance(p, Density) or not isinstance(q, Density):
        raise ParameterError("q", "one is a density, the other is not", "give two densities, or two distributions")
    return p, q


# --- The best normal approximations (I3)

# Two searches that end closer than this, in units of σ, have found the same minimum.
SAME_MINIMUM = 1e-4


@dataclass(frozen=True)
class Approximation:
    """The best normal approximation of a density. ``best_normal`` returns one.

    Attributes
    ----------
    q : Normal
        The approximation.
    divergence : float
        Its divergence in nats.
    local_minima : tuple of Normal
        All local minima that were found, the best first.
    """

    q: Normal
    divergence: float
    local_minima: tuple[Normal, ...]


def best_normal(p: Mixture, direction: Literal["p||q", "q||p"]) -> Approximation:
    """Find the normal q that is closest to p in D(p‖q) or in D(q‖p).

    The closest in D(p‖q) covers all peaks: it has the mean and variance of p. The closest in D(q‖p) concentrates on one
    peak; there are several local minima, and the best of them is returned. (Goodfellow, Bengio and Courville 2016,
    figure 3.6.)

    Parameters
    ----------
    p : Mixture
        The density to approximate.
    direction : "p||q" or "q||p"
        Which divergence to minimise.

    Returns
    -------
    Approximation

    Examples
    --------
    >>> from separatrix.teach.densities import Mixture, Normal; from separatrix.teach.information import best_normal
    >>> two = Mixture((0.6, 0.4), (Normal(-3.0, 1.0), Normal(3.0, 1.0)))
    >>> cover, seek = best_normal(two, "p||q"), best_normal(two, "q||p")
    >>> round(cover.q.mu, 2), round(cover.q.sigma2, 2)
    (-0.6, 9.64)
    >>> round(seek.q.mu, 2), round(seek.q.sigma2, 2), len(seek.local_minima)
    (-2.99, 1.04, 3)
    """
    if direction == "p||q":
        q = Normal(p.mean, p.variance)
        return Approximation(q, kl_divergence(p, q), (q,))
    if direction != "q||p":
        raise ParameterError("direction", f"got {direction!r}", "choose 'p||q' or 'q||p'")
    starts = [*p.parts, Normal(p.mean, p.variance)]
    ends = sorted((_descend(p, start) for start in starts), key=lambda q: kl_divergence(q, p))
    minima: list[Normal] = []
    for q in ends:
        if not any(_same(q, known) for known in minima):
            minima.append(q)
    return Approximation(minima[0], kl_divergence(minima[0], p), tuple(minima))


def _descend(p: Mixture, start: Normal) -> Normal:
    """A local minimum of D(q‖p) over (μ, ln σ), by quasi-Newton steps with the exact gradient."""
    from scipy.optimize import minimize

    def value_gradient(v: Array) -> tuple[float, Array]:
        q = Normal(float(v[0]), float(np.exp(2.0 * v[1])))
        # With x = μ + σz: ∂/∂μ E ln p = E (ln p)′, ∂/∂ln σ E ln p = E (x − μ)(ln p)′.
        by_mean = -expectation(q, p.slope)
        by_scale = -1.0 - expectation(q, lambda x: (x - q.mu) * p.slope(x))
        return kl_divergence(q, p), np.array([by_mean, by_scale])

    begin = np.array([start.mu, np.log(start.sigma)])
    mean, log_scale = minimize(value_gradient, begin, jac=True, method="BFGS", options={"gtol": 1e-9}).x
    return Normal(float(mean), float(np.exp(2.0 * log_scale)))


def _same(a: Normal, c: Normal) -> bool:
    return abs(a.mu - c.mu) <= SAME_MINIMUM * c.sigma and abs(a.sigma - c.sigma) <= SAME_MINIMUM * c.sigma


# --- The largest entropy (I4)


def maximum_entropy(mean: float = 0.0, variance: float = 1.0) -> dict[str, float]:
    """Return the entropies of several densities of the same mean and variance; the normal has the largest.

    See docs/tour.md, I4.

    Parameters
    ----------
    mean : float, default 0
        The mean of all densities.
    variance : float, default 1
        The variance of all densities.

    Returns
    -------
    dict of str to float
        The entropy of each density, in nats.

    Examples
    --------
    >>> from separatrix.teach.information import maximum_entropy
    >>> found = maximum_entropy()
    >>> max(found, key=found.get), {name: round(h, 3) for name, h in found.items()}
    ('normal', {'normal': 1.419, 'logistic': 1.405, 'Laplace': 1.347, 'uniform': 1.242, 'two peaks': 1.247})
    """
    apart = float(np.sqrt(0.8 * variance))
    peaks = Mixture((0.5, 0.5), (Normal(mean - apart, 0.2 * variance), Normal(mean + apart, 0.2 * variance)))
    densities: dict[str, Density] = {
        "normal": Normal(mean, variance),
        "logistic": LogisticDensity.of(mean, variance),
        "Laplace": Laplace.of(mean, variance),
        "uniform": Uniform.of(mean, variance),
        "two peaks": peaks,
    }
    return {name: float(density.entropy_nats()) for name, density in densities.items()}


# --- Empirical distributions and likelihood (I5, R10)


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
    >>> from separatrix.teach.information import empirical
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
    >>> from separatrix.teach.information import negative_log_likelihood
    >>> from separatrix.teach.information import Bernoulli
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
    >>> from separatrix.teach.information import likelihood
    >>> from separatrix.teach.information import Bernoulli; from separatrix.teach.densities import Normal
    >>> round(likelihood(Bernoulli(0.5), [1, 0, 1]), 6), likelihood(Normal(0.0, 0.01), [0.0]) > 1
    (0.125, True)
    """
    return float(np.exp(-negative_log_likelihood(model, values)))


@dataclass(frozen=True)
class Account:
    """Four measures of a fit, in nats: NLL = N · cross-entropy, and cross-entropy = KL + entropy of the data.

    The entropy of the data does not depend on the model, so maximising the likelihood and minimising the cross-entropy
    or the KL divergence are the same problem.

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
    >>> from separatrix.teach.information import account
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
    >>> from separatrix.teach.information import conditional_account
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


# --- The central limit theorem (I6)


@dataclass(frozen=True)
class CentralLimit:
    """Standardised sums (Σ x_i − nμ)/(σ√n). ``central_limit`` returns one.

    Attributes
    ----------
    n : int
        The number of terms in a sum.
    sums : array (repeats,)
        The standardised sums, sorted.
    distance : float
        The largest difference between their distribution function and Φ. With r repeats, a distance below about 1/√r is
        noise.
    """

    n: int
    sums: Array
    distance: float


def central_limit(distribution: Any, n: int, repeats: int = 10_000, seed: int = 0) -> CentralLimit:
    """Draw sums of n independent values of a distribution, and compare them with the normal.

    Parameters
    ----------
    distribution : distribution or density
        With ``mean``, ``variance`` > 0 and ``sample``.
    n : int
        The number of terms in a sum.
    repeats : int, default 10000
        The number of sums.
    seed : int, default 0
        Seed for the draws.

    Returns
    -------
    CentralLimit

    Examples
    --------
    >>> from separatrix.teach.information import central_limit
    >>> from separatrix.teach.densities import Uniform
    >>> one, twelve = (central_limit(Uniform(0.0, 1.0), n, 20_000).distance for n in (1, 12))
    >>> one > 0.05 > 0.01 > twelve
    True
    """
    if n < 1 or repeats < 1:
        raise ParameterError("n", f"got n={n}, repeats={repeats}", "give whole numbers of at least 1")
    if np.ndim(distribution.mean) != 0 or not distribution.variance > 0:
        remedy = "give a distribution of single numbers with a variance > 0"
        raise ParameterError("distribution", f"got {distribution!r}", remedy)
    total = np.asarray(distribution.sample((repeats, n), seed)).sum(axis=1)
    sums = np.sort((total - n * distribution.mean) / np.sqrt(n * distribution.variance))
    return CentralLimit(n, sums, kolmogorov_distance(sums))


def kolmogorov_distance(values: Array) -> float:
    """sup_x |F̂(x) − Φ(x)| for sorted values.

    >>> kolmogorov_distance(np.zeros(4))
    0.5
    """
    from scipy.special import ndtr

    below = ndtr(values)
    size = len(values)
    after = np.searchsorted(values, values, side="right") / size
    before = np.searchsorted(values, values, side="left") / size
    return float(max(np.max(after - below), np.max(below - before)))


__all__ = [
    "Account",
    "Approximation",
    "Bernoulli",
    "Categorical",
    "CentralLimit",
    "Density",
    "Empirical",
    "Laplace",
    "LogisticDensity",
    "Mixture",
    "Normal",
    "Uniform",
    "account",
    "best_normal",
    "central_limit",
    "conditional_account",
    "cross_entropy",
    "empirical",
    "entropy",
    "kl_divergence",
    "likelihood",
    "maximum_entropy",
    "negative_log_likelihood",
    "self_information",
]
