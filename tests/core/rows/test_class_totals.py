"""Sums of weights by class do not depend on how the rows are divided."""

from fractions import Fraction

import numpy as np
import pytest

from separatrix.core.rows.targets import ClassTotals


@pytest.mark.parametrize("scale", [1.0, 1e-290, 1e290])
def test_totals_of_pieces_have_the_bits_of_the_totals_of_all_rows(scale):
    rng = np.random.default_rng(0)
    codes, weight = rng.integers(0, 3, 10_000), rng.lognormal(sigma=8.0, size=10_000) * scale
    whole = ClassTotals.of(codes, weight, 3)
    for size in (1, 7, 999, 4096):
        parts = [ClassTotals.of(codes[k : k + size], weight[k : k + size], 3) for k in range(0, len(codes), size)]
        total = parts[0]
        for part in parts[1:]:
            total = total.merge(part)
        np.testing.assert_array_equal(total.weight, whole.weight)
        np.testing.assert_array_equal(total.largest, whole.largest)
    for k in range(3):
        exact = sum(map(Fraction, weight[codes == k].tolist()))
        assert whole.weight[k] == float(exact)


def test_regrouped_totals_have_the_bits_of_the_totals_of_regrouped_rows():
    rng = np.random.default_rng(1)
    codes, weight, numbers = rng.integers(0, 7, 5000), rng.lognormal(sigma=8.0, size=5000), rng.integers(0, 3, 7)
    ours, whole = ClassTotals.of(codes, weight, 7).regrouped(numbers, 3), ClassTotals.of(numbers[codes], weight, 3)
    for name in ("rows", "weight", "largest"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(whole, name))
    numbers[0] = -1
    left = codes > 0
    rest = ClassTotals.of(numbers[codes[left]], weight[left], 3)
    np.testing.assert_array_equal(ClassTotals.of(codes, weight, 7).regrouped(numbers, 3).weight, rest.weight)


def test_pieces_of_equal_weights_are_summed_exactly():
    weight = np.concatenate([np.full(1001, 1 / 3), np.full(77, 1 / 7), np.full(5, 0.1)])
    codes = np.zeros(len(weight), dtype=np.int64)
    parts = [ClassTotals.of(codes[some], weight[some], 1) for some in np.split(np.arange(len(weight)), [1001, 1078])]
    assert parts[0].merge(parts[1]).merge(parts[2]).weight == ClassTotals.of(codes, weight, 1).weight
    assert parts[0].weight[0] == float(1001 * Fraction(1 / 3))
