"""The functions that turn scores into probabilities, and p ln p (docs/tour.md, R1, R9)."""

from __future__ import annotations

import numpy as np

from separatrix.base.arrays import Array

# Scores are clipped here before exp, since e^z overflows float64 at about 709.
LARGEST_EXPONENT = 700.0


def sigmoid(z: Array | float) -> Array:
    """σ(z) = 1/(1 + e^{−z}), without overflow for any z (docs/tour.md, R1).

    Parameters
    ----------
    z : array or float
        Scores.

    Returns
    -------
    array
        Probabilities, of the shape of z.

    Examples
    --------
    >>> from separatrix.losses import sigmoid
    >>> sigmoid(np.array([-1e4, 0.0, 1e4])).tolist()
    [0.0, 0.5, 1.0]
    """
    with np.errstate(under="ignore"):
        tail = np.exp(-np.abs(z))
    return np.where(np.asarray(z) >= 0, 1.0, tail) / (1.0 + tail)


def logit(p: Array | float) -> Array:
    """The log-odds ln(p/(1 − p)), the inverse of σ (docs/tour.md, R1).

    Parameters
    ----------
    p : array or float
        Probabilities.

    Returns
    -------
    array
        Scores, of the shape of p; ±infinity for p = 0 and p = 1.

    Examples
    --------
    >>> from separatrix.losses import logit
    >>> round(float(logit(0.75)), 4)
    1.0986
    """
    p = np.asarray(p, dtype=np.float64)
    with np.errstate(divide="ignore"):
        return np.log(p) - np.log1p(-p)


def softmax(z: Array) -> Array:
    """p_k = e^{z_k}/Σ_l e^{z_l} along the last axis, without overflow (docs/tour.md, R9).

    Parameters
    ----------
    z : array (..., K)
        Scores.

    Returns
    -------
    array (..., K)
        Probabilities, which sum to 1 along the last axis.

    Examples
    --------
    >>> from separatrix.losses import softmax
    >>> softmax(np.array([0.0, 0.0])).tolist()
    [0.5, 0.5]
    """
    with np.errstate(under="ignore"):
        p: Array = np.exp(z - z.max(axis=-1, keepdims=True))
        p /= p.sum(axis=-1, keepdims=True)
    return p


def x_log_x(p: Array) -> Array:
    """The function p ln p, with 0 ln 0 = 0 and +inf for p < 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(p > 0, p * np.log(np.where(p > 0, p, 1.0)), np.where(p == 0, 0.0, np.inf))
