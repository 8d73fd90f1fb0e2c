"""The K problems of each class against the rest are the same in memory and on a stream."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from separatrix.core.penalty import Penalty
from separatrix.core.problem import build_objective
from separatrix.core.rows.column_statistics import summarise
from separatrix.core.rows.labelled_table import labelled_rows
from separatrix.core.rows.protocol import Order, Rows
from separatrix.core.rows.sampling import chosen_rows
from separatrix.core.rows.views import one_against_rest
from tests.streamed import streamed

FORMS = {"dense": np.asarray, "sparse": csr_array}


def drawn(K, form, n=40):
    rng = np.random.default_rng(K)
    codes = np.arange(n) % K
    return labelled_rows(FORMS[form](rng.standard_normal((n, 3))), codes, K, rng.uniform(0.5, 3.0, n)), codes


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("K", [2, 3, 5])
def test_targets_are_plus_one_for_the_class_and_minus_one_for_the_rest(K, form):
    rows, codes = drawn(K, form)
    memory, stream = one_against_rest(rows, K), one_against_rest(streamed(rows), K)
    assert len(memory) == len(stream) == (1 if K == 2 else K)
    for k, (ours, theirs) in enumerate(zip(stream, memory, strict=True)):
        expected = np.where(codes == (1 if K == 2 else k), 1.0, -1.0)
        np.testing.assert_array_equal(theirs.resident().t, expected)
        np.testing.assert_array_equal(np.concatenate([block.t for block in ours.blocks(Order(6))]), expected)
        assert isinstance(ours, Rows)
        assert ours.resident() is None


@pytest.mark.parametrize("form", FORMS)
def test_objectives_are_the_same_on_a_stream(form):
    rows, _ = drawn(3, form)
    W = np.array([[0.3, -1.0, 0.5, 2.0]])
    for ours, theirs in zip(one_against_rest(streamed(rows), 3), one_against_rest(rows, 3), strict=True):
        a, b = (build_objective(each, 2, Penalty(1.0, np.ones(3))) for each in (ours, theirs))
        assert a.value_gradient(W).value == pytest.approx(b.value_gradient(W).value, rel=1e-12)
        assert a.null_value == pytest.approx(b.null_value, rel=1e-12)
        np.testing.assert_allclose(summarise(ours).mean, summarise(theirs).mean)


def test_a_sample_of_a_stream_has_rows_of_each_class_and_their_signs():
    rows, codes = drawn(4, "dense", 400)
    for k, each in enumerate(one_against_rest(streamed(rows), 4)):
        sample = each.sample(80, 0, np.array([-1.0, 1.0]))
        assert set(np.unique(sample.block.t)) == {-1.0, 1.0}
        weight = sample.standing_for(np.array([-1.0, 1.0]), np.array([3.0, 2.0])).weight
        assert weight[sample.block.t > 0].sum() == pytest.approx(2.0)
        assert np.sum(codes == k) == 100


def test_each_problem_counts_its_own_passes():
    rows, _ = drawn(3, "dense")
    first, second, _ = one_against_rest(rows, 3)
    summarise(first)
    assert (first.counter.passes, second.counter.passes, rows.counter.passes) == (1, 0, 0)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("numbers", [[], [0], [39, 3, 3, 7, 20]])
def test_chosen_rows_are_the_same_on_a_stream(form, numbers):
    rows, _ = drawn(3, form)
    numbers = np.array(numbers, dtype=np.int64)
    ours, theirs = chosen_rows(streamed(rows), numbers), chosen_rows(rows, numbers)
    np.testing.assert_array_equal(ours.homogeneous(), theirs.homogeneous())
    np.testing.assert_array_equal(ours.t, theirs.t)
    np.testing.assert_array_equal(ours.weight, theirs.weight)
