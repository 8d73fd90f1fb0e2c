"""A likelihood without a maximum is explained on rows outside memory as it is in memory."""

import numpy as np
import pandas
import pytest

import separatrix as sx
from separatrix.core.base.errors import NotConvergedWarning
from tests.streamed_table import StreamedTable

NAMES = ["x0", "x1", "x2", "x3"]


def rows(seed, n=30_000):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4))
    return rng, X, X @ [1.0, -2.0, 0.5, 0.0] + 0.3


def apart(seed):
    _, X, z = rows(seed)
    return X, np.where(z > 0, "yes", "no")


def one_column(seed):
    _, X, _ = rows(seed)
    y = np.where(X[:, 2] > 0.1, "yes", "no")
    X[:, 2] += np.where(y == "yes", 0.5, 0.0)
    return X, y


def rare(seed):
    rng, X, z = rows(seed)
    y = np.where(z + rng.logistic(size=len(z)) > 0, "yes", "no")
    X[:, 3] = 0
    X[rng.choice(np.flatnonzero(y == "no"), 6, replace=False), 3] = 1
    return X, y


def rare_of_three(seed):
    X, y = rare(seed)
    return X, np.where((y == "yes") & (X[:, 1] + np.random.default_rng(seed).logistic(size=len(y)) > 0), "maybe", y)


def fitted(*table, **settings):
    with pytest.warns(NotConvergedWarning):
        return sx.LogisticRegression(C=np.inf, **settings).fit(*table)


@pytest.mark.parametrize(("make", "most_reads"), [(apart, 30), (one_column, 30), (rare, 20), (rare_of_three, 25)])
def test_the_explanation_is_that_of_memory(make, most_reads):
    X, y = make(0)
    table = StreamedTable.of(X, y, 5000)
    ours, theirs = fitted(table), fitted(pandas.DataFrame(X, columns=NAMES), y)
    assert table.reads <= most_reads
    assert ours.certificate_.code == theirs.certificate_.code
    assert type(ours.separation_) is type(theirs.separation_)
    assert ours.separation_.verify(table)
    assert ours.separation_.verify(X, y)
    if make is not apart:  # the direction of complete separation is not unique
        assert ours.certificate_.status == theirs.certificate_.status


def test_columns_with_a_penalty_do_not_separate():
    X, y = rare(1)
    settings = {"C": 1.0, "penalty_factors": [1.0, 1.0, 1.0, 0.0]}
    for table in ((StreamedTable.of(X, y, 5000),), (pandas.DataFrame(X, columns=NAMES), y)):
        with pytest.warns(NotConvergedWarning, match="'x3' causes it, by 6 rows"):
            sx.LogisticRegression(**settings).fit(*table)
    free = sx.LogisticRegression(C=1.0, penalty_factors=[1.0, 1.0, 0.0, 1.0]).fit(StreamedTable.of(X, y, 5000))
    assert free.certificate_.code == "optimal"


def test_classes_that_overlap_are_fitted():
    rng, X, z = rows(2)
    y = (z + rng.logistic(size=len(z)) > 0).astype(int)
    table = StreamedTable.of(X, y, 5000)
    model = sx.LogisticRegression(C=np.inf).fit(table)
    assert model.certificate_.met
    assert model.separation_ is None
    assert table.reads < 12
