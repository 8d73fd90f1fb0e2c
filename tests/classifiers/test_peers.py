"""Fits of scikit-learn's own data against scikit-learn's solvers run to rounding.

The peer is the lowest objective that newton-cholesky or newton-cg reaches, by one NumPy function in the columns'
own units. (lbfgs is left out: on these raw columns it stops far above, at C = 100 on wine at three times the
minimum.)
"""

import warnings
from functools import cache

import numpy as np
import pytest
from sklearn import datasets
from sklearn.linear_model import LogisticRegression as Peer
from sklearn.utils.class_weight import compute_sample_weight

from separatrix import LogisticRegression
from tests.exact import objective

DATA = {
    "breast cancer": datasets.load_breast_cancer,
    "iris": datasets.load_iris,
    "wine": datasets.load_wine,
    "digits": datasets.load_digits,
}
SMALL = ("breast cancer", "iris", "wine")
STRENGTHS = (0.01, 1, 100)


@cache
def rows(name):
    return DATA[name](return_X_y=True)


def intercept_of(model):
    """Scikit-learn keeps a scalar 0 or (1,) where it fits none; one a score function here."""
    return np.broadcast_to(model.intercept_, len(model.coef_))


def best_peer(X, y, C, fit_intercept, sample_weight=None, class_weight=None, total=None):
    """The peer of the lowest objective, and that objective."""
    found = []
    for solver in ("newton-cholesky", "newton-cg"):
        peer = Peer(C=C, fit_intercept=fit_intercept, class_weight=class_weight, solver=solver, tol=1e-12, max_iter=200)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # at rounding they complain of line searches, and are at the optimum
            peer.fit(X, y, sample_weight=sample_weight)
        found.append((objective(X, y, peer.coef_, intercept_of(peer), C, total), peer))
    return min(found, key=lambda pair: pair[0])


def check(X, y, C, fit_intercept, solver="auto", sample_weight=None, class_weight=None):
    """Ours has the peer's objective or less, its predictions on all rows, and its probabilities."""
    # What every row weighs in the end, by scikit-learn's own reckoning.
    total = np.ones(len(y)) if sample_weight is None else sample_weight
    if class_weight is not None:
        total = total * compute_sample_weight(class_weight, y)
    lowest, peer = best_peer(X, y, C, fit_intercept, sample_weight, class_weight, total)
    model = LogisticRegression(
        C=C, fit_intercept=fit_intercept, class_weight=class_weight, solver=solver, tol=1e-12, max_iter=5000
    ).fit(X, y, sample_weight)
    ours = objective(X, y, model.coef_, model.intercept_, C, total)
    null = objective(X, y, np.zeros_like(model.coef_), np.zeros_like(model.intercept_), C, total)
    assert ours <= lowest * (1 + 1e-10) + 1e-12 * null  # the tolerance is a share of the null model's objective
    assert ours >= lowest * (1 - 1e-10)  # nor is the peer far off, which would prove nothing
    assert model.certificate_.objective * C * total.sum() == pytest.approx(ours, rel=1e-12)
    np.testing.assert_array_equal(model.predict(X), peer.predict(X))
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), rtol=0, atol=1e-5)
    assert model.certificate_.code == "optimal"
    assert model.certificate_.relative_bound <= 1e-12  # a bound charges for rounding, and proves no more on digits


@pytest.mark.parametrize("fit_intercept", [True, pytest.param(False, marks=pytest.mark.slow)])
@pytest.mark.parametrize("C", STRENGTHS)
@pytest.mark.parametrize("name", DATA)
def test_same_optimum(name, C, fit_intercept):
    check(*rows(name), C, fit_intercept)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("C", STRENGTHS)
@pytest.mark.parametrize("name", SMALL)
def test_same_optimum_by_lbfgs(name, C, fit_intercept):
    check(*rows(name), C, fit_intercept, solver="lbfgs")


@pytest.mark.parametrize("C", STRENGTHS)
@pytest.mark.parametrize("name", SMALL)
def test_same_optimum_with_sample_weight(name, C):
    X, y = rows(name)
    weight = np.random.default_rng(0).integers(0, 4, len(y)).astype(np.float64)
    check(X, y, C, True, sample_weight=weight)


@pytest.mark.parametrize("C", STRENGTHS)
@pytest.mark.parametrize("name", SMALL)
def test_same_optimum_with_balanced_classes(name, C):
    X, y = rows(name)
    # Uneven classes, so that the balance does something: two thirds of class 0 are left out.
    kept = (y != 0) | (np.arange(len(y)) % 3 == 0)
    check(X[kept], y[kept], C, True, class_weight="balanced")


@pytest.mark.parametrize("name", SMALL)
def test_same_optimum_with_factors_by_class_and_row(name):
    X, y = rows(name)
    weight = np.random.default_rng(1).uniform(0.1, 2.0, len(y))
    check(X, y, 1, True, sample_weight=weight, class_weight={0: 3.0, 1: 0.5})
