"""Is there a v with a·v > 0 for all rows? Decided by linear programs on a working set of rows, after quick tries.

The programs are independent of what their solutions are used for:

``widest``            maximise s  subject to  A v ≥ s,  |v| ≤ 1.  If s > 0, v separates strictly. The marginals λ ≥ 0,
                      Σλ = 1 have ‖Aᵀλ‖₁ = s, so at s = 0 they prove that no v separates strictly (Gordan).
``least_violation``   minimise the mean over each class of max(0, 1 − m), summed over both classes: Bennett and
                      Mangasarian, Robust linear programming discrimination of two linearly inseparable sets,
                      Optimization Methods and Software 1 (1992). Unlike the perceptron's cost or the largest
                      violation, it has no trivial minimum w = 0 unless the class means are equal.
``fewest``            minimise Σ |v_j|  subject to  A v ≥ 0,  mean A v = 1,  c·v = 0 on given rows c.  The solution uses
                      few columns.
``complementary``     maximise Σ s_i  subject to  A v ≥ s,  0 ≤ s ≤ 1.  s_i = 1 if some v with A v ≥ 0 has a_i·v > 0
                      (v "moves" row i); the other rows have marginals λ ≥ 1 with Aᵀλ = 0.
``balancing``         minimise Σ λ_i  subject to  Σ λ_i a_i = −Σ a_i over given rows,  λ ≥ 0.
``furthest``          maximise c·v  subject to  A v ≥ 0,  |v| ≤ 1: how far a cone of directions extends along c.

The dual simplex method of HiGHS solves all of them through SciPy, so marginals belong to a vertex and few are positive.
A large ``least_violation`` is solved by the interior point method, followed by a crossover to a vertex; one of few
columns by descent (``only_minimum``), without HiGHS, if its solution is unique. ``search`` solves programs on a working
set of rows and checks all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

import numpy as np

from separatrix.core.base.arrays import EPS, AnyArray, Array, Integers
from separatrix.core.base.watching import Part, pulse, waited, watched
from separatrix.core.exact_arithmetic import EXPONENT_OF_ZERO
from separatrix.core.proofs.class_differences import TINY, Differences, chunks
from separatrix.core.rows.block import is_sparse
from separatrix.core.rows.frame import power_of_two

# --- The linear programs


def _solved(cost: Array, method: Literal["highs-ds", "highs-ipm"] = "highs-ds", **program: Any) -> Any:
    """The solution by HiGHS, None where it fails. HiGHS cannot be interrupted; a callback can end the wait for it."""
    from scipy.optimize import linprog

    # Smaller programs take a few milliseconds.
    if len(cost) + sum(np.size(program.get(side, ())) for side in ("b_ub", "b_eq")) < 2000:
        found: Any = linprog(cost, method=method, **program)
    else:
        found = waited(lambda: linprog(cost, method=method, **program), "solving a linear program")
    return found if found.status == 0 else None


class Widest(NamedTuple):
    """s, v (w,) and λ (n,) of the widest separation, to the tolerance of the linear program solver (1e-7).

    ``most`` = ‖Aᵀλ‖₁, in scaled units where entries are near 1, is an upper bound on s that does not depend on the
    solver's tolerance.
    """

    s: float
    v: Array
    weights: Array
    most: float


def widest(A: Any) -> Widest | None:
    """Maximise s with A v ≥ s, |v| ≤ 1, for A (n, w) dense or CSR; None where HiGHS fails.

    Rows and columns are first scaled by powers of two; v and λ refer to the unscaled A, up to a positive factor each.

    >>> widest(np.array([[1.0, 2.0], [1.0, -1.0]])).s > 0
    True
    >>> widest(np.array([[1.0, 2.0], [-1.0, -2.0]])).weights.tolist()
    [0.5, 0.5]
    """
    from scipy.sparse import csr_array, hstack

    n, w = A.shape
    scaled, rows, columns = _scaled(A)
    if scaled is None:
        return None
    if is_sparse(A):
        program: Any = hstack([-scaled, csr_array(np.ones((n, 1)))], format="csr")
    else:
        program = np.column_stack([-scaled, np.ones(n)])
    cost = np.zeros(w + 1)
    cost[-1] = -1.0
    bounds = [(-1.0, 1.0)] * w + [(0.0, None)]
    found = _solved(cost, A_ub=program, b_ub=np.zeros(n), bounds=bounds, options={"presolve": False})
    if found is None:
        return None
    marginals = np.maximum(-found.ineqlin.marginals, 0.0)
    total = max(float(marginals.sum()), TINY)
    most = float(np.abs(np.asarray(scaled.T @ marginals)).sum()) / total + n * EPS
    with np.errstate(over="ignore", under="ignore"):
        weights, v = marginals / rows, found.x[:-1] / columns
    if not (np.all(np.isfinite(weights)) and np.all(np.isfinite(v))):
        return None
    return Widest(float(found.x[-1]), v, weights / max(weights.sum(), 1e-300), most)


def _scaled(A: Any) -> tuple[Any, Array, Array]:
    """A divided by powers of two near the largest entry of each column, then of each row; and these powers.

    None in place of A where an entry overflows.
    """
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        columns = power_of_two(_largest(abs(A), 0))
        rows = _row_units(A, columns)
        scaled = _divided(A, rows, columns)
    finite = np.all(np.isfinite(scaled.data if is_sparse(A) else scaled))
    return scaled if finite else None, rows, columns


def _row_units(A: Any, columns: Array) -> Array:
    """Powers of two near the largest entry of each row after dividing by the column units."""
    return power_of_two(_largest(_divided(abs(A), np.ones(A.shape[0]), columns), 1))


def _largest(size: Any, axis: int) -> Array:
    top = size.max(axis=axis)
    return np.asarray(top.toarray() if is_sparse(top) else top, dtype=np.float64).ravel()


def _divided(A: Any, rows: Array, columns: Array) -> Any:
    if not is_sparse(A):
        return A / columns / rows[:, None]
    from scipy.sparse import csr_array

    at_row = np.repeat(rows, np.diff(A.indptr))
    return csr_array((A.data / columns[A.indices] / at_row, A.indices, A.indptr), shape=A.shape)


def least_violation(A: Any, positive: Any) -> Array | None:
    """v (w,) that minimises the mean of max(0, 1 − A v) over each class, summed over both; None where HiGHS fails.

    ``positive`` (n,) marks the rows of A (n, w) that belong to the positive class.

    >>> A = np.array([[1.0, 4.0], [1.0, 3.0], [1.0, 0.5], [-1.0, 0.0], [-1.0, -1.0]])  # x = 4, 3, ½ against 0, 1
    >>> v = least_violation(A, np.array([True, True, True, False, False]))
    >>> np.sign(A @ v).tolist()
    [1.0, 1.0, -1.0, 1.0, 1.0]
    """
    n, w = A.shape
    columns = power_of_two(_largest(abs(A), 0))
    share = np.where(positive, 1.0 / max(1, int(np.sum(positive))), 1.0 / max(1, int(np.sum(~positive))))
    share *= n  # scales the coefficients to about 1
    only = None if is_sparse(A) else only_minimum(A / columns, share)
    if only is not None:
        return np.asarray(only / columns)
    # We solve the dual, max Σ share u subject to Σ share u a = 0 and 0 ≤ u ≤ 1. Its basis has w rows, while the basis
    # of the primal has n: 5 000 rows of 2 columns take 0.03 s instead of 0.5 s. v are the dual's equation marginals.
    equal: Any = _divided(A, 1.0 / share, columns).T
    # At 50 000 rows both methods take half a second, at 200 000 rows they take 11 s and 2 s.
    method: Literal["highs-ds", "highs-ipm"] = "highs-ds" if n <= 50_000 else "highs-ipm"
    # With few rows, presolving takes longer than it saves: 1 of 3 ms at 500 rows.
    options = {"presolve": n > 2000}
    found = _solved(-share, method, A_eq=equal, b_eq=np.zeros(w), bounds=(0.0, 1.0), options=options)
    return None if found is None else np.asarray(-found.eqlin.marginals / columns)


def fewest(A: Any, spanning: Any, unit: Array) -> Array | None:
    """v (w,) with A v ≥ 0 and spanning v = 0 that minimises Σ |v_j| unit_j; None where HiGHS fails.

    The mean of A v is 1, with rows scaled by powers of two. The minimum is at a vertex, so few weights are nonzero.

    >>> fewest(np.array([[1.0, 1.0], [1.5, -1.0]]), np.zeros((0, 2)), np.ones(2)).tolist()
    [0.8, 0.0]
    """
    from scipy.sparse import csr_array, hstack, vstack

    w = A.shape[1]
    scaled: Any = csr_array(_divided(A, _row_units(A, unit), unit))
    mean = csr_array(np.asarray(scaled.mean(axis=0)).reshape(1, -1))
    equal: Any = vstack([csr_array(_divided(spanning, np.ones(spanning.shape[0]), unit)), mean])
    program: Any = hstack([-scaled, scaled], format="csr")
    equal = hstack([equal, -equal], format="csr")
    target = np.append(np.zeros(spanning.shape[0]), 1.0)
    unequal = {"A_ub": program, "b_ub": np.zeros(A.shape[0])}
    found = _solved(np.ones(2 * w), **unequal, A_eq=equal, b_eq=target, bounds=(0.0, None))
    if found is None:
        return None
    v = found.x[:w] - found.x[w:]
    return np.where(np.abs(v) > 1e-9 * np.abs(v).max(), v, 0.0) / unit


def complementary(A: Any) -> tuple[Array, Array] | None:
    """v (w,) with A v ≥ 0 and λ ≥ 0 (n,) with Aᵀλ = 0, strictly complementary; None where HiGHS fails.

    λ is at least 1 on all rows with a·v = 0 for every such v, and 0 on the others. A (n, w) is dense or CSR.

    >>> v, weights = complementary(np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]]))
    >>> weights.tolist(), v.tolist()
    ([1.0, 1.0, 0.0], [0.0, 1.0])
    """
    from scipy.sparse import csr_array, hstack

    n = A.shape[0]
    scaled, _, columns = _scaled(A)
    if scaled is None:
        return None
    # The dual is about four times faster here: minimise Σ u with λ = 1 − u + t, 0 ≤ u ≤ 1, t ≥ 0.
    program: Any = csr_array(hstack([-csr_array(scaled).T, csr_array(scaled).T]))
    target = -np.asarray(scaled.sum(axis=0)).ravel()
    bounds: list[tuple[float, float | None]] = [(0.0, 1.0)] * n + [(0.0, None)] * n
    cost = np.repeat([1.0, 0.0], n)
    found = _solved(cost, A_eq=program, b_eq=target, bounds=bounds, options={"presolve": False})
    if found is None:
        return None
    with np.errstate(over="ignore", under="ignore"):
        v = -found.eqlin.marginals / columns
    weights = np.maximum(1.0 - found.x[:n] + found.x[n:], 0.0)
    return (v, weights) if np.all(np.isfinite(v)) else None


def balancing(A: Array, some: Integers, free: int = 0) -> Array | None:
    """λ (n,) with Aᵀλ = −Σ a_i over ``some`` rows of A (n, r), at a vertex, so that at most r entries are nonzero.

    λ ≥ 0 except for the first ``free`` rows, which may have either sign. None if infeasible or HiGHS fails.

    >>> balancing(np.array([[1.0], [-2.0], [-1.0]]), np.array([0])).tolist()
    [0.0, 0.5, 0.0]
    """
    from scipy.sparse import csr_array

    # Rows are not scaled, because the right-hand side is a sum of unscaled rows.
    cost = np.where(np.arange(len(A)) < free, 0.0, 1.0)
    bounds: list[tuple[float | None, None]] = [(None, None)] * free + [(0.0, None)] * (len(A) - free)
    found = _solved(cost, A_eq=csr_array(A.T), b_eq=-A[some].sum(axis=0), bounds=bounds)
    return None if found is None else np.asarray(found.x)


def furthest(A: Array, along: Array) -> Array | None:
    """v (w,) with A v ≥ 0 and |v| ≤ 1 that maximises ``along``·v; None where HiGHS fails.

    >>> furthest(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([1.0, 1.0])).tolist()
    [1.0, 1.0]
    """
    found = _solved(-along, A_ub=-A, b_ub=np.zeros(len(A)), bounds=(-1.0, 1.0))
    return None if found is None else np.asarray(found.x)


# --- The least sum of violations over few columns, by descent from vertex to vertex

# With more columns a general solver is as fast. In the plane it makes the fits of `benchmarks.drag` to overlapping
# classes take twice as long.
MOST_DESCENT_COLUMNS = 8
# Margins and multipliers nearer to a bound than this share of their size may be at the bound but for rounding errors.
NEARLY_AT_BOUND = 1e-9
DESCENDING = "searching the weights of least violation"


def only_minimum(A: Array, c: Array) -> Array | None:
    """v (w,), the only minimum of Σ c_i max(0, 1 − a_i·v); None if there may be others, or if no minimum was found.

    Problem   minimise f(v) = Σ c_i max(0, 1 − a_i·v), convex and piecewise linear, for rows a_i (n, w) and c > 0
    Returns   v, if it is proven to be the only minimum up to rounding errors; otherwise None
    Step      at a vertex w rows S have a_i·v = 1. The multipliers λ with Σ_S λ_i a_i = −Σ_{a_i·v < 1} c_i a_i show an
              edge along which f falls: that of a row with λ_i < 0 or λ_i > c_i. Go along it to the least f, where
              another row has a_j·v = 1, which replaces i in S
    Stops     when 0 < λ < c: then every minimum has a_i·v = 1 on S. Or when a step does not descend: more than w rows
              meet

    This is the simplex method for the dual program, in which a step may cross several bounds. For 500 rows of 2 columns
    and an intercept it visits 5 to 9 vertices in 0.7 ms, where a general solver of linear programs takes 2.7 ms.
    Barrodale and Roberts, An improved algorithm for discrete l₁ linear approximation, SIAM Journal on Numerical
    Analysis 10 (1973), describe it for absolute values.

    >>> only_minimum(np.array([[1.0], [-1.0]]), np.array([2.0, 1.0])).tolist()  # 2 max(0, 1 − v) + max(0, 1 + v)
    [1.0]
    """
    n, w = A.shape
    if not 0 < w <= min(n, MOST_DESCENT_COLUMNS) or not np.all(np.isfinite(A)):
        return None
    chosen = np.abs(A @ np.linalg.lstsq(A, np.ones(n), rcond=None)[0] - 1.0).argsort()[:w]
    for _ in range(200):  # the most steps
        pulse(DESCENDING)
        with np.errstate(all="ignore"):  # a matrix that is nearly singular gives no minimum below
            try:
                edges = np.linalg.inv(A[chosen])
            except np.linalg.LinAlgError:
                return None
            v = edges.sum(axis=1)
            m = A @ v
            m[chosen] = 1.0
            multipliers = -((c * (m < 1.0)) @ A) @ edges
            excess = np.maximum(-multipliers, multipliers - c[chosen])
            k = int(excess.argmax())
            if excess[k] <= 0:
                return v if _is_only(A, c, v, m, chosen, multipliers) else None
            along = edges[:, k] if multipliers[k] < 0 else -edges[:, k]
            row = _least_along(A @ along, m, c, -float(excess[k]), chosen)
        if row is None:
            return None
        chosen = chosen.copy()
        chosen[k] = row
    return None


def _least_along(rise: Array, m: Array, c: Array, slope: float, chosen: Integers) -> int | None:
    """The row whose margin becomes 1 where f is least along a direction; None if f does not descend.

    ``rise``: the change of the margins m for a unit step. ``slope`` < 0: the derivative of f at the start.
    """
    left = 1.0 - m
    ahead = left * rise > 0
    ahead[chosen] = False
    rows = ahead.nonzero()[0]
    steep = rise[rows]
    distance = left[rows] / steep
    order = distance.argsort()
    slopes = slope + (c[rows] * np.abs(steep))[order].cumsum()
    last = int(slopes.searchsorted(0.0))
    if not slope < 0 or last == len(order):
        return None
    return int(rows[order[last]])


def _is_only(A: Array, c: Array, v: Array, m: Array, chosen: Integers, multipliers: Array) -> bool:
    """Whether rounding errors cannot change on which side of its bound any margin or multiplier is."""
    inside = np.minimum(multipliers, c[chosen] - multipliers) > NEARLY_AT_BOUND * c[chosen]
    apart = np.abs(m - 1.0) > NEARLY_AT_BOUND * (1.0 + np.abs(A) @ np.abs(v))
    apart[chosen] = True
    return bool(inside.all() and apart.all())


# --- A positive dependency proven in floating point: its weights lie between positive bounds


def surely_positive(A: Array, near: Array | None = None) -> bool:
    """Whether the rows of A are proven to have rank w and a dependency with positive weights; False if in doubt.

    Let M have the first w rows as columns. M is invertible if ‖I − C M‖ < 1 for some C; here C is the computed inverse.
    Then M λ = −a_last (with more rows, minus their weighted sum) has one solution, within |C| |residual| /
    (1 − ‖I − C M‖) of any approximation λ'. All rounding errors are included. Rump, Verification methods, Acta Numerica
    19 (2010), section 10.

    A has w + 1 rows, or more if ``near`` gives approximate weights > 0. The weights of the rows after the first w are
    then used without change.

    >>> surely_positive(np.array([[1.0, 1.0], [1.0, -1.0], [-4.0, 0.0]]))
    True
    >>> surely_positive(np.array([[1.0, 1.0], [1.0, -1.0], [4.0, 0.0]]))
    False
    >>> surely_positive(np.array([[1.0], [-1.0], [-2.0]]), np.array([3.0, 1.0, 1.0]))
    True
    """
    w = A.shape[1]
    if len(A) <= w or w == 0 or (near is None and len(A) != w + 1):
        return False
    with np.errstate(all="ignore"):  # overflow gives NaN, and every comparison with NaN is False
        scaled, unit = _near_one(A)
        weights = np.ones(len(A) - w) if near is None else np.ldexp(near, unit)[w:]
        return bool(np.all(weights > 0)) and _surely_positive(scaled, weights)


def _near_one(A: Array) -> tuple[Array, Integers]:
    """A scaled so that the largest entry of each column, then of each row, is in [½, 1), and the rows' exponents.

    Each entry is multiplied once by a power of two, so only entries below 2⁻¹⁰²² after scaling are rounded, by less
    than 2⁻¹⁰⁷⁴.
    """
    size = np.where(A == 0, EXPONENT_OF_ZERO, np.frexp(A)[1])
    size = size - size.max(axis=0)
    unit = size.max(axis=1)
    return np.ldexp(A, size - np.frexp(A)[1] - unit[:, None]), unit


def _surely_positive(scaled: Array, weights: Array) -> bool:
    w = scaled.shape[1]
    M, others = scaled[:w].T, scaled[w:].T
    b = -(others @ weights)
    try:
        C = np.linalg.inv(M)
    except np.linalg.LinAlgError:
        return False
    x = C @ b
    share = 2 * (w + 4) * EPS  # twice the relative rounding error of a sum of w products
    size = np.abs(C)
    off = np.abs(np.eye(w) - C @ M) + share * (size @ np.abs(M) + 1.0)
    norm = float(off.sum(axis=1).max()) * (1 + share)
    total = np.abs(others) @ weights
    residual = np.abs(b - M @ x) + share * (np.abs(M) @ np.abs(x) + len(scaled) * total)
    residual += TINY * (len(scaled) + np.abs(x).sum() + weights.sum())
    if not norm < 0.5:
        return False
    # ‖x − λ‖ ≤ ‖C residual‖/(1 − norm) in the maximum norm, and 1 − norm > ½.
    error = 2.0 * float((size @ residual).max()) * (1 + share)
    return bool(np.all(x > error))


# --- Few rows whose hull contains the origin

# With more columns the linear program is as fast. In the plane it makes the fits of a perceptron in `benchmarks.drag`
# to overlapping classes take twice as long.
MOST_DIRECTIONS = 8
# After this many steps the search is given up, and the linear program decides.
MOST_EXCHANGES = 60
# A vector of unit rows shorter than NEARLY_ZERO may be zero. A row whose weight in a nearest point is smaller than
# SMALLEST_WEIGHT is dropped: such a weight may be a rounding error.
NEARLY_ZERO, SMALLEST_WEIGHT = 1e-9, 1e-14


def enclosing_rows(B: Array) -> tuple[Integers, Array] | None:
    """The indices of w + 1 rows whose positive combination is proven to be zero, and approximate weights.

    None says nothing about the rows: they may be separable, or the proof may need exact arithmetic.

    By Wolfe's algorithm for the shortest vector in the convex hull of the rows of B (n, w), each divided by its length.
    It stops when no row is nearer to the origin along the current vector, or after MOST_EXCHANGES steps. A linear
    program finds such rows as well, but setting it up takes several times as long as these steps on few columns. Wolfe,
    Finding the nearest point in a polytope, Mathematical Programming 11 (1976).

    >>> rows, weights = enclosing_rows(np.array([[1.0, 0.0], [-1.0, 1.0], [-1.0, -1.0], [2.0, 0.1]]))
    >>> rows.tolist(), weights.round(3).tolist()
    ([0, 1, 2], [0.414, 0.293, 0.293])
    """
    w = B.shape[1]
    length = np.sqrt(np.einsum("ij,ij->i", B, B))
    if not 0 < w <= MOST_DIRECTIONS or len(B) <= w or not np.all((length > 0) & np.isfinite(length)):
        return None
    P = B / length[:, None]
    chosen, mu, x = np.array([0]), np.ones(1), P[0]
    for _ in range(MOST_EXCHANGES):
        if float(x @ x) <= NEARLY_ZERO**2:
            order = np.argsort(chosen)
            chosen = chosen[order]
            return (chosen, mu[order]) if len(chosen) == w + 1 and surely_positive(B[chosen]) else None
        scores = P @ x
        k = int(scores.argmin())
        if scores[k] > 0 or k in chosen:  # x separates, or rounding hides any progress
            return None
        chosen = np.append(chosen, k)
        try:
            kept, mu, x = nearest_in_hull(P[chosen], np.append(mu, 0.0), _nearest_in_span)
        except np.linalg.LinAlgError:
            return None
        chosen = chosen[kept]
    return None


def _nearest_in_span(P: Array) -> tuple[Array, Array]:
    """The nearest point to the origin of the affine hull of a few rows P: its weights, which sum to 1, and the point.

    The weights solve P Pᵀ λ + ν = 0 and Σ λ_i = 1.
    """
    A = np.ones((len(P) + 1, len(P) + 1))
    A[0, 0], A[1:, 1:] = 0.0, P @ P.T
    share = np.asarray(np.linalg.solve(A, np.eye(len(A))[0])[1:], dtype=np.float64)
    return share, share @ P


def nearest_in_hull(
    P: Any, mu: Array, nearest_in_span: Callable[[Any], tuple[Array, Array]]
) -> tuple[Integers, Array, Array]:
    """The point of the convex hull of P (k, d) nearest to the origin: the indices of its support, weights, the point.

    Wolfe's search: from the weights mu towards the nearest point of the affine hull, until a weight is zero; then the
    same without that row. ``nearest_in_span`` gives the nearest point of an affine hull, with its weights.
    """
    kept = np.arange(P.shape[0])
    while len(kept):
        pulse("searching the nearest point of a hull")
        share, p = nearest_in_span(P[kept])
        losing = ~(share > SMALLEST_WEIGHT)
        if not losing.any():
            return kept, share, p
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = np.where(losing, mu / (mu - share), np.inf)
        reach[np.isnan(reach)] = 0.0
        first = int(np.argmin(reach))
        mu = np.maximum(mu + min(1.0, float(reach[first])) * (share - mu), 0.0)
        mu[first] = 0.0
        kept, mu = kept[mu > 0.0], mu[mu > 0.0] / mu.sum()
    raise np.linalg.LinAlgError("rounding leaves no row in the support")


# --- A first proposal of v, by Newton's method on a sample of rows

# Limits on rounds, each of which takes one pass over all rows, and on Newton steps per round.
MOST_NEWTON_ROUNDS, MOST_NEWTON_STEPS_PER_ROUND = 10, 40
# Newton steps end, and all rows are checked, as soon as all margins on the current rows exceed this.
WIDE_MARGIN = 0.3
# Step lengths that are tried. A full step is too long if many margins fall below 1.
STEP_LENGTHS = (1.0, 0.5, 0.25)


class Near(NamedTuple):
    """``v`` with its margins ``m`` on all rows; ``separates`` if all margins are proven positive."""

    v: Array
    m: Array
    separates: bool


def nearly(D: Differences, drawn: Integers) -> Near:
    """Find v with a·v > 0 on all rows, or at least on most rows, without linear programs.

    ``drawn``: the numbers of a sample of rows that is much larger than the number of directions. In each round lower
    Σ max(0, 1 − a·v)² over the current rows; then check all rows in one pass and add violated rows. It stops when v is
    positive on all rows, or not positive on the current rows: the minimum of the sum is zero if and only if some v
    separates.

    A step solves a least squares problem on the rows with a·v < 1, so the first step, from v = 0, uses all rows. If the
    classes overlap, the second step reduces the sum only slightly, and the search ends after one pass over all rows.
    Mangasarian, A finite Newton method for classification, Optimization Methods and Software 17 (2002).

    >>> D = Differences(np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([0, 0, 1, 1]), 2)
    >>> nearly(D, np.arange(4)).separates
    True
    >>> D = Differences(np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([0, 1, 0, 1]), 2)
    >>> nearly(D, np.arange(4)).separates
    False
    """
    chosen, B = drawn, D.dense(drawn) / D.unit
    u = np.zeros(D.width)
    for _ in range(MOST_NEWTON_ROUNDS):
        # Newton steps end when a larger share of rows is on the wrong side: the classes then probably overlap.
        u, at_hand = _lowered(B, u, 0.15 / (D.K - 1))
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            v = u / D.unit
        m = D.margins(v)
        if not at_hand.min() > 0:
            break
        wrong = D.not_positive(v, m=m)
        if len(wrong) == 0:
            return Near(v, m, True)
        fresh = wrong[~np.isin(wrong, chosen)]
        if len(fresh) == 0:
            break
        more = spread(fresh, 8 * D.width)  # the most violated rows that are added in a round
        chosen = np.concatenate([chosen, more])
        B = np.vstack([B, D.dense(more) / D.unit])
    return Near(v, m, False)


def _lowered(B: Array, u: Array, most_wrong: float) -> tuple[Array, Array]:
    """u and B u after Newton steps that lower Σ max(0, 1 − B u)².

    The steps end when all margins exceed WIDE_MARGIN, when a step lowers the sum only slightly, or when more than the
    share ``most_wrong`` of rows is on the wrong side.
    """
    m = B @ u
    total = _total(m)
    for _ in range(MOST_NEWTON_STEPS_PER_ROUND):
        if m.min() > WIDE_MARGIN:
            break
        step = _step(B, m)
        change = B @ step
        part = min(STEP_LENGTHS, key=lambda part: _total(m + part * change))
        before, total = total, _total(m + part * change)
        if not total < before:
            break
        u, m = u + part * step, m + part * change
        # The steps end after one that leaves more than this share of the sum Σ max(0, 1 − a·v)².
        if total > 0.8 * before or np.mean(m <= 0) > most_wrong:
            break
    return u, m


def _total(m: Array) -> float:
    below = np.maximum(1.0 - m, 0.0)
    return float(below @ below)


def _step(B: Array, m: Array) -> Array:
    """The least squares step towards margins of 1 on the rows with margins below 1."""
    below = m < 1
    rows = B if below.all() else B[below]
    G = rows.T @ rows
    # A ridge, as a share of the trace, against collinear columns.
    G[np.diag_indices_from(G)] += 1e-9 * np.trace(G) + np.finfo(np.float64).tiny
    return np.asarray(np.linalg.solve(G, rows.T @ (1.0 - m[below])))


# --- The search for v, by linear programs on a working set of rows

# Numbers of rows, in multiples of the number of open directions: in the first working set, the most that enter in a
# round (twice: the worst and others), and the most that stay.
FIRST_ROWS_PER_DIRECTION, ENTERING_ROWS_PER_DIRECTION, STAYING_ROWS_PER_DIRECTION = 3, 1, 2
# Size of the sample on which Newton's method proposes a first v, in multiples of the number of directions.
NEWTON_ROWS_PER_DIRECTION = 40
# Number of rows that a working set may keep even if the number of directions is small.
SMALLEST_WORKING_SET = 150
# Limit on rounds, each of which is one linear program and one pass over the rows.
MOST_WORKING_SET_ROUNDS = 500
# A score in the open directions below this share of the row's size is a rounding error and is set to zero.
SMALLEST_SCORE_SHARE = 1e-13
NO_MARGINS = np.zeros(0)


def spread(rows: Integers, most: int) -> Integers:
    """At most this many of the rows, evenly spread.

    >>> spread(np.arange(7), 3).tolist()
    [0, 3, 6]
    """
    return rows[np.linspace(0, len(rows) - 1, min(len(rows), most)).astype(np.int64)]


class Found(NamedTuple):
    """The result of a search: a ``v`` that is positive on all rows, or ``rows`` that indicate that there is none.

    If ``v`` is None, ``rows`` have ``weights`` ≥ 0 that sum them to zero up to rounding. ``most`` is an upper bound on
    s, in units in which entries are near 1. ``m`` are the margins of v. ``is_proof``: that the rows prevent any v is
    proven (``enclosing_rows``), and they span all directions.
    """

    v: Array | None
    rows: Integers
    weights: Array
    most: float
    m: Array = NO_MARGINS
    is_proof: bool = False


def search(D: Differences, N: AnyArray | None = None, left: AnyArray | None = None) -> Found | None:
    """Find v = N u with a·v > 0 on all rows ``left``, or rows that prevent it; None if a linear program fails.

    N is a basis of the open directions: those not yet excluded by a proof. In each round maximise s subject to a·v ≥ s
    on the working set, v = N u, |u| ≤ 1; then check all rows in one pass. Rows that violate a·v > 0 for the last v
    enter: the worst, and others spread evenly over the rest. Rows with slack leave. The search ends because s never
    increases: rows with positive marginals stay, and all rows stay unless s decreases. This is Dantzig and Wolfe's
    column generation applied to the dual. A random subset alone does not find the few rows of a slight overlap.

    With many rows, Newton's method (``nearly``) runs first. It often finds v, and otherwise supplies the first working
    set.

    >>> D = Differences(np.array([[0.0], [1.0], [3.0]]), np.array([0, 0, 1]), 2)
    >>> bool(np.all(D.margins(search(D).v) > 0))
    True
    """
    chosen = _first(D, N, left)
    if isinstance(chosen, Found):
        return chosen
    least, tell = np.inf, watched()
    for k in range(1, MOST_WORKING_SET_ROUNDS + 1):
        if tell is not None:
            tell(Part("separability: round", k, note=f"{len(chosen)} of {D.count} rows at hand"))
        B = in_directions(D, chosen, N)
        enclosing = enclosing_rows(B) if k == 1 and N is None and not is_sparse(B) else None
        if enclosing is not None:
            return Found(None, chosen[enclosing[0]], enclosing[1], 0.0, is_proof=True)
        found = widest(B)
        if found is None:
            return None
        u = _sharpened(B, found)
        if u is None:
            return Found(None, chosen, found.weights, found.most)
        v = u if N is None else N @ u
        m = D.margins(v)
        wrong = _wrong(D, v, m, left, chosen)
        if len(wrong) == 0:
            return Found(v, chosen, found.weights, found.most, m)
        fresh = np.setdiff1d(wrong, chosen, assume_unique=True)
        if len(fresh) == 0:  # v is positive on the projected rows but not after rounding
            return Found(None, chosen, found.weights, found.most)
        # Rows leave only when s falls. At an unchanged s, rows that left would return in later rounds.
        kept, least = (_staying(chosen, B, u, found), found.s) if found.s < least else (chosen, least)
        chosen = np.concatenate([kept, _coming(wrong, chosen, B.shape[1])])
    return None


def _wrong(D: Differences, v: Array, m: Array, left: AnyArray | None, chosen: Integers) -> Integers:
    """The rows for which a·v > 0 is not proven; if only some rows are ``left``, also those that v hardly moves."""
    wrong = D.not_positive(v, left=left, m=m)
    if len(wrong) or left is None:
        return wrong
    # Positive margins may be rounding errors, since N itself is rounded.
    near = np.flatnonzero(left & (m <= 2 * D.rounding(v)))
    hardly = [
        part[m[part] <= SMALLEST_SCORE_SHARE * np.asarray(abs(D.take(part)) @ np.abs(v))] for part in chunks(near)
    ]
    return np.setdiff1d(np.concatenate([np.zeros(0, dtype=np.int64), *hardly]), chosen, assume_unique=True)


def attempts(D: Differences, found: Found, N: AnyArray | None = None) -> Iterator[Found]:
    """The given rows, then other subsets of the working set on which no v is positive.

    Each attempt drops the row with the largest weight, since rows that are dependent only up to rounding give no exact
    proof.

    >>> D = Differences(np.array([[0.0], [0.0], [0.0]]), np.array([0, 1, 1]), 2)
    >>> [sorted(found.rows.tolist()) for found in attempts(D, search(D))][0]
    [0, 1, 2]
    """
    for _ in range(12):  # alternative sets of rows
        yield found
        rows = found.rows[np.arange(len(found.rows)) != np.argmax(found.weights)]
        if len(rows) == 0:
            return
        B = in_directions(D, rows, N)
        other = widest(B)
        if other is None or _sharpened(B, other) is not None:
            return
        found = Found(None, rows, other.weights, other.most)


def _first(D: Differences, N: AnyArray | None, left: AnyArray | None) -> Integers | Found:
    """The first working set, or the search result if Newton's method finds v.

    The working set has all rows if they are few; otherwise half are the rows with the smallest margins in Newton's
    method and half are a fixed random draw.
    """
    directions = D.width if N is None else N.shape[1]
    size = max(SMALLEST_WORKING_SET, FIRST_ROWS_PER_DIRECTION * directions)
    rng = np.random.default_rng(0)
    if left is not None or D.count <= 4 * size:
        numbers = np.arange(D.count) if left is None else np.flatnonzero(left)
        if len(numbers) <= size:
            return numbers
        return np.sort(rng.choice(numbers, size, replace=False))
    drawn = np.unique(rng.integers(0, D.count, max(2 * size, NEWTON_ROWS_PER_DIRECTION * directions)))
    if directions > 500:  # Newton's method forms a matrix of that order
        return np.sort(rng.choice(drawn, size, replace=False))
    near = nearly(D, drawn)
    if near.separates:
        return Found(near.v, drawn, np.zeros(len(drawn)), np.inf, near.m)
    worst = np.argpartition(near.m, size // 2)[: size // 2]
    return np.union1d(worst, rng.choice(drawn, size - size // 2, replace=False))


def in_directions(D: Differences, which: Integers, N: AnyArray | None) -> Any:
    """The given rows times N, whose columns have unit length in scaled units; scores at rounding level become zero.

    >>> D = Differences(np.array([[2.0]]), np.array([1]), 2)
    >>> in_directions(D, np.array([0]), np.array([[1.0], [-0.5]])).tolist()
    [[0.0]]
    """
    rows = D.take(which)
    if N is None:
        return rows
    across = np.asarray(rows @ N)
    size = np.asarray(abs(rows) @ (1.0 / D.unit))[:, None]
    across[np.abs(across) <= SMALLEST_SCORE_SHARE * size] = 0.0
    return across


def _sharpened(B: Any, found: Widest) -> Array | None:
    """u with B u > 0 up to rounding, or None.

    It is the solution of the linear program or, where s is below the solver's tolerance, the least squares solution
    with margins of 1 on the active rows.
    """
    if _exceeds(B, found.v):
        return found.v
    # A smaller marginal may be a rounding error.
    active = np.flatnonzero(found.weights > 1e-9 * found.weights.max(initial=0.0))
    if not 0 < len(active) <= B.shape[1]:
        return None
    rows = B[active].toarray() if is_sparse(B) else B[active]
    unit = np.abs(rows).max(axis=0)
    unit[unit == 0] = 1.0
    with np.errstate(over="ignore"):
        sharper = np.asarray(np.linalg.lstsq(rows / unit, np.ones(len(active)), rcond=None)[0] / unit)
    return sharper if _exceeds(B, sharper) else None


def _exceeds(B: Any, u: Array) -> bool:
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        m, size = np.asarray(B @ u), np.asarray(abs(B) @ np.abs(u))
    return bool(np.all(m > 4e-16 * size))


def _staying(chosen: Integers, B: Any, u: Array, found: Widest) -> Integers:
    """The rows with positive marginals, and then those with the least slack."""
    slack = np.asarray(B @ u) / np.maximum(np.asarray(abs(B) @ np.abs(u)), 1e-300)
    slack[found.weights > 0] = -1.0
    most = max(SMALLEST_WORKING_SET, STAYING_ROWS_PER_DIRECTION * B.shape[1])
    return chosen[np.argsort(slack, kind="stable")[:most]]


def _coming(wrong: Integers, chosen: Integers, directions: int) -> Integers:
    """The worst violated rows, and as many others spread evenly over the rest."""
    fresh, most = wrong[~np.isin(wrong, chosen)], ENTERING_ROWS_PER_DIRECTION * directions
    return np.concatenate([fresh[:most], spread(fresh[most:], most)])
