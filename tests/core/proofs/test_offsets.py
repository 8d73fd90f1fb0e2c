"""Columns far from zero, such as Unix times: the same verdicts as on the columns moved to zero, with proofs."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import separatrix as sx
from separatrix.core.base.errors import NotConvergedWarning
from separatrix.core.proofs.verdicts import Doubtful, Inseparable, QuasiSeparable, Separable
from tests.campaigns import seeds
from tests.streamed_table import StreamedTable

from .plain import exactly

OFFSETS = (0, 1e3, 1e5, 1e7, 1.7e9, 1e12, -1e7, -1e12)
FOUR = np.array([[0.0], [1.0], [2.0], [3.0]])
LABELS = {Separable: [0, 0, 1, 1], QuasiSeparable: [0, 0, 1, 1], Inseparable: [0, 1, 0, 1]}


def _four(kind, offset):
    """Four rows with a verdict of this kind."""
    return (FOUR if kind is not QuasiSeparable else np.array([[0.0], [1.0], [1.0], [2.0]])) + offset


def _codes(X, rng, K, noise):
    """Class numbers of rows: those of a random linear score with noise, in which every class occurs."""
    score = (X - X.mean(axis=0)) @ rng.integers(-3, 4, (X.shape[1], K))
    codes = np.argmax(score + rng.normal(0, noise, score.shape), axis=1)
    codes[rng.permutation(len(X))[:K]] = np.arange(K)
    return codes


def _draw(seed):
    """Whole numbers of 1 to 4 columns, each with an offset and a scale of its own, of 2 or 3 classes."""
    rng = np.random.default_rng(seed)
    K, d, size = int(rng.choice([2, 2, 3])), int(rng.integers(1, 5)), int(rng.choice([2, 4, 10, 100, 1000]))
    X = rng.integers(0, size, (int(rng.integers(K, 31)), d)).astype(float)
    codes = _codes(X, rng, K, rng.choice([0, 0, 0.3 * size]))
    if seed % 3 == 0:  # rows that are repeated, some of them in another class
        half = len(X) // 2
        X[len(X) - half :] = X[:half]
    return X * rng.choice([1, 1, 7, 60], d) + rng.choice(OFFSETS, d), codes


def _has(verdict, kind, X, y):
    return type(verdict) is kind and verdict.verify(X, y) and verdict.verify(X, y, exact=True)


@pytest.mark.parametrize("seed", seeds(40, 500))
def test_whole_numbers_with_offsets_have_the_verdict_of_exact_arithmetic(seed):
    X, y = _draw(seed)
    kind = exactly(X, y)
    assert _has(sx.separability(X, y), kind, X, y)
    if seed % 4 == 0:
        table = StreamedTable.of(X, y, 7)
        assert _has(sx.separability(table), kind, table, None)
        assert _has(sx.separability(csr_array(X), y), kind, csr_array(X), y)


@pytest.mark.parametrize("seed", seeds(20, 200))
def test_floats_with_offsets_have_the_verdict_of_exact_arithmetic(seed):
    rng = np.random.default_rng(seed)
    K, d = int(rng.choice([2, 2, 3])), int(rng.integers(1, 5))
    X = rng.standard_normal((int(rng.integers(K, 25)), d)) * rng.choice([1.0, 1e-4], d)
    X += rng.choice([0, 1e5, 1e7, -1e9, 1e12], d)
    y = _codes(X, rng, K, rng.choice([0, 0.5]))
    assert _has(sx.separability(X, y), exactly(X, y), X, y)


@pytest.mark.parametrize("seed", seeds(10, 100))
def test_a_few_marks_of_missing_times_hardly_ever_leave_doubt(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 50, (20, int(rng.integers(1, 3)))) + 1.7e9
    y = _codes(X, rng, 2, 5.0)
    X[rng.random(X.shape) < 0.1] = rng.choice([0, -1])
    verdict = sx.separability(X, y)
    if seed == 91:  # separable by a margin that is too thin beside the range of the columns
        assert isinstance(verdict, Doubtful)
    else:
        assert _has(verdict, exactly(X, y), X, y)


@pytest.mark.parametrize("offset", [2.0**50, 2.0**53 - 1000, -(2.0**53) + 4])
@pytest.mark.parametrize("seed", range(15))
def test_verdicts_at_the_limits_of_float64_are_never_wrong(seed, offset):
    """An intercept between the classes may not be a float."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 900, (12, 2)).astype(float)
    y = _codes(X, rng, int(rng.choice([2, 3])), 0.0)
    X[:, 0] += offset
    verdict = sx.separability(X, y)
    assert isinstance(verdict, Doubtful) or _has(verdict, exactly(X, y), X, y)


