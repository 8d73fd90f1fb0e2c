"""A certificate's passes are counted where rows are read, not written down."""

import numpy as np
import pytest

import separatrix as sx
from separatrix.core.objective_sums import Gram
from separatrix.core.rows.frame import Frame
from separatrix.core.rows.memory_rows import memory_rows, some_rows
from separatrix.core.rows.protocol import Order, counted_passes

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


@pytest.mark.parametrize("settings", [{}, {"C": np.inf}, {"l1_ratio": 1.0}, {"bias_reduction": "firth"}], ids=str)
def test_a_likelihood_reports_what_it_reads(settings):
    with counted_passes() as passes:
        model = sx.LogisticRegression(**settings).fit(X, y)
    assert model.certificate_.passes == passes[0]


def test_views_of_the_same_rows_share_their_counter():
    rows = memory_rows(X, np.ones(200))
    rows.fold(Gram(4))
    rows.seen_through(Frame(X.mean(axis=0), np.ones(3))).fold(Gram(4))
    list(rows.blocks(Order(50)))
    rows.sample(10, 0)
    assert rows.counter.passes == 4
    some_rows(rows.resident()).fold(Gram(4))
    assert rows.counter.passes == 4
