"""Changing the import is enough: what a scikit-learn class of the same name accepts is accepted here, too."""

import inspect
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectFromModel
from sklearn.utils import all_estimators

import separatrix as sx
from separatrix.classifiers import CLASSIFIERS
from separatrix.core.base.errors import CompatibilityWarning, NotConvergedWarning, ParameterError

THEIRS = dict(all_estimators(type_filter="classifier"))
NAMESAKES = {kind.__name__: kind for kind in CLASSIFIERS.values() if kind.__name__ in THEIRS}


def defaults_of(name):
    """The parameters of scikit-learn's class with their defaults; an ``estimator`` without one is a logistic model."""
    parameters = inspect.signature(THEIRS[name]).parameters.values()
    return {p.name: sx.LogisticRegression() if p.default is p.empty else p.default for p in parameters}


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return (X[:, :6] - X[:, :6].mean(axis=0)) / X[:, :6].std(axis=0), y


def test_the_classes_with_a_namesake_are_found():
    discriminants = {"LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"}
    schemes = {"OneVsRestClassifier", "OneVsOneClassifier"}
    assert set(NAMESAKES) == {"LogisticRegression", "LinearSVC", "Perceptron", *discriminants, *schemes}


@pytest.mark.parametrize("name", NAMESAKES)
def test_every_parameter_is_accepted_with_scikit_learns_default(name, iris):
    X, y = iris
    kind, given = NAMESAKES[name], defaults_of(name)
    assert given.keys() <= kind().get_params(deep=False).keys()
    for parameter, value in given.items():
        alone = clone(kind(**{parameter: value})).fit(X[y < 2], y[y < 2])  # any warning is an error
        assert alone.score(X[y < 2], y[y < 2]) == 1.0
    two = kind(**given).fit(X[y < 2], y[y < 2])
    assert two.score(X[y < 2], y[y < 2]) == 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # one of the species cannot be separated from the others
        three, theirs = kind(**given).fit(X, y), THEIRS[name](**given).fit(X, y)
    assert three.decision_function(X).shape == (150, 3)
    assert three.score(X, y) >= theirs.score(X, y) - 0.02


@pytest.mark.parametrize("name", NAMESAKES)
def test_every_parameter_survives_set_params_and_a_file(name, iris, tmp_path):
    X, y = iris
    model = NAMESAKES[name]().set_params(**defaults_of(name)).fit(X[y < 2], y[y < 2])
    sx.save(model, tmp_path / "model.json")
    assert repr(sx.load(tmp_path / "model.json").get_params()) == repr(model.get_params())


# ------------------------------------------------------------------------------------------------ LinearSVC


@pytest.mark.parametrize(
    "given",
    [
        {"penalty": "l2"},
        {"dual": True},
        {"dual": False},
        {"dual": np.bool_(True)},
        {"multi_class": "ovr"},
        {"random_state": 3},
        {"intercept_scaling": 7.0, "fit_intercept": False},
    ],
)
def test_settings_of_the_svc_that_do_not_move_its_optimum_are_silent(given, cancer):
    plain = sx.LinearSVC(fit_intercept=given.get("fit_intercept", True)).fit(*cancer)
    model = sx.LinearSVC(**given).fit(*cancer)
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    assert model.certificate_.verify(*cancer)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (
            {"penalty": "l1"},
            ["penalty='l1' is ignored, and the L2 penalty is used", 'LogisticRegression(penalty="l1")'],
        ),
        ({"intercept_scaling": 10.0}, ["intercept_scaling=10.0 is ignored, since the intercept is not penalised"]),
        ({"multi_class": "crammer_singer"}, ["one versus rest is fitted"]),
        ({"penalty": "l1", "multi_class": "crammer_singer"}, ["penalty='l1'", "multi_class='crammer_singer'"]),
    ],
)
def test_other_settings_of_the_svc_are_answered_by_one_warning(given, says, iris):
    with pytest.warns(CompatibilityWarning) as caught:
        model = sx.LinearSVC(**given).fit(*iris)
    [warning] = caught
    assert str(warning.message).startswith("LinearSVC: ")
    assert all(part in str(warning.message) for part in says)
    assert warning.filename == __file__
    np.testing.assert_array_equal(model.coef_, sx.LinearSVC().fit(*iris).coef_)


