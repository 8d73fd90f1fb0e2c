"""A checkpoint keeps the sums of each model of a fit that has several."""

import numpy as np
import pytest

import separatrix as sx
from tests.streams.tables import labelled, written

MODELS = {
    "svc": lambda: sx.LinearSVC(),
    "one versus rest": lambda: sx.OneVsRestClassifier(),
    "one versus one": lambda: sx.OneVsOneClassifier(sx.LinearDiscriminantAnalysis()),
}


@pytest.mark.parametrize("name", MODELS)
def test_every_model_has_its_own_sums(tmp_path, name):
    X, y = labelled(2_000, n_classes=3)
    scan = sx.scan(written(tmp_path, X, y), target="y")
    plain = MODELS[name]().fit(scan)
    with sx.checkpoint(tmp_path / "fit.checkpoint"):
        kept = MODELS[name]().fit(scan)
    with sx.checkpoint(tmp_path / "fit.checkpoint", resume=True):
        resumed = MODELS[name]().fit(scan)
    for model in (kept, resumed):
        np.testing.assert_array_equal(model.decision_function(scan), plain.decision_function(scan))
