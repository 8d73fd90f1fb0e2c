"""Roots of many functions of one variable at once, each inside a bracket at whose ends the function differs in sign.

Each step halves the brackets and then cuts them at the root of the parabola through the two ends and the middle
(Muller's method, kept inside the bracket). So the root of a quadratic function is found by the first step, that of a
smooth function by few steps, and a jump by bisection.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from separatrix.base.arrays import Array

# Steps after which a bracket is below 2^−50 of its length, though each step only halves it.
MOST_STEPS = 50
# A root has converged if it moves by less than this share of the first bracket, or if the function has become smaller
# than this share of its values at the ends.
CONVERGED = 4e-15
TINY = float(np.finfo(np.float64).tiny)


def bracketed_roots(function: Callable[[Array], Array], low: Array, high: Array) -> Array:
    """Find t in [0, 1] where each function changes its sign, (m,).

    ``function`` maps t (m,) to the values of the m functions at their own t. ``low`` holds the values at 0, which are
    not negative, and ``high`` those at 1, which are negative; a value of zero at 1 counts as negative.

    >>> targets = np.array([0.25, 0.5, 0.9])
    >>> bracketed_roots(lambda t: targets**2 - t**2, targets**2, targets**2 - 1.0).round(12).tolist()
    [0.25, 0.5, 0.9]
    """
    a, b, fa, fb = np.zeros_like(low), np.ones_like(low), low, np.minimum(high, -TINY)
    root, zero = a, CONVERGED * (fa - fb)
    for _ in range(MOST_STEPS):
        before, middle, half = root, 0.5 * (a + b), 0.5 * (b - a)
        fm = function(middle)
        root = np.minimum(np.maximum(middle + half * _root_of_parabola(fa, fm, fb), a), b)
        fr = function(root)
        if ((np.abs(fr) <= zero) | (np.abs(root - before) <= CONVERGED)).all():
            break
        swap = root < middle
        p, fp = np.where(swap, root, middle), np.where(swap, fr, fm)
        q, fq = np.where(swap, middle, root), np.where(swap, fm, fr)
        first, last = fp < 0, fq >= 0
        a, fa = np.where(first, a, np.where(last, q, p)), np.where(first, fa, np.where(last, fq, fp))
        b, fb = np.where(first, p, np.where(last, b, q)), np.where(first, fp, np.where(last, fb, fq))
    return root


def _root_of_parabola(fa: Array, fm: Array, fb: Array) -> Array:
    """The root in [−1, 1] of the parabola with values fa ≥ 0, fm and fb < 0 at −1, 0 and 1."""
    bend, slope = 0.5 * (fa + fb) - fm, 0.5 * (fb - fa)
    width = np.sqrt(np.maximum(slope * slope - 4 * bend * fm, 0.0))
    return np.asarray(-2 * fm / np.minimum(slope - width, -TINY))
