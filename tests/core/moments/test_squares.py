"""The squared cost: judged by moments, by residuals, and by rational numbers."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array

from separatrix import LeastSquaresClassifier
from separatrix.core.base.errors import NotConvergedWarning
from separatrix.core.moments_claims import squares_bound
from separatrix.core.rows.memory_rows import memory_rows
from separatrix.core.squared_cost import OneHot, Signed, build_squared_cost

FAMILIES = {
    "plain": lambda rng, X: X,
    "correlated": lambda rng, X: X @ (np.eye(5) + 0.7 * rng.standard_normal((5, 5))),
    "scales": lambda rng, X: X * 10.0 ** np.arange(-2.0, 3.0),
    "shifted": lambda rng, X: X + np.array([3.0, -2.0, 0.0, 40.0, 1.0]),
    "heavy tails": lambda rng, X: X**3,
    "sorted": lambda rng, X: np.sort(X, axis=0),
}


def drawn(family, n=400, K=3):
    rng = np.random.default_rng(n)
    X = FAMILIES[family](rng, rng.standard_normal((n, 5)))
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    y = np.argmax(Z @ rng.standard_normal((5, K)) + rng.gumbel(size=(n, K)), axis=1)
    return X, y


@pytest.mark.parametrize("make", [np.asarray, csr_array])
@pytest.mark.parametrize(("l2", "fit_intercept"), [(0.0, True), (0.0, False), (3.0, True)])
@pytest.mark.parametrize("coding", [OneHot(), Signed()])
@pytest.mark.parametrize("family", FAMILIES)
def test_the_moments_judge_as_the_residuals_do(family, coding, l2, fit_intercept, make):
    X, y = drawn(family)
    weight = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    cost = build_squared_cost(memory_rows(make(X), y, weight), coding.table(3), l2, fit_intercept)
    least = cost.minimise()
    by_residuals = cost.at(least.raw)
    assert least.value == pytest.approx(by_residuals.value, rel=1e-12)
    for move in (0.0, 0.3):
        W = least.W + move * np.random.default_rng(2).standard_normal(least.W.shape) * np.append(fit_intercept, [1] * 5)
        value, gradient = cost._value_gradient_by_moments(W)
        judged = cost.by_residuals(W)
        assert value == pytest.approx(judged.value, rel=1e-12)
        np.testing.assert_allclose(gradient, judged.gradient, rtol=1e-10, atol=1e-12)
    assert cost.by_residuals(least.W).summed_gap <= least.gap


@pytest.mark.parametrize("family", FAMILIES)
def test_one_pass_is_enough(family):
    X, y = drawn(family)
    certificate = LeastSquaresClassifier().fit(X, y).certificate_
    assert (certificate.passes, certificate.met) == (1, True)
    assert certificate.relative_bound < 1e-14
    assert "residuals" not in certificate.why
    assert certificate.verify(X, y)


@pytest.mark.parametrize("value", [0.0, 1 / 3, 1e6])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_one_pass_is_enough_beside_a_constant_column(value, fit_intercept):
    X, y = drawn("plain", 2000)
    X = np.column_stack([X, np.full(2000, value), np.tile(X, 3) + np.random.default_rng(0).standard_normal((2000, 15))])
    certificate = LeastSquaresClassifier(fit_intercept=fit_intercept).fit(X, y).certificate_
    assert (certificate.passes, certificate.met) == (1, True)
    assert certificate.full_rank - certificate.rank == (1 if fit_intercept or value == 0 else 0)
    assert certificate.verify(X, y)


def test_one_pass_is_enough_for_many_rows():
    X, y = drawn("shifted", 120_000)  # more than one block
    assert LeastSquaresClassifier().fit(X, y).certificate_.passes == 1


@pytest.mark.parametrize("closeness", [1e-6, 1e-9])
def test_nearly_collinear_columns_are_judged_by_their_residuals(closeness):
    X, y = drawn("plain")
    X[:, 4] = X[:, 3] + closeness * X[:, 4]
    certificate = LeastSquaresClassifier().fit(X, y).certificate_
    assert certificate.passes > 1
    assert "checked by the residuals" in certificate.why
    assert certificate.met


def test_a_nearly_exact_fit_is_judged_by_its_residuals():
    y = np.arange(60) % 2
    X = (y + 1e-6 * np.random.default_rng(0).standard_normal(60))[:, None]
    certificate = LeastSquaresClassifier().fit(X, y).certificate_
    assert certificate.passes > 1
    residual = y - np.polyval(np.polyfit(X[:, 0], y, 1), X[:, 0])
    assert certificate.objective == pytest.approx(np.mean(residual**2), rel=1e-4)


CLOSENESSES = [1.0, 1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12]


def near_tables(closeness, seeds=30):
    """Small tables whose first two columns are nearly equal, with all combinations of the other settings."""
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        n, K = int(rng.integers(6, 20)), 2 + seed % 2
        offset, decades = [0.0, 30.0, 1e3, 1e6][seed // 2 % 4], [0.0, 6.0][seed // 8 % 2]
        X = rng.standard_normal((n, 3)) * [1.0, 1.0, 10.0 ** rng.integers(-3, 4)]
        X[:, 1] = X[:, 0] + closeness * X[:, 1]
        X += offset * np.array([1.0, 1.0, -0.5])
        y = np.where(rng.random(n) < 0.5, X[:, 0] > offset, rng.integers(0, K, n)).astype(int)
        y[:K] = np.arange(K)
        weight = 10.0 ** rng.uniform(-decades, decades, n)
        coding, l2 = (Signed() if seed % 3 else OneHot()), (0.1 if seed % 5 == 4 else 0.0)
        make, fit_intercept = (csr_array if seed % 7 == 6 else np.asarray), seed % 11 != 10
        yield X, y, weight, coding, l2, fit_intercept, make


@pytest.mark.parametrize("closeness", CLOSENESSES)
def test_the_claimed_gap_is_no_less_than_the_exact_one(closeness):
    told = 0
    for X, y, weight, coding, l2, fit_intercept, make in near_tables(closeness):
        cost = build_squared_cost(memory_rows(make(X), y, weight), coding.table(y.max() + 1), l2, fit_intercept)
        least = cost.minimise()
        off = least.raw * (1 + 1e-7 * np.random.default_rng(0).standard_normal(least.raw.shape))
        # At the minimum, the same by the residuals, and somewhere else.
        for at in (least, cost.at(least.raw), cost.judge(off)):
            gap, value = exact_gap(X, weight, cost.targets[y], at.raw, l2, fit_intercept)
            assert abs(Fraction(at.value) - value) <= at.rounding
            bound = squares_bound(cost, at)
            assert gap <= bound.known
            if not cost.unresolved:
                assert at.gap is None or gap <= at.gap
                told += bound.value is not None
    assert told >= (80 if closeness >= 1e-6 else 30)


@pytest.mark.parametrize("closeness", CLOSENESSES)
def test_verifying_claims_what_the_fit_did(closeness):
    for X, y, weight, coding, l2, fit_intercept, make in near_tables(closeness, 16):
        targets = "signed" if isinstance(coding, Signed) else "one-hot"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConvergedWarning)
            model = LeastSquaresClassifier(l2, targets=targets, fit_intercept=fit_intercept).fit(make(X), y, weight)
        certificate = model.certificate_
        found = certificate.claim.recompute(make(X), y, weight)
        assert (found.bound.value is None) == (certificate.bound is None)
        assert found.bound.known == pytest.approx(certificate.claimed.known, rel=1e-12)
        assert certificate.verify(make(X), y, weight)


@pytest.mark.parametrize("seed", range(8))
def test_columns_that_differ_in_their_last_bits_leave_no_bound(seed):
    rng = np.random.default_rng(seed)
    a, y = rng.standard_normal(12), np.arange(12) % 2
    X = np.column_stack([a, np.where(rng.random(12) < 0.5, np.nextafter(a, 9), a)])
    certificate = LeastSquaresClassifier().fit(X, y).certificate_
    gap, _ = exact_gap(X, np.ones(12), np.eye(2)[y], certificate.claim.weights, 0.0, True)
    assert gap > 1e-6  # the exact minimum has weights near 1e16
    assert (certificate.code, certificate.met, certificate.bound) == ("resolved", True, None)
    assert "float64 cannot resolve" in certificate.bound_reason
    assert "singular up to rounding" in certificate.status
    assert certificate.verify(X, y)
    exactly = LeastSquaresClassifier().fit(np.column_stack([a, a]), y).certificate_
    assert (exactly.code, exactly.met) == ("closed-form", True)
    assert exactly.relative_bound < 1e-12


def exact_gap(X, weight, T, raw, l2, fit_intercept):
    """E(W) − min E and E(W) in rational numbers: ½ tr G H⁻¹ Gᵀ by elimination, less where a column is dependent."""
    rows = [[Fraction(int(fit_intercept)), *map(Fraction, row)] for row in X.tolist()]
    s, W, T = [Fraction(w) for w in weight.tolist()], _fractions(raw), _fractions(T)
    S, width, outputs = sum(s), range(len(W[0])), range(len(W))
    R = [[_dot(w, row) - t for w, t in zip(W, target, strict=True)] for row, target in zip(rows, T, strict=True)]
    weighted = [[si * x for x in row] for si, row in zip(s, rows, strict=True)]
    columns, residuals, products = (
        list(zip(*rows, strict=True)),
        list(zip(*R, strict=True)),
        zip(*weighted, strict=True),
    )
    system = []
    for j, product in zip(width, products, strict=True):
        penalty = Fraction(l2) if j else Fraction(0)
        H = [_dot(product, columns[k]) + penalty * (j == k) for k in width]
        system.append(H + [_dot(product, residuals[k]) + penalty * W[k][j] for k in outputs])
    gap = Fraction(0)
    for i in width:
        if system[i][i] == 0:
            continue
        gap += sum(g * g for g in system[i][len(width) :]) / system[i][i]
        for k in range(i + 1, len(width)):
            factor = system[k][i] / system[i][i]
            system[k] = [a - factor * b for a, b in zip(system[k], system[i], strict=True)]
    squares = sum(si * _dot(r, r) for si, r in zip(s, R, strict=True)) + Fraction(l2) * sum(
        _dot(w[1:], w[1:]) for w in W
    )
    return gap / (2 * S), squares / (2 * S)


def _fractions(table):
    return [[Fraction(x) for x in row] for row in table.tolist()]


def _dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))
