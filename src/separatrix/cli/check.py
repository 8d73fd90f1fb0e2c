"""``separatrix check``: what a careful analyst would look for in a table before fitting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from separatrix.cli import exits, terminal
from separatrix.cli.table_arguments import FILE, json_option, spelling_options
from separatrix.cli.wording import checks_in_shell

if TYPE_CHECKING:
    from separatrix.checks import Checks, Finding

_COLOURS = {"problem": "red", "warning": "yellow", "note": "cyan", "ok": "green"}
_EXAMPLES = """\b
Examples:
  separatrix check demo:breast-cancer
  separatrix check people.csv --target smoker --drop id
  separatrix check people.csv --target smoker --json | jq .findings
"""


@click.command(epilog=_EXAMPLES, short_help="Look a table over before fitting.")
@click.argument("data", type=FILE)
@click.option("--target", metavar="COL", help="The column to predict. Demo sets have one of their own.")
@click.option("--drop", metavar="COL", multiple=True, help="Leave a column out; may be given again.")
@click.option("--schema", type=FILE, metavar="FILE", help="What columns hold (JSON): see --print-schema of fit.")
@click.option("--quiet", is_flag=True, help="Leave out what is fine.")
@spelling_options
@json_option
def check(
    data: str,
    target: str | None,
    drop: tuple[str, ...],
    schema: str | None,
    quiet: bool,
    as_json: bool,
    **spelling: Any,
) -> int:
    """Look DATA over: can the classes be separated (with a proof), which columns follow from others, which row, column
    or category decides alone, what is missing, repeated, constant or out of scale.

    Findings come worst first. A missing value stops nothing: it is told, and its column's mean stands for it.

    Exit code 1 says that there is a problem, where a fit would fail or answer another question: a target of one class
    or of measurements, a column of text, no column to learn from, or a column or category that alone tells the classes
    apart. Warnings and notes, rows labelled in two ways among them, leave it at 0.
    """
    from separatrix.checks import check_table
    from separatrix.table import read_schema

    with terminal.working(f"checking {data}"):
        given = None if schema is None else read_schema(schema)
        found = checks_in_shell(check_table(data, target, drop, given, **spelling))
    if as_json:
        terminal.document(terminal.json_text({"data": data, **found.plain()}))
    else:
        _show(data, found, quiet)
    for note in found.notes:
        exits.note(note)
    return exits.CHECK_FAILED if found.problems else exits.FINE


def _show(data: str, found: Checks, quiet: bool) -> None:
    rows = f"{terminal.count(found.n_rows, 'row')}, {terminal.count(found.n_columns, 'column')}"
    made = found.n_columns if found.n_encoded is None else found.n_encoded
    coded = "" if made == found.n_columns else f" ({made} encoded)"
    terminal.line("data", f"{data}: {rows}{coded}; predicting {found.target!r}")
    shown = [finding for finding in found if not (quiet and finding.severity == "ok")]
    if any(finding.facts.get("rows") for finding in shown):
        terminal.line("rows", "numbered from 1, as in the table")
    for finding in found:
        if finding.severity != "ok":
            terminal.say()
            terminal.line(finding.severity, finding.title, _COLOURS[finding.severity])
            terminal.line("", finding.sentence)
            if finding.do:
                terminal.line("", f"→ {finding.do}")
    if not quiet and found.at("ok"):
        terminal.say()
        for finding in found.at("ok"):
            terminal.line("ok", _brief(finding))
    terminal.say()
    terminal.line("in all", _summary(found))


def _brief(finding: Finding) -> str:
    """One line, and without the numbers where they do not fit; a proof is never cut."""
    whole = f"{finding.title} {finding.sentence}"
    fits = len(whole) < terminal.width() - terminal.LABEL
    return whole if fits or finding.check == "separation" else finding.title


def _summary(found: Checks) -> str:
    counts = [terminal.count(len(found.at(severity)), severity) for severity in ("problem", "warning", "note")]
    fine = f"{len(found.at('ok'))} ok"
    end = {"problem": "mend the problems before fitting", "warning": "a fit will run; read the warnings first"}
    return f"{', '.join([*counts, fine])}: {end.get(found.worst, 'ready to fit')}"
