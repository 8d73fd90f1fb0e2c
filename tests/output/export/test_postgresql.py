"""The same in PostgreSQL, which reads decimals exactly and raises where exp or a product overflows or underflows."""

import csv
import io
import math
import os
import shutil
import signal
import struct
import subprocess
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import separatrix as sx
from separatrix.classifiers.model_file import ModelFile
from separatrix.output.sql import DIALECTS, to_sql
from separatrix.statistics.model_decisions import rule_for
from separatrix.tables.encoder import Encoded, Encoder

from .cases import KINDS, draw, of_kind, same
from .test_decisions import neighbours, predicted
from .test_level_texts import CATEGORIES, DATES, PLAIN, TYPED, ZONED, of_category, of_plain

pytestmark = pytest.mark.slow
TYPES = {
    "double": "float8",
    "float": "float4",
    "decimal128(3, 1)": "numeric",
    "string": "text",
    "int32": "integer",
    "int64": "bigint",
    "bool": "boolean",
    "date32[day]": "date",
    "timestamp[us, tz=Europe/Prague]": "timestamptz",
}


def _binaries():
    folders = [*sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True), *map(Path, os.get_exec_path())]
    wanted = ("initdb", "postgres", "psql")
    return next((folder for folder in folders if all((folder / name).exists() for name in wanted)), None)


class Server:
    """A server of one's own: in a temporary folder, on a socket there, on no network."""

    def __init__(self, binaries, folder):
        self.binaries, self.folder = binaries, folder
        # It refuses to run as root.
        self.user = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}

    def make(self):
        if self.user:
            shutil.chown(self.folder, "postgres", "postgres")
        made = [
            f"{self.binaries}/initdb",
            "-D",
            f"{self.folder}/data",
            "-U",
            "postgres",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C",
        ]
        subprocess.run([*made, "--no-sync"], check=True, capture_output=True, cwd=self.folder, **self.user)

    def start(self):
        settings = ["-c", "listen_addresses=", "-c", "fsync=off", "-k", str(self.folder)]
        with Path(self.folder, "log").open("w") as log:
            command = [f"{self.binaries}/postgres", "-D", f"{self.folder}/data", *settings]
            self.process = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder, **self.user)

    def wait(self):
        for _ in range(300):
            if subprocess.run([*self.psql, "-c", "SELECT 1"], capture_output=True, check=False).returncode == 0:
                return
            time.sleep(0.1)
        raise RuntimeError(Path(self.folder, "log").read_text())

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(60)

    @property
    def psql(self):
        return [
            f"{self.binaries}/psql",
            "-h",
            str(self.folder),
            "-U",
            "postgres",
            "-qtX",
            "--csv",
            "-v",
            "ON_ERROR_STOP=1",
        ]

    def run(self, statements):
        found = subprocess.run(self.psql, input=statements, capture_output=True, text=True, check=False)
        assert found.returncode == 0, found.stderr
        return list(csv.reader(io.StringIO(found.stdout)))

    def fill(self, table):
        quoted = DIALECTS["postgresql"].name_of
        kinds = [TYPES.get(str(field.type), "timestamp") for field in table.schema]
        declared = ", ".join(f"{quoted(name)} {kind}" for name, kind in zip(table.column_names, kinds, strict=True))
        values = [f"({', '.join(map(_literal, row.values()))})" for row in table.to_pylist()]
        made = f'DROP TABLE IF EXISTS "rows"; CREATE TABLE "rows" ({declared});'
        return f'{made} INSERT INTO "rows" VALUES {", ".join(values)};'


def _literal(value):
    if value is None:
        return "NULL"
    if isinstance(value, bool | int):
        return str(value)
    return DIALECTS["postgresql"].literal(value if isinstance(value, str) else str(value))


@pytest.fixture(scope="module")
def server():
    binaries = _binaries()
    if binaries is None:
        pytest.skip("PostgreSQL is not installed (no folder with initdb, postgres and psql)")
    with tempfile.TemporaryDirectory(prefix="sx", ignore_cleanup_errors=True) as folder:
        found = Server(binaries, folder)
        found.make()
        found.start()
        try:
            found.wait()
            yield found
        finally:
            found.stop()


def answers(case, rows):
    """Of psql's text: scores, probabilities, labels of the type that the classes have; an empty cell is NULL."""
    width = case.scores.shape[1]
    kind = type(case.model.scorer.classes.tolist()[0])
    assert [int(row[0]) for row in rows] == list(range(case.table.num_rows))
    numbers = [[float(cell) if cell else None for cell in row[1:-1]] for row in rows]
    labels = [kind(row[-1]) if row[-1] else None for row in rows]
    p = None if case.probabilities is None else [row[width:] for row in numbers]
    return [row[:width] for row in numbers], p, labels


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", KINDS)
def test_select(server, kind, seed):
    case = draw(kind, seed)
    statement = to_sql(case.model, "postgresql", keep=["id"])
    same(case, *answers(case, server.run(f'{server.fill(case.table)} SELECT * FROM ({statement}) AS a ORDER BY "id";')))


