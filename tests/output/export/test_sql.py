"""SQL in real engines says what the model says."""

import math
import sqlite3
import struct
from dataclasses import replace

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import separatrix as sx
from separatrix.classifiers.model_file import ModelFile, read
from separatrix.core.base.errors import ParameterError
from separatrix.output.sql import DIALECTS, summed, to_sql
from separatrix.tables.encoder import Encoded, Encoder
from tests.campaigns import seeds

from .cases import KINDS, answered, draw, same
from .sql_engines import ENGINES, LONG, in_duckdb, in_sqlite, split, stored


@pytest.mark.parametrize("seed", seeds(2, 4))
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("engine", ENGINES)
def test_select(engine, kind, seed):
    case = draw(kind, seed)
    rows = ENGINES[engine](case.table, to_sql(case.model, engine, keep=["id"]))
    same(case, *split(case, rows))


@pytest.mark.parametrize("missing", ["error", "impute", "indicator", "drop"])
@pytest.mark.parametrize("unseen", ["average", "error"])
@pytest.mark.parametrize("engine", ENGINES)
def test_policies(engine, missing, unseen):
    case = draw("logit", 11, missing, unseen)
    assert (None in case.labels) == (missing in ("error", "drop") or unseen == "error")
    rows = ENGINES[engine](case.table, to_sql(case.model, engine, keep=["id"]))
    same(case, *split(case, rows))


def expressions_agree(engine, kind):
    case = draw(kind, 5, K=3)
    found = to_sql(case.model, engine, parts=True)
    parts = [found.score] if isinstance(found.score, str) else list(found.score)
    if found.probability is not None:
        parts += [found.probability] if isinstance(found.probability, str) else list(found.probability)
    name = DIALECTS[engine].name_of("rows")
    rows = ENGINES[engine](case.table, f"SELECT id, {', '.join([*parts, found.label])} FROM {name}")
    same(case, *split(case, rows))


@pytest.mark.parametrize("kind", ["logit", "softmax"])
@pytest.mark.parametrize("engine", ENGINES)
def test_expressions(engine, kind):
    expressions_agree(engine, kind)


@pytest.mark.parametrize("kind", ["votes", "gaussian"])
@pytest.mark.parametrize("engine", LONG)
def test_long_expressions(engine, kind):
    expressions_agree(engine, kind)


def test_standard_is_read_by_an_engine():
    """No engine speaks the standard alone; DuckDB reads it, but takes whole seconds. It has no word for NaN."""
    case = draw("logit", 3)
    columns = {name: case.table[name] for name in case.table.column_names}
    columns["day"] = columns["day"].cast(pa.timestamp("s"))
    columns["v0"] = columns["v0"].cast(pa.timestamp("s"), safe=False)
    columns['a"b'] = pa.array([None if v != v else v for v in columns['a"b'].to_pylist()], pa.float64())
    case = answered(case.model, pa.table(columns))
    same(case, *split(case, in_duckdb(case.table, to_sql(case.model, "standard", keep=["id"]))))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", ["logit", "probit", "cloglog", "softmax"])
def test_far_scores(engine, kind):
    """Scores of ±1e6 are probabilities of 0 and 1, without an error; smaller ones keep their digits."""
    z = [-1e6, -800.0, -708.0, -40.0, -5.0, -0.5, -1e-9, 0.0, 1e-9, 0.3, 3.0, 6.0, 20.0, 745.0, 1e6]
    K = 3 if kind == "softmax" else 2
    W = np.array([[0.0, 1.0]]) if K == 2 else np.array([[0.0, 1.0], [0.5, -1.0], [0.0, 0.0]])
    model = ModelFile("logistic", sx.Scorer(W, np.arange(K), kind), features=("x",))
    table = pa.table({"x": z, "id": range(len(z))})
    rows = ENGINES[engine](table, to_sql(model, engine, keep=["id"]))
    p = np.array([row[1 + (1 if K == 2 else K) : -1] for row in rows])
    expected = model.scorer.probabilities(np.array(z)[:, None])
    expected = expected[:, 1:] if K == 2 else expected
    assert np.allclose(p, expected, rtol=2e-12, atol=1e-300)
    assert set(p[[0, -1]].ravel()) <= {0.0, 1.0}


