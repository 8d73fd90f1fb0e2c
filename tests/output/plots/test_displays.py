"""Displays: for every classifier where they apply, with the numbers of the modules behind them."""

import subprocess
import sys
from dataclasses import replace
from itertools import pairwise

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from scipy.sparse import csr_array
from sklearn.metrics import confusion_matrix, roc_curve
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import separatrix as sx
from separatrix import plots
from separatrix.classifiers import CLASSIFIERS
from separatrix.core.base.errors import ParameterError
from separatrix.output.plots.display import plain
from separatrix.statistics import coefficients as coefficients_module

from .drawing import drawable, labelled_points


@pytest.mark.filterwarnings("ignore::separatrix.core.base.errors.NotConvergedWarning")
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_every_classifier_can_be_drawn(name, K):
    X, y = labelled_points(K)
    model = CLASSIFIERS[name]().fit(X, y)
    kinds = [plots.RocDisplay, plots.PrecisionRecallDisplay, plots.ConfusionDisplay, plots.DecisionRegionsDisplay]
    kinds += [plots.CoefficientDisplay] if hasattr(model, "coef_") else []
    kinds += [plots.CalibrationDisplay] if hasattr(model, "predict_proba") else []
    for kind in kinds:
        shown = drawable(kind.from_estimator(model, X, y, ax=Figure().subplots()))
        assert shown.ax_.figure is shown.figure_
        assert shown.ax_.get_xlabel()


def test_roc_draws_the_curve_and_names_its_area(ax):
    X, y = labelled_points(2)
    model = sx.LinearDiscriminantAnalysis().fit(X, y)
    shown = drawable(plots.RocDisplay.from_estimator(model, X, y, ax=ax))
    fpr, tpr, _ = roc_curve(y == "yes", model.decision_function(X))
    line = ax.lines[1].get_xydata()
    assert {tuple(p) for p in np.column_stack([fpr, tpr]).round(12)} <= {tuple(p) for p in line.round(12)}
    low, high = shown.curves[0].auc_interval()
    assert ax.lines[1].get_label() == f"area {shown.curves[0].auc:.3f} ({low:.3f} to {high:.3f})"
    again = plots.RocDisplay.from_predictions(y, model.decision_function(X), of="yes", ax=Figure().subplots())
    assert again.curves[0].auc == shown.curves[0].auc
    with pytest.raises(ParameterError, match="band"):
        plots.RocDisplay.from_estimator(model, X, y, band="wide", ax=ax)


def test_precision_recall_from_predictions_and_simultaneous_bands(ax):
    X, y = labelled_points(2)
    z = sx.LogisticRegression().fit(X, y).decision_function(X)
    shown = plots.PrecisionRecallDisplay.from_predictions(y, z, of="yes", band="simultaneous", ax=ax)
    assert "simultaneous 95 % band" in ax.get_legend().get_title().get_text()
    assert shown.curves[0].average_precision > 0.5


def test_models_of_others_and_pipelines(ax):
    X, y = labelled_points(2)
    assert plots.ConfusionDisplay.from_estimator(GaussianNB().fit(X, y), X, y, ax=ax).counts.sum() == 90
    pipe = make_pipeline(StandardScaler(), sx.LogisticRegression()).fit(X, y)
    assert plots.RocDisplay.from_estimator(pipe, X, y, ax=Figure().subplots()).curves[0].auc > 0.5


def test_confusion_against_scikit_learn(ax):
    X, y = labelled_points(3)
    model = sx.LogisticRegression().fit(X[:, :1], y)
    shown = plots.ConfusionDisplay.from_estimator(model, X[:, :1], y, ax=ax)
    np.testing.assert_array_equal(shown.counts, confusion_matrix(y, model.predict(X[:, :1])))
    written = {text.get_text() for text in ax.texts}
    assert str(shown.counts[0, 0]) in written
    assert f"{100 * shown.counts[0, 0] / 30:.0f} %" in written
    many = plots.ConfusionDisplay(np.eye(40, dtype=np.int64), np.arange(40)).plot(Figure().subplots())
    assert len(many.shown) == 30


