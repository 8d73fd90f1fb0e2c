"""Columns far from zero, such as Unix times: the same verdicts as on the columns moved to zero, with proofs."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import separatrix as sx
from tests.campaigns import seeds

from .plain import exactly

OFFSETS = (0, 1e3, 1e5, 1e7, 1.7e9, 1e12, -1e7, -1e12)


def _draw(seed):
    """Whole numbers of 1 to 4 columns, each with an offset and a scale of its own, of 2 or 3 classes."""
    rng = np.random.default_rng(seed)
    K, d, size = int(rng.choice([2, 2, 3])), int(rng.integers(1, 5)), int(rng.choice([2, 4, 10, 100, 1000]))
    n = int(rng.integers(K, 31))
    X = rng.integers(0, size, (n, d)).astype(float)
    score = X @ rng.integers(-3, 4, (d, K)) + rng.normal(0, rng.choice([0, 0, 0.3 * size]), (n, K))
    codes = np.argmax(score, axis=1)
    codes[rng.permutation(n)[:K]] = np.arange(K)
    if seed % 3 == 0:
        X[n // 2 :] = X[: n - n // 2]
    return X * rng.choice([1, 1, 7, 60], d) + rng.choice(OFFSETS, d), codes


@pytest.mark.parametrize("seed", seeds(40, 500))
def test_whole_numbers_with_offsets_have_the_verdict_of_exact_arithmetic(seed):
    X, codes = _draw(seed)
    verdict = sx.separability(X, codes)
    assert type(verdict) is exactly(X, codes)
    assert verdict.verify(X, codes)
    assert verdict.verify(X, codes, exact=True)
