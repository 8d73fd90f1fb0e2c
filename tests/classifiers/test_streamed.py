"""The certificate of a fit is verified on streamed rows as it is on rows in memory."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array

import separatrix as sx
from tests.streamed import streamed

MODELS = {
    "ridge": lambda: sx.LogisticRegression(),
    "maximum likelihood": lambda: sx.LogisticRegression(C=np.inf),
    "lasso": lambda: sx.LogisticRegression(l1_ratio=1.0),
    "firth": lambda: sx.LogisticRegression(bias_reduction="firth"),
    "balanced": lambda: sx.LogisticRegression(class_weight="balanced"),
    "hinge": lambda: sx.LinearSVC(loss="hinge", max_iter=10_000, tol=1e-5),
    "squared hinge": lambda: sx.LinearSVC(class_weight="balanced"),
    "perceptron": lambda: sx.Perceptron(max_iter=50, pocket=True),
    "max margin": lambda: sx.MaxMarginClassifier(),
    "least squares": lambda: sx.LeastSquaresClassifier(),
    "ridge regression": lambda: sx.LeastSquaresClassifier(l2=2.0),
    "fisher": lambda: sx.FisherDiscriminant(),
    "lda": lambda: sx.LinearDiscriminantAnalysis(),
    "qda": lambda: sx.QuadraticDiscriminantAnalysis(),
}


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("form", [np.asarray, csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", MODELS)
def test_a_certificate_is_recomputed_on_a_stream(name, form, K):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((90, 4)) * (rng.random((90, 4)) < 0.8), rng.integers(0, K, 90)
    X[:, 0] += y
    if name == "max margin":  # the classes lie around the corners of a polygon, so each is separable from the rest
        X[:, :2] += 9.0 * np.column_stack([np.cos(2 * np.pi * y / K), np.sin(2 * np.pi * y / K)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sx.errors.NotConvergedWarning)
        model = MODELS[name]().fit(form(X), y)
    claim = model.certificate_.claim
    ours, theirs = claim.of_rows(streamed(claim.rows_of(form(X), y))), claim.recompute(form(X), y)
    assert ours.objective == pytest.approx(theirs.objective, rel=1e-10)
    assert ours.null_objective == pytest.approx(theirs.null_objective, rel=1e-10, abs=1e-300)
    assert (ours.bound.value is None) == (theirs.bound.value is None)
    if theirs.bound.value is not None:
        assert ours.bound.value == pytest.approx(theirs.bound.value, rel=1e-3, abs=1e-10)
    assert ours.gradient_norm == pytest.approx(theirs.gradient_norm, rel=1e-3, abs=1e-8)
    assert ours.bound.kind == theirs.bound.kind
    assert model.certificate_.verify_rows(streamed(claim.rows_of(form(X), y)))


@pytest.mark.parametrize("settings", [{}, {"bias_reduction": "firth"}], ids=["ridge", "firth"])
@pytest.mark.parametrize("K", [2, 3])
def test_an_offset_is_in_the_last_columns_of_a_stream(K, settings):
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((60, 2)), rng.integers(0, K, 60)
    offset = rng.standard_normal((60, 1 if K == 2 else K))
    certificate = sx.LogisticRegression(**settings).fit(X, y, offset=offset).certificate_
    assert certificate.verify_rows(streamed(certificate.claim.rows_of(X, y, offset=offset)))
    assert not certificate.verify_rows(streamed(certificate.claim.rows_of(X, y)))
