"""Entropy, divergence, likelihood as lecture 004 has them; closed forms against sums, quadrature and samples."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import quad

import separatrix as sx
from separatrix.core.base.errors import InputError, ParameterError
from separatrix.teach.densities import Laplace, LogisticDensity, Mixture, Normal, Uniform, expectation
from separatrix.teach.information import (
    Bernoulli,
    Categorical,
    account,
    best_normal,
    central_limit,
    conditional_account,
    cross_entropy,
    empirical,
    entropy,
    kl_divergence,
    likelihood,
    maximum_entropy,
    negative_log_likelihood,
    self_information,
)

PEAKS = Mixture((0.6, 0.4), (Normal(-3.0, 1.0), Normal(3.0, 1.5)))
DENSITIES = {
    "normal": (Normal(1.0, 4.0), stats.norm(1.0, 2.0)),
    "uniform": (Uniform(-1.0, 3.0), stats.uniform(-1.0, 4.0)),
    "Laplace": (Laplace(0.5, 2.0), stats.laplace(0.5, 2.0)),
    "logistic": (LogisticDensity(-1.0, 0.5), stats.logistic(-1.0, 0.5)),
}


@st.composite
def two_distributions(draw):
    size = draw(st.integers(2, 6))
    raw = st.lists(st.floats(0.0, 1.0).map(lambda v: 0.0 if v < 1e-12 else v), min_size=size, max_size=size)
    p, q = (np.array(draw(raw.filter(lambda v: sum(v) > 1e-3))) for _ in range(2))
    return p / p.sum(), q / q.sum()


# --------------------------------------------------------------------------------------- distributions


@pytest.mark.parametrize("phi", [0.0, 0.2, 0.5, 1.0])
def test_bernoulli(phi):  # I1
    coin = Bernoulli(phi)
    x = np.array([0.0, 1.0])
    np.testing.assert_allclose(coin.pmf(x), phi**x * (1 - phi) ** (1 - x))
    assert coin.mean == pytest.approx(x @ coin.pmf(x))
    assert coin.variance == pytest.approx((x - coin.mean) ** 2 @ coin.pmf(x))
    assert coin.sample(20_000, 0).mean() == pytest.approx(phi, abs=0.01)
    assert coin.pmf(2) == 0.0


def test_categorical_over_one_hot_rows():  # I1
    die = Categorical([0.2, 0.0, 0.8])
    np.testing.assert_array_equal(die.pmf(np.eye(3)), die.p)
    np.testing.assert_array_equal(die.mean, die.pmf(np.eye(3)) @ np.eye(3))
    np.testing.assert_allclose(die.variance, die.p * (1 - die.p))
    drawn = die.sample(20_000, 0)
    assert set(drawn.sum(axis=1)) == {1.0}
    np.testing.assert_allclose(drawn.mean(axis=0), die.mean, atol=0.01)
    np.testing.assert_allclose(drawn.var(axis=0), die.variance, atol=0.01)
    assert die.pmf([1, 1, 0]) == 0.0


@pytest.mark.parametrize("name", DENSITIES)
def test_densities_against_scipy(name):  # I1, I2
    ours, theirs = DENSITIES[name]
    x = np.linspace(-8, 8, 101)
    np.testing.assert_allclose(ours.pdf(x), theirs.pdf(x), rtol=1e-12)
    assert ours.mean == pytest.approx(theirs.mean())
    assert ours.variance == pytest.approx(theirs.var())
    assert ours.entropy_nats() == pytest.approx(float(theirs.entropy()))
    assert expectation(ours, np.ones_like) == pytest.approx(1.0, abs=1e-13)
    assert -expectation(ours, ours.log_pdf) == pytest.approx(ours.entropy_nats(), abs=1e-12)
    drawn = ours.sample(40_000, 0)
    assert drawn.mean() == pytest.approx(ours.mean, abs=0.05)
    assert drawn.var() == pytest.approx(ours.variance, rel=0.05)


def test_mixture():
    x = np.linspace(-8, 8, 11)
    by_hand = 0.6 * stats.norm(-3, 1).pdf(x) + 0.4 * stats.norm(3, np.sqrt(1.5)).pdf(x)
    np.testing.assert_allclose(PEAKS.pdf(x), by_hand, rtol=1e-12)
    eps = 1e-6
    np.testing.assert_allclose(
        PEAKS.slope(x), (PEAKS.log_pdf(x + eps) - PEAKS.log_pdf(x - eps)) / (2 * eps), rtol=1e-6, atol=1e-8
    )
    assert expectation(PEAKS, lambda x: x) == pytest.approx(PEAKS.mean, abs=1e-12)
    assert expectation(PEAKS, lambda x: (x - PEAKS.mean) ** 2) == pytest.approx(PEAKS.variance, rel=1e-12)
    assert PEAKS.sample(40_000, 0).mean() == pytest.approx(PEAKS.mean, abs=0.05)


# --------------------------------------------------------------------------------------------- entropy


@given(st.floats(1e-6, 1.0), st.floats(1e-6, 1.0))
def test_self_information_is_zero_when_certain_and_additive(p, q):  # I2
    assert self_information(1.0) == 0.0
    assert self_information(p * q) == pytest.approx(self_information(p) + self_information(q), abs=1e-12)
    assert (self_information(p) > self_information(q)) == (p < q) or np.isclose(p, q)
    assert self_information(0.0) == np.inf


def test_entropy_in_nats_and_bits():  # I2
    assert entropy([0.25] * 4, base=2) == 2.0
    assert entropy([0.25] * 4) == pytest.approx(2 * np.log(2))
    assert entropy([1.0, 0.0, 0.0]) == 0.0  # 0 log 0 = 0
    assert str(entropy([1.0])) == "0.0"
    assert entropy(Bernoulli(0.5), base=2) == 1.0
    assert entropy(Categorical([0.5, 0.25, 0.25]), base=2) == 1.5


def test_entropy_of_the_normal_can_be_negative():  # I2
    for sigma2 in (1e-4, 1.0, 9.0):
        assert entropy(Normal(3.0, sigma2)) == pytest.approx(0.5 * np.log(2 * np.pi * np.e * sigma2))
    assert entropy(Normal(0.0, 1e-4)) < 0 < entropy(Normal(0.0, 1.0))
    assert entropy(Normal(0.0, 1.0), base=2) == pytest.approx(entropy(Normal(0.0, 1.0)) / np.log(2))


@given(two_distributions())
@settings(max_examples=300, deadline=None)
def test_gibbs_inequality(pair):  # I3
    p, q = pair
    assert cross_entropy(p, q) >= entropy(p) - 1e-12
    assert kl_divergence(p, q) >= 0.0
    assert kl_divergence(p, p) == 0.0
    if np.isfinite(cross_entropy(p, q)):
        assert kl_divergence(p, q) == pytest.approx(cross_entropy(p, q) - entropy(p), abs=1e-9)
        assert kl_divergence(p, q) >= 0.5 * np.abs(p - q).sum() ** 2 - 1e-9  # Pinsker: zero only for P = Q
    else:
        assert np.any((p > 0) & (q == 0))


def test_kl_is_not_symmetric_and_may_be_infinite():  # I3
    p, q = [0.9, 0.1], [0.5, 0.5]
    assert kl_divergence(p, q) != pytest.approx(kl_divergence(q, p), rel=0.1)
    assert kl_divergence([0.5, 0.5], [1.0, 0.0]) == np.inf
    assert np.isfinite(kl_divergence([1.0, 0.0], [0.5, 0.5]))
    assert kl_divergence(Normal(0.0, 1.0), Uniform(-1.0, 1.0)) == np.inf
    assert kl_divergence(Bernoulli(0.9), Bernoulli(0.5)) == pytest.approx(kl_divergence([0.1, 0.9], [0.5, 0.5]))


@given(st.floats(-3, 3), st.floats(0.1, 5), st.floats(-3, 3), st.floats(0.1, 5))
@settings(max_examples=50, deadline=None)
def test_closed_forms_of_normals_agree_with_quadrature(a, s, b, r):  # I3
    p, q = Normal(a, s), Normal(b, r)
    closed = kl_divergence(p, q)
    assert closed >= 0
    assert closed == pytest.approx(expectation(p, lambda x: p.log_pdf(x) - q.log_pdf(x)), rel=1e-9, abs=1e-12)
    assert cross_entropy(p, q) == pytest.approx(closed + entropy(p), rel=1e-9, abs=1e-12)


def test_quadrature_of_densities_agrees_with_scipy():
    q = Normal(0.0, 4.0)
    found, _ = quad(lambda x: PEAKS.pdf(x) * (PEAKS.log_pdf(x) - q.log_pdf(x)), -20, 20, limit=200)
    assert kl_divergence(PEAKS, q) == pytest.approx(found, abs=1e-9)
    assert cross_entropy(PEAKS, q) - entropy(PEAKS) == pytest.approx(found, abs=1e-9)


# ------------------------------------------------------------------------------ the two approximations


def test_the_forward_approximation_matches_moments():  # I3
    found = best_normal(PEAKS, "p||q")
    assert found.q == Normal(PEAKS.mean, PEAKS.variance)
    for mu in (-0.2, 0.2):
        for factor in (0.9, 1.1):
            other = Normal(PEAKS.mean + mu, PEAKS.variance * factor)
            assert kl_divergence(PEAKS, other) > found.divergence


@pytest.mark.parametrize(
    "p",
    [
        PEAKS,
        Mixture((0.3, 0.7), (Normal(-3.0, 1.0), Normal(3.0, 1.0))),
        Mixture((0.5, 0.5), (Normal(0.0, 1.0), Normal(0.5, 1.0))),
        Mixture((0.2, 0.5, 0.3), (Normal(-5.0, 0.5), Normal(0.0, 1.0), Normal(4.0, 2.0))),
    ],
    ids=["left", "right", "one peak", "three peaks"],
)
def test_the_backward_approximation_is_the_best_of_all_by_brute_force(p):  # I3
    found = best_normal(p, "q||p")
    grid = [
        (kl_divergence(Normal(mu, sigma**2), p), mu, sigma)
        for mu in np.linspace(-7, 7, 71)
        for sigma in np.linspace(0.3, 5.0, 48)
    ]
    best, mu, sigma = min(grid)
    assert found.divergence <= best + 1e-12
    assert found.divergence == pytest.approx(best, abs=0.02)
    assert found.q.mu == pytest.approx(mu, abs=0.2)
    assert found.q.sigma == pytest.approx(sigma, abs=0.1)


def test_the_two_approximations_differ_as_in_the_picture():  # I3, V12's numbers
    cover, seek = best_normal(PEAKS, "p||q"), best_normal(PEAKS, "q||p")
    assert cover.q.sigma > 2.5  # spreads over both peaks
    assert seek.q.mu == pytest.approx(-3.0, abs=0.1)  # sits on the heavier one
    assert seek.q.sigma == pytest.approx(1.0, abs=0.1)
    assert len(seek.local_minima) >= 2
    assert any(q.mu == pytest.approx(3.0, abs=0.2) for q in seek.local_minima)
    values = [kl_divergence(q, PEAKS) for q in seek.local_minima]
    assert values == sorted(values)
    for q in seek.local_minima:  # each is a minimum: every small step away is worse
        for step in ((0.01, 1.0), (-0.01, 1.0), (0.0, 1.01), (0.0, 0.99)):
            assert kl_divergence(Normal(q.mu + step[0], q.sigma2 * step[1]), PEAKS) > kl_divergence(q, PEAKS)


@pytest.mark.parametrize(("mean", "variance"), [(0.0, 1.0), (-4.0, 0.01), (2.0, 50.0)])
def test_the_normal_has_the_most_entropy(mean, variance):  # I4
    found = maximum_entropy(mean, variance)
    assert len(found) == 5
    normal = found.pop("normal")
    assert normal == pytest.approx(0.5 * np.log(2 * np.pi * np.e * variance))
    assert max(found.values()) < normal - 0.01
    for density in (Uniform.of(mean, variance), Laplace.of(mean, variance), LogisticDensity.of(mean, variance)):
        assert density.mean == pytest.approx(mean)
        assert density.variance == pytest.approx(variance)
        # The gap is the divergence from the normal of the same moments.
        gap = kl_divergence(density, Normal(mean, variance))
        assert normal - density.entropy_nats() == pytest.approx(gap, abs=1e-10)


# ---------------------------------------------------------------------------------------- likelihood


def test_empirical_distribution():  # I5
    seen = empirical(["b", "a", "b", "b"])
    assert seen.outcomes.tolist() == ["a", "b"]
    assert seen.counts.tolist() == [1, 3]
    assert seen.p.tolist() == [0.25, 0.75]
    assert seen.n == 4


@given(st.lists(st.integers(0, 3), min_size=1, max_size=40), st.integers(0, 1000))
@settings(max_examples=100, deadline=None)
def test_nll_is_n_times_cross_entropy_and_kl_is_less_by_the_entropy(values, seed):  # I5
    seen = empirical(values)
    q = np.random.default_rng(seed).dirichlet(np.ones(len(seen.outcomes)))
    found = account(values, q)
    assert found.negative_log_likelihood == pytest.approx(found.n * found.cross_entropy)
    assert found.cross_entropy - found.kl == pytest.approx(found.entropy, abs=1e-9)
    assert account(values, seen.p).kl == 0.0  # the best q is p̂ itself
    assert account(values, seen.p).negative_log_likelihood <= found.negative_log_likelihood + 1e-9


def test_likelihood_is_a_product_and_may_exceed_one():  # I5
    assert likelihood(Bernoulli(0.25), [1, 0, 1]) == pytest.approx(0.25 * 0.75 * 0.25)
    assert likelihood(Categorical([0.5, 0.5]), np.eye(2)) == pytest.approx(0.25)
    assert likelihood(Normal(0.0, 1e-4), [0.0, 0.001]) > 1.0
    x = [1.0, 2.0, 4.0]
    best = negative_log_likelihood(Normal(float(np.mean(x)), float(np.var(x))), x)
    for mu, factor in ((0.1, 1.0), (-0.1, 1.0), (0.0, 1.1), (0.0, 0.9)):
        other = Normal(float(np.mean(x)) + mu, float(np.var(x)) * factor)
        assert negative_log_likelihood(other, x) > best


def test_maximum_likelihood_is_minimum_cross_entropy_is_minimum_kl():  # R10
    rng = np.random.default_rng(0)
    X = np.repeat(rng.standard_normal((12, 2)), 10, axis=0)  # repeated rows: p̂(t|x) is no longer 0 or 1
    y = (X @ [1.0, -1.0] + rng.logistic(size=120) > 0).astype(int)
    model = sx.LogisticRegression(C=np.inf).fit(X, y)
    found = conditional_account(X, y, model.predict_proba(X))
    assert found.negative_log_likelihood == pytest.approx(found.n * found.cross_entropy)
    assert found.cross_entropy == pytest.approx(model.certificate_.objective)
    assert found.cross_entropy - found.kl == pytest.approx(found.entropy)
    assert found.entropy > 0.1
    for _ in range(50):
        W = model.scorer_.W + 0.1 * rng.standard_normal((1, 3))
        other = conditional_account(X, y, sx.Scorer(W, model.classes_, "logit").probabilities(X))
        assert other.entropy == found.entropy  # the rows' own: no model changes it
        assert other.negative_log_likelihood > found.negative_log_likelihood
        assert other.cross_entropy > found.cross_entropy
        assert other.kl > found.kl


def test_without_repeated_rows_cross_entropy_and_kl_are_one_number():
    X = np.arange(6.0)[:, None]
    P = np.column_stack([np.linspace(0.9, 0.1, 6), np.linspace(0.1, 0.9, 6)])
    found = conditional_account(X, [0, 0, 1, 0, 1, 1], P)
    assert found.entropy == 0.0
    assert found.kl == pytest.approx(found.cross_entropy)


# ---------------------------------------------------------------------------------------- the limit


@pytest.mark.parametrize("distribution", [Bernoulli(0.1), Uniform(0.0, 1.0), Laplace(3.0, 1.0), PEAKS], ids=repr)
def test_sums_become_normal(distribution):  # I6
    distances = [central_limit(distribution, n, 20_000, seed=1).distance for n in (1, 10, 100)]
    assert distances[0] > 2 * distances[1]
    assert distances[0] > 3 * distances[2]
    many = central_limit(distribution, 100, 20_000, seed=1).sums
    assert abs(many.mean()) < 0.03
    assert many.std() == pytest.approx(1.0, abs=0.03)


def test_the_distance_is_the_one_of_kolmogorov_and_smirnov():
    found = central_limit(Laplace(0.0, 1.0), 3, 500, seed=0)
    assert found.distance == pytest.approx(stats.kstest(found.sums, "norm").statistic)
    np.testing.assert_array_equal(found.sums, central_limit(Laplace(0.0, 1.0), 3, 500, seed=0).sums)


# --------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Bernoulli(1.5), "phi: got 1.5"),
        (lambda: Categorical([0.5, 0.6]), "sum to 1"),
        (lambda: Categorical([0.5, 0.5]).pmf([1, 0, 0]), "one-hot rows of 2"),
        (lambda: Normal(0.0, 0.0), "sigma2: got 0"),
        (lambda: Uniform(1.0, 1.0), "high - low"),
        (lambda: Mixture((0.5, 0.6), (Normal(0, 1), Normal(1, 1))), "weights"),
        (lambda: entropy([0.5, 0.4]), "p: got"),
        (lambda: entropy([0.5, 0.5], base=1), "base: got 1"),
        (lambda: self_information(1.2), "between 0 and 1"),
        (lambda: kl_divergence([0.5, 0.5], [1.0]), "q: it has 1 outcomes"),
        (lambda: kl_divergence(Normal(0.0, 1.0), [1.0]), "give two densities, or two distributions"),
        (lambda: best_normal(PEAKS, "both"), "direction: got 'both'"),
        (lambda: central_limit(Bernoulli(0.5), 0), "n: got n=0"),
        (lambda: central_limit(Bernoulli(1.0), 5), "variance > 0"),
        (lambda: negative_log_likelihood(3, [1]), "model: got int"),
        (lambda: conditional_account([[1.0]], [0, 1], [[0.5, 0.5]]), "P: its shape"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ParameterError, match=message):
        call()


def test_what_was_seen_beside_a_coin():
    seen = empirical([0, 1, 1, 1])
    assert kl_divergence(seen, Bernoulli(0.5)) == pytest.approx(kl_divergence([0.25, 0.75], [0.5, 0.5]))
    assert kl_divergence(empirical([1, 1]), Bernoulli(0.5), base=2) == pytest.approx(1.0)
    assert kl_divergence(empirical([0, 1, 2]), Bernoulli(0.5)) == np.inf
    assert entropy(seen) == pytest.approx(entropy([0.25, 0.75]))
    with pytest.raises(InputError, match="empirical distribution over"):
        kl_divergence(Bernoulli(0.5), seen)


@pytest.mark.parametrize("codes", [["a", "b"], [0, 5], [-1, 0], [0.0, 1.0]])
def test_labels_where_class_numbers_belong(codes):
    with pytest.raises(InputError, match=r"codes: it holds .*; give the number of each row's column of P, 0 to 1"):
        conditional_account([[0.0], [1.0]], codes, [[0.5, 0.5], [0.5, 0.5]])
