"""What Firth's likelihood and its maximum obey."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

import separatrix as sx
from separatrix import LogisticRegression, firth
from separatrix.core.rows.labelled_table import labelled_rows

from ...problems import draw
from .reference import optimum, penalised


def fitted(X, y, sample_weight=None, offset=None, **settings):
    model = LogisticRegression(bias_reduction="firth", **settings).fit(X, y, sample_weight, offset)
    assert model.certificate_.met
    assert model.certificate_.verify(X, y, sample_weight, offset)
    return model


def weights(model):
    """(K − 1, d + 1) against the last class; for two classes of the second against the first."""
    W = np.column_stack([model.intercept_, model.coef_])
    return W if len(W) == 1 else (W - W[-1])[:-1]


def rows(K=2, n=40, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * np.logspace(-1, 1, d) + 2.0
    y = rng.integers(0, K, n)
    y[:K] = np.arange(K)
    return X, y


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_the_gradient_is_the_numerical_derivative(seed, sparse):
    drawn = draw(seed, C=np.inf)
    X = sp.csr_array(drawn.X) if sparse else drawn.X
    problem = firth.pose(labelled_rows(X, drawn.codes, drawn.K, drawn.weight), drawn.K, drawn.fit_intercept)
    shape, space = problem.objective.shape, problem.objective.subspace
    W = 0.5 * np.random.default_rng(seed).standard_normal(shape)
    gradient = problem.gradient(W, problem.level(W).factor)
    for _ in range(4):
        V = space.expand(np.random.default_rng(seed).standard_normal(space.reduce(W).shape))
        h = 1e-5
        slope = (problem.level(W + h * V).value - problem.level(W - h * V).value) / (2 * h)
        assert np.sum(gradient * V) == pytest.approx(slope, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_two_classes_against_the_slow_way(seed, intercept):
    X, y = rows(2, 25, 2, seed)
    rng = np.random.default_rng(seed)
    weight, offset = rng.integers(1, 5, 25).astype(float), rng.normal(0, 1, 25)
    beside = np.column_stack([-offset, np.zeros(25)])  # the reference's last class is the second
    top, W = optimum(X, y, 2, weight, beside, intercept)
    model = fitted(X, y, weight, offset, fit_intercept=intercept)
    ours = -weights(model)[:, (not intercept) * 1 :]
    np.testing.assert_allclose(ours, W, rtol=1e-4, atol=1e-5)
    assert penalised(ours, X, y, 2, weight, beside, intercept) >= top - 1e-10


@pytest.mark.parametrize("intercept", [True, False])
def test_three_classes_against_the_slow_way(intercept):
    X, y = rows(3, 30, 2, 1)
    rng = np.random.default_rng(1)
    weight, offset = rng.integers(1, 5, 30).astype(float), rng.normal(0, 1, (30, 3))
    top, W = optimum(X, y, 3, weight, offset, intercept)
    model = fitted(X, y, weight, offset, fit_intercept=intercept)
    ours = weights(model)[:, (not intercept) * 1 :]
    np.testing.assert_allclose(ours, W, rtol=1e-3, atol=1e-4)
    assert penalised(ours, X, y, 3, weight, offset, intercept) >= top - 1e-10


@pytest.mark.parametrize("K", [2, 3, 4])
def test_a_saturated_model_adds_half_a_row_to_every_cell(K):
    """Firth 1993, section 4: with a weight for every cell the penalty is that of half a row more in each."""
    counts = np.random.default_rng(K).integers(0, 9, (2, K)) + np.eye(2, K, dtype=int)
    counts[1, 0] = 0  # an empty cell separates
    x, y = np.repeat([0, 1], K), np.tile(np.arange(K), 2)
    model = fitted(x[:, None], y, counts.ravel().astype(float))
    p = (counts + 0.5) / (counts + 0.5).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba([[0], [1]]), p, rtol=1e-7)


@pytest.mark.parametrize("K", [2, 3])
def test_units_shifts_and_constant_columns_change_nothing(K):
    X, y = rows(K)
    model, scale, shift = fitted(X, y), np.array([1e-3, 7.0, 1e5]), np.array([3.0, -100.0, 2e5])
    other = fitted(X * scale + shift, y)
    np.testing.assert_allclose(other.coef_ * scale, model.coef_, rtol=1e-6)
    assert other.certificate_.objective == pytest.approx(model.certificate_.objective, rel=1e-11)
    with_constant = fitted(np.column_stack([X, np.full(len(X), 4.0)]), y)
    np.testing.assert_allclose(with_constant.coef_[:, :3], model.coef_, rtol=1e-6)
    assert np.all(with_constant.coef_[:, 3] == 0)


@pytest.mark.parametrize("K", [2, 3])
def test_a_collinear_column_changes_no_probability(K):
    X, y = rows(K)
    model = fitted(X, y)
    wide = np.column_stack([X, X[:, 0] - 2 * X[:, 1]])
    other = fitted(wide, y)
    np.testing.assert_allclose(other.predict_proba(wide), model.predict_proba(X), rtol=1e-6)
    assert other.certificate_.rank == 4
    assert other.certificate_.objective == pytest.approx(model.certificate_.objective, rel=1e-10)


def test_no_class_is_the_reference():
    X, y = rows(3)
    model = fitted(X, y)
    order = np.array([2, 0, 1])
    np.testing.assert_allclose(fitted(X, order[y]).predict_proba(X)[:, order], model.predict_proba(X), rtol=1e-6)


@pytest.mark.parametrize("K", [2, 3])
def test_weights_count_rows(K):
    X, y = rows(K)
    count = np.random.default_rng(5).integers(0, 5, len(y))
    count[:K] = 1
    weighted, repeated = fitted(X, y, count.astype(float)), fitted(np.repeat(X, count, axis=0), np.repeat(y, count))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-6, atol=1e-9)
    assert weighted.certificate_.objective == pytest.approx(repeated.certificate_.objective, rel=1e-11)
    assert weighted.certificate_.null_objective == pytest.approx(repeated.certificate_.null_objective, rel=1e-11)


def test_class_weights_multiply_sample_weights():
    X, y = rows(2)
    s = np.random.default_rng(2).uniform(0.5, 2.0, len(y))
    by_class, by_row = fitted(X, y, s, class_weight={0: 1.0, 1: 3.0}), fitted(X, y, s * np.where(y == 1, 3.0, 1.0))
    np.testing.assert_allclose(by_class.coef_, by_row.coef_, rtol=1e-7)


@pytest.mark.parametrize("K", [2, 3])
def test_an_offset_along_the_columns_is_taken_off_their_weights(K):
    X, y = rows(K)
    known = np.random.default_rng(3).normal(0, 0.3, (1 if K == 2 else 3, 3))
    known -= known.mean(axis=0) * (K > 2)
    offset = X @ known.T
    model, beside = fitted(X, y), fitted(X, y, offset=offset[:, 0] if K == 2 else offset)
    np.testing.assert_allclose(beside.coef_, model.coef_ - known, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(beside.intercept_, model.intercept_, rtol=1e-5, atol=1e-6)
    problem, W = firth.posed_again(beside, X, y, None, offset)
    plain, V = firth.posed_again(model, X, y)
    contrast = None if K == 2 else [1, -1, 0]
    np.testing.assert_allclose(
        firth.profile_interval(problem, W, 0, contrast=contrast),
        firth.profile_interval(plain, V, 0, contrast=contrast),
        rtol=1e-5,
    )


@pytest.mark.parametrize("K", [2, 3])
def test_the_null_model_in_closed_form_is_the_one_that_is_fitted(K):
    X, y = rows(K)
    nothing = np.zeros((len(y), 1 if K == 2 else K))
    closed, found = (
        firth.pose(labelled_rows(X, y, K), K),
        firth.pose(labelled_rows(X, y, K, offset=nothing), K, n_offsets=nothing.shape[1]),
    )
    assert firth.null_value(closed) == pytest.approx(firth.null_value(found), rel=1e-11)


@pytest.mark.parametrize("K", [2, 3])
def test_dense_and_sparse_and_any_number_of_threads(K):
    X, y = rows(K, n=200)
    X[X < 1] = 0.0
    dense, sparse = fitted(X, y), fitted(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-6)
    found = []
    for count in (1, 2, 5):
        with sx.threads(count):
            found.append(fitted(X, y).coef_.tobytes())
    assert len(set(found)) == 1


@pytest.mark.parametrize("K", [2, 3])
def test_complete_separation_has_finite_weights(K):
    X = np.arange(6.0 * K)[:, None]
    y = np.repeat(np.arange(K), 6)
    assert np.all(np.isfinite(weights(fitted(X, y))))
    one_each = fitted(np.arange(float(K))[:, None], np.arange(K))
    assert np.all(np.isfinite(weights(one_each)))
    np.testing.assert_array_equal(one_each.predict(np.arange(float(K))[:, None]), np.arange(K))


def test_a_class_of_one_row():
    X, y = rows(3)
    y[y == 2] = 0
    y[7] = 2
    top, W = optimum(X[:, :2], y, 3)
    model = fitted(X[:, :2], y)
    np.testing.assert_allclose(weights(model), W, rtol=1e-3, atol=1e-3)
    assert penalised(weights(model), X[:, :2], y, 3) >= top - 1e-10


def test_fewer_rows_than_columns():
    X, y = np.random.default_rng(0).standard_normal((6, 20)), np.array([0, 1, 0, 1, 1, 0])
    model = fitted(X, y)
    # Six directions for six rows: saturated, so that half a row is added to both classes of each.
    np.testing.assert_allclose(model.predict_proba(X)[np.arange(6), y], 0.75, rtol=1e-6)
    assert model.certificate_.rank == 6


def test_many_rows_begin_on_a_sample():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6000, 3)) * [1.0, 10.0, 0.1]
    y = (rng.random(6000) < 1 / (1 + np.exp(3 - X[:, 0]))).astype(int)
    model = fitted(X, y)
    assert "3 of 3 starts led to this maximum, by a sample of" in model.certificate_.facts["starts"]
    problem = firth.pose(labelled_rows(X, y, 2), 2)
    point, _ = firth.Ascent(1e-10)(problem, problem.zero)
    np.testing.assert_allclose(model.coef_, problem.objective.rows.frame.to_original(point.W)[:, 1:], rtol=1e-6)


def test_the_highest_maximum_wins():
    """Runs from many starts never find a higher one, and where one start is led astray the others are not."""
    for seed in range(10):
        X, y = rows(3, 12, 2, seed)
        problem = firth.pose(labelled_rows(X, y, 3), 3)
        found = firth.fit(problem)
        rng = np.random.default_rng(seed)
        for _ in range(5):
            start = problem.objective.subspace.expand(3 * rng.standard_normal(found.point.step.shape))
            point, _ = firth.Ascent()(problem, start)
            assert point.level.value >= found.point.level.value - 1e-10


def test_models_are_kept_by_pickle_and_by_file(tmp_path):
    X, y = rows(3)
    model = fitted(X, y)
    sx.save(model, tmp_path / "model.json")
    for again in (pickle.loads(pickle.dumps(model)), sx.load(tmp_path / "model.json")):
        assert again.coef_.tobytes() == model.coef_.tobytes()
        assert again.bias_reduction == "firth"
        assert again.certificate_.verify(X, y)
        assert type(again.certificate_.claim) is type(model.certificate_.claim)
        assert firth.profile(again, X, y, 1, contrast=[1, 0, -1]) == firth.profile(model, X, y, 1, contrast=[1, 0, -1])


def test_a_fit_leaves_nothing_of_another_kind_of_fit():
    X, y = np.arange(6.0)[:, None], np.array([0, 0, 0, 1, 1, 1])
    model = LogisticRegression(np.inf)
    with pytest.warns(sx.errors.SeparationWarning):
        model.fit(X, y)
    model.set_params(bias_reduction="firth").fit(X, y)
    assert model.separation_ is None
    assert model.penalty_choice_ is None
    assert np.isinf(model.C_)


def test_out_of_iterations_is_said():
    X, y = rows(2)
    with pytest.warns(sx.errors.NotConvergedWarning, match="max_iter=1"):
        model = LogisticRegression(bias_reduction="firth", max_iter=1).fit(X, y)
    assert model.certificate_.code == "max_iter"


def test_weights_in_raw_units_that_cannot_hold_the_maximum_are_said():
    X, y = rows(2)
    with pytest.warns(sx.errors.NotConvergedWarning, match="the mean of column 0 is about"):
        model = LogisticRegression(bias_reduction="firth").fit(X + 1e15, y)
    assert model.certificate_.code == "rounding"
    assert model.certificate_.verify(X + 1e15, y)


def test_many_sparse_rows_are_fitted_as_far_as_asked():
    """Where a step gains less than the sums round, the score says whether it was one."""
    rng = np.random.default_rng(0)
    X, y = sp.random_array((30_000, 30), density=0.05, random_state=rng, format="csr"), rng.integers(0, 2, 30_000)
    fitted(X, y)


def test_weights_that_count_no_rows_are_refused():
    X, y = rows(2)
    with pytest.raises(sx.errors.WeightError, match="the rows count for 4e-11 in all"):
        LogisticRegression(bias_reduction="firth").fit(X, y, np.full(40, 1e-12))


def test_a_warm_start_goes_on_from_the_last_fit():
    X, y = rows(2)
    model = fitted(X, y, warm_start=True)
    assert model.n_iter_ > 1
    assert model.fit(X, y).n_iter_ <= 1


@pytest.mark.parametrize(
    ("settings", "argument"),
    [
        ({"C": 2.0}, "C"),
        ({"C": "auto"}, "C"),
        ({"l1_ratio": 0.5}, "l1_ratio"),
        ({"penalty_factors": [1.0, 1.0, 1.0]}, "penalty_factors"),
        ({"loss": "probit"}, "loss"),
        ({"solver": "newton"}, "solver"),
        ({"bias_reduction": "jeffreys"}, "bias_reduction"),
        ({"bias_reduction": True}, "bias_reduction"),
    ],
)
def test_settings_without_a_meaning_here_are_refused(settings, argument):
    X, y = rows(2)
    with pytest.raises(sx.errors.ParameterError, match=f"^{argument}: got .*; .*\\.$"):
        LogisticRegression(**{"bias_reduction": "firth"} | settings).fit(X, y)
    assert fitted(X, y, C=np.inf).coef_.tobytes() == fitted(X, y).coef_.tobytes()


@pytest.mark.filterwarnings("ignore::separatrix.core.base.errors.NotConvergedWarning")
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("apart", [1e-2, 1e-4, 1e-6, 1e-8])
def test_nearly_collinear_columns_take_few_steps_to_the_same_likelihood(apart, K):
    """Weights of a and a + εb differ by 1/ε from those of a and b: a limit on the change of weights took 1/ε steps."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((30, 3))
    y = np.argmax(X @ rng.standard_normal((3, K)) + rng.gumbel(size=(30, K)), axis=1)
    near = np.column_stack([X[:, 0], X[:, 0] + apart * X[:, 1], X[:, 2]])
    plain, model = (LogisticRegression(bias_reduction="firth").fit(Z, y) for Z in (X, near))
    assert model.certificate_.code in ("gradient", "rounding")
    assert model.n_iter_ <= 50
    assert model.certificate_.passes <= 1500
    if apart >= 1e-4:
        assert model.certificate_.met
        np.testing.assert_allclose(model.predict_proba(near), plain.predict_proba(X), atol=1e-7)
