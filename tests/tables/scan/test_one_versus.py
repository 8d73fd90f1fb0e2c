"""One versus rest and one versus one read a table outside memory once for each model, with its own two classes."""

import numpy as np
import pytest

import separatrix as sx
from tests.tables.scan.tables import labelled, written

BASES = {
    "logistic": lambda: sx.LogisticRegression(),
    "balanced": lambda: sx.LogisticRegression(class_weight="balanced"),
    "lda": lambda: sx.LinearDiscriminantAnalysis(),
    "svc": lambda: sx.LinearSVC(),
}


@pytest.fixture(scope="module", params=[2, 3, 4], ids=["two", "three", "four"])
def table(request, tmp_path_factory):
    X, y = labelled(4_000, n_classes=request.param)
    weight = np.arange(len(y)) % 3 + 1.0
    return X, y, weight, sx.scan(written(tmp_path_factory.mktemp("table"), X, y, weight), target="y", weight="w")


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("kind", [sx.OneVsRestClassifier, sx.OneVsOneClassifier])
def test_the_models_are_those_of_memory(table, kind, base):
    X, y, weight, scan = table
    ours = kind(BASES[base]()).fit(scan)
    theirs = kind(BASES[base]()).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(ours.boundaries(), theirs.boundaries(), rtol=1e-5, atol=1e-7)
    np.testing.assert_array_equal(ours.imbalance_, theirs.imbalance_)
    np.testing.assert_array_equal(ours.predict(scan), theirs.predict(X))
    assert ours.certificate_.objective == pytest.approx(theirs.certificate_.objective, rel=1e-8)
    assert ours.certificate_.n_rows == len(y)
    assert ours.certificate_.verify(scan)
    assert ours.certificate_.verify(X, y, sample_weight=weight)


def test_probabilities_need_no_names(table):
    X, _, _, scan = table
    model = sx.OneVsRestClassifier().fit(scan)
    found = model.predict_proba(scan)
    assert found.shape == (len(X), len(model.classes_))
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