@pytest.mark.parametrize("engine", ENGINES)
def test_doubles_read_back_the_same(engine):
    rng = np.random.default_rng(0)
    bits = [struct.unpack("d", rng.bytes(8))[0] for _ in range(2000)]
    values = [v for v in bits if math.isfinite(v)] + rng.normal(size=2000).tolist()
    values += [0.1, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 2.0**53, 2.0**64, -3.0, 1e22, 1e23]
    spelled = [DIALECTS[engine].double(v) for v in values]
    engine_of = duckdb.connect() if engine == "duckdb" else sqlite3.connect(":memory:")
    for start in range(0, len(values), 500):
        found = engine_of.execute(f"SELECT {', '.join(spelled[start : start + 500])}").fetchone()
        assert list(found) == values[start : start + 500]
        assert all(isinstance(v, float) for v in found)
    engine_of.close()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("bad", [math.inf, -math.inf, math.nan, None])
def test_no_answer_for_what_is_refused(engine, bad):
    model = sx.LogisticRegression().fit([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [3.0, 1.0]], [0, 0, 1, 1])
    table = pa.table({"id": [0, 1], "x0": pa.array([2.0, bad], pa.float64()), "x1": [0.0, 0.0]})
    rows = ENGINES[engine](table, to_sql(model, engine, keep=["id"]))
    assert rows[0][-1] == 1
    assert rows[1][1:] == (None, None, None)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_column_of_no_weight_is_still_refused(engine):
    """``predict`` refuses a row by any of its columns; so a zero weight must not hide what is missing."""
    model = ModelFile("logistic", sx.Scorer(np.array([[1.0, 0.0]]), np.array([0, 1]), "logit"), features=("x",))
    table = pa.table({"id": [0], "x": pa.array([None], pa.float64())})
    assert ENGINES[engine](table, to_sql(model, engine, keep=["id"])) == [(0, None, None, None)]


def test_text_that_is_no_number_has_no_answer_in_sqlite():
    model = sx.LogisticRegression().fit([[0.0], [1.0]], [0, 1])
    rows = in_sqlite(pa.table({"x0": ["abc"]}), to_sql(model, "sqlite"))
    assert rows == [(None, None, None)]


def test_an_unknown_column_is_an_error_in_sqlite():
    """SQLite takes "x0" for text where there is no such column."""
    model = sx.LogisticRegression().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        in_sqlite(pa.table({"other": [1.0]}), f"SELECT {to_sql(model, 'sqlite', parts=True).score} FROM `rows`")


@pytest.mark.parametrize("engine", ENGINES)
def test_letters_of_either_case_differ_whatever_the_column_says(engine):
    case = draw("logit", 2, "impute", "average")
    text = {"duckdb": 'CAST("naïve col" AS VARCHAR) COLLATE NOCASE', "sqlite": "`naïve col`"}[engine]
    statement = to_sql(case.model, engine, table="view", keep=["id"])
    quoted = DIALECTS[engine].name_of
    others = ", ".join(quoted(name) for name in case.table.column_names if name != "naïve col")
    if engine == "duckdb":
        with duckdb.connect() as db:
            db.register("rows", case.table)
            db.execute(f"""CREATE TABLE "view" AS SELECT {others}, {text} AS "naïve col" FROM "rows" """)
            rows = sorted(db.execute(statement).fetchall())
    else:
        db = sqlite3.connect(":memory:")
        declared = [quoted(name) + " COLLATE NOCASE" * (name == "naïve col") for name in case.table.column_names]
        db.execute(f"CREATE TABLE view_ ({', '.join(declared)})")
        marks = ", ".join("?" * case.table.num_columns)
        content = [tuple(map(stored, row.values())) for row in case.table.to_pylist()]
        db.executemany(f"INSERT INTO view_ VALUES ({marks})", content)
        rows = sorted(db.execute(to_sql(case.model, engine, table="view_", keep=["id"])).fetchall())
        db.close()
    same(case, *split(case, rows))


