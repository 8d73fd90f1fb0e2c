"""Rows in memory: folds, walks, samples, and the summary of columns."""

import tracemalloc

import numpy as np
import pytest
from scipy.sparse import csr_array

from separatrix.core.base.errors import NotFiniteError, WeightError
from separatrix.core.base.machine import threads
from separatrix.core.objective_sums import Gram
from separatrix.core.rows import column_statistics
from separatrix.core.rows.column_statistics import standard_frame, summarise
from separatrix.core.rows.memory_rows import memory_rows
from separatrix.core.rows.protocol import Order, Rows


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50_000, 7)) * (rng.random((50_000, 7)) < 0.3)
    return X, rng.choice([-1.0, 1.0], 50_000), rng.random(50_000)


def test_is_a_home_of_rows(data):
    assert isinstance(memory_rows(*data), Rows)


def test_fold_is_the_sum_over_all_rows_dense_and_sparse(data):
    X, t, weight = data
    rows = np.hstack([np.ones((len(X), 1)), X])
    expected = rows.T @ (rows * weight[:, None])
    for form in (X, csr_array(X)):
        np.testing.assert_allclose(memory_rows(form, t, weight).fold(Gram(8)), expected, rtol=1e-11)


def test_fold_gives_the_same_bits_with_any_threads(data):
    X, t, weight = data
    for form in (X, csr_array(X)):
        answers = []
        for count in (1, 2, 3, 8):
            with threads(count):
                answers.append(memory_rows(form, t, weight).fold(Gram(8)))
        assert all(np.array_equal(a, answers[0]) for a in answers)


def test_blocks_walk_every_row_once(data):
    X, t, weight = data
    rows = memory_rows(X, t, weight)
    for draw in ("given", "shuffled"):
        seen = np.concatenate([block.X[:, 0] for block in rows.blocks(Order(999, draw, seed=1))])
        np.testing.assert_array_equal(np.sort(seen), np.sort(X[:, 0]))
    epochs = [Order(999, "shuffled", 1, epoch).rows(100) for epoch in (0, 1, 0)]
    assert not np.array_equal(epochs[0], epochs[1])
    assert np.array_equal(epochs[0], epochs[2])


def test_a_sample_covers_rare_columns():
    X = np.random.default_rng(0).standard_normal((5000, 3))
    X[:, 1] = 0.0
    X[4321, 1] = 1.0
    X[:, 2] = 7.0
    for form in (X, csr_array(X)):
        sample = memory_rows(form, np.ones(5000)).sample(50, seed=0).block
        assert 50 <= sample.n_rows <= 52
        assert np.asarray(sample.homogeneous())[:, 2].max() == 1.0


def test_summary_of_columns_dense_and_sparse(data):
    X, t, weight = data
    X = X + np.array([0, 1e6, 0, 0, 0, 0, 0])
    weight = np.where(np.arange(len(X)) % 3 == 0, 0.0, weight)
    mean = np.average(X, axis=0, weights=weight)
    std = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weight))
    for form in (X, csr_array(X)):
        found = summarise(memory_rows(form, t, weight))
        np.testing.assert_allclose(found.mean, mean, rtol=1e-12)
        np.testing.assert_allclose(found.std, std, rtol=1e-8)
        np.testing.assert_array_equal(found.minimum, X[weight > 0].min(axis=0))
        np.testing.assert_array_equal(found.maximum, X[weight > 0].max(axis=0))


@pytest.mark.parametrize("exponent", [-1000, -500, 500, 1000])
def test_summary_of_columns_at_the_ends_of_float64(exponent):
    X = np.random.default_rng(0).standard_normal((100, 2))
    plain = summarise(memory_rows(X, np.ones(100)))
    far = summarise(memory_rows(np.ldexp(X, exponent), np.ones(100)))
    np.testing.assert_allclose(np.ldexp(far.std, -exponent), plain.std, rtol=1e-12)
    frame = standard_frame(far, np.zeros(2), centred=True)
    expected = standard_frame(plain, np.zeros(2), centred=True).scale
    np.testing.assert_array_equal(np.ldexp(frame.scale, -exponent), expected)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_named_by_row_and_column(data, value):
    X, t, weight = (a.copy() for a in data)
    X[31_234, 5] = value
    X[40_000, 2] = value
    for form in (X, csr_array(X)):
        with pytest.raises(NotFiniteError, match=r"row 31234, column 'f'.*2 entries"):
            summarise(memory_rows(form, t, weight), list("abcdefg"))


def test_weights_that_are_all_zero_are_refused(data):
    X, t, weight = data
    with pytest.raises(WeightError, match="zero"):
        summarise(memory_rows(X, t, 0 * weight))


@pytest.mark.parametrize("form", [np.ascontiguousarray, np.asfortranarray, csr_array])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_compiled_sums_of_columns_are_those_of_blocks(monkeypatch, dtype, form):

    rng = np.random.default_rng(0)
    X = (rng.standard_normal((900, 5)) + np.array([0, 1e5, 0, 0, 3])).astype(dtype)
    X[:, 3] = 7.0
    X = form(X)
    t, weight = rng.integers(0, 3, 900), rng.integers(0, 3, 900).astype(float)
    rows = memory_rows(X, t, weight)
    plain = summarise(rows, None, np.array([1, 2]), ranges=False)
    monkeypatch.setattr(column_statistics, "FEWEST_ENTRIES_TO_COMPILE_SUMS", 1)
    swept = summarise(rows, None, np.array([1, 2]), ranges=False)
    for name in ("mean", "m2", "class_weight", "minimum", "maximum"):
        np.testing.assert_allclose(getattr(swept, name), getattr(plain, name), rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(swept.pull, plain.pull, rtol=1e-9, atol=1e-7)
    assert swept.constant.tolist() == [False, False, False, True, False]


def test_ranges_of_sparse_columns_are_those_of_dense_ones():
    rng = np.random.default_rng(4)
    X = np.where(rng.random((200, 9)) < 0.3, rng.standard_normal((200, 9)), 0.0)
    X[:, 1], X[:, 2], X[:, 3] = 5e8, X[:, 2] + 1e9, 0.0
    weight = rng.random(200) + 0.1
    dense, sparse = (summarise(memory_rows(form, np.zeros(200), weight)) for form in (X, csr_array(X)))
    assert np.array_equal(sparse.minimum, dense.minimum)
    assert np.array_equal(sparse.maximum, dense.maximum)
    # A mean of 5e8 is rounded by 6e-8.
    np.testing.assert_allclose(sparse.std, dense.std, rtol=1e-9, atol=1e-7)


def test_ranges_of_wide_sparse_rows_are_not_made_dense():
    """2000 × 300 000 numbers would take 4.8 GB."""
    rng = np.random.default_rng(5)
    place = (rng.integers(0, 2000, 6000), rng.integers(0, 300_000, 6000))
    X = csr_array((rng.standard_normal(6000), place), shape=(2000, 300_000))
    tracemalloc.start()
    found = summarise(memory_rows(X, np.zeros(2000)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200e6
    assert np.count_nonzero(found.maximum - found.minimum) == len(np.unique(X.indices))