def test_coefficients_with_and_without_intervals(ax):
    X, y = labelled_points(2, seed=1)
    X = X + 3 * np.random.default_rng(1).standard_normal(X.shape)
    sure = plots.CoefficientDisplay.from_estimator(sx.LogisticRegression(C=np.inf).fit(X, y), X, y, ax=ax)
    assert sure.found.has_intervals
    assert ax.get_xlabel() == "odds ratio of yes against no"
    ends = [line.get_xdata() for line in ax.lines if len(line.get_xdata()) == 2][1:]
    np.testing.assert_allclose(ends[0], [sure.found.low[0, sure.shown[0]], sure.found.high[0, sure.shown[0]]])
    other = Figure().subplots()
    held = plots.CoefficientDisplay.from_estimator(sx.LogisticRegression().fit(X, y), X, y, top=2, ax=other)
    assert not held.found.has_intervals
    assert len(other.get_yticklabels()) == 2
    assert other.get_xlabel().startswith("weight per step")


def test_weights_of_zero_are_left_out_and_infinite_ones_are_arrows(ax):
    X, y = labelled_points(2)
    lasso = sx.LogisticRegression(C=0.1, l1_ratio=1.0).fit(X, y)
    shown = plots.CoefficientDisplay.from_estimator(lasso, X, y, ax=ax)
    assert 0 < len(shown.shown) == np.count_nonzero(lasso.coef_) < 4
    found = shown.found
    value = found.value.copy()
    value[0, 0] = np.inf
    held = found.__class__(**{**found.__dict__, "value": value})
    drawn = drawable(plots.CoefficientDisplay(held).plot(Figure().subplots()))
    assert any(line.get_marker() == ">" for line in drawn.ax_.lines)


def test_calibration_has_the_reliability_and_its_intervals(ax):
    X, y = labelled_points(2, n=400)
    model = sx.LogisticRegression().fit(X[:, :1], y)
    shown = drawable(plots.CalibrationDisplay.from_estimator(model, X[:, :1], y, n_bins=5, ax=ax))
    np.testing.assert_allclose(shown.found.observed, sx.reliability(model, X[:, :1], y, n_bins=5).observed)
    assert ax.get_xlabel() == "predicted probability of yes"
    assert ax.child_axes[0].get_ylabel() == "rows"


def test_influence_and_the_choice_of_C(ax):
    X, y = labelled_points(2)
    model = sx.LogisticRegression("auto").fit(X, y)
    shown = drawable(plots.InfluenceDisplay.from_estimator(model, X, y, top=4, ax=ax))
    assert [tick.get_text() for tick in ax.get_yticklabels()] == [f"row {row}" for row in shown.found.rows]
    path = drawable(plots.PenaltyPathDisplay.from_estimator(model, ax=Figure().subplots()))
    np.testing.assert_array_equal(path.ax_.lines[0].get_xdata(), model.penalty_choice_.Cs)
    with pytest.raises(ParameterError, match='C="auto"'):
        plots.PenaltyPathDisplay.from_estimator(sx.LogisticRegression().fit(X, y))


@pytest.mark.filterwarnings("ignore::separatrix.core.base.errors.NotConvergedWarning")
@pytest.mark.parametrize("K", [2, 3])
def test_every_display_tells_its_numbers(K):
    X, y = labelled_points(K)
    model = sx.LogisticRegression("auto").fit(X, y)
    for name in plots.__all__:
        if name.endswith("Display") and name != "Display" and (K == 2 or name != "ThresholdDisplay"):
            told = getattr(plots, name).from_estimator(model, X, y, ax=Figure().subplots()).alternative
            assert sum(character.isdigit() for character in told) >= 2, name
            assert told.endswith("."), name


