"""Classes that appear in a later call of ``partial_fit`` give the models that there would be if all had been told."""

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB

import separatrix as sx
from separatrix.core.base.errors import LabelError, ParameterError

SETTINGS = {
    "online": {},
    "mean": {"average": True},
    "pocket": {"pocket": True},
    "batch": {"update": "batch"},
    "worst": {"update": "worst"},
    "no intercept": {"fit_intercept": False},
}


def calls(seed=0):
    """Rows of a and c, then also of b, then also of d."""
    rng = np.random.default_rng(seed)
    for labels in ("ac", "ca", "abc", "bd", "abcd", "abcd"):
        y = rng.choice(list(labels), 40)
        y[: len(labels)] = list(labels)
        yield rng.standard_normal((40, 2)) + 3.0 * np.column_stack([y > "b", (y == "b") | (y == "d")]), y


def stepped(model, **first):
    for k, (X, y) in enumerate(calls()):
        model.partial_fit(X, y, **(first if k == 0 else {}))
    return model


@pytest.mark.parametrize("name", SETTINGS)
def test_the_perceptron_is_as_if_it_had_been_told_all_classes(name):
    ours, told = (
        stepped(sx.Perceptron(**SETTINGS[name]), **first) for first in ({}, {"classes": ["a", "b", "c", "d"]})
    )
    assert ours.classes_.tolist() == ["a", "b", "c", "d"]
    np.testing.assert_allclose(ours.coef_, told.coef_, rtol=1e-12)
    np.testing.assert_allclose(ours.intercept_, told.intercept_, rtol=1e-12)
    assert ours.n_iter_ == told.n_iter_


def test_the_model_widens_with_its_first_rows_of_a_class():
    model, widths = sx.Perceptron(), []
    for X, y in calls():
        widths.append(model.partial_fit(X, y).coef_.shape[0])
        assert set(model.predict(X)) <= set(model.classes_)
    assert widths == [1, 1, 3, 4, 4, 4]


@pytest.mark.parametrize("base", [sx.Perceptron(), SGDClassifier(random_state=0), GaussianNB()], ids=str)
def test_one_versus_rest_is_as_if_it_had_been_told_all_classes(base):
    ours, told = (stepped(sx.OneVsRestClassifier(base), **first) for first in ({}, {"classes": ["a", "b", "c", "d"]}))
    X = np.concatenate([X for X, _ in calls()])
    assert ours.classes_.tolist() == told.classes_.tolist() == ["a", "b", "c", "d"]
    np.testing.assert_array_equal(ours.decision_function(X), told.decision_function(X))
    assert ours.imbalance_.tolist() == told.imbalance_.tolist()


def test_labels_that_were_not_told_are_refused():
    X, y = next(calls())
    for model in (sx.Perceptron(), sx.OneVsRestClassifier(sx.Perceptron())):
        model.partial_fit(X, y, classes=["a", "c"])
        with pytest.raises(LabelError):
            model.partial_fit([[0.0, 0.0]], ["b"])
    with pytest.raises(ParameterError, match="classes: it is not given in the first call"):
        sx.OneVsOneClassifier(sx.Perceptron()).partial_fit(X, y)
    for model in (sx.Perceptron(), sx.OneVsRestClassifier(sx.Perceptron())):
        with pytest.raises(ParameterError, match="there is one class only, 'a'"):
            model.partial_fit(X, np.full(40, "a"))


def test_a_fit_can_be_continued_with_a_new_class():
    X, y = next(calls())
    model = sx.Perceptron().fit(X, y)
    before = model.coef_.copy()
    model.partial_fit([[9.0, -9.0]], ["b"])
    assert model.classes_.tolist() == ["a", "b", "c"]
    moved = model.coef_[2] - before[0]
    assert moved.tolist() in ([0.0, 0.0], [-9.0, 9.0])
    assert model.predict([[9.0, -9.0]]).tolist() == ["b"]


@pytest.mark.filterwarnings("ignore::separatrix.core.base.errors.NotConvergedWarning")
@pytest.mark.parametrize("base", [sx.Perceptron(), sx.LinearDiscriminantAnalysis()])
@pytest.mark.parametrize("scheme", [sx.OneVsRestClassifier, sx.OneVsOneClassifier])
def test_a_scheme_goes_on_after_a_fit(scheme, base):
    for labels in ("ab", "abcd"):
        X, y = next(
            (X[keep], y[keep]) for X, y in calls() for keep in [np.isin(y, list(labels))] if set(y) == set("abcd")
        )
        model = scheme(base).fit(X, y).partial_fit(X, y)
        assert model.score(X, y) > 0.5
        np.testing.assert_array_equal(model._counts, 2 * np.unique(y, return_counts=True)[1])
        again = model.fit(X, y).partial_fit(X, y)
        np.testing.assert_array_equal(again._counts, 2 * np.unique(y, return_counts=True)[1])
