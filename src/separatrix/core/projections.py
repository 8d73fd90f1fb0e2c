"""Rows projected on few directions, with thresholds along them (docs/tour.md, F1–F5).

A direction is that of the class means (F1) or Fisher's (F2, F3, F5). A threshold is where the posteriors of Gaussians
cross (F4), or midway between the means. Along y = w·x class i has mean m_i and the unbiased variance σ_i² =
s_i²/(n_i − 1); with priors n_i/n

    ln P(C₂|y)/P(C₁|y) = ln n₂/n₁ − ln σ₂/σ₁ − (y − m₂)²/2σ₂² + (y − m₁)²/2σ₁²

Lecture 001 omits −ln σ₂/σ₁, which is right only for equal variances. It is included here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, final

import numpy as np

from separatrix.core.base.arrays import EPS, AnyArray, Array
from separatrix.core.base.codec import Choice, array
from separatrix.core.base.errors import LabelError
from separatrix.core.gaussians import Gaussians, QuadraticScorer, Whitening, quadratic_roots
from separatrix.core.moments import Moments
from separatrix.core.scorer import Scorer, Scores

# --- Directions

# J where there is no scatter at all: the largest float, because a certificate cannot hold infinity.
UNBOUNDED_CRITERION = float(np.finfo(np.float64).max)


def apart(moments: Moments) -> Array:
    """E with S_B = EᵀE: the row m₂ − m₁ for two classes, as lecture 001 has it; rows √S_k (m_k − m) for more."""
    if len(moments.weight) == 2:
        return np.asarray(moments.mean[1:] - moments.mean[:1])
    return np.asarray(np.sqrt(moments.weight)[:, None] * (moments.mean - moments.center))


def _units_of_apart(moments: Moments) -> Array:
    """The unit of rounding of a row of E, relative to the roots of the columns' scatter over all rows: (1,) or (K,)."""
    if len(moments.weight) == 2:
        return np.array([2 / np.sqrt(moments.total_weight)])
    return np.asarray(2 * np.sqrt(moments.shares))


def _rounding(moments: Moments) -> tuple[float, Array]:
    """The relative error of moments and of products of a few columns, and the roots of the total scatter, (d,)."""
    return (
        moments.rounding + 8 * EPS * (moments.mean.shape[1] + 1),
        np.asarray(np.sqrt(np.diag(moments.within + moments.between))),
    )


def _onward(V: Array, moments: Moments) -> Array:
    """The columns of V (in the frame), signed so that they point from the first class to the last.

    See docs/tour.md, F7.
    """
    ahead = (moments.mean[-1] - moments.mean[0]) @ V
    return V * np.where(ahead < 0, -1.0, 1.0)


def _unit(w: Array) -> Array:
    """Columns scaled to length one; they are first divided by their largest entry, so that squares do not overflow."""
    w = w / np.max(np.abs(w), axis=0)
    return np.asarray(w / np.linalg.norm(w, axis=0))


def _refuse_equal_means(moments: Moments) -> None:
    error, roots = _rounding(moments)
    if np.all(np.abs(apart(moments)) <= error * _units_of_apart(moments)[:, None] * roots):
        raise LabelError("y", "the classes have the same mean", "no direction separates them; use other columns")


@final
@dataclass(frozen=True)
class Means:
    """J(w) = m₂ − m₁ = w·(m₂ − m₁) for ‖w‖ = 1: w = (m₂ − m₁)/‖m₂ − m₁‖ (docs/tour.md, F1).

    For more classes J(V) = ‖E V‖ with orthonormal V: the principal directions of the means.

    >>> from separatrix.core.moments import gather
    >>> from separatrix.core.rows.memory_rows import memory_rows
    >>> X, codes = np.array([[0.0, 0.0], [2.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), np.array([0, 0, 1, 1])
    >>> moments = gather(memory_rows(X, codes), 2)
    >>> Means().best(moments, 1)[0].round(12).ravel().tolist()
    [0.6, 0.8]
    """

    def best(self, moments: Moments, q: int) -> tuple[Array, Array]:
        """V, and the share of the means' scatter along each possible direction."""
        E = apart(moments) * moments.frame.scale
        _refuse_equal_means(moments)
        _, sigma, Vt = np.linalg.svd(E / np.max(np.abs(E)), full_matrices=False)
        V = _unit(Vt[:q].T)
        raw = _onward(V * moments.frame.scale[:, None], moments) / moments.frame.scale[:, None]
        return raw, sigma**2 / np.sum(sigma**2)

    def criterion(self, moments: Moments, V: Array) -> float:
        return float(np.linalg.norm((apart(moments) * moments.frame.scale) @ V))

    def gap(self, moments: Moments, V: Array) -> float | None:
        """The largest J minus J(V), plus a bound on rounding.

        J² and the squared norm of E − E V Vᵀ add up to that of E. So with all directions of E the gap is the second
        divided by the sum of both values of J, and an error of E enters squared. With fewer directions this is an upper
        bound on the gap.
        """
        E, J = apart(moments) * moments.frame.scale, self.criterion(moments, V)
        error, spread = _rounding(moments)
        moved = error * float(np.linalg.norm(_units_of_apart(moments)) * np.linalg.norm(spread * moments.frame.scale))
        sigma = np.linalg.svd(E, compute_uv=False)
        gap = max(0.0, float(np.linalg.norm(sigma[: V.shape[1]])) - J) + 2 * moved
        if 2 * moved >= J:
            return gap
        left = float(np.linalg.norm(E - (E @ V) @ V.T)) + moved
        return min(gap, left * (left / (2 * (J - moved))))

    def stationarity(self, moments: Moments, V: Array) -> float:
        E = apart(moments) * moments.frame.scale
        slope = E.T @ (E @ V) / self.criterion(moments, V)
        return float(np.linalg.norm(slope - V @ (V.T @ slope)))


