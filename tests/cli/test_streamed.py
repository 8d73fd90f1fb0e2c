"""Tables larger than --memory are read in batches, with the output of reading them at once."""

import errno
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from separatrix.tables import batches as memory_limit
from separatrix.tables import streamed_table
from separatrix.tables.formats import batched

from .running import complaint, real, run

SMALL = ("--memory", "1KB")
# Figures of the work, and figures that are rounding alone. In memory a small table is proved in another way.
ROUNDED = {
    *("passes", "bound", "bound_kind", "weight_error", "weight_error_unit", "weight_error_reason", "gradient_norm"),
    *("status", "seconds", "iterations", "relative_gap"),
}


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(memory_limit, "smallest_memory", lambda n_columns: 0)
    # A smaller sample than in memory gives coefficients that agree only up to the tolerance.
    monkeypatch.setattr("separatrix.tables.scan.most_drawn", lambda *_: 1 << 30)
    monkeypatch.setattr(batched, "ROWS_PER_BATCH", 97)
    monkeypatch.setattr(batched, "BYTES_PER_BATCH", 5000)


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    n = 900
    frame = pd.DataFrame({f"x{j}": rng.standard_normal(n).round(3) for j in range(3)})
    frame["city"] = rng.choice(["Brno", "Kyiv", "Lviv"], n)
    frame["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n), "D")
    frame["y"] = np.where(frame.x0 + (frame.city == "Kyiv") > rng.logistic(size=n), "yes", "no")
    frame.loc[rng.random(n) < 0.1, "x1"] = np.nan
    frame.loc[rng.random(n) < 0.05, "city"] = None
    frame.loc[rng.random(n) < 0.02, "y"] = None
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet", index=False)
    frame.attrs["folder"] = str(tmp_path)
    return frame


def close(a, b, where=""):
    """JSON that agrees but for the last digits of numbers."""
    assert type(a) is type(b), where
    if isinstance(a, dict):
        assert a.keys() == b.keys(), where
        for key in a:
            close(a[key], b[key], f"{where}.{key}")
    elif isinstance(a, list):
        assert len(a) == len(b), where
        for k, pair in enumerate(zip(a, b, strict=True)):
            close(*pair, f"{where}[{k}]")
    elif isinstance(a, float):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-9, err_msg=where)
    else:
        assert a == b, where


def outputs(*words, **more):
    """The JSON of both ways, without what differs: the note, and figures of the work and of rounding."""
    both = [json.loads(run(*words, *how, "--json", **more).stdout) for how in ((), SMALL)]
    assert "read in batches" in both[1]["data"]["notes"].pop(0)
    for one in both:
        one["certificate"] = {name: fact for name, fact in one["certificate"].items() if name not in ROUNDED}
    return both


