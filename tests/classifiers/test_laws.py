"""Every classifier in the registry, with its default settings, obeys every law that its traits claim."""

import inspect
import pickle
import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array

import separatrix as sx
from separatrix.classifiers import CLASSIFIERS
from separatrix.core.certificate import RowsClaim
from separatrix.core.rows.memory_rows import memory_rows
from tests.streamed import streamed

APPROACHES = {"discriminant function", "discriminative", "generative"}


def _two(apart: bool):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((90, 3)) * [1.0, 4.0, 0.25] + [0.0, 1.0, 2.0]
    z = (X - X.mean(axis=0)) / X.std(axis=0) @ [1.5, -1.0, 0.5]
    if apart:
        return X[np.abs(z) > 0.4], (z > 0).astype(int)[np.abs(z) > 0.4]
    return X, (z + rng.logistic(size=90) > 0).astype(int)


def _three():
    rng = np.random.default_rng(2)
    y = np.arange(90) % 3
    return np.array([[0.0, 0.0], [4.0, 1.0], [1.0, 5.0]])[y] + rng.standard_normal((90, 2)), y


DATA = {"overlapping": _two(apart=False), "separable": _two(apart=True), "three classes": _three()}


def where(applies):
    """Each classifier that the law applies to, on each data set."""
    cases = [(name, data) for name, kind in CLASSIFIERS.items() if applies(kind) for data in DATA]
    return pytest.mark.parametrize(("name", "data"), cases, ids=[f"{n}, {d}" for n, d in cases])


every = where(lambda kind: True)


def _takes_weights(kind):
    return "sample_weight" in inspect.signature(kind.fit).parameters


def _fit(name, X, y, **weight):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sx.errors.NotConvergedWarning)
        return CLASSIFIERS[name]().fit(X, y, **weight)


def _sure(model, X):
    """Rows whose answer does not hang on rounding."""
    z = model.decision_function(X)
    if z.ndim == 1:
        return np.abs(z) > 1e-6 * np.abs(z).max()
    top = np.sort(z, axis=1)
    return top[:, -1] - top[:, -2] > 1e-6 * np.abs(z).max()


@every
def test_says_what_it_is(name, data):  # D2, D6
    X, y = DATA[data]
    model = _fit(name, X, y)
    assert model.approach in APPROACHES
    assert isinstance(model.n_parameters_, int | np.integer)
    assert model.n_parameters_ >= X.shape[1]
    assert model.certificate_.status
    assert model.certificate_.code
    assert model.certificate_.bound is not None or model.certificate_.bound_reason
    assert model.certificate_.status in str(model.certificate_)


@every
def test_probabilities_or_a_clear_no(name, data):  # P13
    X, y = DATA[data]
    model = _fit(name, X, y)
    if model.has_probabilities or name == "one-versus-rest":  # which has those of its models, normalised
        p = model.predict_proba(X)
        np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-9)
        assert np.all(p >= 0)
        np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), p, rtol=1e-6, atol=1e-12)
        sure = _sure(model, X)
        np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)][sure], model.predict(X)[sure])
    else:
        assert not hasattr(model, "predict_proba")
        with pytest.raises(AttributeError, match="no probabilities"):
            model.predict_proba(X)


@where(lambda kind: hasattr(kind, "hyperplane"))
def test_a_plane_of_given_probability_or_a_clear_no(name, data):  # D5, P13
    X, y = DATA[data]
    model = _fit(name, X, y)
    two = model.classes_[:2].tolist()
    if "probability" not in inspect.signature(model.hyperplane).parameters:
        return
    if not model.has_probabilities:
        with pytest.raises(sx.errors.ParameterError, match=r"probability: .* has no probabilities.*output="):
            model.hyperplane(*two, probability=0.5)
    elif len(model.classes_) > 2:
        with pytest.raises(sx.errors.ParameterError, match="more than two classes"):
            model.hyperplane(*two, probability=0.5)
    else:
        for k, label in enumerate(two):
            plane = model.hyperplane(label, two[1 - k], probability=0.3)
            on_it = plane.project(X[:5])
            np.testing.assert_allclose(model.predict_proba(on_it)[:, k], 0.3, rtol=1e-9)
            higher = on_it + plane.w / np.linalg.norm(plane.w)
            assert np.all(model.predict_proba(higher)[:, k] > 0.3)


@every
def test_nobody_takes_scores_for_probabilities(name, data):  # P13, E2
    X, y = DATA[data]
    model = _fit(name, X, y)
    assert (sx.evaluate(model, X, y).log_loss is not None) == model.has_probabilities
    if not hasattr(model, "predict_proba"):  # one versus rest has some where its parts do
        with pytest.raises(sx.errors.ParameterError, match="probabilities"):
            sx.reliability(model, X, y)


