"""``partial_fit`` of classifiers by moments gives the model of ``fit`` with all rows so far."""

import pickle
import warnings
from itertools import pairwise

import numpy as np
import pandas
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError

import separatrix as sx
from separatrix.classifiers import generative
from separatrix.core.base.errors import InputError, LabelError, NotConvergedWarning, NotFiniteError, ParameterError
from tests.streamed_table import StreamedTable

CLASSIFIERS = {
    "least squares": lambda: sx.LeastSquaresClassifier(),
    "ridge": lambda: sx.LeastSquaresClassifier(l2=3.0),
    "signed, no intercept": lambda: sx.LeastSquaresClassifier(targets="signed", fit_intercept=False),
    "fisher": lambda: sx.FisherDiscriminant(),
    "fisher, means": lambda: sx.FisherDiscriminant("means", threshold="midpoint"),
    "lda": lambda: sx.LinearDiscriminantAnalysis(),
    "lda, shrunk": lambda: sx.LinearDiscriminantAnalysis(shrinkage=0.3),
    "qda": lambda: sx.QuadraticDiscriminantAnalysis(),
    "qda, regularised": lambda: sx.QuadraticDiscriminantAnalysis(reg_param=0.1),
}
EACH = pytest.mark.parametrize("name", CLASSIFIERS)


def table(classes="abc", n=600, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.choice(list(classes), n)
    centres = dict(zip(classes, rng.standard_normal((len(classes), 4)), strict=True))
    scale = np.array([1.0, 100.0, 0.01, 3.0])
    return (rng.standard_normal((n, 4)) + [centres[label] for label in y]) * scale + [0.0, 5e4, 1.0, -7.0], y


def parts(X, y, sizes=(50, 1, 200, 349)):
    edges = np.cumsum([0, *sizes])
    return [(X[a:b], y[a:b]) for a, b in pairwise(edges)]


def assert_same(ours, theirs, X):
    assert ours.classes_.tolist() == theirs.classes_.tolist()
    wide = np.abs(theirs.decision_function(X)).max()
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-8, atol=1e-8 * wide)
    at, of = ours.certificate_, theirs.certificate_
    assert (at.n_rows, at.code, at.rank, at.n_parameters) == (of.n_rows, of.code, of.rank, of.n_parameters)
    assert at.objective == pytest.approx(of.objective, rel=1e-8)


@EACH
@pytest.mark.parametrize("classes", ["ab", "abc"])
def test_every_call_gives_the_fit_of_all_rows_so_far(name, classes):
    X, y = table(classes)
    model, n = CLASSIFIERS[name](), 0
    for part in parts(X, y):
        n += len(part[1])
        assert_same(model.partial_fit(*part), CLASSIFIERS[name]().fit(X[:n], y[:n]), X)


@EACH
def test_classes_that_appear_later(name):
    X, y = table("abcd")
    order = np.argsort(np.where(y == "b", 1, 0) + np.where(y == "d", 2, 0), kind="stable")
    X, y = X[order], y[order]
    model = CLASSIFIERS[name]()
    for part in parts(X, y, (200, 200, 200)):
        model.partial_fit(*part)
    assert_same(model, CLASSIFIERS[name]().fit(X, y), X)


@EACH
def test_weights_sparse_rows_and_constant_columns(name):
    rng = np.random.default_rng(1)
    X = np.where(rng.random((400, 4)) < 0.3, rng.standard_normal((400, 4)), 0.0)
    y = (X @ [1.0, -1.0, 2.0, 0.5] + rng.logistic(size=400) > 0).astype(int)
    weight = rng.integers(0, 3, 400).astype(float)
    whole = CLASSIFIERS[name]().fit(np.repeat(X, weight.astype(int), axis=0), np.repeat(y, weight.astype(int)))
    model = CLASSIFIERS[name]()
    for part in np.array_split(np.arange(400), 4):
        model.partial_fit(csr_array(X[part]), y[part], sample_weight=weight[part])
    np.testing.assert_allclose(model.decision_function(X), whole.decision_function(X), rtol=1e-7, atol=1e-9)
    wider = np.column_stack([X, np.full(400, 1 / 3)])
    if name != "signed, no intercept":  # a constant column then takes the place of the intercept
        model, whole = CLASSIFIERS[name](), CLASSIFIERS[name]().fit(wider, y)
        for part in np.array_split(np.arange(400), 4):
            model.partial_fit(wider[part], y[part])
        assert_same(model, whole, wider)


