"""Intervals for F1 and lift: how often they hold the truth, and what they do at the ends."""

from math import inf

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from separatrix.core.base.errors import ParameterError
from separatrix.statistics.intervals import f1_interval, lift_interval
from separatrix.statistics.measures import ClassFigures

# The shares of rows that are right, only predicted, only of the class, and neither; and the number of rows.
TABLES = [
    ((0.30, 0.10, 0.10, 0.50), 60),
    ((0.10, 0.05, 0.10, 0.75), 200),
    ((0.02, 0.02, 0.03, 0.93), 1000),
    ((0.45, 0.02, 0.03, 0.50), 400),
]


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize(("shares", "n"), TABLES)
def test_intervals_hold_the_truth_as_often_as_they_say(shares, n, level):
    right, only_predicted, only_true, _ = shares
    f1 = 2 * right / (2 * right + only_predicted + only_true)
    lift = right / ((right + only_predicted) * (right + only_true))
    held, draws = np.zeros(2), np.random.default_rng(3).multinomial(n, shares, size=2000)
    for a, b, c, _ in draws.tolist():
        ends = f1_interval(a + c, a + b, a, level), lift_interval(a + c, a + b, a, n, level)
        held += [low <= truth <= high for truth, (low, high) in zip((f1, lift), ends, strict=True)]
    # Three standard errors of 2000 draws are 0.027 at most; counts are discrete, which adds about as much.
    assert held / len(draws) == pytest.approx([level, level], abs=0.03)


@pytest.mark.parametrize(("shares", "n"), TABLES)
def test_the_variance_of_log_lift_is_that_of_the_delta_method(shares, n):
    counts = np.round(n * np.array(shares)).astype(int)
    a, b, c, _ = counts.tolist()
    p = counts / counts.sum()
    gradient = approx_fprime(p, lambda q: np.log(q[0] * q.sum() / ((q[0] + q[1]) * (q[0] + q[2]))), 1e-8)
    variance = (gradient**2 @ p - (gradient @ p) ** 2) / counts.sum()
    low, high = lift_interval(a + c, a + b, a, int(counts.sum()), level=0.95)
    assert (np.log(high / low) / (2 * 1.959964)) ** 2 == pytest.approx(variance, rel=1e-4)


@pytest.mark.parametrize("counts", [(10, 8, 6), (10, 8, 0), (5, 5, 5), (1, 1, 1), (30, 1, 0)])
def test_intervals_hold_the_estimate_and_a_higher_level_is_wider(counts):
    found = [ClassFigures("yes", *counts, n_total=40, level=level) for level in (0.5, 0.9, 0.99)]
    for one in found:
        assert 0 <= one.f1_interval.low <= one.f1 <= one.f1_interval.high <= 1
        assert 0 <= one.lift_interval.low <= one.lift <= one.lift_interval.high < inf
    for name in ("f1_interval", "lift_interval"):
        lengths = [getattr(one, name).high - getattr(one, name).low for one in found]
        assert lengths == sorted(lengths)


def test_nothing_is_known_of_a_class_without_rows():
    assert f1_interval(0, 0, 0) == (0.0, 1.0)
    assert lift_interval(0, 5, 0, 20) == lift_interval(5, 0, 0, 20) == (0.0, inf)


def test_a_level_that_is_none_is_refused():
    for ask in (lambda: f1_interval(3, 3, 2, level=1.5), lambda: lift_interval(3, 3, 2, 9, level=0.0)):
        with pytest.raises(ParameterError, match="level"):
            ask()
