"""Every classifier and solver that takes tables outside memory gives on a cluster the bits of a stream."""

import pickle

import numpy as np
import pytest
from dask.array import from_array

import separatrix as sx
from separatrix.classifiers import CLASSIFIERS
from separatrix.core.cluster.cluster_rows import ClusterRows, dask_table
from separatrix.core.solvers.registry import SOLVERS
from separatrix.core.solvers.state import NOT_STREAMED, Need
from tests.core.cluster.tables import labelled

X, Y = labelled(600, 5)
THREE = np.where(X[:, 1] > 0.2, "third", Y)
# The classes overlap, so the perceptron does not converge, and gradient descent would need more steps.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
# The largest partial of a fit to five columns, in bytes. One that held the rows would have 24 000.
MOST_BYTES = 6000

STREAMED = [name for name, each in CLASSIFIERS.items() if not each.traits.in_memory]
SOLVING = [name for name, solver in SOLVERS.items() if not solver.needs & NOT_STREAMED]


@pytest.fixture
def small_partials(monkeypatch):
    """Every partial that a pass sends to workers is pickled by Python itself, and is small."""
    fold, sizes = ClusterRows.fold, []

    def checked(rows, partial):
        sizes.append(len(pickle.dumps(partial)))
        assert sizes[-1] <= MOST_BYTES, partial
        return fold(rows, partial)

    monkeypatch.setattr(ClusterRows, "fold", checked)
    yield sizes
    assert sizes


def same_as_streamed(client, make, y):
    """Fit to a table on workers, and to the same table without a client."""
    rows, labels = from_array(X, chunks=(250, 5)), from_array(y, chunks=250)
    ours, theirs = make().fit(dask_table(rows, labels, cluster=client)), make().fit(dask_table(rows, labels))
    np.testing.assert_array_equal(ours.decision_function(X), theirs.decision_function(X))
    assert ours.certificate_.code == theirs.certificate_.code


@pytest.mark.parametrize("name", STREAMED)
def test_classifiers_of_three_classes(client, small_partials, name):
    same_as_streamed(client, CLASSIFIERS[name], THREE)


@pytest.mark.parametrize("name", sorted({*STREAMED} - {"one-versus-one", "one-versus-rest"}))
def test_classifiers_of_two_classes(client, small_partials, name):
    same_as_streamed(client, CLASSIFIERS[name], Y)


@pytest.mark.parametrize("name", SOLVING)
def test_solvers(client, small_partials, name):
    l1_ratio = 0.0 if Need.RIDGE in SOLVERS[name].needs else 0.5
    same_as_streamed(client, lambda: sx.LogisticRegression(solver=name, l1_ratio=l1_ratio, max_iter=20), Y)