@pytest.mark.parametrize("offset", [1e7, 1.7e9, 1e12])
def test_the_verdict_is_about_the_columns_as_they_were_given(offset):
    y = LABELS[Separable]
    verdict = sx.separability(FOUR + offset, y)
    assert verdict.v.tolist() == [-offset - 1.5, 1.0]
    assert verdict.margin == 0.5
    quasi = sx.separability(_four(QuasiSeparable, offset), y)
    assert quasi.direction.tolist() == [-int(offset) - 1, 1]
    overlap = sx.separability(FOUR + offset, LABELS[Inseparable])
    assert sorted(overlap.signed[:, 1] * overlap.signed[:, 0]) == sorted(FOUR[overlap.rows, 0] + offset)


def test_without_an_intercept_nothing_is_subtracted():
    X = FOUR + 1.7e9
    assert isinstance(sx.separability(X, LABELS[Separable], fit_intercept=False), Inseparable)
    assert isinstance(sx.separability(np.hstack([X, -X]), [0, 0, 1, 1], fit_intercept=False), Inseparable)


def test_a_stream_of_more_rows_than_are_at_hand():
    rng = np.random.default_rng(0)
    near = np.round(rng.standard_normal((50_000, 3)) * 1e4)
    z = near @ [1.0, -2.0, 3.0]
    near, y, c = near[np.abs(z) > 30], z[np.abs(z) > 30] > 0, [1.7e9, 0.0, 1e12]
    X = near + c
    table = StreamedTable.of(X, y, 5000)
    verdict = sx.separability(table)
    assert _has(verdict, Separable, table, None)
    assert verdict.verify(X, y)
    b, *w = verdict.v.tolist()
    b = float(Fraction(b) + sum(Fraction(x) * int(offset) for x, offset in zip(w, c, strict=True)))
    margins = np.where(y, 1, -1) * (near @ w + b) / np.linalg.norm(w)
    assert verdict.margin == pytest.approx(margins.min(), rel=1e-11)
    y[np.argmax(near @ w)] = False
    table = StreamedTable.of(X, y, 5000)
    assert _has(sx.separability(table), Inseparable, table, None)


def test_rows_of_a_cluster():
    da = pytest.importorskip("dask.array")
    X, y = np.repeat(FOUR, 3, axis=0) + 1.7e9, np.repeat([0, 0, 1, 1], 3)
    rows, labels = da.from_array(X, chunks=(5, 1)), da.from_array(y, chunks=5)
    assert _has(sx.separability(rows, labels), Separable, rows, labels)


@pytest.mark.filterwarnings("ignore::separatrix.core.base.errors.NotConvergedWarning")
@pytest.mark.parametrize("offset", [1e7, 1.7e9, 1e12])
@pytest.mark.parametrize("kind", LABELS)
def test_classifiers_know_the_verdict(kind, offset):
    X, near, y = _four(kind, offset), _four(kind, 0.0), LABELS[kind]
    fitted = sx.LogisticRegression(C=np.inf).fit(X, y).separation_
    assert fitted is None if kind is Inseparable else type(fitted) is kind
    assert type(sx.Perceptron().fit(X, y).verdicts_[0]) is kind
    for classifier in (sx.MaxMarginClassifier(), sx.KozinecClassifier()):
        found = [(classifier.fit(rows, y).predict(rows).tolist(), classifier.coef_.tolist()) for rows in (X, near)]
        assert found[0] == found[1]
        assert type(classifier.fit(X, y).verdicts_[0]) is (type(None) if kind is Separable else kind)


def test_the_causes_are_named():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 1000, 40) + 1.7e9, rng.standard_normal(40)])
    y = (X[:, 0] > 1.7e9 + 500).astype(int)
    X[:3], y[:3] = [[1.7e9 + 500, age] for age in (-1, 0, 1)], [0, 1, 0]
    verdict = sx.separability(X, y, names=["time", "age"])
    assert _has(verdict, QuasiSeparable, X, y)
    assert str(verdict).endswith("column 'time' causes it")
    with pytest.warns(NotConvergedWarning, match="column 'time' causes it"):
        sx.LogisticRegression(C=np.inf).fit(pd.DataFrame(X, columns=["time", "age"]), y)
    found = next(one for one in sx.check(X, y, ["time", "age"], only=["separation"]))
    assert found.facts["columns"] == ["time"]
    assert found.facts["verified"]


@pytest.mark.parametrize("offset", [1e7, 1.7e9, 1e12])
def test_the_bound_of_novikoff_is_found(offset):
    found = sx.novikoff_bound(FOUR + offset, [0, 0, 1, 1])
    assert found.gamma > 0
    assert found.bound == pytest.approx((offset / 0.5) ** 2 * offset**2, rel=1e-5)
