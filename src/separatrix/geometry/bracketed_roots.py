"""Roots of many functions of one variable at once, each inside a bracket at whose ends the function differs in sign.

Each step halves the brackets and then cuts them at the root of the parabola through the two ends and the middle
(Muller's method, kept inside the bracket). So the root of a quadratic function is found by the first step, and that of
a smooth function by few steps. For a function that jumps, such as one of votes, a parabola is of no use. Its bracket is
divided into several sections at a time, which takes half the time of bisection.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.geometry.grids import Along

# Steps with parabolas for all functions, after which a bracket is at most an eighth as long. A function that still
# changes in its bracket by more than LARGEST_SMOOTH_SHARE of its first change jumps there.
FIRST_STEPS, LARGEST_SMOOTH_SHARE = 3, 0.25
# Steps after which a bracket is below 2^−50 of its length, though each step only halves it.
MOST_PARABOLAS = 50
# Sections of a bracket: with 4 or 16 of them, the 130 edges that a curve crosses take a fifth longer.
SECTIONS = 8
# A root has converged if it moves by less than this share of the first bracket, or if the function has become smaller
# than this share of its values at the ends. Brackets are at most 1/48 as long as the box, so this is about 100 rounding
# errors of a coordinate. With 1e-13, the rounding of scores keeps one root in 100 from converging in the first step.
CONVERGED = 1e-12
TINY = float(np.finfo(np.float64).tiny)


class _Brackets(NamedTuple):
    """Brackets from a to b, the functions' values there, estimates of the roots, and which of them have converged.

    ``zero``: values of the functions that count as zero. All have shape (m,).
    """

    a: Array
    b: Array
    fa: Array
    fb: Array
    root: Array
    converged: Any
    zero: Array

    def of(self, which: Integers) -> _Brackets:
        return _Brackets(*(values[which] for values in self))


def bracketed_roots(functions: Along, low: Array, high: Array) -> Array:
    """Find t in [0, 1] where each function changes its sign, (m,).

    ``functions`` gives, for the numbers (m,) of some of them, the function that maps t (q, m) to their values. ``low``
    holds the values at 0, which are not negative, and ``high`` those at 1, which are negative; a value of zero at 1
    counts as negative.

    >>> targets = np.array([0.25, 0.5, 0.9])
    >>> bracketed_roots(lambda k: lambda t: targets[k] ** 2 - t**2, targets**2, targets**2 - 1.0).round(12).tolist()
    [0.25, 0.5, 0.9]
    """
    high, a = np.minimum(high, -TINY), np.zeros_like(low)
    whole = _Brackets(a, np.ones_like(low), low, high, a, a > 0, CONVERGED * (low - high))
    found = _by_parabolas(functions(np.arange(len(low))), whole, FIRST_STEPS)
    if found.converged.all():
        return found.root
    jumps = found.fa - found.fb > LARGEST_SMOOTH_SHARE * (low - high)
    jumping, smooth = np.flatnonzero(jumps & ~found.converged), np.flatnonzero(~(jumps | found.converged))
    root = found.root
    if len(jumping):
        root[jumping] = _by_sections(functions(jumping), found.a[jumping], found.b[jumping])
    if len(smooth):
        root[smooth] = _by_parabolas(functions(smooth), found.of(smooth), MOST_PARABOLAS).root
    return root


def _by_parabolas(function: Callable[[Array], Array], start: _Brackets, steps: int) -> _Brackets:
    """The brackets and roots after some steps, fewer if all roots have converged before."""
    a, b, fa, fb, root, converged, zero = start
    for _ in range(steps):
        before, middle, half = root, 0.5 * (a + b), 0.5 * (b - a)
        fm = function(middle[None])[0]
        root = np.minimum(np.maximum(middle + half * _root_of_parabola(fa, fm, fb), a), b)
        fr = function(root[None])[0]
        converged = (np.abs(fr) <= zero) | (np.abs(root - before) <= CONVERGED)
        if converged.all():
            break
        swap = root < middle
        p, fp = np.where(swap, root, middle), np.where(swap, fr, fm)
        q, fq = np.where(swap, middle, root), np.where(swap, fm, fr)
        first, last = fp < 0, fq >= 0
        a, fa = np.where(first, a, np.where(last, q, p)), np.where(first, fa, np.where(last, fq, fp))
        b, fb = np.where(first, p, np.where(last, b, q)), np.where(first, fp, np.where(last, fb, fq))
    return _Brackets(a, b, fa, fb, root, converged, zero)


def _by_sections(function: Callable[[Array], Array], a: Array, b: Array) -> Array:
    """The roots between a (m,) and b (m,), up to CONVERGED."""
    share, rows = np.arange(1, SECTIONS)[:, None] / SECTIONS, np.arange(len(a))
    while (b - a).max() > CONVERGED:
        inner = a + share * (b - a)
        negative = np.ones((SECTIONS, len(a)), dtype=bool)  # the last row stands for the ends b
        negative[:-1] = function(inner) < 0
        ends, section = np.concatenate([a[None], inner, b[None]]), negative.argmax(axis=0)
        a, b = ends[section, rows], ends[section + 1, rows]
    return np.asarray(0.5 * (a + b))


def _root_of_parabola(fa: Array, fm: Array, fb: Array) -> Array:
    """The root in [−1, 1] of the parabola with values fa ≥ 0, fm and fb < 0 at −1, 0 and 1."""
    bend, slope = 0.5 * (fa + fb) - fm, 0.5 * (fb - fa)
    width = np.sqrt(np.maximum(slope * slope - 4 * bend * fm, 0.0))
    return np.asarray(-2 * fm / np.minimum(slope - width, -TINY))
