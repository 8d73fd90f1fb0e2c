"""What would mislead is refused in a sentence; what is bad input is named."""

import warnings

import numpy as np
import pytest

import separatrix as sx
from separatrix.core.base.errors import InputError, NotConvergedWarning, ParameterError, WeightError

from .test_recession import endometrial
from .test_summary import drawn, fitted, same, summarised


@pytest.mark.parametrize("settings", [{"C": 1.0}, {"C": 1.0, "l1_ratio": 1.0}, {"C": 1e6, "l1_ratio": 0.5}])
def test_penalised_fits_have_coefficients_alone(settings):
    X, y = drawn()
    model = sx.LogisticRegression(**settings).fit(X, y)
    found = sx.summary(model, X, y)
    same(found.coef, [*model.intercept_, *model.coef_[0]])
    for values in (found.std_err, found.p_value, found.low, found.ratio_high, found.covariance):
        assert np.isnan(values).all()
    assert np.isnan([found.aic, found.bic, found.lr_statistic, found.lr_p_value]).all()
    assert "penalised" in str(found)
    assert "penalised" in found.to_dict()["withheld"]
    z = X @ model.coef_[0] + model.intercept_[0]
    assert found.log_likelihood == pytest.approx(-np.sum(np.logaddexp(0, np.where(y == 1, -z, z))), rel=1e-9)
    with pytest.raises(ParameterError, match="penalised"):
        found.marginal_effects()


def test_a_penalty_on_no_column_is_none():
    X, y = drawn()
    model = sx.LogisticRegression(1.0, penalty_factors=np.zeros(3)).fit(X, y)
    same(sx.summary(model, X, y).std_err, summarised(X, y).std_err)


def test_class_weights_need_a_sandwich():
    X, y = drawn()
    model = sx.LogisticRegression(np.inf, class_weight={1: 3.0}).fit(X, y)
    found = sx.summary(model, X, y)
    assert np.isnan(found.std_err).all()
    assert "class weights" in found.withheld
    robust = sx.summary(model, X, y, covariance="HC0")
    w, x = np.where(y == 1, 3.0, 1.0), np.column_stack([np.ones(len(y)), X])
    p = 1 / (1 + np.exp(-x @ robust.coef))
    H = np.linalg.inv((w * p * (1 - p) * x.T) @ x)
    same(robust.std_err, np.sqrt(np.diag(H @ ((w * (y - p)) ** 2 * x.T @ x) @ H)), rtol=1e-8)
    assert np.isnan(robust.aic)
    assert robust.prior_corrected_intercept[0] == pytest.approx(robust.coef[0] - np.log(3), rel=1e-6)
    assert "prior-corrected" in str(robust)
    written = robust.to_dict()
    assert written["raw_intercept"][0] - written["prior_corrected_intercept"][0] == pytest.approx(np.log(3), rel=1e-5)
    assert "decision.prior_corrected" in str(robust)
    probit = sx.LogisticRegression(np.inf, class_weight={1: 3.0}, loss="probit").fit(X, y)
    assert "decision.reweighed" in str(sx.summary(probit, X, y, covariance="HC0"))


def test_firth_is_exempt():
    X, y = endometrial()
    model = sx.LogisticRegression(bias_reduction="firth").fit(X, y)
    found = sx.summary(model, X, y, intervals="profile")
    x = np.column_stack([np.ones(len(y)), X])
    p = 1 / (1 + np.exp(-x @ found.coef))
    same(found.std_err, np.sqrt(np.diag(np.linalg.inv((p * (1 - p) * x.T) @ x))), rtol=1e-7)
    same([found.low[1], found.high[1]], sx.firth.profile(model, X, y, "NV"), rtol=1e-7)
    problem, W = sx.firth.posed_again(model, X, y)
    same(found.p_value, [sx.firth.penalised_test(problem, W, [j])[1] for j in range(4)], rtol=1e-10)
    assert found.p_value[1] == pytest.approx(0.0091, abs=5e-5)  # logistf's
    assert np.isnan(found.aic)
    assert found.withheld is None


