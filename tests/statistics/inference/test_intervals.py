"""Profile intervals, marginal effects and the likelihood-ratio test."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.optimize import brentq
from scipy.stats import chi2, norm

import separatrix as sx
from separatrix.core.base.errors import InputError, ParameterError

from .test_summary import GLM_STEP, STEP, birthwt, drawn, fitted, same, spector, summarised


def profile_by_refits(X, y, j, level, family):
    """The slow way: a root of the refitted deviance, the coefficient held by an offset."""
    wide = np.asarray(sm.add_constant(X))
    rest = np.delete(wide, j, axis=1)
    peer = sm.GLM(y, wide, family=family).fit(**GLM_STEP)

    def excess(c):
        held = sm.GLM(y, rest, family=family, offset=c * wide[:, j]).fit(tol=1e-13)
        return 2 * (peer.llf - held.llf) - chi2.ppf(level, 1)

    at, width = np.asarray(peer.params)[j], 6 * np.asarray(peer.bse)[j]
    return brentq(excess, at - width, at, xtol=1e-11), brentq(excess, at, at + width, xtol=1e-11)


@pytest.mark.parametrize("loss", ["logistic", "probit"])
def test_profiles_of_low_birth_weight_by_refits(loss):
    X, y = birthwt()
    link = sm.families.links.Logit() if loss == "logistic" else sm.families.links.Probit()
    found = summarised(X, y, loss, intervals="profile", level=0.9)
    for j in (0, 2, 4):
        low, high = profile_by_refits(X, y, j, 0.9, sm.families.Binomial(link))
        assert found.low[j] == pytest.approx(low, rel=1e-6)
        assert found.high[j] == pytest.approx(high, rel=1e-6)
    assert found.ratio_name is None or found.ratio_low[2] == pytest.approx(np.exp(found.low[2]))


def test_profiles_of_a_contrast_by_refits():
    """Of three classes, the second's weight against the third's held by an offset, the rest fitted again."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((150, 2))
    y = np.argmax(X @ rng.standard_normal((2, 3)) + rng.gumbel(size=(150, 3)), axis=1)
    found = summarised(X, y, intervals="profile", reference=2)
    top = found.log_likelihood
    # β₁ = w₁ − w₂ of the first column is c: score 1 gets c x, and its free part is shared with score 2.
    for c in (found.low[1, 1], found.high[1, 1]):
        assert 2 * (top - held_softmax(X, y, c)) == pytest.approx(chi2.ppf(0.95, 1), abs=1e-5)


def held_softmax(X, y, c):
    from scipy.optimize import minimize

    def minus(theta):
        b, w0, w1 = theta[:2], theta[2:4], theta[4]
        z = np.column_stack([b[0] + X @ w0, b[1] + c * X[:, 0] + w1 * X[:, 1], np.zeros(len(X))])
        return np.sum(np.log(np.exp(z).sum(axis=1)) - z[np.arange(len(y)), y])

    return -minimize(minus, np.zeros(5), method="BFGS", options={"gtol": 1e-8}).fun


def test_profiles_do_not_depend_on_units():
    X, y = drawn(80)
    scale = np.array([1e6, 1e-6, 1.0])
    plain, moved = (summarised(rows, y, intervals="profile") for rows in (X, X * scale + np.array([0.0, 0.0, 1e5])))
    same(moved.low[1:] * scale, plain.low[1:], rtol=1e-6)
    same(moved.high[1:] * scale, plain.high[1:], rtol=1e-6)


# ----------------------------------------------------------------------------------------- marginal effects


@pytest.mark.parametrize(("loss", "peer"), [("logistic", sm.Logit), ("probit", sm.Probit)])
def test_effects_against_statsmodels(loss, peer):
    X, y = spector()
    found = summarised(X, y, loss).marginal_effects()
    theirs = peer(y, sm.add_constant(X)).fit(disp=0, **STEP)
    derivative, change = theirs.get_margeff(), theirs.get_margeff(dummy=True)
    same(found.effect[:3], derivative.margeff)
    same(found.std_err[:3], derivative.margeff_se)
    same(found.p_value[:3], derivative.pvalues, rtol=1e-7)
    same(np.column_stack([found.low, found.high])[:3], derivative.conf_int(), rtol=1e-8)
    assert (found.names[3], found.kinds[3], len(found.names)) == ("PSI", "change 0 to 1", 4)
    same(found.effect[3], change.margeff[2])
    same(found.std_err[3], change.margeff_se[2])


