"""The figures of a model on a table outside memory are those of the same rows in memory."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import separatrix as sx
from separatrix.core.base.errors import NotFiniteError, ParameterError
from separatrix.statistics import ranking
from separatrix.statistics.evaluation import Performance
from separatrix.statistics.measures import answers, brier_score
from tests.tables.scan.tables import labelled, written

MODELS = {
    "logistic": lambda: sx.LogisticRegression(),
    "svc": lambda: sx.LinearSVC(),
    "qda": lambda: sx.QuadraticDiscriminantAnalysis(),
    "least squares": lambda: sx.LeastSquaresClassifier(),
    "one versus rest": lambda: sx.OneVsRestClassifier(),
}


@pytest.fixture(scope="module", params=[2, 3], ids=["two", "three"])
def table(request, tmp_path_factory):
    X, y = labelled(9_000, n_classes=request.param, seed=4)
    return X, y, sx.scan(written(tmp_path_factory.mktemp("table"), X, y), target="y")


@pytest.mark.parametrize("name", MODELS)
def test_all_figures(table, name):
    X, y, scan = table
    model = MODELS[name]().fit(X[:500], y[:500])
    ours, theirs = sx.evaluate(model, scan), sx.evaluate(model, X, y)
    assert (ours.n_rows, ours.n_mistakes) == (theirs.n_rows, len(theirs.mistakes))
    assert ours.accuracy == pytest.approx(theirs.accuracy)
    assert ours.by_class == theirs.by_class
    assert ours.log_loss == pytest.approx(theirs.log_loss)
    found = answers(model, X, y)
    np.testing.assert_array_equal(ours.confusion, found.confusion)
    measured = Performance(found, np.bincount(found.codes))
    low, high = ours.auc_bounds
    assert low - 1e-12 <= measured.auc <= high + 1e-12
    assert ours.auc == pytest.approx(measured.auc, abs=1e-6)
    if ours.log_loss is not None:
        assert ours.brier == pytest.approx(brier_score(np.exp(found.log_P), found.codes))
        expected = sx.reliability(model, X, y)
        for field in ("edges", "count", "predicted", "observed"):
            np.testing.assert_allclose(getattr(ours.reliability, field), getattr(expected, field), rtol=1e-9)
        assert ours.reliability.of == expected.of
    assert f"{ours.n_mistakes} of {ours.n_rows} rows wrong" in str(ours)


def test_scores_in_bins_bound_the_area(table, monkeypatch):
    X, y, scan = table
    monkeypatch.setattr(ranking, "MOST_BINS", 100)
    monkeypatch.setattr(ranking, "MOST_PENDING", 500)
    model = sx.LogisticRegression().fit(X, y)
    ours, found = sx.evaluate(model, scan), answers(model, X, y)
    low, high = ours.auc_bounds
    assert low < high
    assert low <= Performance(found, np.bincount(found.codes)).auc <= high
    assert f"AUC between {low:.6g} and {high:.6g} (scores in bins)" in str(ours)


def test_thresholds_costs_and_priors(tmp_path):
    X, y = labelled(4_000, seed=5)
    scan = sx.scan(written(tmp_path, X, y), target="y")
    model = sx.LogisticRegression().fit(X, y)
    shares = np.bincount(y == "b")
    for settings in (
        {"threshold": 0.2},
        {"cost": {"FP": 1, "FN": 7}},
        {"cost": {"FP": 1, "FN": 7}, "threshold": 0.4},
        {"prior": [0.9, 0.1], "fitted_prior": shares},
    ):
        ours, theirs = sx.evaluate(model, scan, **settings), sx.evaluate(model, X, y, **settings)
        assert ours.by_class == theirs.by_class
        assert ours.log_loss == pytest.approx(theirs.log_loss)
        if theirs.cost is not None:
            assert ours.cost.mean == theirs.cost.mean
            assert ours.cost.null == theirs.cost.null
            assert ours.cost.best_mean == pytest.approx(theirs.cost.best_mean)


def test_a_label_that_the_model_does_not_know_is_a_mistake(tmp_path):
    X, y = labelled(2_000)
    model = sx.LogisticRegression().fit(X, y)
    y = np.where(np.arange(len(y)) % 9 == 0, "z", y)
    ours, theirs = sx.evaluate(model, sx.scan(written(tmp_path, X, y), target="y")), sx.evaluate(model, X, y)
    assert ours.n_mistakes == len(theirs.mistakes)
    assert ours.log_loss == theirs.log_loss == np.inf
    assert ours.by_class == theirs.by_class
    assert ours.confusion.shape == (2, 2)


def test_columns_are_found_by_name_and_cells_are_named(tmp_path):
    X, y = labelled(3_000)
    names = [f"x{j}" for j in range(8)]
    model = sx.LogisticRegression().fit(sx.scan(written(tmp_path, X, y), target="y"))
    turned = sx.scan(written(tmp_path, X[:, ::-1], y, names=names[::-1]), target="y")
    assert sx.evaluate(model, turned).accuracy == pytest.approx(np.mean(model.predict(turned) == y))
    X[2345, 2] = np.inf
    with pytest.raises(NotFiniteError, match=r"row 346 of 2\.parquet.*'x2'"):
        sx.evaluate(model, sx.scan(written(tmp_path, X, y), target="y"))


def test_what_cannot_be_evaluated_is_named(table):
    X, y, scan = table
    model = sx.LogisticRegression().fit(X, y)
    with pytest.raises(ParameterError, match="name the column of labels"):
        sx.evaluate(model, scan, y)
    with pytest.raises(ParameterError, match="the steps of a pipeline transform arrays"):
        sx.evaluate(make_pipeline(StandardScaler(), sx.LogisticRegression()).fit(X, y), scan)
