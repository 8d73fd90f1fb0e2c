"""Folds for cross-validation. All cross-validations draw them here, so one seed always gives the same folds."""

from __future__ import annotations

import numpy as np

from separatrix.base.arrays import AnyArray, Integers


def stratified_folds(
    codes: Integers, n_folds: int, seed: int, *, among: AnyArray | None = None, draw_first: bool = False
) -> Integers:
    """The fold of each row, (n,). Every class is spread evenly over the folds.

    The rows of each class are shuffled and dealt to the folds in turn.

    Parameters
    ----------
    codes : (n,) array of int
        The class of each row.
    n_folds : int
        The number of folds.
    seed : int
        The seed of the shuffles.
    among : (n,) array of bool, optional
        The rows to deal, by default all. The other rows get −1: they are in no fold.
    draw_first : bool, default False
        Whether each class starts at a randomly drawn fold. By default, each class starts at the fold after the last
        one that the previous class was dealt to, so that the sizes of folds differ by at most one row.

    Examples
    --------
    >>> fold = stratified_folds(np.array([0] * 5 + [1] * 4), 3, seed=0)
    >>> np.bincount(fold).tolist(), np.bincount(fold[5:]).tolist()
    ([3, 3, 3], [1, 1, 2])
    """
    rng, fold, first = np.random.default_rng(seed), np.full(len(codes), -1, dtype=np.int64), 0
    for k in range(int(codes.max()) + 1):
        members = rng.permutation(np.flatnonzero(codes == k if among is None else (codes == k) & among))
        if draw_first:
            first = int(rng.integers(n_folds))
        fold[members] = (np.arange(len(members)) + first) % n_folds
        first += len(members)
    return fold
