"""Perceptron: what the lectures say of it, and what users rely on. TEXTBOOK P1–P8, P11–P14, D1."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.linear_model as peers
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris

import separatrix as sx
from separatrix.base.errors import LabelError, NotConvergedWarning, NotFiniteError, ParameterError

XOR = np.array([[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]])
PHI = np.column_stack([XOR, XOR.prod(axis=1)])
Y = np.array([0, 0, 1, 1])
LINE = np.arange(1.0, 9.0)[:, None]
LINE_Y = np.array([0] * 4 + [1] * 4)


@pytest.fixture(scope="module")
def separable():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 3))
    z = X @ [1.0, -2.0, 0.5] + 0.2
    return X[np.abs(z) > 0.3], (z[np.abs(z) > 0.3] > 0).astype(int)


# ------------------------------------------------------------------------------------------ exact examples


@pytest.mark.parametrize("update", ["online", "worst"])
def test_xor_with_its_product_takes_four_mistakes(update):
    model = sx.Perceptron(update).fit(PHI, Y)
    assert (model.intercept_.tolist(), model.coef_.tolist()) == ([0.0], [[0.0, 0.0, -4.0]])
    assert model.mistakes_ == 4
    assert "at most 4 mistakes" in model.certificate_.facts["theorem"]


def test_xor_with_zero_counted_as_positive_takes_two():  # D1's other reading
    model = sx.Perceptron(zero="positive").fit(PHI, Y)
    assert (model.intercept_.tolist(), model.coef_.tolist()) == ([-2.0], [[0.0, 0.0, -2.0]])
    assert model.mistakes_ == 2
    assert model.predict(PHI).tolist() == Y.tolist()


@pytest.mark.parametrize("far", [None, 30.0, 1e6])
def test_a_far_correct_row_changes_nothing(far):  # P14
    X = LINE if far is None else np.vstack([LINE, [[far]]])
    y = LINE_Y if far is None else np.append(LINE_Y, 1)
    model = sx.Perceptron().fit(X, y)
    assert (model.intercept_.tolist(), model.coef_.tolist(), model.mistakes_) == ([-23.0], [[5.0]], 87)
    assert model.score(X, y) == 1.0


def test_xor_never_ends_and_the_status_proves_it():  # P7
    model = sx.Perceptron()
    with pytest.warns(NotConvergedWarning, match=r"4 rows prove it \(0, 1, 2, 3\)"):
        model.fit(XOR, Y)
    certificate = model.certificate_
    assert (certificate.code, certificate.met) == ("inseparable", False)
    assert model.n_iter_ == 10
    assert model.mistakes_ == 40


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
            plain, pocket = (sx.Perceptron(pocket=p, average=False).fit(X, noisy) for p in (False, True))
        assert pocket.score(X, noisy) >= plain.score(X, noisy)
        better += pocket.score(X, noisy) > plain.score(X, noisy)
    assert better >= 3
    assert pocket.certificate_.facts["wrong"] == round(len(y) * (1 - pocket.score(X, noisy)))
    with pytest.warns(NotConvergedWarning):
        xor = sx.Perceptron(pocket=True).fit(XOR, Y)
    assert xor.score(XOR, Y) == 0.75


def test_reaching_max_iter_on_separable_rows_says_that_it_would_end():
    X = np.array([[1000.0], [1001.0], [1000.9]])
    with pytest.warns(NotConvergedWarning, match=r"the rows are separable, but Novikoff's theorem allows 4e\+14"):
        model = sx.Perceptron(max_iter=20).fit(X, [0, 1, 0])
    assert model.certificate_.code == "max_iter"
    assert "a separator known from a linear program" in model.certificate_.facts["theorem"]


def test_large_tables_are_not_asked_about(monkeypatch):
    monkeypatch.setattr("separatrix.solvers.separating.rules.MOST_ENTRIES", 5)
    with pytest.warns(NotConvergedWarning, match="so large a table was not asked"):
        sx.Perceptron(max_iter=30).fit(XOR, Y)


def test_rows_that_only_rounding_could_separate_are_given_up():
    rng = np.random.default_rng(4)
    x = rng.standard_normal((40, 2))
    X, y = np.column_stack([x, x.sum(axis=1)]), rng.integers(0, 2, 40)
    with pytest.warns(NotConvergedWarning):
        model = sx.Perceptron(max_iter=100).fit(X, y)
    assert model.certificate_.code in ("rounding", "inseparable")


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


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"update": "fast"}, "update: got 'fast'; choose one of 'online', 'batch', 'worst'"),
        ({"zero": "negative"}, "zero: got 'negative'"),
        ({"eta0": 0.0}, "eta0: got 0.0"),
        ({"max_iter": 0}, "max_iter: got 0"),
        ({"pocket": 1}, "pocket: got 1"),
        ({"start": "random"}, "start: got 'random'"),
        ({"start": np.zeros((1, 9))}, r"shape \(1, 3\)"),
    ],
)
def test_settings(settings, message):
    with pytest.raises(ParameterError, match=message):
        sx.Perceptron(**settings).fit(XOR, Y)


@pytest.mark.parametrize("rows", [np.array, csr_array])
def test_not_finite_rows_are_named(rows):
    spoilt = XOR.copy()
    spoilt[2, 1] = np.nan
    with pytest.raises(NotFiniteError, match="row 2, column 1 is NaN"):
        sx.Perceptron().fit(rows(spoilt), Y)


def test_the_pocket_counts_the_rows_of_the_weights_it_returns():
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.warns(NotConvergedWarning) as told:
        model = sx.Perceptron(pocket=True, max_iter=5).fit(X, y)
    wrong = int(np.sum(model.predict(X) != y))
    assert model.certificate_.facts["wrong"] == wrong
    assert f"with {wrong} rows still wrong" in str(told[0].message)
    assert "mistakes before convergence: scale the columns" in str(told[0].message)


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


# ------------------------------------------------------------------------------- rows that nothing separates


@pytest.fixture(scope="module")
def overlapping():
    """Iris versicolor and virginica: the best plane leaves one row of 100 wrong, and two are soon reached."""
    X, y = load_iris(return_X_y=True)
    return X[50:], y[50:]


@pytest.mark.parametrize("update", ["online", "batch", "worst"])
def test_a_pocket_goes_on_past_the_proof_and_attaches_it(overlapping, update):  # P7, P8
    X, y = overlapping
    model = sx.Perceptron(update, pocket=True)
    with pytest.warns(
        NotConvergedWarning, match=r"rows prove it .* stopped at max_iter=1000 with [12] rows? still wrong"
    ):
        model.fit(X, y)
    wrong = int(np.sum(model.predict(X) != y))
    assert wrong <= 2
    assert (model.n_iter_, model.certificate_.code) == (1000, "inseparable")
    assert model.certificate_.facts["wrong"] == wrong
    assert model.verdicts_[0].verify(X, y)
    assert model.certificate_.verify(X, y)


def test_a_pocket_ends_when_it_no_longer_improves(overlapping):  # P8
    X, y = overlapping
    model = sx.Perceptron(pocket=True, tol=0.0, n_iter_no_change=50).fit(X, y)
    assert 60 < model.n_iter_ < 1000
    assert np.sum(model.predict(X) != y) <= 4
    assert (model.certificate_.code, model.certificate_.met) == ("patience", True)
    assert "in 50 steps" in model.certificate_.status
    assert "rows prove it" in model.certificate_.status


@pytest.mark.parametrize("update", ["online", "batch", "worst"])
def test_steps_keep_the_pocket_from_call_to_call(overlapping, update):  # P8
    X, y = overlapping
    model, fewest = sx.Perceptron(update, pocket=True), []
    for _ in range(120):
        model.partial_fit(X, y)
        fewest.append(int(np.sum(model.predict(X) != y)))
    assert fewest == sorted(fewest, reverse=True)
    assert fewest[-1] < fewest[0]
    with pytest.warns(NotConvergedWarning):
        whole = sx.Perceptron(update, pocket=True, max_iter=120).fit(X, y)
    np.testing.assert_array_equal(model.coef_, whole.coef_)
    # Other rows judge the pocket anew: it stays where the step over them finds nothing better.
    before = model.coef_.copy()
    model.partial_fit(X[:1], y[:1])
    np.testing.assert_array_equal(model.coef_, before)


def test_where_the_walk_leaves_mistakes_the_answer_is_a_mean(overlapping):
    X, y = overlapping
    with pytest.warns(NotConvergedWarning, match="the result is the mean of the weights over 100 more epochs"):
        mean = sx.Perceptron().fit(X, y)
    with pytest.warns(NotConvergedWarning):
        last, again = sx.Perceptron(average=False).fit(X, y), sx.Perceptron().fit(X, y)
    np.testing.assert_array_equal(mean.coef_, again.coef_)
    assert (mean.n_iter_, mean.mistakes_) == (last.n_iter_, last.mistakes_)
    assert np.sum(mean.predict(X) != y) <= 5
    assert np.sum(last.predict(X) != y) == 50
    assert mean.certificate_.verify(X, y)
    assert f"misclassifies {np.sum(mean.predict(X) != y)} rows" in mean.certificate_.status


def test_on_separable_rows_the_answer_is_the_last_weights(separable):
    X, y = separable
    for update in ("online", "batch", "worst"):
        one, other = (sx.Perceptron(update, average=how, max_iter=50_000).fit(X, y) for how in ("auto", False))
        np.testing.assert_array_equal(one.coef_, other.coef_)
        assert one.certificate_.status == other.certificate_.status


def test_the_mean_of_the_whole_walk_by_hand():
    model = sx.Perceptron(average=True).fit(LINE, LINE_Y)
    w, total, count = np.zeros(2), np.zeros(2), 0
    for _ in range(model.n_iter_):
        for x, y in zip(LINE[:, 0], LINE_Y, strict=True):
            t = 2 * y - 1
            w = w + t * np.array([1.0, x]) if t * (w[0] + w[1] * x) <= 0 else w
            total, count = total + w, count + 1
    assert w.tolist() == [-23.0, 5.0]
    np.testing.assert_allclose([model.intercept_[0], model.coef_[0, 0]], total / count, rtol=1e-12)
    assert model.mistakes_ == 87
    stepped = sx.Perceptron(average=True)
    for _ in range(model.n_iter_):
        stepped.partial_fit(LINE, LINE_Y)
    np.testing.assert_allclose(stepped.coef_, model.coef_, rtol=1e-12)


def test_an_average_goes_on_past_the_proof(overlapping):
    X, y = overlapping
    with pytest.warns(NotConvergedWarning, match="rows prove it"):
        model = sx.Perceptron(average=True, max_iter=300).fit(X, y)
    assert model.n_iter_ == 300


# ------------------------------------------------------------------------------- scikit-learn's other settings


def test_a_class_weight_multiplies_its_updates(overlapping):
    X, y = overlapping
    settings = {"shuffle": False, "tol": None, "max_iter": 7}
    peer = peers.Perceptron(class_weight={1: 1.0, 2: 3.0}, **settings).fit(X, y)
    with pytest.warns(NotConvergedWarning):
        model = sx.Perceptron(class_weight={2: 3.0}, average=False, max_iter=7).fit(X, y)
    np.testing.assert_allclose(model.coef_, peer.coef_, rtol=1e-9)
    with pytest.warns(NotConvergedWarning):
        heavy, light = (
            sx.Perceptron(class_weight={2: factor}, pocket=False, average=True, max_iter=200).fit(X, y)
            for factor in (20.0, 0.05)
        )
    assert np.sum(heavy.predict(X) == 2) > np.sum(light.predict(X) == 2)
    assert "theorem" not in heavy.certificate_.facts


def test_balanced_weights_are_those_of_the_counts():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 2)), np.repeat([0, 1, 2], [30, 20, 10])
    with pytest.warns(NotConvergedWarning):
        one, other = (
            sx.Perceptron(class_weight=how, max_iter=30).fit(X, y) for how in ("balanced", {0: 2 / 3, 1: 1.0, 2: 2.0})
        )
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-9)
    assert one.certificate_.verify(X, y)


@pytest.mark.parametrize("rows", [np.asarray, csr_array])
@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet"])
def test_a_penalty_shrinks_the_weights(overlapping, penalty, rows):
    X, y = rows(overlapping[0]), overlapping[1]
    lengths = []
    for alpha in (0.0, 1e-1):
        with pytest.warns(NotConvergedWarning):
            model = sx.Perceptron(penalty=penalty, alpha=alpha, average=False, max_iter=60).fit(X, y)
        assert model.certificate_.verify(X, y)
        lengths.append(float(np.linalg.norm(model.coef_)))
    assert lengths[1] < 0.5 * lengths[0]


def test_an_absolute_penalty_makes_weights_zero():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 8))
    y = (X[:, 0] + 0.3 * rng.standard_normal(200) > 0).astype(int)
    with pytest.warns(NotConvergedWarning):
        model = sx.Perceptron(penalty="l1", alpha=0.4, max_iter=50).fit(X, y)
    assert np.sum(model.coef_ == 0) >= 3
    assert model.coef_[0, 0] > 0


def test_tol_ends_the_walk_when_the_cost_it_meets_no_longer_falls():
    X, y = load_breast_cancer(return_X_y=True)
    model = sx.Perceptron(tol=1e-3).fit(X, y)
    assert model.n_iter_ < 60
    assert (model.certificate_.code, model.certificate_.met) == ("patience", True)
    met = [record.met for record in model.trace_[1:]]
    assert min(met[-5:]) > min(met[:-5]) - 1e-3


def test_rows_set_aside_end_the_walk_and_choose_the_weights():
    X, y = load_breast_cancer(return_X_y=True)
    model = sx.Perceptron(early_stopping=True, shuffle=True, n_iter_no_change=8).fit(X, y)
    assert model.n_iter_ < 200
    assert model.certificate_.code == "patience"
    assert "validation rows" in model.certificate_.status
    assert model.certificate_.verify(X, y)
    assert model.score(X, y) > 0.85
    with pytest.warns(NotConvergedWarning, match="stopped at max_iter=3 while the error rate"):
        sx.Perceptron(early_stopping=True, max_iter=3).fit(X, y)
    three = sx.Perceptron(early_stopping=True, shuffle=True).fit(*load_iris(return_X_y=True))
    assert three.certificate_.verify(*load_iris(return_X_y=True))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"average": "always"}, "average: got 'always'"),
        ({"average": True, "pocket": True}, "average: got True together with a pocket"),
        ({"average": True, "penalty": "l2"}, "average: got True together with a penalty"),
        ({"penalty": "ridge"}, "penalty: got 'ridge'; choose one of 'l2', 'l1', 'elasticnet'"),
        ({"alpha": -1.0}, "alpha: got -1.0"),
        ({"l1_ratio": 2.0}, "l1_ratio: got 2.0"),
        ({"tol": -1.0}, "tol: got -1.0"),
        ({"n_iter_no_change": 0}, "n_iter_no_change: got 0"),
        ({"early_stopping": True}, "validation_fraction: 0.1 of 4 rows gives no validation rows"),
        ({"class_weight": {9: 1.0}}, "class_weight: it names 9"),
    ],
)
def test_more_settings(settings, message):
    with pytest.raises(ParameterError, match=message):
        sx.Perceptron(**settings).fit(XOR, Y)


def test_steps_refuse_what_needs_all_rows():
    with pytest.raises(ParameterError, match="early_stopping: partial_fit holds out no rows"):
        sx.Perceptron(early_stopping=True).partial_fit(XOR, Y)
    with pytest.raises(ParameterError, match="class_weight: got 'balanced', which needs all rows"):
        sx.Perceptron(class_weight="balanced").partial_fit(XOR, Y)


def test_the_trace_names_the_cost_and_what_was_met(overlapping):  # P1
    X, y = overlapping
    with pytest.warns(NotConvergedWarning):
        model = sx.Perceptron(average=False, max_iter=12).fit(X, y)
    t, last = 2.0 * (y == 2) - 1, model.trace_[-1]
    assert last.value == pytest.approx(np.maximum(0, -t * model.decision_function(X)).mean(), rel=1e-12)
    assert all(np.isfinite(record.value) and record.met is not None for record in model.trace_[1:])
    assert any(abs(record.value - record.met) > 0.1 for record in model.trace_[1:])
    assert model.trace_[0].met is None
