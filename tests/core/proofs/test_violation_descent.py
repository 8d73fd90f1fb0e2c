"""The least sum of violations by descent from vertex to vertex: a minimum, the only one, and that of HiGHS."""

import numpy as np
import pytest

from separatrix.core.proofs import linear_programs
from separatrix.core.proofs.linear_programs import MOST_DESCENT_COLUMNS, least_violation, only_minimum


def _table(seed, n=120):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, MOST_DESCENT_COLUMNS))
    positive = np.arange(n) % 3 > 0
    X = rng.standard_normal((n, d)) + np.where(positive, 0.5, 0.0)[:, None]
    X *= 10.0 ** rng.integers(-2, 3, d)
    t = np.where(positive, 1.0, -1.0)
    return t[:, None] * np.column_stack([np.ones(n), X]), positive


def _shares(positive):
    return np.where(positive, 1.0 / positive.sum(), 1.0 / (~positive).sum())


def _violation(A, c, v):
    return float(c @ np.maximum(0.0, 1.0 - A @ v))


@pytest.mark.parametrize("seed", range(20))
def test_it_is_the_vertex_that_highs_finds(seed, monkeypatch):
    A, positive = _table(seed)
    quick = least_violation(A, positive)
    assert only_minimum(A, _shares(positive)) is not None
    monkeypatch.setattr(linear_programs, "only_minimum", lambda *_: None)
    np.testing.assert_allclose(quick, least_violation(A, positive), rtol=1e-8, atol=1e-10 * np.abs(quick).max())


@pytest.mark.parametrize("seed", range(20))
def test_no_other_point_violates_less(seed):
    A, positive = _table(seed)
    c = _shares(positive)
    v = only_minimum(A, c)
    least, rng = _violation(A, c, v), np.random.default_rng(seed)
    for size in (1e-6, 1e-3, 1.0):
        for _ in range(20):
            assert _violation(A, c, v + size * np.abs(v).max() * rng.standard_normal(len(v))) > least


def test_minima_that_are_not_unique_are_left_to_highs():
    apart = np.array([[1.0, 2.0], [1.0, 3.0], [-1.0, 2.0], [-1.0, 3.0]])  # separable, so that many v violate nothing
    assert only_minimum(apart, np.ones(4)) is None
    touching = np.array([[1.0], [-1.0]])  # f = |1 − v| + |1 + v| for v within ±1
    assert only_minimum(touching, np.ones(2)) is None
    twice = np.column_stack([np.ones(30), np.ones(30)])  # equal columns
    assert only_minimum(np.where(np.arange(30) % 2, 1.0, -1.0)[:, None] * twice, np.ones(30)) is None


def test_rows_of_small_integers_have_a_minimum_that_highs_confirms():
    rng = np.random.default_rng(3)
    X, positive = rng.integers(0, 4, (60, 2)).astype(float), np.arange(60) % 2 > 0
    A = np.where(positive, 1.0, -1.0)[:, None] * np.column_stack([np.ones(60), X])
    v, least = least_violation(A, positive), np.inf
    c = _shares(positive)
    for _ in range(200):
        least = min(least, _violation(A, c, v + rng.standard_normal(3) * 10.0 ** rng.uniform(-4, 0)))
    assert _violation(A, c, v) <= least + 1e-12
