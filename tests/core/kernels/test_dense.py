"""The compiled sums over dense rows against the formula written out, and against the blocks of NumPy calls."""

import numpy as np
import pytest

from separatrix import LogisticRegression
from separatrix.core import objective_sums
from separatrix.core.base.machine import threads
from separatrix.core.kernels import dense_rows
from separatrix.core.penalty import Penalty
from separatrix.core.problem import build_objective
from separatrix.core.rows.labelled_table import labelled_rows
from separatrix.core.solvers.lbfgs import LBFGS
from separatrix.core.solvers.preconditioners import Sample


@pytest.mark.parametrize("value", [np.float64, np.float32])
@pytest.mark.parametrize("d", [1, 3, 16, 37])
def test_logistic_pass_is_the_formula(d, value):
    rng = np.random.default_rng(d)
    n = 50
    X = rng.standard_normal((n, d)).astype(value)
    t, weight, w, b = rng.choice([-1.0, 1.0], n), rng.integers(0, 3, n).astype(float), rng.standard_normal(d), 0.3
    gradient = np.ones(d)
    found = dense_rows.logistic_pass(X, 7, n, t, weight, w, b, gradient)
    wide, part = X.astype(np.float64), slice(7, n)
    m = t[part] * (wide[part] @ w + b)
    r = -t[part] * weight[part] / (1 + np.exp(m))
    np.testing.assert_allclose(found, [weight[part] @ np.logaddexp(0, -m), r.sum()], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(gradient, 1 + r @ wide[part], rtol=1e-12, atol=1e-14)


def test_the_objective_is_the_same_and_its_bits_do_not_depend_on_threads(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 7)) * np.logspace(-3, 3, 7) + 2.0
    weight = rng.integers(0, 3, 500).astype(float)
    problem = build_objective(labelled_rows(X, (X[:, 6] > 0).astype(int), 2, weight), 2, Penalty(0.5, np.ones(7)))
    W = rng.standard_normal(problem.shape)
    blocks = problem.value_gradient(W)
    assert not problem.is_compiled
    monkeypatch.setattr(objective_sums, "MOST_ENTRIES", -1)
    monkeypatch.setattr(objective_sums, "FEWEST_DENSE_ENTRIES_TO_COMPILE", 1)
    compiled, found = problem.with_(), []
    assert compiled.is_compiled
    for count in (1, 2, 5):
        with threads(count):
            found.append(compiled.value_gradient(W))
    np.testing.assert_allclose(found[0].value, blocks.value, rtol=1e-13)
    np.testing.assert_allclose(found[0].gradient, blocks.gradient, rtol=1e-11, atol=1e-13)
    for other in found[1:]:
        assert other.value == found[0].value
        np.testing.assert_array_equal(other.gradient, found[0].gradient)


@pytest.mark.parametrize("value", [np.float64, np.float32])
def test_a_center_is_taken_off_the_rows(value):
    rng = np.random.default_rng(0)
    n, d = 51, 5
    X, center = rng.standard_normal((n, d)).astype(value), np.array([0.0, 2.0, 0.0, -3.0, 0.5])
    t, weight, w = rng.choice([-1.0, 1.0], n), rng.integers(0, 3, n).astype(float), rng.standard_normal(d)
    gradient, expected = np.zeros(d), np.zeros(d)
    found = dense_rows.logistic_pass(X, 3, n, t, weight, w, 0.3, gradient, center)
    same = dense_rows.logistic_pass(X.astype(np.float64) - center, 3, n, t, weight, w, 0.3, expected)
    np.testing.assert_allclose(found, same, rtol=1e-12)
    np.testing.assert_allclose(gradient, expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("far", [[2], [0, 3], [0, 1, 2, 3]])
@pytest.mark.parametrize("offset", [2000.0, 2.0**30])
def test_a_column_with_a_large_offset_keeps_its_digits(monkeypatch, far, offset):
    """A year, a time stamp: x·w − c·w would lose as many digits as the offset is longer than the spread."""
    monkeypatch.setattr(objective_sums, "MOST_ENTRIES", -1)
    monkeypatch.setattr(objective_sums, "FEWEST_DENSE_ENTRIES_TO_COMPILE", 1)
    rng = np.random.default_rng(1)
    X = np.round(rng.standard_normal((400, 4)) * 2.0**12) / 2.0**12  # differences to the offset are exact
    codes = (X[:, 0] + rng.logistic(size=400) > 0).astype(int)
    X[:, far] += offset
    problem = build_objective(labelled_rows(X, codes, 2, np.ones(400)), 2, Penalty(0.5, np.ones(4)))
    W, frame = rng.standard_normal(problem.shape), problem.rows.frame
    rows = np.column_stack([np.ones(400), (X - frame.center) / frame.scale])
    m = (2.0 * codes - 1.0) * (rows @ W[0])
    r = -(2.0 * codes - 1.0) / (1 + np.exp(m)) / 400
    assert problem.is_compiled
    found = problem.value_gradient(W)
    assert found.value == pytest.approx(np.logaddexp(0, -m).mean() + problem.penalty_value(W), rel=1e-13)
    np.testing.assert_allclose(found.gradient[0], r @ rows + problem.penalty_gradient(W)[0], rtol=0, atol=1e-13)
    sums = np.array([rows[codes == k].sum(axis=0) for k in (0, 1)])
    np.testing.assert_allclose(problem.framed.class_sums, sums, rtol=0, atol=1e-11)


def test_a_fit_beside_a_year_is_the_fit_without(monkeypatch):
    monkeypatch.setattr(objective_sums, "FEWEST_DENSE_ENTRIES_TO_COMPILE", 1)
    rng = np.random.default_rng(2)
    X = rng.standard_normal((9000, 4))
    y = (X[:, 0] - X[:, 1] + rng.logistic(size=9000) > 0).astype(int)
    year = X.copy()
    year[:, 1] = 2000 + np.round(8 * X[:, 1])
    near = year - [0, 2000, 0, 0]
    beside, plain = (LogisticRegression(C=np.inf, solver=LBFGS(Sample())).fit(rows, y) for rows in (year, near))
    np.testing.assert_allclose(beside.coef_, plain.coef_, rtol=1e-9)
    assert beside.certificate_.verify(year, y)
