r"""Problems of deficient and nearly deficient rank, and the check of what a fit claims about them.

The rows are exact: two columns that differ in a last bit are two columns. So is the reference: X̄ = Q R by Gram and
Schmidt in 1200 bits, with the exact rank r; the loss depends on X̄ only by Q (n, r), whose columns have length √n,
and float64 holds all that E needs of it. There E is minimised by Newton's method; wherever it ends, E there is at
least the infimum. The weights of a fit are judged by scores in fractions. So

    E(W) − E(reference) > bound    is a violation, whatever rounding does here,

up to 1e-12 of the objective, which the reference's own sums may be off by.

    python -m tests.deficient 20000        # a campaign of that many problems, from seed 0
"""

import sys
import time
import warnings
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

import numpy as np
from scipy.optimize import minimize

import separatrix as sx

# Fixed point: this many bits behind the point; and a residual below two to the minus this many is zero, since floats
# of 53 bits in few columns leave none that is smaller.
BITS, ZERO = 1200, 700
# What the reference may be off by, of the objective.
EXACT = 1e-12


@dataclass(frozen=True)
class Case:
    """A table, classes, weights, and the settings of a fit."""

    kind: str
    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    C: float
    l1_ratio: float
    fit_intercept: bool

    @property
    def K(self):
        return len(np.unique(self.y))


def _column(rng, n):
    kind = rng.integers(5)
    if kind == 0:
        return rng.standard_normal(n)
    if kind == 1:
        return rng.integers(-3, 4, n).astype(float)
    if kind == 2:
        return rng.integers(0, 2, n).astype(float)
    if kind == 3:
        return np.exp(2 * rng.standard_normal(n))
    return np.arange(n) / 8


def _nearly(rng, x, y):
    """x with differences of 1e-17 to 1e-6 of its size: on all rows, on some, or on one class."""
    size = 10.0 ** rng.uniform(-17, -6) * max(1e-300, np.abs(x).max())
    where = [np.ones(len(x)), rng.random(len(x)) < 0.3, y == y[0]][rng.integers(3)]
    sign = rng.standard_normal(len(x)) if rng.random() < 0.5 else np.ones(len(x))
    return x + size * sign * where


RELATED = {
    "duplicate": lambda rng, X, y: X[:, 0].copy(),
    "multiple": lambda rng, X, y: X[:, 0] * rng.choice([-1.0, 2.0, 3.0, 0.5]),
    "rounded multiple": lambda rng, X, y: X[:, 0] * 0.3,
    "sum": lambda rng, X, y: X.sum(axis=1) + (1.0 if rng.random() < 0.3 else 0.0),
    "constant": lambda rng, X, y: np.full(len(X), rng.choice([0.0, 1.0, 0.1, 1e9])),
    "nearly": lambda rng, X, y: _nearly(rng, X[:, 0], y),
    "nearly twice": lambda rng, X, y: _nearly(rng, 2 * X[:, -1], y),
    "other": lambda rng, X, y: _column(rng, len(X)),
}


def draw(seed):
    """A problem by number."""
    rng = np.random.default_rng([20_240_611, seed])
    K = 3 if rng.random() < 0.15 else 2
    n = int(rng.integers(K + 2, 14 if rng.random() < 0.5 else 40))
    y = rng.integers(0, K, n)
    if rng.random() < 0.3:  # a rare class
        y[:] = 0
        y[rng.choice(n, int(rng.integers(1, 3)), replace=False)] = 1
    y[:K] = np.arange(K)
    X = np.column_stack([_column(rng, n) for _ in range(rng.integers(1, 3))])
    kinds = [str(rng.choice(list(RELATED))) for _ in range(rng.integers(1, 3))]
    if rng.random() < 0.15:
        kinds.append("one-hot")
        X = np.column_stack([X, np.eye(3)[rng.integers(0, 3, n)]])
    for kind in kinds:
        if kind in RELATED:
            X = np.column_stack([X, RELATED[kind](rng, X, y)])
    if rng.random() < 0.4:
        kinds.append("offset")
        some = rng.random(X.shape[1]) < 0.5
        X = X + np.where(some, 10.0 ** rng.uniform(3, 15, X.shape[1]), 0.0)
    X = X[:, rng.permutation(X.shape[1])]
    weight = np.ones(n)
    if rng.random() < 0.3:
        weight = (10.0 ** rng.uniform(-9, 9, K))[y]
    elif rng.random() < 0.2:
        weight = 10.0 ** rng.uniform(-3, 3, n)
    penalty = rng.random()
    C = np.inf if penalty < 0.6 else float(10.0 ** rng.uniform(-3, 7))
    return Case(
        " + ".join(kinds), X, y, weight, C, 0.0 if penalty < 0.93 else float(rng.choice([0.5, 1.0])), rng.random() < 0.8
    )


