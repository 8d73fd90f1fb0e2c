"""Statements of the lectures that belong to no single class: R13, R14, S7, F8, P15, P16, M6, E3, I7."""

import numpy as np
import pytest

import separatrix as sx
from separatrix.teach.figures import boundaries, densities_and_kl

LINE, SIDES = np.arange(1.0, 9.0)[:, None], np.repeat([0, 1], 4)
XOR, XOR_SIDES = np.array([[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]]), np.array([0, 0, 1, 1])


def overlapping(n=60, d=2, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.standard_normal((n, d)) + 0.8 * y[:, None], y


@pytest.mark.parametrize("far", [None, 30.0, 100.0])
def test_logistic_regression_limits_the_influence_of_far_rows(far):  # R13
    X, y = (LINE, SIDES) if far is None else (np.vstack([LINE, [[far]]]), np.append(SIDES, 1))
    plane = sx.LogisticRegression(C=1.0).fit(X, y).hyperplane()
    assert -plane.b / plane.w[0] == pytest.approx(4.5, abs=0.02)


def test_the_gradient_of_least_squares_vanishes_at_the_fit():  # S7
    X, y = overlapping()
    ones = np.column_stack([np.ones(len(X)), X])
    T = np.eye(2)[y]
    model = sx.LeastSquaresClassifier().fit(X, y)
    W = model.output_weights_.T
    np.testing.assert_allclose(ones.T @ ones @ W - ones.T @ T, 0.0, atol=1e-9)


def test_predictions_of_least_squares_are_weighted_sums_of_targets():  # S7
    X, y = overlapping()
    a = sx.target_weights(X, X[:7])
    model = sx.LeastSquaresClassifier().fit(X, y)
    np.testing.assert_allclose(a @ np.eye(2)[y], model.outputs(X[:7]), atol=1e-10)
    np.testing.assert_allclose(a.sum(axis=1), 1.0, atol=1e-10)
    twice = np.column_stack([X, X[:, 0]])
    np.testing.assert_allclose(sx.target_weights(twice, twice[:7]), a, atol=1e-9)
    with pytest.raises(sx.errors.ParameterError, match="at"):
        sx.target_weights(X, X[:, :1])


def test_the_multiplier_of_the_means_direction():  # F8
    X, y = overlapping()
    model = sx.FisherDiscriminant("means").fit(X, y)
    w, apart = model.directions_[:, 0], model.means_[1] - model.means_[0]
    multiplier = np.linalg.norm(apart) / 2
    np.testing.assert_allclose(apart, 2 * multiplier * w, atol=1e-12)


def test_the_criterion_is_stationary_at_fishers_direction():  # F8
    X, y = overlapping(d=3)
    model = sx.FisherDiscriminant().fit(X, y)
    w, step = model.directions_[:, 0], 1e-5
    slopes = [(model.criterion(w + step * e) - model.criterion(w - step * e)) / (2 * step) for e in np.eye(3)]
    np.testing.assert_allclose(slopes, 0.0, atol=1e-7)
    away = np.eye(3)[0] - w[0] * w
    assert model.criterion(w + 0.5 * away) < model.criterion(w)


def test_the_direction_of_the_means_fails_on_elongated_classes():  # F8
    X, y = densities_and_kl.elongated()
    fisher, means = (sx.FisherDiscriminant(direction).fit(X, y) for direction in ("fisher", "means"))
    assert fisher.criterion(fisher.directions_) > 3 * fisher.criterion(means.directions_)
    assert np.mean(fisher.predict(X) != y) < 0.05 < 0.1 < np.mean(means.predict(X) != y)


def test_the_perceptrons_separator_depends_on_start_and_order():  # P15
    X, y = boundaries.APART, boundaries.APART_SIDES
    planes = [
        sx.Perceptron().fit(X, y).hyperplane(),
        sx.Perceptron().fit(X[::-1], y[::-1]).hyperplane(),
        sx.Perceptron(start=[[3.0, -2.0, 5.0]]).fit(X, y).hyperplane(),
    ]
    t = np.where(y == 1, 1, -1)
    assert all(plane.clearance(X, t) > 0 for plane in planes)
    assert not any(planes[i].same_boundary(planes[j]) for i, j in ((0, 1), (0, 2), (1, 2)))
    widest = sx.MaxMarginClassifier().fit(X, y).hyperplane()
    assert widest.clearance(X, t) > max(plane.clearance(X, t) for plane in planes)


def test_other_methods_answer_where_no_line_separates():  # P15
    X, y = overlapping()
    assert not sx.separability(X, y)
    for model in (sx.LogisticRegression(), sx.LeastSquaresClassifier(), sx.LinearSVC()):
        assert model.fit(X, y).score(X, y) > 0.6


def test_both_lemmas_hold_along_a_run():  # P16
    X, y = boundaries.SEPARABLE, boundaries.SIDES
    proof = list(sx.steps(sx.Perceptron(), X, y).proof())
    assert len(proof) == 7
    for step in proof:
        assert step.projection >= step.projection_bound - 1e-9
        assert step.squared_length <= step.squared_length_bound + 1e-9


def test_the_bias_is_the_weight_of_a_column_of_ones():  # P16
    X, y = boundaries.SEPARABLE, boundaries.SIDES
    with_bias = sx.Perceptron().fit(X, y)
    in_column = sx.Perceptron(fit_intercept=False).fit(np.column_stack([np.ones(len(X)), X]), y)
    weights = [*with_bias.intercept_, *with_bias.coef_[0]]
    np.testing.assert_allclose(in_column.coef_[0], weights, atol=1e-12)


def test_the_error_changes_by_its_gradient_to_first_order():  # R14
    E = sx.objective(*overlapping())
    w, v = np.array([0.3, -0.2, 0.5]), np.array([0.6, 0.0, -0.8])
    slope = E.gradient(w) @ v
    rest = [abs(E.value(w + eta * v) - E.value(w) - eta * slope) for eta in (1e-1, 1e-2, 1e-3)]
    assert rest[0] / rest[1] == pytest.approx(100, rel=0.1)
    assert rest[1] / rest[2] == pytest.approx(100, rel=0.1)
    steepest = -E.gradient(w) / np.linalg.norm(E.gradient(w))
    assert E.gradient(w) @ steepest <= slope


def test_independent_rows_multiply_their_likelihoods():  # R14
    X, y = overlapping()
    n, w = 25, np.array([0.1, 0.4, -0.3])
    total, first, second = (
        sx.objective(X[s], y[s]).value(w) * len(y[s]) for s in (slice(None), slice(n), slice(n, None))
    )
    assert np.exp(-total) == pytest.approx(np.exp(-first) * np.exp(-second))


def test_imbalance_makes_a_model_give_up_the_small_class():  # M6
    rng = np.random.default_rng(1)
    y = np.r_[np.zeros(950, dtype=int), np.ones(50, dtype=int)]
    X = rng.standard_normal((1000, 2)) + 0.7 * y[:, None]
    plain, balanced = (
        float(np.mean(sx.LogisticRegression(class_weight=w).fit(X, y).predict(X)[y == 1])) for w in (None, "balanced")
    )
    assert plain < 0.1
    assert balanced > 0.6


def test_one_versus_one_keeps_pairs_balanced():  # M6
    X, y = np.random.default_rng(0).standard_normal((70, 2)), np.repeat(np.arange(10), 7)
    model = sx.LeastSquaresClassifier()
    pairs, rest = (kind(model).fit(X, y).imbalance_ for kind in (sx.OneVsOneClassifier, sx.OneVsRestClassifier))
    assert np.unique(pairs, axis=0).tolist() == [[7, 7]]
    assert np.unique(rest, axis=0).tolist() == [[7, 63]]


def test_model_loss_or_optimiser_is_to_blame():  # E3
    # The model: no line separates XOR, whatever the loss; with a product of columns the same loss makes no error.
    assert sx.LogisticRegression().fit(XOR, XOR_SIDES).score(XOR, XOR_SIDES) <= 0.5
    more = sx.Basis(["x0", "x1", "x0*x1"]).fit_transform(XOR)
    assert sx.LogisticRegression().fit(more, XOR_SIDES).score(more, XOR_SIDES) == 1.0
    # The loss: a line separates these rows, and the squared loss at its exact minimum does not find one.
    X, y = np.vstack([LINE, [[30.0]]]), np.append(SIDES, 1)
    assert sx.separability(X, y)
    assert sx.LeastSquaresClassifier().fit(X, y).score(X, y) < 1.0 == sx.LogisticRegression().fit(X, y).score(X, y)
    # The optimiser: the same model and loss, stopped early, is far from the optimum, and the certificate says so.
    X, y = overlapping()
    with pytest.warns(sx.errors.NotConvergedWarning):
        early = sx.LogisticRegression(solver=sx.solvers.GradientDescent(eta=0.01), max_iter=3).fit(X, y)
    exact = sx.LogisticRegression().fit(X, y)
    assert early.certificate_.objective > exact.certificate_.objective + 0.01


def test_the_perceptron_error_approximates_the_number_of_mistakes():  # E3
    X, y = overlapping()
    box = (-3.0, 3.0, -3.0, 3.0)
    count, cost = (sx.error_surface(X, y, loss, box, points=40).value.ravel() for loss in ("zero-one", "perceptron"))
    assert np.corrcoef(count, cost)[0, 1] > 0.7
    separable = sx.error_surface(XOR[[0, 3]], [0, 1], "perceptron", box, points=41).value
    assert np.all((separable == 0) >= (sx.error_surface(XOR[[0, 3]], [0, 1], "zero-one", box, points=41).value == 0))


def test_gibbs_inequality_follows_from_the_tangent_of_the_logarithm():  # I7
    rng = np.random.default_rng(0)
    for p, q in rng.dirichlet(np.ones(5), (50, 2)):
        assert np.all(np.log(q / p) <= q / p - 1)
        assert -sx.information.kl_divergence(p, q) <= np.sum(p * (q / p - 1)) + 1e-12
        assert sx.information.cross_entropy(p, q) >= sx.information.entropy(p) - 1e-12