@every
def test_the_certificate_verifies_on_its_rows_and_on_no_others(name, data):
    X, y = DATA[data]
    certificate = _fit(name, X, y).certificate_
    assert certificate.verify(X, y), str(certificate.verify(X, y))
    assert certificate.verify(csr_array(X), y)
    assert not certificate.verify(X[::-1], y)


@every
def test_the_certificate_verifies_on_a_stream_of_its_rows_and_of_no_others(name, data):
    X, y = DATA[data]
    certificate = _fit(name, X, y).certificate_
    claim = certificate.claim
    if not isinstance(claim, RowsClaim):  # the parts of a combined model select their rows by index
        assert name in ("one-versus-rest", "one-versus-one")
        with pytest.raises(sx.errors.InputError, match="is recomputed from rows in memory only"):
            certificate.verify_rows(streamed(memory_rows(X, y)))
        return
    for form in (np.asarray, csr_array):
        ours, theirs = certificate.verify_rows(streamed(claim.rows_of(form(X), y))), certificate.verify(form(X), y)
        assert ours, str(ours)
        assert ours.objective == pytest.approx(theirs.objective, rel=1e-10)
        assert (ours.bound is None) == (theirs.bound is None)
    assert not certificate.verify_rows(streamed(claim.rows_of(X[::-1], y)))
    with pytest.raises(sx.errors.InputError, match=rf"X: it has 1 columns; give the {X.shape[1]} columns of the fit"):
        certificate.verify_rows(streamed(claim.rows_of(X[:, :1], y)))


@every
def test_answers_follow_from_scores(name, data):
    X, y = DATA[data]
    model = _fit(name, X, y)
    z = model.decision_function(X)
    expected = (z >= 0).astype(int) if z.ndim == 1 else z.argmax(axis=1)
    np.testing.assert_array_equal(model.predict(X), model.classes_[expected])
    if model.certificate_.met:  # a perceptron on rows that nothing separates has nothing to promise
        assert np.mean(model.predict(X) == y) > 0.7


@every
def test_sparse_rows_are_the_same_rows(name, data):
    X, y = DATA[data]
    dense, sparse = _fit(name, X, y), _fit(name, csr_array(X), y)
    scale = np.abs(dense.decision_function(X)).max()
    np.testing.assert_allclose(
        sparse.decision_function(csr_array(X)), dense.decision_function(X), rtol=1e-6, atol=1e-7 * scale
    )


@where(lambda kind: kind.traits.order_free)
def test_the_order_of_rows(name, data):
    X, y = DATA[data]
    order = np.random.default_rng(3).permutation(len(y))
    a, b = _fit(name, X, y), _fit(name, X[order], y[order])
    scale = np.abs(a.decision_function(X)).max()
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(X), rtol=1e-5, atol=1e-6 * scale)


@where(lambda kind: _takes_weights(kind) and kind.traits.repeatable)
def test_whole_weights_are_repeated_rows(name, data):
    X, y = DATA[data]
    weight = np.random.default_rng(4).integers(1, 4, len(y))
    often = np.repeat(np.arange(len(y)), weight)
    a, b = _fit(name, X, y, sample_weight=weight), _fit(name, X[often], y[often])
    scale = np.abs(a.decision_function(X)).max()
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(X), rtol=1e-5, atol=1e-6 * scale)
    assert a.certificate_.verify(X, y, sample_weight=weight)


@where(lambda kind: kind.traits.scale_free)
def test_the_scale_of_columns(name, data):
    X, y = DATA[data]
    factors = np.array([2.0**20, 2.0**-20, 8.0])[: X.shape[1]]
    a, b = _fit(name, X, y), _fit(name, X * factors, y)
    scale = np.abs(a.decision_function(X)).max()
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(X * factors), rtol=1e-5, atol=1e-6 * scale)


@where(lambda kind: kind.traits.relabelling)
def test_renaming_classes_renames_answers(name, data):
    X, y = DATA[data]
    turned = np.array(["c", "b", "a"])[y]
    a, b = _fit(name, X, y), _fit(name, X, turned)
    sure = _sure(a, X)
    np.testing.assert_array_equal(np.array(["c", "b", "a"])[a.predict(X)][sure], b.predict(X)[sure])


@every
def test_pickled_and_back(name, data):
    X, y = DATA[data]
    model = _fit(name, X, y)
    back = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(back.decision_function(X), model.decision_function(X))
    assert back.certificate_.verify(X, y)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_what_is_not_finite_is_named(name):
    X, y = DATA["separable"]
    for value in (np.nan, np.inf):
        spoilt = X.copy()
        spoilt[7, 1] = value
        for form in (spoilt, csr_array(spoilt)):
            with pytest.raises(sx.errors.NotFiniteError, match="row 7, column 1"):
                _fit(name, form, y)
            with pytest.raises(sx.errors.NotFiniteError, match="row 7, column 1"):
                _fit(name, X, y).predict(form)
