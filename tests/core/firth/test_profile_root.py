"""The end of a profile interval is a distance at which the profile was evaluated and found to be right, or NaN."""

import numpy as np
import pytest

from separatrix.core.firth.profiles import MOST_EVALUATIONS, ROOT_TOLERANCE, Look, find_end

# Profiles r(v), increasing from r(0) = 0, with their derivatives.
PROFILES = {
    "straight": (lambda v: v, lambda v: 1.0),
    "convex": (lambda v: np.expm1(v), lambda v: np.exp(v)),
    "concave": (lambda v: 5 * np.log1p(v), lambda v: 5 / (1 + v)),
    "flat at first": (lambda v: v**5, lambda v: 5 * v**4),
    "steep at first": (lambda v: 2 * v**0.2, lambda v: 0.4 * v**-0.8),
    "bent": (lambda v: min(v, 1.0) + 100 * max(v - 1.0, 0.0), lambda v: 1.0 if v < 1 else 100.0),
}


class Profile:
    """r(v) with every distance at which it was evaluated."""

    def __init__(self, name, until=np.inf):
        self.name, self.until, self.seen = name, until, {}

    def __call__(self, v):
        if v >= self.until:
            return None
        r, slope = PROFILES[self.name]
        self.seen[v] = r(v)
        assert len(self.seen) <= MOST_EVALUATIONS
        return Look(v, r(v), r(v) * slope(v))


@pytest.mark.parametrize("first", [1e-3, 0.5, 1.0, 1.96, 2.5, 40.0])
@pytest.mark.parametrize("name", PROFILES)
def test_the_profile_was_evaluated_at_the_end(name, first):
    """Also where a step lands on the end to the last bit, as 1.96 does for the straight profile."""
    profile = Profile(name)
    end = find_end(profile, first, 1.96)
    assert end.reason == ""
    assert profile.seen[end.v] == pytest.approx(1.96, rel=2 * ROOT_TOLERANCE)


def test_an_end_that_cannot_be_evaluated_is_not_found():
    end = find_end(Profile("straight", until=1.0), 1.96, 1.96)
    assert np.isnan(end.v)
    assert "cannot be evaluated further out" in end.reason


def test_a_start_too_far_out_is_brought_back():
    assert find_end(Profile("straight", until=5.0), 400.0, 1.96).v == pytest.approx(1.96, rel=2 * ROOT_TOLERANCE)


def test_a_profile_that_stays_below_has_no_end():
    end = find_end(lambda v: Look(v, min(v, 1.0), 0.1), 1.0, 1.96)
    assert np.isnan(end.v)
    assert f"{MOST_EVALUATIONS} evaluations" in end.reason


def test_a_jump_is_no_end():
    end = find_end(lambda v: Look(v, v + (v > 1), 1.0), 1.5, 1.96)
    assert np.isnan(end.v)
    assert "jumps from r = 1 to r = 2" in end.reason


def test_a_rounded_profile_ends_within_what_it_is_rounded_by():
    """r in steps of 1e-7 meets no tolerance of 1e-9, but the stated one for rounded profiles."""
    end = find_end(lambda v: Look(v, np.floor(v * 1e7) / 1e7 + 0.5e-7, v), 1.0, 1.96)
    assert end.v == pytest.approx(1.96, abs=2e-7)
    assert find_end(lambda v: Look(v, v + 1e-7, v), 1.0, 1.96, rounding=1e-6).v == pytest.approx(1.96, abs=1e-6)
