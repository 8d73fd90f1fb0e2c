"""Columns of numbers become rows: the same entries, and a sign that one of them is not finite."""

import numpy as np
import pyarrow as pa
import pytest

from separatrix.core.kernels.interleave import COLUMNS_AT_A_TIME, ROWS_AT_A_TIME, column_addresses, interleaved
from separatrix.tables.table_parts import _address


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


def test_the_columns_of_a_record_batch_are_found_without_asking_for_each():
    x, y = np.arange(10.0), np.arange(10.0, 20.0)
    missing, counts = pa.array([None, *x[1:]], pa.float64()), pa.array(range(10))
    batch = pa.record_batch([pa.array(x), missing, pa.array(y), counts], names=list("abcd")).slice(3, 4)
    _, exported = batch.__arrow_c_array__()
    found = column_addresses(_address(exported), np.array([2, 1, 0, -1]), 8)
    assert found.tolist() == [y[3:].ctypes.data, found[1], x[3:].ctypes.data, 0]
    assert found[1] in (0, missing.buffers()[1].address + 3 * 8)  # the null is before the slice
