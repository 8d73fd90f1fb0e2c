"""The objective at one's own weights: derivatives against differences, and the value that a certificate reports."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import separatrix as sx


def rows(K, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((40, 3)) * [1.0, 1e3, 1e-2], np.arange(40) % K, rng.uniform(0.0, 2.0, 40)


def differences(f, w, step):
    """Central differences of f by each entry of w."""
    moves = [step * e.reshape(w.shape) for e in np.eye(w.size)]
    return np.array([(f(w + move) - f(w - move)) / (2 * step) for move in moves])


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("K", [2, 3])
def test_derivatives_are_the_derivatives(K, fit_intercept):
    X, y, weight = rows(K)
    X = X / [1.0, 1e3, 1e-2]
    E = sx.objective(X, y, C=2.0, fit_intercept=fit_intercept, sample_weight=weight)
    w = np.random.default_rng(1).standard_normal(E.shape)
    np.testing.assert_allclose(E.gradient(w).ravel(), differences(E.value, w, 1e-6), atol=1e-8)
    by_gradient = differences(lambda at: E.gradient(at).ravel(), w, 1e-6)
    np.testing.assert_allclose(E.hessian(w), by_gradient, atol=1e-8)


@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("l1_ratio", [0.0, 0.5])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("K", [2, 3])
def test_the_value_is_the_certificates(K, fit_intercept, l1_ratio, form):
    X, y, weight = rows(K)
    model = sx.LogisticRegression(C=0.5, l1_ratio=l1_ratio, fit_intercept=fit_intercept).fit(form(X), y, weight)
    E = sx.objective(form(X), y, C=0.5, l1_ratio=l1_ratio, fit_intercept=fit_intercept, sample_weight=weight)
    W = np.column_stack([model.intercept_, model.coef_]) if fit_intercept else model.coef_
    assert E.value(W.reshape(E.shape)) == pytest.approx(model.certificate_.objective, rel=1e-12)
    assert np.max(np.abs(E.gradient(W.reshape(E.shape)) / np.append(1.0, X.std(axis=0))[-W.shape[1] :])) < 1e-4


def test_every_loss_of_one_score_has_a_value():
    X, y, _ = rows(2)
    for name, loss in sx.losses.LOSSES.items():
        if not loss.traits.multiclass:
            assert np.isfinite(sx.objective(X, y, name).value(np.zeros(4)))


def test_what_cannot_be_is_refused_in_a_sentence():
    X, y, _ = rows(2)
    E = sx.objective(X, y, "hinge")
    with pytest.raises(sx.errors.ParameterError, match=r"w: its shape is \(3,\); give \(4,\), intercepts first"):
        E.value(np.zeros(3))
    with pytest.raises(sx.errors.ParameterError, match="no second derivatives"):
        E.hessian(np.zeros(4))
    for name, value in {"loss": "logit", "C": 0.0, "l1_ratio": 2.0, "sample_weight": np.zeros(40)}.items():
        with pytest.raises(sx.errors.InputError, match=name):
            sx.objective(X, y, **{name: value})
    with pytest.raises(sx.errors.LabelError, match="1 class"):
        sx.objective(X, np.zeros(40))
    with pytest.raises(sx.errors.NotFiniteError):
        sx.objective(np.full((2, 1), np.nan), [0, 1])
