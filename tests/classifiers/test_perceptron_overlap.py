"""The perceptron on rows that nothing separates: pockets, means of the weights, and the proof.

See docs/tour.md, P7, P8.
"""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

import separatrix as sx
from separatrix.base.errors import NotConvergedWarning
from tests.classifiers.lecture_rows import LINE, LINE_Y, XOR, XOR_Y


def test_xor_never_ends_and_the_status_proves_it():  # P7
    model = sx.Perceptron()
    with pytest.warns(NotConvergedWarning, match=r"4 rows prove it \(0, 1, 2, 3\)"):
        model.fit(XOR, XOR_Y)
    certificate = model.certificate_
    assert (certificate.code, certificate.met) == ("inseparable", False)
    assert model.n_iter_ == 10
    assert model.mistakes_ == 40


def test_rows_that_only_rounding_could_separate_are_given_up():
    rng = np.random.default_rng(4)
    x = rng.standard_normal((40, 2))
    X, y = np.column_stack([x, x.sum(axis=1)]), rng.integers(0, 2, 40)
    with pytest.warns(NotConvergedWarning):
        model = sx.Perceptron(max_iter=100).fit(X, y)
    assert model.certificate_.code in ("rounding", "inseparable")


def test_the_pocket_counts_the_rows_of_the_weights_it_returns():
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.warns(NotConvergedWarning) as told:
        model = sx.Perceptron(pocket=True, max_iter=5).fit(X, y)
    wrong = int(np.sum(model.predict(X) != y))
    assert model.certificate_.facts["wrong"] == wrong
    assert f"with {wrong} rows still wrong" in str(told[0].message)
    assert "mistakes before convergence: scale the columns" in str(told[0].message)


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
    with pytest.warns(NotConvergedWarning, match="the result is the mean of the weights over [0-9]+ epochs in random"):
        mean = sx.Perceptron().fit(X, y)
    with pytest.warns(NotConvergedWarning):
        last, again = sx.Perceptron(average=False).fit(X, y), sx.Perceptron().fit(X, y)
    np.testing.assert_array_equal(mean.coef_, again.coef_)
    assert (mean.n_iter_, mean.mistakes_) == (last.n_iter_, last.mistakes_)
    assert np.sum(mean.predict(X) != y) <= 5
    assert np.sum(last.predict(X) != y) == 50
    assert mean.certificate_.verify(X, y)
    assert f"misclassifies {np.sum(mean.predict(X) != y)} rows" in mean.certificate_.status


def test_that_mean_is_the_averaged_perceptron_in_random_order_from_the_same_start(overlapping):
    X, y = overlapping
    for start in ("zero", [[3.0, *[-1.0] * X.shape[1]]]):
        settings = {"max_iter": 40, "start": start, "random_state": 5}
        with pytest.warns(NotConvergedWarning):
            second = sx.Perceptron(**settings).fit(X, y)
        with pytest.warns(NotConvergedWarning):
            plain = sx.Perceptron(**settings, average=True, shuffle=True).fit(X, y)
        np.testing.assert_allclose(second.scorer_.W, plain.scorer_.W, rtol=1e-12)
        assert "over 40 epochs in random order" in second.certificate_.status


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
