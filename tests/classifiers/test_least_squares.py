"""Classification by least squares: the lectures' examples, exactly; then laws and failures. TEXTBOOK S1–S6."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import Ridge

import separatrix as sx
from separatrix import Hyperplane, LeastSquaresClassifier, Scorer
from separatrix.base.errors import NotConvergedWarning, ParameterError
from separatrix.moments.coding import OneHot
from separatrix.moments.deletion import influence
from separatrix.moments.squared_cost import build_squared_cost
from separatrix.rows import memory_rows

R = json.loads((Path(__file__).parent.parent / "r" / "moments.json").read_text())
LINE = np.arange(1.0, 9.0)[:, None]
LINE_Y = np.repeat([0, 1], 4)
PLANE = np.array([(i, i + 1) for i in range(5)] + [(i + 1, i) for i in range(5)], dtype=float)
PLANE_Y = np.array(["+"] * 5 + ["-"] * 5)
TARGETS = ("one-hot", "signed")


def with_row(X, y, row, label):
    return np.vstack([X, row]), np.append(y, label)


def wrong(model, X, y):
    return X[model.predict(X) != y].tolist()


# ---------------------------------------------------------------------------------------- exact examples


def test_one_dimension_exactly():
    model = LeastSquaresClassifier().fit(LINE, LINE_Y)
    np.testing.assert_allclose(model.output_weights_[1], [float(Fraction(-5, 14)), float(Fraction(4, 21))], rtol=1e-13)
    assert model.hyperplane().offset == pytest.approx(4.5, rel=1e-14)
    assert wrong(model, LINE, LINE_Y) == []


@pytest.mark.parametrize("targets", TARGETS)
def test_a_far_positive_moves_the_boundary_in_one_dimension(targets):
    near = LeastSquaresClassifier(targets=targets).fit(*with_row(LINE, LINE_Y, [30.0], 1))
    assert near.hyperplane().offset == pytest.approx(161 / 29, rel=1e-13)
    assert wrong(near, LINE, LINE_Y) == [[5.0]]
    far = LeastSquaresClassifier(targets=targets).fit(*with_row(LINE, LINE_Y, [100.0], 1))
    assert wrong(far, LINE, LINE_Y) == [[5.0], [6.0]]


@pytest.mark.parametrize("targets", TARGETS)
def test_far_negatives_make_errors_on_both_sides_in_the_plane(targets):
    assert wrong(LeastSquaresClassifier(targets=targets).fit(PLANE, PLANE_Y), PLANE, PLANE_Y) == []
    X, y = with_row(*with_row(PLANE, PLANE_Y, [20.0, -10.0], "-"), [21.0, -10.0], "-")
    model = LeastSquaresClassifier(targets=targets).fit(X, y)
    assert sorted(wrong(model, X, y)) == [[0.0, 1.0], [4.0, 3.0], [5.0, 4.0]]


def test_xor_is_a_half_everywhere_and_linear_in_phi():
    X = np.array([[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]])
    y = [0, 0, 1, 1]
    flat = LeastSquaresClassifier().fit(X, y)
    anywhere = np.random.default_rng(0).uniform(-9, 9, (20, 2))
    np.testing.assert_allclose(flat.outputs(anywhere), 0.5, atol=1e-15)
    phi = LeastSquaresClassifier().fit(np.column_stack([X, X[:, 0] * X[:, 1]]), y)
    np.testing.assert_allclose(phi.output_weights_[1], [0.5, 0.0, 0.0, -0.5], atol=1e-15)
    lifted = np.column_stack([anywhere, anywhere[:, 0] * anywhere[:, 1]])
    np.testing.assert_allclose(phi.outputs(lifted)[:, 1], 0.5 - 0.5 * anywhere[:, 0] * anywhere[:, 1], atol=1e-13)
    assert phi.predict(np.column_stack([X, X[:, 0] * X[:, 1]])).tolist() == y


# ------------------------------------------------------------------------------------------- what it is


@pytest.mark.parametrize("l2", [0.0, 2.5])
def test_targets_zero_one_and_plus_minus_one_agree(l2):  # S1, S4
    X, y = load_breast_cancer(return_X_y=True)
    a = LeastSquaresClassifier(l2=l2).fit(X, y)
    b = LeastSquaresClassifier(l2=l2, targets="signed").fit(X, y)
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(X), atol=1e-8)
    # 0/1 with the threshold ½ decides as ±1 with the threshold 0 does.
    np.testing.assert_array_equal(a.outputs(X)[:, 1] >= 0.5, b.decision_function(X) >= 0)
    np.testing.assert_allclose(a.outputs(X), b.outputs(X), atol=1e-8)


def test_two_models_meet_where_one_is_a_half():  # S6
    X, y = load_breast_cancer(return_X_y=True)
    model = LeastSquaresClassifier().fit(X, y)
    h = model.output_weights_
    np.testing.assert_allclose(h.sum(axis=0), [1.0] + [0.0] * 30, atol=1e-11)
    np.testing.assert_allclose(model.scorer_.W[0], h[1] - h[0], rtol=1e-12)
    np.testing.assert_allclose(model.decision_function(X), 2 * model.outputs(X)[:, 1] - 1, atol=1e-10)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("targets", TARGETS)
def test_the_pseudoinverse_of_the_lectures(targets, fit_intercept):  # S2
    X, y = load_iris(return_X_y=True)
    rows = np.column_stack([np.ones(len(X)), X]) if fit_intercept else X
    T = np.eye(3)[y] if targets == "one-hot" else 2 * np.eye(3)[y] - 1
    W = (np.linalg.pinv(rows) @ T).T
    model = LeastSquaresClassifier(targets=targets, fit_intercept=fit_intercept).fit(X, y)
    found = model.output_weights_ if fit_intercept else model.output_weights_[:, 1:]
    np.testing.assert_allclose(found, W, rtol=1e-10, atol=1e-12)
    residual = rows @ W.T - T
    assert model.certificate_.objective * len(y) == pytest.approx(0.5 * np.trace(residual.T @ residual), rel=1e-12)


def test_one_versus_rest_regressions_are_the_k_outputs():  # S6
    X, y = load_iris(return_X_y=True)
    model = LeastSquaresClassifier().fit(X, y)
    for k in range(3):
        alone = LeastSquaresClassifier().fit(X, (y == k).astype(int))
        np.testing.assert_allclose(alone.output_weights_[1], model.output_weights_[k], rtol=1e-10, atol=1e-13)
    np.testing.assert_array_equal(model.predict(X), model.outputs(X).argmax(axis=1))


@pytest.mark.parametrize("l2", [1e-3, 1.0, 1e3])
def test_the_penalty_is_scikit_learns_ridge(l2):  # S4
    X, y = load_breast_cancer(return_X_y=True)
    peer = Ridge(alpha=l2, solver="svd").fit(X, 2.0 * y - 1)
    model = LeastSquaresClassifier(l2=l2).fit(X, y)
    np.testing.assert_allclose(model.coef_[0], peer.coef_, rtol=1e-6)
    assert model.intercept_[0] == pytest.approx(peer.intercept_, rel=1e-7)


def test_outputs_sum_to_one_and_leave_the_unit_interval():  # S3
    X, y = with_row(LINE, LINE_Y, [30.0], 1)
    model = LeastSquaresClassifier().fit(X, y)
    Y = model.outputs(X)
    np.testing.assert_allclose(Y.sum(axis=1), 1.0, rtol=1e-14)
    found = model.outside_unit_interval(X)
    assert found.count.tolist() == [np.sum((Y[:, k] < 0) | (Y[:, k] > 1)) for k in range(2)] == [1, 1]
    assert found.share.tolist() == [1 / 9, 1 / 9]
    assert found.rows.tolist() == [8]
    assert str(found) == "outside [0, 1] on 1 of 9 rows: no probabilities"
    assert not hasattr(model, "predict_proba")


def test_an_exact_fit_stays_inside_the_unit_interval():
    model = LeastSquaresClassifier().fit(PLANE, PLANE_Y)
    assert model.outside_unit_interval(PLANE).rows.tolist() == []


def test_weights_are_repetitions_as_in_r():
    X, y = with_row(LINE, LINE_Y, [30.0], 1)
    model = LeastSquaresClassifier().fit(X, y, sample_weight=R["counts"])
    np.testing.assert_allclose(model.output_weights_[1], R["weighted_coef"], rtol=1e-12)
    assert model.certificate_.verify(X, y, sample_weight=R["counts"])
    assert not model.certificate_.verify(X, y)


@pytest.mark.parametrize("make", [np.asarray, csr_array, pd.DataFrame, pl.DataFrame])
def test_any_container_and_any_labels(make):
    X, y = load_iris(return_X_y=True)
    names = np.array([("a", 1), ("b", 2), ("c", 3)], dtype=object)
    labels = [tuple(names[k]) for k in y]
    model = LeastSquaresClassifier().fit(make(X), labels)
    plain = LeastSquaresClassifier().fit(X, y)
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-9, atol=1e-12)
    assert list(model.predict(make(X))) == [tuple(names[k]) for k in plain.predict(X)]


# ----------------------------------------------------------------------------------------- influence, S5


def test_leverages_and_cooks_distances_are_those_of_r():
    X, y = with_row(LINE, LINE_Y, [30.0], 1)
    cost = build_squared_cost(memory_rows(X, y, np.ones(9)), OneHot().table(2), 0.0, True)
    found = influence(cost, cost.minimise())
    np.testing.assert_allclose(found.leverage, R["hat"], rtol=1e-12)
    np.testing.assert_allclose(found.cook, R["cook"], rtol=1e-11)


@pytest.mark.parametrize("far", [30.0, 100.0])
def test_the_far_point_is_named_first_in_one_dimension(far):
    X, y = with_row(LINE, LINE_Y, [far], 1)
    first, second = LeastSquaresClassifier().fit(X, y).influential(X, y, top=2)
    assert first.row == 8
    assert first.besides.tolist() == []
    assert X[first.changed].ravel().tolist() == ([5.0] if far == 30 else [5.0, 6.0])
    assert -first.weights[0, 0] / first.weights[0, 1] == pytest.approx(4.5)
    assert first.cook > 100 * second.cook


def test_two_far_points_that_hide_each_other_are_named_first_in_the_plane():
    X, y = with_row(*with_row(PLANE, PLANE_Y, [20.0, -10.0], "-"), [21.0, -10.0], "-")
    model = LeastSquaresClassifier().fit(X, y)
    found = model.influential(X, y, top=3)
    assert {found[0].row, found[1].row} == {10, 11}
    assert found[0].besides.tolist() == [found[1].row]
    assert sorted(X[found[0].changed].tolist()) == [[0.0, 1.0], [4.0, 3.0], [5.0, 4.0]]
    assert found[2].cook < 0.01 * found[0].cook
    # Left out one at a time neither stands out: that is what hiding means.
    cost = build_squared_cost(memory_rows(X, (y == "-").astype(int), np.ones(12)), OneHot().table(2), 0.0, True)
    assert not {10, 11} & set(np.argsort(-influence(cost, cost.minimise()).cook)[:4].tolist())


@pytest.mark.parametrize("l2", [0.0, 3.0])
@pytest.mark.parametrize("K", [2, 3])
def test_leaving_out_is_exactly_fitting_again(K, l2):
    rng = np.random.default_rng(K)
    X = rng.standard_normal((25, 3)) + 7
    y = rng.integers(0, K, 25)
    X[3] += 20
    X[4] = X[3] + 0.1
    weight = rng.integers(1, 4, 25).astype(float)
    model = LeastSquaresClassifier(l2=l2).fit(X, y, weight)
    rows = model.influential(X, y, top=25, sample_weight=weight)
    assert sorted(r.row for r in rows) == list(range(25))
    assert any(len(r.besides) for r in rows)
    for r in rows:
        kept = np.setdiff1d(np.arange(25), [r.row, *r.besides])
        again = LeastSquaresClassifier(l2=l2).fit(X[kept], y[kept], weight[kept])
        np.testing.assert_allclose(r.weights, again.scorer_.W, rtol=1e-7, atol=1e-9)
        np.testing.assert_array_equal(r.changed, np.flatnonzero(again.predict(X) != model.predict(X)))


def test_a_row_alone_along_its_direction():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [1.5, 5.0]])
    y = np.array([0, 1, 0, 1, 1])
    found = {r.row: r for r in LeastSquaresClassifier().fit(X, y).influential(X, y)}
    assert found[4].leverage == pytest.approx(1.0)
    without = LeastSquaresClassifier().fit(X[:4], y[:4])
    assert np.isfinite(found[4].cook)
    np.testing.assert_allclose(
        X[:4] @ found[4].weights[0, 1:] + found[4].weights[0, 0], without.decision_function(X[:4]), atol=1e-12
    )


# ------------------------------------------------------------------------------------------ certificate


def test_the_bound_is_the_gap():
    X, y = load_iris(return_X_y=True)
    model = LeastSquaresClassifier().fit(X, y)
    certificate = model.certificate_
    assert certificate.met
    assert certificate.bound < 1e-14
    off = model.output_weights_ + 1e-3 * np.random.default_rng(0).standard_normal((3, 5))
    claim = replace(certificate.claim, weights=off, scorer=replace(model.scorer_, W=off))
    found = claim.recompute(X, y)
    assert found.bound.value == pytest.approx(found.objective - certificate.objective, rel=1e-9)
    assert not replace(certificate, claim=claim).verify(X, y)


def test_the_scorer_must_be_made_of_the_outputs():
    X, y = load_breast_cancer(return_X_y=True)
    certificate = LeastSquaresClassifier().fit(X, y).certificate_
    assert certificate.verify(X, y)
    moved = replace(certificate.claim, scorer=replace(certificate.claim.scorer, W=certificate.claim.scorer.W * 1.01))
    assert not replace(certificate, claim=moved).verify(X, y)


def test_singular_columns_are_fitted_with_minimum_norm_and_said():
    X, y = load_iris(return_X_y=True)
    base = LeastSquaresClassifier().fit(X, y)
    doubled = np.column_stack([X, X[:, 0] + X[:, 1], np.full(150, 3.0)])
    model = LeastSquaresClassifier().fit(doubled, y)
    np.testing.assert_allclose(model.decision_function(doubled), base.decision_function(X), atol=1e-10)
    assert model.certificate_.rank == 5
    assert model.certificate_.full_rank == 7
    assert "the one of minimum norm, X̄⁺T" in model.certificate_.status
    assert model.certificate_.verify(doubled, y)


def _one_hot(rng, n):
    levels = np.arange(n) % 3
    return np.column_stack([np.eye(3)[levels], rng.integers(0, 5, n)])


# X̄ is singular in each, in its own way; whole numbers, so that rational arithmetic has the same rows.
SINGULAR = {
    "a column twice": lambda rng, X: np.column_stack([X, X[:, 0]]),
    "a multiple of a column": lambda rng, X: np.column_stack([X, 40 * X[:, 1]]),
    "a constant column": lambda rng, X: np.column_stack([X, np.full(len(X), 5.0)]),
    "a column of zeros": lambda rng, X: np.column_stack([X, np.zeros(len(X))]),
    "dummies of every level": lambda rng, X: _one_hot(rng, len(X)),
    "a sum, far from zero": lambda rng, X: np.column_stack([X + 100, X.sum(axis=1)]),
    "fewer rows than columns": lambda rng, X: rng.integers(-4, 5, (6, 9)).astype(float),
}


def _rational_pseudoinverse(A, T):
    """A⁺T by full-rank factors A = B C: Cᵀ(CCᵀ)⁻¹(BᵀB)⁻¹BᵀT, with C the nonzero rows of the reduced echelon form."""
    A, T = (np.array([[Fraction(int(x)) for x in row] for row in M]) for M in (A, T))
    C, pivots = _echelon(A)
    B = A[:, pivots]
    inner = _rational_solve(B.T @ B, B.T @ T)
    return (C.T @ _rational_solve(C @ C.T, inner)).astype(float)


def _echelon(A):
    """The nonzero rows of the reduced echelon form, and the columns of their ones."""
    A, pivots = A.copy(), []
    for j in range(A.shape[1]):
        k = len(pivots)
        below = np.flatnonzero(A[k:, j]) + k
        if len(below) == 0:
            continue
        A[[k, below[0]]] = A[[below[0], k]]
        A[k] = A[k] / A[k, j]
        for i in range(len(A)):
            A[i] = A[i] - A[i, j] * A[k] if i != k else A[i]
        pivots.append(j)
        if len(pivots) == len(A):
            break
    return A[: len(pivots)], pivots


def _rational_solve(S, B):
    """S⁻¹B for invertible S."""
    return _echelon(np.column_stack([S, B]))[0][:, len(S) :]


@pytest.mark.parametrize("make", [np.asarray, csr_array])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("kind", SINGULAR)
def test_where_rows_are_singular_the_answer_is_the_pseudoinverse_in_the_users_units(kind, fit_intercept, make):  # S2
    rng = np.random.default_rng(0)
    X = SINGULAR[kind](rng, rng.integers(-4, 5, (24, 3)).astype(float))
    y = np.arange(len(X)) % 3
    rows = np.column_stack([np.ones(len(X)), X]) if fit_intercept else X
    expected = np.linalg.pinv(rows) @ np.eye(3)[y]
    model = LeastSquaresClassifier(fit_intercept=fit_intercept).fit(make(X), y)
    found = model.output_weights_.T if fit_intercept else model.output_weights_[:, 1:].T
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11)
    assert model.certificate_.met
    assert model.certificate_.verify(X, y)
    if make is np.asarray:
        np.testing.assert_allclose(found, _rational_pseudoinverse(rows, np.eye(3)[y]), rtol=1e-9, atol=1e-11)


def test_far_from_zero_a_singular_fit_is_still_a_minimum():
    """The shortest weights of rows near 2²⁷ are beyond float64's digits, and then another minimiser answers."""
    rng = np.random.default_rng(0)
    X = rng.integers(-40, 40, (60, 3)).astype(float) + 2.0**27
    X = np.column_stack([X, X[:, 0]])
    y = (X[:, 0] + X[:, 1] + 30 * rng.standard_normal(60) > 2.0**28).astype(int)
    model = LeastSquaresClassifier().fit(X, y)
    assert model.certificate_.verify(X, y)
    assert "minimum norm" in model.certificate_.status


