"""A sample that stands for all rows: rare columns whole, classes in balance, weights that add up."""

import functools
import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from separatrix.core.rows import sampling
from separatrix.core.rows.frame import Frame
from separatrix.core.rows.hold_out import row_hashes, uniform
from separatrix.core.rows.memory_rows import memory_rows
from separatrix.core.rows.sampling import LowestHashes, RareRows

N = 20_000


def _table(seed=0):
    rng = np.random.default_rng(seed)
    X = np.zeros((N, 4))
    X[:, 0] = rng.standard_normal(N)
    X[rng.choice(N, 30, replace=False), 1] = 1.0
    X[rng.choice(N, 3, replace=False), 2] = -5.0
    X[:, 3] = rng.random(N) < 0.5
    t = np.where(rng.random(N) < 0.01, 1.0, -1.0)
    return X, t


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_every_row_of_a_rare_column_is_taken_and_stands_for_itself(form):
    X, t = _table()
    sample = memory_rows(form(X), t).sample(2000, seed=1)
    drawn = sample.block.homogeneous()
    assert 2000 <= sample.n_rows <= 2033
    assert (drawn[:, 2] != 0).sum() == 30
    assert (drawn[:, 3] != 0).sum() == 3
    np.testing.assert_array_equal(sample.certain, (drawn[:, 2] != 0) | (drawn[:, 3] != 0))


def test_without_rare_columns_no_row_is_read_twice():
    X, t = _table()
    sample = memory_rows(X[:, [0, 3]], t).sample(2000, seed=1)
    assert sample.n_rows == 2000
    assert not sample.certain.any()


def test_a_rare_class_is_drawn_whole_and_counts_as_it_does_in_all():
    X, t = _table()
    weight = np.random.default_rng(2).uniform(0.5, 2.0, N)
    targets = np.array([-1.0, 1.0])
    sample = memory_rows(X, t, weight).sample(2000, seed=1, targets=targets)
    assert (sample.block.t > 0).sum() == (t > 0).sum()
    totals = np.array([weight[t == value].sum() for value in targets])
    block = sample.standing_for(targets, totals)
    for value, total in zip(targets, totals, strict=True):
        assert block.weight[block.t == value].sum() == pytest.approx(total)
    np.testing.assert_array_equal(block.weight[sample.certain], sample.block.weight[sample.certain])


def test_rows_without_weight_are_never_drawn():
    X, t = _table()
    weight = np.ones(N)
    weight[X[:, 1] != 0] = 0.0
    sample = memory_rows(X, t, weight).sample(2000, seed=1)
    assert np.all(sample.block.weight > 0)
    assert not np.any(sample.block.homogeneous()[:, 2])


def test_few_rows_are_all_taken():
    X, t = _table()
    sample = memory_rows(X[:50], t[:50]).sample(2000, seed=1)
    assert sample.n_rows == 50
    assert sample.certain.all()


def test_the_sample_is_the_same_for_any_number_of_threads():
    from separatrix.core.base.machine import threads

    X, t = _table()
    drawn = []
    for count in (1, 3):
        with threads(count):
            drawn.append(memory_rows(X, t).sample(1000, seed=1).block.X)
    np.testing.assert_array_equal(*drawn)


