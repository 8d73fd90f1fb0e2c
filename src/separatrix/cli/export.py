"""``separatrix export``: a model as SQL, ONNX or Python, which need no separatrix."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from separatrix.cli import reading
from separatrix.cli.reading import FILE
from separatrix.errors import ParameterError

if TYPE_CHECKING:
    from separatrix.model_file import ModelFile

# The dialects of ``separatrix.export``, which is not imported before it is asked for.
DIALECTS = ("duckdb", "sqlite", "postgresql", "standard")

_EXAMPLES = """\b
Examples:
  separatrix export model.json --to sql --dialect postgresql --table customers
  separatrix export model.json --to python --out score.py && python score.py < new.csv
  separatrix export model.json --to onnx --out model.onnx
"""


def _sql(known: ModelFile, dialect: str | None, table: str | None) -> bytes:
    from separatrix.export import to_sql

    return (to_sql(known, dialect or DIALECTS[0], table).rstrip() + "\n").encode()


def _onnx(known: ModelFile, dialect: str | None, table: str | None) -> bytes:
    from separatrix.export import to_onnx

    content: bytes = to_onnx(known).SerializeToString()
    return content


def _python(known: ModelFile, dialect: str | None, table: str | None) -> bytes:
    from separatrix.export import to_python

    return to_python(known).encode()


FORMATS: dict[str, Callable[[ModelFile, str | None, str | None], bytes]] = {
    "sql": _sql,
    "onnx": _onnx,
    "python": _python,
}


@click.command(epilog=_EXAMPLES, short_help="Write a model as SQL, ONNX or Python.")
@click.argument("model", type=FILE)
@click.option("--to", "form", type=click.Choice(list(FORMATS)), required=True, help="In what form.")
@click.option("--dialect", type=click.Choice(DIALECTS), help="Of SQL (duckdb).")
@click.option("--table", metavar="NAME", help='Of SQL: the table to select from ("rows").')
@click.option("--out", type=FILE, metavar="FILE", help="Write to this file in place of standard output.")
def export(model: str, form: str, dialect: str | None, table: str | None, out: str | None) -> None:
    """Write MODEL as something that needs no separatrix: a SELECT, an ONNX graph, a Python file.

    The coding of categories and missing values is part of it, so it takes a table's columns as they are.
    """
    for option, value in (("--dialect", dialect), ("--table", table)):
        if value is not None and form != "sql":
            raise ParameterError(option, f"{form} has none", "leave it out, or ask for --to sql")
    reading.refuse_unwritable("--out", out)
    if form == "onnx" and out is None and sys.stdout.isatty():
        raise ParameterError("--out", "ONNX is bytes, no text for a terminal", "give a file, or a pipe")
    from separatrix import model_file

    content = FORMATS[form](model_file.read(model), dialect, table)
    if out is None:
        click.echo(content, nl=False)
    else:
        reading.write("--out", out, content)
