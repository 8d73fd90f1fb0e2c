"""scikit-learn's settings of LogisticRegression: mapped, or one warning that says what is done instead."""

import warnings

import numpy as np
import pytest
import sklearn.linear_model
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import GridSearchCV

import separatrix as sx
from separatrix.core.base.errors import CompatibilityWarning, NotConvergedWarning, ParameterError, WeightError
from separatrix.core.rows.targets import ABSENT_CLASS_INTERCEPT
from separatrix.core.solvers.registry import SCIKIT_LEARN_SOLVERS, SOLVERS

THEIRS = {"liblinear", "newton-cg", "newton-cholesky", "sag", "saga"}


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


def test_all_of_scikit_learns_solvers_have_a_name_here():
    assert set(SCIKIT_LEARN_SOLVERS) == THEIRS
    assert not THEIRS & set(SOLVERS)
    assert {*THEIRS, "lbfgs"} == set(
        sklearn.linear_model.LogisticRegression._parameter_constraints["solver"][0].options
    )


@pytest.mark.parametrize("solver", sorted(THEIRS))
def test_scikit_learns_solvers_find_the_same_optimum(solver, cancer):
    X, y = cancer
    plain = sx.LogisticRegression(fit_intercept=False).fit(X, y)
    model = sx.LogisticRegression(solver=solver, fit_intercept=False).fit(X, y)  # without a warning
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    assert model.solver_ == plain.solver_ == model.certificate_.solver
    assert repr(solver) in model.certificate_.why
    assert model.certificate_.verify(X, y)


@pytest.mark.parametrize(
    ("given", "same"),
    [
        ({"penalty": "l2"}, {}),
        ({"penalty": "l1"}, {"l1_ratio": 1.0}),
        ({"penalty": "l1", "l1_ratio": None}, {"l1_ratio": 1.0}),
        ({"penalty": "elasticnet", "l1_ratio": 0.3}, {"l1_ratio": 0.3}),
        ({"penalty": None}, {"C": np.inf}),
        ({"l1_ratio": None}, {}),
        ({"n_jobs": 1}, {}),
        ({"n_jobs": -1}, {}),
        ({"multi_class": "auto"}, {}),
        ({"multi_class": "multinomial"}, {}),
        ({"multi_class": "ovr"}, {}),
    ],
)
def test_settings_with_a_meaning_are_mapped_in_silence(given, same, cancer):
    X, y = cancer[0][:, :3], cancer[1]
    a, b = sx.LogisticRegression(**given).fit(X, y), sx.LogisticRegression(**same).fit(X, y)
    np.testing.assert_array_equal(a.scorer_.W, b.scorer_.W)
    assert (a.C_, a.certificate_.claim.l1_ratio) == (b.C_, b.certificate_.claim.l1_ratio)
    assert a.certificate_.verify(X, y)
    assert clone(a).get_params() == a.get_params()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"penalty": "l2", "l1_ratio": 0.5}, ["penalty='l2' takes precedence"]),
        ({"penalty": None, "C": 2.0}, ["penalty=None will ignore", "C=2.0 is ignored"]),
        ({"solver": "liblinear"}, ["the intercept; here no solver penalises it", "softmax is fitted"]),
        ({"intercept_scaling": 10.0}, ["intercept_scaling=10.0 is ignored"]),
        ({"multi_class": "ovr"}, ["softmax is fitted; for one versus rest use OneVsRestClassifier"]),
        ({"dual": True}, ["the optimum of the dual is the same"]),
        ({"dual": True, "multi_class": "ovr", "intercept_scaling": 2}, ["dual", "multi_class", "intercept_scaling"]),
    ],
)
def test_others_are_answered_by_one_warning(given, says, iris):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = sx.LogisticRegression(**given).fit(*iris)
    [warning] = [w for w in caught if issubclass(w.category, CompatibilityWarning)]
    assert all(part in str(warning.message) for part in says)
    assert warning.filename == __file__
    assert len(model.classes_) == len(model.coef_) == 3


def test_values_that_scikit_learn_refuses_are_refused_here(iris):
    for bad in ({"penalty": "l3"}, {"penalty": 2}, {"multi_class": "both"}, {"n_jobs": 0}, {"n_jobs": "all"}):
        with pytest.raises(ParameterError, match=next(iter(bad))):
            sx.LogisticRegression(**bad).fit(*iris)
    with pytest.raises(ParameterError, match="l1_ratio: got None with penalty='elasticnet'"):
        sx.LogisticRegression(penalty="elasticnet", l1_ratio=None).fit(*iris)


def test_verbose_prints_a_line_an_iteration(iris, capsys):
    model = sx.LogisticRegression(verbose=1).fit(*iris)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(model.trace_)
    sx.LogisticRegression().fit(*iris)
    assert capsys.readouterr().out == ""


