"""What is drawn of a model has the values of the library."""

import numpy as np
import pytest

import separatrix as sx
from separatrix.teach.lab.shown_models import PROBABILITIES, probability_lines

BOX = (-9.0, 11.0, -6.0, 6.0)


@pytest.mark.parametrize("kind", [sx.LogisticRegression, sx.LinearDiscriminantAnalysis])
def test_lines_of_equal_probability_of_a_linear_model_are_straight(kind):
    model = kind().fit(*sx.lab.points("outlier"))
    found = probability_lines(model, BOX)
    assert [one["p"] for one in found] == list(PROBABILITIES)
    for one, traced in zip(found, sx.level_sets(model, BOX, PROBABILITIES), strict=True):
        assert np.shape(one["line"]) == (2, 2)
        assert model.predict_proba(one["line"])[:, 1] == pytest.approx(one["p"], abs=1e-3)
        ends = traced.curves[0][[0, -1]].tolist()
        np.testing.assert_allclose(sorted(one["line"]), sorted(ends), atol=1e-3)


def test_curved_ones_are_traced():
    model = sx.QuadraticDiscriminantAnalysis().fit(*sx.lab.points("outlier"))
    found = probability_lines(model, BOX)
    assert max(len(one["line"]) for one in found) > 10
    for one in found:
        assert model.predict_proba(one["line"])[:, 1] == pytest.approx(one["p"], abs=1e-2)


def test_models_without_probabilities_have_no_such_lines():
    assert probability_lines(sx.LinearSVC().fit(*sx.lab.points("outlier")), BOX) == []