@final
@dataclass(frozen=True)
class Fisher:
    """J(w) = (m₂ − m₁)²/(s₁² + s₂²) = wᵀS_B w / wᵀS_W w, largest at ŵ ∝ S_W⁻¹(m₂ − m₁) (docs/tour.md, F2, F3, F5).

    S_W and s_i² are sums, not divided by n, as in lecture 001. For more classes J(V) = tr (VᵀS_W V)⁻¹ VᵀS_B V, with V
    scaled so that the within-class covariance, S_W/(S − K), becomes the identity. Where S_W is singular, its
    pseudoinverse in standardised columns is used. If the means do not differ there, the direction is that of the means
    in the null space of S_W.

    >>> from separatrix.core.moments import gather
    >>> from separatrix.core.rows.memory_rows import memory_rows
    >>> X, codes = np.array([[0.0], [2.0], [5.0], [7.0]]), np.array([0, 0, 1, 1])
    >>> moments = gather(memory_rows(X, codes), 2)
    >>> Fisher().criterion(moments, np.array([[3.0]]))
    6.25
    """

    def best(self, moments: Moments, q: int) -> tuple[Array, Array]:
        """V, and the share of J along each possible direction."""
        E = apart(moments)
        _refuse_equal_means(moments)
        white = Whitening.of(moments.within)
        # The means are seen to differ if they do along directions that have scatter, beyond rounding.
        scatter = np.sqrt(np.sum(white.colour**2, axis=1))
        framed = E / np.where(scatter > 0, scatter, 1.0)
        seen = not white.singular or bool(np.linalg.norm(E @ white.A) > 1e-10 * np.linalg.norm(framed))
        if white.rank == 0 or not seen:  # directions of the means in the null space of S_W
            w = E.T - white.A @ (white.colour.T @ E.T)
            _, sigma, Vt = np.linalg.svd(w.T, full_matrices=False)
            V = _onward(Vt[: min(q, int(np.sum(sigma > 1e-12 * sigma[0])))].T, moments)
            return _unit(V / moments.frame.scale[:, None]), sigma**2 / np.sum(sigma**2)
        _, sigma, Vt = np.linalg.svd(E @ white.A, full_matrices=False)
        q = min(q, int(np.sum(sigma > 1e-12 * sigma[0])))
        V = _onward(white.A @ Vt[:q].T, moments)
        if len(moments.weight) == 2:
            raw = _unit(V / moments.frame.scale[:, None])
        else:
            raw = V * np.sqrt(max(moments.total_weight - len(moments.weight), 1.0)) / moments.frame.scale[:, None]
        return raw, sigma**2 / np.sum(sigma**2)

    def criterion(self, moments: Moments, V: Array) -> float:
        framed = V * moments.frame.scale[:, None]
        within, along = framed.T @ moments.within @ framed, apart(moments) @ framed
        total = np.diag(within) + np.diag(framed.T @ moments.between @ framed)
        # Scatter below this share of the total scatter along a direction is a rounding error.
        if np.any(np.diag(within) <= 1e-20 * total):
            return UNBOUNDED_CRITERION if np.any(along) else 0.0
        return float(np.sum((along @ Whitening.of(within).A) ** 2))

    def gap(self, moments: Moments, V: Array) -> float | None:
        """The largest J minus J(V), plus a bound on rounding; None where S_W is singular up to rounding.

        For any C and R = E − C VᵀS_W, tr R S_W⁻¹ Rᵀ is at least the J of all directions minus J(V), with equality at
        the minimising C. So errors of E and S_W enter squared. With fewer directions than E has, the singular values
        and their errors may give a smaller bound.
        """
        E, white = apart(moments), Whitening.of(moments.within)
        if white.singular:  # scatter that is too small to show in squared columns looks like none: J may be larger
            return None
        error, spread = _rounding(moments)
        units, columns = _units_of_apart(moments), spread @ np.abs(white.A)
        blurred, length = error * float(columns @ columns), float(np.linalg.norm(columns))
        if not blurred <= 0.5:  # rounding may hide too much of the scatter along some direction
            return None
        framed = V * moments.frame.scale[:, None]
        C = Whitening.of(framed.T @ moments.within @ framed).solve((E @ framed).T).T
        left = np.linalg.norm((E - C @ (framed.T @ moments.within)) @ white.A, axis=1)
        left += error * length * (units + np.abs(C) @ (spread @ np.abs(framed)))
        gap = float(left @ left) / (1 - blurred)
        sigma = np.linalg.svd(E @ white.A, compute_uv=False)
        largest, J = np.linalg.norm(sigma[: V.shape[1]]), np.sqrt(self.criterion(moments, V))
        moved = error * length * float(np.linalg.norm(units))
        between = float((largest + moved) ** 2 / (1 - blurred) - max(0.0, J - moved) ** 2 / (1 + blurred))
        return min(gap, max(0.0, between))

    def stationarity(self, moments: Moments, V: Array) -> float:
        white = Whitening.of(moments.within)
        e = apart(moments) @ white.A
        Q, _ = np.linalg.qr(white.colour.T @ (V * moments.frame.scale[:, None]))
        slope = e.T @ (e @ Q)
        return float(np.linalg.norm(slope - Q @ (Q.T @ slope)))


