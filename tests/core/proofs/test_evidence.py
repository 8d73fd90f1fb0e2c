"""Evidence that is altered does not verify; and what a verdict says in words."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

import separatrix as sx
from separatrix.core.base.errors import LabelError, ParameterError
from separatrix.core.proofs.verdicts import Inseparable, QuasiSeparable, Separable

XOR = np.array([[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]])
TOUCHING = np.array([[0.0, 5.0], [1.0, 2.0], [1.0, 2.0], [2.0, 7.0]])
Y = np.array([0, 0, 1, 1])


def _overlap(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((40, 3)), rng.integers(0, 2, 40)
    return X, y, sx.separability(X, y)


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_altered_proofs_of_overlap_fail(seed, exact):
    X, y, verdict = _overlap(seed)
    assert isinstance(verdict, Inseparable)
    assert verdict.verify(X, y, exact)
    m = verdict.multipliers
    for k in range(len(m)):
        assert not replace(verdict, given=(*m[:k], m[k] + 1, *m[k + 1 :])).verify(X, y, exact)
        assert not replace(verdict, given=(*m[:k], -m[k], *m[k + 1 :])).verify(X, y, exact)
        kept = np.arange(len(m)) != k
        part = replace(verdict, rows=verdict.rows[kept], against=verdict.against[kept], given=m[:k] + m[k + 1 :])
        assert not part.verify(X, y, exact)
        moved = verdict.rows.copy()
        moved[k] = np.setdiff1d(np.flatnonzero(y == y[moved[k]]), verdict.rows)[0]
        assert not replace(verdict, rows=moved).verify(X, y, exact)
    assert not replace(verdict, against=1 - verdict.against).verify(X, y, exact)
    assert not replace(verdict, rows=verdict.rows + 100).verify(X, y, exact)
    assert not verdict.verify(X, 1 - y + (np.arange(40) == verdict.rows[0]) * (2 * y - 1), exact)
    assert not verdict.verify(X[:, :2], y, exact) or len(verdict.rows) > 4


@pytest.mark.parametrize("exact", [False, True])
def test_rows_that_do_not_span_prove_no_overlap(exact):
    verdict = sx.separability(TOUCHING, Y)
    false = Inseparable(verdict.rows, verdict.against, verdict.signed, verdict.about, verdict.given, verdict.near)
    assert not false.verify(TOUCHING, Y, exact)
    assert sx.separability(XOR, Y).verify(XOR, Y, exact)


@pytest.mark.parametrize("exact", [False, True])
def test_altered_separators_fail(exact):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 3))
    y = (X @ [1.0, -2.0, 0.5] > 0.1).astype(int)
    verdict = sx.separability(X, y)
    assert isinstance(verdict, Separable)
    assert verdict.verify(X, y, exact)
    for v in (-verdict.v, np.array([5.0, 0, 0, 0]), np.zeros(4), verdict.v[:3], np.full(4, np.nan)):
        assert not replace(verdict, v=v).verify(X, y, exact)
    wrong = X.copy()
    wrong[3] = wrong[3] - 2 * verdict.hyperplane.distance(X)[3] * verdict.v[1:] / np.linalg.norm(verdict.v[1:])
    assert not verdict.verify(wrong, y, exact)


@pytest.mark.parametrize("exact", [False, True])
def test_altered_directions_fail(exact):
    verdict = sx.separability(TOUCHING, Y)
    assert isinstance(verdict, QuasiSeparable)
    assert verdict.verify(TOUCHING, Y, exact)
    false = [
        replace(verdict, direction=-verdict.direction),
        replace(verdict, direction=0 * verdict.direction),
        replace(verdict, direction=verdict.direction + np.array([1, 0, 0], dtype=object)),
        replace(verdict, touching=np.array([0, 1, 2]), touching_against=np.array([1, 1, 0])),
        replace(verdict, touching=np.array([1]), touching_against=np.array([1])),
        replace(verdict, touching=np.zeros(0, dtype=int), touching_against=np.zeros(0, dtype=int)),
        replace(verdict, given=(1, 2)),
        replace(verdict, given=(0, 0)),
        replace(verdict, columns=np.array([0, 1])),
        replace(verdict, rows=np.array([0, 3]), against=np.array([1, 0])),
    ]
    for other in false:
        assert not other.verify(TOUCHING, Y, exact)
    moved = TOUCHING.copy()
    moved[3, 0] = 0.5
    assert not verdict.verify(moved, Y, exact)


def test_evidence_is_about_the_same_classes_and_columns():
    verdict = sx.separability(XOR, ["a", "a", "b", "b"])
    with pytest.raises(LabelError, match="it has the label 'c'"):
        verdict.verify(XOR, ["a", "a", "b", "c"])
    with pytest.raises(ParameterError, match=r"X: its shape is \(4, 2\) for 3 labels"):
        verdict.verify(XOR, ["a", "a", "b"])
    with pytest.raises(ParameterError, match="names: got 1 for 2 columns"):
        sx.separability(XOR, Y, names=["only"])


def test_the_columns_that_cause_it_are_named_categories_as_such():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 9, 60), rng.integers(0, 2, 60), rng.integers(0, 9, 60)]).astype(float)
    y = rng.integers(0, 2, 60)
    y[X[:, 1] == 1] = 1  # every student pays
    verdict = sx.separability(X, y, names=["age", "student=Yes", "income"])
    assert isinstance(verdict, QuasiSeparable)
    assert verdict.columns.tolist() == [1]
    assert "the category 'Yes' of 'student' causes it" in verdict.explain()
    assert set(verdict.touching) == set(np.flatnonzero(X[:, 1] == 0))
    assert len(verdict.rows) <= 5
    assert verdict.verify(X, y)
    assert verdict.verify(csr_array(X), y, exact=True)


def test_the_cost_of_exact_arithmetic_is_stated():
    sentence = sx.separability(XOR, Y).exact_cost(np.zeros((1_000_000, 50)))
    assert sentence.startswith("51,000,000 entries as whole numbers: about ")
    assert sx.separability(XOR, [0, 1, 2, 0]).exact_cost(XOR).startswith("24 entries")


def test_names_come_from_a_frame():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(TOUCHING, columns=["dose", "age"])
    verdict = sx.separability(frame, Y)
    assert "column 'dose' causes it" in verdict.explain()
    assert verdict.verify(frame, Y)


def test_no_column_of_a_direction_can_be_left_out():
    kinds = 0
    for seed in range(120):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 3, (20, 4)).astype(float)
        y = (X @ rng.integers(-2, 3, 4) + rng.integers(0, 2, 20) > 1).astype(int)
        if len(set(y)) < 2:
            continue
        verdict = sx.separability(X, y)
        if isinstance(verdict, QuasiSeparable):
            kinds += 1
            for j in verdict.columns:
                fewer = sx.separability(X[:, np.setdiff1d(verdict.columns, [j])], y)
                assert isinstance(fewer, Inseparable)
            assert isinstance(sx.separability(X[:, verdict.columns], y), QuasiSeparable)
    assert kinds >= 5
