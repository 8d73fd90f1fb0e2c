"""coef_, intercept_ and classes_ written by hand are what predicts; float32 rows have float32 answers."""

import copy
import pickle

import numpy as np
import pytest
import sklearn.exceptions
from scipy import sparse

import separatrix as sx
from separatrix.classifiers import CLASSIFIERS
from separatrix.classifiers.base import LinearClassifier
from separatrix.core.base.errors import ParameterError

LINEAR = sorted(name for name, kind in CLASSIFIERS.items() if issubclass(kind, LinearClassifier))
PROBABLE = sorted(name for name, kind in CLASSIFIERS.items() if kind.has_probabilities)


def separated(K=2):
    rng = np.random.default_rng(K)
    X = np.vstack([rng.normal(size=(12, 3)) + 8.0 * np.eye(3)[k] for k in range(K)])
    return X, np.repeat(np.array(["a", "b", "c"])[:K], 12)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("name", LINEAR)
def test_weights_written_in_place_are_what_predicts(name, K):
    X, y = separated(K)
    model = CLASSIFIERS[name]().fit(X, y)
    before = model.decision_function(X)
    model.coef_[:] = 0
    model.intercept_[:] = np.arange(1.0, len(model.intercept_) + 1)
    expected = np.broadcast_to(np.arange(1.0, len(model.intercept_) + 1), (len(X), len(model.intercept_)))
    np.testing.assert_array_equal(model.decision_function(X).reshape(len(X), -1), expected)
    assert not np.array_equal(before, model.decision_function(X))
    assert set(model.predict(X)) == {model.classes_[-1]} == {model.predict_one(X[0])}
    assert model.scorer_.W[:, 0].tolist() == model.intercept_.tolist()


@pytest.mark.parametrize("name", LINEAR)
def test_a_certificate_does_not_outlive_the_weights_it_is_of(name):
    X, y = separated()
    model = CLASSIFIERS[name]().fit(X, y)
    assert model.certificate_.verify(X, y)
    assert model.coef_.shape == (1, 3)  # looking changes nothing
    assert model.certificate_.verify(X, y)
    model.coef_ *= 2.0
    certificate = model.certificate_
    assert certificate.code == "uncertified"
    assert not certificate.met
    assert "by hand" in certificate.status
    assert "by hand" in str(certificate)
    assert not certificate.verify(X, y)
    # A fit makes a new one.
    assert model.fit(X, y).certificate_.verify(X, y)


@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
@pytest.mark.parametrize("name", LINEAR)
def test_written_weights_are_copied_pickled_and_saved(name, make, tmp_path):
    X, y = separated(3)
    model = CLASSIFIERS[name]().fit(X, y)
    again = make(model)
    assert again.certificate_.verify(X, y)
    again.coef_ = again.coef_ * [1.0, -1.0, 0.5]
    moved = make(again)
    np.testing.assert_array_equal(moved.decision_function(X), X @ again.coef_.T + again.intercept_)
    assert moved.certificate_.code == "uncertified"
    sx.save(again, tmp_path / "model.json")
    loaded = sx.load(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.decision_function(X), again.decision_function(X))
    assert loaded.certificate_.code == "uncertified"
    assert loaded.coef_.tolist() == again.coef_.tolist()
    assert model.certificate_.verify(X, y)  # the one that was copied is as it was


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("name", LINEAR)
def test_a_model_is_made_of_weights_and_classes_alone(name, K, tmp_path):
    X, _ = separated(K)
    model = CLASSIFIERS[name]()
    assert not hasattr(model, "coef_")
    assert not hasattr(model, "certificate_")
    model.coef_ = [[1.0, 0.0, -1.0]] if K == 2 else np.eye(3)
    model.intercept_ = [0.25] if K == 2 else [0.0, 0.0, 0.0]
    model.classes_ = ["a", "b", "c"][:K]
    z = X[:, 0] - X[:, 2] + 0.25 if K == 2 else X
    np.testing.assert_allclose(model.decision_function(X), z, rtol=1e-12, atol=1e-12)
    expected = np.where(z > 0, "b", "a") if K == 2 else np.array(["a", "b", "c"])[z.argmax(axis=1)]
    assert model.predict(X).tolist() == expected.tolist()
    if model.has_probabilities:
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert model.n_features_in_ == 3
    assert model.certificate_.code == "uncertified"
    sx.save(model, tmp_path / "model.json")
    assert sx.load(tmp_path / "model.json").predict(X).tolist() == expected.tolist()


