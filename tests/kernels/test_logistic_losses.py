"""The logistic losses of several rows at a time, against the C library."""

import math

import numpy as np
import pytest

from separatrix.kernels.logistic_losses import ROWS_AT_A_TIME, exponentials, losses


def computed(margins):
    """e^{−|m|} and log(1 + e^{−|m|}) of any number of margins."""
    short = -len(margins) % ROWS_AT_A_TIME
    m = np.concatenate([margins, np.zeros(short)]).reshape(-1, ROWS_AT_A_TIME)
    e, log = np.empty_like(m), np.empty_like(m)
    for row in range(len(m)):
        exponentials(m[row], e[row], log[row])
    return e.ravel()[: len(margins)], log.ravel()[: len(margins)]


def in_last_places(found, expected):
    return np.max(np.abs(found - expected) / np.spacing(expected))


def test_exponentials_are_accurate_to_the_last_places():
    rng = np.random.default_rng(0)
    near_the_middle = -math.log(math.sqrt(2) - 1) + 1e-9 * rng.standard_normal(1000)
    near_halves = (rng.integers(0, 1000, 1000) + 0.5) * math.log(2) + 1e-12 * rng.standard_normal(1000)
    tiny = 10.0 ** rng.uniform(-320, 0, 1000)
    m = np.concatenate([rng.uniform(-40, 40, 5000), rng.uniform(0, 707, 5000), near_the_middle, near_halves, tiny])
    e, log = computed(m)
    true = np.array([math.exp(-abs(x)) for x in m])
    assert in_last_places(e, true) <= 3
    assert in_last_places(log, np.array([math.log1p(x) for x in true])) <= 5


def test_margins_beyond_all_bounds():
    e, log = computed(np.array([0.0, -0.0, 708.5, 1e308, np.inf, -np.inf]))
    np.testing.assert_array_equal(e, [1, 1, 0, 0, 0, 0])
    np.testing.assert_array_equal(log, [math.log(2), math.log(2), 0, 0, 0, 0])
    assert np.isnan(computed(np.array([np.nan]))).all()


@pytest.mark.parametrize("n", [1, 3, 4, 31, 32])
def test_losses_of_fewer_rows_than_fit(n):
    rng = np.random.default_rng(n)
    t, weight, z = rng.choice([-1.0, 1.0], 50), rng.random(50), rng.standard_normal(50)
    r, e, log = (np.full(ROWS_AT_A_TIME, 7.0) for _ in range(3))
    r[:n] = z[9 : 9 + n]
    found = losses(r, t, weight, 9, 9 + n, 0.3, e, log)
    part = slice(9, 9 + n)
    m = t[part] * (z[part] + 0.3)
    slopes = -t[part] * weight[part] / (1 + np.exp(m))
    np.testing.assert_allclose(found, [weight[part] @ np.logaddexp(0, -m), slopes.sum()], rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(r[:n], slopes, rtol=1e-13)
    np.testing.assert_array_equal(r[n:], 0.0)
