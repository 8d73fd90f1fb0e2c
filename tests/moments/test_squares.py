"""The squared cost: judged by moments, by residuals, and by rational numbers."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array

from separatrix import LeastSquaresClassifier
from separatrix.moments.coding import OneHot, Signed
from separatrix.moments.squared_cost import build_squared_cost
from separatrix.rows import memory_rows

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
        expected, slope = cost.value_gradient(W)
        assert value == pytest.approx(expected, rel=1e-12)
        np.testing.assert_allclose(gradient, slope, rtol=1e-10, atol=1e-12)
    assert by_residuals.gap <= least.gap


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
    assert "judged by the residuals" in certificate.why
    assert certificate.met


def test_a_nearly_exact_fit_is_judged_by_its_residuals():
    y = np.arange(60) % 2
    X = (y + 1e-6 * np.random.default_rng(0).standard_normal(60))[:, None]
    certificate = LeastSquaresClassifier().fit(X, y).certificate_
    assert certificate.passes > 1
    residual = y - np.polyval(np.polyfit(X[:, 0], y, 1), X[:, 0])
    assert certificate.objective == pytest.approx(np.mean(residual**2), rel=1e-4)


@pytest.mark.parametrize("closeness", [1.0, 1e-2, 1e-3, 1e-4])
def test_the_gap_with_its_rounding_is_no_less_than_the_exact_one(closeness):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((300, 2))
    X[:, 1] = X[:, 0] + closeness * X[:, 1]
    y = (X[:, 0] + rng.standard_normal(300) > 0).astype(int)
    cost = build_squared_cost(memory_rows(X, y, np.ones(300)), Signed().table(2), 0.0, True)
    least = cost.minimise()
    gap, value = exact_gap(X, 2 * y - 1, least.raw[0])
    assert gap <= least.gap
    assert least.value == pytest.approx(value, rel=1e-11)


def exact_gap(X, t, weights):
    """E(w) − min E and E(w), in rational numbers: ½ gᵀ H⁻¹ g by elimination."""
    rows = [[Fraction(1), *map(Fraction, row)] for row in X.tolist()]
    w, n = [Fraction(v) for v in weights.tolist()], len(rows)
    residual = [sum(a * b for a, b in zip(row, w, strict=True)) - int(s) for row, s in zip(rows, t, strict=True)]
    width = range(len(w))
    g = [sum(r * row[j] for r, row in zip(residual, rows, strict=True)) / n for j in width]
    H = [[sum(row[i] * row[j] for row in rows) / n for j in width] + [g[i]] for i in width]
    for i in width:
        for k in range(i + 1, len(w)):
            factor = H[k][i] / H[i][i]
            H[k] = [a - factor * b for a, b in zip(H[k], H[i], strict=True)]
    gap = sum(H[i][-1] ** 2 / H[i][i] for i in width) / 2
    return float(gap), float(sum(r * r for r in residual) / (2 * n))
