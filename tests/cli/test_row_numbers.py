"""One row has one number everywhere: its place in the user's table, the first row being row 1.

A table has one planted row at a known place. Whatever command names a row names that place: of a file or of a folder of
three files, as CSV or Parquet, whether rows before it are left out for a missing value, and whether rows are held out.
"""

import json
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import separatrix as sx
from separatrix import errors
from separatrix.tables.read_table import read_rows, read_table

from .running import complaint, run

# The planted row, counted from 1, and the rows of each file of the folder.
PLACE, SIZES = 137, (60, 70, 50)
# Rows that lack a value; all but one are before the planted row.
LACKING = (3, 61, 100, 136, 150)


def overlapping():
    """180 rows of two overlapping classes, with the planted row in the third file."""
    rng = np.random.default_rng(5)
    y = np.arange(sum(SIZES)) % 2
    a, b = rng.normal(size=(2, len(y))) + 0.7 * y
    return pd.DataFrame({"a": a.round(3), "b": b.round(3), "y": np.where(y, "yes", "no")})


def separating():
    """The planted row alone has c = 1, so without a penalty the weight of c has no finite value."""
    frame = overlapping()
    frame["c"] = (np.arange(len(frame)) == PLACE - 1).astype(float)
    return frame[["a", "b", "c", "y"]]


def planted(column, value):
    frame = overlapping().astype({"a": object, "b": object, "y": object})
    frame.loc[PLACE - 1, column] = value
    return frame


def lacking(frame):
    """The frame without the values of some rows."""
    frame = frame.copy()
    frame.loc[[row - 1 for row in LACKING], "b"] = None
    return frame


@pytest.fixture(params=["file", "folder"])
def layout(request):
    return request.param


@pytest.fixture(params=["csv", "parquet"])
def ending(request):
    return request.param


@pytest.fixture
def where(layout, tmp_path, ending):
    """Write a frame in this layout; returns its path, and the words that name the planted row."""

    def write(frame, name="t"):
        if ending == "parquet":
            texts = [column for column in frame if frame[column].map(type).eq(str).any()]
            frame = frame.astype(dict.fromkeys(texts, "string"))
            frame = frame.astype({c: "float64" for c in frame if c not in texts})
        if layout == "file":
            path = tmp_path / f"{name}.{ending}"
            getattr(frame, f"to_{ending}")(path, index=False)
            return path, f"row {PLACE}"
        folder, start = tmp_path / name, 0
        folder.mkdir()
        for k, size in enumerate(SIZES, 1):
            getattr(frame[start : start + size], f"to_{ending}")(folder / f"part-{k}.{ending}", index=False)
            start += size
        return folder, f"row {PLACE - SIZES[0] - SIZES[1]} of part-3.{ending}"

    return write


def rows_in(text):
    """The rows that a text names."""
    return set(re.findall(r"\brow \d+(?: of [\w-]+\.\w+)?", " ".join(text.split())))


def named(done):
    return rows_in(done.stdout + done.stderr)


@pytest.mark.parametrize(
    ("column", "value"),
    [("a", "oops 1"), ("a", "inf"), ("a", np.inf), ("y", None), ("y", "1.5")],
    ids=["text", "infinite text", "infinite", "no label", "strange label"],
)
def test_a_bad_cell_is_named_by_every_verb_that_reads_it(where, ending, column, value):
    if ending == "parquet" and value == "inf":
        pytest.skip("a column of Parquet holds numbers or text")
    path, word = where(planted(column, value))
    good, _ = where(overlapping(), "good")
    run("fit", good, "--target", "y", "--out", "m.json")
    verbs = [] if value is None else [["evaluate", "m.json", path]]  # It leaves rows without a label out.
    if column == "a":
        verbs += [["predict", "m.json", path], ["fit", path, "--target", "y"], ["compare", path, "--target", "y"]]
    elif value is None:
        verbs += [["fit", path, "--target", "y"]]
    for words in verbs:
        assert rows_in(complaint(*words, code=3)) == {word}, words
    if value == "oops 1":
        assert named(run("check", path, "--target", "y", code=1)) == {word}


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize(("missing", "held"), [("error", "0"), ("drop", "0.25")])
def test_a_separating_row_is_named_by_fit_its_file_check_and_the_report(where, missing, held):
    path, word = where(separating() if missing == "error" else lacking(separating()))
    number = word.removeprefix("row ")
    how = ["--target", "y", "--C", "inf", "--test-size", held, "--missing", missing, "--seed", "2"]
    done = run("fit", path, *how, "--out", "m.json", "--report", "r.html", "--json", code=1)
    status = json.loads(done.stdout)["certificate"]["status"]
    assert f"by 1 row ({number})" in status
    assert "rows counted from 1" in status
    assert f"by 1 row ({number})" in " ".join(run("show", "m.json").stdout.split())
    assert f"through {word}. " in page("r.html")
    found = json.loads(run("check", path, "--target", "y", "--json", code=missing == "drop").stdout)
    leverage = next(finding for finding in found["findings"] if finding["check"] == "leverage")
    assert [str(row) for row in leverage["facts"]["rows"]] == [number]
    assert f"{word} (" in leverage["sentence"]


