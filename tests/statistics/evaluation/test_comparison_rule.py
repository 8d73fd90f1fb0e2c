"""The choice of a classifier by the rule of one standard error, and its reasons."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

import separatrix as sx
from separatrix.statistics.comparison import Comparison, Figure, Standing
from separatrix.statistics.comparison_trials import Trial


def standing(name, right, met=True, parameters=3, linear=True, probable=True):
    """From the number of rows right of 100, fold by fold."""
    trials = []
    for count in right:
        log_P = np.log(np.full((100, 2), 0.5)) if probable else None
        trials.append(Trial(np.arange(100) < count, log_P, 0.1, met, "a status", parameters))
    codes = tuple(np.arange(100) % 2 for _ in right)
    return Standing(name, tuple(trials), codes, np.array(["a", "b"]), linear)


def contest(*standings):
    baseline = standing("majority", [60, 60, 60])
    return Comparison((*standings, baseline), baseline, "accuracy", 3, 0)


def test_the_rule_of_one_standard_error():
    best, simple = standing("best", [88, 92, 90], parameters=50), standing("simple", [87, 91, 90], parameters=4)
    assert best.accuracy.error == pytest.approx(0.02 / np.sqrt(3))
    assert contest(best, simple).chosen is simple
    assert "better by 0.0067 ± 0.0033 on the same folds" in contest(best, simple).why
    assert "simpler: 4 parameters (best 50)" in contest(best, simple).why
    far = standing("far", [80, 82, 84], parameters=4)
    assert contest(best, far).chosen is best
    unmet = standing("unmet", [87, 91, 90], met=False, parameters=4)
    assert contest(best, unmet).chosen is best
    assert "certified in 3 of 3 fits (unmet in 0)" in contest(standing("unmet", [89, 92, 90], met=False), best).why
    silent = standing("silent", [88, 92, 90], probable=False)
    assert contest(silent, standing("probable", [88, 92, 90])).chosen.name == "probable"


def test_two_rows_are_not_a_reason_to_prefer_a_classifier_without_error():
    """All folds of the best are equal, so that its standard error over folds is 0; the rows still do not prefer it."""
    best = standing("best", [100, 100, 100], parameters=3, probable=False)
    two = standing("two rows behind", [99, 99, 100], parameters=50)
    assert best.accuracy.error == 0.0
    found = contest(best, two)
    assert found.best is best
    assert found.chosen is two
    assert (
        "a paired test of the rows does not distinguish it from the best linear classifier, best (1.0000;" in found.why
    )
    assert "and gives probabilities, which best does not" in found.why
    three = standing("three rows behind", [99, 99, 99], parameters=50)
    assert contest(best, three).chosen is best  # a sign test of 3 : 0 has P = 0.25, below that of one standard error


def test_probabilities_come_before_parameters_at_equal_accuracy():
    silent = standing("silent", [90, 91, 92], parameters=3, probable=False)
    probable = standing("probable", [90, 91, 92], parameters=50)
    assert contest(silent, probable).chosen is probable


def test_equal_folds_do_not_make_a_gain_certain():
    majority, one_row_each = standing("majority", [60, 60]), standing("one row each", [61, 61])
    found = Comparison((one_row_each, majority), majority, "accuracy", 2, 0)
    assert "may be chance" in found.why
    curved, straight = standing("curved", [84, 84], linear=False), standing("straight", [83, 83])
    assert "curved" not in Comparison((curved, straight, majority), majority, "accuracy", 2, 0).why


def test_by_log_loss_the_paired_error_of_rows_counts():
    """Losses that differ by row cancel within each fold, so that the folds alone would show no error."""

    def losses(name, p, parameters):
        trials = [Trial(np.ones(100, bool), np.log(np.column_stack([1 - p, p])), 0.1, True, "", parameters)] * 3
        return Standing(name, tuple(trials), (np.ones(100, int),) * 3, np.array(["a", "b"]))

    swings = np.where(np.arange(100) % 2, 0.9, 0.5)
    best, simple = losses("best", swings, 50), losses("simple", 0.99 * swings[::-1], 3)
    baseline = losses("majority", np.full(100, 0.5), 1)
    found = Comparison((best, simple, baseline), baseline, "log_loss", 3, 0)
    assert found.best is best
    assert best.log_loss.error < 1e-15
    assert found.chosen is simple
    level = losses("level", np.full(100, 0.6), 3)  # 0.112 ± 0.017 nats a row worse than the best
    assert Comparison((best, level, baseline), baseline, "log_loss", 3, 0).chosen is best


def test_a_curved_one_is_told_and_not_chosen():
    curved = standing("curved", [97, 98, 99], linear=False)
    found = contest(curved, standing("straight", [80, 82, 84]))
    assert found.best.name == "straight"
    assert "curved, whose boundaries are curved, is 0.1600 ± 0.0058 better than straight" in found.why


def test_no_gain_is_said_to_be_none():
    assert "may be chance" in contest(standing("poor", [55, 60, 66])).why
    assert "may be chance" not in contest(standing("good", [75, 80, 86])).why


def test_order_by_log_loss():
    X, y = load_iris(return_X_y=True)
    found = sx.compare(X, y, by="log_loss", only=["logistic", "lda", "fisher"])
    assert [one.name for one in found.standings] == ["lda", "logistic", "majority", "fisher"]
    assert found.chosen.name == "lda"


def test_figures():
    figure = Figure.of([0.5, 0.7])
    assert (figure.mean, figure.error) == (pytest.approx(0.6), pytest.approx(0.1))
    assert np.isnan(Figure.of([1.0, np.inf]).error)
    assert figure.less(Figure.of([0.4, 0.6])).error == pytest.approx(0.0, abs=1e-15)
