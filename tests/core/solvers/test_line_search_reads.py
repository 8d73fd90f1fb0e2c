"""The line search of quasi-Newton methods reads rows outside memory once for several trials."""

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import separatrix as sx
from separatrix.core import objective_sums
from separatrix.core.objective_sums import Evaluation
from separatrix.core.penalty import Penalty
from separatrix.core.problem import build_objective
from separatrix.core.rows.labelled_table import labelled_rows
from separatrix.core.solvers.lbfgs import TRIALS_WITHIN_ROUNDING, wolfe_search


def flipped(n, d, rank):
    """Rows that a hyperplane separates, but for one row near it."""
    rng = np.random.default_rng(0)
    X, w = rng.standard_normal((n, d)), rng.standard_normal(d)
    z = X @ w
    y = (z > 0).astype(np.int64)
    row = np.argsort(abs(z))[rank]
    y[row] = 1 - y[row]
    return X, y


@dataclass
class Counted:
    """A problem that counts its reads, and is given ``most_together`` points in one of them."""

    problem: object
    most_together: int
    reads: list[int] = field(default_factory=list)

    def value_gradients(self, Ws):
        self.reads.append(len(Ws))
        return self.problem.value_gradients(Ws)


@pytest.fixture(scope="module")
def problem():
    X, codes = flipped(3000, 4, 20)
    return build_objective(labelled_rows(X, codes, 2), 2, Penalty(1.0, np.zeros(4)))


@pytest.mark.parametrize("first", [2.0**9, 2.0**3, 1.0, 2.0**-6])
def test_the_accepted_step_is_that_of_one_trial_in_each_read(problem, first):
    W = np.zeros(problem.shape)
    at = problem.value_gradient(W)
    alone, together = Counted(problem, 1), Counted(problem, 4)
    expected = wolfe_search(alone, W, at, -at.gradient, first)
    found = wolfe_search(together, W, at, -at.gradient, first)
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_allclose(found[1].gradient, expected[1].gradient, rtol=1e-9, atol=1e-12)
    assert set(alone.reads) == {1}
    assert len(together.reads) <= 1 + -(-(len(alone.reads) - 1) // 2)


@pytest.mark.parametrize("rows", [1 << 30, 1])
def test_several_points_in_one_read_have_the_values_of_several_reads(problem, rows, monkeypatch):
    monkeypatch.setattr(objective_sums, "FEWEST_SPARSE_ROWS_TO_COMPILE", rows)
    monkeypatch.setattr(objective_sums, "FEWEST_DENSE_ENTRIES_TO_COMPILE", rows)
    monkeypatch.setattr(objective_sums, "MOST_ENTRIES", -1)
    problem = problem.with_()
    assert problem.is_compiled == (rows == 1)
    rng = np.random.default_rng(0)
    Ws = list(rng.standard_normal((3, *problem.shape)))
    problem.value_gradient(Ws[0])  # computes what the problem keeps
    before = problem.rows.counter.passes
    found = problem.value_gradients(Ws)
    assert problem.rows.counter.passes == before + 1
    for W, there in zip(Ws, found, strict=True):
        one = problem.value_gradient(W)
        np.testing.assert_allclose(there.gradient, one.gradient, rtol=1e-9)
        assert there.value == pytest.approx(one.value, rel=1e-13)


class Rising:
    """E that seems to rise by rounding alone, however short the step, with a slope that is far too small to matter."""

    most_together = 1

    def __init__(self):
        self.reads = 0

    def value_gradients(self, Ws):
        self.reads += 1
        return [Evaluation(1.0 + 1e-14, np.full((1, 2), -1e-12)) for _ in Ws]


def test_a_search_that_rounding_hides_is_given_up_soon():
    rising = Rising()
    at = Evaluation(1.0, np.full((1, 2), -1e-12))
    assert wolfe_search(rising, np.zeros((1, 2)), at, np.full((1, 2), 1e-6)) is None
    assert rising.reads == 1 + TRIALS_WITHIN_ROUNDING


def test_a_flipped_row_near_the_boundary_takes_few_reads(tmp_path):
    X, codes = flipped(20_000, 8, 40)
    table = pa.table({**{f"x{j}": X[:, j] for j in range(8)}, "y": codes})
    pq.write_table(table, tmp_path / "a.parquet")
    scan = sx.scan(tmp_path / "a.parquet", target="y", cache=False)
    model = sx.LogisticRegression(C=np.inf, tol=1e-6).fit(scan)
    assert model.certificate_.met
    assert model.certificate_.passes < 80
