"""Profile intervals against R's, by deviance = minimum + χ². Numbers by tests/r/inference.R."""

import json
from pathlib import Path

import numpy as np
import pytest

import separatrix as sx

R = json.loads((Path(__file__).parents[2] / "r" / "inference.json").read_text())


@pytest.mark.parametrize("name", ["birthwt", "lizards_profiles"])
def test_profile_intervals_as_glm(name):
    given = R[name]
    X, y, count = (np.array(given[part]) for part in ("X", "y", "weights"))
    model = sx.LogisticRegression(np.inf, tol=1e-12).fit(X, y, count)
    found = sx.summary(model, X, y, sample_weight=count, weights="frequency", intervals="profile")
    np.testing.assert_allclose(found.coef, given["coef"], rtol=1e-8)
    np.testing.assert_allclose(found.std_err, given["std_err"], rtol=1e-7)
    assert found.log_likelihood == pytest.approx(given["log_likelihood"], rel=1e-12)
    np.testing.assert_allclose(found.low, given["low"], rtol=1e-8)
    np.testing.assert_allclose(found.high, given["high"], rtol=1e-8)
    # confint reads its ends off a spline through the profile, which leaves them three to five digits.
    np.testing.assert_allclose(np.column_stack([found.low, found.high]), given["confint"], rtol=1e-3)
