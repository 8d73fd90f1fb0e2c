"""Curves of the objective and of the gap by iteration."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import separatrix as sx
from separatrix import plots
from separatrix.core.base.errors import ParameterError

from .drawing import drawable, labelled_points


def test_loss_and_gap_by_iteration(ax):
    X, y = labelled_points(2)
    model = sx.LogisticRegression().fit(X, y)
    shown = plots.LossDisplay.from_estimator(model, ax=ax)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), [record.value for record in model.trace_])
    gap = drawable(plots.LossDisplay.from_estimator(model, gap=True, ax=Figure().subplots()))
    best = model.certificate_.objective
    assert np.all(gap.ax_.lines[0].get_ydata() >= shown.runs[0].value - best)
    assert gap.ax_.get_yscale() == "log"


@pytest.mark.filterwarnings("ignore::separatrix.core.base.errors.NotConvergedWarning")
def test_several_searches_are_several_curves(ax):
    X, y = labelled_points(3)
    shown = plots.LossDisplay.from_estimator(sx.Perceptron(max_iter=20).fit(X, y), ax=ax)
    assert [run.name for run in shown.runs] == ["no", "perhaps", "yes"]
    parts = plots.LossDisplay.from_estimator(sx.OneVsRestClassifier().fit(X, y), ax=Figure().subplots())
    assert len(parts.runs) == 3
    with pytest.raises(ParameterError, match="not fitted by an iterative solver"):
        plots.LossDisplay.from_estimator(sx.LinearDiscriminantAnalysis().fit(X, y))


@pytest.mark.filterwarnings("ignore::separatrix.core.base.errors.NotConvergedWarning")
def test_a_walk_that_spared_its_costs_shows_what_it_met(ax, monkeypatch):
    X, y = labelled_points(3)
    known = plots.LossDisplay.from_estimator(sx.Perceptron(max_iter=20).fit(X, y), ax=Figure().subplots())
    assert known.ax_.get_ylabel() == "objective"
    monkeypatch.setattr("separatrix.core.solvers.perceptron_updates.MOST_SURVEYED_ENTRIES", 0)
    model = sx.Perceptron(max_iter=20).fit(X, y)
    shown = drawable(plots.LossDisplay.from_estimator(model, ax=ax))
    assert ax.get_ylabel() == "mean cost during the epoch"
    assert [run.name for run in shown.runs] == ["no", "perhaps", "yes"]
    met = [record.met for record in model.trace_ if record.met is not None]
    np.testing.assert_array_equal(np.concatenate([run.value for run in shown.runs]), met)


def test_a_search_that_ended_where_it_began_says_so(ax):
    X, y = labelled_points(2)
    model = sx.LogisticRegression("auto").fit(X, y)
    assert len(model.trace_) == 1
    shown = drawable(plots.LossDisplay.from_estimator(model, ax=ax))
    assert [text.get_text() for text in shown.ax_.texts] == ["the solver stopped at its starting point"]
