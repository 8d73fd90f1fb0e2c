"""The perceptron on rows that nothing separates: pockets, means of the weights, and the proof.

See docs/tour.md, P7, P8.
"""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

import separatrix as sx
from separatrix.core.base.errors import NotConvergedWarning
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


def _literal_loop(X, y, epochs):
    """The lectures' loop: the weights after these epochs, and the number of updates."""
    rows, w, made = np.column_stack([np.ones(len(X)), X]), np.zeros(X.shape[1] + 1), 0
    for _ in range(epochs):
        for x, t in zip(rows, 2 * y - 1, strict=True):
            if t * (w @ x) <= 0:
                w, made = w + t * x, made + 1
    return w, made


def _shifted():
    """The rows of chapter P8 of the tour, which no line separates."""
    labels = np.arange(60) % 2
    return np.random.default_rng(0).standard_normal((60, 2)) + labels[:, None], labels


def test_the_run_stops_at_the_proof_with_its_last_weights():  # P7, P8
    X, y = _shifted()
    with pytest.warns(NotConvergedWarning, match="rows prove it") as told:
        model = sx.Perceptron().fit(X, y)
    w, made = _literal_loop(X, y, model.n_iter_)
    np.testing.assert_allclose(model.scorer_.W[0], w, rtol=1e-12)
    assert (model.n_iter_, model.mistakes_, made) == (10, 194, 194)
    wrong = int(np.sum(model.predict(X) != y))
    assert f"the result is the last weights, which misclassify {wrong} rows" in str(told[0].message)
    assert all(one in str(told[0].message) for one in ("stop_on_proof=False", "average=True", "pocket=True"))
    assert model.certificate_.facts["wrong"] == wrong
    assert model.certificate_.verify(X, y)


def test_at_max_iter_the_warning_offers_no_way_on():
    X, y = _shifted()
    with pytest.warns(NotConvergedWarning, match=r"the last weights, .* \(average=True returns the mean"):
        sx.Perceptron(max_iter=3).fit(X, y)


@pytest.mark.parametrize("shuffle", [False, True])
def test_past_the_proof_it_is_the_literal_loop(shuffle):  # P8
    X, y = _shifted()
    with pytest.warns(NotConvergedWarning, match="rows prove it .* stopped at max_iter=100 with [0-9]+ rows still"):
        model = sx.Perceptron(stop_on_proof=False, max_iter=100, shuffle=shuffle).fit(X, y)
    assert model.n_iter_ == 100
    assert model.certificate_.code == "inseparable"
    if not shuffle:
        w, made = _literal_loop(X, y, 100)
        np.testing.assert_allclose(model.scorer_.W[0], w, rtol=1e-12)
        assert model.mistakes_ == made == 1920


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
