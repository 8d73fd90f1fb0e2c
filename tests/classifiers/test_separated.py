"""What a fit without a penalty says about classes that are separated: who does it, and where it leads."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import separatrix as sx
from separatrix.classifiers import no_optimum
from separatrix.core.base.errors import NotConvergedWarning, SeparationWarning
from separatrix.core.proofs.verdicts import QuasiSeparable, Separable
from separatrix.core.solvers.stopping import Status

DATA = Path(__file__).parents[1] / "data"


def _fit(X, y, **settings):
    with pytest.warns(SeparationWarning) as caught:
        model = sx.LogisticRegression(np.inf, **settings).fit(X, y)
    sentence = str(caught[0].message)
    assert sentence == model.certificate_.status
    assert "firth" in sentence
    assert "finite C" in sentence
    return model, sentence


def test_columns_that_separate_alone_are_named_with_their_cut():
    iris = load_iris(as_frame=True)
    model, sentence = _fit(iris.data, np.where(iris.target == 0, "setosa", "other"))
    assert isinstance(model.separation_, Separable)
    assert "'petal length (cm)', column 'petal width (cm)' alone separate them" in sentence
    assert "every row of 'other' has column 'petal length (cm)' above 2.45" in sentence


def test_a_column_that_quasi_separates_is_named_with_its_rows():
    table = pd.read_csv(DATA / "endometrial.csv", comment="#")
    model, sentence = _fit(table[["NV", "PI", "EH"]], table["HG"])
    assert isinstance(model.separation_, QuasiSeparable)
    apart = np.flatnonzero(table["NV"] == 1)
    assert f"column 'NV' causes it, by 13 rows ({', '.join(map(str, apart[:12]))}, …)" in sentence
    assert "grow without bound along +1 for column 'NV'" in sentence
    np.testing.assert_array_equal(np.setdiff1d(np.arange(len(table)), model.separation_.touching), apart)


def test_a_category_is_named_as_one():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    table = pd.DataFrame({"age": rng.standard_normal(60), "student=Yes": 0.0})
    table.loc[np.flatnonzero(y == 1)[:5], "student=Yes"] = 1.0
    _, sentence = _fit(table, y)
    assert "the category 'Yes' of 'student' causes it, by 5 rows" in sentence


def test_with_more_classes_the_ways_to_infinity_are_named_by_class():
    iris = load_iris(as_frame=True)
    model, sentence = _fit(iris.data, iris.target_names[iris.target])
    assert isinstance(model.separation_, QuasiSeparable)
    assert "of class 'versicolor' grow without bound" in sentence


def test_rows_without_weight_and_penalised_columns_do_not_count():
    X = np.column_stack([np.r_[0.0, 1, 2, 3, 4, 5, 2.5], np.r_[1.0, -1, 1, -1, 1, -1, 0]])
    y = np.r_[0, 0, 0, 1, 1, 1, 0]
    weight = np.r_[1.0, 1, 1, 1, 1, 1, 0]
    with pytest.warns(SeparationWarning, match="column 0 alone separates them"):
        sx.LogisticRegression(np.inf).fit(X, y, weight)
    with pytest.warns(SeparationWarning) as caught:
        sx.LogisticRegression(1.0, penalty_factors=[0.0, 1.0]).fit(X, y)
    assert "column 0 alone separates them" in str(caught[0].message)
    overlapping = sx.LogisticRegression(1.0, penalty_factors=[1.0, 0.0]).fit(X, y)
    assert overlapping.separation_ is None
    assert overlapping.certificate_.met


def test_many_columns_leave_the_sentence_short():
    rng = np.random.default_rng(1)
    _, sentence = _fit(rng.standard_normal((20, 50)), rng.integers(0, 2, 20))
    assert "45 more columns" in sentence
    assert len(sentence) < 700


def test_several_classes_are_told_whenever_they_are_separated():
    """On whole numbers quasi-separation is common, and Newton's way shows only a part of it."""
    told = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        K, n, d = int(rng.integers(3, 5)), int(rng.integers(8, 20)), int(rng.integers(1, 4))
        X, y = rng.integers(-1, 2, (n, d)).astype(float), rng.integers(0, K, n)
        y[:K] = range(K)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = sx.LogisticRegression(np.inf).fit(X, y)
        apart = isinstance(sx.separability(X, y), Separable | QuasiSeparable)
        assert any(issubclass(one.category, SeparationWarning) for one in caught) == apart
        assert (model.separation_ is not None) == apart
        told += apart
    assert 10 <= told < 40


def test_a_fit_that_takes_overlapping_classes_for_separated_ones_is_put_right_by_the_proof(monkeypatch):
    """A direction in which rows move by less than rounding is one to infinity as far as Newton's way can show."""
    seen = Status("quasi-separated", "no optimum exists", False)
    monkeypatch.setattr("separatrix.core.solvers.stopping.quasi", lambda problem: seen)
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 1, 0, 1]
    with pytest.warns(NotConvergedWarning, match="the optimum, which exists, is outside the range of float64"):
        model = sx.LogisticRegression(np.inf, solver="gradient-descent", max_iter=1).fit(X, y)
    assert model.separation_ is None
    assert model.certificate_.code == "rounding"


def test_a_constant_column_asks_for_no_proof_where_the_others_are_held(monkeypatch):
    from separatrix.classifiers import no_optimum as separated

    def asked(*args):
        raise AssertionError("separability was asked for")

    monkeypatch.setattr(separated, "separation_of", asked)
    X, y = load_iris(return_X_y=True)
    model = sx.LogisticRegression(1.0).fit(np.column_stack([X, np.full(150, 3.0)]), y)
    assert model.separation_ is None
    assert model.coef_[:, 4].tolist() == [0.0, 0.0, 0.0]


def test_weights_of_the_fit_prove_the_separation_of_many_columns_without_a_linear_program(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((400, no_optimum.MOST_PROGRAM_DIRECTIONS + 1)), rng.integers(0, 2, 400)

    def no_program(*_):
        raise AssertionError("a linear program was set up")

    monkeypatch.setattr(no_optimum, "decide", no_program)
    model, _ = _fit(X, y)
    assert isinstance(model.separation_, Separable)
    assert model.separation_.verify(X, y, exact=True)
