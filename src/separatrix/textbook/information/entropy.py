"""Self-information, entropy, cross-entropy, KL divergence (docs/tour.md, I2, I3).

P and Q are arrays of probabilities, ``Bernoulli``, ``Categorical``, or two densities; 0 log 0 = 0. If Q is a
``Bernoulli``, P may also be an empirical distribution, ``empirical(values)``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.errors import ParameterError
from separatrix.textbook.information.densities import Normal
from separatrix.textbook.information.density import Density, expectation
from separatrix.textbook.information.outcomes import Bernoulli, Categorical, probabilities

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
    return np.asarray(p.p) if isinstance(p, Bernoulli | Categorical) else probabilities(argument, p)


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
    >>> from separatrix.textbook.information import self_information
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
    >>> from separatrix.textbook.information import entropy
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
        Both over the same outcomes, or both densities.
    base : float, default e
        The base of the logarithm: e for nats, 2 for bits.

    Returns
    -------
    float

    Examples
    --------
    >>> from separatrix.textbook.information import cross_entropy
    >>> cross_entropy([0.5, 0.5], [0.25, 0.75], base=2).__round__(4)
    1.2075
    """
    if isinstance(p, Density) or isinstance(q, Density):
        return _cross_entropy_of_densities(p, q) / _unit(base)
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
        Both over the same outcomes, or both densities.
    base : float, default e
        The base of the logarithm: e for nats, 2 for bits.

    Returns
    -------
    float

    Examples
    --------
    >>> from separatrix.textbook.information import kl_divergence
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


def _cross_entropy_of_densities(p: Any, q: Any) -> float:
    a, c = _densities(p, q)
    if isinstance(a, Normal) and isinstance(c, Normal):
        return c.entropy_nats() + 0.5 * ((a.sigma2 + (a.mu - c.mu) ** 2) / c.sigma2 - 1.0)
    return expectation(a, lambda x: -c.log_pdf(x))
