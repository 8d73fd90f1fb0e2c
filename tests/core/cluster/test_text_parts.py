"""Text files on a cluster: workers read parts of them, and the fit is that of this process, to the last bit."""

import gzip
import json

import numpy as np
import pytest
from distributed import LocalCluster

import separatrix as sx
from separatrix.core.base.errors import InputError
from separatrix.core.cluster.connection import LOCAL_SETTINGS
from separatrix.tables.formats import batched as text_parts
from separatrix.tables.formats.batched import batched, source_parts
from separatrix.tables.formats.opening import open_source
from tests.cli.running import complaint, run

N = 2000
BYTES = 4_000


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(text_parts, "BYTES_PER_TEXT_PART", BYTES)
    monkeypatch.setattr("separatrix.tables.batches.smallest_memory", lambda n_columns: 0)


@pytest.fixture(scope="module")
def address():
    """Two workers that are threads of this process, so that they see the smaller parts, too."""
    settings = {**LOCAL_SETTINGS, "processes": False, "protocol": "tcp://"}
    with LocalCluster(n_workers=2, **settings) as cluster:
        yield cluster.scheduler_address


def lines(note=str):
    """A header and rows with numbers, a category, a note and a label; ``note(i)`` is the note of row i."""
    rng = np.random.default_rng(0)
    X, city = rng.standard_normal((N, 2)), rng.choice(["Brno", "Kyiv", "Zürich"], N)
    y = np.where(X[:, 0] + (city == "Kyiv") > rng.logistic(size=N), "yes", "no")
    rows = zip(X.tolist(), city, y, strict=True)
    cells = (f"{a!r},{b!r},{c},{note(i)},{label}" for i, ((a, b), c, label) in enumerate(rows))
    return ["u,v,city,note,y", *cells]


def in_two(folder, text):
    """The text as two files: the header and the first rows, the header and the other rows."""
    head, *rows = text.splitlines(keepends=True)
    (folder / "a.csv").write_text(head + "".join(rows[:700]), newline="")
    (folder / "b.csv").write_text(head + "".join(rows[700:]), newline="")


def one(folder, content):
    (folder / "t.csv").write_bytes(content)


WRITTEN = {
    "lines": lambda folder: one(folder, "\n".join([*lines(), ""]).encode()),
    "no last line end": lambda folder: one(folder, "\n".join(lines()).encode()),
    "empty last lines": lambda folder: one(folder, "\n".join([*lines(), "", "", ""]).encode()),
    "blank lines": lambda folder: one(folder, "\n\n".join(lines()).encode()),
    "CRLF": lambda folder: one(folder, "\r\n".join([*lines(), ""]).encode()),
    "CR alone": lambda folder: one(folder, "\r".join([*lines(), ""]).encode()),
    "byte order mark": lambda folder: one(folder, b"\xef\xbb\xbf" + "\n".join(lines()).encode()),
    "quotes": lambda folder: one(folder, "\n".join(lines(lambda i: f'"{i}, or ""{i}"""')).encode()),
    "quotes inside cells": lambda folder: one(folder, "\n".join(lines(lambda i: f'{i}" pipe')).encode()),
    "quoted line ends": lambda folder: one(folder, "\n".join(lines(lambda i: f'"{i}\n{i}"')).encode()),
    "one quoted line end": lambda folder: one(
        folder, "\n".join(lines(lambda i: '"a\n,,,\nb"' if i == 1500 else str(i))).encode()
    ),
    "several files": lambda folder: in_two(folder, "\n".join([*lines(), ""])),
    "compressed": lambda folder: (folder / "t.csv.gz").write_bytes(gzip.compress("\n".join(lines()).encode())),
}
WHOLE = ("CR alone", "quoted line ends", "one quoted line end", "compressed")
# A text in many parts, one in one part, and two files. Fits on the others are slow tests; their parts are tested above.
FITTED = ("CRLF", "one quoted line end", "several files")


def parts_of(folder):
    source = open_source(folder)
    return source_parts(batched(source), lambda function, given: map(function, given))


@pytest.mark.parametrize("name", WRITTEN)
def test_parts_have_the_rows_of_the_file(tmp_path, name):
    WRITTEN[name](tmp_path)
    parts = parts_of(tmp_path)
    assert (len(parts) == 1) == (name in WHOLE)
    whole = [batch.columns.to_pylist() for batch in batched(open_source(tmp_path)).batches(["u", "note", "y"])]
    read = [batch for part in parts for batch in part.opened().batches(["u", "note", "y"])]
    assert [row for batch in read for row in batch.columns.to_pylist()] == [row for rows in whole for row in rows]
    assert [batch.start for batch in read] == np.cumsum([0, *(b.columns.num_rows for b in read[:-1])]).tolist()
    assert sum(part.n_rows for part in parts) == N


