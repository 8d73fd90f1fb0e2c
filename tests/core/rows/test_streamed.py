"""Rows that are read in every pass give the sums, the samples and the fits of rows in memory, to the last bit."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from separatrix.core import objective_sums
from separatrix.core.base.errors import TableError
from separatrix.core.objective_sums import CompiledSums, Gram, Hessian, ValueGradient
from separatrix.core.penalty import Penalty
from separatrix.core.problem import build_objective
from separatrix.core.rows import block, column_statistics, protocol
from separatrix.core.rows import memory_rows as memory
from separatrix.core.rows import streamed as rows_streamed
from separatrix.core.rows.column_statistics import summarise
from separatrix.core.rows.labelled_table import labelled_rows
from separatrix.core.rows.memory_rows import memory_rows
from separatrix.core.rows.protocol import Order
from separatrix.core.rows.sampling import LowestHashes
from separatrix.core.solvers.driver import run
from separatrix.core.solvers.lbfgs import LBFGS
from separatrix.core.solvers.preconditioners import Sample
from separatrix.core.solvers.stopping import Stopping
from tests.streamed import streamed

PIECES = (1, 64, 999, 5000, 10**6)


def _dense(rng, n=20_000, d=7):
    return rng.standard_normal((n, d)) * np.logspace(-2, 2, d)


def _sparse(rng, n=20_000, d=40):
    X = csr_array(random_array((n, d), density=0.1, random_state=rng, format="csr"))
    lengths = np.diff(X.indptr)
    assert lengths.min() == 0  # empty rows are cut like others
    return X


FORMS = {"dense": _dense, "float32": lambda rng: _dense(rng).astype(np.float32), "sparse": _sparse}


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks so small that the tables below have hundreds of them, in strands of one, two and four blocks.

    Sums are compiled, as they are for tables whose blocks have the usual size.
    """
    monkeypatch.setattr(column_statistics, "FEWEST_ENTRIES_TO_COMPILE_SUMS", 1)
    monkeypatch.setattr(objective_sums, "FEWEST_DENSE_ENTRIES_TO_COMPILE", 1)
    for module in (memory, rows_streamed):
        monkeypatch.setattr(module, "BLOCK_BYTES", 1 << 13)
    monkeypatch.setattr(protocol, "STRANDS_PER_LENGTH", 4)


@pytest.mark.parametrize("size", PIECES[1:])
@pytest.mark.parametrize("form", FORMS)
def test_sums_have_the_bits_of_memory(small_blocks, form, size):
    rng = np.random.default_rng(0)
    X = FORMS[form](rng)
    n, d = X.shape
    codes, weight = rng.integers(0, 2, n), rng.integers(0, 4, n).astype(float)
    rows = labelled_rows(X, codes, 2, weight)
    stream = streamed(rows, size)
    assert len(rows._edges) > 30
    problem = build_objective(rows, 2, Penalty(1.0, np.ones(d)))
    W = rng.standard_normal((1, d + 1))
    partials = [ValueGradient(problem.loss, W), Hessian(problem.loss, W)]
    if form != "float32":
        partials.append(CompiledSums.at(W, problem.rows.frame))
    for partial in partials:
        np.testing.assert_array_equal(stream.fold(partial), rows.fold(partial))
    one, other = (summarise(of, targets=np.array([1.0])) for of in (rows, stream))
    for name in ("mean", "m2", "minimum", "maximum", "pull"):
        np.testing.assert_array_equal(getattr(other, name), getattr(one, name))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("size", [999, 10**6])
def test_the_sample_is_that_of_memory(form, size):
    rng = np.random.default_rng(1)
    X = FORMS[form](rng)
    n = X.shape[0]
    if form != "sparse":
        X[:, 1] = rng.random(n) < 0.002
    codes, weight = (rng.random(n) < 0.1).astype(int), np.where(rng.random(n) < 0.2, 0.0, 1.5)
    rows = labelled_rows(X, codes, 2, weight)
    ours, theirs = (of.sample(900, 4, np.array([-1.0, 1.0])) for of in (streamed(rows, size), rows))
    assert ours.certain.any() == (form != "sparse")
    np.testing.assert_array_equal(ours.odds, theirs.odds)
    np.testing.assert_array_equal(ours.block.homogeneous(), theirs.block.homogeneous())
    np.testing.assert_array_equal(ours.block.t, theirs.block.t)
    np.testing.assert_array_equal(ours.block.weight, theirs.block.weight)


def test_the_first_pass_draws_the_sample_whatever_it_sums(small_blocks):
    rng = np.random.default_rng(5)
    X, targets = _dense(rng), np.array([-1.0, 1.0])
    rows = labelled_rows(X, rng.integers(0, 2, len(X)), 2)
    stream = replace(streamed(rows, 999), draw=LowestHashes(3000, 4, targets))
    np.testing.assert_array_equal(stream.fold(Gram(8)), rows.fold(Gram(8)))
    assert stream.source.reads == 1
    for size in (900, 3000):
        sample = stream.sample(size, 4, targets)
        np.testing.assert_array_equal(sample.block.X, rows.sample(size, 4, targets).block.X)
    assert stream.source.reads == 1
    for size, seed in ((3001, 4), (900, 5)):  # a larger sample, or one by another seed, has to be drawn anew
        sample = stream.sample(size, seed, targets)
        np.testing.assert_array_equal(sample.block.X, rows.sample(size, seed, targets).block.X)
    assert stream.source.reads == 3


def test_a_fit_has_the_bits_of_memory(small_blocks):
    rng = np.random.default_rng(2)
    X = _dense(rng, 60_000)
    codes = X[:, 2] + X[:, 3] > rng.logistic(size=60_000)
    rows = labelled_rows(X, codes.astype(int), 2)
    ends = []
    for of in (rows, streamed(rows, 777)):
        problem = build_objective(of, 2, Penalty(1.0, np.ones(7)))
        ends.append(run(LBFGS(Sample()), problem, np.zeros(problem.shape), Stopping(tol=1e-10, max_iter=100)))
    assert ends[0].status.code == ends[1].status.code == "optimal"
    np.testing.assert_array_equal(ends[1].state.W, ends[0].state.W)


@pytest.mark.parametrize("size", PIECES)
def test_batches_in_the_order_given(size):
    rows = memory_rows(np.arange(500.0)[:, None], np.ones(500))
    ours, theirs = ([b.X[:, 0].tolist() for b in of.blocks(Order(64))] for of in (streamed(rows, size), rows))
    assert ours == theirs


def test_a_source_that_shrinks_is_refused():
    rows = memory_rows(np.ones((50, 2)), np.ones(50))
    stream = streamed(rows, 20)
    assert stream.n_rows is None
    summarise(stream)
    assert stream.n_rows == 50
    stream.source.rows = memory_rows(np.ones((30, 2)), np.ones(30))
    with pytest.raises(TableError, match="50 rows when it was first read, and 30 rows now"):
        summarise(stream)


@pytest.mark.parametrize("form", FORMS)
def test_cuts_do_not_depend_on_the_pieces(form):
    X = FORMS[form](np.random.default_rng(3))
    whole = block.cuts(X, 1 << 12).tolist()
    assert len(whole) > 30
    for size in (1, 999):
        found, rows, entries = [], 0, 0
        for start in range(0, X.shape[0], size):
            part = X[start : start + size]
            found += (rows + block.cuts(part, 1 << 12, rows, entries)).tolist()
            rows, entries = rows + part.shape[0], entries + (part.nnz if form == "sparse" else 0)
        assert found == whole
