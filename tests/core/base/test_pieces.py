"""Pieces cover all items once and in order, whatever the sizes."""

import pytest

from separatrix.core.base.arrays import even_pieces, pieces, rows_per_piece


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9])
@pytest.mark.parametrize("size", [1, 2, 8, 100])
def test_pieces_cover_all_items_once_and_in_order(n, size):
    parts = list(pieces(n, size))
    assert [i for part in parts for i in range(part.start, part.stop)] == list(range(n))
    assert all(part.stop - part.start == size for part in parts[:-1])


@pytest.mark.parametrize("n", [0, 1, 7, 100])
@pytest.mark.parametrize("count", [1, 2, 7])
def test_even_pieces_differ_by_at_most_one_item(n, count):
    parts = even_pieces(n, count)
    lengths = [part.stop - part.start for part in parts]
    assert [i for part in parts for i in range(part.start, part.stop)] == list(range(n))
    assert len(parts) == count
    assert max(lengths) - min(lengths) <= 1


def test_a_piece_has_rows_even_if_one_does_not_fit_or_has_no_entries():
    assert rows_per_piece(10, 100) == 1
    assert rows_per_piece(10, 0) == 10
    assert rows_per_piece(10, 100, fewest=4) == 4
