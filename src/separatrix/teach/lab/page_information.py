"""The page Information: entropy, cross-entropy and KL, the best normals of two peaks, and σ among the heads.

The page is made of figures with sliders. ``start`` describes them; the other requests fill them: curves over the first
of them, the place of each curve's name on it with the way from there in pixels, a table of numbers, and the name of the
curve that jumps at 0, if there is one.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from separatrix.core.links import LINKS, logit, sigmoid
from separatrix.teach.densities import Mixture, Normal
from separatrix.teach.information import Bernoulli, best_normal, cross_entropy, entropy, kl_divergence
from separatrix.teach.lab.pages import PageLink
from separatrix.teach.lab.recorder import Asked, Axis, Options, Plan
from separatrix.teach.lab.requests import Payload, number
from separatrix.teach.lab.shown_models import decimals

# The places of the curves. A cost is infinite at q = 0 and q = 1, which the second set leaves out.
PROBABILITIES, BELIEFS = np.linspace(0.0, 1.0, 101), np.linspace(0.005, 0.995, 100)
PLACES, SCORES = np.linspace(-8.0, 8.0, 161), np.linspace(-6.0, 6.0, 121)
# The functions of the score that the page compares, by their names in ``LINKS``. The first one is σ.
HEADS = ("logit", "sign", "identity", "probit", "cloglog")
# The two normals for two peaks, by what they minimise.
COVERS, SEEKS = "least KL(p‖q)", "least KL(q‖p)"
# The search for the best normals takes about 0.1 s, and a page asks for the same peaks again.
MOST_PEAKS = 256

# The sliders by name: what is asked when they move, range, step, first value, and words.
SLIDERS: dict[str, tuple[str, float, float, float, float, str]] = {
    "p": ("beliefs", 0.0, 1.0, 0.01, 0.3, "p"),
    "q": ("beliefs", 0.0, 1.0, 0.01, 0.8, "q"),
    "distance": ("peaks", 0.0, 8.0, 0.1, 4.4, "distance"),
    "weight": ("peaks", 0.05, 0.95, 0.01, 0.6, "weight of the left"),
    "width": ("peaks", 0.3, 2.0, 0.05, 0.85, "width"),
    "z": ("heads", -6.0, 6.0, 0.1, 1.0, "z"),
}
# The figures: request and which of its parts, title, box, axes, sliders; ``times`` |x| is the value of the first slider
# where the picture is dragged, or x itself if it is missing.
FIGURES: list[dict[str, Any]] = [
    {"part": 0, "title": "Entropy of a coin", "box": (-0.08, 1.08, -0.09, 0.78), "axes": "pH", "sliders": ["p"]},
    {"part": 1, "title": "The cost of a belief", "box": (-0.12, 1.08, -0.3, 2.6), "sliders": ["q"]}
    | {"axes": ["q", "nats"]},
    {"part": 0, "title": "Two normals for two peaks", "box": (-8.0, 8.0, -0.075, 0.62), "times": 2}
    | {"axes": ["x", "density"], "sliders": ["distance", "weight", "width"]},
    {"part": 0, "title": "One score, several heads", "box": (-6.2, 6.2, -1.3, 1.5), "axes": "zf", "sliders": ["z"]},
]


def start(payload: Payload) -> Mapping[str, Any]:
    """The sliders and figures of the page."""
    return {"sliders": SLIDERS, "figures": FIGURES}


def _value(payload: Payload, name: str) -> float:
    _, low, high, *_ = SLIDERS[name]
    return number(payload, name, low, high)


def beliefs(payload: Payload) -> Mapping[str, Any]:
    """Entropy, cross-entropy and KL of two Bernoulli variables, and their curves over p and over q."""
    a, c = _value(payload, "p"), _value(payload, "q")
    p, q = Bernoulli(a), Bernoulli(c)
    others = [Bernoulli(float(x)) for x in BELIEFS]
    costs = {
        "H(p, q)": [cross_entropy(p, one) for one in others],
        "KL(p‖q)": [kl_divergence(p, one) for one in others],
    }
    names = {"H(p, q)": (0.5, 0, -10), "KL(p‖q)": (0.88, -8, -6)}
    if 0 < a < 1:  # else KL(q‖p) is infinite for all q of the curve
        costs["KL(q‖p)"], names["KL(q‖p)"] = [kl_divergence(one, p) for one in others], (0.84, 8, 18)
    rows = [
        ("H(p, q)", *_in_both_units(cross_entropy, p, q)),
        ("KL(p‖q)", *_in_both_units(kl_divergence, p, q)),
        ("KL(q‖p)", *_in_both_units(kl_divergence, q, p)),
    ]
    of_one = [("H(p)", *_in_both_units(entropy, p)), ("H(q)", *_in_both_units(entropy, q))]
    return {
        "parts": [
            _part({"p": PROBABILITIES, "H(p)": _entropies()}, {"H(p)": (0.5, 0, 20)}, of_one, ("nats", "bits")),
            _part({"q": BELIEFS, **costs}, names, rows, ("nats", "bits")),
        ],
        "sentence": _cost(a, c, *rows[1][1:]),
        "python": [
            f"p, q = info.Bernoulli({a:g}), info.Bernoulli({c:g})",
            "for base in (np.e, 2):  # nats, then bits",
            "    print(info.entropy(p, base), info.entropy(q, base), info.cross_entropy(p, q, base))",
            "    print(info.kl_divergence(p, q, base), info.kl_divergence(q, p, base))",
        ],
    }


def _part(curves: Any, names: Any, rows: Any, heads: tuple[str, ...] = (), jump: str | None = None) -> dict[str, Any]:
    return {"curves": curves, "names": names, "rows": rows, "heads": heads, "jump": jump}


@lru_cache(maxsize=1)
def _entropies() -> tuple[float, ...]:
    return tuple(entropy(Bernoulli(float(x))) for x in PROBABILITIES)


def _in_both_units(measure: Any, *of: Bernoulli) -> tuple[str, str]:
    return decimals(measure(*of), 4), decimals(measure(*of, base=2), 4)


def _cost(p: float, q: float, nats: str, bits: str) -> str:
    if p == q:
        return f"q is p = {p:.2f}: it costs nothing to believe it."
    return f"To believe q = {q:.2f} where p = {p:.2f} costs KL(p‖q) = {nats} nats ({bits} bits) for each draw."


def peaks(payload: Payload) -> Mapping[str, Any]:
    """A density of two peaks, with the normal that is closest in KL(p‖q) and the one that is closest in KL(q‖p)."""
    return _peaks(*(round(_value(payload, name), 4) for name in ("distance", "weight", "width")))


@lru_cache(maxsize=MOST_PEAKS)
def _peaks(distance: float, weight: float, width: float) -> Mapping[str, Any]:
    half, variance, other = round(distance / 2, 4), round(width**2, 4), round(1 - weight, 4)
    p = Mixture((weight, other), (Normal(-half, variance), Normal(half, variance)))
    covering, seeking = best_normal(p, "p||q"), best_normal(p, "q||p")
    cover, seek = covering.q, seeking.q
    names = {
        "p": (half if seek.mu <= 0 else -half, 0, -10),
        COVERS: (cover.mu + 1.3 * cover.sigma, 8, -6),
        SEEKS: (seek.mu - seek.sigma, -6, 0),
    }
    curves = {"x": PLACES, "p": p.pdf(PLACES), COVERS: cover.pdf(PLACES), SEEKS: seek.pdf(PLACES)}
    rows = [(name, *map(_four, _facts(p, q))) for name, q in ((COVERS, cover), (SEEKS, seek))]
    parts = f"(info.Normal({-half:g}, {variance:g}), info.Normal({half:g}, {variance:g}))"
    return {
        "parts": [_part(curves, names, rows, ("mean", "deviation", "KL(p‖q)", "KL(q‖p)"))],
        "sentence": f"The normal that covers both peaks has mean {decimals(cover.mu)} and deviation "
        f"{decimals(cover.sigma)}; the one that seeks a peak has {decimals(seek.mu)} and {decimals(seek.sigma)}. "
        f"KL(q‖p) has {_local_minima(len(seeking.local_minima))}.",
        "python": [
            f"peaks = info.Mixture(({weight:g}, {other:g}), {parts})",
            'for direction in ("p||q", "q||p"):',
            "    best = info.best_normal(peaks, direction)",
            "    print(best.q, info.kl_divergence(peaks, best.q), info.kl_divergence(best.q, peaks))",
        ],
    }


def _four(value: float) -> str:
    return decimals(value, 4)


def _facts(p: Mixture, q: Normal) -> tuple[float, ...]:
    return q.mu, q.sigma, kl_divergence(p, q), kl_divergence(q, p)


def _local_minima(count: int) -> str:
    return "one local minimum" if count == 1 else f"{count} local minima, and this is the least"


def heads(payload: Payload) -> Mapping[str, Any]:
    """σ and σ′ at a score z, the logit that leads back to z, and the other heads of the same score."""
    z = _value(payload, "z")
    p, curve = float(sigmoid(z)), sigmoid(SCORES)
    curves = {"z": SCORES, "σ": curve, "σ′": curve * (1 - curve)}
    curves |= {name: LINKS[name].activation(SCORES) for name in HEADS[1:]}
    names = {"σ": (2.4, 4, 18), "σ′": (1.9, 4, -6), "sign": (-3, 0, -8), "identity": (-0.6, 14, 8)}
    names |= {"probit": (1.7, 0, -16), "cloglog": (0.2, -6, -4)}
    rows = [("σ(z)", p), ("σ′(z)", p * (1 - p)), ("logit σ(z)", float(logit(p)))]
    rows += [(f"{name} of z", float(LINKS[name].activation(np.array([z]))[0])) for name in HEADS[1:]]
    return {
        "parts": [_part(curves, names, [(name, _four(value)) for name, value in rows], jump="sign")],
        "sentence": f"At z = {decimals(z, 1)}, σ is {_four(p)} and its slope {_four(p * (1 - p))}.",
        "python": [
            f"z = {z:g}",
            "p = float(sx.losses.sigmoid(z))",
            "print(p, p * (1 - p), sx.losses.logit(p))",
            f"print([sx.links.LINKS[name].activation(np.array([z])) for name in {HEADS}])",
        ],
    }


# The slider of each request that moves in a recording; the figure of the entropy, which p moves, stays still.
RECORDED = {"beliefs": "q", "peaks": "distance", "heads": "z"}


def recorded(link: PageLink, options: Options) -> Plan:
    """One slider of each request can be moved."""
    link.allow(("v", *SLIDERS))
    values = {key: link.number(key, first, low, high) for key, (_, low, high, _, first, _) in SLIDERS.items()}
    asked = tuple(Asked(name, values, (_moved(key, values[key]),)) for name, key in RECORDED.items())
    sentence = f"The sliders {', '.join(SLIDERS[key][5] for key in RECORDED.values())} can be moved; the others stay."
    controls = tuple(f"input[name={key}]" for key in RECORDED.values())
    return Plan((Asked("start", {}), *asked), sentence, ("button[aria-label=Undo]", *controls), still=("#stage",))


def _moved(key: str, now: float) -> Axis:
    """All values of a slider, and the one that a link gives."""
    _, low, high, step, *_ = SLIDERS[key]
    values = np.round(np.linspace(low, high, round((high - low) / step) + 1), 4)
    return Axis((key,), tuple(sorted({*values.tolist(), now})))


REQUESTS = {"start": start, "beliefs": beliefs, "peaks": peaks, "heads": heads}
