"""Equal rows, told apart by 64 bits and then entry by entry."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array

from separatrix.statistics.row_checks import equal_rows, hashes


def slowly(X):
    groups = {}
    for i, row in enumerate(X.tolist()):
        groups.setdefault(tuple(value + 0.0 for value in row), []).append(i)
    return [group for group in groups.values() if len(group) > 1]


@settings(max_examples=60, deadline=None)
@given(
    arrays(
        np.float64, st.tuples(st.integers(1, 12), st.integers(1, 3)), elements=st.sampled_from([0.0, -0.0, 1.0, 2.5])
    )
)
def test_as_found_pair_by_pair(X):
    assert [group.tolist() for group in equal_rows(X)] == slowly(X)
    assert [group.tolist() for group in equal_rows(csr_array(X))] == slowly(X)


def test_small_whole_numbers_do_not_collide():
    grid = np.stack(np.meshgrid(np.arange(300.0), np.arange(300.0)), axis=-1).reshape(-1, 2)
    assert len(np.unique(hashes(grid))) == len(grid)


def test_rows_of_equal_bits_are_compared(monkeypatch):
    monkeypatch.setattr("separatrix.statistics.row_checks.hashes", lambda X: np.zeros(X.shape[0], dtype=np.uint64))
    X = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    assert [group.tolist() for group in equal_rows(X)] == [[0, 1]]
    assert [group.tolist() for group in equal_rows(csr_array(X))] == [[0, 1]]


@pytest.mark.parametrize("n", [3, 300_000])
def test_blocks_keep_their_places(n):
    X = np.arange(2.0 * n).reshape(n, 2)
    X[-1] = X[0]
    assert [group.tolist() for group in equal_rows(X)] == [[0, n - 1]]
