"""export: rows that can be joined back, tables in schemas, and columns that an engine reads as truth values."""

import os
import sqlite3
import subprocess
import sys

import duckdb
import pytest

from separatrix.cli.export import parts
from separatrix.core.base.errors import ParameterError

from .running import complaint, real, run


def answers(path, *options):
    """The label of each row, by its number."""
    done = run("predict", "m.json", path, *options)
    return [line.split(",")[-1] for line in done.stdout.splitlines()[1:]]


@pytest.mark.parametrize("kind", ["BOOLEAN", "VARCHAR"])
def test_yes_and_no_are_the_same_as_text_and_as_truth_values(tmp_path, kind):
    """DuckDB's reader of CSV makes truth values of Yes and No; of 10 000 labels 47 were others by that."""
    path = real(tmp_path, "default")
    run("fit", path, "--target", "default", "--C", "inf", "--out", "m.json")
    query = run("export", "m.json", "--to", "sql", "--table", "main.Default", "--keep", "row").stdout
    assert "-- 'student': if the engine holds truth values, true counts as 'Yes', false as 'No'\n" in query
    with duckdb.connect() as engine:
        read = f"read_csv('{path}'" + (", all_varchar = true)" if kind == "VARCHAR" else ")")
        engine.execute(f'CREATE TABLE "Default" AS SELECT row_number() OVER () - 1 AS "row", * FROM {read}')
        held = engine.execute('SELECT DISTINCT typeof(student) FROM "Default"').fetchall()
        labels = {row[0]: row[-1] for row in engine.execute(query).fetchall()}
        engine.execute(f"COPY \"Default\" TO '{tmp_path}/typed.parquet'")
    assert held == [(kind,)]
    expected = answers(path)
    assert [labels[k] for k in range(len(expected))] == expected
    # The very table that the engine holds is predicted alike.
    assert answers(f"{tmp_path}/typed.parquet") == expected


def test_columns_to_join_by():
    run("fit", "rows.csv", "--target", "y", "--out", "m.json")
    query = run("export", "m.json", "--to", "sql", "--dialect", "sqlite", "--keep", "id", "--keep", "b").stdout
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE `rows` (id TEXT, a REAL, b REAL)")
    base.executemany("INSERT INTO `rows` VALUES (?, ?, ?)", [("x", 1.0, 2.0), ("y", 5.0, 0.0)])
    cursor = base.execute(query)
    assert [one[0] for one in cursor.description] == ["id", "b", "score", "probability", "label"]
    assert sorted(row[:2] for row in cursor.fetchall()) == [("x", 2.0), ("y", 0.0)]
    base.close()
    assert "keep" in complaint("export", "m.json", "--to", "sql", "--keep", "label", code=2)
    assert "--keep: onnx has no such option" in complaint("export", "m.json", "--to", "onnx", "--keep", "id", code=2)


@pytest.mark.parametrize("name", ["separatrix_0", "SEPARATRIX", "separatrix_1", "separatrix__0"])
@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_tables_named_as_steps_are(dialect, name):
    run("fit", "rows.csv", "--target", "y", "--out", "m.json")
    query = run("export", "m.json", "--to", "sql", "--dialect", dialect, "--table", name).stdout
    base = sqlite3.connect(":memory:") if dialect == "sqlite" else duckdb.connect()
    base.execute(f"CREATE TABLE {name} (a REAL, b REAL)")
    base.execute(f"INSERT INTO {name} VALUES (1.0, 2.0)")
    assert base.execute(query).fetchall()[0][-1] in ("no", "yes")
    base.close()


def test_tables_in_schemas():
    run("fit", "rows.csv", "--target", "y", "--out", "m.json")
    with duckdb.connect() as engine:
        engine.execute("CREATE SCHEMA sales; CREATE TABLE sales.people AS SELECT 1.0 AS a, 2.0 AS b")
        engine.execute('CREATE TABLE sales."people.old" AS SELECT 5.0 AS a, 0.0 AS b')
        for name in ("sales.people", 'sales."people.old"', '"sales"."people"'):
            query = run("export", "m.json", "--to", "sql", "--table", name).stdout
            assert len(engine.execute(query).fetchall()) == 1


@pytest.mark.parametrize("name", ["", ".", "a.", ".a", "a..b", '"a', 'a"b', '""', '"a"b'])
def test_names_that_are_none(name):
    with pytest.raises(ParameterError, match="--table: got"):
        parts(name)


@pytest.mark.parametrize("words", [["--probabilities"], ["--help"]])
def test_a_closed_pipe_ends_the_python_file_quietly(tmp_path, words):
    run("fit", "rows.csv", "--target", "y", "--out", "m.json")
    run("export", "m.json", "--to", "python", "--out", "score.py")
    (tmp_path / "many.csv").write_text("a,b\n" + "1,2\n" * 20_000)
    # As a shell has it: output that is not a terminal's is buffered.
    buffered = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
    with (tmp_path / "many.csv").open() as given:
        process = subprocess.Popen(
            [sys.executable, "score.py", *words],
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
            env=buffered,
        )
        # Nobody reads: what is written meets a closed pipe, whatever its size.
        process.stdout.close()
        said = process.stderr.read()
        process.stderr.close()
        assert (process.wait(), said) == (141, b"")


WORDS = [["--threshold", "0.1"], ["--cost", "FP=1,FN=19"], ["--prior", "No=0.8,Yes=0.2"]]


@pytest.mark.parametrize("words", WORDS, ids=lambda words: words[0])
def test_decisions_are_those_of_predict(tmp_path, words):
    """10 000 rows in DuckDB and in the Python file: the same labels, which differ from the model's own."""
    path = real(tmp_path, "default")
    run("fit", path, "--target", "default", "--C", "inf", "--out", "m.json")
    expected = answers(path, *words)
    assert sum(a != b for a, b in zip(expected, answers(path), strict=True)) > 100
    query = run("export", "m.json", "--to", "sql", *words, "--keep", "row").stdout
    with duckdb.connect() as engine:
        engine.execute(f'CREATE TABLE "rows" AS SELECT row_number() OVER () - 1 AS "row", * FROM read_csv(\'{path}\')')
        labels = {row[0]: row[-1] for row in engine.execute(query).fetchall()}
    assert [labels[k] for k in range(len(expected))] == expected
    run("export", "m.json", "--to", "python", *words, "--out", "score.py")
    with open(path, "rb") as given:
        done = subprocess.run([sys.executable, "score.py"], stdin=given, capture_output=True, text=True, check=True)
    assert done.stdout.split() == expected


def test_decisions_that_are_refused():
    """With the sentences of predict."""
    run("fit", "demo:credit", "--model", "perceptron", "--pocket", "--out", "p.json", code=1)
    run("fit", "demo:iris", "--out", "three.json")
    for words in (
        ["p.json", "--threshold", "0.2"],
        ["p.json", "--prior", "a=1,b=1"],
        ["three.json", "--cost", "FP=1,FN=5"],
        ["three.json", "--prior", "setosa=1"],
        ["three.json", "--threshold", "0.2", "--cost", "FP=1,FN=5"],
    ):
        model, *options = words
        said = complaint("export", model, "--to", "sql", *options, code=2)
        assert said == complaint("predict", model, "demo:iris", *options, code=2)
        assert said.startswith(f"separatrix: {options[0]}")