def test_more_columns_than_rows():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((15, 40)), np.arange(15) % 3
    model = LeastSquaresClassifier().fit(X, y)
    np.testing.assert_allclose(model.outputs(X), np.eye(3)[y], atol=1e-10)
    assert model.certificate_.rank == 15
    assert model.certificate_.verify(X, y)
    assert LeastSquaresClassifier(l2=1.0).fit(X, y).certificate_.verify(X, y)


def test_an_offset_of_a_hundred_million():
    X, y = load_iris(return_X_y=True)
    base = LeastSquaresClassifier().fit(X, y)
    moved = np.round(X * 1024) / 1024 + 2.0**27
    model = LeastSquaresClassifier().fit(moved, y)
    again = LeastSquaresClassifier().fit(moved - 2.0**27, y)
    np.testing.assert_allclose(model.coef_, again.coef_, rtol=1e-9)
    assert model.certificate_.met
    assert np.mean(model.predict(moved) != base.predict(X)) < 0.05


def test_an_intercept_that_float64_cannot_hold_is_said():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(NotConvergedWarning, match="center columns"):
        model = LeastSquaresClassifier().fit(np.round(X * 16) / 16 + 2.0**48, y)
    assert not model.certificate_.met


def test_how_many_parameters():  # D6
    X, y = load_iris(return_X_y=True)
    assert LeastSquaresClassifier().fit(X, y).n_parameters_ == 2 * 5
    assert LeastSquaresClassifier(fit_intercept=False).fit(X, y).n_parameters_ == 3 * 4
    assert LeastSquaresClassifier(targets="signed").fit(X, y == 0).n_parameters_ == 5


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"l2": -1.0}, "l2: got -1"),
        ({"l2": np.inf}, "l2: got inf"),
        ({"targets": "hot"}, "targets: got 'hot'; choose one of 'one-hot', 'signed'"),
        ({"fit_intercept": 1}, "fit_intercept: got 1"),
    ],
)
def test_settings_that_make_no_sense(settings, message):
    with pytest.raises(ParameterError, match=message):
        LeastSquaresClassifier(**settings).fit(LINE, LINE_Y)