def orthogonal(case):
    """Q (n, r) in float64, and the rows of A (r, d + 1) in whole numbers of 2⁻ᴮ with X̄ A_k = Q_k; r is the exact rank.

    In fixed point: every column in units of a power of two near its largest entry, then multiples of 2⁻ᴮ.
    """
    n = len(case.X)
    given = [np.ones(n), *case.X.T] if case.fit_intercept else list(case.X.T)
    unit = [int(np.frexp(np.abs(column).max())[1]) for column in given]
    columns = [[_fixed(x, e) for x in column.tolist()] for column, e in zip(given, unit, strict=True)]
    kept = []
    for j, column in enumerate(columns):
        combination = [0] * len(columns)
        combination[j] = 1 << BITS
        rest = column
        for _ in range(2):
            for q, own in kept:
                share = sum(a * b for a, b in zip(q, rest, strict=True)) >> BITS
                rest = [x - (share * v >> BITS) for x, v in zip(rest, q, strict=True)]
                combination = [x - (share * v >> BITS) for x, v in zip(combination, own, strict=True)]
        length = isqrt(sum(x * x for x in rest))
        if length > 1 << (BITS - ZERO):
            kept.append(tuple([(x << BITS) // length for x in part] for part in (rest, combination)))
    Q = np.array([[x / (1 << BITS) for x in q] for q, _ in kept]).reshape(len(kept), n).T * np.sqrt(n)
    pad = [] if case.fit_intercept else [0]
    A = [pad + [x << 2000 >> (2000 + e) for x, e in zip(own, unit, strict=True)] for _, own in kept]
    return Q, A


def _fixed(x, e):
    """x 2⁻ᵉ in units of 2⁻ᴮ, exactly."""
    above, below = x.as_integer_ratio()
    return (above << (BITS - e)) // below if e <= BITS else (above >> (e - BITS)) // below


def _curvature(case, A):
    """P (r, r) with θᵀ P θ = n Σ_j (θ A)_j² over the weights; zero without a penalty."""
    if np.isinf(case.C):
        return np.zeros((len(A), len(A)))
    products = [[sum(x * y for x, y in zip(a[1:], b[1:], strict=True)) for b in A] for a in A]
    most = 1 << (2 * BITS + 990)  # a curvature that leaves float64 holds a weight at zero as well as a smaller one
    shared = [[max(-most, min(p, most)) / (1 << 2 * BITS) for p in row] for row in products]
    return len(case.X) * np.array(shared).reshape(len(A), len(A))


def losses(z, y):
    """ℓ (n,), ∂ℓ/∂z (n, K) and the probabilities (n, K) of scores (n, K), without cancelling."""
    own = np.arange(len(y))
    lead = z - z[own, y][:, None]  # of the other classes over the row's own
    lead[own, y] = -np.inf
    top = np.maximum(lead.max(axis=1), 0.0)
    e = np.exp(lead - top[:, None])
    mine, others = np.exp(-top), e.sum(axis=1)
    value = np.where(top > 0, top + np.log(mine + others), np.log1p(others))
    slope = e / (mine + others)[:, None]
    p = slope.copy()
    p[own, y] = mine / (mine + others)
    slope[own, y] = -others / (mine + others)
    return value, slope, p


def lowest(case):
    """The exact rank, and the lowest E that Newton's method reaches from zero: no less than the infimum."""
    Q, A = orthogonal(case)
    if case.l1_ratio > 0:
        return len(A), _lowest_by_splitting(case)
    s, K, r = case.weight / case.weight.sum(), case.K, len(A)
    P = _curvature(case, A) / (1.0 if np.isinf(case.C) else case.C * case.weight.sum())
    first = 1 if K == 2 else 0  # of two classes the first scores zero

    def at(T):
        z = np.zeros((len(Q), K))
        z[:, first:] = Q @ T.T
        value, slope, p = losses(z, case.y)
        return float(s @ value) + 0.5 * float(np.sum((T @ P) * T)), slope[:, first:], p[:, first:]

    T = np.zeros((K - first, r))
    value, slope, p = at(T)
    for _ in range(120):
        g = ((s[:, None] * slope).T @ Q + T @ P).ravel()
        H = np.zeros((len(T), r, len(T), r))
        for k in range(len(T)):
            for l in range(len(T)):
                h = s * p[:, k] * ((1 - p[:, k]) if k == l else -p[:, l])
                H[k, :, l, :] = (Q * h[:, None]).T @ Q + (P if k == l else 0.0)
        H = H.reshape(T.size, T.size)
        d = np.sqrt(np.maximum(np.diag(H), 1e-300))
        step = (np.linalg.lstsq(H / d / d[:, None], g / d, rcond=1e-13)[0] / d).reshape(T.shape) if T.size else T
        for halving in range(40):
            trial = T - step / 2**halving
            found = at(trial)
            if found[0] < value:
                break
        else:
            break
        gained = value - found[0]
        T, (value, slope, p) = trial, found
        if gained < 1e-16 * value:
            break
    return r, value + _penalty_at(case, T, A) - 0.5 * float(np.sum((T @ P) * T))


def _penalty_at(case, T, A):
    """The penalty at θ, exactly: products of P's large entries cancel."""
    if np.isinf(case.C):
        return 0.0
    total = Fraction(0)
    for theta in T.tolist():
        exact = [Fraction(x) for x in theta]
        for j in range(1, len(A[0]) if A else 0):
            total += Fraction(sum((t * a[j] for t, a in zip(exact, A, strict=True)), Fraction(0)), 1 << BITS) ** 2
    return 0.5 * float(total) * len(case.X) / (case.C * case.weight.sum())


def _lowest_by_splitting(case):
    """The same with absolute values, by L-BFGS-B on W = U − V: only near the minimum, but never below it."""
    X = case.X - (case.X[0] if case.fit_intercept else 0.0)  # the first row's differences are exact, or nearly
    scale = np.where(np.ptp(X, axis=0) + np.abs(X[0]) > 0, np.abs(X).max(axis=0), 1.0)
    X, s, K = X / scale, case.weight / case.weight.sum(), case.K
    first, d = (1 if K == 2 else 0), X.shape[1]
    c = 1.0 / (case.C * case.weight.sum())
    with np.errstate(over="ignore"):  # what leaves float64 holds a weight at zero as well as 1e300
        lasso = np.minimum(case.l1_ratio * c / scale, 1e300)
        ridge = np.minimum((1 - case.l1_ratio) * c / scale / scale, 1e300)

    def at(v):
        b, U, V = v[: K - first], *v[K - first :].reshape(2, K - first, d)
        z = np.zeros((len(X), K))
        z[:, first:] = X @ (U - V).T + b * case.fit_intercept
        value, slope, _ = losses(z, case.y)
        G = (s[:, None] * slope[:, first:]).T @ X + ridge * (U - V)
        total = float(s @ value) + float(np.sum(lasso * (U + V))) + 0.5 * float(np.sum(ridge * (U - V) ** 2))
        intercept = (s[:, None] * slope[:, first:]).sum(axis=0) * case.fit_intercept
        return total, np.concatenate([intercept, (lasso + G).ravel(), (lasso - G).ravel()])

    size = (K - first) * (1 + 2 * d)
    bounds = [(None, None)] * (K - first) + [(0, None)] * (size - K + first)
    return float(minimize(at, np.zeros(size), jac=True, bounds=bounds, options={"maxiter": 2000, "ftol": 1e-15}).fun)


def value_at(case, model):
    """E at the fit's weights, by exact scores."""
    z = np.zeros((len(case.y), case.K))
    W = np.column_stack([model.intercept_, model.coef_])
    first = case.K - len(W)
    exact = [[Fraction(v) for v in row] for row in W.tolist()]
    for i, row in enumerate(case.X.tolist()):
        x = [Fraction(1), *(Fraction(v) for v in row)]
        own = [sum((a * b for a, b in zip(w, x, strict=True)), Fraction(0)) for w in exact]
        z[i, first:] = [float(v) for v in own]
    value, _, _ = losses(z, case.y)
    penalty = 0.0
    if not np.isinf(case.C):
        squares, sizes = float(np.sum(W[:, 1:] ** 2)), float(np.sum(np.abs(W[:, 1:])))
        penalty = (0.5 * (1 - case.l1_ratio) * squares + case.l1_ratio * sizes) / (case.C * case.weight.sum())
    return float(case.weight @ value) / case.weight.sum() + penalty


def faults(case):
    """What a fit claims and is not so, each in a sentence; and the code it ended with."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", sx.errors.SeparatrixWarning)
        settings = {"C": case.C, "l1_ratio": case.l1_ratio, "fit_intercept": case.fit_intercept}
        if case.l1_ratio > 0:  # nearly equal columns take coordinate descent long, and any state has a claim
            settings["max_iter"] = 10
        model = sx.LogisticRegression(**settings).fit(case.X, case.y, sample_weight=case.weight)
        certificate = model.certificate_
        verified = certificate.verify(case.X, case.y, case.weight)
    rank, best = lowest(case)
    here = value_at(case, model)
    slack, found = EXACT * max(here, best), []
    if certificate.bound is not None and here - best > certificate.bound + slack:
        found.append(f"bound {certificate.bound:.3g}, gap {here - best:.3g}")
    reach = float(np.max(np.abs(model.coef_) @ np.ptp(case.X, axis=0) + 1.0)) if case.fit_intercept else np.inf
    if abs(certificate.objective - here) > 1e-9 * certificate.null_objective + 1e-14 * reach:
        found.append(f"objective {certificate.objective!r}, but {here!r}")
    if certificate.code == "optimal" and not here - best <= 1e-8 * certificate.null_objective + slack:
        found.append(f"optimal, gap {(here - best) / certificate.null_objective:.3g} of the null model")
    unpenalised = certificate.code == "optimal" and np.isinf(case.C)
    if certificate.rank > rank or (unpenalised and certificate.rank != rank):
        found.append(f"rank {certificate.rank}, but {rank}")
    verdict = model.separation_
    if certificate.code in ("separated", "quasi-separated") and not verdict.verify(case.X, case.y, exact=True):
        found.append(f"{certificate.code}, but {verdict.explain()}")
    if not verified:
        found.append(f"refused: {verified}")
    return found, certificate.code


def campaign(count, first=0, told=lambda text: None):
    """All faults of so many problems, by seed, and how fits ended."""
    found, codes = {}, Counter()
    for seed in range(first, first + count):
        case = draw(seed)
        try:
            wrong, code = faults(case)
        except Exception as error:
            wrong, code = [repr(error)], "raised"
        codes[code] += 1
        if wrong:
            found[seed] = wrong
            told(f"{seed} ({case.kind}, C={case.C:.3g}, l1={case.l1_ratio}): {'; '.join(wrong)}")
    return found, codes


if __name__ == "__main__":
    count, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    start = time.perf_counter()
    found, codes = campaign(count, first, lambda text: print(text, flush=True))
    print(f"{count} problems, {len(found)} with faults, in {time.perf_counter() - start:.0f} s; {dict(codes)}")
