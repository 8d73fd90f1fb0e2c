"""Engines that run SQL on a table, and the parts of what they return."""

import sqlite3

import duckdb
import pytest


def in_duckdb(table, statement):
    with duckdb.connect() as engine:
        engine.register("rows", table)
        return sorted(engine.execute(statement).fetchall())


def in_sqlite(table, statement, most_columns=2000):
    engine = sqlite3.connect(":memory:")
    engine.setlimit(sqlite3.SQLITE_LIMIT_COLUMN, most_columns)
    named = ", ".join("`" + name.replace("`", "``") + "`" for name in table.column_names)
    engine.execute(f"CREATE TABLE `rows` ({named})")
    marks = ", ".join("?" * table.num_columns)
    rows = [tuple(map(stored, row.values())) for row in table.to_pylist()]
    engine.executemany(f"INSERT INTO `rows` VALUES ({marks})", rows)
    try:
        return sorted(engine.execute(statement).fetchall())
    finally:
        engine.close()


def stored(value):
    return str(value) if hasattr(value, "isoformat") else value


ENGINES = {"duckdb": in_duckdb, "sqlite": in_sqlite}
# DuckDB takes 20 seconds and more to plan expressions of megabytes, which SQLite reads in one or two.
LONG = [pytest.param("duckdb", marks=pytest.mark.slow), "sqlite"]


def split(case, rows):
    """Scores, probabilities and labels of rows that begin with an id."""
    width = case.scores.shape[1]
    assert [row[0] for row in rows] == list(range(case.table.num_rows))
    labels = [row[-1] for row in rows]
    inner = [row[1 + width : -1] for row in rows]
    return [row[1 : 1 + width] for row in rows], None if case.probabilities is None else inner, labels
