r"""Class covariances shrunk towards a simpler one: by a number, by Ledoit and Wolf's rule, or by an estimator.

A class with the maximum-likelihood covariance C (n_k in the denominator) is shrunk by 0 ≤ δ ≤ 1:

    a number   (1 − δ) C + δ (tr C / d) I, in raw units
    "auto"     the same for standardised columns, with δ by Ledoit and Wolf (2004), J. Multivariate Analysis 88, 365–411

These are scikit-learn's definitions, so both give the same fits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.errors import ParameterError
from separatrix.moments.gather import Moments
from separatrix.rows.csr import is_sparse


def shrunk_covariances(moments: Moments, rows: list[Any], shrinkage: float | str, estimator: Any = None) -> Array:
    """One covariance per class, (K, d, d), in the coordinates of the moments.

    ``rows`` are the rows of each class, which "auto" and an estimator need in addition to the moments.

    >>> from separatrix.moments.gather import gather
    >>> from separatrix.rows import memory_rows
    >>> X, codes = np.array([[0.0], [2.0], [4.0], [8.0]]), np.array([0, 0, 1, 1])
    >>> moments = gather(memory_rows(X, codes), 2)
    >>> (shrunk_covariances(moments, [], 1.0) * moments.frame.scale**2).ravel().tolist()
    [1.0, 4.0]
    """
    scale = moments.frame.scale
    if estimator is not None:
        return np.stack([_estimated(estimator, _dense(own)) / scale / scale[:, None] for own in rows])
    C = moments.scatter / moments.weight[:, None, None]
    if isinstance(shrinkage, str):
        return np.stack([_ledoit_wolf(C[k], _dense(own), scale) for k, own in enumerate(rows)])
    mean = np.mean(np.diagonal(C, axis1=1, axis2=2) * scale**2, axis=1)
    return np.asarray((1 - shrinkage) * C + shrinkage * mean[:, None, None] * np.diag(scale**-2.0))


def _ledoit_wolf(C: Array, X: Array, scale: Array) -> Array:
    """C shrunk in standardised columns; a constant column keeps its unit."""
    from sklearn.covariance import ledoit_wolf_shrinkage
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler()
    delta = float(ledoit_wolf_shrinkage(scaler.fit_transform(X)))
    unit = scaler.scale_ / scale
    return np.asarray((1 - delta) * C + delta * np.mean(np.diag(C) / unit**2) * np.diag(unit**2))


def _estimated(estimator: Any, X: Array) -> Array:
    """The covariance that an estimator fits to the rows of a class, in raw units."""
    estimator.fit(X)
    covariance = np.asarray(getattr(estimator, "covariance_", None), dtype=np.float64)
    if covariance.shape != (X.shape[1], X.shape[1]):
        problem = f"{type(estimator).__name__} does not have a covariance_ attribute of {X.shape[1]} rows and columns"
        raise ParameterError("covariance_estimator", problem, "give one of sklearn.covariance")
    return covariance


def _dense(X: Any) -> Array:
    return np.asarray(X.toarray() if is_sparse(X) else X, dtype=np.float64)
