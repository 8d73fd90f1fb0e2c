"""Probabilities of all classes from the scores, by the name of the link, stable for scores of any size.

With other class shares than those of the fit, P'(k | x) ∝ P(k | x) new_k/old_k (``corrected``).

No small probability is computed by a subtraction from 1, and no exponent exceeds the largest that every engine accepts.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from separatrix.base.arrays import Array
from separatrix.export.algebra import (
    HIGHEST_EXPONENT,
    LOWEST_EXPONENT,
    Abs,
    Affine,
    Constant,
    Exp,
    Largest,
    Vector,
    Where,
    beside,
    horner,
    total,
)

# Cody's rational approximations of erf and erfc, highest power first (Mathematics of Computation 23, 1969, 631–637).
ERF_P = (
    1.85777706184603153e-1,
    3.16112374387056560,
    1.13864154151050156e2,
    3.77485237685302021e2,
    3.20937758913846947e3,
)
ERF_Q = (1.0, 2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3, 2.84423683343917062e3)
MIDDLE_P = (
    2.15311535474403846e-8,
    5.64188496988670089e-1,
    8.88314979438837594,
    6.61191906371416295e1,
    2.98635138197400131e2,
    8.81952221241769090e2,
    1.71204761263407058e3,
    2.05107837782607147e3,
    1.23033935479799725e3,
)
MIDDLE_Q = (
    1.0,
    1.57449261107098347e1,
    1.17693950891312499e2,
    5.37181101862009858e2,
    1.62138957456669019e3,
    3.29079923573345963e3,
    4.36261909014324716e3,
    3.43936767414372164e3,
    1.23033935480374942e3,
)
FAR_P = (
    1.63153871373020978e-2,
    3.05326634961232344e-1,
    3.60344899949804439e-1,
    1.25781726111229246e-1,
    1.60837851487422766e-2,
    6.58749161529837803e-4,
)
FAR_Q = (
    1.0,
    2.56852019228982242,
    1.87295284992346725,
    5.27905102951428412e-1,
    6.05183413124413191e-2,
    2.33520497626869185e-3,
)
# The boundaries between the three ranges of Cody's approximations.
RANGE_1_END, RANGE_2_END = 0.46875, 4.0
# Largest argument of erfc; larger ones are replaced by it. erfc is 0 there, and a larger argument would overflow in the
# polynomials of the other ranges.
FARTHEST = 40.0
# Below this r, 1 − e^{−r} is computed by its Taylor series, since the difference would lose digits. SERIES
# has the coefficients of the series, highest power first.
SHORT_RATE, SERIES = 0.01, tuple((-1.0) ** (k + 1) / float(np.prod(np.arange(1, k + 1))) for k in range(8, 0, -1))


def both(z: Vector) -> Vector:
    """(−z, z): the score of each of two classes against the other."""
    return Affine(z, np.array([[-1.0], [1.0]]), np.zeros(2))


def logit(z: Vector) -> Vector:
    """σ(∓z), computed from e^{−|z|}, which never overflows."""
    s = both(z)
    e = Exp(-Abs(s))
    return Where(s, 1.0 / (1.0 + e), e / (1.0 + e))


def softmax(z: Vector) -> Vector:
    """e^{z_k − max z}, divided by the sum over k."""
    e = Exp(z - Largest(z))
    return e / total(e)


def probit(z: Vector) -> Vector:
    """Φ(∓z) = ½ erfc(±z/√2)."""
    s = both(z)
    y = Abs(s) * float(np.sqrt(0.5))
    y = Where(FARTHEST - y, y, Constant(FARTHEST))
    square = y * y
    near = y * horner(ERF_P, square) / horner(ERF_Q, square)
    held = Where(RANGE_2_END - y, y, Constant(RANGE_2_END))
    e = Exp(-square)
    middle = e * horner(MIDDLE_P, held) / horner(MIDDLE_Q, held)
    u = 1.0 / Where(y - RANGE_2_END, square, Constant(RANGE_2_END * RANGE_2_END))
    far = (
        e
        / Where(y - RANGE_2_END, y, Constant(RANGE_2_END))
        * (float(1 / np.sqrt(np.pi)) - u * horner(FAR_P, u) / horner(FAR_Q, u))
    )
    tail = 0.5 * Where(y - RANGE_2_END, far, middle)
    return Where(RANGE_1_END - y, 0.5 + Where(s, 0.5 * near, -0.5 * near), Where(s, 1.0 - tail, tail))


def cloglog(z: Vector) -> Vector:
    """(e^{−r}, 1 − e^{−r}) with r = e^z."""
    r = Exp(Where(HIGHEST_EXPONENT - z, z, Constant(HIGHEST_EXPONENT)))
    short = Where(SHORT_RATE - r, r, Constant(SHORT_RATE))
    first = Exp(-r)
    return beside(first, Where(SHORT_RATE - r, short * horner(SERIES, short), 1.0 - first))


# The formulas of probabilities, by the name of the link. Other links have no probabilities.
PROBABILITIES: dict[str, Callable[[Vector], Vector]] = {
    "logit": logit,
    "softmax": softmax,
    "probit": probit,
    "cloglog": cloglog,
}


def corrected(link: str, z: Vector, log_ratio: Array) -> Vector:
    """The probabilities for other class shares, with ``log_ratio`` = ln(new_k/old_k), (K,)."""
    correction = CORRECTIONS.get(link)
    return _rescaled(PROBABILITIES[link](z), log_ratio) if correction is None else correction(z, log_ratio)


def _shifted_logit(z: Vector, log_ratio: Array) -> Vector:
    """The log odds change by the difference of the two logarithms."""
    return logit(z + float(log_ratio[1] - log_ratio[0]))


def _shifted_softmax(z: Vector, log_ratio: Array) -> Vector:
    """The largest score is subtracted first, so that large scores do not absorb the logarithms."""
    return softmax(Affine(z - Largest(z), np.eye(len(log_ratio)), log_ratio))


def _rescaled(p: Vector, log_ratio: Array) -> Vector:
    """p_k times its ratio, divided by the sum. The largest ratio is scaled to 1, so that no product overflows."""
    factors = np.exp(np.maximum(log_ratio - log_ratio.max(), LOWEST_EXPONENT))
    weighted = Affine(p, np.diag(factors), np.zeros(len(factors)))
    return weighted / total(weighted)


# Links whose scores take the correction; for others the probabilities are rescaled.
CORRECTIONS: dict[str, Callable[[Vector, Array], Vector]] = {"logit": _shifted_logit, "softmax": _shifted_softmax}
