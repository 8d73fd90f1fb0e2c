"""The slow way to Firth's likelihood: −l* written out over all rows, minimised by numerical derivatives.

Nothing here is shared with the package: the last class is the reference, where the package has contrasts of all, and
the determinant is over the columns as they come.
"""

import numpy as np
from scipy.optimize import minimize


def penalised(theta, X, codes, K, weight=None, offset=None, intercept=True):
    """l + ½ ln |I| of the weights (K − 1, columns) against the last class."""
    weight = np.ones(len(X)) if weight is None else weight
    rows = np.hstack([np.ones((len(X), 1)), X]) if intercept else X
    z = np.zeros((len(X), K)) if offset is None else offset.astype(float).copy()
    z[:, :-1] += rows @ theta.reshape(K - 1, -1).T
    log_p = z - np.logaddexp.reduce(z, axis=1, keepdims=True)
    p = np.exp(log_p)[:, :-1]
    width = rows.shape[1]
    H = p[:, :, None] * (np.eye(K - 1) - p[:, None, :])
    information = np.einsum("i,ikl,ia,ib->kalb", weight, H, rows, rows, optimize=True)
    sign, log_det = np.linalg.slogdet(information.reshape((K - 1) * width, (K - 1) * width))
    return weight @ log_p[np.arange(len(X)), codes] + 0.5 * log_det if sign > 0 else -np.inf


def optimum(X, codes, K, weight=None, offset=None, intercept=True):
    """max l* and its weights, (K − 1, columns), in standard coordinates, then back."""
    scale, center = X.std(axis=0), X.mean(axis=0) if intercept else np.zeros(X.shape[1])
    standard = (X - center) / scale

    def cost(theta):
        value = penalised(theta, standard, codes, K, weight, offset, intercept)
        return -value if np.isfinite(value) else 1e300

    theta = np.zeros((K - 1) * (X.shape[1] + intercept))
    for _ in range(3):  # numerical derivatives stop short, and begin anew with a fresh matrix
        theta = minimize(cost, theta, method="BFGS", options={"gtol": 1e-7, "finite_diff_rel_step": 1e-6}).x
        theta = minimize(cost, theta, method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-13}).x
    W = theta.reshape(K - 1, -1).copy()
    W[:, intercept * 1 :] /= scale
    if intercept:
        W[:, 0] -= W[:, 1:] @ center
    return penalised(W, X, codes, K, weight, offset, intercept), W
