"""Against R: nnet's multinomial fit and glmnet's ridge paths. Numbers by tests/r/likelihood.R."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

import separatrix as sx

R = json.loads((Path(__file__).parents[1] / "r" / "likelihood.json").read_text())


@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
def test_multinomial_as_nnet(solver):
    X, y = np.array(R["glass_X"]), np.array(R["glass_y"])
    model = sx.LogisticRegression(np.inf, solver=solver, tol=1e-13, max_iter=5000).fit(X, y)
    ours = -model.certificate_.objective * len(y)
    assert ours == pytest.approx(R["multinom_log_likelihood"], abs=1e-8)
    W = np.column_stack([model.intercept_, model.coef_])
    order = [model.classes_.tolist().index(label) for label in ("WinF", "WinNF", "Veh")]
    contrast = W[order[1:]] - W[order[0]]  # nnet's first class is its reference
    np.testing.assert_allclose(contrast, R["multinom"], rtol=1e-4)


@pytest.mark.parametrize("k", range(len(R["lambdas"])))
def test_ridge_path_as_glmnet_two_classes(k):
    X, y = load_iris(return_X_y=True)
    X, y = X[y > 0], y[y > 0]
    model = sx.LogisticRegression(1.0 / (R["lambdas"][k] * len(y)), tol=1e-13).fit(X, y)
    np.testing.assert_allclose(np.append(model.intercept_, model.coef_[0]), R["binary"][k], rtol=1e-6)


@pytest.mark.parametrize("k", range(len(R["three"][0])))
def test_ridge_path_as_glmnet_three_classes(k):
    X, y = load_iris(return_X_y=True)
    model = sx.LogisticRegression(1.0 / (R["lambdas"][k] * len(y)), tol=1e-13).fit(X, y)
    theirs = np.array([path[k] for path in R["three"]])
    theirs[:, 0] -= theirs[:, 0].mean()  # only differences of intercepts are determined; ours sum to zero
    np.testing.assert_allclose(np.column_stack([model.intercept_, model.coef_]), theirs, rtol=1e-5, atol=1e-6)
