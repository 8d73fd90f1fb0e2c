"""LogisticRegression: what users rely on beyond scikit-learn's own checks."""

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy.sparse import coo_array, csc_array, csr_array, csr_matrix
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import separatrix as sx
from separatrix.core.base.errors import NotConvergedWarning, SeparationWarning
from separatrix.core.solvers.newton import Newton
from separatrix.core.solvers.registry import SOLVERS

from .. import problems, reference


@pytest.fixture(scope="module")
def cancer():
    return load_breast_cancer(return_X_y=True)


@pytest.fixture(scope="module")
def overlapping():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4))
    return X, (X @ [1.0, -2.0, 0.5, 0.0] + rng.logistic(size=300) > 0).astype(int)


# ------------------------------------------------------------------------------------------- containers


def test_every_container_gives_the_same_fit(overlapping):
    X, y = overlapping
    base = sx.LogisticRegression().fit(X, y)
    names = list("abcd")
    containers = [
        X.tolist(),
        np.asfortranarray(X),
        pd.DataFrame(X, columns=names),
        pl.DataFrame(X, schema=names),
        csr_array(X),
        csr_matrix(X),
        csc_array(X),
        coo_array(X),
    ]
    for container in containers:
        model = sx.LogisticRegression().fit(container, y)
        np.testing.assert_allclose(model.coef_, base.coef_, rtol=1e-8)
        np.testing.assert_array_equal(model.predict(container), base.predict(X))
        assert model.certificate_.verify(container, y)
    assert list(sx.LogisticRegression().fit(containers[2], y).feature_names_in_) == names
    assert list(sx.LogisticRegression().fit(containers[3], y).feature_names_in_) == names


def test_float32_rows_are_summed_in_float64(overlapping):
    X, y = overlapping
    single = X.astype(np.float32)
    a = sx.LogisticRegression().fit(single, y)
    b = sx.LogisticRegression().fit(single.astype(np.float64), y)
    np.testing.assert_allclose(a.scorer_.W, b.scorer_.W, rtol=1e-8)
    assert a.scorer_.W.dtype == np.float64


@pytest.mark.parametrize(
    "labels",
    [
        ("no", "yes"),
        (False, True),
        (-1, 1),
        (0.0, 1.0),
        (np.str_("a"), np.str_("b")),
        (b"a", b"b"),
        (("x", 1), ("y", 2)),
    ],
    ids=repr,
)
def test_any_labels(overlapping, labels):
    X, y = overlapping
    given = [labels[k] for k in y]
    model = sx.LogisticRegression().fit(X, given)
    base = sx.LogisticRegression().fit(X, y)
    assert [labels[k] for k in base.predict(X)] == list(model.predict(X))
    np.testing.assert_array_equal(model.predict_proba(X), base.predict_proba(X))
    assert model.certificate_.verify(X, given)


def test_pandas_and_polars_labels(overlapping):
    X, y = overlapping
    words = np.where(y, "yes", "no")
    for labels in (pd.Series(words), pd.Categorical(words), pd.Series(words, dtype="string"), pl.Series(words)):
        assert sx.LogisticRegression().fit(X, labels).classes_.tolist() == ["no", "yes"]


# ------------------------------------------------------------------------------------------ conventions


