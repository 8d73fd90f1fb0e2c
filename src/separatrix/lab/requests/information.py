"""The page Information: entropy, cross-entropy and KL, the best normals of two peaks, and σ among the heads."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from separatrix.lab.request_registry import Payload, number
from separatrix.losses import logit, sigmoid
from separatrix.losses.links import LINKS
from separatrix.textbook.information import (
    Bernoulli,
    Mixture,
    Normal,
    best_normal,
    cross_entropy,
    entropy,
    kl_divergence,
)

# The places of the curves. A cost is infinite at q = 0 and q = 1, which the second set leaves out.
PROBABILITIES, BELIEFS = np.linspace(0.0, 1.0, 101), np.linspace(0.005, 0.995, 100)
PLACES, SCORES = np.linspace(-8.0, 8.0, 161), np.linspace(-6.0, 6.0, 121)
# The ranges of the sliders.
LARGEST_SCORE, LARGEST_DISTANCE = 6.0, 8.0
LEAST_WEIGHT, NARROWEST, WIDEST = 0.05, 0.3, 2.0
# The functions of the score that the page compares, by their names in ``LINKS``; "logit" is the link of σ.
HEADS = ("sign", "identity", "logit", "probit", "cloglog")
# The search for the best normals takes about 0.1 s, and a page asks for the same peaks again.
MOST_PEAKS = 256


def beliefs(payload: Payload) -> Mapping[str, Any]:
    """Entropy, cross-entropy and KL of two Bernoulli variables, and their curves over p and over q."""
    a, c = number(payload, "p", 0.0, 1.0), number(payload, "q", 0.0, 1.0)
    p, q = Bernoulli(a), Bernoulli(c)
    others = [Bernoulli(float(x)) for x in BELIEFS]
    return {
        "entropy": {"p": PROBABILITIES, "H(p)": _entropies()},
        "costs": {
            "q": BELIEFS,
            "H(p, q)": [cross_entropy(p, one) for one in others],
            "KL(p‖q)": [kl_divergence(p, one) for one in others],
            "KL(q‖p)": [kl_divergence(one, p) for one in others],
        },
        "numbers": {
            "H(p)": _both(entropy, p),
            "H(q)": _both(entropy, q),
            "H(p, q)": _both(cross_entropy, p, q),
            "KL(p‖q)": _both(kl_divergence, p, q),
            "KL(q‖p)": _both(kl_divergence, q, p),
        },
        "python": [
            f"p, q = info.Bernoulli({a:g}), info.Bernoulli({c:g})",
            "for base in (np.e, 2):  # nats, then bits",
            "    print(info.entropy(p, base), info.entropy(q, base), info.cross_entropy(p, q, base))",
            "    print(info.kl_divergence(p, q, base), info.kl_divergence(q, p, base))",
        ],
    }


@lru_cache(maxsize=1)
def _entropies() -> tuple[float, ...]:
    return tuple(entropy(Bernoulli(float(x))) for x in PROBABILITIES)


def _both(measure: Any, *of: Bernoulli) -> dict[str, float]:
    return {"nats": measure(*of), "bits": measure(*of, base=2)}


def peaks(payload: Payload) -> Mapping[str, Any]:
    """A density of two peaks, with the normal that is closest in KL(p‖q) and the one that is closest in KL(q‖p)."""
    distance, width = number(payload, "distance", 0.0, LARGEST_DISTANCE), number(payload, "width", NARROWEST, WIDEST)
    weight = number(payload, "weight", LEAST_WEIGHT, 1.0 - LEAST_WEIGHT)
    return _peaks(round(distance, 4), round(weight, 4), round(width, 4))


@lru_cache(maxsize=MOST_PEAKS)
def _peaks(distance: float, weight: float, width: float) -> Mapping[str, Any]:
    half, variance, other = round(distance / 2, 4), round(width**2, 4), round(1 - weight, 4)
    p = Mixture((weight, other), (Normal(-half, variance), Normal(half, variance)))
    cover, seek = best_normal(p, "p||q"), best_normal(p, "q||p")
    parts = f"(info.Normal({-half:g}, {variance:g}), info.Normal({half:g}, {variance:g}))"
    return {
        "curves": {"x": PLACES, "p": p.pdf(PLACES), "covers": cover.q.pdf(PLACES), "seeks": seek.q.pdf(PLACES)},
        "covers": _approximation(p, cover.q),
        "seeks": _approximation(p, seek.q),
        "minima": len(seek.local_minima),
        "python": [
            f"peaks = info.Mixture(({weight:g}, {other:g}), {parts})",
            'for direction in ("p||q", "q||p"):',
            "    best = info.best_normal(peaks, direction)",
            "    print(best.q, info.kl_divergence(peaks, best.q), info.kl_divergence(best.q, peaks))",
        ],
    }


def _approximation(p: Mixture, q: Normal) -> dict[str, float]:
    return {"mean": q.mu, "deviation": q.sigma, "KL(p‖q)": kl_divergence(p, q), "KL(q‖p)": kl_divergence(q, p)}


def heads(payload: Payload) -> Mapping[str, Any]:
    """σ and σ′ at a score z, the logit that leads back to z, and the other heads of the same score."""
    z = number(payload, "z", -LARGEST_SCORE, LARGEST_SCORE)
    p, curve = float(sigmoid(z)), sigmoid(SCORES)
    return {
        "curves": {
            "z": SCORES,
            "σ′": curve * (1 - curve),
            **{_shown(name): LINKS[name].activation(SCORES) for name in HEADS},
        },
        "numbers": {
            "σ(z)": p,
            "σ′(z)": p * (1 - p),
            "logit σ(z)": float(logit(p)),
            **{f"{_shown(name)} of z": _head(name, z) for name in HEADS if name != "logit"},
        },
        "python": [
            f"z = {z:g}",
            "p = float(sx.losses.sigmoid(z))",
            "print(p, p * (1 - p), sx.losses.logit(p))",
            f"print([sx.links.LINKS[name].activation(np.array([z])) for name in {HEADS}])",
        ],
    }


def _shown(name: str) -> str:
    return "σ" if name == "logit" else name


def _head(name: str, z: float) -> float:
    return float(LINKS[name].activation(np.array([z]))[0])


REQUESTS = {"beliefs": beliefs, "peaks": peaks, "heads": heads}
