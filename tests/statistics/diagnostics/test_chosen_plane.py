"""Planes that the reader chooses: what their directions are, and that a model in them is the model."""

import numpy as np
import pytest
from sklearn.base import clone

import separatrix as sx
from separatrix.core.base.labels import encode
from separatrix.statistics.view_plane import ModelInPlane, column_plane, fisher_plane, plane_of
from separatrix.tables.encoder import Scaling
from separatrix.tables.read_table import Table

MODELS = {
    "logistic": sx.LogisticRegression(),
    "perceptron": sx.Perceptron(max_iter=20, random_state=0),
    "lda": sx.LinearDiscriminantAnalysis(),
    "qda": sx.QuadraticDiscriminantAnalysis(),
    "one-versus-one": sx.OneVsOneClassifier(sx.LogisticRegression()),
    "one-versus-rest": sx.OneVsRestClassifier(sx.LogisticRegression()),
}


def table(K, scaling=None):
    rng = np.random.default_rng(K)
    y = np.array([f"class {k}" for k in range(K)])[np.arange(90 * K) % K]
    X = rng.normal(size=(len(y), 4)) * [1.0, 3.0, 500.0, 0.01] + [0, 2, 1000, 5]
    X[:, 0] += np.arange(len(y)) % K
    X[:, 3] += 0.01 * (np.arange(len(y)) % K)
    return Table("t", ("a", "b", "c", "d"), X if scaling is None else scaling.apply(X), "y", y, scaling=scaling)


def fitted(name, known):
    return clone(MODELS[name]).fit(known.X, known.y)


def test_fishers_axes_do_not_depend_on_the_model_and_separate_best():
    known = table(3)
    plane = fisher_plane(known)
    w = sx.FisherDiscriminant().fit(known.X, known.y).directions_[:, 0] * known.X.std(axis=0)
    assert abs(abs(w / np.linalg.norm(w) @ plane.B[:, 0]) - 1) < 1e-6


@pytest.mark.parametrize("standardised", [False, True])
def test_two_columns_are_drawn_in_their_units_with_the_others_at_their_means(standardised):
    raw = table(2)
    known = table(2, Scaling.of(raw.X, None)) if standardised else raw
    plane = column_plane(known, 2, 1)
    np.testing.assert_allclose(plane.place(known.X), raw.X[:, [2, 1]], rtol=1e-12)
    lifted = plane.lift(np.array([[700.0, 4.0]]))
    lifted = lifted if not standardised else lifted * known.scaling.scale + known.scaling.center
    np.testing.assert_allclose(lifted, [[raw.X[:, 0].mean(), 4.0, 700.0, raw.X[:, 3].mean()]], rtol=1e-10)
    assert plane.names == ("c", "b")


@pytest.mark.filterwarnings("ignore::separatrix.core.base.errors.NotConvergedWarning")
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("view", ["boundary", "fisher", "columns"])
def test_the_regions_of_a_model_in_a_plane_are_those_of_the_model(name, K, view):
    known = table(K)
    model = fitted(name, known)
    planes = {"fisher": fisher_plane, "columns": lambda table: column_plane(table, 0, 3)}
    plane = plane_of(model, known.X, known.y) if view == "boundary" else planes[view](known)
    U = plane.place(known.X)
    inside = ModelInPlane(model, plane, U.min(axis=0), np.ptp(U, axis=0))
    V = np.random.default_rng(0).random((300, 2))
    predicted = encode(known.y)[0].tolist()
    numbers = [predicted.index(label) for label in model.predict(plane.lift(U.min(axis=0) + V * np.ptp(U, axis=0)))]
    assert inside.predict(V).tolist() == numbers
    found = sx.regions(inside, (0, 1, 0, 1))
    contained = np.array([region.contains(V) for region in found])
    right = [{region.labels[0] for region, has in zip(found, row, strict=True) if has} for row in contained.T]
    assert np.mean([k in own for k, own in zip(numbers, right, strict=True)]) >= 0.99  # points on an edge may differ
