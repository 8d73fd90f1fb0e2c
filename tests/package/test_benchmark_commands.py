"""Benchmarks with a command of their own, on tiny data."""

import pytest

from benchmarks import revisions
from benchmarks.environments import HERE
from benchmarks.lab import Drag, row
from benchmarks.rows import ROWS

SHRINK = 5000


def test_a_drag_is_printed_with_the_goals_that_it_misses():
    assert row("lda", 2, Drag([10.0] * 20, 60.0, 3.0, 5.0)).endswith("|  |")
    slow = row("lda", 2, Drag([10.0] * 18 + [300.0] * 2, 30.0, 3.0, 5.0))
    assert slow.startswith("| lda | 2 | 10.0 | 300.0 | 30 | 3.0 | 5.0 |")
    assert slow.endswith("| 95 %, rate |")


def test_revisions_are_timed_in_turns_by_workers_with_sources_of_their_own(tmp_path):
    now = revisions.worker(HERE.parent / "src", tmp_path / "now.log")
    try:
        (tmp_path / "data").mkdir()
        found = revisions.medians(ROWS["tall"].parts[0], {"now": now}, tmp_path / "data", repeats=1, shrink=SHRINK)
    finally:
        now.close()
    assert list(found) == ["now"]
    assert found["now"] > 0
    with pytest.raises(SystemExit):
        revisions.main(["HEAD", "no such row"])