@pytest.mark.parametrize("data", ["t.csv", "t.parquet"])
@pytest.mark.parametrize(
    "options",
    [
        ("--missing", "impute"),
        ("--missing", "indicator", "--standardise"),
        ("--missing", "drop", "--model", "lda"),
        ("--missing", "impute", "--l1-ratio", "1", "--C", "0.1"),
        ("--missing", "impute", "--text", "city", "--text-hashed", "--text-features", "16"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("share", ["0", "0.25"])
def test_fit_is_that_of_memory(table, data, options, share):
    close(*outputs("fit", data, "--target", "y", "--test-size", share, *options))


@pytest.mark.parametrize(
    ("name", "target"),
    [("default", "default"), pytest.param("caravan", "Purchase", marks=pytest.mark.slow), ("penguins", "species")],
)
def test_real_tables(tmp_path, name, target):
    close(*outputs("fit", real(tmp_path, name), "--target", target, "--test-size", "0", "--missing", "impute"))


@pytest.mark.usefixtures("undrawn")
def test_measures_on_held_out_rows(table):
    run("fit", "t.csv", "--target", "y", "--missing", "impute", *SMALL, "--out", "m.json")
    training = json.loads(Path("m.json").read_text())["content"]["training"]
    n = table.y.notna().sum()
    assert training["rows"] == n
    assert abs(training["rows_held_out"] - n / 4) <= 1  # each class is rounded
    assert 0.5 < training["held_out_accuracy"] < 1
    # The same rows are found again in memory, and the certificate holds on them.
    assert run("evaluate", "m.json", "t.csv", "--report", "r.html", "--fitted-on", "t.csv")


def test_predictions_and_measures_are_those_of_memory(table):
    run("fit", "t.csv", "--target", "y", "--missing", "drop", "--out", "m.json")
    whole = run("predict", "m.json", "t.csv", "--proba", "--scores")
    parts = run("predict", "m.json", "t.csv", "--proba", "--scores", *SMALL)
    ours, theirs = (pd.read_csv(io.StringIO(told.stdout)) for told in (parts, whole))
    # Products with other numbers of rows may differ in their last bits.
    pd.testing.assert_frame_equal(ours, theirs, rtol=1e-13, atol=0)
    assert "read in batches" in parts.stderr
    assert parts.stderr.splitlines()[1:] == whole.stderr.splitlines()
    run("predict", "m.json", "t.csv", "--out", "p.csv", *SMALL)
    assert Path("p.csv").read_text() == run("predict", "m.json", "t.csv").stdout
    costs = [run("evaluate", "m.json", "t.csv", "--cost", "FP=1,FN=5", "--json", *how).stdout for how in ((), SMALL)]
    assert len({json.loads(one)["cost"]["mean"] for one in costs}) == 1
    for more in ((), ("--prior", "no=0.8,yes=0.2")):
        both = [run("evaluate", "m.json", "t.csv", *more, *how) for how in ((), SMALL)]
        assert both[0].stdout == both[1].stdout
        figures = [json.loads(run("evaluate", "m.json", "t.csv", "--json", *more, *how).stdout) for how in ((), SMALL)]
        close(*figures)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--cv", "3"), "--cv: cross-validation needs the table in memory"),
        (("--report", "r.html"), "--report: a report needs the table in memory"),
        (("--stats",), "--stats: standard errors on the command line need the table in memory"),
        (("--model", "kozinec"), "--model: kozinec needs the table in memory"),
        (("--C", "auto"), "--C: the choice of C needs the table in memory"),
        (("--memory", "lots"), "--memory: got 'lots'"),
    ],
)
def test_what_needs_memory_is_refused_in_a_sentence(table, words, says):
    assert says in complaint("fit", "t.csv", "--target", "y", *SMALL, *words, code=2)


def test_other_refusals(table):
    assert "--text-hashed" in complaint("fit", "t.csv", "--target", "y", "--text", "city", *SMALL, code=3)
    assert "a check needs it in memory" in complaint("check", "t.csv", "--target", "y", *SMALL, code=3)
    assert "--print-schema needs it in memory" in complaint("fit", "t.csv", "--print-schema", *SMALL, code=3)
    run("fit", "t.csv", "--target", "y", "--missing", "impute", "--out", "m.json")
    assert "--json: one JSON object" in complaint("predict", "m.json", "t.csv", "--json", *SMALL, code=2)
    lacking = complaint("fit", "t.csv", "--target", "y", *SMALL, code=3)
    assert "values are missing" in lacking or "has no label" in lacking


def test_a_cache_is_kept_and_used_again(table):
    fit = ("fit", "t.csv", "--target", "y", "--missing", "impute", "--cache", "kept", *SMALL, "--json")
    first = run(*fit).stdout
    (kept,) = os.listdir("kept")
    before = os.stat(f"kept/{kept}").st_mtime_ns
    assert run(*fit).stdout == first
    assert os.stat(f"kept/{kept}").st_mtime_ns == before


def test_a_cache_without_effect_is_named(table):
    fit = ("fit", "t.csv", "--target", "y", "--missing", "impute", "--cache", "kept", "--json")
    words = "The table was read at once and not in batches, so --cache has no effect."
    assert words in json.loads(run(*fit).stdout)["data"]["notes"]
    assert not any("no effect" in note for note in json.loads(run(*fit, *SMALL).stdout)["data"]["notes"])


def test_a_cache_belongs_to_the_spelling(table):
    """With other texts for missing values other rows are dropped, while the columns are encoded in the same way."""
    fit = ("fit", "t.csv", "--target", "y", "--drop", "city", "--drop", "day", "--missing", "drop", *SMALL, "--json")
    cell = pd.read_csv("t.csv").x0[0]
    for more in ((), ("--na", str(cell))):
        assert run(*fit, *more, "--cache", "kept").stdout == run(*fit, *more).stdout


def test_what_compares_rows_refuses_tables_larger_than_memory_by_name(table):
    said = complaint("compare", "t.csv", "--target", "y", *SMALL, code=3)
    assert "a comparison needs it in memory" in said
    assert "separatrix fit" in said
    assert "--C inf" in complaint("check", "t.csv", "--target", "y", *SMALL, code=3)
    assert "--memory: got 'lots'" in complaint("compare", "t.csv", "--target", "y", "--memory", "lots", code=2)


def test_a_limit_below_what_is_possible_is_refused_with_the_smallest(table, monkeypatch):
    monkeypatch.undo()
    monkeypatch.chdir(Path(table.attrs["folder"]))
    said = complaint("fit", "t.csv", "--target", "y", "--memory", "1KB", code=2)
    assert "--memory: got 1KB, and a table of 6 columns takes about 438 MB in batches; give 438MB or more" in said


def test_a_short_table_with_many_columns_takes_less_at_once_than_in_batches(tmp_path, monkeypatch):
    """The refusal names the smaller of the two sizes, with which it is read."""
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    zeros = pa.array(np.zeros(20_000))
    parquet.write_table(pa.table({f"x{j}": zeros for j in range(500)} | {"y": zeros}), "wide.parquet")
    said = complaint("fit", "wide.parquet", "--target", "y", "--memory", "500MB", code=2)
    assert "takes about 1.9 GB in batches, and about 561 MB if it is read at once; give 562MB or more" in said


# What getrusage gives would include the memory of the process that started this one, which is the test's.
PEAK = """
import sys
from pathlib import Path
from separatrix.cli import main
try:
    main(sys.argv[1:])
finally:
    print(int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) * 1024, file=sys.stderr)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells the peak of one process")
@pytest.mark.parametrize("name", ["t.parquet", "t.csv"])
def test_the_peak_of_a_fit_keeps_to_the_limit(tmp_path, name):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1_000_000, 20))
    y = np.where(X[:, 0] > rng.logistic(size=len(X)), "yes", "no")
    columns = pa.table([*X.T.copy(), y], [*(f"x{j}" for j in range(20)), "y"])
    (parquet.write_table if name.endswith("parquet") else csv.write_csv)(columns, tmp_path / name)
    words = ["fit", str(tmp_path / name), "--target", "y", "--memory", "490MB"]
    done = subprocess.run([sys.executable, "-c", PEAK, *words], capture_output=True, text=True, check=True)
    assert int(done.stderr.split()[-1]) <= 490e6


FIT_IMPUTED = ("fit", "t.csv", "--target", "y", "--missing", "impute", *SMALL)


def test_a_file_that_changes_between_passes_is_named(table, monkeypatch):
    first = streamed_table.first_pass

    def then_changed(*given):
        found = first(*given)
        os.utime("t.csv", (1, 1))
        return found

    monkeypatch.setattr(streamed_table, "first_pass", then_changed)
    said = complaint(*FIT_IMPUTED, code=3)
    assert "t.csv: it has changed since it was first read; leave the file unchanged during a fit" in said


def test_a_full_disk(table, monkeypatch):
    """Without a folder that the user asks for, the rows are read from the file in every pass."""
    expected = run(*FIT_IMPUTED, "--out", "a.json")

    def full(*given):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("separatrix.tables.encoded_rows.CacheWriter.add", full)
    assert run(*FIT_IMPUTED, "--out", "b.json").stdout.replace("b.json", "a.json") == expected.stdout
    said = complaint(*FIT_IMPUTED, "--cache", "kept", code=3)
    assert "kept: a cache of rows cannot be written there (No space left on device)" in said
    assert "--cache" in said
    assert not any(Path("kept").iterdir())
