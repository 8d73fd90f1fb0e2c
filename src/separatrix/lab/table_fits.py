"""What the page Your data asks of a table: how it is read, which model is fitted, and the fit, kept for a moment.

A table is read, divided and encoded as ``separatrix fit`` does it, so both give the same numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from separatrix.base.errors import InputError, ParameterError
from separatrix.evaluation.held_out_fit import HeldOutFit, fit_held_out
from separatrix.lab.models import Chosen, chosen
from separatrix.lab.request_registry import Payload, got
from separatrix.lab.tables import TABLES, OpenTable
from separatrix.table import RawTable, read_raw
from separatrix.table.encoder_checks import MISSING

# A table of a million rows and 20 columns takes 160 MB as numbers, and its fit as much again.
MOST_READ, MOST_FITTED = 2, 2
# The seed of the split and of classifiers that draw random numbers, as in ``separatrix fit``.
SEED = 0


@dataclass(frozen=True)
class Reading:
    """A table with its target, the columns that are left out, and what is done with missing values."""

    table: OpenTable
    target: str
    drop: tuple[str, ...] = ()
    missing: str = "error"

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of ``read_raw`` that differ from their defaults."""
        drop = {"drop": list(self.drop)} if self.drop else {}
        return {"target": self.target, **drop, **({} if self.missing == "error" else {"missing": self.missing})}


@dataclass(frozen=True)
class Fit:
    """A fit that a page asks for. Two are equal if the reading, the model and its settings are."""

    reading: Reading
    key: str
    model: Chosen = field(compare=False)
    standardise: bool = False


def table_of(payload: Payload) -> OpenTable:
    """The table of a payload."""
    found = TABLES.get(payload.get("table"))
    if found is None:
        raise InputError("table", "the server does not have it, or no longer", "give the file again")
    return found


def reading_of(payload: Payload) -> Reading:
    """How the table of a payload is read."""
    target, drop, missing = payload.get("target"), payload.get("drop", []), payload.get("missing", "error")
    if not isinstance(target, str):
        raise ParameterError("target", "it is not given", "choose the column to predict")
    if not isinstance(drop, list) or not all(isinstance(name, str) for name in drop):
        raise ParameterError("drop", "it is not a list of names", "give the columns to leave out")
    if missing not in MISSING:
        raise ParameterError("missing", got(missing), f"give one of {', '.join(MISSING)}")
    return Reading(table_of(payload), target, tuple(drop), missing)


def fit_of(payload: Payload) -> Fit:
    """The fit that a payload asks for."""
    model = chosen(payload.get("model"))
    return Fit(reading_of(payload), repr(model), model, bool(payload.get("standardise")))


@lru_cache(maxsize=MOST_READ)
def read(asked: Reading) -> RawTable:
    """The rows with their labels, before the encoding is learned."""
    return read_raw(asked.table.data, **asked.arguments)


@lru_cache(maxsize=MOST_FITTED)
def fitted(asked: Fit) -> HeldOutFit:
    """The fit to three quarters of the rows of each class."""
    model = asked.model.estimator(SEED)
    return fit_held_out(read(asked.reading), model, standardise=asked.standardise, seed=SEED)


def python_lines(asked: Fit, linear: bool) -> str:
    """The lines that read the same table, and give the same fit and the same accuracy."""
    how = {**asked.reading.arguments, **({"standardise": True} if asked.standardise else {})}
    target, more = how.pop("target"), "".join(f", {name}={value!r}" for name, value in how.items())
    lines = [
        "import separatrix as sx",
        "",
        f"fit = sx.fit_table({asked.model.python(SEED)}, {asked.reading.table.name!r}, {target!r}{more})",
        "print(fit.accuracy)",
        *(["print(fit.model.intercept_, fit.model.coef_)"] if linear else []),
    ]
    return "\n".join(lines)


def held_out_facts(fit: HeldOutFit) -> tuple[list[tuple[str, str]], str]:
    """The numbers of the held-out rows, each with its name, and a sentence to compare them with."""
    found = fit.performance
    if found is None:
        return [], "No row could be held out, since no class has enough rows."
    interval = found.accuracy_interval
    facts = [
        ("held-out accuracy", _percent(found.accuracy)),
        ("95 % interval", f"{100 * interval.low:.1f}–{_percent(interval.high)}"),
        ("wrong", f"{found.n_rows - found.n_right:,} of {found.n_rows:,}"),
    ]
    guess = f"Always the most frequent class: {_percent(found.null_accuracy)}."
    return facts, f"{guess} Fitted to the other {len(fit.codes) - found.n_rows:,} rows."


def _percent(share: float) -> str:
    """A share in per cent.

    >>> _percent(0.6742)
    '67.4 %'
    """
    return f"{100 * share:.1f} %"
