"""Shrunk covariances in LDA and QDA: scikit-learn's definitions, certified as every Gaussian fit is."""

import numpy as np
import pytest
import sklearn.discriminant_analysis
from scipy import sparse
from sklearn.covariance import OAS
from sklearn.datasets import load_iris, load_wine

import separatrix as sx
from separatrix.core.base.errors import ParameterError, WeightError

SHRINKAGES = ["auto", 0.0, 0.3, 1.0]


@pytest.fixture(params=["iris", "wine", "two", "constant"])
def rows(request):
    X, y = load_wine(return_X_y=True) if request.param == "wine" else load_iris(return_X_y=True)
    if request.param == "two":
        X, y = X[y > 0], y[y > 0]
    if request.param == "constant":
        X = np.column_stack([X, np.where(y == 1, 3.0, X[:, 0])])  # constant within a class
    return X, y


@pytest.mark.parametrize("priors", [None, "given"])
@pytest.mark.parametrize("shrinkage", SHRINKAGES)
@pytest.mark.parametrize("solver", ["lsqr", "eigen"])
def test_shrunk_lda_is_scikit_learns(rows, solver, shrinkage, priors):
    X, y = rows
    K = len(np.unique(y))
    settings = {
        "solver": solver,
        "shrinkage": shrinkage,
        "priors": priors and np.arange(1.0, K + 1) / sum(range(1, K + 1)),
    }
    ours = sx.LinearDiscriminantAnalysis(**settings).fit(X, y)
    theirs = sklearn.discriminant_analysis.LinearDiscriminantAnalysis(**settings).fit(X, y)
    np.testing.assert_allclose(ours.covariance_, theirs.covariance_, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=0, atol=1e-7)
    # Two rows of weights differ by what all classes share.
    a, b = ours.coef_ - ours.coef_[:1], theirs.coef_ - theirs.coef_[:1]
    np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6 * np.abs(theirs.coef_).max())
    assert ours.certificate_.verify(X, y)
    assert not ours.certificate_.verify(X, y[::-1])
    assert "shrunk towards a multiple of the identity" in ours.certificate_.status


@pytest.mark.parametrize("shrinkage", SHRINKAGES[:3])
def test_shrunk_qda_is_scikit_learns(rows, shrinkage):
    X, y = rows
    if shrinkage == 0.0 and X.shape[1] == 5:
        pytest.skip("without shrinkage scikit-learn refuses a class in which a column is constant")
    ours = sx.QuadraticDiscriminantAnalysis(shrinkage=shrinkage).fit(X, y)
    theirs = sklearn.discriminant_analysis.QuadraticDiscriminantAnalysis(
        solver="eigen", shrinkage=shrinkage, tol=1e-12, store_covariance=True
    ).fit(X, y)
    np.testing.assert_allclose(ours.covariance_, theirs.covariance_, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=0, atol=1e-7)
    assert ours.certificate_.verify(X, y)


@pytest.mark.parametrize("make", [sx.LinearDiscriminantAnalysis, sx.QuadraticDiscriminantAnalysis])
def test_the_certificate_says_how_far_a_shrunk_fit_is_from_the_likeliest(make):
    X, y = load_iris(return_X_y=True)
    gaps = [make(shrinkage=s).fit(X, y).certificate_.bound for s in (0.0, 0.2, 0.9)]
    assert gaps[0] < 1e-10 < gaps[1] < gaps[2]


@pytest.mark.parametrize("make", [sx.LinearDiscriminantAnalysis, sx.QuadraticDiscriminantAnalysis])
def test_shrunk_fits_are_saved_and_take_sparse_rows_and_frames_of_weights(make, tmp_path):
    X, y = load_wine(return_X_y=True)
    for shrinkage in ("auto", 0.25):
        model = make(shrinkage=shrinkage, solver="eigen").fit(X, y)
        sx.save(model, tmp_path / "m.json")
        again = sx.load(tmp_path / "m.json")
        assert again.get_params() == model.get_params()
        np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
        assert again.certificate_.verify(X, y)
        thin = make(shrinkage=shrinkage).fit(sparse.csr_array(X), y)
        np.testing.assert_allclose(thin.covariance_, model.covariance_, rtol=1e-9)
    weight = np.where(y == 1, 2.0, 1.0)
    twice = np.repeat(np.arange(len(y)), weight.astype(int))
    a, b = make(shrinkage=0.25).fit(X, y, sample_weight=weight), make(shrinkage=0.25).fit(X[twice], y[twice])
    np.testing.assert_allclose(a.covariance_, b.covariance_, rtol=1e-9)
    with pytest.raises(WeightError, match=r"shrinkage='auto' needs rows of equal weight"):
        make(shrinkage="auto").fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("make", [sx.LinearDiscriminantAnalysis, sx.QuadraticDiscriminantAnalysis])
