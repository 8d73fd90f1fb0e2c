"""Intervals for shares: against statsmodels, and by how often they hold."""

import numpy as np
import pytest
from scipy.stats import binomtest
from statsmodels.stats.proportion import proportion_confint

from separatrix.core.base.errors import ParameterError
from separatrix.statistics.intervals import exact, on_logits, paired_difference, sign_test, wilson


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_wilson_and_exact_against_statsmodels(level):
    n = 23
    for k in range(n + 1):
        low, high = wilson(k, n, level)
        assert (low, high) == pytest.approx(proportion_confint(k, n, 1 - level, "wilson"), abs=1e-12)
        assert exact(k, n, level) == pytest.approx(proportion_confint(k, n, 1 - level, "beta"), abs=1e-9)


def test_wilson_takes_arrays_and_no_rows():
    low, high = wilson([0, 5, 0], [10, 10, 0])
    assert low.shape == (3,)
    assert (low[2], high[2]) == (0.0, 1.0)
    assert low[0] == 0.0


def test_the_paired_difference_turns_round_and_holds_as_often_as_it_says():
    low, high = paired_difference(30, 10, 100)
    assert paired_difference(10, 30, 100) == pytest.approx((-high, -low))
    rng = np.random.default_rng(0)
    drawn = rng.multinomial(80, [0.2, 0.1, 0.7], 3000)
    held = [low <= 0.1 <= high for low, high in (paired_difference(a, b, 80) for a, b, _ in drawn.tolist())]
    assert 0.93 <= np.mean(held) <= 0.975


def test_on_logits_stays_inside_and_far_out_does_not_overflow():
    low, high = on_logits(0.99, 1.0)
    assert 0.9 < low < 0.99 < high < 1.0
    assert on_logits(0.5, 1e6) == (0.0, 1.0)


@pytest.mark.parametrize("level", [0, 1, 1.5, "much", True])
def test_levels_are_probabilities(level):
    with pytest.raises(ParameterError, match="level"):
        wilson(1, 2, level)


@pytest.mark.parametrize(("gained", "lost"), [(0, 0), (2, 0), (3, 0), (7, 2), (5, 5), (30, 41), (400, 310)])
def test_sign_test_agrees_with_scipy(gained, lost):
    expected = binomtest(gained, gained + lost).pvalue if gained + lost else 1.0
    assert sign_test(gained, lost) == pytest.approx(expected, rel=1e-10)
