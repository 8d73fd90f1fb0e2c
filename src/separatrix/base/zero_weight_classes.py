"""Classes without weight: their rows are left out of a fit, and their probability is zero.

With an unpenalised intercept the likelihood of the other classes increases without limit as such a class's intercept
falls, so its best weights are w = 0 and b = −∞. ``ABSENT_CLASS_INTERCEPT`` represents that infinity.
"""

from __future__ import annotations

import numpy as np

from separatrix.base.arrays import Array, Booleans, Integers

# The intercept of a class without weight. It is finite, but lower than any score of another class.
ABSENT_CLASS_INTERCEPT = -1e300


def classes_with_weight(codes: Integers, weight: Array, n_classes: int) -> Booleans:
    """Which classes have a row of positive weight, (K,).

    >>> classes_with_weight(np.array([0, 1, 2]), np.array([1.0, 0.0, 2.0]), 3).tolist()
    [True, False, True]
    """
    return np.bincount(codes, weight, n_classes) > 0


def codes_within(codes: Integers, held: Booleans) -> Integers:
    """Renumber the classes with weight (``held``) from 0. Rows of other classes, which have weight zero, get code 0."""
    return np.where(held, np.cumsum(held) - 1, 0)[codes]


def weights_among(W: Array, held: Booleans) -> Array | None:
    """The weights (K' or 1, d + 1) of the ``held`` classes, from the weights W (K, d + 1) of all classes.

    None if a class that is not held could be predicted.

    >>> full = with_absent(np.array([[1.0, 2.0]]), np.array([True, False, True]))
    >>> weights_among(full, np.array([True, False, True])).tolist()
    [[1.0, 2.0]]
    """
    if np.any(W[~held, 1:]) or np.any(W[~held, 0] != ABSENT_CLASS_INTERCEPT):
        return None
    return W[held] if held.sum() > 2 else W[held][1:] - W[held][:1]


def with_absent(W: Array, held: Booleans) -> Array:
    """The weights (K, d + 1) of all classes, from the weights W (K' or 1, d + 1) of the ``held`` classes.

    The other classes are never predicted.
    """
    full = np.zeros((len(held), W.shape[1]))
    full[~held, 0] = ABSENT_CLASS_INTERCEPT
    full[held] = W if len(W) > 1 else np.vstack([-0.5 * W, 0.5 * W])
    return full