def test_an_estimator_of_covariances(make):
    X, y = load_iris(return_X_y=True)
    ours = make(covariance_estimator=OAS(), solver="eigen").fit(X, y)
    theirs = getattr(sklearn.discriminant_analysis, make.__name__)(
        covariance_estimator=OAS(), solver="eigen", store_covariance=True
    ).fit(X, y)
    np.testing.assert_allclose(ours.covariance_, theirs.covariance_, rtol=1e-9)
    assert ours.certificate_.verify(X, y)


def test_settings_that_do_not_fit_are_refused():
    X, y = load_iris(return_X_y=True)
    for bad in (
        {"shrinkage": 2.0},
        {"shrinkage": "some"},
        {"solver": "cholesky"},
        {"store_covariance": 1},
        {"tol": -1},
    ):
        for make in (sx.LinearDiscriminantAnalysis, sx.QuadraticDiscriminantAnalysis):
            with pytest.raises(ParameterError, match=next(iter(bad))):
                make(**bad).fit(X, y)
    with pytest.raises(ParameterError, match="Only one of the two"):
        sx.LinearDiscriminantAnalysis(shrinkage=0.1, covariance_estimator=OAS()).fit(X, y)
    with pytest.raises(ParameterError, match="n_components cannot be larger than"):
        sx.LinearDiscriminantAnalysis(n_components=3).fit(X, y)
    with pytest.raises(ParameterError, match="reg_param"):
        sx.QuadraticDiscriminantAnalysis(reg_param=0.1, shrinkage=0.1).fit(X, y)


def test_components_of_the_transform():
    X, y = load_iris(return_X_y=True)
    all_, first = sx.LinearDiscriminantAnalysis().fit(X, y), sx.LinearDiscriminantAnalysis(n_components=1).fit(X, y)
    np.testing.assert_allclose(first.transform(X), all_.transform(X)[:, :1], rtol=1e-12)
    assert first.get_feature_names_out().tolist() == ["lineardiscriminantanalysis0"]
    np.testing.assert_array_equal(first.explained_variance_ratio_, all_.explained_variance_ratio_[:1])
    np.testing.assert_array_equal(first.predict_proba(X), all_.predict_proba(X))
    assert (
        sx.LinearDiscriminantAnalysis().fit(X.astype(np.float32), y).transform(X.astype(np.float32)).dtype == np.float32
    )


def test_rotations_and_scalings_make_the_covariances():
    X, y = load_iris(return_X_y=True)
    ours = sx.QuadraticDiscriminantAnalysis().fit(X, y)
    theirs = sklearn.discriminant_analysis.QuadraticDiscriminantAnalysis().fit(X, y)
    for k in range(3):
        V, s = ours.rotations_[k], ours.scalings_[k]
        np.testing.assert_allclose(V * s @ V.T, ours.covariance_[k], atol=1e-12)
        assert np.all(np.diff(s) <= 0)
        np.testing.assert_allclose(ours.covariance_[k], np.cov(X[y == k].T), atol=1e-12)
        # Relative to their sum: scikit-learn divides by n_k from release 1.9 on, and by n_k − 1 before.
        np.testing.assert_allclose(s / s.sum(), theirs.scalings_[k] / theirs.scalings_[k].sum(), rtol=1e-9)
        np.testing.assert_allclose(np.abs(np.sum(V * theirs.rotations_[k], axis=0)), 1.0, rtol=1e-9)
