"""Rows of a stream in random order: every row once, few in memory, the same for the same seed."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from separatrix.core.rows import streamed as streamed_module
from separatrix.core.rows.memory_rows import memory_rows
from separatrix.core.rows.protocol import Order
from tests.streamed import streamed

N = 3000


def numbers(size=7, seed=0, epoch=0, batch=50):
    """The numbers of the rows of each batch."""
    rows = streamed(memory_rows(np.arange(float(N))[:, None], np.arange(N)), size)
    return [block.t.tolist() for block in rows.blocks(Order(batch, "shuffled", seed, epoch))]


@pytest.fixture(params=[1 << 24, 8 * 200], ids=["one chunk", "15 chunks"])
def chunk(request, monkeypatch):
    monkeypatch.setattr(streamed_module, "CHUNK_BYTES", request.param)
    return request.param // 8


@pytest.mark.parametrize("batch", [1, 50, 1024, N + 1])
def test_every_row_comes_once_in_batches_of_one_size(chunk, batch):
    found = numbers(batch=batch)
    assert sorted(np.concatenate(found).tolist()) == list(range(N))
    assert {len(part) for part in found[:-1]} <= {batch}


def test_the_order_depends_on_seed_and_epoch_alone(chunk):
    assert numbers(size=7) == numbers(size=1000)
    np.testing.assert_array_equal(np.concatenate(numbers(batch=50)), np.concatenate(numbers(batch=333)))
    assert len({str(numbers(seed=seed, epoch=epoch)) for seed in (0, 1) for epoch in (0, 1)}) == 4


def test_rows_move_and_the_buffer_bounds_how_far_to_the_front(chunk):
    order = np.concatenate(numbers())
    moved = np.arange(N) - order
    assert np.mean(np.abs(moved)) > min(chunk, N) / 4
    assert -moved.min() <= 2 * chunk


def test_contents_stay_together_in_sparse_rows(chunk):
    rng = np.random.default_rng(0)
    X = csr_array(np.where(rng.random((N, 5)) < 0.3, rng.random((N, 5)), 0.0))
    rows = streamed(memory_rows(X, np.arange(N), np.arange(N) + 1.0), 100)
    for block in rows.blocks(Order(64, "shuffled")):
        np.testing.assert_array_equal(block.X.toarray(), X[block.t].toarray())
        np.testing.assert_array_equal(block.weight, block.t + 1.0)
