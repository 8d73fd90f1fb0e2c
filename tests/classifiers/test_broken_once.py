"""Data that once broke a promise: each a few lines, each a sentence on what must come instead."""

import warnings

import numpy as np
import pytest
import sklearn.base
from threadpoolctl import threadpool_limits

import separatrix as sx
from separatrix.core.base.errors import (
    InputError,
    LabelError,
    NotConvergedWarning,
    NotFiniteError,
    SeparationWarning,
    WeightError,
)

rng = np.random.default_rng(0)
X = rng.standard_normal((60, 2))
y = (X[:, 0] + rng.standard_normal(60) > 0).astype(int)


@pytest.mark.parametrize(
    ("rows", "labels", "intercept"),
    [
        ([[1.0], [0], [0], [0]], [1, 1, 0, 1], True),
        (np.eye(101)[:, :1], np.r_[1, np.arange(1, 101) % 2], True),
        (np.eye(30)[:, :1], np.r_[1, np.arange(1, 30) % 2], False),
    ],
)
def test_one_row_alone_on_its_direction_is_never_certified(rows, labels, intercept):
    with pytest.warns(SeparationWarning):
        model = sx.LogisticRegression(np.inf, fit_intercept=intercept).fit(rows, labels)
    assert model.certificate_.code == "quasi-separated"
    assert model.n_iter_ <= 60


@pytest.mark.parametrize("apart", [1e-6, 1e-8, 1e-10, 1e-12])
@pytest.mark.parametrize("solver", ["auto", "lbfgs"])
def test_nearly_collinear_columns_hide_no_separation(apart, solver):
    x, z = np.random.default_rng(1).standard_normal((2, 60))
    columns = np.c_[x, x + apart * z]
    difference = columns[:, 1] - columns[:, 0]
    with pytest.warns(NotConvergedWarning):
        model = sx.LogisticRegression(np.inf, solver=solver).fit(columns, difference > 0)
    assert model.certificate_.code != "optimal"
    assert model.certificate_.bound is None
    if solver == "auto":
        assert model.certificate_.code == "separated"


@pytest.mark.parametrize("apart", [1e-6, 1e-8, 1e-10])
def test_nearly_collinear_columns_are_fitted_as_their_span(apart):
    source = np.random.default_rng(2)
    x, z = source.standard_normal((2, 200))
    columns = np.c_[x, x + apart * z]
    difference = columns[:, 1] - columns[:, 0]
    labels = difference / difference.std() + source.logistic(size=200) > 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)  # scores of weights near 1/apart round by eps/apart
        near = sx.LogisticRegression(np.inf).fit(columns, labels)
    plain = sx.LogisticRegression(np.inf).fit(np.c_[x, difference / apart], labels)
    assert near.certificate_.code in ("optimal", "rounding")
    assert near.certificate_.objective == pytest.approx(plain.certificate_.objective, rel=1e-6)


@pytest.mark.parametrize("C", [1.0, np.inf])
def test_raw_coordinates_with_an_offset_are_judged_in_standard_ones(C):
    x = np.random.default_rng(3).standard_normal(200)
    labels = x + np.random.default_rng(4).standard_normal(200) > 0
    best = sx.LogisticRegression(C).fit(x[:, None] + 1e8, labels).certificate_.objective
    for solver in ("gradient-descent", "sgd"):
        with pytest.warns(NotConvergedWarning):
            model = sx.LogisticRegression(C, solver=solver, max_iter=50).fit(x[:, None] + 1e8, labels)
        certificate = model.certificate_
        assert not certificate.met
        assert certificate.bound is None or certificate.bound >= certificate.objective - best


def test_a_row_without_weight_must_be_finite_too():
    spoilt, weight = X.copy(), np.ones(60)
    spoilt[3, 1], weight[3] = np.nan, 0.0
    with pytest.raises(NotFiniteError, match="row 3, column 1"):
        sx.LogisticRegression().fit(spoilt, y, sample_weight=weight)


def test_settings_and_weights_that_leave_float64_are_refused():
    with pytest.raises(sx.errors.ParameterError, match="C: got 1e-310"):
        sx.LogisticRegression(C=1e-310).fit(X, y)
    with pytest.raises(sx.errors.ParameterError, match="C"):
        sx.LogisticRegression(C=10**400).fit(X, y)
    for size in (5e-324, 1e-320, 1e300):
        with pytest.raises(WeightError, match="rescale"):
            sx.LogisticRegression().fit(X, y, sample_weight=np.full(60, size))


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_the_size_of_weights_does_not_matter_without_a_penalty(size):
    plain = sx.LogisticRegression(np.inf).fit(X * 1e10, y)
    sized = sx.LogisticRegression(np.inf).fit(X * 1e10, y, sample_weight=np.full(60, size))
    np.testing.assert_allclose(sized.coef_, plain.coef_, rtol=1e-9)
    assert sized.certificate_.code == "optimal"


