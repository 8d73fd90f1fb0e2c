"""Held-out rows and folds: the rule of docs/splits.md, computed by integers of Python, and what follows from it."""

from pathlib import Path

import numpy as np
import pytest

from separatrix.core.rows.hold_out import (
    FOLD_STREAM,
    HELD_OUT_STREAM,
    MOST_RANKED,
    ClassHashes,
    held_out,
    row_hashes,
    stratified_folds,
)

PAGE = Path(__file__).parents[3] / "docs" / "splits.md"
GAMMA, WORD = 0x9E3779B97F4A7C15, 1 << 64


def mixed(z):
    z %= WORD
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % WORD
    z = (z ^ z >> 27) * 0x94D049BB133111EB % WORD
    return z ^ z >> 31


def hashed(row, seed, stream):
    return mixed(mixed(seed + (stream + 1) * GAMMA) + (row + 1) * GAMMA)


def by_integers(codes, rows, share, n_folds, seed):
    """Which rows are held out, and the fold of each row, as the page says."""
    held, fold, first = {}, {}, 0
    for k in range(max(codes) + 1):
        members = [row for row, code in zip(rows, codes, strict=True) if code == k]
        n = len(members)
        by_share = sorted(members, key=lambda row: hashed(row, seed, 2))
        by_fold = sorted(members, key=lambda row: hashed(row, seed, 3))
        if n <= 10_000:
            chosen = set(by_share[: min(int(share * n + 0.5), n - 1)])
            fold |= {row: (place + first) % n_folds for place, row in enumerate(by_fold)}
            first += n
        else:
            chosen = {row for row in members if hashed(row, seed, 2) < int(share * WORD)}
            fold |= {row: hashed(row, seed, 3) * n_folds // WORD for row in members}
        held |= {row: row in chosen for row in members}
    return [held[row] for row in rows], [fold[row] for row in rows]


def test_the_generator_gives_its_published_outputs():
    """The first outputs for the seed 1234567, as in https://rosettacode.org/wiki/Pseudo-random_numbers/Splitmix64."""
    published = [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]
    assert [mixed(1234567 + (i + 1) * GAMMA) for i in range(5)] == published


@pytest.mark.parametrize(("seed", "stream"), [(0, 0), (0, 2), (7, 3), (2**32 - 1, 1), (2**64 + 5, 2)])
def test_hashes_are_those_of_integers(seed, stream):
    start = 10**12
    found = row_hashes(start, 50, seed, stream).tolist()
    assert found == [hashed(row, seed, stream) for row in range(start, start + 50)]


def test_the_vectors_of_the_page():
    """Each line of the table has a row, a seed, a stream and the hash."""
    cells = [line.strip("| ").split("|") for line in PAGE.read_text().splitlines() if "| `0x" in line]
    assert len(cells) >= 6
    for row, seed, stream, found in cells:
        assert f"0x{hashed(int(row), int(seed), int(stream)):016x}" == found.strip(" `")


@pytest.mark.parametrize("share", [0.1, 0.25, 0.7])
def test_rows_and_folds_are_those_of_integers(share):
    """Small and large classes, and rows of the table that do not take part."""
    rng = np.random.default_rng(0)
    codes = rng.permutation(np.repeat([0, 1, 2, 3], [13, MOST_RANKED + 500, 2, 301]))
    rows = np.sort(rng.choice(20_000, len(codes), replace=False))
    held, fold = by_integers(codes.tolist(), rows.tolist(), share, 7, 3)
    assert held_out(codes, rows, share, 3).held(codes, rows).tolist() == held
    assert stratified_folds(codes, rows, 7, 3).tolist() == fold


def test_the_share_held_out_of_each_class():
    codes, rows = np.repeat([0, 1, 2, 3], [100, 50, 10, 1]), np.arange(161)

    def chosen(share, seed):
        return held_out(codes, rows, share, seed).held(codes, rows)

    held = chosen(0.25, seed=1)
    assert np.bincount(codes[held], minlength=4).tolist() == [25, 13, 3, 0]
    assert (held == chosen(0.25, seed=1)).all()
    assert (held != chosen(0.25, seed=2)).any()
    assert not chosen(0.0, seed=1).any()
    assert np.bincount(codes[~chosen(0.999, seed=1)]).min() >= 1


def test_large_classes_have_nearly_their_share():
    n = 40_000
    codes, rows = np.repeat([0, 1], n), np.arange(2 * n)
    held = held_out(codes, rows, 0.25, 0).held(codes, rows)
    fold = stratified_folds(codes, rows, 5, 0)
    for k in range(2):
        assert abs(held[codes == k].mean() - 0.25) < 5 * np.sqrt(0.25 * 0.75 / n)
        assert np.abs(np.bincount(fold[codes == k]) / n - 0.2).max() < 5 * np.sqrt(0.2 * 0.8 / n)


@pytest.mark.parametrize("counts", [[50, 23, 3], [5, 0, 4], [7]])
def test_every_small_class_is_spread_evenly(counts):
    codes = np.repeat(np.arange(len(counts)), counts)
    fold = stratified_folds(codes, np.arange(len(codes)), 5, 1)
    for k in range(len(counts)):
        assert np.ptp(np.bincount(fold[codes == k], minlength=5)) <= 1
    assert np.ptp(np.bincount(fold, minlength=5)) <= 1
    assert (fold != stratified_folds(codes, np.arange(len(codes)), 5, 2)).any()


def test_rows_that_are_not_dealt_are_in_no_fold():
    codes = np.array([0, 0, -1, 1, 1, 1])
    fold = stratified_folds(codes, np.arange(6), 2, 0)
    assert fold[2] == -1
    assert set(fold[codes >= 0].tolist()) == {0, 1}
    assert stratified_folds(np.full(3, -1), np.arange(3), 2, 0).tolist() == [-1, -1, -1]


def test_the_rule_does_not_depend_on_the_parts():
    """Parts in any order, some without a class, classes that become large in one of them."""
    rng = np.random.default_rng(3)
    codes = rng.choice(4, 25_000, p=[0.6, 0.3, 0.0999, 0.0001])
    rows = np.arange(len(codes))
    for stream in (HELD_OUT_STREAM, FOLD_STREAM):
        whole = ClassHashes.of(codes, rows, 4, stream)
        parts = np.array_split(rng.permutation(rows), 37)
        found = ClassHashes.of(codes[:0], rows[:0], 4, stream, 4)
        for part in parts:
            found = found.merge(ClassHashes.of(codes[part], part, 4, stream, 4))
        assert found.held_out(0.25).thresholds.tolist() == whole.held_out(0.25).thresholds.tolist()
        assert (found.folds(5).of(codes, rows) == whole.folds(5).of(codes, rows)).all()
        assert max(map(len, found.hashes.values())) <= MOST_RANKED
