"""Certificates are verified on tables outside memory, and do not hold on other data."""

import numpy as np
import pytest

import separatrix as sx
from separatrix.core.base.errors import InputError, LabelError
from tests.tables.scan.tables import labelled, written

MODELS = {
    "logistic": lambda: sx.LogisticRegression(),
    "maximum likelihood": lambda: sx.LogisticRegression(C=np.inf),
    "elastic net": lambda: sx.LogisticRegression(l1_ratio=0.5, C=0.1),
    "balanced": lambda: sx.LogisticRegression(class_weight="balanced"),
    "probit": lambda: sx.LogisticRegression(loss="probit"),
    "least squares": lambda: sx.LeastSquaresClassifier(),
    "fisher": lambda: sx.FisherDiscriminant(),
    "lda": lambda: sx.LinearDiscriminantAnalysis(),
    "qda": lambda: sx.QuadraticDiscriminantAnalysis(),
    "svc": lambda: sx.LinearSVC(),
    "firth": lambda: sx.LogisticRegression(C=np.inf, bias_reduction="firth"),
    "perceptron": lambda: sx.Perceptron(max_iter=3),
}


@pytest.fixture(scope="module", params=[2, 3], ids=["two", "three"])
def tables(request, tmp_path_factory):
    """Rows with weights, in memory and in files, and files with other labels."""
    X, y = labelled(6_000, n_classes=request.param)
    weight = np.arange(len(y)) % 3 + 0.5
    folder = tmp_path_factory.mktemp
    scan = sx.scan(written(folder("same"), X, y, weight), target="y", weight="w")
    changed = np.where(np.arange(len(y)) % 50 == 0, np.roll(y, 1), y)
    return X, y, weight, scan, sx.scan(written(folder("other"), X, changed, weight), target="y", weight="w")


@pytest.mark.filterwarnings("ignore::separatrix.core.base.errors.NotConvergedWarning")
@pytest.mark.parametrize("name", MODELS)
def test_certificates_hold_on_the_table_of_the_fit_alone(tables, name):
    _, y, _, scan, other = tables
    if len(set(y)) > 2 and name == "probit":
        pytest.skip("probit is for two classes")
    if name == "perceptron":
        pytest.skip("the perceptron takes no weights")
    certificate = MODELS[name]().fit(scan).certificate_
    found = certificate.verify(scan)
    assert found, found.sentence
    assert found.objective == pytest.approx(certificate.objective, rel=1e-9)
    assert not certificate.verify(other)


@pytest.mark.filterwarnings("ignore::separatrix.core.base.errors.NotConvergedWarning")
@pytest.mark.parametrize("name", MODELS)
def test_a_fit_in_memory_is_verified_on_files(tables, name):
    X, y, weight, scan, other = tables
    if len(set(y)) > 2 and name == "probit":
        pytest.skip("probit is for two classes")
    weighted = {} if name == "perceptron" else {"sample_weight": weight}
    certificate = MODELS[name]().fit(X, y, **weighted).certificate_
    ours, theirs = certificate.verify(scan), certificate.verify(X, y, **weighted)
    assert ours.holds == theirs.holds
    assert ours.objective == pytest.approx(theirs.objective, rel=1e-9)
    assert not certificate.verify(other)


def test_classes_without_weight_are_no_part_of_the_objective(tmp_path):
    X, y = labelled(3_000, n_classes=3)
    weight = np.where(y == "b", 0.0, 1.0)
    scan = sx.scan(written(tmp_path, X, y, weight), target="y", weight="w")
    certificate = sx.LogisticRegression().fit(scan).certificate_
    assert certificate.verify(scan)
    assert certificate.verify(X, y, sample_weight=weight)


def test_a_table_of_some_classes_is_numbered_as_in_the_fit(tmp_path):
    X, y = labelled(3_000, n_classes=3)
    certificate = sx.LogisticRegression().fit(X, y).certificate_
    only = y != "a"
    scan = sx.scan(written(tmp_path, X[only], y[only]), target="y")
    found = certificate.verify(scan)
    assert not found
    assert found.objective == pytest.approx(certificate.verify(X[only], y[only]).objective, rel=1e-9)


def test_what_is_wrong_with_a_table_is_named(tables, tmp_path):
    X, y, _, scan, _ = tables
    certificate = sx.LogisticRegression().fit(X, y).certificate_
    with pytest.raises(InputError, match="y: got one together with"):
        certificate.verify(scan, y)
    with pytest.raises(InputError, match="give the labels of the fit"):
        certificate.verify(X)
    with pytest.raises(InputError, match="it has 7 columns"):
        certificate.verify(sx.scan(written(tmp_path, X[:, 1:], y), target="y"))
    with pytest.raises(LabelError, match="it has the label 'z'"):
        certificate.verify(sx.scan(written(tmp_path, X, np.where(y == "a", "z", y)), target="y"))
