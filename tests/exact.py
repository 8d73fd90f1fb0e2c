r"""Slow and certain: what the tests of fits compare with, written apart from the package.

``objective`` is scikit-learn's, in NumPy and in the columns' own units; ``Exact`` is the same one in mpmath, with
its minimum by Newton's method to as many digits as asked:

    C Σ_i s_i ℓ(t_i, w·x_i + b) + ½ Σ w²,    ℓ the logistic loss (one score) or the softmax loss (K scores)
"""

from dataclasses import dataclass

import numpy as np
from mpmath import mp, mpf


def objective(X, y, coef, intercept, C=1.0, weight=None):
    """Scikit-learn's objective of given weights, coef (K or 1, d), in float64; C = inf: the loss alone."""
    codes = np.unique(y, return_inverse=True)[1]
    weight = np.ones(len(codes)) if weight is None else weight
    z = X @ coef.T + intercept
    if len(coef) == 1:
        z = np.column_stack([np.zeros(len(z)), z])
    top = z.max(axis=1)
    loss = top + np.log(np.exp(z - top[:, None]).sum(axis=1)) - z[np.arange(len(z)), codes]
    return np.sum(weight * loss) if np.isinf(C) else C * np.sum(weight * loss) + 0.5 * np.sum(coef**2)


@dataclass(frozen=True)
class Minimum:
    """Where the objective is least, in float64, and its value there, in mpmath."""

    coef: np.ndarray  # (K or 1, d)
    intercept: np.ndarray  # (K or 1,)
    value: mpf


class Exact:
    """Penalised logistic regression (two classes) or softmax (more), with an intercept, to ``digits`` digits.

    W is a flat list: for each score function, its intercept, then its weights in the columns' own units.
    """

    def __init__(self, X, codes, C, digits=120):
        self.digits = digits
        with mp.workdps(digits):
            self.rows = [[mpf(1), *(mpf(float(x)) for x in row)] for row in X]
            self.C = mpf(C)
        self.codes = [int(k) for k in codes]
        classes = max(self.codes) + 1
        self.K = 1 if classes == 2 else classes
        self.width = len(self.rows[0])

    def _probabilities(self, W):
        """P(class | row) of every class, and the loss of every row; the first of two classes scores 0."""
        given = []
        for row, code in zip(self.rows, self.codes, strict=True):
            z = [mp.fdot(W[k * self.width : (k + 1) * self.width], row) for k in range(self.K)]
            z = [mpf(0), *z] if self.K == 1 else z
            top = max(z)
            total = mp.fsum(mp.exp(v - top) for v in z)
            given.append(([mp.exp(v - top) / total for v in z], top + mp.log(total) - z[code]))
        return given

    def _is_weight(self, index):
        return index % self.width != 0

    def value(self, coef, intercept):
        """The objective at weights in float64, as if those were exact."""
        with mp.workdps(self.digits):
            W = [mpf(float(v)) for b, w in zip(intercept, coef, strict=True) for v in (b, *w)]
            return self._value(W)

    def _value(self, W):
        penalty = mp.fsum(w**2 for index, w in enumerate(W) if self._is_weight(index)) / 2
        return self.C * mp.fsum(loss for _, loss in self._probabilities(W)) + penalty

    def _derivatives(self, W):
        """Gradient and Hessian, in which the shift of all K scores alike is held at 0 by a curvature of its own.

        That shift changes no loss and the penalty is least without it, so steps from W = 0 never have any.
        """
        size, width = len(W), self.width
        g = [w if self._is_weight(index) else mpf(0) for index, w in enumerate(W)]
        H = mp.matrix(size, size)
        for index in range(size):
            H[index, index] = mpf(1) if self._is_weight(index) else mpf(0)
        first = 1 if self.K == 1 else 0
        for (p, _), row, code in zip(self._probabilities(W), self.rows, self.codes, strict=True):
            p = p[first:]
            for k in range(self.K):
                r = p[k] - (1 if code == k + first else 0)
                for i in range(width):
                    g[k * width + i] += self.C * r * row[i]
                for l in range(self.K):
                    h = self.C * p[k] * ((1 if k == l else 0) - p[l])
                    for i in range(width):
                        for j in range(width):
                            H[k * width + i, l * width + j] += h * row[i] * row[j]
        for i in range(width if self.K > 1 else 0):
            curvature = self.C * mp.fsum(row[i] ** 2 for row in self.rows)
            for k in range(self.K):
                for l in range(self.K):
                    H[k * width + i, l * width + i] += curvature
        return mp.matrix(g), H

    def minimum(self):
        """Newton's method, halving any step that goes up, until steps no longer change half of the digits."""
        with mp.workdps(self.digits):
            W = [mpf(0)] * (self.K * self.width)
            value = self._value(W)
            for _ in range(200):
                g, H = self._derivatives(W)
                # Columns of any size: the system is solved with a unit diagonal.
                d = [mp.sqrt(H[i, i]) for i in range(len(W))]
                scaled = mp.matrix(len(W), len(W))
                for i in range(len(W)):
                    for j in range(len(W)):
                        scaled[i, j] = H[i, j] / d[i] / d[j]
                u = mp.lu_solve(scaled, mp.matrix([g[i] / d[i] for i in range(len(W))]))
                step, before = mpf(1), value
                while True:
                    trial = [w - step * u[i] / d[i] for i, w in enumerate(W)]
                    value = self._value(trial)
                    if value <= before or step < mpf(2) ** -60:
                        break
                    step /= 2
                W = trial
                # ‖u‖² is about twice what the step gained; half of the digits are spare, for columns far from 0.
                if mp.norm(u) ** 2 < value * mpf(10) ** (-self.digits // 2):
                    break
            else:
                raise AssertionError("the reference did not converge")
            parts = [W[k * self.width : (k + 1) * self.width] for k in range(self.K)]
            coef = np.array([[float(w) for w in part[1:]] for part in parts])
            return Minimum(coef, np.array([float(part[0]) for part in parts]), value)