@pytest.mark.parametrize(
    "name", [name if name in FITTED else pytest.param(name, marks=pytest.mark.slow) for name in WRITTEN]
)
def test_a_fit_on_a_cluster_has_the_bits_of_a_fit_in_this_process(address, tmp_path, name):
    WRITTEN[name](tmp_path)
    words = ("fit", tmp_path, "--target", "y", "--drop", "note", "--json", "--out")
    ours, theirs = tmp_path / "ours.json", tmp_path / "theirs.json"
    said = run(*words, ours, "--cluster", address)
    run(*words, theirs, "--memory", "1KB")
    assert json.loads(said.stdout)["data"]["rows_in_source"] == N
    one, other = (json.loads(path.read_text())["content"]["scorer"] for path in (ours, theirs))
    assert one == other


def test_predictions_of_a_text_file_keep_the_order_of_its_rows(address, tmp_path):
    WRITTEN["CRLF"](tmp_path)
    model = tmp_path / "model.json"
    run("fit", tmp_path, "--target", "y", "--drop", "note", "--out", model, "--memory", "1KB")
    ours = run("predict", model, tmp_path / "t.csv", "--proba", "--cluster", address).stdout
    assert ours == run("predict", model, tmp_path / "t.csv", "--proba", "--memory", "1KB").stdout


@pytest.mark.parametrize(
    ("row", "cells", "problem"),
    [(1501, "1,2,Kyiv", "row 1501 has 3 cells where the header has 5"), (1501, "1,inf,Kyiv,n,no", "row 1501")],
)
def test_what_is_wrong_in_a_later_part_is_named_by_its_row_in_the_file(address, tmp_path, row, cells, problem):
    text = lines()
    text[row] = cells
    one(tmp_path, "\n".join(text).encode())
    assert problem in complaint("fit", tmp_path, "--target", "y", "--drop", "note", "--cluster", address, code=3)


@pytest.mark.parametrize("end", ["", "\n"])
@pytest.mark.parametrize("n", [30, N])
def test_an_open_quote_in_the_last_cell_is_refused(address, tmp_path, n, end):
    """The file is read as a whole (30 rows), or in parts."""
    text = [*lines()[: n + 1], '0,1,Kyiv,n,"no']
    one(tmp_path, ("\n".join(text) + end).encode())
    message = f'the cell that opens with " in line {n + 2} is never closed'
    assert message in complaint("fit", tmp_path, "--target", "y", "--drop", "note", "--cluster", address, code=3)
    assert message in complaint("fit", tmp_path, "--target", "y", "--drop", "note", "--memory", "1KB", code=3)
    with pytest.raises(InputError, match=message):
        sx.LogisticRegression().fit(sx.scan(str(tmp_path), target="y", drop=["city", "note"], cluster=address))


@pytest.mark.parametrize("name", WRITTEN)
def test_a_scan_on_a_cluster_has_the_bits_of_a_scan_in_this_process(address, tmp_path, name):
    WRITTEN[name](tmp_path)
    how = {"target": "y", "drop": ["city", "note"]}
    theirs = sx.scan(str(tmp_path), **how)
    table = sx.scan(str(tmp_path), **how, cluster=address)
    assert (len(table.partitions.parts) == 1) == (name in WHOLE)
    assert table.n_rows == N
    ours = sx.LogisticRegression().fit(table)
    np.testing.assert_array_equal(ours.coef_, sx.LogisticRegression().fit(theirs).coef_)
    np.testing.assert_array_equal(ours.predict_proba(table), ours.predict_proba(theirs))
    assert ours.certificate_.verify(table)


def test_types_of_a_scan_are_those_of_the_first_rows(address, tmp_path):
    """Truth values of the first rows, labels that read as numbers, and weights."""
    rng = np.random.default_rng(0)
    x, flag, weight = rng.standard_normal(N), rng.random(N) < 0.5, rng.integers(1, 4, N)
    y = (x + flag > rng.logistic(size=N)) * 10
    rows = zip(x.tolist(), flag, weight, y, strict=True)
    cells = ["x,flag,weight,y", *(f"{a!r},{str(b).lower()},{w},{label}" for a, b, w, label in rows)]
    one(tmp_path, "\n".join(cells).encode())
    how = {"target": "y", "weight": "weight"}
    ours, theirs = (
        sx.LogisticRegression().fit(sx.scan(str(tmp_path), **how, **more)) for more in ({"cluster": address}, {})
    )
    np.testing.assert_array_equal(ours.coef_, theirs.coef_)
    assert ours.classes_.tolist() == [0, 10]


@pytest.mark.parametrize(
    ("cells", "problem"),
    [
        ("1,2,Kyiv", "row 801 has 3 cells where the header has 5"),
        ("1,oops,Kyiv,n,no", "row 801, column 'v' is 'oops', not a number"),
        ("1,,Kyiv,n,no", "row 801 of b.csv is missing or NaN in column 'v'"),
    ],
)
def test_what_is_wrong_in_a_later_part_of_a_scan_is_named_by_its_row_in_the_file(address, tmp_path, cells, problem):
    text = lines()
    text[1501] = cells
    in_two(tmp_path, "\n".join(text))
    how = {"target": "y", "drop": ["city", "note"]}
    for more in ({"cluster": address}, {}):
        with pytest.raises(InputError) as raised:
            sx.LogisticRegression().fit(sx.scan(str(tmp_path), **how, **more))
        assert problem in str(raised.value)
        assert "b.csv" in str(raised.value)
