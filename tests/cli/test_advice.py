"""What the command line advises is what works, and what it can do without is not refused."""

import json
import shlex
import subprocess
import sys

import pandas as pd
import pytest

import separatrix as sx

from .running import complaint, run


@pytest.fixture
def model(tmp_path):
    rows = "".join(f"{k % 7},{'AB'[k % 2]},{'no' if k % 3 else 'yes'}\n" for k in range(30))
    (tmp_path / "rows.csv").write_text(f"size,town,y\n{rows}")
    run("fit", tmp_path / "rows.csv", "--target", "y", "--test-size", "0", "--out", tmp_path / "m.json")
    return tmp_path / "m.json"


def test_a_table_without_rows_gets_a_header(model, tmp_path):
    (tmp_path / "none.csv").write_text("size,town\n")
    done = run("predict", model, tmp_path / "none.csv", "--proba", "--scores")
    assert done.stdout == "prediction,score,P(no),P(yes)\n"
    assert "no rows" in done.stderr


def test_a_level_in_another_spelling_is_suggested(model, tmp_path):
    (tmp_path / "new.csv").write_text("size,town\n1,a\n")
    assert "'a' (perhaps 'A')" in run("predict", model, tmp_path / "new.csv").stderr
    refusal = complaint("predict", model, tmp_path / "new.csv", "--strict", code=3)
    assert "'a' (perhaps 'A')" in refusal
    assert "leave --strict out" in refusal


def test_a_column_in_another_case_is_suggested(model, tmp_path):
    (tmp_path / "new.csv").write_text("SIZE,town\n1,A\n")
    assert "rename 'SIZE', if that is it" in complaint("predict", model, tmp_path / "new.csv", code=3)


def test_a_model_that_was_fitted_strictly_says_so(tmp_path):
    rows = "".join(f"{k % 7},{'AB'[k % 2]},{'no' if k % 3 else 'yes'}\n" for k in range(30))
    (tmp_path / "rows.csv").write_text(f"size,town,y\n{rows}")
    run("fit", tmp_path / "rows.csv", "--target", "y", "--test-size", "0", "--strict", "--out", tmp_path / "m.json")
    (tmp_path / "new.csv").write_text("size,town\n1,a\n")
    assert "fit without --strict" in complaint("predict", tmp_path / "m.json", tmp_path / "new.csv", code=3)


def test_a_spreadsheet_comes_with_the_line_that_converts_it(tmp_path):
    pd.DataFrame({"a": [1, 2], "y": ["u", "v"]}).to_csv(tmp_path / "it's.xlsx", index=False)  # never read as a sheet
    text = complaint("fit", tmp_path / "it's.xlsx", "--target", "y", code=3)
    line = text[text.index("python -c") :].rstrip().removesuffix(".")
    spoken = line.replace("pandas.read_excel", "pandas.read_csv").replace("python", sys.executable, 1)
    subprocess.run(spoken, shell=True, check=True)
    assert (tmp_path / "it's.csv").read_text() == "a,y\n1,u\n2,v\n"


def test_class_counts_are_counts_of_rows(model):
    assert "classes:   no (20 rows), yes (10 rows)" in run("fit", model.parent / "rows.csv", "--target", "y").stdout


def test_a_transformer_does_not_advise_to_drop_rows():
    frame = pd.DataFrame({"a": [1.0, None, 2.0], "b": ["x", "y", "x"]})
    with pytest.raises(sx.errors.TableError, match="'impute' or 'indicator'") as caught:
        sx.TableEncoder().fit(frame)
    assert "drop" not in str(caught.value)
    fitted = sx.TableEncoder().fit(frame.dropna())
    with pytest.raises(sx.errors.TableError) as caught:
        fitted.transform(frame)
    assert "drop" not in str(caught.value)


