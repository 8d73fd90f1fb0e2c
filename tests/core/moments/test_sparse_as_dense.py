"""A fit to CSR rows is the fit to the same rows dense, and its certificate has the objective of the stored weights.

The tables have what sums of CSR rows could lose: constant columns, columns that are constant within a class or among
the rows of positive weight, columns far from zero, stored zeros, nearly empty columns, and weights of any size.
"""

import warnings
from fractions import Fraction
from functools import partial
from itertools import combinations

import numpy as np
import pytest
from scipy.sparse import csr_array

import separatrix as sx
from separatrix.core.base.errors import SeparatrixError
from separatrix.core.moments import gather
from separatrix.core.projections import UNBOUNDED_CRITERION
from separatrix.core.rows.column_statistics import summarise
from separatrix.core.rows.memory_rows import memory_rows
from tests.campaigns import seeds
from tests.streamed import streamed

TABLES_PER_SEED = 20
CAMPAIGN = seeds(1, 100)
# Scores and objectives agree to this share of their size. The largest columns are 1e9, and their products with weights
# have an error of 1e-7.
AGREEMENT = 1e-6
# Larger scores have been divided by a variance that is a rounding error, of a class that does not vary in a direction.
LARGEST_SCORE = 1e13


def tables(seed):
    return [drawn(TABLES_PER_SEED * seed + k) for k in range(TABLES_PER_SEED)]


def drawn_column(rng, y, weight):
    n = len(y)
    plain = rng.standard_normal(n)
    value = rng.choice([1.0, 1 / 3, 0.1, -7.3, 1e-3, 1e5 / 7, 1e9 / 3])
    return [
        plain,
        np.where(rng.random(n) < 0.3, plain, 0.0),
        np.full(n, value),
        np.where(weight > 0, value, plain),
        value + np.where(y == 0, 0.0, rng.choice([0.1, 1.0, -2 / 3])),
        np.where(y == 0, value, value + plain),
        np.where(np.arange(n) == rng.integers(n), value, 0.0),
        np.where(rng.random(n) < 0.3, value, 0.0),
        np.zeros(n),
        1e9 + rng.choice([-1.0, 1.0], n),
        1e9 / 7 + plain,
        np.where(rng.random(n) < 0.5, value, value * (1 + 1e-6)),
    ][rng.integers(12)]


def drawn(seed):
    """Rows, labels, weights, and the same rows in CSR form with some zeros stored."""
    rng = np.random.default_rng(seed)
    n, d, K = int(rng.integers(12, 40)), int(rng.integers(1, 6)), int(rng.integers(2, 4))
    y = rng.permutation(np.arange(n) % K)
    weight = [
        np.ones(n),
        rng.random(n),
        rng.integers(0, 3, n).astype(float),
        np.where(rng.random(n) < 0.3, 0.0, rng.random(n)),
        10.0 ** rng.uniform(-4, 4, n),
    ][rng.integers(5)]
    X = np.column_stack([drawn_column(rng, y, weight) for _ in range(d)])
    stored = (X != 0) | (rng.random((n, d)) < rng.choice([0.0, 0.3]))
    row, column = np.nonzero(stored)
    sparse = csr_array((X[row, column], (row, column)), shape=X.shape)
    return X, sparse, y, weight


def in_two_parts(make, X, y, weight):
    model, half = make(), len(y) // 2
    model.partial_fit(X[:half], y[:half], np.unique(y), weight[:half])
    return model.partial_fit(X[half:], y[half:], None, weight[half:])


def at_once(make, X, y, weight):
    return make().fit(X, y, weight)


def unweighted(make, X, y, weight):
    return make().fit(X, y)


FITS = {
    "least squares": partial(at_once, sx.LeastSquaresClassifier),
    "least squares signed": partial(at_once, partial(sx.LeastSquaresClassifier, targets="signed")),
    "least squares, no intercept": partial(at_once, partial(sx.LeastSquaresClassifier, fit_intercept=False)),
    "ridge": partial(at_once, partial(sx.LeastSquaresClassifier, 0.3)),
    "fisher": partial(at_once, sx.FisherDiscriminant),
    "fisher midpoint": partial(at_once, partial(sx.FisherDiscriminant, threshold="midpoint")),
    "means": partial(at_once, partial(sx.FisherDiscriminant, "means")),
    "lda": partial(at_once, sx.LinearDiscriminantAnalysis),
    "lda shrunk": partial(at_once, partial(sx.LinearDiscriminantAnalysis, shrinkage=0.2)),
    "lda auto": partial(unweighted, partial(sx.LinearDiscriminantAnalysis, shrinkage="auto")),
    "qda": partial(at_once, sx.QuadraticDiscriminantAnalysis),
    "qda reg": partial(at_once, partial(sx.QuadraticDiscriminantAnalysis, reg_param=0.1)),
    "qda shrunk": partial(at_once, partial(sx.QuadraticDiscriminantAnalysis, shrinkage=0.2)),
    "qda auto": partial(unweighted, partial(sx.QuadraticDiscriminantAnalysis, shrinkage="auto")),
    "rest of least squares": partial(at_once, partial(sx.OneVsRestClassifier, sx.LeastSquaresClassifier())),
    "rest of lda": partial(at_once, partial(sx.OneVsRestClassifier, sx.LinearDiscriminantAnalysis())),
    "pairs of fisher": partial(at_once, partial(sx.OneVsOneClassifier, sx.FisherDiscriminant())),
    "pairs of least squares": partial(at_once, partial(sx.OneVsOneClassifier, sx.LeastSquaresClassifier())),
    "parts of least squares": partial(in_two_parts, sx.LeastSquaresClassifier),
    "parts of fisher": partial(in_two_parts, sx.FisherDiscriminant),
    "parts of lda": partial(in_two_parts, sx.LinearDiscriminantAnalysis),
    "parts of qda": partial(in_two_parts, sx.QuadraticDiscriminantAnalysis),
    "logistic": partial(at_once, sx.LogisticRegression),
    "svc": partial(at_once, sx.LinearSVC),
}