def test_thresholds_have_their_precision_recall_and_cost(ax):
    X, y = labelled_points(2, n=400)
    model = sx.LogisticRegression().fit(X[:, :1], y)
    shown = drawable(plots.ThresholdDisplay.from_estimator(model, X[:, :1], y, cost={"FP": 1, "FN": 3}, ax=ax))
    p, positive = model.predict_proba(X[:, :1])[:, 1], y == "yes"
    thresholds = np.array([0.1, 0.25, 0.8])
    precision, recall, cost = shown.at(thresholds)
    for k, threshold in enumerate(thresholds):
        chosen = p >= threshold
        assert precision[k] == pytest.approx(positive[chosen].mean())
        assert recall[k] == pytest.approx(chosen[positive].mean())
        assert cost[k] == pytest.approx(np.mean((chosen & ~positive) + 3 * (~chosen & positive)))
    assert shown.threshold == 0.25
    assert shown.cost.mean == pytest.approx(cost[1])
    with pytest.raises(ParameterError, match="3 classes"):
        plots.ThresholdDisplay.from_estimator(sx.LogisticRegression().fit(*labelled_points(3)), *labelled_points(3))
    with pytest.raises(ParameterError, match="it is not a model of P"):
        plots.ThresholdDisplay.from_estimator(sx.LinearSVC().fit(X, y), X, y)


def test_distributions_are_shares_of_each_class(ax):
    X, y = labelled_points(3, n=300)
    X = np.column_stack([X, np.arange(300) % 2, np.full(300, 7.0)])
    X[0, 0] = 1e4
    model = sx.LogisticRegression().fit(X, y)
    shown = drawable(plots.DistributionDisplay.from_estimator(model, X, y, ax=ax))
    largest = coefficients_module.coefficients(model, X, y).largest(
        5
    )  # the sixth column is constant: its weight is zero
    assert [one.name for one in shown.found] == [f"x{j}" for j in largest]
    for one in shown.found:
        np.testing.assert_allclose(one.shares.sum(axis=1), 1.0)
    first = next(one for one in shown.found if one.name == "x0")
    assert first.edges[-1] < 100
    binary = next(one for one in shown.found if one.name == "x4")
    assert binary.levels.tolist() == [0.0, 1.0]
    np.testing.assert_allclose(binary.shares[0, 1], X[y == "no", 4].mean())
    assert 0.0 <= first.overlap <= 1.0
    sparse = csr_array(X)
    again = plots.DistributionDisplay.from_estimator(model, sparse, y, ax=Figure().subplots())
    np.testing.assert_array_equal(again.found[0].shares, shown.found[0].shares)
    curved = sx.QuadraticDiscriminantAnalysis(shrinkage=0.5).fit(X[1:, :4], y[1:])
    assert len(plots.DistributionDisplay.from_estimator(curved, X[1:, :4], y[1:], ax=Figure().subplots()).found) == 4


def test_several_classes_have_a_panel_each_in_their_colour(ax):
    X, y = labelled_points(3)
    model = sx.LogisticRegression().fit(X, y)
    kept = y != "no"
    shown = drawable(plots.RocDisplay.from_estimator(model, X[kept], y[kept], ax=ax))
    colours = [to_hex(panel.lines[1].get_color()) for panel in ax.child_axes]
    assert colours == [plots.LIGHT.of_class(k) for k in (1, 2)]
    assert [panel.get_title(loc="left").split("\n")[0] for panel in ax.child_axes] == ["perhaps", "yes"]
    assert "perhaps: area" in shown.alternative


def test_themes_follow_the_paper():
    X, y = labelled_points(2)
    model = sx.LogisticRegression().fit(X, y)
    for theme in (plots.LIGHT, plots.DARK):
        with plots.style(theme.name):
            shown = plots.RocDisplay.from_estimator(model, X, y, ax=Figure().subplots())
        assert to_hex(shown.ax_.lines[1].get_color()) == theme.ink
    assert matplotlib.rcParams["figure.facecolor"] == matplotlib.rcParamsDefault["figure.facecolor"]
    with pytest.raises(ParameterError, match="theme: got 'sepia'"), plots.style("sepia"):
        pass


def test_a_new_figure_is_pyplots():
    from matplotlib import pyplot

    shown = plots.ConfusionDisplay.from_predictions(["a", "b"], ["a", "a"])
    assert pyplot.gcf() is shown.figure_
    pyplot.close(shown.figure_)


@pytest.mark.parametrize("name", ["$", "a$b$c", r"a\$b", "x" * 300, "a\nb\x00c", "naïve & <b>", "$\\frac{1}{0}$"])
def test_names_are_text_and_never_mathematics(name, ax):
    ax.set_title(plain(name))
    ax.figure.draw_without_rendering()
    assert len(plain(name).replace("\\$", "$")) <= 26


