"""A stratified choice of the rows that are held out of a fit."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.base.arrays import Integers


def held_out(codes: Integers, share: float, seed: int) -> Any:
    """A mask (n,) of the rows to hold out: ``share`` of each class, at random, but never all rows of a class.

    Fractions of rows are rounded by the largest remainders, so that the total is ``share`` of all rows.

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
