"""A fit records whether it had sample weights, wherever its rows are, and a saved model keeps it."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.utils.validation import has_fit_parameter

import separatrix as sx
from separatrix.classifiers import CLASSIFIERS
from tests.streamed_table import StreamedTable

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 2))
Y = np.where(X[:, 0] + 0.3 * RNG.standard_normal(60) > 0, "yes", "no")
X[Y == "yes"] += 4.0  # separable, for the classifiers that need it
WEIGHT = np.linspace(0.5, 2.0, 60)
MOMENTS = [sx.LeastSquaresClassifier, sx.FisherDiscriminant, sx.LinearDiscriminantAnalysis]


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_fits_in_memory(name, tmp_path):
    model = CLASSIFIERS[name]()
    assert not any(held.endswith("_") for held in vars(model))
    assert model.fit(X, Y).has_sample_weight_ is False
    if has_fit_parameter(model, "sample_weight"):
        assert model.fit(X, Y, sample_weight=WEIGHT).has_sample_weight_ is True
        sx.save(model, tmp_path / "model.json")
        assert sx.load(tmp_path / "model.json").has_sample_weight_ is True
        assert model.fit(X, Y).has_sample_weight_ is False


def test_fits_outside_memory(tmp_path):
    pq.write_table(pa.table({"a": X[:, 0], "b": X[:, 1], "y": Y, "w": WEIGHT}), tmp_path / "t.parquet")
    for settings, weighted in (({"weight": "w"}, True), ({"drop": "w"}, False)):
        for model in (sx.LogisticRegression(), sx.OneVsRestClassifier(sx.LogisticRegression())):
            model.fit(sx.scan(tmp_path / "t.parquet", target="y", **settings))
            assert model.has_sample_weight_ is weighted
    assert sx.OneVsRestClassifier().fit(StreamedTable.of(X, Y)).estimators_[0].has_sample_weight_ is False


def test_fits_to_dask_collections():
    da = pytest.importorskip("dask.array")
    rows, labels, weight = (da.from_array(part, chunks=20) for part in (X, Y, WEIGHT))
    assert sx.LogisticRegression().fit(rows, labels).has_sample_weight_ is False
    assert sx.LogisticRegression().fit(rows, labels, weight).has_sample_weight_ is True


@pytest.mark.parametrize("kind", MOMENTS)
def test_one_call_with_weights_makes_a_model_weighted(kind):
    model = kind().partial_fit(X[:30], Y[:30])
    assert model.has_sample_weight_ is False
    assert model.partial_fit(X[30:], Y[30:], sample_weight=WEIGHT[30:]).has_sample_weight_ is True
    assert model.partial_fit(X[:5], Y[:5]).has_sample_weight_ is True
    plain, weighted = kind().fit(X[:30], Y[:30]), kind().fit(X[30:], Y[30:], sample_weight=WEIGHT[30:])
    assert plain.partial_fit(X[:5], Y[:5]).has_sample_weight_ is False
    assert weighted.partial_fit(X[:5], Y[:5]).has_sample_weight_ is True


def test_other_ways_to_a_model():
    assert sx.Perceptron().partial_fit(X, Y).has_sample_weight_ is False
    scheme = sx.OneVsRestClassifier(sx.Perceptron()).partial_fit(X, Y, classes=np.unique(Y))
    assert scheme.has_sample_weight_ is False
    path = sx.penalty_path(X, Y, n_values=2, sample_weight=WEIGHT)
    assert [path.model(k).has_sample_weight_ for k in range(2)] == [True, True]
    labels = np.column_stack([Y == "yes", X[:, 1] > 0]).astype(int)
    assert sx.OneVsRestClassifier().fit(X, labels, sample_weight=WEIGHT).has_sample_weight_ is True


def test_a_summary_of_other_rows_says_whether_weights_are_lacking():
    plain = sx.LogisticRegression(C=np.inf, bias_reduction="firth").fit(X, Y)
    with pytest.raises(sx.errors.InputError, match="which had no sample weights"):
        sx.summary(plain, X[::-1], Y)
    weighted = sx.LogisticRegression(C=np.inf, bias_reduction="firth").fit(X, Y, sample_weight=WEIGHT)
    with pytest.raises(sx.errors.InputError, match="which had sample weights, and these weights"):
        sx.summary(weighted, X, Y)
    weighted.has_sample_weight_ = None
    with pytest.raises(sx.errors.InputError, match="give the rows, labels, weights and offset of the fit"):
        sx.summary(weighted, X, Y)
