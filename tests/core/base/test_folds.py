"""Folds have even shares of every class, and the same seed draws the same folds."""

import numpy as np
import pytest

from separatrix.core.rows.hold_out import stratified_folds


@pytest.mark.parametrize("draw_first", [False, True])
@pytest.mark.parametrize("counts", [[50, 23, 3], [5, 0, 4], [7]])
def test_every_class_is_spread_evenly(counts, draw_first):
    codes = np.repeat(np.arange(len(counts)), counts)
    fold = stratified_folds(codes, 5, 1, draw_first=draw_first)
    for k in range(len(counts)):
        assert np.ptp(np.bincount(fold[codes == k], minlength=5)) <= 1
    assert draw_first or np.ptp(np.bincount(fold, minlength=5)) <= 1
    assert (fold == stratified_folds(codes, 5, 1, draw_first=draw_first)).all()


def test_rows_that_are_not_dealt_are_in_no_fold():
    codes = np.array([0, 0, 0, 1, 1, 1])
    among = np.array([True, True, False, True, True, True])
    fold = stratified_folds(codes, 2, 0, among=among)
    assert fold[2] == -1
    assert set(fold[among].tolist()) == {0, 1}
