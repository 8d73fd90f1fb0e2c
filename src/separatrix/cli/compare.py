"""``separatrix compare``: cross-validate every classifier on the same folds of one table."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from separatrix.cli import exits, file_arguments, table_options, terminal
from separatrix.cli.classifier_options import model_words, repeated
from separatrix.cli.file_arguments import READ, WRITTEN
from separatrix.cli.table_options import Wanted, json_option, threads_option, wanted_options
from separatrix.cli.terminal import in_shell
from separatrix.core.base.messages import Message, brief

if TYPE_CHECKING:
    from separatrix.statistics.comparison import Comparison, Standing
    from separatrix.tables.read_table import RawTable

_EXAMPLES = """\b
Examples:
  separatrix compare demo:breast-cancer
  separatrix compare people.csv --target smoker --drop id --cv 10
  separatrix compare people.csv --target smoker --by log-loss --missing impute
  separatrix compare people.csv --target smoker --report report.html
  separatrix compare demo:iris --only logistic --only lda --json
"""
_BY = {"accuracy": "accuracy", "log-loss": "log_loss"}
# The columns of figures and their widths.
_HEADS = {"accuracy": 17, "log loss": 9, "ECE": 7, "fit ms": 7, "proven": 7}


@click.command(epilog=_EXAMPLES, short_help="Cross-validate every classifier on a table.")
@click.argument("data", type=READ)
@wanted_options
@click.option("--cv", type=click.IntRange(2), default=5, show_default=True, metavar="K", help="The number of folds.")
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, metavar="N", help="The random seed for the folds."
)
@click.option("--by", type=click.Choice(list(_BY)), default="accuracy", help="Rank and choose by this measure.")
@click.option("--only", metavar="NAME", multiple=True, help="Compare only this classifier. May be repeated.")
@click.option(
    "--seconds",
    type=click.FloatRange(0.0, min_open=True),
    default=60.0,
    show_default=True,
    metavar="S",
    help="The processor time for each classifier; one that needs more is left out.",
)
@click.option(
    "--report",
    type=WRITTEN,
    metavar="FILE",
    help="Fit the recommended classifier to all rows and write a report with figures and this comparison (HTML).",
)
@table_options.memory_of_comparison_option
@threads_option
@json_option
def compare(
    data: str,
    cv: int,
    seed: int,
    by: str,
    only: tuple[str, ...],
    seconds: float,
    report: str | None,
    threads: int | None,
    as_json: bool,
    memory: str | None,
    **wanted: Any,
) -> int:
    """Fit every classifier to DATA with its default settings, recommend one, and print the command that fits it.

    All classifiers are cross-validated on the same stratified folds. In each fold, the encoding of columns and the
    means for missing values are learned from the training rows only. Columns are standardised for the classifiers
    that depend on scales (*). Classifiers that cannot be fitted, or would take too long, are listed with the reason.
    The candidates for the recommendation are the classifiers that are not clearly worse than the best: within one
    standard error, or not distinguished from it by a paired test of the rows. Among these, one with probabilities is
    preferred, then the simplest. Exit code 1 means that --report was given and no classifier could be recommended.
    """
    from separatrix.core.base import machine
    from separatrix.statistics.comparison import compare_table

    file_arguments.refuse_unwritable("--report", report)
    asked = Wanted(**wanted)
    instead = "fit single models with separatrix fit, which reads it in batches and holds rows out"
    table_options.refuse_too_large(data, asked.spelling, memory, "a comparison", instead)
    table = table_options.read(data, asked)
    with machine.threads(threads) if threads else nullcontext():
        with terminal.working(f"comparing classifiers on {data}"), terminal.as_options():
            comparison = compare_table(table, cv=cv, seed=seed, by=_BY[by], only=only or None, seconds=seconds)
        written = None if comparison.chosen is None else report
        if written is not None:
            _report(table, comparison, written)
    words = _refit(data, comparison, list(wanted))
    if as_json:
        _print_json(table, comparison, words, written)
    else:
        _show(table, comparison, cv)
        _show_what_follows(words, written)
    _note(table, () if as_json else _about_row_numbers(table))
    if written != report:
        exits.complain(f"{report} was not written, since no classifier is recommended")
        return exits.CHECK_FAILED
    return exits.FINE


def _show_what_follows(words: list[str] | None, report: str | None) -> None:
    """The command that fits the chosen classifier, and the file of the report, if there are such."""
    if words is not None:
        terminal.line("refit", "this command validates on the same folds, then fits all rows:")
        terminal.say(" " * terminal.LABEL_WIDTH + terminal.command_line(words))  # Not wrapped, so it can be copied.
    if report is not None:
        terminal.line("report", f"{report}: open it in a browser")


def _note(table: RawTable, shown: Sequence[str]) -> None:
    """The notes on the table that are not ``shown`` yet, and one on missing values."""
    for note in (*table.notes, *table.late):
        if in_shell(note) not in shown:
            exits.note(note)
    if table.holes:
        where = ", ".join(f"{count} in {name!r}" for name, count in table.holes.items())
        exits.note(f"In each fold, missing values are filled as learned from the training rows: {where}.")


def _report(table: RawTable, comparison: Comparison, path: str) -> None:
    """Fit the chosen classifier to all rows, as the command of ``_refit`` does, and write its report.

    The folds of the comparison are its cross-validation. The report says so if the fit did not converge.
    """
    from separatrix.cli.fit import Split, fitted, write_report
    from separatrix.cli.fit_output import CrossValidation

    chosen = comparison.chosen
    assert chosen is not None
    model, _, base = chosen.name.partition(", ")
    output, _ = fitted(table, chosen.standardised, Split(0.0, None, comparison.seed), model, base or None, {})
    validation = CrossValidation(chosen, comparison.baseline, comparison.seed)
    write_report(replace(output, validation=validation), path, table.holes, comparison=comparison)


def _print_json(table: RawTable, comparison: Comparison, words: list[str] | None, report: str | None) -> None:
    plain = comparison.plain()
    for classifier in plain["classifiers"]:
        for key in ("reason", "status"):
            if key in classifier:
                classifier[key] = in_shell(_counted(classifier[key], table))
    for warning in plain["warnings"]:
        warning |= {key: in_shell(warning[key]) for key in ("sentence", "do")}
    about = {"data": table.source, "target": table.target, "rows": table.V.shape[0]}
    terminal.document(terminal.json_text({**about, **plain, "fit": words, "report": report}))


def _counted(text: str, table: RawTable) -> str:
    """A status or a reason, which names rows as the table does, and a word on how they are counted."""
    names_rows = isinstance(text, Message) and bool(text.rows)
    return Message(text, f" ({table.row_names.counted})") if names_rows else text


def _refit(data: str, comparison: Comparison, names: list[str]) -> list[str] | None:
    """The command that repeats the fit of the chosen classifier; None if none was chosen.

    ``names``: the options of the table, which it takes over.
    """
    if comparison.chosen is None:
        return None
    model, _, base = comparison.chosen.name.partition(", ")
    words = model_words(model, base or None, {})
    units = ["--standardise"] if comparison.chosen.standardised else []
    drawn = ["--cv", str(comparison.n_folds), "--seed", str(comparison.seed), "--out", "model.json"]
    asked = repeated(click.get_current_context(), names)
    return ["separatrix", "fit", data, *asked, *words, *units, *drawn]


def _show(table: RawTable, comparison: Comparison, cv: int) -> None:
    n, d = table.V.shape
    size = f"{terminal.count(n, 'row')}, {terminal.count(d, 'column')}"
    terminal.line("data", f"{table.source}: {size}; predicting {table.target!r}")
    fewer = f" instead of {cv}, since the smallest class has so few rows" if comparison.n_folds < cv else ""
    terminal.line("folds", f"{comparison.n_folds}{fewer}, stratified by class, seed {comparison.seed}")
    for note in _about_row_numbers(table):
        terminal.line("warning", f"{note} The figures below use it.", "yellow")
    for finding in comparison.warnings:
        told = Message(finding.title, " ", finding.told, " The figures below use what this names.")
        terminal.line("warning", in_shell(told), "yellow")
    terminal.say()
    _show_figures(comparison)
    _show_refused(comparison)
    terminal.say()
    terminal.line("take", comparison.why, "green")
    chosen = comparison.chosen
    if chosen is not None and chosen.n_met < comparison.n_folds:
        met = f"{chosen.n_met} of its {comparison.n_folds} fits met their stopping rule"
        terminal.line("", f"{met}; the first that did not: {in_shell(_counted(chosen.status, table))}")


def _about_row_numbers(table: RawTable) -> list[str]:
    """The notes on columns that are used although they look like row numbers."""
    from separatrix.tables.learn_encoder import column_note

    return [in_shell(column_note(column)) for column in table.columns or () if column.kind == "number" and column.note]


def _show_figures(comparison: Comparison) -> None:
    """The table of figures. Names that are too long for the terminal are shortened."""
    shown = [one for one in comparison.standings if one.fitted]
    room = terminal.width() - sum(_HEADS.values()) - 4
    left = min(max(len(_named(one)) for one in shown), max(12, room))
    heads = "".join(f"{head:>{width}}" for head, width in _HEADS.items())
    terminal.say(f"    {'':<{left}}{heads}", bold=True)
    for one in shown:
        mark = "→" if one is comparison.chosen else " "
        row = "".join(f"{cell:>{width}}" for cell, width in zip(_cells(one, comparison), _HEADS.values(), strict=True))
        line = f"  {mark} {terminal.clipped(_named(one), left):<{left}}{row}"
        terminal.say(line, bold=one is comparison.chosen, dim=one is comparison.baseline)
    terminal.say()
    meant = [
        "± is the standard error over the folds",
        "ECE: expected calibration error",
        "proven: fits whose certificate is met",
    ]
    if any(one.standardised for one in shown):
        meant.append("* on standardised columns")
    terminal.line("", "; ".join(meant))


def _named(standing: Standing) -> str:
    return f"{standing.name}{' *' * standing.standardised}"


def _cells(one: Standing, comparison: Comparison) -> list[str]:
    loss, off = one.log_loss, one.calibration_error
    baseline = one is comparison.baseline
    return [
        f"{one.accuracy.mean:.4f} ± {one.accuracy.error:.4f}",
        "–" if loss is None else f"{loss.mean:.4f}",
        "–" if off is None else f"{off:.3f}",
        "" if baseline else f"{1000 * one.seconds:.1f}",
        "" if baseline else f"{one.n_met}/{comparison.n_folds}",
    ]


def _show_refused(comparison: Comparison) -> None:
    """The classifiers without figures, grouped by reason."""
    reasons: dict[str, list[str]] = {}
    for one in comparison.standings:
        if one.reason is not None:
            reasons.setdefault(one.reason, []).append(one.name)
    for reason, names in reasons.items():
        whole = dict.fromkeys(name.partition(",")[0] for name in names)  # a scheme of several base models, once
        terminal.line("left out", f"{', '.join(whole)}: {in_shell(brief(reason))}")
