"""``--cluster``: the workers of a Dask cluster read, encode and keep the rows of Parquet files."""

import json
import shutil
import sys

import dask
import numpy as np
import pandas as pd
import pytest
from distributed import LocalCluster

from separatrix.core.cluster.connection import LOCAL_SETTINGS
from tests.cli.running import complaint, run
from tests.cli.test_streamed import ROUNDED, close

ENCODED = ("--target", "y", "--missing", "impute", "--standardise")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """3000 rows in two files of several row groups, with numbers, categories, dates and missing values."""
    rng = np.random.default_rng(0)
    n = 3000
    frame = pd.DataFrame({f"x{j}": rng.standard_normal(n).round(3) for j in range(3)})
    frame["city"] = rng.choice(["Brno", "Kyiv", "Lviv"], n)
    frame["late"] = np.where(np.arange(n) < 2900, None, "once")
    frame["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n), "D")
    frame["y"] = np.where(frame.x0 + (frame.city == "Kyiv") > rng.logistic(size=n), "yes", "no")
    frame.loc[rng.random(n) < 0.1, "x1"] = np.nan
    frame.loc[rng.random(n) < 0.05, "city"] = None
    frame.loc[rng.random(n) < 0.02, "y"] = None
    place = tmp_path_factory.mktemp("files")
    frame[:1700].to_parquet(place / "a.parquet", index=False, row_group_size=400)
    frame[1700:].to_parquet(place / "b.parquet", index=False, row_group_size=400)
    return place


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr("separatrix.tables.formats.batched.BYTES_PER_PART", 8 * 7 * 500)
    monkeypatch.setattr("separatrix.tables.batches.smallest_memory", lambda n_columns: 0)


@pytest.fixture(scope="module")
def address():
    """Two workers that are threads of this process, so that they start at once, behind sockets like others."""
    settings = {**LOCAL_SETTINGS, "processes": False, "protocol": "tcp://"}
    with LocalCluster(n_workers=2, **settings) as cluster:
        yield cluster.scheduler_address


def plain(said):
    """The fields of a JSON output that do not depend on where the rows were."""
    found = json.loads(said.stdout)
    found["data"]["notes"].pop(0)  # which says who reads the table
    certificate = found["certificate"]
    return found | {"certificate": {k: v for k, v in certificate.items() if k not in ROUNDED}}


@pytest.mark.parametrize("missing", ["indicator", "drop"])
def test_a_fit_on_a_cluster_is_that_of_batches(address, folder, missing, tmp_path):
    words = ("fit", folder, "--target", "y", "--missing", missing, "--json", "--out", tmp_path / "m.json")
    ours = run(*words, "--cluster", address)
    assert "read by the 2 workers" in ours.stdout
    close(plain(ours), plain(run(*words, "--memory", "1KB")))


def test_workers_encode_as_this_process_does(address, folder, tmp_path):
    model = tmp_path / "m.json"
    run("fit", folder, *ENCODED, "--out", model, "--memory", "1KB")
    here = run("evaluate", model, folder, "--json", "--memory", "1KB")
    close(json.loads(run("evaluate", model, folder, "--json", "--cluster", address).stdout), json.loads(here.stdout))
    assert (
        run("predict", model, folder, "--proba", "--cluster", address).stdout
        == run("predict", model, folder, "--proba", "--memory", "1KB").stdout
    )


def test_what_a_column_holds_is_found_by_workers(client, folder, monkeypatch):
    """The passes that learn the encoding read nothing in this process."""

    def here(*_):
        raise AssertionError("this process read rows")

    monkeypatch.setattr("separatrix.tables.formats.parquet.ColumnarSource.batches", here)
    said = run("fit", folder, *ENCODED, "--json", "--cluster", client.scheduler.address)
    assert json.loads(said.stdout)["data"]["rows_in_source"] == 3000


def test_a_cell_that_cannot_be_used_is_named_by_its_file_and_row(address, folder, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    frame = pd.read_parquet(copy / "b.parquet")
    frame.loc[1201, "x2"] = np.inf
    frame.to_parquet(copy / "b.parquet", index=False, row_group_size=400)
    said = complaint("fit", copy, *ENCODED, "--cluster", address, code=3)
    assert "row 1202 of b.parquet, column 'x2' is infinite" in said


def test_what_cannot_be_done_is_refused_in_a_sentence(address, folder, tmp_path):
    pd.DataFrame({"a": [1, 2, 3], "y": ["n", "y", "n"]}).to_feather(tmp_path / "t.feather")
    cases = {
        (tmp_path / "t.feather", "--cluster", address): "not made of Parquet or CSV files",
        (folder, "--cluster", address, "--cache", tmp_path / "c"): "--cache: ",
        (folder, "--cluster", address, "--memory", "1GB"): "--memory: ",
        (folder, "--cluster", address, "--cv", "3"): "--cv: ",
        (folder, "--cluster", "nowhere:at:all"): "nowhere:at:all",
    }
    for words, reason in cases.items():
        found = complaint("fit", *words, "--target", "y", code=5 if "nowhere" in reason else 2)
        assert reason in found, found


def test_a_scheduler_that_does_not_answer_is_an_error_within_the_stated_time(folder):
    with dask.config.set({"separatrix.worker-timeout": "1s"}):
        said = complaint("fit", folder, "--target", "y", "--cluster", "tcp://127.0.0.1:1", code=5)
    assert "no scheduler answers at tcp://127.0.0.1:1 within 1 second" in said


def test_without_dask_the_extra_is_named(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    said = complaint("fit", folder, "--target", "y", "--cluster", "local", code=5)
    assert "pip install 'separatrix[dask]'" in said
