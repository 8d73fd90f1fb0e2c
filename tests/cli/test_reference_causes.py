"""A reference level that separates the classes: every verb and the report name that level, and not the other levels."""

import json
import re
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from .running import run

CAUSE = "the reference level '*' of 'c' causes it"


@pytest.fixture
def table(tmp_path):
    """80 rows of overlapping classes. Row 31 alone has the level "*", which is the first in sorted order."""
    rng = np.random.default_rng(0)
    a = rng.normal(size=80)
    frame = pd.DataFrame(
        {
            "a": a,
            "c": ["pqr"[k // 5 % 3] if k != 30 else "*" for k in range(80)],
            "note": ["good food" if k % 3 else "bad food" for k in range(80)],
            "y": (a + 2 * rng.normal(size=80) > 0).astype(int),
        }
    )
    path = tmp_path / "levels.csv"
    frame.to_csv(path, index=False)
    return str(path)


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize(
    "how",
    [
        ("--drop", "note"),
        ("--drop", "note", "--standardise"),
        ("--text", "note"),
        ("--drop", "note", "--model", "one-versus-rest"),
    ],
)
def test_fit_its_file_and_its_report_name_the_reference_level(table, how):
    fit = ("fit", table, "--target", "y", "--C", "inf", "--test-size", "0", *how)
    shown = run(*fit, "--out", "m.json", "--report", "r.html", code=1).stdout
    status = next(line for line in shown.splitlines() if line.startswith("status:"))
    assert f"{CAUSE}, by 1 row (31)" in status
    assert "the category" not in status
    kept = run("show", "m.json").stdout
    assert CAUSE in kept
    assert "use --bias-reduction firth, a finite --C, or leave these columns out" in kept
    assert CAUSE in json.loads(run(*fit, "--json", code=1).stdout)["certificate"]["status"]
    page = unescape(Path("r.html").read_text())
    if "one-versus-rest" not in how:
        assert "because of quasi-complete separation by the reference level '*' of 'c'." in page
        assert "The cause is the reference level '*' of 'c', through row 31." in page
    assert "'c=p'" not in "".join(re.findall(r"separation by [^<]*|The cause is [^<]*", page))


@pytest.mark.usefixtures("undrawn")
def test_the_report_names_every_cause(table):
    """Rows 41 and 42 alone have the level "z", in one class. The reference level is the other cause."""
    frame = pd.read_csv(table, keep_default_na=False)
    frame.loc[[40, 41], "c"] = "z"
    frame.loc[[40, 41], "y"] = 1
    frame.to_csv(table, index=False)
    fit = ("fit", table, "--target", "y", "--C", "inf", "--test-size", "0", "--drop", "note", "--report", "r.html")
    run(*fit, code=1)
    page = unescape(Path("r.html").read_text())
    (cause,) = re.findall(r"The causes? (?:is|are) ([^<]*?)\. Fit", page)
    assert "the category 'z' of 'c'" in cause
    assert "'*'" in cause


@pytest.mark.usefixtures("undrawn")
def test_notes_of_a_fit_speak_of_options(table):
    fit = ("fit", table, "--target", "y", "--drop", "note", "--test-size", "0")
    told = "to compare with the most frequent level, give --reference c=p."
    assert told in run(*fit, "--report", "r.html").stdout
    assert any(told in note for note in json.loads(run(*fit, "--json").stdout)["data"]["notes"])
    assert told in unescape(Path("r.html").read_text())
