"""Weights in the units of the table: the same scores, odds that multiply, references that are named."""

import numpy as np
import pandas as pd
import pytest

import separatrix as sx
from separatrix.classifiers.model_file import ModelFile
from separatrix.statistics.fit_statistics import fit_statistics
from separatrix.statistics.weights_and_odds_ratios import weight_table
from separatrix.tables.read_table import read_raw

RNG = np.random.default_rng(3)
N = 160
FRAME = pd.DataFrame(
    {
        "age": RNG.normal(40, 12, N),
        "income": RNG.lognormal(10, 1, N),
        "city": np.array(["Brno", "Kyiv", "Zlin"])[RNG.integers(0, 3, N)],
        "y": np.array(["a", "b", "c"])[RNG.integers(0, 3, N)],
    }
)
TWO = FRAME.assign(y=np.where(FRAME["age"] + 9 * (FRAME["city"] == "Kyiv") + RNG.normal(0, 15, N) > 43, "yes", "no"))


def tables(frame):
    raw = read_raw(frame, "y")
    return raw.learned(), raw.learned(standardise=True)


@pytest.mark.parametrize("frame", [TWO, FRAME], ids=["two", "three"])
@pytest.mark.parametrize("kind", [sx.LogisticRegression, sx.LinearDiscriminantAnalysis, sx.LeastSquaresClassifier])
def test_weights_per_unit_score_the_table_as_it_is(frame, kind):
    plain, scaled = tables(frame)
    model = kind().fit(scaled.X, scaled.y)
    found = weight_table(model.scorer_of(), scaled.names, scaled.scaling, scaled.encoder)
    scores = plain.X @ found.per_unit[:, 1:].T + found.per_unit[:, 0]
    np.testing.assert_allclose(np.squeeze(scores), model.decision_function(scaled.X), atol=1e-9)
    assert found.references == {"city": "Brno"}
    assert found.compared == ("", "", "Brno", "Brno")
    numbers = found.per_deviation[:, 1:3]
    np.testing.assert_allclose(numbers, found.per_unit[:, 1:3] * plain.X[:, :2].std(axis=0), rtol=1e-9)
    assert np.isnan(found.per_deviation[:, [0, 3, 4]]).all()
    assert (found.ratio is None) == (kind is sx.LeastSquaresClassifier)


@pytest.mark.parametrize("frame", [TWO, FRAME], ids=["two", "three"])
def test_an_odds_ratio_multiplies_the_odds(frame):
    """One unit more of a column: the odds of each class against the baseline, from the probabilities themselves."""
    plain, scaled = tables(frame)
    model = sx.LogisticRegression().fit(scaled.X, scaled.y)
    found = weight_table(model.scorer_of(), scaled.names, scaled.scaling, scaled.encoder)
    ratios = found.ratios(found.per_unit)
    assert found.baseline == model.classes_[0]
    for j in range(plain.X.shape[1]):
        more = plain.X.copy()
        more[:, j] += 1
        P, Q = (model.predict_proba(scaled.scaling.apply(X)) for X in (plain.X, more))
        odds = (Q[:, 1:] / Q[:, :1]) / (P[:, 1:] / P[:, :1])
        np.testing.assert_allclose(odds, np.tile(ratios[:, 1 + j], (N, 1)), rtol=1e-7)


def test_no_odds_without_log_odds():
    plain, _ = tables(TWO)
    for model in (sx.LeastSquaresClassifier(), sx.LinearSVC(), sx.LogisticRegression(loss="probit")):
        found = weight_table(model.fit(plain.X, plain.y).scorer_of(), plain.names)
        assert (found.ratio, found.baseline, found.per_deviation) == (None, None, None)


@pytest.mark.parametrize("settings", [{"C": np.inf}, {"bias_reduction": "firth"}], ids=["ml", "firth"])
def test_statistics_do_not_depend_on_units(settings):
    plain, scaled = tables(TWO)
    in_units, of_scaled = (
        fit_statistics(sx.LogisticRegression(**settings, tol=1e-12).fit(t.X, t.y), t.X, t.y, t.names, t.scaling)
        for t in (plain, scaled)
    )
    for name in ("coef", "std_err", "p_value", "low", "high"):
        np.testing.assert_allclose(getattr(of_scaled, name), getattr(in_units, name), rtol=1e-4)
    assert of_scaled.intervals == ("wald" if "C" in settings else "profile")
    intervals = of_scaled.intervals
    told = sx.summary(sx.LogisticRegression(**settings).fit(plain.X, plain.y), plain.X, plain.y, intervals=intervals)
    np.testing.assert_allclose(of_scaled.std_err[0], told.std_err, rtol=1e-4)
    np.testing.assert_allclose(of_scaled.low[0], told.low, rtol=1e-3)


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (sx.LogisticRegression(), "the fit is penalised (C=1)"),
        (sx.LeastSquaresClassifier(), "does not maximise one likelihood"),
        (sx.LinearSVC(), "does not maximise one likelihood"),
    ],
)
def test_why_there_are_none(model, why):
    plain, _ = tables(TWO)
    found = fit_statistics(model.fit(plain.X, plain.y), plain.X, plain.y, plain.names)
    assert why in found.withheld
    assert found.coef.shape == (0, 0)


@pytest.mark.parametrize("frame", [TWO, FRAME], ids=["two", "three"])
@pytest.mark.parametrize("C", [1.0, np.inf])
def test_a_model_file_keeps_them(frame, C):
    plain, _ = tables(frame)
    model = sx.LogisticRegression(C=C).fit(plain.X, plain.y)
    before = fit_statistics(model, plain.X, plain.y, plain.names)
    kept = ModelFile.of(model, plain.names, encoder=plain.encoder, statistics=before)
    after = ModelFile.from_content(kept.content()).statistics
    assert list(vars(after)) == list(vars(before))
    for name, value in vars(before).items():
        np.testing.assert_equal(getattr(after, name), str(value) if isinstance(value, str) else value)