@pytest.mark.parametrize("engine", LONG)
def test_many_columns(engine):
    """A sum of 1200 terms is not nested 1200 deep."""
    d = 1200
    rng = np.random.default_rng(1)
    x = rng.normal(size=d)
    scorer = sx.Scorer(rng.normal(size=(1, d + 1)), np.array([0, 1]), "logit")
    table = pa.table({f"x{j}": [v] for j, v in enumerate(x.tolist())})
    (row,) = ENGINES[engine](table, to_sql(ModelFile("logistic", scorer), engine))
    size = np.abs(scorer.W[0]) @ np.abs(np.concatenate([[1.0], x]))
    assert abs(row[0] - scorer.scores(x[None, :])[0]) <= 1e-12 * size


@pytest.mark.parametrize("most", [200, pytest.param(2000, marks=pytest.mark.slow)])
def test_as_many_columns_as_sqlite_takes(monkeypatch, most):
    """A table there has 2000 columns at most, and so has a subquery; with indicators X has twice as many.

    A connection can be limited to fewer columns, which takes 1 % of the time.
    """
    assert DIALECTS["sqlite"].most_columns == 2000
    monkeypatch.setitem(DIALECTS, "sqlite", replace(DIALECTS["sqlite"], most_columns=most))
    d = most - 10
    rng = np.random.default_rng(2)
    columns = tuple(Encoded(f"c{j}", "number", fill=(0.5,), indicator=True) for j in range(d))
    encoder = Encoder(columns, "indicator")
    scorer = sx.Scorer(rng.normal(size=(1, 2 * d + 1)), np.array([0, 1]), "logit")
    values = [None if rng.random() < 0.1 else v for v in rng.normal(size=d).tolist()]
    table = pa.table({f"c{j}": pa.array([v], pa.float64()) for j, v in enumerate(values)})
    (row,) = in_sqlite(table, to_sql(ModelFile("logistic", scorer, encoder=encoder), "sqlite"), most)
    x = encoder.transform(table, "rows")[0]
    assert abs(row[0] - scorer.scores(x)[0]) <= 1e-12 * float(np.abs(scorer.W[0, 1:]) @ np.abs(x[0]))


@pytest.mark.parametrize("K", [2, 3])
def test_every_classifier(K):
    from separatrix.classifiers import CLASSIFIERS

    rng = np.random.default_rng(K)
    codes = np.arange(60) % K
    X = rng.normal(size=(60, 3)) + 9.0 * np.eye(3)[codes]
    for kind in CLASSIFIERS.values():
        model = kind().fit(X, codes)
        z = model.decision_function(X).reshape(len(X), -1)
        table = pa.table({f"x{j}": X[:, j] for j in range(3)} | {"id": np.arange(60)})
        rows = in_duckdb(table, to_sql(model, "duckdb", keep=["id"]))
        assert [row[-1] for row in rows] == model.predict(X).tolist()
        assert np.allclose([row[1 : 1 + z.shape[1]] for row in rows], z, rtol=1e-9, atol=1e-9)
        width = len(rows[0]) - 2 - z.shape[1]
        assert width == (model.has_probabilities and z.shape[1])


@pytest.mark.parametrize("K", [2, 3])
def test_from_a_file(tmp_path, K):
    """What is written from a model's file is what is written from the model."""
    from separatrix.classifiers import CLASSIFIERS

    rng = np.random.default_rng(K)
    codes = np.arange(40) % K
    X = rng.normal(size=(40, 3)) + 9.0 * np.eye(3)[codes]
    for name, kind in CLASSIFIERS.items():
        model = kind().fit(X, codes)
        sx.save(model, tmp_path / f"{name}.json")
        assert to_sql(read(tmp_path / f"{name}.json")) == to_sql(model)


