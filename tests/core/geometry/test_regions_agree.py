"""The law of ``regions``: what it returns agrees with ``predict`` at 10 000 random points, for every classifier."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import separatrix as sx
from separatrix.classifiers import CLASSIFIERS
from separatrix.core.base.errors import ParameterError
from separatrix.core.schemes import OneVersusOne, PartsScorer

BOX = (-4.0, 6.0, -3.0, 5.0)
AREA = 80.0
N_POINTS = 10_000

# Bases of the two schemes: each is linear in the columns, and each is trained by another criterion.
BASES = {
    "logistic": sx.LogisticRegression(),
    "perceptron": sx.Perceptron(max_iter=50),
    "least squares": sx.LeastSquaresClassifier(),
    "LDA": sx.LinearDiscriminantAnalysis(),
    "Fisher, midpoint": sx.FisherDiscriminant(threshold="midpoint"),
    "scikit-learn's logistic": LogisticRegression(),
}
MODELS = {name: kind() for name, kind in CLASSIFIERS.items()}
MODELS |= {"Fisher, midpoint": BASES["Fisher, midpoint"]}
MODELS |= {f"one-versus-one over {name}": sx.OneVsOneClassifier(base) for name, base in BASES.items()}
MODELS |= {f"one-versus-rest over {name}": sx.OneVsRestClassifier(base) for name, base in BASES.items()}


def _points(seed):
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.uniform(*BOX[:2], N_POINTS), rng.uniform(*BOX[2:], N_POINTS)])


def _classes(K, seed):
    """K overlapping classes with labels whose order is not that of their numbers."""
    rng = np.random.default_rng([K, seed])
    codes = np.arange(30 * K) % K
    centres = rng.uniform([-2, -2], [4, 4], (K, 2))
    return centres[codes] + rng.standard_normal((len(codes), 2)), np.array(["d", "b", "e", "a", "c"])[codes]


def _fit(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sx.errors.NotConvergedWarning)
        return model.fit(X, y)


def _sure(model, X):
    """Points that lie on no boundary to rounding: nudging them changes no answer."""
    answers = model.predict(X)
    nudges = 1e-9 * np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    return answers, np.all([model.predict(X + nudge) == answers for nudge in nudges], axis=0)


def _agrees(model, found, labels, seed):
    X = _points(seed)
    answers, sure = _sure(model, X)
    assert sure.sum() > 0.99 * N_POINTS
    assert {region.labels[0] for region in found} == set(labels)
    claimed = np.zeros(N_POINTS, dtype=int)
    for region in found:
        (label,) = region.labels
        inside = region.contains(X) & sure
        assert np.all(answers[inside] == label)
        claimed += inside
    assert np.all(claimed[sure] == 1)
    assert sum(region.area for region in found) == pytest.approx(AREA, rel=1e-9)


@pytest.mark.parametrize("K", [2, 3, 4, 5])
@pytest.mark.parametrize("name", MODELS)
def test_regions_agree_with_predict(name, K):  # G5, M1, M2, B4
    X, y = _classes(K, 0)
    model = _fit(MODELS[name], X, y)
    _agrees(model, sx.regions(model, BOX), model.classes_.tolist(), seed=K)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("K", [3, 4, 5])
def test_votes_over_any_lines_agree_with_predict(K, seed):  # M1, M3
    """Lines drawn at random tie their votes in many cells, where signed distances decide."""
    W = np.random.default_rng(seed).standard_normal((K * (K - 1) // 2, 3)) * [2.0, 1.0, 1.0]
    scorer = PartsScorer(OneVersusOne(), (), W, np.arange(K))
    _agrees(scorer, sx.regions(scorer, BOX), range(K), seed)


def test_votes_that_tie_everywhere_go_to_the_first_class_as_predict_has_it():
    for W in (np.zeros((3, 3)), np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])):
        scorer = PartsScorer(OneVersusOne(), (), W, np.array(["a", "b", "c"]))
        found = sx.regions(scorer, BOX)
        assert [(region.labels, region.area) for region in found if not region.empty] == [(("a",), AREA)]
        assert set(scorer.predict(_points(0))) == {"a"}


def test_every_class_has_an_entry_though_it_wins_nowhere():
    W = np.array([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])  # class 0 wins both of its pairs everywhere
    found = sx.regions(PartsScorer(OneVersusOne(), (), W, np.arange(3)), BOX)
    assert [region.labels[0] for region in found] == [0, 0, 1, 2]  # class 0 holds the cells on both sides of a line
    areas = [sum(region.area for region in found if region.labels == (k,)) for k in range(3)]
    assert areas == [AREA, 0.0, 0.0]


def test_votes_over_more_columns_are_refused():
    rng = np.random.default_rng(0)
    model = sx.OneVsOneClassifier().fit(rng.standard_normal((40, 4)), np.arange(40) % 4)
    with pytest.raises(ParameterError, match="its weights have shape"):
        sx.regions(model, BOX)
