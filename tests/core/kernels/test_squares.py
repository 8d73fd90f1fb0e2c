"""The compiled square of columns against NumPy's."""

import numpy as np
import pytest

from separatrix.core.kernels.dense_rows import TILE, weighted_square


@pytest.mark.parametrize("d", [1, 2, 3, 4, 7, 21])
@pytest.mark.parametrize(("begin", "end"), [(0, 1), (0, TILE), (5, 5 + 2 * TILE + 1), (7, 7)])
def test_the_weighted_square(d, begin, end):
    rng = np.random.default_rng(d)
    X, h = rng.standard_normal((d, 3 * TILE)), rng.random(end - begin)
    part = X[:, begin:end]
    np.testing.assert_allclose(weighted_square(X, begin, end, h), (part * h) @ part.T, rtol=1e-12, atol=1e-12)


def test_it_is_symmetric_to_the_bit():
    rng = np.random.default_rng(0)
    H = weighted_square(rng.standard_normal((8, 500)), 0, 500, rng.random(500))
    assert np.array_equal(H, H.T)
