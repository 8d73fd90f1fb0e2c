"""Held-out rows and folds are the same rows wherever the table is: in memory, in batches, in files, on workers."""

from dataclasses import replace
from functools import reduce

import numpy as np
import pandas as pd
import pytest
from distributed import LocalCluster

import separatrix as sx
from separatrix.core.cluster.connection import LOCAL_SETTINGS
from separatrix.core.rows.hold_out import FOLD_STREAM, HELD_OUT_STREAM, ClassHashes, held_out, stratified_folds
from separatrix.core.rows.targets import CLASS_NUMBERS
from separatrix.tables.formats.batched import batched
from separatrix.tables.formats.source import Spelling
from separatrix.tables.on_cluster import cluster_passes
from separatrix.tables.read_table import read_raw
from separatrix.tables.selection import selected
from separatrix.tables.streamed_table import ONE_READER, streamed_table

SHARE, FOLDS, SEED = 0.25, 5, 3


@pytest.fixture(scope="module")
def address():
    """Two workers that are threads of this process, behind sockets like others."""
    with LocalCluster(n_workers=2, **{**LOCAL_SETTINGS, "processes": False, "protocol": "tcp://"}) as cluster:
        yield cluster.scheduler_address


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr("separatrix.tables.formats.batched.BYTES_PER_PART", 8 * 2 * 800)
    monkeypatch.setattr("separatrix.tables.batches.smallest_memory", lambda n_columns: 0)


@pytest.fixture(scope="module", params=[20, 20_000])
def folder(request, tmp_path_factory):
    """A table in two Parquet files and in one CSV file. The larger one has one class of more than 10 000 rows."""
    rng, n = np.random.default_rng(0), request.param
    frame = pd.DataFrame({"x": rng.standard_normal(n).round(3), "y": rng.choice(["a", "b", "c"], n, p=[0.7, 0.2, 0.1])})
    place = tmp_path_factory.mktemp("files")
    (place / "parts").mkdir()
    frame[: n // 3].to_parquet(place / "parts" / "a.parquet", index=False, row_group_size=max(n // 7, 1))
    frame[n // 3 :].to_parquet(place / "parts" / "b.parquet", index=False, row_group_size=max(n // 7, 1))
    frame.to_csv(place / "whole.csv", index=False)
    holes = frame.assign(x=frame.x.where(rng.random(n) > 0.2), y=frame.y.where(rng.random(n) > 0.1))
    holes.to_csv(place / "holes.csv", index=False)
    return place


def in_memory(path, **how):
    """The numbers of the rows that take part, which of them are held out, and their folds."""
    raw = read_raw(str(path), "y", **how)
    codes, rows = np.unique(raw.y, return_inverse=True)[1], raw.row_names.numbers - 1
    held = held_out(codes, rows, SHARE, SEED).held(codes, rows)
    return np.array([rows, held, stratified_folds(codes, rows, FOLDS, SEED)])


def in_batches(path, most_rows=None, address=None, missing="error"):
    """The same for a table that is read in batches of a given size, by this process or by workers."""
    asked = selected(str(path), "y", (), None, Spelling())
    source = replace(batched(asked.source), most_rows=most_rows)
    passes = ONE_READER if address is None else cluster_passes(source, asked.source, address)
    table = streamed_table(asked, source, missing, "average", passes)
    rule, _ = table.held_out(SHARE, SEED)
    folds = table.class_hashes(SEED, FOLD_STREAM).folds(FOLDS)
    found = [np.array([rows, rule.held(codes, rows), folds.of(codes, rows)]) for codes, rows in table.kept_codes()]
    return np.hstack(found)


class Listed:
    """Lists the class numbers of the rows, part by part."""

    def zero(self):
        return []

    def add(self, total, block):
        return [*total, (block.t.astype(int), block.start + np.arange(block.n_rows))]

    def merge(self, a, b):
        return a + b


def of_scan(scan):
    """The same for the rows of a scan."""
    parts = scan.rows(CLASS_NUMBERS).fold(Listed())
    shares, deals = (
        reduce(ClassHashes.merge, [ClassHashes.of(*part, SEED, stream, 3) for part in parts])
        for stream in (HELD_OUT_STREAM, FOLD_STREAM)
    )
    rule, folds = shares.held_out(SHARE), deals.folds(FOLDS)
    found = np.hstack([np.array([part[1], rule.held(*part), folds.of(*part)]) for part in parts])
    return found[:, np.argsort(found[0])]


def test_the_same_rows_in_every_home(folder, address):
    expected = in_memory(folder / "whole.csv")
    assert 0.2 < expected[1].mean() <= 0.3
    found = {
        "a folder in memory": in_memory(folder / "parts"),
        "batches of 7": in_batches(folder / "whole.csv", 7),
        "batches of 1000": in_batches(folder / "whole.csv", 1000),
        "Parquet in batches of 7": in_batches(folder / "parts", 7),
        "Parquet": in_batches(folder / "parts"),
        "workers": in_batches(folder / "parts", address=address),
        "text on workers": in_batches(folder / "whole.csv", address=address),
        "a scan of text": of_scan(sx.scan(folder / "whole.csv", target="y")),
        "a scan of Parquet": of_scan(sx.scan(folder / "parts", target="y", cache=False)),
        "a scan on workers": of_scan(sx.scan(folder / "parts", target="y", cluster=address)),
    }
    for home, splits in found.items():
        np.testing.assert_array_equal(splits, expected, err_msg=home)


def test_rows_are_numbered_before_any_is_dropped(folder, address):
    expected = in_memory(folder / "holes.csv", missing="drop")
    assert (np.diff(expected[0]) > 1).any()
    for home in ({"most_rows": 7}, {"most_rows": 1000}, {"address": address}):
        found = in_batches(folder / "holes.csv", missing="drop", **home)
        np.testing.assert_array_equal(found, expected, err_msg=str(home))