def test_top_is_a_count():
    with pytest.raises(ParameterError, match="top: got 0"):
        LeastSquaresClassifier().fit(LINE, LINE_Y).influential(LINE, LINE_Y, top=0)


@pytest.mark.parametrize("family", ["one far row", "nearly collinear"])
def test_nearly_singular_rows_reach_what_lstsq_reaches(family):
    source = np.random.default_rng(0)
    a, n = source.standard_normal((2, 40))
    labels = (n > 0).astype(int)
    rows = np.c_[a, n]
    if family == "one far row":
        rows = np.vstack([rows[:-1], [1e9, 1e9]])
    else:
        rows = np.c_[a, a + 1e-9 * n]
    certificate = LeastSquaresClassifier().fit(rows, labels).certificate_
    design = np.c_[np.ones(40), (rows - rows.mean(axis=0)) / rows.std(axis=0)]
    T = np.eye(2)[labels]
    W = np.linalg.lstsq(design, T, rcond=1e-15)[0]
    best = 0.5 * np.sum((design @ W - T) ** 2) / 40
    assert (
        certificate.objective - best <= (certificate.bound if certificate.bound is not None else np.inf) + 1e-7
    )  # the design rounds
    assert certificate.objective == pytest.approx(best, rel=1e-4)


def test_one_pass_is_said_as_one():
    said = str(LeastSquaresClassifier().fit(LINE, LINE_Y).certificate_)
    assert "work:      1 iteration, 1 pass over 8 rows" in said


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("targets", ["one-hot", "signed"])
@pytest.mark.parametrize("K", [2, 3])
def test_a_level_of_the_output_is_a_hyperplane(K, targets, fit_intercept):  # D5, S1
    rng = np.random.default_rng(K)
    X, y = rng.standard_normal((40, 3)), np.array(["a", "b", "c"])[np.arange(40) % K]
    model = LeastSquaresClassifier(targets=targets, fit_intercept=fit_intercept).fit(X, y)
    for k, label in enumerate(model.classes_):
        plane = model.hyperplane(label, output=0.8)
        outputs = Scorer(model.output_weights_, model.classes_, "identity").scores(plane.project(X))
        if outputs.ndim == 1:  # ±1 targets of two classes have one output, of the second
            outputs = np.column_stack([-outputs, outputs])
        np.testing.assert_allclose(outputs[:, k], 0.8, rtol=1e-9)
        assert model.hyperplane(label, output=0.7).distance(plane.project(X))[0] > 0


