"""Small dense tables are fitted without folds, and their bound is proved once, at the end.

The general path, which any other table takes, is the reference: the same status, the same weights, and a bound that is
never below the gap.
"""

import pickle
import warnings

import numpy as np
import pytest

import separatrix as sx
from separatrix.core import objective_sums
from separatrix.core.base.errors import NotConvergedWarning
from separatrix.core.base.watching import watch

EPS = np.finfo(float).eps


def _table(seed, K=2, n=60, d=3):
    """Overlapping classes: labels drawn with the probabilities of a linear model."""
    dice = np.random.default_rng(seed)
    X = dice.normal(size=(n, d))
    scores = X @ dice.normal(size=(d, K)) + dice.gumbel(size=(n, K))
    y = np.argmax(scores, axis=1)
    y[:K] = np.arange(K)
    return X, y, dice


def _settings(kind, seed):
    """X, y, the settings of the classifier, and the arguments of ``fit``."""
    X, y, dice = _table(seed, K=1 + int(kind[0]))
    settings, given = {}, {}
    what = kind[2:]
    if what == "weights":
        given["sample_weight"] = dice.choice([0.0, 0.5, 1.0, 7.0], len(y))
        given["sample_weight"][: y.max() + 1] = 1.0
    elif what == "offset":
        K = y.max() + 1
        given["offset"] = dice.normal(size=len(y) if K == 2 else (len(y), K))
    elif what == "class weights":
        settings["class_weight"] = {0: 10.0, 1: 0.1}
    elif what == "rank deficient":
        X = np.column_stack([X, X[:, 0], 2 * X[:, 1], np.full(len(y), 3.0)])
    elif what == "rank deficient, no penalty":
        X, settings["C"] = np.column_stack([X, X[:, 0]]), np.inf
    elif what == "separable, no penalty":
        X[:, 0], settings["C"] = y + 0.1 * X[:, 0] / np.abs(X[:, 0]).max(), np.inf
    elif what == "quasi-separable, no penalty":
        X[:, 0], settings["C"] = (y == 0) & (X[:, 1] > 0), np.inf
    elif what == "nearly separable, no penalty":
        X[:, 0], settings["C"] = y + 0.1 * X[:, 0] / np.abs(X[:, 0]).max(), np.inf
        y[0], y[1] = y[1], y[0]
    elif what == "offset columns":
        X = X + np.array([1e3, 1e6, -1e9])
    elif what == "large columns":
        X = X * 1e150
    elif what == "small columns":
        X = X * 1e-150
    elif what == "no intercept":
        settings["fit_intercept"] = False
    elif what == "penalty factors":
        settings["penalty_factors"] = [0.0, 1.0, 100.0]
    elif what == "few rows":
        X, y = X[: y.max() + 2], y[: y.max() + 2]
    elif what.startswith("C="):
        settings["C"] = float(what[2:])
    else:
        assert what == "plain"
    return X, y, settings, given


KINDS = (
    "plain",
    "weights",
    "offset",
    "class weights",
    "rank deficient",
    "rank deficient, no penalty",
    "separable, no penalty",
    "quasi-separable, no penalty",
    "nearly separable, no penalty",
    "offset columns",
    "large columns",
    "small columns",
    "no intercept",
    "penalty factors",
    "few rows",
    "C=1e-6",
    "C=1e-2",
    "C=1e2",
    "C=1e6",
    "C=inf",
)


def _fitted(X, y, settings, given):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = sx.LogisticRegression(**settings).fit(X, y, **given)
    return model, sorted(type(each.message).__name__ for each in said)


@pytest.mark.parametrize("kind", [f"{scores} {kind}" for scores in (1, 2) for kind in KINDS])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_small_fit_agrees_with_the_general_path(kind, seed, monkeypatch):
    X, y, settings, given = _settings(kind, seed)
    ours, we_warn = _fitted(X, y, settings, given)
    monkeypatch.setattr(objective_sums, "MOST_ENTRIES", -1)
    theirs, they_warn = _fitted(X, y, settings, given)
    mine, reference = ours.certificate_, theirs.certificate_
    assert (mine.code, mine.met, we_warn) == (reference.code, reference.met, they_warn)
    assert (mine.rank, mine.n_parameters, mine.solver) == (reference.rank, reference.n_parameters, reference.solver)
    np.testing.assert_allclose(mine.null_objective, reference.null_objective, rtol=1e-12)
    if not mine.met:
        return
    lowest = min(mine.objective, reference.objective)
    assert mine.bound is None or mine.bound >= mine.objective - lowest - 8 * EPS * lowest
    assert mine.weight_error is not None or reference.weight_error is None
    z, wanted = (model.decision_function(X) for model in (ours, theirs))
    np.testing.assert_allclose(z, wanted, rtol=1e-5, atol=1e-6 * (1 + np.abs(wanted).max()))
    if "offset" not in given:
        assert mine.verify(X, y, **given)


def test_the_bound_decides_the_end_and_is_proved_once():
    X, y, _ = _table(4)
    model = sx.LogisticRegression().fit(X, y)
    bounds = [record.bound for record in model.trace_]
    assert bounds[:-1] == [None] * (len(bounds) - 1)
    assert bounds[-1] == model.certificate_.bound <= 1e-8 * model.certificate_.null_objective


@pytest.mark.parametrize("K", [2, 3])
def test_watching_shows_bounds_and_changes_no_bit(K):
    X, y, _ = _table(5, K)
    alone, seen = sx.LogisticRegression().fit(X, y), []
    with watch(lambda stage, within: seen.append(stage)):
        watched = sx.LogisticRegression().fit(X, y)
    assert np.array_equal(alone.scorer_.W, watched.scorer_.W)
    assert alone.certificate_.bound == watched.certificate_.bound
    gaps = [stage.gap for stage in seen]
    assert None not in gaps
    assert gaps[-1] <= 1e-8 < gaps[0]


@pytest.mark.parametrize("K", [2, 4])
@pytest.mark.parametrize("max_iter", [0, 1, 2])
def test_a_run_that_is_cut_short_still_has_a_bound(K, max_iter):
    X, y, _ = _table(6, K)
    best = sx.LogisticRegression().fit(X, y).certificate_.objective
    with pytest.warns(NotConvergedWarning):
        cut = sx.LogisticRegression(max_iter=max_iter).fit(X, y).certificate_
    assert cut.code == "max_iter"
    assert cut.iterations == max_iter
    assert cut.bound >= cut.objective - best > 0


def test_a_tolerance_of_zero_goes_as_far_as_rounding_allows():
    X, y, _ = _table(7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exact = sx.LogisticRegression(tol=0.0).fit(X, y)
    np.testing.assert_allclose(exact.coef_, sx.LogisticRegression().fit(X, y).coef_, rtol=1e-6)
    assert len(exact.trace_) < 40


def test_a_fitted_small_table_is_pickled():
    X, y, _ = _table(8)
    model = sx.LogisticRegression().fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.certificate_.verify(X, y)
