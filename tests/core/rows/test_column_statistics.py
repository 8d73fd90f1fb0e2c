"""Means and spreads of columns, whatever the arithmetic."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from separatrix.core.rows.column_statistics import summarise
from separatrix.core.rows.memory_rows import memory_rows


@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("offset", [0.0, 2.0**20, 2.0**48, -(2.0**50)])
def test_the_spread_of_a_column_does_not_depend_on_its_offset(form, offset):
    # Sixteenths stay exact near 2⁴⁸. Their mean does not: rounding moves it by up to a tenth of the spread.
    near = np.round(np.random.default_rng(0).standard_normal((149, 4)) * [8, 4, 16, 7]) / 16
    moved = near + offset
    near = moved - offset
    weight = np.arange(149) % 3 + 1.0
    mean = weight @ near / weight.sum()
    std = np.sqrt(weight @ (near - mean) ** 2 / weight.sum())
    summary = summarise(memory_rows(form(moved), np.zeros(149), weight))
    np.testing.assert_allclose(summary.std, std, rtol=1e-6)
