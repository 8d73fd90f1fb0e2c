"""Pictures of many classes: legends outside the data with a mark for every class, counts, intervals."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import separatrix as sx
from separatrix import plots
from separatrix.output.plots.decision_regions import MOST_CLASSES_IN_LEGEND
from separatrix.output.plots.display import marker
from separatrix.output.plots.roc import MOST_PANELS
from separatrix.output.theme import SHAPES, told_apart
from separatrix.statistics import coefficients as coefficients_module
from separatrix.statistics import influence
from separatrix.statistics.measures import answers
from separatrix.statistics.ranking import rankings

GLASS = ["building_float", "building_nonfloat", "vehicle_float", "containers", "tableware", "headlamps"]
LONG = ["a very long class label, strongly disagree with everything", "x" * 120, "$\\alpha$ 同意"]
NAMES = {"two": ["no", "yes"], "three, long": LONG, "six": GLASS, "twenty": [f"kind number {k}" for k in range(20)]}


def _drawn(names, n=400, d=2, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % len(names)
    angle = 2 * np.pi * np.arange(len(names)) / len(names)
    centres = 3 * np.column_stack([np.cos(angle), np.sin(angle)])[:, :d]
    return centres[codes] + rng.standard_normal((n, d)), np.array(names)[codes]


def _displays(names):
    X, y = _drawn(names)
    model = sx.LogisticRegression().fit(X, y)
    yield plots.CoefficientDisplay(coefficients_module.coefficients(model, X, y))
    yield plots.DecisionRegionsDisplay.of(model, X, y)
    yield plots.InfluenceDisplay.of(influence.influential(model, X, y, 10), model, y)
    yield plots.CalibrationDisplay(sx.reliability(model, X, y))
    yield from (kind(rankings(answers(model, X, y))) for kind in (plots.RocDisplay, plots.PrecisionRecallDisplay))


@pytest.mark.filterwarnings("ignore:Glyph .* missing")
@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
def test_a_legend_is_inside_the_picture_and_off_the_data(names):
    """matplotlib draws no mark outside its canvas, so each must be in it."""
    for display in _displays(names):
        figure = Figure(figsize=display.size, layout="constrained")
        ax = display.plot(figure.subplots()).ax_
        figure.draw_without_rendering()
        legend = ax.get_legend()
        if legend is None:
            continue
        whole, own, data = figure.bbox, legend.get_window_extent(), ax.get_window_extent()
        assert own.x0 >= whole.x0, type(display)
        assert own.x1 <= whole.x1, type(display)
        assert own.y0 >= whole.y0 - 1, type(display)
        assert own.y1 <= ax.xaxis.label.get_window_extent().y0, type(display)
        assert data.height > 0.3 * whole.height, type(display)
        assert data.width > 0.3 * whole.width, type(display)


def test_every_class_is_in_the_legend_with_a_mark_of_its_own():
    X, y = _drawn(NAMES["twenty"])
    model = sx.LogisticRegression().fit(X, y)
    for kind in (plots.CoefficientDisplay, plots.DecisionRegionsDisplay):
        legend = kind.from_estimator(model, X, y, ax=Figure().subplots()).ax_.get_legend()
        assert set(NAMES["twenty"]) <= {text.get_text() for text in legend.get_texts()}
        assert len(legend.legend_handles) == len(legend.get_texts())
    colours = len(plots.LIGHT.classes)
    assert len({(plots.LIGHT.of_class(k), marker(k)) for k in range(colours * len(SHAPES))}) == colours * len(SHAPES)
    assert "points of different shapes" in plots.DecisionRegionsDisplay.of(model, X, y).says
    assert "share both" in told_apart(colours * len(SHAPES) + 1)


def test_past_the_most_that_can_be_named_the_picture_says_so():
    X, y = _drawn([f"class {k:02}" for k in range(MOST_CLASSES_IN_LEGEND + 5)])
    shown = plots.DecisionRegionsDisplay.of(sx.LinearDiscriminantAnalysis().fit(X, y), X, y)
    assert len(shown.named) == MOST_CLASSES_IN_LEGEND
    assert f"{MOST_CLASSES_IN_LEGEND} of {MOST_CLASSES_IN_LEGEND + 5} classes are named" in shown.says


def test_a_legend_in_one_of_several_panels_keeps_to_it():
    X, y = _drawn(GLASS)
    left, right = Figure(figsize=(10, 4), layout="constrained").subplots(1, 2)
    plots.DecisionRegionsDisplay.from_estimator(sx.LogisticRegression().fit(X, y), X, y, ax=right)
    left.figure.draw_without_rendering()
    assert right.get_legend().get_window_extent().x0 > left.get_window_extent().x1


@pytest.mark.parametrize("K", [2, 6, 13, pytest.param(20, marks=pytest.mark.slow), 30])
@pytest.mark.parametrize("largest", [7, 12_345])
def test_every_count_of_a_confusion_matrix_can_be_read(K, largest):
    counts = np.arange(1, K * K + 1).reshape(K, K)
    counts[0, 0] = max(largest, K * K)
    shown = plots.ConfusionDisplay(counts, np.array([f"class {k}" for k in range(K)]))
    figure = Figure(figsize=shown.size, layout="constrained")
    shown.plot(figure.subplots())
    figure.draw_without_rendering()
    written = [text for text in shown.ax_.texts if "%" not in text.get_text()]
    assert sorted(int(text.get_text()) for text in written) == sorted(counts.ravel().tolist())
    cell = shown.ax_.get_window_extent().width / K
    assert all(text.get_window_extent().width <= cell for text in written)
    assert min(text.get_fontsize() for text in written) >= 5.5


@pytest.mark.parametrize("kind", [plots.RocDisplay, plots.PrecisionRecallDisplay])
@pytest.mark.parametrize("K", [2, 3, 6, 20])
def test_every_curve_has_its_band_and_the_interval_of_its_area(kind, K):
    X, y = _drawn([f"k{k}" for k in range(K)])
    shown = kind.from_estimator(sx.LogisticRegression().fit(X, y), X, y, ax=Figure().subplots())
    axes = [shown.ax_] if shown.together else shown.ax_.child_axes
    assert sum(len(ax.patches) + len(ax.collections) for ax in axes) == len(shown.curves)
    texts = [text.get_text() for text in shown.ax_.get_legend().get_texts()] if shown.together else []
    texts += [ax.get_title(loc="left") for ax in axes if not shown.together]
    for curve, told in zip(shown.curves, texts, strict=True):
        area, (low, high) = shown.area(curve)
        assert f"{area:.3f} ({low:.3f} to {high:.3f})" in told


def test_of_very_many_classes_those_told_apart_worst_are_drawn():
    X, y = _drawn([f"k{k:02}" for k in range(MOST_PANELS + 6)], n=900)
    shown = plots.RocDisplay(rankings(answers(sx.LinearDiscriminantAnalysis().fit(X, y), X, y)))
    assert len(shown.shown) == MOST_PANELS
    left_out = [curve.auc for curve in shown.curves if curve not in shown.shown]
    assert min(left_out) >= max(curve.auc for curve in shown.shown)


def test_names_of_classes_are_drawn_as_they_are():
    X, y = _drawn(["!", "$\\alpha$"])
    shown = plots.CalibrationDisplay.from_estimator(sx.LogisticRegression().fit(X, y), X, y, ax=Figure().subplots())
    assert shown.ax_.get_xlabel() == "predicted probability of \\$\\alpha\\$"
