"""Certificates hold on the rows of the fit in any order, unless their proof names rows by their numbers."""

import numpy as np
import pytest

import separatrix as sx
from tests.tables.scan.tables import labelled, written
from tests.tables.scan.test_verify import MODELS

N = 40_000


@pytest.fixture(scope="module", params=[2, 3], ids=["two", "three"])
def orders(request, tmp_path_factory):
    """The same rows as the scan of a fit, with files renamed so that their order is reversed, and shuffled."""
    X, y = labelled(N, n_classes=request.param)
    first, shuffled = tmp_path_factory.mktemp("first"), tmp_path_factory.mktemp("shuffled")
    scan = sx.scan(written(first, X, y), target="y")
    renamed = tmp_path_factory.mktemp("renamed")
    for k in range(3):
        (renamed / f"{2 - k}.parquet").write_bytes((first / f"{k}.parquet").read_bytes())
    order = np.random.default_rng(1).permutation(N)
    others = sx.scan(renamed, target="y"), sx.scan(written(shuffled, X[order], y[order]), target="y")
    return scan, dict(zip(("renamed", "shuffled"), others, strict=True))


@pytest.mark.filterwarnings("ignore::separatrix.core.base.errors.NotConvergedWarning")
@pytest.mark.parametrize("name", MODELS)
def test_sums_do_not_depend_on_the_order_of_files_and_rows(orders, name):
    scan, others = orders
    if len(scan.classes) > 2 and name == "probit":
        pytest.skip("probit is for two classes")
    certificate = MODELS[name]().fit(scan).certificate_
    for other in others.values():
        found = certificate.verify(other)
        assert found, found.sentence


def test_the_bound_of_a_sample_holds_for_other_samples(tmp_path_factory):
    """With rare and heavy-tailed columns, the sample drawn from rows in another order proves another bound."""
    rng = np.random.default_rng(0)
    X = rng.standard_t(2.5, (30_000, 30))
    X[:, :10] = rng.random((len(X), 10)) < 0.002
    y = np.where(X @ (rng.standard_normal(30) / 3) > rng.logistic(size=len(X)), "a", "b")
    certificate = sx.LogisticRegression(C=np.inf).fit(sx.scan(written(tmp_path_factory.mktemp("a"), X, y), "y"))
    certificate, bounds = certificate.certificate_, set()
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(X))
        found = certificate.verify(sx.scan(written(tmp_path_factory.mktemp("b"), X[order], y[order]), "y"))
        assert found, found.sentence
        bounds.add(found.bound)
    assert len(bounds) == 3


@pytest.mark.parametrize("model", [sx.MaxMarginClassifier(), sx.OneVsRestClassifier(sx.MaxMarginClassifier())])
def test_a_proof_that_names_rows_says_that_it_needs_their_order(tmp_path, model):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 3))
    X = X[np.abs(X.sum(axis=1)) > 0.3]
    y, order = np.where(X.sum(axis=1) > 0, "a", "b"), rng.permutation(len(X))
    certificate = model.fit(X, y).certificate_
    assert certificate.verify(sx.scan(written(tmp_path, X, y), target="y"))
    found = certificate.verify(sx.scan(written(tmp_path, X[order], y[order]), target="y"))
    assert not found
    assert "the proof names rows by their numbers, so give the rows in the order of the fit" in found.sentence
    changed = certificate.verify(sx.scan(written(tmp_path, X[order] + rng.random(X.shape) / 5, y[order]), target="y"))
    assert not changed
    assert "by their numbers" not in changed.sentence
