"""The default perceptron is not worse than scikit-learn's, by cross-validation on the tables that come with it."""

import pytest

from benchmarks.defaults import TABLES, standings


def test_on_iris_the_default_is_not_worse():
    for found in standings(1, ("iris",)):
        assert not found.worse, str(found)


@pytest.mark.slow
def test_on_all_tables_the_default_is_not_worse():
    found = standings(5)
    assert len(found) == 2 * len(TABLES)
    for line in found:
        assert not line.worse, str(line)
    assert sum(line.difference for line in found) > 0
