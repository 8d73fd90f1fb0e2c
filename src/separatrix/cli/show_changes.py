"""Print what changed from one model file to another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from separatrix.base.errors import printable
from separatrix.base.number_text import number_text
from separatrix.cli import terminal
from separatrix.cli.terminal import item

if TYPE_CHECKING:
    from separatrix.model_file import Difference, ModelFile

# The output lists at most this many items of a list, and changed numbers.
MOST_ITEMS, MOST_NUMBERS = 30, 20
# Models with different classifiers or columns differ in almost everything: only this many facts and numbers are shown.
MOST_FACTS_OF_DIFFERENT_MODELS, MOST_NUMBERS_OF_DIFFERENT_MODELS = 8, 8


def show_changes(before: ModelFile, after: ModelFile, as_json: bool) -> None:
    """Print what changed from one model to the other, with the largest changes of numbers first."""
    from separatrix.model_file.changes import differences

    changes = differences(before, after)
    if as_json:
        terminal.document(terminal.json_text({"changes": [change._asdict() for change in changes]}))
    elif not changes:
        terminal.say("nothing changed: both files hold the same model")
    else:
        apart = _apart(before, after)
        if apart:
            terminal.say(f"two different models: {apart}", bold=True)
        _show_differences(changes, apart != "")


def _apart(before: ModelFile, after: ModelFile) -> str:
    """How two models differ in kind: by their classifiers or their columns. Empty if they have the same."""
    parts = []
    if before.classifier != after.classifier:
        parts.append(f"{before.classifier} and {after.classifier}")
    first, second = _columns_of_table(before), _columns_of_table(after)
    if {*first} != {*second}:
        common = len({*first} & {*second})
        parts.append(f"{terminal.count(len(first), 'column')} and {len(second)}, {common or 'none'} in common")
    return "; ".join(parts)


def _columns_of_table(known: ModelFile) -> tuple[str, ...]:
    """The columns of the table that a model reads, or of X if the model knows no table."""
    if known.encoder is not None:
        return tuple(column.name for column in known.encoder.columns)
    return known.features or tuple(f"column {j + 1}" for j in range(known.columns))


def _show_differences(changes: list[Difference], apart: bool) -> None:
    """First the changes of settings and other facts, then a table of changed numbers.

    For two models that differ in kind, only the first of them: what only one of the models has comes last.
    """
    facts, numbers = [one for one in changes if not _numeric(one)], [one for one in changes if _numeric(one)]
    if apart:
        facts.sort(key=lambda one: (not one.what.startswith("columns "), _is_of_one(one)))
        numbers.sort(key=_is_of_one)
    _show_facts(facts, MOST_FACTS_OF_DIFFERENT_MODELS if apart else len(facts))
    if numbers:
        _show_numbers(numbers, MOST_NUMBERS_OF_DIFFERENT_MODELS if apart else MOST_NUMBERS)


def _show_facts(facts: list[Difference], most: int) -> None:
    """The first ``most`` of the changes of facts, and the number of others."""
    room = max((len(printable(one.what)) for one in facts[:most]), default=0) + 2
    for one in facts[:most]:
        _show_difference(one, room)
    if len(facts) > most:
        terminal.say(f"and {terminal.count(len(facts) - most, 'difference')} more: see --json")


def _is_of_one(one: Difference) -> bool:
    """Whether only one of the models has this."""
    return one.before is None or one.after is None


def _numeric(one: Difference) -> bool:
    return one.what.startswith(("weight ", "intercept", "mean ", "deviation ", "prior ", "center ", "scale ", "idf "))


def _show_numbers(numbers: list[Difference], most: int) -> None:
    shown = numbers[:most]
    few = f"the first {len(shown)}" if most < MOST_NUMBERS else f"the {len(shown)} largest"
    more = "" if len(shown) == len(numbers) else f", {few} changes of {len(numbers)}"
    terminal.say(f"numbers{more}", bold=True)
    values = [[one.before, one.after, _change(one)] for one in shown]
    terminal.matrix([printable(one.what) for one in shown], ["before", "after", "change"], values, widest=60)


def _show_difference(one: Difference, room: int) -> None:
    """A change on one line if it fits, otherwise on two."""
    before, after = (("none" if value is None else printable(short(value))) for value in one[1:])
    head = f"{printable(one.what):<{room}}"
    whole = before if one.before == one.after else f"{before} -> {after}"
    if room + len(whole) < terminal.width():
        terminal.say(whole, head=head)
        return
    terminal.say(head=head.rstrip())
    for mark, text in (("-", before), ("+", after)):
        terminal.say(f"  {mark} {terminal.clipped(text, max(20, terminal.width() - 6))}")


def _change(one: Difference) -> float | None:
    """By how much a number changed; None if only one of the models has it."""
    return None if _is_of_one(one) else one.after - one.before


def short(value: Any) -> str:
    """A setting or another fact in a few words."""
    if isinstance(value, list | tuple):
        if not value:
            return "none"
        return terminal.some([item(short(one)) for one in value], MOST_ITEMS)
    if isinstance(value, float):
        return number_text(value, 6)
    return str(value)
