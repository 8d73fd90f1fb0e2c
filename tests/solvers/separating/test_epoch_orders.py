"""The orders of several epochs: those of single epochs, and kept from fit to fit for few rows."""

import numpy as np
import pytest

import separatrix as sx
from separatrix.rows import Order
from separatrix.solvers.separating import epoch_orders


@pytest.mark.parametrize("n_rows", [7, epoch_orders.MOST_CACHED_VISITS])
def test_the_orders_are_those_of_single_epochs(n_rows):
    epochs = [Order(1, "shuffled", 5, epoch).rows(n_rows) for epoch in (3, 4)]
    np.testing.assert_array_equal(epoch_orders.shuffled_epochs(n_rows, 5, 3, 2), np.concatenate(epochs))


@pytest.mark.filterwarnings("ignore::separatrix.base.errors.NotConvergedWarning")
def test_a_second_fit_of_as_many_rows_draws_no_orders():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((50, 2)), np.arange(50) % 3
    sx.Perceptron(random_state=0).fit(X, y)
    drawn = epoch_orders._cached.cache_info().misses
    sx.Perceptron(random_state=0).fit(X + 1.0, y)
    assert epoch_orders._cached.cache_info().misses == drawn


def test_long_orders_are_not_kept():
    before = epoch_orders._cached.cache_info().currsize
    assert len(epoch_orders.shuffled_epochs(epoch_orders.MOST_CACHED_VISITS + 1, 0, 0, 1))
    assert epoch_orders._cached.cache_info().currsize == before
