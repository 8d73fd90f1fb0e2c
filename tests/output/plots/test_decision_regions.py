"""Pictures of decision regions: exact boundaries, rows, mistakes and outliers."""

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import separatrix as sx
from separatrix import plots
from separatrix.output.plots.decision_regions import boundaries

from .drawing import drawable, labelled_points


def test_regions_are_exact_for_linear_scores_and_contours_otherwise(ax):
    X, y = labelled_points(3, d=2)
    line = plots.DecisionRegionsDisplay.from_estimator(sx.LogisticRegression().fit(X, y), X, y, ax=ax)
    assert line.leads is None
    assert sum(region.area for region in line.regions) == pytest.approx(
        (line.box[1] - line.box[0]) * (line.box[3] - line.box[2])
    )
    curve = plots.DecisionRegionsDisplay.from_estimator(
        sx.QuadraticDiscriminantAnalysis().fit(X, y), X, y, ax=Figure().subplots()
    )
    assert curve.regions is None
    assert curve.leads[2].shape[0] == 3


def test_mistakes_are_ringed_in_ink(ax):
    X, y = labelled_points(2, d=1, n=500)
    model = sx.LogisticRegression().fit(X, y)
    shown = plots.DecisionRegionsDisplay.from_estimator(model, X, y, ax=ax)
    np.testing.assert_array_equal(shown.wrong, model.predict(X) != y)
    (rings,) = [c for c in ax.collections if c.get_label() == "mistake"]
    assert len(rings.get_offsets()) == shown.wrong.sum() > 0
    assert to_hex(rings.get_edgecolor()[0]) == plots.LIGHT.ink


def test_of_many_rows_a_sample_is_drawn_and_said(ax):
    X, y = labelled_points(3, d=4, n=5000)
    y[:20] = "rare"
    model = sx.LogisticRegression().fit(X, y)
    shown = drawable(plots.DecisionRegionsDisplay.from_estimator(model, X, y, most=200, ax=ax))
    assert "a random sample of 200 of 5,000 rows is drawn" in shown.says
    assert len(np.unique(shown.drawn)) == 200
    offsets = {c.get_label(): c.get_offsets() for c in ax.collections}
    np.testing.assert_array_equal(offsets.pop("mistake"), shown.points[shown.drawn][shown.wrong[shown.drawn]])
    np.testing.assert_array_equal(
        np.sort(np.concatenate([*offsets.values()]), axis=0), np.sort(shown.points[shown.drawn], axis=0)
    )
    again, other = (plots.DecisionRegionsDisplay.of(model, X, y, most=200, seed=seed) for seed in (0, 1))
    np.testing.assert_array_equal(again.drawn, shown.drawn)
    assert set(other.drawn) != set(shown.drawn)
    np.testing.assert_array_equal(plots.DecisionRegionsDisplay.of(model, X, y, most=5000).drawn, np.arange(5000))


@pytest.mark.parametrize("seed", range(12))
def test_no_boundary_is_lost(seed):
    """Along any line through the plot, the predicted class changes only at boundaries."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((9, 2)) * 4
    codes = np.arange(270) % 9
    X = centres[codes] + rng.standard_normal((270, 2))
    model = sx.LogisticRegression().fit(X, codes)
    shown = plots.DecisionRegionsDisplay.of(model, X, codes)
    edges = boundaries([region for region in shown.regions if not region.empty], shown.box)
    left, right, low, high = shown.box
    for height in rng.uniform(low, high, 5):
        x = np.linspace(left, right, 4001)
        predicted = model.predict(np.column_stack([x, np.full(4001, height)]))
        changes = x[np.flatnonzero(predicted[1:] != predicted[:-1])]
        a, b = edges[:, 0], edges[:, 1]
        over = (a[:, 1] - height) * (b[:, 1] - height) < 0
        crossed = a[over, 0] + (height - a[over, 1]) / (b[over, 1] - a[over, 1]) * (b[over, 0] - a[over, 0])
        step = 2 * (right - left) / 4000
        assert all(np.min(np.abs(crossed - change)) <= step for change in changes)


def test_boundaries_are_the_strongest_lines_and_not_the_frame(ax):
    X, y = labelled_points(3, d=2)
    for model in (sx.LogisticRegression(), sx.OneVsOneClassifier()):
        shown = plots.DecisionRegionsDisplay.from_estimator(model.fit(X, y), X, y, ax=Figure().subplots())
        edges = boundaries([region for region in shown.regions if not region.empty], shown.box)
        assert len(edges) >= 2
        side = 1e-7 * (shown.box[1] - shown.box[0])
        for edge in edges:
            across = np.array([[0.0, -1.0], [1.0, 0.0]]) @ (edge[1] - edge[0])
            beside = edge.mean(axis=0) + np.array([[1], [-1]]) * 1e-3 * across
            assert model.predict(beside)[0] != model.predict(beside)[1], edge
            assert np.all(np.abs(edge[:, 0] - shown.box[0]) > side) or edge[0, 0] != edge[1, 0]
    strongest = max(patch.get_linewidth() for patch in shown.ax_.patches)
    assert strongest > max(float(np.max(c.get_linewidths())) for c in shown.ax_.collections)


def test_an_outlier_does_not_squash_the_picture(ax):
    X, y = labelled_points(2, d=2, n=500)
    X[0] = [1e6, -1e6]
    shown = plots.DecisionRegionsDisplay.from_estimator(sx.LogisticRegression().fit(X, y), X, y, ax=ax)
    assert shown.box[1] - shown.box[0] < 100
    assert "outside the plot" in shown.says
