"""A certificate's passes are counted where rows are read, not written down."""

import numpy as np
import pytest

import separatrix as sx
from separatrix.objective.partials import Gram
from separatrix.rows import counted_passes, memory_rows

X = np.random.default_rng(0).standard_normal((200, 3))
y = (X[:, 0] + np.random.default_rng(1).standard_normal(200) > 0).astype(int)


def test_every_fold_and_every_scoring_is_a_pass():
    rows = memory_rows(X, np.ones(200))
    with counted_passes() as outer:
        rows.fold(Gram(4))
        with counted_passes() as inner:
            rows.fold(Gram(4))
        sx.Scorer(np.zeros((1, 4)), np.array([0, 1]), "logit").predict(X)
    rows.fold(Gram(4))
    assert (outer, inner) == ([3], [1])


@pytest.mark.parametrize(
    "make",
    [
        sx.LeastSquaresClassifier,
        sx.FisherDiscriminant,
        sx.LinearDiscriminantAnalysis,
        sx.QuadraticDiscriminantAnalysis,
    ],
)
def test_closed_forms_report_what_they_read(make):
    with counted_passes() as passes:
        model = make().fit(X, y)
    assert passes[0] >= 1
    assert model.certificate_.passes == passes[0]
    doubled = np.column_stack([X, X[:, 0] - 2 * X[:, 1]])
    with counted_passes() as passes:
        model = make().fit(doubled, y)
    assert model.certificate_.passes == passes[0]


def test_the_passes_of_a_likelihood_are_at_least_its_sums():
    """A sample of rows is counted as a pass, too, and is no sum."""
    with counted_passes() as passes:
        model = sx.LogisticRegression().fit(X, y)
    assert 0 <= model.certificate_.passes - passes[0] <= 1
