"""Classes without weight: their rows drop out of a fit, and their probability is zero.

With an intercept that is not penalised the likelihood of the other classes grows for ever as such a class's intercept
falls, so its best weights are w = 0 and b = −∞. ``FAR`` stands for the infinity: a number below all other scores.
"""

from __future__ import annotations

import numpy as np

from separatrix.base.arrays import Array, Booleans, Integers

FAR = -1e300


def classes_with_weight(codes: Integers, weight: Array, n_classes: int) -> Booleans:
    """Which classes have a row of positive weight, (K,).

    >>> classes_with_weight(np.array([0, 1, 2]), np.array([1.0, 0.0, 2.0]), 3).tolist()
    [True, False, True]
    """
    return np.bincount(codes, weight, n_classes) > 0


def codes_within(codes: Integers, held: Booleans) -> Integers:
    """The classes numbered among those that are held; rows of others count as the first, with their weight of zero."""
    return np.where(held, np.cumsum(held) - 1, 0)[codes]


def weights_among(W: Array, held: Booleans) -> Array | None:
    """W (K, d + 1) of all classes for the held ones alone, (K' or 1, d + 1); None where the others have a chance.

    >>> full = with_absent(np.array([[1.0, 2.0]]), np.array([True, False, True]))
    >>> weights_among(full, np.array([True, False, True])).tolist()
    [[1.0, 2.0]]
    """
    if np.any(W[~held, 1:]) or np.any(W[~held, 0] != FAR):
        return None
    return W[held] if held.sum() > 2 else W[held][1:] - W[held][:1]


def with_absent(W: Array, held: Booleans) -> Array:
    """W (K' or 1, d + 1) of the held classes for all, (K, d + 1): the absent ones never win."""
    full = np.zeros((len(held), W.shape[1]))
    full[~held, 0] = FAR
    full[held] = W if len(W) > 1 else np.vstack([-0.5 * W, 0.5 * W])
    return full