CLOSED_FORMS = [
    sx.FisherDiscriminant(),
    sx.FisherDiscriminant("means"),
    sx.LeastSquaresClassifier(),
    sx.LinearDiscriminantAnalysis(),
    sx.QuadraticDiscriminantAnalysis(),
]


@pytest.mark.parametrize("labels", [y, np.arange(60) % 3], ids=["two", "three"])
@pytest.mark.parametrize("size", [2.0**-1030, 2.0**-664, 2.0**-400, 2.0**400, 2.0**664, 2.0**990])
@pytest.mark.parametrize("model", CLOSED_FORMS, ids=str)
def test_closed_forms_in_extreme_units_classify_alike_or_refuse(model, size, labels):
    common = np.round(X * 2**20) / 2**20  # exact in these units, also as subnormal numbers
    plain = sklearn.base.clone(model).fit(common, labels).predict(common)
    scaled, is_fisher = sklearn.base.clone(model), isinstance(model, sx.FisherDiscriminant)
    if size < 1e-300 or (is_fisher and not 1e-150 < size < 1e150):
        with pytest.raises(InputError, match="standardise that column"):
            scaled.fit(common * size, labels)
        return
    scaled.fit(common * size, labels)
    assert np.array_equal(scaled.predict(common * size), plain)
    assert scaled.certificate_.verify(common * size, labels)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("settings", [{"C": 1.0, "l1_ratio": 1.0}, {"C": np.inf, "solver": "lbfgs"}], ids=str)
@pytest.mark.parametrize("K", [2, 3])
def test_columns_of_zeros_leave_the_null_model(K, settings, fit_intercept):
    rows, labels = np.zeros((20, 3)), np.arange(20) % K
    model = sx.LogisticRegression(fit_intercept=fit_intercept, **settings).fit(rows, labels)
    assert not model.coef_.any()
    assert model.certificate_.verify(rows, labels)


def test_constant_columns_leave_the_priors():
    rows, labels = np.full((20, 3), 2.5), np.arange(20) % 4 == 0
    model = sx.QuadraticDiscriminantAnalysis().fit(rows, labels)
    np.testing.assert_allclose(model.predict_proba(rows[:1]), [[0.75, 0.25]])
    assert model.certificate_.verify(rows, labels)


def test_least_squares_of_tiny_constants_is_the_pseudoinverse():
    rows, labels = np.full((20, 2), 1e-300), np.arange(20) % 4 == 0
    model = sx.LeastSquaresClassifier(fit_intercept=False).fit(rows, labels)
    np.testing.assert_allclose(model.coef_, [[-0.25e300, -0.25e300]])  # 2 · 1e-300 w = 2 · 1/4 − 1


@pytest.mark.parametrize("outlier", [1e8, 1e9, 1e10])
def test_one_far_row_on_its_own_side_is_no_separation(outlier):
    for seed in range(4):
        source = np.random.default_rng(seed)
        x = source.standard_normal(100)
        labels = (x + source.standard_normal(100) > 0).astype(int)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConvergedWarning)  # the gradient along the far row rounds
            model = sx.LogisticRegression(np.inf).fit(np.r_[x, outlier][:, None], np.r_[labels, 1])
        assert model.certificate_.code in ("optimal", "rounding")
        alone = sx.LogisticRegression(np.inf).fit(x[:, None], labels)
        np.testing.assert_allclose(model.coef_, alone.coef_, rtol=1e-3)


def test_a_class_without_weight_is_refused_by_name():
    with pytest.raises(WeightError, match="class 0 have weight zero"):
        sx.LogisticRegression().fit(X, y, sample_weight=y * 1.0)
    with pytest.raises(WeightError, match="class 1 have weight zero"):
        sx.LogisticRegression(class_weight={1: 0.0}).fit(X, y)


def test_a_start_that_is_worse_than_zero_is_left():
    model = sx.LogisticRegression(np.inf, warm_start=True).fit(X, y)
    assert model.fit(X * 1000, y).certificate_.code == "optimal"
    assert sx.LogisticRegression(np.inf, start="random", random_state=0).fit(X * 1000, y).certificate_.met
    model = sx.LogisticRegression(warm_start=True).fit(X, y)
    assert model.fit(X * 1e6, y).certificate_.code == "optimal"


