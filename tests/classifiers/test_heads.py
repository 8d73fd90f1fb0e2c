"""Other heads and another cost: probit, cloglog (D5), the squared cost of σ (R4)."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.optimize import minimize
from scipy.stats import norm

import separatrix as sx
from separatrix.core.base.errors import ParameterError, SeparationWarning


@pytest.fixture(scope="module")
def spector():
    data = sm.datasets.spector.load_pandas()
    return data.exog.to_numpy(), data.endog.to_numpy().astype(int)


def test_probit_on_spector_against_stata(spector):
    """Stata's probit, as statsmodels ships it (discrete/tests/results/results_discrete.py, Spector.probit)."""
    X, y = spector
    model = sx.LogisticRegression(np.inf, loss="probit", tol=1e-10).fit(X, y)
    np.testing.assert_allclose(model.coef_[0], [1.62581025, 0.05172897, 1.42633236], atol=2e-6)
    assert model.intercept_[0] == pytest.approx(-7.45231965, abs=1e-5)
    assert -model.certificate_.objective * len(y) == pytest.approx(-12.8188034, abs=1e-6)
    assert model.certificate_.code == "gradient"
    assert model.certificate_.bound is None
    assert "third derivative" in model.certificate_.bound_reason
    z = model.decision_function(X)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], norm.cdf(z), rtol=1e-12)
    assert model.certificate_.verify(X, y)


def test_cloglog_against_statsmodels(spector):
    X, y = spector
    model = sx.LogisticRegression(np.inf, loss="cloglog", tol=1e-10).fit(X, y)
    family = sm.families.Binomial(link=sm.families.links.CLogLog())
    peer = sm.GLM(y, sm.add_constant(X), family=family).fit(tol=1e-14, maxiter=200)
    np.testing.assert_allclose(np.append(model.intercept_, model.coef_[0]), peer.params, rtol=1e-5)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], peer.fittedvalues, rtol=1e-5)
    plane = model.hyperplane(probability=0.3)
    np.testing.assert_allclose(model.predict_proba(plane.project(X))[:, 1], 0.3, rtol=1e-9)


def test_penalised_heads_reach_the_minimum(spector):
    X, y = spector
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    for loss in ("probit", "cloglog"):
        model = sx.LogisticRegression(0.5, loss=loss, tol=1e-10).fit(X, y)
        t, cost = 2.0 * y - 1.0, sx.losses.LOSSES[loss]

        def objective(v, t=t, cost=cost):
            return cost.value(t, X @ v[1:] + v[0]).sum() + np.sum(v[1:] ** 2)

        found = minimize(objective, np.zeros(4), method="BFGS", options={"gtol": 1e-9})
        assert model.certificate_.objective * len(y) <= found.fun + 1e-9


def test_the_squared_cost_has_several_minima_and_says_so():  # R4
    """Rows at x = 10 ask for a small negative weight, rows at x = 0.1 for a large one: σ saturates between."""
    X, y = np.repeat([[10.0], [0.1]], 4, axis=0), [0, 0, 0, 1, 1, 1, 1, 0]
    starts = [[[0.0, -0.2]], [[0.0, 12.0]]]
    found = [
        sx.LogisticRegression(np.inf, loss="squared-sigmoid", fit_intercept=False, start=start).fit(X, y)
        for start in starts
    ]
    weights = [float(model.coef_[0, 0]) for model in found]
    assert weights[0] == pytest.approx(-0.11, abs=0.02)
    assert weights[1] == pytest.approx(np.log(3) / 0.1, rel=1e-3)
    for model in found:
        assert "not convex" in model.certificate_.status
        assert model.certificate_.bound is None
        w, eps = model.coef_[0, 0], 1e-3
        here, near = (
            [np.mean((np.array(y) - 1 / (1 + np.exp(-X[:, 0] * v))) ** 2) for v in values]
            for values in ([w], [w - eps, w + eps])
        )
        assert min(near) > here[0]
    convex = [sx.LogisticRegression(fit_intercept=False, start=start).fit(X, y).coef_[0, 0] for start in starts]
    assert convex[0] == pytest.approx(convex[1], rel=1e-3)


def test_the_squared_cost_is_the_mean_of_squares(spector):
    X, y = spector
    model = sx.LogisticRegression(1.0, loss="squared-sigmoid").fit(X, y)
    p = model.predict_proba(X)[:, 1]
    penalty = 0.5 * np.sum(model.coef_**2) / len(y)
    assert model.certificate_.objective == pytest.approx(np.mean((y - p) ** 2) + penalty, rel=1e-10)
    assert model.certificate_.null_objective == pytest.approx(y.mean() * (1 - y.mean()))


def test_separation_is_said_for_every_likelihood():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1]
    for loss in ("logistic", "probit", "cloglog"):
        with pytest.warns(SeparationWarning):
            sx.LogisticRegression(np.inf, loss=loss).fit(X, y)


def test_other_heads_need_two_classes():
    with pytest.raises(ParameterError, match=r"loss: got 'probit' for 3 classes.*OneVsRest"):
        sx.LogisticRegression(loss="probit").fit([[0.0], [1.0], [2.0]], [0, 1, 2])
    with pytest.raises(ParameterError, match=r"loss: got 'hinge'; choose one of 'logistic'"):
        sx.LogisticRegression(loss="hinge").fit([[0.0], [1.0]], [0, 1])
