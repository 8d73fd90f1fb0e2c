"""An offset: parts of the scores that are known, beside the columns whose weights are fitted."""

import numpy as np
import pytest
import scipy.sparse as sp
import statsmodels.api as sm
from scipy.optimize import minimize

import separatrix as sx
from separatrix.core.base.errors import ParameterError
from separatrix.core.solvers import LBFGS, Diagonal, Kronecker, Sample


def _rows(n=300, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * np.logspace(-2, 2, d) + 3.0
    offset = rng.normal(1.0, 1.5, n)
    y = (rng.random(n) < 1 / (1 + np.exp(-(X[:, 0] * 30 - 90 + offset)))).astype(int)
    return X, y, offset


@pytest.mark.parametrize("solver", ["auto", "newton", LBFGS(Kronecker()), LBFGS(Diagonal()), LBFGS(Sample())])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_agrees_with_statsmodels(solver, fit_intercept):
    X, y, offset = _rows()
    model = sx.LogisticRegression(np.inf, solver=solver, fit_intercept=fit_intercept, tol=1e-14).fit(
        X, y, offset=offset
    )
    design = sm.add_constant(X) if fit_intercept else X
    peer = sm.GLM(y, design, family=sm.families.Binomial(), offset=offset).fit(tol=1e-12)
    ours = np.concatenate([model.intercept_, model.coef_[0]]) if fit_intercept else model.coef_[0]
    np.testing.assert_allclose(ours, peer.params, rtol=1e-5)
    np.testing.assert_allclose(model.predict_proba(X, offset)[:, 1], peer.fittedvalues, rtol=1e-5)
    assert model.certificate_.met
    assert model.certificate_.verify(X, y, offset=offset)
    assert not model.certificate_.verify(X, y)
    if fit_intercept:
        null = sm.GLM(y, np.ones(len(y)), family=sm.families.Binomial(), offset=offset).fit(tol=1e-12)
        assert model.certificate_.null_objective == pytest.approx(-null.llf / len(y), rel=1e-9)


def test_many_rows_and_sparse_rows():
    X, y, offset = _rows(90_000, 3)
    dense = sx.LogisticRegression(np.inf).fit(X, y, offset=offset)
    assert dense.certificate_.solver == "lbfgs"
    sparse = sx.LogisticRegression(np.inf).fit(sp.csr_array(X), y, offset=offset)
    peer = sm.GLM(y, sm.add_constant(X), family=sm.families.Binomial(), offset=offset).fit(tol=1e-12)
    for model in (dense, sparse):
        assert model.certificate_.met
        # A gap of 1e-8 leaves the weights within a small share of their standard errors.
        assert np.all(np.abs(model.coef_[0] - peer.params[1:]) <= 0.02 * peer.bse[1:])


@pytest.mark.parametrize("C", [1.0, np.inf])
def test_softmax_against_a_plain_minimiser(C):
    rng = np.random.default_rng(1)
    X, offset = rng.standard_normal((200, 3)), rng.standard_normal((200, 3))
    y = np.argmax(X @ rng.standard_normal((3, 3)) + offset + rng.gumbel(size=(200, 3)), axis=1)
    model = sx.LogisticRegression(C, tol=1e-12).fit(X, y, offset=offset)

    def objective(flat):
        W = flat.reshape(3, 4)
        z = X @ W[:, 1:].T + W[:, 0] + offset
        loss = np.log(np.exp(z).sum(axis=1)) - z[np.arange(200), y]
        return loss.sum() + (0 if np.isinf(C) else 0.5 / C * np.sum(W[:, 1:] ** 2))

    best = minimize(objective, np.zeros(12), method="BFGS", options={"gtol": 1e-9})
    assert model.certificate_.objective * 200 <= best.fun + 1e-8
    np.testing.assert_allclose(model.decision_function(X, offset).argmax(axis=1), model.predict(X, offset))
    assert model.certificate_.verify(X, y, offset=offset)


def test_a_constant_offset_moves_the_intercept_alone():
    X, y, _ = _rows()
    plain, moved = (sx.LogisticRegression(10.0, tol=1e-13).fit(X, y, offset=o) for o in (None, np.full(len(y), 2.5)))
    np.testing.assert_allclose(moved.coef_, plain.coef_, rtol=1e-5, atol=1e-8)
    assert moved.intercept_[0] == pytest.approx(plain.intercept_[0] - 2.5, abs=1e-5)
    assert moved.certificate_.verify(X, y, offset=np.full(len(y), 2.5))


def test_a_warm_start_goes_on_from_the_last_fit():
    X, y, offset = _rows()
    model = sx.LogisticRegression(warm_start=True).fit(X, y, offset=offset)
    assert model.fit(X, y, offset=offset).n_iter_ <= 1


@pytest.mark.parametrize("offset", [np.zeros(3), np.full(300, np.nan), np.zeros((300, 2)), ["a"] * 300])
def test_bad_offsets_are_named(offset):
    X, y, _ = _rows()
    with pytest.raises(ParameterError, match="offset"):
        sx.LogisticRegression().fit(X, y, offset=offset)


def test_no_offset_beside_absolute_values_or_another_classifier():
    X, y, offset = _rows()
    with pytest.raises(ParameterError, match="l1_ratio"):
        sx.LogisticRegression(l1_ratio=1.0).fit(X, y, offset=offset)
    with pytest.raises(sx.errors.InputError, match="offset"):
        sx.LinearDiscriminantAnalysis().fit(X, y).certificate_.verify(X, y, offset=offset)


@pytest.mark.parametrize("constant", [0.5, 2.0, -10.0, 40.0, -300.0])
@pytest.mark.parametrize("K", [2, 3])
def test_a_constant_offset_moves_the_intercept_and_nothing_else(constant, K):
    """Far from the best constants Newton's whole steps overshoot: the null model, and so the tolerance, must not."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((60, 3))
    y = np.argmax(X[:, :K] + rng.gumbel(size=(60, K)), axis=1)
    offset = np.full(60, constant) if K == 2 else np.tile(constant * np.arange(K), (60, 1))
    for C in (1.0, np.inf):
        plain, moved = (sx.LogisticRegression(C, tol=1e-13).fit(X, y, offset=b) for b in (None, offset))
        np.testing.assert_allclose(moved.coef_, plain.coef_, rtol=1e-5, atol=1e-6)
        shift = moved.intercept_ - plain.intercept_ + offset[0]
        np.testing.assert_allclose(shift - shift.mean() * (K > 2), 0.0, atol=1e-6 * (1 + abs(constant)))
        assert moved.certificate_.met
        assert moved.certificate_.null_objective == pytest.approx(plain.certificate_.null_objective, rel=1e-9)
        assert moved.certificate_.verify(X, y, offset=offset)
