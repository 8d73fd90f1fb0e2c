"""Columns of numbers become rows: the same entries, and a sign that one of them is not finite."""

import numpy as np
import pytest

from separatrix.kernels.interleave import COLUMNS_AT_A_TIME, ROWS_AT_A_TIME, interleaved


def addresses(columns):
    return np.array([column.__array_interface__["data"][0] for column in columns])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("d", [1, COLUMNS_AT_A_TIME, 2 * COLUMNS_AT_A_TIME + 3])
@pytest.mark.parametrize("m", [0, 1, ROWS_AT_A_TIME, 2 * ROWS_AT_A_TIME + 5])
def test_rows_have_the_entries_of_the_columns(dtype, d, m):
    columns = list(np.random.default_rng(0).standard_normal((d, m)).astype(dtype))
    X = np.empty((m, d), dtype=dtype)
    assert interleaved(addresses(columns), X)
    assert np.array_equal(X, np.array(columns).T)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [(0, 0), (3, 250), (4, 256), (6, 299)])
def test_an_entry_that_is_not_finite_is_noticed(bad, place):
    columns = np.random.default_rng(0).standard_normal((7, 300))
    columns[place] = bad
    X = np.empty((300, 7))
    assert not interleaved(addresses(list(columns)), X)
    assert np.array_equal(X, columns.T, equal_nan=True)
