"""Binned scores bound the exact area under the ROC curve, whatever the order of the rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from separatrix.statistics import ranking
from separatrix.statistics.ranking import ScoreCounts, binned_ranking, doubles, positions, rank


@given(st.lists(st.floats(allow_nan=False), min_size=1))
def test_positions_keep_the_order_of_doubles(values):
    z = np.array(values)
    found = positions(z)
    np.testing.assert_array_equal(doubles(found), z)
    assert np.all((found[:, None] < found) == (z[:, None] < z))


@pytest.fixture
def few_bins(monkeypatch):
    monkeypatch.setattr(ranking, "MOST_BINS", 50)
    monkeypatch.setattr(ranking, "MOST_PENDING", 300)


def _scores(n, unit=1.0):
    rng = np.random.default_rng(3)
    own = rng.random(n) < 0.3
    return (rng.standard_normal(n) + own) * unit, own


@pytest.mark.parametrize("unit", [1.0, 1e-200, 1e200])
def test_the_bounds_hold_the_exact_area(few_bins, unit):
    z, own = _scores(5_000, unit)
    counts = ScoreCounts.none()
    for start in range(0, len(z), 77):
        counts = counts.add(z[start : start + 77], own[start : start + 77])
    found = binned_ranking(counts, 1)
    low, high = found.auc_bounds
    assert low <= rank(z, own).auc <= high
    assert 0 < high - low < 0.2
    assert not found.is_exact
    assert found.ranking.positives == own.sum()


def test_the_counts_do_not_depend_on_the_order(few_bins):
    z, own = _scores(3_000)
    whole = ScoreCounts.none().add(z, own).counted()
    order = np.random.default_rng(0).permutation(len(z))
    parts = [ScoreCounts.none().add(z[some], own[some]) for some in np.array_split(order, 9)]
    total = parts[0]
    for part in parts[1:]:
        total = part.merge(total)
    assert total.level == whole.level
    for name in ("bins", "own", "others"):
        np.testing.assert_array_equal(getattr(total, name), getattr(whole, name))


def test_few_distinct_scores_have_the_exact_area():
    z, own = _scores(20_000)
    z = z.round(2)
    found = binned_ranking(ScoreCounts.none().add(z, own), "yes")
    exact = rank(z, own, "yes")
    assert found.is_exact
    assert found.ranking.auc == pytest.approx(exact.auc, abs=1e-12)
    np.testing.assert_array_equal(found.ranking.thresholds, exact.thresholds)


def test_rows_of_one_class_have_no_ranking():
    assert binned_ranking(ScoreCounts.none().add(np.zeros(3), np.ones(3, dtype=bool)), 1) is None
    assert binned_ranking(ScoreCounts.none(), 1) is None
