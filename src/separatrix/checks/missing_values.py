"""Findings about missing values: a problem where a fit stops at them, else what a fit does with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from separatrix.base.labels import quoted
from separatrix.base.messages import Message, Setting
from separatrix.base.number_text import many
from separatrix.checks.finding import MOST_NAMED_IN_SENTENCE, Finding, share
from separatrix.table.cells import listed

# From this share of missing values in a column, or of rows left out, on it is a warning.
SHARE_MISSING_TO_WARN = 0.05
# What a fit does with missing values, by its setting.
_WHAT_IS_DONE = {
    "impute": "A fit fills them with the means of its rows, and in categories with the most frequent level.",
    "indicator": (
        "A fit fills them with the means of its rows, and marks them in additional columns. In a category, missing is "
        "a level of its own."
    ),
    "drop": "A fit leaves these rows out, so the other findings are about the other rows.",
}
_WHY = "Find out why they are missing."


def absent(missing: Mapping[str, int], n: int, filled: str, left_out: Sequence[str] = ()) -> Finding:
    """Missing values by column, in n rows: a problem, since a fit stops at them.

    ``filled`` is a sentence about what replaced them in the other checks. ``left_out`` are columns that a fit does not
    use, about which this says nothing.
    """
    if not missing and left_out:
        sentence = f"All {n:,} rows have a value in every column but {named_left_out(left_out)}."
        return Finding("ok", "missing", "No value is missing in a column that is used.", sentence)
    if not missing:
        return Finding("ok", "missing", "No value is missing.", f"All {n:,} rows have a value in every column.")
    ways = Setting("missing", "impute", "indicator", "drop")
    remedy = Message(
        filled, " " * bool(filled), "A fit stops at them: fit with ", ways, "; find out why they are missing."
    )
    fill = Setting("missing", "impute")
    return Finding("problem", "missing", "Values are missing.", _where(missing, n), remedy, _facts(missing), (fill,))


def handled(missing: Mapping[str, int], n: int, how: str, lost: int = 0) -> Finding:
    """Missing values by column, in n rows, and what a fit with ``missing=how`` does with them; it leaves ``lost`` out.

    >>> print(handled({"age": 1}, 100, "drop", lost=1))
    note: Values are missing. 1 row of 100 (1.0 %) lacks a value: in 'age' 1 (1.0 %), of 100 rows. A fit leaves ...
    """
    sentence, largest = _where(missing, n), max(missing.values())
    if how == "drop":
        lack = "lacks" if lost == 1 else "lack"
        some = f"{many(lost, 'row')} of {n:,} ({share(lost, n)}) {lack} a value"
        sentence, largest = f"{some}: {sentence[:1].lower()}{sentence[1:]}", lost
    severity = "warning" if largest >= SHARE_MISSING_TO_WARN * n else "note"
    remedy = f"{_WHAT_IS_DONE[how]} {_WHY}"
    return Finding(severity, "missing", "Values are missing.", sentence, remedy, _facts(missing))


def none_left(missing: Mapping[str, int], n: int) -> Finding:
    """The problem that every one of n rows lacks a value, so that dropping such rows leaves none."""
    ways = Message("Choose ", Setting("missing", "impute", "indicator"), ", or leave columns out with ")
    remedy = Message(ways, Setting("drop"), ".")
    sentence = f"Each of {many(n, 'row')} lacks a value. {_where(missing, n)}"
    return Finding("problem", "missing", "No row is left.", sentence, remedy, _facts(missing))


def named_left_out(names: Sequence[str]) -> str:
    """Columns that a fit leaves out, by name, as the end of a sentence.

    >>> named_left_out(["id"])
    "'id', which is left out"
    """
    return f"{listed(names, MOST_NAMED_IN_SENTENCE)}, which {'is' if len(names) == 1 else 'are'} left out"


def _worst_first(missing: Mapping[str, int]) -> list[str]:
    return sorted(missing, key=lambda name: -missing[name])


def _facts(missing: Mapping[str, int]) -> dict[str, dict[str, int]]:
    return {"missing": {name: missing[name] for name in _worst_first(missing)}}


def _where(missing: Mapping[str, int], n: int) -> str:
    """The columns with the most missing values and their number, as a sentence."""
    worst = _worst_first(missing)
    shown = ", ".join(
        f"{quoted(name)} {missing[name]:,} ({share(missing[name], n)})" for name in worst[:MOST_NAMED_IN_SENTENCE]
    )
    n_more = len(worst) - MOST_NAMED_IN_SENTENCE
    more = f" and {many(n_more, 'more column')}" if n_more > 0 else ""
    return f"In {shown}{more}, of {n:,} rows."
