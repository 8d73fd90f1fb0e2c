"""The slow way: the objective written out, and its minimum by Newton's method with a pseudoinverse.

Nothing here is shared with the package: dense float64 (or longer) arrays, one formula, no frames, no blocks.
"""

from __future__ import annotations

import numpy as np


def scores(W, X):
    return X @ W[:, 1:].T + W[:, 0]


def losses(W, X, codes):
    """ℓ by row, and its derivative (n, K) in the scores."""
    z = scores(W, X)
    if len(W) == 1:
        z = np.hstack([np.zeros_like(z), z])
    top = z.max(axis=1, keepdims=True)
    e = np.exp(z - top)
    total = e.sum(axis=1, keepdims=True)
    rows = np.arange(len(codes))
    value = (np.log(total) + top)[:, 0] - z[rows, codes]
    r = e / total
    p = r.copy()
    r[rows, codes] -= 1
    return value, (r[:, 1:] if len(W) == 1 else r), p


def objective(W, X, codes, weight, ridge):
    """(1/S) (Σ s ℓ + ½ Σ_j ridge_j w_j²) and its gradient; ridge (d,) is f/C."""
    S = weight.sum()
    value, r, _ = losses(W, X, codes)
    homogeneous = np.hstack([np.ones((len(X), 1)), X])
    gradient = (weight[:, None] * r).T @ homogeneous
    gradient[:, 1:] += ridge * W[:, 1:]
    return (weight @ value + 0.5 * np.sum(ridge * W[:, 1:] ** 2)) / S, gradient / S


def hessian(W, X, codes, weight, ridge):
    S = weight.sum()
    K, width = W.shape
    _, _, p = losses(W, X, codes)
    homogeneous = np.hstack([np.ones((len(X), 1)), X])
    H = np.zeros((K * width, K * width))
    for k in range(K):
        for j in range(K):
            if K == 1:
                h = p[:, 0] * p[:, 1]
            else:
                h = p[:, k] * ((k == j) - p[:, j])
            H[k * width : (k + 1) * width, j * width : (j + 1) * width] = homogeneous.T @ (
                homogeneous * (weight * h)[:, None]
            )
        for j in range(1, width):
            H[k * width + j, k * width + j] += ridge[j - 1]
    return H / S


def optimum(X, codes, K, weight, ridge, fit_intercept=True, most=200):
    """(E, W) at the minimum, to rounding."""
    W = np.zeros((1 if K == 2 else K, X.shape[1] + 1))
    free = np.ones(W.shape, dtype=bool)
    free[:, 0] = fit_intercept
    free = free.ravel()
    value, gradient = objective(W, X, codes, weight, ridge)
    idle = 0
    for _ in range(most):
        H = hessian(W, X, codes, weight, ridge)[np.ix_(free, free)]
        step = np.zeros(W.size)
        step[free] = -np.linalg.pinv(H, rcond=1e-13, hermitian=True) @ gradient.ravel()[free]
        alpha = 1.0
        while alpha > 1e-12:
            trial = W + alpha * step.reshape(W.shape)
            there, slope = objective(trial, X, codes, weight, ridge)
            if there <= value + 1e-16 * abs(value):
                break
            alpha /= 2
        else:
            break
        idle = idle + 1 if there >= value else 0
        W, value, gradient = trial, there, slope
        if idle >= 3:
            break
    return value, W
