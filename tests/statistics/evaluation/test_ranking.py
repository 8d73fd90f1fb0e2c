"""ROC and precision-recall: against scikit-learn's numbers, DeLong's definition, and by how often intervals hold."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score, roc_curve

import separatrix as sx
from separatrix.core.base.errors import ParameterError
from separatrix.statistics.measures import answers
from separatrix.statistics.ranking import BANDS, rank, rankings


def _drawn(seed, n=200, ties=True):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.3
    score = rng.standard_normal(n) + positive
    return (score.round(1) if ties else score), positive


@pytest.mark.parametrize("ties", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_curves_and_areas_against_scikit_learn(seed, ties):
    score, positive = _drawn(seed, ties=ties)
    found = rank(score, positive)
    fpr, tpr, thresholds = roc_curve(positive, score, drop_intermediate=False)
    np.testing.assert_allclose(found.fpr, fpr)
    np.testing.assert_allclose(found.tpr, tpr)
    np.testing.assert_array_equal(found.thresholds, thresholds)
    assert found.auc == pytest.approx(roc_auc_score(positive, score))
    precision, recall, _ = precision_recall_curve(positive, score)
    np.testing.assert_allclose(found.precision, precision[::-1])
    np.testing.assert_allclose(found.tpr, recall[::-1])
    assert found.average_precision == pytest.approx(average_precision_score(positive, score))


def test_the_interval_of_the_area_is_delongs():
    """By definition: ψ(x, y) over all pairs, its row and column means, their variances."""
    score, positive = _drawn(1)
    pairs = score[positive][:, None] - score[~positive][None, :]
    psi = np.where(pairs > 0, 1.0, np.where(pairs == 0, 0.5, 0.0))
    P, N = psi.shape
    variance = psi.mean(axis=1).var(ddof=1) / P + psi.mean(axis=0).var(ddof=1) / N
    area = psi.mean()
    half = 1.959963984540054 * np.sqrt(variance) / (area * (1 - area))
    low, high = rank(score, positive).auc_interval()
    assert np.log(low / (1 - low)) == pytest.approx(np.log(area / (1 - area)) - half)
    assert np.log(high / (1 - high)) == pytest.approx(np.log(area / (1 - area)) + half)


def test_the_interval_of_the_area_holds_as_often_as_it_says():
    rng = np.random.default_rng(0)
    truth, held = 0.7602499389065233, 0  # Φ(1/√2), of two unit normals a step apart
    for _ in range(800):
        score = np.concatenate([rng.standard_normal(40) + 1, rng.standard_normal(60)])
        low, high = rank(score, np.arange(100) < 40).auc_interval()
        held += low <= truth <= high
    assert 0.92 <= held / 800 <= 0.98


def test_perfect_order_has_an_exact_interval_of_independent_pairs():
    found = rank(np.arange(20.0), np.arange(20) >= 8)
    low, high = found.auc_interval()
    assert (found.auc, high) == (1.0, 1.0)
    assert low == pytest.approx(0.025 ** (1 / 8))
    low, high = found.average_precision_interval()
    assert 0.7 < low < high == 1.0


@pytest.mark.parametrize("kind", BANDS)
def test_bands_hold_the_curve_and_shrink_with_rows(kind):
    def width(n):
        found = rank(*_drawn(0, n))
        band = found.band(kind, 0.9)
        tiny = 1e-12
        assert np.all((band.true_low <= found.tpr + tiny) & (found.tpr <= band.true_high + tiny))
        assert np.all((band.false_low <= found.fpr + tiny) & (found.fpr <= band.false_high + tiny))
        assert np.all((band.precision_low <= found.precision + tiny) & (found.precision <= band.precision_high + tiny))
        return np.mean(band.true_high - band.true_low)

    assert width(2000) < 0.5 * width(200)


def test_the_simultaneous_band_holds_all_of_the_true_curve_the_pointwise_one_only_each_point():
    rng, inside = np.random.default_rng(0), dict.fromkeys(BANDS, 0)
    from scipy.stats import norm

    for _ in range(300):
        score = np.concatenate([rng.standard_normal(50) + 1, rng.standard_normal(50)])
        found = rank(score, np.arange(100) < 50)
        true, false = norm.sf(found.thresholds - 1), norm.sf(found.thresholds)
        for kind in BANDS:
            band = found.band(kind)
            inside[kind] += np.all((band.true_low <= true) & (true <= band.true_high)) and np.all(
                (band.false_low <= false) & (false <= band.false_high)
            )
    assert inside["simultaneous"] / 300 >= 0.95
    assert inside["pointwise"] / 300 < 0.95


def test_classes_one_versus_the_rest():
    rng = np.random.default_rng(0)
    y = np.arange(300) % 3
    X = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]])[y] + rng.standard_normal((300, 2))
    model = sx.LogisticRegression().fit(X, y)
    P = model.predict_proba(X)
    for k, found in enumerate(rankings(answers(model, X, y))):
        assert found.of == k
        assert found.auc == pytest.approx(roc_auc_score(y == k, P[:, k]))
    assert [found.of for found in rankings(answers(model, X[y < 2], y[y < 2]))] == [0, 1]


def test_far_rows_are_not_tied_where_probabilities_round_to_one():
    model = sx.LogisticRegression(C=np.inf, max_iter=5)
    X = np.array([[-1.0], [1.0], [-2.0], [2.0]])
    model.fit(X, [0, 1, 1, 0])
    model.scorer_ = sx.Scorer(np.array([[0.0, 1e4]]), model.classes_, "logit")
    rows = np.array([[1.0], [2.0], [3.0], [4.0]])
    assert rankings(answers(model, rows, [0, 0, 1, 1]))[0].auc == 1.0


def test_what_cannot_be_ranked_is_refused():
    with pytest.raises(ParameterError, match="no row is of the class 'a'"):
        rank(np.zeros(3), np.zeros(3, dtype=bool), "a")
    with pytest.raises(ParameterError, match="band: got 'wide'; choose one of 'pointwise'"):
        rank(*_drawn(0)).band("wide")
    with pytest.raises(ParameterError, match="not a fitted classifier"):
        answers(sx.LogisticRegression(), [[0.0]], [0])
    model = sx.LogisticRegression().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(sx.errors.LabelError, match="2 labels for 1 rows"):
        answers(model, [[0.0]], [0, 1])