def tried(fit, X, y, weight):
    """The model, or None if the rows are refused or too few."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", UserWarning)
        try:
            model = fit(X, y, weight)
        except SeparatrixError:
            return None
    return model if hasattr(model, "classes_") else None


def squared_cost(model, X, y, weight):
    """In rational numbers, since weights and columns may be large and cancel."""
    K, total = len(model.classes_), Fraction(0)
    targets = np.eye(K) if model.targets == "one-hot" else 2 * np.eye(K) - 1
    targets = targets[:, -len(model.output_weights_) :]
    W = [[Fraction(w) for w in row] for row in model.output_weights_.tolist()]
    for x, k, s in zip(X.tolist(), y.tolist(), weight.tolist(), strict=True):
        outputs = [row[0] + sum(w * Fraction(v) for w, v in zip(row[1:], x, strict=True)) for row in W]
        total += Fraction(s) * sum((z - Fraction(t)) ** 2 for z, t in zip(outputs, targets[k].tolist(), strict=True))
    total += Fraction(model.l2) * sum(w * w for row in W for w in row[1:])
    return float(total / (2 * sum(map(Fraction, weight.tolist()))))


def minus_criterion(model, X, y, weight):
    along = (X - X[np.argmax(weight)]) @ model.directions_
    S = np.bincount(y, weight)
    means = np.array([np.average(along[y == k], axis=0, weights=weight[y == k]) for k in range(len(S))])
    apart = means[1:] - means[:1] if len(S) == 2 else np.sqrt(S)[:, None] * (means - S @ means / S.sum())
    if model.direction == "means":
        return -np.linalg.norm(apart)
    centred = (along - means[y]) * np.sqrt(weight)[:, None]
    return -np.trace(apart @ np.linalg.pinv(centred.T @ centred, hermitian=True) @ apart.T)


def minus_log_likelihood(model, X, y, weight):
    """The classes' posteriors by the scorer, and the density of the rows by the Gaussians."""
    posterior = model.predict_log_proba(X)[np.arange(len(y)), y]
    density = np.logaddexp.reduce(model.log_density(X) + np.log(model.priors_), axis=1)
    return -np.average(posterior + density, weights=weight)


def logistic_cost(model, X, y, weight):
    own = -model.predict_log_proba(X)[np.arange(len(y)), y]
    return (weight @ own + 0.5 * np.sum(model.coef_**2)) / weight.sum()


def hinge_cost(model, X, y, weight):
    scores = model.decision_function(X).reshape(len(y), -1)
    signs = np.where(y[:, None] == np.arange(len(model.classes_))[-scores.shape[1] :], 1, -1)
    hinge = np.maximum(0, 1 - signs * scores) ** 2
    return (weight @ hinge.sum(axis=1) + 0.5 * np.sum(model.coef_**2)) / weight.sum()


DIRECTLY = {
    sx.LeastSquaresClassifier: squared_cost,
    sx.FisherDiscriminant: minus_criterion,
    sx.LinearDiscriminantAnalysis: minus_log_likelihood,
    sx.QuadraticDiscriminantAnalysis: minus_log_likelihood,
    sx.LogisticRegression: logistic_cost,
    sx.LinearSVC: hinge_cost,
}


def near(found, expected):
    return abs(found - expected) <= AGREEMENT * max(1.0, abs(expected))


def as_good(a, b):
    """Whether two objectives agree, or else their distances to the null models'.

    Objectives of Gaussians have a term for the unit of a constant column, which the rows do not determine.
    """
    return near(a.objective, b.objective) or near(a.null_objective - a.objective, b.null_objective - b.objective)


def answers(model, X):
    """Scores; probabilities where the scores are large and the objective is flat."""
    flat = isinstance(model, sx.LogisticRegression)
    return (model.predict_proba(X) if flat else model.decision_function(X)).reshape(len(X), -1)


