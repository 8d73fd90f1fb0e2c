"""The scores of a fitted model as an expression of the columns: linear, one Gaussian per class, or votes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.errors import ParameterError
from separatrix.export.algebra import Abs, Affine, Constant, Inputs, Largest, Vector, Where
from separatrix.moments.gaussians import LARGEST_WHITENED_LENGTH, Gaussians, QuadraticScorer
from separatrix.scorers.parts import PartsScorer
from separatrix.scorers.schemes import TIE_SHARE, OneVersusOne, pairs
from separatrix.scorers.scorer import Scorer, scores_of
from separatrix.table.scaling import Scaling


@dataclass(frozen=True, eq=False)
class Centred:
    """The inputs X − ``shift``, in the table's units: ``scale`` times (the scorer's columns − ``center``).

    ``drawn_in`` tells whether very large distances to Gaussians are limited (``formula_of``).
    """

    node: Inputs
    center: Array
    scale: Array
    shift: Array
    drawn_in: bool

    @property
    def width(self) -> int:
        return self.node.width


def scores_from(scorer: Any, scaling: Scaling | None, drawn_in: bool) -> tuple[Centred, Vector]:
    """The inputs of a formula, and the scores as an expression of them."""
    center = _center(scorer)
    units = Scaling(np.zeros(len(center)), np.ones(len(center))) if scaling is None else scaling
    x = Centred(Inputs(len(center)), center, units.scale, units.center + units.scale * center, drawn_in)
    return x, _scores_of(scorer, x)


def _scores_of(scorer: Any, x: Centred) -> Vector:
    rule = SCORES.get(type(scorer))
    if rule is None:
        raise ParameterError("model", f"it decides by a {type(scorer).__name__}", "export a classifier of this package")
    return rule(scorer, x)


def _center(scorer: Any) -> Array:
    """The shift of the columns: zero for linear scores; for Gaussians their centre, which avoids cancellation."""
    if isinstance(scorer, PartsScorer) and scorer.W is None:
        return _center(scores_of(scorer.estimators[0]))
    if isinstance(scorer, QuadraticScorer):
        return np.asarray(scorer.gaussians.frame.center, dtype=np.float64)
    return np.zeros(scorer.W.shape[1] - 1 if hasattr(scorer, "W") else 0)


def _linear(scorer: Scorer, x: Centred) -> Vector:
    """Z = b + w·x."""
    return _affine(scorer.W, x)


def _affine(W: Array, x: Centred) -> Vector:
    return Affine(x.node, W[:, 1:] / x.scale, W[:, 0] + W[:, 1:] @ x.center)


def _quadratic(scorer: QuadraticScorer, x: Centred) -> Vector:
    """Ln p(x|C_k)p(C_k) = a_k + ln π_k − ½ ‖h_k‖², with h_k affine in x; for two classes, the difference."""
    found: Gaussians = scorer.gaussians
    white = found.whitened(x.center, x.scale)
    ranks = [A.shape[1] for A in found.whiten]
    # A class in which no column varies gets a row of zeros, so that a missing value also makes its score missing.
    lone = [end for end, rank in zip(np.cumsum(ranks), ranks, strict=True) if rank == 0]
    rows, faint = (np.insert(M, lone, 0.0, axis=0) for M in (white.M, white.faint))
    h: Vector = Affine(x.node, rows, np.insert(white.a, lone, 0.0))
    if faint.any():
        h = h + Affine(x.node, faint, np.zeros(len(faint))) / white.unit
    # h is multiplied by ``unit``, or beyond the limit by the factor that brings its largest entry to
    # LARGEST_WHITENED_LENGTH.
    length, limit = Largest(Abs(h)), LARGEST_WHITENED_LENGTH / white.unit
    limited = LARGEST_WHITENED_LENGTH / Where(limit - length, Constant(limit), length)
    h_near = h * (limited if x.drawn_in else white.unit)
    own = np.repeat(np.arange(len(ranks)), np.maximum(ranks, 1))
    M = np.where(own == np.arange(len(ranks))[:, None], -0.5, 0.0)
    a = found.constant - found.constant.mean() + np.log(found.priors)
    if len(M) == 2:
        M, a = M[1:] - M[:1], a[1:] - a[:1]
    return Affine(h_near * h_near, M, a)


def _parts_scores(scorer: PartsScorer, x: Centred) -> Vector:
    """The combined scores h of the parts. For one versus one: the pairs won, plus a function of s that breaks ties.

    Here s_i = Σ_j h_ij/‖w_ij‖.
    """
    h = (
        _affine(scorer.W, x)
        if scorer.W is not None
        else _stacked([_scores_of(scores_of(part), x) for part in scorer.estimators])
    )
    K = len(scorer.classes)
    if K == 2 or not isinstance(scorer.scheme, OneVersusOne):
        return h
    P = np.zeros((K, h.width))
    for k, (i, j) in enumerate(pairs(K)):
        P[i, k], P[j, k] = 1.0, -1.0
    lengths = np.ones(h.width) if scorer.W is None else np.linalg.norm(scorer.W[:, 1:], axis=1)
    s = Affine(h, P / np.where(lengths > 0, lengths, 1.0), np.zeros(K))
    votes = Where(h, Constant(1.0), Constant(-1.0))
    won = Affine(votes, 0.5 * P, np.full(K, 0.5 * (K - 1)))
    return won + TIE_SHARE * s / (1.0 + Abs(s))


def _stacked(parts: list[Vector]) -> Vector:
    """Vectors of width 1, stacked into one vector."""
    E = np.eye(len(parts))
    return sum(
        (Affine(part, E[:, k : k + 1], np.zeros(len(parts))) for k, part in enumerate(parts[1:], 1)),
        start=Affine(parts[0], E[:, :1], np.zeros(len(parts))),
    )


SCORES: dict[type, Callable[[Any, Centred], Vector]] = {
    Scorer: _linear,
    QuadraticScorer: _quadratic,
    PartsScorer: _parts_scores,
}