def test_with_two_classes_crammer_and_singers_optimum_is_that_of_the_hinge_with_twice_the_c(cancer):
    """So the warning is given with two classes, too: the default loss has another optimum."""
    with pytest.warns(CompatibilityWarning, match="one hyperplane is fitted with loss='squared_hinge'"):
        model = sx.LinearSVC(C=0.05, multi_class="crammer_singer", fit_intercept=False).fit(*cancer)
    settings = {"C": 0.05, "multi_class": "crammer_singer", "fit_intercept": False, "tol": 1e-9, "max_iter": 100_000}
    theirs = THEIRS["LinearSVC"](**settings).fit(*cancer).coef_
    hinge = sx.LinearSVC(C=0.1, loss="hinge", fit_intercept=False, tol=1e-10).fit(*cancer).coef_
    np.testing.assert_allclose(hinge, theirs, atol=1e-3)
    assert np.abs(model.coef_ - theirs).max() > 1e-2


@pytest.mark.parametrize(
    "bad",
    [
        {"penalty": "elasticnet"},
        {"penalty": None},
        {"dual": "always"},
        {"dual": 1},
        {"multi_class": "multinomial"},
        {"intercept_scaling": 0},
        {"random_state": "lucky"},
    ],
)
def test_values_that_scikit_learns_svc_refuses_are_refused(bad, iris):
    with pytest.raises(ParameterError, match=next(iter(bad))):
        sx.LinearSVC(**bad).fit(*iris)


def test_random_state_seeds_a_stochastic_solver(cancer):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        same, again, other = (
            sx.LinearSVC(solver="sgd", max_iter=2, tol=0.0, random_state=seed).fit(*cancer).coef_ for seed in (1, 1, 2)
        )
    np.testing.assert_array_equal(same, again)
    assert not np.array_equal(same, other)


def test_a_selection_of_columns_is_told_that_nothing_is_selected(cancer):
    """The usual use of the L1 penalty: the warning is the only sign, since all weights differ from zero."""
    with pytest.warns(CompatibilityWarning, match="L2 penalty is used"):
        chosen = SelectFromModel(sx.LinearSVC(C=0.01, penalty="l1", dual=False)).fit(*cancer)
    assert chosen.get_support().all()


# ------------------------------------------------------------------------------------------------ n_jobs, verbose


@pytest.mark.parametrize("jobs", [1, 2, -1])
def test_the_number_of_threads_does_not_change_a_perceptron(jobs, iris):
    with pytest.warns(NotConvergedWarning):
        plain, threaded = (sx.Perceptron(n_jobs=n, max_iter=20).fit(*iris) for n in (None, jobs))
    np.testing.assert_array_equal(threaded.coef_, plain.coef_)
    stepped = sx.Perceptron(n_jobs=jobs).partial_fit(*iris)
    np.testing.assert_array_equal(stepped.coef_, sx.Perceptron().partial_fit(*iris).coef_)


@pytest.mark.parametrize("kind", [sx.Perceptron, sx.LogisticRegression, sx.OneVsRestClassifier, sx.OneVsOneClassifier])
@pytest.mark.parametrize("jobs", [0, "all", 1.5, True])
def test_a_number_of_threads_that_is_none_is_refused(kind, jobs, iris):
    with pytest.raises(ParameterError, match="n_jobs: got"):
        kind(n_jobs=jobs).fit(*iris)


@pytest.mark.parametrize("kind", [sx.Perceptron, sx.LinearSVC])
def test_verbose_prints_every_iteration_and_no_fit_prints_without_it(kind, iris, capsys):
    X, y = iris[0][:100], iris[1][:100]
    kind(verbose=1).fit(X, y)
    assert len(capsys.readouterr().out.splitlines()) > 1
    kind().fit(X, y)
    assert capsys.readouterr().out == ""
