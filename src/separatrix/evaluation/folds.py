"""Folds for cross-validation: every way of measuring draws them here, so one seed is one set of folds."""

from __future__ import annotations

import numpy as np

from separatrix.base.arrays import Integers


def folds(codes: Integers, n_folds: int, seed: int) -> Integers:
    """The fold of each row, (n,): every class is dealt out evenly, in an order drawn by ``seed``.

    The dealing goes on from class to class, so that the folds are of one size, too.

    >>> found = folds(np.array([0] * 5 + [1] * 4), 3, seed=0)
    >>> np.bincount(found).tolist(), np.bincount(found[5:]).tolist()
    ([3, 3, 3], [1, 1, 2])
    """
    rng = np.random.default_rng(seed)
    shuffled = np.concatenate([rng.permutation(np.flatnonzero(codes == k)) for k in range(int(codes.max()) + 1)])
    found = np.empty(len(codes), dtype=np.int64)
    found[shuffled] = np.arange(len(codes)) % n_folds
    return found
