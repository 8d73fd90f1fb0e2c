"""``separatrix export``: write a model as SQL, ONNX or Python that runs without separatrix."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from separatrix.cli import file_arguments, model_options, terminal
from separatrix.cli.file_arguments import READ, WRITTEN
from separatrix.cli.model_options import decision_for, decision_options, refuse_both
from separatrix.core.base.errors import ParameterError, printable

if TYPE_CHECKING:
    from separatrix.output.formula import Formula

# A copy of the dialects in ``separatrix.output``, which is imported only when it is needed.
DIALECTS = ("duckdb", "sqlite", "postgresql", "standard")

_EXAMPLES = """\b
Examples:
  separatrix export model.json --to sql --table sales.customers --keep id
  separatrix export model.json --to sql --dialect postgresql
  separatrix export model.json --to python --out score.py
  separatrix export model.json --to onnx --out model.onnx
  separatrix export model.json --to sql --cost FP=1,FN=5
"""


@dataclass(frozen=True)
class ExportRequest:
    """The options for SQL."""

    dialect: str | None
    table: str | None
    keep: tuple[str, ...]


def _sql(formula: Formula, asked: ExportRequest) -> bytes:
    from separatrix.output.sql import select_statement

    table = None if asked.table is None else parts(asked.table)
    return (select_statement(formula, asked.dialect or DIALECTS[0], table, asked.keep).rstrip() + "\n").encode()


def _onnx(formula: Formula, asked: ExportRequest) -> bytes:
    from separatrix.output.onnx import graph_of

    content: bytes = graph_of(formula).SerializeToString()
    return content


def _python(formula: Formula, asked: ExportRequest) -> bytes:
    from separatrix.output.python import program_text

    return program_text(formula).encode()


FORMATS: dict[str, Callable[[Formula, ExportRequest], bytes]] = {
    "sql": _sql,
    "onnx": _onnx,
    "python": _python,
}


def parts(name: str) -> list[str]:
    """The parts of a dotted SQL name. Dots inside double quotes do not separate; two quotes there stand for one.

    >>> parts("main.births"), parts('main."births.2024"'), parts('"a""b"')
    (['main', 'births'], ['main', 'births.2024'], ['a"b'])
    """
    part = r'"(?:[^"]|"")+"|[^".]+'
    if not re.fullmatch(rf"(?:{part})(?:\.(?:{part}))*", name):
        raise ParameterError(
            "--table", f"got {name!r}", "give a name, schema.name, or names with dots in double quotes"
        )
    return [one[1:-1].replace('""', '"') if one.startswith('"') else one for one in re.findall(part, name)]


@click.command(epilog=_EXAMPLES, short_help="Write a model as SQL, ONNX or Python.")
@click.argument("model", type=READ)
@click.option("--to", "form", type=click.Choice(list(FORMATS)), required=True, help="The format.")
@click.option("--dialect", type=click.Choice(DIALECTS), help="The dialect of SQL; duckdb by default.")
@click.option(
    "--table",
    metavar="NAME",
    help="""For SQL: the table to select from ("rows" by default) or schema.table. Quote names with dots: '"a.b"'.""",
)
@click.option(
    "--keep", metavar="COL", multiple=True, help="For SQL: a column to put before the predictions. May be repeated."
)
@decision_options
@click.option("--out", type=WRITTEN, metavar="FILE", help="Write to this file instead of standard output.")
def export(
    model: str,
    form: str,
    dialect: str | None,
    table: str | None,
    keep: tuple[str, ...],
    threshold: float | None,
    cost: str | None,
    prior: str | None,
    out: str | None,
) -> None:
    """Write MODEL in a form that runs without separatrix: an SQL SELECT, an ONNX graph or a Python file.

    The encoding of categories and missing values is included, so it takes the columns of the table as they are. With
    --threshold, --cost or --prior, its labels are those of predict with the same option.
    """
    refuse_both(threshold, cost)
    for option, value in (("--dialect", dialect), ("--table", table), ("--keep", keep or None)):
        if value is not None and form != "sql":
            raise ParameterError(option, f"{form} has no such option", "leave it out, or ask for --to sql")
    out = file_arguments.destination("--out", out)
    if form == "onnx" and out is None and sys.stdout.isatty():
        raise ParameterError("--out", "ONNX is binary and cannot be shown on a terminal", "give a file, or a pipe")
    known = model_options.read_model(model)
    rule = decision_for(known, threshold, cost, prior).rule
    from separatrix.output.formula import formula_of

    content = FORMATS[form](formula_of(known, rule=rule), ExportRequest(dialect, table, keep))
    if out is None:
        terminal.document(content)
    else:
        file_arguments.write("--out", out, content)
        terminal.say(f"written: {printable(out)}", err=True)
