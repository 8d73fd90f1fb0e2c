"""Models of disjoint rows merge into the model of all rows."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array

import separatrix as sx
from separatrix.base.errors import ParameterError

MODELS = {
    "least squares": lambda: sx.LeastSquaresClassifier(),
    "ridge": lambda: sx.LeastSquaresClassifier(l2=2.0, targets="signed"),
    "no intercept": lambda: sx.LeastSquaresClassifier(fit_intercept=False),
    "fisher": lambda: sx.FisherDiscriminant(),
    "means": lambda: sx.FisherDiscriminant("means", threshold="midpoint"),
    "lda": lambda: sx.LinearDiscriminantAnalysis(),
    "shrunk lda": lambda: sx.LinearDiscriminantAnalysis(shrinkage=0.2),
    "qda": lambda: sx.QuadraticDiscriminantAnalysis(),
    "regularised qda": lambda: sx.QuadraticDiscriminantAnalysis(reg_param=0.1),
}


def _rows(n_classes, n=600, d=4):
    rng = np.random.default_rng(7)
    y = rng.integers(0, n_classes, n)
    X = rng.standard_normal((n, d)) * np.logspace(-3, 3, d) + 100.0 * np.arange(d)
    X[:, 0] += y * 1e-3
    X[:, 2] -= y * 20
    return X, y, rng.integers(0, 3, n) / 2


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", MODELS)
def test_the_merged_model_is_that_of_all_rows(name, n_classes):
    X, y, weight = _rows(n_classes)
    parts = np.array_split(np.argsort(X[:, 3]), 3)  # parts with other means and spreads
    models = [MODELS[name]().fit(X[some], y[some], sample_weight=weight[some]) for some in parts]
    ours, theirs = sx.merge(*models), MODELS[name]().fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-7, atol=1e-7)
    assert ours.certificate_.objective == pytest.approx(theirs.certificate_.objective, rel=1e-9)
    assert ours.certificate_.n_rows == np.count_nonzero(weight)
    assert ours.certificate_.verify(X, y, sample_weight=weight)
    again = sx.merge(pickle.loads(pickle.dumps(models[0])), sx.merge(*models[1:]))
    np.testing.assert_allclose(again.decision_function(X), theirs.decision_function(X), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("name", ["fisher", "lda", "qda"])
def test_a_column_that_is_constant_in_a_part(name):
    X, y, _ = _rows(2)
    X[:300, 1] = 3.0
    parts = [MODELS[name]().fit(X[some], y[some]) for some in (slice(0, 300), slice(300, 600))]
    ours, theirs = sx.merge(*parts), MODELS[name]().fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-6, atol=1e-6)
    assert ours.certificate_.rank == 4


def test_sparse_and_dense_rows():
    X, y, _ = _rows(2)
    parts = [sx.LinearDiscriminantAnalysis().fit(X[:300], y[:300])]
    parts.append(sx.LinearDiscriminantAnalysis().fit(csr_array(X[300:]), y[300:]))
    theirs = sx.LinearDiscriminantAnalysis().fit(X, y)
    np.testing.assert_allclose(sx.merge(*parts).coef_, theirs.coef_, rtol=1e-7)


def test_what_does_not_fit_together_is_named():
    X, y, _ = _rows(3)
    lda = sx.LinearDiscriminantAnalysis
    model = lda().fit(X, y)
    for other, message in (
        (sx.FisherDiscriminant().fit(X, y), "got LinearDiscriminantAnalysis and FisherDiscriminant"),
        (lda(priors=[0.5, 0.3, 0.2]).fit(X, y), "priors is None and"),
        (lda().fit(X, y % 2), r"their classes are \[0, 1, 2\] and \[0, 1\]"),
        (lda().fit(X[:, :3], y), "their columns differ"),
        (sx.LogisticRegression().fit(X, y), "got LogisticRegression, whose fit does not follow from sums over rows"),
        (lda(shrinkage="auto").fit(X, y), "shrinkage='auto' and covariance_estimator need the rows themselves"),
    ):
        with pytest.raises(ParameterError, match=message):
            sx.merge(model, other)


def test_rows_can_be_added_to_a_merged_model():
    X, y, _ = _rows(2)
    parts = [sx.QuadraticDiscriminantAnalysis().fit(X[some], y[some]) for some in (slice(0, 200), slice(200, 400))]
    ours, theirs = sx.merge(*parts).partial_fit(X[400:], y[400:]), sx.QuadraticDiscriminantAnalysis().fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-7, atol=1e-7)


def test_a_model_from_a_file_is_refused(tmp_path):
    X, y, _ = _rows(2)
    model = sx.LinearDiscriminantAnalysis().fit(X, y)
    sx.save(model, tmp_path / "model.json")
    with pytest.raises(ParameterError, match="it was read from a file"):
        sx.merge(model, sx.load(tmp_path / "model.json"))
