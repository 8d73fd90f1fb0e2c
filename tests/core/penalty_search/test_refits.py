"""A second fit leaves nothing of the first beside it."""

import warnings

import numpy as np
import pytest

from separatrix import LogisticRegression, Perceptron
from separatrix.classifiers import CLASSIFIERS
from separatrix.core.base.errors import NotFiniteError

rng = np.random.default_rng(0)
X = np.vstack([rng.normal(size=(20, 3)) + 9 * center for center in np.eye(3)])
THREE = np.repeat([0, 1, 2], 20)
TWO = np.minimum(THREE, 1)


def fitted(model, y, rows=X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(rows, y)


@pytest.mark.parametrize(("first", "second"), [(TWO, THREE), (THREE, TWO)], ids=["2 to 3", "3 to 2"])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_as_if_fitted_once(name, first, second):
    once = fitted(CLASSIFIERS[name](), second)
    again = fitted(CLASSIFIERS[name](), first)
    again.left_from_another_fit_ = 1
    fitted(again, second)
    assert set(vars(again)) == set(vars(once))
    assert again.decision_function(X).tobytes() == once.decision_function(X).tobytes()


def test_an_attribute_of_two_classes_alone():
    model = fitted(CLASSIFIERS["fisher"](), TWO)
    assert np.isfinite(model.threshold_)
    assert not hasattr(fitted(model, THREE), "threshold_")
    assert not hasattr(model, "crossings_")


def test_names_of_columns_go_with_the_rows_that_had_them():
    pandas = pytest.importorskip("pandas")
    model = fitted(LogisticRegression(), TWO, pandas.DataFrame(X, columns=["a", "b", "c"]))
    assert not hasattr(fitted(model, TWO), "feature_names_in_")


@pytest.mark.parametrize("kind", [LogisticRegression, Perceptron])
def test_a_warm_start_still_starts_where_the_last_fit_ended(kind):
    model = fitted(kind(warm_start=True), THREE)
    cold = model.n_iter_
    assert fitted(model, THREE).n_iter_ < cold


def test_a_fit_that_fails_leaves_no_half_of_another():
    model = fitted(LogisticRegression(), TWO)
    with pytest.raises(NotFiniteError):
        model.fit(np.full((60, 3), np.nan), TWO)
    assert not hasattr(model, "scorer_")
    assert not hasattr(model, "certificate_")
