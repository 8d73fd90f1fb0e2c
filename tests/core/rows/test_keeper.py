"""The rows that a keeper keeps are those of a draw from all rows at once, whatever the blocks and their order."""

import threading

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from separatrix.core.rows.block import Block
from separatrix.core.rows.frame import Frame
from separatrix.core.rows.sampling import Keeper, LowestHashes


def blocks_of(X, t, weight, size):
    frame = Frame.identity(X.shape[1])
    for start in range(0, X.shape[0], size):
        part = slice(start, start + size)
        yield Block(X[part], t[part], weight[part], start, frame)


@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("size", [10, 333, 100_000])
@pytest.mark.parametrize("drawn", [50, 900, 50_000])
def test_the_rows_of_a_draw_from_all_rows(form, size, drawn):
    rng = np.random.default_rng(drawn + size)
    n, d = 6000, 4
    X = (
        csr_array(random_array((n, d), density=0.3, random_state=rng))
        if form == "sparse"
        else rng.standard_normal((n, d))
    )
    t, weight = rng.choice([-1.0, 1.0], n, p=[0.9, 0.1]), rng.integers(0, 3, n).astype(float)
    draw = LowestHashes(drawn, 7, np.array([-1.0, 1.0]))
    (whole,) = blocks_of(X, t, weight, n)
    wanted = draw.add(draw.zero(), whole)
    keeper = Keeper(draw)
    blocks = list(blocks_of(X, t, weight, size))
    rng.shuffle(blocks)
    for block in blocks:
        keeper.see(block)
    kept = keeper.kept()
    assert [part.count for part in kept.total] == [part.count for part in wanted]
    every = sum(part.count for part in wanted) <= drawn
    for ours, theirs in zip(kept.total, wanted, strict=True):
        each = drawn if every else drawn // 2
        numbers = np.sort(theirs.cut(each).rows)
        np.testing.assert_array_equal(np.sort(ours.cut(each).rows), numbers)
        block = kept.rows.block(Frame.identity(d)).take(kept.rows.places(numbers))
        dense = [part.toarray() if form == "sparse" else part for part in (block.X, X[numbers])]
        np.testing.assert_array_equal(*dense)
        np.testing.assert_array_equal(block.t, t[numbers])
        np.testing.assert_array_equal(block.weight, weight[numbers])


def test_no_more_rows_than_a_sample_a_quarter_and_a_block():
    n, size = 200_000, 1000
    X = np.arange(n, dtype=float)[:, None]
    keeper = Keeper(LowestHashes(2000, 0))
    for block in blocks_of(X, np.ones(n), np.ones(n), size):
        keeper.see(block)
        assert keeper.dense.n_rows <= 1.25 * 2000 + size
    assert keeper.kept().rows.n_rows == 2000


def test_threads_may_show_blocks_at_the_same_time():
    n = 40_000
    X = np.random.default_rng(0).standard_normal((n, 3))
    keeper = Keeper(LowestHashes(500, 0))
    blocks = list(blocks_of(X, np.ones(n), np.ones(n), 100))
    threads = [threading.Thread(target=lambda k=k: [keeper.see(b) for b in blocks[k::4]]) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    kept = keeper.kept()
    numbers = np.sort(kept.total[0].cut(500).rows)
    np.testing.assert_array_equal(kept.rows.block(Frame.identity(3)).X[kept.rows.places(numbers)], X[numbers])