def test_effects_of_many_classes_against_statsmodels():
    data = sm.datasets.anes96.load_pandas()
    X, y = data.exog[["logpopul", "selfLR", "age", "educ", "income"]], data.endog
    found = summarised(X, y).marginal_effects()
    theirs = sm.MNLogit(y, sm.add_constant(X)).fit(disp=0, **STEP, maxiter=100).get_margeff()
    same(found.effect.reshape(7, 5), theirs.margeff.T)
    same(found.std_err.reshape(7, 5), theirs.margeff_se.T)
    same(found.effect.reshape(7, 5).sum(axis=0) + 1.0, np.ones(5))


def test_effects_of_complementary_log_log_by_differences():
    X, y = birthwt()
    summary = summarised(X, y, "cloglog")
    found, wide = summary.marginal_effects(), np.column_stack([np.ones(len(y)), X])

    def average(beta, j):
        z = wide @ beta
        return np.mean(np.exp(z - np.exp(z))) * beta[j + 1]

    for j in range(7):
        assert found.effect[j] == pytest.approx(average(summary.coef, j), rel=1e-10)
        step = 1e-5 * summary.std_err
        gradient = np.array(
            [
                (average(summary.coef + e * s, j) - average(summary.coef - e * s, j)) / (2 * s)
                for e, s in zip(np.eye(8), step, strict=True)
            ]
        )
        assert found.std_err[j] == pytest.approx(np.sqrt(gradient @ summary.covariance @ gradient), rel=1e-6)
    changed = dict(zip(found.names[7:], found.effect[7:], strict=True))
    assert set(changed) == {"smoke", "ht", "ui", "black", "other"}
    ends = [wide.copy(), wide.copy()]
    for value in (0, 1):
        ends[value][:, 3] = value
    p0, p1 = (np.mean(-np.expm1(-np.exp(rows @ summary.coef))) for rows in ends)
    assert changed["smoke"] == pytest.approx(p1 - p0, rel=1e-10)


# -------------------------------------------------------------------------------------- likelihood ratios


def test_nested_models_against_statsmodels():
    X, y = birthwt()
    small, large = summarised(X[["age", "lwt"]], y), summarised(X, y)
    found = sx.likelihood_ratio_test(small, large)
    one, two = (sm.Logit(y, sm.add_constant(rows)).fit(disp=0, **STEP) for rows in (X[["age", "lwt"]], X))
    assert found.statistic == pytest.approx(2 * (two.llf - one.llf), rel=1e-9)
    assert found.df == 5
    assert found.p_value == pytest.approx(chi2.sf(found.statistic, 5))
    # The columns may be other ones that span the same.
    turned = summarised(X[["age", "lwt"]].to_numpy() @ [[1.0], [2.0]], y)
    assert sx.likelihood_ratio_test(turned, large).df == 6


def test_one_weak_column_more_is_the_square_of_z():
    X, y = drawn(20_000, 2)
    y = np.where(np.random.default_rng(4).random(len(y)) < 0.9, np.arange(len(y)) % 2, y)
    large = summarised(X, y)
    found = sx.likelihood_ratio_test(summarised(X[:, :1], y), large)
    assert found.statistic == pytest.approx(large.z[2] ** 2, rel=0.02)
    assert found.p_value == pytest.approx(2 * norm.sf(np.sqrt(found.statistic)))


def test_models_that_cannot_be_compared_are_refused():
    X, y = drawn()
    large, one, other = (summarised(X[:, columns], y) for columns in ([0, 1], [0], [2]))
    for small, big, says in (
        (other, large, "not nested"),
        (large, one, "smaller model first"),
        (one, one, "smaller model first"),
        (one, summarised(X[:, :2], 1 - y), "labels differ"),
        (summarised(X[:, :1], y, "probit"), large, "link differ"),
        (sx.summary(sx.LogisticRegression(1.0).fit(X[:, :1], y), X[:, :1], y), large, "penalised"),
    ):
        with pytest.raises(InputError, match=says):
            sx.likelihood_ratio_test(small, big)
    with pytest.raises(ParameterError, match=r"summary\(model, X, y\)"):
        sx.likelihood_ratio_test(fitted(X, y), large)
    weight = np.ones(len(y)) * 2
    doubled = sx.summary(fitted(X, y, sample_weight=weight), X, y, sample_weight=weight, weights="frequency")
    with pytest.raises(InputError, match="weights differ"):
        sx.likelihood_ratio_test(one, doubled)


@pytest.mark.parametrize("settings", [{"C": np.inf}, {"bias_reduction": "firth"}])
def test_an_end_of_a_profile_that_is_not_found_is_nan_and_noted(monkeypatch, settings):
    X, y = spector()
    model = sx.LogisticRegression(**settings).fit(X, y)
    monkeypatch.setattr("separatrix.core.firth.profiles.MOST_EVALUATIONS", 1)
    found = sx.summary(model, X, y, intervals="profile")
    assert np.isnan([found.low, found.high]).all()
    assert any(note.startswith("GPA: no lower end of the profile interval was found: r is not") for note in found.notes)
