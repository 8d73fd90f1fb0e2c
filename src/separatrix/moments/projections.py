"""Directions along which classes lie apart: of the means (F1), and Fisher's (F2, F3, F5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, final

import numpy as np

from separatrix.base.arrays import EPS, Array
from separatrix.base.errors import LabelError
from separatrix.moments.gather import Moments
from separatrix.moments.whitening import Whitening

# Scatter along a direction that is this small beside the total there is rounding.
NO_SCATTER = 1e-20
# Where rounding may hide more than this share of the scatter along some direction, nothing is claimed.
CURVATURE_LOST = 0.5
# J where there is no scatter at all: the largest number, so that a certificate can hold it.
UNBOUNDED = float(np.finfo(np.float64).max)


class Direction(Protocol):
    """A criterion J of directions V (d, q), in raw units, and its maximiser."""

    def best(self, found: Moments, q: int) -> tuple[Array, Array]: ...
    def criterion(self, found: Moments, V: Array) -> float: ...
    def gap(self, found: Moments, V: Array) -> float | None: ...
    def stationarity(self, found: Moments, V: Array) -> float: ...


def apart(found: Moments) -> Array:
    """E with S_B = EᵀE: the row m₂ − m₁ for two classes, as lecture 001 has it; rows √S_k (m_k − m) for more."""
    if len(found.weight) == 2:
        return np.asarray(found.mean[1:] - found.mean[:1])
    return np.asarray(np.sqrt(found.weight)[:, None] * (found.mean - found.center))


def _units_of_apart(found: Moments) -> Array:
    """What a row of E is rounded in, beside the roots of the columns' scatter over all rows: (1,) or (K,)."""
    if len(found.weight) == 2:
        return np.array([2 / np.sqrt(found.total_weight)])
    return np.asarray(2 * np.sqrt(found.shares))


def _rounding(found: Moments) -> tuple[float, Array]:
    """The relative error of moments and of products of a few columns; the roots of all rows' scatter, (d,)."""
    return (
        found.rounding + 8 * EPS * (found.mean.shape[1] + 1),
        np.asarray(np.sqrt(np.diag(found.within + found.between))),
    )


def _onward(V: Array, found: Moments) -> Array:
    """The columns of V (in the frame), each turned so that it points from the first class to the last. TEXTBOOK F7."""
    ahead = (found.mean[-1] - found.mean[0]) @ V
    return V * np.where(ahead < 0, -1.0, 1.0)


def _unit(w: Array) -> Array:
    """Columns of length one; divided by their largest entry first, so that no square leaves float64."""
    w = w / np.max(np.abs(w), axis=0)
    return np.asarray(w / np.linalg.norm(w, axis=0))


def _refuse_equal_means(E: Array) -> None:
    if not np.any(E):
        raise LabelError("y", "the classes have the same mean", "no direction separates them; use other columns")


@final
@dataclass(frozen=True)
class Means:
    """J(w) = m₂ − m₁ = w·(m₂ − m₁) for ‖w‖ = 1: w = (m₂ − m₁)/‖m₂ − m₁‖. TEXTBOOK F1.

    For more classes J(V) = ‖E V‖ with orthonormal V: the principal directions of the means.

    >>> from separatrix.moments.gather import gather
    >>> from separatrix.rows import memory_rows
    >>> X, codes = np.array([[0.0, 0.0], [2.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), np.array([0, 0, 1, 1])
    >>> found = gather(memory_rows(X, codes), 2)
    >>> Means().best(found, 1)[0].round(12).ravel().tolist()
    [0.6, 0.8]
    """

    def best(self, found: Moments, q: int) -> tuple[Array, Array]:
        """V, and the share of the means' scatter along each of all directions."""
        E = apart(found) * found.frame.scale
        _refuse_equal_means(E)
        _, sigma, Vt = np.linalg.svd(E / np.max(np.abs(E)), full_matrices=False)
        V = _unit(Vt[:q].T)
        raw = _onward(V * found.frame.scale[:, None], found) / found.frame.scale[:, None]
        return raw, sigma**2 / np.sum(sigma**2)

    def criterion(self, found: Moments, V: Array) -> float:
        return float(np.linalg.norm((apart(found) * found.frame.scale) @ V))

    def gap(self, found: Moments, V: Array) -> float | None:
        """The largest J less J(V), with what rounding may hide.

        J² and the squares of what V leaves of E make up all of E's, so with all directions of E the gap is the second
        over the sum of the two J: an error of E enters squared. With fewer directions that is more than the gap.
        """
        E, J = apart(found) * found.frame.scale, self.criterion(found, V)
        error, spread = _rounding(found)
        moved = error * float(np.linalg.norm(_units_of_apart(found)) * np.linalg.norm(spread * found.frame.scale))
        sigma = np.linalg.svd(E, compute_uv=False)
        gap = max(0.0, float(np.linalg.norm(sigma[: V.shape[1]])) - J) + 2 * moved
        if 2 * moved >= J:
            return gap
        left = float(np.linalg.norm(E - (E @ V) @ V.T)) + moved
        return min(gap, left * (left / (2 * (J - moved))))

    def stationarity(self, found: Moments, V: Array) -> float:
        E = apart(found) * found.frame.scale
        slope = E.T @ (E @ V) / self.criterion(found, V)
        return float(np.linalg.norm(slope - V @ (V.T @ slope)))


