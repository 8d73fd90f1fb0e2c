"""Which directions the columns determine."""

import numpy as np
import pytest

from separatrix.core.linear_algebra import split_by_gap
from separatrix.core.penalty import Penalty
from separatrix.core.problem import build_objective
from separatrix.core.rows.labelled_table import labelled_rows


def _one_hot(rng, n, levels):
    return np.hstack([np.eye(k)[rng.choice(k, n, p=np.arange(k, 0, -1) / (k * (k + 1) / 2))] for k in levels])


@pytest.mark.parametrize("C", [1.0, np.inf])
def test_the_rank_of_many_rows_with_collinear_columns(C):
    rng = np.random.default_rng(0)
    X = np.hstack([rng.standard_normal((20_000, 3)), _one_hot(rng, 20_000, (5, 4))])
    y = rng.integers(0, 2, len(X))
    problem = build_objective(
        labelled_rows(X, y, 2, np.ones(len(X))), 2, Penalty(0.0 if np.isinf(C) else 1 / C, np.ones(X.shape[1]))
    )
    assert problem.framed.sampled.n_rows < len(X)
    before = problem.passes
    assert problem.columns.rank == 3 + 1 + 4 + 3
    assert problem.passes == before + 1  # one look at all rows


def test_a_direction_that_only_rows_outside_the_sample_have_is_found():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((20_000, 4))
    X[:, 3] = X[:, :3].sum(axis=1)
    probe = build_objective(
        labelled_rows(X, rng.integers(0, 2, len(X)), 2, np.ones(len(X))), 2, Penalty(0.0, np.ones(4))
    )
    drawn = {tuple(row) for row in probe.framed.sampled.block.homogeneous()[:, 1:].round(9).tolist()}
    frame = probe.rows.frame
    outside = [
        i for i, row in enumerate(((X - frame.center) / frame.scale).round(9).tolist()) if tuple(row) not in drawn
    ]
    X[outside[:2000], 3] += rng.standard_normal(2000) * 1e-3
    problem = build_objective(
        labelled_rows(X, rng.integers(0, 2, len(X)), 2, np.ones(len(X))), 2, Penalty(0.0, np.ones(4))
    )
    assert problem.columns.rank == 5


def test_no_guess_where_eigenvalues_leave_no_gap():
    rng = np.random.default_rng(2)
    V = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    doubtful = (V * [1.0, 1.0, 1.0, 1e-11]) @ V.T
    assert split_by_gap(doubtful) is None
    clear = split_by_gap((V * [1.0, 1.0, 1.0, 0.0]) @ V.T)
    assert clear.rank == 3
    np.testing.assert_allclose(abs(clear.outside()[0] @ V[:, 3]), 1.0, rtol=1e-9)
