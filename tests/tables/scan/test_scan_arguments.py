"""Arguments of ``scan`` that name columns, settings and sources, and wrong ones, which are refused by name."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import separatrix as sx
from separatrix.core.base.errors import ParameterError, TableError

from .test_hostile import fit, table, written


def test_columns_that_do_not_exist(tmp_path):
    written(tmp_path, table())
    for settings in ({"target": "z"}, {"weight": "z"}, {"drop": "z"}):
        with pytest.raises(TableError, match="it has no column 'z'"):
            fit(tmp_path, **settings)
    with pytest.raises(ParameterError, match="scan has none"):
        fit(tmp_path, target=None)


@pytest.mark.parametrize("target", [-1, "-1", 4, "4", "x4"])
def test_columns_of_a_file_without_a_header_are_given_by_their_numbers(tmp_path, target):
    (tmp_path / "t.csv").write_text("1,2,1,1\n2,1,2,2\n3,3,1,2\n0,1,1,1\n")
    scan = sx.scan(tmp_path / "t.csv", target=target, weight=3, drop=1, header=False)
    assert (scan.columns, scan.target_column, scan.weight_column) == (("x2",), "x4", "x3")
    assert scan.classes.tolist() == [1, 2]
    with pytest.raises(TableError, match="it has 4 columns, and no column 5; give a number from 1 to 4"):
        sx.scan(tmp_path / "t.csv", target=5, header=False)


@pytest.mark.parametrize("target", [-1, 1.5, True, ["y"]])
@pytest.mark.parametrize("header", [True, False])
def test_targets_that_are_no_columns(tmp_path, target, header):
    (tmp_path / "t.csv").write_text("a,y,u\n1,2,3\n2,1,3\n")
    if header or target != -1:
        with pytest.raises(TableError, match="it has no column "):
            sx.scan(tmp_path / "t.csv", target=target, header=header)
        with pytest.raises(TableError, match="it has no column "):
            sx.read_table(tmp_path / "t.csv", target, header=header)


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        ({"drop": "y"}, "drop: it names the target 'y'; leave out other columns than the target"),
        ({"drop": ["a", "y"]}, "drop: it names the target 'y'"),
        ({"weight": "y"}, "weight: it names the target 'y'; name another column, or leave weight out"),
        ({"weight": "b", "drop": "b"}, "drop: it names the weight 'b'; leave out other columns than the weight"),
    ],
)
def test_a_column_has_one_purpose(tmp_path, asked, problem):
    with pytest.raises(ParameterError, match=problem):
        sx.scan(written(tmp_path, table()), target="y", **asked)


def test_settings_that_do_not_exist(tmp_path):
    (tmp_path / "t.csv").write_text("a,y\n1,2\n")
    with pytest.raises(ParameterError, match="delim: scan has no such argument; give delimiter"):
        sx.scan(tmp_path / "t.csv", target="y", delim=",")
    with pytest.raises(ParameterError, match="date_format: scan has no such argument; how text files are written is"):
        sx.scan(tmp_path / "t.csv", target="y", date_format="%d.%m.%Y")


@pytest.mark.parametrize("data", [[1, 2], [None], (b"t.csv",), [{"a": 1}]])
def test_lists_of_other_things_than_files(data):
    with pytest.raises(TableError, match="in a list of files; give the path of each file"):
        sx.scan(data)


def test_things_that_are_no_tables():
    for data in (17, np.eye(3), {"a": [1.0]}):
        with pytest.raises(TableError, match="rows in memory are given to fit directly"):
            sx.scan(data, target="y")
    with pytest.raises(TableError, match="not an Arrow stream"):
        sx.scan(lambda: 5, target="y")


def test_frames_in_memory_are_read():
    whole = table(5000)
    X, y = np.column_stack([whole["a"], whole["b"]]), whole["y"].to_numpy()
    theirs = sx.LogisticRegression().fit(X, y)
    for frame in (whole, pl.from_arrow(whole), whole.to_pandas()):
        np.testing.assert_allclose(fit(frame).coef_, theirs.coef_, rtol=1e-6)
    assert isinstance(whole.to_pandas(), pd.DataFrame)


def test_wrong_settings(tmp_path):
    written(tmp_path, table())
    for settings in ({"memory": "much"}, {"memory": -1}, {"cache": 3}):
        with pytest.raises(ParameterError):
            fit(tmp_path, **settings)


@pytest.mark.parametrize("classes", [[], ["yes", None], [0.0, float("nan")]])
def test_lists_of_classes_that_are_no_classes(classes):
    rows = pl.DataFrame({"x": [0.0, 1.0], "y": ["yes", "no"]})
    with pytest.raises(ParameterError, match=r"classes: got \[.*list the labels of the table"):
        sx.scan(rows, target="y", classes=classes)