@final
@dataclass(frozen=True)
class Fisher:
    """J(w) = (m₂ − m₁)²/(s₁² + s₂²) = wᵀS_B w / wᵀS_W w, largest at ŵ ∝ S_W⁻¹(m₂ − m₁). TEXTBOOK F2, F3, F5.

    S_W and s_i² are sums, not divided by n, as in lecture 001. For more classes J(V) = tr (VᵀS_W V)⁻¹ VᵀS_B V, with V
    scaled so that the within-class covariance, S_W/(S − K), becomes the identity. Where S_W is singular its
    pseudoinverse in standardised columns serves; if that gives nothing, the direction of the means without scatter.

    >>> from separatrix.moments.gather import gather
    >>> from separatrix.rows import memory_rows
    >>> X, codes = np.array([[0.0], [2.0], [5.0], [7.0]]), np.array([0, 0, 1, 1])
    >>> found = gather(memory_rows(X, codes), 2)
    >>> Fisher().criterion(found, np.array([[3.0]]))
    6.25
    """

    def best(self, found: Moments, q: int) -> tuple[Array, Array]:
        """V, and the share of J along each of all directions."""
        E = apart(found)
        _refuse_equal_means(E)
        white = Whitening.of(found.within)
        if white.rank == 0 or not self._seen(white, E):
            return self._without_scatter(found, white, q)
        _, sigma, Vt = np.linalg.svd(E @ white.A, full_matrices=False)
        q = min(q, int(np.sum(sigma > 1e-12 * sigma[0])))
        V = _onward(white.A @ Vt[:q].T, found)
        if len(found.weight) == 2:
            raw = _unit(V / found.frame.scale[:, None])
        else:
            raw = V * np.sqrt(max(found.total_weight - len(found.weight), 1.0)) / found.frame.scale[:, None]
        return raw, sigma**2 / np.sum(sigma**2)

    def _seen(self, white: Whitening, E: Array) -> bool:
        """Whether the means differ along directions that have scatter, beyond rounding."""
        return not white.singular or bool(np.linalg.norm(E @ white.A) > 1e-10 * np.linalg.norm(E / _units(white)))

    def _without_scatter(self, found: Moments, white: Whitening, q: int) -> tuple[Array, Array]:
        """Directions of the means in the null space of S_W."""
        E = apart(found)
        w = E.T - white.A @ (white.colour.T @ E.T)
        _, sigma, Vt = np.linalg.svd(w.T, full_matrices=False)
        V = _onward(Vt[: min(q, int(np.sum(sigma > 1e-12 * sigma[0])))].T, found)
        return _unit(V / found.frame.scale[:, None]), sigma**2 / np.sum(sigma**2)

    def criterion(self, found: Moments, V: Array) -> float:
        framed = V * found.frame.scale[:, None]
        within, along = framed.T @ found.within @ framed, apart(found) @ framed
        total = np.diag(within) + np.diag(framed.T @ found.between @ framed)
        if np.any(np.diag(within) <= NO_SCATTER * total):
            return UNBOUNDED if np.any(along) else 0.0
        return float(np.sum((along @ Whitening.of(within).A) ** 2))

    def gap(self, found: Moments, V: Array) -> float | None:
        """The largest J less J(V), with what rounding may hide; None where S_W is singular but for rounding.

        For any C and R = E − C VᵀS_W, tr R S_W⁻¹ Rᵀ is at least the J of all directions less J(V), and equal to that
        for the C that is least. So errors of E and S_W enter squared. With fewer directions than E has, the values
        themselves, with their errors, may tell more.
        """
        E, white = apart(found), Whitening.of(found.within)
        if white.singular:  # a scatter too small for squared columns to show is not told from none: J may be larger
            return None
        error, spread = _rounding(found)
        units, columns = _units_of_apart(found), spread @ np.abs(white.A)
        blurred, length = error * float(columns @ columns), float(np.linalg.norm(columns))
        if not blurred <= CURVATURE_LOST:
            return None
        framed = V * found.frame.scale[:, None]
        C = Whitening.of(framed.T @ found.within @ framed).solve((E @ framed).T).T
        left = np.linalg.norm((E - C @ (framed.T @ found.within)) @ white.A, axis=1)
        left += error * length * (units + np.abs(C) @ (spread @ np.abs(framed)))
        gap = float(left @ left) / (1 - blurred)
        sigma = np.linalg.svd(E @ white.A, compute_uv=False)
        largest, J = np.linalg.norm(sigma[: V.shape[1]]), np.sqrt(self.criterion(found, V))
        moved = error * length * float(np.linalg.norm(units))
        between = float((largest + moved) ** 2 / (1 - blurred) - max(0.0, J - moved) ** 2 / (1 + blurred))
        return min(gap, max(0.0, between))

    def stationarity(self, found: Moments, V: Array) -> float:
        white = Whitening.of(found.within)
        e = apart(found) @ white.A
        Q, _ = np.linalg.qr(white.colour.T @ (V * found.frame.scale[:, None]))
        slope = e.T @ (e @ Q)
        return float(np.linalg.norm(slope - Q @ (Q.T @ slope)))


def _units(white: Whitening) -> Array:
    """√S_jj by column, 1 where there is no scatter."""
    scatter = np.sqrt(np.sum(white.colour**2, axis=1))
    return np.where(scatter > 0, scatter, 1.0)


DIRECTIONS: dict[str, Direction] = {"fisher": Fisher(), "means": Means()}
