"""LinearSVC: the optimum of SVC and, but for the intercept's penalty, of scikit-learn's LinearSVC, proven."""

from itertools import product

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn import svm
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import StandardScaler

import separatrix as sx
from separatrix.core.base.errors import NotConvergedWarning, ParameterError
from tests import problems

LOSSES = ("squared_hinge", "hinge")


def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.mark.parametrize("C", [0.01, 0.1, 1.0])
def test_hinge_is_scikit_learns_svc(C):
    X, y = cancer()
    ours, theirs = sx.LinearSVC(C, loss="hinge").fit(X, y), svm.SVC(C=C, kernel="linear", tol=1e-9).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-5)


def test_near_scikit_learns_with_a_large_intercept_scaling():
    """Of the squared hinge loss: with the hinge loss scikit-learn's LinearSVC does not get that near to its optimum."""
    X, y = cancer()
    theirs = svm.LinearSVC(C=0.1, intercept_scaling=1e4, tol=1e-10, max_iter=10**5, dual=False).fit(X, y)
    ours = sx.LinearSVC(0.1).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
def test_several_classes_are_a_hyperplane_each_against_the_rest(loss):
    X, y = load_iris(return_X_y=True)
    model = sx.LinearSVC(loss=loss).fit(X, y)
    assert model.certificate_.met
    assert model.certificate_.verify(X, y)
    alone = [sx.LinearSVC(loss=loss).fit(X, y == k) for k in range(3)]
    np.testing.assert_array_equal(model.coef_, np.vstack([one.coef_ for one in alone]))
    assert model.certificate_.objective == pytest.approx(sum(one.certificate_.objective for one in alone))
    assert model.certificate_.bound == pytest.approx(sum(one.certificate_.bound for one in alone))
    np.testing.assert_array_equal(model.predict(X), model.classes_[model.decision_function(X).argmax(axis=1)])


@pytest.mark.parametrize("loss", LOSSES)
def test_every_certificate_holds_and_no_other_weights_are_better_by_more(loss):
    for seed, C in product(range(12), (0.01, 1.0, 100.0)):
        drawn = problems.draw(seed, K=2)
        X = (drawn.X - drawn.X.mean(axis=0)) / drawn.X.std(axis=0)
        fit = {"X": X, "y": drawn.codes, "sample_weight": drawn.weight}
        model = sx.LinearSVC(C, loss=loss, fit_intercept=drawn.fit_intercept).fit(**fit)
        certificate = model.certificate_
        assert certificate.code == "optimal", (seed, C, certificate.status)
        assert certificate.bound_kind == "duality"
        assert certificate.verify(**fit)
        order = np.random.default_rng(seed).permutation(len(X))
        assert certificate.verify(X[order], drawn.codes[order], drawn.weight[order])
        assert not certificate.verify(X, 1 - drawn.codes, drawn.weight)


@pytest.mark.parametrize("loss", LOSSES)
def test_sparse_rows_give_the_same_fit(loss):
    X, y = cancer()
    X = X * (np.abs(X) > 0.5)
    dense, sparse = (sx.LinearSVC(loss=loss).fit(form(X), y) for form in (np.asarray, csr_array))
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-5)
    assert sparse.certificate_.verify(csr_array(X), y)


def test_a_solver_that_cannot_take_the_kink_is_refused_by_name():
    with pytest.raises(ParameterError, match="'newton' needs a smooth loss"):
        sx.LinearSVC(loss="hinge", solver="newton").fit([[0.0], [1.0]], [0, 1])
    assert sx.LinearSVC(solver="lbfgs").fit([[0.0], [1.0]], [0, 1]).solver_ == "lbfgs"


def test_settings_without_sense_are_refused():
    for settings, what in (({"C": np.inf}, "MaxMarginClassifier"), ({"C": 0}, "C"), ({"loss": "logistic"}, "hinge")):
        with pytest.raises(ParameterError, match=what):
            sx.LinearSVC(**settings).fit([[0.0], [1.0]], [0, 1])


def test_too_few_iterations_are_told():
    X, y = cancer()
    with pytest.warns(NotConvergedWarning, match="max_iter"):
        model = sx.LinearSVC(loss="hinge", max_iter=2).fit(X, y)
    assert not model.certificate_.met
    assert model.certificate_.bound > 0
    assert model.certificate_.verify(X, y)
