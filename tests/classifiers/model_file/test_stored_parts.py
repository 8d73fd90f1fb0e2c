"""Models that consist of others: read without estimators, they score as the estimators do."""

import numpy as np
import pytest

import separatrix as sx
from separatrix.classifiers import model_file
from separatrix.classifiers.model_file import StoredModel

RNG = np.random.default_rng(5)
X = RNG.normal(size=(90, 3)) + np.repeat([[0.0], [1.0], [2.0]], 30, axis=0)
Y = np.repeat(["low", "middle", "high"], 30)
BASES = [
    sx.LogisticRegression(),
    sx.Perceptron(max_iter=5),
    sx.QuadraticDiscriminantAnalysis(),
    sx.FisherDiscriminant(),
    sx.LinearSVC(),
]


@pytest.fixture(params=[sx.OneVsOneClassifier, sx.OneVsRestClassifier], ids=["one", "rest"])
def scheme(request):
    return request.param


@pytest.mark.filterwarnings("ignore::separatrix.core.base.errors.NotConvergedWarning")
@pytest.mark.parametrize("base", BASES, ids=lambda base: type(base).__name__)
@pytest.mark.parametrize("classes", [2, 3])
def test_stored_parts_score_as_the_estimators_do(scheme, base, classes, tmp_path):
    rows = slice(0, 30 * classes)
    model, path = scheme(base).fit(X[rows], Y[rows]), tmp_path / "model.json"
    sx.save(model, path)
    known = model_file.read(path)
    assert known.scorer.link.name == sx.load(path).scorer_.link.name
    np.testing.assert_array_equal(known.scorer.scores(X), model.decision_function(X))
    np.testing.assert_array_equal(known.scorer.predict(X), model.predict(X))
    assert known.content() == model_file.read(path, estimators=True).content()


def test_the_estimator_of_a_file_has_estimators(scheme, tmp_path):
    sx.save(scheme(sx.QuadraticDiscriminantAnalysis()).fit(X, Y), tmp_path / "model.json")
    known = model_file.read(tmp_path / "model.json")
    assert all(isinstance(part, StoredModel) for part in known.scorer.estimators)
    for model in [known.estimator(), sx.load(tmp_path / "model.json")]:
        assert {type(part) for part in model.estimators_} == {sx.QuadraticDiscriminantAnalysis}
        assert all(a is b for a, b in zip(model.scorer_.estimators, model.estimators_, strict=True))
        assert model.certificate_.verify(X, Y)