def test_standard(server):
    """PostgreSQL reads what is written for no engine, seconds with their fractions; it has no word for NaN."""
    case = draw("softmax", 1, "error", "error")
    table = case.table.set_column(
        case.table.column_names.index("day"), "day", case.table["day"].cast(pa.timestamp("ms"))
    )
    kept = [row['a"b'] is None or not math.isnan(row['a"b']) for row in table.to_pylist()]
    statement = to_sql(case.model, "standard", keep=["id"])
    rows = server.run(f'{server.fill(table)} SELECT * FROM ({statement}) AS a ORDER BY "id";')
    z, p, labels = answers(case, rows)
    part = type(case)(
        case.model,
        table,
        case.scores[kept],
        case.probabilities[kept],
        [label for label, held in zip(case.labels, kept, strict=True) if held],
        case.slack[kept],
    )
    same(part, *([value for value, held in zip(values, kept, strict=True) if held] for values in (z, p, labels)))


@pytest.mark.parametrize("kind", ["logit", "softmax", "votes"])
def test_expressions(server, kind):
    case = draw(kind, 5, K=3)
    found = to_sql(case.model, "postgresql", parts=True)
    parts = [found.score] if isinstance(found.score, str) else list(found.score)
    if found.probability is not None:
        parts += [found.probability] if isinstance(found.probability, str) else list(found.probability)
    listed = ", ".join([*parts, found.label])
    same(case, *answers(case, server.run(f'{server.fill(case.table)} SELECT id, {listed} FROM "rows" ORDER BY id;')))


@pytest.mark.parametrize("kind", ["logit", "probit", "cloglog", "softmax"])
def test_far_scores(server, kind):
    z = [-1e6, -800.0, -744.0, -708.5, -708.0, -40.0, -0.5, 0.0, 0.3, 6.0, 38.0, 709.5, 745.0, 1e6]
    K = 3 if kind == "softmax" else 2
    W = np.array([[0.0, 1.0]]) if K == 2 else np.array([[0.0, 1.0], [0.5, -1.0], [0.0, 0.0]])
    model = ModelFile("logistic", sx.Scorer(W, np.arange(K), kind), features=("x",))
    statement = to_sql(model, "postgresql", keep=["id"])
    rows = server.run(
        f'{server.fill(pa.table({"x": z, "id": range(len(z))}))} SELECT * FROM ({statement}) AS a ORDER BY "id";'
    )
    p = np.array([[float(cell) for cell in row[1 + (1 if K == 2 else K) : -1]] for row in rows])
    expected = model.scorer.probabilities(np.array(z)[:, None])
    assert np.allclose(p, expected[:, 1:] if K == 2 else expected, rtol=2e-12, atol=1e-300)


EXTREME = [0.0, 1.0, -2.5, 5e-324, -1e-310, 1e-200, -3e-160, 1e155, -1e200, 1.7e308, -1.7e308]


@pytest.mark.parametrize("size", [1e-150, 1.0, 1e150])
@pytest.mark.parametrize("kind", ["logit", "probit", "cloglog", "sign", "softmax", "votes", "gaussian", "gaussians"])
def test_numbers_of_any_size(server, kind, size):
    """A row whose products leave the doubles gets an answer, and so do all the others. PostgreSQL would raise."""
    rng = np.random.default_rng(7)
    pairs = np.array([(a, b) for a in EXTREME for b in EXTREME])
    encoder = Encoder((Encoded("a", "number"), Encoded("b", "number")))
    name, scorer = of_kind(kind, encoder, rng, 3)
    if hasattr(scorer, "W") and scorer.W is not None:
        scorer = replace(scorer, W=scorer.W * np.array([1.0, size, 1.0]))
    model = ModelFile(name, scorer, features=("a", "b"))
    table = pa.table({"a": pairs[:, 0], "b": pairs[:, 1], "id": range(len(pairs))})
    rows = server.run(
        f"{server.fill(table)} SELECT * FROM ({to_sql(model, 'postgresql', keep=['id'])}) AS a ORDER BY id;"
    )
    with np.errstate(all="ignore"):
        z = np.atleast_2d(scorer.scores(pairs).T).T
        usual = np.all(np.isfinite(z) & (np.abs(z) < 1e280), axis=1) & np.all(np.abs(pairs) < 1e150, axis=1)
        labels = scorer.predict(pairs).tolist()
    assert usual.sum() > 30
    for i, row in enumerate(rows):
        assert row[-1] != ""
        if usual[i]:
            found = np.array([float(cell) for cell in row[1 : 1 + z.shape[1]]])
            assert np.allclose(found, z[i], rtol=1e-9, atol=1e-11 * np.abs(z[i]).max() + 1e-280)
            assert type(labels[i])(row[-1]) == labels[i] or np.abs(z[i]).max() < 1e-280


