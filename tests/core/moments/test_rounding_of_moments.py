"""What rounding of moments may hide is in the claims of projections and of Gaussians: judged by rational numbers."""

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from separatrix import FisherDiscriminant, LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis

CLOSENESSES = [1.0, 1e-2, 1e-4, 1e-6, 1e-7]
# From this closeness on, moments tell the two columns apart so well that the bounds are tight.
RESOLVED = 1e-4


def near_tables(closeness, K=2, seeds=12):
    """Small tables whose first two columns are nearly equal, in several places and with several weights."""
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(12, 30))
        X = rng.standard_normal((n, 3))
        X[:, 1] = X[:, 0] + closeness * X[:, 1]
        X += [0.0, 30.0, 1e3, 1e6][seed % 4]
        weight = 10.0 ** rng.uniform(-1, 1, n) if seed % 3 else np.ones(n)
        yield X, np.arange(n) % K, weight * (20 / weight.sum())


class ExactMoments:
    """Weights, means and scatters of the classes, in rational numbers; matrices are arrays of them."""

    def __init__(self, X, y, weight):
        rows, s = as_exact(X), as_exact(weight)
        self.weight, self.mean, self.scatter = [], [], []
        for k in range(int(y.max()) + 1):
            own, share = rows[y == k], s[y == k]
            total = share.sum()
            mean = (share[:, None] * own).sum(axis=0) / total
            self.weight.append(total)
            self.mean.append(mean)
            self.scatter.append((own - mean).T @ ((own - mean) * share[:, None]))
        self.total, self.within = sum(self.weight), sum(self.scatter)


def as_exact(values):
    values = np.asarray(values, dtype=float)
    return np.array([Fraction(v) for v in values.ravel().tolist()], dtype=object).reshape(values.shape)


def eliminated(S, B):
    """S⁻¹ B and the determinant of S, by elimination."""
    table, det = np.column_stack([S, B]), Fraction(1)
    for i in range(len(S)):
        det *= table[i, i]
        table[i] = table[i] / table[i, i]
        for k in range(len(S)):
            if k != i:
                table[k] = table[k] - table[k, i] * table[i]
    return table[:, len(S) :], det


def logarithm(x):
    with localcontext() as context:
        context.prec = 60
        return Fraction((Decimal(x.numerator) / Decimal(x.denominator)).ln())


@pytest.mark.parametrize("closeness", CLOSENESSES)
def test_fishers_gap_is_no_less_than_the_exact_one(closeness):
    for X, y, weight in near_tables(closeness):
        model, exact = FisherDiscriminant().fit(X, y, weight), ExactMoments(X, y, weight)
        apart, w = exact.mean[1] - exact.mean[0], as_exact(model.directions_[:, 0])
        J = (apart @ w) ** 2 / (w @ exact.within @ w)
        largest = apart @ eliminated(exact.within, apart[:, None])[0][:, 0]
        assert largest - J <= model.certificate_.claimed.known
        assert closeness < RESOLVED or model.certificate_.bound < 1e-3 * J
        assert model.certificate_.verify(X, y, weight)


def test_fishers_gap_of_several_classes_is_no_less_than_the_exact_one():
    for X, y, weight in near_tables(1e-4, K=3):
        model, exact = FisherDiscriminant().fit(X, y, weight), ExactMoments(X, y, weight)
        mean = sum(s * m for s, m in zip(exact.weight, exact.mean, strict=True)) / exact.total
        between = sum(s * np.outer(m - mean, m - mean) for s, m in zip(exact.weight, exact.mean, strict=True))
        V = as_exact(model.directions_)
        along = eliminated(V.T @ exact.within @ V, V.T @ between @ V)[0]
        gap = np.trace(eliminated(exact.within, between)[0]) - np.trace(along)
        assert 0 <= gap <= model.certificate_.bound < 1e-9


@pytest.mark.parametrize("closeness", CLOSENESSES)
def test_the_gap_of_the_means_is_no_less_than_the_exact_one(closeness):
    for X, y, weight in near_tables(closeness):
        model, exact = FisherDiscriminant("means").fit(X, y, weight), ExactMoments(X, y, weight)
        apart, w = exact.mean[1] - exact.mean[0], as_exact(model.directions_[:, 0])
        with localcontext() as context:
            context.prec = 60
            square = apart @ apart
            longest = Fraction((Decimal(square.numerator) / Decimal(square.denominator)).sqrt())
        assert longest - apart @ w <= model.certificate_.bound < 1e-12


@pytest.mark.parametrize("closeness", CLOSENESSES)
@pytest.mark.parametrize("make", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis])
def test_the_gap_of_gaussians_is_no_less_than_the_exact_one(make, closeness):
    shared = make is LinearDiscriminantAnalysis
    for X, y, weight in near_tables(closeness):
        model, exact = make().fit(X, y, weight), ExactMoments(X, y, weight)
        gap, model_ = Fraction(0), model.gaussians_
        center, scale = as_exact(model_.frame.center), as_exact(model_.frame.scale)
        for k in range(2):
            share, A = exact.weight[k] / exact.total, as_exact(model_.whiten[k]) / scale[:, None]
            covariance = exact.within / exact.total if shared else exact.scatter[k] / exact.weight[k]
            if A.shape[0] > A.shape[1]:  # a direction is left out, and nothing is claimed
                break
            M = A.T @ covariance @ A
            off = (exact.mean[k] - center - as_exact(model_.means[k]) * scale) @ A
            gap += share * logarithm(share / Fraction(model_.priors[k]))
            gap += share / 2 * (np.trace(M) - 3 - logarithm(eliminated(M, M)[1]) + off @ off)
        assert gap <= model.certificate_.claimed.known
        # A few rows more or less a class are most of the gap: n − K in the denominator.
        assert closeness < RESOLVED or model.certificate_.bound - gap < 1e-4
        assert model.certificate_.verify(X, y, weight)
