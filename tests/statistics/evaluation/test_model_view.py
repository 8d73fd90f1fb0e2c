"""Pipelines with a basis are looked at in the columns that came in, where the boundary is curved (docs/tour.md, B4)."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import separatrix as sx
from separatrix.output.plots.decision_regions import DecisionRegionsDisplay
from separatrix.statistics.view_plane import view_of

RNG = np.random.default_rng(0)
X = RNG.standard_normal((120, 2)) * [1.0, 3.0]
RING = np.digitize(np.hypot(X[:, 0], X[:, 1] / 3), [0.7, 1.4])

PHI = {
    "products": sx.Basis(["x0", "x1", "x0*x1", "x0*x0", "x1*x1"]),
    "quadratic": sx.quadratic(),
    "gaussian": sx.gaussian(10, width=1.0),
    "scikit-learn's": PolynomialFeatures(2),
    "scaled, then quadratic": make_pipeline(StandardScaler(), sx.quadratic()),
}


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("phi", PHI)
def test_a_basis_is_drawn_in_the_columns_that_came_in(phi, K):
    y = np.minimum(RING, K - 1)
    model = make_pipeline(PHI[phi], sx.LogisticRegression(C=10.0)).fit(X, y)
    shown = DecisionRegionsDisplay.from_estimator(model, X, y, ax=Figure().subplots())
    assert (shown.ax_.get_xlabel(), shown.ax_.get_ylabel()) == ("x0", "x1")
    np.testing.assert_array_equal(shown.points, X)
    np.testing.assert_array_equal(shown.wrong, model.predict(X) != y)
    first, second, lead = shown.leads
    grid = np.stack(np.meshgrid(first, second), axis=-1).reshape(-1, 2)
    sure = np.abs(lead).min(axis=0).ravel() > 1e-9
    np.testing.assert_array_equal(lead.argmax(axis=0).ravel()[sure], model.predict(grid)[sure])
    assert 0 < np.mean(lead[0] > 0) < 1


def test_the_boundary_of_xor_is_both_axes():  # B3, B4
    corners, y = np.array([[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]]), [-1, -1, 1, 1]
    model = make_pipeline(sx.Basis(["x0", "x1", "x0*x1"]), sx.LogisticRegression()).fit(corners, y)
    first, second, lead = DecisionRegionsDisplay.of(model, corners, y).leads
    product = np.outer(second, first)
    np.testing.assert_array_equal(lead[1][product != 0] > 0, product[product != 0] < 0)


def test_scalers_are_drawn_in_raw_units_and_names_are_kept():
    frame = pd.DataFrame(X * [1.0, 10.0] + 5.0, columns=["age", "income"])
    for steps in ((StandardScaler(),), (StandardScaler(), sx.quadratic())):
        model = make_pipeline(*steps, sx.LogisticRegression()).fit(frame, X[:, 0] > 0)
        shown = DecisionRegionsDisplay.from_estimator(model, frame, X[:, 0] > 0, ax=Figure().subplots())
        assert (shown.ax_.get_xlabel(), shown.ax_.get_ylabel()) == ("age", "income")
        np.testing.assert_array_equal(shown.points, frame.to_numpy())


def test_more_than_two_columns():
    wide = RNG.standard_normal((100, 4))
    y = (wide[:, 0] ** 2 + wide[:, 1] > 0.5).astype(int)
    bent = make_pipeline(StandardScaler(), sx.quadratic(), sx.LogisticRegression()).fit(wide, y)
    shown = DecisionRegionsDisplay.of(bent, wide, y)
    assert len(shown.plane.origin) == 4
    assert shown.plane.names[0] == "Fisher's axis"
    straight = make_pipeline(StandardScaler(), sx.LogisticRegression()).fit(wide, y)
    assert DecisionRegionsDisplay.of(straight, wide, y).regions is not None  # exact polygons, over scaled columns


def test_behind_a_tables_encoder_the_encoded_columns_are_drawn():
    frame = pd.DataFrame({"size": X[:, 0], "kind": np.where(X[:, 1] > 0, "a", "b")})
    y = (X[:, 0] ** 2 > 1).astype(int)
    model = make_pipeline(sx.TableEncoder(), sx.quadratic(), sx.LogisticRegression()).fit(frame, y)
    view = view_of(model, frame)
    assert view.X.shape == (120, 2)
    assert len(view.names) == 2
    np.testing.assert_array_equal(view.model.scorer_.predict(view.X), model.predict(frame))
    plain = make_pipeline(sx.TableEncoder(), sx.LogisticRegression()).fit(frame, y)
    assert view_of(plain, frame).model is plain[-1]
    probabilities = view.model.scorer_.probabilities(view.X)
    np.testing.assert_allclose(probabilities, model.predict_proba(frame))
    np.testing.assert_allclose(np.exp(view.model.scorer_.log_probabilities(view.X)), probabilities)