def test_pipeline_grid_search_clone_and_pickle(cancer):
    X, y = cancer
    pipe = make_pipeline(StandardScaler(), sx.LogisticRegression())
    search = GridSearchCV(pipe, {"logisticregression__C": [0.01, 1.0]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.95
    copy = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(copy.predict_proba(X), search.predict_proba(X))
    model = sx.LogisticRegression(C=3.0, solver=Newton(), class_weight={0: 2.0})
    assert clone(model).get_params() == model.get_params()


def test_in_parallel_processes(cancer):
    X, y = cancer
    alone = cross_val_score(sx.LogisticRegression(), X, y, cv=3)
    np.testing.assert_array_equal(cross_val_score(sx.LogisticRegression(), X, y, cv=3, n_jobs=2), alone)


def test_metadata_routing(cancer):
    X, y = cancer
    weight = np.where(y == 0, 5.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        model = sx.LogisticRegression().set_fit_request(sample_weight=True)
        pipe = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), model)
        pipe.fit(X, y, sample_weight=weight)
    scaled = StandardScaler().fit_transform(X)
    np.testing.assert_array_equal(pipe[-1].coef_, sx.LogisticRegression().fit(scaled, y, sample_weight=weight).coef_)


def test_set_output_passes_names_through(cancer):
    X, y = cancer
    frame = pd.DataFrame(X[:, :3], columns=["a", "b", "c"])
    columns = make_column_transformer((StandardScaler(), ["c", "a"]), verbose_feature_names_out=False)
    pipe = make_pipeline(columns, sx.LogisticRegression()).set_output(transform="pandas")
    assert pipe.fit(frame, y)[-1].feature_names_in_.tolist() == ["c", "a"]


# ------------------------------------------------------------------------------------- what is minimised


@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
def test_weights_factors_and_intercept_against_the_written_formula(solver):
    for seed in range(25):
        problem = problems.draw(seed, C=1.0)
        model = sx.LogisticRegression(
            1.0, solver=solver, penalty_factors=problem.factors, fit_intercept=problem.fit_intercept, tol=1e-12
        ).fit(problem.X, problem.codes, sample_weight=problem.weight)
        best, W = reference.optimum(
            problem.X, problem.codes, problem.K, problem.weight, problem.ridge, problem.fit_intercept
        )
        assert model.certificate_.objective == pytest.approx(best, rel=1e-11)
        scale = np.abs(problem.X).max(axis=0)
        np.testing.assert_allclose(model.coef_ * scale, W[:, 1:] * scale, rtol=1e-4, atol=1e-5)
        if not problem.fit_intercept:
            assert not model.intercept_.any()


def test_a_column_without_penalty_is_not_shrunk(overlapping):
    X, y = overlapping
    free = sx.LogisticRegression(1e-6, penalty_factors=[0, 1, 1, 1]).fit(X, y)
    only = sx.LogisticRegression(np.inf).fit(X[:, :1], y)
    assert free.coef_[0, 0] == pytest.approx(only.coef_[0, 0], rel=1e-3)
    assert np.abs(free.coef_[0, 1:]).max() < 1e-3
    assert free.certificate_.code == "optimal"


def test_class_weight_is_sample_weight_by_class(overlapping):
    X, y = overlapping
    by_class = sx.LogisticRegression(class_weight={0: 3.0}).fit(X, y)
    by_row = sx.LogisticRegression().fit(X, y, sample_weight=np.where(y == 0, 3.0, 1.0))
    np.testing.assert_allclose(by_class.coef_, by_row.coef_, rtol=1e-10)
    share = np.bincount(y) / len(y)
    balanced = sx.LogisticRegression(class_weight="balanced").fit(X, y)
    given = sx.LogisticRegression(class_weight=dict(enumerate(0.5 / share))).fit(X, y)
    np.testing.assert_allclose(balanced.coef_, given.coef_, rtol=1e-10)
    assert balanced.certificate_.verify(X, y)


def test_relabelling_classes_relabels_the_weights():
    X, y = load_wine(return_X_y=True)
    turned = np.array([2, 0, 1])[y]
    a = sx.LogisticRegression(tol=1e-12).fit(X, y)
    b = sx.LogisticRegression(tol=1e-12).fit(X, turned)
    np.testing.assert_allclose(a.coef_, b.coef_[[2, 0, 1]], rtol=1e-5, atol=1e-8)


def test_softmax_weights_sum_to_zero_over_classes():
    X, y = load_wine(return_X_y=True)
    model = sx.LogisticRegression().fit(X, y)
    np.testing.assert_allclose(np.abs(model.coef_.sum(axis=0)), 0, atol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1, rtol=1e-12)


# ------------------------------------------------------------------------------------------------ starts


def test_warm_start_goes_on_from_the_last_fit(cancer):
    X, y = cancer
    model = sx.LogisticRegression(warm_start=True).fit(X, y)
    first = model.n_iter_
    assert model.fit(X, y).n_iter_ < first
    iris = load_iris()
    assert model.fit(iris.data, iris.target).coef_.shape == (3, 4)  # other columns: from the start again


@pytest.mark.parametrize("start", ["zero", "random", np.full((1, 5), 0.3)], ids=["zero", "random", "given"])
@pytest.mark.parametrize("solver", ["newton", "lbfgs", "gradient-descent"])
def test_any_start_leads_to_the_one_optimum(overlapping, start, solver):  # R11
    X, y = overlapping
    base = sx.LogisticRegression(tol=1e-12).fit(X, y)
    model = sx.LogisticRegression(solver=solver, start=start, random_state=1, tol=1e-10, max_iter=20_000).fit(X, y)
    np.testing.assert_allclose(model.coef_, base.coef_, rtol=1e-3, atol=1e-4)


def test_random_state_decides_a_random_start(overlapping):
    X, y = overlapping
    with pytest.warns(NotConvergedWarning):
        a, b, c = (
            sx.LogisticRegression(solver="gradient-descent", start="random", random_state=seed, max_iter=1).fit(X, y)
            for seed in (1, 1, np.random.RandomState(5))
        )
    assert np.array_equal(a.coef_, b.coef_)
    assert not np.array_equal(a.coef_, c.coef_)


# ----------------------------------------------------------------------------------------- certificates


@pytest.mark.parametrize("solver", list(SOLVERS))
def test_every_solver_answers_with_a_certificate_that_verifies(overlapping, solver):
    X, y = overlapping
    with warnings.catch_warnings():
        if not SOLVERS[solver].converges:  # it ends by patience, and says so
            warnings.simplefilter("ignore", NotConvergedWarning)
        model = sx.LogisticRegression(solver=solver, max_iter=200).fit(X, y)
    certificate = model.certificate_
    assert certificate.code == ("optimal" if SOLVERS[solver].converges else "patience")
    assert certificate.verify(X, y), str(certificate.verify(X, y))
    assert certificate.verify(csr_array(X), y)
    assert solver.split("-")[0] in certificate.why or certificate.solver in certificate.why
    assert len(model.trace_) == model.n_iter_ + 1
    for line in ("status", "objective", "gap", "solver", "rank"):
        assert f"{line}:" in str(certificate)


def test_a_certificate_does_not_verify_on_other_rows_or_weights(overlapping):
    X, y = overlapping
    certificate = sx.LogisticRegression().fit(X, y).certificate_
    assert not certificate.verify(X[:-1], y[:-1])
    assert not certificate.verify(X, 1 - y)
    assert "does not hold" in str(certificate.verify(X, 1 - y))
    moved = pickle.loads(pickle.dumps(certificate))
    moved.claim.scorer.W[0, 1] += 1e-3
    assert not moved.verify(X, y)
    assert "a gap is never negative" in str(replace(certificate, bound=-5.0).verify(X, y))
    with pytest.raises(sx.errors.LabelError, match="'maybe'"):
        certificate.verify(X, ["maybe"] * len(y))


def test_why_this_solver(cancer):
    X, y = cancer
    assert sx.LogisticRegression().fit(X, y).certificate_.why.startswith("Newton: the Hessian is cheap with 31")
    wide = np.random.default_rng(0).standard_normal((60, 1500))
    model = sx.LogisticRegression().fit(wide, np.arange(60) % 2)
    assert model.certificate_.why.startswith("span of the rows: 60 rows")
    assert model.certificate_.code == "optimal"
    tall = np.random.default_rng(0).standard_normal((90_000, 2))
    model = sx.LogisticRegression().fit(tall, tall[:, 0] + np.random.default_rng(1).logistic(size=90_000) > 0)
    assert model.certificate_.why.startswith("L-BFGS around the Hessian of a sample: 90000 rows are many")
    assert model.certificate_.code == "optimal"


def test_reaching_max_iter_is_a_warning_and_a_status(cancer):
    X, y = cancer
    model = sx.LogisticRegression(max_iter=2)
    with pytest.warns(NotConvergedWarning, match="max_iter=2") as caught:
        model.fit(X, y)
    assert issubclass(caught[0].category, sklearn.exceptions.ConvergenceWarning)
    assert caught[0].filename == __file__
    assert model.certificate_.code == "max_iter"
    assert not model.certificate_.met


def test_tol_is_the_bound_relative_to_the_null_model(cancer):
    X, y = cancer
    for tol in (1e-2, 1e-5, 1e-10):
        certificate = sx.LogisticRegression(tol=tol).fit(X, y).certificate_
        assert certificate.relative_bound <= tol
        assert certificate.relative_bound == certificate.bound / certificate.null_objective


def test_run_to_rounding(overlapping):
    X, y = overlapping
    with pytest.warns(NotConvergedWarning, match="float64"):
        model = sx.LogisticRegression(tol=0.0).fit(X, y)
    assert model.certificate_.code == "rounding"
    assert model.certificate_.bound < 1e-14


# ------------------------------------------------------------------------- separation, rank, R11's other half


def test_complete_separation_is_recognised_and_said():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(SeparationWarning, match="every row on its own side"):
        model = sx.LogisticRegression(np.inf).fit(X, y == 0)
    assert model.certificate_.code == "separated"
    assert model.certificate_.bound is None
    assert model.certificate_.bound_reason
    assert np.all(np.isfinite(model.coef_))
    assert model.score(X, y == 0) == 1.0


@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
def test_quasi_separation_is_recognised_and_said(solver):
    X = np.array([[0.0], [1.0], [2.0], [2.0], [3.0], [4.0]])
    y = [0, 0, 0, 1, 1, 1]
    with pytest.warns(SeparationWarning, match="no optimum exists"):
        model = sx.LogisticRegression(np.inf, solver=solver).fit(X, y)
    assert model.certificate_.code == "quasi-separated"
    assert model.certificate_.bound is None


@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
def test_softmax_with_one_class_apart_is_quasi_separated(solver):
    X, y = load_iris(return_X_y=True)
    with pytest.warns(SeparationWarning):
        model = sx.LogisticRegression(np.inf, solver=solver).fit(X, y)
    assert model.certificate_.code == "quasi-separated"


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("C", [1.0, np.inf])
@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
def test_constant_and_collinear_columns_are_fitted_and_the_rank_reported(overlapping, sparse, C, solver):
    X, y = overlapping
    base = sx.LogisticRegression(C, tol=1e-10).fit(X, y)
    extra = np.column_stack([X, np.full(len(X), 7.0), X[:, 0] - 3 * X[:, 1], np.zeros(len(X))])
    given = csr_array(extra) if sparse else extra
    model = sx.LogisticRegression(C, solver=solver, tol=1e-10).fit(given, y)
    # X₀ − 3 X₁ is rounded, so the column is not collinear exactly: without a penalty that is a direction of its own.
    assert model.certificate_.code == ("resolved" if np.isinf(C) else "optimal")
    assert model.certificate_.rank == 5
    assert "rank:      5 of 8: constant or collinear" in str(model.certificate_)
    assert model.coef_[0, 4] == 0
    assert model.coef_[0, 6] == 0
    assert model.certificate_.verify(given, y)
    if np.isinf(C):
        np.testing.assert_allclose(model.predict_proba(given), base.predict_proba(X), rtol=1e-4, atol=1e-6)


def test_more_columns_than_rows():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 50)), np.arange(20) % 2
    model = sx.LogisticRegression().fit(X, y)
    assert model.certificate_.code == "optimal"
    assert model.certificate_.rank == 20
    with pytest.warns(SeparationWarning):
        sx.LogisticRegression(np.inf).fit(X, y)