IDS = "key,id,uuid,size,y\n" + "".join(f"k{k},{7 * k + 3},u-{37 * k},{k % 9}.5,{'uv'[k % 2]}\n" for k in range(60))
DATES = "day,size,y\n" + "".join(
    f"{1 + k % 28:02d}.{1 + k % 12:02d}.2024,{'-' if k % 20 == 7 else k % 9},{'uv'[k % 2]}\n" for k in range(60)
)


def tried(text):
    """The words of the command that a complaint suggests."""
    return shlex.split(text[text.index("Try: separatrix ") :].removeprefix("Try: separatrix "))


@pytest.mark.parametrize("content", [IDS, DATES, IDS.replace("k1,", "'k 1',"), DATES.replace("-,", "-- ,")])
@pytest.mark.parametrize("verb", ["fit", "compare"])
def test_what_a_complaint_suggests_can_be_run_as_it_is(tmp_path, content, verb):
    (tmp_path / "t.csv").write_text(content)
    more = ["--only", "lda", "--cv", "2"] if verb == "compare" else []
    run(*tried(complaint(verb, "t.csv", "--target", "y", *more, code=3)))


@pytest.mark.parametrize("content", [IDS, DATES])
def test_what_check_suggests_can_be_run_as_it_is(tmp_path, content):
    (tmp_path / "t.csv").write_text(content)
    done = run("check", "t.csv", "--target", "y", "--json", code=1)
    run(*json.loads(done.stdout)["fit"][1:])


def test_all_unusable_columns_are_left_out_at_once(tmp_path):
    (tmp_path / "t.csv").write_text(IDS)
    text = complaint("fit", "t.csv", "--target", "y", code=3)
    assert "(and 1 more: 'uuid'); leave them out with --drop key --drop uuid. Try: " in text
    with pytest.raises(sx.errors.TableError, match=r"leave them out with drop=\['key', 'uuid'\]"):
        sx.read_table(tmp_path / "t.csv", "y")


def test_row_numbers_are_named_together(tmp_path):
    rows = "".join(f"{k},{1000 - k},{7 * k},{k % 7},{'uv'[k % 2]}\n" for k in range(60))
    (tmp_path / "t.csv").write_text("n,nr,id,size,y\n" + rows)
    text = run("check", "t.csv", "--target", "y", "--quiet").stdout
    assert "leave them out with --drop n --drop nr --drop id." in text


@pytest.mark.parametrize(
    ("cells", "advice"),
    [
        (["1", "2", "3", "-"] * 15, "if that means a missing value, give --na -"),
        ([*map(str, range(59)), "n/k"], "if it means a missing value, give --na n/k"),
        ([*map(str, range(50)), *["–"] * 10], "give --na '–'"),
        ([*map(str, range(59)), "1O"], "correct it, or make the column a category with --category a"),
        (["31.12.2024", "1.2.2024"] * 30, "--date-format a=%d.%m.%Y"),
        (["12/31/2024", "1/2/2024"] * 30, "--date-format a=%m/%d/%Y"),
        (["1/2/2024", "2/3/2024"] * 30, "--date-format a=%d/%m/%Y or --date-format a=%m/%d/%Y"),
        (["1.2.24", "31.3.24"] * 30, "--date-format a=%d.%m.%y"),
    ],
)
def test_marks_and_dates_come_with_their_option(tmp_path, cells, advice):
    rows = "".join(f"{cell},{k % 5},{'uv'[k % 7 < 3]}\n" for k, cell in enumerate(cells))
    (tmp_path / "t.csv").write_text("a,b,y\n" + rows)
    done = run("check", "t.csv", "--target", "y", code="that means" not in advice)
    assert advice.lower() in " ".join(done.stdout.lower().split())


def test_a_suggestion_is_made_only_where_the_verb_has_the_option(model, tmp_path):
    (tmp_path / "new.csv").write_text("size,town\n,A\n")
    assert "Try: " not in complaint("predict", model, "new.csv", code=3)
