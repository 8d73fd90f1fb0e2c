"""Rows outside memory get the verdict of rows in memory, in a few passes, and it verifies on both."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

import separatrix as sx
from separatrix.core.base.errors import LabelError, NotFiniteError, ParameterError
from separatrix.core.proofs.naming import About
from separatrix.core.proofs.row_claims import View
from separatrix.core.proofs.separability import MOST_READS, decide_streamed, verdict_on
from separatrix.core.proofs.verdicts import Doubtful, Inseparable, QuasiSeparable, Separable
from separatrix.core.rows.labelled_table import labelled_rows
from separatrix.core.rows.memory_rows import memory_rows
from tests.campaigns import seeds
from tests.streamed import streamed, streamed_labels
from tests.streamed_table import StreamedTable

from .plain import by_two_programs
from .test_classes import _draw as draw_classes
from .test_separability import _draw


def asked(X, y, fit_intercept=True, size=7):
    """The verdict on a stream, the stream, and the same as a table."""
    table = StreamedTable.of(X, y, size)
    return sx.separability(table, fit_intercept=fit_intercept), table


@pytest.mark.parametrize("seed", seeds(60, 150))
def test_small_tables_of_two_classes(seed):
    X, y, fit_intercept = _draw(seed)
    verdict, table = asked(X, y, fit_intercept)
    assert type(verdict) is by_two_programs(X, y, fit_intercept)
    assert verdict.verify(table)
    assert verdict.verify(table, exact=True)
    assert verdict.verify(X, y)
    assert type(asked(csr_array(X), y, fit_intercept)[0]) is type(verdict)


@pytest.mark.parametrize("seed", seeds(30, 60))
def test_small_tables_of_several_classes(seed):
    X, y, fit_intercept = draw_classes(seed)
    verdict, table = asked(X, y, fit_intercept)
    assert type(verdict) is type(sx.separability(X, y, fit_intercept))
    assert verdict.verify(table)
    assert verdict.verify(X, y)
    if isinstance(verdict, QuasiSeparable):
        fewer = replace(verdict, touching=verdict.touching[1:], touching_against=verdict.touching_against[1:])
        assert not fewer.verify(table)


def _far(rng, n):
    """Rows, their distance to a hyperplane, and the labels that it gives."""
    X = rng.standard_normal((n, 10))
    w = rng.standard_normal(10)
    z = X @ w / np.linalg.norm(w) + 0.3
    return X, z, (z > 0).astype(int)


def _thin(rng, n):
    X, _, y = _far(rng, n)
    return X, y


def _one_flipped(rng, n):
    X, _, y = _far(rng, n)
    y[rng.integers(n)] ^= 1
    return X, y


def _flipped_near(rng, n):
    X, z, y = _far(rng, n)
    y[np.argsort(np.abs(z))[n // 1000]] ^= 1
    return X, y


def _rare_column(rng, n):
    X, z, _ = _far(rng, n)
    y = (z + rng.logistic(size=n) > 0).astype(int)
    X[:, 4] = 0
    X[rng.choice(np.flatnonzero(y == 1), 5, replace=False), 4] = 1
    return X, y


def _rare_column_of_both_classes(rng, n):
    X, y = _rare_column(rng, n)
    X[rng.choice(np.flatnonzero(y == 0), 1), 4] = 1
    return X, y


def _overlapping(rng, n):
    X, z, _ = _far(rng, n)
    return X, (z + rng.logistic(size=n) > 0).astype(int)


TABLES = {
    _thin: Separable,
    _one_flipped: Inseparable,
    _flipped_near: Inseparable,
    _rare_column: QuasiSeparable,
    _rare_column_of_both_classes: Inseparable,
    _overlapping: Inseparable,
}


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("make", TABLES, ids=lambda make: make.__name__)
def test_large_tables_take_few_reads(make, seed):
    X, y = make(np.random.default_rng(seed), 120_000)
    rows = streamed_labels(X, y, 2, size=10_000)
    verdict = verdict_on(rows)
    assert rows.source.reads <= 5
    assert type(verdict) is TABLES[make] is type(sx.separability(X, y))
    assert verdict.verify(X, y)
    assert verdict.verify(StreamedTable.of(X, y, 10_000))


def test_the_verdict_names_rows_by_their_numbers_in_the_table():
    X, y = _rare_column(np.random.default_rng(3), 60_000)
    verdict, _ = asked(X, y, size=10_000)
    assert set(verdict.touching.tolist()) == set(np.flatnonzero(X[:, 4] == 0).tolist())
    np.testing.assert_array_equal(np.abs(verdict.signed[:, 1:]), np.abs(X[verdict.rows]))


def test_the_margin_is_that_of_all_rows():
    X, y = _thin(np.random.default_rng(0), 60_000)
    verdict, _ = asked(X, y, size=10_000)
    assert verdict.margin == pytest.approx(np.min((2 * y - 1) * verdict.hyperplane.distance(X)))


def test_rows_without_weight_do_not_count():
    X, y = np.array([[0.0], [1.0], [2.0], [5.0]]), np.array([0, 0, 1, 0])
    weight = np.array([1.0, 1.0, 1.0, 0.0])
    assert isinstance(verdict_on(streamed(labelled_rows(X, y, 2, weight))), Separable)
    assert isinstance(verdict_on(streamed(labelled_rows(X, y, 2))), Inseparable)


def test_weights_that_separate_are_taken_as_they_are():
    X, y = _thin(np.random.default_rng(0), 60_000)
    v = sx.separability(X, y).v
    rows = streamed_labels(X, y, 2, size=10_000)
    found = decide_streamed(rows, View(2, True), About(True), np.vstack([0 * v, v]))
    assert rows.source.reads == 2
    np.testing.assert_array_equal(found.verdict.v, v)


def test_a_false_verdict_does_not_verify():
    X, y = _thin(np.random.default_rng(0), 20_000)
    verdict, table = asked(X, y)
    worst = np.argmin(np.abs(X @ verdict.v[1:] + verdict.v[0]))
    y[worst] ^= 1
    assert not verdict.verify(StreamedTable.of(X, y, 1000))
    overlap, _ = asked(X, _overlapping(np.random.default_rng(0), 20_000)[1])
    assert isinstance(overlap, Inseparable)
    assert not overlap.verify(table)
    assert not replace(overlap, rows=overlap.rows + 20_000).verify(table)


def test_undecided_is_said(monkeypatch):
    monkeypatch.setattr("separatrix.core.proofs.separability.MOST_READS", 2)
    monkeypatch.setattr("separatrix.core.proofs.separability.MOST_CORE_ROWS", 100)
    X, y = _thin(np.random.default_rng(0), 60_000)
    verdict, _ = asked(X, y, size=10_000)
    assert isinstance(verdict, Doubtful)
    assert f"{MOST_READS} passes over them did not decide it" in verdict.explain()


def test_refusals():
    X, y = np.array([[0.0], [np.nan]]), np.array([0, 1])
    with pytest.raises(NotFiniteError):
        asked(X, y)
    with pytest.raises(NotFiniteError):
        verdict_on(streamed(memory_rows(np.array([[0.0], [np.inf]]), np.array([-1.0, 1.0]))))
    table = StreamedTable.of(np.array([[0.0], [1.0]]), np.array([0, 1]), 7)
    with pytest.raises(ParameterError, match="y: got one together with"):
        sx.separability(table, y)
    with pytest.raises(ParameterError, match="names: got 2 for 1 columns"):
        sx.separability(table, names=["a", "b"])
    with pytest.raises(ParameterError, match="y: got one together with"):
        sx.separability(table).verify(table, y)
    with pytest.raises(LabelError):
        sx.separability(table).verify(StreamedTable.of(np.array([[0.0], [1.0]]), np.array([0, 7]), 7))
    with pytest.raises(ParameterError, match="it has 1 class"):
        sx.separability(StreamedTable.of(np.array([[0.0], [1.0]]), np.array([1, 1]), 7))


@pytest.mark.parametrize("n", [9_000, 19_000])
def test_tables_of_up_to_20_000_rows_are_decided_as_in_memory(n):
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, 3))
    z = X @ [1.0, -2.0, 0.5]
    X += 0.01 * np.sign(z)[:, None] * [1.0, -2.0, 0.5]
    y = (z > 0).astype(int)
    streamed, memory = sx.separability(StreamedTable.of(X, y, 1000)), sx.separability(X, y)
    assert streamed
    assert memory
    assert streamed.margin == pytest.approx(memory.margin, rel=1e-9)
