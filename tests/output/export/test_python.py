"""The file alone, in a Python without packages, says what the model says."""

import csv
import datetime
import io
import json
import math
import subprocess
import sys

import numpy as np
import pytest

import separatrix as sx
from separatrix.classifiers.model_file import ModelFile
from separatrix.output.python import to_python
from separatrix.tables.encoder import Encoded, Encoder

from .cases import KINDS, draw, same

# Reads rows as JSON, prints for each its score, probabilities and label, or the error.
DRIVER = """
import json, sys
names = {"__name__": "exported"}
exec(open(sys.argv[1], encoding="utf-8").read(), names)
def asked(function, row):
    try:
        found = function(row)
    except ValueError:
        return None
    return list(found.values()) if isinstance(found, dict) else found
print(json.dumps([
    [asked(names[name], row) for name in ("scores", "probabilities", "predict") if name in names]
    for row in json.load(sys.stdin)
]))
assert not any(name.split(".")[0] in ("numpy", "separatrix", "sklearn") for name in sys.modules)
"""
ALONE = [sys.executable, "-I", "-S"]


def run(folder, model, rows):
    path = folder / "model.py"
    path.write_text(to_python(model), encoding="utf-8")
    found = subprocess.run(
        [*ALONE, "-c", DRIVER, str(path)], input=json.dumps(rows), capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr
    return json.loads(found.stdout)


def plain(value):
    return value.isoformat() if isinstance(value, datetime.date) else value


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", KINDS)
def test_file(tmp_path, kind, seed):
    case = draw(kind, seed)
    rows = [{name: plain(value) for name, value in row.items()} for row in case.table.to_pylist()]
    found = run(tmp_path, case.model, rows)
    width, K = case.scores.shape[1], len(case.model.scorer.classes)
    scores = [[None] * width if z is None else [z] if width == 1 else z for z, *_ in found]
    p = None if case.probabilities is None else [[None] * K if row[1] is None else row[1] for row in found]
    assert {len(row) for row in found} == {2 + (p is not None)}
    same(case, scores, p, [row[-1] for row in found])


@pytest.mark.parametrize("K", [2, 3])
def test_every_classifier(tmp_path, K):
    from separatrix.classifiers import CLASSIFIERS

    rng = np.random.default_rng(K)
    codes = np.arange(30) % K
    X = rng.normal(size=(30, 3)) + 9.0 * np.eye(3)[codes]
    rows = [{f"x{j}": v for j, v in enumerate(row)} for row in X.tolist()]
    for kind in CLASSIFIERS.values():
        model = kind().fit(X, codes)
        found = run(tmp_path, model, rows)
        assert [row[-1] for row in found] == model.predict(X).tolist()
        assert np.allclose([row[0] for row in found], model.decision_function(X), rtol=1e-11, atol=1e-9)


def test_csv_on_standard_input(tmp_path):
    columns = (
        Encoded("naïve col", "category", ('a"b', "x,y"), (0.5,)),
        Encoded("day", "date", fill=(10.0,)),
        Encoded("is", "boolean", fill=(0.5,)),
    )
    encoder = Encoder(columns, "impute")
    W = np.array([[-8.0, 5.0, 1.0, 2.0], [0.0, 0.0, 0.0, 0.0], [1.0, -5.0, 0.0, 1.0]])
    model = ModelFile("logistic", sx.Scorer(W, np.array(["hm", "Größe", "z"]), "softmax"), encoder=encoder)
    path = tmp_path / "model.py"
    path.write_text(to_python(model), encoding="utf-8")
    text = io.StringIO()
    cells = [("x,y", "1970-01-05", "TRUE"), ('a"b', "", "false"), ('a"b', "1970-01-01T12:00:00Z", "NA"), ("", "?", "0")]
    csv.writer(text).writerows([("naïve col", "day", "is"), *cells])
    found = subprocess.run(
        [*ALONE, str(path)], input=("\ufeff" + text.getvalue()).encode(), capture_output=True, check=False
    )
    x = np.array([[1.0, 4.0, 1.0], [0.0, 10.0, 0.0], [0.0, 0.5, 0.5], [0.5, 10.0, 0.0]])
    expected = model.scorer.predict(x).tolist()
    assert len(set(expected)) > 1
    assert found.stdout.decode().splitlines() == expected
    assert found.stderr == b""


def test_csv_with_a_row_that_is_refused(tmp_path):
    path = tmp_path / "model.py"
    path.write_text(to_python(sx.LogisticRegression().fit([[0.0], [1.0]], [0, 1])), encoding="utf-8")
    found = subprocess.run([*ALONE, str(path)], input="x0\n1\n\nabc\n", capture_output=True, text=True, check=False)
    assert found.returncode == 1
    assert found.stderr.startswith("row 2: column 'x0' is 'abc': could not convert")
    assert found.stdout == "1\n"


@pytest.fixture
def exported():
    encoder = Encoder(
        (
            Encoded("n", "number"),
            Encoded("c", "category", ("1", "2.5", "true"), (0.5, 0.5)),
            Encoded("b", "boolean"),
            Encoded("d", "date"),
        ),
        "error",
        "error",
    )
    W = np.array([[0.0, 1.0, 10.0, 20.0, 100.0, 1000.0]])
    model = ModelFile("perceptron", sx.Scorer(W, np.array([0, 1]), "sign"), encoder=encoder)
    names = {}
    exec(to_python(model), names)
    return names["scores"]


ROW = {"n": 1.0, "c": "1", "b": False, "d": datetime.date(1970, 1, 1)}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, 1.0),
        ({"n": " 2.5 "}, 2.5),
        ({"n": True}, 1.0),
        ({"c": 1.0}, 1.0),
        ({"c": 1}, 1.0),
        ({"c": 2.5}, 11.0),
        ({"c": True}, 21.0),
        ({"b": "True"}, 101.0),
        ({"b": 1}, 101.0),
        ({"d": "1970-01-02"}, 1001.0),
        ({"d": datetime.datetime(1970, 1, 1, 12)}, 501.0),
        ({"d": "1970-01-01T12:00:00+12:00"}, 1.0),
    ],
)
def test_values_of_many_types(exported, change, expected):
    assert exported(ROW | change) == expected


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"n": None}, "column 'n' has no value"),
        ({"n": math.nan}, "column 'n' has no value"),
        ({"n": math.inf}, "column 'n' is inf: it is infinite"),
        ({"n": "abc"}, "column 'n' is 'abc'"),
        ({"c": "3"}, "column 'c' is '3', which no training row had"),
        ({"b": 2}, "column 'b' is 2: it is not true or false"),
        ({"d": "yesterday"}, "column 'd' is 'yesterday'"),
        ({"d": ""}, "column 'd' has no value"),
    ],
)
def test_what_is_refused(exported, change, says):
    with pytest.raises(ValueError, match=says):
        exported(ROW | change)


