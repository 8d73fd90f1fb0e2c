r"""The end of a profile interval: the distance v > 0 from a maximum at which r(v) = q.

    r(v) = (2 (max l − l_prof(v)))^½,    l_prof(v) = max of l over everything else, with the coefficient held at v

Given     a function that evaluates the profile at v; a first distance; q, a normal quantile
Returns   v at which r was evaluated and is q, or the reason why there is none
Method    r is nearly linear, so Newton's method solves r(v) = q. It is kept inside a bracket, which is bisected if a
          Newton step leaves it or does not halve |r − q|
Stops     when |r² − q²| ≤ 2·10⁻⁹ q² plus the rounding error of r². Otherwise when the bracket has no number between its
          ends: then rounding errors of the profile are larger than expected, and r is accepted within 10⁻⁵ q, or the
          profile jumps

Every distance that is returned was evaluated. Press, Teukolsky, Vetterling and Flannery, Numerical Recipes (2007),
section 9.4, has this safeguard of Newton's method.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from separatrix.base.arrays import EPS

# The tolerance of r relative to q, and the tolerance if rounding hides more digits.
ROOT_TOLERANCE, ROUNDED_ROOT_TOLERANCE = 1e-9, 1e-5
# The most evaluations for one end. Newton's method needs about ten; a bracket of float64 numbers is empty after sixty
# bisections.
MOST_EVALUATIONS = 100
# The search ends after this many failed evaluations. Each failure halves the distance to the last point that could be
# evaluated, so twenty leave a millionth of the first step.
MOST_FAILED_EVALUATIONS = 20
# Before r has exceeded q, the next distance is at most this many times the last.
LARGEST_OUTWARD_FACTOR = 3.0


class Look(NamedTuple):
    """The profile at the distance ``v``: its root ``r``, and ``slope`` = dr²/dv ÷ 2, the fall of l per unit of v."""

    v: float
    r: float
    slope: float


class End(NamedTuple):
    """The end of an interval; NaN with the reason if it was not found."""

    v: float
    reason: str = ""


def find_end(look: Callable[[float], Look | None], first: float, q: float, rounding: float = 0.0) -> End:
    """The distance at which r = q.

    Parameters
    ----------
    look : callable
        Evaluates the profile near a distance v > 0; it returns None if that is not possible.
    first : float
        The distance to evaluate first, such as q standard errors.
    q : float
        The value that r has at the end.
    rounding : float
        The largest rounding error of r².

    Returns
    -------
    End
        The distance, or NaN and the reason.

    Examples
    --------
    >>> round(find_end(lambda v: Look(v, v + v**2, (v + v**2) * (1 + 2 * v)), 1.0, 6.0).v, 6)
    2.0
    >>> find_end(lambda v: Look(v, 1.0 if v < 3 else 9.0, 1.0), 1.0, 6.0).reason
    'the profile jumps from r = 1 to r = 9 there'
    """
    inner, outer, v = Look(0.0, 0.0, 0.0), None, first
    before, failed = np.inf, 0
    for _ in range(MOST_EVALUATIONS):
        seen = look(v)
        if seen is None:  # too far from the last point: go halfway back
            failed += 1
            if failed == MOST_FAILED_EVALUATIONS:
                return End(np.nan, f"the profile cannot be evaluated further out than where r = {inner.r:.4g}")
            v = 0.5 * (inner.v + v)
            continue
        if abs(seen.r**2 - q**2) <= 2 * ROOT_TOLERANCE * q**2 + rounding:
            return End(seen.v)
        inner, outer = (seen, outer) if seen.r < q else (inner, seen)
        if outer is not None and outer.v - inner.v <= 4 * EPS * outer.v:
            return _settled(inner, outer, q)
        v, before = _next(inner, outer, seen, q, before), abs(seen.r - q)
    return End(
        np.nan, f"r is not {q:.4g} after {MOST_EVALUATIONS} evaluations of the profile; the last was {inner.r:.4g}"
    )


def _next(inner: Look, outer: Look | None, seen: Look, q: float, before: float) -> float:
    """Newton's distance if it is in the bracket and the last one halved |r − q|, else by bisection or outwards."""
    far = LARGEST_OUTWARD_FACTOR * seen.v if outer is None else outer.v
    newton = seen.v - (seen.r - q) * seen.r / seen.slope if seen.slope > 0 else np.nan
    if inner.v < newton < far and abs(seen.r - q) <= 0.5 * before:
        return newton
    return far if outer is None else 0.5 * (inner.v + outer.v)


def _settled(inner: Look, outer: Look, q: float) -> End:
    """The end of the interval from a bracket that cannot be bisected any more."""
    best = min(inner, outer, key=lambda seen: abs(seen.r - q))
    if abs(best.r - q) <= ROUNDED_ROOT_TOLERANCE * q:
        return End(best.v)
    return End(np.nan, f"the profile jumps from r = {inner.r:.4g} to r = {outer.r:.4g} there")
