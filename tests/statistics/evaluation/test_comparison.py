"""Classifiers side by side: the figures are those of scikit-learn on the same folds, the choice follows its rule."""

import sys

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression as Peer
from sklearn.metrics import log_loss
from sklearn.model_selection import PredefinedSplit, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import separatrix as sx
from separatrix.classifiers import CLASSIFIERS
from separatrix.classifiers.description import Requires
from separatrix.core.base.errors import LabelError, NotFiniteError, ParameterError
from separatrix.core.base.watching import Part, watched
from separatrix.core.rows.hold_out import stratified_folds
from separatrix.statistics.comparison import compare_table
from separatrix.statistics.comparison_trials import Contest, Entrant, entrants
from separatrix.tables.read_table import read_raw


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return sx.compare(X, y)


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
def test_logistic_regression_agrees_with_scikit_learn(load):
    X, y = load(return_X_y=True)
    found = sx.compare(X, y, cv=4, seed=3, only=["logistic"])["logistic"]
    split = PredefinedSplit(stratified_folds(y, np.arange(len(y)), 4, 3))
    peer = make_pipeline(StandardScaler(), Peer(C=1.0, tol=1e-10, max_iter=10_000))
    assert found.accuracy.by_fold == pytest.approx(cross_val_score(peer, X, y, cv=split).tolist(), abs=1e-12)
    losses = -cross_val_score(peer, X, y, cv=split, scoring="neg_log_loss")
    assert found.log_loss.by_fold == pytest.approx(losses.tolist(), rel=1e-4)
    P = cross_val_predict(peer, X, y, cv=split, method="predict_proba")
    assert found.log_loss.mean == pytest.approx(log_loss(y, P), rel=0.02)  # folds are not quite of one size
    assert found.n_met == 4
    assert found.standardised


def test_calibration_error_by_hand():
    X, y = load_breast_cancer(return_X_y=True)
    found = sx.compare(X, y, only=["lda"])["lda"]
    p = np.exp(np.vstack([trial.log_P for trial in found.trials]))[:, 1]
    t = np.concatenate(found.codes)
    bins = np.minimum((10 * p).astype(int), 9)
    gaps = [abs(p[bins == k].mean() - t[bins == k].mean()) * np.mean(bins == k) for k in range(10) if np.any(bins == k)]
    assert found.calibration_error == pytest.approx(sum(gaps))


def test_every_classifier_is_there_with_figures_or_a_reason(iris):
    names = {standing.name for standing in iris.standings}
    assert names == {entrant.name for entrant in entrants()} | {"majority"}
    assert {name.partition(",")[0] for name in names} == {*CLASSIFIERS, "majority"}
    assert iris["majority"].accuracy.mean == pytest.approx(1 / 3)
    assert iris["majority"].log_loss.mean == pytest.approx(np.log(3))
    fitted = [standing for standing in iris.standings if standing.fitted]
    assert iris.standings[: len(fitted)] == tuple(fitted)
    accuracies = [standing.accuracy.mean for standing in fitted]
    assert accuracies == sorted(accuracies, reverse=True)
    assert "1 is not linearly separable from the rest" in iris["max-margin"].reason


def test_models_of_many_pairs_take_part():
    rng = np.random.default_rng(0)
    codes = np.arange(220) % 22
    X = rng.normal(size=(22, 3))[codes] * 5 + rng.normal(size=(220, 3))
    found = sx.compare(X, codes, cv=2)
    assert found["one-versus-one, logistic"].accuracy.mean > 0.5
    assert found["one-versus-one, perceptron"].accuracy.mean > 0.5