def page(path):
    """The text of a report."""
    return " ".join(re.sub(r"<[^>]+>", " ", Path(path).read_text()).split())


@pytest.mark.usefixtures("undrawn")
def test_an_outlier_is_named_by_check_and_both_reports(where):
    frame = lacking(overlapping())
    frame.loc[PLACE - 1, ["a", "y"]] = [900.0, "no"]
    path, word = where(frame)
    run("fit", path, "--target", "y", "--missing", "drop", "--test-size", "0", "--report", "f.html", "--out", "m.json")
    run("evaluate", "m.json", path, "--report", "e.html", "--fitted-on", path)
    for name in ("f.html", "e.html"):
        text = page(name)
        assert word in text[text.rindex("Influential rows") :]
        assert f"{word} (1.00, extreme in &#x27;a&#x27;)" in text
    assert f"{word} (1.00, extreme in 'a')" in " ".join(run("check", path, "--target", "y", code=1).stdout.split())


def test_a_label_that_the_model_does_not_know_is_named_by_its_row(where):
    good, _ = where(overlapping(), "good")
    run("fit", good, "--target", "y", "--missing", "drop", "--out", "m.json")
    path, word = where(lacking(planted("y", "perhaps")))
    assert f"{word} has the label 'perhaps'" in complaint("evaluate", "m.json", path, code=3)


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("missing", ["error", "drop"])
def test_python_names_the_row_of_the_table(where, missing):
    frame = separating() if missing == "error" else lacking(separating())
    path, word = where(frame)
    number = word.removeprefix("row ")
    table = read_table(path, "y", missing=missing)
    with pytest.warns(errors.SeparationWarning, match=rf"by 1 row \({re.escape(number)}\).*rows counted from 1"):
        model = sx.LogisticRegression(C=np.inf).fit(table.X, table.y)
    assert f"({number})" in model.certificate_.status
    assert "column 'c'" in model.certificate_.status
    assert number in [str(row) for row in sx.check(table.X, table.y, table.names).of("leverage")[0].facts["rows"]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert f"row {number}" in re.sub(r"<[^>]+>|\s+", " ", sx.report(model, table.X, table.y, names=table.names))
    bad = separating()
    bad.loc[PLACE - 1, "c"] = np.inf
    path, word = where(bad, "bad")
    with pytest.raises(errors.TableError, match=rf"{word}, column 'c' is infinite"):
        read_rows(path, table.encoder)


def test_a_row_that_lacks_its_label_shifts_no_number(where):
    """Rows without a label are left out before the others are read; the number of a bad cell is still its own."""
    frame = lacking(planted("a", "oops 1"))
    frame.loc[[5, 70], "y"] = None
    path, word = where(frame)
    for words in (["fit", "--missing", "drop"], ["fit", "--missing", "impute"], ["compare", "--missing", "drop"]):
        assert rows_in(complaint(words[0], path, "--target", "y", *words[1:], code=3)) == {word}


def test_compare_names_rows_of_the_frame_from_0_and_of_the_file_from_1(tmp_path):
    """The perceptron's status names rows that prove the overlap; they must be rows of the whole table."""
    frame = lacking(overlapping())
    found = sx.compare(frame[["a", "b"]], frame["y"], cv=2, only=["perceptron"], missing="drop")["perceptron"]
    whole = set(found.status.rows)
    assert whole
    assert not whole & {row - 1 for row in LACKING}
    X, signs = frame[["a", "b"]].to_numpy(), np.where(frame["y"] == "yes", 1, -1)
    rows = sorted(whole)
    if len(rows) <= 12:  # a longer list is cut
        assert type(sx.separability(X[rows], signs[rows])).__name__ == "Inseparable"
    frame.to_csv(tmp_path / "t.csv", index=False)
    words = ["--target", "y", "--missing", "drop", "--cv", "2", "--only", "perceptron", "--json"]
    told = json.loads(run("compare", tmp_path / "t.csv", *words).stdout)["classifiers"]
    status = next(one["status"] for one in told if one["name"] == "perceptron")
    listed = re.search(r"prove it \(([\d, ]+)", status)[1]
    assert {int(number) - 1 for number in listed.strip(" ,").split(",")} == whole


def test_files_of_one_name_are_named_with_their_folders(tmp_path):
    frame = planted("a", "oops 1")
    for k, part in enumerate((frame[:60], frame[60:130], frame[130:])):
        (tmp_path / f"d{k}").mkdir()
        part.to_csv(tmp_path / f"d{k}" / "part.csv", index=False)
    text = complaint("fit", str(tmp_path / "d*" / "part.csv"), "--target", "y", code=3)
    assert f"row {PLACE - 130} of {tmp_path}/d2/part.csv" in text


def test_libsvm_files_are_named_too(tmp_path):
    lines = [f"{k % 2} 1:{(k * 7) % 5} 2:{(k * 3) % 7}" for k in range(60)]
    lines[44] = "0 1:1 2:5000"
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "a.libsvm").write_text("\n".join(lines[:40]) + "\n")
    (tmp_path / "s" / "b.libsvm").write_text("\n".join(lines[40:]) + "\n")
    assert "row 5 of b.libsvm (1.00, extreme in 'x2')" in " ".join(run("check", tmp_path / "s").stdout.split())
