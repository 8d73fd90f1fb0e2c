"""Firth's sums are the same whatever the threads, and take few passes over the rows."""

import numpy as np
import pytest

import separatrix as sx
from separatrix import firth
from separatrix.core.rows.labelled_table import labelled_rows
from separatrix.core.rows.protocol import counted_passes


@pytest.mark.parametrize("K", [2, 3])
def test_threads_change_no_bit(K):
    rng = np.random.default_rng(0)
    X, codes = rng.standard_normal((100_000, 16)), rng.integers(0, K, 100_000)
    found = []
    for count in (1, 2, 5):
        with sx.threads(count):
            problem = firth.pose(labelled_rows(X, codes, K), K)
            W = 0.1 * np.random.default_rng(1).standard_normal(problem.objective.shape)
            level = problem.level(W)
            found.append((level.value, problem.gradient(W, level.factor).tobytes()))
    assert found[0] == found[1] == found[2]


def test_many_rows_are_read_a_few_times():
    """The maximum on a sample is followed by gradients alone, until a few steps do: each reads the rows twice."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((20_000, 10))
    y = (rng.random(20_000) < 1 / (1 + np.exp(2.0 - X @ rng.standard_normal(10)))).astype(int)
    with counted_passes() as passes:
        model = sx.LogisticRegression(bias_reduction="firth").fit(X, y)
    assert model.certificate_.met
    assert model.n_iter_ <= 4
    assert passes[0] >= 2 * (1 + model.n_iter_)
    assert model.certificate_.passes <= 20