def test_a_table_is_coded_anew_in_every_fold():
    """Each figure is that of a pipeline that saw the rows of its fold's fit alone."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=90), "c": rng.choice(list("uvwx"), 90, p=[0.5, 0.4, 0.07, 0.03])})
    frame.loc[rng.random(90) < 0.2, "a"] = np.nan
    labels = np.where(frame["a"].fillna(1) + (frame["c"] == "v") + rng.normal(size=90) > 0, "yes", "no")
    raw = read_raw(frame.assign(y=labels), "y", missing="impute")
    found = compare_table(raw, cv=3, seed=5, only=["logistic"])["logistic"]
    peer = make_pipeline(sx.TableEncoder(missing="impute", standardise=True), sx.LogisticRegression(random_state=5))
    split = PredefinedSplit(stratified_folds((labels == "yes").astype(int), np.arange(90), 3, 5))
    losses = -cross_val_score(peer, frame, labels, cv=split, scoring="neg_log_loss")
    assert found.log_loss.by_fold == pytest.approx(losses.tolist(), rel=1e-9)


def test_two_classes_leave_the_schemes_out_and_separable_ones_take_the_separators_in():
    X, y = load_iris(return_X_y=True)
    found = sx.compare(X[y < 2], y[y < 2], cv=3)
    assert "two classes" in found["one-versus-rest, logistic"].reason
    assert found["max-margin"].accuracy.mean == found["kozinec"].accuracy.mean == 1.0
    assert found["max-margin"].n_met == 3


def test_a_classifier_of_two_classes_is_left_out_where_there_are_more():
    of_two = Entrant("of two", sx.Perceptron(), False, True, (Requires.TWO_CLASSES,))
    codes = np.arange(6) % 3
    table = read_raw(pd.DataFrame({"a": np.arange(6.0), "y": codes}), "y")
    assert of_two.refused(Contest(table, codes, np.arange(3), codes)) == (
        "not fitted: it takes two classes, and there are 3"
    )
    assert of_two.refused(Contest(table, codes > 0, np.arange(2), codes)) is None


def test_quadratic_analysis_needs_rows_in_every_class():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 10))
    found = sx.compare(X, np.arange(60) < 12, cv=3, only=["qda"])
    assert "True has 8 rows in a fit, too few for 10 columns" in found["qda"].reason
    assert found.best is None
    assert found.why == "No classifier could be fitted."
    assert sx.compare(X[:, :3], np.arange(60) < 12, cv=3, only=["qda"])["qda"].fitted


def test_threads_change_nothing():
    X, y = load_iris(return_X_y=True)
    tables = []
    for count in (1, 3):
        with sx.threads(count):
            plain = sx.compare(X, y, cv=3, only=["logistic", "lda", "one-versus-one, perceptron"]).plain()
        for one in plain["classifiers"]:
            one.pop("fit_seconds")
        tables.append(plain)
    assert tables[0] == tables[1]


def test_sparse_rows_are_scaled_and_not_centred():
    rng = np.random.default_rng(0)
    X = (rng.random((200, 30)) < 0.1) * rng.uniform(1, 50, 30)
    y = (X[:, 0] > 0) | (rng.random(200) < 0.3)
    found = sx.compare(csr_array(X), y, cv=4, only=["logistic"])["logistic"]
    peer = make_pipeline(StandardScaler(with_mean=False), Peer(tol=1e-10, max_iter=10_000))
    split = PredefinedSplit(stratified_folds(y.astype(int), np.arange(200), 4, 0))
    scores = cross_val_score(peer, csr_array(X), y, cv=split)
    assert found.accuracy.by_fold == pytest.approx(scores.tolist())


def test_a_classifier_that_fails_is_a_row(monkeypatch):
    def fail(self, X, y):
        raise np.linalg.LinAlgError("singular to the bone")

    monkeypatch.setattr(CLASSIFIERS["lda"], "fit", fail)
    X, y = load_iris(return_X_y=True)
    seen = []
    with sx.watch(lambda stage, within: seen.append(stage)):
        found = sx.compare(X, y, cv=2, only=["lda", "logistic"])
    assert found["lda"].reason == "failed: singular to the bone"
    assert found.chosen.name == "logistic"
    assert [stage.done for stage in seen] == [0, 1, 2, 3, 4]
    assert {(stage.unit, stage.total) for stage in seen} == {("fits", 4)}
    assert str(seen[-1]) == "4 of 4 fits, 2 of 2 classifiers done"


def _endless(ended):
    def fit(*_):
        try:
            while True:
                watched()(Part("step", 1))
                sum(range(10_000))
        finally:
            ended.append(type(sys.exc_info()[1]).__name__)

    return fit


def test_a_classifier_that_spends_its_budget_is_stopped_and_listed(monkeypatch):
    ended = []
    monkeypatch.setattr(CLASSIFIERS["lda"], "fit", _endless(ended))
    X, y = load_iris(return_X_y=True)
    with sx.threads(1):
        found = sx.compare(X, y, cv=3, only=["lda", "logistic"], seconds=0.2)
    assert found["lda"].reason.startswith("not fitted: the fits took more than 0.2 s of processor time")
    assert ended == ["OutOfTime"]  # the fits of the other folds do not begin
    assert found["logistic"].fitted
    assert found.chosen.name == "logistic"


def test_a_perceptron_stops_inside_its_fit():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 5))
    y = rng.random(2000) < 0.5
    found = sx.compare(X, y, cv=2, only=["perceptron"], seconds=1e-4)
    assert "took more than 0.0001 s" in found["perceptron"].reason
    assert found.why == "No classifier could be fitted."


def test_the_question_of_separability_has_the_same_budget(monkeypatch):
    monkeypatch.setattr("separatrix.statistics.comparison_trials.separability", _endless([]))
    X, y = load_iris(return_X_y=True)
    seen = []
    with sx.watch(lambda stage, within: seen.append(str(stage))):
        found = sx.compare(X, y, cv=2, only=["max-margin", "lda"], seconds=0.2)
    assert "separable was not decided in 0.2 s" in found["max-margin"].reason
    assert found["lda"].fitted
    assert "step 1" in seen


@pytest.mark.parametrize("seconds", [0, -1.0, np.nan, True, "60"])
def test_a_budget_is_a_positive_number(seconds):
    with pytest.raises(ParameterError, match="seconds: got"):
        sx.compare(np.eye(4), [0, 0, 1, 1], cv=2, seconds=seconds)


def test_fewer_folds_where_a_class_has_few_rows():
    X, y = load_iris(return_X_y=True)
    assert sx.compare(X[:103], y[:103], cv=5, only=["lda"]).n_folds == 3


def test_refusals():
    X, y = np.eye(4), [0, 0, 1, 1]
    with pytest.raises(ParameterError, match="cv: got 1"):
        sx.compare(X, y, cv=1)
    with pytest.raises(ParameterError, match="by: got 'speed'"):
        sx.compare(X, y, by="speed")
    with pytest.raises(ParameterError, match="only: got 'svm'"):
        sx.compare(X, y, only=["svm"])
    with pytest.raises(LabelError, match="one row only"):
        sx.compare(X, [0, 0, 0, 1])
    with pytest.raises(LabelError, match="one class only"):
        sx.compare(X, [0, 0, 0, 0])
    with pytest.raises(NotFiniteError, match="row 0, column 1"):
        sx.compare(X + np.array([0, np.nan, 0, 0]), y)
    with pytest.raises(ParameterError, match="one row for each label"):
        sx.compare(X, [0, 1])