def test_doubles_read_back_the_same(server):
    rng = np.random.default_rng(0)
    values = [v for v in (struct.unpack("d", rng.bytes(8))[0] for _ in range(500)) if math.isfinite(v)]
    values += [0.1, 5e-324, 1.7976931348623157e308, *rng.normal(size=500).tolist()]
    spelled = ", ".join(f"({DIALECTS['postgresql'].double(v)})" for v in values)
    found = server.run(f"SELECT v, pg_typeof(v) FROM (VALUES {spelled}) AS a (v);")
    assert [float(row[0]) for row in found] == values
    assert {row[1] for row in found} == {"double precision"}


@pytest.mark.parametrize("bad", ["NaN", "Infinity", "-Infinity"])
def test_no_answer_for_what_is_refused(server, bad):
    model = sx.LogisticRegression().fit([[0.0], [1.0]], [0, 1])
    rows = server.run(
        f"""DROP TABLE IF EXISTS "rows"; CREATE TABLE "rows" (x0 float8); INSERT INTO "rows" VALUES ('{bad}');
        {to_sql(model, "postgresql")};"""
    )
    assert rows == [["", "", ""]]


def _spelled_alike(server, case):
    """In a session of another zone, which must not matter."""
    statement = to_sql(case.model, "postgresql", keep=["id"])
    asked = f'SELECT * FROM ({statement}) AS a ORDER BY "id";'
    same(case, *answers(case, server.run(f"SET TIME ZONE 'Asia/Tokyo'; {server.fill(case.table)} {asked}")))


@pytest.mark.parametrize("policies", [("impute", "error"), ("indicator", "average")])
@pytest.mark.parametrize("found", [*CATEGORIES.values(), *TYPED, ZONED])
def test_categories_of_any_type(server, found, policies):
    _spelled_alike(server, of_category(*found, *policies))


@pytest.mark.parametrize("missing", ["error", "indicator"])
@pytest.mark.parametrize("kind", ["date", "number", "boolean"])
def test_values_of_any_type(server, kind, missing):
    """But for cells that are no such value at all: there the statement ends in an error, as it does for truth values
    where numbers are meant."""
    for column in (DATES if kind == "date" else PLAIN[kind]).values():
        if kind == "number" and pa.types.is_boolean(column.type):
            continue
        kept = [v for v in column.to_pylist() if v not in ("yesterday", "abc", "0x10", "1e400")]
        _spelled_alike(server, of_plain(kind, pa.array(kept, column.type), missing))


@pytest.mark.parametrize("link", ["logit", "probit", "cloglog", "softmax"])
def test_decisions(server, link):
    """Threshold and class shares as in ``predict``, at scores of any size and next to the threshold."""
    K = 3 if link == "softmax" else 2
    W = np.array([[0.0, 1.0], [0.5, -1.0], [0.0, 0.0]]) if K == 3 else np.array([[0.0, 1.0]])
    scorer = sx.Scorer(W, np.array(["a", "b", "c"])[:K], link)
    priors = [{"prior": [0.9, 0.08, 0.02][:K]}, {"prior": [1e-200, 1.0, 1e-9][:K]}]
    for settings in priors if K == 3 else [*priors, {"threshold": 0.2}, {"threshold": 0.0}, {"threshold": 1.0}]:
        rule = rule_for(scorer, **settings, fitted_prior=[3, 4, 5][:K])
        least = rule.least_score(scorer.link) if K == 2 else 0.0
        near = neighbours(least if math.isfinite(least) else 0.0, 10).tolist()
        z = [*near, *np.random.default_rng(3).normal(size=500), -1e300, -1e6, -800.0, 0.0, 745.0, 1e6, 1e300]
        statement = to_sql(scorer, "postgresql", keep=["id"], **settings, fitted_prior=[3, 4, 5][:K])
        filled = server.fill(pa.table({"id": range(len(z)), "x0": z}))
        rows = server.run(f'{filled} SELECT * FROM ({statement}) AS a ORDER BY "id";')
        assert [row[-1] for row in rows] == predicted(scorer, rule, np.array(z)[:, None])
