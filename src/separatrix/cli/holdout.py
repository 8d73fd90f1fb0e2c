"""Rows held out of a fit, the same share of every class: once, or each row once in K folds."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.arrays import Integers


def held_out(codes: Integers, share: float, seed: int) -> Any:
    """Which rows to hold out, (n,) of bool: ``share`` of each class, drawn by ``seed``; one row of each stays.

    Rows that do not divide evenly go to the classes with the largest remainders.

    >>> held = held_out(np.array([0] * 8 + [1] * 4), 0.25, seed=0)
    >>> held[:8].sum().item(), held[8:].sum().item()
    (2, 1)
    """
    counts = np.bincount(codes)
    wanted = share * counts
    taken = np.floor(wanted).astype(np.int64)
    left_over = round(share * len(codes)) - int(taken.sum())
    for k in np.argsort(taken - wanted, kind="stable")[: max(left_over, 0)]:
        taken[k] += 1
    taken = np.clip(taken, 0, np.maximum(counts - 1, 0))
    held = np.zeros(len(codes), dtype=bool)
    rng = np.random.default_rng(seed)
    for k, size in enumerate(taken):
        held[rng.permutation(np.flatnonzero(codes == k))[:size]] = True
    return held


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
