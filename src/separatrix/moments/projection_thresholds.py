r"""Thresholds along a projection: where the posteriors of Gaussians cross (F4), or midway between the means.

Along y = w·x class i has mean m_i and the unbiased variance σ_i² = s_i²/(n_i − 1); with priors n_i/n

    ln P(C₂|y)/P(C₁|y) = ln n₂/n₁ − ln σ₂/σ₁ − (y − m₂)²/2σ₂² + (y − m₁)²/2σ₁²

Lecture 001 omits −ln σ₂/σ₁, which is right only for equal variances. It is included here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol, final

import numpy as np

from separatrix.base.arrays import AnyArray, Array
from separatrix.moments.gather import Moments
from separatrix.moments.gaussians import Gaussians, QuadraticScorer
from separatrix.moments.whitening import Whitening
from separatrix.scorers.scorer import Scorer, Scores


@dataclass(frozen=True)
class Cut:
    """A scorer along a projection; for two classes, also the zeros of its score and the one where class 2 begins."""

    scorer: Scores
    crossings: Array = field(default_factory=lambda: np.empty(0))
    threshold: float = np.nan
    note: str = ""


class Threshold(Protocol):
    """Turns moments and directions V (d, q) into a scorer."""

    def cut(self, found: Moments, V: Array, classes: AnyArray) -> Cut: ...


def crossings(m: Array, sigma: Array, priors: Array) -> Array:
    """The points where two Gaussians times their priors are equal, ascending: none, one or two.

    >>> crossings(np.array([0.0, 4.0]), np.array([1.0, 2.0]), np.array([0.5, 0.5])).round(5).tolist()
    [-4.32658, 1.65991]
    """
    middle, half = 0.5 * (m[0] + m[1]), 0.5 * (m[1] - m[0])
    p, q = 1 / sigma[0] ** 2, 1 / sigma[1] ** 2
    # a v² + 2 b v + c with v = y − middle is twice the log odds; it is positive where the second class wins.
    a, b = p - q, half * (p + q)
    c = half**2 * (p - q) + 2 * np.log(priors[1] / priors[0]) - 2 * np.log(sigma[1] / sigma[0])
    if abs(a) <= 1e-14 * max(p, q):
        return np.array([middle - c / (2 * b)]) if b != 0 else np.empty(0)
    root = b * b - a * c
    if root < 0:
        return np.empty(0)
    larger = -(b + np.copysign(np.sqrt(root), b))  # no cancellation; the other root is c/larger
    found = [larger / a, c / larger] if larger != 0 else [0.0]
    return np.sort(middle + np.array(found))


def _beginning(points: Array, sigma: Array, second_wins: bool) -> float:
    """The crossing above which the second class begins; ±∞ where one class wins everywhere."""
    if len(points) == 0:
        return -np.inf if second_wins else np.inf
    return float(points[-1] if sigma[1] >= sigma[0] else points[0])


def _along(found: Moments, w: Array) -> tuple[Array, Array, float]:
    """The projected means (2,), relative to the frame's centre; the scatters s² (2,); the centre's projection."""
    framed = w * found.frame.scale
    scatter = np.einsum("kij,i,j->k", found.scatter, framed, framed, optimize=True)
    return found.mean @ framed, np.maximum(scatter, 0.0), float(found.frame.center @ w)


@final
@dataclass(frozen=True)
class GaussianThreshold:
    """The threshold where the posteriors cross; for more classes pooled Gaussians with priors n_k/n.

    See docs/tour.md, F4.
    """

    def cut(self, found: Moments, V: Array, classes: AnyArray) -> Cut:
        if len(classes) > 2:
            return Cut(_nearest(found, V, classes, found.shares))
        w = V[:, 0]
        m, scatter, base = _along(found, w)
        freedom = found.total_weight - 2
        pooled = scatter.sum() / freedom if freedom > 0 else 0.0
        if pooled <= 1e-24 * (m[1] - m[0]) ** 2:
            cut = MidpointThreshold().cut(found, V, classes)
            note = "no scatter along the direction: the threshold is midway between the means"
            return Cut(cut.scorer, cut.crossings, cut.threshold, note)
        known = (found.weight > 1) & (scatter > 1e-24 * pooled * found.weight)
        sigma = np.sqrt(np.where(known, scatter / np.where(known, found.weight - 1, 1.0), pooled))
        note = "" if known.all() else "a class does not vary along the direction: the pooled variance replaces its own"
        whiten = tuple((w * found.frame.scale)[:, None] / s for s in sigma)
        constant = -np.log(sigma) - 0.5 * np.log(2 * np.pi)
        gaussians = Gaussians(found.frame, found.shares, found.mean, whiten, (), constant)
        points = crossings(m, sigma, found.shares)
        joint = np.log(found.shares) + constant - 0.5 * ((m.mean() - m) / sigma) ** 2
        threshold = _beginning(points, sigma, bool(joint[1] > joint[0]))
        return Cut(QuadraticScorer(gaussians, classes), points + base, threshold + base, note)


@final
@dataclass(frozen=True)
class MidpointThreshold:
    """The threshold midway between the projected means: Gaussians of one variance and equal priors."""

    def cut(self, found: Moments, V: Array, classes: AnyArray) -> Cut:
        if len(classes) > 2:
            return Cut(_nearest(found, V, classes, np.full(len(classes), 1 / len(classes))))
        w = V[:, 0]
        m, scatter, base = _along(found, w)
        freedom = found.total_weight - 2
        variance = scatter.sum() / freedom if freedom > 0 else 0.0
        spread = variance > 1e-24 * (m[1] - m[0]) ** 2
        factor = (m[1] - m[0]) / variance if spread else 1.0
        W = factor * np.concatenate([[-m.mean()], w * found.frame.scale])[None, :]
        scorer = Scorer(found.frame.to_original(W), classes, "logit" if spread else "identity")
        middle = float(m.mean()) + base
        return Cut(scorer, np.array([middle]), middle)


def _nearest(found: Moments, V: Array, classes: AnyArray, priors: Array) -> Scorer:
    """Assigns the class of the nearest projected mean, in the pooled covariance S_W/(S − K), with priors."""
    framed = V * found.frame.scale[:, None]
    freedom = max(found.total_weight - len(classes), 1.0)
    white = Whitening.of(framed.T @ found.within @ framed / freedom)
    inverse = white.A @ white.A.T if white.rank else np.eye(V.shape[1])
    mu = (found.mean - found.center) @ framed
    w = mu @ inverse @ framed.T
    b = np.log(priors) - 0.5 * np.sum((mu @ inverse) * mu, axis=1) - w @ found.center
    return Scorer(found.frame.to_original(np.column_stack([b, w])), classes, "softmax")


THRESHOLDS: dict[str, Threshold] = {"gaussian": GaussianThreshold(), "midpoint": MidpointThreshold()}