DIRECTIONS: dict[str, Fisher | Means] = {"fisher": Fisher(), "means": Means()}


# --- Thresholds


@dataclass(frozen=True)
class Cut:
    """A scorer along a projection; for two classes, also the zeros of its score and the one where class 2 begins."""

    scorer: Scores
    crossings: Array = field(default_factory=lambda: np.empty(0))
    threshold: float = np.nan
    note: str = ""


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
    a = 0.0 if abs(a) <= 1e-14 * max(p, q) else a
    return np.sort(middle + np.array(quadratic_roots(a, b, c)))


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


def gaussian_cut(found: Moments, V: Array, classes: AnyArray) -> Cut:
    """The threshold where posteriors cross; for more classes pooled Gaussians with priors n_k/n (docs/tour.md, F4)."""
    if len(classes) > 2:
        return Cut(_nearest(found, V, classes, found.shares))
    w = V[:, 0]
    m, scatter, base = _along(found, w)
    freedom = found.total_weight - 2
    pooled = scatter.sum() / freedom if freedom > 0 else 0.0
    if pooled <= 1e-24 * (m[1] - m[0]) ** 2:
        cut = midpoint_cut(found, V, classes)
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


def midpoint_cut(found: Moments, V: Array, classes: AnyArray) -> Cut:
    """The threshold midway between the projected means: Gaussians of one variance and equal priors."""
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


THRESHOLDS = {"gaussian": gaussian_cut, "midpoint": midpoint_cut}


# --- A direction and a threshold, by name


@dataclass(frozen=True)
class Projection:
    """V (d, q) in raw units, with the names of the criterion that it maximises and of its threshold rule."""

    V: Annotated[Array, array("d", "")]
    direction: Annotated[str, Choice(DIRECTIONS)]
    threshold: Annotated[str, Choice(THRESHOLDS)]

    def criterion(self, moments: Moments) -> float:
        """J(V) on these moments."""
        return DIRECTIONS[self.direction].criterion(moments, self.V)

    def gap(self, moments: Moments) -> float | None:
        """The largest J minus J(V), plus a bound on rounding; None where J is unbounded up to rounding."""
        return DIRECTIONS[self.direction].gap(moments, self.V)

    def stationarity(self, moments: Moments) -> float:
        """How far V is from a stationary point of J; 0 at a stationary point."""
        return DIRECTIONS[self.direction].stationarity(moments, self.V)

    def cut(self, moments: Moments, classes: AnyArray) -> Cut:
        """The scorer along V for these moments."""
        return THRESHOLDS[self.threshold](moments, self.V, classes)