# -------------------------------------------------------------------------------------- heads and boundary


def test_the_boundary_at_a_level_is_a_shifted_hyperplane(overlapping):  # D5
    X, y = overlapping
    model = sx.LogisticRegression().fit(X, y)
    for c in (0.1, 0.5, 0.9):
        plane = model.hyperplane(probability=c)
        on_it = plane.project(X)
        np.testing.assert_allclose(model.predict_proba(on_it)[:, 1], c, rtol=1e-9)
    flipped = model.hyperplane(0, 1)
    np.testing.assert_allclose(flipped.score(X), -model.decision_function(X), rtol=1e-12)


def test_pairwise_boundaries_of_softmax():
    X, y = load_wine(return_X_y=True)
    model = sx.LogisticRegression().fit(X, y)
    z = model.decision_function(X)
    np.testing.assert_allclose(model.hyperplane(2, 0).score(X), z[:, 2] - z[:, 0], rtol=1e-6, atol=1e-8)
    with pytest.raises(sx.errors.ParameterError, match="class"):
        model.hyperplane(2, 9)


def test_a_score_of_zero_goes_to_the_first_class_as_equal_probabilities_do():
    model = sx.LogisticRegression().fit([[-1.0], [1.0]], ["minus", "plus"])
    assert model.decision_function([[0.0]])[0] == 0.0
    assert model.predict([[0.0]])[0] == "minus"