def test_nothing_below_loads_matplotlib():
    code = (
        "import sys, separatrix as sx, separatrix.statistics, separatrix.statistics.measures\n"
        "model = sx.LogisticRegression().fit([[0.0], [1.0], [2.0]], [0, 1, 0])\n"
        "separatrix.statistics.measures.answers(model, [[0.0]], [0])\n"
        "print('matplotlib' in sys.modules)\n"
        "sx.plots\n"
        "print('matplotlib' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.split() == ["False", "True"]


def test_notebooks_show_the_certificate():
    model = sx.LogisticRegression().fit([[0.0], [1.0], [2.0]], ["<b>", "c", "c"])
    shown = model._repr_mimebundle_()["text/html"]
    assert model.certificate_.status.split(":")[0] in shown
    assert "solver:" in shown
    assert "solver:" not in sx.LogisticRegression()._repr_html_()
    with pytest.warns(sx.errors.SeparationWarning):
        apart = sx.LogisticRegression(C=np.inf).fit([[0.0], [1.0]], ["<i>", "c"])
    assert "<i>" not in apart._repr_html_()


def test_every_display_takes_a_pipeline():
    """With rows as the pipeline takes them, and columns by the names that its steps give them."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {"age": rng.normal(size=80), "sex": rng.choice(["f", "m", "x"], 80), "pay": rng.normal(size=80)}
    )
    y = np.where(frame["age"] + rng.normal(size=80) > 0, "yes", "no")
    model = make_pipeline(sx.TableEncoder(), StandardScaler(), sx.LogisticRegression("auto")).fit(frame, y)
    X = model[:-1].transform(frame)
    for name in plots.__all__:
        if name.endswith("Display") and name != "Display":
            drawable(getattr(plots, name).from_estimator(model, frame, y, ax=Figure().subplots()))
    shown = plots.CoefficientDisplay.from_estimator(model, frame, y, ax=Figure().subplots())
    assert set(shown.found.names) == set(model[0].get_feature_names_out())
    assert np.array_equal(shown.found.value, plots.CoefficientDisplay.from_estimator(model[-1], X, y).found.value)
    most = plots.InfluenceDisplay.from_estimator(model, frame, y, ax=Figure().subplots()).found.rows
    assert np.array_equal(most, plots.InfluenceDisplay.from_estimator(model[-1], X, y).found.rows)


@pytest.mark.parametrize(("low", "high"), [(0.3, 2.0), (0.61, 0.93), (0.02, 1.5), (1e-6, 1e6)])
def test_tick_labels_of_the_penalty_path_do_not_overlap(low, high):
    X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
    choice = sx.LogisticRegression("auto").fit(X, y).penalty_choice_
    Cs = np.geomspace(low, high, len(choice.Cs))
    display = plots.PenaltyPathDisplay(replace(choice, Cs=Cs, C=float(Cs[0])))
    figure = Figure(figsize=display.size, layout="constrained")
    display.plot(figure.subplots())
    figure.draw_without_rendering()
    labels = [tick.label1 for tick in (*display.ax_.xaxis.get_major_ticks(), *display.ax_.xaxis.get_minor_ticks())]
    left, right = display.ax_.get_xlim()
    places = [
        label.get_window_extent() for label in labels if label.get_text() and left <= label.get_position()[0] <= right
    ]
    places.sort(key=lambda place: place.x0)
    assert len(places) > 1
    assert all(a.x1 < b.x0 for a, b in pairwise(places))


@pytest.mark.parametrize("kind", [sx.plots.RocDisplay, sx.plots.CalibrationDisplay, sx.plots.ConfusionDisplay])
def test_the_last_line_of_a_notebook_cell_prints_one_line(kind):
    X, y = np.arange(12.0)[:, None], np.arange(12) % 3 > 0
    text = repr(kind.from_estimator(sx.LogisticRegression().fit(X, y), X, y))
    assert kind.__name__ in text
    assert len(text) < 100
    assert "\n" not in text