def test_a_pipeline_of_a_table_encoder():
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    from sklearn.pipeline import make_pipeline

    frame = pd.DataFrame({"age": [31.0, None, 47.0, 52.0], "sex": ["f", "m", "f", "it's"]})
    model = make_pipeline(sx.TableEncoder(missing="impute"), sx.LogisticRegression()).fit(frame, list("aabb"))
    with duckdb.connect() as engine:
        engine.register("rows", frame)
        found = engine.execute(to_sql(model)).fetchall()
    assert [row[-1] for row in found] == model.predict(frame).tolist()
    assert np.allclose([row[1] for row in found], model.predict_proba(frame)[:, 1], rtol=1e-12)


def test_labels_of_several_types_are_text():
    scorer = sx.Scorer(np.array([[0.0, 1.0]]), np.array([1, "b"], dtype=object), "sign")
    assert in_duckdb(pa.table({"x0": [-1.0, 1.0]}), to_sql(scorer)) == [(-1.0, "1"), (1.0, "b")]


def test_schema_and_table():
    scorer = sx.Scorer(np.array([[0.0, 1.0]]), np.array([1, 2]), "sign")
    assert 'FROM "main"."a""b" AS t' in to_sql(scorer, table=["main", 'a"b'])


def test_refusals():
    scorer = sx.Scorer(np.array([[0.0, 1.0]]), np.array([1, 2]), "sign")
    with pytest.raises(ParameterError, match="dialect: got 'oracle'; give one of 'standard', 'duckdb'"):
        to_sql(scorer, "oracle")
    with pytest.raises(ParameterError, match="keep: it has 'label'"):
        to_sql(scorer, keep=["label"])
    with pytest.raises(ParameterError, match="model: got LogisticRegression; give a fitted classifier"):
        to_sql(sx.LogisticRegression())
    odd = sx.Scorer(np.array([[0.0, 1.0]]), np.array([(1, 2), "b"], dtype=object), "sign")
    with pytest.raises(ParameterError, match="of type tuple"):
        to_sql(odd)
    nameless = ModelFile("perceptron", scorer, features=("",))
    with pytest.raises(ParameterError, match="a column's name is empty; rename it: duckdb has no spelling for it"):
        to_sql(nameless)
    assert in_sqlite(pa.table({"": [1.0]}), to_sql(nameless, "sqlite")) == [(1.0, 2)]
    zero = sx.Scorer(np.array([[0.0, 1.0]]), np.array(["a\0b", "c"], dtype=object), "sign")
    with pytest.raises(ParameterError, match="zero byte"):
        to_sql(zero)


def test_expressions_that_would_be_too_long():
    with pytest.raises(ParameterError, match="leave out parts=True: the statement has subqueries"):
        to_sql(draw("gaussian votes", 0, K=5).model, parts=True)


def test_parts_that_are_not_ours():
    from sklearn.naive_bayes import GaussianNB

    X = np.random.default_rng(0).normal(size=(30, 2))
    model = sx.OneVsOneClassifier(GaussianNB()).fit(X, np.arange(30) % 3)
    with pytest.raises(ParameterError, match="GaussianNB"):
        to_sql(model)


def test_long_sums_are_sums_of_sums():
    assert max(part.count("+") for part in summed(["x"] * 5000).replace(")", "(").split("(")) <= 50


def test_expressions_name_no_table():
    model = draw("gaussian votes", 0).model
    for settings in ({"table": "rows"}, {"keep": ["a"]}):
        with pytest.raises(
            ParameterError, match="it was given with parts=True; leave it out: expressions name no table"
        ):
            to_sql(model, parts=True, **settings)
