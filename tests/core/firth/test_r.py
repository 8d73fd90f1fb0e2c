"""Against R's brglm2, for two classes and for more. Numbers by tests/r/inference.R."""

import json
from pathlib import Path

import numpy as np
import pytest

import separatrix as sx

R = json.loads((Path(__file__).parents[2] / "r" / "inference.json").read_text())


def fitted(X, y, count):
    model = sx.LogisticRegression(bias_reduction="firth", tol=1e-10).fit(X, y, count)
    assert model.certificate_.met
    return model


@pytest.mark.parametrize("name", ["lizards", "endometrial"])
def test_two_classes_as_brglm_fit(name):
    X, y, count = (np.array(R[name][part]) for part in ("X", "y", "weights"))
    model = fitted(X, y, count)
    found = sx.summary(model, X, y, sample_weight=count, weights="frequency")
    np.testing.assert_allclose(found.coef, R[name]["coef"], rtol=1e-8)
    np.testing.assert_allclose(found.std_err, R[name]["std_err"], rtol=1e-8)


def test_five_classes_as_brmultinom():
    X, y, count = (np.array(R["alligators"][part]) for part in ("X", "y", "weights"))
    without_gender = X[:, :-1]
    model = fitted(without_gender, y, count)
    reference = R["alligators"]["classes"][0]
    found = sx.summary(model, without_gender, y, sample_weight=count, weights="frequency", reference=reference)
    order = [found.classes.index(label) for label in R["alligators"]["classes"][1:]]
    np.testing.assert_allclose(found.coef[order], R["alligators"]["coef"], rtol=1e-7)
    np.testing.assert_allclose(found.std_err[order], R["alligators"]["std_err"], rtol=1e-7)


def test_five_classes_with_cells_that_are_empty_as_brmultinom():
    """With gender as well 24 of the 80 counts are zero."""
    X, y, count = (np.array(R["alligators"][part]) for part in ("X", "y", "weights"))
    model = fitted(X, y, count)
    W = np.column_stack([model.intercept_, model.coef_])
    order = [model.classes_.tolist().index(label) for label in R["alligators"]["classes"]]
    contrast = W[order[1:]] - W[order[0]]
    np.testing.assert_allclose(contrast, R["alligators"]["coef_with_gender"], rtol=1e-7)
