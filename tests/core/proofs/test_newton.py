"""Separators found without a program: never a wrong verdict, few passes, and what is left to programs."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import separatrix as sx
from separatrix.core.proofs import linear_programs
from separatrix.core.proofs.class_differences import Differences
from separatrix.core.proofs.linear_programs import MOST_NEWTON_ROUNDS, nearly
from separatrix.core.proofs.verdicts import Inseparable, Separable

from .plain import by_two_programs


def _draw(seed):
    """Two or three classes, with ties, unlike scales, 0/1 columns or large offsets; half of them with a gap."""
    rng = np.random.default_rng([5, seed])
    n, d, K = int(rng.integers(8, 60)), int(rng.integers(1, 5)), 2 if seed % 3 else 3
    kinds = (
        lambda: rng.integers(-2, 3, (n, d)).astype(float),
        lambda: rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-5, 5, d),
        lambda: rng.integers(0, 2, (n, d)).astype(float),
        lambda: rng.standard_normal((n, d)) + 1e3,
    )
    X = kinds[seed % 4]()
    Z = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-12)
    z = Z @ rng.standard_normal((d, K)) + rng.normal(0, rng.choice([0, 0.05, 0.5]), (n, K))
    rng.random()
    y = np.argmax(z, axis=1)
    y[:K] = np.arange(K)
    if rng.random() < 0.5:
        ordered = np.sort(z, axis=1)
        far = (ordered[:, -1] - ordered[:, -2] > 0.3) & (np.argmax(z, axis=1) == y)
        if len(np.unique(y[far])) == K:
            X, y = X[far], y[far]
    return X, y, bool(rng.random() < 0.8), int(rng.integers(1, 8))


def _separable(n, d, gap, K=2, seed=0):
    """Rows whose own score is larger than any other by ``gap`` of its spread."""
    rng = np.random.default_rng(seed)
    X, W = rng.standard_normal((3 * n, d)), rng.standard_normal((K, d)) / np.sqrt(d)
    z = X @ W.T
    ordered = np.sort(z, axis=1)
    far = ordered[:, -1] - ordered[:, -2] > gap
    return X[far][:n] + 2.0, np.argmax(z, axis=1)[far][:n]


# of the last: rows that touch only as floats hold a basis, and programs whose optimum many rows carry alike
@pytest.mark.parametrize("seed", [*range(60), 130, 266, 282, 314, 334, 342, 634])
def test_the_smallest_working_sets_change_no_verdict(seed, monkeypatch):
    X, y, fit_intercept, sample = _draw(seed)
    for name, value in {
        "SMALLEST_WORKING_SET": 1,
        "FIRST_ROWS_PER_DIRECTION": 1,
        "NEWTON_ROWS_PER_DIRECTION": sample,
    }.items():
        monkeypatch.setattr(linear_programs, name, value)
    verdict = sx.separability(csr_array(X) if seed % 5 == 0 else X, y, fit_intercept)
    assert type(verdict) is by_two_programs(X, y, fit_intercept)
    assert verdict.verify(X, y, exact=True)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_a_gap_needs_no_program(K, form, monkeypatch):
    monkeypatch.setattr(linear_programs, "widest", None)  # a program would fail
    X, y = _separable(5000, 8, 0.2, K)
    verdict = sx.separability(form(X), y)
    assert isinstance(verdict, Separable)
    assert verdict.verify(X, y, exact=True)
    if K == 2:
        assert verdict.margin == pytest.approx(np.min((2 * y - 1) * verdict.hyperplane.distance(X)))


def _passes(monkeypatch, D):
    """What Newton's method finds, and in how many passes over all rows."""
    seen = []
    margins = Differences.margins
    monkeypatch.setattr(Differences, "margins", lambda self, v: seen.append(v) or margins(self, v))
    drawn = np.random.default_rng(1).choice(D.count, 300, replace=False)
    return nearly(D, drawn), len(seen)


def test_overlap_costs_one_pass(monkeypatch):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((5000, 5))
    y = (X @ np.ones(5) + 2 * rng.logistic(size=5000) > 0).astype(int)
    near, passes = _passes(monkeypatch, Differences(X, y, 2))
    assert not near.separates
    assert passes == 1


def test_violated_rows_come_in(monkeypatch):
    X, y = _separable(5000, 5, 0.0)
    near, passes = _passes(monkeypatch, Differences(X, y, 2))
    assert near.separates
    assert near.m.min() > 0
    assert 1 < passes <= MOST_NEWTON_ROUNDS


def test_many_rows_of_zeros_have_no_margin():
    X, y = np.zeros((1000, 2)), np.arange(1000) % 2
    verdict = sx.separability(X, y, fit_intercept=False)
    assert isinstance(verdict, Inseparable)
    assert verdict.verify(X, y)


def test_no_rows_written_out_keep_their_width():
    X, y = _separable(20, 3, 0.0)
    assert Differences(X, y, 2).take(np.zeros(0, dtype=np.int64)).shape == (0, 4)
    assert Differences(csr_array(X), y, 2).take(np.zeros(0, dtype=np.int64)).shape == (0, 4)
