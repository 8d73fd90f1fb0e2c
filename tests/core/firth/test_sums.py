"""The two homes of Firth's sums agree, whatever the threads."""

import numpy as np
import pytest

import separatrix as sx
from separatrix import firth
from separatrix.core.firth.likelihood import STRAND, ByColumns, Folded
from separatrix.core.losses import LOSSES
from separatrix.core.rows.labelled_table import labelled_rows
from separatrix.core.rows.memory_rows import memory_rows
from separatrix.core.rows.protocol import PassCounter, counted_passes

from ...problems import draw


def homes(seed):
    """A problem of two classes with its sums by columns and by partials, weights W and some F (P, 1, d + 1)."""
    drawn = draw(seed, K=2, C=np.inf)
    objective = firth.pose(labelled_rows(drawn.X, drawn.codes, 2, drawn.weight), 2, drawn.fit_intercept).objective
    rng = np.random.default_rng(seed)
    W, F = rng.standard_normal(objective.shape), rng.standard_normal((3, *objective.shape))
    return ByColumns.of(objective.rows.resident(), PassCounter()), Folded(objective.rows, objective.loss), W, F


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9 * np.max(np.abs(b), initial=0.0))


@pytest.mark.parametrize("seed", range(12))
def test_sums_by_columns_are_those_by_partials(seed):
    ours, theirs, W, F = homes(seed)
    close(ours.gram(), theirs.gram())
    close(ours.slope(W), theirs.slope(W))
    for found, expected in zip(ours.information(W), theirs.information(W), strict=True):
        close(found, expected)
    close(ours.score(W, F, 0.7), theirs.score(W, F, 0.7))


@pytest.mark.parametrize("d", [3, 70])
def test_many_entries_are_summed_as_few(d):
    """Past a size products of columns are compiled, unless there are many columns."""
    rng = np.random.default_rng(d)
    n = 300_000 // d
    X, t, weight = rng.standard_normal((n, d)), np.where(rng.random(n) < 0.2, 1.0, -1.0), rng.random(n)
    W, F = 0.3 * rng.standard_normal((1, d + 1)), rng.standard_normal((2, 1, d + 1))
    rows = memory_rows(X, t, weight)
    ours, theirs = ByColumns.of(rows.resident(), PassCounter()), Folded(rows, LOSSES["logistic"])
    close(ours.gram(), theirs.gram())
    close(ours.information(W)[1], theirs.information(W)[1])
    close(ours.score(W, F, 0.7), theirs.score(W, F, 0.7))


def test_a_score_at_other_weights_than_the_last_information():
    ours, theirs, W, F = homes(3)
    ours.information(np.zeros_like(W))
    close(ours.score(W, F, 0.7), theirs.score(W, F, 0.7))


def test_a_score_without_a_penalty_is_the_slope():
    ours, _, W, F = homes(5)
    close(ours.score(W, F, 0.0), ours.slope(W))


def test_threads_change_no_bit_of_many_pieces():
    rng = np.random.default_rng(0)
    n = 200_000
    X, t = rng.standard_normal((9, n)), np.where(rng.random(n) < 0.2, 1.0, -1.0)
    sums = ByColumns(X, t, rng.random(n), PassCounter())
    assert len(sums.pieces) > STRAND  # so that there is work for two
    W, F = rng.standard_normal((1, 9)), rng.standard_normal((9, 1, 9))
    found = []
    for count in (1, 2, 5):
        with sx.threads(count):
            value, information = sums.information(W)
            found.append((value, information.tobytes(), sums.score(W, F, 0.1).tobytes(), sums.gram().tobytes()))
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