def test_a_row_without_a_column(exported):
    with pytest.raises(ValueError, match="the row has no column 'd'"):
        exported({name: value for name, value in ROW.items() if name != "d"})


def test_the_docstring_says_what_to_give():
    case = draw("logit", 0, "impute", "error")
    names = {}
    exec(to_python(case.model), names)
    said = names["__doc__"]
    for column in case.encoder.columns:
        assert repr(column.name) in said
        assert all(repr(level) in said for level in column.levels)
    assert repr(case.model.scorer.classes.tolist()) in said
    assert "filled as learned from the training rows" in said
    assert "A level that no training row had raises" in said


def test_options_of_the_file(tmp_path):
    """A header, probabilities, a table without names, and help that says what to give."""
    model = sx.LogisticRegression().fit([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]], ["a,b", "a,b", "c", "c"])
    path = tmp_path / "model.py"
    path.write_text(to_python(model), encoding="utf-8")

    def said(text, *options):
        found = subprocess.run([*ALONE, str(path), *options], input=text, capture_output=True, text=True, check=True)
        return list(csv.reader(io.StringIO(found.stdout)))

    assert said("x1,x0\n0,3\n", "--header") == [["label"], ["c"]]
    assert said("3,0\n0,0\n", "--no-names") == [["c"], ["a,b"]]
    head, *rows = said("x0,x1\n3,0\n0,1\n", "--header", "--probabilities")
    assert head == ["label", "probability=a,b", "probability=c"]
    p = model.predict_proba([[3.0, 0.0], [0.0, 1.0]])
    assert [row[0] for row in rows] == ["c", "a,b"]
    assert np.allclose(np.array([row[1:] for row in rows], dtype=float), p, rtol=1e-12)
    usage = "\n".join(" ".join(line) for line in said("", "--help"))
    assert "'x0': a finite number" in usage
    assert "--probabilities" in usage


@pytest.mark.parametrize("value", [10**400, -(10**400), "1e400", "-1e400"])
def test_numbers_past_a_float(exported, value):
    with pytest.raises(ValueError, match="it is infinite, or too large for a float"):
        exported(ROW | {"n": value})