def test_existing_code_runs_in_a_search(cancer):
    X, y = cancer[0][:, :4], cancer[1]
    grid = {"penalty": ["l1", "l2"], "C": [0.1, 1.0], "solver": ["saga", "newton-cg"]}
    search = GridSearchCV(sx.LogisticRegression(max_iter=100, n_jobs=1), grid, cv=3).fit(X, y)
    assert set(search.best_params_) == set(grid)
    assert search.best_estimator_.certificate_.met


def test_settings_of_scikit_learn_are_kept_in_a_file(cancer, tmp_path):
    X, y = cancer[0][:, :3], cancer[1]
    model = sx.LogisticRegression(penalty="l1", solver="saga", n_jobs=2).fit(X, y)
    sx.save(model, tmp_path / "m.json")
    again = sx.load(tmp_path / "m.json")
    assert again.get_params() == model.get_params()
    assert again.solver_ == model.solver_
    assert again.certificate_.verify(X, y)


# ------------------------------------------------------------------------------------------------ max_iter=0


@pytest.mark.parametrize("solver", ["auto", "saga", "lbfgs", "newton", "gradient-descent"])
def test_no_iterations_leave_the_start(solver, iris):
    X, y = iris
    with pytest.warns(NotConvergedWarning, match="max_iter=0"):
        model = sx.LogisticRegression(solver=solver, max_iter=0).fit(X, y)
    assert not model.scorer_.W.any()
    assert model.n_iter_.tolist() == [0]
    assert (model.certificate_.code, model.certificate_.met) == ("max_iter", False)
    np.testing.assert_allclose(model.certificate_.objective, np.log(3))
    start = np.arange(15.0).reshape(3, 5)
    start -= start.mean(axis=0)
    with pytest.warns(NotConvergedWarning, match="max_iter=0"):
        begun = sx.LogisticRegression(solver="gradient-descent", max_iter=0, start=start).fit(X, y)
    np.testing.assert_allclose(begun.scorer_.W, start, rtol=1e-12, atol=1e-12)


def test_n_iter_is_an_array_as_scikit_learns(iris):
    ours, theirs = sx.LogisticRegression().fit(*iris), sklearn.linear_model.LogisticRegression(max_iter=500).fit(*iris)
    assert ours.n_iter_.shape == theirs.n_iter_.shape == (1,)
    assert ours.n_iter_.dtype == theirs.n_iter_.dtype


# ------------------------------------------------------------------------------------------------ no weight


def test_a_class_of_weight_zero_drops_out(iris, tmp_path):
    X, y = iris
    model = sx.LogisticRegression(class_weight={0: 1, 1: 2, 2: 0}).fit(X, y)
    left = sx.LogisticRegression(class_weight={0: 1, 1: 2}).fit(X[y < 2], y[y < 2])
    assert model.classes_.tolist() == [0, 1, 2]
    assert set(model.predict(X)) == {0, 1}
    np.testing.assert_allclose(model.predict_proba(X)[:, :2], left.predict_proba(X), rtol=1e-9, atol=1e-12)
    assert not model.predict_proba(X)[:, 2].any()
    assert model.intercept_[2] == ABSENT_CLASS_INTERCEPT
    assert "2: its rows do not enter the fit" in str(model.certificate_)
    np.testing.assert_allclose(model.certificate_.objective, left.certificate_.objective, rtol=1e-12)
    assert model.certificate_.met
    assert model.certificate_.verify(X, y)
    assert not model.certificate_.verify(X[::-1], y)
    sx.save(model, tmp_path / "m.json")
    assert sx.load(tmp_path / "m.json").certificate_.verify(X, y)


def test_a_class_whose_rows_have_weight_zero_drops_out(iris):
    X, y = iris
    rng = np.random.default_rng(0)
    y = np.where((y == 2) & (rng.random(150) < 0.5), 3, y)  # four classes, one of them without weight
    weight = np.where(y == 1, 0.0, rng.uniform(0.5, 2.0, 150))
    model = sx.LogisticRegression().fit(X, y, sample_weight=weight)
    left = sx.LogisticRegression().fit(X[y != 1], y[y != 1], sample_weight=weight[y != 1])
    np.testing.assert_allclose(model.predict_proba(X)[:, [0, 2, 3]], left.predict_proba(X), rtol=1e-6, atol=1e-9)
    assert model.certificate_.verify(X, y, sample_weight=weight)
    with pytest.raises(WeightError, match="weight zero"):
        sx.LogisticRegression().fit(X[y < 2], y[y < 2], sample_weight=weight[y < 2])
