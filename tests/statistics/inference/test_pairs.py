"""Infinite coefficients among more than two classes: the limit in which of each row only some classes are left."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

import separatrix as sx
from separatrix.core.base.errors import ParameterError, SeparatrixWarning

from .test_summary import same


def maximum_likelihood(X, y, **given):
    """A fit to classes that have no maximum: whether it sees that or not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeparatrixWarning)
        return sx.LogisticRegression(np.inf, **given).fit(X, y)


def flagged(seed, K=3):
    """Numbers, and 0/1 columns of which the last never goes with some of the classes."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(40, 120))
    numbers = rng.standard_normal((n, int(rng.integers(1, 3))))
    X = np.column_stack([numbers, rng.random((n, int(rng.integers(1, 4)))) < rng.uniform(0.05, 0.3)])
    y = np.argmax(X @ rng.standard_normal((X.shape[1], K)) + rng.gumbel(size=(n, K)), axis=1)
    kept = ~((X[:, -1] == 1) & np.isin(y, rng.integers(0, K, int(rng.integers(1, K)))))
    return X[kept], y[kept]


def with_a_ridge(X, y, K, ridge, B):
    """The slow way: (B, covariance) with ``ridge``/2 ‖B‖² added, by Newton's method from B (K − 1, d + 1)."""
    rows, Y = np.column_stack([np.ones(len(X)), X]), np.eye(K)[y]

    def at(B):
        z = np.column_stack([np.zeros(len(X)), rows @ B.T])
        log_sum = np.logaddexp.reduce(z, axis=1)
        loss = np.sum(log_sum - z[np.arange(len(y)), y]) + 0.5 * ridge * np.sum(B**2)
        return loss, np.exp(z - log_sum[:, None])

    for _ in range(300):
        value, P = at(B)
        gradient = ((P - Y)[:, 1:].T @ rows + ridge * B).ravel()
        curvature = np.einsum("nk,kl->nkl", P[:, 1:], np.eye(K - 1)) - P[:, 1:, None] * P[:, None, 1:]
        H = np.einsum("nkl,ni,nj->kilj", curvature, rows, rows).reshape(B.size, B.size) + ridge * np.eye(B.size)
        step = -np.linalg.solve(H, gradient)
        if -gradient @ step < 1e-16:
            break
        size = 1.0
        while at(B + size * step.reshape(B.shape))[0] > value + 1e-4 * size * (gradient @ step) and size > 1e-10:
            size /= 2
        B = B + size * step.reshape(B.shape)
    return B, np.linalg.inv(H)


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 5, 6, 9, 15, 22, 24, 53])
def test_the_limit_of_a_vanishing_ridge(seed):
    """Of the fits to these some say quasi-separated, some that they went as far as they could, some optimal."""
    K = 3 + seed % 2
    X, y = flagged(seed, K)
    found = sx.summary(maximum_likelihood(X, y), X, y)
    assert found.withheld is None
    states = np.array(found.states)
    finite = states == "estimated"
    assert not finite.all()
    B, path = np.zeros((K - 1, X.shape[1] + 1)), []
    for ridge in (1e-5, 1e-7, 1e-9):
        B, V = with_a_ridge(X, y, K, ridge, B)
        path.append(B)
    np.testing.assert_allclose(found.coef[finite], B[finite], rtol=0, atol=1e-4)
    errors = np.sqrt(np.diag(V)).reshape(B.shape)
    np.testing.assert_allclose(found.std_err[finite], errors[finite], rtol=1e-3)
    assert np.isnan(found.std_err[~finite]).all()
    assert np.isnan(found.low[~finite]).all()
    for before, after in pairwise(path):
        assert np.all(after[states == "infinite"] - before[states == "infinite"] > 0.3)
        assert np.all(after[states == "minus infinite"] - before[states == "minus infinite"] < -0.3)
    assert np.all(found.coef[states == "infinite"] == np.inf)
    assert np.all(found.coef[states == "minus infinite"] == -np.inf)
    assert np.isnan(found.coef[states == "no finite value"]).all()


