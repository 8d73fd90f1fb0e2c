"""``separatrix compare``: every classifier on one table, cross-validated on the same folds."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import click

from separatrix.base.errors import ParameterError
from separatrix.base.messages import brief
from separatrix.cli import exits, table_arguments, terminal
from separatrix.cli.models import model_words, repeated
from separatrix.cli.table_arguments import FILE, json_option, table_options, threads_option
from separatrix.cli.wording import in_shell, in_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from separatrix.base.arrays import Integers
    from separatrix.evaluation.standings import Comparison, Standing
    from separatrix.table import RawTable

_EXAMPLES = """\b
Examples:
  separatrix compare demo:breast-cancer
  separatrix compare people.csv --target smoker --drop id --cv 10
  separatrix compare people.csv --target smoker --by log-loss --missing impute
  separatrix compare demo:iris --only logistic --only lda --json
"""
_BY = {"accuracy": "accuracy", "log-loss": "log_loss"}
# The columns beside the names, each with its width, right-aligned.
_HEADS = {"accuracy": 17, "log loss": 9, "off by": 7, "fit ms": 7, "proven": 7}


@click.command(epilog=_EXAMPLES, short_help="Cross-validate every classifier on a table.")
@click.argument("data", type=FILE)
@table_options
@click.option("--cv", type=click.IntRange(2), default=5, show_default=True, metavar="K", help="How many folds.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, metavar="N", help="Of the folds.")
@click.option("--by", type=click.Choice(list(_BY)), default="accuracy", help="What the order and the choice go by.")
@click.option("--only", metavar="NAME", multiple=True, help="One classifier of the table; may be given again.")
@threads_option
@json_option
def compare(
    data: str,
    cv: int,
    seed: int,
    by: str,
    only: tuple[str, ...],
    threads: int | None,
    as_json: bool,
    **wanted: Any,
) -> int:
    """Fit every classifier of the package to DATA with its defaults, and say which to take, and the fit to repeat.

    All are cross-validated on the same folds, with the same share of each class in each. How columns are coded and
    filled is learned inside each fold, from the rows of the fit; they are standardised so, too, for those to which
    scales matter (*). One that cannot be fitted, or would take too long, is there with its reason. Take the
    simplest within one standard error of the best.
    """
    from separatrix.base import concurrency
    from separatrix.evaluation import comparison

    table = table_arguments.read(data, table_arguments.Wanted(**wanted))
    with (
        terminal.working(f"comparing classifiers on {data}"),
        concurrency.threads(threads) if threads else nullcontext(),
    ):
        try:
            found = comparison.compare_table(table, cv=cv, seed=seed, by=_BY[by], only=only or None)
        except ParameterError as error:
            raise ParameterError(f"--{error.argument}", error.came, error.do) from error
    words = _refit(data, found, list(wanted))
    if as_json:
        plain = found.plain()
        for one in plain["classifiers"]:
            one |= {key: in_shell(in_table(one[key], _numbers(table))) for key in ("reason", "status") if key in one}
        whole = {"data": table.source, "target": table.target, "rows": table.V.shape[0], **plain, "fit": words}
        terminal.document(terminal.json_text(whole))
    else:
        _show(table, found, cv)
        if words is not None:
            terminal.line("refit", "the same folds, then all rows:")
            terminal.say(" " * terminal.LABEL + terminal.command_line(words))  # whole, to be copied
    for note in (*table.notes, *table.late):
        exits.note(note)
    if table.holes:
        where = ", ".join(f"{name!r} {count}" for name, count in table.holes.items())
        exits.note(f"Filled in each fold with the means of the rows fitted: missing values in {where}.")
    return exits.FINE


def _numbers(table: RawTable) -> Sequence[int] | Integers:
    """The numbers of the rows in the table, counted from 1."""
    return range(1, table.V.shape[0] + 1) if table.rows is None else table.rows


def _refit(data: str, found: Comparison, table_options: list[str]) -> list[str] | None:
    """The command that fits the chosen one as it was here, None where none was chosen."""
    if found.chosen is None:
        return None
    model, _, base = found.chosen.name.partition(", ")
    words = model_words(model, base or None, {})
    units = ["--standardise"] if found.chosen.standardised else []
    drawn = ["--cv", str(found.n_folds), "--seed", str(found.seed), "--out", "model.json"]
    asked = repeated(click.get_current_context(), table_options)
    return ["separatrix", "fit", data, *asked, *words, *units, *drawn]


def _show(table: RawTable, found: Comparison, cv: int) -> None:
    n, d = table.V.shape
    size = f"{terminal.count(n, 'row')}, {terminal.count(d, 'column')}"
    terminal.line("data", f"{table.source}: {size}; predicting {table.target!r}")
    fewer = f", as many as the smallest class has rows (asked: {cv})" if found.n_folds < cv else ""
    terminal.line("folds", f"{found.n_folds}{fewer}, the same share of each class, seed {found.seed}")
    terminal.say()
    _show_figures(found)
    _show_refused(found)
    terminal.say()
    terminal.line("take", found.why, "green")
    chosen = found.chosen
    if chosen is not None and chosen.n_met < found.n_folds:
        met = f"{chosen.n_met} of {found.n_folds} of its fits ended as asked"
        terminal.line("", f"{met}; the first other: {in_shell(in_table(chosen.status, _numbers(table)))}")


def _show_figures(found: Comparison) -> None:
    """The table; a name that is too long for the terminal is cut."""
    shown = [one for one in found.standings if one.fitted]
    room = terminal.width() - sum(_HEADS.values()) - 4
    left = min(max(len(_named(one)) for one in shown), max(12, room))
    heads = "".join(f"{head:>{width}}" for head, width in _HEADS.items())
    terminal.say(f"    {'':<{left}}{heads}", bold=True)
    for one in shown:
        mark = "→" if one is found.chosen else " "
        row = "".join(f"{cell:>{width}}" for cell, width in zip(_cells(one, found), _HEADS.values(), strict=True))
        line = f"  {mark} {terminal.clipped(_named(one), left):<{left}}{row}"
        terminal.say(line, bold=one is found.chosen, dim=one is found.baseline)
    terminal.say()
    meant = [
        "± is the standard error over the folds",
        "off by: the calibration error",
        "proven: fits whose certificate is met",
    ]
    if any(one.standardised for one in shown):
        meant.append("* on standardised columns")
    terminal.line("", "; ".join(meant))


def _named(standing: Standing) -> str:
    return f"{standing.name}{' *' * standing.standardised}"


def _cells(one: Standing, found: Comparison) -> list[str]:
    loss, off = one.log_loss, one.calibration_error
    baseline = one is found.baseline
    return [
        f"{one.accuracy.mean:.4f} ± {one.accuracy.error:.4f}",
        "–" if loss is None else f"{loss.mean:.4f}",
        "–" if off is None else f"{off:.3f}",
        "" if baseline else f"{1000 * one.seconds:.1f}",
        "" if baseline else f"{one.n_met}/{found.n_folds}",
    ]


def _show_refused(found: Comparison) -> None:
    """Those without figures, by their reasons."""
    reasons: dict[str, list[str]] = {}
    for one in found.standings:
        if one.reason is not None:
            reasons.setdefault(one.reason, []).append(one.name)
    for reason, names in reasons.items():
        whole = dict.fromkeys(name.partition(",")[0] for name in names)  # one scheme over several models is told once
        terminal.line("left out", f"{', '.join(whole)}: {in_shell(brief(reason))}")
