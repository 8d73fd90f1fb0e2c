"""The certificates of one versus one and one versus rest: sums of their parts', in the user's own names."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_iris
from sklearn.linear_model import RidgeClassifier

import separatrix as sx
from separatrix.core.base.errors import NotConvergedWarning

BOTH = pytest.mark.parametrize("make", [sx.OneVsOneClassifier, sx.OneVsRestClassifier])


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@BOTH
def test_the_certificate_sums_the_parts(make, iris):
    X, y = iris
    model = make().fit(X, y)
    parts = [part.certificate_ for part in model.estimators_]
    certificate = model.certificate_
    assert certificate.met
    assert certificate.status.startswith("all 3 models converged")
    assert certificate.objective == pytest.approx(sum(part.objective for part in parts))
    assert certificate.bound == pytest.approx(sum(part.bound for part in parts))
    assert certificate.verify(X, y)
    assert certificate.verify(csr_array(X), y)
    assert not certificate.verify(X, np.roll(y, 1))
    assert "one-versus" in str(certificate)


@BOTH
def test_one_warning_for_all_parts_that_did_not_converge(make, iris):
    X, y = iris
    slow = sx.LogisticRegression(solver="gradient-descent", max_iter=2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = make(slow).fit(X, y)
    assert [(w.category, w.filename) for w in caught] == [(NotConvergedWarning, __file__)]
    assert "3 of 3 models did not converge" in str(caught[0].message)
    assert model.certificate_.code == "unmet"
    assert model.certificate_.verify(X, y)


def test_separated_parts_have_no_bound_and_say_so(iris):
    X, y = iris
    with pytest.warns(NotConvergedWarning, match="no optimum exists"):
        model = sx.OneVsRestClassifier(sx.LogisticRegression(C=np.inf)).fit(X, y)
    assert model.certificate_.bound is None
    assert "models have no bound" in model.certificate_.bound_reason


def test_the_status_names_the_classes_and_the_rows_of_the_whole_table(iris):
    X, y = iris
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    for make in (sx.Perceptron, sx.MaxMarginClassifier):
        with pytest.warns(NotConvergedWarning) as told:
            model = sx.OneVsOneClassifier(make()).fit(X, names)
        assert "class 'versicolor' against 'virginica': not separable: " in str(told[0].message)
        inner = model.estimators_[2].verdicts_[0]
        pair = np.flatnonzero(y > 0)
        named = ", ".join(str(row) for row in pair[inner.rows])
        assert f"prove it ({named})" in model.certificate_.status
        rows = pair[inner.rows]
        assert not sx.separability(X[rows], names[rows])
    with pytest.warns(NotConvergedWarning, match="class 'versicolor' against the rest: not separable: "):
        sx.OneVsRestClassifier(sx.MaxMarginClassifier()).fit(X, names)


def test_the_status_of_a_part_that_met_names_its_classes(iris):
    X, y = iris
    status = sx.OneVsOneClassifier().fit(X, y).certificate_.status
    assert "the first: class 0 against 1: optimal" in status


@BOTH
def test_where_nothing_is_claimed_nothing_is_verified(make, iris):
    X, y = iris
    certificate = make(RidgeClassifier()).fit(X, y).certificate_
    for labels in (y, y[::-1]):
        found = certificate.verify(X, labels)
        assert not found
        assert "nothing to verify" in str(found)
    assert np.isnan(certificate.objective)
    assert "objective" not in str(certificate)
    assert "too many columns" not in str(certificate)
