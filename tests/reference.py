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


def shortest_subgradient(W, gradient, lasso):
    """Of E plus Σ_j lasso_j |w_j|, with the gradient of E."""
    a = np.concatenate([[0.0], lasso])
    return np.where(W == 0, np.sign(gradient) * np.maximum(np.abs(gradient) - a, 0), gradient + a * np.sign(W))


def sparse_optimum(X, codes, K, weight, ridge, lasso, fit_intercept=True, most=100):
    """(E, W) at the minimum with absolute values in the penalty, and the size of the subgradient there.

    Coordinate by coordinate on the quadratic model, in Python, until nothing moves. That the subgradient is zero
    proves that it is the minimum, however it was found.
    """
    center = X.mean(axis=0) if fit_intercept else np.zeros(X.shape[1])
    scale = np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    X, ridge, lasso = (X - center) / scale, ridge / scale**2, lasso / scale / weight.sum()
    W = np.zeros((1 if K == 2 else K, X.shape[1] + 1))
    a = np.tile(np.concatenate([[0.0], lasso]), len(W))
    free = np.ones(W.shape, dtype=bool)
    free[:, 0] = fit_intercept

    def value_of(W):
        value, gradient = objective(W, X, codes, weight, ridge)
        return value + float(a @ np.abs(W.ravel())), gradient

    value, gradient = value_of(W)
    for _ in range(most):
        H = hessian(W, X, codes, weight, ridge)
        u = _coordinate_descent(H, gradient.ravel(), W.ravel(), a, np.flatnonzero(free.ravel() & (np.diag(H) > 0)))
        alpha = 1.0
        while alpha > 1e-10:
            trial = W + alpha * (u.reshape(W.shape) - W)
            there, slope = value_of(trial)
            if there <= value + 1e-16 * abs(value):
                break
            alpha /= 2
        else:
            break
        still = np.max(np.abs(trial - W)) <= 1e-13 * (1 + np.max(np.abs(W)))
        W, value, gradient = trial, there, slope
        if still:
            break
    left = np.max(np.abs(shortest_subgradient(W, gradient, lasso)[free]), initial=0.0)
    raw = np.column_stack([W[:, 0] - (W[:, 1:] / scale) @ center, W[:, 1:] / scale])
    return value, raw, float(left)


def _coordinate_descent(H, g, w, a, free):
    """Sweep after sweep; every so often a least-squares step with the signs held, where they let it."""
    u, gradient = w.copy(), g.copy()
    for sweep in range(3000):
        largest = 0.0
        for j in free:
            x = H[j, j] * u[j] - gradient[j]
            to = np.sign(x) * max(abs(x) - a[j], 0.0) / H[j, j]
            if to != u[j]:
                largest = max(largest, abs(to - u[j]))
                gradient += (to - u[j]) * H[j]
                u[j] = to
        if largest <= 1e-12 * (1 + np.max(np.abs(u))):
            break
        if sweep % 20 == 19:
            face = free[(u[free] != 0) | (a[free] == 0)]
            slope = gradient[face] + a[face] * np.sign(u[face])
            step = -np.linalg.lstsq(H[np.ix_(face, face)], slope, rcond=1e-12)[0]
            if np.all((np.sign(u[face] + step) == np.sign(u[face])) | (a[face] == 0)):
                u[face] += step
                gradient = g + H @ (u - w)
    return u
