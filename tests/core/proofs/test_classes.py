"""Separability of more than two classes, as the softmax model has it (docs/tour.md, P7, R9)."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_iris

import separatrix as sx
from separatrix.core.base.errors import ParameterError
from separatrix.core.proofs.class_differences import Differences
from separatrix.core.proofs.verdicts import Doubtful, Inseparable, QuasiSeparable, Separable
from tests.campaigns import seeds

from .plain import by_two_programs, differences


def _draw(seed):
    rng = np.random.default_rng(seed)
    n, d, K = int(rng.integers(6, 30)), int(rng.integers(1, 4)), int(rng.integers(3, 5))
    X = rng.integers(-2, 3, (n, d)).astype(float) if seed % 2 else rng.standard_normal((n, d))
    codes = np.argmax(X @ rng.standard_normal((d, K)) + rng.normal(0, rng.choice([0.0, 0.2, 1.0]), (n, K)), axis=1)
    codes[:K] = np.arange(K)
    return X, codes, bool(rng.random() < 0.8)


@pytest.mark.parametrize("seed", seeds(30, 60))
def test_verdicts_agree_with_plain_programs_and_verify(seed):
    X, codes, fit_intercept = _draw(seed)
    verdict = sx.separability(X, codes, fit_intercept)
    assert type(verdict) is by_two_programs(X, codes, fit_intercept)
    assert verdict.verify(X, codes)
    assert verdict.verify(X, codes, exact=True)
    assert verdict.verify(csr_array(X), codes)
    assert type(sx.separability(csr_array(X), codes, fit_intercept)) is type(verdict)


def test_every_kind_of_verdict_occurs():
    kinds = {type(sx.separability(*_draw(seed))) for seed in range(60)}
    assert kinds == {Separable, QuasiSeparable, Inseparable}


def test_rows_as_differences_are_those_written_out():
    """One class's weights are taken as zero: what is left of a row is what the others multiply."""
    for seed in range(10):
        X, codes, fit_intercept = _draw(seed)
        K = int(codes.max()) + 1
        D = Differences(X, codes, K, fit_intercept)
        whole = differences(X, codes, fit_intercept)
        np.testing.assert_array_equal(D.take(np.arange(D.count)), whole[:, D.block_width :])
        sparse = Differences(csr_array(X), codes, K, fit_intercept)
        np.testing.assert_array_equal(sparse.dense(np.arange(D.count)), whole[:, D.block_width :])
        v = np.random.default_rng(seed).standard_normal(D.width)
        np.testing.assert_allclose(D.margins(v), whole[:, D.block_width :] @ v, atol=1e-12)
        np.testing.assert_allclose(sparse.margins(v), D.margins(v), atol=1e-12)
        rows, against = D.named(np.arange(D.count))
        assert np.all(codes[rows] != against)
        np.testing.assert_array_equal(D.numbers(rows, against), np.arange(D.count))


def test_separable_scores_have_the_largest_for_each_rows_own_class():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 90)
    X = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])[codes] + rng.uniform(-1, 1, (90, 2))
    labels = np.array(["ant", "bee", "cow"])[codes]
    verdict = sx.separability(X, labels)
    scores = np.column_stack([np.ones(90), X]) @ verdict.v.T
    assert verdict
    assert np.array_equal(np.argmax(scores, axis=1), codes)
    assert verdict.verify(X, labels)
    assert not verdict.verify(X, labels[::-1])
    with pytest.raises(ParameterError, match="the verdict is about 3 classes"):
        _ = verdict.hyperplane


def test_the_classes_are_named_where_they_overlap():
    X = np.array([[0.0], [1.0], [2.0], [3.0], [0.5], [2.5]])
    verdict = sx.separability(X, ["a", "b", "a", "b", "c", "c"])
    assert isinstance(verdict, Inseparable)
    assert "against 'a'" in verdict.explain()
    assert "pairs of a row and another class prove it" in verdict.explain()
    assert verdict.verify(X, ["a", "b", "a", "b", "c", "c"], exact=True)


def test_iris_has_one_class_apart_and_two_that_overlap():
    """Setosa separates from the others, and these overlap: the three are quasi-separable, no likelihood is largest."""
    X, y = load_iris(return_X_y=True)
    verdict = sx.separability(X, y)
    assert isinstance(verdict, QuasiSeparable)
    assert verdict.verify(X, y)
    assert verdict.verify(X, y, exact=True)
    assert set(y[verdict.touching]) <= {0, 1, 2}
    assert "cause" in verdict.explain()


@pytest.mark.parametrize(("k", "kind"), [(0, Separable), (1, Inseparable), (2, Inseparable)])
def test_iris_one_class_against_the_rest(k, kind):
    X, y = load_iris(return_X_y=True)
    verdict = sx.separability(X, y == k)
    assert type(verdict) is kind is by_two_programs(X, (y == k).astype(int))
    assert verdict.verify(X, y == k)
    assert verdict.verify(X, y == k, exact=True)


def test_many_rows_of_three_classes():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((30_000, 8))
    W = rng.standard_normal((3, 8))
    codes = np.argmax(X @ W.T, axis=1)
    verdict = sx.separability(X, codes)
    assert isinstance(verdict, Separable)
    assert verdict.verify(X, codes)
    codes[:5] = (codes[:5] + 1) % 3
    verdict = sx.separability(X, codes)
    assert isinstance(verdict, Inseparable)
    assert not isinstance(verdict, Doubtful)
    assert len(verdict.rows) <= 2 * 2 * 9
    assert verdict.verify(X, codes)