def test_of_many_rare_levels_some_rows_each_stand_for_all():
    rng = np.random.default_rng(3)
    levels, n = 100, 60_000
    code = np.where(rng.random(n) < 0.5, levels, rng.integers(0, levels, n))  # about 300 rows a level
    X = (code[:, None] == np.arange(levels)).astype(float)
    t = np.where(rng.random(n) < 0.2, 1.0, -1.0)
    targets, totals = np.array([-1.0, 1.0]), np.array([(t < 0).sum(), (t > 0).sum()], dtype=float)
    sample = memory_rows(X, t).sample(4000, seed=1, targets=targets)
    drawn = sample.block.X.sum(axis=0)
    assert np.all((drawn >= 8) & (drawn <= 90))  # 20 beside the 4000, and about 13 among them
    stood = sample.standing_for(targets, totals)
    estimate = stood.weight @ stood.X
    assert np.mean(np.abs(estimate / X.sum(axis=0) - 1.0)) < 0.25
    assert estimate.sum() == pytest.approx(X.sum(), rel=0.05)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_compiled_and_plain_sweeps_draw_the_same_rows(monkeypatch, dtype):
    X, t = _table()
    drawn = []
    for fewest in (1, 1 << 40):
        monkeypatch.setattr(sampling, "FEWEST_ENTRIES_TO_COMPILE_SEARCH", fewest)
        drawn.append(memory_rows(X.astype(dtype), t).sample(2000, seed=1))
    np.testing.assert_array_equal(drawn[0].block.X, drawn[1].block.X)
    np.testing.assert_array_equal(drawn[0].odds, drawn[1].odds)


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_both_draws_depend_on_the_numbers_of_the_rows_and_not_on_how_they_are_cut(form):
    X, t = _table()
    weight = np.where(np.arange(N) % 7 == 0, 0.0, 1.0)
    whole = memory_rows(form(X), t, weight).resident()
    lowest = LowestHashes(500, 3, np.array([-1.0, 1.0]))
    d = X.shape[1]
    rare = RareRows(np.array([1, 2]), np.zeros(2), np.full(2, 0.5), np.array([0.4, 1.0]), 3)
    edges = [0, 1, 4000, 4001, 15_000, N]
    blocks = [
        replace(whole.take(np.arange(a, b)), start=a, frame=Frame.identity(d)) for a, b in itertools.pairwise(edges)
    ]
    for partial, key in ((lowest, lambda total: [sorted(part.rows.tolist()) for part in total]), (rare, np.sort)):
        at_once = key(partial.add(partial.zero(), whole))
        in_pieces = functools.reduce(partial.merge, [partial.add(partial.zero(), block) for block in reversed(blocks)])
        np.testing.assert_equal(key(in_pieces), at_once)
    assert all(
        part.count == np.sum((t == value) & (weight > 0))
        for part, value in zip(lowest.add(lowest.zero(), whole), (-1.0, 1.0), strict=True)
    )


@pytest.mark.parametrize("value", [0.1, -7.3, 1e9 / 3])
def test_rare_entries_that_the_first_draw_misses_are_all_drawn(value):
    """The column has one value in the first draw, and the mean of that value differs from it by rounding."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = np.column_stack([rng.standard_normal(N), np.full(N, value)])
        rare = rng.choice(N, 3, replace=False)
        X[rare, 1] = value + 2.0
        rows = memory_rows(X, np.ones(N), frame=Frame(np.array([0.0, value / 3]), np.array([1.0, 0.25])))
        sample = rows.sample(2000, seed)
        assert (sample.odds == 1).sum() == 3


def test_weights_by_the_odds_are_nearly_unbiased():
    """The mean over many seeds of Σ x/odds is the sum over all rows, for common and for rare columns alike.

    The odds of the second draw are estimated from the first one, which biases the mean of a rare column by half a
    percent: the mean over 6000 seeds shows it.
    """
    rng = np.random.default_rng(5)
    n, seeds = 6000, range(300)
    X = np.column_stack([rng.standard_normal(n), rng.random(n) < 0.02, rng.random(n) < 0.003]).astype(float)
    t = np.where(rng.random(n) < 0.3, 1.0, -1.0)
    estimates = []
    for seed in seeds:
        sample = memory_rows(X, t).sample(600, seed, np.array([-1.0, 1.0]))
        estimates.append((sample.block.X / sample.odds[:, None]).sum(axis=0))
    total = X.sum(axis=0)
    error, bias = np.abs(np.mean(estimates, axis=0) - total), [0, 0.006 * total[1], 0]
    assert np.all(error <= 4 * np.std(estimates, axis=0) / np.sqrt(len(seeds)) + bias)


def test_hashes_are_uniform_and_unlike_those_of_other_seeds():
    u = uniform(row_hashes(10**15, 200_000, seed=1))
    counts = np.histogram(u, bins=64, range=(0, 1))[0]
    assert np.sum((counts - 3125) ** 2) / 3125 < 130  # χ² of 63 degrees of freedom; 130 has probability 1e-6
    for other in (row_hashes(10**15, 200_000, seed=2), row_hashes(10**15, 200_000, seed=1, stream=1)):
        assert abs(np.corrcoef(u, uniform(other))[0, 1]) < 0.02
