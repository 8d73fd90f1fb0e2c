"""What the command line advises is what works, and what it can do without is not refused."""

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
