"""After a fit to a table outside memory, a classifier is as after a fit to a data frame."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import separatrix as sx
from tests.tables.scan.tables import labelled, written

MODELS = {
    "logistic": lambda: sx.LogisticRegression(C=0.5),
    "least squares": lambda: sx.LeastSquaresClassifier(),
    "fisher": lambda: sx.FisherDiscriminant(),
    "lda": lambda: sx.LinearDiscriminantAnalysis(),
    "qda": lambda: sx.QuadraticDiscriminantAnalysis(),
    "svc": lambda: sx.LinearSVC(),
    "one versus rest": lambda: sx.OneVsRestClassifier(),
}
NAMES = [f"x{j}" for j in range(8)]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    X, y = labelled(2_000, n_classes=3)
    return pd.DataFrame(X, columns=NAMES), y, sx.scan(written(tmp_path_factory.mktemp("table"), X, y), target="y")


@pytest.mark.parametrize("name", MODELS)
def test_names_of_columns(table, name):
    frame, _, scan = table
    model = MODELS[name]().fit(scan)
    assert model.feature_names_in_.tolist() == NAMES
    assert model.feature_names_in_.dtype == object
    assert model.n_features_in_ == 8
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        plain = model.predict(frame.to_numpy())
    np.testing.assert_array_equal(model.predict(frame), plain)
    with pytest.raises(ValueError, match="The feature names should match"):
        model.predict(frame[NAMES[::-1]])


@pytest.mark.parametrize("name", MODELS)
def test_clones_pickles_and_files(table, name, tmp_path):
    frame, y, scan = table
    model = MODELS[name]().fit(scan)
    assert repr(clone(model).get_params()) == repr(model.get_params())
    assert not hasattr(clone(model), "feature_names_in_")
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(scan), model.decision_function(scan))
    assert again.certificate_.verify(scan)
    sx.save(model, tmp_path / "model.json")
    loaded = sx.load(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.predict(scan), model.predict(frame))
    assert loaded.certificate_.verify(scan)
    assert loaded.certificate_.verify(frame, y)


def test_a_fit_to_an_array_forgets_the_names(table):
    frame, y, scan = table
    model = sx.LogisticRegression().fit(scan)
    model.fit(frame.to_numpy(), y)
    assert not hasattr(model, "feature_names_in_")


def test_a_warm_start_goes_on_from_a_table(table):
    _, _, scan = table
    model = sx.LogisticRegression(warm_start=True).fit(scan)
    first = model.n_iter_
    assert model.fit(scan).n_iter_ <= first