def test_the_level_one_half_is_the_boundary_and_a_probability_is_refused():  # S1, P13
    X, y = [[x] for x in range(1, 9)], [0] * 4 + [1] * 4
    model = LeastSquaresClassifier().fit(X, y)
    assert model.hyperplane(output=0.5).offset == pytest.approx(4.5, rel=1e-12)
    assert model.hyperplane(output=0.5) == model.hyperplane()
    assert LeastSquaresClassifier(targets="signed").fit(X, y).hyperplane(output=0.0).offset == pytest.approx(4.5)
    with pytest.raises(ParameterError, match=r"probability: .*no probabilities.*hyperplane\(output=0.5\)"):
        model.hyperplane(probability=0.5)
    with pytest.raises(ParameterError, match=r"output: .*probability"):
        sx.LogisticRegression().fit(X, y).hyperplane(probability=0.5, output=0.5)
    with pytest.raises(ParameterError, match="output: got nan"):
        model.hyperplane(output=np.nan)
    with pytest.raises(ParameterError, match="j: "):
        LeastSquaresClassifier().fit(X, [0, 0, 1, 1, 1, 2, 2, 2]).hyperplane(0, 1, output=0.5)


def test_the_output_of_other_models_is_their_score_or_their_probability():  # D5
    X, y = [[x] for x in range(1, 9)], [0] * 4 + [1] * 4
    perceptron = sx.Perceptron().fit(X, y)  # z = 5x − 23
    assert perceptron.hyperplane(output=2.0).offset == pytest.approx(5.0)
    assert perceptron.hyperplane(0, output=2.0).same_boundary(Hyperplane([5.0], -21.0))
    logistic = sx.LogisticRegression(loss="cloglog").fit(X, y)
    for label in (0, 1):
        assert logistic.hyperplane(label, output=0.3) == logistic.hyperplane(label, 1 - label, probability=0.3)
