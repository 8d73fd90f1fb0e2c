"""Every fit of a small table ends after a bounded amount of work, or says why it stopped: counted, never timed.

Tables are random, with what makes fits hard: few rows, copies of rows, constant and nearly collinear columns, offsets,
units from a millionth to a million, separated classes, and penalties from none to nearly infinite.
"""

import warnings

import numpy as np
import pytest

import separatrix as sx
from separatrix.core.base.errors import InputError, SeparatrixWarning
from separatrix.core.solvers.registry import SOLVERS

# Solvers that "auto" may choose, or whose model of E has second derivatives, need few iterations on small tables; the
# other ones may run to max_iter, which is then the bound.
QUICK = ("auto", "newton", "lbfgs", "span", "proximal")
MOST_ITERATIONS, MOST_PASSES = 600, 3000
CODES = {"optimal", "gradient", "rounding", "separated", "quasi-separated", "patience"}
OTHERS = (
    sx.Perceptron,
    sx.KozinecClassifier,
    sx.MaxMarginClassifier,
    sx.LeastSquaresClassifier,
    sx.FisherDiscriminant,
    sx.LinearDiscriminantAnalysis,
    sx.QuadraticDiscriminantAnalysis,
    sx.OneVsRestClassifier,
    sx.OneVsOneClassifier,
)


def table(rng):
    n, d, K = int(np.exp(rng.uniform(np.log(5), np.log(200)))), int(rng.integers(1, 11)), int(rng.integers(2, 6))
    X = rng.standard_normal((n, d))
    if rng.random() < 0.3:
        X = np.round(X)
    if rng.random() < 0.3:
        X[:, rng.integers(d)] = rng.choice([0.0, 1.0, 7.0])
    if d > 1 and rng.random() < 0.4:
        X[:, 0] = X[:, 1:].sum(axis=1) + 10.0 ** rng.integers(-14, -1) * rng.standard_normal(n)
    if rng.random() < 0.3:
        X = X[rng.integers(0, n, n)]
    if rng.random() < 0.3:
        X = X + 10.0 ** rng.integers(-2, 6)
    if rng.random() < 0.4:
        X = X * 10.0 ** rng.integers(-6, 7, size=d)
    Z = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    noise = rng.choice([0.0, 0.3, 1.0, 5.0])
    y = np.argmax(Z @ rng.standard_normal((d, K)) + noise * rng.gumbel(size=(n, K)), axis=1)
    return X, y if len(np.unique(y)) > 1 else np.arange(n) % 2


def fitted(model, X, y):
    """The model's certificate; None where it refuses the table, and says which argument is to blame."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeparatrixWarning)
        try:
            return model.fit(X, y).certificate_
        except InputError:
            return None


def check_work(seed):
    rng = np.random.default_rng(seed)
    X, y = table(rng)
    C = float(rng.choice([1e-6, 1e-3, 1.0, 1e3, 1e6, 1e9, 1e12, np.inf]))
    settings = {"C": C, "fit_intercept": bool(rng.random() < 0.6)}
    for l1_ratio in (0.0, 0.5, 1.0):
        for solver in ("auto", *SOLVERS):
            most = 1000 if solver == "auto" or SOLVERS[solver].converges else 20
            found = fitted(sx.LogisticRegression(**settings, l1_ratio=l1_ratio, solver=solver, max_iter=most), X, y)
            if found is None:
                assert solver != "auto"
            elif solver in QUICK:
                assert found.code in CODES, (seed, solver, l1_ratio, found.status)
                assert found.iterations <= MOST_ITERATIONS, (seed, solver, l1_ratio, found.iterations)
                assert found.passes <= MOST_PASSES, (seed, solver, l1_ratio, found.passes)
    found = fitted(sx.LogisticRegression(bias_reduction="firth", fit_intercept=settings["fit_intercept"]), X, y)
    assert found is None or (found.code in CODES and found.passes <= 2 * MOST_PASSES), (seed, "firth", found.status)
    for classifier in OTHERS:
        found = fitted(classifier(), X, y)
        assert found is None or found.passes <= 20_000 * len(np.unique(y)), (seed, classifier.__name__, found.passes)


@pytest.mark.parametrize("seed", range(2, 6))
def test_small_tables_take_little_work(seed):
    check_work(seed)


def test_proximal_newton_without_absolute_values_takes_newtons_steps():
    """Nearly collinear columns and no penalty: coordinate descent alone would go on to max_iter."""
    rng = np.random.default_rng(98)
    X, y = table(rng)
    found = fitted(sx.LogisticRegression(C=np.inf, solver="proximal", fit_intercept=False), X, y)
    assert found.code == "optimal"
    assert found.iterations <= 20


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, *range(6, 120)])
def test_more_small_tables_take_little_work(seed):
    check_work(seed)
