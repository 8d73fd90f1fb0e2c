"""Classification by least squares: the lectures' examples, exactly; then laws and failures (docs/tour.md, S1–S6)."""

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
from separatrix.core.base.errors import ParameterError
from tests.classifiers.lecture_rows import LINE, LINE_Y, PLANE, PLANE_Y, with_row

R = json.loads((Path(__file__).parent.parent / "r" / "moments.json").read_text())
TARGETS = ("one-hot", "signed")


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
