"""Backtracking: the first step length with a sufficient decrease, or none."""

import numpy as np
import pytest

from separatrix.core.newton_step import MOST_TRIALS, backtracked, damped_step
from separatrix.core.objective_sums import Evaluation


class Quartic:
    """E(W) = Σ W⁴, whose full gradient step overshoots."""

    def value_gradient(self, W):
        return Evaluation(float(np.sum(W**4)), 4 * W**3)


def test_a_step_is_halved_until_the_objective_falls():
    W = np.array([[2.0, -1.0]])
    at = Quartic().value_gradient(W)
    reached = damped_step(Quartic(), W, at, -at.gradient)
    assert reached is not None
    to, there = reached
    alpha = (W - to)[0, 0] / at.gradient[0, 0]
    assert np.log2(alpha) == pytest.approx(round(np.log2(alpha)), abs=1e-12)
    assert there.value < at.value
    longer = Quartic().value_gradient(W - 2 * alpha * at.gradient)
    assert alpha == 1.0 or longer.value > at.value - 1e-4 * 2 * alpha * float(np.sum(at.gradient**2))


def test_a_direction_uphill_is_refused_without_a_trial():
    at = Quartic().value_gradient(np.ones((1, 2)))
    assert damped_step(None, np.ones((1, 2)), at, at.gradient) is None


def test_infinite_and_undefined_values_are_halved_away():
    values = iter([np.inf, np.nan, 0.5])
    assert backtracked(lambda alpha: (next(values), alpha), 1.0, -1.0) == (0.25, 0.25)


def test_a_rise_within_rounding_counts_as_no_rise():
    assert backtracked(lambda alpha: (1.0 + 2e-16, None), 1.0, -1e-20) == (1.0, None)
    assert backtracked(lambda alpha: (1.0 + 2e-16, None), 1.0, 0.0, rounding=0.0) is None


def test_no_more_step_lengths_are_tried_than_allowed():
    seen = []
    assert backtracked(lambda alpha: (seen.append(alpha) or 2.0, None), 1.0, -1.0) is None
    assert seen == [0.5**k for k in range(MOST_TRIALS)]
