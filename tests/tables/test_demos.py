"""Sets to try things on: the numbers that the lectures give for them come out."""

import numpy as np
import pytest

import separatrix as sx
from separatrix.core.base.errors import TableError
from separatrix.core.proofs.verdicts import Inseparable, Separable
from separatrix.tables.formats.demos import DEMOS
from separatrix.tables.formats.opening import open_source
from separatrix.tables.read_table import read_table


@pytest.mark.parametrize("name", DEMOS)
def test_demo_sets_have_targets_of_their_own(name):
    table = read_table(f"demo:{name}")
    assert table.X.flags.c_contiguous
    assert table.X.dtype == np.float64
    assert len(table.y) == len(table.X)
    assert table.target not in table.names


def test_labels_are_for_people():
    assert set(read_table("demo:breast-cancer").y.tolist()) == {"malignant", "benign"}
    assert set(read_table("demo:digits").y.tolist()) == set(range(10))
    assert any("only value is 0" in note for note in read_table("demo:digits").notes)


@pytest.mark.parametrize("name", ["xor", "outlier-1d", "outlier-2d"])
def test_the_positive_class_is_the_second_in_sorted_order(name):  # D3
    table = read_table(f"demo:{name}")
    model = sx.LeastSquaresClassifier().fit(table.X, table.y)
    assert model.classes_.tolist() == [-1, 1]
    z = model.decision_function(table.X)
    assert np.all(model.predict(table.X) == np.where(z >= 0, 1, -1))  # ŷ = sign f(x), as it stands in the lectures


def test_xor_is_not_separable():  # B3
    table = read_table("demo:xor")
    assert isinstance(sx.separability(table.X, table.y), Inseparable)
    lifted = sx.Basis(["x0", "x1", "x0*x1"]).fit_transform(table.X)
    assert isinstance(sx.separability(lifted, table.y), Separable)


def test_the_outlier_in_one_dimension():  # S5: boundary 9/2 without it, 161/29 with it, and x = 5 wrong
    table = read_table("demo:outlier-1d")
    near = table.X[:, 0] < 30
    for rows, boundary in ((near, 9 / 2), (np.ones(9, dtype=bool), 161 / 29)):
        model = sx.LeastSquaresClassifier().fit(table.X[rows], table.y[rows])
        assert -model.intercept_[0] / model.coef_[0, 0] == pytest.approx(boundary)
    assert table.X[model.predict(table.X) != table.y].tolist() == [[5.0]]


def test_the_outliers_in_two_dimensions():  # S5: (0,1), (4,3), (5,4) are wrong
    table = read_table("demo:outlier-2d")
    model = sx.LeastSquaresClassifier().fit(table.X, table.y)
    assert table.X[model.predict(table.X) != table.y].tolist() == [[0.0, 1.0], [4.0, 3.0], [5.0, 4.0]]
    near = table.X[:, 0] < 20
    assert sx.LeastSquaresClassifier().fit(table.X[near], table.y[near]).score(table.X[near], table.y[near]) == 1.0


def test_three_classes_of_seven():  # M3, M4
    table = read_table("demo:three-classes")
    assert np.unique(table.y, return_counts=True)[1].tolist() == [7, 7, 7]
    model = sx.OneVsOneClassifier(sx.LogisticRegression()).fit(table.X, table.y)
    assert model.score(table.X, table.y) == 1.0
    open_regions = sx.ambiguous_regions(model, (-1, 7, -1, 7))
    assert [len(region.vertices) for region in open_regions] == [3]


def test_credit():  # D2: two Gaussians of one covariance, so that the boundary of their densities is a line
    table = read_table("demo:credit")
    assert table.names == ("income", "savings")
    assert np.unique(table.y, return_counts=True)[1].tolist() == [60, 60]
    assert table.X.min() > 0
    lda = sx.LinearDiscriminantAnalysis().fit(table.X, table.y)
    assert 0.9 < lda.score(table.X, table.y) < 1.0


def test_a_demo_that_there_is_not():
    with pytest.raises(TableError, match=r"demo:iris.*demo:wine"):
        open_source("demo:irs")
