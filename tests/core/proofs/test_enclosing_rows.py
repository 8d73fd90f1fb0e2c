"""Rows whose hull contains the origin: what is returned is a proof, and overlapping rows in few columns have one."""

import numpy as np
import pytest

from separatrix.core.proofs.linear_programs import enclosing_rows, widest


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("w", [2, 3, 5])
def test_rows_found_sum_to_zero_and_none_are_found_if_a_direction_is_positive(seed, w):
    rng = np.random.default_rng([seed, w])
    B = rng.standard_normal((int(rng.integers(w + 1, 60)), w)) + rng.uniform(0, 1.5)
    found = enclosing_rows(B)
    if widest(B).s > 1e-6:
        assert found is None
        return
    rows, weights = found
    assert len(rows) == w + 1
    unit = B[rows] / np.linalg.norm(B[rows], axis=1, keepdims=True)
    assert np.all(weights > 0)
    np.testing.assert_allclose(weights @ unit, 0.0, atol=1e-8)


@pytest.mark.parametrize("B", [np.zeros((4, 2)), np.array([[1.0, 0.0], [-1.0, 0.0]]), np.ones((1, 3)), np.eye(12)])
def test_what_needs_more_than_this_is_left_to_the_linear_program(B):
    assert enclosing_rows(B) is None
