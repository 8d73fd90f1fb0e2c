"""One versus rest and one versus one beside scikit-learn's: what they pass through to their models, and from them."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, make_multilabel_classification
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import get_tags

import separatrix as sx
from separatrix.core.base.errors import LabelError, NotFiniteError, ParameterError, SeparatrixWarning

BOTH = pytest.mark.parametrize(
    ("make", "theirs"), [(sx.OneVsRestClassifier, OneVsRestClassifier), (sx.OneVsOneClassifier, OneVsOneClassifier)]
)


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.mark.parametrize("K", [2, 3])
def test_probabilities_of_one_versus_rest_are_scikit_learns(iris, K):
    X, y = iris[0][iris[1] < K], iris[1][iris[1] < K]
    base = LogisticRegression(max_iter=1000)
    ours, theirs = sx.OneVsRestClassifier(base).fit(X, y), OneVsRestClassifier(base).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-12)
    np.testing.assert_allclose(ours.predict_log_proba(X), np.log(ours.predict_proba(X)))
    own = sx.OneVsRestClassifier(sx.LogisticRegression()).fit(X, y)
    np.testing.assert_allclose(own.predict_proba(X).sum(axis=1), 1.0)
    np.testing.assert_array_equal(own.predict(X), own.classes_[own.predict_proba(X).argmax(axis=1)])
    search = GridSearchCV(
        sx.OneVsRestClassifier(),
        {"estimator": [sx.LogisticRegression(0.1), GaussianNB()]},
        scoring="neg_log_loss",
        cv=3,
    ).fit(X, y)
    assert np.isfinite(search.best_score_)


@BOTH
def test_partial_fit_goes_on(make, theirs, iris):
    X, y = iris
    order = np.random.default_rng(0).permutation(150)
    X, y = X[order], y[order]
    ours, whole = make(GaussianNB()), make(GaussianNB()).fit(X, y)
    for batch in np.array_split(np.arange(150), 5):
        ours.partial_fit(X[batch], y[batch], classes=[0, 1, 2])
    np.testing.assert_allclose(ours.decision_function(X), whole.decision_function(X), atol=1e-6)
    assert ours.imbalance_.tolist() == whole.imbalance_.tolist()
    beside = theirs(SGDClassifier(random_state=0)).partial_fit(X, y, classes=[0, 1, 2])
    mine = make(SGDClassifier(random_state=0)).partial_fit(X, y, classes=[0, 1, 2])
    assert len(mine.estimators_) == len(beside.estimators_)
    with pytest.raises(LabelError, match="Mini-batch contains"):
        ours.partial_fit(X[:2], [0, 7])
    with pytest.raises(ParameterError, match="classes"):
        make(GaussianNB()).partial_fit(X[:1], y[:1])
    assert not hasattr(make(sx.LogisticRegression()), "partial_fit")
    stepped = make(sx.Perceptron()).partial_fit(X, y, classes=[0, 1, 2]).partial_fit(X, y)
    assert stepped.predict(X).shape == (150,)


@BOTH
def test_the_number_of_jobs_changes_nothing(make, theirs, iris):
    for base in (SVC(), sx.LogisticRegression()):
        one, two = make(base).fit(*iris), make(base, n_jobs=2).fit(*iris)
        np.testing.assert_array_equal(one.decision_function(iris[0]), two.decision_function(iris[0]))


@BOTH
def test_nan_goes_to_models_that_take_it(make, theirs, iris):
    X, y = iris[0].copy(), iris[1]
    X[::7, 1] = np.nan
    for base in (DecisionTreeClassifier(random_state=0), make_pipeline(SimpleImputer(), GaussianNB())):
        model = make(base).fit(X, y)
        np.testing.assert_array_equal(model.predict(X), theirs(base).fit(X, y).predict(X))
        assert get_tags(model).input_tags.allow_nan
    with pytest.raises(NotFiniteError, match="row 0, column 1"):
        make(sx.LogisticRegression()).fit(X, y)
    with pytest.raises(NotFiniteError):
        make(GaussianNB()).fit(X, y)


@BOTH
def test_regressors_on_targets_0_and_1(make, theirs, iris):
    X, y = iris
    for base in (DecisionTreeRegressor(random_state=0), Ridge()):
        model = make(base).fit(X, y)
        assert model.score(X, y) > 0.8
        assert not hasattr(model, "predict_proba")
    rest = sx.OneVsRestClassifier(Ridge()).fit(X, y)
    np.testing.assert_array_equal(rest.predict(X), OneVsRestClassifier(Ridge()).fit(X, y).predict(X))


# -------------------------------------------------------------------------------------------- several labels


@pytest.fixture(scope="module")
def labelled():
    return make_multilabel_classification(n_samples=150, n_features=8, n_classes=3, random_state=0)


@pytest.mark.parametrize("columns", [2, 3])
def test_several_labels_as_in_scikit_learn(labelled, columns):
    X, Y = labelled[0], labelled[1][:, :columns]
    base = LogisticRegression(max_iter=1000)
    ours, theirs = sx.OneVsRestClassifier(base).fit(X, Y), OneVsRestClassifier(base).fit(X, Y)
    assert ours.multilabel_
    assert ours.predict(X).shape == Y.shape
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-9)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-12)
    np.testing.assert_array_equal(ours.predict(X), ours.predict_proba(X) > 0.5)
    assert ours.score(X, Y) == theirs.score(X, Y)
    thin = sx.OneVsRestClassifier(base).fit(X, sparse.csr_matrix(Y)).predict(X)
    assert sparse.issparse(thin)
    with pytest.raises(ParameterError, match="take the boundary of one label from boundaries"):
        sx.OneVsRestClassifier().fit(X, Y).hyperplane(0, 1)
    np.testing.assert_array_equal(thin.toarray(), ours.predict(X))


def test_several_labels_are_certified_label_by_label(labelled):
    X, Y = labelled
    model = sx.OneVsRestClassifier(sx.LogisticRegression()).fit(X, Y)
    assert model.certificate_.met
    assert model.certificate_.verify(X, Y)
    assert not model.certificate_.verify(X, 1 - Y)
    single = [sx.LogisticRegression().fit(X, Y[:, k]).certificate_.objective for k in range(3)]
    np.testing.assert_allclose(model.certificate_.objective, sum(single))
    with pytest.raises(NotFiniteError):
        sx.OneVsRestClassifier().fit(np.where(X[0, 0] == X, np.nan, X), Y)
    with pytest.raises(LabelError, match="Multioutput target data is not supported"):
        sx.OneVsRestClassifier().fit(X, Y * 2 + np.arange(3))


def test_a_label_that_all_rows_have():
    X = np.repeat([[0.0, 0.0], [1.0, 1.0]], 5, axis=0)
    Y = np.column_stack([np.repeat([0, 1], 5), np.ones(10, int), np.zeros(10, int)])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = sx.OneVsRestClassifier().fit(X, Y)
    assert [str(w.message) for w in caught if w.category is SeparatrixWarning] == [
        "Label 1 is present in all training examples.",
        "Label not 2 is present in all training examples.",
    ]
    np.testing.assert_array_equal(model.predict(X), Y)
    np.testing.assert_array_equal(model.predict_proba(X)[:, 1:], Y[:, 1:])
