"""The perceptron on rows outside memory makes the updates that it makes in memory, in the order of the rows."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array

import separatrix as sx
from separatrix.core.base.errors import NotConvergedWarning, ParameterError
from tests.streamed_table import StreamedTable


def separable(n=400, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    z = X @ np.arange(1.0, d + 1) + 0.5
    return X + 0.2 * np.sign(z)[:, None] * np.arange(1.0, d + 1), np.where(z > 0, "yes", "no")


def overlapping(n=400, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.where(X @ np.arange(1.0, d + 1) + rng.logistic(size=n) > 0, "yes", "no")


def three(n=300, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return rng.standard_normal((n, 2)) + 6.0 * np.eye(3)[y, :2] - 3.0 * (y == 2)[:, None], y


SETTINGS = {
    "online": {"update": "online"},
    "online, zero predicts +": {"update": "online", "zero": "positive"},
    "online mean": {"update": "online", "average": True},
    "online, few epochs": {"update": "online", "max_iter": 3},
    "online, weighted": {"update": "online", "class_weight": {"yes": 3.0, "no": 0.5}},
    "online, past the proof": {"update": "online", "stop_on_proof": False, "max_iter": 20},
    "batch": {"update": "batch", "max_iter": 40},
    "batch pocket": {"update": "batch", "pocket": True, "max_iter": 40},
    "batch mean": {"update": "batch", "average": True, "max_iter": 40},
    "worst": {"update": "worst", "max_iter": 40},
    "worst pocket": {"update": "worst", "pocket": True, "max_iter": 40},
    "worst, no intercept": {"update": "worst", "fit_intercept": False, "max_iter": 40},
}


def both(X, y, size=7, **settings):
    """The fits to a stream and to memory, and the stream."""
    table = StreamedTable.of(X, y, size)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        return sx.Perceptron(**settings).fit(table), sx.Perceptron(**settings).fit(X, y), table


def assert_close(ours, theirs):
    """Online and worst-row updates add single rows; in memory, sums over a single block are computed in another way."""
    rtol = 1e-13 if ours.update == "batch" else 0.0
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=rtol)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=rtol)


def assert_same(ours, theirs):
    assert_close(ours, theirs)
    assert (ours.mistakes_, ours.n_iter_) == (theirs.mistakes_, theirs.n_iter_)
    assert ours.certificate_.code == theirs.certificate_.code
    assert ours.certificate_.facts["wrong"] == theirs.certificate_.facts["wrong"]
    assert ours.certificate_.facts.get("theorem") == theirs.certificate_.facts.get("theorem")


@pytest.mark.parametrize("name", SETTINGS)
def test_separable_rows(name):
    assert_same(*both(*separable(), **SETTINGS[name])[:2])


@pytest.mark.parametrize("name", [name for name in SETTINGS if name not in ("online", "online, zero predicts +")])
def test_rows_that_overlap(name):
    settings = {"max_iter": 3, **SETTINGS[name]}  # before a proof ends the search, which in memory is later
    ours, theirs, _ = both(*overlapping(), **{**settings, "max_iter": min(3, settings["max_iter"])})
    assert_close(ours, theirs)
    assert ours.mistakes_ == theirs.mistakes_


@pytest.mark.parametrize("rows", [separable, overlapping, three])
@pytest.mark.parametrize("n", [200, 3000])
def test_the_sentence_is_that_of_memory(rows, n):
    """The proof names the same rows, and Novikoff's bound is that of the same hyperplane."""
    X, y = rows(n)
    for settings in ({"max_iter": 1}, {"average": True, "max_iter": 3}, {"update": "worst", "max_iter": 2}):
        ours, theirs, _ = both(X, y, **settings)
        assert ours.certificate_.status == theirs.certificate_.status
        assert ours.certificate_.facts.get("theorem") == theirs.certificate_.facts.get("theorem")


@pytest.mark.parametrize("n", [200, 3000])
def test_rows_without_weight_count_in_the_proof_as_in_memory(n):
    X, y = overlapping(n)
    ours, theirs, _ = both(X, y, class_weight={"yes": 0.0}, max_iter=2)
    assert ours.certificate_.status == theirs.certificate_.status


@pytest.mark.parametrize("update", ["online", "batch", "worst"])
def test_several_classes(update):
    ours, theirs, table = both(*three(), update=update, max_iter=5)
    assert_close(ours, theirs)
    assert ours.certificate_.passes == table.reads


def test_sparse_rows():
    X, y = separable()
    X[np.abs(X) < 0.5] = 0.0
    y = np.where(X @ [1.0, 2.0, 3.0] > 0.1, 1, 0)
    assert_same(*both(csr_array(X), y, max_iter=20)[:2])


def test_float32_rows():
    X, y = separable()
    assert_same(*both(X.astype(np.float32), y)[:2])


@pytest.mark.parametrize("update", ["online", "batch", "worst"])
def test_a_table_of_several_blocks(update):
    X, y = separable(n=300_000, d=4)
    ours, theirs, table = both(X, y, size=20_000, update=update, max_iter=12)
    np.testing.assert_array_equal(ours.coef_, theirs.coef_)
    assert ours.mistakes_ == theirs.mistakes_
    assert table.reads == ours.certificate_.passes <= ours.n_iter_ + 10
    for model in (ours, theirs):
        assert [record.iteration for record in model.trace_] == list(range(model.n_iter_ + 1))


def test_the_proof_names_rows_of_the_table():
    X, y = overlapping(n=30_000)
    ours, theirs, table = both(X, y, size=1000)
    assert ours.certificate_.code == theirs.certificate_.code == "inseparable"
    assert ours.verdicts_[0].verify(X, y)
    assert table.reads < 15


def test_shuffling_is_reproducible():
    X, y = overlapping(n=2000)
    settings = {"shuffle": True, "average": True, "max_iter": 4}
    first, other, again = (
        both(X, y, size=size, random_state=seed, **settings)[0].coef_ for size, seed in ((7, 0), (7, 1), (100, 0))
    )
    np.testing.assert_array_equal(first, again)
    assert np.any(first != other)


def test_refusals():
    X, y = separable()
    table = StreamedTable.of(X, y)
    with pytest.raises(ParameterError, match="pocket: after each online update"):
        sx.Perceptron(pocket=True).fit(table)
    with pytest.raises(ParameterError, match="weight: the scan has weights"):
        sx.Perceptron().fit(StreamedTable.of(X, y, weight=np.full(len(y), 2.0)))
    with pytest.raises(ParameterError, match="partial_fit takes rows in memory"):
        sx.Perceptron().partial_fit(table, None)
    with pytest.raises(ParameterError, match="y: got one together with"):
        sx.Perceptron().fit(table, y)


def test_other_separators_say_what_to_use_instead():
    table = StreamedTable.of(*separable())
    with pytest.raises(ParameterError, match="or use Perceptron, or separability for the proof"):
        sx.KozinecClassifier().fit(table)
    with pytest.raises(ParameterError, match="or use LinearSVC with a large C, or separability for the proof"):
        sx.MaxMarginClassifier().fit(table)
