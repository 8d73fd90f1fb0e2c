"""``separatrix check``: look for problems in a table before a fit."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import click

from separatrix.cli import exits, table_options, terminal
from separatrix.cli.classifier_options import repeated
from separatrix.cli.file_arguments import READ
from separatrix.cli.table_options import Wanted, json_option, wanted_options
from separatrix.cli.terminal import checks_in_shell, option_words
from separatrix.core.base.messages import together

if TYPE_CHECKING:
    from separatrix.statistics.finding import Checks, Finding

_COLOURS = {"problem": "red", "warning": "yellow", "note": "cyan", "ok": "green"}
_EXAMPLES = """\b
Examples:
  separatrix check demo:breast-cancer
  separatrix check people.csv --target smoker --drop id
  separatrix check people.csv --target smoker --missing impute
  separatrix check people.csv --target smoker --json | jq .findings
"""


@click.command(epilog=_EXAMPLES, short_help="Check a table before fitting.")
@click.argument("data", type=READ)
@wanted_options
@click.option("--quiet", is_flag=True, help="Show only problems, warnings and notes.")
@table_options.memory_of_check_option
@json_option
def check(data: str, quiet: bool, memory: str | None, as_json: bool, **given: Any) -> int:
    """Check DATA before a fit: whether the classes can be separated (with a proof), which columns are combinations of
    others, whether a single row, column or category decides the result, and what is missing, repeated, constant or on
    a very different scale.

    The worst findings come first. Missing values are reported and, for the other checks, filled with the means of
    their columns; with --missing, the table is checked as that fit would read it. Rows are named by their number in
    DATA, the first row being row 1; in a folder, by their number in each file.

    Exit code 1 means that there is a problem: a fit would fail, or would not answer your question. Problems are a
    target with one class or with measurements, rows without a label, a column of text, missing values, no usable
    column, and a column or category that alone determines the class. With only warnings and notes the exit code is 0.
    """
    from separatrix.statistics.checks import check as checks_of

    wanted = Wanted(**given)
    with terminal.working(f"checking {data}"):
        instead = "use separatrix fit --C inf, which reads it in batches and says whether the classes are separated"
        table_options.refuse_too_large(data, wanted.spelling, memory, "a check", instead)
        how: dict[str, Any] = {**wanted.kinds, **wanted.spelling, "missing": wanted.missing}
        found = checks_of(data, target=wanted.target, drop=wanted.drop, schema=wanted.read_schema(), **how)
    checks = checks_in_shell(found)
    words = _fit_command(data, checks)
    if as_json:
        terminal.document(terminal.json_text({"data": data, **checks.plain(), "fit": words}))
    else:
        _show(data, checks, quiet)
        if words is not None:
            terminal.line("next", "fit with")
            terminal.say(" " * terminal.LABEL_WIDTH + terminal.command_line(words))  # Not wrapped, so it can be copied.
    for note in checks.notes:
        exits.note(note)
    return exits.CHECK_FAILED if checks.problems else exits.FINE


def _fit_command(data: str, checks: Checks) -> list[str] | None:
    """The command that fits the table, with the options that follow the advice; None if they do not solve a problem."""
    asked = [field.name for field in fields(Wanted)]
    words = ["separatrix", "fit", data, *repeated(click.get_current_context(), asked)]
    if not all(problem.solving for problem in checks.problems):
        return None
    settings = together(setting for finding in checks for setting in finding.solving)
    return words + [word for setting in settings for word in option_words(setting)]


def _how_rows_are_counted(findings: list[Finding]) -> str:
    """How the rows that the findings name are counted; empty if they name none."""
    named = [row for finding in findings for row in _rows_named(finding.facts.get("rows"))]
    if not named:
        return ""
    folder = any(isinstance(row, str) for row in named)
    return "numbered from 1 in each file" if folder else "numbered from 1, as in the table"


def _size(checks: Checks) -> str:
    """The number of rows and columns, and of encoded columns if it differs."""
    rows = f"{terminal.count(checks.n_rows, 'row')}, {terminal.count(checks.n_columns, 'column')}"
    same = checks.n_encoded is None or checks.n_encoded == checks.n_columns
    return rows if same else f"{rows} ({checks.n_encoded} encoded)"


def _show(data: str, checks: Checks, quiet: bool) -> None:
    terminal.line("data", f"{data}: {_size(checks)}; predicting {checks.target!r}")
    told = [finding for finding in checks if finding.severity != "ok"]  # What is fine names no rows.
    if counted := _how_rows_are_counted(told):
        terminal.line("rows", counted)
    for finding in told:
        _show_finding(finding)
    if not quiet and checks.at("ok"):
        terminal.say()
        for finding in checks.at("ok"):
            terminal.line("ok", _brief(finding))
    terminal.say()
    terminal.line("in all", _summary(checks))


def _rows_named(rows: Any) -> list[Any]:
    """The rows of a finding's facts, which may be in groups. Some facts have their number under this name."""
    if not isinstance(rows, list):
        return []
    return [row for one in rows for row in (one if isinstance(one, list) else [one])]


def _show_finding(finding: Finding) -> None:
    terminal.say()
    terminal.line(finding.severity, finding.title, _COLOURS[finding.severity])
    terminal.line("", finding.sentence)
    if finding.remedy:
        terminal.line("", f"→ {finding.remedy}")


def _brief(finding: Finding) -> str:
    """The title and the sentence, or only the title if both do not fit on one line. That of a proof is always shown."""
    whole = f"{finding.title} {finding.sentence}"
    fits = len(whole) < terminal.width() - terminal.LABEL_WIDTH
    return whole if fits or finding.check == "separation" else finding.title


def _summary(checks: Checks) -> str:
    counts = [terminal.count(len(checks.at(severity)), severity) for severity in ("problem", "warning", "note")]
    fine = f"{len(checks.at('ok'))} ok"
    end = {"problem": "solve the problems before fitting", "warning": "a fit will run; read the warnings first"}
    return f"{', '.join([*counts, fine])}: {end.get(checks.worst, 'ready to fit')}"
