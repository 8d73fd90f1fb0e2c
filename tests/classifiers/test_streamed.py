"""The certificate of a fit is verified on streamed rows as it is on rows in memory."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import separatrix as sx
from separatrix.base.errors import NotFiniteError
from separatrix.rows import labelled_rows, memory_rows
from separatrix.scorers.scorer import scores_over
from tests.streamed import streamed

MODELS = {
    "ridge": lambda: sx.LogisticRegression(),
    "maximum likelihood": lambda: sx.LogisticRegression(C=np.inf),
    "lasso": lambda: sx.LogisticRegression(l1_ratio=1.0),
    "least squares": lambda: sx.LeastSquaresClassifier(),
    "ridge regression": lambda: sx.LeastSquaresClassifier(l2=2.0),
    "fisher": lambda: sx.FisherDiscriminant(),
    "lda": lambda: sx.LinearDiscriminantAnalysis(),
    "qda": lambda: sx.QuadraticDiscriminantAnalysis(),
}


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("form", [np.asarray, csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", MODELS)
def test_a_certificate_is_recomputed_on_a_stream(name, form, K):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((90, 4)) * (rng.random((90, 4)) < 0.8), rng.integers(0, K, 90)
    X[:, 0] += y
    model = MODELS[name]().fit(form(X), y)
    claim = model.certificate_.claim
    rows = labelled_rows(form(X), y, K) if isinstance(model, sx.LogisticRegression) else memory_rows(form(X), y)
    ours, theirs = claim.of_rows(streamed(rows)), claim.recompute(form(X), y)
    assert ours.objective == pytest.approx(theirs.objective, rel=1e-10)
    assert ours.null_objective == pytest.approx(theirs.null_objective, rel=1e-10, abs=1e-300)
    assert ours.bound.value == pytest.approx(theirs.bound.value, rel=1e-3, abs=1e-10)
    assert ours.bound.kind == theirs.bound.kind


def test_what_is_not_finite_is_refused_by_its_place_in_the_stream():
    X = np.ones((30, 2))
    X[23, 1] = np.nan
    scorer = sx.Scorer(np.ones((1, 3)), np.array([0, 1]), "logit")
    with pytest.raises(NotFiniteError, match="row 23, column 1 is NaN"):
        scores_over(scorer, streamed(memory_rows(X, np.zeros(30))))
