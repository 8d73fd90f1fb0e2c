"""Seeds of random campaigns: the first in every run of the tests, the others only in that of the slow tests."""

import pytest


def seeds(always, all_of_them):
    """The seeds 0, 1, …, of which those from ``always`` on are slow tests."""
    return [*range(always), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(always, all_of_them))]