def test_weights_that_do_not_fit_are_refused_by_name():
    X, y = separated(3)
    model = sx.LogisticRegression().fit(X, y)
    model.coef_ = np.ones((2, 3))
    with pytest.raises(ParameterError, match=r"coef_: its shape is \(2, 3\) for 3 classes"):
        model.predict(X)
    model.coef_ = np.ones((3, 2))
    with pytest.raises(ParameterError, match=r"coef_: it has 2 columns; .*3"):
        model.predict(X)
    model.coef_, model.intercept_ = np.ones((3, 3)), np.ones(2)
    with pytest.raises(ParameterError, match=r"intercept_: its shape is \(2,\)"):
        model.predict(X)
    assert model.fit(X, y).certificate_.met
    unfit = sx.LogisticRegression()
    unfit.coef_ = np.ones((1, 3))
    with pytest.raises(sklearn.exceptions.NotFittedError):
        unfit.predict(X)


def test_classes_written_rename_the_answers():
    X, y = separated()
    model = sx.LogisticRegression().fit(X, y)
    model.classes_ = np.array(["no", "yes"])
    assert set(model.predict(X)) == {"no", "yes"}


def test_a_warm_start_begins_at_written_weights():
    X, y = separated()
    cold = sx.LogisticRegression().fit(X, y)
    model = sx.LogisticRegression(C=1e-4, warm_start=True).fit(X, y)
    model.set_params(C=1.0)
    model.coef_, model.intercept_ = cold.coef_, cold.intercept_
    assert model.fit(X, y).n_iter_[0] <= 1 < cold.n_iter_[0]


@pytest.mark.parametrize("name", LINEAR)
def test_sparsify_and_densify(name):
    X, y = separated(3)
    model = CLASSIFIERS[name]().fit(X, y)
    z, dense = model.decision_function(X), model.coef_.copy()
    assert model.sparsify() is model
    assert sparse.issparse(model.coef_)
    np.testing.assert_array_equal(model.decision_function(X), z)
    np.testing.assert_allclose(model.decision_function(sparse.csr_array(X)), z, rtol=1e-12)
    np.testing.assert_array_equal(model.densify().decision_function(X), z)
    np.testing.assert_array_equal(model.coef_, dense)
    assert model.certificate_.verify(X, y)


# ---------------------------------------------------------------------------------------------- float32


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("name", sorted(CLASSIFIERS))
def test_float32_rows_have_float32_answers(name, K, tmp_path):
    X, y = separated(K)
    single = X.astype(np.float32)
    model = CLASSIFIERS[name]().fit(single, y)
    same = CLASSIFIERS[name]().fit(single.astype(np.float64), y)
    methods = ["decision_function", *(["predict_proba", "predict_log_proba"] if model.has_probabilities else [])]
    methods += ["transform"] if hasattr(model, "transform") else []
    sx.save(model, tmp_path / "model.json")
    for one in (model, pickle.loads(pickle.dumps(model)), sx.load(tmp_path / "model.json")):
        for method in methods:
            found, expected = getattr(one, method)(single), getattr(same, method)(single.astype(np.float64))
            assert found.dtype == np.float32, method
            assert expected.dtype == np.float64
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
            assert getattr(one, method)(X).dtype == np.float64  # float64 rows are answered in float64
        np.testing.assert_array_equal(one.predict(single), same.predict(single))
        # The fit itself is float64's, and so is what is certified.
        assert one.certificate_.objective == same.certificate_.objective
        assert one.certificate_.verify(single, y)
        if name in LINEAR:
            assert one.coef_.dtype == one.intercept_.dtype == np.float32
            assert one.scorer_.W.dtype == np.float64


def test_float32_weights_as_those_of_scikit_learn_from_1_9_on():
    X, y = separated()
    for dtype in (np.float32, np.float64):
        ours = sx.LogisticRegression().fit(X.astype(dtype), y)
        for at in (np.float32, np.float64, np.int64):
            assert ours.decision_function(X.astype(at)).dtype == np.result_type(dtype, at)
        assert ours.coef_.dtype == dtype


def test_float32_weights_written_by_hand_predict():
    X, y = separated()
    model = sx.LogisticRegression().fit(X.astype(np.float32), y)
    model.coef_[:] = 0
    model.intercept_[:] = 2
    assert model.decision_function(X.astype(np.float32)).tolist() == [2.0] * len(X)
    assert model.certificate_.code == "uncertified"


def test_scores_beyond_float32_are_far_on_their_side():
    model = sx.LogisticRegression(C=np.inf)
    model.coef_, model.intercept_, model.classes_ = np.array([[1e30]], np.float32), np.zeros(1, np.float32), [0, 1]
    z = model.decision_function(np.array([[1e20], [-1e20]], np.float32))
    assert np.isfinite(z).all()
    assert model.predict(np.array([[1e20], [-1e20]], np.float32)).tolist() == [1, 0]
