"""``solver="auto"`` against the slow reference, both run to rounding, over drawn shapes, penalties, weights and scales.

Which solver is chosen depends on sizes that would make the reference take hours, so the thresholds are lowered.
"""

import warnings
from collections import Counter
from functools import cache

import numpy as np
import pytest
from scipy.sparse import csr_array

import separatrix as sx
from separatrix.core.solvers import proximal, registry
from tests import problems, reference

# Names of solvers, each with thresholds under which small problems are given to it.
REGIMES = {
    "as shipped": {},
    "few parameters are many": {"NEWTON_PARAMETERS": 2, "MOST_PARAMETERS_OF_ONE_MODEL": 2},
    "few rows are many": {"SAMPLE_ROWS": 1, "ROWS_PER_SAMPLE_ROW": 0.01},
}


def _drawn(seed):
    """A problem of any shape: tall or wide, two to four classes, dense or with many zeros, columns of any scale."""
    rng = np.random.default_rng(seed)
    K = int(rng.choice([2, 2, 3, 4]))
    n, d = int(rng.integers(6 * K, 90)), int(rng.choice([1, 3, 8, 40]))
    X = rng.standard_normal((n, d))
    if rng.random() < 0.5:
        X *= rng.random((n, d)) < 0.3
        X[0] = 1.0
    elif rng.random() < 0.5:
        X += rng.normal(0, 3, d)
    X *= np.ldexp(1.0, rng.integers(-8, 9, d))
    unit = np.maximum(X.std(axis=0), 1e-300)
    codes = np.argmax(X / unit @ rng.standard_normal((K, d)).T / np.sqrt(d) + rng.gumbel(size=(n, K)), axis=1)
    codes[:K] = np.arange(K)
    weight = rng.integers(1, 5, n).astype(float) if rng.random() < 0.4 else np.ones(n)
    factors = rng.uniform(0.2, 3.0, d) * unit**2 if rng.random() < 0.5 else unit**2
    l1_ratio = float(rng.choice([0.0, 0.0, 0.5, 1.0]))
    if l1_ratio > 0:
        factors = factors / unit  # a penalty of about the same size in every column
    C = float(rng.choice([0.01, 0.1, 1.0, 10.0]))
    return problems.Problem(X, codes, K, weight, C, factors, bool(rng.random() < 0.8), l1_ratio)


def _least(problem):
    rest = (problem.X, problem.codes, problem.K, problem.weight, problem.ridge)
    if problem.l1_ratio == 0:
        return reference.optimum(*rest, problem.fit_intercept)
    value, W, left = reference.sparse_optimum(*rest, problem.lasso, problem.fit_intercept)
    assert left <= 1e-10, "the reference itself has not reached the minimum"
    return value, W


@cache
def _solved(seed):
    """A problem with its minimum and weights there, which are those of all regimes."""
    problem = _drawn(seed)
    return problem, *_least(problem)


@pytest.mark.parametrize("regime", REGIMES)
def test_auto_finds_what_the_reference_finds(regime, monkeypatch):
    for name, value in REGIMES[regime].items():
        monkeypatch.setattr(registry if hasattr(registry, name) else proximal, name, value)
    chosen = Counter()
    for seed in range(40):
        problem, least, W = _solved(seed)
        sparse = seed % 2 == 1
        X = csr_array(problem.X) if sparse else problem.X
        model = sx.LogisticRegression(
            problem.C,
            l1_ratio=problem.l1_ratio,
            penalty_factors=problem.factors,
            fit_intercept=problem.fit_intercept,
            tol=0.0,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sx.errors.NotConvergedWarning)  # rounding ends it, as asked for
            model.fit(X, problem.codes, problem.weight)
        certificate = model.certificate_
        chosen[certificate.why.split(":")[0]] += 1
        assert abs(certificate.objective - least) <= 2e-13 * (1 + certificate.null_objective), (
            seed,
            certificate.solver,
        )
        z = reference.scores(W, problem.X)
        clear = np.abs(z[:, 0]) > 1e-4 if z.shape[1] == 1 else np.ptp(np.sort(z, axis=1)[:, -2:], axis=1) > 1e-4
        expected = (z[:, 0] > 0).astype(int) if z.shape[1] == 1 else np.argmax(z, axis=1)
        assert np.array_equal(model.predict(X)[clear], expected[clear]), (seed, certificate.solver)
    assert len(chosen) > 1, chosen
