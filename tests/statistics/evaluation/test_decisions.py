"""Decisions with thresholds, costs and priors."""

import numpy as np
import pytest

import separatrix as sx
from separatrix.core.base.errors import ParameterError
from separatrix.statistics.decisions import (
    bayes_decision,
    cost_threshold,
    decide,
    expected_costs,
    prior_corrected,
    reweighed,
    score_threshold,
    with_priors,
)
from separatrix.statistics.model_decisions import Costs


@pytest.fixture(scope="module")
def rare():
    """Rows for which a logistic model holds, one class in about ten."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 2))
    return X, (X @ [1.0, -0.5] - 2.6 + rng.logistic(size=len(X)) > 0).astype(int)


def test_zero_one_targets_with_threshold_half_agree_with_signed_ones():  # D4, S1
    x = np.array([1.0, 2, 3, 4, 5, 6, 7, 8])
    t01 = (x > 4).astype(float)
    A = np.column_stack([np.ones(8), x])
    h01, hpm = (A @ np.linalg.lstsq(A, t, rcond=None)[0] for t in (t01, 2 * t01 - 1))
    np.testing.assert_array_equal(decide(h01, 0.5), decide(hpm, 0.0))
    assert decide([0.5, np.nextafter(0.5, 0)], 0.5, ["no", "yes"]).tolist() == ["yes", "no"]


@pytest.mark.parametrize(("fp", "fn"), [(1.0, 1.0), (1.0, 9.0), (5.0, 1.0), (0.0, 1.0)])
def test_the_cost_threshold_is_where_the_costs_cross(fp, fn):  # D4
    c = cost_threshold(fp, fn)
    p = np.linspace(0.0, 1.0, 1001)
    P = np.column_stack([1 - p, p])
    by_cost = bayes_decision(P, [[0.0, fp], [fn, 0.0]])
    away = np.abs(p - c) > 1e-9
    np.testing.assert_array_equal(decide(p, c)[away], by_cost[away])
    assert c * fn == pytest.approx((1 - c) * fp)


def test_a_threshold_on_scores_is_the_one_on_probabilities(rare):  # D4
    X, y = rare
    model = sx.LogisticRegression().fit(X, y)
    by_score = decide(model.decision_function(X), score_threshold(1.0, 9.0))
    by_probability = decide(model.predict_proba(X)[:, 1], cost_threshold(1.0, 9.0))
    np.testing.assert_array_equal(by_score, by_probability)
    moved = model.hyperplane(probability=0.1)
    np.testing.assert_array_equal(by_score, (moved.score(X) >= 0).astype(int))

    def cost(predicted):
        return np.sum((predicted == 1) & (y == 0)) + 9 * np.sum((predicted == 0) & (y == 1))

    assert cost(by_score) < cost(model.predict(X))


@pytest.mark.parametrize("size", [1e308, 1e170, 1.0, 1e-170, 5e-324])
def test_only_the_ratio_of_costs_matters(size):
    assert cost_threshold(size, size) == 0.5
    assert cost_threshold(0.0, size) == 0.0
    costs = Costs(size, size)
    low, high = costs.interval(3, 2, 20)
    unit = Costs(1.0, 1.0)
    np.testing.assert_allclose(costs.mean(3, 2, 20) / size, unit.mean(3, 2, 20), rtol=1e-12 if size > 1e-300 else 1.0)
    if size > 1e-300:
        np.testing.assert_allclose(np.array([low, high]) / size, unit.interval(3, 2, 20), rtol=1e-12)


def test_bayes_decision_against_every_choice():  # D4
    rng = np.random.default_rng(0)
    P, cost = rng.dirichlet(np.ones(4), 50), rng.uniform(0, 5, (4, 4))
    chosen = bayes_decision(P, cost)
    for j in range(4):
        other = (P * cost[:, j]).sum(axis=1)
        assert np.all(np.take_along_axis(expected_costs(P, cost), chosen[:, None], axis=1)[:, 0] <= other + 1e-12)
    np.testing.assert_array_equal(bayes_decision(P), P.argmax(axis=1))
    reject = np.column_stack([1.0 - np.eye(4), np.full(4, 0.3)])  # a fifth decision: refer to a person
    words = bayes_decision(P, reject, ["a", "b", "c", "d", "refer"])
    np.testing.assert_array_equal(words == "refer", P.max(axis=1) < 0.7)


@pytest.mark.parametrize("K", [2, 3])
def test_other_priors_shift_intercepts_by_exactly_their_log_ratio(K):  # D4
    rng = np.random.default_rng(K)
    y = np.arange(150) % K
    X = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]])[y] + rng.standard_normal((150, 2))
    scorer = sx.LogisticRegression().fit(X, y).scorer_
    old, new = np.full(K, 1 / K), np.array([0.7, 0.2, 0.1][:K]) / sum([0.7, 0.2, 0.1][:K])
    moved = with_priors(scorer, old, new)
    np.testing.assert_array_equal(moved.W[:, 1:], scorer.W[:, 1:])
    shift = np.log(new / old)
    expected = shift if K > 2 else [shift[1] - shift[0]]
    np.testing.assert_allclose(moved.W[:, 0] - scorer.W[:, 0], expected, rtol=1e-12)
    # Bayes by hand: P′ ∝ P new/old.
    by_hand = scorer.probabilities(X) * new / old
    by_hand /= by_hand.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(moved.probabilities(X), by_hand, rtol=1e-10)
    np.testing.assert_allclose(reweighed(scorer.probabilities(X), old, new), by_hand, rtol=1e-10)
    back = with_priors(moved, new, old)
    np.testing.assert_allclose(back.W, scorer.W, atol=1e-12)
    assert np.array_equal(with_priors(scorer, old, dict(enumerate(new))).W, moved.W)


@pytest.mark.parametrize("weight", ["balanced", {0: 1.0, 1: 20.0}])
def test_prior_correction_undoes_class_weights(rare, weight):  # M4
    X, y = rare
    plain = sx.LogisticRegression(C=np.inf).fit(X, y)
    weighted = sx.LogisticRegression(C=np.inf, class_weight=weight).fit(X, y)
    truth = plain.predict_proba(X)[:, 1]
    raw = weighted.predict_proba(X)[:, 1]
    corrected = prior_corrected(weighted).probabilities(X)[:, 1]
    assert np.abs(corrected - truth).max() < 0.05
    assert np.abs(corrected - truth).mean() < 0.01
    assert np.abs(raw - truth).mean() > 0.2  # raw ones are of another population
    assert corrected.mean() == pytest.approx(y.mean(), rel=0.1)


def test_prior_correction_without_weights_changes_nothing_and_works_for_three():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [600, 300, 100])
    X = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]])[y] + rng.standard_normal((1000, 2))
    plain = sx.LogisticRegression(C=np.inf).fit(X, y)
    np.testing.assert_array_equal(prior_corrected(plain).W, plain.scorer_.W)
    weighted = sx.LogisticRegression(C=np.inf, class_weight="balanced").fit(X, y)
    corrected = prior_corrected(weighted).probabilities(X)
    assert np.abs(corrected - plain.predict_proba(X)).mean() < 0.02
    assert np.abs(weighted.predict_proba(X) - plain.predict_proba(X)).mean() > 0.05


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: decide([[0.1]]), "values: its shape"),
        (lambda: decide([0.1], classes=[1, 2, 3]), "classes: got 3"),
        (lambda: decide([np.nan]), "NaN"),
        (lambda: cost_threshold(-1.0, 1.0), "false_positive: got -1"),
        (lambda: cost_threshold(0.0, 0.0), "both costs are zero"),
        (lambda: expected_costs([[0.5, 0.6]], np.eye(2)), "P: row 0 is"),
        (lambda: expected_costs([0.5, 0.5], np.eye(2)), "P: its shape"),
        (lambda: expected_costs([[0.5, 0.5]], np.eye(3)), "cost: its shape"),
        (lambda: bayes_decision([[0.5, 0.5]], classes=["a"]), "classes: got 1"),
        (lambda: prior_corrected(3), "model: got int"),
        (lambda: reweighed([[0.5, 0.5]], [1.0, 0.0], [0.5, 0.5]), "old: got"),
        (lambda: reweighed([[0.5, 0.5]], {0: 0.5}, [0.5, 0.5]), "old: it names"),
        *(
            (lambda link=link: with_priors(sx.Scorer(np.ones((1, 2)), np.array([0, 1]), link), [1, 1], [1, 1]), link)
            for link in ("sign", "probit", "cloglog")
        ),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ParameterError, match=message):
        call()
