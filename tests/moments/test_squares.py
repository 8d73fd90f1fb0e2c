"""The squared cost: its compiled sweep beside blocks of NumPy calls."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from separatrix.moments.squares import OneHot, Signed, SquaredResiduals
from separatrix.rows import Frame, memory_rows


@pytest.mark.parametrize("coding", [OneHot(), Signed()])
@pytest.mark.parametrize("n", [1, 6, 403])  # four rows at a time, and what is left over
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_compiled_sweep_is_the_sum_over_blocks(coding, n, dtype):
    rng = np.random.default_rng(n)
    X = (rng.standard_normal((n, 5)) + 1.0).astype(dtype)
    t, weight = rng.integers(0, 3, n), rng.integers(0, 3, n).astype(float)
    frame = Frame(np.array([1.0, 0.0, 2.0, 0.5, 1.0]), np.array([1.0, 2.0, 0.5, 1.0, 4.0]))
    targets = coding.table(3)
    W = 0.3 * rng.standard_normal((targets.shape[1], 6))
    plain, swept = (
        memory_rows(X, t, weight, frame).fold(SquaredResiduals(W, targets, compiled)) for compiled in (False, True)
    )
    assert plain[1] == swept[1] > 0 or n == 1
    np.testing.assert_allclose(swept, plain, rtol=1e-10, atol=1e-11)
    sparse = memory_rows(csr_array(X), t, weight, frame).fold(SquaredResiduals(W, targets, True))
    np.testing.assert_allclose(sparse, plain, rtol=1e-6 if dtype == np.float32 else 1e-10, atol=1e-6)