def test_other_rows_are_refused_with_the_certificates_sentence():
    X, y = drawn()
    model = fitted(X, y)
    for rows, labels, given in (
        (X, 1 - y, {}),
        (X + 0.1, y, {}),
        (X[:-1], y[:-1], {}),
        (X, y, {"sample_weight": 1.0 + (np.arange(len(y)) > 9), "weights": "frequency"}),
        (X, y, {"offset": np.arange(len(y)) / 50.0}),
    ):
        with pytest.raises(InputError, match="does not hold: the objective is"):
            sx.summary(model, rows, labels, **given)


@pytest.mark.parametrize(
    "model", [sx.LogisticRegression(), sx.LinearDiscriminantAnalysis().fit(*drawn()), sx.Perceptron(), None, "model"]
)
def test_other_models_are_refused(model):
    with pytest.raises(ParameterError, match="fitted LogisticRegression"):
        sx.summary(model, *drawn())


def test_a_cost_that_is_no_likelihood_is_refused():
    X, y = drawn()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        model = sx.LogisticRegression(np.inf, loss="squared-sigmoid").fit(X, y)
    with pytest.raises(ParameterError, match="not a likelihood"):
        sx.summary(model, X, y)


def test_weights_must_be_declared():
    X, y = drawn()
    w = np.full(len(y), 1.5)
    model = fitted(X, y, sample_weight=w)
    with pytest.raises(ParameterError, match="say what they mean"):
        sx.summary(model, X, y, sample_weight=w)
    with pytest.raises(WeightError, match="whole numbers"):
        sx.summary(model, X, y, sample_weight=w, weights="frequency")
    with pytest.raises(ParameterError, match="'frequency', 'probability'"):
        sx.summary(model, X, y, sample_weight=w, weights="importance")
    with pytest.raises(ParameterError, match="probability weights"):
        sx.summary(model, X, y, sample_weight=w, weights="probability", covariance="classical")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"covariance": "HC3"}, "covariance: got 'HC3'"),
        ({"covariance": "cluster"}, "without groups"),
        ({"covariance": "HC0", "groups": np.arange(300)}, "beside groups"),
        ({"groups": np.zeros(300)}, "all rows are of one group"),
        ({"groups": np.arange(7)}, "7 entries for 300 rows"),
        ({"groups": np.arange(300) % 2}, r"2 groups for \d coefficients"),
        ({"intervals": "bootstrap"}, "intervals: got 'bootstrap'"),
        ({"intervals": "profile", "covariance": "HC0"}, "rests on the likelihood"),
        ({"level": 95}, "level: got 95"),
        ({"reference": "b"}, "reference: got 'b'"),
    ],
)
def test_bad_settings_are_named(given, says):
    with pytest.raises(InputError, match=says):
        summarised(*drawn(), **given)


def test_complementary_log_log_cannot_be_turned():
    with pytest.raises(ParameterError, match="another model"):
        summarised(*drawn(), "cloglog", reference=1)


def test_more_columns_than_rows():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((8, 12)), np.arange(8) % 2
    model = sx.LogisticRegression(1.0).fit(X, y)
    with pytest.raises(InputError, match="not identified"):
        sx.summary(model, X, y)


def test_rows_without_weight_do_not_count():
    X, y = drawn()
    w = np.ones(len(y))
    w[:50] = 0.0
    for weights in ("frequency", "probability"):
        found = sx.summary(fitted(X, y, sample_weight=w), X, y, sample_weight=w, weights=weights, covariance="HC1")
        plain = summarised(X[50:], y[50:], covariance="HC1")
        same(found.std_err, plain.std_err, rtol=1e-7)
        assert found.n == plain.n == 250


def test_one_row_of_a_class():
    X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]])
    found = summarised(X, [0, 0, 1, 0, 0])
    assert found.coef[1] == pytest.approx(0.0, abs=1e-7)
    assert np.all(found.std_err > 0)


def test_an_unfinished_fit_has_no_standard_errors():
    X, y = drawn()
    with pytest.warns(NotConvergedWarning):
        model = sx.LogisticRegression(np.inf, solver="gradient-descent", max_iter=2).fit(X, y)
    found = sx.summary(model, X, y)
    assert "has not reached the maximum" in found.withheld
    assert np.isnan(found.std_err).all()