@EACH
def test_rows_one_at_a_time(name):
    X, y = table("ab", n=30)
    model, fitted = CLASSIFIERS[name](), []
    for x, label in zip(X, y, strict=True):
        with warnings.catch_warnings():  # least squares that fit exactly leave no residual that moments could show
            warnings.simplefilter("ignore", NotConvergedWarning)
            model.partial_fit([x], [label])
        fitted.append(hasattr(model, "certificate_"))
    assert fitted == sorted(fitted)
    assert not fitted[0]
    assert_same(model, CLASSIFIERS[name]().fit(X, y), X)


def test_scores_that_have_lost_digits_have_no_bound(monkeypatch):
    """A covariance of few rows far from zero may be nearly singular. Here every rounding error counts as too large."""
    monkeypatch.setattr(generative, "LARGEST_SCORE_ROUNDING", 0.0)
    X, y = table("ab", n=30)
    model = sx.QuadraticDiscriminantAnalysis().partial_fit(X, y)
    assert model.certificate_.bound is None
    assert "are not kept" in model.certificate_.bound_reason
    assert sx.QuadraticDiscriminantAnalysis().fit(X, y).certificate_.bound is not None


def test_until_there_are_enough_rows_the_model_is_not_fitted():
    model = sx.LinearDiscriminantAnalysis().partial_fit([[0.0], [1.0]], ["a", "a"])
    with pytest.raises(NotFittedError):
        model.predict([[0.0]])
    model.partial_fit([[5.0]], ["b"])
    assert model.predict([[0.0], [5.0]]).tolist() == ["a", "b"]


@EACH
def test_refused_rows_change_nothing(name):
    X, y = table()
    model = CLASSIFIERS[name]().partial_fit(X[:300], y[:300], classes=["a", "b", "c"])
    bad = X[300:].copy()
    bad[7, 1] = np.nan
    with pytest.raises(NotFiniteError, match="row 7"):
        model.partial_fit(bad, y[300:])
    with pytest.raises(LabelError, match="'z'"):
        model.partial_fit(X[:1], ["z"])
    with pytest.raises(ValueError, match="3 features"):
        model.partial_fit(X[:, :3], y)
    model.partial_fit(X[300:], y[300:])
    assert_same(model, CLASSIFIERS[name]().fit(X, y), X)


@EACH
def test_models_go_on_after_fit_and_after_pickling(name):
    X, y = table("ab")
    X[:, 3] = 1 / 3
    X[300:, 3] += np.arange(300)
    model = pickle.loads(pickle.dumps(CLASSIFIERS[name]().fit(X[:300], y[:300])))
    model.partial_fit(X[300:], np.where(y[300:] == "a", "c", "b"))
    y[300:] = np.where(y[300:] == "a", "c", "b")
    assert_same(model, CLASSIFIERS[name]().fit(X, y), X)
    frame = pandas.DataFrame(X, columns=["x0", "x1", "x2", "x3"])
    streamed = CLASSIFIERS[name]().fit(StreamedTable.of(X[:300], y[:300])).partial_fit(frame[300:], y[300:])
    assert_same(streamed, CLASSIFIERS[name]().fit(frame, y), frame)


@pytest.mark.parametrize("name", [name for name in CLASSIFIERS if "fisher" not in name])
def test_models_of_files_keep_no_sums(name, tmp_path):
    X, y = table()
    sx.save(CLASSIFIERS[name]().fit(X, y), tmp_path / "model.json")
    with pytest.raises(ParameterError, match="X: this model has no sums to add rows to: it was read from a file"):
        sx.load(tmp_path / "model.json").partial_fit(X, y)
    with pytest.raises(ParameterError, match="X: partial_fit takes rows in memory"):
        CLASSIFIERS[name]().partial_fit(StreamedTable.of(X, y), None)


def test_what_sums_cannot_tell_is_said():
    X, y = table()
    nearly = np.column_stack([X, 1e9 + 1e-6 * X[:, 0]])
    with pytest.raises(InputError, match="a column is nearly constant or far from zero"):
        sx.LinearDiscriminantAnalysis().partial_fit(nearly, y)
    with pytest.raises(InputError, match="shrinkage: the sums that partial_fit keeps do not tell"):
        sx.LinearDiscriminantAnalysis().partial_fit(X, y).set_params(shrinkage=0.1).partial_fit(X, y)
    with pytest.raises(ParameterError, match="the covariance of each class is estimated from its rows"):
        sx.LinearDiscriminantAnalysis(shrinkage="auto").partial_fit(X, y)


def test_collinear_columns_share_a_weight():
    X, y = table()
    X = np.column_stack([X, X[:, 0]])
    model = sx.LeastSquaresClassifier()
    for part in parts(X, y):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConvergedWarning)
            model.partial_fit(*part)
    whole = sx.LeastSquaresClassifier().fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), whole.decision_function(X), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(model.coef_[:, 0], model.coef_[:, 4], rtol=1e-6)
    assert model.certificate_.rank == whole.certificate_.rank == 5
