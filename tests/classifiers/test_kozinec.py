"""KozinecClassifier: the first separation, and ε from the maximum margin (docs/tour.md, P9)."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_breast_cancer, load_iris

import separatrix as sx
from separatrix.core.base.errors import NotConvergedWarning, NotFiniteError, ParameterError

XOR = np.array([[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]])


def _separable(seed, n=80, d=3, unit=1.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    z = X @ rng.standard_normal(d) + 0.1
    keep = np.abs(z) > 0.2
    return unit * X[keep] + 5 * unit, (z[keep] > 0).astype(int)


@pytest.mark.parametrize("seed", range(10))
def test_without_eps_it_stops_at_the_first_separation(seed):
    X, y = _separable(seed)
    model = sx.KozinecClassifier().fit(X, y)
    assert model.certificate_.code == "separated"
    assert model.score(X, y) == 1.0
    assert model.margin_ > 0
    assert model.certificate_.verify(X, y)
    assert model.certificate_.verify(csr_array(X), y)
    assert not model.certificate_.verify(X, 1 - y)


@pytest.mark.parametrize("unit", [1.0, 1000.0, 1e-6])
def test_with_eps_the_margin_is_that_near_the_largest(unit):
    for seed in range(4):
        X, y = _separable(seed, unit=unit)
        best = sx.MaxMarginClassifier().fit(X, y).margin_
        eps = 0.02 * best
        model = sx.KozinecClassifier(eps=eps, max_iter=100_000).fit(X, y)
        assert model.certificate_.code == "optimal"
        assert best - eps <= model.margin_ <= best * (1 + 1e-9)
        assert model.certificate_.verify(X, y)
        distances = (2 * y - 1) * model.hyperplane().distance(X)
        assert model.margin_ == pytest.approx(distances.min(), rel=1e-6)


def test_a_smaller_eps_takes_more_steps():
    X, y = _separable(0)
    best = sx.MaxMarginClassifier().fit(X, y).margin_
    steps = [sx.KozinecClassifier(eps=e * best, max_iter=100_000).fit(X, y).n_iter_ for e in (0.3, 0.1, 0.03)]
    assert steps[0] < steps[1] < steps[2]


@pytest.mark.parametrize("eps", [None, 0.1])
def test_overlapping_classes_end_with_a_proof_and_weights_of_least_violation(eps):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    y = (X[:, 0] + 0.5 * rng.standard_normal(60) > 0).astype(int)
    with pytest.warns(NotConvergedWarning, match="rows prove it.*mean of max"):
        model = sx.KozinecClassifier(eps).fit(X, y)
    assert (model.certificate_.code, model.certificate_.met) == ("inseparable", False)
    assert model.margin_ < 0
    assert model.score(X, y) > 0.75
    assert model.certificate_.verify(X, y)


def test_classes_with_one_mean_are_proven_inseparable():
    with pytest.warns(NotConvergedWarning, match=r"4 rows prove it \(0, 1, 2, 3\)"):
        sx.KozinecClassifier().fit(XOR, [0, 0, 1, 1])


def test_out_of_steps_says_what_is_known():
    X, y = _separable(2)
    with pytest.warns(NotConvergedWarning, match="stopped at max_iter=3.*raise max_iter"):
        model = sx.KozinecClassifier(eps=1e-9, max_iter=3).fit(X, y)
    assert model.certificate_.code == "max_iter"
    assert model.certificate_.verify(X, y)


def test_more_than_two_classes():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(NotConvergedWarning, match="class 1 against the rest"):
        model = sx.KozinecClassifier().fit(X, y)
    assert model.coef_.shape == (3, 4)
    corners = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])
    model = sx.KozinecClassifier(1e-3).fit(corners, ["a", "b", "c"])
    assert model.predict(corners).tolist() == ["a", "b", "c"]
    assert model.certificate_.verify(corners, ["a", "b", "c"])


@pytest.mark.parametrize(("settings", "message"), [({"eps": 0.0}, "eps: got 0.0"), ({"max_iter": -1}, "max_iter")])
def test_settings(settings, message):
    with pytest.raises(ParameterError, match=message):
        sx.KozinecClassifier(**settings).fit(XOR, [0, 0, 1, 1])


def test_not_finite_rows_are_named():
    with pytest.raises(NotFiniteError, match="row 1, column 0 is infinity"):
        sx.KozinecClassifier().fit([[0.0], [np.inf]], [0, 1])


def test_the_status_speaks_of_the_weights_that_are_returned():
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    with pytest.warns(NotConvergedWarning) as told:
        model = sx.KozinecClassifier(eps=0.01, max_iter=20).fit(X, y)
    assert model.margin_ > 0
    assert "rows still wrong" not in str(told[0].message)
    assert str(told[0].message).endswith("and separate the rows")


def test_overlapping_classes_do_not_speak_of_the_perceptron():
    X, y = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], [0, 0, 1, 1]
    with pytest.warns(NotConvergedWarning, match=r"^not separable: 4 rows prove it \(0, 1, 2, 3\)"):
        model = sx.KozinecClassifier().fit(X, y)
    assert "rows on the wrong side" in model.certificate_.bound_reason
    assert "perceptron" not in str(model.certificate_)
    assert model.certificate_.verify(X, y)
