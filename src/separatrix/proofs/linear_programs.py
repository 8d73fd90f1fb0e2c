r"""The linear programs used to decide separation, independent of what their solutions are used for.

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
columns by ``violation_descent``, without HiGHS, if its solution is unique.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.base.watching import waited
from separatrix.proofs.violation_descent import only_minimum
from separatrix.rows.csr import is_sparse
from separatrix.rows.frame import power_of_two

# Largest number of rows for which ``least_violation`` uses the simplex method instead of the interior point method with
# crossover: at 50 000 rows both take half a second, at 200 000 rows they take 11 s and 2 s.
MOST_SIMPLEX_ROWS = 50_000
# Up to this number of rows, presolving ``least_violation`` takes longer than it saves: 1 of 3 ms at 500 rows.
MOST_UNPRESOLVED_ROWS = 2000
# Programs with fewer columns and rows in all take a few milliseconds.
FEWEST_WAITED_FOR = 2000


def _solved(cost: Array, **program: Any) -> Any:
    """The solution by HiGHS, which cannot be interrupted; a callback can end the wait for a large program."""
    from scipy.optimize import linprog

    if len(cost) + sum(np.size(program.get(side, ())) for side in ("b_ub", "b_eq")) < FEWEST_WAITED_FOR:
        return linprog(cost, **program)
    return waited(lambda: linprog(cost, **program), "solving a linear program")


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
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        rows, columns = _units(A)
        scaled = _divided(A, rows, columns)
    if not np.all(np.isfinite(scaled.data if is_sparse(A) else scaled)):
        return None
    if is_sparse(A):
        program: Any = hstack([-scaled, csr_array(np.ones((n, 1)))], format="csr")
    else:
        program = np.column_stack([-scaled, np.ones(n)])
    cost = np.zeros(w + 1)
    cost[-1] = -1.0
    bounds = [(-1.0, 1.0)] * w + [(0.0, None)]
    found: Any = _solved(
        cost, A_ub=program, b_ub=np.zeros(n), bounds=bounds, method="highs-ds", options={"presolve": False}
    )
    if found.status != 0:
        return None
    marginals = np.maximum(-found.ineqlin.marginals, 0.0)
    total = max(float(marginals.sum()), np.finfo(np.float64).tiny)
    most = float(np.abs(np.asarray(scaled.T @ marginals)).sum()) / total + n * float(np.finfo(np.float64).eps)
    with np.errstate(over="ignore", under="ignore"):
        weights, v = marginals / rows, found.x[:-1] / columns
    if not (np.all(np.isfinite(weights)) and np.all(np.isfinite(v))):
        return None
    return Widest(float(found.x[-1]), v, weights / max(weights.sum(), 1e-300), most)


def _units(A: Any) -> tuple[Array, Array]:
    """Powers of two near the largest entry of each column, then of each row after dividing by the column units."""
    size = abs(A)
    columns = power_of_two(_largest(size, 0))
    rows = power_of_two(_largest(_divided(size, np.ones(A.shape[0]), columns), 1))
    return rows, columns


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
    method: Literal["highs-ds", "highs-ipm"] = "highs-ds" if n <= MOST_SIMPLEX_ROWS else "highs-ipm"
    options = {"presolve": n > MOST_UNPRESOLVED_ROWS}
    found: Any = _solved(-share, A_eq=equal, b_eq=np.zeros(w), bounds=(0.0, 1.0), method=method, options=options)
    return None if found.status != 0 else np.asarray(-found.eqlin.marginals / columns)


def fewest(A: Any, spanning: Any, unit: Array) -> Array | None:
    """v (w,) with A v ≥ 0 and spanning v = 0 that minimises Σ |v_j| unit_j; None where HiGHS fails.

    The mean of A v is 1, with rows scaled by powers of two. The minimum is at a vertex, so few weights are nonzero.

    >>> fewest(np.array([[1.0, 1.0], [1.5, -1.0]]), np.zeros((0, 2)), np.ones(2)).tolist()
    [0.8, 0.0]
    """
    from scipy.sparse import csr_array, hstack, vstack

    w = A.shape[1]
    rows = power_of_two(_largest(_divided(abs(A), np.ones(A.shape[0]), unit), 1))
    scaled: Any = csr_array(_divided(A, rows, unit))
    mean = csr_array(np.asarray(scaled.mean(axis=0)).reshape(1, -1))
    equal: Any = vstack([csr_array(_divided(spanning, np.ones(spanning.shape[0]), unit)), mean])
    program: Any = hstack([-scaled, scaled], format="csr")
    equal = hstack([equal, -equal], format="csr")
    target = np.append(np.zeros(spanning.shape[0]), 1.0)
    found: Any = _solved(
        np.ones(2 * w),
        A_ub=program,
        b_ub=np.zeros(A.shape[0]),
        A_eq=equal,
        b_eq=target,
        bounds=(0.0, None),
        method="highs-ds",
    )
    if found.status != 0:
        return None
    v = found.x[:w] - found.x[w:]
    return np.where(np.abs(v) > 1e-9 * np.abs(v).max(), v, 0.0) / unit


class Complementary(NamedTuple):
    """v (w,) and λ (n,): each row has either a·v > 0 or λ > 0, never both."""

    v: Array
    weights: Array


def complementary(A: Any) -> Complementary | None:
    """v with A v ≥ 0 and λ ≥ 0 with Aᵀλ = 0, strictly complementary; None where HiGHS fails.

    λ is at least 1 on all rows with a·v = 0 for every such v, and 0 on the others. A (n, w) is dense or CSR.

    >>> found = complementary(np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]]))
    >>> found.weights.tolist(), found.v.tolist()
    ([1.0, 1.0, 0.0], [0.0, 1.0])
    """
    from scipy.sparse import csr_array, hstack

    n = A.shape[0]
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        rows, columns = _units(A)
        scaled = csr_array(_divided(A, rows, columns))
    if not np.all(np.isfinite(scaled.data)):
        return None
    # The dual is about four times faster here: minimise Σ u with λ = 1 − u + t, 0 ≤ u ≤ 1, t ≥ 0.
    program: Any = hstack([-scaled.T, scaled.T], format="csr")
    target = -np.asarray(scaled.sum(axis=0)).ravel()
    bounds: list[tuple[float, float | None]] = [(0.0, 1.0)] * n + [(0.0, None)] * n
    found: Any = _solved(
        np.repeat([1.0, 0.0], n),
        A_eq=program,
        b_eq=target,
        bounds=bounds,
        method="highs-ds",
        options={"presolve": False},
    )
    if found.status != 0:
        return None
    with np.errstate(over="ignore", under="ignore"):
        v = -found.eqlin.marginals / columns
    weights = np.maximum(1.0 - found.x[:n] + found.x[n:], 0.0)
    return Complementary(v, weights) if np.all(np.isfinite(v)) else None


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
    program: Any = csr_array(A.T)
    found: Any = _solved(cost, A_eq=program, b_eq=-A[some].sum(axis=0), bounds=bounds, method="highs-ds")
    return None if found.status != 0 else np.asarray(found.x)


def furthest(A: Array, along: Array) -> Array | None:
    """v (w,) with A v ≥ 0 and |v| ≤ 1 that maximises ``along``·v; None where HiGHS fails.

    >>> furthest(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([1.0, 1.0])).tolist()
    [1.0, 1.0]
    """
    found: Any = _solved(-along, A_ub=-A, b_ub=np.zeros(len(A)), bounds=(-1.0, 1.0), method="highs-ds")
    return None if found.status != 0 else np.asarray(found.x)
