"""The translated settings, given to the other packages, find the same coefficients."""

import shutil
import subprocess
import warnings

import numpy as np
import pytest

import separatrix as sx
from separatrix.errors import ParameterError
from separatrix.settings import PACKAGES, as_settings


def rows(K=2, n=150, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)) + np.array([0.0, 1.0, -1.0, 0.0])
    z = X @ rng.normal(size=(4, K)) + rng.gumbel(size=(n, K)) * 1.5
    return X, np.argmax(z, axis=1)


def ours(X, y, C, l1_ratio, fit_intercept=True, weight=None):
    model = sx.LogisticRegression(C=C, l1_ratio=l1_ratio, fit_intercept=fit_intercept, tol=1e-13)
    return model.fit(X, y, sample_weight=weight)


def evaluated(code, **names):
    """The very line that the translation gives."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return eval(code, {"np": np, **names})


CHOICES = [(0.5, 0.0), (0.05, 1.0), (0.1, 0.4), (np.inf, 0.0)]


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(("C", "l1_ratio"), CHOICES)
def test_sklearn(C, l1_ratio, fit_intercept, K):
    from sklearn.linear_model import LogisticRegression

    X, y = rows(K)
    found = as_settings(C, l1_ratio, len(X), n_classes=K, fit_intercept=fit_intercept)["sklearn"]
    theirs = evaluated(found.code, LogisticRegression=LogisticRegression, X=X, y=y)
    model = ours(X, y, C, l1_ratio, fit_intercept)
    # What no penalty holds has a part that is free: one common to all K scores.
    free = K > 2 and np.isinf(C)
    assert np.allclose(
        theirs.coef_ - free * theirs.coef_.mean(axis=0), model.coef_ - free * model.coef_.mean(axis=0), atol=2e-5
    )
    free = K > 2
    difference = theirs.intercept_ - model.intercept_
    assert np.allclose(difference - free * difference.mean(), 0.0, atol=2e-5)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(("C", "l1_ratio"), CHOICES)
def test_statsmodels(C, l1_ratio, fit_intercept):
    import statsmodels.api as sm

    X, y = rows()
    found = as_settings(C, l1_ratio, len(X), fit_intercept=fit_intercept)["statsmodels"]
    theirs = np.asarray(evaluated(found.code, sm=sm, X=X, y=y).params)
    model = ours(X, y, C, l1_ratio, fit_intercept)
    expected = np.concatenate([model.intercept_, model.coef_[0]]) if fit_intercept else model.coef_[0]
    # Its ridge stops at a gradient of 1e-5.
    assert np.allclose(theirs, expected, atol=1e-4)


@pytest.mark.parametrize("l1_ratio", [0.0, 0.5])
def test_statsmodels_divides_by_rows_not_by_weight(l1_ratio):
    import statsmodels.api as sm

    X, y = rows()
    weight = np.random.default_rng(3).integers(1, 5, len(X)).astype(float)
    found = as_settings(0.1, l1_ratio, len(X), weight.sum())["statsmodels"]
    weighted = found.code.replace("sm.families.Binomial())", "sm.families.Binomial(), freq_weights=weight)")
    theirs = np.asarray(evaluated(weighted, sm=sm, X=X, y=y, weight=weight).params)
    model = ours(X, y, 0.1, l1_ratio, weight=weight)
    assert np.allclose(theirs, np.concatenate([model.intercept_, model.coef_[0]]), atol=1e-4)


@pytest.mark.parametrize(("C", "l1_ratio"), [(0.5, 0.0), (0.05, 1.0), (0.1, 0.4)])
def test_glmnet_by_its_formula(C, l1_ratio):
    """At our weights a subgradient of (1/S) Σ s ℓ + λ Σ (α |w| + ½ (1 − α) w²) is zero, with the translated λ."""
    X, y = rows()
    weight = np.random.default_rng(4).uniform(0.5, 3.0, len(X))
    model = ours(X, y, C, l1_ratio, weight=weight)
    lam = as_settings(C, l1_ratio, len(X), weight.sum())["glmnet"].values["lambda"]
    w = model.coef_[0]
    residual = weight / weight.sum() * (model.predict_proba(X)[:, 1] - y)
    slope = X.T @ residual + lam * (1 - l1_ratio) * w
    held = w != 0
    assert held.any()
    assert abs(residual.sum()) < 1e-7
    assert np.all(np.abs(slope + lam * l1_ratio * np.sign(w))[held] < 1e-7)
    assert np.all(np.abs(slope[~held]) <= lam * l1_ratio + 1e-7)
    # Half or twice the strength is seen not to fit.
    assert max(np.abs(slope + lam * (0.5 * l1_ratio * np.sign(w) - 0.5 * (1 - l1_ratio) * w))[held]) > 1e-4


@pytest.mark.slow
def test_glmnet_itself(tmp_path):
    """One R for all fits: it is slow to start."""
    R = shutil.which("Rscript")
    if R is None:
        pytest.skip("R is not installed")
    choices = [(C, l1_ratio, K) for C, l1_ratio in [(0.5, 0.0), (0.05, 1.0), (0.1, 0.4)] for K in (2, 3)]
    lines = ['if (!requireNamespace("glmnet", quietly = TRUE)) quit(status = 77)', "library(glmnet)"]
    for C, l1_ratio, K in choices:
        X, y = rows(K)
        np.savetxt(tmp_path / f"{K}.csv", np.column_stack([X, y]), delimiter=",", fmt="%.17g")
        code = as_settings(C, l1_ratio, len(X), n_classes=K)["glmnet"].code
        lines += [f'D <- as.matrix(read.csv("{K}.csv", header = FALSE))', "X <- D[, 1:4]", "y <- factor(D[, 5])"]
        lines += [f"f <- coef({code})", "if (!is.list(f)) f <- list(f)"]
        lines += ['for (w in f) cat(sprintf("%.15g", as.numeric(w)), "\\n")']
    (tmp_path / "fits.R").write_text("\n".join(lines))
    said = subprocess.run([R, "fits.R"], cwd=tmp_path, capture_output=True, text=True, check=False)
    if said.returncode == 77:
        pytest.skip("R's package glmnet is not installed")
    assert said.returncode == 0, said.stderr
    found = [[float(v) for v in line.split()] for line in said.stdout.strip().splitlines()]
    for C, l1_ratio, K in choices:
        model = ours(*rows(K), C, l1_ratio)
        theirs, found = np.array(found[: len(model.coef_)]), found[len(model.coef_) :]
        expected = np.column_stack([model.intercept_, model.coef_])
        # Of several intercepts only differences are determined.
        theirs[:, 0] -= (theirs[:, 0] - expected[:, 0]).mean() if K > 2 else 0.0
        assert np.allclose(theirs, expected, atol=1e-5)


def test_what_has_no_translation():
    found = as_settings(1.0, 0.3, 10, n_classes=3)
    assert found["statsmodels"].code is None
    assert "reference class" in found["statsmodels"].note
    assert found["liblinear"].code is None
    assert "one versus rest" in found["liblinear"].note
    assert 'family = "multinomial"' in found["glmnet"].code
    assert as_settings(np.inf, 0.0, 10)["liblinear"].note == "it always has a penalty"


def test_liblinear_leaves_the_bias_alone():
    assert as_settings(2.0, 0.0, 10)["liblinear"].code == "train -s 0 -c 2.0 -e 1e-8 -B 1 -R rows.libsvm model"
    assert as_settings(2.0, 1.0, 10, fit_intercept=False)["liblinear"].values == {"-s": 6, "-c": 2.0}


def test_every_package_is_there():
    assert set(as_settings(1.0, 0.0, 10)) == set(PACKAGES)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ((0.0, 0.0, 10), "C: got 0.0"),
        ((float("nan"), 0.0, 10), "C: got nan"),
        ((1.0, 1.5, 10), "l1_ratio: got 1.5"),
        ((1.0, 0.0, 0), "n_rows: got 0"),
        ((1.0, 0.0, 10, 0.0), "total_weight: got 0.0"),
    ],
)
def test_refusals(given, says):
    with pytest.raises(ParameterError, match=says):
        as_settings(*given)