def test_stochastic_descent_on_separated_rows_says_so():
    line = np.r_[-np.arange(1.0, 6), np.arange(1.0, 6)][:, None]
    with pytest.warns(SeparationWarning):
        sx.LogisticRegression(np.inf, solver="sgd").fit(line, np.repeat([0, 1], 5))


def test_rows_of_zeros_without_an_intercept():
    for C in (1.0, np.inf):
        model = sx.LogisticRegression(C, fit_intercept=False).fit(np.zeros((4, 1)), [0, 1, 0, 1])
        assert model.certificate_.code == "optimal"
        assert model.certificate_.rank == 0
        assert model.coef_[0, 0] == 0


def test_the_threads_of_blas_change_no_bit():
    long = np.random.default_rng(5).standard_normal((131_072, 1))
    labels = (long[:, 0] + np.random.default_rng(6).logistic(size=len(long)) > 0).astype(int)
    found = []
    for count in (1, 2):
        with threadpool_limits(count, user_api="blas"):
            model = sx.LogisticRegression().fit(long, labels)
            found.append(np.append(model.coef_, model.intercept_))
    assert np.array_equal(found[0], found[1])


def test_a_column_without_penalty_that_separates_is_recognised():
    line = np.c_[np.r_[-np.arange(1.0, 6), np.arange(1.0, 6)], np.random.default_rng(7).standard_normal(10)]
    with pytest.warns(SeparationWarning):
        model = sx.LogisticRegression(1.0, penalty_factors=[0, 1]).fit(line, np.repeat([0, 1], 5))
    assert model.n_iter_ <= 60


@pytest.mark.parametrize(
    "labels",
    [[[0], [1]] * 30, object(), np.array(["NaT", "2020-01-01"] * 30, dtype="datetime64[D]")],
    ids=["lists", "not a list", "NaT"],
)
def test_labels_that_are_none(labels):
    with pytest.raises(LabelError):
        sx.LogisticRegression().fit(X, labels)


@pytest.mark.parametrize(
    "settings",
    [
        {"class_weight": {0: "a"}},
        {"solver": ["a"]},
        {"solver": sx.solvers.LBFGS},
        {"penalty_factors": "a"},
        {"start": "random", "random_state": "a"},
        {"start": np.full((1, 3), np.nan)},
    ],
    ids=repr,
)
def test_odd_settings_are_input_errors(settings):
    with pytest.raises(sx.errors.InputError):
        sx.LogisticRegression(**settings).fit(X, y)


def test_many_classes_take_seconds_not_minutes():
    """Counted, not timed: second derivatives of 1550 parameters are formed a few times only."""
    model = sx.LogisticRegression().fit(np.random.default_rng(8).standard_normal((500, 10)), np.arange(500) % 50)
    assert model.certificate_.code == "optimal"
    assert model.certificate_.passes < 60


@pytest.mark.parametrize("loss", ["logistic", "probit", "cloglog"])
def test_quasi_separation_is_said_for_every_likelihood(loss):
    dummy = np.array([[0.0], [0], [0], [0], [1], [1], [1]])
    for rows, labels in (([[0.0], [1], [1], [3]], [0, 0, 1, 1]), (dummy, [0, 1, 0, 1, 1, 1, 1])):
        with pytest.warns(SeparationWarning):
            model = sx.LogisticRegression(np.inf, loss=loss).fit(rows, labels)
        assert model.certificate_.code == "quasi-separated"


def test_no_bound_is_worse_than_the_objective_itself():
    with pytest.warns(NotConvergedWarning):
        model = sx.LogisticRegression(1e6, max_iter=1).fit(X * 1e3, y)
    rounding = 1 + 1e-12  # of the objective itself, which the bound counts in
    assert model.certificate_.bound <= model.certificate_.objective * rounding
    assert all(record.bound is None or record.bound <= record.value * rounding for record in model.trace_)


def test_verify_says_what_does_not_fit():
    certificate = sx.LogisticRegression().fit(X, y).certificate_
    for rows, labels, weight in ((X[:, :1], y, None), (X[0], y, None), (X, y[:-1], None), (X, y, [1.0])):
        with pytest.raises(sx.errors.InputError):
            certificate.verify(rows, labels, weight)
    with pytest.raises(sx.errors.InputError, match="not a number"):
        certificate.verify([["a", "b"]], [0])
