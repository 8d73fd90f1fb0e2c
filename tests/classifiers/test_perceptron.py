"""Perceptron: what the lectures say of it, and what users rely on (docs/tour.md, P1–P8, P11–P14, D1)."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_iris

import separatrix as sx
from separatrix.core.base.errors import LabelError, NotConvergedWarning, NotFiniteError, ParameterError
from tests.classifiers.lecture_rows import LINE, LINE_Y, PHI, XOR, XOR_Y

# ------------------------------------------------------------------------------------------ exact examples


@pytest.mark.parametrize("update", ["online", "worst"])
def test_xor_with_its_product_takes_four_mistakes(update):
    model = sx.Perceptron(update).fit(PHI, XOR_Y)
    assert (model.intercept_.tolist(), model.coef_.tolist()) == ([0.0], [[0.0, 0.0, -4.0]])
    assert model.mistakes_ == 4
    assert "at most 4 mistakes" in model.certificate_.facts["theorem"]


def test_xor_with_zero_counted_as_positive_takes_two():  # D1's other reading
    model = sx.Perceptron(zero="positive").fit(PHI, XOR_Y)
    assert (model.intercept_.tolist(), model.coef_.tolist()) == ([-2.0], [[0.0, 0.0, -2.0]])
    assert model.mistakes_ == 2
    assert model.predict(PHI).tolist() == XOR_Y.tolist()


@pytest.mark.parametrize("far", [None, 30.0, 1e6])
def test_a_far_correct_row_changes_nothing(far):  # P14
    X = LINE if far is None else np.vstack([LINE, [[far]]])
    y = LINE_Y if far is None else np.append(LINE_Y, 1)
    model = sx.Perceptron().fit(X, y)
    assert (model.intercept_.tolist(), model.coef_.tolist(), model.mistakes_) == ([-23.0], [[5.0]], 87)
    assert model.score(X, y) == 1.0


# ---------------------------------------------------------------------------------------------- behaviour


def test_start_and_order_change_the_answer(separable):  # P5
    X, y = separable
    base = sx.Perceptron().fit(X, y)
    order = np.random.default_rng(1).permutation(len(y))
    turned = sx.Perceptron().fit(X[order], y[order])
    started = sx.Perceptron(start=np.full((1, 4), 0.5)).fit(X, y)
    shuffled = [sx.Perceptron(shuffle=True, random_state=seed).fit(X, y) for seed in (1, 1, 2)]
    assert np.array_equal(shuffled[0].coef_, shuffled[1].coef_)
    others = [turned, started, shuffled[0], shuffled[2]]
    assert len({tuple(model.coef_.ravel().round(9)) for model in [base, *others]}) == 5
    assert all(model.score(X, y) == 1.0 for model in others)


def test_from_zero_the_learning_rate_only_rescales(separable):
    X, y = separable
    one, half = sx.Perceptron().fit(X, y), sx.Perceptron(eta0=0.5).fit(X, y)
    np.testing.assert_array_equal(half.coef_, 0.5 * one.coef_)
    assert half.mistakes_ == one.mistakes_


@pytest.mark.parametrize("update", ["online", "batch", "worst"])
@pytest.mark.parametrize("zero", ["mistake", "positive"])
def test_every_update_ends_on_separable_rows_and_verifies(separable, update, zero):
    X, y = separable
    model = sx.Perceptron(update, zero=zero, max_iter=50_000).fit(X, y)
    certificate = model.certificate_
    assert certificate.met
    assert certificate.objective == 0.0
    assert certificate.bound is None
    assert "trivial minimum" in certificate.bound_reason
    assert certificate.facts["mistakes"] == model.mistakes_
    assert model.score(X, y) == 1.0
    assert certificate.verify(X, y)
    assert certificate.verify(csr_array(X), y)
    assert not certificate.verify(X, 1 - y)
    assert len(model.trace_) == model.n_iter_ + 1


def test_the_certificate_of_an_unfinished_run_verifies(separable):
    X, y = separable
    rng = np.random.default_rng(0)
    noisy = np.where(rng.random(len(y)) < 0.2, 1 - y, y)
    with pytest.warns(NotConvergedWarning, match="rows prove it"):
        model = sx.Perceptron().fit(X, noisy)
    assert model.certificate_.objective > 0
    assert model.certificate_.verify(X, noisy)
    moved = pickle.loads(pickle.dumps(model.certificate_))
    moved.claim.scorer.W[0, 1] += 1.0
    assert not moved.verify(X, noisy)


def test_the_pocket_answers_with_fewer_mistakes(separable):  # P8
    X, y = separable
    better = 0
    for seed in range(5):
        noisy = np.where(np.random.default_rng(seed).random(len(y)) < 0.2, 1 - y, y)
        with pytest.warns(NotConvergedWarning):
            plain, pocket = (sx.Perceptron(pocket=p).fit(X, noisy) for p in (False, True))
        assert pocket.score(X, noisy) >= plain.score(X, noisy)
        better += pocket.score(X, noisy) > plain.score(X, noisy)
    assert better >= 3
    assert pocket.certificate_.facts["wrong"] == round(len(y) * (1 - pocket.score(X, noisy)))
    with pytest.warns(NotConvergedWarning):
        xor = sx.Perceptron(pocket=True).fit(XOR, XOR_Y)
    assert xor.score(XOR, XOR_Y) == 0.75


def test_reaching_max_iter_on_separable_rows_says_that_it_would_end():
    X = np.array([[1000.0], [1001.0], [1000.9]])
    with pytest.warns(NotConvergedWarning, match=r"the rows are separable, but Novikoff's theorem allows 4e\+14"):
        model = sx.Perceptron(max_iter=20).fit(X, [0, 1, 0])
    assert model.certificate_.code == "max_iter"
    assert "a separator known from a linear program" in model.certificate_.facts["theorem"]


def test_touching_rows_at_zero_may_be_positive():
    # Through the origin: the row 0 is a mistake for ever by m ≤ 0, and none by f(0) = +1.
    X, y = np.array([[0.0], [2.0], [-1.0]]), [1, 1, 0]
    with pytest.warns(NotConvergedWarning, match="1 rows prove it|1 of them prove it"):
        sx.Perceptron(fit_intercept=False).fit(X, y)
    model = sx.Perceptron(fit_intercept=False, zero="positive").fit(X, y)
    assert model.certificate_.met
    assert model.predict(X).tolist() == y
    assert not model.intercept_.any()


def test_there_are_no_probabilities(separable):  # P13
    model = sx.Perceptron().fit(*separable)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match="no probabilities, only scores"):
        model.predict_proba(separable[0])
    assert model.approach == "discriminant function"


def test_more_than_two_classes_are_one_against_the_rest():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(NotConvergedWarning, match=r"class 1 against the rest .*: not separable: "):
        model = sx.Perceptron(pocket=True, max_iter=100).fit(X, y)
    assert model.coef_.shape == (3, 4)
    assert model.certificate_.verify(X, y)
    alone = sx.Perceptron().fit(X, y == 0)
    np.testing.assert_array_equal(model.coef_[0], alone.coef_[0])
    corners = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])
    model = sx.Perceptron().fit(corners, ["a", "b", "c"])
    assert model.certificate_.met
    assert model.predict(corners).tolist() == ["a", "b", "c"]


def test_every_container_gives_the_same_fit(separable):
    X, y = (separable[0] * 8).round(), separable[1]  # whole numbers: any order of sums is exact
    base = sx.Perceptron(max_iter=60_000).fit(X, y)
    names = list("abc")
    for rows in (X.tolist(), np.asfortranarray(X), csr_array(X), X.astype(np.float32), pd.DataFrame(X, columns=names)):
        model = sx.Perceptron(max_iter=60_000).fit(rows, y)
        np.testing.assert_array_equal(model.coef_, base.coef_)
        np.testing.assert_array_equal(model.predict(rows), base.predict(X))
    words = np.where(y, "yes", "no")
    model = sx.Perceptron(max_iter=60_000).fit(pl.DataFrame(X, schema=names), pl.Series(words))
    assert model.classes_.tolist() == ["no", "yes"]
    assert list(model.feature_names_in_) == names


# ------------------------------------------------------------------------------------------- step by step


def test_partial_fit_walks_one_epoch_a_call(separable):
    X, y = separable
    model = sx.Perceptron()
    for _ in range(sx.Perceptron().fit(X, y).n_iter_):
        model.partial_fit(X, y)
    whole = sx.Perceptron().fit(X, y)
    np.testing.assert_array_equal(model.coef_, whole.coef_)
    assert (model.n_iter_, model.mistakes_) == (whole.n_iter_, whole.mistakes_)
    assert model.certificate_.met
    assert model.certificate_.verify(X, y)


def test_partial_fit_takes_classes_in_parts_and_refuses_new_ones():
    model = sx.Perceptron()
    model.partial_fit([[0.0], [1.0]], ["a", "a"], classes=["a", "b"])
    model.partial_fit([[5.0]], ["b"])
    assert model.classes_.tolist() == ["a", "b"]
    with pytest.raises(LabelError, match=r"y: it has the label 'c'; use the classes of the fit: \['a', 'b'\]\."):
        model.partial_fit([[5.0]], ["c"])
    with pytest.raises(ParameterError, match="classes: there is one class only"):
        sx.Perceptron().partial_fit([[5.0]], ["b"])
    with pytest.raises(NotFiniteError, match="row 0, column 0 is NaN"):
        model.partial_fit([[np.nan]], ["b"])


def test_warm_start_goes_on_from_the_last_fit(separable):
    X, y = separable
    model = sx.Perceptron(warm_start=True).fit(X, y)
    before = model.coef_.copy()
    assert model.fit(X, y).mistakes_ == 0
    np.testing.assert_array_equal(model.coef_, before)
    wider = np.column_stack([X, X[:, 0]])  # other columns: from the start again
    np.testing.assert_array_equal(model.fit(wider, y).coef_, sx.Perceptron().fit(wider, y).coef_)


def test_clone_and_pickle(separable):
    X, y = separable
    model = sx.Perceptron("worst", eta0=2.0, max_iter=20_000)
    assert clone(model).get_params() == model.get_params()
    copy = pickle.loads(pickle.dumps(model.fit(X, y)))
    np.testing.assert_array_equal(copy.predict(X), y)


@pytest.mark.parametrize("rows", [np.array, csr_array])
def test_not_finite_rows_are_named(rows):
    spoilt = XOR.copy()
    spoilt[2, 1] = np.nan
    with pytest.raises(NotFiniteError, match="row 2, column 1 is NaN"):
        sx.Perceptron().fit(rows(spoilt), XOR_Y)


def test_a_bound_within_reach_advises_more_steps():
    X, y = [[1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 0, 1, 1]
    with pytest.warns(NotConvergedWarning, match=r"converges after at most [\d.e+]+ mistakes: raise max_iter"):
        sx.Perceptron(max_iter=2).fit(X, y)


def test_one_class_in_the_first_step_is_named_plainly():
    with pytest.raises(ParameterError, match="there is one class only, 1;"):
        sx.Perceptron().partial_fit([[0.0]], np.array([1]))


POINTS, SIDES = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 1.0], [3.0, -1.0]]), [0, 0, 1, 1]


def test_steps_with_a_pocket_walk_on_from_where_they_walked():
    model = sx.Perceptron(pocket=True)
    for _ in range(50):
        model.partial_fit(POINTS, SIDES)
    assert model.score(POINTS, SIDES) == 1.0


def test_without_an_intercept_none_is_kept_from_before():
    model = sx.Perceptron().fit(POINTS + 3, SIDES)
    assert model.intercept_[0] != 0
    model.set_params(fit_intercept=False, warm_start=True).fit(POINTS - [2.0, 0.0], SIDES)
    assert model.intercept_[0] == 0
    assert model.partial_fit(POINTS - [2.0, 0.0], SIDES).intercept_[0] == 0


def test_the_theorem_is_about_single_rows():
    X, y = [[1.0, 0.0]] * 1000 + [[0.5, -0.87]], [1] * 1000 + [0]
    batch = sx.Perceptron("batch", fit_intercept=False, max_iter=600).fit(X, y)
    assert "theorem" not in batch.certificate_.facts
    assert "theorem" in sx.Perceptron(fit_intercept=False).fit(X, y).certificate_.facts