def one_class_alone():
    """A column whose ones are all of the last class: without those rows, and it, nothing is infinite."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((90, 2)), np.arange(90) % 3
    flag = ((y == 2) & (np.arange(90) > 60)).astype(float)
    return X, y, flag


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(
    "given", [{}, {"covariance": "HC0"}, {"groups": np.arange(90) % 7}, {"intervals": "profile"}, {"reference": 1}]
)
def test_rows_of_one_class_alone_drop_out(kind, given):
    X, y, flag = one_class_alone()
    rows = kind(np.column_stack([X, flag]))
    found = sx.summary(maximum_likelihood(rows, y), rows, y, **given)
    inside = flag == 0
    given = {key: value[inside] if key == "groups" else value for key, value in given.items()}
    alone = sx.summary(maximum_likelihood(X[inside], y[inside]), X[inside], y[inside], **given)
    for name in ("coef", "std_err", "low", "high"):
        same(getattr(found, name)[:, :3], getattr(alone, name), rtol=1e-6)
    same(found.log_likelihood, alone.log_likelihood)
    # whether the others of the classes go with the column is open, and the last does more than either
    assert [own[3] for own in found.states] == ["no finite value", "infinite"]
    assert found.n == 90
    assert "x2 of 2: infinite" in str(found)
    with pytest.raises(ParameterError, match="infinite"):
        found.marginal_effects()


def test_two_of_three_classes_are_left_in_a_category():
    """Against one of the two that go with the column the other has a finite coefficient."""
    rng = np.random.default_rng(1)
    y = np.arange(120) % 3
    flag = ((y > 0) & (rng.random(120) < 0.4)).astype(float)
    X = flag[:, None]
    found = sx.summary(maximum_likelihood(X, y), X, y, reference=1, intervals="profile")
    assert found.classes == (0, 2)
    assert [own[1] for own in found.states] == ["minus infinite", "estimated"]
    counts = np.array([[np.sum((y == k) & (flag == f)) for f in (0, 1)] for k in range(3)])
    at_one, at_zero = np.log(counts[2, 1] / counts[1, 1]), np.log(counts[2, 0] / counts[1, 0])
    same(found.coef[1], [at_zero, at_one - at_zero], rtol=1e-8)
    same(found.std_err[1, 1], np.sqrt(np.sum(1 / counts[1:])), rtol=1e-7)
    shares = counts / counts.sum(axis=0)
    same(found.log_likelihood, np.sum(counts[counts > 0] * np.log(shares[counts > 0])))
    assert found.low[0, 1] == -np.inf
    assert np.isfinite(found.high[0, 1])


def test_offsets_weights_and_no_intercept():
    X, y, flag = one_class_alone()
    rng = np.random.default_rng(2)
    offset, f = rng.standard_normal((90, 3)), rng.integers(0, 4, 90)
    rows, inside = np.column_stack([X, flag]), flag == 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeparatrixWarning)
        model = sx.LogisticRegression(np.inf, fit_intercept=False).fit(rows, y, f, offset=offset)
    found = sx.summary(model, rows, y, sample_weight=f, weights="frequency", offset=offset)
    part = sx.LogisticRegression(np.inf, fit_intercept=False).fit(
        X[inside], y[inside], f[inside], offset=offset[inside]
    )
    given = {"sample_weight": f[inside], "weights": "frequency", "offset": offset[inside]}
    alone = sx.summary(part, X[inside], y[inside], **given)
    same(found.coef[:, :2], alone.coef, rtol=1e-6)
    same(found.std_err[:, :2], alone.std_err, rtol=1e-6)
    assert found.states[1] == ("estimated", "estimated", "infinite")


def test_a_maximum_that_hardly_bends_is_still_one():
    """Nearly collinear columns: a proof says that classes overlap, and the fit's numbers stand."""
    rng = np.random.default_rng(3)
    x = rng.standard_normal(200)
    X, y = np.column_stack([x, x + 1e-5 * rng.standard_normal(200)]), rng.integers(0, 3, 200)
    found = sx.summary(sx.LogisticRegression(np.inf).fit(X, y), X, y)
    assert found.findings.estimate.is_flat
    assert set(sum(found.states, ())) == {"estimated"}
    assert np.all(found.std_err > 0)