def apart(dense, ours, X, y, weight):
    """Whether the answers differ by more than rounding and the gaps to the minimum explain, in the mean square.

    Pairs of classes are compared one by one, since a vote turns where rounding decides a tie.
    """
    if isinstance(dense, sx.OneVsOneClassifier):
        pairs = zip(combinations(range(len(dense.classes_)), 2), dense.estimators_, ours.estimators_, strict=True)
        rows_of = {pair: np.isin(y, pair) for pair in combinations(range(len(dense.classes_)), 2)}
        return any(apart(a, b, X[rows_of[pair]], y, weight[rows_of[pair]]) for pair, a, b in pairs)
    expected, found = answers(dense, X), answers(ours, X)
    largest = max(1.0, float(np.max(np.abs(expected))))
    gaps = sum(model.certificate_.bound or 0.0 for model in (dense, ours))
    terms = np.abs(X) @ np.abs(dense.coef_).T if hasattr(dense, "coef_") else 0.0
    allowed = AGREEMENT * largest + 4 * np.sqrt(gaps) + 16 * np.finfo(float).eps * float(np.max(terms))
    return not np.average(np.sum((found - expected) ** 2, axis=1), weights=weight) <= allowed**2


def faults(name, X, sparse, y, weight):
    """What is wrong with the fit to CSR rows."""
    dense, ours = tried(FITS[name], X, y, weight), tried(FITS[name], sparse, y, weight)
    if ours is None or dense is None:
        return [] if ours is dense else ["refused in one form only"]
    if name.endswith("auto"):  # these are fitted without weights
        weight = np.ones(len(y))
    if np.max(np.abs(dense.decision_function(X))) > LARGEST_SCORE:
        return []
    found, certificate = [], ours.certificate_
    if apart(dense, ours, X[weight > 0], y[weight > 0], weight[weight > 0]):
        found.append("other scores than of dense rows")
    if not as_good(certificate, dense.certificate_):
        found.append("another objective than of dense rows")
    if name != "svc" and certificate.met != dense.certificate_.met:  # float64 ends its steps at 1e9 sooner or later
        found.append("another verdict than of dense rows")
    directly = DIRECTLY.get(type(ours))
    bounded = certificate.objective > -UNBOUNDED_CRITERION
    if directly and bounded and not near(certificate.objective, directly(ours, X, y, weight)):
        found.append("the objective is not that of the stored weights")
    return found


@pytest.mark.parametrize("seed", CAMPAIGN)
@pytest.mark.parametrize("name", FITS)
def test_csr_rows_are_fitted_as_dense_rows(name, seed):
    assert [faults(name, *table) for table in tables(seed)] == [[]] * TABLES_PER_SEED


@pytest.mark.parametrize("seed", CAMPAIGN)
def test_constant_columns_change_nothing(seed):
    for X, sparse, y, weight in tables(seed):
        varies = np.ptp(X[weight > 0], axis=0) > 0
        for name in ("least squares", "lda", "qda", "fisher"):
            with_all = tried(FITS[name], sparse, y, weight)
            without = tried(FITS[name], csr_array(X[:, varies]), y, weight) if varies.any() else None
            if without is not None:
                assert near(with_all.certificate_.objective, without.certificate_.objective), name


@pytest.mark.parametrize("pooled", [False, True])
@pytest.mark.parametrize("seed", CAMPAIGN)
def test_moments_of_csr_rows_and_streams_are_those_of_dense_rows(seed, pooled):
    for X, sparse, y, weight in tables(seed):
        K = len(np.unique(y))
        exact = gather(memory_rows(X, y, weight), K, pooled)
        spread = np.sqrt(np.diag(exact.raw_scatter.sum(axis=0)) + np.finfo(float).tiny)
        constant = np.ptp(X[weight > 0], axis=0) == 0
        for rows in (memory_rows(sparse, y, weight), streamed(memory_rows(sparse, y, weight))):
            found = gather(rows, K, pooled)
            difference = np.abs(found.raw_scatter - exact.raw_scatter) / spread / spread[:, None]
            assert np.max(difference) <= AGREEMENT
            np.testing.assert_array_equal(found.raw_mean[:, constant], np.tile(X[np.argmax(weight), constant], (K, 1)))
            assert not found.scatter[:, constant].any()
            assert not found.between[constant].any()
            np.testing.assert_array_equal(found.frame.scale[constant], 1.0)


@pytest.mark.parametrize("ranges", [False, True])
@pytest.mark.parametrize("seed", CAMPAIGN)
def test_statistics_of_csr_columns_are_those_of_dense_columns(seed, ranges):
    for X, sparse, y, weight in tables(seed):
        dense, ours = (summarise(memory_rows(of, y, weight), ranges=ranges) for of in (X, sparse))
        varies = np.ptp(X[weight > 0], axis=0) > 0
        np.testing.assert_array_equal(ours.constant, ~varies)
        np.testing.assert_allclose(ours.std[varies], dense.std[varies], rtol=AGREEMENT)
        np.testing.assert_allclose(ours.mean, dense.mean, rtol=1e-12, atol=1e-300)
