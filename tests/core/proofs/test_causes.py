"""Every cause of a quasi-complete separation is found, proven and named."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array

import separatrix as sx
from separatrix.core.proofs.class_differences import Differences
from separatrix.core.proofs.naming import named_causes
from separatrix.core.proofs.overlap import single_columns
from separatrix.core.proofs.verdicts import QuasiSeparable


def levels(K=2, n=400, seed=0):
    """A number and three 0/1 columns: the second lacks class 1, the third class 0, the last has all classes."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % K
    rare = [rng.random(n) < 0.05, rng.random(n) < 0.05, rng.random(n) < 0.3]
    X = np.column_stack([rng.standard_normal(n), rare[0] & (y != 1), rare[1] & (y != 0), rare[2]]).astype(float)
    return X, y


@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "CSR"])
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_all_levels_that_separate_are_named(K, fit_intercept, make):
    X, y = levels(K)
    verdict = sx.separability(make(X), y, fit_intercept, names=["age", "school=Preschool", "work=Unpaid", "sex=f"])
    assert isinstance(verdict, QuasiSeparable)
    assert sorted(map(tuple, verdict.causes)) == [(1,), (2,)]
    assert "the category 'Preschool' of 'school'" in verdict.explain()
    assert "the category 'Unpaid' of 'work'" in verdict.explain()
    assert "each cause it" in verdict.explain()
    assert verdict.verify(make(X), y)
    assert verdict.verify(make(X), y, exact=True)


def test_a_cause_of_several_columns_is_found_beside_one_of_one():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 300)
    a = rng.integers(0, 4, 300).astype(float)
    b = a + y * (rng.random(300) < 0.1)  # b − a is never negative, and positive in class 1 only
    alone = (rng.random(300) < 0.05) * (y == 0)
    X = np.column_stack([rng.standard_normal(300), a, b, alone])
    verdict = sx.separability(X, y)
    assert sorted(map(tuple, verdict.causes)) == [(1, 2), (3,)]
    assert "column 1 with column 2" in verdict.explain()
    assert verdict.verify(X, y)


@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "CSR"])
@pytest.mark.parametrize("K", [2, 3])
def test_the_causes_do_not_depend_on_which_level_is_the_reference(K, make):
    """Levels 0 and 3 occur with one class only, whichever of the four levels has no column."""
    rng = np.random.default_rng(2)
    y = np.arange(400) % K
    level = rng.integers(1, 3, 400)
    level[np.flatnonzero(y == 0)[:5]], level[np.flatnonzero(y == 1)[:4]] = 0, 3
    number = rng.standard_normal(400)
    for reference in range(4):
        others = [k for k in range(4) if k != reference]
        X = make(np.column_stack([number, *(level == k for k in others)]).astype(float))
        verdict = sx.separability(X, y, names=["age", *(f"c={k}" for k in others)])
        expected = {f"the category '{k}' of 'c'" for k in (0, 3) if k != reference}
        expected |= {"the reference level of 'c'"} if reference in (0, 3) else set()
        assert {str(cause) for cause in named_causes(verdict)} == expected
        assert verdict.verify(X, y)
        assert verdict.verify(X, y, exact=True)


def test_a_further_cause_that_is_none_is_refused():
    X, y = levels()
    verdict = sx.separability(X, y)
    X[np.flatnonzero(y == 0)[0], 2] = X[np.flatnonzero(y == 1)[0], 1] = 1.0  # both levels have both classes now
    assert not verdict.verify(X, y)


def test_columns_of_any_size_keep_their_directions_exact():
    X, y = levels()
    scale = np.array([1.0, 2.0**900, 2.0**-900, 1.0])
    verdict = sx.separability(X * scale, y)
    assert sorted(map(tuple, verdict.causes)) == [(1,), (2,)]
    assert verdict.verify(X * scale, y, exact=True)


@pytest.mark.parametrize("seed", range(30))
def test_single_columns_against_every_threshold(seed):
    """By brute force: a threshold in each column such that one class is on one side and the others on the other."""
    rng = np.random.default_rng(seed)
    K = int(rng.integers(2, 4))
    X, y = rng.integers(0, 3, (12, 5)).astype(float), np.arange(12) % K
    found = {int(np.flatnonzero(v[:, 1:].any(axis=0))[0]) for v in single_columns(Differences(X, y, K))}
    expected = set()
    for j in range(5):
        for k in range(K):
            for c in np.unique(X[:, j]):
                own, others = X[y == k, j] - c, X[y != k, j] - c
                apart = (own.min() >= 0 >= others.max()) or (own.max() <= 0 <= others.min())
                if apart and np.ptp(X[:, j]) > 0:
                    expected.add(j)
    assert found == expected


def test_a_fit_names_all_of_them():
    X, y = levels()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = sx.LogisticRegression(C=np.inf).fit(X, y)
    assert model.certificate_.code == "quasi-separated"
    text = str(caught[-1].message)
    assert "column 1" in text
    assert "column 2" in text
    assert f"by {int(X[:, 1:3].any(axis=1).sum())} rows" in text
